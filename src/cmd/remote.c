/* A server that is asked while the command waits, and the lists of its objects. */
#include "cmd/remote.h"

#include "api/object.h"
#include "base/printable.h"
#include "cli/io.h"
#include "client/lister.h"
#include "cmd/progress.h"
#include "net/loop.h"

/* While a command waits, its progress is looked at so often. */
#define LOOK_EVERY (CLOCK_SECOND / 10)

enum { LONGEST_REMARK = 4096 };

int remote_open(struct remote *r, struct cmd_call *call, const struct cluster_opts *opts,
                struct err *err) {
    *r = (struct remote){.call = call};
    if (cluster_find(call, opts, &r->access, err) < 0)
        return err->code != ERR_NOT_FOUND || cluster_is_named(opts)
                   ? -1
                   : cmd_hint(err, STR("files are named with -f, instead of a cluster"));
    r->loop = net_loop_new(&clock_system);
    r->client = cluster_client_new(r->loop, opts, &r->access, err);
    return r->client ? 0 : -1;
}

void remote_close(struct remote *r) {
    client_free(r->client);
    net_loop_free(r->loop);
    r->client = NULL;
    r->loop = NULL;
}

struct str remote_namespace(const struct remote *r, struct str given) {
    return given.n ? given : r->access.namespace;
}

struct str remote_place(struct arena *a, const struct api_object *o) {
    if (!o->kind->namespaced)
        return arena_printf(a, "%s/%.*s", o->kind->plural, STR_ARG(o->meta->name));
    return arena_printf(a, "namespaces/%.*s/%s/%.*s", STR_ARG(o->meta->namespace), o->kind->plural,
                        STR_ARG(o->meta->name));
}

static void take_member(struct json *object, struct str key) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < object->n; i++)
        if (!str_eq(object->members[i].key, key))
            object->members[kept++] = object->members[i];
    object->n = kept;
}

struct json remote_tree(struct arena *a, const struct api_object *o) {
    struct json tree = api_object_encode(o, a);
    for (uint32_t i = 0; i < tree.n; i++)
        if (str_is(tree.members[i].key, "metadata"))
            take_member(&tree.members[i].value, STR("managedFields"));
    return tree;
}

/* ---- one object ---- */

struct getting {
    struct remote *r;
    const struct api_object *found;
    bool is_done;
    int rc;
    struct err *err;
};

static void on_object(void *arg, const struct client_answer *answer) {
    struct getting *g = arg;
    g->is_done = true;
    if (answer->object)
        g->found = api_object_ref(answer->object);
    else if (answer->code && answer->code != ERR_NOT_FOUND)
        g->rc = cluster_fail(&g->r->access, answer, g->err);
}

int remote_get(struct remote *r, const struct api_kind *kind, struct str namespace, struct str name,
               const struct api_object **out, struct err *err) {
    struct getting g = {.r = r, .err = err};
    client_send(r->client,
                &(struct client_request){
                    .verb = REGISTRY_VERB_GET, .kind = kind, .namespace = namespace, .name = name},
                on_object, &g);
    while (!g.is_done)
        net_loop_turn(r->loop, CLOCK_SECOND);
    *out = g.found;
    return g.rc;
}

/* ---- lists ---- */

struct reading {
    struct client_lists lists;
    struct progress progress;
    bool is_done;
};

static void on_done(void *arg) {
    ((struct reading *)arg)->is_done = true;
}

static void wait_for(struct remote *r, struct reading *reading) {
    client_lists_start(&reading->lists);
    while (!reading->is_done) {
        net_loop_turn(r->loop, LOOK_EVERY);
        progress_update(&reading->progress, reading->lists.listed, 0);
    }
    progress_end(&reading->progress);
}

static bool is_forbidden(const struct client_list *list) {
    return list->failure.code == ERR_FORBIDDEN;
}

/* One line for all kinds that hide the same. */
static void warn(const struct remote *r, const struct client_lists *all,
                 const struct remote_kind *kinds, size_t first) {
    AUTO(buf_release) struct buf text = BUF_INIT(LONGEST_REMARK);
    cmd_add_title(r->call->ctx, CMD_WARNING, &text);
    for (size_t i = 0; i < all->n; i++) {
        bool is_same = kinds[i].hides && str_is(str_of(kinds[i].hides), kinds[first].hides);
        if (!is_same || !is_forbidden(&all->v[i]))
            continue;
        if (i < first)
            return; /* it was told there */
        buf_addf(&text, "%s%s", i == first ? "" : ", ", all->v[i].kind->plural);
    }
    buf_addf(&text, " may not be listed: %s\n", kinds[first].hides);
    (void)io_write(r->call->ctx->err, buf_view(&text), NULL);
}

static int hint_at_skip(const struct client_lists *all, const struct remote_kind *kinds,
                        size_t first, struct err *err) {
    AUTO(buf_release) struct buf text = BUF_INIT(ERR_TEXT);
    const char *before = "; --skip=";
    buf_add(&text, str_of(kinds[first].blinds));
    for (size_t i = 0; i < all->n && kinds[first].can_be_skipped; i++) {
        if (!kinds[i].can_be_skipped || !is_forbidden(&all->v[i]))
            continue;
        buf_addf(&text, "%s%s", before, all->v[i].kind->kind);
        before = ",";
    }
    buf_add(&text, str_of(kinds[first].can_be_skipped ? " does without" : ""));
    return cmd_hint(err, buf_view(&text));
}

static int fail(const struct remote *r, const struct client_list *list, struct err *err) {
    struct client_answer answer = {
        .code = list->failure.code, .status = list->status, .message = str_of(list->failure.msg)};
    return cluster_fail(&r->access, &answer, err);
}

/* What did not come: a kind that the server does not have is empty, one that may not be listed is
 * told if something can be said without it. */
static int check(struct remote *r, const struct client_lists *all, const struct remote_kind *kinds,
                 struct err *err) {
    for (size_t i = 0; i < all->n; i++) {
        const struct client_list *list = &all->v[i];
        if (!list->failure.code || list->failure.code == ERR_NOT_FOUND ||
            (is_forbidden(list) && kinds[i].hides))
            continue;
        fail(r, list, err);
        return is_forbidden(list) && kinds[i].blinds ? hint_at_skip(all, kinds, i, err) : -1;
    }
    for (size_t i = 0; i < all->n; i++)
        if (is_forbidden(&all->v[i])) {
            opt_list_add(r->call->arena, &r->hidden, str_of(all->v[i].kind->kind));
            warn(r, all, kinds, i);
        }
    return 0;
}

static struct client_list *lists_of(struct arena *a, const struct remote_kind *kinds, size_t n) {
    struct client_list *lists = arena_array(a, struct client_list, n);
    for (size_t i = 0; i < n; i++)
        lists[i] = (struct client_list){.kind = client_kind(kinds[i].type),
                                        .selection = {.namespace = kinds[i].namespace,
                                                      .field_selector = kinds[i].field_selector}};
    return lists;
}

int remote_read(struct remote *r, const struct remote_kind *kinds, size_t n,
                void (*visit)(void *arg, const struct api_object *o), void *arg, struct err *err) {
    AUTO(arena_release) struct arena a = {0};
    struct reading reading = {.lists = {.client = r->client,
                                        .v = lists_of(&a, kinds, n),
                                        .n = n,
                                        .done = on_done,
                                        .arg = &reading}};
    if (!n)
        return 0;
    progress_init_count(&reading.progress, r->call->ctx, 0, "objects");
    wait_for(r, &reading);
    int rc = check(r, &reading.lists, kinds, err);
    for (size_t i = 0; i < n && rc == 0; i++)
        client_list_take(&reading.lists.v[i], visit, arg);
    log_info(&r->call->ctx->log, 1, "cluster read", LOG_STR("server", r->access.server),
             LOG_I64("objects", (int64_t)reading.lists.listed));
    client_lists_release(&reading.lists);
    return rc;
}
