/*
 * Claims of generic ephemeral volumes: each is made for one pod, and goes with it.
 *
 * Follows k8s.io/kubernetes pkg/controller/volume/ephemeral, func (*ephemeralController)
 * syncHandler.
 */
#include "api/claim_binding.h"
#include "controller/controller.h"
#include "manager/controller_int.h"
#include "manager/labelled_int.h"

struct ephemeral {
    struct manager__base base; /* keys: pods */
    struct informer *claims;
    struct labelled *by_claim; /* pods, by the claims that are made for them */
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
    events_say_of(x->c->base.events, &x->pod, EVENTS_WARNING, "FailedBinding",
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
    *x = (struct making){c, manager__subject(w, pod), arena_str(a, volume->name),
                         arena_str(a, name)};
    if (why.p)
        tell(x, w, why);
    else if (!claim)
        work_create(w, claim_for(pod, volume, name), made, x);
    return !why.p;
}

static void sync(void *self, struct work *w, const struct api_object *pod) {
    if (pod->meta->deletion_timestamp.set)
        return;
    const struct api_volume_list *list = &((const struct api_pod *)pod->body)->spec.volumes;
    for (size_t i = 0; i < list->n; i++)
        if (list->v[i].volume_source.ephemeral && !make(self, w, pod, &list->v[i]))
            return;
}

/* The claims of a pod, as labels of which only the values differ. */
static struct labels claims_of(struct arena *a, const struct api_object *pod) {
    const struct api_volume_list *list = &((const struct api_pod *)pod->body)->spec.volumes;
    struct labels out = {0};
    for (size_t i = 0; i < list->n; i++) {
        if (!list->v[i].volume_source.ephemeral)
            continue;
        if (!out.v)
            out.v = arena_array(a, struct label, list->n);
        out.v[out.n++].value = api_claim_name(a, pod, &list->v[i]);
    }
    return out;
}

static void pod_set(void *arg, const struct api_object *old, const struct api_object *pod) {
    struct ephemeral *c = arg;
    AUTO(arena_release) struct arena a = {0};
    struct labels claims = claims_of(&a, pod);
    if (claims.n)
        labelled__set(c->by_claim, pod, &claims);
    else if (old)
        labelled__drop(c->by_claim, old);
    if (claims.n && (!old || !str_eq(old->meta->uid, pod->meta->uid)))
        workqueue_add_object(c->base.queue, pod);
}

static void pod_deleted(void *arg, const struct api_object *last) {
    struct ephemeral *c = arg;
    labelled__drop(c->by_claim, last);
}

/* It is made again for a pod that is there, or made if it was another's. */
static void claim_deleted(void *arg, const struct api_object *last) {
    struct ephemeral *c = arg;
    const struct label key = {STR(""), last->meta->name};
    size_t at = 0;
    for (const struct api_object *pod;
         (pod = labelled__next(c->by_claim, last->meta->namespace, &key, &at));)
        workqueue_add_object(c->base.queue, pod);
}

static void begin(void *self) {
    struct ephemeral *c = self;
    c->by_claim = labelled__new(c->base.manager->seed);
}

static void end(void *self) {
    labelled__free(((struct ephemeral *)self)->by_claim);
}

const struct manager__controller manager__ephemeral_volume = {
    .size = sizeof(struct ephemeral),
    .component = "ephemeral_volume",
    .queues = {{"ephemeral_volume", sync, .names = API_T_pod}},
    .kinds = {{API_T_pod, .set = pod_set, .deleted = pod_deleted},
              {API_T_persistent_volume_claim, .at = offsetof(struct ephemeral, claims),
               .deleted = claim_deleted}},
    .begin = begin,
    .end = end,
};
