/* What every cluster has from its first moment on. */
#include "auth/bootstrap.h"

#include "apiserver/apiserver_int.h"

/*
 * The namespaces of the system, and the two classes of what must run.
 *
 * Follows k8s.io/kubernetes pkg/registry/scheduling/rest, func AddSystemPriorityClasses.
 */
static const char *const first_objects[] = {
    "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"default\"}}",
    "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"kube-system\"}}",
    "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"kube-public\"}}",
    "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"kube-node-lease\"}}",
    "{\"apiVersion\":\"scheduling.k8s.io/v1\",\"kind\":\"PriorityClass\",\"metadata\":{\"name\":"
    "\"system-node-critical\"},\"value\":2000001000,\"description\":\"Used for system critical "
    "pods that must not be moved from their current node.\"}",
    "{\"apiVersion\":\"scheduling.k8s.io/v1\",\"kind\":\"PriorityClass\",\"metadata\":{\"name\":"
    "\"system-cluster-critical\"},\"value\":2000000000,\"description\":\"Used for system critical "
    "pods that must run in the cluster, but can be moved to another node if necessary.\"}",
};

void apiserver__write_own(struct apiserver *s, enum registry_verb verb, struct api_object *o) {
    AUTO(arena_release) struct arena a = {0};
    struct apiserver_response response = {0};
    struct apiserver_request r = {
        .verb = verb,
        .resource = apiserver_catalog_of(s->opts.catalog, o->kind),
        .namespace = arena_str(&a, o->meta->namespace),
        .name = verb == REGISTRY_VERB_CREATE ? STR("") : arena_str(&a, o->meta->name),
        .user_agent = STR("berth"),
        .object = o,
        .arena = &a};
    apiserver_write(s, &r, &response);
    apiserver_response_release(&response);
}

struct api_object *apiserver__own(struct apiserver *s, struct str text) {
    AUTO(arena_release) struct arena a = {0};
    struct json tree;
    struct api_object *o;
    struct api_faults faults;
    api_faults_init(&faults, &a);
    if (json_parse(&a, text, NULL, &tree, NULL) < 0 ||
        registry_decode(&s->registry, &tree, NULL, &o, &faults).code)
        BUG("an object of the server itself cannot be decoded");
    return o;
}

/* ---- roles ---- */

static const struct api_object *stored_role(const struct apiserver *s, const struct api_object *o) {
    return registry_view_get(&s->view, o->kind, o->meta->namespace, o->meta->name);
}

static void delete_own(struct apiserver *s, const struct api_object *o) {
    uint32_t storage = apiserver_catalog_of(s->opts.catalog, o->kind)->storage;
    store_delete(s->opts.store, storage, api_object_copy(o));
}

static void reconcile(void *ctx, struct api_object *expected) {
    struct apiserver *s = ctx;
    const struct api_object *stored = stored_role(s, expected);
    struct api_object *out = NULL;
    enum auth_reconciliation what = auth_reconcile(expected, stored, &out);
    if (what == AUTH_RECONCILE_RECREATE)
        delete_own(s, stored);
    if (out)
        apiserver__write_own(
            s, what == AUTH_RECONCILE_UPDATE ? REGISTRY_VERB_UPDATE : REGISTRY_VERB_CREATE, out);
    api_object_free(expected);
}

void apiserver_bootstrap(struct apiserver *s) {
    for (size_t i = 0; i < sizeof first_objects / sizeof *first_objects; i++)
        apiserver__write_own(s, REGISTRY_VERB_CREATE, apiserver__own(s, str_of(first_objects[i])));
    auth_bootstrap_each(reconcile, s);
}
