/*
 * Get and list, over a snapshot.
 *
 * Follows k8s.io/apiserver pkg/storage/etcd3, func (*store) GetList,
 * func handleCompactedErrorForPaging.
 */
#include "apiserver/apiserver_int.h"

/* Upstream keeps no cache of events, and asks its store whenever they are read. */
static bool is_cached(const struct apiserver_request *r) {
    return !r->resource->stored || r->resource->stored->type != &api_types[API_T_event];
}

/* A list under way. */
struct list {
    struct apiserver *s;
    const struct apiserver_request *r;
    struct apiserver_response *out;
    struct apiserver__filter filter;
    struct store_range range;
    struct str key_prefix; /* of keys in the request's namespace, which tokens leave out */
};

/* What upstream's store says of a revision; a cache says nothing but why. */
static struct registry_failure invalid_revision(const struct apiserver_request *r, bool is_cached) {
    struct str why = apiserver__revision_invalid(r->arena, r->options.resource_version);
    if (is_cached)
        return (struct registry_failure){.code = ERR_UNTOLD, .message = why};
    return apiserver__failure(r->arena, ERR_INVALID, "invalid resource version: %.*s",
                              STR_ARG(why));
}

/* A store knows that it is of no use to try again soon, and so says nothing of it. */
static struct registry_failure too_large(const struct apiserver_request *r, bool is_cached,
                                         uint64_t asked, uint64_t current) {
    struct registry_failure f = apiserver__too_large(r->arena, asked, current);
    if (!is_cached)
        f.retry_after = 0;
    return f;
}

static void get(struct apiserver *s, const struct apiserver_request *r,
                struct apiserver_response *out) {
    struct store_snapshot *snap = store_snapshot_take(s->opts.store);
    uint64_t asked, current = store_snapshot_revision(snap);
    const struct api_object *o =
        store_snapshot_get(snap, r->resource->storage,
                           r->resource->kind->namespaced ? r->namespace : STR(""), r->name);
    if (!apiserver__revision_read(r->options.resource_version, &asked))
        apiserver__fail(out, invalid_revision(r, is_cached(r)));
    else if (asked > current)
        apiserver__fail(out, too_large(r, is_cached(r), asked, current));
    else if (o && r->subresource && str_is(str_of(r->subresource->name), "scale")) {
        out->answer = APISERVER_OBJECT;
        out->code = 200;
        out->object = api_publish(apiserver__scale_of(o));
    } else if (o)
        apiserver__answer(out, 200, o);
    else
        apiserver__fail(out, registry_not_found(r->arena, r->resource->kind, r->name));
    store_snapshot_unref(snap);
}

/* ---- where a list starts ---- */

static struct registry_failure expired(const struct list *l, const struct apiserver__continue *c) {
    struct registry_failure f = {.code = ERR_EXPIRED};
    if (!c) {
        f.message = STR("The resourceVersion for the provided list is too old.");
        return f;
    }
    f.message = STR("The provided continue parameter is too old to display a consistent list "
                    "result. You can start a new list without the continue parameter, or use the "
                    "continue token in this response to retrieve the remainder of the results. "
                    "Continuing with the provided token results in an inconsistent list - objects "
                    "that were created, modified, or deleted between the time the first chunk was "
                    "returned and now may show up in the list.");
    f.continue_token =
        apiserver__continue_write(l->r->arena, &(struct apiserver__continue){-1, c->start});
    return f;
}

/* Goes on with a list at the revision where it began. */
static struct registry_failure go_on(struct list *l) {
    struct apiserver__continue c;
    struct arena *a = l->r->arena;
    struct str version = l->r->options.resource_version;
    struct registry_failure f = apiserver__continue_read(a, l->r->options.continue_token, &c);
    if (f.code)
        return f;
    if (version.n && !str_is(version, "0"))
        return registry_bad_request(
            STR("specifying resource version is not allowed when using continue"));
    l->range.after = arena_printf(a, "%.*s%.*s", STR_ARG(l->key_prefix), STR_ARG(c.start));
    if (l->range.after.n && !l->range.after.p[l->range.after.n - 1])
        l->range.after.n--; /* a NUL behind a key stands for what follows it */
    if (c.revision < 0)
        l->out->list.snapshot = store_snapshot_take(l->s->opts.store);
    else
        l->out->list.snapshot =
            store_snapshot_at(l->s->opts.store, l->r->resource->storage, (uint64_t)c.revision);
    return l->out->list.snapshot ? f : expired(l, &c);
}

/* Does the selector name the one object that the list can have? Upstream then gets it by its key:
 * nothing follows it. Whoever goes on with a list does not. */
static bool is_of_one(const struct list *l) {
    bool is_one_place = l->range.namespace.n || !l->r->resource->kind->namespaced;
    return is_one_place && !l->r->options.continue_token.n &&
           registry_fields_name(l->filter.fields).n;
}

/* Are pages asked for as they were before there were matches, by a revision and a limit? */
static bool is_old_page(const struct apiserver_options *o, uint64_t revision) {
    return !o->resource_version_match.n && revision && o->limit > 0;
}

static bool is_exact(const struct list *l, uint64_t revision) {
    const struct apiserver_options *o = &l->r->options;
    return str_is(o->resource_version_match, "Exact") ||
           (is_old_page(o, revision) && !is_of_one(l));
}

/* Upstream's cache does not get one object of an exact revision, and leaves it to the store. */
static bool is_of_cache(const struct list *l, uint64_t revision) {
    const struct apiserver_options *o = &l->r->options;
    bool is_of_revision = is_exact(l, revision) || is_old_page(o, revision);
    return is_cached(l->r) && !(is_of_one(l) && is_of_revision);
}

static struct registry_failure start(struct list *l) {
    struct store *store = l->s->opts.store;
    uint64_t asked;
    if (!apiserver__revision_read(l->r->options.resource_version, &asked))
        return invalid_revision(l->r, false);
    if (asked > store_revision(store))
        return too_large(l->r, is_of_cache(l, asked), asked, store_revision(store));
    l->out->list.snapshot = is_exact(l, asked)
                                ? store_snapshot_at(store, l->r->resource->storage, asked)
                                : store_snapshot_take(store);
    return l->out->list.snapshot ? (struct registry_failure){.code = ERR_NONE} : expired(l, NULL);
}

/* ---- what is in it ---- */

static size_t most_of(const struct list *l) {
    size_t all = store_snapshot_count(l->out->list.snapshot, l->r->resource->storage, l->range);
    bool is_whole = is_cached(l->r) && str_is(l->r->options.resource_version, "0");
    int64_t limit = is_whole ? 0 : l->r->options.limit; /* a cache gives what it has */
    return limit > 0 && (uint64_t)limit < all ? (size_t)limit : all;
}

static struct str key_of(const struct list *l, const struct api_object *o) {
    AUTO(buf_release) struct buf key = BUF_INIT(SIZE_MAX);
    store_key_write(&key, o);
    return arena_str(l->r->arena, buf_view(&key));
}

/* The token names the place behind the last key: the key with a NUL. */
static struct str token_behind(const struct list *l, struct str key) {
    struct str start = str_sub(key, l->key_prefix.n, key.n);
    start = arena_printf(l->r->arena, "%.*s%c", STR_ARG(start), 0);
    return apiserver__continue_write(
        l->r->arena, &(struct apiserver__continue){(int64_t)l->out->list.revision, start});
}

static bool has_selectors(const struct list *l) {
    return (l->filter.labels && l->filter.labels->n) || registry_fields_are_any(l->filter.fields);
}

static void collect(struct list *l) {
    struct apiserver_list *list = &l->out->list;
    struct store_cursor cursor;
    size_t most = most_of(l);
    const struct api_object *o, *last = NULL;
    list->objects = arena_array(l->r->arena, const struct api_object *, most);
    list->revision = store_snapshot_revision(list->snapshot);
    store_cursor_start(&cursor, list->snapshot, l->r->resource->storage, l->range);
    while (list->n < most && (o = store_cursor_next(&cursor))) {
        if (apiserver__filter_has(&l->filter, o))
            list->objects[list->n++] = o;
        last = o;
    }
    if (list->n < most || is_of_one(l) || !last || !store_cursor_next(&cursor))
        return;
    l->range.after = key_of(l, last);
    list->continue_token = token_behind(l, l->range.after);
    if (has_selectors(l))
        return;
    size_t rest = store_snapshot_count(list->snapshot, l->r->resource->storage, l->range);
    list->remaining = (struct api_opt_i64){true, (int64_t)rest};
}

static void list(struct apiserver *s, const struct apiserver_request *r,
                 struct apiserver_response *out) {
    struct list l = {.s = s, .r = r, .out = out};
    if (r->resource->kind->namespaced)
        l.range.namespace = r->namespace;
    if (l.range.namespace.n)
        l.key_prefix = arena_printf(r->arena, "%.*s/", STR_ARG(l.range.namespace));
    struct registry_failure f = apiserver__filter_read(r, r->arena, &l.filter);
    if (!f.code)
        f = r->options.continue_token.n ? go_on(&l) : start(&l);
    if (f.code) {
        apiserver__fail(out, f);
        return;
    }
    out->answer = APISERVER_LIST;
    out->code = 200;
    collect(&l);
}

void apiserver_read(struct apiserver *s, const struct apiserver_request *r,
                    struct apiserver_response *out) {
    if (r->verb == REGISTRY_VERB_LIST)
        list(s, r, out);
    else
        get(s, r, out);
}
