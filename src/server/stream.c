/*
 * Watches: a stream of events, one JSON object per line. A stream reads its cursor only while its
 * peer takes what it was sent; one that does not is told later that it was too slow.
 *
 * Follows k8s.io/apiserver pkg/endpoints/handlers, func (*WatchServer) HandleHTTP.
 */
#include <stdlib.h>

#include "api/proto.h"
#include "base/alloc.h"
#include "server/aside_int.h"
#include "server/shape_int.h"

enum { EVENTS_AT_ONCE = 64 };

/* A bookmark a minute keeps idle watchers from falling out of the log. */
#define BOOKMARK_EVERY (60 * CLOCK_SECOND)

/* Without a timeout of their own, watches end after this long; upstream draws 30 to 60 minutes. */
#define WATCH_LONGEST (1800 * CLOCK_SECOND)

struct server__stream {
    struct server__worker *worker;
    struct server__call *call; /* its exchange, resource and media type */
    struct apiserver_watch *watch;
    struct server__stream *next, **link; /* in the worker's list */
    struct net_timer bookmark, end;
    bool has_told_columns; /* of tables: the first one has them */
    bool is_websocket;     /* a message for each event */
    struct server_watch_series *series;
};

void server__count_interest(struct server__worker *w, uint32_t resource, int by) {
    uint64_t bit = UINT64_C(1) << resource % 64;
    w->interested[resource] += (uint32_t)by;
    if (w->interested[resource])
        __atomic_fetch_or(&w->interest[resource / 64], bit, __ATOMIC_RELEASE);
    else
        __atomic_fetch_and(&w->interest[resource / 64], ~bit, __ATOMIC_RELEASE);
}

static void stream_free(struct server__stream *s) {
    net_timer_stop(s->worker->loop, &s->bookmark);
    net_timer_stop(s->worker->loop, &s->end);
    *s->link = s->next;
    if (s->next)
        s->next->link = s->link;
    if (s->watch)
        server__count_interest(s->worker, apiserver_watch_storage(s->watch), -1);
    apiserver_watch_free(s->watch);
    server__account_end(s->call);
    server__call_free(s->call);
    free(s);
}

/* ---- events ---- */

static const char *const type_names[] = {
    [APISERVER_ADDED] = "ADDED",     [APISERVER_MODIFIED] = "MODIFIED",
    [APISERVER_DELETED] = "DELETED", [APISERVER_BOOKMARK] = "BOOKMARK",
    [APISERVER_ERROR] = "ERROR",
};

/* What stands in front of the object of an event. */
#define JSON_HEAD(type) "{\"type\":\"" type "\",\"object\":"
static const char *const json_heads[] = {
    [APISERVER_ADDED] = JSON_HEAD("ADDED"),     [APISERVER_MODIFIED] = JSON_HEAD("MODIFIED"),
    [APISERVER_DELETED] = JSON_HEAD("DELETED"), [APISERVER_BOOKMARK] = JSON_HEAD("BOOKMARK"),
    [APISERVER_ERROR] = JSON_HEAD("ERROR"),
};

/* Upstream's empty workloads have counts, which are no pointers there. */
static void show_zeroes(struct api_object *o) {
    static const struct api_opt_i32 zero = {true, 0};
    if (api_object_is(o, API_T_deployment))
        ((struct api_deployment *)api_own_body(o))->spec.replicas = zero;
    else if (api_object_is(o, API_T_replica_set))
        ((struct api_replica_set *)api_own_body(o))->spec.replicas = zero;
    else if (api_object_is(o, API_T_stateful_set))
        ((struct api_stateful_set *)api_own_body(o))->spec.replicas = zero;
    else if (api_object_is(o, API_T_daemon_set))
        labels_put(&o->arena, &api_own_meta(o)->annotations,
                   (struct label){STR("deprecated.daemonset.template.generation"), STR("0")});
}

/* A bookmark is an empty object of the kind with a version. */
static struct api_object *bookmark_of(const struct server__stream *s,
                                      const struct apiserver_event *e) {
    const struct apiserver_resource *r = s->call->r.resource;
    bool is_row = s->call->media.shape == SERVER_TABLE; /* rows are of what is stored */
    struct api_object *o = api_object_new(is_row ? r->stored : r->kind);
    struct api_object_meta *m = api_own_meta(o);
    show_zeroes(o);
    m->resource_version = arena_printf(&o->arena, "%llu", (unsigned long long)e->revision);
    if (e->ends_initial_events)
        labels_put(&o->arena, &m->annotations,
                   (struct label){STR("k8s.io/initial-events-end"), STR("true")});
    return o;
}

static void write_partial(const struct server__stream *s, struct buf *b,
                          const struct api_object *o) {
    AUTO(arena_release) struct arena a = {0};
    struct json meta = api_struct_encode(&a, &api_types[API_T_object_meta], server__meta_of(&a, o));
    buf_addf(b, "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"%s\",\"metadata\":",
             server__meta_version(s->call));
    json_write(b, &meta, NULL);
    buf_add_char(b, '}');
}

static void write_table(struct server__stream *s, struct buf *b, const struct api_object *o) {
    AUTO(buf_release) struct buf meta = BUF_INIT(SIZE_MAX);
    buf_addf(&meta, "\"resourceVersion\":\"%.*s\"", STR_ARG(o->meta->resource_version));
    server__table_write(
        s->call, b,
        &(struct server__table){
            .meta = buf_view(&meta), .objects = &o, .n = 1, .has_columns = !s->has_told_columns});
    s->has_told_columns = true;
}

/* The same with nothing but its metadata, for those who want no more. */
static void write_bookmark(struct server__stream *s, struct buf *b,
                           const struct apiserver_event *e) {
    AUTO(arena_release) struct arena a = {0};
    struct api_object *o = bookmark_of(s, e);
    if (s->call->media.shape == SERVER_TABLE)
        write_table(s, b, o);
    else if (s->call->media.shape == SERVER_PARTIAL)
        write_partial(s, b, o);
    else {
        struct json tree = api_object_encode(o, &a);
        json_write(b, &tree, NULL);
    }
    api_object_free(o);
}

static void write_object(struct server__stream *s, struct buf *b, const struct api_object *stored) {
    if (s->call->media.shape == SERVER_TABLE) {
        write_table(s, b, stored);
        return;
    }
    const struct api_object *o = apiserver_convert(stored, s->call->r.resource->kind);
    if (s->call->media.shape == SERVER_PARTIAL)
        write_partial(s, b, o);
    else {
        struct api_bytes *json = server__encoded(s->call, o, false);
        buf_add(b, api_bytes_view(json));
        api_bytes_unref(json);
    }
    api_object_unref(o);
}

/* ---- in protobuf ---- */

static void write_proto(struct buf *b, struct str type, struct str body) {
    api_proto_event_head(b, type, body.n);
    buf_add(b, body);
}

static void write_proto_draft(struct buf *b, struct str type, struct api_object *draft) {
    const struct api_object *o = api_publish(draft);
    write_proto(b, type, api_object_proto(o));
    api_object_unref(o);
}

/* The version of an object does not matter where only its metadata is shown. */
static void write_proto_partial(struct server__stream *s, struct buf *b,
                                const struct apiserver_event *e) {
    AUTO(buf_release) struct buf body = BUF_INIT(SIZE_MAX);
    struct api_object *mark = e->type == APISERVER_BOOKMARK ? bookmark_of(s, e) : NULL;
    server__partial_proto(&body, server__meta_version(s->call), mark ? mark : e->object);
    api_object_free(mark);
    write_proto(b, str_of(type_names[e->type]), buf_view(&body));
}

static void write_proto_event(struct server__stream *s, struct buf *b,
                              const struct apiserver_event *e) {
    struct str type = str_of(type_names[e->type]);
    if (e->type == APISERVER_ERROR) {
        AUTO(arena_release) struct arena a = {0};
        const struct api_object *o = server__status_object(&a, &e->failure);
        write_proto(b, type, api_object_proto(o));
        api_object_unref(o);
    } else if (s->call->media.shape == SERVER_PARTIAL)
        write_proto_partial(s, b, e);
    else if (e->type == APISERVER_BOOKMARK)
        write_proto_draft(b, type, bookmark_of(s, e));
    else {
        const struct api_object *o = apiserver_convert(e->object, s->call->r.resource->kind);
        struct api_bytes *bytes = server__encoded(s->call, o, true);
        write_proto(b, type, api_bytes_view(bytes));
        api_bytes_unref(bytes);
        api_object_unref(o);
    }
}

/* ---- in JSON ---- */

static void write_event(struct server__stream *s, struct buf *b, const struct apiserver_event *e) {
    AUTO(arena_release) struct arena a = {0};
    buf_add(b, str_of(json_heads[e->type]));
    if (e->type == APISERVER_ERROR) {
        struct json status = registry_status(&a, &e->failure);
        json_write(b, &status, NULL);
    } else if (e->type == APISERVER_BOOKMARK)
        write_bookmark(s, b, e);
    else
        write_object(s, b, e->object);
    buf_add(b, STR("}\n"));
}

/* ---- the stream ---- */

/* One message: text, or bytes if they are protobuf. */
static void send_message(struct server__stream *s, struct str bytes) {
    struct net_part part = {.bytes = bytes};
    if (s->call->media.format == SERVER_PROTOBUF)
        net_websocket_write_binary(s->call->x, &part, 1);
    else
        net_stream_write(s->call->x, &part, 1);
}

/* Is the event an object as it is? */
static bool is_whole(const struct server__stream *s, const struct apiserver_event *e) {
    return s->call->media.shape == SERVER_WHOLE && e->type != APISERVER_BOOKMARK &&
           e->type != APISERVER_ERROR;
}

/* Sends an object as it is: its bytes are there once for all who watch. */
static void send_whole(struct server__stream *s, const struct apiserver_event *e) {
    AUTO(buf_release) struct buf proto_head = BUF_INIT(SIZE_MAX);
    const struct api_object *o = apiserver_convert(e->object, s->call->r.resource->kind);
    bool is_proto = s->call->media.format == SERVER_PROTOBUF;
    struct api_bytes *bytes = server__encoded(s->call, o, is_proto);
    struct str body = api_bytes_view(bytes), head = str_of(json_heads[e->type]), tail = STR("}\n");
    api_object_unref(o);
    if (is_proto) {
        api_proto_event_head(&proto_head, str_of(type_names[e->type]), body.n);
        head = buf_view(&proto_head);
        tail = STR("");
    }
    server_watch_series_event(s->series, head.n + body.n + tail.n);
    struct net_part parts[] = {{.bytes = head}, server__bytes_part(bytes, body), {.bytes = tail}};
    net_stream_write(s->call->x, parts, 3);
}

static void send_text(struct server__stream *s, const struct apiserver_event *e) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    bool is_proto = s->call->media.format == SERVER_PROTOBUF;
    (is_proto ? write_proto_event : write_event)(s, &text, e);
    server_watch_series_event(s->series, text.n);
    if (s->is_websocket)
        send_message(s, buf_view(&text));
    else
        net_stream_write(s->call->x, &(struct net_part){.bytes = buf_view(&text)}, 1);
}

static void send(struct server__stream *s, const struct apiserver_event *events, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (is_whole(s, &events[i]) && !s->is_websocket)
            send_whole(s, &events[i]);
        else
            send_text(s, &events[i]);
}

static void finish(struct server__stream *s) {
    net_stream_end(s->call->x);
    stream_free(s);
}

/* No event is a list: a watch that asks for lists ends at its first one, without a word. */
static bool is_untellable(const struct server__stream *s) {
    return s->call->media.shape == SERVER_PARTIAL_LIST;
}

/* Sends what there is until the peer has enough under way. */
static void pump(struct server__stream *s) {
    struct apiserver_event events[EVENTS_AT_ONCE];
    size_t n = EVENTS_AT_ONCE;
    while (n == EVENTS_AT_ONCE && !net_stream_is_full(s->call->x)) {
        n = apiserver_watch_read(s->watch, events, EVENTS_AT_ONCE);
        if (!n)
            return;
        bool is_last = events[n - 1].type == APISERVER_ERROR || is_untellable(s);
        if (!is_untellable(s))
            send(s, events, n);
        apiserver_events_release(events, n);
        if (is_last) {
            finish(s);
            return;
        }
    }
}

static void on_bookmark(void *arg) {
    struct server__stream *s = arg;
    struct apiserver_event e;
    if (!net_stream_is_full(s->call->x) && apiserver_watch_bookmark(s->watch, &e))
        send(s, &e, 1);
    net_timer_start(s->worker->loop, &s->bookmark, net_loop_now(s->worker->loop) + BOOKMARK_EVERY);
}

static void on_end(void *arg) {
    struct server__stream *s = arg;
    struct apiserver_event e;
    if (!net_stream_is_full(s->call->x) && apiserver_watch_bookmark(s->watch, &e))
        send(s, &e, 1);
    finish(s);
}

static void on_drained(struct net_exchange *x, void *arg) {
    (void)x;
    pump(arg);
}

static void on_closed(struct net_exchange *x, void *arg) {
    (void)x;
    stream_free(arg);
}

static void on_shutdown(struct net_exchange *x, void *arg) {
    (void)x;
    finish(arg);
}

static const struct net_exchange_events stream_events = {
    .drained = on_drained, .closed = on_closed, .shutdown = on_shutdown};

void server__stream_news(void *worker) {
    struct server__worker *w = worker;
    uint64_t news[sizeof w->news / sizeof *w->news];
    __atomic_store_n(&w->posted, false, __ATOMIC_RELEASE);
    for (size_t k = 0; k < sizeof news / sizeof *news; k++)
        news[k] = __atomic_exchange_n(&w->news[k], 0, __ATOMIC_ACQUIRE);
    for (struct server__stream *s = w->streams, *next; s; s = next) {
        uint32_t resource = apiserver_watch_storage(s->watch);
        next = s->next;
        if (news[resource / 64] >> resource % 64 & 1)
            pump(s);
    }
    server__log_news(w, news);
    server__wait_news(w);
}

static void link_stream(struct server__worker *w, struct server__stream *s) {
    s->next = w->streams;
    s->link = &w->streams;
    if (s->next)
        s->next->link = &s->next;
    w->streams = s;
}

static int64_t length_of(const struct server__call *c) {
    struct api_opt_i64 asked = c->r.options.timeout_seconds;
    int64_t longest = WATCH_LONGEST / CLOCK_SECOND * 2;
    if (!asked.set || asked.v <= 0)
        return WATCH_LONGEST;
    return (asked.v < longest ? asked.v : longest) * CLOCK_SECOND;
}

/* ---- beginning ---- */

/* The first protocol that is offered and is no token; upstream takes back what it is offered. */
static struct str protocol_of(const struct net_request *request) {
    struct str list = net_headers_find(request->headers, STR("Sec-WebSocket-Protocol")), item;
    for (bool more = list.n > 0; more;) {
        more = str_cut(list, ',', &item, &list);
        item = str_trim(item);
        if (item.n && !str_starts(item, STR("base64url.bearer.authorization.k8s.io.")))
            return item;
    }
    return STR("");
}

static void begin(struct server__stream *s) {
    struct server__call *c = s->call;
    const struct net_request *request = net_exchange_request(c->x);
    struct server__headers h;
    s->is_websocket = net_websocket_is_asked(request);
    server__account_stream(c, s->is_websocket ? 101 : 200);
    net_exchange_listen(c->x, &stream_events, s);
    if (s->is_websocket) {
        net_websocket_accept(c->x, protocol_of(request));
        return;
    }
    server__headers_start(c, &h, server_media_type(&c->media, true));
    net_stream_begin(c->x, 200, (struct net_headers){h.v, h.n});
}

static struct server_watch_series *series_of(const struct server__call *c) {
    const struct apiserver_resource *r = c->route.resource;
    return server_counts_watch(c->worker->counts,
                               &(struct server_labels){.group = r->group,
                                                       .version = r->version,
                                                       .resource = str_of(r->kind->plural),
                                                       .verb = "",
                                                       .scope = ""});
}

static struct server__stream *stream_new(struct server__call *c, struct apiserver_watch *watch) {
    struct server__stream *s = xcalloc(1, sizeof *s);
    *s = (struct server__stream){.worker = c->worker,
                                 .call = c,
                                 .watch = watch,
                                 .series = series_of(c),
                                 .bookmark = {.fn = on_bookmark, .arg = s},
                                 .end = {.fn = on_end, .arg = s}};
    link_stream(c->worker, s);
    if (watch)
        server__count_interest(c->worker, apiserver_watch_storage(watch), 1);
    begin(s);
    return s;
}

/* A watch that fails after it has waited is one that begins with its failure. */
static void refuse(struct server__call *c, const struct registry_failure *failure) {
    struct apiserver_event e = {.type = APISERVER_ERROR, .failure = *failure};
    if (!server__is_ahead(failure))
        server__answer_failure(c, *failure);
    else if (!c->has_waited)
        server__wait(c);
    else {
        struct server__stream *s = stream_new(c, NULL);
        send(s, &e, 1);
        finish(s);
    }
}

void server__watch(struct server__call *c) {
    struct registry_failure failure = server__table_options(c);
    struct apiserver_watch *watch =
        failure.code ? NULL : apiserver_watch_new(c->s->opts.api, &c->r, &failure);
    if (!watch) {
        refuse(c, &failure);
        return;
    }
    struct server__stream *s = stream_new(c, watch);
    int64_t now = net_loop_now(c->worker->loop);
    net_timer_start(c->worker->loop, &s->bookmark, now + BOOKMARK_EVERY);
    net_timer_start(c->worker->loop, &s->end, now + length_of(c));
    pump(s);
}
