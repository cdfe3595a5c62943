/* Endpoints and EndpointSlices of services, with their pods and without. */
#include "managed.h"

#include "base/limits.h"

#define BOTH   "endpoints-controller,endpointslice-controller"
#define MIRROR "endpointslice-mirroring-controller"

static const char service[] =
    "{apiVersion: v1, kind: Service, metadata: {name: web, labels: {tier: front}}, spec: "
    "{clusterIP: 10.0.0.7, ipFamilies: [IPv4], selector: {app: web}, ports: [{name: http, port: "
    "80, targetPort: serve}]}}";

static void make_node(struct managed *m, const char *name, const char *zone) {
    world_create(&m->w, arena_printf(&m->w.arena,
                                     "{apiVersion: v1, kind: Node, metadata: {name: %s, labels: "
                                     "{topology.kubernetes.io/zone: %s}}}",
                                     name, zone)
                            .p);
}

static void make_pod(struct managed *m, const char *name, const char *labels, int32_t port) {
    world_create(&m->w,
                 arena_printf(&m->w.arena,
                              "{apiVersion: v1, kind: Pod, metadata: {name: %s, labels: {%s}}, "
                              "spec: {nodeName: node-1, containers: [{name: c, image: i, ports: "
                              "[{name: serve, containerPort: %d}]}]}}",
                              name, labels, port)
                     .p);
}

/* The pod runs at an address, ready or not. */
static void run_pod(struct managed *m, const char *name, const char *ip, bool is_ready) {
    world_patch(&m->w, API_T_pod, name, "status",
                arena_printf(&m->w.arena,
                             "{\"status\":{\"phase\":\"Running\",\"podIP\":\"%s\",\"podIPs\":"
                             "[{\"ip\":\"%s\"}]}}",
                             ip, ip)
                    .p);
    managed_pod_runs(m, name, is_ready);
}

struct seen_slices {
    struct managed *m;
    const struct api_endpoint_slice *v[16];
    const char *names[16];
    size_t n, endpoints;
};

static void see_slice(void *arg, const struct api_object *o) {
    struct seen_slices *seen = arg;
    const struct label *l = labels_find(&o->meta->labels, STR("kubernetes.io/service-name"));
    if (!l || !str_is(l->value, "web"))
        return;
    struct api_endpoint_slice *copy = arena_new(&seen->m->w.arena, struct api_endpoint_slice);
    api_struct_copy(&seen->m->w.arena, o->type, o->body, copy);
    seen->names[seen->n] = arena_str(&seen->m->w.arena, o->meta->name).p;
    seen->v[seen->n++] = copy;
    seen->endpoints += copy->endpoints.n;
}

static struct seen_slices slices_of(struct managed *m) {
    struct seen_slices seen = {.m = m};
    world_each(&m->w, API_T_endpoint_slice, see_slice, &seen);
    return seen;
}

static const struct api_endpoints *endpoints_of(struct managed *m) {
    const struct api_object *o = world_get(&m->w, API_T_endpoints, "web");
    assert_non_null(o);
    return o->body;
}

static bool has_label(const struct labels *labels, const char *key, const char *value) {
    const struct label *l = labels_find(labels, str_of(key));
    return l && str_is(l->value, value);
}

static void a_service_without_pods_has_an_empty_slice(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, BOTH, "");
    world_create(&m.w, service);
    world_run(&m.w, 2);
    struct seen_slices seen = slices_of(&m);
    assert_int_equal(seen.n, 1);
    assert_int_equal(seen.v[0]->endpoints.n, 0);
    assert_int_equal(seen.v[0]->ports.n, 0);
    assert_true(str_is(seen.v[0]->address_type, "IPv4"));
    const struct api_object_meta *meta = &seen.v[0]->metadata;
    assert_true(has_label(&meta->labels, "tier", "front"));
    assert_true(has_label(&meta->labels, "endpointslice.kubernetes.io/managed-by",
                          "endpointslice-controller.k8s.io"));
    assert_true(str_is(meta->generate_name, "web-"));
    assert_int_equal(meta->owner_references.n, 1);
    assert_true(str_is(meta->owner_references.v[0].kind, "Service"));
    assert_true(has_label(&meta->annotations, "endpoints.kubernetes.io/last-change-trigger-time",
                          "2023-11-14T22:13:20Z"));
    assert_int_equal(endpoints_of(&m)->subsets.n, 0);
    assert_true(has_label(&endpoints_of(&m)->metadata.labels, "endpoints.kubernetes.io/managed-by",
                          "endpoint-controller"));
    size_t writes = m.counting.sent[REGISTRY_VERB_UPDATE] + m.counting.sent[REGISTRY_VERB_CREATE];
    world_run(&m.w, 60);
    assert_int_equal(m.counting.sent[REGISTRY_VERB_UPDATE] + m.counting.sent[REGISTRY_VERB_CREATE],
                     writes);
    managed_stop(&m);
}

static void pods_come_and_go(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, BOTH, "");
    make_node(&m, "node-1", "north");
    world_create(&m.w, service);
    make_pod(&m, "one", "app: web, more: x", 8080);
    make_pod(&m, "other", "app: db", 8080);
    run_pod(&m, "one", "10.1.0.1", false);
    run_pod(&m, "other", "10.1.0.2", true);
    world_run(&m.w, 5);
    struct seen_slices seen = slices_of(&m);
    assert_int_equal(seen.n, 1);
    assert_int_equal(seen.endpoints, 1);
    const char *name = seen.names[0];
    const struct api_endpoint *e = &seen.v[0]->endpoints.v[0];
    assert_true(str_is(e->addresses.v[0], "10.1.0.1"));
    assert_true(str_is(e->node_name, "node-1"));
    assert_true(str_is(e->zone, "north"));
    assert_true(str_is(e->target_ref->name, "one"));
    assert_false(e->conditions.ready.v);
    assert_false(e->conditions.serving.v);
    assert_true(e->conditions.terminating.set && !e->conditions.terminating.v);
    assert_null(e->hints);
    assert_int_equal(seen.v[0]->ports.v[0].port.v, 8080);
    assert_true(str_is(seen.v[0]->ports.v[0].name, "http"));
    assert_int_equal(endpoints_of(&m)->subsets.v[0].not_ready_addresses.n, 1);
    run_pod(&m, "one", "10.1.0.1", true);
    world_run(&m.w, 5);
    seen = slices_of(&m);
    assert_true(seen.v[0]->endpoints.v[0].conditions.ready.v);
    assert_string_equal(seen.names[0], name);
    assert_int_equal(endpoints_of(&m)->subsets.v[0].addresses.n, 1);
    assert_int_equal(endpoints_of(&m)->subsets.v[0].ports.v[0].port, 8080);
    world_delete(&m.w, API_T_pod, "one");
    world_run(&m.w, 5);
    seen = slices_of(&m);
    assert_int_equal(seen.n, 1);
    assert_int_equal(seen.endpoints, 0);
    assert_string_equal(seen.names[0], name);
    world_delete(&m.w, API_T_service, "web");
    world_run(&m.w, 5);
    assert_null(world_get(&m.w, API_T_endpoints, "web"));
    managed_stop(&m);
}

/* Pods whose port of a name has another number are in slices of their own. */
static void ports_divide_slices(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, BOTH, "");
    make_node(&m, "node-1", "north");
    world_create(&m.w, service);
    make_pod(&m, "one", "app: web", 8080);
    make_pod(&m, "two", "app: web", 9090);
    run_pod(&m, "one", "10.1.0.1", true);
    run_pod(&m, "two", "10.1.0.2", true);
    world_run(&m.w, 5);
    struct seen_slices seen = slices_of(&m);
    assert_int_equal(seen.n, 2);
    assert_int_equal(seen.endpoints, 2);
    assert_int_equal(endpoints_of(&m)->subsets.n, 2);
    managed_stop(&m);
}

static void a_slice_has_a_hundred_endpoints(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, BOTH, "");
    make_node(&m, "node-1", "north");
    for (int i = 0; i < 250; i++) {
        const char *name = arena_printf(&m.w.arena, "p%d", i).p;
        make_pod(&m, name, "app: web", 8080);
        run_pod(&m, name, arena_printf(&m.w.arena, "10.1.1.%d", i).p, true);
    }
    world_create(&m.w, service);
    world_run(&m.w, 5);
    struct seen_slices seen = slices_of(&m);
    assert_int_equal(seen.n, 3);
    assert_int_equal(seen.endpoints, 250);
    assert_int_equal(endpoints_of(&m)->subsets.v[0].addresses.n, 250);
    /* The one pod that is new finds a place in what there is. */
    size_t made = m.counting.sent[REGISTRY_VERB_CREATE];
    make_pod(&m, "late", "app: web", 8080);
    run_pod(&m, "late", "10.1.2.1", true);
    world_run(&m.w, 5);
    seen = slices_of(&m);
    assert_int_equal(seen.n, 3);
    assert_int_equal(seen.endpoints, 251);
    assert_int_equal(m.counting.sent[REGISTRY_VERB_CREATE], made);
    managed_stop(&m);
}

static void a_pod_that_goes_serves_on(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, BOTH, "");
    make_node(&m, "node-1", "north");
    world_create(&m.w, service);
    make_pod(&m, "one", "app: web", 8080);
    run_pod(&m, "one", "10.1.0.1", true);
    world_run(&m.w, 2);
    world_send(&m.w, &(struct client_request){.verb = REGISTRY_VERB_DELETE,
                                              .kind = client_kind(API_T_pod),
                                              .namespace = STR("default"),
                                              .name = STR("one"),
                                              .deletion = {.grace_seconds = {true, 30}}});
    world_run(&m.w, 2);
    struct seen_slices seen = slices_of(&m);
    assert_int_equal(seen.endpoints, 1);
    const struct api_endpoint_conditions *c = &seen.v[0]->endpoints.v[0].conditions;
    assert_false(c->ready.v);
    assert_true(c->serving.v);
    assert_true(c->terminating.v);
    assert_int_equal(endpoints_of(&m)->subsets.n, 0);
    managed_stop(&m);
}

static void hints_follow_the_service(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, BOTH, "");
    make_node(&m, "node-1", "north");
    world_create(&m.w, service);
    make_pod(&m, "one", "app: web", 8080);
    run_pod(&m, "one", "10.1.0.1", true);
    world_patch(&m.w, API_T_service, "web", NULL,
                "{\"spec\":{\"trafficDistribution\":\"PreferSameNode\"}}");
    world_run(&m.w, 2);
    struct seen_slices seen = slices_of(&m);
    const struct api_endpoint_hints *hints = seen.v[0]->endpoints.v[0].hints;
    assert_non_null(hints);
    assert_true(str_is(hints->for_zones.v[0].name, "north"));
    assert_true(str_is(hints->for_nodes.v[0].name, "node-1"));
    world_patch(&m.w, API_T_service, "web", NULL, "{\"spec\":{\"trafficDistribution\":null}}");
    world_run(&m.w, 2);
    seen = slices_of(&m);
    assert_null(seen.v[0]->endpoints.v[0].hints);
    managed_stop(&m);
}

/* Without a node there is no endpoint, and that is told. */
static void a_pod_on_no_node_is_left_out(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, BOTH, "");
    world_create(&m.w, service);
    make_pod(&m, "one", "app: web", 8080);
    run_pod(&m, "one", "10.1.0.1", true);
    world_run(&m.w, 2);
    assert_int_equal(slices_of(&m).endpoints, 0);
    const struct api_event *e = world_event(&m.w, "FailedToUpdateEndpointSlices", "web");
    assert_non_null(e);
    assert_true(str_is(e->message, "Error updating Endpoint Slices for Service default/web: "
                                   "skipping Pod one for Service default/web: Node node-1 Not "
                                   "Found"));
    make_node(&m, "node-1", "north");
    world_run(&m.w, 10);
    assert_int_equal(slices_of(&m).endpoints, 1);
    managed_stop(&m);
}

static void what_somebody_deletes_comes_back(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, BOTH, "");
    world_create(&m.w, service);
    world_run(&m.w, 2);
    world_delete(&m.w, API_T_endpoints, "web");
    world_delete(&m.w, API_T_endpoint_slice, slices_of(&m).names[0]);
    assert_int_equal(slices_of(&m).n, 0);
    world_run(&m.w, 2);
    assert_int_equal(slices_of(&m).n, 1);
    endpoints_of(&m);
    managed_stop(&m);
}

static void slices_mirror_endpoints(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, MIRROR, "");
    world_create(&m.w, "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: "
                       "[{port: 80}]}}");
    world_create(&m.w, "{apiVersion: v1, kind: Endpoints, metadata: {name: web, labels: {a: b}, "
                       "annotations: {c: d}}, subsets: [{addresses: [{ip: 10.1.2.3}], "
                       "notReadyAddresses: [{ip: 10.1.2.4}], ports: [{port: 80}]}]}");
    world_run(&m.w, 2);
    struct seen_slices seen = slices_of(&m);
    assert_int_equal(seen.n, 1);
    assert_int_equal(seen.endpoints, 2);
    const char *name = seen.names[0];
    const struct api_object_meta *meta = &seen.v[0]->metadata;
    assert_true(has_label(&meta->labels, "endpointslice.kubernetes.io/managed-by",
                          "endpointslicemirroring-controller.k8s.io"));
    assert_true(has_label(&meta->labels, "a", "b"));
    assert_true(has_label(&meta->annotations, "c", "d"));
    assert_true(str_is(meta->owner_references.v[0].kind, "Endpoints"));
    assert_true(seen.v[0]->endpoints.v[0].conditions.ready.v);
    assert_false(seen.v[0]->endpoints.v[0].conditions.serving.set);
    world_patch(
        &m.w, API_T_endpoints, "web", NULL,
        "{\"subsets\":[{\"addresses\":[{\"ip\":\"10.2.3.4\"}],\"ports\":[{\"port\":81}]}]}");
    world_run(&m.w, 2);
    seen = slices_of(&m);
    assert_int_equal(seen.n, 1);
    assert_int_equal(seen.endpoints, 1);
    assert_string_equal(seen.names[0], name);
    assert_int_equal(seen.v[0]->ports.v[0].port.v, 81);
    world_delete(&m.w, API_T_endpoints, "web");
    world_run(&m.w, 2);
    assert_int_equal(slices_of(&m).n, 0);
    managed_stop(&m);
}

/* LIMIT_SLICE_LABEL_BYTES: each slice has all labels and annotations. */
static void so_much_is_copied_to_all_slices(void **state) {
    enum { SLICES = 128, EACH = LIMIT_SLICE_LABEL_BYTES / SLICES - sizeof(struct label) - 1 };
    struct managed m;
    struct buf text = BUF_INIT(SIZE_MAX);
    (void)state;
    managed_start(&m, MIRROR, "");
    world_create(&m.w, "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: "
                       "[{port: 80}]}}");
    buf_addf(&text, "{apiVersion: v1, kind: Endpoints, metadata: {name: web, annotations: {a: ");
    buf_add_fill(&text, 'x', EACH);
    buf_addf(&text, "}}, subsets: [");
    for (int i = 1; i <= SLICES; i++)
        buf_addf(&text, "{addresses: [{ip: 10.1.2.%d}], ports: [{port: %d}]},", i, i);
    buf_addf(&text, "]}");
    world_create(&m.w, arena_str(&m.w.arena, buf_view(&text)).p);
    world_run(&m.w, 2);
    assert_int_equal(world_count(&m.w, API_T_endpoint_slice), SLICES);
    assert_null(world_event(&m.w, "TooManyLabelsToMirror", "web"));
    world_patch(&m.w, API_T_endpoints, "web", NULL, "{\"metadata\":{\"labels\":{\"b\":\"\"}}}");
    world_run(&m.w, 2);
    assert_int_equal(world_count(&m.w, API_T_endpoint_slice), 0);
    assert_non_null(world_event(&m.w, "TooManyLabelsToMirror", "web"));
    buf_release(&text);
    managed_stop(&m);
}

/* A service whose pods have other ports each has as many slices. */
static void labels_of_a_service_are_copied_to_its_slices(void **state) {
    enum { SLICES = 20, LABELS = 9000 };
    struct managed m;
    struct buf text = BUF_INIT(SIZE_MAX);
    (void)state;
    managed_start(&m, "endpointslice-controller", "");
    make_node(&m, "node-1", "north");
    for (int i = 0; i < SLICES; i++) {
        const char *name = arena_printf(&m.w.arena, "p%d", i).p;
        make_pod(&m, name, "app: web", 8080 + i);
        run_pod(&m, name, arena_printf(&m.w.arena, "10.1.1.%d", i).p, true);
    }
    buf_addf(&text, "{apiVersion: v1, kind: Service, metadata: {name: web, labels: {");
    for (int i = 0; i < LABELS; i++)
        buf_addf(&text, "a%d: v%059d,", i, i);
    buf_addf(&text, "}}, spec: {selector: {app: web}, ports: [{port: 80, targetPort: serve}]}}");
    world_create(&m.w, arena_str(&m.w.arena, buf_view(&text)).p);
    world_run(&m.w, 2);
    assert_int_equal(world_count(&m.w, API_T_endpoint_slice), 0);
    assert_non_null(world_event(&m.w, "TooManyLabels", "web"));
    buf_release(&text);
    managed_stop(&m);
}

/* Many subsets, each with a port and an address of its own: as many slices. */
static void many_subsets_are_mirrored(void **state) {
    struct managed m;
    struct buf text = BUF_INIT(SIZE_MAX);
    (void)state;
    managed_start(&m, MIRROR, "");
    world_create(&m.w, "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: "
                       "[{port: 80}]}}");
    buf_addf(&text, "{apiVersion: v1, kind: Endpoints, metadata: {name: web}, subsets: [");
    for (int i = 1; i <= 12; i++)
        buf_addf(&text, "{addresses: [{ip: 10.1.1.%d}], ports: [{port: %d}]}, ", i, i);
    buf_addf(&text, "{notReadyAddresses: [{ip: 'fd00::1'}], ports: [{port: 99}]}]}");
    buf_add_char(&text, 0);
    world_create(&m.w, text.p);
    world_run(&m.w, 2);
    struct seen_slices seen = slices_of(&m);
    assert_int_equal(seen.n, 13);
    assert_int_equal(seen.endpoints, 13);
    buf_release(&text);
    managed_stop(&m);
}

/* Work is done for the services of a pod that changes, and not for others. */
static void a_change_costs_what_its_services_cost(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, BOTH, "");
    make_node(&m, "node-1", "north");
    for (int i = 0; i < 100; i++)
        world_create(&m.w, arena_printf(&m.w.arena,
                                        "{apiVersion: v1, kind: Service, metadata: {name: s%d}, "
                                        "spec: {selector: {app: web, n: \"%d\"}, ports: [{port: "
                                        "80}]}}",
                                        i, i)
                               .p);
    world_run(&m.w, 5);
    make_pod(&m, "one", "app: web, n: \"7\"", 8080);
    size_t writes = m.counting.sent[REGISTRY_VERB_UPDATE];
    run_pod(&m, "one", "10.1.0.1", true);
    world_run(&m.w, 5);
    assert_in_range(m.counting.sent[REGISTRY_VERB_UPDATE] - writes, 2, 4);
    managed_stop(&m);
}

/* ---- a walk by chance ---- */

enum { WALK_PODS = 30, WALK_STEPS = 400, WALK_SERVICES = 3 };

/* What a service selects: labels of the walk's pods. */
static const char *const walk_selectors[WALK_SERVICES] = {"{a: x}", "{a: x, b: w}", "{b: w}"};

struct walker {
    struct managed m;
    uint32_t drawn;
    struct {
        bool is_there, a, b, runs;
    } pods[WALK_PODS];
};

static uint32_t draw(struct walker *w, uint32_t below) {
    w->drawn = w->drawn * 1664525 + 1013904223;
    return (w->drawn >> 8) % below;
}

static void relabel(struct walker *w, size_t i, const char *name) {
    w->pods[i].a = draw(w, 2);
    w->pods[i].b = draw(w, 2);
    world_patch(&w->m.w, API_T_pod, name, NULL,
                arena_printf(&w->m.w.arena, "{\"metadata\":{\"labels\":{\"a\":%s,\"b\":%s}}}",
                             w->pods[i].a ? "\"x\"" : "null", w->pods[i].b ? "\"w\"" : "null")
                    .p);
}

static void step(struct walker *w) {
    size_t i = draw(w, WALK_PODS);
    const char *name = arena_printf(&w->m.w.arena, "p%zu", i).p;
    if (!w->pods[i].is_there) {
        make_pod(&w->m, name, "c: z", 80);
        w->pods[i].is_there = true;
        w->pods[i].runs = false;
        relabel(w, i, name);
    } else if (draw(w, 4) == 0) {
        world_delete(&w->m.w, API_T_pod, name);
        w->pods[i].is_there = false;
    } else if (!w->pods[i].runs) {
        run_pod(&w->m, name, arena_printf(&w->m.w.arena, "10.1.1.%zu", i + 1).p, true);
        w->pods[i].runs = true;
    } else
        relabel(w, i, name);
    if (draw(w, 3) == 0)
        world_run(&w->m.w, 0.01 * draw(w, 200));
}

struct tally {
    size_t slices[WALK_SERVICES];
    size_t endpoints[WALK_SERVICES];
};

static size_t service_of(struct str name) {
    return (size_t)(name.p[name.n - 1] - '0');
}

static void tally_slice(void *arg, const struct api_object *o) {
    struct tally *t = arg;
    const struct label *l = labels_find(&o->meta->labels, STR("kubernetes.io/service-name"));
    if (!l || !str_starts(l->value, STR("walk")))
        return;
    t->slices[service_of(l->value)] += ((const struct api_endpoint_slice *)o->body)->endpoints.n;
}

static void tally_endpoints(void *arg, const struct api_object *o) {
    struct tally *t = arg;
    const struct api_endpoint_subset_list *list = &((const struct api_endpoints *)o->body)->subsets;
    if (str_starts(o->meta->name, STR("walk")))
        t->endpoints[service_of(o->meta->name)] = list->n ? list->v[0].addresses.n : 0;
}

static void check_walk(struct walker *w) {
    struct tally t = {0};
    size_t expected[WALK_SERVICES] = {0};
    for (size_t i = 0; i < WALK_PODS; i++) {
        bool counts = w->pods[i].is_there && w->pods[i].runs;
        expected[0] += counts && w->pods[i].a;
        expected[1] += counts && w->pods[i].a && w->pods[i].b;
        expected[2] += counts && w->pods[i].b;
    }
    world_each(&w->m.w, API_T_endpoint_slice, tally_slice, &t);
    world_each(&w->m.w, API_T_endpoints, tally_endpoints, &t);
    for (size_t i = 0; i < WALK_SERVICES; i++) {
        assert_int_equal(t.slices[i], expected[i]);
        assert_int_equal(t.endpoints[i], expected[i]);
    }
}

static void endpoints_follow_whatever_happens(void **state) {
    struct walker w = {.drawn = 7};
    (void)state;
    managed_start(&w.m, BOTH, "");
    make_node(&w.m, "node-1", "north");
    for (size_t i = 0; i < WALK_SERVICES; i++)
        world_create(&w.m.w, arena_printf(&w.m.w.arena,
                                          "{apiVersion: v1, kind: Service, metadata: {name: "
                                          "walk-%zu}, spec: {clusterIP: None, selector: %s, ports: "
                                          "[{port: 80}]}}",
                                          i, walk_selectors[i])
                                 .p);
    for (int i = 0; i < WALK_STEPS; i++) {
        step(&w);
        if (i % 50 == 49) {
            world_run(&w.m.w, 3);
            check_walk(&w);
        }
    }
    managed_stop(&w.m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_service_without_pods_has_an_empty_slice),
        cmocka_unit_test(pods_come_and_go),
        cmocka_unit_test(ports_divide_slices),
        cmocka_unit_test(a_slice_has_a_hundred_endpoints),
        cmocka_unit_test(a_pod_that_goes_serves_on),
        cmocka_unit_test(hints_follow_the_service),
        cmocka_unit_test(a_pod_on_no_node_is_left_out),
        cmocka_unit_test(what_somebody_deletes_comes_back),
        cmocka_unit_test(slices_mirror_endpoints),
        cmocka_unit_test(so_much_is_copied_to_all_slices),
        cmocka_unit_test(labels_of_a_service_are_copied_to_its_slices),
        cmocka_unit_test(many_subsets_are_mirrored),
        cmocka_unit_test(a_change_costs_what_its_services_cost),
        cmocka_unit_test(endpoints_follow_whatever_happens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
