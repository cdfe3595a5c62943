/*
 * NodeVolumeLimits: how many volumes of a CSI driver a node can have attached, and whether it has
 * the driver at all.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/framework/plugins/nodevolumelimits,
 * func (*CSILimits) PreFilter, func (*CSILimits) Filter.
 */
#include "base/map.h"
#include "sched/findings_int.h"
#include "sched/volumes/state_int.h"

static bool is_attachable(const struct api_volume *volume) {
    const struct api_volume_source *source = &volume->volume_source;
    return source->persistent_volume_claim || source->ephemeral ||
           sched__migration_of_volume(volume);
}

static bool has_attachable(const struct api_volume_list *volumes) {
    for (size_t i = 0; i < volumes->n; i++)
        if (is_attachable(&volumes->v[i]))
            return true;
    return false;
}

static void *compile(struct sched *s, struct sched__pod_class *c) {
    (void)s;
    return has_attachable(&c->pod->spec.volumes) ? c : NULL;
}

/* ---- the pod that is being placed ---- */

/* The volumes that a node would have to attach, each once; they depend only on there being a
 * CSINode. Read when first asked for. */
struct wanted {
    struct sched__attachables volumes;
    bool known;
};

struct state {
    struct wanted wanted[2]; /* without and with a CSINode */
};

static struct state *state_of(struct sched__cycle *cy) {
    if (!cy->data[SCHED_VOLUME_LIMITS])
        cy->data[SCHED_VOLUME_LIMITS] = arena_new(cy->arena, struct state);
    return cy->data[SCHED_VOLUME_LIMITS];
}

static void drop_repeated(const struct sched *s, struct sched__attachables *volumes) {
    struct map seen = MAP_INIT(s->seed);
    size_t n = 0;
    for (size_t i = 0; i < volumes->n; i++)
        if (!map_put(&seen, volumes->v[i].key, volumes))
            volumes->v[n++] = volumes->v[i];
    volumes->n = n;
    map_release(&seen);
}

static const struct sched__attachables *wanted_of(struct sched__cycle *cy,
                                                  const struct api_object *csi_node) {
    struct wanted *wanted = &state_of(cy)->wanted[csi_node != NULL];
    if (wanted->known)
        return &wanted->volumes;
    struct sched__attach_opts opts = {.has_csi_node = csi_node, .is_new = true};
    wanted->volumes = sched__attachables(cy->s, cy->cls->sample, &opts, cy->arena);
    wanted->known = true;
    drop_repeated(cy->s, &wanted->volumes);
    return &wanted->volumes;
}

/* ---- Filter ---- */

/* What one node makes of the pod, and the figures it depends on. */
struct outcome {
    enum sched__reason reason;
    struct str driver, text; /* text: of reasons that have none of their own, or the error */
    size_t present, added;
    int64_t limit;
    bool error;
};

static const struct api_csi_node_driver *find_driver(const struct api_object *csi_node,
                                                     struct str name) {
    const struct api_csi_node *body = csi_node ? csi_node->body : NULL;
    for (size_t i = body ? body->spec.drivers.n : 0; i-- > 0;)
        if (str_eq(body->spec.drivers.v[i].name, name))
            return &body->spec.drivers.v[i];
    return NULL;
}

/* The driver's limit on the node, or -1; NULL: it is not there. */
static int64_t limit_in(const struct api_csi_node_driver *d) {
    return d && d->allocatable && d->allocatable->count.set ? d->allocatable->count.v : -1;
}

static bool has_limits(const struct api_object *csi_node) {
    const struct api_csi_node *body = csi_node ? csi_node->body : NULL;
    for (size_t i = 0; body && i < body->spec.drivers.n; i++)
        if (limit_in(&body->spec.drivers.v[i]) >= 0)
            return true;
    return false;
}

/* Is it a driver that pods are to be kept away for from nodes that lack it? */
static bool must_be_there(struct sched *s, struct str name) {
    const struct api_object *object =
        sched__store_find(s, &s->store.csi_drivers, (struct str){0}, name);
    const struct api_csi_driver *driver = object ? object->body : NULL;
    return driver && driver->spec.prevent_pod_scheduling_if_missing.set &&
           driver->spec.prevent_pod_scheduling_if_missing.v;
}

static void check_drivers(struct sched__cycle *cy, const struct sched__attachables *wanted,
                          const struct api_object *csi_node, struct outcome *out) {
    for (size_t i = 0; i < wanted->n; i++) {
        struct str driver = wanted->v[i].driver;
        if (!must_be_there(cy->s, driver) || find_driver(csi_node, driver))
            continue;
        out->reason = SCHED__REASON_NO_DRIVER;
        out->driver = driver;
        out->text = arena_printf(cy->arena, "%.*s CSI driver is not installed on the node",
                                 STR_ARG(driver));
        return;
    }
}

/* How many of the wanted volumes of a driver would be new on the node. */
struct driver_count {
    struct str driver;
    size_t added;
};

/* The counts of all drivers, in the order in which volumes want them. */
struct driver_counts {
    struct driver_count *v;
    size_t n;
    struct map by_driver;
};

static struct driver_count *count_of(struct driver_counts *all, struct str driver) {
    struct driver_count *c = map_get(&all->by_driver, driver);
    if (!c) {
        c = &all->v[all->n++];
        *c = (struct driver_count){.driver = driver};
        map_put(&all->by_driver, driver, c);
    }
    return c;
}

/* Volumes that pods of the node have are not attached once more; mere attachments are counted as
 * if they were, as upstream does. */
static struct driver_counts count_added(struct sched__cycle *cy,
                                        const struct sched__attachables *wanted,
                                        const struct sched__attached *there) {
    struct driver_counts all = {.by_driver = MAP_INIT(cy->s->seed)};
    all.v = arena_array(cy->arena, struct driver_count, wanted->n);
    for (size_t i = 0; i < wanted->n; i++)
        count_of(&all, wanted->v[i].driver)->added +=
            !sched__attached_by_pod(there, wanted->v[i].key);
    map_release(&all.by_driver);
    return all;
}

static void fail(struct str error, bool not_found, struct outcome *out) {
    out->reason = SCHED__REASON_LIMITS_NO_CLAIM;
    out->text = error;
    out->error = !not_found;
}

/* The counting itself, for a node with limits. */
static void check_limits(struct sched__cycle *cy, const struct sched__attachables *wanted,
                         uint32_t slot, struct outcome *out) {
    struct str error = sched__attached_error(cy->s, slot, cy->arena);
    if (error.p) {
        fail(error, false, out);
        return;
    }
    const struct sched__attached *there = sched__attached_get(cy->s, slot);
    struct driver_counts all = count_added(cy, wanted, there);
    for (size_t i = 0; i < all.n && !out->reason; i++) {
        const struct driver_count *c = &all.v[i];
        size_t present = sched__attached_count(there, c->driver);
        int64_t limit = limit_in(sched__attached_driver(there, c->driver));
        if (c->added && limit >= 0 && present + c->added > (size_t)limit)
            *out = (struct outcome){.reason = SCHED__REASON_VOLUME_LIMITS,
                                    .driver = c->driver,
                                    .present = present,
                                    .added = c->added,
                                    .limit = limit};
    }
}

static struct outcome check(struct sched__cycle *cy, uint32_t slot) {
    struct outcome out = {0};
    const struct api_object *csi_node = sched__csi_node(cy->s, slot);
    const struct sched__attachables *wanted = wanted_of(cy, csi_node);
    if (wanted->error.p)
        fail(wanted->error, wanted->not_found, &out);
    else if (feature_enabled(&cy->s->gates, FEATURE_VolumeLimitScaling))
        check_drivers(cy, wanted, csi_node, &out);
    if (!out.reason && wanted->n && has_limits(csi_node))
        check_limits(cy, wanted, slot, &out);
    return out;
}

static void filter(struct sched__cycle *cy, uint32_t from, uint32_t to) {
    for (uint32_t slot = from; slot < to; slot++) {
        if (cy->verdict[slot])
            continue;
        struct outcome out = check(cy, slot);
        cy->verdict[slot] = (uint8_t)out.reason;
        if (out.error)
            sched__filter_fail(cy, SCHED_VOLUME_LIMITS, out.text);
    }
}

static void reasons(struct sched__cycle *cy, uint32_t slot, struct sched_status *status) {
    struct outcome out = check(cy, slot);
    if (out.error)
        sched__filter_fail(cy, SCHED_VOLUME_LIMITS, out.text);
    else if (out.text.p)
        sched__status_add(cy, status, out.text);
}

static void explain(struct sched__cycle *cy, uint32_t slot, struct sched__findings *found) {
    struct outcome out = check(cy, slot);
    if (out.text.p) {
        sched__finding_start(found, SCHED_FINDING_MESSAGE, sched__field(SCHED_FIELD_VOLUMES));
        sched__finding_add_of_node(found, SCHED_OPERAND_DETAIL, sched__message(out.text));
    } else if (out.reason) {
        sched__finding_start(found, SCHED_FINDING_VOLUME_LIMIT, sched__field(SCHED_FIELD_VOLUMES));
        sched__finding_add(found, SCHED_OPERAND_SUBJECT, sched__text(out.driver));
        sched__finding_add_of_node(found, SCHED_OPERAND_LEFT,
                                   sched__number((int64_t)(out.present + out.added)));
        sched__finding_add_of_node(found, SCHED_OPERAND_RIGHT, sched__number(out.limit));
        sched__finding_add_of_node(found, SCHED_OPERAND_ATTACHED,
                                   sched__number((int64_t)out.present));
        sched__finding_add_of_node(found, SCHED_OPERAND_ADDED, sched__number((int64_t)out.added));
    }
}

/* ---- queueing hints ---- */

static bool limit_rose(const struct api_object *before, const struct api_object *after) {
    const struct api_csi_node_driver_list *was =
        &((const struct api_csi_node *)before->body)->spec.drivers;
    const struct api_csi_node_driver_list *is =
        &((const struct api_csi_node *)after->body)->spec.drivers;
    AUTO(map_release) struct map by_name = MAP_INIT(map_random_seed());
    for (size_t i = 0; i < was->n; i++)
        map_put_const(&by_name, was->v[i].name, &was->v[i]);
    for (size_t i = 0; i < is->n; i++) {
        const struct api_csi_node_driver *d = &is->v[i];
        int64_t new = d->allocatable && d->allocatable->count.set ? d->allocatable->count.v : 0;
        int64_t old = limit_in(map_get_const(&by_name, d->name));
        if (new > (old < 0 ? 0 : old))
            return true;
    }
    return false;
}

/* Could the pod have waited for this attachment to go? */
static bool waited_for(const struct api_object *pod, const struct api_object *deleted) {
    const struct api_volume_attachment *attachment = deleted->body;
    const struct api_volume_list *volumes = &sched__pod_spec(pod)->volumes;
    for (size_t i = 0; i < volumes->n; i++) {
        const struct sched__migration *m = sched__migration_of_volume(&volumes->v[i]);
        if (volumes->v[i].volume_source.persistent_volume_claim ||
            (m && str_eq(m->driver, attachment->spec.attacher)))
            return true;
    }
    return false;
}

static bool hint(struct sched *s, struct sched_pod *pod, const struct sched__event *event) {
    (void)s;
    if (event->bits & SCHED__CSI_NODE_UPDATE)
        return !event->before || limit_rose(event->before, event->after);
    if (event->bits & SCHED__ASSIGNED_POD_DELETE)
        return event->had_node && has_attachable(&sched__pod_spec(event->before)->volumes);
    if (event->bits & SCHED__CLAIM_ADD)
        return sched__claim_is_of_pod(event->after, pod->cls->sample, true);
    if (event->bits & SCHED__ATTACHMENT_DELETE)
        return waited_for(pod->cls->sample, event->before);
    return true;
}

const struct sched__plugin sched__node_volume_limits = {
    .scope = SCHED__SCOPE_NODE,
    .compile = compile,
    .filter = filter,
    .reasons = reasons,
    .explain = explain,
    .events = SCHED__CSI_NODE_ADD | SCHED__CSI_NODE_UPDATE | SCHED__ASSIGNED_POD_DELETE |
              SCHED__CLAIM_ADD | SCHED__ATTACHMENT_DELETE,
    .hint = hint,
};
