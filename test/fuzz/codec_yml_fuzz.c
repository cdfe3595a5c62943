/*
 * YAML from anywhere: no crash, bounded time and memory. What was read, printed and read again is
 * the same; and a stream of small pieces yields the same as the whole text at once.
 */
#include <stdlib.h>
#include <string.h>

#include "../unit/codec/feed.h"
#include "base/limits.h"
#include "check.h"
#include "codec/yml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_round_trip(struct arena *a, const struct json *v) {
    struct buf text = BUF_INIT(LIMIT_OBJECT_BYTES);
    struct json again;
    yml_write(&text, v);
    if (!text.full) {
        CHECK(yml_parse(a, buf_view(&text), &again, NULL) == 0);
        CHECK(json_equal(v, &again));
    }
    buf_release(&text);
}

static struct json with_items(struct arena *a, const struct json *list, struct json items) {
    struct json whole = {.kind = JSON_OBJECT};
    for (size_t i = 0; i < list->n; i++)
        json_add(a, &whole, list->members[i].key, list->members[i].value);
    json_add(a, &whole, STR("items"), items);
    return whole;
}

/* Reads the stream; what its first document is, put together again, goes to *first. */
static int read_stream(struct arena *a, struct feed *feed, struct json *first, struct err *err) {
    struct json items = {.kind = JSON_ARRAY};
    struct docs *d = docs_open(feed_read, feed);
    struct docs_item item;
    int rc;
    *first = (struct json){.kind = JSON_NULL};
    while ((rc = docs_next(d, a, &item, err)) == 0 && item.event != DOCS_END) {
        if (item.event == DOCS_ITEM) {
            CHECK(item.index == items.n);
            json_append(a, &items, item.value);
            continue;
        }
        if (item.event == DOCS_LIST_END)
            item.value = with_items(a, &item.value, items);
        items = (struct json){.kind = JSON_ARRAY};
        if (first->kind == JSON_NULL)
            *first = item.value;
    }
    docs_free(d);
    return rc;
}

static bool is_like_json(struct str s) {
    struct str bom = STR("\xEF\xBB\xBF");
    s = str_trim(str_starts(s, bom) ? str_sub(s, bom.n, s.n) : s);
    return s.n && (s.p[0] == '{' || s.p[0] == '[');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1)
        return 0;
    struct arena a = {0};
    struct str text = {(const char *)data + 1, size - 1};
    struct json v, first;
    struct err err = {0};
    bool good = yml_parse(&a, text, &v, &err) == 0;
    CHECK(good || err.msg[0]);
    if (good)
        check_round_trip(&a, &v);
    struct feed feed = {text, 1 + data[0], false};
    bool streamed = read_stream(&a, &feed, &first, &err) == 0;
    /* To a stream, text that starts like JSON is JSON, and separators are kubectl's. */
    if (good && !is_like_json(text) && !strstr(err.msg, "document separator"))
        CHECK(streamed && json_equal(&v, &first));
    arena_release(&a);
    return 0;
}
