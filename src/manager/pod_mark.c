/*
 * Conditions that controllers put on pods.
 *
 * Follows k8s.io/kubernetes pkg/api/v1/pod, func UpdatePodCondition.
 */
#include "manager/pod_mark_int.h"

#include "base/limits.h"
#include "manager/pods_int.h"

static bool has_condition(const struct api_pod_condition *old, const struct manager__pod_mark *c) {
    return old && str_is(old->status, c->status) && str_is(old->reason, c->reason) &&
           str_is(old->message, c->message);
}

static struct str text_of(struct arena *a, const struct json *tree) {
    AUTO(buf_release) struct buf out = BUF_INIT(LIMIT_OBJECT_BYTES);
    json_write(&out, tree, NULL);
    return arena_str(a, buf_view(&out));
}

static struct str patch_text(struct arena *a, const struct api_object *pod,
                             const struct api_pod_status *status) {
    struct json metadata = {.kind = JSON_OBJECT}, patch = {.kind = JSON_OBJECT};
    json_add(a, &metadata, STR("uid"), json_of_str(pod->meta->uid));
    json_add(a, &patch, STR("metadata"), metadata);
    json_add(a, &patch, STR("status"), api_struct_encode(a, &api_types[API_T_pod_status], status));
    return text_of(a, &patch);
}

static struct api_pod_condition condition_of(const struct api_object *pod,
                                             const struct api_pod_condition *old,
                                             const struct manager__pod_mark *c, int64_t now) {
    struct api_pod_condition condition = {
        .type = str_of(c->type),
        .observed_generation = pod->meta->generation,
        .status = str_of(c->status),
        .reason = str_of(c->reason),
        .message = str_of(c->message),
        .last_transition_time = manager__time(now),
    };
    if (old && str_is(old->status, c->status))
        condition.last_transition_time = old->last_transition_time;
    return condition;
}

struct str manager__pod_mark_patch(struct arena *a, const struct api_object *pod,
                                   const struct manager__pod_mark *c, int64_t now) {
    const struct api_pod *body = pod->body;
    const struct api_pod_condition *old = c->type ? manager__pod_condition(pod, c->type) : NULL;
    bool has_phase = !c->phase || str_is(body->status.phase, c->phase);
    if (has_phase && (!c->type || has_condition(old, c)))
        return (struct str){0};
    struct api_pod_condition condition;
    struct api_pod_status status = {.phase = str_of(c->phase)};
    if (c->type) {
        condition = condition_of(pod, old, c, now);
        status.conditions = (struct api_pod_condition_list){&condition, 1};
    }
    if (c->phase)
        status.observed_generation = pod->meta->generation;
    return patch_text(a, pod, &status);
}

void manager__pod_mark_send(struct work *w, const struct api_object *pod, struct str patch,
                            work_answer_fn *answered, void *arg) {
    work_patch(w, pod, &(struct work_patch){CLIENT_PATCH_STRATEGIC, "status", patch}, answered,
               arg);
}
