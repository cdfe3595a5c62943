/*
 * Objects of files, in an order in which each finds what it needs. Those of a dump, which have
 * uids, need nothing, and are stored as they are read: of a large one there is never more than one
 * object that is not in the store. Nothing is committed before all has been read.
 */
#include "cmd/commands/load.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/vec.h"
#include "registry/registry.h"

/* What is stored first: namespaces, then what belongs to no namespace, then the rest. */
enum { RANK_NAMESPACE, RANK_CLUSTER, RANK_OTHERS, RANKS };

struct load {
    struct serve *s;
    struct load_pools *pools;
    VEC(struct api_object *) ranks[RANKS];
    size_t loaded, kept, refused;
};

static int rank_of(const struct api_object *o) {
    if (api_object_is(o, API_T_namespace))
        return RANK_NAMESPACE;
    return o->kind && !o->kind->namespaced ? RANK_CLUSTER : RANK_OTHERS;
}

/* ---- pools of nodes ---- */

void load_pools_add(struct arena *a, struct load_pools *pools, const struct nodes_pool *pool) {
    struct nodes_pool *v = arena_array(a, struct nodes_pool, pools->n + 1);
    for (size_t i = 0; i < pools->n; i++)
        v[i] = pools->v[i];
    v[pools->n++] = *pool;
    pools->v = v;
}

static int read_pool(struct arena *a, struct input *in, const struct json *tree,
                     struct load_pools *pools, struct err *err) {
    struct nodes_pool pool;
    if (nodes_pool_read(a, tree, &pool, err) < 0)
        return input_fail_here(in, err);
    if (pools->n > LIMIT_NODE_POOLS)
        return nodes_pools_check(pools->v, pools->n, err);
    load_pools_add(a, pools, &pool);
    return 0;
}

static int read_pools(struct arena *a, struct input *in, struct load_pools *pools,
                      struct err *err) {
    struct input_value value;
    struct input_source source;
    int rc;
    while ((rc = input_next_value(in, &value, &source, err)) > 0) {
        if (!nodes_pool_is(value.tree)) {
            err_set(err, ERR_INVALID, "no NodePool of berth.dev/v1alpha1");
            return input_fail_here(in, err);
        }
        if (read_pool(a, in, value.tree, pools, err) < 0)
            return -1;
    }
    return rc;
}

int load_pool_files(struct cmd_ctx *ctx, struct arena *a, const struct opt_list *files,
                    struct load_pools *pools, struct err *err) {
    struct input *in;
    const struct input_opts opts = {.filenames = *files};
    if (!files->n)
        return 0;
    if (input_open(ctx, &opts, true, &in, err) < 0)
        return -1;
    int rc = read_pools(a, in, pools, err);
    input_free(in);
    return rc;
}

/* ---- objects ---- */

static void tell_refusal(struct load *l, const struct registry_failure *failure) {
    struct cmd_ctx *ctx = l->s->call->ctx;
    struct err told = {.code = failure->code};
    err_set(&told, failure->code, "%.*s", STR_ARG(failure->message));
    cmd_report(ctx, NULL, &told);
    l->refused++;
}

static void store_object(struct load *l, struct api_object *o) {
    AUTO(arena_release) struct arena a = {0};
    struct registry_failure failure = apiserver_load(l->s->api, &a, o);
    if (!failure.code)
        l->loaded++;
    else if (failure.code == ERR_EXISTS)
        l->kept++;
    else
        tell_refusal(l, &failure);
}

static int read_value(struct load *l, struct input *in, const struct input_value *value,
                      struct err *err) {
    struct api_object *o;
    if (nodes_pool_is(value->tree))
        return read_pool(l->s->call->arena, in, value->tree, l->pools, err);
    if (input_decode(in, value, &o, err) < 0)
        return -1;
    if (o->meta && o->meta->uid.n)
        store_object(l, o);
    else
        vec_push(&l->ranks[rank_of(o)], o);
    return 0;
}

static int read_all(struct load *l, const struct input_opts *files, struct err *err) {
    struct input *in;
    struct input_value value;
    struct input_source source;
    int rc = -1;
    if (input_open(l->s->call->ctx, files, false, &in, err) < 0)
        return -1;
    while ((rc = input_next_value(in, &value, &source, err)) > 0)
        if (read_value(l, in, &value, err) < 0) {
            rc = -1;
            break;
        }
    input_free(in);
    return rc;
}

static void store_all(struct load *l) {
    for (int rank = 0; rank < RANKS; rank++) {
        for (size_t i = 0; i < l->ranks[rank].n; i++)
            store_object(l, l->ranks[rank].v[i]);
        vec_clear(&l->ranks[rank]);
    }
    store_commit(l->s->store, NULL, NULL);
    store_flush(l->s->store);
}

static void release(struct load *l) {
    for (int rank = 0; rank < RANKS; rank++) {
        for (size_t i = 0; i < l->ranks[rank].n; i++)
            api_object_free(l->ranks[rank].v[i]);
        vec_release(&l->ranks[rank]);
    }
}

int load_files(struct serve *s, const struct input_opts *files, struct load_pools *pools,
               struct err *err) {
    struct load l = {.s = s, .pools = pools};
    int rc = files->filenames.n ? read_all(&l, files, err) : 0;
    if (rc == 0)
        store_all(&l);
    release(&l);
    if (rc == 0 && l.refused)
        rc = err_set(err, ERR_INVALID, "%zu of %zu objects were refused", l.refused,
                     l.loaded + l.kept + l.refused);
    return rc;
}

/* ---- the default StorageClass ---- */

static bool has_classes(struct serve *s, const struct api_kind *kind) {
    const struct apiserver_resource *r = apiserver_catalog_of(s->catalog, kind);
    struct store_snapshot *snapshot = store_snapshot_take(s->store);
    struct store_cursor cursor;
    store_cursor_start(&cursor, snapshot, r->storage, (struct store_range){0});
    bool found = store_cursor_next(&cursor);
    store_snapshot_unref(snapshot);
    return found;
}

void load_standard_class(struct serve *s) {
    const struct api_kind *kind = api_kind_find(STR("storage.k8s.io/v1"), STR("StorageClass"));
    AUTO(arena_release) struct arena a = {0};
    if (has_classes(s, kind))
        return;
    struct api_object *o = api_object_new(kind);
    struct api_storage_class *class = api_own_body(o);
    class->metadata.name = STR("standard");
    labels_put(&o->arena, &class->metadata.annotations,
               (struct label){STR("storageclass.kubernetes.io/is-default-class"), STR("true")});
    class->provisioner = STR("csi.berth.dev");
    class->reclaim_policy = STR("Delete");
    class->volume_binding_mode = STR("WaitForFirstConsumer");
    apiserver_load(s->api, &a, o);
    store_commit(s->store, NULL, NULL);
    store_flush(s->store);
}
