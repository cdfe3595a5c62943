/*
 * What the commands that ask the scheduler start from: the feature gates, the engine of
 * expressions, the scheduler's configuration, and the cluster: that of -f, that of a server, or the
 * latter with what -f brings.
 */
#ifndef CMD_COMMANDS_SCENE_H
#define CMD_COMMANDS_SCENE_H

#include "cmd/gate_flags.h"
#include "cmd/input/input.h"
#include "cmd/remote.h"
#include "sched/config.h"
#include "sched/sched.h"
#include "sim/cluster.h"

/* A command embeds them, names input_opts, cluster_opts and gates_opts among its groups, and has
 * the rows of --config, --live, --namespace, --assume-allocatable and --skip in its table. */
struct scene_opts {
    struct input_opts input;
    struct cluster_opts server;
    struct gates_opts gates;
    bool live; /* the server's cluster comes first, also with -f */
    struct opt_list config;
    struct opt_list assumed; /* what nodes offer that do not say so: cpu=4 */
    struct opt_list skip;    /* kinds that are left out */
    bool apply_all;          /* stored objects, too, take the place of others */
    struct str namespace;
    struct str pod; /* that is asked about: it is read also when it has ended */
};

struct scene {
    struct remote remote;  /* closed once all is read */
    const struct log *log; /* of scene_sched_new; NULL: none */
    struct feature_config gates;
    struct tolexpr *expressions;
    struct sched_config *config;
    struct api_quantities assumed;
    struct sim_cluster cluster;
    struct remarks *remarks;       /* on its objects, for standard error */
    const struct clock *stopwatch; /* of scene_sched_new; NULL: see struct sched_opts */
};

/* The kinds that a server is asked for. */
const struct remote_kind *scene_kinds(size_t *n);

/* Is a server asked? So it is without -f, and where the options say so. */
bool scene_is_live(const struct scene_opts *opts);

/* Reads all of it, expands workloads, and writes the remarks on objects; without any object it
 * fails, in the name of the command. Release with scene_release, also after a failure. */
int scene_read(struct scene *s, struct cmd_call *call, const struct scene_opts *opts,
               const char *command, struct err *err);
void scene_release(struct scene *s);

/* Reads all objects that the files hold, but for those of the kinds to skip, into a cluster and
 * settles it. Fails only when input cannot be read; a text that is no object is such a failure. */
int scene_read_cluster(struct cmd_ctx *ctx, const struct input_opts *files,
                       const struct opt_list *skip, struct sim_cluster *c, struct err *err);

/* A scheduler that nothing has been told of yet; see struct sched_opts for clock and tie_seed. Free
 * it with sched_free before the scene is released. */
struct sched *scene_sched_new(const struct scene *s, const struct clock *clock, uint64_t tie_seed);

#endif
