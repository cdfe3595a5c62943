/*
 * VolumeZone: the zone and region labels of a pod's bound volumes must be those of the node, if the
 * node has any such label.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/framework/plugins/volumezone,
 * func (*VolumeZone) PreFilter, func (*VolumeZone) Filter.
 */
#include "sched/explain/explain_int.h"
#include "sched/volumes/state_int.h"

/* A label of volumes, and the one that newer nodes have in its place. */
static const struct {
    struct str key, newer;
} topology[] = {
    {STR_INIT("failure-domain.beta.kubernetes.io/zone"), STR_INIT("topology.kubernetes.io/zone")},
    {STR_INIT("failure-domain.beta.kubernetes.io/region"),
     STR_INIT("topology.kubernetes.io/region")},
    {STR_INIT("topology.kubernetes.io/zone"), STR_INIT("topology.kubernetes.io/zone")},
    {STR_INIT("topology.kubernetes.io/region"), STR_INIT("topology.kubernetes.io/region")},
};
enum { LABELS = sizeof topology / sizeof *topology };

/* A label of a volume: "a__b" is a or b. */
struct zone {
    const struct api_object *volume;
    int label; /* in `topology` */
    struct str values;
};

struct zones {
    struct zone *v;
    size_t n;
};

static void *compile(struct sched *s, struct sched__pod_class *c) {
    (void)s;
    for (size_t i = 0; i < c->pod->spec.volumes.n; i++)
        if (c->pod->spec.volumes.v[i].volume_source.persistent_volume_claim)
            return c;
    return NULL;
}

/* The next of "a__b", without white space around it. */
static bool next_value(struct str *rest, struct str *value) {
    if (!rest->p)
        return false;
    size_t at = str_find(*rest, STR("__"));
    *value = str_trim(str_sub(*rest, 0, at));
    *rest = at == STR_NONE ? (struct str){0} : str_sub(*rest, at + 2, rest->n);
    return true;
}

static bool has_empty_value(struct str values) {
    struct str value;
    while (next_value(&values, &value))
        if (!value.n)
            return true;
    return false;
}

static bool has_value(struct str values, struct str wanted) {
    struct str value;
    while (next_value(&values, &value))
        if (str_eq(value, wanted))
            return true;
    return false;
}

/* The label's value if it is one that counts, else absent. */
static struct str zone_of(const struct api_object *volume, int label) {
    const struct label *found = labels_find(&volume->meta->labels, topology[label].key);
    if (!found || !found->value.p || has_empty_value(found->value))
        return (struct str){0};
    return found->value;
}

/* ---- PreFilter ---- */

/* Why an unbound claim is in the way; absent: it waits for its first consumer. */
static struct str unbound_fault(struct sched__cycle *cy, const struct api_object *claim) {
    struct str name = api_claim_class(claim);
    if (!name.n)
        return STR("PersistentVolumeClaim had no pv name and storageClass name");
    const struct api_object *class =
        sched__store_find(cy->s, &cy->s->store.storage_classes, (struct str){0}, name);
    if (!class)
        return sched__not_found(cy->arena, "storageclass.storage.k8s.io", name);
    struct str mode = ((const struct api_storage_class *)class->body)->volume_binding_mode;
    if (!mode.p)
        return arena_printf(cy->arena, "VolumeBindingMode not set for StorageClass \"%.*s\"",
                            STR_ARG(name));
    return str_is(mode, "WaitForFirstConsumer") ? (struct str){0}
                                                : STR("PersistentVolume had no name");
}

static struct str add_zones(struct sched__cycle *cy, struct str claim_name, struct zones *out) {
    if (!claim_name.n)
        return STR("PersistentVolumeClaim had no name");
    const struct api_object *claim = sched__store_find(
        cy->s, &cy->s->store.claims, cy->cls->sample->meta->namespace, claim_name);
    if (!claim)
        return sched__not_found(cy->arena, "persistentvolumeclaim", claim_name);
    struct str name = sched__claim_body(claim)->spec.volume_name;
    if (!name.n)
        return unbound_fault(cy, claim);
    const struct api_object *volume =
        sched__store_find(cy->s, &cy->s->store.volumes, (struct str){0}, name);
    if (!volume)
        return sched__not_found(cy->arena, "persistentvolume", name);
    for (int i = 0; i < LABELS; i++) {
        struct str values = zone_of(volume, i);
        if (values.p)
            out->v[out->n++] = (struct zone){volume, i, values};
    }
    return (struct str){0};
}

/* The zones of the pod's volumes, read once in a cycle; *fault: why they cannot be. */
static const struct zones *read_zones(struct sched__cycle *cy, struct str *fault) {
    if (cy->data[SCHED_VOLUME_ZONE])
        return cy->data[SCHED_VOLUME_ZONE];
    const struct api_volume_list *volumes = &sched__pod_spec(cy->cls->sample)->volumes;
    struct zones *zones = arena_new(cy->arena, struct zones);
    zones->v = arena_array(cy->arena, struct zone, volumes->n * LABELS);
    cy->data[SCHED_VOLUME_ZONE] = zones;
    for (size_t i = 0; i < volumes->n && !fault->p; i++) {
        const struct api_persistent_volume_claim_volume_source *source =
            volumes->v[i].volume_source.persistent_volume_claim;
        if (source)
            *fault = add_zones(cy, source->claim_name, zones);
    }
    return zones;
}

/* The same after PreFilter found nothing wrong with them. */
static const struct zones *zones_of(struct sched__cycle *cy) {
    struct str fault = {0};
    return read_zones(cy, &fault);
}

static void pre_filter(struct sched__cycle *cy) {
    struct str fault = {0};
    read_zones(cy, &fault);
    if (fault.p)
        sched__prefilter_reject(cy, SCHED_VOLUME_ZONE, fault);
}

/* ---- Filter ---- */

static bool has_any_label(const struct labels *labels) {
    for (int i = 0; i < LABELS; i++)
        if (labels_find(labels, topology[i].key))
            return true;
    return false;
}

/* The node's label that is compared with that of the volume; NULL: it has none. */
static const struct label *find_label(const struct zone *z, const struct labels *labels) {
    const struct label *found = labels_find(labels, topology[z->label].key);
    return found ? found : labels_find(labels, topology[z->label].newer);
}

/* The first label of a volume that the node does not have; NULL: none. */
static const struct zone *find_mismatch(const struct zones *zones, const struct labels *labels) {
    if (!zones->n || !has_any_label(labels))
        return NULL;
    for (size_t i = 0; i < zones->n; i++) {
        const struct zone *z = &zones->v[i];
        const struct label *found = find_label(z, labels);
        if (!found || !has_value(z->values, found->value))
            return z;
    }
    return NULL;
}

static const struct labels *node_labels(const struct sched__cycle *cy, uint32_t slot) {
    return &cy->s->nodes.v[slot].object->meta->labels;
}

static void filter(struct sched__cycle *cy, uint32_t from, uint32_t to) {
    const struct zones *zones = zones_of(cy);
    if (!zones->n)
        return;
    for (uint32_t slot = from; slot < to; slot++)
        if (!cy->verdict[slot] && find_mismatch(zones, node_labels(cy, slot)))
            cy->verdict[slot] = SCHED__REASON_VOLUME_ZONE;
}

static void explain(struct sched__cycle *cy, uint32_t slot, struct sched__findings *out) {
    const struct labels *labels = node_labels(cy, slot);
    const struct zone *z = find_mismatch(zones_of(cy), labels);
    if (!z)
        return;
    const struct label *found = find_label(z, labels);
    sched__finding_start(out, found ? SCHED_FINDING_ZONE : SCHED_FINDING_NO_ZONE,
                         sched__field(SCHED_FIELD_VOLUMES));
    sched__finding_add(out, SCHED_OPERAND_VOLUME, sched__text(z->volume->meta->name));
    sched__finding_add(out, SCHED_OPERAND_SUBJECT, sched__text(topology[z->label].key));
    sched__finding_add(out, SCHED_OPERAND_RIGHT, sched__value(z->values));
    if (!found)
        return;
    sched__finding_add_of_node(out, SCHED_OPERAND_NODE_LABEL, sched__text(found->key));
    sched__finding_add_of_node(out, SCHED_OPERAND_LEFT, sched__value(found->value));
}

/* ---- queueing hints ---- */

static bool waits(const struct api_object *storage_class) {
    const struct api_storage_class *body = storage_class->body;
    return str_is(body->volume_binding_mode, "WaitForFirstConsumer");
}

static bool zones_differ(const struct api_object *a, const struct api_object *b) {
    for (int i = 0; i < LABELS; i++) {
        struct str x = zone_of(a, i), y = zone_of(b, i), value;
        if (!x.p != !y.p)
            return true;
        for (struct str rest = x; next_value(&rest, &value);)
            if (!has_value(y, value))
                return true;
        for (struct str rest = y; next_value(&rest, &value);)
            if (!has_value(x, value))
                return true;
    }
    return false;
}

static bool hint(struct sched *s, struct sched_pod *pod, const struct sched__event *event) {
    (void)s;
    if (event->bits & SCHED__STORAGE_CLASS_ADD)
        return waits(event->after);
    if (event->bits & (SCHED__CLAIM_ADD | SCHED__CLAIM_UPDATE))
        return sched__claim_is_of_pod(event->after, pod->cls->sample, false);
    if (event->bits & SCHED__VOLUME_UPDATE)
        return !event->before || zones_differ(event->before, event->after);
    return true;
}

const struct sched__plugin sched__volume_zone = {
    .scope = SCHED__SCOPE_NODE,
    .compile = compile,
    .pre_filter = pre_filter,
    .filter = filter,
    .explain = explain,
    .events = SCHED__STORAGE_CLASS_ADD | SCHED__NODE_ADD | SCHED__NODE_LABEL | SCHED__CLAIM_ADD |
              SCHED__CLAIM_UPDATE | SCHED__VOLUME_ADD | SCHED__VOLUME_UPDATE,
    .hint = hint,
};
