/* berth explain: why a pod fits on some nodes and not on others, and what would change that. */
#include "cmd/cmd.h"

#include "api/object.h"
#include "base/clock.h"
#include "base/limits.h"
#include "cli/io.h"
#include "cli/spelling.h"
#include "cmd/commands/follow.h"
#include "cmd/commands/target.h"
#include "cmd/report/explain_report.h"
#include "cmd/rows.h"
#include "sim/probe.h"

struct explain_opts {
    struct scene_opts scene;
    struct str node;
    bool all, pending, redact, watch;
    struct str timeout;
    int output; /* enum explain_format */
};

static const struct opt explain_opts[] = {
    {.name = "all",
     .kind = OPT_FLAG,
     .help = "Show what every plug-in makes of every node, also of those that fit.",
     .offset = offsetof(struct explain_opts, all)},
    ROW_ASSUME_ALLOCATABLE(offsetof(struct explain_opts, scene.assumed)),
    ROW_CONFIG(offsetof(struct explain_opts, scene.config)),
    ROW_LIVE(offsetof(struct explain_opts, scene.live), ROW_LIVE_SCENE),
    ROW_NAMESPACE(offsetof(struct explain_opts, scene.namespace),
                  "Namespace of the pod, and of objects that name none; without it that of the "
                  "kubeconfig's context, or default."),
    {.name = "node",
     .kind = OPT_STR,
     .value = "NAME",
     .help = "Explain this node only, and what would make the pod fit there.",
     .offset = offsetof(struct explain_opts, node)},
    ROW_OUTPUT(offsetof(struct explain_opts, output),
               "Output format: text, wide for text without omissions, or json.", "text",
               explain_formats),
    {.name = "pending",
     .kind = OPT_FLAG,
     .help = "Explain all pods that are pending and find no node, those that fail alike together.",
     .offset = offsetof(struct explain_opts, pending)},
    {.name = "redact",
     .kind = OPT_FLAG,
     .help = "Hide values of taints, tolerations and labels, and expressions.",
     .offset = offsetof(struct explain_opts, redact)},
    ROW_SKIP(offsetof(struct explain_opts, scene.skip), ROW_SKIP_PODS),
    {.name = "timeout",
     .kind = OPT_STR,
     .value = "TIME",
     .help = "How long to --watch, such as 30s or 5m; 0 is without end.",
     .offset = offsetof(struct explain_opts, timeout),
     .fallback = "0"},
    {.name = "watch",
     .letter = 'w',
     .kind = OPT_FLAG,
     .help = "Go on, and tell whenever the verdict or its causes change, and why, until the pod is "
             "on a node or gone.",
     .offset = offsetof(struct explain_opts, watch)},
    {0},
};

/* What a run holds. */
struct run {
    struct cmd_call *call;
    const struct explain_opts *opts;
    struct scene scene;
    const struct api_object *pod;          /* the one to explain, as it was given; borrowed */
    const struct sim_placement *placement; /* of all that is pending; NULL: not run yet */
    struct stage *shared; /* that knows of all but pods that are nowhere; NULL: there is none */
    struct explain_alike alike; /* the pods that the explained one stands for */
    struct buf out;
    struct explain_state state; /* what is told, for --watch */
};

/* --- the pod --- */

static int read_wanted(const struct cmd_call *call, struct target *out, struct err *err) {
    const struct explain_opts *opts = call->opts;
    if (opts->pending && (call->args.n || opts->node.p))
        return err_set(err, ERR_USAGE, "--pending goes without a name and without --node");
    if (target_read(call->args.n ? call->args.v[0] : STR(""), out, err) < 0)
        return -1;
    if (opts->node.p && !target_is_pod(out))
        return err_set(err, ERR_USAGE, "--node goes with a pod");
    if (opts->watch && (opts->scene.input.filenames.n || opts->pending || !target_is_pod(out) ||
                        opts->node.p || opts->output == EXPLAIN_JSON))
        return err_set(err, ERR_USAGE,
                       "--watch goes with a pod of a cluster that is asked, and without --node and "
                       "-o json");
    return out->name.n || opts->pending ? 0
                                        : err_set(err, ERR_USAGE, "which pod? Name it as pod/NAME");
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

static void write_report(struct run *run, const struct explain_report *report) {
    if (run->opts->output == EXPLAIN_JSON)
        explain_report_write_json(&run->out, report);
    else
        explain_report_write_text(&run->out, report);
}

/* ---- among others ---- */

static bool fits_alone(void *ctx, struct str node) {
    const struct map *nodes = ctx;
    return map_get_const(nodes, node);
}

typedef int placed_fn(struct run *run, void *ctx, struct err *err);

/* A scheduler and the clock it runs on. */
struct stage {
    struct clock_manual clock;
    struct sched *sched;
};

static void stage_init(struct stage *stage, const struct run *run) {
    clock_manual_init(&stage->clock, 0);
    stage->sched = scene_sched_new(&run->scene, &stage->clock.clock, 0);
}

/* Runs the scheduler of the stage on all that is pending, as berth schedule does; what came of it
 * is there as long as the function runs. */
static int run_placed(struct run *run, struct stage *stage, bool is_told, placed_fn *fn, void *ctx,
                      struct err *err) {
    struct sim_placement placement;
    const struct sim_placement_opts opts = {.config = run->scene.config, .is_told = is_told};
    sim_placement_run(&placement, &run->scene.cluster, stage->sched, &stage->clock, &opts);
    run->placement = &placement;
    int rc = fn(run, ctx, err);
    run->placement = NULL;
    sim_placement_release(&placement);
    return rc;
}

static int with_placement(struct run *run, placed_fn *fn, void *ctx, struct err *err) {
    struct stage stage;
    stage_init(&stage, run);
    int rc = run_placed(run, &stage, false, fn, ctx, err);
    sched_free(stage.sched);
    return rc;
}

/* An explanation, and what becomes of its pod. */
struct looking {
    const struct sched_explanation *e;
    struct sim_outlook out;
};

static int look_up(struct run *run, void *ctx, struct err *err) {
    struct looking *l = ctx;
    struct map nodes = MAP_INIT(map_random_seed());
    (void)err;
    for (size_t i = 0; i < l->e->report.node_count && l->e->group_of; i++)
        if (l->e->group_of[i] == SIZE_MAX)
            map_put_const(&nodes, l->e->report.nodes[i].node, l->e);
    sim_outlook_find(run->placement, run->pod, fits_alone, &nodes, run->call->arena, &l->out);
    map_release(&nodes);
    return 0;
}

/* Only a pod that is pending and is tried has rivals in the queue. */
static bool has_outlook(const struct run *run, const struct sched_explanation *e) {
    const struct api_pod *pod = run->pod->body;
    return !pod->spec.node_name.n && !pod->spec.scheduling_gates.n && !e->ignored &&
           !e->report.error.p && !run->opts->node.p &&
           sim_outlook_matters(&run->scene.cluster, run->pod);
}

/* What becomes of the pod among the others. The scheduler that explained it goes on with them,
 * unless it was told of some of them before their turn. */
static void look_ahead(struct run *run, struct stage *stage, struct looking *looking) {
    struct err none;
    if (run->placement)
        look_up(run, looking, &none);
    else if (sim_probe_tells_pending(&run->scene.cluster, run->pod))
        with_placement(run, look_up, looking, &none);
    else
        run_placed(run, stage, true, look_up, looking, &none);
}

static int explain_pod(struct run *run, struct stage *stage, const struct api_object *pod,
                       struct err *err) {
    struct sched_explanation e;
    struct sched_suggestions suggestions;
    size_t node;
    sched_explain(stage->sched, pod, run->opts->redact, run->call->arena, &e);
    if (find_node(run, &e.report, &node, err) < 0)
        return -1;
    sched_suggest(&e, node, run->call->arena, &suggestions);
    struct looking looking = {.e = &e};
    bool is_alone = !has_outlook(run, &e), is_one = !run->placement;
    if (!is_alone)
        look_ahead(run, stage, &looking);
    struct explain_report report = {.e = &e,
                                    .suggestions = &suggestions,
                                    .pod = run->pod,
                                    .alike = run->alike,
                                    .outlook = is_alone ? NULL : &looking.out,
                                    .node = node,
                                    .all = run->opts->all,
                                    .brief = !is_one,
                                    .wide = run->opts->output == EXPLAIN_WIDE,
                                    .most = LIMIT_REPORT_BYTES};
    write_report(run, &report);
    if (run->opts->watch)
        explain_state_keep(&run->state, &report);
    bool fits =
        node == SIZE_MAX ? explain_gets_node(&report) : e.group_of && e.group_of[node] == SIZE_MAX;
    sched_suggestions_release(&suggestions);
    return fits && !run->scene.cluster.refused ? CMD_GOOD : CMD_BAD_VERDICT;
}

/* One scheduler will do for pods that are nowhere: they are not told to it. */
static int explain(struct run *run, struct err *err) {
    const struct api_pod *body = run->pod->body;
    bool is_shared = run->shared && !body->status.nominated_node_name.n;
    struct stage own = {.sched = NULL};
    const struct api_object *pod = api_publish(sim_probe_pod(run->pod));
    if (!is_shared) {
        stage_init(&own, run);
        sim_probe_tell(&run->scene.cluster, run->pod, own.sched);
    }
    int rc = explain_pod(run, is_shared ? run->shared : &own, pod, err);
    api_object_unref(pod);
    sched_free(own.sched);
    return rc;
}

/* ---- many pods ---- */

/* Pods of one owner that nothing was found for, for the same reason. */
struct alike {
    struct explain_alike all;
    const struct api_object *first;
};

struct many {
    const struct target *wanted;
    size_t pods, scheduled;
    struct map by_cause; /* struct alike */
    VEC(struct alike *) groups;
};

static bool is_wanted(const struct run *run, const struct many *m, const struct api_object *pod,
                      struct str owner) {
    if (run->opts->pending)
        return true;
    struct arena *a = run->call->arena;
    struct str name = arena_printf(a, "%s/%.*s", m->wanted->kind, STR_ARG(m->wanted->name));
    return str_eq(pod->meta->namespace, run->scene.cluster.opts.namespace) && str_eq(owner, name);
}

static void add_alike(struct run *run, struct many *m, const struct sim_placement_pod *p,
                      struct str owner) {
    struct arena *a = run->call->arena;
    struct str key = arena_printf(a, "%.*s\n%.*s\n%d %.*s", STR_ARG(p->pod->meta->namespace),
                                  STR_ARG(owner), p->state, STR_ARG(p->message));
    struct alike *alike = map_get(&m->by_cause, key);
    if (!alike) {
        alike = arena_new(a, struct alike);
        *alike = (struct alike){.all.owner = owner, .first = p->pod};
        map_put(&m->by_cause, key, alike);
        vec_push(&m->groups, alike);
    }
    alike->all.pods++;
}

static void collect(struct run *run, struct many *m) {
    const struct sim_placement *p = run->placement;
    for (size_t i = 0; i < p->pods.n; i++) {
        struct str owner = sim_owner_of(p->cluster, p->pods.v[i].pod, run->call->arena);
        if (!p->pods.v[i].item || !is_wanted(run, m, p->pods.v[i].pod, owner))
            continue;
        m->pods++;
        if (p->pods.v[i].state == SIM_SCHEDULED)
            m->scheduled++;
        else
            add_alike(run, m, &p->pods.v[i], owner);
    }
}

static void begin_alike(struct run *run, const struct alike *alike, bool is_first) {
    run->pod = alike->first;
    run->alike = alike->all;
    if (run->opts->output == EXPLAIN_JSON)
        buf_addf(&run->out, "%s{\"pods\":%zu,\"explanation\":\n", is_first ? "" : ",",
                 alike->all.pods);
    else
        buf_add_char(&run->out, '\n');
}

static int explain_alike(struct run *run, const struct many *m, struct err *err) {
    enum { GROUPS_SHOWN = 2 };
    bool is_json = run->opts->output == EXPLAIN_JSON;
    bool is_all = run->opts->output != EXPLAIN_TEXT || m->groups.n <= GROUPS_SHOWN;
    size_t shown = is_all ? m->groups.n : GROUPS_SHOWN;
    if (is_json)
        buf_addf(&run->out,
                 "{\"apiVersion\":\"berth.dev/v1alpha1\",\"kind\":\"ExplanationList\","
                 "\"pods\":%zu,\"scheduled\":%zu,\"items\":[",
                 m->pods, m->scheduled);
    else
        buf_addf(&run->out, "%zu pending pod%s: %zu scheduled, %zu not.\n", m->pods,
                 m->pods == 1 ? "" : "s", m->scheduled, m->pods - m->scheduled);
    for (size_t i = 0; i < shown; i++) {
        begin_alike(run, m->groups.v[i], i == 0);
        if (explain(run, err) < 0)
            return -1;
        buf_add(&run->out, is_json ? STR("}") : STR(""));
    }
    buf_add(&run->out, is_json ? STR("]}\n") : STR(""));
    if (shown < m->groups.n)
        buf_addf(&run->out, "\n%zu more groups: -o wide shows them\n", m->groups.n - shown);
    return m->groups.n || run->scene.cluster.refused ? CMD_BAD_VERDICT : CMD_GOOD;
}

static int explain_many(struct run *run, void *ctx, struct err *err) {
    struct many m = {.wanted = ctx, .by_cause = MAP_INIT(map_random_seed())};
    struct stage shared;
    collect(run, &m);
    stage_init(&shared, run);
    sim_probe_tell(&run->scene.cluster, NULL, shared.sched);
    run->shared = &shared;
    int rc = m.pods || run->opts->pending
                 ? explain_alike(run, &m, err)
                 : err_set(err, ERR_NOT_FOUND,
                           "no pending pod of %s \"%.*s\" in namespace \"%.*s\"", m.wanted->kind,
                           STR_ARG(m.wanted->name), STR_ARG(run->scene.cluster.opts.namespace));
    sched_free(shared.sched);
    run->shared = NULL;
    map_release(&m.by_cause);
    vec_release(&m.groups);
    return rc;
}

static int explain_wanted(struct run *run, struct target *wanted, struct err *err) {
    if (run->opts->pending || !target_is_pod(wanted))
        return with_placement(run, explain_many, wanted, err);
    return target_find_pod(&run->scene.cluster, wanted->name, &run->pod, err) < 0
               ? -1
               : explain(run, err);
}

static int write_all(struct run *run, struct err *err) {
    return io_write(run->call->ctx->out, buf_view(&run->out), err);
}

/* A pod that has its node already is not waited for. */
static int watch(struct run *run, int rc, int64_t timeout, struct err *err) {
    const struct api_pod *pod = run->opts->watch ? run->pod->body : NULL;
    if (!pod || pod->spec.node_name.n || api_pod_has_ended(pod))
        return rc;
    return follow(&(struct follow_opts){.call = run->call,
                                        .scene = &run->scene,
                                        .from = &run->opts->scene,
                                        .pod = run->pod,
                                        .redact = run->opts->redact,
                                        .timeout = timeout},
                  &run->state, err);
}

static int run(struct cmd_call *call, struct err *err) {
    struct run run = {.call = call, .opts = call->opts, .out = BUF_INIT(SIZE_MAX)};
    struct target wanted;
    int64_t timeout;
    if (read_wanted(call, &wanted, err) < 0 ||
        cluster_read_timeout(run.opts->timeout, &timeout, err) < 0)
        return -1;
    struct scene_opts scene = run.opts->scene;
    if (target_is_pod(&wanted))
        scene.pod = wanted.name;
    int rc = scene_read(&run.scene, call, &scene, "explain", err);
    if (rc == 0)
        rc = explain_wanted(&run, &wanted, err);
    if (rc >= 0 && write_all(&run, err) < 0)
        rc = -1;
    if (rc >= 0)
        rc = watch(&run, rc, timeout, err);
    explain_state_release(&run.state);
    buf_release(&run.out);
    scene_release(&run.scene);
    return rc;
}

static const struct cmd_example examples[] = {
    {"Why is this pod pending, in the cluster of the kubeconfig?", "berth explain pod/web"},
    {"Why is anything pending?", "berth explain --pending --context prod"},
    {"Why not on this node?", "berth explain pod/web --node n1"},
    {"Tell when that changes, until the pod is on a node", "berth explain pod/web --watch"},
    {"Would this pod fit, that is not there yet?", "berth explain pod/web -f pod.yaml --live"},
    {"In a cluster that was written down",
     "kubectl get nodes,pods -A -o json | berth explain pod/web -f -"},
    {"Every plug-in's verdict on every node, for a program",
     "berth explain pod/web -f cluster.yaml --all -o json"},
    {"To show to others", "berth explain pod/web -f cluster.yaml --redact"},
    {0},
};

const struct cmd cmd_explain = {
    .name = "explain",
    .summary = "Tell why a pod fits on some nodes and not on others",
    .about =
        "Take the cluster of the kubeconfig, or one from files as berth schedule does, and tell "
        "what every plug-in of the scheduler makes of every node for one pod, with the values that "
        "were compared. Nodes that "
        "fail for the same causes are one group. For a pod that fits, the scores and the node that "
        "is taken; for one that does not, the smallest changes that would make it fit, each "
        "verified by the scheduler.\n\n"
        "A pod that is on a node is explained as if it were pending and not there; one that has "
        "ended is not scheduled. Other pods that are pending are no part of the verdict on nodes; "
        "what becomes of the pod behind them in the queue, and whom it would preempt, is told as "
        "berth schedule decides it. Exits with 0 when the pod gets a node, 1 when it does not or "
        "an object was refused, 2 when an input cannot be read, there is no such pod, or it is the "
        "pod that was refused.",
    .usage = "(pod/NAME | WORKLOAD/NAME | --pending) [-f FILE...] [options]",
    .examples = examples,
    .groups = {{"Options", explain_opts, 0},
               {"Input Options", input_opts, offsetof(struct explain_opts, scene.input)},
               {"Cluster Options", cluster_opts, offsetof(struct explain_opts, scene.server)},
               {"Feature Gate Options", gates_opts, offsetof(struct explain_opts, scene.gates)}},
    .opts_size = sizeof(struct explain_opts),
    .most_args = 1,
    .args_hint = "the pod is one argument, pod/NAME, and files are named with -f",
    .run = run,
};
