/* berth controller-manager: controllers, with whatever API server there is. */
#include "auth/pki.h"
#include "client/kubeconfig.h"
#include "cmd/parts/solo.h"
#include "manager/manager.h"

struct manager_cmd_opts {
    struct opt_list controllers;
    struct str root_ca, signing_certificate, signing_key;
    struct solo_connection connection;
    struct solo_election election;
    struct solo_serving serving;
    struct gates_opts gates;
};

static void offer_controllers(struct buf *out) {
    size_t n;
    const char *const *names = manager_controllers(&n);
    for (size_t i = 0; i < n; i++)
        buf_addf(out, "%s%s", i ? " " : "", names[i]);
}

static const struct opt manager_rows[] = {
    {.name = "controllers",
     .kind = OPT_LIST,
     .value = "NAME,...",
     .help = "Controllers that run: * is all, which is the default, NAME is this one, and -NAME is "
             "not this one, by their names in kube-controller-manager.",
     .offset = offsetof(struct manager_cmd_opts, controllers),
     .offer = offer_controllers},
    {.name = "root-ca-file",
     .kind = OPT_STR,
     .value = "FILE",
     .help = "Certificate authority that is published to pods as kube-root-ca.crt; by default that "
             "of the kubeconfig.",
     .offset = offsetof(struct manager_cmd_opts, root_ca)},
    {.name = "cluster-signing-cert-file",
     .kind = OPT_STR,
     .value = "FILE",
     .help =
         "Certificate authority that certifies what CertificateSigningRequests ask for; without "
         "it and its key nobody does.",
     .offset = offsetof(struct manager_cmd_opts, signing_certificate)},
    {.name = "cluster-signing-key-file",
     .kind = OPT_STR,
     .value = "FILE",
     .help = "The key of that authority.",
     .offset = offsetof(struct manager_cmd_opts, signing_key)},
    {0},
};
static const struct opt serving_rows[] = {SOLO_SERVING_ROWS("10257"), {0}};

static int read_root_ca(struct cmd_call *call, const struct kubeconfig_access *access,
                        struct str *out, struct err *err) {
    const struct manager_cmd_opts *opts = call->opts;
    *out = access->authorities;
    if (!opts->root_ca.n)
        return 0;
    return kubeconfig_read_file(call->arena, opts->root_ca, out, err) < 0
               ? err_wrap(err, "--root-ca-file")
               : 0;
}

static int read_authority(struct cmd_call *call, struct auth_authority *out, struct err *err) {
    const struct manager_cmd_opts *opts = call->opts;
    if (!opts->signing_certificate.n && !opts->signing_key.n)
        return 0;
    if (!opts->signing_certificate.n || !opts->signing_key.n)
        return err_set(err, ERR_USAGE,
                       "--cluster-signing-cert-file and --cluster-signing-key-file go together");
    if (kubeconfig_read_file(call->arena, opts->signing_certificate, &out->certificate, err) < 0)
        return err_wrap(err, "--cluster-signing-cert-file");
    if (kubeconfig_read_file(call->arena, opts->signing_key, &out->key, err) < 0)
        return err_wrap(err, "--cluster-signing-key-file");
    return auth_authority_check(out, err) < 0
               ? err_wrap(err, "--cluster-signing-cert-file, --cluster-signing-key-file")
               : 0;
}

static int run(struct cmd_call *call, struct err *err) {
    const struct manager_cmd_opts *opts = call->opts;
    struct auth_authority authority = {0};
    struct feature_config gates;
    struct kubeconfig_access access;
    struct str root_ca;
    if (gates_configure(&opts->gates, &call->ctx->log, &gates, err) < 0 ||
        manager_check_controllers(opts->controllers.v, opts->controllers.n, err) < 0 ||
        solo_connect(call, &opts->connection, STR(""), &access, err) < 0 ||
        read_root_ca(call, &access, &root_ca, err) < 0 || read_authority(call, &authority, err) < 0)
        return -1;
    const struct part_setup setup = {.manager_gates = &gates.enabled,
                                     .root_ca = root_ca,
                                     .authority = &authority,
                                     .controllers = &opts->controllers};
    return solo_run(call,
                    &(struct solo_opts){.component = &component_manager,
                                        .setup = &setup,
                                        .connection = &opts->connection,
                                        .election = &opts->election,
                                        .serving = &opts->serving,
                                        .event_source = "kube-controller-manager",
                                        .qps = 20,
                                        .burst = 30,
                                        .min_compat = gates.min_compat,
                                        .access = &access},
                    err);
}

static const struct cmd_example examples[] = {
    {"All controllers", "berth controller-manager --kubeconfig admin.kubeconfig"},
    {"One, beside a kube-controller-manager that runs the others",
     "berth controller-manager --controllers job-controller --leader-elect=false"},
    {0},
};

const struct cmd cmd_controller_manager = {
    .name = "controller-manager",
    .summary = "Run the controllers of a cluster",
    .about = "Run controllers in the cluster of a kubeconfig: that of `berth apiserver`, or any "
             "other. They do what the controllers of the same names do in "
             "kube-controller-manager, and each can take the place of one there.\n\n"
             "Of several such processes the one that has the Lease works; when it does not renew "
             "it any more, another one goes on some twenty seconds later. `ready` on standard "
             "output says "
             "that it works and knows the cluster. SIGTERM and SIGINT end it and release the "
             "Lease. Exits with 1 when the Lease is lost, 2 when it cannot begin.",
    .usage = "[--kubeconfig FILE] [--controllers NAME,...] [options]",
    .examples = examples,
    .groups = {{"Options", manager_rows, 0},
               {"Connection", solo_connection_rows, offsetof(struct manager_cmd_opts, connection)},
               {"Leader Election", solo_election_rows, offsetof(struct manager_cmd_opts, election)},
               {"Health", serving_rows, offsetof(struct manager_cmd_opts, serving)},
               {"Feature Gates", gates_opts, offsetof(struct manager_cmd_opts, gates)}},
    .opts_size = sizeof(struct manager_cmd_opts),
    .run = run,
};
