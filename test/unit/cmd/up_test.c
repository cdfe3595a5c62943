/* What `berth up` refuses before anything is started. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/limits.h"
#include "cmd/cmd.h"
#include "world.h"

/* The command with these words fails with this text. */
static void fails(const char *const *more, const char *text) {
    struct arena a = {0};
    struct world w;
    struct opt_list words = {0};
    world_init(&w);
    opt_list_add(&a, &words, STR("up"));
    for (; *more; more++)
        opt_list_add(&a, &words, str_of(*more));
    assert_int_equal(cmd_main(&w.ctx, &words), CMD_FAILED);
    const char *said = world_taken(&w, w.err);
    if (!strstr(said, text))
        fail_msg("%s", said);
    world_release(&w);
    arena_release(&a);
}

static void nodes_have_a_limit(void **state) {
    struct arena a = {0};
    struct str most = arena_printf(&a, "%d", LIMIT_SIMULATED_NODES + 1);
    struct str text = arena_printf(&a, "--nodes must be at most %d", LIMIT_SIMULATED_NODES);
    (void)state;
    fails((const char *const[]){"--memory", "--nodes", most.p, NULL}, text.p);
    arena_release(&a);
}

static void what_contradicts_itself_is_refused(void **state) {
    (void)state;
    fails((const char *const[]){"--ephemeral", NULL}, "--ephemeral needs a command behind --");
    fails((const char *const[]){"--memory", "true", NULL},
          "a command is run with --ephemeral only");
    fails((const char *const[]){"--ephemeral", "--data-dir", "d", "--", "true", NULL},
          "--ephemeral and --data-dir exclude each other");
    fails((const char *const[]){"--memory", "--component-feature-gates", "etcd=A=true", NULL},
          "it must begin with kube-scheduler=, kube-controller-manager= or kubelet=");
    fails((const char *const[]){"--memory", "--component-feature-gates", "kubelet=Nothing=true",
                                NULL},
          "error: --component-feature-gates=kubelet: unrecognized feature gate: Nothing");
    fails((const char *const[]){"--memory", "--feature-gates", "Nothing=true", NULL},
          "error: unrecognized feature gate: Nothing");
}

static void time_has_a_speed(void **state) {
    struct arena a = {0};
    struct str most = arena_printf(&a, "%d", LIMIT_CLUSTER_SPEED + 1);
    (void)state;
    fails((const char *const[]){"--memory", "--speed", most.p, NULL},
          "--speed must be between 1 and 1000");
    fails((const char *const[]){"--memory", "--speed", "0", NULL},
          "--speed must be between 1 and 1000");
    fails((const char *const[]){"--data-dir", "d", "--speed", "2", NULL},
          "--speed needs --memory or --ephemeral");
    fails((const char *const[]){"--memory", "--node-pool", "/nowhere", NULL}, "/nowhere");
    arena_release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_have_a_limit),
        cmocka_unit_test(what_contradicts_itself_is_refused),
        cmocka_unit_test(time_has_a_speed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
