/*
 * What is in the file becomes what is in memory. Records come in the order of revisions: those up
 * to the revision at which the log of their resource begins are states, the others are events, each
 * of which fits to what is there when its turn comes.
 */
#include <assert.h>

#include <inttypes.h>
#include <stdlib.h>

#include "base/buf.h"
#include "store/db_int.h"

struct load {
    struct store__db *db;
    struct store *store;
    struct arena arena; /* of one record */
};

static int refuse(struct load *l, const struct store__record *r, const char *why, struct err *err) {
    struct str title = store__record_title(&l->arena, r);
    return err_set(err, ERR_INVALID, "'%s': %.*s: %s", l->db->path, STR_ARG(title), why);
}

static int refuse_damaged(struct load *l, const struct store__record *r, const char *why,
                          struct err *err) {
    struct str title = store__record_title(&l->arena, r);
    struct str what = arena_printf(&l->arena, "%.*s: %s", STR_ARG(title), why);
    return store__db_damaged(l->db, what.p, err);
}

/* ---- objects ---- */

int store__record_decode(struct arena *a, const struct store__record *r, struct api_object **out,
                         struct err *err) {
    const struct json_opts opts = {.max_bytes = r->value.n + 1};
    struct json tree;
    struct api_faults faults;
    if (json_parse(a, r->value, &opts, &tree, err) < 0)
        return err_wrap(err, "it is not JSON");
    api_faults_init(&faults, a);
    if (api_object_decode(&tree, NULL, out, &faults) < 0) {
        AUTO(buf_release) struct buf text = BUF_INIT(ERR_TEXT);
        api_faults_write(&text, &faults);
        struct str all = buf_view(&text);
        return err_set(err, ERR_INVALID, "it cannot be decoded: %.*s", STR_ARG(all));
    }
    const struct api_object *o = *out;
    if (o->meta && str_eq(o->meta->namespace, r->namespace) && str_eq(o->meta->name, r->name) &&
        store__revision_of(o) == r->revision)
        return 0;
    api_object_free(*out);
    return err_set(err, ERR_INVALID, "it has another namespace, name or resourceVersion inside");
}

/* What was written long ago is rarely asked for: it does not keep its bytes. */
static const struct api_object *published_cold(struct load *l, uint32_t resource,
                                               struct api_object *draft) {
    const struct api_object *previous =
        store__tree_get(l->store->working[resource], store__key_of(draft));
    const struct api_object *o = store__object_publish(l->store, resource, draft, previous);
    api_object_forget_bytes(o);
    return o;
}

static const struct api_object *read_object(struct load *l, uint32_t resource,
                                            const struct store__record *r, struct err *err) {
    const char *kind = l->store->opts.resources[resource].kind;
    struct api_object *o = NULL;
    struct err why;
    if (store__record_decode(&l->arena, r, &o, &why) < 0) {
        refuse(l, r, why.msg, err);
        return NULL;
    }
    assert(o);
    if (!kind || str_is(o->names->kind, kind))
        return published_cold(l, resource, o);
    struct str text = arena_printf(
        &l->arena, "it is a %.*s and not a %s: open the store with the program that wrote it",
        STR_ARG(o->names->kind), kind);
    refuse(l, r, text.p, err);
    api_object_free(o);
    return NULL;
}

/* ---- records ---- */

/* Does the record follow what is there under its key? */
static bool fits(const struct store__record *r, bool in_log, const struct api_object *there) {
    if (!in_log)
        return !there && r->type != STORE_DELETED;
    if (r->type == STORE_CREATED)
        return !there && !r->previous;
    return there && store__revision_of(there) == r->previous;
}

static int load_record(void *ctx, struct store__db_resource *resource,
                       const struct store__record *r, const char *fault, struct err *err) {
    struct load *l = ctx;
    if (fault)
        return refuse_damaged(l, r, fault, err);
    if (resource->index < 0)
        return 0;
    uint32_t index = (uint32_t)resource->index;
    bool in_log = r->revision > resource->floor;
    arena_reset(&l->arena);
    if (!fits(r, in_log, store_get(l->store, index, r->namespace, r->name)))
        return refuse_damaged(l, r, "it does not fit to the records before it", err);
    struct store_event event = {.revision = r->revision, .type = r->type};
    event.object = read_object(l, index, r, err);
    if (!event.object)
        return -1;
    store__load(l->store, index, &event, r->time, in_log);
    return 0;
}

/* What the table of the store does not know stays in the file, and is told of. */
static void note_resources(struct load *l) {
    for (size_t i = 0; i < l->db->resources.n; i++) {
        const struct store__db_resource *r = &l->db->resources.v[i];
        if (r->index >= 0)
            l->store->histories[r->index].floor = r->floor;
        else if (r->records)
            vec_push(&l->store->unknown,
                     (struct store__unknown){store__copy_text(str_of(r->name)), r->records});
    }
}

/* A free page that is in use would be overwritten later: such a file must not be written to, though
 * all of its records are there. The first line of the text may be a heading. */
static int refuse_pages(void *ctx, const char *text, struct err *err) {
    struct load *l = ctx;
    struct str line, rest;
    str_cut(str_of(text), '\n', &line, &rest);
    if (str_starts(line, STR("***")))
        str_cut(rest, '\n', &line, &rest);
    struct str what =
        arena_printf(&l->arena, "its pages are not what was written: %.*s", STR_ARG(line));
    return store__db_damaged(l->db, what.p, err);
}

int store__db_load(struct store__db *db, struct store *s, struct err *err) {
    struct load l = {.db = db, .store = s};
    int rc = store__db_each_record(db, load_record, &l, err);
    if (rc == 0)
        rc = store__db_check_found(db, err);
    if (rc == 0)
        rc = store__db_each_page_fault(db, refuse_pages, &l, err);
    arena_release(&l.arena);
    sqlite3_db_release_memory(db->sqlite); /* pages: what they hold is in objects now */
    if (rc < 0)
        return -1;
    note_resources(&l);
    store__load_end(s, db->state.revision);
    return 0;
}
