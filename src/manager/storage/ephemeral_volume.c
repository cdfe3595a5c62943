/*
 * Claims of generic ephemeral volumes: each is made for one pod, and goes with it.
 *
 * Follows k8s.io/kubernetes pkg/controller/volume/ephemeral, func (*ephemeralController)
 * syncHandler.
 */
#include <stdlib.h>

#include "api/claim_binding.h"
#include "base/alloc.h"
#include "controller/controller.h"
#include "manager/controller_int.h"

struct ephemeral {
    struct manager *manager;
    struct events *events;
    struct workqueue *queue; /* of pods */
    struct informer *pods, *claims;
};

static struct api_object *claim_for(const struct api_object *pod, const struct api_volume *volume,
                                    struct str name) {
    const struct api_persistent_volume_claim_template *t =
        volume->volume_source.ephemeral->volume_claim_template;
    const struct api_persistent_volume_claim from = {
        .metadata = {.labels = t->metadata.labels, .annotations = t->metadata.annotations},
        .spec = t->spec};
    struct api_object *o = api_object_new(client_kind(API_T_persistent_volume_claim));
    struct api_persistent_volume_claim *body = api_own_body(o), copy;
    api_struct_copy(&o->arena, &api_types[API_T_persistent_volume_claim], &from, &copy);
    body->metadata = copy.metadata;
    body->spec = copy.spec;
    body->metadata.name = arena_str(&o->arena, name);
    body->metadata.namespace = arena_str(&o->arena, pod->meta->namespace);
    controller_owner_set(o, pod);
    return o;
}

/* A claim that is to be made. */
struct making {
    struct ephemeral *c;
    struct events_subject pod;
    struct str volume, claim;
};

static void tell(const struct making *x, struct work *w, struct str why) {
    events_say_of(x->c->events, &x->pod, EVENTS_WARNING, "FailedBinding",
                  "ephemeral volume %.*s: %.*s", STR_ARG(x->volume), STR_ARG(why));
    work_fail(w, "ephemeral volume %.*s: %.*s", STR_ARG(x->volume), STR_ARG(why));
}

static void made(void *arg, struct work *w, const struct client_answer *answer) {
    const struct making *x = arg;
    if (answer->code)
        tell(x, w,
             arena_printf(work_arena(w), "create PVC %.*s: %.*s", STR_ARG(x->claim),
                          STR_ARG(answer->message)));
}

/* False: the claim of this name is another's. */
static bool make(struct ephemeral *c, struct work *w, const struct api_object *pod,
                 const struct api_volume *volume) {
    struct arena *a = work_arena(w);
    struct str name = api_claim_name(a, pod, volume);
    const struct api_object *claim = informer_get(c->claims, pod->meta->namespace, name);
    struct str why = claim ? api_claim_owner_error(a, claim, pod) : (struct str){0};
    struct making *x = arena_new(a, struct making);
    *x = (struct making){c,
                         {pod->kind, arena_str(a, pod->meta->namespace),
                          arena_str(a, pod->meta->name), arena_str(a, pod->meta->uid)},
                         arena_str(a, volume->name),
                         arena_str(a, name)};
    if (why.p)
        tell(x, w, why);
    else if (!claim)
        work_send(w,
                  &(struct client_request){.verb = REGISTRY_VERB_CREATE,
                                           .kind = client_kind(API_T_persistent_volume_claim),
                                           .namespace = pod->meta->namespace,
                                           .object = claim_for(pod, volume, name)},
                  made, x);
    return !why.p;
}

static void sync(void *arg, struct work *w) {
    struct ephemeral *c = arg;
    const struct api_object *pod = informer_get(c->pods, work_namespace(w), work_name(w));
    if (!pod || pod->meta->deletion_timestamp.set)
        return;
    const struct api_volume_list *list = &((const struct api_pod *)pod->body)->spec.volumes;
    for (size_t i = 0; i < list->n; i++)
        if (list->v[i].volume_source.ephemeral && !make(c, w, pod, &list->v[i]))
            return;
}

static void pod_set(void *arg, const struct api_object *old, const struct api_object *pod) {
    struct ephemeral *c = arg;
    const struct api_volume_list *list = &((const struct api_pod *)pod->body)->spec.volumes;
    bool is_new = !old || !str_eq(old->meta->uid, pod->meta->uid);
    for (size_t i = 0; is_new && i < list->n; i++)
        if (list->v[i].volume_source.ephemeral) {
            workqueue_add_object(c->queue, pod);
            return;
        }
}

/* It is made again if its pod is there. */
static void claim_deleted(void *arg, const struct api_object *last) {
    struct ephemeral *c = arg;
    workqueue_add_controller(c->queue, last, client_kind(API_T_pod));
}

static void *start(struct manager *m) {
    struct ephemeral *c = xcalloc(1, sizeof *c);
    c->manager = m;
    c->events = manager__events(m, "ephemeral_volume");
    c->pods = manager__informer(m, API_T_pod);
    c->claims = manager__informer(m, API_T_persistent_volume_claim);
    c->queue = workqueue_new(&(struct workqueue_opts){.name = "ephemeral_volume",
                                                      .client = m->client,
                                                      .informers = m->informers,
                                                      .log = m->log,
                                                      .sync = sync,
                                                      .arg = c});
    informer_listen(c->pods, &(struct informer_handler){.set = pod_set, .arg = c});
    informer_listen(c->claims, &(struct informer_handler){.deleted = claim_deleted, .arg = c});
    return c;
}

static void stop(void *self) {
    struct ephemeral *c = self;
    workqueue_free(c->queue);
    events_free(c->events);
    free(c);
}

const struct manager__controller manager__ephemeral_volume = {start, stop};
