/*
 * The stream of documents: pieces of any size give what one piece gives, and a text that is one
 * JSON value comes out whole, or as a list and its items. YAML has a fuzzer of its own: here the
 * carrier for it refuses everything.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "codec/docs_int.h"

enum { MOST_BYTES = 8192 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void *no_yml_open(struct docs_source *s) {
    return s;
}

static int no_yml_next(void *self, struct arena *a, struct docs_item *out, struct err *err) {
    (void)self, (void)a, (void)out;
    return err_set(err, ERR_INVALID, "no YAML here");
}

static void no_yml_free(void *self) {
    (void)self;
}

const struct docs_carrier docs__yml = {no_yml_open, no_yml_next, no_yml_free};

struct feed {
    struct str text;
    uint64_t rng; /* 0 = all at once */
};

static int64_t feed_read(void *ctx, char *to, size_t n, struct err *err) {
    struct feed *f = ctx;
    (void)err;
    if (f->rng) {
        f->rng = f->rng * UINT64_C(6364136223846793005) + 1442695040888963407;
        size_t most = (f->rng >> 60) == 0 ? 300 : 1 + (f->rng >> 33) % 9;
        n = n < most ? n : most;
    }
    n = n < f->text.n ? n : f->text.n;
    if (n)
        memcpy(to, f->text.p, n);
    f->text = str_sub(f->text, n, f->text.n);
    return (int64_t)n;
}

/* All events as text. Arenas are reset between calls, so nothing may hang on an older one. */
static struct buf events(struct str text, uint64_t rng) {
    struct feed feed = {text, rng};
    struct docs *d = docs_open(feed_read, &feed);
    struct buf out = BUF_INIT(1 << 26);
    struct arena a = {0};
    struct docs_item item;
    struct err err;
    do {
        arena_reset(&a);
        if (docs_next(d, &a, &item, &err) < 0) {
            buf_addf(&out, "error %d %u:%u %s\n", err.code, err.line, err.column, err.msg);
            break;
        }
        buf_addf(&out, "%d %u:%u %u %u ", item.event, item.line, item.column, item.document,
                 item.index);
        if (item.list)
            json_write(&out, item.list, NULL);
        json_write(&out, &item.value, NULL);
        buf_add_char(&out, '\n');
    } while (item.event != DOCS_END);
    CHECK(docs_bytes_read(d) <= text.n);
    docs_free(d);
    arena_release(&a);
    return out;
}

/* Puts the items of a list back where they were taken from. */
static struct json reassemble(struct str text, struct arena *a) {
    struct feed feed = {text, 0};
    struct docs *d = docs_open(feed_read, &feed);
    struct docs_item item;
    struct json items = {.kind = JSON_ARRAY}, object = {.kind = JSON_OBJECT};
    for (;;) {
        CHECK(docs_next(d, a, &item, NULL) == 0);
        if (item.event != DOCS_ITEM)
            break;
        CHECK(item.index == items.n);
        json_append(a, &items, json_clone(a, &item.value));
    }
    if (item.event == DOCS_LIST_END) {
        for (uint32_t i = 0; i < item.value.n; i++)
            json_add(a, &object, item.value.members[i].key, item.value.members[i].value);
        json_add(a, &object, STR("items"), items);
    } else {
        CHECK(item.event == DOCS_VALUE && items.n == 0);
        object = json_clone(a, &item.value);
    }
    CHECK(docs_next(d, a, &item, NULL) == 0 && item.event == DOCS_END);
    docs_free(d);
    return object;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > MOST_BYTES)
        return 0;
    struct str text = {(const char *)data, size};
    struct buf whole = events(text, 0);
    for (uint64_t rng = 1; rng < 4; rng++) {
        struct buf pieces = events(text, rng + size);
        CHECK(str_eq(buf_view(&whole), buf_view(&pieces)));
        buf_release(&pieces);
    }
    buf_release(&whole);
    struct arena a = {0};
    struct json v;
    if (json_parse(&a, text, NULL, &v, NULL) == 0 && v.kind >= JSON_ARRAY) {
        struct json again = reassemble(text, &a);
        CHECK(json_equal(&v, &again));
    }
    arena_release(&a);
    return 0;
}
