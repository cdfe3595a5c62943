/*
 * metadata of any object when it is replaced: what it cannot change, and what it is given back.
 *
 * Follows k8s.io/apimachinery pkg/api/validation, func ValidateObjectMetaUpdate.
 * Follows k8s.io/apiserver pkg/registry/rest, func BeforeUpdate.
 */
#include <stdlib.h>

#include "base/goquote.h"
#include "base/limits.h"
#include "codec/time.h"
#include "valid/metadata_int.h"

static struct api_strs sorted(struct arena *a, const struct api_strs *list) {
    struct api_strs copy = {arena_copy(a, list->v, list->n * sizeof *list->v), list->n};
    if (copy.n > 1)
        qsort(copy.v, copy.n, sizeof *copy.v, str_cmp_qsort);
    return copy;
}

/* The strings of list that old does not have, in order, each once. */
static struct api_strs added(struct arena *a, const struct api_strs *list,
                             const struct api_strs *old) {
    struct api_strs all = sorted(a, list), known = sorted(a, old), extra = {all.v, 0};
    for (size_t i = 0, j = 0; i < all.n; i++) {
        while (j < known.n && str_cmp(known.v[j], all.v[i]) < 0)
            j++;
        bool is_known = j < known.n && str_eq(known.v[j], all.v[i]);
        bool is_repeated = extra.n && str_eq(extra.v[extra.n - 1], all.v[i]);
        if (!is_known && !is_repeated)
            extra.v[extra.n++] = all.v[i];
    }
    return extra;
}

static void check_no_new_finalizers(struct valid *v, const struct path *p,
                                    const struct api_strs *list, const struct api_strs *old) {
    struct api_strs extra = added(v->errs->a, list, old);
    if (!extra.n)
        return;
    AUTO(buf_release) struct buf names = BUF_INIT(4 * LIMIT_OBJECT_BYTES);
    for (size_t i = 0; i < extra.n; i++) {
        if (i)
            buf_add(&names, STR(", "));
        goquote_write(&names, extra.v[i]);
    }
    valid__forbidden(v, p,
                     "no new finalizers can be added if the object is being deleted, found new "
                     "finalizers []string{%.*s}",
                     STR_ARG(buf_view(&names)));
}

static void keep(struct valid *v, const struct path *p, struct value value, bool same) {
    if (!same)
        valid__immutable(v, p, value);
}

static struct value time_value(struct arena *a, struct api_time t) {
    if (!t.set)
        return VALUE_JSON((struct json){.kind = JSON_NULL});
    AUTO(buf_release) struct buf text = BUF_INIT(64);
    time_write(&text, (struct time_instant){t.sec, t.nsec});
    return VALUE_NAMED(arena_str(a, buf_view(&text)));
}

static bool same_time(struct api_time a, struct api_time b) {
    return a.set == b.set && (!a.set || (a.sec == b.sec && a.nsec == b.nsec));
}

static void keep_time(struct valid *v, const struct path *p, struct api_time t,
                      struct api_time old) {
    if (!same_time(t, old))
        keep(v, p, time_value(v->errs->a, t), false);
}

static void keep_grace(struct valid *v, const struct path *p, struct api_opt_i64 grace,
                       struct api_opt_i64 old) {
    struct value none = VALUE_JSON((struct json){.kind = JSON_NULL});
    keep(v, p, grace.set ? VALUE_I64(grace.v) : none,
         grace.set == old.set && (!grace.set || grace.v == old.v));
}

static void check_kept(struct valid *v, const struct path *p, const struct api_object_meta *m,
                       const struct api_object_meta *old) {
    keep(v, AT(p, "name"), VALUE_Q(m->name), str_eq(m->name, old->name));
    keep(v, AT(p, "namespace"), VALUE_Q(m->namespace), str_eq(m->namespace, old->namespace));
    keep(v, AT(p, "uid"), VALUE_NAMED(m->uid), str_eq(m->uid, old->uid));
    keep_time(v, AT(p, "creationTimestamp"), m->creation_timestamp, old->creation_timestamp);
    keep_time(v, AT(p, "deletionTimestamp"), m->deletion_timestamp, old->deletion_timestamp);
    keep_grace(v, AT(p, "deletionGracePeriodSeconds"), m->deletion_grace_period_seconds,
               old->deletion_grace_period_seconds);
}

/* Names, labels and the rest are looked at as those of a new object are. */
void valid__any_meta_update(struct valid *v, const struct path *p, const struct api_object_meta *m,
                            const struct api_object_meta *old) {
    if (old->deletion_timestamp.set)
        check_no_new_finalizers(v, AT(p, "finalizers"), &m->finalizers, &old->finalizers);
    if (!m->resource_version.n)
        valid__invalid(v, AT(p, "resourceVersion"), VALUE_Q(m->resource_version),
                       "must be specified for an update");
    if (m->generation < old->generation)
        valid__invalid(v, AT(p, "generation"), VALUE_I64(m->generation), "must not be decremented");
    check_kept(v, p, m, old);
}

/* uid and deletion may be missing; a wrong creation time is not worth an error. */
void valid__keep_system_fields(struct api_object *o, const struct api_object *old) {
    struct api_object_meta *m = api_own_meta(o);
    const struct api_object_meta *was = old->meta;
    if (!m->uid.n)
        m->uid = arena_str(&o->arena, was->uid);
    if (was->creation_timestamp.set)
        m->creation_timestamp = was->creation_timestamp;
    if (was->deletion_timestamp.set)
        m->deletion_timestamp = was->deletion_timestamp;
    if (was->deletion_grace_period_seconds.set && !m->deletion_grace_period_seconds.set)
        m->deletion_grace_period_seconds = was->deletion_grace_period_seconds;
}
