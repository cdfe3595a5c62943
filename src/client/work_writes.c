/* The writes that most controllers ask for: of one object, by what it is called. */
#include "client/workqueue.h"

void work_create(struct work *w, struct api_object *draft, work_answer_fn *answered, void *arg) {
    struct client_request request = {
        .verb = REGISTRY_VERB_CREATE,
        .kind = draft->kind,
        .namespace = draft->meta->namespace,
        .object = draft,
    };
    work_send(w, &request, answered, arg);
}

/* A request about the object that is called so. */
static struct client_request about(enum registry_verb verb, const struct api_object *o) {
    return (struct client_request){
        .verb = verb,
        .kind = o->kind,
        .namespace = o->meta->namespace,
        .name = o->meta->name,
    };
}

void work_update(struct work *w, struct api_object *draft, const char *subresource,
                 work_answer_fn *answered, void *arg) {
    struct client_request request = about(REGISTRY_VERB_UPDATE, draft);
    request.subresource = subresource;
    request.object = draft;
    work_send(w, &request, answered, arg);
}

void work_patch(struct work *w, const struct api_object *o, const struct work_patch *patch,
                work_answer_fn *answered, void *arg) {
    struct client_request request = about(REGISTRY_VERB_PATCH, o);
    request.subresource = patch->subresource;
    request.patch_type = patch->type;
    request.patch = patch->text;
    work_send(w, &request, answered, arg);
}

void work_delete(struct work *w, const struct api_object *o, const struct client_deletion *how,
                 work_answer_fn *answered, void *arg) {
    struct client_request request = about(REGISTRY_VERB_DELETE, o);
    if (how)
        request.deletion = *how;
    work_send(w, &request, answered, arg);
}

struct client_deletion work_deletion_by_force(const struct api_object *o) {
    return (struct client_deletion){.uid = o->meta->uid, .grace_seconds = {true, 0}};
}

void work_get(struct work *w, const struct api_kind *kind, struct str namespace, struct str name,
              work_answer_fn *answered, void *arg) {
    struct client_request request = {
        .verb = REGISTRY_VERB_GET, .kind = kind, .namespace = namespace, .name = name};
    work_send(w, &request, answered, arg);
}

void work_answered_or_gone(void *arg, struct work *w, const struct client_answer *answer) {
    (void)arg;
    if (answer->code && answer->code != ERR_NOT_FOUND)
        work_fail_by(w, answer);
}
