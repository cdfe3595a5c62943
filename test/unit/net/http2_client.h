/* A client of HTTP/2 for tests, by nghttp2, on a connection without a socket. */
#ifndef TEST_UNIT_NET_HTTP2_CLIENT_H
#define TEST_UNIT_NET_HTTP2_CLIENT_H

#include <nghttp2/nghttp2.h>

#include "wire.h"

enum { CLIENT_STREAMS = 2048, CLIENT_BYTES = 1 << 22 };

struct client {
    struct wire wire;
    nghttp2_session *session;
    size_t read; /* of wire.sent */
    uint32_t goaway_error;
    bool has_goaway;
    struct client_stream {
        int status;
        struct buf body, headers; /* headers as "name=value " */
        bool is_closed, has_content_length;
        uint32_t error;
    } streams[CLIENT_STREAMS]; /* by stream id / 2 */
};

static inline struct client_stream *client_stream(struct client *cl, int32_t id) {
    assert(id / 2 < CLIENT_STREAMS);
    return &cl->streams[id / 2];
}

static inline int client_on_header(nghttp2_session *session, const nghttp2_frame *frame,
                                   const uint8_t *name, size_t name_n, const uint8_t *value,
                                   size_t value_n, uint8_t flags, void *user) {
    struct client_stream *s = client_stream(user, frame->hd.stream_id);
    struct str n = {(const char *)name, name_n}, v = {(const char *)value, value_n};
    int64_t status;
    (void)session;
    (void)flags;
    if (str_eq(n, STR(":status")) && str_to_i64(v, &status))
        s->status = (int)status;
    s->headers.max = CLIENT_BYTES;
    buf_addf(&s->headers, "%.*s=%.*s ", STR_ARG(n), STR_ARG(v));
    return 0;
}

static inline int client_on_data(nghttp2_session *session, uint8_t flags, int32_t id,
                                 const uint8_t *data, size_t n, void *user) {
    struct client_stream *s = client_stream(user, id);
    (void)session;
    (void)flags;
    s->body.max = CLIENT_BYTES;
    buf_add(&s->body, (struct str){(const char *)data, n});
    return 0;
}

static inline int client_on_close(nghttp2_session *session, int32_t id, uint32_t error,
                                  void *user) {
    struct client_stream *s = client_stream(user, id);
    (void)session;
    s->is_closed = true;
    s->error = error;
    return 0;
}

static inline int client_on_frame(nghttp2_session *session, const nghttp2_frame *frame,
                                  void *user) {
    struct client *cl = user;
    (void)session;
    if (frame->hd.type == NGHTTP2_GOAWAY) {
        cl->has_goaway = true;
        cl->goaway_error = frame->goaway.error_code;
    }
    return 0;
}

static inline void client_open(struct client *cl, const struct net_limits *limits) {
    nghttp2_session_callbacks *callbacks;
    nghttp2_option *options;
    memset(cl, 0, sizeof *cl);
    wire_open(&cl->wire, limits);
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, client_on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, client_on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, client_on_close);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, client_on_frame);
    nghttp2_option_new(&options);
    nghttp2_option_set_no_auto_window_update(options, 1);
    nghttp2_option_set_peer_max_concurrent_streams(options, 100000);
    nghttp2_session_client_new2(&cl->session, callbacks, cl, options);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_option_del(options);
    nghttp2_submit_settings(cl->session, NGHTTP2_FLAG_NONE, NULL, 0);
}

/* Exchanges bytes until both sides have nothing more to say. */
static inline void client_run(struct client *cl) {
    const uint8_t *bytes;
    for (bool is_busy = true; is_busy;) {
        is_busy = false;
        for (ssize_t n; (n = nghttp2_session_mem_send(cl->session, &bytes)) > 0; is_busy = true)
            wire_feed(&cl->wire, (struct str){(const char *)bytes, (size_t)n});
        wire_turn(&cl->wire);
        size_t n = cl->wire.sent.n - cl->read;
        if (n) {
            const char *from = cl->wire.sent.p + cl->read;
            cl->read = cl->wire.sent.n;
            nghttp2_session_mem_recv(cl->session, (const uint8_t *)from, n);
            is_busy = true;
        }
    }
}

static inline nghttp2_nv client_nv(const char *name, const char *value) {
    union {
        const char *from;
        uint8_t *to;
    } n = {.from = name}, v = {.from = value};
    return (nghttp2_nv){n.to, v.to, strlen(name), strlen(value), 0};
}

/* A body of any text; it goes out as the window allows. */
struct client_body {
    struct str left;
    bool never_ends;
    const char *announced; /* Content-Length; NULL: none */
};

static inline ssize_t client_read_body(nghttp2_session *session, int32_t id, uint8_t *to, size_t n,
                                       uint32_t *flags, nghttp2_data_source *source, void *user) {
    struct client_body *body = source->ptr;
    (void)session;
    (void)id;
    (void)user;
    n = n < body->left.n ? n : body->left.n;
    if (n)
        memcpy(to, body->left.p, n);
    body->left = str_sub(body->left, n, body->left.n);
    if (body->left.n == 0 && body->never_ends && n == 0)
        return NGHTTP2_ERR_DEFERRED;
    if (body->left.n == 0 && !body->never_ends)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)n;
}

/* Sends a request; returns its stream. body may be NULL, and is borrowed until the stream ends. */
static inline int32_t client_ask(struct client *cl, const char *method, const char *path,
                                 struct client_body *body) {
    nghttp2_nv nv[] = {client_nv(":method", method), client_nv(":path", path),
                       client_nv(":scheme", "http"), client_nv(":authority", "a"),
                       client_nv("content-length", body && body->announced ? body->announced : "")};
    nghttp2_data_provider provider = {.source.ptr = body, .read_callback = client_read_body};
    size_t n = body && body->announced ? 5 : 4;
    return nghttp2_submit_request(cl->session, NULL, nv, n, body ? &provider : NULL, NULL);
}

/* Lets the server send more on a stream and its connection. */
static inline void client_consume(struct client *cl, int32_t id, size_t n) {
    nghttp2_session_consume(cl->session, id, n);
}

static inline void client_close(struct client *cl) {
    nghttp2_session_del(cl->session);
    for (size_t i = 0; i < CLIENT_STREAMS; i++) {
        buf_release(&cl->streams[i].body);
        buf_release(&cl->streams[i].headers);
    }
    wire_close(&cl->wire);
}

#endif
