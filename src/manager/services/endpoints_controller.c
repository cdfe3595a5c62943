/*
 * Endpoints of services that select pods.
 *
 * Follows k8s.io/kubernetes pkg/controller/endpoint, func (*Controller) syncService.
 */
#include "base/limits.h"
#include "manager/pods_int.h"
#include "manager/services/endpoint_parts_int.h"
#include "manager/services/endpoint_subsets_int.h"
#include "manager/services/port_numbers_int.h"
#include "manager/services/service_pods_int.h"
#include "manager/services/trigger_times_int.h"
#include "valid/ip.h"

#define MANAGED_BY    STR("endpoints.kubernetes.io/managed-by")
#define MANAGER       STR("endpoint-controller")
#define OVER_CAPACITY STR("endpoints.kubernetes.io/over-capacity")
#define LEADER        STR("control-plane.alpha.kubernetes.io/leader")

struct endpoints {
    struct manager__base base; /* keys: services */
    struct informer *endpoints;
    struct service_pods *pods;
    struct trigger_times *times;
};

/* ---- what should be there ---- */

static bool wants_v6(const struct api_object *service, const struct api_object *pod) {
    const struct api_service_spec *spec = &((const struct api_service *)service->body)->spec;
    if (spec->ip_families.n)
        return str_is(spec->ip_families.v[0], "IPv6");
    return valid_ip_is_v6_text(endpoint__is_headless(service)
                                   ? ((const struct api_pod *)pod->body)->status.pod_ip
                                   : spec->cluster_ip);
}

/* The address of a pod for a service; NULL: it has none of the service's family. */
static const struct api_endpoint_address *
address_of(struct arena *a, const struct api_object *service, const struct api_object *pod) {
    struct api_strs all = endpoint__addresses(a, pod, wants_v6(service, pod));
    struct str node = ((const struct api_pod *)pod->body)->spec.node_name;
    if (!all.n)
        return NULL;
    struct api_endpoint_address *address = arena_new(a, struct api_endpoint_address);
    *address = (struct api_endpoint_address){.ip = all.v[0],
                                             .node_name = node.p ? node : STR(""),
                                             .target_ref = endpoint__pod_ref(a, pod)};
    if (endpoint__has_hostname(pod, service))
        address->hostname = ((const struct api_pod *)pod->body)->spec.hostname;
    return address;
}

/* The service's ports that pods with this answer have. */
static struct port_list *ports_of(struct subset_pack *pack, const struct port_numbers *numbers,
                                  struct port_answer *answer) {
    const struct api_service_port_list *all = numbers->ports;
    struct api_endpoint_port_list out = {arena_array(pack->arena, struct api_endpoint_port, all->n),
                                         0};
    if (answer->use)
        return answer->use;
    for (size_t i = 0; i < all->n; i++)
        if (answer->v[i] >= 0)
            out.v[out.n++] = (struct api_endpoint_port){.name = all->v[i].name,
                                                        .protocol = all->v[i].protocol,
                                                        .port = answer->v[i],
                                                        .app_protocol = all->v[i].app_protocol};
    answer->use = subset_pack__ports(pack, &out);
    return answer->use;
}

/* False: there are too many ports. */
static bool add_pod(struct subset_pack *pack, struct port_numbers *numbers,
                    const struct api_object *service, const struct api_object *pod) {
    const struct api_service_spec *spec = &((const struct api_service *)service->body)->spec;
    const struct api_endpoint_address *address = address_of(pack->arena, service, pod);
    bool may_lack_ports = !spec->ports.n && str_is(spec->cluster_ip, "None");
    if (!address)
        return true;
    struct port_answer *answer = port_numbers__of(numbers, pod);
    if (answer && (answer->n || may_lack_ports))
        subset_pack__add(pack, ports_of(pack, numbers, answer), address,
                         spec->publish_not_ready_addresses || manager__pod_is_ready(pod));
    return answer;
}

/* False: too many. */
static bool find_subsets(const struct endpoints *c, struct arena *a,
                         const struct api_object *service, const struct manager__objects *pods,
                         struct api_endpoint_subset_list *out) {
    const struct api_service *body = service->body;
    struct subset_pack pack;
    struct port_numbers numbers;
    bool is_good = true;
    subset_pack__begin(&pack, a, c->base.manager->seed);
    port_numbers__begin(&numbers, a, service, c->base.manager->seed);
    for (size_t i = 0; i < pods->n && is_good; i++)
        if (endpoint__has_pod(pods->v[i], body->spec.publish_not_ready_addresses))
            is_good = add_pod(&pack, &numbers, service, pods->v[i]);
    port_numbers__end(&numbers);
    return subset_pack__end(&pack, out) && is_good;
}

static struct labels labels_of(struct arena *a, const struct api_object *service) {
    struct labels out = service->meta->labels;
    if (endpoint__is_headless(service))
        labels_put(a, &out, (struct label){ENDPOINT__HEADLESS, STR("")});
    else
        labels_remove(a, &out, ENDPOINT__HEADLESS);
    labels_put(a, &out, (struct label){MANAGED_BY, MANAGER});
    return out;
}

/* ---- what is there ---- */

/* Are they the service's, but for whether it is headless? */
static bool has_labels(const struct labels *labels, const struct labels *service) {
    const struct label *by = labels_find(labels, MANAGED_BY);
    size_t own = 0;
    if (!by || !str_eq(by->value, MANAGER))
        return false;
    for (size_t i = 0; i < labels->n; i++) {
        const struct label *l = &labels->v[i];
        if (str_eq(l->key, ENDPOINT__HEADLESS) || str_eq(l->key, MANAGED_BY))
            continue;
        const struct label *wanted = labels_find(service, l->key);
        if (!wanted || !str_eq(wanted->value, l->value))
            return false;
        own++;
    }
    return own == service->n;
}

static bool is_right(const struct endpoints *c, struct arena *a, const struct api_object *o,
                     const struct api_object *service,
                     const struct api_endpoint_subset_list *subsets) {
    const struct api_endpoints *body = o->body;
    struct subset_pack pack;
    if (!has_labels(&o->meta->labels, &service->meta->labels) ||
        subsets__count(&body->subsets) > ENDPOINT_MOST_ADDRESSES ||
        labels_find(&o->meta->annotations, OVER_CAPACITY))
        return false;
    subset_pack__begin(&pack, a, c->base.manager->seed);
    subset_pack__add_all(&pack, &body->subsets);
    struct api_endpoint_subset_list packed;
    return subset_pack__end(&pack, &packed) && subsets__are_equal(&packed, subsets);
}

/* ---- writing ---- */

static void fill(struct api_object *draft, const struct api_object *service,
                 struct api_endpoint_subset_list *subsets, struct api_time trigger) {
    struct api_endpoints *body = api_own_body(draft), copy;
    struct arena scratch = {0};
    bool is_cut = subsets__truncate(subsets);
    const struct api_endpoints from = {.metadata.labels = labels_of(&scratch, service),
                                       .subsets = *subsets};
    api_struct_copy(&draft->arena, &api_types[API_T_endpoints], &from, &copy);
    body->subsets = copy.subsets;
    body->metadata.labels = copy.metadata.labels;
    arena_release(&scratch);
    endpoint__set_trigger_time(draft, trigger);
    if (is_cut)
        labels_put(&draft->arena, &body->metadata.annotations,
                   (struct label){OVER_CAPACITY, STR("truncated")});
    else
        labels_remove(&draft->arena, &body->metadata.annotations, OVER_CAPACITY);
}

struct writing {
    struct endpoints *c;
    bool is_new;
};

static void written(void *arg, struct work *w, const struct client_answer *answer) {
    const struct writing *x = arg;
    const struct events_subject subject = {client_kind(API_T_endpoints), work_namespace(w),
                                           work_name(w), STR("")};
    if (!answer->code || (x->is_new && manager__namespace_goes(answer)))
        return;
    if (x->is_new)
        events_say_of(x->c->base.events, &subject, EVENTS_WARNING, "FailedToCreateEndpoint",
                      "Failed to create endpoint for service %.*s/%.*s: %.*s",
                      STR_ARG(work_namespace(w)), STR_ARG(work_name(w)), STR_ARG(answer->message));
    else
        events_say_of(x->c->base.events, &subject, EVENTS_WARNING, "FailedToUpdateEndpoint",
                      "Failed to update endpoint %.*s/%.*s: %.*s", STR_ARG(work_namespace(w)),
                      STR_ARG(work_name(w)), STR_ARG(answer->message));
    work_fail_by(w, answer);
}

static struct api_object *new_endpoints(const struct api_object *service) {
    struct api_object *o = api_object_new(client_kind(API_T_endpoints));
    api_own_meta(o)->namespace = arena_str(&o->arena, service->meta->namespace);
    api_own_meta(o)->name = arena_str(&o->arena, service->meta->name);
    return o;
}

static void sync_service(struct endpoints *c, struct work *w, const struct api_object *service) {
    struct arena *a = work_arena(w);
    const struct api_object *o = informer_get(c->endpoints, work_namespace(w), work_name(w));
    struct manager__objects pods = service_pods__find(c->pods, a, service);
    struct api_time trigger = trigger_times__look(c->times, service, &pods);
    struct api_endpoint_subset_list subsets;
    if (!find_subsets(c, a, service, &pods, &subsets)) {
        events_say(c->base.events, service, EVENTS_WARNING, "TooManyEndpoints",
                   "The pods of the service have more than %u addresses at ports that are not the "
                   "same for all of them",
                   LIMIT_ENDPOINT_PAIRS);
        return;
    }
    if (o && is_right(c, a, o, service, &subsets))
        return;
    struct api_object *draft = o ? api_object_derive(o) : new_endpoints(service);
    struct writing *x = arena_new(a, struct writing);
    *x = (struct writing){c, !o};
    fill(draft, service, &subsets, trigger);
    if (o)
        work_update(w, draft, NULL, written, x);
    else
        work_create(w, draft, written, x);
}

static void sync(void *self, struct work *w, const struct api_object *service) {
    if (service_pods__selects(service))
        sync_service(self, w, service);
}

static void service_gone(void *self, struct work *w) {
    struct endpoints *c = self;
    const struct api_object *o = informer_get(c->endpoints, work_namespace(w), work_name(w));
    trigger_times__forget(c->times, work_namespace(w), work_name(w));
    if (o)
        work_delete(w, o, NULL, NULL, NULL);
}

/* ---- what informers tell ---- */

/* What is there when the controller begins may have lost its service meanwhile. */
static void endpoints_set(void *self, const struct api_object *old, const struct api_object *o) {
    struct endpoints *c = self;
    if (!old && !informer_has_synced(c->endpoints) && !labels_find(&o->meta->annotations, LEADER))
        manager__add_set(self, old, o);
}

/* ---- beginning and end ---- */

static void begin(void *self) {
    struct endpoints *c = self;
    c->times = trigger_times__new(c->base.manager->seed);
    c->pods = service_pods__join(c->base.manager, c->base.queue);
}

static void end(void *self) {
    trigger_times__free(((struct endpoints *)self)->times);
}

const struct manager__controller manager__endpoints = {
    .size = sizeof(struct endpoints),
    .component = "endpoint-controller",
    .queues = {{"endpoint", sync, .names = API_T_service, .gone = service_gone}},
    .kinds = {{API_T_endpoints, .at = offsetof(struct endpoints, endpoints), .set = endpoints_set,
               .deleted = manager__add_deleted}},
    .begin = begin,
    .end = end,
};
