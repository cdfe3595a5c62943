/* What controllers ask of a pod. */
#include "manager/pods_int.h"

#include "base/clock.h"

bool manager__pod_is_active(const struct api_object *pod) {
    return !api_pod_has_ended(pod->body) && !pod->meta->deletion_timestamp.set;
}

bool manager__pod_is_terminating(const struct api_object *pod) {
    return !api_pod_has_ended(pod->body) && pod->meta->deletion_timestamp.set;
}

const struct api_pod_condition *manager__pod_condition(const struct api_object *pod,
                                                       const char *type) {
    const struct api_pod_condition_list *list =
        &((const struct api_pod *)pod->body)->status.conditions;
    for (size_t i = 0; i < list->n; i++)
        if (str_is(list->v[i].type, type))
            return &list->v[i];
    return NULL;
}

bool manager__pod_is_ready(const struct api_object *pod) {
    const struct api_pod_condition *c = manager__pod_condition(pod, "Ready");
    return c && str_is(c->status, "True");
}

/* When a pod that is ready will have been so for long enough. */
static int64_t available_at(const struct api_time *since, int32_t min_ready_seconds) {
    return clock_after(manager__time_ns(*since), min_ready_seconds * CLOCK_SECOND);
}

int64_t manager__pod_available_in(const struct api_object *pod, int32_t min_ready_seconds,
                                  int64_t now) {
    if (!manager__pod_is_ready(pod) || min_ready_seconds <= 0)
        return 0;
    struct api_time since = manager__pod_condition(pod, "Ready")->last_transition_time;
    int64_t left = clock_until(available_at(&since, min_ready_seconds), now);
    return since.set && left > 0 ? left : 0;
}

bool manager__pod_is_available(const struct api_object *pod, int32_t min_ready_seconds,
                               int64_t now) {
    if (!manager__pod_is_ready(pod))
        return false;
    struct api_time since = manager__pod_condition(pod, "Ready")->last_transition_time;
    return min_ready_seconds == 0 || (since.set && available_at(&since, min_ready_seconds) <= now);
}

/* ---- sidecars ---- */

void manager__sidecars_init(struct manager__sidecars *s, const struct api_pod *pod) {
    *s = (struct manager__sidecars){.all = &pod->spec.init_containers};
}

void manager__sidecars_release(struct manager__sidecars *s) {
    map_release(&s->by_name);
}

static bool is_sidecar(const struct api_container *c) {
    return str_is(c->restart_policy, "Always");
}

static void find_all(struct manager__sidecars *s) {
    s->by_name = MAP_INIT(map_random_seed());
    for (size_t i = 0; i < s->all->n; i++)
        if (is_sidecar(&s->all->v[i]))
            map_put_const(&s->by_name, s->all->v[i].name, &s->all->v[i]);
}

bool manager__sidecars_have(struct manager__sidecars *s, size_t place, struct str name) {
    if (place < s->all->n && str_eq(s->all->v[place].name, name))
        return is_sidecar(&s->all->v[place]);
    if (!s->is_known)
        find_all(s);
    s->is_known = true;
    return map_get_const(&s->by_name, name);
}

/* ---- names and times ---- */

/* Follows k8s.io/kubernetes pkg/controller, func getPodsPrefix. */
struct str manager__pod_prefix(struct arena *a, struct str owner) {
    enum { LONGEST_NAME = 253 };
    return owner.n < LONGEST_NAME ? arena_printf(a, "%.*s-", STR_ARG(owner)) : arena_str(a, owner);
}

int64_t manager__time_ns(struct api_time t) {
    int64_t most = INT64_MAX / CLOCK_SECOND - 1, sec = t.sec < most ? t.sec : most;
    return t.set ? (sec > -most ? sec : -most) * CLOCK_SECOND + t.nsec : 0;
}

struct api_time manager__time(int64_t ns) {
    return (struct api_time){.sec = ns / CLOCK_SECOND, .set = true};
}
