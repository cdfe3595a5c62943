/*
 * WebSockets, the server's side: a request of HTTP/1.1 becomes a stream of messages. wslay reads
 * frames and answers pings and closes; messages of ours are a frame each, whose bytes are not
 * copied. What the peer says is read, bounded, and ignored.
 */
#include <assert.h>
#include <openssl/evp.h>
#include <wslay/wslay.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "net/conn_int.h"

struct websocket {
    wslay_event_context_ptr wslay;
    const struct net__protocol *before; /* what was spoken until then, and its session */
    void *session_before;
    struct str input; /* what wslay is being fed */
};

/* ----------------------------------------------------------------------------------- handshake */

/* A key is 16 bytes in base64. */
static bool is_key(struct str key) {
    unsigned char bytes[18];
    if (key.n != 24 || !str_ends(key, STR("==")))
        return false;
    return EVP_DecodeBlock(bytes, (const unsigned char *)key.p, 24) == sizeof bytes;
}

bool net_websocket_is_asked(const struct net_request *request) {
    struct net_headers headers = request->headers;
    return request->protocol == NET_HTTP1 && str_eq(request->method, STR("GET")) &&
           !request->has_body && net__headers_have(headers, STR("connection"), STR("upgrade")) &&
           net__headers_have(headers, STR("upgrade"), STR("websocket")) &&
           str_eq(net_headers_find(headers, STR("sec-websocket-version")), STR("13")) &&
           is_key(net_headers_find(headers, STR("sec-websocket-key")));
}

enum { ACCEPT_BYTES = 28 };

/* The proof that a server has understood the key: RFC 6455, section 4.2.2. */
static void derive_accept(struct str key, char accept[ACCEPT_BYTES + 1]) {
    static const char salt[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    char text[24 + sizeof salt - 1];
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned length;
    memcpy(text, key.p, 24);
    memcpy(text + 24, salt, sizeof salt - 1);
    if (EVP_Digest(text, sizeof text, digest, &length, EVP_sha1(), NULL) != 1)
        BUG("OpenSSL has no SHA-1");
    EVP_EncodeBlock((unsigned char *)accept, digest, (int)length);
}

static void answer_handshake(struct net_exchange *x, struct str subprotocol) {
    char accept[ACCEPT_BYTES + 1];
    derive_accept(net_headers_find(x->head->request.headers, STR("sec-websocket-key")), accept);
    const struct net_header headers[] = {
        {STR("Upgrade"), STR("websocket")},
        {STR("Sec-WebSocket-Accept"), {accept, ACCEPT_BYTES}},
        {STR("Sec-WebSocket-Protocol"), subprotocol},
    };
    net_stream_begin(x, 101, (struct net_headers){headers, subprotocol.n ? 3 : 2});
    x->is_bodiless = false;
}

/* --------------------------------------------------------------------------------------- wslay */

static ssize_t give_input(wslay_event_context_ptr wslay, uint8_t *to, size_t n, int flags,
                          void *user) {
    struct net__conn *c = user;
    struct websocket *ws = c->session;
    (void)flags;
    if (ws->input.n == 0) {
        wslay_event_set_error(wslay, WSLAY_ERR_WOULDBLOCK);
        return -1;
    }
    n = n < ws->input.n ? n : ws->input.n;
    memcpy(to, ws->input.p, n);
    ws->input = str_sub(ws->input, n, ws->input.n);
    return (ssize_t)n;
}

static ssize_t take_output(wslay_event_context_ptr wslay, const uint8_t *bytes, size_t n, int flags,
                           void *user) {
    struct net__conn *c = user;
    (void)wslay;
    (void)flags;
    net__out_copy(&c->out, (struct str){(const char *)bytes, n});
    return (ssize_t)n;
}

static const struct wslay_event_callbacks callbacks = {
    .recv_callback = give_input,
    .send_callback = take_output,
};

void net_websocket_accept(struct net_exchange *x, struct str subprotocol) {
    struct net__conn *c = x->conn;
    if (!c)
        return;
    assert(net_websocket_is_asked(&x->head->request) && x->body_is_whole);
    answer_handshake(x, subprotocol);
    struct websocket *ws = xcalloc(1, sizeof *ws);
    *ws = (struct websocket){.before = c->protocol, .session_before = c->session};
    if (wslay_event_context_server_init(&ws->wslay, &callbacks, c) != 0)
        BUG("wslay has no memory");
    wslay_event_config_set_no_buffering(ws->wslay, 1);
    wslay_event_config_set_max_recv_msg_length(ws->wslay, LIMIT_NET_WEBSOCKET_BYTES);
    c->session = ws;
    c->protocol = &net__websocket;
    net__count(c->worker, websockets, 1);
}

static void release(struct net__conn *c) {
    struct websocket *ws = c->session;
    wslay_event_context_free(ws->wslay);
    c->session = ws->session_before;
    ws->before->release(c);
    free(ws);
}

static size_t feed(struct net__conn *c, struct str bytes) {
    struct websocket *ws = c->session;
    if (net__conn_is_full(c))
        return 0;
    ws->input = bytes;
    if (wslay_event_recv(ws->wslay) != 0 && !wslay_event_want_write(ws->wslay))
        net__conn_break(c); /* else a close is about to be sent */
    return bytes.n;
}

static bool wants_bytes(const struct net__conn *c) {
    (void)c;
    return true;
}

/* Answers to pings and closes. When both sides have closed, all is over. */
static void produce(struct net__conn *c) {
    const struct websocket *ws = c->session;
    if (wslay_event_send(ws->wslay) != 0) {
        net__conn_break(c);
        return;
    }
    if (!wslay_event_get_close_sent(ws->wslay))
        return;
    if (c->exchanges)
        net__exchange_detach(c->exchanges);
    net__conn_end(c);
}

static int64_t expire(struct net__conn *c, int64_t now) {
    (void)c;
    (void)now;
    return INT64_MAX; /* a stream may be silent for as long as it wants */
}

static void shut_down(struct net__conn *c) {
    (void)c; /* whoever writes was told, and ends it */
}

/* ------------------------------------------------------------------------------------- messages */

static void write_message(struct net_exchange *x, uint8_t opcode, const struct net_part *parts,
                          size_t n) {
    struct net__out *out = &x->conn->out;
    size_t length = net__parts_length(parts, n);
    uint8_t head[10] = {(uint8_t)(0x80 | opcode)};
    int bytes = length < 126 ? 0 : length <= UINT16_MAX ? 2 : 8; /* of the length, behind a mark */
    head[1] = (uint8_t)(bytes == 0 ? length : bytes == 2 ? 126 : 127);
    for (int i = 0; i < bytes; i++)
        head[2 + i] = (uint8_t)((uint64_t)length >> (8 * (bytes - 1 - i)));
    net__out_copy(out, (struct str){(const char *)head, (size_t)(2 + bytes)});
    for (size_t i = 0; i < n; i++)
        net__out_add(out, &parts[i]);
}

static void write_text(struct net_exchange *x, const struct net_part *parts, size_t n) {
    write_message(x, WSLAY_TEXT_FRAME, parts, n);
}

void net_websocket_write_binary(struct net_exchange *x, const struct net_part *parts, size_t n) {
    if (!x->conn) {
        net__parts_drop(parts, n);
        return;
    }
    assert(x->conn->protocol == &net__websocket && x->answer == NET__ANSWER_BEGUN);
    write_message(x, WSLAY_BINARY_FRAME, parts, n);
    net__exchange_note_write(x);
}

static void end(struct net_exchange *x) {
    const struct websocket *ws = x->conn->session;
    wslay_event_queue_close(ws->wslay, WSLAY_CODE_NORMAL_CLOSURE, NULL, 0);
}

static void break_off(struct net_exchange *x) {
    net__conn_break(x->conn);
}

static size_t pending(const struct net_exchange *x) {
    return x->conn->out.bytes;
}

const struct net__protocol net__websocket = {
    .feed = feed,
    .wants_bytes = wants_bytes,
    .produce = produce,
    .expire = expire,
    .shutdown = shut_down,
    .release = release,
    .write = write_text,
    .end = end,
    .abort = break_off,
    .pending = pending,
};
