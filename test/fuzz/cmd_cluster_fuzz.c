/*
 * Any text as a cluster: it is read, settled, expanded and scheduled, and nothing falls over. A pod
 * that found a node is on a node that is there.
 */
#include <assert.h>
#include <sys/mman.h>
#include <unistd.h>

#include "api/object.h"
#include "base/limits.h"
#include "cmd/input/cluster.h"
#include "cmd/report/placement.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Templates may ask for few pods only: a run is to be short. */
enum { FEW = 50 };

static void schedule(struct cluster *c, const struct feature_config *gates) {
    struct arena a = {0};
    struct clock_fake clock;
    struct placement placement;
    struct placement_opts opts = {.config = sched_config_default(&a)};
    clock_fake_init(&clock, 0);
    struct sched *s = sched_new(&(struct sched_opts){.gates = &gates->enabled,
                                                     .config = opts.config,
                                                     .clock = &clock.clock,
                                                     .seed = map_random_seed()});
    placement_run(&placement, c, s, &clock, &opts);
    for (size_t i = 0; i < placement.pods.n; i++)
        if (placement.pods.v[i].state == PLACEMENT_SCHEDULED)
            assert(cluster_find(c, "Node", STR(""), placement.pods.v[i].node));
    placement_release(&placement);
    sched_free(s);
    arena_release(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    static const char *const no_env[] = {NULL};
    struct arena a = {0};
    struct input_opts files = {0};
    struct feature_config gates;
    struct cmd_ctx ctx;
    struct cluster c;
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
    cluster_init(&c, &(struct cluster_opts){.ctx = &ctx, .gates = &gates});
    if (cluster_read(&c, &files, &err) == 0) {
        c.expanded = LIMIT_EXPANDED_PODS - FEW;
        cluster_expand(&c);
        cluster_write_remarks(&c);
        schedule(&c, &gates);
    }
    cluster_release(&c);
    close(in);
    close(out);
    arena_release(&a);
    return 0;
}
