/* Streams of YAML documents: events as in test/yaml/stream.test, bounded memory, errors. */
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on
#include <string.h>

#include "base/limits.h"
#include "cases.h"
#include "codec/docs.h"
#include "repeats.h"

static void describe(struct buf *out, const struct docs_item *item) {
    static const char *const names[] = {"", "value", "item", "end"};
    static const struct json_style sorted = {.sort_keys = true};
    buf_addf(out, "%s %u %u:%u ", names[item->event], item->document, item->line, item->column);
    if (item->event == DOCS_ITEM) {
        buf_addf(out, "%u ", item->index);
        json_write(out, item->list, &sorted);
        buf_add_char(out, ' ');
    }
    json_write(out, &item->value, &sorted);
    buf_add_char(out, '\n');
}

/* All events of a stream; the arena is reset between them, as contracts allow. */
static void read_all(struct buf *out, struct str text, size_t step) {
    struct arena a = {0};
    struct feed feed = {text, step, false};
    struct docs *d = docs_open(feed_read, &feed);
    struct docs_item item;
    struct err err;
    for (;;) {
        if (docs_next(d, &a, &item, &err) < 0) {
            buf_addf(out, "error %u:%u: %s\n", err.line, err.column, err.msg);
            break;
        }
        if (item.event == DOCS_END)
            break;
        describe(out, &item);
        arena_release(&a);
    }
    docs_free(d);
    arena_release(&a);
}

static void file_of_streams(void **state) {
    (void)state;
    static const size_t steps[] = {1, 7, 1 << 20};
    struct arena a = {0};
    struct str rest = cases_file(&a, "test/yaml/stream.test");
    struct test_case c;
    size_t count = 0;
    struct buf out = BUF_INIT(1 << 20);
    for (; cases_next(&rest, &c); count++)
        for (size_t i = 0; i < 3; i++, buf_clear(&out)) {
            read_all(&out, c.input, steps[i]);
            if (!str_eq(buf_view(&out), c.expected))
                fail_msg("%.*s, %zu bytes at a time:\n%.*sgives\n%.*snot\n%.*s", STR_ARG(c.name),
                         steps[i], STR_ARG(c.input), STR_ARG(buf_view(&out)), STR_ARG(c.expected));
        }
    assert_true(count > 20);
    buf_release(&out);
    arena_release(&a);
}

/* A list of any length, made while it is read. */
struct endless {
    struct buf pending;
    size_t items, most;
};

static int64_t endless_read(void *ctx, char *to, size_t n, struct err *err) {
    struct endless *e = ctx;
    (void)err;
    buf_clear(&e->pending);
    if (e->items == 0)
        buf_add(&e->pending, STR("kind: List\nitems:\n"));
    while (e->items < e->most && e->pending.n + 64 < n)
        buf_addf(&e->pending, "- metadata: {name: pod-%zu}\n  spec: {}\n", e->items++);
    memcpy(to, e->pending.p, e->pending.n);
    return (int64_t)e->pending.n;
}

static void long_lists_need_memory_for_one_item(void **state) {
    (void)state;
    struct arena a = {0};
    struct endless e = {.pending = BUF_INIT(1 << 20), .most = 100000};
    struct docs *d = docs_open(endless_read, &e);
    struct docs_item item = {0};
    struct err err;
    size_t items = 0;
    while (docs_next(d, &a, &item, &err) == 0 && item.event == DOCS_ITEM) {
        assert_int_equal(item.index, items++);
        assert_true(str_is(json_str(json_get(item.list, STR("kind"))), "List"));
        assert_true(a.bytes <= 8192);
        arena_reset(&a);
    }
    assert_int_equal(item.event, DOCS_LIST_END);
    assert_int_equal(items, 100000);
    assert_true(docs_bytes_read(d) > 3 * (uint64_t)1000000);
    docs_free(d);
    buf_release(&e.pending);
    arena_release(&a);
}

/* The error of a stream that consists of head, n times `fill`, and tail. */
static void check_too_large(const char *head, const char *fill, size_t n, const char *tail) {
    struct arena a = {0};
    struct buf text = BUF_INIT(16 << 20), out = BUF_INIT(16 << 20);
    buf_add(&text, str_of(head));
    for (size_t i = 0; i < n; i++)
        buf_add(&text, str_of(fill));
    buf_add(&text, str_of(tail));
    read_all(&out, buf_view(&text), 1 << 20);
    if (str_find(buf_view(&out), STR("larger than 3145728 bytes\n")) == STR_NONE)
        fail_msg("%s…: %.*s", head, (int)(out.n > 200 ? 200 : out.n), out.p);
    buf_release(&text);
    buf_release(&out);
    arena_release(&a);
}

static void size_is_limited(void **state) {
    (void)state;
    check_too_large("a: ", "xxxxxxxx", 500000, "\n");                     /* one scalar */
    check_too_large("a:\n", "- xxxxxxxx\n", 500000, "\n");                /* one document */
    check_too_large("items:\n- [", "xxxxxxxx,", 500000, "]\n");           /* one item */
    check_too_large("items:\n- 1\nz: [", "xxxxxxxx,", 500000, "]\n");     /* behind the items */
    check_too_large("items:\n", "- &a [xxxxxxxxxxxxxxxx]\n", 300000, ""); /* what is remembered */
    check_too_large("a: 1\n#", "xxxxxxxx", 500000, "\n"); /* a comment without end */
}

static void read_errors_are_passed_on(void **state) {
    (void)state;
    struct arena a = {0};
    struct feed feed = {STR("a: 1\n"), SIZE_MAX, true};
    struct docs *d = docs_open(feed_read, &feed);
    struct docs_item item;
    struct err err;
    assert_int_equal(docs_next(d, &a, &item, &err), -1);
    assert_int_equal(err.code, ERR_IO);
    assert_string_equal(err.msg, "disk on fire");
    docs_free(d);
    arena_release(&a);
}

static void repeated_keys_can_be_kept(void **state) {
    (void)state;
    static const struct repeats_case cases[] = {
        {"k: 1\nk: 2\n---\nk: 3\n", "repeats {\"k\":1,\"k\":2}\nplain {\"k\":3}\n"},
        {"items:\n- {k: 1}\n- {k: 1, k: 2}\n", "plain {\"k\":1}\nrepeats {\"k\":1,\"k\":2}\n"},
        {"x: &x {k: 1}\nz: {<<: *x, k: 2}\n", "plain {\"x\":{\"k\":1},\"z\":{\"k\":2}}\n"},
    };
    repeats_check(cases, sizeof cases / sizeof *cases);
}

static void yaml_keeps_so_many_repeats(void **state) {
    (void)state;
    for (unsigned n = DOCS_MOST_REPEATS; n <= DOCS_MOST_REPEATS + 1; n++) {
        struct buf text = BUF_INIT(1 << 20), out = BUF_INIT(1 << 20);
        for (unsigned i = 0; i <= n; i++)
            buf_add(&text, STR("k: 1\n"));
        struct feed feed = {buf_view(&text), 4096, false};
        struct docs *d = docs_open(feed_read, &feed);
        docs_keep_repeats(d);
        repeats_read(d, &out);
        assert_int_equal(str_starts(buf_view(&out), STR("error ")), n > DOCS_MOST_REPEATS);
        docs_free(d);
        buf_release(&text);
        buf_release(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repeated_keys_can_be_kept),
        cmocka_unit_test(yaml_keeps_so_many_repeats),
        cmocka_unit_test(file_of_streams),
        cmocka_unit_test(long_lists_need_memory_for_one_item),
        cmocka_unit_test(size_is_limited),
        cmocka_unit_test(read_errors_are_passed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
