/* The stream of objects: what comes, from where, and what is said when it does not. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/object.h"
#include "cmd/input/input.h"
#include "world.h"

/* A file without a name that holds text, open for reading from the start. */
static int file_of(const char *text) {
    int fd = memfd_create("in", 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    lseek(fd, 0, SEEK_SET);
    return fd;
}

/* An input that reads standard input. */
struct reading {
    struct world world;
    struct arena arena;
    struct input *in;
    struct api_object *object;
    struct input_source source;
    struct err err;
};

static void reading_open(struct reading *r, const char *text) {
    *r = (struct reading){0};
    world_init(&r->world);
    r->world.ctx.in = file_of(text);
}

static void reading_start(struct reading *r, bool strict) {
    struct input_opts opts = {0};
    opt_list_add(&r->arena, &opts.filenames, STR("-"));
    assert_int_equal(input_open(&r->world.ctx, &opts, strict, &r->in, &r->err), 0);
}

static int reading_next(struct reading *r) {
    return input_next(r->in, &r->object, &r->source, &r->err);
}

static void reading_close(struct reading *r) {
    input_free(r->in);
    arena_release(&r->arena);
    close(r->world.ctx.in);
    world_release(&r->world);
}

static void show(struct buf *out, const struct api_object *o, const struct input_source *s) {
    buf_addf(out, "%.*s %s:%u:%u doc %u", STR_ARG(o->names->kind), s->file.p, s->line, s->column,
             s->document);
    if (s->item != INPUT_NO_ITEM)
        buf_addf(out, " item %u", s->item);
    buf_addf(out, "\n");
}

/* Reads text from standard input and compares a line per object, and the error. */
static void check(const char *text, const char *want) {
    struct reading r;
    struct buf out = BUF_INIT(1 << 16);
    int rc;
    reading_open(&r, text);
    reading_start(&r, false);
    while ((rc = reading_next(&r)) > 0) {
        show(&out, r.object, &r.source);
        api_object_free(r.object);
    }
    if (rc < 0)
        buf_addf(&out, "%s\n", r.err.msg);
    else
        assert_int_equal(reading_next(&r), 0);
    if (!str_is(buf_view(&out), want))
        fail_msg("wanted:\n%s\ngot:\n%.*s", want, STR_ARG(buf_view(&out)));
    buf_release(&out);
    reading_close(&r);
}

#define NAMED(kind) "{\"apiVersion\":\"v1\",\"kind\":\"" kind "\"}"

static void objects_know_where_they_come_from(void **state) {
    (void)state;
    check("", "");
    check("null\n---\n~\n", "");
    check(NAMED("Pod") "\n " NAMED("Node"), "Pod STDIN:1:1 doc 0\n"
                                            "Node STDIN:2:2 doc 1\n");
    check("# text\napiVersion: v1\nkind: Pod\n---\n\nkind: Node\napiVersion: v1\n",
          "Pod STDIN:2:1 doc 0\n"
          "Node STDIN:6:1 doc 1\n");
    check("{\"kind\":\"List\",\"items\":[" NAMED("Pod") ",\n" NAMED("Node") "]}\n" NAMED("Pod"),
          "Pod STDIN:1:25 doc 0 item 0\n"
          "Node STDIN:2:1 doc 0 item 1\n"
          "Pod STDIN:3:1 doc 1\n");
}

static void items_take_the_kind_of_their_list(void **state) {
    (void)state;
    check("{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"items\":[{}," NAMED("Node") "]}",
          "Pod STDIN:1:46 doc 0 item 0\n"
          "Node STDIN:1:49 doc 0 item 1\n");
    check("{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"items\":[{}]}",
          "STDIN:1:42: Object 'Kind' is missing\n");
    check("{\"kind\":\"PodList\",\"items\":[{}]}", "STDIN:1:28: Object 'apiVersion' is missing\n");
    check("{\"kind\":5,\"apiVersion\":\"v1\",\"items\":[{}]}",
          "STDIN:1:38: Object 'Kind' is missing\n");
    check("{\"items\":[{}],\"kind\":\"PodList\"}",
          "STDIN:1:11: Object 'Kind' is missing, and the list has no kind before its items\n");
}

static void lists_in_lists_are_flattened(void **state) {
    (void)state;
    check("{\"kind\":\"List\",\"items\":[{\"kind\":\"NodeList\",\"apiVersion\":\"v1\",\"items\":"
          "[{},{}]}," NAMED("Pod") ",{\"items\":[]},{\"items\":[{\"items\":[" NAMED("Pod") "]}]}]}",
          "Node STDIN:1:25 doc 0 item 0\n"
          "Node STDIN:1:25 doc 0 item 0\n"
          "Pod STDIN:1:79 doc 0 item 1\n"
          "Pod STDIN:1:125 doc 0 item 3\n");
}

static void nesting_of_lists_has_an_end(void **state) {
    (void)state;
    struct buf text = BUF_INIT(1 << 12);
    for (int depth = INPUT_MOST_LISTS + 1; depth <= INPUT_MOST_LISTS + 2; depth++) {
        buf_clear(&text);
        for (int i = 0; i < depth; i++)
            buf_addf(&text, "{\"items\":[");
        buf_addf(&text, NAMED("Pod"));
        for (int i = 0; i < depth; i++)
            buf_addf(&text, "]}");
        buf_add_char(&text, 0);
        check(text.p, depth == INPUT_MOST_LISTS + 1 ? "Pod STDIN:1:11 doc 0 item 0\n"
                                                    : "STDIN:1:11: lists nest deeper than 8\n");
    }
    buf_release(&text);
}

static void what_came_before_an_error_is_good(void **state) {
    (void)state;
    check(NAMED("Pod") "\n\n  {\"kind\" 1}",
          "Pod STDIN:1:1 doc 0\n"
          "STDIN:3:11: invalid character '1' after object key\n");
    check("[1]", "STDIN:1:1: not an object\n");
}

static void strictness_is_handed_on(void **state) {
    (void)state;
    struct reading r;
    reading_open(&r, "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"x\":1}");
    reading_start(&r, true);
    assert_int_equal(reading_next(&r), -1);
    assert_non_null(strstr(r.err.msg, "strict decoding error: unknown field \"x\""));
    reading_close(&r);
    input_free(NULL);
}

static void places_are_printed_as_far_as_known(void **state) {
    (void)state;
    static const struct {
        uint32_t line, column;
        const char *want;
    } table[] = {{0, 0, "f: text"}, {3, 0, "f:3: text"}, {3, 4, "f:3:4: text"}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct input_source source = {
            .file = STR("f"), .line = table[i].line, .column = table[i].column};
        struct err err;
        err_set(&err, ERR_INVALID, "text");
        assert_int_equal(input_fail_at(&source, &err), -1);
        assert_string_equal(err.msg, table[i].want);
    }
    char path[600];
    memset(path, 'p', sizeof path);
    struct input_source source = {.file = {path, sizeof path}, .line = 1};
    struct err err;
    err_set(&err, ERR_INVALID, "text");
    input_fail_at(&source, &err);
    assert_int_equal(strncmp(err.msg, "...pp", 5), 0);
    assert_string_equal(err.msg + strlen(err.msg) - 9, "p:1: text");
}

/* The clock stands at each read as a slow disk would make it, and a terminal watches. */
struct slow_clock {
    struct clock clock;
    int64_t now;
};

static int64_t a_second_later(const struct clock *self) {
    struct slow_clock *slow = (struct slow_clock *)(uintptr_t)self;
    return slow->now += CLOCK_SECOND;
}

static void slow_reading_shows_progress(void **state) {
    (void)state;
    struct reading r;
    struct slow_clock slow = {{a_second_later, a_second_later, NULL}, 0};
    reading_open(&r, NAMED("Pod"));
    r.world.ctx.err_is_tty = true;
    r.world.ctx.clock = &slow.clock;
    reading_start(&r, false);
    while (reading_next(&r) > 0)
        api_object_free(r.object);
    const char *shown = world_taken(&r.world, r.world.err);
    assert_non_null(strstr(shown, "\r\033[K0.0 MB, "));
    assert_string_equal(shown + strlen(shown) - 4, "\r\033[K");
    reading_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_know_where_they_come_from),
        cmocka_unit_test(items_take_the_kind_of_their_list),
        cmocka_unit_test(lists_in_lists_are_flattened),
        cmocka_unit_test(nesting_of_lists_has_an_end),
        cmocka_unit_test(what_came_before_an_error_is_good),
        cmocka_unit_test(strictness_is_handed_on),
        cmocka_unit_test(places_are_printed_as_far_as_known),
        cmocka_unit_test(slow_reading_shows_progress),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
