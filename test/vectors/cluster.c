#include <string.h>

#include "base/clock.h"
#include "cluster.h"

static void release(struct cluster *c) {
    for (size_t i = 0; i < c->n; i++)
        api_object_unref(c->objects[i]);
    match_free(c->match);
    tolexpr_free(c->expressions);
    intern_free(c->atoms);
}

static int read_config(struct cluster *c, const struct json *line, struct buf *why) {
    const struct json *tree = json_get(line, STR("config"));
    struct err err;
    if (!tree || sched_config_read(c->arena, tree, &c->config, &err) == 0)
        return 0;
    buf_addf(why, "config not read: %s", err.msg);
    return -1;
}

int cluster_check(struct arena *a, const struct json *line, struct buf *why,
                  int (*check)(struct cluster *c, const struct json *line, struct buf *why)) {
    struct cluster c = {.arena = a, .atoms = intern_new(1)};
    int rc = verdict_gates(line, &c.gates, why);
    c.expressions = tolexpr_new(&(struct tolexpr_opts){{1, 36}, &clock_system, 1, 0});
    c.match = match_new(c.atoms, &c.gates, tolexpr_match_engine(c.expressions), 1);
    if (rc == 0)
        rc = read_config(&c, line, why);
    if (rc == 0)
        rc = check(&c, line, why);
    release(&c);
    return rc;
}

struct sched *cluster_sched_new(const struct cluster *c, const struct clock *clock) {
    return sched_new(&(struct sched_opts){.gates = &c->gates,
                                          .engine = tolexpr_match_engine(c->expressions),
                                          .config = c->config,
                                          .clock = clock,
                                          .seed = 1});
}

static void keep(struct cluster *c, const struct api_object *o) {
    if (c->n == c->cap) {
        const struct api_object **old = c->objects;
        c->cap = c->cap ? 2 * c->cap : 64;
        c->objects = arena_array(c->arena, const struct api_object *, c->cap);
        for (size_t i = 0; i < c->n; i++)
            c->objects[i] = old[i];
    }
    c->objects[c->n++] = o;
}

static struct str version_of(const char *kind) {
    for (const struct api_kind *k = api_kinds; k->kind; k++)
        if (strcmp(k->kind, kind) == 0)
            return str_of(k->api_version);
    return STR("v1");
}

const struct api_object *cluster_add(struct cluster *c, const char *kind, const struct json *tree,
                                     struct buf *why) {
    static const struct json missing;
    struct api_decode_opts opts = {.api_version = version_of(kind), .kind = str_of(kind)};
    struct api_object *o;
    AUTO(arena_release) struct arena a = {0};
    struct api_faults faults;
    api_faults_init(&faults, &a);
    if (api_object_decode(tree ? tree : &missing, &opts, &o, &faults) < 0) {
        buf_addf(why, "%s not decoded: ", kind);
        api_faults_write(why, &faults);
        return NULL;
    }
    api_object_default(o, &c->gates);
    const struct api_object *stored = api_publish(o);
    keep(c, stored);
    return stored;
}

int cluster_add_all(struct cluster *c, const char *kind, const struct json *list, struct buf *why) {
    for (uint32_t i = 0; list && i < list->n; i++)
        if (!cluster_add(c, kind, &list->items[i], why))
            return -1;
    return 0;
}

int cluster_add_line(struct cluster *c, const struct json *line, struct buf *why) {
    static const struct {
        const char *kind;
        struct str member;
    } rows[] = {
        {"Namespace", STR_INIT("namespaces")},
        {"Service", STR_INIT("services")},
        {"Node", STR_INIT("nodes")},
        {"ReplicaSet", STR_INIT("replica_sets")},
        {"StatefulSet", STR_INIT("stateful_sets")},
        {"ReplicationController", STR_INIT("replication_controllers")},
        {"StorageClass", STR_INIT("storage_classes")},
        {"CSINode", STR_INIT("csi_nodes")},
        {"CSIDriver", STR_INIT("csi_drivers")},
        {"CSIStorageCapacity", STR_INIT("capacities")},
        {"VolumeAttachment", STR_INIT("attachments")},
        {"PersistentVolume", STR_INIT("volumes")},
        {"PersistentVolumeClaim", STR_INIT("claims")},
        {"PodDisruptionBudget", STR_INIT("budgets")},
        {"Pod", STR_INIT("pods")},
        {"Pod", STR_INIT("pending")},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (cluster_add_all(c, rows[i].kind, json_get(line, rows[i].member), why) < 0)
            return -1;
    return 0;
}
