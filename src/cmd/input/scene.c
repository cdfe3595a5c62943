/* From options to a cluster and a scheduler, see scene.h. */
#include "cmd/input/scene.h"

#include "tolexpr/tolexpr.h"

static int read_config_file(struct scene *s, struct cmd_call *call, const struct opt_list *files,
                            struct err *err) {
    struct input_opts names = {.filenames = *files};
    struct input_value value;
    struct input_source source;
    if (files->n > 1)
        return err_set(err, ERR_USAGE, "it can be given once");
    if (input_open(call->ctx, &names, false, &s->config_file, err) < 0)
        return -1;
    int rc = input_next_value(s->config_file, &value, &source, err);
    if (rc < 0)
        return -1;
    if (rc == 0)
        return err_set(err, ERR_INVALID, "%.*s: no configuration in it", STR_ARG(files->v[0]));
    if (sched_config_read(call->arena, value.tree, &s->config, err) < 0)
        return input_fail_at(&source, err);
    return 0;
}

/* What --config names, or upstream's default. */
static int read_config(struct scene *s, struct cmd_call *call, const struct opt_list *files,
                       struct err *err) {
    if (files->n)
        return read_config_file(s, call, files, err) < 0 ? err_wrap(err, "--config") : 0;
    s->config = sched_config_default(call->arena);
    return 0;
}

int scene_read(struct scene *s, struct cmd_call *call, const struct scene_opts *opts,
               const char *command, struct err *err) {
    *s = (struct scene){0};
    if (gates_configure(&opts->gates, &call->ctx->log, &s->gates, err) < 0 ||
        read_config(s, call, &opts->config, err) < 0)
        return -1;
    s->expressions = tolexpr_new(
        &(struct tolexpr_opts){s->gates.min_compat, call->ctx->clock, map_random_seed(), 0});
    cluster_init(&s->cluster,
                 &(struct cluster_opts){.ctx = call->ctx,
                                        .gates = &s->gates,
                                        .namespace = opts->namespace,
                                        .cel = tolexpr_valid_cel(s->expressions),
                                        .engine = tolexpr_match_engine(s->expressions)});
    if (cluster_read(&s->cluster, &opts->input, err) < 0)
        return -1;
    if (s->cluster.items.n == 0 && !s->cluster.refused)
        return err_set(err, ERR_INVALID, "no objects passed to %s", command);
    cluster_expand(&s->cluster);
    cluster_write_remarks(&s->cluster);
    if (s->cluster.obstacle.p)
        return err_set(err, ERR_INVALID, "%.*s", STR_ARG(s->cluster.obstacle));
    return 0;
}

void scene_release(struct scene *s) {
    cluster_release(&s->cluster);
    input_free(s->config_file);
    tolexpr_free(s->expressions);
}

struct sched *scene_sched_new(const struct scene *s, const struct clock *clock, uint64_t tie_seed) {
    return sched_new(&(struct sched_opts){
        .gates = &s->gates.enabled,
        .engine = tolexpr_match_engine(s->expressions),
        .config = s->config,
        .clock = clock,
        .seed = map_random_seed(),
        .tie_seed = tie_seed,
    });
}
