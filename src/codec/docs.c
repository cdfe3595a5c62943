/*
 * The stream: owns the window of bytes that were read, finds out whether they are JSON or YAML, and
 * leaves the rest to that carrier. As kubectl does, a text that begins like JSON gets a second
 * chance as YAML, because YAML in flow style begins the same way.
 *
 * Follows k8s.io/apimachinery pkg/util/yaml, func (*YAMLOrJSONDecoder) Decode.
 */
#include "codec/docs.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "codec/docs_int.h"
#include "codec/json/json_int.h"
#include "codec/json/json_scan.h"

enum {
    WINDOW = 256 << 10, /* large against an object, small against the second-level cache */
};

struct docs {
    struct docs_source source;
    const struct docs_carrier *carrier; /* NULL until the first byte is known */
    void *self;
    bool ended;
    bool failed;
    struct err failure; /* what every call after a failure says again */
};

/* --- the source --- */

int docs__fill(struct docs_source *s, struct err *err) {
    if (s->at_end)
        return 0;
    if (s->at > 0)
        memmove(s->p, s->p + s->at, s->n - s->at);
    s->n -= s->at;
    s->at = 0;
    if (s->n == s->cap) {
        s->cap = s->cap ? size_mul(s->cap, 2) : WINDOW;
        s->p = xrealloc(s->p, s->cap);
    }
    int64_t got = s->read(s->ctx, s->p + s->n, s->cap - s->n, err);
    if (got < 0)
        return -1;
    s->at_end = got == 0;
    s->n += (size_t)got;
    s->taken += (uint64_t)got;
    return got > 0;
}

void docs__consume(struct docs_source *s, size_t n) {
    json__advance((struct str){s->p + s->at, n}, &s->line, &s->column);
    s->at += n;
}

int64_t docs__pull(void *source, char *to, size_t n, struct err *err) {
    struct docs_source *s = source;
    if (s->at == s->n) {
        int more = docs__fill(s, err);
        if (more <= 0)
            return more;
    }
    if (n > s->n - s->at)
        n = s->n - s->at;
    memcpy(to, s->p + s->at, n);
    s->at += n;
    return (int64_t)n;
}

int docs__skip_blank(struct docs_source *s, size_t *indent, struct err *err) {
    size_t pos = 0;
    for (;;) {
        const char *from = s->p + s->at, *end = s->p + s->n;
        const char *stop = json__skip_space(from + pos, end);
        const char *line_end = stop > from ? memrchr(from, '\n', (size_t)(stop - from)) : NULL;
        pos = (size_t)(stop - from);
        if (line_end) {
            size_t whole_lines = (size_t)(line_end + 1 - from);
            docs__consume(s, whole_lines);
            pos -= whole_lines;
        }
        *indent = pos;
        if (stop < end)
            return 1;
        if (pos > LIMIT_OBJECT_BYTES)
            return err_set_at(err, ERR_TOO_LARGE, s->line, 1, "line of more than %u blanks",
                              LIMIT_OBJECT_BYTES);
        int more = docs__fill(s, err);
        if (more <= 0)
            return more;
    }
}

/* --- the stream --- */

struct docs *docs_open(docs_read_fn *read, void *ctx) {
    struct docs *d = xcalloc(1, sizeof *d);
    d->source = (struct docs_source){.read = read, .ctx = ctx, .line = 1, .column = 1};
    return d;
}

void docs_restart(struct docs *d) {
    struct docs_source *s = &d->source;
    if (d->carrier)
        d->carrier->free(d->self);
    d->source = (struct docs_source){.read = s->read,
                                     .ctx = s->ctx,
                                     .p = s->p,
                                     .cap = s->cap,
                                     .line = 1,
                                     .column = 1,
                                     .keep_repeats = s->keep_repeats};
    d->carrier = NULL;
    d->self = NULL;
    d->ended = d->failed = false;
}

void docs_keep_repeats(struct docs *d) {
    d->source.keep_repeats = true;
}

void docs_free(struct docs *d) {
    if (!d)
        return;
    if (d->carrier)
        d->carrier->free(d->self);
    free(d->source.p);
    free(d);
}

uint64_t docs_bytes_read(const struct docs *d) {
    return d->source.taken;
}

static void use(struct docs *d, const struct docs_carrier *carrier) {
    if (d->carrier)
        d->carrier->free(d->self);
    d->carrier = carrier;
    d->self = carrier->open(&d->source);
}

static int skip_bom(struct docs_source *s, struct err *err) {
    static const char bom[] = "\xEF\xBB\xBF";
    while (s->n < 3 && (s->n == 0 || memcmp(s->p, bom, s->n) == 0)) {
        int more = docs__fill(s, err);
        if (more <= 0)
            return more;
    }
    if (s->n >= 3 && memcmp(s->p, bom, 3) == 0)
        s->at = 3;
    return 0;
}

/* Chooses the carrier; a stream of nothing but white space is over at once. */
static int start(struct docs *d, struct err *err) {
    struct docs_source *s = &d->source;
    size_t indent;
    if (skip_bom(s, err) < 0)
        return -1;
    int found = docs__skip_blank(s, &indent, err);
    if (found < 0)
        return -1;
    if (found == 0) {
        d->ended = true;
        return 0;
    }
    char first = s->p[s->at + indent];
    use(d, first == '{' || first == '[' ? &docs__json : &docs__yml);
    return 0;
}

/* The same bytes as YAML. If they are not that either, the first error is the better one. */
static int retry_as_yaml(struct docs *d, struct arena *a, struct docs_item *out) {
    struct err ignored;
    d->source.maybe_yaml = false;
    use(d, &docs__yml);
    return d->carrier->next(d->self, a, out, &ignored);
}

static int step(struct docs *d, struct arena *a, struct docs_item *out, struct err *err) {
    if (!d->carrier && !d->ended && start(d, err) < 0)
        return -1;
    if (d->ended) {
        *out = (struct docs_item){.event = DOCS_END,
                                  .line = d->source.line,
                                  .column = d->source.column,
                                  .document = d->source.document};
        return 0;
    }
    if (d->carrier->next(d->self, a, out, err) < 0 &&
        (!d->source.maybe_yaml || retry_as_yaml(d, a, out) < 0))
        return -1;
    d->ended = out->event == DOCS_END;
    out->is_json = d->carrier == &docs__json;
    return 0;
}

int docs_next(struct docs *d, struct arena *a, struct docs_item *out, struct err *err) {
    if (!d->failed && step(d, a, out, &d->failure) == 0)
        return 0;
    d->failed = true;
    if (err)
        *err = d->failure;
    return -1;
}
