/*
 * Patches of a pod's status, and what they make of it.
 *
 * Follows k8s.io/kubernetes pkg/api/v1/pod, func UpdatePodCondition.
 * Follows k8s.io/kubernetes pkg/scheduler, func updatePod, func truncateMessage.
 */
#include "base/clock.h"
#include "codec/time.h"
#include "scheduler/scheduler_int.h"

enum { NOTE_BYTES = 1024 };

static const struct api_pod_condition *find(const struct api_pod *pod, const char *type) {
    const struct api_pod_condition_list *list = &pod->status.conditions;
    for (size_t i = 0; i < list->n; i++)
        if (str_is(list->v[i].type, type))
            return &list->v[i];
    return NULL;
}

static bool is_there(const struct api_pod_condition *old, const struct scheduler__condition *new) {
    return old && str_is(old->status, new->status) && str_is(old->reason, new->reason) &&
           str_eq(old->message, new->message) && !old->last_probe_time.set;
}

/* A condition whose status stays has been so since then. */
static struct api_time since(const struct api_pod_condition *old,
                             const struct scheduler__condition *new, int64_t now) {
    if (old && str_is(old->status, new->status))
        return old->last_transition_time;
    return (struct api_time){.sec = now / CLOCK_SECOND, .set = true};
}

static struct json time_json(struct arena *a, struct api_time t) {
    AUTO(buf_release) struct buf text = BUF_INIT(64);
    if (!t.set)
        return (struct json){.kind = JSON_NULL};
    time_write(&text, (struct time_instant){t.sec, t.nsec});
    return json_of_str(arena_str(a, buf_view(&text)));
}

static void add_condition(struct arena *a, struct json *status, const struct api_pod *pod,
                          const struct scheduler__condition *c, int64_t now) {
    struct json condition = {.kind = JSON_OBJECT}, list = {.kind = JSON_ARRAY};
    json_add(a, &condition, STR("type"), json_of_str(str_of(c->type)));
    json_add(a, &condition, STR("status"), json_of_str(str_of(c->status)));
    json_add(a, &condition, STR("reason"), json_of_str(str_of(c->reason)));
    json_add(a, &condition, STR("message"), json_of_str(c->message));
    json_add(a, &condition, STR("observedGeneration"), json_of_i64(pod->metadata.generation));
    json_add(a, &condition, STR("lastProbeTime"), (struct json){.kind = JSON_NULL});
    json_add(a, &condition, STR("lastTransitionTime"),
             time_json(a, since(find(pod, c->type), c, now)));
    json_append(a, &list, condition);
    json_add(a, status, STR("conditions"), list);
}

/* The uid is a precondition: another pod of that name is left alone. */
static struct str write_patch(struct arena *a, const struct api_pod *pod, struct json status) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    struct json patch = {.kind = JSON_OBJECT}, meta = {.kind = JSON_OBJECT};
    json_add(a, &meta, STR("uid"), json_of_str(pod->metadata.uid));
    json_add(a, &patch, STR("metadata"), meta);
    json_add(a, &patch, STR("status"), status);
    json_write(&text, &patch, NULL);
    return arena_str(a, buf_view(&text));
}

struct str scheduler__status_patch(struct arena *a, const struct api_object *o,
                                   const struct scheduler__condition *condition,
                                   const struct str *nominated, int64_t now) {
    const struct api_pod *pod = o->body;
    struct json status = {.kind = JSON_OBJECT};
    if (condition && !is_there(find(pod, condition->type), condition))
        add_condition(a, &status, pod, condition, now);
    if (nominated && !str_eq(*nominated, pod->status.nominated_node_name))
        json_add(a, &status, STR("nominatedNodeName"),
                 nominated->n ? json_of_str(*nominated) : (struct json){.kind = JSON_NULL});
    return status.n ? write_patch(a, pod, status) : (struct str){0};
}

const struct api_object *scheduler__status_doomed(const struct api_object *pod,
                                                  const struct scheduler__condition *condition,
                                                  int64_t now) {
    struct api_object *o = api_object_derive(pod);
    struct api_pod_status *status = &((struct api_pod *)api_own_body(o))->status;
    struct api_pod_condition_list old = status->conditions, list = {.n = 1};
    list.v = arena_array(&o->arena, struct api_pod_condition, old.n + 1);
    list.v[0] = (struct api_pod_condition){
        .type = arena_str(&o->arena, str_of(condition->type)),
        .status = arena_str(&o->arena, str_of(condition->status)),
        .reason = arena_str(&o->arena, str_of(condition->reason)),
        .message = arena_str(&o->arena, condition->message),
        .last_transition_time = since(find(pod->body, condition->type), condition, now)};
    for (size_t i = 0; i < old.n; i++)
        if (!str_is(old.v[i].type, condition->type))
            list.v[list.n++] = old.v[i];
    status->conditions = list;
    if (!o->meta->deletion_timestamp.set)
        api_own_meta(o)->deletion_timestamp =
            (struct api_time){.sec = now / CLOCK_SECOND, .set = true};
    return api_publish(o);
}

struct str scheduler__note(struct arena *a, struct str message) {
    struct str more = STR(" ...");
    if (message.n <= NOTE_BYTES)
        return message;
    struct str kept = str_sub(message, 0, NOTE_BYTES - more.n);
    return arena_printf(a, "%.*s%.*s", STR_ARG(kept), STR_ARG(more));
}
