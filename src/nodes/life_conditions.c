/*
 * The conditions of a pod that its kubelet knows.
 *
 * Follows k8s.io/kubernetes pkg/kubelet/status, func GeneratePodReadyCondition.
 */
#include "nodes/life_int.h"

#include "base/limits.h"
#include "base/map.h"
#include "nodes/kubelets_int.h"

static const char *const own_types[] = {
    "PodReadyToStartContainers", "Initialized",  "Ready",
    "ContainersReady",           "PodScheduled", "PodResizePending",
};
enum { OWN_TYPES = sizeof own_types / sizeof own_types[0], PENDING = OWN_TYPES - 1 };

static const struct api_pod_condition *find(const struct api_pod_condition_list *list,
                                            struct str type) {
    for (size_t i = 0; i < list->n; i++)
        if (str_eq(list->v[i].type, type))
            return &list->v[i];
    return NULL;
}

static bool is_own(struct str type) {
    for (size_t i = 0; i < OWN_TYPES; i++)
        if (str_is(type, own_types[i]))
            return true;
    return false;
}

void nodes__keep_conditions(struct arena *a, struct api_pod_condition_list *list) {
    struct api_pod_condition_list kept = {
        arena_array(a, struct api_pod_condition, list->n + OWN_TYPES), 0};
    for (size_t i = 0; i < list->n; i++)
        if (!is_own(list->v[i].type))
            kept.v[kept.n++] = list->v[i];
    *list = kept;
}

static bool is_same(const struct api_pod_condition *x, const struct api_pod_condition *y) {
    if (!x || !y)
        return x == y;
    return str_eq(x->status, y->status) && str_eq(x->reason, y->reason) &&
           str_eq(x->message, y->message);
}

bool nodes__have_same_conditions(const struct api_pod_condition_list *x,
                                 const struct api_pod_condition_list *y) {
    for (size_t i = 0; i < OWN_TYPES; i++)
        if (!is_same(find(x, str_of(own_types[i])), find(y, str_of(own_types[i]))))
            return false;
    return true;
}

/* ---- what is said ---- */

struct word {
    bool is_true;
    struct str reason, message;
};

static void add_name(struct buf *out, struct str name) {
    buf_addf(out, "%s%.*s", out->p[out->n - 1] == '[' ? "" : " ", STR_ARG(name));
}

static bool is_incomplete(const struct nodes__container *c) {
    if (c->role == NODES__SIDECAR)
        return c->mode != NODES__RUNNING || !c->is_started;
    return c->role == NODES__INIT && (c->mode != NODES__ENDED || c->run.exit_code);
}

static bool is_unready(const struct nodes__container *c) {
    bool counts = c->role == NODES__SIDECAR || c->role == NODES__MAIN;
    return counts && (c->mode != NODES__RUNNING || !c->is_ready);
}

/* "containers with unready status: [a b]"; absent when there are none. */
static struct str list_names(struct arena *a, const char *what, const struct nodes__life *life,
                             bool (*is_listed)(const struct nodes__container *c)) {
    AUTO(buf_release) struct buf out = BUF_INIT(LIMIT_OBJECT_BYTES);
    size_t n = 0;
    buf_addf(&out, "containers with %s status: [", what);
    for (size_t i = 0; i < life->n; i++)
        if (is_listed(&life->v[i])) {
            add_name(&out, life->v[i].spec->name);
            n++;
        }
    buf_add_char(&out, ']');
    return n ? arena_str(a, buf_view(&out)) : (struct str){0};
}

static struct word initialized(struct arena *a, const struct nodes__life *life, struct str phase) {
    const struct nodes__container *mains = life->v + life->inits;
    if (str_is(phase, "Succeeded"))
        return (struct word){.is_true = true, .reason = STR("PodCompleted")};
    if (nodes__has_begun(mains, life->mains))
        return (struct word){.is_true = true};
    struct str names = list_names(a, "incomplete", life, is_incomplete);
    if (names.p)
        return (struct word){false, STR("ContainersNotInitialized"), names};
    return (struct word){.is_true = true};
}

static struct word containers_ready(struct arena *a, const struct nodes__life *life,
                                    struct str phase) {
    if (str_is(phase, "Succeeded"))
        return (struct word){.reason = STR("PodCompleted")};
    if (str_is(phase, "Failed"))
        return (struct word){.reason = STR("PodFailed")};
    struct str names = list_names(a, "unready", life, is_unready);
    if (names.p)
        return (struct word){false, STR("ContainersNotReady"), names};
    return (struct word){.is_true = true};
}

/* What is said of a gate of a pod whose condition is not there, or not "True". */
static void add_gate(struct buf *out, struct str type, const struct api_pod_condition *c) {
    if (c && str_is(c->status, "True"))
        return;
    buf_add(out, out->n ? STR(", ") : STR(""));
    if (c)
        buf_addf(out, "the status of pod readiness gate \"%.*s\" is not \"True\", but %.*s",
                 STR_ARG(type), STR_ARG(c->status));
    else
        buf_addf(out, "corresponding condition of pod readiness gate \"%.*s\" does not exist.",
                 STR_ARG(type));
}

/* A pod whose containers are ready waits for the conditions that it names itself. Of those of one
 * type the first counts. */
static struct word ready(struct arena *a, const struct api_pod_spec *spec,
                         const struct api_pod_condition_list *conditions, struct word containers) {
    AUTO(buf_release) struct buf out = BUF_INIT(LIMIT_OBJECT_BYTES);
    if (!containers.is_true || !spec->readiness_gates.n)
        return containers;
    AUTO(map_release) struct map by_type = MAP_INIT(map_random_seed());
    for (size_t i = conditions->n; i-- > 0;)
        map_put_const(&by_type, conditions->v[i].type, &conditions->v[i]);
    for (size_t i = 0; i < spec->readiness_gates.n; i++) {
        struct str type = spec->readiness_gates.v[i].condition_type;
        add_gate(&out, type, map_get_const(&by_type, type));
    }
    if (out.n)
        return (struct word){false, STR("ReadinessGatesNotReady"), arena_str(a, buf_view(&out))};
    return containers;
}

static struct word sandbox(const struct nodes__life *life) {
    bool has_begun = nodes__has_sandbox(life);
    if (has_begun && !life->is_over)
        return (struct word){.is_true = true};
    return (struct word){false, STR("PodSandboxNotReady"),
                         has_begun ? STR("pod sandbox is not ready")
                                   : STR("no pod sandbox exists")};
}

/* ---- writing ---- */

void nodes__write_conditions(struct arena *a, const struct api_object *pod,
                             const struct nodes__life *life, const struct nodes__pod_facts *facts,
                             struct api_pod_status *status) {
    const struct api_pod_spec *spec = &((const struct api_pod *)pod->body)->spec;
    struct api_pod_condition_list old = status->conditions;
    struct word containers = containers_ready(a, life, status->phase);
    struct word words[OWN_TYPES] = {
        sandbox(life),
        initialized(a, life, status->phase),
        ready(a, spec, &old, containers),
        containers,
        {.is_true = true},
        {true, STR("Deferred"), facts->deferred},
    };
    nodes__keep_conditions(a, &status->conditions);
    for (size_t i = 0; i < OWN_TYPES; i++) {
        if (i == PENDING && !facts->deferred.n)
            continue;
        const struct api_pod_condition *before = find(&old, str_of(own_types[i]));
        struct api_pod_condition *c = &status->conditions.v[status->conditions.n++];
        *c = (struct api_pod_condition){
            .type = str_of(own_types[i]),
            .observed_generation = pod->meta->generation,
            .status = words[i].is_true ? STR("True") : STR("False"),
            .reason = words[i].reason,
            .message = words[i].message,
            .last_transition_time = nodes__time(facts->now),
        };
        if (before && str_eq(before->status, c->status))
            c->last_transition_time = before->last_transition_time;
    }
}
