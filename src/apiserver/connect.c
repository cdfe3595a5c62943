/*
 * Subresources that lead to a container, a pod, a service or a node: logs, exec, proxies. This
 * server connects to nobody, so that all of them end with the failure that a client would get
 * whose kubelet does not answer, after everything that is refused before that. Only logs of
 * simulated containers can be told.
 *
 * Follows k8s.io/kubernetes pkg/registry/core/pod, func LogLocation, func streamLocation,
 * func PortForwardLocation, func ResourceLocation, func validateContainer.
 * Follows k8s.io/kubernetes pkg/registry/core/node, func ResourceLocation.
 * Follows k8s.io/kubernetes pkg/registry/core/service/storage, func (*REST) ResourceLocation.
 * Follows k8s.io/kubernetes pkg/kubelet/client, func (*NodeConnectionInfoGetter)
 * GetConnectionInfo.
 * Follows k8s.io/kubernetes pkg/kubelet, func (*Kubelet) validateContainerLogStatus.
 */
#include <arpa/inet.h>

#include "apiserver/apiserver_int.h"

#define NO_CONNECTION "this server does not connect to nodes or pods"
#define NO_PROCESS    "containers of this cluster are simulated: no process runs in them"

/* A connection that is wanted, and what is stored meanwhile. */
struct connection {
    const struct apiserver *s;
    const struct apiserver_request *r;
    const struct apiserver_stream *stream;
    struct store_snapshot *snapshot;
    struct apiserver_log *log;
};

static const struct registry_failure none = {.code = ERR_NONE};

static const struct api_object *find(const struct connection *c, const char *api_version,
                                     const char *kind, struct str name) {
    const struct api_kind *k = api_kind_find(str_of(api_version), str_of(kind));
    const struct apiserver_resource *r = apiserver_catalog_of(c->s->opts.catalog, k);
    return store_snapshot_get(c->snapshot, r->storage, k->namespaced ? c->r->namespace : STR(""),
                              name);
}

static struct registry_failure not_found(const struct connection *c, const char *kind,
                                         struct str name) {
    return registry_not_found(c->r->arena, api_kind_find(STR("v1"), str_of(kind)),
                              arena_str(c->r->arena, name));
}

/* Why nobody is led any further. */
static const char *end_of_way(const struct connection *c) {
    return c->s->opts.read_log ? NO_PROCESS : NO_CONNECTION;
}

static struct registry_failure unreachable(const struct connection *c) {
    return apiserver__failure(c->r->arena, ERR_UNAVAILABLE, "error trying to reach service: %s",
                              end_of_way(c));
}

/* ---- nodes ---- */

/* The address that kube-apiserver prefers, or an absent text. */
static struct str address_of(const struct api_node *node) {
    static const char *const types[] = {"Hostname", "InternalDNS", "InternalIP", "ExternalDNS",
                                        "ExternalIP"};
    const struct api_node_address_list *list = &node->status.addresses;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t i = 0; i < list->n; i++)
            if (str_is(list->v[i].type, types[t]))
                return list->v[i].address;
    return (struct str){0};
}

static struct registry_failure no_address(const struct connection *c, const struct api_node *node) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    const struct api_node_address_list *list = &node->status.addresses;
    for (size_t i = 0; i < list->n; i++)
        buf_addf(&text, "%s{%.*s %.*s}", i ? " " : "", STR_ARG(list->v[i].type),
                 STR_ARG(list->v[i].address));
    return apiserver__failure(c->r->arena, ERR_UNTOLD,
                              "no preferred addresses found; known addresses: [%.*s]", (int)text.n,
                              text.n ? text.p : "");
}

/* Where the kubelet of a node would be found: https://ADDRESS:PORT. A node that is not there is
 * named as an object of the request's resource: upstream's store asks the request what it is
 * about. */
static struct registry_failure locate(const struct connection *c, struct str name, struct str *host,
                                      struct str *url) {
    const struct api_object *o = find(c, "v1", "Node", name);
    if (!o)
        return registry_not_found(c->r->arena, c->r->resource->kind, arena_str(c->r->arena, name));
    const struct api_node *node = o->body;
    int32_t port = node->status.daemon_endpoints.kubelet_endpoint.port;
    *host = address_of(node);
    if (!host->p)
        return no_address(c, node);
    bool is_v6 = str_find_char(*host, ':') != STR_NONE;
    *url = arena_printf(c->r->arena, "https://%s%.*s%s:%d", is_v6 ? "[" : "", STR_ARG(*host),
                        is_v6 ? "]" : "", port > 0 ? port : 10250);
    return none;
}

/* ---- addresses and names ---- */

/* Is it an address that may be reached through the server? Names are left to whoever resolves
 * them. */
static bool is_public(struct arena *a, struct str address) {
    struct in_addr v4;
    struct in6_addr v6;
    const char *text = arena_str(a, address).p;
    if (inet_pton(AF_INET, text, &v4) == 1) {
        uint32_t ip = ntohl(v4.s_addr);
        return ip && ip != UINT32_MAX && ip >> 24 != 127 && ip >> 28 != 14 && ip >> 16 != 0xa9fe;
    }
    return inet_pton(AF_INET6, text, &v6) == 1 && !IN6_IS_ADDR_UNSPECIFIED(&v6) &&
           !IN6_IS_ADDR_LOOPBACK(&v6) && !IN6_IS_ADDR_MULTICAST(&v6) && !IN6_IS_ADDR_LINKLOCAL(&v6);
}

static bool is_address(struct arena *a, struct str text) {
    unsigned char to[sizeof(struct in6_addr)];
    const char *copy = arena_str(a, text).p;
    return inet_pton(AF_INET, copy, to) == 1 || inet_pton(AF_INET6, copy, to) == 1;
}

/* NAME, NAME:PORT or SCHEME:NAME:PORT.
 *
 * Follows k8s.io/apimachinery pkg/util/net, func SplitSchemeNamePort. */
static bool split(struct str id, struct str *name, struct str *port) {
    struct str parts[3] = {{0}};
    size_t n = 0;
    for (bool more = true; more; n++) {
        if (n == 3)
            return false;
        more = str_cut(id, ':', &parts[n], &id);
    }
    if (n == 3 && parts[0].n && !str_is(parts[0], "http") && !str_is(parts[0], "https"))
        return false;
    *name = parts[n == 3];
    *port = n == 1 ? STR("") : parts[n - 1];
    return name->n > 0;
}

static struct registry_failure bad_id(const struct connection *c, const char *what) {
    return registry_bad_request(
        arena_printf(c->r->arena, "invalid %s request \"%.*s\"", what, STR_ARG(c->r->name)));
}

/* ---- containers ---- */

static bool each_name(const struct api_pod_spec *spec, size_t i, struct str *name) {
    if (i < spec->init_containers.n) {
        *name = spec->init_containers.v[i].name;
        return true;
    }
    i -= spec->init_containers.n;
    if (i < spec->containers.n) {
        *name = spec->containers.v[i].name;
        return true;
    }
    i -= spec->containers.n;
    if (i < spec->ephemeral_containers.n)
        *name = spec->ephemeral_containers.v[i].container.name;
    return i < spec->ephemeral_containers.n;
}

static struct registry_failure choose(const struct connection *c, const struct api_pod *pod) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    struct str name;
    buf_addf(&text, "a container name must be specified for pod %.*s", STR_ARG(pod->metadata.name));
    for (size_t i = 0; pod->spec.containers.n && each_name(&pod->spec, i, &name); i++)
        buf_addf(&text, "%s%.*s", i ? " " : ", choose one of: [", STR_ARG(name));
    if (pod->spec.containers.n)
        buf_add_char(&text, ']');
    return registry_bad_request(arena_str(c->r->arena, buf_view(&text)));
}

/* The container that is meant, if there is one. */
static struct registry_failure find_container(const struct connection *c, const struct api_pod *pod,
                                              struct str *out) {
    struct str wanted = c->stream->container, name;
    if (!wanted.n && pod->spec.containers.n != 1)
        return choose(c, pod);
    *out = wanted.n ? wanted : pod->spec.containers.v[0].name;
    for (size_t i = 0; each_name(&pod->spec, i, &name); i++)
        if (str_eq(name, *out))
            return none;
    return registry_bad_request(arena_printf(c->r->arena,
                                             "container %.*s is not valid for pod %.*s",
                                             STR_ARG(wanted), STR_ARG(pod->metadata.name)));
}

/* ---- logs ---- */

static const struct api_container_status *
find_status(const struct api_container_status_list *const *lists, struct str name) {
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < lists[k]->n; i++)
            if (str_eq(lists[k]->v[i].name, name))
                return &lists[k]->v[i];
    return NULL;
}

static bool has_id(const struct api_container_state_terminated *t) {
    return t && t->container_id.n;
}

/* Is there a run whose log could be told? */
static struct registry_failure check_run(const struct connection *c, const struct api_pod *pod,
                                         struct str name) {
    const struct api_container_status_list *lists[] = {&pod->status.container_statuses,
                                                       &pod->status.init_container_statuses,
                                                       &pod->status.ephemeral_container_statuses};
    const struct api_container_status *status = find_status(lists, name);
    const char *what = "is not available";
    struct str reason = {0};
    if (status && c->stream->is_previous) {
        if (has_id(status->last_state.terminated))
            return none;
        return registry_bad_request(arena_printf(
            c->r->arena, "previous terminated container \"%.*s\" in pod \"%.*s\" not found",
            STR_ARG(name), STR_ARG(c->r->name)));
    }
    if (status && (status->state.running || has_id(status->state.terminated) ||
                   has_id(status->last_state.terminated)))
        return none;
    if (status && (status->state.terminated || status->last_state.terminated))
        what = "is terminated";
    else if (status && status->state.waiting) {
        what = "is waiting to start: ";
        reason = status->state.waiting->reason;
        if (str_is(reason, "ErrImagePull"))
            reason = STR("image can't be pulled");
        else if (str_is(reason, "ImagePullBackOff"))
            reason = STR("trying and failing to pull image");
    } else if (status)
        what = "is waiting to start - no logs yet";
    return registry_bad_request(
        arena_printf(c->r->arena, "container \"%.*s\" in pod \"%.*s\" %s%.*s", STR_ARG(name),
                     STR_ARG(c->r->name), what, STR_ARG(reason)));
}

static struct registry_failure read_log(const struct connection *c, const struct api_object *pod,
                                        struct str name) {
    struct registry_failure f = check_run(c, pod->body, name);
    if (!f.code)
        c->s->opts.read_log(c->r->arena, pod, name, c->stream->is_previous,
                            clock_wall(c->s->opts.clock), c->log);
    return f;
}

/* ---- what may be connected to ---- */

/* A pod without a node has no logs, which is no failure. */
static struct registry_failure log_of(const struct connection *c) {
    const struct api_object *o = find(c, "v1", "Pod", c->r->name);
    struct str container, host, url;
    if (!o)
        return not_found(c, "Pod", c->r->name);
    const struct api_pod *pod = o->body;
    struct registry_failure f = find_container(c, pod, &container);
    if (f.code || !pod->spec.node_name.n)
        return f;
    f = locate(c, pod->spec.node_name, &host, &url);
    if (f.code)
        return f;
    if (c->s->opts.read_log)
        return read_log(c, o, container);
    return apiserver__failure(
        c->r->arena, ERR_UNTOLD, "Get \"%.*s/containerLogs/%.*s/%.*s/%.*s\": " NO_CONNECTION,
        STR_ARG(url), STR_ARG(c->r->namespace), STR_ARG(c->r->name), STR_ARG(container));
}

static struct registry_failure stream(const struct connection *c, bool has_container) {
    const struct api_object *o = find(c, "v1", "Pod", c->r->name);
    struct str container, host, url;
    struct registry_failure f = none;
    if (!o)
        return not_found(c, "Pod", c->r->name);
    const struct api_pod *pod = o->body;
    if (has_container)
        f = find_container(c, pod, &container);
    if (!f.code && !pod->spec.node_name.n)
        f = registry_bad_request(arena_printf(c->r->arena, "pod %.*s does not have a host assigned",
                                              STR_ARG(c->r->name)));
    if (!f.code)
        f = locate(c, pod->spec.node_name, &host, &url);
    if (f.code)
        return f;
    if (!c->stream->is_upgrade)
        return registry_bad_request(STR("Upgrade request required"));
    return apiserver__failure(c->r->arena, ERR_UNTOLD, "error dialing backend: %s", end_of_way(c));
}

static struct registry_failure stream_container(const struct connection *c) {
    return stream(c, true);
}

static struct registry_failure forward_ports(const struct connection *c) {
    return stream(c, false);
}

static struct registry_failure proxy_pod(const struct connection *c) {
    struct str name, port;
    if (!split(c->r->name, &name, &port))
        return bad_id(c, "pod");
    const struct api_object *o = find(c, "v1", "Pod", name);
    if (!o)
        return not_found(c, "Pod", name);
    const struct api_pod_ip_list *ips = &((const struct api_pod *)o->body)->status.pod_ips;
    if (!ips->n || !is_public(c->r->arena, ips->v[0].ip))
        return registry_bad_request(STR("address not allowed"));
    return unreachable(c);
}

static struct registry_failure proxy_node(const struct connection *c) {
    struct str name, port, host, url;
    if (!split(c->r->name, &name, &port))
        return bad_id(c, "node");
    struct registry_failure f = locate(c, name, &host, &url);
    if (f.code)
        return f;
    if (is_address(c->r->arena, host) && !is_public(c->r->arena, host))
        return registry_bad_request(STR("address not allowed"));
    return unreachable(c);
}

/* ---- services ---- */

/* Does the slice belong to the service, and is anybody of it ready? */
static bool is_ready(const struct api_object *o, struct str service) {
    const struct api_endpoint_slice *slice = o->body;
    const struct label *of =
        labels_find(&slice->metadata.labels, STR("kubernetes.io/service-name"));
    if (!of || !str_eq(of->value, service))
        return false;
    for (size_t i = 0; i < slice->endpoints.n; i++) {
        const struct api_endpoint *e = &slice->endpoints.v[i];
        if (e->addresses.n && (!e->conditions.ready.set || e->conditions.ready.v))
            return true;
    }
    return false;
}

static bool has_endpoints(const struct connection *c, struct str service) {
    const struct api_kind *kind = api_kind_find(STR("discovery.k8s.io/v1"), STR("EndpointSlice"));
    struct store_cursor cursor;
    store_cursor_start(&cursor, c->snapshot,
                       apiserver_catalog_of(c->s->opts.catalog, kind)->storage,
                       (struct store_range){.namespace = c->r->namespace});
    for (const struct api_object *o; (o = store_cursor_next(&cursor));)
        if (is_ready(o, service))
            return true;
    return false;
}

static bool has_port(const struct api_object *o, int64_t port) {
    const struct api_service *service = o->body;
    for (size_t i = 0; i < service->spec.ports.n; i++)
        if (service->spec.ports.v[i].port == port)
            return true;
    return false;
}

static struct registry_failure proxy_service(const struct connection *c) {
    struct str name, port;
    int64_t number;
    if (!split(c->r->name, &name, &port))
        return bad_id(c, "service");
    if (str_to_i64(port, &number)) {
        const struct api_object *o = find(c, "v1", "Service", name);
        if (!o)
            return not_found(c, "Service", name);
        if (!has_port(o, number))
            return apiserver__failure(c->r->arena, ERR_UNAVAILABLE,
                                      "no service port %lld found for service \"%.*s\"",
                                      (long long)number, STR_ARG(name));
    }
    if (!has_endpoints(c, name))
        return apiserver__failure(c->r->arena, ERR_UNAVAILABLE,
                                  "no endpoints available for service \"%.*s\"", STR_ARG(name));
    return unreachable(c);
}

/* ---- the door ---- */

static const struct row {
    enum api_type_id type;
    const char *name;
    struct registry_failure (*connect)(const struct connection *c);
} rows[] = {
    {API_T_pod, "attach", stream_container},   {API_T_pod, "exec", stream_container},
    {API_T_pod, "portforward", forward_ports}, {API_T_pod, "log", log_of},
    {API_T_pod, "proxy", proxy_pod},           {API_T_node, "proxy", proxy_node},
    {API_T_service, "proxy", proxy_service},
};

static const struct row *find_row(const struct apiserver_resource *r,
                                  const struct registry_subresource *sub) {
    for (size_t i = 0; sub && i < sizeof rows / sizeof *rows; i++)
        if (r->kind->type == &api_types[rows[i].type] && str_is(str_of(sub->name), rows[i].name))
            return &rows[i];
    return NULL;
}

bool apiserver_connects(const struct apiserver_resource *r,
                        const struct registry_subresource *sub) {
    return find_row(r, sub);
}

struct registry_failure apiserver_connect(struct apiserver *s, const struct apiserver_request *r,
                                          const struct apiserver_stream *stream_options,
                                          struct apiserver_log *log) {
    struct connection c = {s, r, stream_options, store_snapshot_take(s->opts.store), log};
    *log = (struct apiserver_log){0};
    struct registry_failure f = find_row(r->resource, r->subresource)->connect(&c);
    store_snapshot_unref(c.snapshot);
    return f;
}
