/*
 * EndpointSlices of services that select pods.
 *
 * Follows k8s.io/kubernetes pkg/controller/endpointslice, func (*Controller) syncService.
 * Follows k8s.io/endpointslice, func (*Reconciler) Reconcile, func podToEndpoint.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/vec.h"
#include "feature/feature.h"
#include "manager/labelled_int.h"
#include "manager/pods_int.h"
#include "manager/services/port_numbers_int.h"
#include "manager/services/service_pods_int.h"
#include "manager/services/slice_plan_int.h"
#include "manager/services/trigger_times_int.h"
#include "valid/ip.h"

/* When somebody else has written to a slice, it is looked at after this. */
#define SLICE_DELAY CLOCK_SECOND
#define FIRST_DELAY CLOCK_SECOND

static const struct str manager_name = STR_INIT("endpointslice-controller.k8s.io");

struct slices {
    struct manager__base base; /* keys: services */
    struct informer *nodes;
    struct service_pods *pods;
    struct labelled *by_service;
    struct trigger_times *times;
};

/* One service at work, in its arena. */
struct sync {
    struct slices *c;
    struct work *work;
    const struct api_object *service; /* only while it is decided */
    struct events_subject subject;
    struct manager__objects pods;
    struct port_numbers numbers;
    struct api_time trigger;
    VEC(struct str) errors;
};

/* ---- what went wrong ---- */

static void tell_failure(struct sync *s, struct str why) {
    const struct events_subject *o = &s->subject;
    events_say_of(s->c->base.events, o, EVENTS_WARNING, "FailedToUpdateEndpointSlices",
                  "Error updating Endpoint Slices for Service %.*s/%.*s: %.*s",
                  STR_ARG(o->namespace), STR_ARG(o->name), STR_ARG(why));
    work_fail(s->work, "%.*s", STR_ARG(why));
}

/* A write of a slice, to tell what became of it. */
struct writing {
    struct sync *sync;
    const char *verb;
    struct str slice; /* empty: it is new */
};

static void written(void *arg, struct work *w, const struct client_answer *answer) {
    const struct writing *x = arg;
    const struct events_subject *o = &x->sync->subject;
    bool is_gone = *x->verb == 'd' && answer->code == ERR_NOT_FOUND;
    if (!answer->code || is_gone || (!x->slice.n && manager__namespace_goes(answer)))
        return;
    tell_failure(x->sync,
                 arena_printf(work_arena(w),
                              "failed to %s %.*s%sEndpointSlice for Service "
                              "%.*s/%.*s: %.*s",
                              x->verb, STR_ARG(x->slice), x->slice.n ? " " : "",
                              STR_ARG(o->namespace), STR_ARG(o->name), STR_ARG(answer->message)));
}

/* Pods on nodes that are not there. */
static void tell_errors(struct sync *s) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    for (size_t i = 0; i < s->errors.n; i++)
        buf_addf(&text, "%s%.*s", i ? ", " : s->errors.n > 1 ? "[" : "", STR_ARG(s->errors.v[i]));
    if (s->errors.n > 1)
        buf_add_char(&text, ']');
    if (s->errors.n)
        tell_failure(s, buf_view(&text));
    vec_release(&s->errors);
}

/* ---- writing ---- */

static void send(struct sync *s, enum registry_verb verb, struct str name,
                 struct api_object *object) {
    struct writing *x = arena_new(work_arena(s->work), struct writing);
    *x = (struct writing){s,
                          verb == REGISTRY_VERB_CREATE   ? "create"
                          : verb == REGISTRY_VERB_UPDATE ? "update"
                                                         : "delete",
                          arena_str(work_arena(s->work), name)};
    work_send(s->work,
              &(struct client_request){.verb = verb,
                                       .kind = client_kind(API_T_endpoint_slice),
                                       .namespace = s->subject.namespace,
                                       .name = name,
                                       .object = object},
              written, x);
}

static void send_fate(struct sync *s, const struct slice_plan *plan, enum slice_fate fate) {
    for (size_t i = 0; i < plan->n; i++) {
        const struct slice_draft *d = plan->v[i];
        if (d->fate != fate)
            continue;
        if (fate == SLICE_DELETED)
            send(s, REGISTRY_VERB_DELETE, d->was->meta->name, NULL);
        else
            send(s, fate == SLICE_CREATED ? REGISTRY_VERB_CREATE : REGISTRY_VERB_UPDATE,
                 d->was ? d->was->meta->name : STR(""), slice_plan__object(plan, d, s->trigger));
    }
}

/* ---- what should be there ---- */

/* The service's ports that pods with this answer have. */
static const endpoint__ports *ports_of(struct arena *a, const struct port_numbers *numbers,
                                       struct port_answer *answer) {
    const struct api_service_port_list *list = numbers->ports;
    if (answer->use)
        return answer->use;
    endpoint__ports *out = arena_new(a, endpoint__ports);
    out->v = arena_array(a, struct api_discovery_endpoint_port, answer->n);
    for (size_t i = 0; i < list->n; i++) {
        const struct api_service_port *port = &list->v[i];
        if (answer->v[i] >= 0)
            out->v[out->n++] =
                (struct api_discovery_endpoint_port){.name = port->name.p ? port->name : STR(""),
                                                     .protocol = port->protocol,
                                                     .port = {true, answer->v[i]},
                                                     .app_protocol = port->app_protocol};
    }
    answer->use = out;
    return out;
}

/* Follows k8s.io/endpointslice, func podToEndpoint. */
static struct api_endpoint endpoint_of(struct arena *a, const struct api_object *service,
                                       const struct api_object *pod, const struct api_object *node,
                                       bool is_v6) {
    const struct api_pod *body = pod->body;
    const struct api_service_spec *spec = &((const struct api_service *)service->body)->spec;
    const struct label *zone =
        node ? labels_find(&node->meta->labels, STR("topology.kubernetes.io/zone")) : NULL;
    bool serves = manager__pod_is_ready(pod), goes = pod->meta->deletion_timestamp.set;
    struct api_endpoint e = {
        .addresses = endpoint__addresses(a, pod, is_v6),
        .conditions = {.ready = {true, spec->publish_not_ready_addresses || (serves && !goes)},
                       .serving = {true, serves},
                       .terminating = {true, goes}},
        .target_ref = endpoint__pod_ref(a, pod)};
    if (body->spec.node_name.n)
        e.node_name = body->spec.node_name;
    if (zone && zone->value.n)
        e.zone = zone->value;
    if (endpoint__has_hostname(pod, service))
        e.hostname = body->spec.hostname;
    return e;
}

/* Of a pod on a node that is not there, the service's ports are known, but it is no endpoint. */
static struct slice_pod read_pod(struct sync *s, const struct api_object *pod, bool is_v6) {
    struct arena *a = work_arena(s->work);
    const struct api_object *service = s->service;
    struct str name = ((const struct api_pod *)pod->body)->spec.node_name;
    const struct api_object *node = informer_get(s->c->nodes, STR(""), name);
    struct slice_pod out = {.ports = ports_of(a, &s->numbers, port_numbers__of(&s->numbers, pod))};
    if (node || ((const struct api_service *)service->body)->spec.publish_not_ready_addresses)
        out.endpoint = endpoint_of(a, service, pod, node, is_v6);
    else
        vec_push(&s->errors,
                 arena_printf(a, "skipping Pod %.*s for Service %.*s/%.*s: Node %.*s Not Found",
                              STR_ARG(pod->meta->name), STR_ARG(service->meta->namespace),
                              STR_ARG(service->meta->name), STR_ARG(name)));
    return out;
}

static bool asks_for_auto_hints(const struct api_object *service) {
    const struct labels *all = &service->meta->annotations;
    const struct label *l = labels_find(all, STR("service.kubernetes.io/topology-aware-hints"));
    if (!l)
        l = labels_find(all, STR("service.kubernetes.io/topology-mode"));
    return l && (str_is(l->value, "Auto") || str_is(l->value, "auto"));
}

static void set_preferences(const struct sync *s, struct slice_plan *plan) {
    struct str wish = ((const struct api_service *)s->service->body)->spec.traffic_distribution;
    bool more = feature_enabled(s->c->base.manager->gates, FEATURE_PreferSameTrafficDistribution);
    if (asks_for_auto_hints(s->service))
        return;
    plan->prefers_node = more && str_is(wish, "PreferSameNode");
    plan->prefers_zone = plan->prefers_node || str_is(wish, "PreferClose") ||
                         (more && str_is(wish, "PreferSameZone"));
}

/* Each slice that is written gets all labels of the service. */
static bool is_too_large(const struct slice_plan *plan) {
    size_t n = 0;
    for (size_t i = 0; i < plan->n; i++)
        n += plan->v[i]->fate == SLICE_CREATED || plan->v[i]->fate == SLICE_UPDATED;
    return n * endpoint__labels_size(&plan->labels) > LIMIT_SLICE_LABEL_BYTES;
}

static void send_plan(struct sync *s, const struct slice_plan *plan) {
    if (is_too_large(plan)) {
        events_say(s->c->base.events, s->service, EVENTS_WARNING, "TooManyLabels",
                   "EndpointSlices of the service would have more than %u bytes of labels",
                   LIMIT_SLICE_LABEL_BYTES);
        return;
    }
    if (!s->service->meta->deletion_timestamp.set)
        send_fate(s, plan, SLICE_CREATED);
    send_fate(s, plan, SLICE_UPDATED);
    send_fate(s, plan, SLICE_DELETED);
}

static void sync_type(struct sync *s, const struct manager__objects *slices, struct str type) {
    struct arena *a = work_arena(s->work);
    struct slice_plan plan = {.arena = a,
                              .service = s->service,
                              .address_type = type,
                              .labels = slice_plan__labels(a, s->service, manager_name)};
    struct slice_pod *pods = arena_array(a, struct slice_pod, s->pods.n);
    struct manager__objects own = {arena_array(a, const struct api_object *, slices->n), 0};
    size_t n = 0;
    for (size_t i = 0; i < slices->n; i++)
        if (str_eq(((const struct api_endpoint_slice *)slices->v[i]->body)->address_type, type))
            own.v[own.n++] = slices->v[i];
    for (size_t i = 0; i < s->pods.n; i++)
        if (endpoint__has_pod(s->pods.v[i], true))
            pods[n++] = read_pod(s, s->pods.v[i], str_is(type, "IPv6"));
    slice_plan__make(&plan, pods, n, &own, s->c->base.manager->seed);
    set_preferences(s, &plan);
    slice_plan__set_hints(&plan);
    send_plan(s, &plan);
}

/* ---- one service ---- */

enum { TYPES = 2 };

/* The types of addresses that a service has, by their families. */
static size_t types_of(const struct api_object *service, struct str out[TYPES]) {
    const struct api_service_spec *spec = &((const struct api_service *)service->body)->spec;
    size_t n = 0;
    for (size_t i = 0; i < spec->ip_families.n && n < TYPES; i++)
        out[n++] = str_is(spec->ip_families.v[i], "IPv6") ? STR("IPv6") : STR("IPv4");
    if (n)
        return n;
    if (!endpoint__is_headless(service)) {
        out[0] = valid_ip_is_v6_text(spec->cluster_ip) ? STR("IPv6") : STR("IPv4");
        return 1;
    }
    out[0] = STR("IPv4");
    out[1] = STR("IPv6");
    return TYPES;
}

/* The slices of the service that this controller manages and nobody has deleted. */
static struct manager__objects slices_of(const struct slices *c, struct arena *a,
                                         const struct api_object *service) {
    const struct label label = {ENDPOINT__SERVICE_NAME, service->meta->name};
    struct str namespace = service->meta->namespace;
    struct manager__objects out = {arena_array(a, const struct api_object *,
                                               labelled__count(c->by_service, namespace, &label)),
                                   0};
    size_t at = 0;
    for (const struct api_object *o; (o = labelled__next(c->by_service, namespace, &label, &at));)
        if (!o->meta->deletion_timestamp.set)
            out.v[out.n++] = o;
    return out;
}

/* Has each pod its ports? */
static bool are_ports_known(struct sync *s) {
    for (size_t i = 0; i < s->pods.n; i++)
        if (endpoint__has_pod(s->pods.v[i], true) && !port_numbers__of(&s->numbers, s->pods.v[i]))
            return false;
    return true;
}

static void sync_service(struct sync *s) {
    struct manager__objects slices = slices_of(s->c, work_arena(s->work), s->service);
    struct str types[TYPES];
    size_t n = types_of(s->service, types);
    for (size_t i = 0; i < n; i++)
        sync_type(s, &slices, types[i]);
    for (size_t i = 0; i < slices.n; i++) {
        struct str type = ((const struct api_endpoint_slice *)slices.v[i]->body)->address_type;
        size_t k = 0;
        while (k < n && !str_eq(type, types[k]))
            k++;
        if (k == n)
            send(s, REGISTRY_VERB_DELETE, slices.v[i]->meta->name, NULL);
    }
    tell_errors(s);
}

static void sync(void *self, struct work *w, const struct api_object *o) {
    struct slices *c = self;
    struct arena *a = work_arena(w);
    if (!service_pods__selects(o))
        return;
    struct sync *s = arena_new(a, struct sync);
    *s = (struct sync){.c = c,
                       .work = w,
                       .service = o,
                       .subject = manager__subject(w, o),
                       .pods = service_pods__find(c->pods, a, o)};
    s->trigger = trigger_times__look(c->times, o, &s->pods);
    port_numbers__begin(&s->numbers, a, o, c->base.manager->seed);
    if (are_ports_known(s))
        sync_service(s);
    else
        events_say(c->base.events, o, EVENTS_WARNING, "TooManyEndpoints",
                   "The service has more than %u ports in pods whose ports differ",
                   LIMIT_ENDPOINT_PAIRS);
    port_numbers__end(&s->numbers);
}

static void service_gone(void *self, struct work *w) {
    trigger_times__forget(((struct slices *)self)->times, work_namespace(w), work_name(w));
}

/* ---- what informers tell ---- */

static void enqueue(struct slices *c, const struct api_object *slice) {
    struct str service = endpoint__service_of(slice);
    if (service.n)
        workqueue_add_after(c->base.queue, slice->meta->namespace, service, SLICE_DELAY);
}

static void file(struct slices *c, const struct api_object *slice, bool is_ours) {
    struct label label = {ENDPOINT__SERVICE_NAME, endpoint__service_of(slice)};
    const struct labels under = {&label, 1};
    if (is_ours && label.value.n)
        labelled__set(c->by_service, slice, &under);
    else
        labelled__drop(c->by_service, slice);
}

static void slice_set(void *self, const struct api_object *old, const struct api_object *slice) {
    struct slices *c = self;
    bool is_ours = str_eq(endpoint__manager_of(slice), manager_name);
    bool was_ours = old && str_eq(endpoint__manager_of(old), manager_name);
    file(c, slice, is_ours);
    if (old && !str_eq(endpoint__service_of(old), endpoint__service_of(slice)))
        enqueue(c, old);
    if (is_ours || was_ours)
        enqueue(c, slice);
}

static void slice_deleted(void *self, const struct api_object *last) {
    struct slices *c = self;
    labelled__drop(c->by_service, last);
    if (str_eq(endpoint__manager_of(last), manager_name))
        enqueue(c, last);
}

/* ---- beginning and end ---- */

static void begin(void *self) {
    struct slices *c = self;
    c->by_service = labelled__new(c->base.manager->seed);
    c->times = trigger_times__new(c->base.manager->seed);
    c->pods = service_pods__join(c->base.manager, c->base.queue);
}

static void end(void *self) {
    struct slices *c = self;
    labelled__free(c->by_service);
    trigger_times__free(c->times);
}

const struct manager__controller manager__endpointslice = {
    .size = sizeof(struct slices),
    .component = "endpoint-slice-controller",
    .queues = {{"endpoint_slice", sync, .names = API_T_service, .gone = service_gone,
                .first_delay = FIRST_DELAY}},
    .kinds = {{API_T_node, .at = offsetof(struct slices, nodes)},
              {API_T_endpoint_slice, .set = slice_set, .deleted = slice_deleted}},
    .begin = begin,
    .end = end,
};
