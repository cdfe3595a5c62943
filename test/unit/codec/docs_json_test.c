/* Streams of JSON documents: their events, places and errors, whatever pieces the text comes in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "codec/docs.h"
#include "codec/docs_int.h"
#include "repeats.h"

#define ROWS(table) (sizeof(table) / sizeof *(table))

/*
 * A stand-in for the YAML carrier, which these tests link instead of the real one: it takes the
 * rest of the stream as one string, and refuses a text with an exclamation mark in it.
 */
struct yml_stub {
    struct docs_source *src;
    bool done;
};

static void *stub_open(struct docs_source *s) {
    struct yml_stub *y = xcalloc(1, sizeof *y);
    y->src = s;
    return y;
}

static int stub_next(void *self, struct arena *a, struct docs_item *out, struct err *err) {
    struct yml_stub *y = self;
    struct buf all = BUF_INIT(1 << 20);
    char piece[7];
    int64_t got;
    *out = (struct docs_item){
        .line = y->src->line, .column = y->src->column, .document = y->src->document};
    while (!y->done && (got = docs__pull(y->src, piece, sizeof piece, err)) != 0) {
        assert_true(got > 0);
        buf_add(&all, (struct str){piece, (size_t)got});
    }
    int result = 0;
    if (str_find_char(buf_view(&all), '!') != STR_NONE) {
        result = err_set(err, ERR_INVALID, "no YAML either");
    } else if (!y->done) {
        out->event = DOCS_VALUE;
        out->value = json_of_str(arena_str(a, buf_view(&all)));
        y->src->document++;
    }
    y->done = true;
    buf_release(&all);
    return result;
}

const struct docs_carrier docs__yml = {stub_open, stub_next, free};

/* Everything that comes out of a text, one line per event; the arena is reset between calls. */
static struct buf events(struct str text, size_t piece) {
    static const char *const names[] = {"end", "value", "item", "list"};
    struct feed feed = {text, piece, false};
    struct docs *d = docs_open(feed_read, &feed);
    struct buf out = BUF_INIT(64 << 20);
    struct arena a = {0};
    struct docs_item item;
    struct err err;
    int result;
    do {
        arena_reset(&a);
        result = docs_next(d, &a, &item, &err);
        if (result < 0) {
            buf_addf(&out, "error %u:%u %s\n", err.line, err.column, err.msg);
            break;
        }
        buf_addf(&out, "%s %u:%u %u", names[item.event], item.line, item.column, item.document);
        if (item.event == DOCS_ITEM) {
            buf_addf(&out, "[%u] in ", item.index);
            json_write(&out, item.list, NULL);
        }
        if (item.event != DOCS_END) {
            buf_add_char(&out, ' ');
            json_write(&out, &item.value, NULL);
        }
        buf_add_char(&out, '\n');
    } while (item.event != DOCS_END);
    docs_free(d);
    arena_release(&a);
    return out;
}

static const struct {
    const char *text, *events;
} streams[] = {
    {"", "end 1:1 0\n"},
    {" \n\n ", "end 3:1 0\n"},
    {"\xEF\xBB\xBF", "end 1:1 0\n"},
    {"{}", "value 1:1 0 {}\nend 1:3 1\n"},
    {"\xEF\xBB\xBF{}\n", "value 1:1 0 {}\nend 2:1 1\n"},
    {"[1,2]\n[]", "value 1:1 0 [1,2]\nvalue 2:1 1 []\nend 2:3 2\n"},
    {"{}{} {}\n\n  {\"a\":1}5 \"x\" true\n",
     "value 1:1 0 {}\nvalue 1:3 1 {}\nvalue 1:6 2 {}\nvalue 3:3 3 {\"a\":1}\nvalue 3:10 4 5\n"
     "value 3:12 5 \"x\"\nvalue 3:16 6 true\nend 4:1 7\n"},
    {"{\"k\":\"a\\nb\",\"s\":\"a string longer than sixteen bytes\",\"n\":{\"f\":1.5}}",
     "value 1:1 0 {\"k\":\"a\\nb\",\"s\":\"a string longer than sixteen bytes\","
     "\"n\":{\"f\":1.5}}\nend 1:68 1\n"},
    /* lists */
    {"{\"kind\":\"List\",\"items\":[1,{\"a\":\"\\u00e9\"}],\"metadata\":{\"x\":\"y\"}}",
     "item 1:25 0[0] in {\"kind\":\"List\"} 1\n"
     "item 1:27 0[1] in {\"kind\":\"List\"} {\"a\":\"\xC3\xA9\"}\n"
     "list 1:1 0 {\"kind\":\"List\",\"metadata\":{\"x\":\"y\"}}\nend 1:64 1\n"},
    {"{\n  \"items\": [\n    {\"a\": 1},\n    {\"b\": 2}\n  ],\n  \"kind\": \"PodList\"\n}\n{}",
     "item 3:5 0[0] in {} {\"a\":1}\nitem 4:5 0[1] in {} {\"b\":2}\n"
     "list 1:1 0 {\"kind\":\"PodList\"}\nvalue 8:1 1 {}\nend 8:3 2\n"},
    {"{\"items\":[]}", "list 1:1 0 {}\nend 1:13 1\n"},
    {"{\"a\":1,\"items\":[ ] , \"b\":2}", "list 1:1 0 {\"a\":1,\"b\":2}\nend 1:28 1\n"},
    {"{\"items\":[1]}{\"items\":[2]}",
     "item 1:11 0[0] in {} 1\nlist 1:1 0 {}\nitem 1:24 1[0] in {} 2\nlist 1:14 1 {}\nend 1:27 2\n"},
    /* what only looks like a list */
    {"{\"items\":null}", "value 1:1 0 {\"items\":null}\nend 1:15 1\n"},
    {"{\"items\":{\"x\":[1]}}", "value 1:1 0 {\"items\":{\"x\":[1]}}\nend 1:20 1\n"},
    {"{\"spec\":{\"items\":[1,2]},\"x\":[{\"items\":[3]}]}",
     "value 1:1 0 {\"spec\":{\"items\":[1,2]},\"x\":[{\"items\":[3]}]}\nend 1:45 1\n"},
    {"{\"items\":[{\"items\":[1,2]}]}",
     "item 1:11 0[0] in {} {\"items\":[1,2]}\nlist 1:1 0 {}\nend 1:28 1\n"},
    {"[{\"items\":[1]}]", "value 1:1 0 [{\"items\":[1]}]\nend 1:16 1\n"},
    {"{\"\\u0069tems\":[7]}", "item 1:16 0[0] in {} 7\nlist 1:1 0 {}\nend 1:19 1\n"},
    /* errors: where, and what came out before. The '!' keeps the YAML carrier from taking over. */
    {"{\"a\":1,\"a\":2}", "error 1:8 duplicate field \"a\"\n"},
    {"{\"items\":[1],\"items\":[2]}",
     "item 1:11 0[0] in {} 1\nerror 1:14 duplicate field \"items\"\n"},
    {"{\"items\":[1],\"a\":1,\"a\":2}",
     "item 1:11 0[0] in {} 1\nerror 1:20 duplicate field \"a\"\n"},
    {"{\"items\":1,\"items\":[2]}", "error 1:12 duplicate field \"items\"\n"},
    {"{\"items\":[{\"a\":\n{\"b\":1,\"b\":2}}]}", "error 2:8 duplicate field \"a.b\"\n"},
    {"{\"items\":[1,\n {\"\xC3\xBC\":x}]}",
     "item 1:11 0[0] in {} 1\nerror 2:7 invalid character 'x' looking for beginning of value\n"},
    {"{\"items\":[1,]}", "item 1:11 0[0] in {} 1\nerror 1:13 invalid character ']' looking for "
                         "beginning of value\n"},
    {"{\"items\":[1 2]}",
     "item 1:11 0[0] in {} 1\nerror 1:13 invalid character '2' after array element\n"},
    {"{\"items\":[1]]", "item 1:11 0[0] in {} 1\nerror 1:13 invalid character ']' after object "
                        "key:value pair\n"},
    {"{\"items\":[1],}", "item 1:11 0[0] in {} 1\nerror 1:14 invalid character '}' looking for "
                         "beginning of object key string\n"},
    {"{\"items\":[1],\"a\" 2}",
     "item 1:11 0[0] in {} 1\nerror 1:18 invalid character '2' after object key\n"},
    {"{\"items\":[1],\"a\":}", "item 1:11 0[0] in {} 1\nerror 1:18 invalid character '}' looking "
                               "for beginning of value\n"},
    {"{\"items\":[1", "item 1:11 0[0] in {} 1\nerror 1:12 unexpected end of JSON input\n"},
    {"{\"items\":[1,", "item 1:11 0[0] in {} 1\nerror 1:13 unexpected end of JSON input\n"},
    {"{\"items\":[1,{\"a\"", "item 1:11 0[0] in {} 1\nerror 1:17 unexpected end of JSON input\n"},
    {"{\"items\":[1],\"k", "item 1:11 0[0] in {} 1\nerror 1:16 unexpected end of JSON input\n"},
    {"{!", "error 1:2 invalid character '!' looking for beginning of object key string\n"},
    {"{\"a\":1!", "error 1:7 invalid character '!' after object key:value pair\n"},
    {"{}\n[1!]", "value 1:1 0 {}\nerror 2:3 invalid character '!' after array element\n"},
    {"{}{}]", "value 1:1 0 {}\nvalue 1:3 1 {}\nerror 1:5 invalid character ']' looking for "
              "beginning of value\n"},
    {"{\"a\":1e999}", "error 1:6 cannot unmarshal number 1e999 into Go value of type float64\n"},
    {"{\"a\":\"\\ud800\"}", "error 1:7 unpaired surrogate '\\ud800' in string literal\n"},
    /* YAML: by its first byte, or because JSON fails on one of the first two documents */
    {"a: 1\n", "value 1:1 0 \"a: 1\\n\"\nend 1:1 1\n"},
    {"\n\n  a: 1\n", "value 3:1 0 \"  a: 1\\n\"\nend 3:1 1\n"},
    {"---\n{}", "value 1:1 0 \"---\\n{}\"\nend 1:1 1\n"},
    {"5", "value 1:1 0 \"5\"\nend 1:1 1\n"},
    {"{a: 1}", "value 1:1 0 \"{a: 1}\"\nend 1:1 1\n"},
    {"\n [a, b]", "value 2:1 0 \" [a, b]\"\nend 2:1 1\n"},
    {"{\"items\": [{a: 1}]}", "value 1:1 0 \"{\\\"items\\\": [{a: 1}]}\"\nend 1:1 1\n"},
    {"{\"a\":1}\n---\n{\"b\":2}",
     "value 1:1 0 {\"a\":1}\nvalue 2:1 1 \"---\\n{\\\"b\\\":2}\"\nend 2:1 2\n"},
    {"{\"a\":1}\n\n  b: 1\n  c: 2",
     "value 1:1 0 {\"a\":1}\nvalue 3:1 1 \"  b: 1\\n  c: 2\"\nend 3:1 2\n"},
    {"{}  --- # c", "value 1:1 0 {}\nvalue 1:5 1 \"--- # c\"\nend 1:5 2\n"},
    {"{\"items\":[1]}\n---", "item 1:11 0[0] in {} 1\nlist 1:1 0 {}\nvalue 2:1 1 \"---\"\nend 2:1 "
                             "2\n"},
};

static void reads_streams_in_pieces_of_any_size(void **state) {
    (void)state;
    for (size_t i = 0; i < ROWS(streams); i++) {
        struct str text = str_of(streams[i].text);
        for (size_t piece = 1; piece <= text.n + 1; piece++) {
            struct buf out = events(text, piece);
            buf_add_char(&out, '\0');
            assert_string_equal(out.p, streams[i].events);
            buf_release(&out);
        }
    }
}

/* --- lists larger than the window, cut at every place --- */

static struct buf long_list(unsigned n, unsigned padding) {
    struct buf b = BUF_INIT(64 << 20);
    buf_addf(&b, "{\"kind\":\"List\",\"note\":\"");
    buf_add_fill(&b, '.', padding);
    buf_addf(&b, "\",\"items\":[");
    for (unsigned i = 0; i < n; i++)
        buf_addf(&b, "%s{\"name\":\"pod-%u\",\"escaped\":\"\\\"]}\\\\\",\"n\":[%u,{}]}",
                 i ? "," : "", i, i);
    buf_add(&b, STR("]}"));
    return b;
}

static void check_item(const struct docs_item *item, unsigned i) {
    char name[32];
    snprintf(name, sizeof name, "pod-%u", i);
    assert_int_equal(item->event, DOCS_ITEM);
    assert_int_equal(item->index, i);
    assert_true(str_is(json_str(json_get(&item->value, STR("name"))), name));
    assert_true(str_is(json_str(json_get(&item->value, STR("escaped"))), "\"]}\\"));
    assert_int_equal(json_get(&item->value, STR("n"))->items[0].i, i);
}

static void read_list(struct str text, size_t piece, unsigned n) {
    struct feed feed = {text, piece, false};
    struct docs *d = docs_open(feed_read, &feed);
    struct arena a = {0};
    struct docs_item item;
    struct err err = {0};
    for (unsigned i = 0; i < n; i++) {
        arena_reset(&a);
        assert_int_equal(docs_next(d, &a, &item, &err), 0);
        check_item(&item, i);
        assert_true(str_is(json_str(json_get(item.list, STR("kind"))), "List"));
    }
    assert_int_equal(docs_next(d, &a, &item, &err), 0);
    assert_int_equal(item.event, DOCS_LIST_END);
    assert_int_equal(docs_next(d, &a, &item, &err), 0);
    assert_int_equal(item.event, DOCS_END);
    assert_int_equal(docs_next(d, &a, &item, &err), 0);
    assert_int_equal(item.event, DOCS_END);
    assert_int_equal(docs_bytes_read(d), text.n);
    docs_free(d);
    arena_release(&a);
}

static void reads_lists_split_at_every_place(void **state) {
    (void)state;
    /* The padding moves the items by one byte, the window cuts each time somewhere else. */
    for (unsigned padding = 0; padding < 64; padding++) {
        struct buf b = long_list(6000, padding);
        assert_true(b.n > 256 << 10);
        read_list(buf_view(&b), SIZE_MAX, 6000);
        buf_release(&b);
    }
    struct buf b = long_list(300, 0);
    for (size_t piece = 1; piece < 130; piece += 3)
        read_list(buf_view(&b), piece, 300);
    buf_release(&b);
}

/* A value is whole until the next call, whatever the stream has read ahead; a copy outlives it. */
static void values_last_until_the_next_call(void **state) {
    (void)state;
    struct buf b = long_list(50, 3);
    struct feed feed = {buf_view(&b), 1000, false};
    struct docs *d = docs_open(feed_read, &feed);
    struct arena a = {0}, kept = {0};
    struct docs_item items[50];
    for (unsigned i = 0; i < 50; i++) {
        assert_int_equal(docs_next(d, &a, &items[i], NULL), 0);
        check_item(&items[i], i);
        items[i].value = json_clone(&kept, &items[i].value);
    }
    docs_free(d);
    memset(b.p, '?', b.n);
    buf_release(&b);
    for (unsigned i = 0; i < 50; i++)
        check_item(&items[i], i);
    arena_release(&kept);
    arena_release(&a);
}

/* --- limits --- */

/* prefix, a string of n bytes with its quotes, suffix */
static struct buf padded(const char *prefix, size_t n, const char *suffix) {
    struct buf b = BUF_INIT(64 << 20);
    buf_add(&b, str_of(prefix));
    buf_add_char(&b, '"');
    buf_add_fill(&b, 'x', n - 2);
    buf_add_char(&b, '"');
    buf_add(&b, str_of(suffix));
    return b;
}

/* Reads until something other than an item or value comes. */
static int drain(struct str text, size_t piece, struct err *err) {
    struct feed feed = {text, piece, false};
    struct docs *d = docs_open(feed_read, &feed);
    struct arena a = {0};
    struct docs_item item;
    int result;
    do {
        arena_reset(&a);
        result = docs_next(d, &a, &item, err);
    } while (result == 0 && item.event != DOCS_END);
    docs_free(d);
    arena_release(&a);
    return result;
}

static const struct {
    const char *prefix, *suffix;
    size_t apart; /* bytes around the string that count with it */
} sized[] = {
    {"{\"items\":[", "]}", 0},
    {"{\"items\":[{\"a\":", "},{}]}", 6},
    {"{\"items\":[1,", ",2]}", 0},
    {"[", "]", 2},
    {"{\"a\":", "}", 6},
    {"{\"a\":", ",\"b\":1}", 12},
    {"{\"a\":", ",\"items\":[]}", 17},
    {"{\"a\":1,\"items\":[],\"b\":", "}", 23},
    {"{\"items\":[1],\"b\":", "}", 17},
    {"{}{}", "", 0},
};

static void limits_values_not_lists(void **state) {
    (void)state;
    for (size_t i = 0; i < ROWS(sized); i++) {
        static const size_t pieces[] = {SIZE_MAX, 100000};
        for (size_t k = 0; k < ROWS(pieces); k++) {
            size_t n = LIMIT_OBJECT_BYTES - sized[i].apart;
            struct err err = {0};
            struct buf ok = padded(sized[i].prefix, n, sized[i].suffix);
            struct buf large = padded(sized[i].prefix, n + 1, sized[i].suffix);
            if (drain(buf_view(&ok), pieces[k], &err) != 0)
                fail_msg("%s: %s", sized[i].prefix, err.msg);
            if (drain(buf_view(&large), pieces[k], &err) != -1)
                fail_msg("%s: taken", sized[i].prefix);
            assert_int_equal(err.code, ERR_TOO_LARGE);
            assert_string_equal(err.msg, "value is larger than 3145728 bytes");
            buf_release(&ok);
            buf_release(&large);
        }
    }
}

static void limits_blanks(void **state) {
    (void)state;
    static const char *const prefixes[] = {"", "{}", "{}{}{}", "{\"a\":1", "{\"items\":[1"};
    for (size_t i = 0; i < ROWS(prefixes); i++) {
        struct err err = {0};
        struct buf b = BUF_INIT(64 << 20);
        buf_add(&b, str_of(prefixes[i]));
        buf_add_fill(&b, ' ', 2 * LIMIT_OBJECT_BYTES);
        assert_int_equal(drain(buf_view(&b), SIZE_MAX, &err), -1);
        assert_int_equal(err.code, ERR_TOO_LARGE);
        buf_release(&b);
    }
    /* lines of them are nothing */
    struct buf b = BUF_INIT(64 << 20);
    buf_add(&b, STR("{}"));
    for (int i = 0; i < 400000; i++)
        buf_add(&b, STR("                   \n"));
    buf_add(&b, STR("{}"));
    assert_int_equal(drain(buf_view(&b), SIZE_MAX, NULL), 0);
    buf_release(&b);
}

static void limits_depth(void **state) {
    (void)state;
    static const struct {
        const char *prefix, *suffix;
        size_t around;
    } forms[] = {{"", "", 0}, {"{\"a\":", "}", 1}, {"{\"items\":[", "]}", 2}};
    for (size_t i = 0; i < ROWS(forms); i++) {
        for (size_t over = 0; over < 2; over++) {
            struct err err = {0};
            size_t depth = LIMIT_JSON_DEPTH - forms[i].around + over;
            struct buf b = BUF_INIT(1 << 20);
            buf_add(&b, STR("{}{}"));
            buf_add(&b, str_of(forms[i].prefix));
            buf_add_fill(&b, '[', depth);
            buf_add_fill(&b, ']', depth);
            buf_add(&b, str_of(forms[i].suffix));
            assert_int_equal(drain(buf_view(&b), SIZE_MAX, &err), over ? -1 : 0);
            if (over)
                assert_string_equal(err.msg, "invalid character '[' exceeded max depth");
            buf_release(&b);
        }
    }
}

/* The keys of a document are checked one by one while they come in. */
static void finds_repeated_keys_among_many(void **state) {
    (void)state;
    for (int list = 0; list < 2; list++) {
        struct err err = {0};
        struct buf b = BUF_INIT(64 << 20);
        buf_add(&b, list ? STR("{\"items\":[1],") : STR("{"));
        for (int i = 0; i < 50000; i++)
            buf_addf(&b, "\"key-%d\":%d,\n", i, i);
        size_t n = b.n;
        buf_add(&b, STR("\"other\":1}"));
        assert_int_equal(drain(buf_view(&b), SIZE_MAX, &err), 0);
        b.n = n;
        buf_add(&b, STR("\"key-77\":1}"));
        assert_int_equal(drain(buf_view(&b), 5000, &err), -1);
        assert_string_equal(err.msg, "duplicate field \"key-77\"");
        assert_int_equal(err.line, 50001);
        assert_int_equal(err.column, 1);
        buf_release(&b);
    }
}

/* More than a few keys before the items: they must survive the caller's arena. */
static void keeps_many_members_of_a_list(void **state) {
    (void)state;
    struct buf b = BUF_INIT(1 << 20);
    buf_add_char(&b, '{');
    for (int i = 0; i < 100; i++)
        buf_addf(&b, "\"key-%d\":\"value %d\",", i, i);
    buf_add(&b, STR("\"items\":[1,2],\"key-100\":true}"));
    struct buf out = events(buf_view(&b), 64);
    assert_true(str_find(buf_view(&out), STR("\"key-99\":\"value 99\",\"key-100\":true}")) !=
                STR_NONE);
    buf_release(&out);
    buf_release(&b);
}

/* --- the reader's own errors --- */

static void passes_on_errors_of_the_reader(void **state) {
    (void)state;
    static const char *const texts[] = {"", "  ", "{", "{\"a\"", "{\"a\":[1", "{\"items\":[", "{}"};
    for (size_t i = 0; i < ROWS(texts); i++) {
        struct feed feed = {str_of(texts[i]), 3, true};
        struct docs *d = docs_open(feed_read, &feed);
        struct arena a = {0};
        struct docs_item item;
        struct err err = {0};
        int result;
        while ((result = docs_next(d, &a, &item, &err)) == 0)
            assert_int_equal(item.event, DOCS_VALUE);
        assert_int_equal(err.code, ERR_IO);
        assert_string_equal(err.msg, "disk on fire");
        /* and again, without asking the reader once more */
        feed.fails = false;
        err = (struct err){0};
        assert_int_equal(docs_next(d, &a, &item, &err), -1);
        assert_string_equal(err.msg, "disk on fire");
        assert_int_equal(docs_next(d, &a, &item, NULL), -1);
        docs_free(d);
        arena_release(&a);
    }
    docs_free(NULL);
}

/* A complete value comes out without waiting for what follows it. */
static void does_not_wait_behind_a_value(void **state) {
    (void)state;
    struct feed feed = {STR("{\"items\":[{\"a\":1}"), SIZE_MAX, true};
    struct docs *d = docs_open(feed_read, &feed);
    struct arena a = {0};
    struct docs_item item;
    assert_int_equal(docs_next(d, &a, &item, NULL), 0);
    assert_int_equal(item.event, DOCS_ITEM);
    docs_free(d);
    feed = (struct feed){STR("{\"a\":{}}"), 2, true};
    d = docs_open(feed_read, &feed);
    assert_int_equal(docs_next(d, &a, &item, NULL), 0);
    assert_int_equal(item.event, DOCS_VALUE);
    docs_free(d);
    arena_release(&a);
}

static void repeated_keys_can_be_kept(void **state) {
    (void)state;
    static const struct repeats_case cases[] = {
        {"{\"k\":1,\"k\":2}{\"k\":3}", "repeats {\"k\":1,\"k\":2}\nplain {\"k\":3}\n"},
        {"{\"s\":{\"k\":1,\"k\":2}}", "repeats {\"s\":{\"k\":1,\"k\":2}}\n"},
        {"{\"a\":1,\"a\":2,\"items\":[{\"k\":1},{\"k\":[{\"x\":1,\"x\":2}]},{}],\"b\":1}",
         "plain {\"k\":1}\nrepeats {\"k\":[{\"x\":1,\"x\":2}]}\nplain {}\n"},
        {"[{\"k\":1,\"k\":2}]", "repeats [{\"k\":1,\"k\":2}]\n"},
        {"{\"items\":[],\"items\":[]}", "error duplicate field \"items\""},
    };
    repeats_check(cases, ROWS(cases));
}

/* Many keys, some of them repeated, before and behind the items: the index must not mind. */
static void many_repeated_keys(void **state) {
    (void)state;
    struct buf text = BUF_INIT(1 << 20), out = BUF_INIT(1 << 20);
    buf_add_char(&text, '{');
    for (int i = 0; i < 100; i++)
        buf_addf(&text, "\"k%d\":0,\"again\":1,", i);
    buf_add(&text, STR("\"items\":[{}],\"behind\":1,\"behind\":2,\"again\":3}"));
    struct feed feed = {buf_view(&text), 50, false};
    struct docs *d = docs_open(feed_read, &feed);
    docs_keep_repeats(d);
    repeats_read(d, &out);
    assert_true(str_is(buf_view(&out), "plain {}\n"));
    docs_free(d);
    buf_release(&text);
    buf_release(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repeated_keys_can_be_kept),
        cmocka_unit_test(many_repeated_keys),
        cmocka_unit_test(reads_streams_in_pieces_of_any_size),
        cmocka_unit_test(reads_lists_split_at_every_place),
        cmocka_unit_test(values_last_until_the_next_call),
        cmocka_unit_test(limits_values_not_lists),
        cmocka_unit_test(limits_blanks),
        cmocka_unit_test(limits_depth),
        cmocka_unit_test(finds_repeated_keys_among_many),
        cmocka_unit_test(keeps_many_members_of_a_list),
        cmocka_unit_test(passes_on_errors_of_the_reader),
        cmocka_unit_test(does_not_wait_behind_a_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
