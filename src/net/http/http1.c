/*
 * HTTP/1.1 on a connection: one request after the other. The next is looked at when the answer to
 * the one before it has ended, so that answers come in order and a peer that sends many requests
 * at once has one of them under way.
 */
#include "net/http/http1_int.h"

#include <assert.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "net/conn_int.h"

enum state {
    STATE_HEAD,   /* a head is waited for, or has come in part */
    STATE_HELD,   /* the handler has the request; nobody reads the body that follows */
    STATE_BODY,   /* the body is read for the handler */
    STATE_REST,   /* the request is answered, and what is left of its body is thrown away */
    STATE_ANSWER, /* the request is read whole; its answer has not ended */
};

struct http1 {
    enum state state;
    size_t seen;      /* bytes that wait and have no end of a head among them */
    int64_t deadline; /* of the head, or of the rest */
    bool is_idle;     /* no byte of the next head has come */
    bool is_chunked;  /* the answer is */
    bool keeps_alive;
    struct net__http1_frame frame;
    struct net__http1_parser *parser;
    struct net_exchange *x; /* that of the request at hand */
};

static void wait_for_head(struct net__conn *c, struct http1 *h, int64_t time) {
    h->deadline = net_loop_now(c->worker->loop) + time;
    net__conn_expect(c, h->deadline);
}

static bool take_body(void *arg, struct str bytes) {
    struct http1 *h = arg;
    return h->state == STATE_REST || net__exchange_add_body(h->x, bytes);
}

static void start(struct net__conn *c) {
    struct http1 *h = xcalloc(1, sizeof *h);
    c->session = h;
    h->is_idle = h->keeps_alive = true;
    h->parser = net__http1_parser_new(c->worker->limits.headers, take_body, h);
    wait_for_head(c, h, c->worker->limits.head);
}

static void release(struct net__conn *c) {
    struct http1 *h = c->session;
    net__http1_parser_free(h->parser);
    free(h);
}

/* Answers what cannot be handed to a handler, as Go's net/http does, and ends. */
static void refuse(struct net__conn *c, int status) {
    struct buf line = BUF_INIT(256);
    struct str text = net__status_text(status);
    buf_addf(&line,
             "HTTP/1.1 %d %.*s\r\nContent-Type: text/plain; charset=utf-8\r\n"
             "Connection: close\r\n\r\n%d %.*s",
             status, STR_ARG(text), status, STR_ARG(text));
    net__out_copy(&c->out, buf_view(&line));
    buf_release(&line);
    net__conn_end(c);
}

static void refuse_head(struct net__conn *c, int status) {
    if (status == 431)
        net__count(c->worker, heads_too_large, 1);
    else
        net__count(c->worker, malformed, 1);
    refuse(c, status);
}

/* --------------------------------------------------------------------------------------- input */

/* The request and its answer are through: the next one may come. */
static void start_next(struct net__conn *c, struct http1 *h) {
    if (!h->keeps_alive) {
        net__conn_end(c);
        return;
    }
    h->state = STATE_HEAD;
    h->is_idle = true;
    wait_for_head(c, h, c->worker->limits.idle);
}

static void dispatch(struct net__conn *c, struct http1 *h, struct net__head *head) {
    head->request.protocol = NET_HTTP1;
    head->request.has_body = h->frame.has_body;
    h->keeps_alive = h->frame.keeps_alive && !c->is_shut_down;
    h->is_chunked = false;
    h->state = h->frame.has_body ? STATE_HELD : STATE_ANSWER;
    h->x = net__exchange_new(c, head);
    h->x->body_is_whole = !h->frame.has_body;
    net__count(c->worker, requests_http1, 1);
    net__exchange_dispatch(h->x);
}

/* Empty lines before a request are passed over, as RFC 9112 asks for. */
static size_t skip_empty_lines(struct str bytes) {
    size_t n = 0;
    while (n + 2 <= bytes.n && bytes.p[n] == '\r' && bytes.p[n + 1] == '\n')
        n += 2;
    return n;
}

static size_t feed_head(struct net__conn *c, struct http1 *h, struct str bytes) {
    if (net__conn_is_full(c))
        return 0;
    if (h->is_idle)
        wait_for_head(c, h, c->worker->limits.head);
    h->is_idle = false;
    size_t empty = skip_empty_lines(bytes);
    if (empty) {
        h->seen = 0;
        return empty;
    }
    size_t end = net__http1_find_head_end(bytes, h->seen);
    size_t n = end == STR_NONE ? bytes.n : end;
    h->seen = end == STR_NONE ? bytes.n : 0;
    if (n > c->worker->limits.head_bytes) {
        refuse_head(c, 431);
        return 0;
    }
    if (end == STR_NONE)
        return 0;
    int status;
    struct net__head *head =
        net__http1_parse_head(h->parser, c->peer, str_sub(bytes, 0, end), &h->frame, &status);
    if (head)
        dispatch(c, h, head);
    else
        refuse_head(c, status);
    return end;
}

/* The body, or what is left of it, has been read to its end. */
static void end_request(struct net__conn *c, struct http1 *h) {
    if (h->state == STATE_REST) {
        start_next(c, h);
        return;
    }
    h->state = STATE_ANSWER;
    h->x->body_is_whole = true;
    net__exchange_tell_body(h->x);
}

/* Breaks off a request whose body is malformed or late. */
static void refuse_body(struct net__conn *c, struct http1 *h, int status) {
    struct net_exchange *x = h->x;
    bool is_answered = !x || x->answer != NET__ANSWER_NONE;
    h->x = NULL;
    if (x)
        net__exchange_detach(x);
    if (is_answered)
        net__conn_end(c);
    else
        refuse(c, status);
}

static size_t feed_body(struct net__conn *c, struct http1 *h, struct str bytes) {
    int64_t n = net__http1_parse_body(h->parser, bytes);
    if (n < 0) {
        net__count(c->worker, malformed, 1);
        refuse_body(c, h, 400);
        return bytes.n;
    }
    if (net__http1_is_complete(h->parser)) {
        end_request(c, h);
    } else if (h->state == STATE_BODY && h->x->body_is_too_large) {
        h->state = STATE_HELD;
        net__exchange_tell_body(h->x);
    }
    return (size_t)n;
}

static size_t feed(struct net__conn *c, struct str bytes) {
    struct http1 *h = c->session;
    switch (h->state) {
    case STATE_HEAD:
        return feed_head(c, h, bytes);
    case STATE_BODY:
    case STATE_REST:
        return feed_body(c, h, bytes);
    case STATE_HELD:
    case STATE_ANSWER:
        break;
    }
    return 0;
}

static bool wants_bytes(const struct net__conn *c) {
    const struct http1 *h = c->session;
    return (h->state != STATE_HELD && h->state != STATE_ANSWER) || c->in.n < NET__READ_BYTES;
}

static void read_body(struct net_exchange *x) {
    struct net__conn *c = x->conn;
    struct http1 *h = c->session;
    assert(h->state == STATE_HELD);
    h->state = STATE_BODY;
    if (h->frame.expects_continue)
        net__out_copy(&c->out, STR("HTTP/1.1 100 Continue\r\n\r\n"));
    h->frame.expects_continue = false;
    net__conn_wake(c);
}

/* -------------------------------------------------------------------------------------- output */

/* Is so little left of the body that to read it costs less than another connection? */
static bool rest_is_small(const struct http1 *h) {
    return h->state == STATE_ANSWER || (!h->frame.is_chunked && !h->frame.expects_continue &&
                                        h->frame.length <= LIMIT_NET_REST_BYTES);
}

static void add_header(struct net__out *out, struct str name, struct str value) {
    net__out_copy(out, name);
    net__out_copy(out, STR(": "));
    net__out_copy(out, value);
    net__out_copy(out, STR("\r\n"));
}

/* Headers of the handler; "Connection" is ours to say. */
static void add_headers(struct net__conn *c, struct http1 *h, struct net_headers headers) {
    for (size_t i = 0; i < headers.n; i++) {
        if (!net__name_eq(headers.v[i].name, STR("connection")))
            add_header(&c->out, headers.v[i].name, headers.v[i].value);
        else if (net__name_eq(headers.v[i].value, STR("close")))
            h->keeps_alive = false;
    }
}

/* How the answer's end is found: by its length, by chunks, or, by an old client, by the end of the
 * connection. */
static void add_framing(struct net_exchange *x, struct http1 *h, const struct net__answer *answer) {
    struct net__out *out = &x->conn->out;
    char text[24];
    if (answer->is_whole && answer->status != 204 && answer->status != 304) {
        snprintf(text, sizeof text, "%zu", answer->length);
        add_header(out, STR("Content-Length"), str_of(text));
    } else if (!answer->is_whole && !x->is_bodiless && h->frame.is_old) {
        h->keeps_alive = false;
    } else if (!answer->is_whole && !x->is_bodiless) {
        add_header(out, STR("Transfer-Encoding"), STR("chunked"));
        h->is_chunked = true;
    }
}

static void add_connection(struct net__conn *c, const struct http1 *h, int status) {
    if (status == 101)
        add_header(&c->out, STR("Connection"), STR("Upgrade"));
    else if (!h->keeps_alive)
        add_header(&c->out, STR("Connection"), STR("close"));
    else if (h->frame.is_old)
        add_header(&c->out, STR("Connection"), STR("keep-alive"));
}

static void begin(struct net_exchange *x, const struct net__answer *answer) {
    struct net__conn *c = x->conn;
    struct http1 *h = c->session;
    char line[64];
    snprintf(line, sizeof line, "HTTP/1.1 %d %.*s\r\n", answer->status,
             STR_ARG(net__status_text(answer->status)));
    net__out_copy(&c->out, str_of(line));
    add_headers(c, h, answer->headers);
    if (answer->status != 101)
        add_framing(x, h, answer);
    add_header(&c->out, STR("Date"), net__worker_date(c->worker));
    h->keeps_alive = h->keeps_alive && rest_is_small(h);
    add_connection(c, h, answer->status);
    net__out_copy(&c->out, STR("\r\n"));
}

static void write_parts(struct net_exchange *x, const struct net_part *parts, size_t n) {
    struct net__conn *c = x->conn;
    const struct http1 *h = c->session;
    size_t length = net__parts_length(parts, n);
    char size[24];
    if (h->is_chunked && length) {
        snprintf(size, sizeof size, "%zx\r\n", length);
        net__out_copy(&c->out, str_of(size));
    }
    for (size_t i = 0; i < n; i++)
        net__out_add(&c->out, &parts[i]);
    if (h->is_chunked && length)
        net__out_copy(&c->out, STR("\r\n"));
}

static void end(struct net_exchange *x) {
    struct net__conn *c = x->conn;
    struct http1 *h = c->session;
    if (h->is_chunked)
        net__out_copy(&c->out, STR("0\r\n\r\n"));
    h->x = NULL;
    net__exchange_detach(x);
    if (h->state == STATE_ANSWER || !h->keeps_alive || c->is_shut_down) {
        h->keeps_alive = h->keeps_alive && !c->is_shut_down;
        start_next(c, h);
    } else {
        h->state = STATE_REST;
        wait_for_head(c, h, c->worker->limits.head);
    }
}

static void break_off(struct net_exchange *x) {
    net__conn_break(x->conn);
}

static size_t pending(const struct net_exchange *x) {
    return x->conn->out.bytes;
}

/* ------------------------------------------------------------------------------- time and ends */

static int64_t expire_head(struct net__conn *c, const struct http1 *h, int64_t now) {
    if (now < h->deadline)
        return h->deadline;
    if (h->is_idle) {
        net__count(c->worker, idle_timed_out, 1);
        net__conn_end(c);
    } else {
        net__count(c->worker, heads_timed_out, 1);
        refuse(c, 408);
    }
    return INT64_MAX;
}

static int64_t expire_body(struct net__conn *c, struct http1 *h, int64_t now) {
    int64_t deadline = h->state == STATE_REST ? h->deadline : h->x->body_deadline;
    if (now < deadline)
        return deadline;
    net__count(c->worker, bodies_timed_out, 1);
    refuse_body(c, h, 408);
    return INT64_MAX;
}

static int64_t expire(struct net__conn *c, int64_t now) {
    struct http1 *h = c->session;
    if (c->is_ending)
        return INT64_MAX;
    switch (h->state) {
    case STATE_HEAD:
        return expire_head(c, h, now);
    case STATE_BODY:
    case STATE_REST:
        return expire_body(c, h, now);
    case STATE_HELD:
    case STATE_ANSWER:
        break;
    }
    return INT64_MAX;
}

static void shut_down(struct net__conn *c) {
    struct http1 *h = c->session;
    h->keeps_alive = false;
    if (h->state == STATE_HEAD && h->is_idle)
        net__conn_end(c);
}

const struct net__protocol net__http1 = {
    .start = start,
    .feed = feed,
    .wants_bytes = wants_bytes,
    .expire = expire,
    .shutdown = shut_down,
    .release = release,
    .read_body = read_body,
    .begin = begin,
    .write = write_parts,
    .end = end,
    .abort = break_off,
    .pending = pending,
};
