/*
 * HTTP/2 on a connection, by nghttp2: frames in, and frames out that are gathered once per turn.
 * A stream that waits costs its exchange and nghttp2's own struct, some hundred bytes.
 */
#include <assert.h>
#include <nghttp2/nghttp2.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "base/vec.h"
#include "net/conn_int.h"

/* A head as it comes, header by header. Heads do not interleave, so a connection has one. */
struct heading {
    int32_t stream; /* 0: none is coming */
    int64_t deadline;
    bool is_too_large;
    size_t n;
    struct {
        size_t name, name_length, value, value_length; /* places in bytes */
    } * v;
    size_t cap;
    struct buf bytes;
};

struct http2 {
    nghttp2_session *session;
    struct heading heading;
    int64_t idle_deadline; /* counts when there are no streams */
    bool is_going;         /* no further streams are taken */
};

/* --------------------------------------------------------------------------------------- heads */

static void clear_heading(struct heading *h) {
    h->stream = 0;
    h->n = 0;
    h->is_too_large = false;
    buf_clear(&h->bytes);
}

static void release_heading(struct heading *h) {
    free(h->v);
    buf_release(&h->bytes);
    *h = (struct heading){0};
}

static void add_heading(struct heading *h, size_t most, struct str name, struct str value) {
    if (h->n == most) {
        h->is_too_large = true;
        return;
    }
    h->v = vec_grow(h->v, &h->cap, h->n + 1, sizeof *h->v);
    h->v[h->n].name = h->bytes.n;
    h->v[h->n].name_length = name.n;
    buf_add(&h->bytes, name);
    h->v[h->n].value = h->bytes.n;
    h->v[h->n].value_length = value.n;
    buf_add(&h->bytes, value);
    h->is_too_large = h->bytes.full;
    h->n++;
}

static void set_pseudo(struct net_request *request, struct str name, struct str value) {
    if (str_eq(name, STR(":method")))
        request->method = value;
    else if (str_eq(name, STR(":path")))
        request->path = value; /* the whole target, to be split */
    else if (str_eq(name, STR(":authority")))
        request->authority = value;
}

/* The head that has come. nghttp2 has checked that pseudo-headers are there, once, and first. */
static struct net__head *make_head(const struct heading *h, struct net__peer *peer) {
    char *bytes;
    struct net__head *head = net__head_new(peer, h->n, h->bytes.n, &bytes);
    struct net_request *request = &head->request;
    if (h->bytes.n)
        memcpy(bytes, h->bytes.p, h->bytes.n);
    for (size_t i = 0; i < h->n; i++) {
        struct str name = {bytes + h->v[i].name, h->v[i].name_length};
        struct str value = {bytes + h->v[i].value, h->v[i].value_length};
        if (name.n && name.p[0] == ':')
            set_pseudo(request, name, value);
        else
            head->headers[request->headers.n++] = (struct net_header){name, value};
    }
    request->protocol = NET_HTTP2;
    if (request->authority.n == 0)
        request->authority = net_headers_find(request->headers, STR("host"));
    return head;
}

/* ---------------------------------------------------------------------------------- callbacks */

static struct net_exchange *exchange_of(nghttp2_session *session, int32_t stream) {
    return nghttp2_session_get_stream_user_data(session, stream);
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *user) {
    struct net__conn *c = user;
    struct http2 *h2 = c->session;
    (void)session;
    if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
        return 0;
    clear_heading(&h2->heading);
    h2->heading.bytes.max = c->worker->limits.head_bytes;
    h2->heading.stream = frame->hd.stream_id;
    h2->heading.deadline = net_loop_now(c->worker->loop) + c->worker->limits.head;
    net__conn_expect(c, h2->heading.deadline);
    return 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_length, const uint8_t *value, size_t value_length, uint8_t flags,
                     void *user) {
    struct net__conn *c = user;
    struct http2 *h2 = c->session;
    (void)session;
    (void)flags;
    if (frame->hd.stream_id == h2->heading.stream && !h2->heading.is_too_large)
        add_heading(&h2->heading, c->worker->limits.headers,
                    (struct str){(const char *)name, name_length},
                    (struct str){(const char *)value, value_length});
    return 0;
}

static nghttp2_nv make_nv(struct str name, struct str value) {
    union { /* nghttp2 copies these, and yet wants pointers to write */
        const char *from;
        uint8_t *to;
    } n = {.from = name.p}, v = {.from = value.p};
    return (nghttp2_nv){n.to, v.to, name.n, value.n, NGHTTP2_NV_FLAG_NONE};
}

/* Answers what cannot be handed to a handler. */
static void refuse(nghttp2_session *session, int32_t stream, struct str status) {
    nghttp2_nv nv = make_nv(STR(":status"), status);
    nghttp2_submit_response(session, stream, &nv, 1, NULL);
}

/* A head is there as a whole. */
static void end_heading(struct net__conn *c, struct http2 *h2, bool is_last) {
    int32_t stream = h2->heading.stream;
    h2->heading.stream = 0;
    if (h2->heading.is_too_large) {
        net__count(c->worker, heads_too_large, 1);
        refuse(h2->session, stream, STR("431"));
        return;
    }
    struct net__head *head = make_head(&h2->heading, c->peer);
    if (!net__split_target(head->request.path, &head->request.path, &head->request.query)) {
        net__count(c->worker, malformed, 1);
        net__head_free(head);
        refuse(h2->session, stream, STR("400"));
        return;
    }
    head->request.has_body = !is_last;
    struct net_exchange *x = net__exchange_new(c, head);
    x->stream = stream;
    x->body_is_whole = is_last;
    nghttp2_session_set_stream_user_data(h2->session, stream, x);
    net__count(c->worker, requests_http2, 1);
    net__exchange_dispatch(x);
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *user) {
    struct net__conn *c = user;
    struct http2 *h2 = c->session;
    bool is_last = frame->hd.flags & NGHTTP2_FLAG_END_STREAM;
    if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
        end_heading(c, h2, is_last);
    } else if (is_last && (frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS)) {
        struct net_exchange *x = exchange_of(session, frame->hd.stream_id);
        if (x) {
            x->body_is_whole = true;
            net__exchange_tell_body(x);
        }
    }
    return 0;
}

/* Bytes that nobody has asked for yet fill the stream's window, and no more come. */
static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *data,
                   size_t n, void *user) {
    struct net_exchange *x = exchange_of(session, stream);
    (void)flags;
    (void)user;
    nghttp2_session_consume_connection(session, n);
    if (!x || x->body_is_too_large)
        return 0;
    if (!net__exchange_add_body(x, (struct str){(const char *)data, n}))
        net__exchange_tell_body(x);
    else if (x->body_is_asked)
        nghttp2_session_consume_stream(session, stream, n);
    return 0;
}

static int on_stream_close(nghttp2_session *session, int32_t stream, uint32_t error, void *user) {
    struct net__conn *c = user;
    struct http2 *h2 = c->session;
    struct net_exchange *x = exchange_of(session, stream);
    (void)error;
    if (h2->heading.stream == stream)
        h2->heading.stream = 0;
    if (x)
        net__exchange_detach(x);
    h2->idle_deadline = net_loop_now(c->worker->loop) + c->worker->limits.idle;
    if (!c->exchanges)
        net__conn_expect(c, h2->idle_deadline);
    return 0;
}

/* Counts how a connection ended that we ended. */
static void count_goaway(struct net__worker *worker, uint32_t error) {
    if (error == NGHTTP2_ENHANCE_YOUR_CALM || error == NGHTTP2_INTERNAL_ERROR)
        net__count(worker, floods, 1);
    else if (error != NGHTTP2_NO_ERROR)
        net__count(worker, malformed, 1);
}

/* Is so little left of the body that it may come? There are clients (curl 7.88) that do not see the
 * answer when their stream is reset while they send. */
static bool rest_is_small(const struct net_exchange *x) {
    int64_t length;
    return x && x->head &&
           str_to_i64(net_headers_find(x->head->request.headers, STR("content-length")), &length) &&
           length <= LIMIT_NET_REST_BYTES;
}

/* The answer was sent before the request has ended: its rest is read for a while, or refused. */
static void end_request(struct net__conn *c, nghttp2_session *session, int32_t stream) {
    struct net_exchange *x = exchange_of(session, stream);
    if (!rest_is_small(x)) {
        nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, stream, NGHTTP2_NO_ERROR);
        return;
    }
    x->body_deadline = net_loop_now(c->worker->loop) + c->worker->limits.handshake;
    net__conn_expect(c, x->body_deadline);
}

static int on_frame_sent(nghttp2_session *session, const nghttp2_frame *frame, void *user) {
    struct net__conn *c = user;
    int32_t stream = frame->hd.stream_id;
    bool is_last = frame->hd.flags & NGHTTP2_FLAG_END_STREAM;
    if (frame->hd.type == NGHTTP2_GOAWAY)
        count_goaway(c->worker, frame->goaway.error_code);
    else if (frame->hd.type == NGHTTP2_RST_STREAM)
        net__count(c->worker, streams_refused,
                   frame->rst_stream.error_code == NGHTTP2_REFUSED_STREAM);
    else if (is_last && (frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS) &&
             nghttp2_session_get_stream_remote_close(session, stream) == 0)
        end_request(c, session, stream);
    return 0;
}

/* Says how many bytes of an answer go into the next frame. */
static ssize_t read_answer(nghttp2_session *session, int32_t stream, uint8_t *to, size_t most,
                           uint32_t *flags, nghttp2_data_source *source, void *user) {
    const struct net_exchange *x = exchange_of(session, stream);
    size_t n = x->out.bytes < most ? x->out.bytes : most;
    (void)to;
    (void)source;
    (void)user;
    *flags = NGHTTP2_DATA_FLAG_NO_COPY;
    if (n == x->out.bytes && x->answer == NET__ANSWER_DONE)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    else if (n == 0)
        return NGHTTP2_ERR_DEFERRED;
    return (ssize_t)n;
}

/* Puts a frame of an answer into the output, without a copy of the bytes. */
static int send_answer(nghttp2_session *session, nghttp2_frame *frame, const uint8_t *head,
                       size_t n, nghttp2_data_source *source, void *user) {
    struct net__conn *c = user;
    struct net_exchange *x = exchange_of(session, frame->hd.stream_id);
    (void)source;
    if (net__conn_is_full(c))
        return NGHTTP2_ERR_WOULDBLOCK;
    assert(frame->data.padlen == 0);
    net__out_copy(&c->out, (struct str){(const char *)head, 9});
    net__out_move(&c->out, &x->out, n);
    x->progress = net_loop_now(x->loop);
    return 0;
}

/* ------------------------------------------------------------------------------------- session */

static nghttp2_session_callbacks *new_callbacks(void) {
    nghttp2_session_callbacks *callbacks;
    if (nghttp2_session_callbacks_new(&callbacks) != 0)
        BUG("nghttp2 has no memory");
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_frame_sent);
    nghttp2_session_callbacks_set_send_data_callback(callbacks, send_answer);
    return callbacks;
}

static nghttp2_option *new_options(void) {
    nghttp2_option *options;
    if (nghttp2_option_new(&options) != 0)
        BUG("nghttp2 has no memory");
    nghttp2_option_set_no_auto_window_update(options, 1);
    nghttp2_option_set_no_closed_streams(options, 1);
    /* Go's clients send what users gave them, and try again for long if it is refused. */
    nghttp2_option_set_no_rfc9113_leading_and_trailing_ws_validation(options, 1);
    nghttp2_option_set_max_outbound_ack(options, LIMIT_NET_ACKS);
    nghttp2_option_set_stream_reset_rate_limit(options, LIMIT_NET_RESETS,
                                               LIMIT_NET_RESETS_PER_SECOND);
    return options;
}

static void submit_settings(struct net__conn *c, nghttp2_session *session) {
    const struct net_limits *limits = &c->worker->limits;
    nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, (uint32_t)limits->streams},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, LIMIT_NET_WINDOW_BYTES},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, (uint32_t)limits->head_bytes},
    };
    nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings,
                            sizeof settings / sizeof *settings);
    size_t window = limits->streams * LIMIT_NET_WINDOW_BYTES;
    nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0,
                                          window < INT32_MAX ? (int32_t)window : INT32_MAX);
}

static void start(struct net__conn *c) {
    struct http2 *h2 = xcalloc(1, sizeof *h2);
    nghttp2_session_callbacks *callbacks = new_callbacks();
    nghttp2_option *options = new_options();
    if (nghttp2_session_server_new2(&h2->session, callbacks, c, options) != 0)
        BUG("nghttp2 has no memory");
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_option_del(options);
    submit_settings(c, h2->session);
    h2->idle_deadline = net_loop_now(c->worker->loop) + c->worker->limits.idle;
    c->session = h2;
    net__conn_expect(c, h2->idle_deadline);
    net__conn_wake(c);
}

static void release(struct net__conn *c) {
    struct http2 *h2 = c->session;
    nghttp2_session_del(h2->session);
    release_heading(&h2->heading);
    free(h2);
}

/* Bytes that are looked at before it is asked whether others should have their turn. */
enum { FED_AT_ONCE = 512 };

static size_t feed(struct net__conn *c, struct str bytes) {
    struct http2 *h2 = c->session;
    if (net__conn_is_full(c) || net__conn_has_had_its_turn(c))
        return 0;
    if (bytes.n > FED_AT_ONCE)
        bytes.n = FED_AT_ONCE;
    ssize_t n = nghttp2_session_mem_recv(h2->session, (const uint8_t *)bytes.p, bytes.n);
    if (n >= 0)
        return (size_t)n;
    if (n == NGHTTP2_ERR_FLOODED)
        net__count(c->worker, floods, 1);
    else
        net__count(c->worker, malformed, 1);
    net__conn_break(c);
    return bytes.n;
}

static bool wants_bytes(const struct net__conn *c) {
    const struct http2 *h2 = c->session;
    return c->in.n == 0 && nghttp2_session_want_read(h2->session);
}

static void produce(struct net__conn *c) {
    struct http2 *h2 = c->session;
    const uint8_t *bytes;
    ssize_t n = 0;
    while (!net__conn_is_full(c) && (n = nghttp2_session_mem_send(h2->session, &bytes)) > 0)
        net__out_copy(&c->out, (struct str){(const char *)bytes, (size_t)n});
    if (n < 0)
        net__conn_break(c);
    else if (!nghttp2_session_want_read(h2->session) && !nghttp2_session_want_write(h2->session))
        net__conn_end(c);
}

/* ------------------------------------------------------------------------------------- answers */

static void read_body(struct net_exchange *x) {
    const struct http2 *h2 = x->conn->session;
    struct str expect = net_headers_find(x->head->request.headers, STR("expect"));
    nghttp2_nv nv = make_nv(STR(":status"), STR("100"));
    if (net__name_eq(expect, STR("100-continue")))
        nghttp2_submit_headers(h2->session, NGHTTP2_FLAG_NONE, x->stream, NULL, &nv, 1, NULL);
    nghttp2_session_consume_stream(h2->session, x->stream, x->body.n);
    net__conn_wake(x->conn);
}

/* Takes no further streams; those that come meanwhile may be sent again on another connection. */
static void go_away(struct net__conn *c) {
    struct http2 *h2 = c->session;
    if (h2->is_going)
        return;
    h2->is_going = true;
    nghttp2_submit_goaway(h2->session, NGHTTP2_FLAG_NONE,
                          nghttp2_session_get_last_proc_stream_id(h2->session), NGHTTP2_NO_ERROR,
                          NULL, 0);
    net__conn_wake(c);
}

/* Writes the handler's headers and returns how many; "Connection" does not exist in HTTP/2. */
static size_t add_headers(struct net__conn *c, struct net_headers headers, nghttp2_nv *nv) {
    size_t n = 0;
    for (size_t i = 0; i < headers.n; i++) {
        if (!net__name_eq(headers.v[i].name, STR("connection")))
            nv[n++] = make_nv(headers.v[i].name, headers.v[i].value);
        else if (net__name_eq(headers.v[i].value, STR("close")))
            go_away(c);
    }
    return n;
}

static void begin(struct net_exchange *x, const struct net__answer *answer) {
    const struct http2 *h2 = x->conn->session;
    nghttp2_nv *nv = xmalloc((answer->headers.n + 3) * sizeof *nv);
    char status[8], length[24];
    snprintf(status, sizeof status, "%d", answer->status);
    nv[0] = make_nv(STR(":status"), str_of(status));
    size_t n = 1 + add_headers(x->conn, answer->headers, nv + 1);
    if (answer->is_whole && answer->status != 204 && answer->status != 304) {
        snprintf(length, sizeof length, "%zu", answer->length);
        nv[n++] = make_nv(STR("content-length"), str_of(length));
    }
    nv[n++] = make_nv(STR("date"), net__worker_date(x->conn->worker));
    bool has_bytes = !x->is_bodiless && (!answer->is_whole || answer->length > 0);
    nghttp2_data_provider provider = {.read_callback = read_answer};
    nghttp2_submit_response(h2->session, x->stream, nv, n, has_bytes ? &provider : NULL);
    free(nv);
}

static void write_parts(struct net_exchange *x, const struct net_part *parts, size_t n) {
    struct net__conn *c = x->conn;
    const struct http2 *h2 = c->session;
    bool was_empty = x->out.bytes == 0;
    for (size_t i = 0; i < n; i++)
        net__out_add(&x->out, &parts[i]);
    if (!was_empty || x->out.bytes == 0)
        return;
    x->progress = net_loop_now(x->loop);
    net__conn_expect(c, x->progress + c->worker->limits.stall);
    nghttp2_session_resume_data(h2->session, x->stream);
}

static void end(struct net_exchange *x) {
    const struct http2 *h2 = x->conn->session;
    nghttp2_session_resume_data(h2->session, x->stream);
}

static void break_stream(struct net_exchange *x, uint32_t error) {
    const struct http2 *h2 = x->conn->session;
    nghttp2_submit_rst_stream(h2->session, NGHTTP2_FLAG_NONE, x->stream, error);
    net__conn_wake(x->conn);
}

static void break_off(struct net_exchange *x) {
    break_stream(x, NGHTTP2_INTERNAL_ERROR);
}

static size_t pending(const struct net_exchange *x) {
    return x->out.bytes;
}

/* ---------------------------------------------------------------------------------------- time */

/* Breaks off a stream whose body does not come or whose answer is not taken, and returns when to
 * look at it again. */
static int64_t expire_stream(struct net__conn *c, struct net_exchange *x, int64_t now) {
    int64_t stalled = x->out.bytes ? x->progress + c->worker->limits.stall : INT64_MAX;
    int64_t next = x->body_deadline < stalled ? x->body_deadline : stalled;
    if (now < next)
        return next;
    if (now >= x->body_deadline)
        net__count(c->worker, bodies_timed_out, 1);
    else
        net__count(c->worker, writes_stalled, 1);
    x->body_deadline = INT64_MAX;
    bool was_answered = x->answer == NET__ANSWER_DONE && !x->out.bytes;
    net__out_release(&x->out);
    break_stream(x, was_answered ? NGHTTP2_NO_ERROR : NGHTTP2_CANCEL);
    return INT64_MAX;
}

static int64_t expire_idle(struct net__conn *c, const struct http2 *h2, int64_t now) {
    if (now < h2->idle_deadline)
        return h2->idle_deadline;
    net__count(c->worker, idle_timed_out, 1);
    go_away(c);
    return INT64_MAX;
}

static int64_t expire(struct net__conn *c, int64_t now) {
    struct http2 *h2 = c->session;
    int64_t next = c->exchanges || h2->is_going ? INT64_MAX : expire_idle(c, h2, now);
    for (struct net_exchange *x = c->exchanges; x; x = x->next) {
        int64_t at = expire_stream(c, x, now);
        next = at < next ? at : next;
    }
    if (h2->heading.stream == 0)
        return next;
    if (now >= h2->heading.deadline) {
        net__count(c->worker, heads_timed_out, 1);
        net__conn_break(c);
        return INT64_MAX;
    }
    return h2->heading.deadline < next ? h2->heading.deadline : next;
}

const struct net__protocol net__http2 = {
    .start = start,
    .feed = feed,
    .wants_bytes = wants_bytes,
    .produce = produce,
    .expire = expire,
    .shutdown = go_away,
    .release = release,
    .read_body = read_body,
    .begin = begin,
    .write = write_parts,
    .end = end,
    .abort = break_off,
    .pending = pending,
};
