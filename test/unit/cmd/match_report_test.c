/* Reports about many tolerations and taints: what they list, and what they count at the end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/types.h"
#include "base/limits.h"
#include "cmd/match_pairs.h"
#include "world.h"

struct fixture {
    struct arena arena;
    struct match_pairs pairs;
    struct buf text;
    struct match_report report;
};

/* Writes about the only pair; what was written before is thought of as printed. */
static void write_pair(struct fixture *f) {
    f->report.out = &f->text;
    f->report.written += f->text.n;
    buf_clear(&f->text);
    assert_false(match_report_write_text(&f->report, &f->pairs.pods.v[0], &f->pairs.hosts.v[0]));
}

/* A pod with so many tolerations and a node with so many taints, and the text about them. Only the
 * last taint is tolerated. */
static void set_up(struct fixture *f, size_t tolerations, size_t taints) {
    struct feature_config gates;
    *f = (struct fixture){.text = BUF_INIT(SIZE_MAX)};
    feature_config_init(&gates, FEATURE_NEWEST);
    match_pairs_init(&f->pairs, &gates, NULL);
    struct api_toleration_list pod = {arena_array(&f->arena, struct api_toleration, tolerations),
                                      tolerations};
    struct api_taint_list node = {arena_array(&f->arena, struct api_taint, taints), taints};
    for (size_t i = 0; i < tolerations; i++)
        pod.v[i] =
            (struct api_toleration){.key = STR("a"), .value = arena_printf(&f->arena, "v%zu", i)};
    for (size_t i = 0; i < taints; i++)
        node.v[i] = (struct api_taint){.key = STR("a"),
                                       .value = arena_printf(&f->arena, "t%zu", i),
                                       .effect = STR("NoSchedule")};
    node.v[taints - 1] =
        (struct api_taint){.key = STR("a"), .value = STR("v1"), .effect = STR("NoSchedule")};
    match_pairs_add_tolerations(&f->pairs, &pod);
    match_pairs_add_taints(&f->pairs, &node);
    write_pair(f);
}

static void tear_down(struct fixture *f) {
    match_pairs_release(&f->pairs);
    buf_release(&f->text);
    arena_release(&f->arena);
}

static size_t count_lines(const struct fixture *f) {
    size_t n = 0;
    for (size_t i = 0; i < f->text.n; i++)
        n += f->text.p[i] == '\n';
    return n;
}

static void a_report_lists_all_that_fits(void **state) {
    (void)state;
    struct fixture f;
    set_up(&f, 200, 100);
    assert_true(f.text.n < LIMIT_MATCH_PAIR_BYTES);
    assert_int_equal(count_lines(&f), 200 * 99 + 1);
    tear_down(&f);
}

/* The text ends with so many taints of which only the number is told. */
static void expect_rest(struct fixture *f, size_t taints) {
    struct str end = arena_printf(&f->arena,
                                  "no match: %zu further taints are not listed, %zu of them not "
                                  "tolerated\n",
                                  taints, taints - 1);
    if (!str_ends(buf_view(&f->text), end))
        fail_msg("%.*s", 300, f->text.p + f->text.n - 300);
}

static void the_rest_of_a_long_report_is_counted(void **state) {
    (void)state;
    enum { TAINTS = 2000, LISTED = 50 }; /* the last of them with some of the tolerations */
    struct fixture f;
    set_up(&f, 2000, TAINTS);
    assert_true(f.text.n > LIMIT_MATCH_PAIR_BYTES);
    assert_true(f.text.n < LIMIT_MATCH_PAIR_BYTES + 1000);
    assert_true(str_find(buf_view(&f.text),
                         STR(" further tolerations do not match and are not listed\n")) < f.text.n);
    expect_rest(&f, TAINTS - LISTED);
    tear_down(&f);
}

/* Where the pairs of a run have come to their end, each has its verdict all the same. */
static void pairs_share_the_room(void **state) {
    (void)state;
    struct fixture f;
    set_up(&f, 2000, 2000);
    for (size_t i = 1; i < LIMIT_MATCH_REPORT_BYTES / LIMIT_MATCH_PAIR_BYTES; i++) {
        write_pair(&f);
        assert_true(count_lines(&f) > 1);
    }
    write_pair(&f);
    assert_int_equal(count_lines(&f), 1);
    expect_rest(&f, 2000);
    tear_down(&f);
}

/* Runs berth match on as many pods as nodes, and returns its exit code. */
static int match_squares(struct world *w, size_t side) {
    AUTO(buf_release) struct buf in = BUF_INIT(1 << 20);
    buf_add(&in, STR("{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":["));
    for (size_t i = 0; i < 2 * side; i++)
        buf_addf(&in, "%s{\"apiVersion\":\"v1\",\"kind\":\"%s\",\"metadata\":{\"name\":\"x\"}}",
                 i ? "," : "", i % 2 ? "Pod" : "Node");
    buf_add(&in, STR("]}"));
    world_init(w);
    w->ctx.in = memfd_create("in", 0);
    assert_int_equal(write(w->ctx.in, in.p, in.n), (ssize_t)in.n);
    lseek(w->ctx.in, 0, SEEK_SET);
    struct str words[] = {STR("match"), STR("-f"), STR("-")};
    int code = cmd_main(&w->ctx, &(struct opt_list){.v = words, .n = 3});
    close(w->ctx.in);
    return code;
}

static void pairs_are_limited(void **state) {
    (void)state;
    struct world w;
    assert_int_equal(match_squares(&w, 20), CMD_GOOD);
    world_release(&w);
    size_t side = 1;
    while (side * side <= LIMIT_MATCH_PAIRS)
        side++;
    assert_int_equal(match_squares(&w, side), 2);
    assert_string_equal(world_taken(&w, w.err),
                        "error: 3163 pods and 3163 nodes are more than 10000000 pairs: match some "
                        "of them at a time\n");
    assert_string_equal(world_taken(&w, w.out), "");
    world_release(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_report_lists_all_that_fits),
        cmocka_unit_test(the_rest_of_a_long_report_is_counted),
        cmocka_unit_test(pairs_share_the_room),
        cmocka_unit_test(pairs_are_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
