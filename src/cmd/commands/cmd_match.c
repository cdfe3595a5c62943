/* berth match: does it match, and why, for tolerations against taints. */
#include "cmd/cmd.h"

#include "base/limits.h"
#include "cli/io.h"
#include "cmd/gate_flags.h"
#include "cmd/input/input.h"
#include "cmd/input/match_args.h"
#include "cmd/match_pairs.h"
#include "cmd/remote.h"
#include "cmd/rows.h"

/* Output is written when so much of it waits. */
enum { BLOCK = 1 << 16, LONGEST_OUTPUT = 256 << 20 };

struct match_opts {
    struct input_opts input;
    struct cluster_opts server;
    struct gates_opts gates;
    bool live;
    struct opt_list tolerations, taints;
    int output; /* enum text_or_json */
};

static const struct opt match_opts[] = {
    ROW_LIVE(offsetof(struct match_opts, live),
             "Take what was not given from the cluster of the kubeconfig: nodes, or pods. So it is "
             "also with --kubeconfig and --context, and where there is no -f."),
    ROW_TEXT_OR_JSON(offsetof(struct match_opts, output)),
    ROW_TAINT(offsetof(struct match_opts, taints)),
    {.name = "toleration",
     .kind = OPT_TEXTS,
     .value = "TOLERATION",
     .help = "A toleration, such as 'sla Gt 950:NoSchedule', or as JSON. Can be given several "
             "times.",
     .offset = offsetof(struct match_opts, tolerations)},
    {0},
};

/* ---- both sides ---- */

static int add_tolerations(struct match_pairs *p, struct arena *a, const struct opt_list *texts,
                           struct err *err) {
    struct api_toleration_list list = {arena_array(a, struct api_toleration, texts->n), texts->n};
    for (size_t i = 0; i < texts->n; i++)
        if (match_args_toleration(a, texts->v[i], &list.v[i], err) < 0)
            return -1;
    if (texts->n)
        match_pairs_add_tolerations(p, &list);
    return 0;
}

static int add_taints(struct match_pairs *p, struct arena *a, const struct opt_list *texts,
                      struct err *err) {
    struct api_taint_list list = {arena_array(a, struct api_taint, texts->n), texts->n};
    for (size_t i = 0; i < texts->n; i++)
        if (match_args_taint(a, texts->v[i], &list.v[i], err) < 0)
            return -1;
    if (texts->n)
        match_pairs_add_taints(p, &list);
    return 0;
}

static void add_object(void *pairs, const struct api_object *o) {
    match_pairs_add_object(pairs, o);
}

/* Adds the side that is missing, if one is: nodes, or pods that have not ended. */
static int ask_server(struct match_pairs *p, struct remote *remote, const struct match_opts *opts,
                      struct err *err) {
    static const struct remote_kind nodes = {.type = API_T_node},
                                    pods = {.type = API_T_pod,
                                            .field_selector = STR_INIT(
                                                "status.phase!=Succeeded,status.phase!=Failed")};
    bool has_tolerations = opts->tolerations.n || p->pods.n;
    bool has_taints = opts->taints.n || p->hosts.n;
    if (!remote->client || has_tolerations == has_taints)
        return 0;
    return remote_read(remote, has_tolerations ? &nodes : &pods, 1, add_object, p, err);
}

static int gather(struct match_pairs *p, struct cmd_call *call, struct remote *remote,
                  struct err *err) {
    const struct match_opts *opts = call->opts;
    if (input_each(call->ctx, &opts->input, add_object, p, err) < 0)
        return -1;
    if (p->pods.n && opts->tolerations.n)
        return err_set(err, ERR_USAGE, "--toleration cannot be used with pods from -f");
    if (p->hosts.n && opts->taints.n)
        return err_set(err, ERR_USAGE, "--taint cannot be used with nodes from -f");
    if (ask_server(p, remote, opts, err) < 0 ||
        add_tolerations(p, call->arena, &opts->tolerations, err) < 0 ||
        add_taints(p, call->arena, &opts->taints, err) < 0)
        return -1;
    if (!p->pods.n)
        return err_set(err, ERR_USAGE, "no tolerations: use --toleration, or -f with a pod");
    if (!p->hosts.n)
        return err_set(err, ERR_USAGE, "no taints: use --taint, or -f with a node");
    if (p->hosts.n > LIMIT_MATCH_PAIRS / p->pods.n)
        return err_set(err, ERR_TOO_LARGE,
                       "%zu pods and %zu nodes are more than %d pairs: match some of them at a "
                       "time",
                       p->pods.n, p->hosts.n, LIMIT_MATCH_PAIRS);
    return 0;
}

/* ---- output ---- */

struct writer {
    int fd;
    enum text_or_json format;
    struct buf text;
    struct match_report report; /* writes into text */
    bool all;                   /* every pair matches */
};

static int flush(struct writer *w, size_t from, struct err *err) {
    if (w->text.n < from)
        return 0;
    if (w->text.full)
        return err_set(err, ERR_TOO_LARGE, "output of one pair needs more than %d MiB",
                       LONGEST_OUTPUT >> 20);
    int rc = io_write(w->fd, buf_view(&w->text), err);
    w->report.written += w->text.n;
    buf_clear(&w->text);
    return rc;
}

static int write_pair(struct writer *w, const struct match_pod *pod, const struct match_host *host,
                      bool first, struct err *err) {
    bool json = w->format == AS_JSON;
    if (json)
        buf_add(&w->text, first ? STR("\n") : STR(",\n"));
    w->all &= json ? match_report_write_json(&w->report, pod, host)
                   : match_report_write_text(&w->report, pod, host);
    return flush(w, BLOCK, err);
}

static int write_all(struct writer *w, const struct match_pairs *p, struct err *err) {
    if (w->format == AS_JSON)
        buf_add(&w->text, STR("{\"apiVersion\":\"berth.dev/v1alpha1\",\"kind\":\"MatchReport\","
                              "\"items\":["));
    for (size_t i = 0; i < p->pods.n; i++)
        for (size_t k = 0; k < p->hosts.n; k++)
            if (write_pair(w, &p->pods.v[i], &p->hosts.v[k], i == 0 && k == 0, err) < 0)
                return -1;
    if (w->format == AS_JSON)
        buf_add(&w->text, STR("\n]}\n"));
    return flush(w, 0, err);
}

static void print_hints(const struct cmd_ctx *ctx, const struct feature_config *gates,
                        const struct feature_set *missing) {
    AUTO(buf_release) struct buf text = BUF_INIT(BLOCK);
    for (enum feature f = 0; f < FEATURE_COUNT; f++) {
        if (!feature_enabled(missing, f))
            continue;
        size_t before = text.n;
        cmd_add_title(ctx, CMD_HINT, &text);
        buf_addf(&text, "the feature gate %.*s is off; try ", STR_ARG(feature_name(f)));
        if (gates_write_remedy(&text, gates, f))
            buf_add_char(&text, '\n');
        else
            text.n = before;
    }
    (void)io_write(ctx->err, buf_view(&text), NULL);
}

static int match_all(struct cmd_call *call, struct remote *remote,
                     const struct feature_config *gates, struct err *err) {
    const struct match_opts *opts = call->opts;
    struct match_pairs pairs;
    match_pairs_init(&pairs, gates, call->ctx->clock);
    struct writer w = {.fd = call->ctx->out,
                       .format = (enum text_or_json)opts->output,
                       .text = BUF_INIT(LONGEST_OUTPUT),
                       .report = {.out = &w.text},
                       .all = true};
    int rc = gather(&pairs, call, remote, err);
    if (rc == 0)
        rc = write_all(&w, &pairs, err);
    if (rc == 0)
        print_hints(call->ctx, gates, &w.report.missing);
    buf_release(&w.text);
    match_pairs_release(&pairs);
    return rc < 0 ? -1 : w.all ? CMD_GOOD : CMD_BAD_VERDICT;
}

/* Without -f, one side is given and the other one asked for. */
static bool is_live(const struct match_opts *opts) {
    bool one_is_given = (opts->tolerations.n > 0) != (opts->taints.n > 0);
    return opts->live || cluster_is_named(&opts->server) ||
           (!opts->input.filenames.n && one_is_given);
}

static int run(struct cmd_call *call, struct err *err) {
    const struct match_opts *opts = call->opts;
    struct gates_opts flags = opts->gates;
    struct feature_config gates;
    struct remote remote = {.call = call};
    int rc = 0;
    if (is_live(opts))
        rc = remote_begin(&remote, call, &opts->server, &flags, err);
    if (rc == 0)
        rc = gates_configure(&flags, &call->ctx->log, &gates, err);
    if (rc == 0)
        rc = match_all(call, &remote, &gates, err);
    remote_close(&remote);
    return rc;
}

static const struct cmd_example examples[] = {
    {"Does a toleration match a taint?",
     "berth match --toleration gpu=a100 --taint gpu=h100:NoSchedule"},
    {"A toleration as it stands in a manifest",
     "berth match --toleration '{\"key\":\"a\",\"value\":\"b\"}' --taint a=c:NoExecute"},
    {"A pod against every node of the kubeconfig's cluster", "berth match -f pod.yaml --live"},
    {"A pod against every node of a file",
     "kubectl get nodes -o json | berth match -f pod.yaml -f -"},
    {"Who would tolerate a new taint?", "berth match --taint sla=950:NoExecute"},
    {0},
};

const struct cmd cmd_match = {
    .name = "match",
    .summary = "Tell whether tolerations match taints, and why",
    .about =
        "Hold tolerations against taints and say for each taint whether it is tolerated, in one "
        "sentence with the values that decided it. Tolerations come from --toleration or from the "
        "pods of -f, taints from --taint or from the nodes of -f, and what is not given from the "
        "cluster of the kubeconfig; a pod and a node are also "
        "matched by nodeSelector and required node affinity. Exits with 0 when everything matches, "
        "1 when something does not, 2 when an input cannot be read.\n\n"
        "A toleration is JSON, or KEY OPERATOR [VALUE][:EFFECT], or KEY=VALUE[:EFFECT]; a taint is "
        "KEY=VALUE:EFFECT or KEY:EFFECT.",
    .usage = "[--toleration TOLERATION... | -f FILE...] [--taint TAINT... | -f FILE...] [options]",
    .examples = examples,
    .groups = {{"Options", match_opts, 0},
               {"Input Options", input_opts, offsetof(struct match_opts, input)},
               {"Cluster Options", cluster_opts, offsetof(struct match_opts, server)},
               {"Feature Gate Options", gates_opts, offsetof(struct match_opts, gates)}},
    .opts_size = sizeof(struct match_opts),
    .args_hint = "files are named with -f",
    .run = run,
};
