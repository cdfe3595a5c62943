/* Objects that plug-ins look up by name: claims, volumes, budgets, namespaces and the like. */
#include <string.h>

#include "sched/sched_int.h"
#include "sched/topology/count_int.h"
#include "sched/volumes/volumes_int.h"

/* What a change of such objects makes stale. */
enum stale { STORAGE, VOLUMES, CAPACITIES, NAMESPACES, SELECTORS, BUDGETS };

/* Which map a kind lives in. */
struct store_row {
    const char *kind;
    size_t offset;
    enum stale stale;
};

#define MAP(member) offsetof(struct sched__store, member)
static const struct store_row rows[] = {
    {"Namespace", MAP(namespaces), NAMESPACES},
    {"Service", MAP(services), SELECTORS},
    {"ReplicationController", MAP(replication_controllers), SELECTORS},
    {"ReplicaSet", MAP(replica_sets), SELECTORS},
    {"StatefulSet", MAP(stateful_sets), SELECTORS},
    {"PodDisruptionBudget", MAP(budgets), BUDGETS},
    {"PersistentVolumeClaim", MAP(claims), STORAGE},
    {"PersistentVolume", MAP(volumes), VOLUMES},
    {"StorageClass", MAP(storage_classes), STORAGE},
    {"CSINode", MAP(csi_nodes), STORAGE},
    {"CSIDriver", MAP(csi_drivers), STORAGE},
    {"CSIStorageCapacity", MAP(capacities), CAPACITIES},
    {"VolumeAttachment", MAP(attachments), STORAGE},
};
enum { ROWS = sizeof rows / sizeof *rows };

static const struct store_row *find_row(const struct api_object *o) {
    for (size_t i = 0; i < ROWS; i++)
        if (o->kind && strcmp(o->kind->kind, rows[i].kind) == 0)
            return &rows[i];
    return NULL;
}

static struct map *map_of(struct sched *s, const struct store_row *row) {
    return (struct map *)(void *)((char *)&s->store + row->offset);
}

static void write_key(struct buf *out, struct str ns, struct str name) {
    buf_clear(out);
    if (ns.n) {
        buf_add(out, ns);
        buf_add_char(out, '/');
    }
    buf_add(out, name);
}

/* ---- selectors ---- */

static bool same_expressions(const struct api_label_selector_requirement_list *a,
                             const struct api_label_selector_requirement_list *b) {
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (!str_eq(a->v[i].key, b->v[i].key) || !str_eq(a->v[i].operator, b->v[i].operator) ||
            !sched__strs_equal(&a->v[i].values, &b->v[i].values))
            return false;
    return true;
}

/* No labels are other ones than empty ones, which select everything. */
static bool same_labels(const struct labels *a, const struct labels *b) {
    return !a->v == !b->v && labels_equal(a, b);
}

/* What an object selects pods by: labels, or a selector; the other one is NULL. */
struct selection {
    const struct labels *labels;
    const struct api_label_selector *selector;
};

static struct selection selection_of(const struct api_object *o) {
    const void *body = o->body;
    if (o->type == &api_types[API_T_service])
        return (struct selection){.labels = &((const struct api_service *)body)->spec.selector};
    if (o->type == &api_types[API_T_replication_controller])
        return (struct selection){
            .labels = &((const struct api_replication_controller *)body)->spec.selector};
    if (o->type == &api_types[API_T_replica_set])
        return (struct selection){.selector =
                                      ((const struct api_replica_set *)body)->spec.selector};
    return (struct selection){.selector = ((const struct api_stateful_set *)body)->spec.selector};
}

/* Most updates leave it as it is. A selector that cannot change may all the same be another one: an
 * object that was deleted and made again may be seen as one update. */
static bool same_selection(const struct api_object *a, const struct api_object *b) {
    struct selection x = selection_of(a), y = selection_of(b);
    if (x.labels && y.labels)
        return same_labels(x.labels, y.labels);
    if (!x.selector || !y.selector)
        return x.selector == y.selector && x.labels == y.labels;
    return same_labels(&x.selector->match_labels, &y.selector->match_labels) &&
           same_expressions(&x.selector->match_expressions, &y.selector->match_expressions);
}

/* ---- objects ---- */

static void note_change(struct sched *s, const struct store_row *row, const struct api_object *old,
                        const struct api_object *object) {
    if (old && (row->stale == STORAGE || row->stale == VOLUMES))
        sched__volumes_replaced(s, old, object);
    if (row->stale == STORAGE || row->stale == VOLUMES || row->stale == CAPACITIES)
        s->storage_generation++;
    if (row->stale == STORAGE || row->stale == VOLUMES)
        s->attached_generation++;
    if (row->stale == VOLUMES)
        s->volumes_generation++;
    if (row->stale == CAPACITIES)
        s->capacities_generation++;
    if (row->stale == NAMESPACES)
        sched__count_namespaces_changed(s);
    if (row->stale == SELECTORS && (!old || !object || !same_selection(old, object)))
        s->selectors_generation++;
    if (row->stale == BUDGETS)
        s->budgets_generation++;
}

const struct api_object *sched__store_set(struct sched *s, const struct api_object *object) {
    const struct store_row *row = find_row(object);
    if (!row)
        return NULL;
    write_key(&s->key, object->meta->namespace, object->meta->name);
    struct atom *key = intern_ref(intern_get(s->atoms, buf_view(&s->key)));
    const struct api_object *old =
        map_put_const(map_of(s, row), intern_text(key), api_object_ref(object));
    if (old)
        intern_unref(key); /* the entry has its key already */
    note_change(s, row, old, object);
    return old;
}

const struct api_object *sched__store_delete(struct sched *s, const struct api_object *object) {
    const struct store_row *row = find_row(object);
    if (!row)
        return NULL;
    write_key(&s->key, object->meta->namespace, object->meta->name);
    const struct api_object *old = map_del_const(map_of(s, row), buf_view(&s->key));
    if (!old)
        return NULL;
    intern_unref(intern_find(s->atoms, buf_view(&s->key)));
    note_change(s, row, old, NULL);
    return old;
}

const struct api_object *sched__store_find(struct sched *s, const struct map *objects,
                                           struct str ns, struct str name) {
    write_key(&s->key, ns, name);
    return map_get_const(objects, buf_view(&s->key));
}

void sched__store_init(struct sched *s) {
    for (size_t i = 0; i < ROWS; i++)
        *map_of(s, &rows[i]) = MAP_INIT(s->seed);
}

void sched__store_release(struct sched *s) {
    for (size_t i = 0; i < ROWS; i++) {
        struct map *m = map_of(s, &rows[i]);
        size_t at = 0;
        for (struct map_entry *e; (e = map_next(m, &at));)
            api_object_unref(e->const_value);
        map_release(m);
    }
}
