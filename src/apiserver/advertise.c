/*
 * Where the server is reached, as objects: the service `kubernetes` in the namespace default, its
 * Endpoints and EndpointSlice, and the ServiceCIDR of the addresses of services. The service and
 * the range are made if they are missing; endpoints follow the address at each start.
 *
 * Follows k8s.io/kubernetes pkg/controlplane/controller/kubernetesservice, func (*Controller)
 * UpdateKubernetesService, func (*Controller) CreateOrUpdateMasterServiceIfNeeded.
 * Follows k8s.io/kubernetes pkg/controlplane/reconcilers, func (*EndpointsAdapter)
 * EnsureEndpointSliceFromEndpoints.
 * Follows k8s.io/kubernetes pkg/controlplane/controller/defaultservicecidr, func (*Controller)
 * sync, func (*Controller) syncStatus.
 */
#include "apiserver/apiserver_int.h"
#include "codec/time.h"

/* What is to be written, and where. */
struct notice {
    struct apiserver *s;
    struct arena *a;
    struct str address; /* empty: nobody is to be sent here */
    unsigned port;
};

static const struct api_object *find(struct apiserver *s, const struct api_object *o) {
    return registry_view_get(&s->view, o->kind, o->meta->namespace, o->meta->name);
}

/* ---- writing ---- */

static const struct registry_subresource *find_status(const struct apiserver_resource *r) {
    const struct registry_subresource *sub = r->row->subresources;
    while (sub->name && strcmp(sub->name, "status") != 0)
        sub++;
    return sub->name ? sub : NULL;
}

/* Changes an object that is there; a patch that changes nothing is not stored. */
static void patch(struct notice *n, const struct api_object *stored, struct apiserver_request *r,
                  struct str text) {
    struct json tree;
    struct apiserver_response response = {0};
    if (json_parse(n->a, text, NULL, &tree, NULL) < 0)
        BUG("a patch of the server itself cannot be read");
    r->verb = REGISTRY_VERB_PATCH;
    r->resource = apiserver_catalog_of(n->s->opts.catalog, stored->kind);
    r->namespace = arena_str(n->a, stored->meta->namespace);
    r->name = arena_str(n->a, stored->meta->name);
    r->user_agent = STR("berth");
    r->patch = &tree;
    r->arena = n->a;
    apiserver_write(n->s, r, &response);
    apiserver_response_release(&response);
}

static void merge(struct notice *n, const struct api_object *stored, struct str text) {
    patch(n, stored, &(struct apiserver_request){.patch_type = APISERVER_MERGE_PATCH}, text);
}

/* Makes an object, or changes the one that is there so that it says the same. */
static void write_endpoints(struct notice *n, struct str text) {
    struct api_object *o = apiserver__own(n->s, text);
    const struct api_object *stored = find(n->s, o);
    if (stored) {
        merge(n, stored, text);
        api_object_free(o);
    } else if (n->address.n) {
        apiserver__write_own(n->s, REGISTRY_VERB_CREATE, o);
    } else {
        api_object_free(o);
    }
}

/* ---- the service ---- */

static void write_service(struct notice *n) {
    struct str text = arena_printf(
        n->a,
        "{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":\"kubernetes\","
        "\"namespace\":\"default\",\"labels\":{\"component\":\"apiserver\","
        "\"provider\":\"kubernetes\"}},\"spec\":{\"clusterIP\":\"%.*s\",\"ports\":[{\"name\":"
        "\"https\",\"protocol\":\"TCP\",\"port\":443,\"targetPort\":%u}],\"ipFamilyPolicy\":"
        "\"SingleStack\",\"sessionAffinity\":\"None\",\"type\":\"ClusterIP\"}}",
        STR_ARG(registry_ranges_first(n->s->ranges, n->a)), n->port);
    apiserver__write_own(n->s, REGISTRY_VERB_CREATE, apiserver__own(n->s, text));
}

/* ---- its endpoints ---- */

/* The controller that mirrors endpoints in slices leaves these alone. */
static struct str endpoints_text(struct notice *n) {
    struct str subsets = STR("null");
    if (n->address.n)
        subsets = arena_printf(n->a,
                               "[{\"addresses\":[{\"ip\":\"%.*s\"}],\"ports\":[{\"name\":\"https\","
                               "\"port\":%u,\"protocol\":\"TCP\"}]}]",
                               STR_ARG(n->address), n->port);
    return arena_printf(n->a,
                        "{\"apiVersion\":\"v1\",\"kind\":\"Endpoints\",\"metadata\":{\"name\":"
                        "\"kubernetes\",\"namespace\":\"default\",\"labels\":{"
                        "\"endpointslice.kubernetes.io/skip-mirror\":\"true\"}},\"subsets\":%.*s}",
                        STR_ARG(subsets));
}

static const char *family_of(const struct notice *n) {
    return valid_ip_is_v6_text(n->address) ? "IPv6" : "IPv4";
}

static struct str slice_text(struct notice *n) {
    struct str endpoints = STR("\"endpoints\":[],\"ports\":null");
    if (n->address.n)
        endpoints = arena_printf(n->a,
                                 "\"addressType\":\"%s\",\"endpoints\":[{\"addresses\":[\"%.*s\"],"
                                 "\"conditions\":{\"ready\":true}}],\"ports\":[{\"name\":\"https\","
                                 "\"port\":%u,\"protocol\":\"TCP\"}]",
                                 family_of(n), STR_ARG(n->address), n->port);
    return arena_printf(n->a,
                        "{\"apiVersion\":\"discovery.k8s.io/v1\",\"kind\":\"EndpointSlice\","
                        "\"metadata\":{\"name\":\"kubernetes\",\"namespace\":\"default\","
                        "\"labels\":{\"kubernetes.io/service-name\":\"kubernetes\"}},%.*s}",
                        STR_ARG(endpoints));
}

/* A slice of the other family cannot be changed: another takes its place. */
static void drop_other_family(struct notice *n, struct str text) {
    struct api_object *o = apiserver__own(n->s, text);
    const struct api_object *stored = find(n->s, o);
    const struct api_endpoint_slice *slice = stored ? stored->body : NULL;
    uint32_t storage = apiserver_catalog_of(n->s->opts.catalog, o->kind)->storage;
    if (slice && n->address.n && !str_is(slice->address_type, family_of(n)))
        store_delete(n->s->opts.store, storage, api_object_copy(stored));
    api_object_free(o);
}

static void write_slice(struct notice *n) {
    struct str text = slice_text(n);
    drop_other_family(n, text);
    write_endpoints(n, text);
}

/* ---- the range ---- */

static struct str ranges_text(struct notice *n) {
    const struct registry_cidrs *cidrs = &n->s->opts.service_cidrs;
    struct str list = STR("");
    for (size_t i = 0; i < cidrs->n; i++)
        list = arena_printf(n->a, "%.*s%s\"%.*s\"", STR_ARG(list), i ? "," : "",
                            STR_ARG(valid_cidr_text(n->a, &cidrs->v[i])));
    return arena_printf(n->a,
                        "{\"apiVersion\":\"networking.k8s.io/v1\",\"kind\":\"ServiceCIDR\","
                        "\"metadata\":{\"name\":\"kubernetes\"},\"spec\":{\"cidrs\":[%.*s]}}",
                        STR_ARG(list));
}

static const struct api_strs *cidrs_of(const struct api_object *o) {
    return &((const struct api_service_cidr *)o->body)->spec.cidrs;
}

static bool is_same_range(const struct api_object *a, const struct api_object *b) {
    const struct api_strs *x = cidrs_of(a), *y = cidrs_of(b);
    bool same = x->n == y->n;
    for (size_t i = 0; same && i < x->n; i++)
        same = str_eq(x->v[i], y->v[i]);
    return same;
}

/* May the stored range of one family become this one of two? */
static bool is_more(const struct api_object *o, const struct api_object *stored) {
    const struct api_strs *x = cidrs_of(o), *y = cidrs_of(stored);
    return x->n == 2 && y->n == 1 && str_eq(x->v[0], y->v[0]);
}

static bool has_condition(const struct api_object *o) {
    const struct api_service_cidr *range = o->body;
    for (size_t i = 0; i < range->status.conditions.n; i++)
        if (str_is(range->status.conditions.v[i].type, "Ready") &&
            !str_is(range->status.conditions.v[i].status, "Unknown"))
            return true;
    return false;
}

/* Nobody else says that the range is in use; whoever said that it is not is left alone. */
static void say_ready(struct notice *n, const struct api_object *stored) {
    AUTO(buf_release) struct buf now = BUF_INIT(64);
    if (has_condition(stored) || stored->meta->deletion_timestamp.set)
        return;
    time_write(&now, (struct time_instant){clock_wall(n->s->opts.clock) / CLOCK_SECOND, 0});
    struct apiserver_request r = {
        .patch_type = APISERVER_APPLY_PATCH,
        .subresource = find_status(apiserver_catalog_of(n->s->opts.catalog, stored->kind)),
        .options = {.field_manager = STR("kubernetes-service-cidr-controller"),
                    .force = {.set = true, .v = true}}};
    patch(n, stored, &r,
          arena_printf(n->a,
                       "{\"apiVersion\":\"networking.k8s.io/v1\",\"kind\":\"ServiceCIDR\","
                       "\"metadata\":{\"name\":\"kubernetes\"},\"status\":{\"conditions\":[{"
                       "\"type\":\"Ready\",\"status\":\"True\",\"lastTransitionTime\":\"%.*s\","
                       "\"message\":\"Kubernetes default Service CIDR is ready\"}]}}",
                       STR_ARG(buf_view(&now))));
}

static void write_ranges(struct notice *n) {
    struct str text = ranges_text(n);
    struct api_object *o = apiserver__own(n->s, text);
    const struct api_object *stored = find(n->s, o);
    if (!stored)
        apiserver__write_own(n->s, REGISTRY_VERB_CREATE, apiserver__own(n->s, text));
    else if (is_more(o, stored))
        merge(n, stored, text);
    stored = find(n->s, o);
    if (stored && is_same_range(o, stored))
        say_ready(n, stored);
    api_object_free(o);
}

void apiserver_advertise(struct apiserver *s, struct str address, uint16_t port) {
    AUTO(arena_release) struct arena a = {0};
    struct notice n = {s, &a, address, port};
    write_ranges(&n);
    write_service(&n);
    write_endpoints(&n, endpoints_text(&n));
    write_slice(&n);
}

bool apiserver_advertise_again(struct apiserver *s, struct str address, uint16_t port) {
    static const struct api_type_meta kinds[] = {
        {.api_version = STR_INIT("v1"), .kind = STR_INIT("Service")},
        {.api_version = STR_INIT("v1"), .kind = STR_INIT("Endpoints")},
        {.api_version = STR_INIT("discovery.k8s.io/v1"), .kind = STR_INIT("EndpointSlice")},
    };
    size_t n = address.n ? sizeof kinds / sizeof *kinds : 1, there = 0;
    for (size_t i = 0; i < n; i++)
        there += registry_view_get(&s->view, api_kind_find(kinds[i].api_version, kinds[i].kind),
                                   STR("default"), STR("kubernetes")) != NULL;
    if (there < n)
        apiserver_advertise(s, address, port);
    return there < n;
}
