/* The prompt of berth cel: what is typed, what is answered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "world.h"

/* Both go to different places; the prompt is counted, the answers are compared. */
struct talk {
    const char *typed, *answers;
    size_t prompts;
};

#define CHECK(type, cost, verdict) \
    "type: " type "\nestimated cost: " cost "\nin a toleration: " verdict "\n"
#define NO_TIME      "time: 0.0 \xc2\xb5s to compile\n"
#define NO_TIME_EACH "time: 0.0 \xc2\xb5s to compile, 0.0 \xc2\xb5s for each taint\n"

static const struct talk talks[] = {
    {"", "", 1},
    {"\n\n", "", 3},
    {"true", CHECK("bool", "0", "accepted") NO_TIME, 2},
    {"  1  \n", CHECK("int", "0", "refused, its type is int, not bool") NO_TIME, 2},
    {":quit\ntrue\n", "", 1},
    {":quitter\n:quit\n", NULL, 2},
    {":taint a=b:NoSchedule\ntaint.key\n:clear\n1\n",
     CHECK("string", "2",
           "refused, its type is string, not bool") "taint a=b:NoSchedule: \"a\" (cost "
                                                    "2)\n" NO_TIME_EACH CHECK(
                                                        "int", "0",
                                                        "refused, its type is int, not bool")
                                                        NO_TIME,
     5},
    {":taint\n", "error: invalid taint spec: , it must be KEY=VALUE:EFFECT or KEY:EFFECT\n", 2},
    {":tree\ntrue\n:tree\n", CHECK("bool", "0", "accepted") "tree:\n  literal true: bool\n" NO_TIME,
     4},
    {":taint a:NoExecute\n:explain\n!(taint.key == 'b')\n",
     CHECK("bool", "4", "accepted") "taint a:NoExecute: true (cost 4)\n"
                                    "  !(taint.key == \"b\"): true\n"
                                    "    taint.key == \"b\": false\n"
                                    "      taint.key: \"a\"\n" NO_TIME_EACH,
     4},
};

static size_t count(const char *text, const char *what) {
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, what)); at++)
        n++;
    return n;
}

static int type(struct world *w, struct str text) {
    struct str words[] = {STR("cel")};
    w->ctx.in = memfd_create("in", 0);
    w->ctx.in_is_tty = true;
    assert_int_equal(write(w->ctx.in, text.p, text.n), text.n);
    lseek(w->ctx.in, 0, SEEK_SET);
    int rc = cmd_main(&w->ctx, &(struct opt_list){words, 1});
    close(w->ctx.in);
    return rc;
}

static void lines_are_answered(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof talks / sizeof *talks; i++) {
        struct world w;
        world_init(&w);
        assert_int_equal(type(&w, str_of(talks[i].typed)), CMD_GOOD);
        if (talks[i].answers)
            assert_string_equal(world_taken(&w, w.out), talks[i].answers);
        else
            assert_non_null(strstr(world_taken(&w, w.out), ":explain"));
        assert_int_equal(count(world_taken(&w, w.err), "cel> "), talks[i].prompts);
        world_release(&w);
    }
}

/* What the command line says is in force at the first prompt. */
static void options_are_the_start(void **state) {
    (void)state;
    static const char want[] =
        CHECK("bool", "0", "accepted") "tree:\n  literal true: bool\n"
                                       "taint a:NoSchedule: true (cost 0)\n" NO_TIME_EACH;
    struct str words[] = {STR("cel"), STR("--ast"), STR("--taint=a:NoSchedule")};
    struct world w;
    world_init(&w);
    w.ctx.in_is_tty = true;
    w.ctx.in = memfd_create("in", 0);
    assert_int_equal(write(w.ctx.in, "true\n", 5), 5);
    lseek(w.ctx.in, 0, SEEK_SET);
    assert_int_equal(cmd_main(&w.ctx, &(struct opt_list){words, 3}), CMD_GOOD);
    assert_string_equal(world_taken(&w, w.out), want);
    words[1] = STR("-ojson");
    assert_int_equal(cmd_main(&w.ctx, &(struct opt_list){words, 3}), CMD_FAILED);
    close(w.ctx.in);
    world_release(&w);
}

/* Of a line that is too long nothing is left but the error; the next one is read as it should be.
 */
static void long_lines_are_refused(void **state) {
    (void)state;
    struct world w;
    AUTO(buf_release) struct buf text = BUF_INIT(8 << 20);
    world_init(&w);
    buf_add_fill(&text, '1', 3 << 20);
    buf_add(&text, STR("\n\n:quit\ntrue\n"));
    assert_int_equal(type(&w, buf_view(&text)), CMD_GOOD);
    assert_string_equal(world_taken(&w, w.out), "error: the line is too long\n");
    assert_int_equal(count(world_taken(&w, w.err), "cel> "), 3);
    world_release(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_answered),
        cmocka_unit_test(options_are_the_start),
        cmocka_unit_test(long_lines_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
