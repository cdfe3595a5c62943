/*
 * From options to a cluster and a scheduler, see scene.h.
 */
#include "cmd/commands/scene.h"

#include <stdlib.h>

#include "base/printable.h"
#include "cli/io.h"
#include "cmd/parts/config_file.h"
#include "cmd/report/remarks.h"
#include "codec/json.h"
#include "tolexpr/tolexpr.h"

/* ---- what nodes offer ---- */

static int compare_keys(const void *x, const void *y) {
    const struct api_quantity *a = x, *b = y;
    return str_cmp(a->key, b->key);
}

/* cpu=4 to an amount of a resource, which names it once. */
static int read_amount(struct arena *a, struct str text, struct api_quantities *out,
                       struct err *err) {
    struct str key, amount;
    struct quantity value;
    if (!str_cut(text, '=', &key, &amount) || !key.n)
        return err_set(err, ERR_USAGE, "\"%.*s\" is not of the form RESOURCE=AMOUNT",
                       STR_ARG(text));
    for (size_t i = 0; i < out->n; i++)
        if (str_eq(out->v[i].key, key))
            return err_set(err, ERR_USAGE, "\"%.*s\" is given twice", STR_ARG(key));
    if (quantity_parse(a, amount, &value, err) < 0)
        return err_wrap(err, "%.*s", STR_ARG(key));
    out->v[out->n++] = (struct api_quantity){key, value};
    return 0;
}

static int read_assumed(struct scene *s, struct arena *a, const struct opt_list *list,
                        struct err *err) {
    s->assumed.v = arena_array(a, struct api_quantity, list->n);
    for (size_t i = 0; i < list->n; i++)
        if (read_amount(a, list->v[i], &s->assumed, err) < 0) {
            err->code = ERR_USAGE;
            return err_wrap(err, "--assume-allocatable");
        }
    if (s->assumed.n)
        qsort(s->assumed.v, s->assumed.n, sizeof *s->assumed.v, compare_keys);
    return 0;
}

/* ---- the cluster ---- */

static int add_all(struct sim_cluster *c, struct input *in, const struct opt_list *skip,
                   struct err *err) {
    struct input_value value;
    struct input_source source;
    int rc;
    while ((rc = input_next_value(in, &value, &source, err)) > 0) {
        struct api_decode_opts decode = {
            .kind = value.kind, .api_version = value.api_version, .duplicates = value.repeats};
        struct sim_source at = {source.file, source.line, source.column};
        if (input_value_is_of(&value, skip))
            continue;
        if (sim_cluster_add(c, value.tree, &decode, &at, err) < 0)
            return input_fail_at(&source, err);
    }
    return rc;
}

int scene_read_cluster(struct cmd_ctx *ctx, const struct input_opts *files,
                       const struct opt_list *skip, struct sim_cluster *c, struct err *err) {
    struct input *in;
    if (input_open(ctx, files, false, &in, err) < 0)
        return -1;
    input_keep_repeats(in);
    int rc = add_all(c, in, skip, err);
    input_free(in);
    if (rc == 0)
        sim_cluster_settle(c);
    return rc;
}

/* ---- all of it ---- */

int scene_read(struct scene *s, struct cmd_call *call, const struct scene_opts *opts,
               const char *command, struct err *err) {
    *s = (struct scene){0};
    if (gates_configure(&opts->gates, &call->ctx->log, &s->gates, err) < 0 ||
        config_file_read(call, &opts->config, &s->config, err) < 0 ||
        read_assumed(s, call->arena, &opts->assumed, err) < 0)
        return -1;
    s->expressions = tolexpr_new(
        &(struct tolexpr_opts){s->gates.min_compat, call->ctx->clock, map_random_seed(), 0});
    s->remarks = remarks_new(call->ctx, &s->gates);
    sim_cluster_init(&s->cluster,
                     &(struct sim_cluster_opts){.gates = &s->gates.enabled,
                                                .namespace = opts->namespace,
                                                .apply_all = opts->apply_all,
                                                .assumed = &s->assumed,
                                                .cel = tolexpr_valid_cel(s->expressions),
                                                .engine = tolexpr_match_engine(s->expressions),
                                                .remark = remarks_add,
                                                .ctx = s->remarks});
    if (scene_read_cluster(call->ctx, &opts->input, &opts->skip, &s->cluster, err) < 0)
        return -1;
    if (s->cluster.items.n == 0 && !s->cluster.refused)
        return err_set(err, ERR_INVALID, "no objects passed to %s", command);
    sim_cluster_expand(&s->cluster);
    remarks_write(s->remarks);
    if (s->cluster.obstacle.p)
        return err_set(err, ERR_INVALID, "%.*s", STR_ARG(s->cluster.obstacle));
    return 0;
}

void scene_release(struct scene *s) {
    if (s->cluster.known)
        sim_cluster_release(&s->cluster);
    remarks_free(s->remarks);
    tolexpr_free(s->expressions);
}

struct sched *scene_sched_new(const struct scene *s, const struct clock *clock, uint64_t tie_seed) {
    return sched_new(&(struct sched_opts){
        .gates = &s->gates.enabled,
        .engine = tolexpr_match_engine(s->expressions),
        .config = s->config,
        .clock = clock,
        .stopwatch = s->stopwatch,
        .log = s->log,
        .seed = map_random_seed(),
        .tie_seed = tie_seed,
    });
}
