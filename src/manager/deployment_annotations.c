/*
 * Annotations by which Deployments and their ReplicaSets remember.
 *
 * Follows k8s.io/kubernetes pkg/controller/deployment/util, func SetNewReplicaSetAnnotations.
 */
#include "base/buf.h"
#include "manager/deployment_int.h"

/* A history of revisions has at most so many characters. */
enum { LONGEST_HISTORY = 2000 };

static struct str annotation(const struct labels *annotations, const char *key) {
    const struct label *l = labels_find(annotations, str_of(key));
    return l ? l->value : (struct str){0};
}

static bool to_number(struct str text, int64_t *out) {
    *out = 0;
    return !text.n || labels_value_to_i64(text, out);
}

bool deployment__revision(const struct api_object *o, int64_t *out) {
    return to_number(annotation(&o->meta->annotations, DEPLOYMENT_REVISION), out);
}

bool deployment__annotated(const struct deployment__set *set, const char *key, int32_t *out) {
    struct str text = annotation(&set->object->meta->annotations, key);
    int64_t n;
    if (!text.n || text.p[0] == '+' || text.p[0] == '-' || !labels_value_to_i64(text, &n) ||
        n > INT32_MAX)
        return false;
    *out = (int32_t)n;
    return true;
}

struct str deployment__next_revision(const struct deployment__view *v) {
    int64_t most = 0, revision;
    for (size_t i = 0; i < v->n; i++)
        if (&v->sets[i] != v->current && deployment__revision(v->sets[i].object, &revision) &&
            revision > most)
            most = revision;
    return arena_printf(v->arena, "%lld", (long long)most + 1);
}

static bool is_own(struct str key) {
    static const char *const own[] = {
        "kubectl.kubernetes.io/last-applied-configuration",
        DEPLOYMENT_REVISION,
        DEPLOYMENT_REVISION_HISTORY,
        DEPLOYMENT_DESIRED,
        DEPLOYMENT_MAX,
        "deprecated.deployment.rollback.to",
    };
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (str_is(key, own[i]))
            return true;
    return false;
}

static bool has(const struct labels *annotations, struct label l) {
    const struct label *there = labels_find(annotations, l.key);
    return there && str_eq(there->value, l.value);
}

static bool put(struct arena *a, struct labels *annotations, struct label l) {
    if (has(annotations, l))
        return false;
    labels_put(a, annotations, l);
    return true;
}

static bool copy_annotations(const struct deployment__view *v, struct arena *a,
                             struct labels *annotations) {
    const struct labels *from = &v->object->meta->annotations;
    struct labels news = {arena_array(a, struct label, from->n), 0};
    for (size_t i = 0; i < from->n; i++)
        if (!is_own(from->v[i].key) && !has(annotations, from->v[i]))
            news.v[news.n++] = from->v[i];
    labels_merge(a, annotations, news.v, news.n);
    return news.n > 0;
}

/* The history with one more revision; the oldest ones go when it becomes too long. */
static struct str longer_history(struct arena *a, struct str history, struct str revision) {
    if (!history.n)
        return revision;
    while (history.n && history.n + 1 + revision.n > LONGEST_HISTORY) {
        struct str first;
        str_cut(history, ',', &first, &history);
    }
    return history.n ? arena_printf(a, "%.*s,%.*s", STR_ARG(history), STR_ARG(revision)) : revision;
}

bool deployment__annotate(const struct deployment__view *v, struct arena *a,
                          struct labels *annotations) {
    struct str old = annotation(annotations, DEPLOYMENT_REVISION);
    struct str next = deployment__next_revision(v);
    bool changed = copy_annotations(v, a, annotations);
    int64_t old_number, next_number;
    if (!to_number(old, &old_number) || !to_number(next, &next_number))
        return false;
    if (old_number >= next_number)
        return changed;
    if (old.p)
        labels_put(
            a, annotations,
            (struct label){
                STR(DEPLOYMENT_REVISION_HISTORY),
                longer_history(a, annotation(annotations, DEPLOYMENT_REVISION_HISTORY), old)});
    labels_put(a, annotations, (struct label){STR(DEPLOYMENT_REVISION), next});
    return true;
}

bool deployment__annotate_size(const struct deployment__view *v, struct arena *a,
                               struct labels *annotations) {
    struct str desired = arena_printf(a, "%d", v->wanted);
    struct str most = arena_printf(a, "%d", v->most);
    bool changed = put(a, annotations, (struct label){STR(DEPLOYMENT_DESIRED), desired});
    return put(a, annotations, (struct label){STR(DEPLOYMENT_MAX), most}) || changed;
}
