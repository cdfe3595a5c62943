/*
 * EndpointSlices of services without a selector, made of the Endpoints that somebody else writes.
 *
 * Follows k8s.io/kubernetes pkg/controller/endpointslicemirroring, func (*Controller)
 * syncEndpoints, func (*reconciler) reconcile.
 */
#include "base/clock.h"
#include "base/limits.h"
#include "controller/controller.h"
#include "manager/labelled_int.h"
#include "manager/pods_int.h"
#include "manager/services/endpoint_parts_int.h"
#include "manager/services/endpoint_subsets_int.h"
#include "valid/ip.h"

#define FIRST_DELAY CLOCK_SECOND
#define LEADER      STR("control-plane.alpha.kubernetes.io/leader")
#define APPLIED     STR("kubectl.kubernetes.io/last-applied-configuration")
#define MANAGED_BY  STR("endpointslice.kubernetes.io/managed-by")

/* So many addresses of a subset have a place in its slice. */
enum { MOST_MIRRORED = 1000 };

static const struct str manager_name = STR_INIT("endpointslicemirroring-controller.k8s.io");

struct mirror {
    struct manager__base base; /* keys: Endpoints */
    struct informer *services;
    struct labelled *by_service;
};

/* What a slice should have: endpoints of one family, with the same ports. */
struct image {
    struct str type;
    endpoint__ports ports;
    struct api_endpoint_list list;
    size_t room;
    struct map keys; /* endpoints by endpoint__key */
    const struct api_object *slice;
    bool is_wanted, is_right;
    struct image *next;
};

struct sync {
    struct mirror *c;
    struct work *work;
    const struct api_object *endpoints; /* only while it is decided */
    struct map images;                  /* struct image, by family and ports */
    struct image *first, **last;
    struct manager__objects spare; /* slices that are to be deleted */
    size_t invalid, skipped;
};

/* ---- what should be there ---- */

static struct image *image_of(struct sync *s, struct str type, const endpoint__ports *ports) {
    struct arena *a = work_arena(s->work);
    struct str key =
        arena_printf(a, "%.*s %.*s", STR_ARG(type), STR_ARG(endpoint__ports_key(a, ports)));
    struct image *image = map_get(&s->images, key);
    if (image)
        return image;
    image = arena_new(a, struct image);
    *image = (struct image){.type = type, .ports = *ports, .keys = MAP_INIT(s->images.seed)};
    map_put(&s->images, key, image);
    *s->last = image;
    s->last = &image->next;
    return image;
}

static endpoint__ports ports_of(struct arena *a, const struct api_endpoint_port_list *list) {
    endpoint__ports out = {arena_array(a, struct api_discovery_endpoint_port, list->n), list->n};
    for (size_t i = 0; i < list->n; i++)
        out.v[i] = (struct api_discovery_endpoint_port){.name = list->v[i].name.p ? list->v[i].name
                                                                                  : STR(""),
                                                        .protocol = list->v[i].protocol,
                                                        .port = {true, list->v[i].port},
                                                        .app_protocol = list->v[i].app_protocol};
    return out;
}

static void put(struct sync *s, struct image *image, const struct api_endpoint *e) {
    struct arena *a = work_arena(s->work);
    struct str key = endpoint__key(a, e);
    struct api_endpoint *known = map_get(&image->keys, key);
    if (known) {
        *known = *e;
        return;
    }
    if (image->list.n >= image->room)
        return;
    image->list.v[image->list.n] = *e;
    map_put(&image->keys, key, &image->list.v[image->list.n++]);
}

/* False: it is no address. */
static bool add_address(struct sync *s, const struct api_endpoint_address *from,
                        struct image *const images[2], bool is_ready) {
    struct arena *a = work_arena(s->work);
    struct ip ip = {0};
    if (!valid_ip_parse(from->ip, &ip))
        return false;
    struct api_endpoint e = {.addresses = {arena_new(a, struct str), 1},
                             .conditions.ready = {true, is_ready},
                             .target_ref = from->target_ref,
                             .node_name = from->node_name};
    *e.addresses.v = valid_ip_text(a, &ip);
    if (from->hostname.n)
        e.hostname = from->hostname;
    put(s, images[valid_ip_is_v6(&ip)], &e);
    return true;
}

static void add_list(struct sync *s, const struct api_endpoint_address_list *list,
                     struct image *const images[2], bool is_ready, size_t *added) {
    for (size_t i = 0; i < list->n && *added < MOST_MIRRORED; i++) {
        bool is_valid = add_address(s, &list->v[i], images, is_ready);
        *added += is_valid;
        s->invalid += !is_valid;
    }
}

/* No two subsets have the same ports: the addresses of the first are all that the image can get. */
static void begin_image(struct sync *s, struct image *image, size_t addresses) {
    if (image->is_wanted)
        return;
    image->is_wanted = true;
    image->room = addresses < MOST_MIRRORED ? addresses : MOST_MIRRORED;
    image->list.v = arena_array(work_arena(s->work), struct api_endpoint, image->room);
}

static void add_subset(struct sync *s, const struct api_endpoint_subset *subset) {
    endpoint__ports ports = ports_of(work_arena(s->work), &subset->ports);
    struct image *const images[] = {image_of(s, STR("IPv4"), &ports),
                                    image_of(s, STR("IPv6"), &ports)};
    size_t added = 0;
    for (size_t i = 0; i < 2; i++)
        begin_image(s, images[i], subset->addresses.n + subset->not_ready_addresses.n);
    add_list(s, &subset->addresses, images, true, &added);
    add_list(s, &subset->not_ready_addresses, images, false, &added);
    s->skipped += subset->addresses.n + subset->not_ready_addresses.n - added;
}

static void tell_skipped(struct sync *s) {
    if (s->invalid)
        events_say(s->c->base.events, s->endpoints, EVENTS_WARNING, "InvalidIPAddress",
                   "Skipped %zu invalid IP addresses when mirroring to EndpointSlices", s->invalid);
    if (s->skipped > s->invalid)
        events_say(s->c->base.events, s->endpoints, EVENTS_WARNING, "TooManyAddressesToMirror",
                   "A max of %d addresses can be mirrored to EndpointSlices per Endpoints subset. "
                   "%zu addresses were skipped",
                   MOST_MIRRORED, s->skipped);
}

/* Each slice gets all labels and annotations. If that is too much, there are no slices. */
static void check_size(struct sync *s) {
    const struct api_object_meta *meta = s->endpoints->meta;
    size_t each = endpoint__labels_size(&meta->labels) + endpoint__labels_size(&meta->annotations);
    size_t n = 0;
    for (const struct image *image = s->first; image; image = image->next)
        n += image->list.n > 0;
    if (n * each <= LIMIT_SLICE_LABEL_BYTES)
        return;
    for (struct image *image = s->first; image; image = image->next)
        image->list.n = 0;
    events_say(s->c->base.events, s->endpoints, EVENTS_WARNING, "TooManyLabelsToMirror",
               "%zu EndpointSlices would have more than %u bytes of labels and annotations. None "
               "were mirrored",
               n, LIMIT_SLICE_LABEL_BYTES);
}

static void read_endpoints(struct sync *s) {
    struct subset_pack pack;
    subset_pack__begin(&pack, work_arena(s->work), s->c->base.manager->seed);
    subset_pack__add_all(&pack, &((const struct api_endpoints *)s->endpoints->body)->subsets);
    struct api_endpoint_subset_list subsets;
    if (!subset_pack__end(&pack, &subsets))
        events_say(
            s->c->base.events, s->endpoints, EVENTS_WARNING, "TooManyAddressesToMirror",
            "No more than %u addresses at ports that are not the same for all of them can be "
            "mirrored to EndpointSlices. All were skipped",
            LIMIT_ENDPOINT_PAIRS);
    for (size_t i = 0; i < subsets.n; i++)
        add_subset(s, &subsets.v[i]);
    tell_skipped(s);
    check_size(s);
}

/* ---- what is there ---- */

/* All that a slice takes over of the annotations of Endpoints. */
static struct labels annotations_of(struct arena *a, const struct api_object *endpoints) {
    const struct labels *all = &endpoints->meta->annotations;
    struct labels out = {arena_array(a, struct label, all->n), 0};
    for (size_t i = 0; i < all->n; i++)
        if (!str_eq(all->v[i].key, ENDPOINT__TRIGGER_TIME) && !str_eq(all->v[i].key, APPLIED))
            out.v[out.n++] = all->v[i];
    return out;
}

static struct labels labels_of(struct arena *a, const struct api_object *endpoints) {
    struct labels out = endpoints->meta->labels;
    labels_put(a, &out, (struct label){ENDPOINT__SERVICE_NAME, endpoints->meta->name});
    labels_put(a, &out, (struct label){MANAGED_BY, manager_name});
    return out;
}

/* Does it name Endpoints of this name that are gone? */
static bool is_left_over(const struct api_object *slice, const struct api_object *endpoints) {
    const struct api_owner_reference_list *refs = &slice->meta->owner_references;
    for (size_t i = 0; i < refs->n; i++)
        if (str_is(refs->v[i].kind, "Endpoints") &&
            str_eq(refs->v[i].name, endpoints->meta->name) &&
            !str_eq(refs->v[i].uid, endpoints->meta->uid))
            return true;
    return false;
}

static bool is_right(struct sync *s, const struct image *image) {
    struct arena *a = work_arena(s->work);
    const struct api_endpoint_list *list =
        &((const struct api_endpoint_slice *)image->slice->body)->endpoints;
    struct labels labels = labels_of(a, s->endpoints);
    struct labels annotations = annotations_of(a, s->endpoints);
    if (list->n != image->list.n || !labels_equal(&labels, &image->slice->meta->labels) ||
        !labels_equal(&annotations, &image->slice->meta->annotations) ||
        is_left_over(image->slice, s->endpoints))
        return false;
    for (size_t i = 0; i < list->n; i++) {
        const struct api_endpoint *e = map_get(&image->keys, endpoint__key(a, &list->v[i]));
        if (!e || !endpoint__is_same(e, &list->v[i]))
            return false;
    }
    return true;
}

static struct manager__objects slices_of(const struct mirror *c, struct work *w) {
    const struct label label = {ENDPOINT__SERVICE_NAME, work_name(w)};
    struct manager__objects out = {
        arena_array(work_arena(w), const struct api_object *,
                    labelled__count(c->by_service, work_namespace(w), &label)),
        0};
    size_t at = 0;
    for (const struct api_object *o;
         (o = labelled__next(c->by_service, work_namespace(w), &label, &at));)
        out.v[out.n++] = o;
    return out;
}

/* The first slice of an image is its own; others are to be deleted. */
static void read_slices(struct sync *s) {
    struct manager__objects slices = slices_of(s->c, s->work);
    s->spare.v = arena_array(work_arena(s->work), const struct api_object *, slices.n);
    for (size_t i = 0; i < slices.n; i++) {
        const struct api_endpoint_slice *slice = slices.v[i]->body;
        struct image *image = image_of(s, slice->address_type, &slice->ports);
        if (!image->is_wanted || !image->list.n || image->slice)
            s->spare.v[s->spare.n++] = slices.v[i];
        else {
            image->slice = slices.v[i];
            image->is_right = is_right(s, image);
        }
    }
}

/* A slice of the image's family that would be deleted; or NULL. */
static const struct api_object *take_spare(struct sync *s, const struct image *image) {
    for (size_t i = 0; i < s->spare.n; i++) {
        const struct api_object *o = s->spare.v[i];
        if (!str_eq(((const struct api_endpoint_slice *)o->body)->address_type, image->type))
            continue;
        s->spare.v[i] = s->spare.v[--s->spare.n];
        return o;
    }
    return NULL;
}

/* ---- writing ---- */

static struct api_object *object_of(struct sync *s, const struct image *image) {
    struct api_object *o = image->slice ? api_object_derive(image->slice)
                                        : api_object_new(client_kind(API_T_endpoint_slice));
    struct api_endpoint_slice *body = api_own_body(o), copy;
    struct arena *a = work_arena(s->work);
    const struct api_endpoint_slice from = {.metadata.labels = labels_of(a, s->endpoints),
                                            .metadata.annotations = annotations_of(a, s->endpoints),
                                            .address_type = image->type,
                                            .endpoints = image->list,
                                            .ports = image->ports};
    api_struct_copy(&o->arena, &api_types[API_T_endpoint_slice], &from, &copy);
    body->metadata.labels = copy.metadata.labels;
    body->metadata.annotations = copy.metadata.annotations;
    body->address_type = copy.address_type;
    body->endpoints = copy.endpoints;
    body->ports = copy.ports;
    controller_owner_set(o, s->endpoints);
    body->metadata.namespace = arena_str(&o->arena, s->endpoints->meta->namespace);
    if (!image->slice)
        body->metadata.generate_name = manager__pod_prefix(&o->arena, s->endpoints->meta->name);
    return o;
}

static void write_image(struct sync *s, struct image *image) {
    if (!image->list.n || image->is_right)
        return;
    if (!image->slice)
        image->slice = take_spare(s, image);
    if (!image->slice && s->endpoints->meta->deletion_timestamp.set)
        return;
    if (image->slice)
        work_update(s->work, object_of(s, image), NULL, NULL, NULL);
    else
        work_create(s->work, object_of(s, image), manager__created, NULL);
}

static void delete_slices(struct work *w, const struct manager__objects *slices) {
    for (size_t i = 0; i < slices->n; i++)
        work_delete(w, slices->v[i], NULL, NULL, NULL);
}

/* ---- one object of Endpoints ---- */

static bool is_mirrored(const struct api_object *endpoints) {
    const struct label *skip =
        labels_find(&endpoints->meta->labels, STR("endpointslice.kubernetes.io/skip-mirror"));
    return !(skip && str_is(skip->value, "true")) &&
           !labels_find(&endpoints->meta->annotations, LEADER);
}

static bool has_selector(const struct api_object *service) {
    return ((const struct api_service *)service->body)->spec.selector.n;
}

static void sync_endpoints(struct sync *s) {
    read_endpoints(s);
    read_slices(s);
    for (struct image *image = s->first; image; image = image->next)
        write_image(s, image);
    delete_slices(s->work, &s->spare);
    for (struct image *image = s->first; image; image = image->next)
        map_release(&image->keys);
    map_release(&s->images);
}

static void endpoints_gone(void *self, struct work *w) {
    struct manager__objects all = slices_of(self, w);
    delete_slices(w, &all);
}

static void sync(void *self, struct work *w, const struct api_object *o) {
    struct mirror *c = self;
    const struct api_object *service = informer_get(c->services, work_namespace(w), work_name(w));
    if (!is_mirrored(o) || !service || has_selector(service)) {
        endpoints_gone(c, w);
        return;
    }
    struct sync s = {.c = c, .work = w, .endpoints = o, .images = MAP_INIT(c->base.manager->seed)};
    s.last = &s.first;
    sync_endpoints(&s);
}

/* ---- what informers tell ---- */

static void service_set(void *self, const struct api_object *old, const struct api_object *o) {
    if (old ? has_selector(old) != has_selector(o) : !has_selector(o))
        manager__add_set(self, old, o);
}

static void service_deleted(void *self, const struct api_object *last) {
    if (!has_selector(last))
        manager__add_deleted(self, last);
}

static void endpoints_set(void *self, const struct api_object *old, const struct api_object *o) {
    if (is_mirrored(o) || (old && is_mirrored(old)))
        manager__add_set(self, old, o);
}

static void endpoints_deleted(void *self, const struct api_object *last) {
    if (is_mirrored(last))
        manager__add_deleted(self, last);
}

static void enqueue(struct mirror *c, const struct api_object *slice) {
    struct str service = endpoint__service_of(slice);
    if (service.n)
        workqueue_add(c->base.queue, slice->meta->namespace, service);
}

static void slice_set(void *self, const struct api_object *old, const struct api_object *slice) {
    struct mirror *c = self;
    struct label label = {ENDPOINT__SERVICE_NAME, endpoint__service_of(slice)};
    const struct labels under = {&label, 1};
    bool is_ours = str_eq(endpoint__manager_of(slice), manager_name);
    bool was_ours = old && str_eq(endpoint__manager_of(old), manager_name);
    if (is_ours && label.value.n)
        labelled__set(c->by_service, slice, &under);
    else
        labelled__drop(c->by_service, slice);
    if (was_ours && !str_eq(endpoint__service_of(old), label.value))
        enqueue(c, old);
    if (is_ours || was_ours)
        enqueue(c, slice);
}

static void slice_deleted(void *self, const struct api_object *last) {
    struct mirror *c = self;
    labelled__drop(c->by_service, last);
    if (str_eq(endpoint__manager_of(last), manager_name))
        enqueue(c, last);
}

/* ---- beginning and end ---- */

static void begin(void *self) {
    struct mirror *c = self;
    c->by_service = labelled__new(c->base.manager->seed);
}

static void end(void *self) {
    labelled__free(((struct mirror *)self)->by_service);
}

const struct manager__controller manager__endpointslice_mirroring = {
    .size = sizeof(struct mirror),
    .component = "endpoint-slice-mirroring-controller",
    .queues = {{"endpoint_slice_mirroring", sync, .names = API_T_endpoints, .gone = endpoints_gone,
                .first_delay = FIRST_DELAY}},
    .kinds = {{API_T_service, .at = offsetof(struct mirror, services), .set = service_set,
               .deleted = service_deleted},
              {API_T_endpoints, .set = endpoints_set, .deleted = endpoints_deleted},
              {API_T_endpoint_slice, .set = slice_set, .deleted = slice_deleted}},
    .begin = begin,
    .end = end,
};
