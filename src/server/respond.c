/*
 * What all answers share: headers, forms of JSON for people, compression, and the end of a request.
 *
 * Follows k8s.io/apiserver pkg/endpoints/handlers/responsewriters, func SerializeObject.
 * Follows k8s.io/apiserver pkg/endpoints/filters, func WithWarningRecorder.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "codec/yml.h"
#include "server/indent.h"
#include "server/server_int.h"
#include "server/shape_int.h"

/* Answers to reads that are longer than this are compressed for those who accept it. */
enum { COMPRESSED_FROM = 128 << 10 };

/* Warnings together may have so many characters; if they have more, each is cut to so many. */
enum { WARNINGS_MOST = 4 << 10, WARNING_CUT = 256 };

/* ---- headers ---- */

void server__header_add(struct server__headers *h, const char *name, struct str value) {
    if (h->n < sizeof h->v / sizeof *h->v)
        h->v[h->n++] = (struct net_header){str_of(name), value};
}

void server__header_set(struct server__headers *h, const char *name, struct str value) {
    for (size_t i = 0; i < h->n; i++)
        if (str_is(h->v[i].name, name))
            h->v[i].value = value;
}

struct str server__cut(struct str text, size_t most) {
    size_t at = 0, len;
    for (size_t n = 0; at < text.n && n < most; n++) {
        utf8_decode(str_sub(text, at, text.n), &len);
        at += len;
    }
    return str_sub(text, 0, at);
}

/* 299 - "text", quoted as a header wants it. */
static struct str quote_warning(struct server__call *c, struct str text) {
    AUTO(buf_release) struct buf b = BUF_INIT(SIZE_MAX);
    buf_add(&b, STR("299 - \""));
    for (size_t k = 0; k < text.n; k++) {
        char ch = text.p[k];
        if (ch == '"' || ch == '\\')
            buf_add_char(&b, '\\');
        buf_add_char(&b, (unsigned char)ch < 0x20 || ch == 0x7f ? ' ' : ch);
    }
    buf_add_char(&b, '"');
    return arena_str(&c->arena, buf_view(&b));
}

static bool was_before(const struct str *texts, size_t n, struct str text) {
    for (size_t i = 0; i < n; i++)
        if (str_eq(texts[i], text))
            return true;
    return false;
}

/* Each text once. */
static size_t collect_warnings(const struct server__call *c, struct str *out) {
    const struct api_strs *lists[] = {&c->warnings, &c->response.warnings};
    size_t n = 0;
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < lists[i]->n && n < API_MOST_FAULTS; k++)
            if (lists[i]->v[k].n && !was_before(out, n, lists[i]->v[k]))
                out[n++] = lists[i]->v[k];
    return n;
}

static void add_warnings(struct server__call *c, struct server__headers *h) {
    struct str texts[API_MOST_FAULTS + 1] = {0};
    if (c->route.resource && c->has_handler)
        texts[0] = server__deprecation(&c->arena, c->route.resource->kind);
    size_t first = texts[0].n > 0, all = 0, written = 0;
    size_t n = first + collect_warnings(c, texts + first);
    for (size_t i = 0; i < n; i++)
        all += utf8_count(texts[i]);
    for (size_t i = 0; i < n && written < WARNINGS_MOST; i++) {
        struct str text = all > WARNINGS_MOST ? server__cut(texts[i], WARNING_CUT) : texts[i];
        written += utf8_count(text);
        server__header_add(h, "Warning", quote_warning(c, text));
    }
}

void server__headers_start(struct server__call *c, struct server__headers *h, struct str type) {
    h->n = 0;
    server__header_add(h, "Audit-Id", c->account.id);
    server__header_add(h, "Cache-Control", STR("no-cache, private"));
    if (type.n)
        server__header_add(h, "Content-Type", type);
    add_warnings(c, h);
}

/* ---- forms ---- */

static size_t length_of(const struct net_part *parts, size_t n) {
    size_t length = 0;
    for (size_t i = 0; i < n; i++)
        length += parts[i].bytes.n;
    return length;
}

static void release_parts(const struct net_part *parts, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (parts[i].release)
            parts[i].release(parts[i].owner);
}

static void join(struct buf *out, const struct net_part *parts, size_t n) {
    for (size_t i = 0; i < n; i++)
        buf_add(out, parts[i].bytes);
}

static void release_text(void *owner) {
    buf_release(owner);
    free(owner);
}

/* A text that lives until it is sent. */
static struct net_part part_of_text(struct buf text) {
    struct buf *owner = xmalloc(sizeof *owner);
    *owner = text;
    return (struct net_part){buf_view(owner), release_text, owner};
}

/* The same, indented or in YAML. */
static struct net_part reform(struct server__call *c, const struct net_part *parts, size_t n) {
    AUTO(buf_release) struct buf json = BUF_INIT(SIZE_MAX);
    struct buf text = BUF_INIT(SIZE_MAX);
    struct json tree;
    join(&json, parts, n);
    release_parts(parts, n);
    if (c->media.format != SERVER_YAML)
        server_indent(&text, buf_view(&json));
    else if (json_parse(&c->arena, buf_view(&json), &(struct json_opts){.max_bytes = SIZE_MAX},
                        &tree, NULL) == 0)
        yml_write(&text, &tree);
    return part_of_text(text);
}

/* ---- answers ---- */

static bool is_compressed(const struct server__call *c, size_t length) {
    const struct net_request *request = net_exchange_request(c->x);
    return length > COMPRESSED_FROM && str_is(request->method, "GET") && net_accepts_gzip(request);
}

/* A seat that an answer keeps until it is sent. */
struct kept_seat {
    struct server_inflight *inflight;
    enum server_seat seat;
    struct net_part part; /* that is sent last, with its own release */
};

static void give_back(void *owner) {
    struct kept_seat *kept = owner;
    server_inflight_give(kept->inflight, kept->seat);
    kept->part.release(kept->part.owner);
    free(kept);
}

/* Long answers are under way until the peer has taken them: who reads slowly does not get more and
 * more of them. Parts that are shorter than this are copied by the network. */
enum { LONG_ANSWER = 64 << 10, LONG_PART = 1 << 10 };

static void keep_seat(struct server__call *c, struct net_part *parts, size_t n) {
    size_t last = n;
    while (last && (!parts[last - 1].release || parts[last - 1].bytes.n < LONG_PART))
        last--;
    if (!last || c->account.seat == SERVER_SEAT_NONE)
        return;
    struct kept_seat *kept = xmalloc(sizeof *kept);
    *kept = (struct kept_seat){&c->s->inflight, c->account.seat, parts[last - 1]};
    c->account.seat = SERVER_SEAT_NONE;
    parts[last - 1] = (struct net_part){kept->part.bytes, give_back, kept};
}

/* Borrowed bytes would be copied in any case. */
static void own(struct net_part *part) {
    struct buf copy = BUF_INIT(SIZE_MAX);
    buf_add(&copy, part->bytes);
    *part = part_of_text(copy);
}

void server__respond(struct server__call *c, int status, struct server__headers *h,
                     struct net_part *parts, size_t n) {
    size_t length = length_of(parts, n);
    server__account_answer(c, status, length);
    if (is_compressed(c, length)) {
        server__pack(c, status, h, parts, n);
        return;
    }
    if (n == 1 && !parts->release && length > LONG_ANSWER)
        own(parts);
    if (length > LONG_ANSWER)
        keep_seat(c, parts, n);
    net_respond(c->x, status, (struct net_headers){h->v, h->n}, parts, n);
    server__call_free(c);
}

void server__respond_json(struct server__call *c, int status, struct server__headers *h,
                          struct net_part *parts, size_t n) {
    bool is_yaml = c->media.format == SERVER_YAML;
    server__account_object(c, parts, n);
    if (!is_yaml && !c->media.pretty) {
        server__respond(c, status, h, parts, n);
        return;
    }
    struct net_part text = reform(c, parts, n);
    if (is_yaml)
        server__header_set(h, "Content-Type", STR("application/yaml"));
    server__respond(c, status, h, &text, 1);
}
