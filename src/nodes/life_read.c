/*
 * The lives of a pod's containers as its status shows them, its phase, and who is restarted.
 *
 * Follows k8s.io/kubernetes pkg/kubelet, func getPhase.
 */
#include <stdlib.h>

#include "nodes/kubelets_int.h"
#include "nodes/life_int.h"

/* ---- restarts ---- */

static bool has_code(const struct api_container_restart_rule *rule, int32_t exit_code) {
    for (size_t i = 0; i < rule->exit_codes->values.n; i++)
        if (rule->exit_codes->values.v[i] == exit_code)
            return true;
    return false;
}

/* Is there a rule that says so? The first that fits counts. */
static bool is_restarted_by_rule(const struct api_container *c, int32_t exit_code) {
    for (size_t i = 0; i < c->restart_policy_rules.n; i++) {
        const struct api_container_restart_rule *rule = &c->restart_policy_rules.v[i];
        if (!rule->exit_codes)
            continue;
        bool has = has_code(rule, exit_code), is_in = str_is(rule->exit_codes->operator, "In");
        if (is_in ? has : str_is(rule->exit_codes->operator, "NotIn") && !has)
            return str_starts(rule->action, STR("Restart"));
    }
    return false;
}

static bool is_restarted_by(struct str policy, int32_t exit_code) {
    if (str_is(policy, "OnFailure"))
        return exit_code != 0;
    return !str_is(policy, "Never");
}

bool nodes__is_restarted(const struct api_pod_spec *spec, const struct nodes__container *c,
                         int32_t exit_code) {
    struct str policy = c->spec->restart_policy;
    if (c->role == NODES__EPHEMERAL || (c->role == NODES__INIT && exit_code == 0))
        return false;
    if (!policy.n)
        policy = spec->restart_policy;
    else if (is_restarted_by_rule(c->spec, exit_code))
        return true;
    return is_restarted_by(policy, exit_code);
}

/* ---- from a status ---- */

static struct nodes__run run_of(const struct api_container_state_terminated *t) {
    return (struct nodes__run){t->started_at.sec, t->finished_at.sec, t->exit_code};
}

/* What has ended in a pod that is deleted has ended for good: without a spec nobody restarts it. */
static void read_state(const struct api_pod_spec *spec, const struct api_container_status *s,
                       struct nodes__container *c) {
    const struct api_container_state *state = &s->state;
    c->told = s;
    c->restarts = s->restart_count > 0 ? s->restart_count : 0;
    if (s->last_state.terminated)
        c->last = run_of(s->last_state.terminated);
    if (state->running) {
        c->mode = NODES__RUNNING;
        c->run.started = state->running->started_at.sec;
        c->is_started = s->started.v;
        c->is_ready = s->ready;
    } else if (state->terminated) {
        c->run = run_of(state->terminated);
        c->mode = NODES__ENDED;
        if (spec && nodes__is_restarted(spec, c, c->run.exit_code)) {
            c->mode = NODES__BACKOFF;
            c->last = c->run;
        }
    } else if (s->last_state.terminated)
        c->mode = NODES__BACKOFF;
}

static int by_name(const void *name, const void *entry) {
    return str_cmp(*(const struct str *)name,
                   (*(struct nodes__container *const *)entry)->spec->name);
}

static int compare(const void *a, const void *b) {
    return by_name(&(*(struct nodes__container *const *)a)->spec->name, b);
}

/* Statuses may stand in any order. */
static void read_states(struct arena *a, const struct api_pod_spec *spec,
                        const struct api_container_status_list *list, struct nodes__container *v,
                        size_t n) {
    if (!list->n || !n)
        return;
    struct nodes__container **sorted = arena_array(a, struct nodes__container *, n);
    for (size_t i = 0; i < n; i++)
        sorted[i] = &v[i];
    qsort(sorted, n, sizeof *sorted, compare);
    for (size_t i = 0; i < list->n; i++) {
        struct nodes__container **found =
            bsearch(&list->v[i].name, sorted, n, sizeof *sorted, by_name);
        if (found)
            read_state(spec, &list->v[i], *found);
    }
}

static void add(struct nodes__life *life, const struct api_container *c, enum nodes__role role) {
    life->v[life->n++] = (struct nodes__container){.spec = c, .role = role};
}

struct nodes__life nodes__read_life(struct arena *a, const struct api_object *pod,
                                    const struct nodes__pod_facts *facts) {
    const struct api_pod *body = pod->body;
    const struct api_pod_spec *spec = &body->spec;
    size_t inits = spec->init_containers.n, mains = spec->containers.n;
    struct nodes__life life = {
        .is_begun = body->status.start_time.set,
        .begun = body->status.start_time.sec,
        .inits = inits,
        .mains = mains,
        .v = arena_array(a, struct nodes__container, inits + mains + spec->ephemeral_containers.n),
    };
    for (size_t i = 0; i < inits; i++)
        add(&life, &spec->init_containers.v[i],
            str_is(spec->init_containers.v[i].restart_policy, "Always") ? NODES__SIDECAR
                                                                        : NODES__INIT);
    for (size_t i = 0; i < mains; i++)
        add(&life, &spec->containers.v[i], NODES__MAIN);
    for (size_t i = 0; i < spec->ephemeral_containers.n; i++)
        add(&life, &spec->ephemeral_containers.v[i].container, NODES__EPHEMERAL);
    for (size_t i = 0; i < life.n; i++)
        life.v[i].wishes = nodes__read_wishes(a, pod, life.v[i].spec, life.v[i].role, facts);
    if (!life.is_begun)
        return life;
    if (pod->meta->deletion_timestamp.set)
        spec = NULL;
    read_states(a, spec, &body->status.init_container_statuses, life.v, inits);
    read_states(a, spec, &body->status.container_statuses, life.v + inits, mains);
    read_states(a, spec, &body->status.ephemeral_container_statuses, life.v + inits + mains,
                life.n - inits - mains);
    life.is_over = api_pod_has_ended(body);
    return life;
}

/* ---- the phase ---- */

/* How many containers are in which state. */
struct tally {
    size_t pending, pending_sidecars, failed; /* of the first ones */
    size_t waiting, running, stopped, succeeded, restarting;
};

static void count_first(struct tally *t, const struct nodes__container *c) {
    bool is_sidecar = c->role == NODES__SIDECAR;
    if (is_sidecar) {
        t->running += c->mode == NODES__RUNNING;
        t->waiting += c->mode == NODES__WAITING;
        t->pending_sidecars +=
            c->mode == NODES__WAITING || (c->mode == NODES__RUNNING && !c->is_started);
        return;
    }
    t->pending += c->mode == NODES__WAITING || c->mode == NODES__RUNNING;
    t->failed += c->mode == NODES__ENDED && c->run.exit_code;
}

static void count_main(struct tally *t, const struct nodes__container *c) {
    t->waiting += c->mode == NODES__WAITING;
    t->running += c->mode == NODES__RUNNING;
    t->stopped += c->mode == NODES__BACKOFF || c->mode == NODES__ENDED;
    t->succeeded += c->mode == NODES__ENDED && !c->run.exit_code;
    t->restarting += c->mode == NODES__BACKOFF;
}

struct str nodes__phase_of(const struct nodes__life *life) {
    struct tally t = {0};
    const struct nodes__container *mains = life->v + life->inits;
    for (size_t i = 0; i < life->inits; i++)
        count_first(&t, &life->v[i]);
    for (size_t i = 0; i < life->mains; i++)
        count_main(&t, &mains[i]);
    if (t.failed || life->is_late)
        return STR("Failed");
    if (t.pending || (t.pending_sidecars && !nodes__has_begun(mains, life->mains)) || t.waiting)
        return STR("Pending");
    if (t.running || (t.restarting && !life->is_over))
        return STR("Running");
    if (!t.stopped)
        return STR("Pending");
    return t.stopped == t.succeeded ? STR("Succeeded") : STR("Failed");
}
