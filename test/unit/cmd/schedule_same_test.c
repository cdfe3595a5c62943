/*
 * The same clusters give the same bytes: random ones go through the whole program twice. The seeds
 * of hash tables are drawn by lot for each run, and memory is handed out differently and with other
 * contents.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <malloc.h>

#include "../sched/walk_objects.h"
#include "world.h"

enum { CLUSTERS = 1000, MOST_TEXT = 1 << 20 };

/* All that can be there of a kind, or every other object, as it is decided for each. */
static bool is_there(uint64_t seed, unsigned kind, unsigned number) {
    return kind <= WALK_POD || (kind != WALK_PROBE && walk_mix(seed + kind * 16 + number) % 2);
}

static void write_cluster(uint64_t seed, struct buf *out) {
    struct walk_choices choices;
    buf_clear(out);
    for (unsigned kind = 0; kind < WALK_KINDS; kind++)
        for (unsigned i = 0; i < walk_kinds[kind].numbers; i++) {
            struct walk_spec spec = {.kind = (uint8_t)kind, .number = (uint8_t)i};
            spec.seed = (uint8_t)walk_mix(seed << 16 | kind << 8 | i);
            if (!is_there(seed, kind, i))
                continue;
            walk_text(&spec, &choices, out);
            buf_add(out, STR("\n---\n"));
        }
}

/* Appends what the program says about the text. */
static void run(struct str cluster, const char *format, struct buf *out) {
    struct str words[] = {STR("schedule"),
                          STR("-f"),
                          STR("-"),
                          STR("-o"),
                          str_of(format),
                          STR("--feature-gates=TaintTolerationComparisonOperators=true,"
                              "TolerationAffinitySemverOperators=true,TaintTolerationCEL=true")};
    struct world w;
    world_init(&w);
    w.ctx.in = memfd_create("in", 0);
    assert_int_equal(write(w.ctx.in, cluster.p, cluster.n), cluster.n);
    lseek(w.ctx.in, 0, SEEK_SET);
    int rc = cmd_main(&w.ctx, &(struct opt_list){words, sizeof words / sizeof *words});
    buf_clear(out);
    buf_addf(out, "%s", world_taken(&w, w.out));
    buf_addf(out, "%s", world_taken(&w, w.err));
    buf_addf(out, "exit %d\n", rc);
    assert_false(out->full);
    close(w.ctx.in);
    world_release(&w);
}

static void use_other_memory(bool other) {
    mallopt(M_PERTURB, other ? 0xa5 : 0x11);
    mallopt(M_MMAP_THRESHOLD, other ? 1 << 12 : 1 << 20);
    mallopt(M_MXFAST, other ? 0 : 64);
}

static size_t count(struct str text, struct str what) {
    size_t n = 0;
    for (size_t at; (at = str_find(text, what)) != STR_NONE; n++)
        text = str_sub(text, at + what.n, text.n);
    return n;
}

static void the_same_input_gives_the_same_output(void **state) {
    (void)state;
    AUTO(buf_release) struct buf cluster = BUF_INIT(MOST_TEXT);
    AUTO(buf_release) struct buf once = BUF_INIT(MOST_TEXT), again = BUF_INIT(MOST_TEXT);
    size_t placed = 0, left = 0, preempted = 0;
    for (uint64_t seed = 1; seed <= CLUSTERS; seed++) {
        const char *format = seed % 4 ? "table" : "json";
        write_cluster(seed, &cluster);
        use_other_memory(false);
        run(buf_view(&cluster), format, &once);
        use_other_memory(true);
        run(buf_view(&cluster), format, &again);
        if (!str_eq(buf_view(&once), buf_view(&again)))
            fail_msg("cluster %d:\n%.*s\n---- and then\n%.*s", (int)seed, STR_ARG(buf_view(&once)),
                     STR_ARG(buf_view(&again)));
        placed += count(buf_view(&once), STR(" Scheduled"));
        left += count(buf_view(&once), STR(" Unschedulable "));
        preempted += count(buf_view(&once), STR(" preempted by "));
    }
    print_message("%zu scheduled, %zu unschedulable, %zu preempted\n", placed, left, preempted);
    assert_true(placed > CLUSTERS && left > CLUSTERS / 2 && preempted > CLUSTERS / 50);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_input_gives_the_same_output),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
