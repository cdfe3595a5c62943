/* berth apiserver: a Kubernetes API server with its store, in one process. */
#include "cmd/serve.h"

static int run(struct cmd_call *call, struct err *err) {
    struct serve s;
    int rc = -1;
    if (serve_open(&s, call, call->opts, err) == 0 && serve_listen(&s, err) == 0 &&
        serve_tell_ready(&s, err) == 0) {
        net_loop_run(s.loop);
        rc = CMD_GOOD;
    }
    serve_close(&s);
    return rc;
}

static const struct cmd_example examples[] = {
    {"A server that keeps what it is told", "berth apiserver --data-dir ./cluster"},
    {"One that forgets, on any free port", "berth apiserver --memory --secure-port 0"},
    {"With version operators", "berth apiserver "
                               "--feature-gates=TolerationAffinitySemverOperators=true"},
    {0},
};

const struct cmd cmd_apiserver = {
    .name = "apiserver",
    .summary = "Serve the Kubernetes API, with a store of its own",
    .about = "Serve the API of Kubernetes to kubectl, client-go and controllers, from one process: "
             "objects are decoded, defaulted, admitted and validated as `berth validate` says, and "
             "kept in a file of the data folder.\n\n"
             "When it is ready, one line on standard output says where it listens and which "
             "kubeconfig to use. SIGTERM and SIGINT end it; what was acknowledged is on disk.",
    .usage = "[--data-dir DIR | --memory] [options]",
    .examples = examples,
    .groups = {SERVE_GROUPS(0)},
    .opts_size = sizeof(struct serve_opts),
    .run = run,
};
