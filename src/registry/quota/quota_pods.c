/*
 * What pods use of a quota.
 *
 * Follows k8s.io/kubernetes pkg/quota/v1/evaluator/core, func (*podEvaluator) Handles,
 * func (*podEvaluator) MatchingResources, func (*podEvaluator) Constraints, func PodUsageFunc,
 * func podComputeUsageHelper, func podMatchesScopeFunc, func QuotaV1Pod.
 */
#include <stdlib.h>

#include "api/names.h"
#include "base/vec.h"
#include "registry/quota/quota_int.h"

#define HUGE_PAGES     STR("hugepages-")
#define REQUESTS       STR("requests.")
#define DEVICE_CLASSES STR("deviceclass.resource.kubernetes.io/")

/* ---- names ---- */

static bool is_native(struct str name) {
    return str_find_char(name, '/') == STR_NONE ||
           str_find(name, STR("kubernetes.io/")) != STR_NONE;
}

/* requests.example.com/gpu */
static bool is_extended_request(struct str name) {
    struct str rest = str_sub(name, REQUESTS.n, name.n);
    return str_starts(name, REQUESTS) && (!is_native(name) || str_starts(rest, DEVICE_CLASSES));
}

static bool is_extended(struct str name) {
    enum { MOST = 512 };
    char text[MOST];
    if (is_native(name) || str_starts(name, REQUESTS) || name.n > MOST - REQUESTS.n)
        return str_starts(name, DEVICE_CLASSES);
    for (size_t i = 0; i < REQUESTS.n + name.n; i++)
        text[i] = i < REQUESTS.n ? REQUESTS.p[i] : name.p[i - REQUESTS.n];
    return names_check_label_key((struct str){text, REQUESTS.n + name.n}).n == 0;
}

static bool counts(const struct registry__admission *m, struct str name) {
    static const char *const names[] = {"count/pods",
                                        "cpu",
                                        "memory",
                                        "ephemeral-storage",
                                        "requests.cpu",
                                        "requests.memory",
                                        "requests.ephemeral-storage",
                                        "limits.cpu",
                                        "limits.memory",
                                        "limits.ephemeral-storage",
                                        "pods"};
    (void)m;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(name, names[i]))
            return true;
    return str_starts(name, HUGE_PAGES) || str_starts(name, STR("requests.hugepages-")) ||
           is_extended_request(name);
}

/* ---- scopes ---- */

static bool is_terminating(const struct api_object *o) {
    const struct api_pod *pod = o->body;
    return pod->spec.active_deadline_seconds.set && pod->spec.active_deadline_seconds.v >= 0;
}

static bool is_best_effort(const struct registry__admission *m, const struct api_pod *pod) {
    struct str class = pod->status.qos_class.n ? pod->status.qos_class
                                               : valid_qos_class(&pod->spec, m->registry->gates);
    return str_is(class, "BestEffort");
}

static bool leaves_namespace(const struct api_pod_affinity_term *t) {
    return t->namespaces.n || t->namespace_selector;
}

static bool any_leaves(const struct api_pod_affinity_term_list *required,
                       const struct api_weighted_pod_affinity_term_list *preferred) {
    for (size_t i = 0; i < required->n; i++)
        if (leaves_namespace(&required->v[i]))
            return true;
    for (size_t i = 0; i < preferred->n; i++)
        if (leaves_namespace(&preferred->v[i].pod_affinity_term))
            return true;
    return false;
}

static bool looks_elsewhere(const struct api_pod *pod) {
    const struct api_affinity *a = pod->spec.affinity;
    if (a && a->pod_affinity && any_leaves(&a->pod_affinity->required, &a->pod_affinity->preferred))
        return true;
    return a && a->pod_anti_affinity &&
           any_leaves(&a->pod_anti_affinity->required, &a->pod_anti_affinity->preferred);
}

static bool is_in(const struct registry__admission *m, const struct api_object *o,
                  const registry__scope *scope) {
    const struct api_pod *pod = o->body;
    if (str_is(scope->scope_name, "Terminating"))
        return is_terminating(o);
    if (str_is(scope->scope_name, "NotTerminating"))
        return !is_terminating(o);
    if (str_is(scope->scope_name, "BestEffort"))
        return is_best_effort(m, pod);
    if (str_is(scope->scope_name, "NotBestEffort"))
        return !is_best_effort(m, pod);
    if (str_is(scope->scope_name, "PriorityClass"))
        return registry__scope_has(scope, pod->spec.priority_class_name);
    return str_is(scope->scope_name, "CrossNamespacePodAffinity") && looks_elsewhere(pod);
}

/* An update changes what is used only if the pod gets a deadline or loses it, or is resized. */
static bool handles(const struct registry__admission *m) {
    if (m->operation == REGISTRY_CREATE)
        return registry__is_whole(m);
    if (str_is(m->request->subresource, "resize"))
        return true;
    return registry__is_whole(m) && is_terminating(m->old) != is_terminating(m->o);
}

/* ---- usage ---- */

struct usage {
    struct arena *a;
    VEC(struct api_quantity) list;
};

static void put(struct usage *u, const char *prefix, struct str name, const struct quantity *q) {
    struct str key = *prefix ? arena_printf(u->a, "%s%.*s", prefix, STR_ARG(name)) : name;
    vec_push(&u->list, (struct api_quantity){key, *q});
}

static bool is_basic(struct str name) {
    return str_is(name, "cpu") || str_is(name, "memory") || str_is(name, "ephemeral-storage");
}

static void put_requests(struct usage *u, const struct api_quantities *requests) {
    for (size_t i = 0; i < requests->n; i++) {
        const struct api_quantity *r = &requests->v[i];
        bool named = is_basic(r->key) || str_starts(r->key, HUGE_PAGES);
        if (named)
            put(u, "", r->key, &r->value);
        if (named || is_extended(r->key))
            put(u, "requests.", r->key, &r->value);
    }
}

static void put_limits(struct usage *u, const struct api_quantities *limits) {
    for (size_t i = 0; i < limits->n; i++)
        if (is_basic(limits->v[i].key))
            put(u, "limits.", limits->v[i].key, &limits->v[i].value);
}

/* The list as one in the arena. */
static struct api_quantities list_of(struct usage *u) {
    struct api_quantities out = {arena_array(u->a, struct api_quantity, u->list.n), u->list.n};
    for (size_t i = 0; i < out.n; i++)
        out.v[i] = u->list.v[i];
    vec_release(&u->list);
    registry__amounts_sort(&out);
    return out;
}

/* Pods that have ended, or should long be gone, use nothing but their place in the store. */
static bool is_charged(const struct registry__admission *m, const struct api_object *o) {
    const struct api_object_meta *meta = o->meta;
    if (api_pod_has_ended(o->body))
        return false;
    if (!meta->deletion_timestamp.set || !meta->deletion_grace_period_seconds.set)
        return true;
    return m->request->now.sec <=
           meta->deletion_timestamp.sec + meta->deletion_grace_period_seconds.v;
}

static unsigned amounts_of(const struct feature_set *gates) {
    unsigned what = REGISTRY__OVERHEAD;
    if (feature_enabled(gates, FEATURE_InPlacePodVerticalScaling))
        what |= REGISTRY__STATUS;
    if (feature_enabled(gates, FEATURE_PodLevelResources))
        what |= REGISTRY__POD_LEVEL | REGISTRY__HUGE_PAGES;
    return what;
}

static struct api_quantities usage(const struct registry__admission *m,
                                   const struct api_object *o) {
    struct usage u = {.a = m->a};
    struct quantity one = registry__one();
    unsigned what = amounts_of(m->registry->gates);
    put(&u, "", STR("count/pods"), &one);
    if (is_charged(m, o)) {
        struct api_quantities requests = registry__pod_resources(m->a, o->body, what);
        struct api_quantities limits =
            registry__pod_resources(m->a, o->body, what | REGISTRY__LIMITS);
        put(&u, "", STR("pods"), &one);
        put_requests(&u, &requests);
        put_limits(&u, &limits);
    }
    return list_of(&u);
}

/* ---- what must be said ---- */

/* If a quota limits these, every container must say them. */
static const struct {
    const char *name;
    const char *resource;
    bool is_limit;
} demanded[REGISTRY__DEMANDS] = {
    {"cpu", "cpu", false},
    {"limits.cpu", "cpu", true},
    {"limits.memory", "memory", true},
    {"memory", "memory", false},
    {"requests.cpu", "cpu", false},
    {"requests.memory", "memory", false},
};

static bool says(const struct api_container *c, size_t what) {
    const struct api_quantities *list =
        demanded[what].is_limit ? &c->resources.limits : &c->resources.requests;
    return registry__amount_find(list, str_of(demanded[what].resource));
}

static void write_silent(struct buf *out, const struct api_pod_spec *spec, size_t what) {
    VEC(struct str) names = {0};
    for (size_t i = 0; i < spec->containers.n; i++)
        if (!says(&spec->containers.v[i], what))
            vec_push(&names, spec->containers.v[i].name);
    for (size_t i = 0; i < spec->init_containers.n; i++)
        if (!says(&spec->init_containers.v[i], what))
            vec_push(&names, spec->init_containers.v[i].name);
    if (names.n)
        qsort(names.v, names.n, sizeof *names.v, str_cmp_qsort);
    for (size_t i = 0; i < names.n; i++)
        if (i == 0 || !str_eq(names.v[i], names.v[i - 1])) {
            buf_add(out, i ? STR(",") : STR(""));
            buf_add(out, names.v[i]);
        }
    vec_release(&names);
}

static bool has_pod_level(const struct api_quantities *list) {
    for (size_t i = 0; i < list->n; i++)
        if (str_is(list->v[i].key, "cpu") || str_is(list->v[i].key, "memory") ||
            str_starts(list->v[i].key, HUGE_PAGES))
            return true;
    return false;
}

static struct str silent_about(const struct registry__admission *m, struct registry__silent *silent,
                               size_t what) {
    const struct api_pod_spec *spec = &((const struct api_pod *)m->o->body)->spec;
    AUTO(buf_release) struct buf names = BUF_INIT(SIZE_MAX);
    if (!silent->is_known[what]) {
        write_silent(&names, spec, what);
        silent->names[what] = arena_str(m->a, buf_view(&names));
    }
    silent->is_known[what] = true;
    return silent->names[what];
}

static struct str fault(const struct registry__admission *m, const struct api_quantities *limited,
                        struct registry__silent *silent) {
    const struct api_pod_spec *spec = &((const struct api_pod *)m->o->body)->spec;
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    if (feature_enabled(m->registry->gates, FEATURE_PodLevelResources) && spec->resources &&
        (has_pod_level(&spec->resources->requests) || has_pod_level(&spec->resources->limits)))
        return (struct str){0};
    for (size_t i = 0; i < REGISTRY__DEMANDS; i++) {
        if (!registry__amount_find(limited, str_of(demanded[i].name)))
            continue;
        struct str names = silent_about(m, silent, i);
        if (!names.n)
            continue;
        buf_addf(&text, "%s%s for: ", text.n ? "; " : "must specify ", demanded[i].name);
        buf_add(&text, names);
    }
    return text.n ? arena_str(m->a, buf_view(&text)) : (struct str){0};
}

const struct registry__evaluator registry__quota_pods = {.type = API_T_pod,
                                                         .handles = handles,
                                                         .counts = counts,
                                                         .is_in = is_in,
                                                         .usage = usage,
                                                         .fault = fault};
