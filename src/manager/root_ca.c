/*
 * The authority behind the API server's certificate, for pods: every namespace has it as a
 * ConfigMap.
 *
 * Follows k8s.io/kubernetes pkg/controller/certificates/rootcacertpublisher, func (*Publisher)
 * syncNamespace.
 */
#include "manager/controller_int.h"

struct publisher {
    struct manager__base base; /* keys: namespaces */
    struct informer *maps;
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
           str_eq(data->v[0].value, c->base.manager->root_ca) && said && said->value.n;
}

static void fill(const struct publisher *c, struct api_object *draft) {
    struct api_config_map *map = api_own_body(draft);
    map->data = (struct labels){0};
    labels_put(&draft->arena, &map->data,
               (struct label){data_key, arena_str(&draft->arena, c->base.manager->root_ca)});
    labels_put(&draft->arena, &api_own_meta(draft)->annotations, description);
}

static void created(void *arg, struct work *w, const struct client_answer *answer) {
    if (answer->code != ERR_NOT_FOUND)
        manager__created(arg, w, answer);
}

static struct api_object *new_map(struct str namespace) {
    struct api_object *draft = api_object_new(client_kind(API_T_config_map));
    api_own_meta(draft)->name = map_name;
    api_own_meta(draft)->namespace = arena_str(&draft->arena, namespace);
    return draft;
}

static void sync(void *self, struct work *w, const struct api_object *namespace) {
    struct publisher *c = self;
    const struct api_object *o = informer_get(c->maps, namespace->meta->name, map_name);
    if (o && is_right(c, o))
        return;
    struct api_object *draft = o ? api_object_derive(o) : new_map(namespace->meta->name);
    fill(c, draft);
    if (o)
        work_update(w, draft, NULL, NULL, NULL);
    else
        work_create(w, draft, created, NULL);
}

static void namespace_set(void *self, const struct api_object *old, const struct api_object *o) {
    struct publisher *c = self;
    if (!old || str_is(((const struct api_namespace *)o->body)->status.phase, "Active"))
        workqueue_add(c->base.queue, STR(""), o->meta->name);
}

static void map_set(void *self, const struct api_object *old, const struct api_object *o) {
    struct publisher *c = self;
    if (old && str_eq(o->meta->name, map_name))
        workqueue_add(c->base.queue, STR(""), o->meta->namespace);
}

static void map_deleted(void *self, const struct api_object *last) {
    struct publisher *c = self;
    if (str_eq(last->meta->name, map_name))
        workqueue_add(c->base.queue, STR(""), last->meta->namespace);
}

/* Without an authority there is nothing to publish. */
static bool has_authority(const struct manager *m) {
    return m->root_ca.n;
}

const struct manager__controller manager__root_ca = {
    .size = sizeof(struct publisher),
    .is_wanted = has_authority,
    .queues = {{"root_ca_cert_publisher", sync, .names = API_T_namespace, .workers = 1}},
    .kinds = {{API_T_namespace, .set = namespace_set},
              {API_T_config_map, .at = offsetof(struct publisher, maps), .set = map_set,
               .deleted = map_deleted}},
};
