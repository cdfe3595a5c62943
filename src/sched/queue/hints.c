/*
 * From a change of an object to what it may mean for pods that wait: the bits that plug-ins
 * register. As with upstream's event handlers, one change may be several events, and a change that
 * no plug-in could care for is none.
 *
 * Follows k8s.io/kubernetes pkg/scheduler, func addAllEventHandlers.
 * Follows k8s.io/kubernetes pkg/scheduler/framework, func NodeSchedulingPropertiesChange,
 * func PodSchedulingPropertiesChange.
 */
#include <stdlib.h>

#include "base/map.h"
#include "sched/queue/queue_int.h"
#include "sched/requests.h"

const struct sched__event_row sched__event_rows[SCHED__EVENT_COUNT] = {
#define EVENT(id, is_own, event_bit, text) {STR_INIT(text), event_bit, is_own},
#include "sched/events.def"
#undef EVENT
};

struct sched__event sched__event_as_seen(const struct sched__event *event) {
    struct sched__event e = *event;
    if (e.bits & SCHED__ASSIGNED_POD_ADD)
        e.before = NULL;
    if (e.bits & SCHED__ASSIGNED_POD_DELETE)
        e.after = NULL;
    return e;
}

/* ---- comparing ---- */

static bool same_quantities(const struct api_quantities *a, const struct api_quantities *b) {
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (!str_eq(a->v[i].key, b->v[i].key) || quantity_cmp(&a->v[i].value, &b->v[i].value) != 0)
            return false;
    return true;
}

static bool same_time(const struct api_time *a, const struct api_time *b) {
    return a->set == b->set && (!a->set || (a->sec == b->sec && a->nsec == b->nsec));
}

bool sched__taints_equal(const struct api_taint_list *a, const struct api_taint_list *b) {
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++) {
        const struct api_taint *x = &a->v[i], *y = &b->v[i];
        if (!str_eq(x->key, y->key) || !str_eq(x->value, y->value) ||
            !str_eq(x->effect, y->effect) || !same_time(&x->time_added, &y->time_added))
            return false;
    }
    return true;
}

static bool are_equal(const struct api_node_condition *x, const struct api_node_condition *y) {
    return str_eq(x->type, y->type) && str_eq(x->status, y->status);
}

static struct map conditions_by_type(const struct api_node_condition_list *list, uint64_t seed) {
    struct map all = MAP_INIT(seed);
    for (size_t i = 0; i < list->n; i++)
        map_put_const(&all, list->v[i].type, &list->v[i]);
    return all;
}

static bool same_maps(const struct map *a, const struct map *b) {
    size_t at = 0;
    if (a->live != b->live)
        return false;
    for (const struct map_entry *e; (e = map_next(a, &at));) {
        const struct api_node_condition *other = map_get_const(b, e->key);
        if (!other || !are_equal(e->const_value, other))
            return false;
    }
    return true;
}

/* The same types with the same statuses? Of a type that is there twice the last one counts. */
static bool same_conditions(const struct api_node_condition_list *a,
                            const struct api_node_condition_list *b) {
    size_t same = 0;
    while (same < a->n && same < b->n && are_equal(&a->v[same], &b->v[same]))
        same++;
    if (same == a->n && same == b->n)
        return true;
    uint64_t seed = map_random_seed();
    AUTO(map_release) struct map x = conditions_by_type(a, seed);
    AUTO(map_release) struct map y = conditions_by_type(b, seed);
    return same_maps(&x, &y);
}

/* ---- nodes ---- */

bool sched__strs_equal(const struct api_strs *a, const struct api_strs *b) {
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (!str_eq(a->v[i], b->v[i]))
            return false;
    return true;
}

static uint32_t node_bits(const struct api_object *before, const struct api_object *after) {
    if (!before)
        return SCHED__NODE_ADD;
    if (!after)
        return SCHED__NODE_DELETE;
    const struct api_node *a = before->body, *b = after->body;
    uint32_t bits = 0;
    if ((a->spec.unschedulable && !b->spec.unschedulable) ||
        !sched__taints_equal(&a->spec.taints, &b->spec.taints))
        bits |= SCHED__NODE_TAINT;
    if (!labels_equal(&a->metadata.labels, &b->metadata.labels))
        bits |= SCHED__NODE_LABEL;
    if (!same_quantities(&a->status.allocatable, &b->status.allocatable))
        bits |= SCHED__NODE_ALLOCATABLE;
    if (!same_conditions(&a->status.conditions, &b->status.conditions))
        bits |= SCHED__NODE_CONDITION;
    if (!sched__strs_equal(&a->status.declared_features, &b->status.declared_features))
        bits |= SCHED__NODE_FEATURES;
    return bits;
}

/* ---- pods ---- */

static int by_name(const void *x, const void *y) {
    return str_cmp(((const struct sched_request *)x)->name,
                   ((const struct sched_request *)y)->name);
}

/* The requests are sorted by name. */
static int64_t amount(const struct sched_requests *requests, struct str name) {
    const struct sched_request wanted = {.name = name};
    const struct sched_request *found =
        requests->n ? bsearch(&wanted, requests->v, requests->n, sizeof wanted, by_name) : NULL;
    return found ? found->amount : 0;
}

static bool less_of_any(const struct sched_requests *a, const struct sched_requests *b) {
    for (size_t i = 0; i < a->n; i++)
        if (amount(b, a->v[i].name) < a->v[i].amount)
            return true;
    return false;
}

struct scaling {
    bool down, up; /* of one resource, and of another */
};

/* Upstream's events count requests of the pod as a whole whatever the gate says. */
static struct sched_requests requests_of(struct sched *s, const struct api_pod *pod) {
    struct feature_set gates = s->gates;
    struct sched_requests out;
    feature_set_put(&gates, FEATURE_PodLevelResources, true);
    sched_requests_get(&s->scratch, pod, &gates, SCHED_REQUESTS_RESIZE, &out);
    return out;
}

static struct scaling scaling(struct sched *s, const struct api_pod *a, const struct api_pod *b) {
    struct sched_requests before = requests_of(s, a), after = requests_of(s, b);
    struct scaling out = {less_of_any(&before, &after), less_of_any(&after, &before)};
    arena_reset(&s->scratch);
    return out;
}

bool sched__pod_makes_room(struct sched *s, const struct api_pod *before,
                           const struct api_pod *after, const struct api_pod *waiting) {
    struct sched_requests had = requests_of(s, before), has = requests_of(s, after);
    struct sched_requests wants = requests_of(s, waiting);
    bool less = false;
    for (size_t i = 0; !less && i < wants.n; i++)
        less = amount(&had, wants.v[i].name) > amount(&has, wants.v[i].name);
    arena_reset(&s->scratch);
    return less;
}

uint32_t sched__own_bits(struct sched *s, const struct sched_pod *before,
                         const struct sched_pod *after) {
    const struct api_pod *a = before->cls->pod, *b = after->cls->pod;
    uint32_t bits = 0;
    if (!labels_equal(&a->metadata.labels, &b->metadata.labels))
        bits |= SCHED__POD_LABEL;
    if (scaling(s, a, b).down)
        bits |= SCHED__POD_SCALE_DOWN;
    if (a->spec.scheduling_gates.n && !b->spec.scheduling_gates.n)
        bits |= SCHED__POD_GATES;
    if (before->tolerations != after->tolerations)
        bits |= SCHED__POD_TOLERATION;
    return bits;
}

uint32_t sched__pod_bits(struct sched *s, const struct sched_pod *before,
                         const struct sched_pod *after) {
    const uint32_t others_care = SCHED__POD_LABEL | SCHED__POD_SCALE_DOWN;
    if (!before)
        return SCHED__ASSIGNED_POD_ADD;
    uint32_t bits = sched__own_bits(s, before, after);
    bool specific = bits || scaling(s, before->cls->pod, after->cls->pod).up;
    return specific ? bits & others_care : SCHED__ASSIGNED_POD_UPDATE;
}

/* ---- namespaces ---- */

static uint32_t namespace_bits(const struct api_object *before, const struct api_object *after) {
    if (!after)
        return 0;
    if (before && labels_equal(&before->meta->labels, &after->meta->labels))
        return 0;
    return SCHED__NAMESPACE_LABEL;
}

/* ---- by kind ---- */

static const struct kind {
    const char *group, *kind;
    uint32_t (*bits)(const struct api_object *before, const struct api_object *after);
    uint32_t added, changed, removed; /* if there is no function */
} kinds[] = {
    {"", "Node", node_bits, 0, 0, 0},
    {"", "Namespace", namespace_bits, 0, 0, 0},
    {"", "PersistentVolumeClaim", NULL, SCHED__CLAIM_ADD, SCHED__CLAIM_UPDATE, 0},
    {"", "PersistentVolume", NULL, SCHED__VOLUME_ADD, SCHED__VOLUME_UPDATE, 0},
    {"storage.k8s.io", "StorageClass", NULL, SCHED__STORAGE_CLASS_ADD, SCHED__STORAGE_CLASS_UPDATE,
     0},
    {"storage.k8s.io", "CSINode", NULL, SCHED__CSI_NODE_ADD, SCHED__CSI_NODE_UPDATE, 0},
    {"storage.k8s.io", "CSIDriver", NULL, 0, SCHED__CSI_DRIVER, 0},
    {"storage.k8s.io", "CSIStorageCapacity", NULL, SCHED__CAPACITY, SCHED__CAPACITY, 0},
    {"storage.k8s.io", "VolumeAttachment", NULL, 0, 0, SCHED__ATTACHMENT_DELETE},
};

static struct str group_of(struct str api_version) {
    struct str group, version;
    return str_cut(api_version, '/', &group, &version) ? group : STR("");
}

uint32_t sched__event_bits(const struct api_object *before, const struct api_object *after) {
    const struct api_type_meta *names = (after ? after : before)->names;
    struct str group = group_of(names->api_version);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct kind *k = &kinds[i];
        if (!str_is(names->kind, k->kind) || !str_is(group, k->group))
            continue;
        if (k->bits)
            return k->bits(before, after);
        return !before ? k->added : after ? k->changed : k->removed;
    }
    return 0;
}
