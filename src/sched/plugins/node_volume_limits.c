/*
 * NodeVolumeLimits: how many volumes of a CSI driver a node can have attached, and whether it has
 * the driver at all.
 */
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

static void *compile(struct sched *s, struct sched__class *c) {
    (void)s;
    return has_attachable(&c->pod->spec.volumes) ? c->sample : NULL;
}

/* ---- which volumes a pod has attached ---- */

/* Volumes by "driver/handle"; the value is the driver's name, which is not terminated. */
struct attached {
    struct sched__cycle *cy;
    const struct api_object *csi_node; /* NULL: none */
    struct map volumes;                /* struct str: the driver */
    struct str error;                  /* absent: none */
    bool not_found;                    /* the error is a claim that is not there */
};

static void add(struct attached *out, struct str driver, struct str handle) {
    if (!driver.n || !handle.n)
        return;
    struct arena *a = out->cy->arena;
    struct str *value = arena_new(a, struct str);
    *value = driver;
    map_put(&out->volumes, arena_printf(a, "%.*s/%.*s", STR_ARG(driver), STR_ARG(handle)), value);
}

/* A claim without a volume counts for the driver of its class, as a volume of its own. */
static void add_by_class(struct attached *out, const struct api_object *claim) {
    struct str name = sched__claim_class(claim);
    const struct api_object *class =
        name.n ? sched__store_find(out->cy->s, &out->cy->s->store.storage_classes, (struct str){0},
                                   name)
               : NULL;
    if (!class)
        return;
    struct str driver = ((const struct api_storage_class *)class->body)->provisioner;
    const struct sched__migration *m = sched__migration_of_plugin(driver);
    if (m && (!m->on || !out->csi_node))
        return;
    struct str handle = arena_printf(out->cy->arena, "(unbound)-%.*s/%.*s",
                                     STR_ARG(claim->meta->namespace), STR_ARG(claim->meta->name));
    add(out, m ? m->driver : driver, handle);
}

static void add_volume(struct attached *out, const struct api_object *volume) {
    const struct api_persistent_volume *pv = volume->body;
    const struct api_csi_persistent_volume_source *csi = pv->spec.persistent_volume_source.csi;
    if (csi) {
        add(out, csi->driver, csi->volume_handle);
        return;
    }
    const struct sched__migration *m = sched__migration_of_pv(pv);
    struct str handle, error = {0};
    if (m && m->on && out->csi_node &&
        sched__migration_handle_pv(out->cy->arena, volume, &handle, &error) == 0)
        add(out, m->driver, handle);
}

static void add_claim(struct attached *out, const struct api_object *claim) {
    struct str name = sched__claim_body(claim)->spec.volume_name;
    const struct api_object *volume =
        name.n ? sched__store_find(out->cy->s, &out->cy->s->store.volumes, (struct str){0}, name)
               : NULL;
    if (volume)
        add_volume(out, volume);
    else
        add_by_class(out, claim);
}

/* A volume that is no claim. */
static void add_inline(struct attached *out, const struct api_volume *volume) {
    const struct sched__migration *m = sched__migration_of_volume(volume);
    if (!m || !m->on || !out->csi_node)
        return;
    struct str handle, error = {0};
    if (sched__migration_handle_volume(out->cy->arena, volume, &handle, &error) == 0)
        add(out, m->driver, handle);
    else
        out->error =
            arena_printf(out->cy->arena, "converting volume(%.*s) from inline to csi: %.*s",
                         STR_ARG(volume->name), STR_ARG(error));
}

static void add_missing(struct attached *out, struct str ns, struct str name) {
    out->not_found = true;
    out->error = arena_printf(out->cy->arena,
                              "looking up PVC %.*s/%.*s: persistentvolumeclaim \"%.*s\" not found",
                              STR_ARG(ns), STR_ARG(name), STR_ARG(name));
}

/* Of a pod that is there, claims that are not there do not count. */
static void add_pod(struct attached *out, const struct api_object *pod, bool is_new) {
    const struct api_volume_list *volumes = &sched__pod_spec(pod)->volumes;
    for (size_t i = 0; i < volumes->n && !out->error.p; i++) {
        const struct api_volume *volume = &volumes->v[i];
        struct str name = sched__claim_name(out->cy->arena, pod, volume);
        if (!name.p) {
            add_inline(out, volume);
            continue;
        }
        const struct api_object *claim =
            sched__store_find(out->cy->s, &out->cy->s->store.claims, pod->meta->namespace, name);
        if (!name.n)
            out->error = STR("PersistentVolumeClaim had no name");
        else if (!claim && is_new)
            add_missing(out, pod->meta->namespace, name);
        if (!claim)
            continue;
        if (volume->volume_source.ephemeral && !volume->volume_source.persistent_volume_claim)
            out->error = sched__claim_owner_error(out->cy->arena, claim, pod);
        if (!out->error.p)
            add_claim(out, claim);
    }
}

/* ---- the pod that is being placed ---- */

/* The volumes that a node would have to attach; they depend only on there being a CSINode. */
struct wanted {
    struct map_entry *v; /* "driver/handle" and the driver; in the arena */
    size_t n;
    struct str error;
    bool not_found, known;
};

/* What is read once in a cycle, when first asked for. */
struct state {
    struct wanted wanted[2]; /* without and with a CSINode */
    const struct attachments *attachments;
};

static struct state *state_of(struct sched__cycle *cy) {
    if (!cy->data[SCHED_VOLUME_LIMITS])
        cy->data[SCHED_VOLUME_LIMITS] = arena_new(cy->arena, struct state);
    return cy->data[SCHED_VOLUME_LIMITS];
}

static const struct wanted *wanted_of(struct sched__cycle *cy, const struct api_object *csi_node) {
    struct wanted *wanted = &state_of(cy)->wanted[csi_node != NULL];
    if (wanted->known)
        return wanted;
    struct attached new = {.cy = cy, .csi_node = csi_node, .volumes = MAP_INIT(cy->s->seed)};
    add_pod(&new, cy->cls->sample, true);
    *wanted = (struct wanted){.error = new.error, .not_found = new.not_found, .known = true};
    wanted->v = arena_array(cy->arena, struct map_entry, new.volumes.live);
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&new.volumes, &at));)
        wanted->v[wanted->n++] = *e;
    map_release(&new.volumes);
    return wanted;
}

/* ---- VolumeAttachments, by node ---- */

struct attachments {
    const struct api_volume_attachment **v; /* in the order of nodes' names */
    size_t n;
};

static int compare_nodes(const void *a, const void *b) {
    const struct api_volume_attachment *x = *(const struct api_volume_attachment *const *)a;
    const struct api_volume_attachment *y = *(const struct api_volume_attachment *const *)b;
    return str_cmp(x->spec.node_name, y->spec.node_name);
}

/* All attachments, listed at the first node that has limits. */
static const struct attachments *list_attachments(struct sched__cycle *cy) {
    if (state_of(cy)->attachments)
        return state_of(cy)->attachments;
    const struct map *store = &cy->s->store.attachments;
    struct attachments *list = arena_new(cy->arena, struct attachments);
    list->v = arena_alloc(cy->arena, (store->live + 1) * sizeof *list->v);
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(store, &at));)
        list->v[list->n++] = ((const struct api_object *)e->value)->body;
    qsort(list->v, list->n, sizeof *list->v, compare_nodes);
    state_of(cy)->attachments = list;
    return list;
}

/* Place of the first attachment to this node or a later one. */
static size_t first_of(const struct attachments *list, struct str node) {
    size_t low = 0, high = list->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (str_cmp(list->v[middle]->spec.node_name, node) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void add_attachment(struct attached *out, const struct api_volume_attachment *attachment) {
    struct str name = attachment->spec.source.persistent_volume_name;
    const struct api_object *volume =
        attachment->spec.attacher.n && name.p
            ? sched__store_find(out->cy->s, &out->cy->s->store.volumes, (struct str){0}, name)
            : NULL;
    const struct api_csi_persistent_volume_source *csi =
        volume ? sched__pv_body(volume)->spec.persistent_volume_source.csi : NULL;
    if (csi)
        add(out, attachment->spec.attacher, csi->volume_handle);
}

static void add_attachments(struct attached *out, struct str node) {
    const struct attachments *list = list_attachments(out->cy);
    for (size_t i = first_of(list, node); i < list->n && str_eq(list->v[i]->spec.node_name, node);
         i++)
        add_attachment(out, list->v[i]);
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

/* The driver's limit on the node, or -1. */
static int64_t limit_in(const struct api_csi_node_driver *d) {
    return d->allocatable && d->allocatable->count.set ? d->allocatable->count.v : -1;
}

static int64_t limit_of(const struct api_object *csi_node, struct str name) {
    const struct api_csi_node_driver *d = find_driver(csi_node, name);
    return d ? limit_in(d) : -1;
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

static void check_drivers(struct sched__cycle *cy, const struct wanted *wanted,
                          const struct api_object *csi_node, struct outcome *out) {
    for (size_t i = 0; i < wanted->n; i++) {
        struct str driver = *(const struct str *)wanted->v[i].value;
        if (!must_be_there(cy->s, driver) || find_driver(csi_node, driver))
            continue;
        out->reason = SCHED__REASON_NO_DRIVER;
        out->driver = driver;
        out->text = arena_printf(cy->arena, "%.*s CSI driver is not installed on the node",
                                 STR_ARG(driver));
        return;
    }
}

/* What is counted of one of the wanted drivers on a node. */
struct driver_count {
    struct str driver;
    size_t added, present;
};

/* The counts of all drivers, in the order in which volumes want them. */
struct driver_counts {
    struct driver_count *v;
    size_t n;
    struct map by_driver;
};

static struct str driver_of(const struct map_entry *volume) {
    return *(const struct str *)volume->value;
}

static struct driver_count *count_of(struct driver_counts *all, struct str driver) {
    struct driver_count *c = map_get(&all->by_driver, driver);
    if (!c) {
        c = &all->v[all->n++];
        *c = (struct driver_count){.driver = driver};
        map_put(&all->by_driver, driver, c);
    }
    return c;
}

static void count_present(struct driver_counts *all, const struct map *volumes,
                          const struct map *without) {
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(volumes, &at));) {
        struct driver_count *c = map_get(&all->by_driver, driver_of(e));
        if (c && !(without && map_get(without, e->key)))
            c->present++;
    }
}

/* Volumes that pods of the node have are not attached once more; mere attachments are counted as
 * if they were, as upstream does. */
static void check_limits(const struct wanted *wanted, const struct attached *pods,
                         const struct attached *attached, struct outcome *out) {
    struct driver_counts all = {.by_driver = MAP_INIT(pods->volumes.seed)};
    all.v = arena_array(pods->cy->arena, struct driver_count, wanted->n);
    for (size_t i = 0; i < wanted->n; i++)
        count_of(&all, driver_of(&wanted->v[i]))->added +=
            !map_get(&pods->volumes, wanted->v[i].key);
    count_present(&all, &pods->volumes, NULL);
    count_present(&all, &attached->volumes, &pods->volumes);
    for (size_t i = 0; i < all.n && !out->reason; i++) {
        const struct driver_count *c = &all.v[i];
        int64_t limit = limit_of(pods->csi_node, c->driver);
        if (c->added && limit >= 0 && c->present + c->added > (size_t)limit)
            *out = (struct outcome){.reason = SCHED__REASON_VOLUME_LIMITS,
                                    .driver = c->driver,
                                    .present = c->present,
                                    .added = c->added,
                                    .limit = limit};
    }
    map_release(&all.by_driver);
}

static void fail(struct str error, bool not_found, struct outcome *out) {
    out->reason = SCHED__REASON_LIMITS_NO_CLAIM;
    out->text = error;
    out->error = !not_found;
}

/* The counting itself, for a node with limits. */
static void count_node(struct sched__cycle *cy, const struct wanted *wanted,
                       const struct api_object *csi_node, uint32_t slot, struct outcome *out) {
    const struct sched__node *node = &cy->s->nodes.v[slot];
    struct attached pods = {.cy = cy, .csi_node = csi_node, .volumes = MAP_INIT(cy->s->seed)};
    struct attached attached = pods;
    for (size_t i = 0; i < node->pods.n && !pods.error.p; i++)
        add_pod(&pods, node->pods.v[i]->cls->sample, false);
    if (pods.error.p) {
        fail(pods.error, false, out);
    } else {
        add_attachments(&attached, intern_text(node->name));
        check_limits(wanted, &pods, &attached, out);
    }
    map_release(&pods.volumes);
    map_release(&attached.volumes);
}

static struct outcome check(struct sched__cycle *cy, uint32_t slot) {
    struct outcome out = {0};
    const struct api_object *csi_node = sched__csi_node(cy->s, slot);
    const struct wanted *wanted = wanted_of(cy, csi_node);
    if (wanted->error.p)
        fail(wanted->error, wanted->not_found, &out);
    else if (feature_enabled(&cy->s->gates, FEATURE_VolumeLimitScaling))
        check_drivers(cy, wanted, csi_node, &out);
    if (!out.reason && wanted->n && has_limits(csi_node))
        count_node(cy, wanted, csi_node, slot, &out);
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

static void explain(struct sched__cycle *cy, uint32_t slot, struct buf *buf) {
    struct outcome out = check(cy, slot);
    if (out.text.p)
        buf_add(buf, out.text);
    else if (out.reason)
        buf_addf(buf, "driver %.*s: %zu volume(s) attached + %zu new > limit %lld",
                 STR_ARG(out.driver), out.present, out.added, (long long)out.limit);
}

/* ---- queueing hints ---- */

static bool limit_rose(const struct api_object *before, const struct api_object *after) {
    const struct api_csi_node *body = after->body;
    for (size_t i = 0; i < body->spec.drivers.n; i++) {
        const struct api_csi_node_driver *d = &body->spec.drivers.v[i];
        int64_t new = d->allocatable && d->allocatable->count.set ? d->allocatable->count.v : 0;
        int64_t old = limit_of(before, d->name);
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
        return event->sat && has_attachable(&sched__pod_spec(event->before)->volumes);
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
