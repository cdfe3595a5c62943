/* Exchanges: what handlers do with a request, passed on to the protocol that carries it. */
#include <assert.h>

#include "base/arena.h"
#include "base/limits.h"
#include "net/conn_int.h"

struct net_exchange *net__exchange_new(struct net__conn *c, struct net__head *head) {
    struct net_exchange *x = xmalloc(sizeof *x);
    *x = (struct net_exchange){.conn = c,
                               .loop = c->worker->loop,
                               .next = c->exchanges,
                               .place = &c->exchanges,
                               .head = head,
                               .body_deadline = INT64_MAX,
                               .body = BUF_INIT(LIMIT_NET_WINDOW_BYTES)};
    if (x->next)
        x->next->place = &x->next;
    c->exchanges = x;
    x->is_head = str_eq(head->request.method, STR("HEAD"));
    net__count(c->worker, exchanges_now, 1);
    return x;
}

void net__exchange_dispatch(struct net_exchange *x) {
    struct net__worker *worker = x->conn->worker;
    x->conn->turn_requests++;
    worker->request(worker->self, x);
}

static void free_exchange(struct net_exchange *x) {
    net_exchange_drop_request(x);
    net__out_release(&x->out);
    free(x);
}

void net__exchange_detach(struct net_exchange *x) {
    *x->place = x->next;
    if (x->next)
        x->next->place = x->place;
    if (x->answer != NET__ANSWER_DONE)
        net__count(x->conn->worker, exchanges_now, -1);
    x->is_closed = x->answer != NET__ANSWER_DONE;
    x->conn = NULL;
    net__out_release(&x->out);
    if (x->is_released)
        free_exchange(x);
    else if (x->is_closed && x->events && x->events->closed)
        x->events->closed(x, x->arg);
}

void net_exchange_release(struct net_exchange *x) {
    assert(!x->is_released);
    x->is_released = true;
    if (!x->conn)
        free_exchange(x);
    else if (x->answer != NET__ANSWER_DONE)
        x->conn->protocol->abort(x);
}

const struct net_request *net_exchange_request(const struct net_exchange *x) {
    assert(x->head);
    return &x->head->request;
}

void net_exchange_drop_request(struct net_exchange *x) {
    net__head_free(x->head);
    x->head = NULL;
    buf_release(&x->body);
}

struct net_loop *net_exchange_loop(const struct net_exchange *x) {
    return x->loop;
}

bool net_exchange_is_closed(const struct net_exchange *x) {
    return x->is_closed;
}

void net_exchange_listen(struct net_exchange *x, const struct net_exchange_events *events,
                         void *arg) {
    x->events = events;
    x->arg = arg;
}

/* ---------------------------------------------------------------------------------------- body */

/* Does the head say that the body is longer? */
static bool announces_more(const struct net_exchange *x, size_t limit) {
    int64_t length;
    struct str text = net_headers_find(x->head->request.headers, STR("content-length"));
    return str_to_i64(text, &length) && (uint64_t)length > limit;
}

enum net_body net_exchange_read_body(struct net_exchange *x, size_t limit) {
    assert(!x->body_is_asked);
    x->body_is_asked = true;
    x->body.max = limit;
    if (!x->conn)
        return NET_BODY_LATER;
    if (x->body.n > limit || announces_more(x, limit)) {
        x->body_is_too_large = true;
        net__count(x->conn->worker, bodies_too_large, 1);
        return NET_BODY_TOO_LARGE;
    }
    if (x->body_is_whole)
        return NET_BODY_WHOLE;
    x->body_deadline = net_loop_now(x->loop) + x->conn->worker->limits.body;
    net__conn_expect(x->conn, x->body_deadline);
    x->conn->protocol->read_body(x);
    return NET_BODY_LATER;
}

struct str net_exchange_body(const struct net_exchange *x) {
    return buf_view(&x->body);
}

bool net__exchange_add_body(struct net_exchange *x, struct str bytes) {
    if (x->body_is_too_large)
        return false;
    buf_add(&x->body, bytes);
    if (!x->body.full)
        return true;
    x->body_is_too_large = true;
    net__count(x->conn->worker, bodies_too_large, 1);
    return false;
}

void net__exchange_tell_body(struct net_exchange *x) {
    bool is_waiting = x->body_deadline != INT64_MAX;
    x->body_deadline = INT64_MAX;
    if (is_waiting && !x->is_released && x->events && x->events->body)
        x->events->body(x, x->arg, x->body_is_too_large ? NET_BODY_TOO_LARGE : NET_BODY_WHOLE);
}

/* ------------------------------------------------------------------------------------- answers */

/* Does no answer to this have bytes? */
static bool is_without_bytes(const struct net_exchange *x, int status) {
    return x->is_head || status == 204 || status == 304 || status < 200;
}

static bool ends_header(char c) {
    return c == '\r' || c == '\n' || c == '\0';
}

static bool is_clean(struct str value) {
    for (size_t i = 0; i < value.n; i++) {
        if (ends_header(value.p[i]))
            return false;
    }
    return true;
}

/* As Go's net/http: what would end a header early becomes a space, wherever the value came from. */
static struct str clean(struct arena *a, struct str value) {
    char *copy = arena_copy(a, value.p, value.n);
    for (size_t i = 0; i < value.n; i++) {
        if (ends_header(copy[i]))
            copy[i] = ' ';
    }
    return (struct str){copy, value.n};
}

static struct net_headers clean_all(struct arena *a, struct net_headers headers) {
    struct net_header *copy = NULL;
    for (size_t i = 0; i < headers.n; i++) {
        if (is_clean(headers.v[i].value))
            continue;
        if (!copy)
            copy = arena_copy(a, headers.v, headers.n * sizeof *copy);
        copy[i].value = clean(a, headers.v[i].value);
    }
    return copy ? (struct net_headers){copy, headers.n} : headers;
}

static void begin(struct net_exchange *x, struct net__answer answer) {
    AUTO(arena_release) struct arena a = {0};
    assert(x->answer == NET__ANSWER_NONE);
    assert(answer.status >= 101 && answer.status <= 999);
    answer.headers = clean_all(&a, answer.headers);
    x->answer = NET__ANSWER_BEGUN;
    x->is_bodiless = is_without_bytes(x, answer.status);
    x->conn->protocol->begin(x, &answer);
    net__conn_wake(x->conn);
}

static void end(struct net_exchange *x) {
    struct net__conn *c = x->conn;
    assert(x->answer == NET__ANSWER_BEGUN);
    x->answer = NET__ANSWER_DONE;
    net__count(c->worker, exchanges_now, -1);
    net__conn_wake(c);
    c->protocol->end(x);
}

void net_respond(struct net_exchange *x, int status, struct net_headers headers,
                 const struct net_part *parts, size_t n) {
    if (!x->conn) {
        assert(x->is_closed);
        net__parts_drop(parts, n);
        return;
    }
    begin(x, (struct net__answer){.status = status,
                                  .headers = headers,
                                  .is_whole = true,
                                  .length = net__parts_length(parts, n)});
    net_stream_write(x, parts, n);
    end(x);
}

void net_stream_begin(struct net_exchange *x, int status, struct net_headers headers) {
    if (x->conn)
        begin(x, (struct net__answer){.status = status, .headers = headers});
}

void net_stream_write(struct net_exchange *x, const struct net_part *parts, size_t n) {
    if (!x->conn || x->is_bodiless) {
        net__parts_drop(parts, n);
        return;
    }
    assert(x->answer == NET__ANSWER_BEGUN);
    x->conn->protocol->write(x, parts, n);
    net__exchange_note_write(x);
}

void net__exchange_note_write(struct net_exchange *x) {
    net__conn_wake(x->conn);
    if (!x->was_full && net_stream_is_full(x)) {
        x->was_full = true;
        net__count(x->conn->worker, streams_full, 1);
    }
}

bool net_stream_is_full(const struct net_exchange *x) {
    return x->conn && x->conn->protocol->pending(x) >= LIMIT_NET_STREAM_BYTES;
}

void net_stream_end(struct net_exchange *x) {
    if (x->conn)
        end(x);
}

void net__exchange_check_drained(struct net_exchange *x) {
    if (!x->was_full || x->conn->protocol->pending(x) > LIMIT_NET_STREAM_BYTES / 2)
        return;
    x->was_full = false;
    if (x->answer == NET__ANSWER_BEGUN && !x->is_released && x->events && x->events->drained)
        x->events->drained(x, x->arg);
}
