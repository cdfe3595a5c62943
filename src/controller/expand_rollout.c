/* Workloads that were changed: which of their pods are there, and which are to come. */
#include "base/buf.h"
#include "controller/expand_int.h"

/* ---- templates ---- */

static void note(struct expand *e, const char *text) {
    AUTO(arena_release) struct arena a = {0};
    e->c->note(e->c->ctx, arena_printf(&a, "%.*s: %s", STR_ARG(e->maker), text));
}

bool expand__replaces(struct expand *e, struct str strategy,
                      const struct api_pod_template_spec *template,
                      const struct api_pod_template_spec *before) {
    if (controller_same_template(template, before))
        return false;
    if (!str_is(strategy, "OnDelete"))
        return true;
    note(e, "not rolled out: by its strategy OnDelete, old pods stay until they are deleted");
    return false;
}

/* ---- pods ---- */

static struct str place_of(enum controller_rollout_way way, const struct api_object *pod) {
    if (way == CONTROLLER_ROLLOUT_MEMBERS)
        return pod->meta->name;
    return way == CONTROLLER_ROLLOUT_DAEMONS ? expand__daemon_node(pod) : STR("");
}

/* A pod of which nobody tells whether it is ready is, if it is on a node. */
static bool is_ready(const struct api_pod *pod) {
    for (size_t i = 0; i < pod->status.conditions.n; i++)
        if (str_is(pod->status.conditions.v[i].type, "Ready"))
            return str_is(pod->status.conditions.v[i].status, "True");
    return pod->spec.node_name.n && !str_is(pod->status.phase, "Pending");
}

void expand__roll_add(struct controller_rollout *r, const struct api_object *pod, bool is_new) {
    enum controller_rollout_state state =
        is_ready(pod->body) ? CONTROLLER_POD_READY : CONTROLLER_POD_WAITING;
    vec_push(&r->pods,
             (struct controller_rollout_pod){pod, place_of(r->way, pod), is_new, state, 0});
}

void expand__roll_created(struct expand *e, const struct api_object *pod) {
    struct controller_rollout *r = e->rollout;
    vec_push(&r->pods, (struct controller_rollout_pod){pod, place_of(r->way, pod), true,
                                                       CONTROLLER_POD_ABSENT, 0});
}

void expand__roll_begin(struct expand *e, struct controller_rollout *r) {
    e->rollout = r;
    e->c->roll_begin(e->c->ctx);
}

void expand__roll_end(struct expand *e, bool is_complete) {
    struct controller_rollout *r = e->rollout;
    e->rollout = NULL;
    if (!is_complete)
        vec_clear(&r->pods);
    controller_rollout_start(r);
    e->c->roll_end(e->c->ctx, r);
}

/* ---- Deployments ---- */

static void add_pods(struct controller_rollout *r, const struct expand_owned *owned, bool is_new) {
    for (size_t i = 0; owned && i < owned->pods.n; i++)
        if (expand__is_active(owned->pods.v[i]))
            expand__roll_add(r, owned->pods.v[i], is_new);
}

static int64_t count_new(const struct controller_rollout *r) {
    int64_t n = 0;
    for (size_t i = 0; i < r->pods.n; i++)
        n += r->pods.v[i].is_new;
    return n;
}

/* The pods of all ReplicaSets; *current is the one of the new template, or NULL. */
static void add_replicas(struct expand *e, const struct api_object *o, struct controller_rollout *r,
                         const struct api_object **current) {
    const struct api_deployment *d = o->body, *before = e->before->body;
    const struct expand_owned *owned = expand__owned(e, o);
    *current = NULL;
    for (size_t i = 0; owned && i < owned->replica_sets.n; i++) {
        const struct api_object *set = owned->replica_sets.v[i];
        const struct api_replica_set *body = set->body;
        bool is_new =
            !*current && controller_same_template(&body->spec.template, &d->spec.template);
        add_pods(r, expand__owned(e, set), is_new);
        if (is_new)
            *current = set;
    }
    add_pods(r, expand__orphans(e, o),
             controller_same_template(&before->spec.template, &d->spec.template));
}

static bool make_replicas(struct expand *e, const struct api_object *o,
                          const struct api_object *current, int64_t count) {
    if (count <= 0)
        return true;
    if (!expand__may(e, count))
        return false;
    if (!current)
        current = expand__create(e, controller_replica_set_new(o));
    return current &&
           expand__replicas(e, current,
                            &((const struct api_replica_set *)current->body)->spec.template, count);
}

bool expand__roll_deployment(struct expand *e, const struct api_object *o) {
    const struct api_deployment *d = o->body;
    struct controller_rollout r = {.maker = e->maker};
    const struct api_object *current;
    controller_rollout_of_deployment(&r, d);
    add_replicas(e, o, &r, &current);
    bool rolls = r.pods.n > 0;
    if (rolls && d->spec.paused) {
        note(e, "not rolled out: it is paused");
    } else if (rolls) {
        expand__roll_begin(e, &r);
        int64_t missing = r.wanted - count_new(&r);
        expand__roll_end(e, make_replicas(e, o, current, missing));
    }
    controller_rollout_release(&r);
    return rolls;
}
