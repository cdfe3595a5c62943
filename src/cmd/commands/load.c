/*
 * Objects of files, in an order in which each finds what it needs. Those of a dump, which have
 * uids, need nothing, and are stored as they are read: of a large one there is never more than one
 * object that is not in the store. Nothing is committed before all has been read.
 */
#include "cmd/commands/load.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/map.h"
#include "base/printable.h"
#include "base/vec.h"
#include "cli/io.h"
#include "client/client.h"
#include "cmd/commands/stand_ins.h"
#include "cmd/report/kind_hint.h"
#include "cmd/report/kubectl.h"
#include "registry/registry.h"

/* What is stored first: namespaces, then what belongs to no namespace, then the accounts that pods
 * run as, then the rest. */
enum { RANK_NAMESPACE, RANK_CLUSTER, RANK_ACCOUNT, RANK_OTHERS, RANKS };

/* Of more fields that a dump has and nobody knows, only that there are some is told. */
enum { MOST_UNKNOWN_TOLD = 20 };

/* An object that was read, and where. */
struct loaded {
    struct api_object *object;
    struct input_source source;
};

struct load {
    struct serve *s;
    struct load_pools *pools;
    struct input *in; /* which has the names of files; NULL: nothing is read */
    VEC(struct loaded) ranks[RANKS];
    size_t loaded, kept, refused;
    struct map unknown;    /* kind and path of fields of a dump that nobody knows, and were told */
    struct arena fields;   /* keys of the map */
    bool has_more_unknown; /* than are told */
    struct map unserved;   /* kinds that nothing comes of here, and were told */
    struct stand_ins stand_ins;
};

static int rank_of(const struct api_object *o) {
    if (api_object_is(o, API_T_namespace))
        return RANK_NAMESPACE;
    if (o->kind && !o->kind->namespaced)
        return RANK_CLUSTER;
    return api_object_is(o, API_T_service_account) ? RANK_ACCOUNT : RANK_OTHERS;
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

/* ---- what is told ---- */

static void add_place(struct buf *out, const struct input_source *source) {
    input_write_place(out, source->file, source->line);
    buf_add(out, STR(": "));
}

/* As kubectl would say it, behind the place. */
static void tell_refusal(struct load *l, const struct input_source *source,
                         const struct registry_failure *failure) {
    struct cmd_ctx *ctx = l->s->call->ctx;
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX), why = BUF_INIT(SIZE_MAX);
    add_place(&text, source);
    kubectl_write_failure(&why, failure, source->file);
    printable_add_lines(&text, buf_view(&why));
    buf_add_char(&text, '\n');
    (void)io_write(ctx->err, buf_view(&text), NULL);
    l->refused++;
}

static void hint_at_kind(struct load *l, struct str api_version, struct str kind, struct str name) {
    struct cmd_ctx *ctx = l->s->call->ctx;
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX), hint = BUF_INIT(SIZE_MAX);
    kubectl_write_name(&hint, api_version, kind, name);
    buf_add(&hint, STR(": "));
    if (registry_standing_of(api_version, kind) == REGISTRY_CUSTOM)
        buf_add(&hint, STR("custom resources are not served: leave it out"));
    else if (!kind_hint_write(&hint, api_version, kind))
        return;
    cmd_add_title(ctx, CMD_HINT, &text);
    printable_add(&text, buf_view(&hint));
    buf_add_char(&text, '\n');
    (void)io_write(ctx->err, buf_view(&text), NULL);
}

/* Is it the first of its kind? spec.containers[7].x is the same field as spec.containers[0].x. */
static bool is_new_field(struct load *l, const struct api_object *o, struct str path) {
    AUTO(buf_release) struct buf key = BUF_INIT(SIZE_MAX);
    buf_addf(&key, "%.*s ", STR_ARG(o->names->kind));
    for (size_t i = 0; i < path.n; i++)
        if (path.p[i] < '0' || path.p[i] > '9')
            buf_add_char(&key, path.p[i]);
    if (map_get(&l->unknown, buf_view(&key)))
        return false;
    l->has_more_unknown = l->unknown.live == MOST_UNKNOWN_TOLD;
    if (!l->has_more_unknown)
        map_put(&l->unknown, arena_str(&l->fields, buf_view(&key)), l);
    return !l->has_more_unknown;
}

/* A dump of a newer server has fields that are not known here: each is told once. */
static void warn_of_field(struct load *l, const struct api_object *o,
                          const struct input_source *source, const struct api_fault *fault) {
    struct cmd_ctx *ctx = l->s->call->ctx;
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX), name = BUF_INIT(SIZE_MAX);
    if (!is_new_field(l, o, fault->path))
        return;
    cmd_add_title(ctx, CMD_WARNING, &text);
    add_place(&text, source);
    kubectl_write_name(&name, o->names->api_version, o->names->kind,
                       o->meta ? o->meta->name : STR(""));
    printable_add(&text, buf_view(&name));
    buf_add(&text, STR(": "));
    printable_add(&text, fault->text);
    buf_add_char(&text, '\n');
    (void)io_write(ctx->err, buf_view(&text), NULL);
}

static void warn_of_others(const struct load *l) {
    struct cmd_ctx *ctx = l->s->call->ctx;
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    if (!l->has_more_unknown)
        return;
    cmd_add_title(ctx, CMD_WARNING, &text);
    buf_add(&text, STR("there are more fields that are unknown\n"));
    (void)io_write(ctx->err, buf_view(&text), NULL);
}

/* Who brings what nothing comes of here is told, once for each kind. */
static void warn_of_unserved(struct load *l, const struct loaded *it) {
    struct cmd_ctx *ctx = l->s->call->ctx;
    const struct api_object *o = it->object;
    AUTO(arena_release) struct arena a = {0};
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX), name = BUF_INIT(SIZE_MAX);
    struct str what = apiserver_unserved(&a, o, NULL);
    if (!what.n || map_get_const(&l->unserved, str_of(o->kind->kind)))
        return;
    map_put_const(&l->unserved, str_of(o->kind->kind), o->kind);
    cmd_add_title(ctx, CMD_WARNING, &text);
    add_place(&text, &it->source);
    kubectl_write_name(&name, o->names->api_version, o->names->kind, o->meta->name);
    printable_add(&text, buf_view(&name));
    buf_add(&text, STR(": "));
    printable_add(&text, what);
    buf_add_char(&text, '\n');
    (void)io_write(ctx->err, buf_view(&text), NULL);
}

/* ---- objects ---- */

/* Was it stored by a server? */
static bool has_uid(const struct json *tree) {
    const struct json *meta = json_get(tree, STR("metadata"));
    const struct json *uid = meta && meta->kind == JSON_OBJECT ? json_get(meta, STR("uid")) : NULL;
    return uid && uid->kind == JSON_STRING && json_str(uid).n;
}

static void store_object(struct load *l, const struct loaded *it) {
    AUTO(arena_release) struct arena a = {0};
    struct str api_version = arena_str(&a, it->object->names->api_version);
    struct str kind = arena_str(&a, it->object->names->kind);
    if (api_object_is(it->object, API_T_pod) && it->object->meta->uid.n)
        stand_ins_note(&l->stand_ins, it->object);
    if (it->object->kind)
        warn_of_unserved(l, it);
    struct registry_failure failure = apiserver_load(l->s->api, &a, it->object);
    if (!failure.code)
        l->loaded++;
    else if (failure.code == ERR_EXISTS)
        l->kept++;
    else
        tell_refusal(l, &it->source, &failure);
    if (failure.is_unmapped)
        hint_at_kind(l, api_version, kind, failure.name);
}

/* A manifest may have no fields that the server does not know, as kubectl has it ask for; what a
 * server has stored comes as it is. */
static void take_value(struct load *l, const struct input_value *value,
                       const struct input_source *source) {
    AUTO(arena_release) struct arena a = {0};
    struct api_faults faults;
    struct api_object *o;
    const struct api_decode_opts opts = {
        .kind = value->kind, .api_version = value->api_version, .duplicates = value->repeats};
    api_faults_init(&faults, &a);
    int rc = api_object_decode(value->tree, &opts, &o, &faults);
    if (rc < 0 || (faults.n && !has_uid(value->tree))) {
        struct registry_failure failure = registry_refuse_faults(&faults);
        tell_refusal(l, source, &failure);
        if (rc == 0)
            api_object_free(o);
        return;
    }
    for (size_t i = 0; i < faults.n; i++)
        warn_of_field(l, o, source, &faults.v[i]);
    const struct loaded it = {o, *source};
    if (o->meta && o->meta->uid.n)
        store_object(l, &it);
    else
        vec_push(&l->ranks[rank_of(o)], it);
}

static int read_all(struct load *l, const struct input_opts *files, struct err *err) {
    struct input_value value;
    struct input_source source;
    int rc = -1;
    if (input_open(l->s->call->ctx, files, false, &l->in, err) < 0)
        return -1;
    input_keep_repeats(l->in);
    while ((rc = input_next_value(l->in, &value, &source, err)) > 0)
        if (!nodes_pool_is(value.tree))
            take_value(l, &value, &source);
        else if (read_pool(l->s->call->arena, l->in, value.tree, l->pools, err) < 0)
            return -1;
    warn_of_others(l);
    return rc;
}

/* Every namespace has the account that pods run as unless they name another. A controller makes
 * it, but none is at work yet. */
static void make_accounts(struct load *l) {
    const struct apiserver_resource *r =
        apiserver_catalog_of(l->s->catalog, client_kind(API_T_namespace));
    const struct api_object *namespace;
    struct store_cursor cursor;
    store_commit(l->s->store, NULL, NULL);
    store_flush(l->s->store);
    struct store_snapshot *snapshot = store_snapshot_take(l->s->store);
    store_cursor_start(&cursor, snapshot, r->storage, (struct store_range){0});
    while ((namespace = store_cursor_next(&cursor))) {
        AUTO(arena_release) struct arena a = {0};
        struct api_object *o = api_object_new(client_kind(API_T_service_account));
        api_own_meta(o)->name = STR("default");
        api_own_meta(o)->namespace = arena_str(&o->arena, namespace->meta->name);
        apiserver_load(l->s->api, &a, o); /* which refuses it where it is, or the namespace goes */
    }
    store_snapshot_unref(snapshot);
}

static void store_all(struct load *l) {
    for (int rank = 0; rank < RANKS; rank++) {
        if (rank == RANK_OTHERS)
            make_accounts(l);
        for (size_t i = 0; i < l->ranks[rank].n; i++)
            store_object(l, &l->ranks[rank].v[i]);
        vec_clear(&l->ranks[rank]);
    }
    stand_ins_make(&l->stand_ins, l->s);
    store_commit(l->s->store, NULL, NULL);
    store_flush(l->s->store);
}

static void release(struct load *l) {
    for (int rank = 0; rank < RANKS; rank++) {
        for (size_t i = 0; i < l->ranks[rank].n; i++)
            api_object_free(l->ranks[rank].v[i].object);
        vec_release(&l->ranks[rank]);
    }
    map_release(&l->unknown);
    map_release(&l->unserved);
    stand_ins_release(&l->stand_ins);
    arena_release(&l->fields);
    input_free(l->in);
}

int load_files(struct serve *s, const struct input_opts *files, struct load_pools *pools,
               struct err *err) {
    struct load l = {.s = s,
                     .pools = pools,
                     .unknown = MAP_INIT(map_random_seed()),
                     .unserved = MAP_INIT(map_random_seed())};
    stand_ins_init(&l.stand_ins);
    int rc = files->filenames.n ? read_all(&l, files, err) : 0;
    if (rc == 0 && files->filenames.n)
        store_all(&l);
    size_t all = l.loaded + l.kept + l.refused;
    if (rc == 0 && l.refused)
        rc = err_set(err, ERR_INVALID, "%zu of %zu object%s refused", l.refused, all,
                     all == 1 ? " was" : "s were");
    release(&l);
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
