/*
 * ResourceQuotas: what the objects of a namespace use of what is limited. Admission adds what
 * comes; what goes is counted here.
 *
 * Follows k8s.io/kubernetes pkg/controller/resourcequota, func (*Controller) syncResourceQuota.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/vec.h"
#include "manager/controller_int.h"
#include "manager/pods_int.h"
#include "registry/quota.h"

/* All quotas are counted anew so often, whatever was told. */
#define RESYNC (5 * 60 * CLOCK_SECOND)

struct quotas {
    struct manager__base base; /* keys: quotas */
    struct kind_watch *kinds;
    size_t n;
};

/* A kind whose objects may be counted. */
struct kind_watch {
    struct quotas *quotas;
    const struct api_kind *kind;
    struct informer *informer;
};

/* ---- one quota ---- */

/* What is used, while it is counted. */
struct usage {
    VEC(struct api_quantity) list;
};

/* Adds what objects of a kind use; kinds use different names. */
static void count_kind(const struct registry_meter *meter, const struct kind_watch *k,
                       const struct api_object *o, struct usage *used) {
    const struct api_resource_quota_spec *spec =
        &((const struct api_resource_quota *)o->body)->spec;
    struct api_quantities own = registry_quota_names(meter, k->kind, &spec->hard);
    size_t n;
    const struct api_object *const *all =
        informer_find(k->informer, INFORMER_BY_NAMESPACE, o->meta->namespace, &n);
    for (size_t i = 0; own.n && i < n; i++)
        registry_quota_add(meter, spec, all[i], &own);
    for (size_t i = 0; i < own.n; i++)
        vec_push(&used->list, own.v[i]);
}

static int by_key(const void *x, const void *y) {
    return str_cmp(((const struct api_quantity *)x)->key, ((const struct api_quantity *)y)->key);
}

static bool has_name(const struct api_quantity *list, size_t n, struct str name) {
    const struct api_quantity wanted = {.key = name};
    return n && bsearch(&wanted, list, n, sizeof *list, by_key);
}

static void sort(struct usage *used) {
    if (used->list.n)
        qsort(used->list.v, used->list.n, sizeof *used->list.v, by_key);
}

/* What is limited and used by no kind that is known stays as the status has it. */
static void keep_others(const struct api_resource_quota *quota, struct usage *used) {
    const struct api_quantities *old = &quota->status.used, *hard = &quota->spec.hard;
    size_t known = used->list.n;
    for (size_t i = 0; i < old->n; i++)
        if (has_name(hard->v, hard->n, old->v[i].key) &&
            !has_name(used->list.v, known, old->v[i].key))
            vec_push(&used->list, old->v[i]);
}

static struct api_quantities count(struct quotas *c, struct arena *a, const struct api_object *o) {
    struct usage used = {0};
    struct registry_meter meter = {.arena = a,
                                   .gates = c->base.manager->gates,
                                   .now = manager__time(manager__now(c->base.manager))};
    for (size_t i = 0; i < c->n; i++)
        count_kind(&meter, &c->kinds[i], o, &used);
    sort(&used);
    keep_others(o->body, &used);
    sort(&used);
    struct api_quantities out = {arena_array(a, struct api_quantity, used.list.n), used.list.n};
    for (size_t i = 0; i < out.n; i++)
        out.v[i] = used.list.v[i];
    vec_release(&used.list);
    return out;
}

static void sync(void *self, struct work *w, const struct api_object *o) {
    struct quotas *c = self;
    const struct api_resource_quota *quota = o->body;
    struct api_resource_quota_status status = {.hard = quota->spec.hard,
                                               .used = count(c, work_arena(w), o)};
    work_again_after(w, RESYNC);
    if (registry_amounts_equal(&quota->spec.hard, &quota->status.hard) && quota->status.hard.v &&
        quota->status.used.v && registry_amounts_equal(&quota->status.used, &status.used))
        return;
    struct api_object *draft = api_object_derive(o);
    api_struct_copy(&draft->arena, &api_types[API_T_resource_quota_status], &status,
                    &((struct api_resource_quota *)api_own_body(draft))->status);
    work_update(w, draft, "status", NULL, NULL);
}

/* ---- what informers tell ---- */

static void quota_set(void *self, const struct api_object *old, const struct api_object *o) {
    const struct api_resource_quota *a = old ? old->body : NULL, *b = o->body;
    if (!a || !registry_amounts_equal(&a->spec.hard, &b->spec.hard) ||
        !registry_amounts_equal(&b->spec.hard, &b->status.hard))
        manager__add_set(self, old, o);
}

/* The quotas of a namespace that limit what objects of the kind use. */
static void replenish(const struct kind_watch *k, struct str namespace) {
    AUTO(arena_release) struct arena a = {0};
    struct registry_meter meter = {.arena = &a, .gates = k->quotas->base.manager->gates};
    size_t n;
    const struct api_object *const *all =
        informer_find(k->quotas->base.informer, INFORMER_BY_NAMESPACE, namespace, &n);
    for (size_t i = 0; i < n; i++) {
        const struct api_resource_quota *quota = all[i]->body;
        if (registry_quota_names(&meter, k->kind, &quota->spec.hard).n)
            workqueue_add_object(k->quotas->base.queue, all[i]);
    }
}

static void object_deleted(void *arg, const struct api_object *last) {
    replenish(arg, last->meta->namespace);
}

/* Pods give back what they use when they end; services and claims may change what they use. */
static void object_set(void *arg, const struct api_object *old, const struct api_object *o) {
    bool is_pod = api_object_is(o, API_T_pod);
    if (!old || (!is_pod && !api_object_is(o, API_T_service) &&
                 !api_object_is(o, API_T_persistent_volume_claim)))
        return;
    if (!is_pod || (api_pod_has_ended(o->body) && !api_pod_has_ended(old->body)))
        replenish(arg, o->meta->namespace);
}

/* ---- beginning and end ---- */

static void watch_kinds(void *self) {
    struct quotas *c = self;
    size_t n;
    const struct registry_resource *rows = registry_resources(&n);
    c->kinds = xcalloc(n, sizeof *c->kinds);
    for (size_t i = 0; i < n; i++) {
        const struct api_kind *kind = rows[i].kind;
        if (!kind->namespaced || !manager__is_deletable(&rows[i]) ||
            strcmp(kind->kind, "Event") == 0)
            continue;
        struct kind_watch *k = &c->kinds[c->n++];
        *k = (struct kind_watch){c, kind, informers_of(c->base.manager->informers, kind)};
        informer_listen(k->informer, &(struct informer_handler){
                                         .set = object_set, .deleted = object_deleted, .arg = k});
    }
}

static void end(void *self) {
    free(((struct quotas *)self)->kinds);
}

const struct manager__controller manager__resourcequota = {
    .size = sizeof(struct quotas),
    .queues = {{"resourcequota_primary", sync, .names = API_T_resource_quota}},
    .kinds = {{API_T_resource_quota, .set = quota_set}},
    .begin = watch_kinds,
    .end = end,
};
