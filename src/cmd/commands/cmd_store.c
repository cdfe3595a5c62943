/* berth store: what can be done with the file of a server's store, beside serving it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apiserver/apiserver.h"
#include "base/vec.h"
#include "cli/io.h"
#include "cli/spool.h"
#include "cmd/cmd.h"
#include "cmd/data_dir.h"
#include "cmd/input/input.h"
#include "cmd/rows.h"
#include "store/offline.h"

enum { SPOOL_MEMORY = 8 << 20, MOST_REPORT_BYTES = 4 << 20 };

struct store_cmd_opts {
    struct input_opts input;
    struct str data_dir;
    int output; /* enum text_or_json */
};

static const struct opt store_opts[] = {
    {.name = "data-dir",
     .kind = OPT_STR,
     .help = "Folder of the server; by default berth below $XDG_DATA_HOME or ~/.local/share.",
     .value = "DIR",
     .offset = offsetof(struct store_cmd_opts, data_dir)},
    ROW_TEXT_OR_JSON(offsetof(struct store_cmd_opts, output)),
    {0},
};

/* ---- check ---- */

static void add_findings(struct buf *out, const struct store_check *c) {
    for (size_t i = 0; i < c->n; i++)
        buf_addf(out, "%.*s%s%.*s\n", STR_ARG(c->findings[i].subject),
                 c->findings[i].subject.n ? ": " : "", STR_ARG(c->findings[i].text));
    if (c->more)
        buf_addf(out, "and %llu more\n", (unsigned long long)c->more);
}

static void write_check(struct buf *out, const struct store_check *c) {
    add_findings(out, c);
    buf_addf(out,
             "%llu objects of %llu resources, %llu records with %llu bytes, revision %llu: %s\n",
             (unsigned long long)c->objects, (unsigned long long)c->resources,
             (unsigned long long)c->records, (unsigned long long)c->bytes,
             (unsigned long long)c->revision, c->n ? "damaged" : "good");
}

static void write_check_json(struct buf *out, const struct store_check *c) {
    buf_addf(out,
             "{\"apiVersion\":\"berth.dev/v1alpha1\",\"kind\":\"StoreCheck\",\"good\":%s,"
             "\"objects\":%llu,\"resources\":%llu,\"records\":%llu,\"bytes\":%llu,"
             "\"revision\":\"%llu\",\"findings\":[",
             c->n ? "false" : "true", (unsigned long long)c->objects,
             (unsigned long long)c->resources, (unsigned long long)c->records,
             (unsigned long long)c->bytes, (unsigned long long)c->revision);
    for (size_t i = 0; i < c->n; i++) {
        buf_add(out, i ? STR(",{\"subject\":") : STR("{\"subject\":"));
        json_write_str(out, c->findings[i].subject, true);
        buf_add(out, STR(",\"text\":"));
        json_write_str(out, c->findings[i].text, true);
        buf_add_char(out, '}');
    }
    buf_addf(out, "],\"more\":%llu}\n", (unsigned long long)c->more);
}

static int check(struct cmd_call *call, struct str dir, struct err *err) {
    const struct store_cmd_opts *opts = call->opts;
    struct store_check *result = arena_new(call->arena, struct store_check);
    if (store_check(dir.p, call->arena, result, err) < 0)
        return -1;
    AUTO(buf_release) struct buf out = BUF_INIT(MOST_REPORT_BYTES);
    (opts->output == AS_JSON ? write_check_json : write_check)(&out, result);
    if (io_write(call->ctx->out, buf_view(&out), err) < 0)
        return -1;
    return result->n ? CMD_BAD_VERDICT : CMD_GOOD;
}

/* ---- dump ---- */

/* A dump waits until all of it was read and is good. */
struct dump {
    struct spool spool;
    uint64_t revision;
    bool has_items;
};

static int add_head(struct dump *d, struct err *err) {
    char head[128];
    snprintf(head, sizeof head,
             "{\"kind\":\"List\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"%llu\"},"
             "\"items\":[",
             (unsigned long long)d->revision);
    return spool_add(&d->spool, str_of(head), err);
}

static int add_item(void *ctx, const struct store_dumped *object, struct err *err) {
    struct dump *d = ctx;
    if (!d->has_items && add_head(d, err) < 0)
        return -1;
    struct str before = d->has_items ? STR(",\n") : STR("\n");
    d->has_items = true;
    return spool_add(&d->spool, before, err) < 0 ? -1 : spool_add(&d->spool, object->json, err);
}

static int write_dump(struct cmd_call *call, struct dump *d, struct str dir, struct err *err) {
    if (store_dump(dir.p, &d->revision, add_item, d, err) < 0 ||
        (!d->has_items && add_head(d, err) < 0) || spool_add(&d->spool, STR("\n]}\n"), err) < 0)
        return -1;
    return spool_copy(&d->spool, call->ctx->out, err);
}

static int dump(struct cmd_call *call, struct str dir, struct err *err) {
    struct dump d = {0};
    spool_init(&d.spool, SPOOL_MEMORY, cmd_getenv(call->ctx, "TMPDIR"));
    int rc = write_dump(call, &d, dir, err);
    spool_release(&d.spool);
    return rc;
}

/* ---- restore ---- */

struct restored {
    struct api_object *draft; /* NULL: it has been taken */
    uint32_t storage;
};

struct restore {
    struct cmd_call *call;
    struct apiserver_catalog *catalog;
    VEC(struct restored) objects;
    uint64_t newest; /* of their revisions */
    struct store *store;
};

/* What the object must say for itself to be one that a server had. */
static int check_object(const struct apiserver_resource *r, const struct api_object *o,
                        struct err *err) {
    if (!r || !r->stored)
        return err_set(err, ERR_INVALID, "no resource has objects of this kind");
    if (!o->meta || !o->meta->name.n || !o->meta->uid.n)
        return err_set(err, ERR_INVALID,
                       "it has no name or no uid: only what a server had can be restored; give "
                       "manifests to kubectl");
    if (r->kind->namespaced != (o->meta->namespace.n != 0))
        return err_set(err, ERR_INVALID, "%s",
                       r->kind->namespaced ? "it has no namespace" : "its kind has no namespaces");
    return 0;
}

/* An absurd one counts as the largest that leaves room for all that may come. */
static uint64_t revision_of(struct api_object *o) {
    const uint64_t most = INT64_MAX - STORE_RESTORE_AHEAD;
    struct str text = o->meta->resource_version;
    uint64_t revision = text.n ? strtoull(arena_str(&o->arena, text).p, NULL, 10) : 0;
    return revision < most ? revision : most;
}

/* Takes the object. */
static int add_object(struct restore *x, struct api_object *o, struct err *err) {
    const struct apiserver_resource *r = apiserver_catalog_of(x->catalog, o->kind);
    if (check_object(r, o, err) < 0) {
        api_object_free(o);
        return -1;
    }
    uint64_t revision = revision_of(o);
    x->newest = revision > x->newest ? revision : x->newest;
    struct restored item = {apiserver_convert_draft(o, r->stored), r->storage};
    vec_push(&x->objects, item);
    return 0;
}

static int read_objects(struct restore *x, struct err *err) {
    const struct store_cmd_opts *opts = x->call->opts;
    struct input *in;
    struct api_object *o;
    struct input_source source;
    int rc;
    if (input_open(x->call->ctx, &opts->input, false, &in, err) < 0)
        return -1;
    while ((rc = input_next(in, &o, &source, err)) > 0)
        if (add_object(x, o, err) < 0) {
            rc = input_fail_at(&source, err);
            break;
        }
    input_free(in);
    return rc;
}

/* What became of the last commit. */
static void note_failure(void *ctx, const struct err *err) {
    struct err *to = ctx;
    if (err && !to->code)
        *to = *err;
}

static int put_objects(struct restore *x, struct err *err) {
    enum { BATCH = 1000 };
    struct err failure = {0};
    for (size_t i = 0; i < x->objects.n && !failure.code; i++) {
        struct restored *r = &x->objects.v[i];
        const struct api_object_meta *m = r->draft->meta;
        if (store_get(x->store, r->storage, m->namespace, m->name))
            return err_set(err, ERR_INVALID, "%s '%.*s%s%.*s' is there twice", r->draft->kind->kind,
                           STR_ARG(m->namespace), m->namespace.n ? "/" : "", STR_ARG(m->name));
        store_put(x->store, r->storage, r->draft);
        r->draft = NULL;
        if (i % BATCH == BATCH - 1 || i + 1 == x->objects.n) {
            store_commit(x->store, note_failure, &failure);
            store_flush(x->store);
        }
    }
    if (failure.code)
        *err = failure;
    return failure.code ? -1 : 0;
}

static void remove_store(struct arena *a, struct str dir) {
    static const char *const files[] = {"store.db", "store.db-wal", "store.db-shm", "lock"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        (void)unlink(data_dir_inside(a, dir, files[i]).p);
    (void)rmdir(dir.p);
}

/* Fills a new store, which only takes its place when all is in it. */
static int fill(struct restore *x, struct str dir, struct err *err) {
    struct arena *a = x->call->arena;
    struct str fresh = arena_printf(a, "%.*s.restored", STR_ARG(dir));
    struct store_opts opts = {.clock = x->call->ctx->clock, .directory = fresh.p};
    opts.resources = apiserver_catalog_storage(x->catalog, &opts.n);
    if (store_restore_open(&opts, x->newest + STORE_RESTORE_AHEAD, &x->store, err) < 0)
        return -1;
    int rc = put_objects(x, err);
    store_close(x->store);
    if (rc == 0 && rename(fresh.p, dir.p) < 0)
        rc = io_fail(err, "folder '%s'", dir.p);
    if (rc < 0)
        remove_store(a, fresh);
    return rc;
}

static int restore_objects(struct restore *x, struct str dir, struct err *err) {
    struct stat st;
    if (stat(dir.p, &st) == 0)
        return err_set(err, ERR_INVALID,
                       "'%s' is there: a dump is restored where there is no store; move it away "
                       "first",
                       dir.p);
    struct str parent = str_sub(dir, 0, dir.n - strlen("/store"));
    if (read_objects(x, err) < 0 || data_dir_make(x->call->arena, parent, err) < 0 ||
        fill(x, dir, err) < 0)
        return -1;
    struct str line =
        arena_printf(x->call->arena, "%zu objects restored to %s\n", x->objects.n, dir.p);
    return io_write(x->call->ctx->out, line, err);
}

static int restore(struct cmd_call *call, struct str dir, struct err *err) {
    const struct store_cmd_opts *opts = call->opts;
    if (!opts->input.filenames.n)
        return err_set(err, ERR_USAGE, "say which dump to restore: -f FILE");
    struct restore x = {.call = call, .catalog = apiserver_catalog_new()};
    int rc = restore_objects(&x, dir, err);
    for (size_t i = 0; i < x.objects.n; i++)
        api_object_free(x.objects.v[i].draft);
    vec_release(&x.objects);
    apiserver_catalog_free(x.catalog);
    return rc;
}

/* ---- compact ---- */

static int compact(struct cmd_call *call, struct str dir, struct err *err) {
    struct store_compacted result;
    if (store_compact(dir.p, &result, err) < 0)
        return -1;
    struct str line =
        arena_printf(call->arena, "%llu bytes, %llu before\n", (unsigned long long)result.after,
                     (unsigned long long)result.before);
    return io_write(call->ctx->out, line, err);
}

/* ---- the command ---- */

static const struct action {
    const char *name;
    int (*run)(struct cmd_call *call, struct str dir, struct err *err);
} actions[] = {{"check", check}, {"dump", dump}, {"restore", restore}, {"compact", compact}};

static const char *const action_names[] = {"check", "dump", "restore", "compact", NULL};

static int run(struct cmd_call *call, struct err *err) {
    const struct store_cmd_opts *opts = call->opts;
    if (call->args.n == 0)
        return err_set(err, ERR_USAGE, "say what to do: check, dump, restore or compact");
    const struct action *action = NULL;
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (str_is(call->args.v[0], actions[i].name))
            action = &actions[i];
    if (!action)
        return err_set(err, ERR_USAGE,
                       "unknown action \"%.*s\": it must be check, dump, restore or compact",
                       STR_ARG(call->args.v[0]));
    struct str dir;
    if (data_dir_choose(call->ctx, call->arena, opts->data_dir, &dir, err) < 0)
        return -1;
    return action->run(call, data_dir_inside(call->arena, dir, "store"), err);
}

static const struct cmd_example examples[] = {
    {"Look whether the file is good, also while a server runs",
     "berth store check --data-dir ./cluster"},
    {"A consistent copy of everything, also while a server runs",
     "berth store dump --data-dir ./cluster > backup.json"},
    {"A new server with what was there", "berth store restore --data-dir ./other -f backup.json"},
    {"Give space back to the disk while no server runs",
     "berth store compact --data-dir ./cluster"},
    {0},
};

const struct cmd cmd_store = {
    .name = "store",
    .summary = "Check, dump, restore or compact the store of a server",
    .about = "Look after the file in which `berth apiserver` keeps its objects. check reads every "
             "record and holds it against its checksum. dump writes all objects of one moment as "
             "a v1 List; a server may run meanwhile. restore makes a store of such a list where "
             "there is none, with revisions above all that anybody has seen; uids and times stay. "
             "compact rewrites the file without unused space while no server runs.",
    .usage = "check|dump|restore|compact [--data-dir DIR] [options]",
    .examples = examples,
    .groups = {{"Options", store_opts, 0},
               {"Input Options", input_opts, offsetof(struct store_cmd_opts, input)}},
    .opts_size = sizeof(struct store_cmd_opts),
    .most_args = 1,
    .arg_words = action_names,
    .run = run,
};
