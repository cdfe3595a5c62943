/*
 * The authority behind the API server's certificate, for pods: every namespace has it as a
 * ConfigMap.
 *
 * Follows k8s.io/kubernetes pkg/controller/certificates/rootcacertpublisher, func (*Publisher)
 * syncNamespace.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "manager/controller_int.h"

struct publisher {
    struct manager *manager;
    struct workqueue *queue; /* of namespaces */
    struct informer *namespaces, *maps;
};

static const struct str map_name = STR_INIT("kube-root-ca.crt");
static const struct str data_key = STR_INIT("ca.crt");
static const struct label description = {
    STR_INIT("kubernetes.io/description"),
    STR_INIT("Contains a CA bundle that can be used to verify the kube-apiserver when using "
             "internal endpoints such as the internal service IP or kubernetes.default.svc. No "
             "other usage is guaranteed across distributions of Kubernetes clusters.")};

static bool is_right(const struct publisher *c, const struct api_object *o) {
    const struct labels *data = &((const struct api_config_map *)o->body)->data;
    const struct label *said = labels_find(&o->meta->annotations, description.key);
    return data->n == 1 && str_eq(data->v[0].key, data_key) &&
           str_eq(data->v[0].value, c->manager->root_ca) && said && said->value.n;
}

static void fill(const struct publisher *c, struct api_object *draft) {
    struct api_config_map *map = api_own_body(draft);
    map->data = (struct labels){0};
    labels_put(&draft->arena, &map->data,
               (struct label){data_key, arena_str(&draft->arena, c->manager->root_ca)});
    labels_put(&draft->arena, &api_own_meta(draft)->annotations, description);
}

static void created(void *arg, struct work *w, const struct client_answer *answer) {
    (void)arg;
    if (answer->code && answer->code != ERR_NOT_FOUND && !manager__namespace_goes(answer))
        work_fail(w, "%.*s", STR_ARG(answer->message));
}

static struct api_object *new_map(struct str namespace) {
    struct api_object *draft = api_object_new(client_kind(API_T_config_map));
    api_own_meta(draft)->name = map_name;
    api_own_meta(draft)->namespace = arena_str(&draft->arena, namespace);
    return draft;
}

static void sync(void *arg, struct work *w) {
    struct publisher *c = arg;
    struct str namespace = work_name(w);
    const struct api_object *o = informer_get(c->maps, namespace, map_name);
    if (!informer_get(c->namespaces, STR(""), namespace) || (o && is_right(c, o)))
        return;
    struct api_object *draft = o ? api_object_derive(o) : new_map(namespace);
    fill(c, draft);
    work_send(w,
              &(struct client_request){.verb = o ? REGISTRY_VERB_UPDATE : REGISTRY_VERB_CREATE,
                                       .kind = draft->kind,
                                       .namespace = namespace,
                                       .name = o ? map_name : STR(""),
                                       .object = draft},
              o ? NULL : created, NULL);
}

static void namespace_set(void *arg, const struct api_object *old, const struct api_object *o) {
    struct publisher *c = arg;
    if (!old || str_is(((const struct api_namespace *)o->body)->status.phase, "Active"))
        workqueue_add(c->queue, STR(""), o->meta->name);
}

static void map_set(void *arg, const struct api_object *old, const struct api_object *o) {
    struct publisher *c = arg;
    if (old && str_eq(o->meta->name, map_name))
        workqueue_add(c->queue, STR(""), o->meta->namespace);
}

static void map_deleted(void *arg, const struct api_object *last) {
    struct publisher *c = arg;
    if (str_eq(last->meta->name, map_name))
        workqueue_add(c->queue, STR(""), last->meta->namespace);
}

/* Without an authority there is nothing to publish. */
static void *start(struct manager *m) {
    if (!m->root_ca.n)
        return NULL;
    struct publisher *c = xcalloc(1, sizeof *c);
    c->manager = m;
    c->namespaces = manager__informer(m, API_T_namespace);
    c->maps = manager__informer(m, API_T_config_map);
    c->queue = workqueue_new(&(struct workqueue_opts){.name = "root_ca_cert_publisher",
                                                      .client = m->client,
                                                      .informers = m->informers,
                                                      .log = m->log,
                                                      .workers = 1,
                                                      .sync = sync,
                                                      .arg = c});
    informer_listen(c->namespaces, &(struct informer_handler){.set = namespace_set, .arg = c});
    informer_listen(c->maps,
                    &(struct informer_handler){.set = map_set, .deleted = map_deleted, .arg = c});
    return c;
}

static void stop(void *self) {
    struct publisher *c = self;
    workqueue_free(c->queue);
    free(c);
}

const struct manager__controller manager__root_ca = {start, stop};
