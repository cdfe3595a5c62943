/* What a stream that keeps repeated keys makes of a text, for JSON and for YAML. */
#ifndef TEST_CODEC_REPEATS_H
#define TEST_CODEC_REPEATS_H

#include "feed.h"

struct repeats_case {
    const char *text, *expected;
};

/* Appends a line for each value: whether keys repeat in it, and what it is. */
static inline void repeats_read(struct docs *d, struct buf *out) {
    struct arena a = {0};
    struct docs_item item;
    struct err err;
    do {
        arena_reset(&a);
        if (docs_next(d, &a, &item, &err) < 0) {
            buf_addf(out, "error %s", err.msg);
            break;
        }
        if (item.event == DOCS_VALUE || item.event == DOCS_ITEM) {
            buf_add(out, item.repeats ? STR("repeats ") : STR("plain "));
            json_write(out, &item.value, NULL);
            buf_add_char(out, '\n');
        }
    } while (item.event != DOCS_END);
    arena_release(&a);
}

/* Reads all texts with one stream. */
static inline void repeats_check(const struct repeats_case *cases, size_t n) {
    struct buf out = BUF_INIT(1 << 20);
    struct feed feed = {STR(""), 7, false};
    struct docs *d = docs_open(feed_read, &feed);
    docs_keep_repeats(d);
    for (size_t i = 0; i < n; i++, buf_clear(&out)) {
        feed.text = str_of(cases[i].text);
        docs_restart(d);
        repeats_read(d, &out);
        if (!str_is(buf_view(&out), cases[i].expected))
            fail_msg("%s gives\n%.*snot\n%s", cases[i].text, STR_ARG(buf_view(&out)),
                     cases[i].expected);
    }
    docs_free(d);
    buf_release(&out);
}

#endif
