/*
 * Any text as a cluster: it is read, settled, expanded and scheduled, and nothing falls over. A pod
 * that found a node is on a node that is there.
 */
#include <assert.h>
#include <sys/mman.h>
#include <unistd.h>

#include "api/object.h"
#include "base/limits.h"
#include "cmd/commands/scene.h"
#include "cmd/report/remarks.h"
#include "sim/placement.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Templates may ask for few pods only: a run is to be short. */
enum { FEW = 50 };

static void schedule(struct sim_cluster *c, const struct feature_config *gates) {
    struct arena a = {0};
    struct clock_manual clock;
    struct sim_placement placement;
    struct sim_placement_opts opts = {.config = sched_config_default(&a)};
    clock_manual_init(&clock, 0);
    struct sched *s = sched_new(&(struct sched_opts){.gates = &gates->enabled,
                                                     .config = opts.config,
                                                     .clock = &clock.clock,
                                                     .seed = map_random_seed()});
    sim_placement_run(&placement, c, s, &clock, &opts);
    for (size_t i = 0; i < placement.pods.n; i++)
        if (placement.pods.v[i].state == SIM_SCHEDULED)
            assert(sim_cluster_find(c, API_T_node, STR(""), placement.pods.v[i].node));
    sim_placement_release(&placement);
    sched_free(s);
    arena_release(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    static const char *const no_env[] = {NULL};
    struct arena a = {0};
    struct input_opts files = {0};
    struct feature_config gates;
    struct cmd_ctx ctx;
    struct sim_cluster c;
    struct err err;
    int in = memfd_create("in", 0), out = memfd_create("out", 0);
    if (in < 0 || out < 0 || write(in, data, n) != (ssize_t)n)
        abort();
    lseek(in, 0, SEEK_SET);
    cmd_ctx_init(&ctx, in, out, out, no_env);
    feature_config_init(&gates, FEATURE_NEWEST);
    feature_set_put(&gates.enabled, FEATURE_TaintTolerationComparisonOperators, true);
    feature_set_put(&gates.enabled, FEATURE_TolerationAffinitySemverOperators, true);
    opt_list_add(&a, &files.filenames, STR("-"));
    struct remarks *remarks = remarks_new(&ctx, &gates);
    sim_cluster_init(&c, &(struct sim_cluster_opts){
                             .gates = &gates.enabled, .remark = remarks_add, .ctx = remarks});
    if (scene_read_cluster(&ctx, &files, &(struct opt_list){0}, &c, &err) == 0) {
        c.made.pods = LIMIT_EXPANDED_PODS - FEW;
        sim_cluster_expand(&c);
        remarks_write(remarks);
        schedule(&c, &gates);
    }
    sim_cluster_release(&c);
    remarks_free(remarks);
    close(in);
    close(out);
    arena_release(&a);
    return 0;
}
