/* Requests and watches of a server in the same process. */
#include "client/local.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "net/loop.h"

struct local_watch;

struct local {
    struct client base;
    struct client_local_opts opts;
    size_t under_way; /* calls that have not come back */
    struct local_watch *watches;
    /* Atomic: resources that have new events, and whether the loop will look at them. */
    uint64_t news[LIMIT_STORE_RESOURCES / 64];
    bool is_posted;
};

static struct local *local_of(struct client *c) {
    return heap_entry(c, struct local, base);
}

/* ---- calls ---- */

/* A request with its answer. It belongs to the loop's thread, and to the core's while it is there.
 */
struct local_call {
    struct client_call base;
    struct arena arena;
    struct apiserver_request request;
    struct apiserver_response response;
    struct apiserver_job job;
    client_answer_fn *done; /* NULL: nobody waits for it */
    void *arg;
};

static void call_free(struct local_call *call) {
    local_of(call->base.client)->under_way--;
    apiserver_response_release(&call->response);
    api_object_free(call->request.object);
    arena_release(&call->arena);
    free(call);
}

static struct client_answer answer_of(struct local_call *call) {
    const struct apiserver_response *r = &call->response;
    struct client_answer answer = {.status = r->code};
    if (r->answer == APISERVER_FAILURE) {
        answer.code = r->failure.code;
        answer.status = err_http_status(r->failure.code);
        answer.message = r->failure.message;
        answer.retry_after = r->failure.retry_after;
    } else if (r->answer == APISERVER_LIST) {
        answer.items = r->list.objects;
        answer.item_count = r->list.n;
        answer.resource_version =
            arena_printf(&call->arena, "%llu", (unsigned long long)r->list.revision);
        answer.continue_token = r->list.continue_token;
    } else
        answer.object = r->object;
    return answer;
}

static void answer_call(void *arg) {
    struct local_call *call = arg;
    if (call->done) {
        struct client_answer answer = answer_of(call);
        call->done(call->arg, &answer);
    }
    call_free(call);
}

static void post_back(struct apiserver_job *job) {
    struct local_call *call = heap_entry(job, struct local_call, job);
    net_loop_post(call->base.client->loop, answer_call, call);
}

/* ---- what a request says ---- */

static const struct registry_subresource *find_subresource(const struct apiserver_resource *r,
                                                           const char *name) {
    const struct registry_subresource *sub = r->row->subresources;
    while (name && sub && sub->name && !str_is(str_of(sub->name), name))
        sub++;
    return name && sub && sub->name ? sub : NULL;
}

static struct apiserver_options options_of(struct local_call *call,
                                           const struct client_request *r) {
    struct arena *a = &call->arena;
    const struct client_selection *s = &r->selection;
    return (struct apiserver_options){
        .field_manager = arena_str(a, r->field_manager),
        .field_validation = APISERVER_IGNORE,
        .force = {r->force, r->force},
        .resource_version = arena_str(a, s->resource_version),
        .continue_token = arena_str(a, s->continue_token),
        .label_selector = arena_str(a, s->label_selector),
        .field_selector = arena_str(a, s->field_selector),
        .limit = s->limit,
    };
}

static const struct api_delete_options *deletion_of(struct arena *a,
                                                    const struct client_deletion *d) {
    struct api_delete_options *o = arena_new(a, struct api_delete_options);
    o->grace_period_seconds = d->grace_seconds;
    if (d->propagation.n)
        o->propagation_policy = arena_str(a, d->propagation);
    if (d->uid.n || d->resource_version.n) {
        o->preconditions = arena_new(a, struct api_preconditions);
        if (d->uid.n)
            o->preconditions->uid = arena_str(a, d->uid);
        if (d->resource_version.n)
            o->preconditions->resource_version = arena_str(a, d->resource_version);
    }
    return o;
}

static struct registry_failure read_patch(struct local_call *call, const struct client_request *r) {
    static const enum apiserver_patch_type types[] = {
        [CLIENT_PATCH_JSON] = APISERVER_JSON_PATCH,
        [CLIENT_PATCH_MERGE] = APISERVER_MERGE_PATCH,
        [CLIENT_PATCH_STRATEGIC] = APISERVER_STRATEGIC_PATCH,
        [CLIENT_APPLY] = APISERVER_APPLY_PATCH,
    };
    struct err err;
    struct json *tree = arena_new(&call->arena, struct json);
    if (json_parse(&call->arena, arena_str(&call->arena, r->patch), NULL, tree, &err) < 0)
        return registry_bad_request(arena_str(&call->arena, str_of(err.msg)));
    call->request.patch_type = types[r->patch_type];
    call->request.patch = tree;
    return (struct registry_failure){.code = ERR_NONE};
}

/* A draft as a server's decoder gives it: with its defaults, and nothing in it shared with what is
 * published, which they would be written to. */
static struct api_object *decoded(struct api_object *draft, const struct feature_set *gates) {
    if (draft && draft->base) {
        struct api_object *copy = api_object_copy(draft);
        api_object_free(draft);
        draft = copy;
    }
    if (draft)
        api_object_default(draft, gates);
    return draft;
}

static struct registry_failure fill(struct local_call *call, const struct client_request *r) {
    const struct client_local_opts *opts = &local_of(call->base.client)->opts;
    struct arena *a = &call->arena;
    bool is_many = r->verb == REGISTRY_VERB_LIST || r->verb == REGISTRY_VERB_DELETE_COLLECTION;
    if (!r->kind)
        return registry_bad_request(STR("there are no paths without a connection"));
    const struct apiserver_resource *resource = apiserver_catalog_of(opts->catalog, r->kind);
    call->request = (struct apiserver_request){
        .verb = r->verb,
        .resource = resource,
        .namespace = arena_str(a, is_many ? r->selection.namespace : r->namespace),
        .name = arena_str(a, r->name),
        .subresource = find_subresource(resource, r->subresource),
        .user = opts->user,
        .user_agent = opts->user_agent,
        .options = options_of(call, r),
        .arena = a,
    };
    call->request.object = decoded(r->object, opts->gates); /* which the name may be a view of */
    if (r->verb == REGISTRY_VERB_DELETE || r->verb == REGISTRY_VERB_DELETE_COLLECTION)
        call->request.delete = deletion_of(a, &r->deletion);
    return r->verb == REGISTRY_VERB_PATCH ? read_patch(call, r)
                                          : (struct registry_failure){.code = ERR_NONE};
}

static struct client_call *send(struct client *c, const struct client_request *r,
                                client_answer_fn *done, void *arg) {
    struct local *l = local_of(c);
    struct local_call *call = xcalloc(1, sizeof *call);
    *call = (struct local_call){.base = {c}, .done = done, .arg = arg};
    call->job = (struct apiserver_job){
        .request = &call->request, .response = &call->response, .done = post_back};
    l->under_way++;
    struct registry_failure failure = fill(call, r);
    bool reads = r->verb == REGISTRY_VERB_GET || r->verb == REGISTRY_VERB_LIST;
    if (failure.code)
        call->response = (struct apiserver_response){.failure = failure};
    else if (reads)
        apiserver_read(l->opts.api, &call->request, &call->response);
    if (failure.code || reads)
        post_back(&call->job);
    else
        apiserver_core_submit(l->opts.core, &call->job);
    return &call->base;
}

static void cancel(struct client_call *base) {
    heap_entry(base, struct local_call, base)->done = NULL;
}

/* ---- watches ---- */

struct local_watch {
    struct client_watch base;
    struct apiserver_watch *cursor; /* NULL: it has ended */
    const struct api_kind *kind;
    client_event_fn *tell;
    void *arg;
    struct registry_failure failure; /* why it could not begin */
    struct arena arena;              /* of the failure */
    struct net_deferred start;       /* the first events come behind the call that asked */
    struct local_watch *next, **link;
};

enum { EVENTS_AT_ONCE = 64, ROUNDS_AT_ONCE = 16, PASSES_AT_ONCE = 16 };

static void tell_end(struct local_watch *w, const struct registry_failure *f) {
    apiserver_watch_free(w->cursor);
    w->cursor = NULL;
    w->tell(w->arg,
            &(struct client_event){.type = CLIENT_ENDED, .code = f->code, .message = f->message});
}

static void tell_event(struct local_watch *w, const struct apiserver_event *e) {
    static const enum client_event_type types[] = {
        [APISERVER_ADDED] = CLIENT_ADDED,
        [APISERVER_MODIFIED] = CLIENT_MODIFIED,
        [APISERVER_DELETED] = CLIENT_DELETED,
        [APISERVER_BOOKMARK] = CLIENT_BOOKMARK,
    };
    if (e->type == APISERVER_ERROR) {
        tell_end(w, &e->failure);
        return;
    }
    const struct api_object *o = e->object ? apiserver_convert(e->object, w->kind) : NULL;
    w->tell(w->arg, &(struct client_event){.type = types[e->type],
                                           .object = o,
                                           .revision = e->revision,
                                           .ends_initial_events = e->ends_initial_events});
    api_object_unref(o);
}

/* Tells what there is to tell, up to a share of the turn. True: there may be more. */
static bool pump(struct local_watch *w) {
    struct apiserver_event events[EVENTS_AT_ONCE];
    for (int round = 0; round < ROUNDS_AT_ONCE; round++) {
        size_t n = w->cursor ? apiserver_watch_read(w->cursor, events, EVENTS_AT_ONCE) : 0;
        for (size_t i = 0; i < n; i++)
            tell_event(w, &events[i]);
        apiserver_events_release(events, n);
        if (n < EVENTS_AT_ONCE)
            return false;
    }
    return true;
}

static void look(void *arg);

/* Has the loop look after watches of these resources; on any thread. */
static void note_news(struct local *l, const uint64_t *resources) {
    for (size_t k = 0; k < sizeof l->news / sizeof *l->news; k++)
        __atomic_fetch_or(&l->news[k], resources[k], __ATOMIC_RELEASE);
    if (!__atomic_exchange_n(&l->is_posted, true, __ATOMIC_ACQ_REL))
        net_loop_post(l->base.loop, look, l);
}

static void on_news(void *ctx, const struct store_news *news) {
    note_news(ctx, news->resources);
}

static void note_watch(const struct local_watch *w, uint64_t *resources) {
    uint32_t storage = apiserver_watch_storage(w->cursor);
    resources[storage / 64] |= UINT64_C(1) << storage % 64;
}

static bool take_news(struct local *l, uint64_t *news) {
    bool has_news = false;
    for (size_t k = 0; k < sizeof l->news / sizeof *l->news; k++) {
        news[k] = __atomic_exchange_n(&l->news[k], 0, __ATOMIC_ACQ_REL);
        has_news |= news[k] != 0;
    }
    return has_news;
}

static void tell_news(struct local *l, const uint64_t *news, uint64_t *rest) {
    for (struct local_watch *w = l->watches; w; w = w->next) {
        uint32_t storage = w->cursor ? apiserver_watch_storage(w->cursor) : 0;
        if (w->cursor && news[storage / 64] >> storage % 64 & 1 && pump(w))
            note_watch(w, rest);
    }
}

/* A watch tells what is there when it is read, which may be newer than what another one has told
 * before it: a pod on a node, but not yet what made the node fit for it. So watches are read until
 * there are no news, before anybody acts upon what was told. */
static void look(void *arg) {
    struct local *l = arg;
    uint64_t news[LIMIT_STORE_RESOURCES / 64], rest[LIMIT_STORE_RESOURCES / 64] = {0};
    (void)__atomic_exchange_n(&l->is_posted, false, __ATOMIC_ACQ_REL);
    for (int i = 0; i < PASSES_AT_ONCE && take_news(l, news); i++)
        tell_news(l, news, rest);
    for (size_t k = 0; k < sizeof rest / sizeof *rest; k++)
        if (rest[k]) {
            note_news(l, rest);
            return;
        }
}

static void start(void *arg) {
    struct local_watch *w = arg;
    uint64_t resources[LIMIT_STORE_RESOURCES / 64] = {0};
    if (!w->cursor) {
        tell_end(w, &w->failure);
        return;
    }
    note_watch(w, resources);
    note_news(local_of(w->base.client), resources);
}

static void link_watch(struct local *l, struct local_watch *w) {
    w->next = l->watches;
    w->link = &l->watches;
    if (w->next)
        w->next->link = &w->next;
    l->watches = w;
}

static struct client_watch *watch_start(struct client *c, const struct api_kind *kind,
                                        const struct client_selection *selection,
                                        client_event_fn *tell, void *arg) {
    struct local *l = local_of(c);
    struct local_watch *w = xcalloc(1, sizeof *w);
    bool is_first = !selection->resource_version.n;
    struct apiserver_request r = {
        .verb = REGISTRY_VERB_WATCH,
        .resource = apiserver_catalog_of(l->opts.catalog, kind),
        .namespace = selection->namespace,
        .user = l->opts.user,
        .options = {.watch = true,
                    .allow_bookmarks = true,
                    .send_initial_events = {is_first, is_first},
                    .resource_version = selection->resource_version,
                    .label_selector = selection->label_selector,
                    .field_selector = selection->field_selector},
        .arena = &w->arena,
    };
    w->base.client = c;
    w->kind = kind;
    w->tell = tell;
    w->arg = arg;
    w->start = (struct net_deferred){.fn = start, .arg = w};
    w->cursor = apiserver_watch_new(l->opts.api, &r, &w->failure);
    link_watch(l, w);
    net_loop_defer(c->loop, &w->start);
    return &w->base;
}

static void watch_stop(struct client_watch *base) {
    struct local_watch *w = heap_entry(base, struct local_watch, base);
    net_loop_undefer(base->client->loop, &w->start);
    *w->link = w->next;
    if (w->next)
        w->next->link = w->link;
    apiserver_watch_free(w->cursor);
    arena_release(&w->arena);
    free(w);
}

/* ---- the client ---- */

/* What is with the core, or on its way back, comes back before the client goes. */
static void local_free(struct client *c) {
    struct local *l = local_of(c);
    store_unsubscribe(l->opts.store, on_news, l);
    while (l->under_way || __atomic_load_n(&l->is_posted, __ATOMIC_ACQUIRE))
        net_loop_turn(c->loop, -1);
    free(l);
}

static const struct client_carrier carrier = {
    .send = send,
    .cancel = cancel,
    .watch_start = watch_start,
    .watch_stop = watch_stop,
    .free = local_free,
};

struct client *client_local_new(const struct client_local_opts *opts) {
    struct local *l = xcalloc(1, sizeof *l);
    l->base = (struct client){.carrier = &carrier, .loop = opts->loop};
    l->opts = *opts;
    store_subscribe(opts->store, on_news, l);
    return &l->base;
}
