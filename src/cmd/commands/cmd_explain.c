/* berth explain: why a pod fits on some nodes and not on others, and what would change that. */
#include "cmd/cmd.h"

#include "api/object.h"
#include "base/clock.h"
#include "base/limits.h"
#include "cli/io.h"
#include "cli/spelling.h"
#include "cmd/commands/scene.h"
#include "cmd/report/explain_report.h"
#include "cmd/rows.h"
#include "sim/probe.h"

struct explain_opts {
    struct scene_opts scene;
    struct str node;
    bool all, redact;
    int output; /* enum explain_format */
};

static const struct opt explain_opts[] = {
    {.name = "all",
     .kind = OPT_FLAG,
     .help = "Show what every plug-in makes of every node, also of those that fit.",
     .offset = offsetof(struct explain_opts, all)},
    ROW_ASSUME_ALLOCATABLE(offsetof(struct explain_opts, scene.assumed)),
    ROW_CONFIG(offsetof(struct explain_opts, scene.config)),
    ROW_NAMESPACE(offsetof(struct explain_opts, scene.namespace),
                  "Namespace of the pod, and of objects that name none (default)."),
    {.name = "node",
     .kind = OPT_STR,
     .value = "NAME",
     .help = "Explain this node only, and what would make the pod fit there.",
     .offset = offsetof(struct explain_opts, node)},
    ROW_OUTPUT(offsetof(struct explain_opts, output),
               "Output format: text, wide for text without omissions, or json.", "text",
               explain_formats),
    {.name = "redact",
     .kind = OPT_FLAG,
     .help = "Hide values of taints, tolerations and labels, and expressions.",
     .offset = offsetof(struct explain_opts, redact)},
    {0},
};

/* What a run holds. */
struct run {
    struct cmd_call *call;
    const struct explain_opts *opts;
    struct scene scene;
    const struct api_object *pod; /* the one to explain, as it was given; borrowed */
};

/* --- the pod --- */

static int read_name(const struct cmd_call *call, struct str *name, struct err *err) {
    struct str kind = STR("pod");
    *name = call->args.n ? call->args.v[0] : STR("");
    if (str_find_char(*name, '/') != STR_NONE)
        str_cut(*name, '/', &kind, name);
    if (!str_is(kind, "pod") && !str_is(kind, "pods") && !str_is(kind, "po"))
        return err_set(err, ERR_USAGE,
                       "only pods can be explained, not \"%.*s\": berth schedule lists the pods of "
                       "workloads",
                       STR_ARG(kind));
    return name->n ? 0 : err_set(err, ERR_USAGE, "which pod? Name it as pod/NAME");
}

/* Says where there is such a pod, or what pods are called like that. */
static int fail_missing(const struct run *run, struct str namespace, struct str name,
                        struct err *err) {
    struct arena *a = run->call->arena;
    struct suggest suggest = {.typed = name};
    err_set(err, ERR_NOT_FOUND, "pods \"%.*s\" not found in namespace \"%.*s\"", STR_ARG(name),
            STR_ARG(namespace));
    for (size_t i = 0; i < run->scene.cluster.items.n; i++) {
        const struct api_object *o = run->scene.cluster.items.v[i].object;
        if (!o || o->type != &api_types[API_T_pod])
            continue;
        struct str other = o->meta->namespace;
        if (str_eq(other, namespace))
            suggest_offer(&suggest, arena_printf(a, "%.*s", STR_ARG(o->meta->name)).p);
        else if (str_eq(o->meta->name, name))
            suggest_offer(&suggest,
                          arena_printf(a, "%.*s -n %.*s", STR_ARG(name), STR_ARG(other)).p);
    }
    return suggest_fail(&suggest, "pod/", err);
}

static int find_pod(struct run *run, struct str name, struct err *err) {
    struct str namespace = run->scene.cluster.opts.namespace;
    const struct sim_cluster *c = &run->scene.cluster;
    run->pod = sim_cluster_find(c, API_T_pod, namespace, name);
    if (!run->pod && sim_cluster_has_refused(c, "Pod", namespace, name))
        return err_set(err, ERR_INVALID,
                       "pods \"%.*s\" in namespace \"%.*s\" was refused, see above", STR_ARG(name),
                       STR_ARG(namespace));
    if (!run->pod)
        return fail_missing(run, namespace, name, err);
    for (size_t i = 0; i < c->items.n; i++)
        if (c->items.v[i].object == run->pod)
            return sim_cluster_check_pending(&c->items.v[i], err);
    return 0;
}

/* --- the work --- */

static int find_node(const struct run *run, const struct sched_report *r, size_t *place,
                     struct err *err) {
    struct suggest suggest = {.typed = run->opts->node};
    *place = SIZE_MAX;
    if (!run->opts->node.p || r->error.p)
        return 0;
    for (*place = 0; *place < r->node_count; ++*place)
        if (str_eq(r->nodes[*place].node, run->opts->node))
            return 0;
    for (size_t i = 0; i < r->node_count; i++)
        suggest_offer(&suggest,
                      arena_printf(run->call->arena, "%.*s", STR_ARG(r->nodes[i].node)).p);
    err_set(err, ERR_NOT_FOUND, "nodes \"%.*s\" not found", STR_ARG(run->opts->node));
    return suggest_fail(&suggest, "--node=", err);
}

static int write_report(const struct run *run, const struct explain_report *report,
                        struct err *err) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    if (run->opts->output == EXPLAIN_JSON)
        explain_report_write_json(&text, report);
    else
        explain_report_write_text(&text, report);
    return io_write(run->call->ctx->out, buf_view(&text), err);
}

/* ---- among others ---- */

static bool fits_alone(void *ctx, struct str node) {
    const struct map *nodes = ctx;
    return map_get_const(nodes, node);
}

/* Runs the scheduler on all that is pending, as berth schedule does. */
static void look_out(struct run *run, const struct sched_explanation *e, struct sim_outlook *out) {
    struct clock_manual clock;
    struct sim_placement placement;
    struct map nodes = MAP_INIT(map_random_seed());
    for (size_t i = 0; i < e->report.node_count && e->group_of; i++)
        if (e->group_of[i] == SIZE_MAX)
            map_put_const(&nodes, e->report.nodes[i].node, e);
    clock_manual_init(&clock, 0);
    struct sched *s = scene_sched_new(&run->scene, &clock.clock, 0);
    sim_placement_run(&placement, &run->scene.cluster, s, &clock,
                      &(struct sim_placement_opts){.config = run->scene.config});
    sim_outlook_find(&placement, run->pod, fits_alone, &nodes, run->call->arena, out);
    sim_placement_release(&placement);
    sched_free(s);
    map_release(&nodes);
}

/* Only a pod that is pending and is tried has rivals in the queue. */
static bool has_outlook(const struct run *run, const struct sched_explanation *e) {
    const struct api_pod *pod = run->pod->body;
    return !pod->spec.node_name.n && !pod->spec.scheduling_gates.n && !e->ignored &&
           !e->report.error.p && !run->opts->node.p &&
           sim_outlook_matters(&run->scene.cluster, run->pod);
}

static int explain_pod(struct run *run, struct sched *s, const struct api_object *pod,
                       struct err *err) {
    struct sched_explanation e;
    struct sched_suggestions suggestions;
    size_t node;
    sched_explain(s, pod, run->opts->redact, run->call->arena, &e);
    if (find_node(run, &e.report, &node, err) < 0)
        return -1;
    sched_suggest(&e, node, run->call->arena, &suggestions);
    struct sim_outlook outlook;
    bool is_alone = !has_outlook(run, &e);
    if (!is_alone)
        look_out(run, &e, &outlook);
    struct explain_report report = {.e = &e,
                                    .suggestions = &suggestions,
                                    .pod = run->pod,
                                    .outlook = is_alone ? NULL : &outlook,
                                    .node = node,
                                    .all = run->opts->all,
                                    .wide = run->opts->output == EXPLAIN_WIDE,
                                    .most = LIMIT_REPORT_BYTES};
    int rc = write_report(run, &report, err);
    bool fits =
        node == SIZE_MAX ? explain_gets_node(&report) : e.group_of && e.group_of[node] == SIZE_MAX;
    sched_suggestions_release(&suggestions);
    if (rc < 0)
        return -1;
    return fits && !run->scene.cluster.refused ? CMD_GOOD : CMD_BAD_VERDICT;
}

static int explain(struct run *run, struct err *err) {
    struct clock_manual clock;
    clock_manual_init(&clock, 0);
    struct sched *s = scene_sched_new(&run->scene, &clock.clock, 0);
    const struct api_object *pod = api_publish(sim_probe_pod(run->pod));
    sim_probe_tell(&run->scene.cluster, run->pod, s);
    int rc = explain_pod(run, s, pod, err);
    api_object_unref(pod);
    sched_free(s);
    return rc;
}

static int run(struct cmd_call *call, struct err *err) {
    struct run run = {.call = call, .opts = call->opts};
    struct str name;
    if (read_name(call, &name, err) < 0)
        return -1;
    int rc = scene_read(&run.scene, call, &run.opts->scene, "explain", err);
    if (rc == 0)
        rc = find_pod(&run, name, err);
    if (rc == 0)
        rc = explain(&run, err);
    scene_release(&run.scene);
    return rc;
}

static const struct cmd_example examples[] = {
    {"Why is this pod pending?", "kubectl get nodes,pods -A -o json | berth explain pod/web -f -"},
    {"Why not on this node?", "berth explain pod/web -f cluster.yaml --node n1"},
    {"Every plug-in's verdict on every node, for a program",
     "berth explain pod/web -f cluster.yaml --all -o json"},
    {"To show to others", "berth explain pod/web -f cluster.yaml --redact"},
    {0},
};

const struct cmd cmd_explain = {
    .name = "explain",
    .summary = "Tell why a pod fits on some nodes and not on others",
    .about =
        "Take a cluster from files as berth schedule does, and tell what every plug-in of the "
        "scheduler makes of every node for one pod, with the values that were compared. Nodes that "
        "fail for the same causes are one group. For a pod that fits, the scores and the node that "
        "is taken; for one that does not, the smallest changes that would make it fit, each "
        "verified by the scheduler.\n\n"
        "A pod that is on a node is explained as if it were pending and not there; one that has "
        "ended is not scheduled. Other pods that are pending are no part of the verdict on nodes; "
        "what becomes of the pod behind them in the queue, and whom it would preempt, is told as "
        "berth schedule decides it. Exits with 0 when the pod gets a node, 1 when it does not or "
        "an object was refused, 2 when an input cannot be read, there is no such pod, or it is the "
        "pod that was refused.",
    .usage = "pod/NAME -f FILE... [options]",
    .examples = examples,
    .groups = {{"Options", explain_opts, 0},
               {"Input Options", input_opts, offsetof(struct explain_opts, scene.input)},
               {"Feature Gate Options", gates_opts, offsetof(struct explain_opts, scene.gates)}},
    .opts_size = sizeof(struct explain_opts),
    .most_args = 1,
    .args_hint = "the pod is one argument, pod/NAME, and files are named with -f",
    .run = run,
};
