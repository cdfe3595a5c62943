/*
 * From options to a cluster and a scheduler, see scene.h.
 */
#include "cmd/commands/scene.h"

#include <stdlib.h>

#include "api/object.h"
#include "base/printable.h"
#include "cli/io.h"
#include "client/client.h"
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

static int add_files(struct cmd_ctx *ctx, const struct input_opts *files,
                     const struct opt_list *skip, struct sim_cluster *c, struct err *err) {
    struct input *in;
    if (input_open(ctx, files, false, &in, err) < 0)
        return -1;
    input_keep_repeats(in);
    int rc = add_all(c, in, skip, err);
    input_free(in);
    return rc;
}

int scene_read_cluster(struct cmd_ctx *ctx, const struct input_opts *files,
                       const struct opt_list *skip, struct sim_cluster *c, struct err *err) {
    if (add_files(ctx, files, skip, c, err) < 0)
        return -1;
    sim_cluster_settle(c);
    return 0;
}

/* ---- a server's cluster ---- */

/* What has a say in where pods go. Without some of it pods may look as if they fitted where they do
 * not, and then nothing is said; without the rest they look worse than they are, or are placed in
 * another order, and that is told. */
#define WORKLOADS "pods that they have yet to make are not seen, nor what pods are spread by"
#define VOLUMES   "pods with volumes look as if there was none for them"
static const struct remote_kind kinds[] = {
    {.type = API_T_node, .blinds = "without nodes there is nowhere for pods to go"},
    {.type = API_T_pod,
     .field_selector = STR_INIT("status.phase!=Succeeded,status.phase!=Failed"),
     .blinds = "without the pods of all namespaces nobody knows what is free on nodes"},
    {.type = API_T_namespace,
     .blinds = "pods may have affinity to pods of namespaces with certain labels",
     .can_be_skipped = true},
    {.type = API_T_deployment, .hides = WORKLOADS},
    {.type = API_T_replica_set, .hides = WORKLOADS},
    {.type = API_T_replication_controller, .hides = WORKLOADS},
    {.type = API_T_stateful_set, .hides = WORKLOADS},
    {.type = API_T_daemon_set, .hides = WORKLOADS},
    {.type = API_T_job, .hides = WORKLOADS},
    {.type = API_T_service, .hides = "what they spread pods by is not seen"},
    {.type = API_T_persistent_volume_claim, .hides = VOLUMES},
    {.type = API_T_persistent_volume, .hides = VOLUMES},
    {.type = API_T_storage_class, .hides = VOLUMES},
    {.type = API_T_csi_driver,
     .blinds = "drivers may say how much room there is for volumes",
     .can_be_skipped = true},
    {.type = API_T_csi_node,
     .blinds = "nodes may take so many volumes only",
     .can_be_skipped = true},
    {.type = API_T_csi_storage_capacity, .hides = VOLUMES},
    {.type = API_T_volume_attachment,
     .blinds = "volumes may be attached to nodes already",
     .can_be_skipped = true},
    {.type = API_T_pod_disruption_budget, .hides = "preemption takes no care of them"},
    {.type = API_T_priority_class, .hides = "new pods that name one are refused"},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

const struct remote_kind *scene_kinds(size_t *n) {
    *n = KINDS;
    return kinds;
}

/* The kinds to read. A pod that is asked about may have ended, and is read for itself then. */
static size_t choose_kinds(struct scene *s, struct arena *a, const struct scene_opts *opts,
                           struct remote_kind *out) {
    size_t n = 0;
    for (size_t i = 0; i < KINDS; i++) {
        const struct api_kind *kind = client_kind(kinds[i].type);
        if (!input_kind_is_of(str_of(kind->api_version), str_of(kind->kind), &opts->skip))
            out[n++] = kinds[i];
    }
    if (opts->pod.n)
        out[n++] = (struct remote_kind){
            .type = API_T_pod,
            .namespace = s->cluster.opts.namespace,
            .field_selector =
                arena_printf(a,
                             "metadata.name=%.*s,status.phase!=Pending,status.phase!=Running,"
                             "status.phase!=Unknown",
                             STR_ARG(opts->pod))};
    return n;
}

/* What is told of each object. */
struct taking {
    struct sim_cluster *cluster;
    int rc;
    struct err *err;
};

static void take_object(void *arg, const struct api_object *o) {
    struct taking *t = arg;
    AUTO(arena_release) struct arena a = {0};
    struct json tree = remote_tree(&a, o);
    struct sim_source at = {.file = remote_place(&a, o)};
    if (t->rc == 0)
        t->rc = sim_cluster_add(t->cluster, &tree, &(struct api_decode_opts){.strict = false}, &at,
                                t->err);
}

static int read_remote(struct scene *s, struct cmd_call *call, const struct scene_opts *opts,
                       struct err *err) {
    struct remote_kind wanted[KINDS + 1];
    struct taking taking = {&s->cluster, 0, err};
    size_t n = choose_kinds(s, call->arena, opts, wanted);
    if (remote_read(&s->remote, wanted, n, take_object, &taking, err) < 0)
        return -1;
    return taking.rc;
}

bool scene_is_live(const struct scene_opts *opts) {
    return opts->live || !opts->input.filenames.n || cluster_is_named(&opts->server);
}

/* ---- all of it ---- */

/* The gates and the namespace, which a server and the kubeconfig may say. */
static int begin(struct scene *s, struct cmd_call *call, const struct scene_opts *opts,
                 struct str *namespace, struct err *err) {
    struct gates_opts gates = opts->gates;
    *namespace = opts->namespace;
    if (scene_is_live(opts)) {
        if (remote_begin(&s->remote, call, &opts->server, &gates, err) < 0)
            return -1;
        *namespace = remote_namespace(&s->remote, opts->namespace);
    }
    return gates_configure(&gates, &call->ctx->log, &s->gates, err);
}

static int read_all(struct scene *s, struct cmd_call *call, const struct scene_opts *opts,
                    struct err *err) {
    if (s->remote.client && read_remote(s, call, opts, err) < 0)
        return -1;
    remote_close(&s->remote);
    if (opts->input.filenames.n &&
        add_files(call->ctx, &opts->input, &opts->skip, &s->cluster, err) < 0)
        return -1;
    sim_cluster_settle(&s->cluster);
    return 0;
}

int scene_read(struct scene *s, struct cmd_call *call, const struct scene_opts *opts,
               const char *command, struct err *err) {
    struct str namespace;
    *s = (struct scene){0};
    if (config_file_read(call, &opts->config, &s->config, err) < 0 ||
        read_assumed(s, call->arena, &opts->assumed, err) < 0 ||
        begin(s, call, opts, &namespace, err) < 0)
        return -1;
    s->expressions = tolexpr_new(
        &(struct tolexpr_opts){s->gates.min_compat, call->ctx->clock, map_random_seed(), 0});
    s->remarks = remarks_new(call->ctx, &s->gates);
    sim_cluster_init(&s->cluster,
                     &(struct sim_cluster_opts){.gates = &s->gates.enabled,
                                                .namespace = namespace,
                                                .apply_all = opts->apply_all,
                                                .assumed = &s->assumed,
                                                .cel = tolexpr_valid_cel(s->expressions),
                                                .engine = tolexpr_match_engine(s->expressions),
                                                .remark = remarks_add,
                                                .ctx = s->remarks});
    if (read_all(s, call, opts, err) < 0)
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
    remote_close(&s->remote);
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
