/* Counting what fits ends somewhere, however much nodes and templates promise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/limits.h"
#include "cmd/cmd.h"
#include "world.h"

/* The last line of what the command says about this input. */
static struct str last_line(struct arena *a, struct str input, const char *const *more) {
    struct world w;
    struct opt_list words = {0};
    world_init(&w);
    w.ctx.in = memfd_create("in", 0);
    assert_int_equal(write(w.ctx.in, input.p, input.n), (ssize_t)input.n);
    lseek(w.ctx.in, 0, SEEK_SET);
    opt_list_add(a, &words, STR("schedule"));
    opt_list_add(a, &words, STR("-f"));
    opt_list_add(a, &words, STR("-"));
    for (; *more; more++)
        opt_list_add(a, &words, str_of(*more));
    assert_in_range(cmd_main(&w.ctx, &words), CMD_GOOD, CMD_BAD_VERDICT);
    struct str out = arena_str(a, str_trim(str_of(world_taken(&w, w.out))));
    close(w.ctx.in);
    world_release(&w);
    for (size_t at; (at = str_find_char(out, '\n')) != STR_NONE;)
        out = str_sub(out, at + 1, out.n);
    return out;
}

static void pods_are_counted_up_to_a_limit(void **state) {
    (void)state;
    struct arena a = {0};
    struct str line = last_line(
        &a,
        STR("{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {capacity: {pods: "
            "1M}}}\n---\n{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: "
            "[{name: c, image: i}]}}\n"),
        (const char *const[]){"--replicas-that-fit", "pod/a", NULL});
    struct str wanted =
        arena_printf(&a, "pod/a: %d pods like it fit: 1 placed, %d more; Berth counts no further",
                     LIMIT_FITTING_PODS + 1, LIMIT_FITTING_PODS);
    assert_true(str_eq(line, wanted));
    arena_release(&a);
}

/* A file that has a name only for as long as it is open. */
static int open_template(char *path, size_t n) {
    static const char text[] =
        "{apiVersion: v1, kind: Node, metadata: {name: one}, status: {capacity: {pods: 1}}}\n";
    int fd = memfd_create("template", 0);
    assert_int_equal(write(fd, text, sizeof text - 1), (ssize_t)(sizeof text - 1));
    struct buf name = BUF_INIT(n - 1);
    buf_addf(&name, "/proc/self/fd/%d", fd);
    memcpy(path, name.p, name.n);
    path[name.n] = 0;
    buf_release(&name);
    return fd;
}

static void nodes_are_added_up_to_a_limit(void **state) {
    (void)state;
    struct arena a = {0};
    char path[64];
    int fd = open_template(path, sizeof path);
    struct str input = arena_printf(
        &a,
        "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: a}, spec: {replicas: %d, "
        "selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: "
        "{containers: [{name: c, image: i}]}}}}\n",
        LIMIT_ADDED_NODES + 2);
    struct str line =
        last_line(&a, input, (const char *const[]){"--node-template", path, "--pending", NULL});
    struct str wanted = arena_printf(
        &a, "node/one: 2 pods still wait with %d more nodes like it; Berth adds no more",
        LIMIT_ADDED_NODES);
    assert_true(str_eq(line, wanted));
    close(fd);
    arena_release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods_are_counted_up_to_a_limit),
        cmocka_unit_test(nodes_are_added_up_to_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
