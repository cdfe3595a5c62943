/* Changes against taints and cordoning: other values of tolerations, new ones, fewer taints. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sched/explain/explain_int.h"
#include "semver/semver.h"

/* ---- values next to others ---- */

/* A version just below: one patch less, or the least pre-release. */
static struct str version_below(struct arena *a, const struct semver *v) {
    if (v->patch > 0)
        return arena_printf(a, "%" PRIu64 ".%" PRIu64 ".%" PRIu64, v->major, v->minor,
                            v->patch - 1);
    return arena_printf(a, "%" PRIu64 ".%" PRIu64 ".0-0", v->major, v->minor);
}

/* A version just above: what a pre-release is one of, or one patch more. */
static struct str version_above(struct arena *a, const struct semver *v) {
    return arena_printf(a, "%" PRIu64 ".%" PRIu64 ".%" PRIu64, v->major, v->minor,
                        v->patch + (v->pre_count ? 0 : 1));
}

static struct str number_next(struct arena *a, struct str value, bool below) {
    int64_t n;
    if (!labels_value_to_i64(value, &n) || n == (below ? INT64_MIN : INT64_MAX))
        return (struct str){0};
    return arena_printf(a, "%" PRId64, below ? n - 1 : n + 1);
}

static struct str version_next(struct arena *a, struct str operator, struct str value) {
    struct semver v;
    if (semver_parse_tolerant(a, value, &v, NULL) < 0)
        return (struct str){0};
    if (str_is(operator, "SemverEq"))
        return value;
    return str_is(operator, "SemverGt") ? version_below(a, &v) : version_above(a, &v);
}

struct str sched__suggest_threshold(struct arena *a, struct str operator, struct str value) {
    if (str_is(operator, "Gt") || str_is(operator, "Lt"))
        return number_next(a, value, str_is(operator, "Gt"));
    if (str_starts(operator, STR("Semver")))
        return version_next(a, operator, value);
    return (struct str){0};
}

/* A version as a number that grows with it; INT64_MIN: it is none. */
static int64_t version_rank(struct str value) {
    enum { MOST = 1 << 20 }; /* of a part */
    AUTO(arena_release) struct arena a = {0};
    struct semver v;
    if (semver_parse_tolerant(&a, value, &v, NULL) < 0 || v.major >= MOST || v.minor >= MOST ||
        v.patch >= MOST)
        return INT64_MIN;
    return (int64_t)((v.major * MOST + v.minor) * MOST + v.patch);
}

int64_t sched__suggest_distance(struct str a, struct str b) {
    int64_t x, y;
    if (!labels_value_to_i64(a, &x) || !labels_value_to_i64(b, &y)) {
        x = version_rank(a);
        y = version_rank(b);
        if (x == INT64_MIN || y == INT64_MIN)
            return 0;
    }
    uint64_t apart = x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
    return apart > INT64_MAX / 64 ? INT64_MAX / 64 : (int64_t)apart;
}

/* ---- tolerations ---- */

static const struct api_toleration_list *tolerations_of(const struct api_object *pod) {
    return &((const struct api_pod *)pod->body)->spec.tolerations;
}

static struct api_toleration_list *own_tolerations(struct api_object *pod) {
    return &((struct api_pod *)api_own_body(pod))->spec.tolerations;
}

static const char *direction(struct str operator) {
    if (str_ends(operator, STR("Gt")))
        return "lower";
    return str_ends(operator, STR("Lt")) ? "raise" : "change";
}

/* Another value for a toleration of the taint's key. */
static void change_value(struct sched__options *x, uint32_t place,
                         const struct match_taint *taint) {
    const struct api_toleration *t = &tolerations_of(x->pod)->v[place];
    struct str found = intern_text(taint->value);
    bool is_equal = !t->operator.n || str_is(t->operator, "Equal");
    struct str value = is_equal && !t->expression.n
                           ? found
                           : sched__suggest_threshold(x->cy->arena, t->operator, found);
    if (!value.p || t->expression.n || !str_eq(t->key, intern_text(taint->key)) ||
        !sched__option_wanted(x))
        return;
    struct api_object *pod = api_object_derive(x->pod);
    SCHED__OWN_LIST(pod, own_tolerations(pod));
    own_tolerations(pod)->v[place].value = arena_str(&pod->arena, value);
    struct sched__option o = {.kind = SCHED_CHANGE_THRESHOLD, .pod = pod};
    o.cost = sched__suggest_distance(t->value, value);
    o.text = arena_printf(
        x->cy->arena, "%s toleration #%u (%.*s %.*s %.*s) to %.*s", direction(t->operator), place,
        STR_ARG(t->key), STR_ARG(is_equal ? STR("Equal") : t->operator),
        STR_ARG(sched__option_shown(x, t->value)), STR_ARG(sched__option_shown(x, value)));
    sched__option_make(x, &o);
}

/* A toleration of exactly this taint; without a value, of any that has its key and effect. */
static void tolerate(struct sched__options *x, const struct match_taint *taint, struct str value) {
    struct str key = intern_text(taint->key), effect = intern_text(taint->effect);
    if (!sched__option_wanted(x))
        return;
    struct api_object *pod = api_object_derive(x->pod);
    struct api_toleration_list *list = own_tolerations(pod);
    struct api_toleration *grown = arena_array(&pod->arena, struct api_toleration, list->n + 1);
    if (list->n)
        memcpy(grown, list->v, list->n * sizeof *grown);
    grown[list->n] = (struct api_toleration){
        .key = arena_str(&pod->arena, key),
        .operator= value.n ? STR("Equal") : STR("Exists"),
        .value = arena_str(&pod->arena, value),
        .effect = arena_str(&pod->arena, effect),
    };
    *list = (struct api_toleration_list){grown, list->n + 1};
    bool is_wider = !value.n && taint->value->length;
    struct sched__option o = {.kind = SCHED_CHANGE_TOLERATE, .cost = is_wider, .pod = pod};
    o.text =
        arena_printf(x->cy->arena, "tolerate %.*s%s%.*s:%.*s%s", STR_ARG(key), value.n ? "=" : "",
                     STR_ARG(value.n ? sched__option_shown(x, value) : value), STR_ARG(effect),
                     is_wider ? " with operator Exists" : "");
    sched__option_make(x, &o);
}

/* Taints that the node's condition puts there: to tolerate them, or to remove them, changes nothing
 * about it. */
static bool is_condition(struct str key) {
    return str_starts(key, STR("node.kubernetes.io/")) ||
           str_starts(key, STR("node.cloudprovider.kubernetes.io/"));
}

static struct api_node *own_node(struct api_object *node) {
    return api_own_body(node);
}

static void take_taint(struct api_object *node, size_t place) {
    struct api_taint_list *list = &own_node(node)->spec.taints;
    SCHED__OWN_LIST(node, list);
    memmove(&list->v[place], &list->v[place + 1], (list->n - place - 1) * sizeof *list->v);
    list->n--;
}

static void remove_taint(struct sched__options *x, uint32_t place,
                         const struct match_taint *taint) {
    if (!sched__option_wanted(x))
        return;
    struct api_object *node = api_object_derive(x->node);
    take_taint(node, place);
    struct sched__option o = {.kind = SCHED_CHANGE_UNTAINT, .node = node};
    struct str value = intern_text(taint->value);
    o.text = arena_printf(x->cy->arena, "remove the taint %.*s%s%.*s:%.*s from node %.*s",
                          STR_ARG(intern_text(taint->key)), value.n ? "=" : "",
                          STR_ARG(value.n ? sched__option_shown(x, value) : value),
                          STR_ARG(intern_text(taint->effect)), STR_ARG(node->meta->name));
    sched__option_make(x, &o);
}

void sched__suggest_taint(struct sched__options *x) {
    const struct match_taints *taints = x->cy->s->nodes.taints[x->slot];
    const struct match_tolerations *tolerations = x->cy->cls->tolerations;
    uint32_t place =
        match_find_untolerated(tolerations, taints, MATCH_NO_SCHEDULE | MATCH_NO_EXECUTE);
    const struct match_taint *taint = &taints->v[place];
    if (is_condition(intern_text(taint->key)))
        return;
    for (uint32_t i = 0; i < tolerations->n && i < tolerations_of(x->pod)->n && !x->made; i++)
        if (match_toleration_check(&tolerations->v[i], taint) > MATCH_KEY_DIFFERS)
            change_value(x, i, taint);
    tolerate(x, taint, intern_text(taint->value));
    if (taint->value->length)
        tolerate(x, taint, STR(""));
    remove_taint(x, place, taint);
}

/* ---- cordoned nodes ---- */

/* The taint that the node's controller adds goes, too. */
void sched__suggest_unschedulable(struct sched__options *x) {
    if (!sched__option_wanted(x))
        return;
    struct api_object *node = api_object_derive(x->node);
    struct api_node_spec *spec = &own_node(node)->spec;
    spec->unschedulable = false;
    for (size_t i = spec->taints.n; i--;)
        if (str_is(spec->taints.v[i].key, "node.kubernetes.io/unschedulable"))
            take_taint(node, i);
    struct sched__option o = {.kind = SCHED_CHANGE_UNCORDON, .node = node};
    o.text = arena_printf(x->cy->arena, "uncordon node %.*s", STR_ARG(node->meta->name));
    sched__option_make(x, &o);
}
