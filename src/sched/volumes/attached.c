/*
 * See attached_int.h.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/framework/plugins/nodevolumelimits,
 * func (*CSILimits) Filter, func (*CSILimits) filterAttachableVolumes.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "sched/volumes/state_int.h"

/* ---- which volumes a pod wants attached ---- */

/* The volumes of one pod, while they are being listed. */
struct lister {
    struct sched *s;
    struct arena *a;
    const struct sched__attach_opts *opts;
    VEC(struct sched__attachable) volumes;
    struct sched__attachables *out;
};

static struct sched__attachable attachable(struct arena *a, struct str driver, struct str handle) {
    return (struct sched__attachable){
        .driver = driver,
        .key = arena_printf(a, "%zu:%.*s%.*s", driver.n, STR_ARG(driver), STR_ARG(handle))};
}

static void add(struct lister *l, struct str driver, struct str handle) {
    if (driver.n && handle.n)
        vec_push(&l->volumes, attachable(l->a, driver, handle));
}

/* A claim without a volume counts for the driver of its class, as a volume of its own. */
static void add_by_class(struct lister *l, const struct api_object *claim) {
    struct str name = api_claim_class(claim);
    const struct api_object *class =
        name.n ? sched__store_find(l->s, &l->s->store.storage_classes, (struct str){0}, name)
               : NULL;
    if (!class)
        return;
    struct str driver = ((const struct api_storage_class *)class->body)->provisioner;
    const struct sched__migration *m = sched__migration_of_plugin(driver);
    if (m && (!m->on || !l->opts->has_csi_node))
        return;
    struct str handle = arena_printf(l->a, "(unbound)-%.*s/%.*s", STR_ARG(claim->meta->namespace),
                                     STR_ARG(claim->meta->name));
    add(l, m ? m->driver : driver, handle);
}

static void add_volume(struct lister *l, const struct api_object *volume) {
    const struct api_persistent_volume *pv = volume->body;
    const struct api_csi_persistent_volume_source *csi = pv->spec.persistent_volume_source.csi;
    if (csi) {
        add(l, csi->driver, csi->volume_handle);
        return;
    }
    const struct sched__migration *m = sched__migration_of_pv(pv);
    struct str handle, error = {0};
    if (m && m->on && l->opts->has_csi_node &&
        sched__migration_handle_pv(l->a, volume, &handle, &error) == 0)
        add(l, m->driver, handle);
}

static void add_claim(struct lister *l, const struct api_object *claim) {
    struct str name = sched__claim_body(claim)->spec.volume_name;
    const struct api_object *volume =
        name.n ? sched__store_find(l->s, &l->s->store.volumes, (struct str){0}, name) : NULL;
    if (volume)
        add_volume(l, volume);
    else
        add_by_class(l, claim);
}

/* A volume that is no claim. */
static void add_inline(struct lister *l, const struct api_volume *volume) {
    const struct sched__migration *m = sched__migration_of_volume(volume);
    if (!m || !m->on || !l->opts->has_csi_node)
        return;
    struct str handle, error = {0};
    if (sched__migration_handle_volume(l->a, volume, &handle, &error) == 0)
        add(l, m->driver, handle);
    else
        l->out->error = arena_printf(l->a, "converting volume(%.*s) from inline to csi: %.*s",
                                     STR_ARG(volume->name), STR_ARG(error));
}

static void add_missing(struct lister *l, struct str ns, struct str name) {
    l->out->not_found = true;
    l->out->error =
        arena_printf(l->a, "looking up PVC %.*s/%.*s: persistentvolumeclaim \"%.*s\" not found",
                     STR_ARG(ns), STR_ARG(name), STR_ARG(name));
}

/* Of a pod that is there, claims that are not there do not count. */
static void add_by_name(struct lister *l, const struct api_object *pod,
                        const struct api_volume *volume, struct str name) {
    struct str ns = pod->meta->namespace;
    const struct api_object *claim = sched__store_find(l->s, &l->s->store.claims, ns, name);
    if (!name.n)
        l->out->error = STR("PersistentVolumeClaim had no name");
    else if (!claim && l->opts->is_new)
        add_missing(l, ns, name);
    if (!claim)
        return;
    if (volume->volume_source.ephemeral && !volume->volume_source.persistent_volume_claim)
        l->out->error = sched__claim_owner_error(l->a, claim, pod);
    if (!l->out->error.p)
        add_claim(l, claim);
}

struct sched__attachables sched__attachables(struct sched *s, const struct api_object *pod,
                                             const struct sched__attach_opts *opts,
                                             struct arena *a) {
    const struct api_volume_list *volumes = &sched__pod_spec(pod)->volumes;
    struct sched__attachables out = {0};
    struct lister l = {.s = s, .a = a, .opts = opts, .out = &out};
    for (size_t i = 0; i < volumes->n && !out.error.p; i++) {
        struct str name = sched__claim_name(a, pod, &volumes->v[i]);
        if (name.p)
            add_by_name(&l, pod, &volumes->v[i], name);
        else
            add_inline(&l, &volumes->v[i]);
    }
    out.v = arena_copy(a, l.volumes.v, l.volumes.n * sizeof *l.volumes.v);
    out.n = l.volumes.n;
    vec_release(&l.volumes);
    return out;
}

/* ---- VolumeAttachments ---- */

/* One of those of a node. */
struct attachment {
    const struct api_volume_attachment *body;
    const struct attachment *next;
};

/* Those of the node, as the store has them now; NULL: none. */
static const struct attachment *find_attachments(struct sched *s, struct str node) {
    struct sched__attachments *x = &sched__volumes_get(s)->attachments;
    if (x->generation == s->attached_generation)
        return map_get(&x->by_node, node);
    sched__attachments_release(x);
    x->generation = s->attached_generation;
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&s->store.attachments, &at));) {
        const struct api_object *object = e->const_value;
        struct attachment *a = arena_new(&x->arena, struct attachment);
        a->body = object->body;
        a->next = map_put(&x->by_node, a->body->spec.node_name, a);
    }
    return map_get(&x->by_node, node);
}

void sched__attachments_release(struct sched__attachments *x) {
    map_release(&x->by_node);
    arena_release(&x->arena);
}

/* ---- how many volumes a node has ---- */

/* A CSI driver whose volumes are attached there. */
struct driver {
    size_t volumes;
    struct str name; /* the text behind it */
    char text[];
};

/* A volume that is attached there. */
struct volume {
    size_t pods;         /* that have it; one pod may count twice */
    bool has_attachment; /* a VolumeAttachment names it */
    struct driver *driver;
    struct str key; /* the text behind it */
    char text[];
};

struct sched__attached {
    uint64_t generation;           /* of the objects that tell what is attached */
    struct map volumes;            /* struct volume by key */
    struct map drivers;            /* struct driver by name */
    struct map offered;            /* drivers of the CSINode by name; borrowed from the store */
    size_t failing;                /* pods whose volumes cannot be told */
    const struct sched_pod *first; /* the first of them on the node; NULL: not known */
};

static struct driver *driver_get(struct sched__attached *x, struct str name) {
    struct driver *d = map_get(&x->drivers, name);
    if (d)
        return d;
    d = xcalloc(1, sizeof *d + name.n);
    d->name = (struct str){memcpy(d->text, name.p, name.n), name.n};
    map_put(&x->drivers, d->name, d);
    return d;
}

static struct volume *volume_get(struct sched__attached *x, const struct sched__attachable *a) {
    struct volume *v = map_get(&x->volumes, a->key);
    if (v)
        return v;
    v = xcalloc(1, sizeof *v + a->key.n);
    v->driver = driver_get(x, a->driver);
    v->driver->volumes++;
    v->key = (struct str){memcpy(v->text, a->key.p, a->key.n), a->key.n};
    map_put(&x->volumes, v->key, v);
    return v;
}

static void volume_drop(struct sched__attached *x, struct volume *v) {
    struct driver *d = v->driver;
    map_del(&x->volumes, v->key);
    free(v);
    if (--d->volumes)
        return;
    map_del(&x->drivers, d->name);
    free(d);
}

static void count(struct sched__attached *x, const struct sched__attachable *a, int delta) {
    struct volume *v = volume_get(x, a);
    assert(v->pods || delta > 0);
    v->pods += (size_t)delta;
    if (!v->pods && !v->has_attachment)
        volume_drop(x, v);
}

/* Nodes without a CSINode have no limits, and nobody counts there. */
static const struct sched__attach_opts on_node = {.has_csi_node = true};

static void count_pod(struct sched *s, struct sched__attached *x, const struct sched_pod *p,
                      int delta) {
    struct arena a = {0};
    struct sched__attachables volumes = sched__attachables(s, p->cls->sample, &on_node, &a);
    for (size_t i = 0; i < volumes.n; i++)
        count(x, &volumes.v[i], delta);
    if (volumes.error.p)
        x->failing += (size_t)delta;
    arena_release(&a);
}

static void count_attachment(struct sched *s, struct sched__attached *x,
                             const struct api_volume_attachment *attachment) {
    struct str driver = attachment->spec.attacher;
    struct str name = attachment->spec.source.persistent_volume_name;
    const struct api_object *volume =
        name.p ? sched__store_find(s, &s->store.volumes, (struct str){0}, name) : NULL;
    const struct api_csi_persistent_volume_source *csi =
        volume ? sched__pv_body(volume)->spec.persistent_volume_source.csi : NULL;
    if (!driver.n || !csi || !csi->volume_handle.n)
        return;
    struct arena a = {0};
    struct sched__attachable named = attachable(&a, driver, csi->volume_handle);
    volume_get(x, &named)->has_attachment = true;
    arena_release(&a);
}

/* Of drivers of one name the last counts. */
static void list_drivers(struct sched__attached *x, const struct api_object *csi_node) {
    const struct api_csi_node *body = csi_node ? csi_node->body : NULL;
    for (size_t i = 0; body && i < body->spec.drivers.n; i++)
        map_put(&x->offered, body->spec.drivers.v[i].name, &body->spec.drivers.v[i]);
}

static struct sched__attached *attached_new(struct sched *s, uint32_t slot) {
    const struct sched__node *node = &s->nodes.v[slot];
    struct sched__attached *x = xcalloc(1, sizeof *x);
    x->generation = s->attached_generation;
    x->volumes = x->drivers = x->offered = MAP_INIT(s->seed);
    list_drivers(x, sched__csi_node(s, slot));
    for (size_t i = 0; i < node->pods.n; i++)
        count_pod(s, x, node->pods.v[i], 1);
    const struct attachment *a = find_attachments(s, intern_text(node->name));
    for (; a; a = a->next)
        count_attachment(s, x, a->body);
    return x;
}

void sched__attached_free(struct sched__attached *x) {
    if (!x)
        return;
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&x->volumes, &at));)
        free(e->value);
    at = 0;
    for (struct map_entry *e; (e = map_next(&x->drivers, &at));)
        free(e->value);
    map_release(&x->volumes);
    map_release(&x->drivers);
    map_release(&x->offered);
    free(x);
}

/* What was counted on the node and is still true; NULL: nothing. */
static struct sched__attached *current(struct sched *s, struct sched__node *node) {
    if (node->attached && node->attached->generation != s->attached_generation) {
        sched__attached_free(node->attached);
        node->attached = NULL;
    }
    return node->attached;
}

const struct sched__attached *sched__attached_get(struct sched *s, uint32_t slot) {
    struct sched__node *node = &s->nodes.v[slot];
    if (!current(s, node))
        node->attached = attached_new(s, slot);
    return node->attached;
}

/* A pod that comes is the last one of its node. */
void sched__attached_pod(struct sched *s, const struct sched_pod *p, uint32_t slot, int delta) {
    struct sched__attached *x = current(s, &s->nodes.v[slot]);
    if (!x)
        return;
    count_pod(s, x, p, delta);
    if (delta < 0)
        x->first = NULL;
}

void sched__attached_reorder(struct sched *s, uint32_t slot) {
    struct sched__attached *x = s->nodes.v[slot].attached;
    if (x)
        x->first = NULL;
}

/* ---- what it is asked ---- */

bool sched__attached_by_pod(const struct sched__attached *x, struct str key) {
    const struct volume *v = map_get(&x->volumes, key);
    return v && v->pods;
}

size_t sched__attached_count(const struct sched__attached *x, struct str driver) {
    const struct driver *d = map_get(&x->drivers, driver);
    return d ? d->volumes : 0;
}

const struct api_csi_node_driver *sched__attached_driver(const struct sched__attached *x,
                                                         struct str name) {
    return map_get(&x->offered, name);
}

static bool fails(struct sched *s, const struct sched_pod *p) {
    struct arena a = {0};
    bool failed = sched__attachables(s, p->cls->sample, &on_node, &a).error.p;
    arena_release(&a);
    return failed;
}

struct str sched__attached_error(struct sched *s, uint32_t slot, struct arena *a) {
    sched__attached_get(s, slot);
    const struct sched__node *node = &s->nodes.v[slot];
    struct sched__attached *x = node->attached;
    if (!x->failing)
        return (struct str){0};
    for (size_t i = 0; !x->first; i++)
        if (fails(s, node->pods.v[i]))
            x->first = node->pods.v[i];
    return sched__attachables(s, x->first->cls->sample, &on_node, a).error;
}
