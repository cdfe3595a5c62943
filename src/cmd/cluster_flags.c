/*
 * Flags and failures as kubectl has them.
 *
 * Follows k8s.io/kubectl pkg/cmd/util, func StandardErrorMessage.
 */
#include "cmd/cluster_flags.h"

#include "client/http.h"
#include "codec/time.h"

/* A client may send so many requests at once: one list of each kind. */
enum { BURST = 100 };

const struct opt cluster_opts[] = {
    {.name = "context",
     .kind = OPT_STR,
     .value = "NAME",
     .help = "Context of the kubeconfig to use.",
     .offset = offsetof(struct cluster_opts, context)},
    {.name = "kubeconfig",
     .kind = OPT_STR,
     .value = "FILE",
     .help = "Kubeconfig file to use, instead of those of $KUBECONFIG or ~/.kube/config.",
     .offset = offsetof(struct cluster_opts, kubeconfig)},
    {.name = "request-timeout",
     .kind = OPT_STR,
     .value = "TIME",
     .help = "How long a single request may take, such as 1s, 2m or 3h; 0 is a minute.",
     .offset = offsetof(struct cluster_opts, request_timeout),
     .fallback = "0"},
    {0},
};

bool cluster_is_named(const struct cluster_opts *opts) {
    return opts->kubeconfig.n || opts->context.n;
}

static struct str variable(const struct cmd_call *call, const char *name) {
    return str_of(cmd_getenv(call->ctx, name));
}

int cluster_find(const struct cmd_call *call, const struct cluster_opts *opts,
                 struct kubeconfig_access *out, struct err *err) {
    struct kubeconfig_sources from = {
        .file = opts->kubeconfig,
        .files = variable(call, "KUBECONFIG"),
        .home = variable(call, "HOME"),
        .context = opts->context,
        .service_host = variable(call, "KUBERNETES_SERVICE_HOST"),
        .service_port = variable(call, "KUBERNETES_SERVICE_PORT"),
    };
    return kubeconfig_load(call->arena, &from, out, err);
}

/* Follows k8s.io/client-go tools/clientcmd, func ParseTimeout. */
int cluster_read_timeout(struct str text, int64_t *out, struct err *err) {
    int64_t seconds;
    if (str_to_i64(text, &seconds) && seconds >= 0 && seconds <= INT64_MAX / CLOCK_SECOND)
        *out = seconds * CLOCK_SECOND;
    else if (time_parse_duration(text, out, NULL) < 0 || *out < 0)
        return err_set(err, ERR_USAGE,
                       "Invalid timeout value. Timeout must be a single integer in seconds, or an "
                       "integer followed by a corresponding time unit (e.g. 1s | 2m | 3h)");
    return 0;
}

struct client *cluster_client_new(struct net_loop *loop, const struct cluster_opts *opts,
                                  const struct kubeconfig_access *access, struct err *err) {
    int64_t timeout;
    if (cluster_read_timeout(opts->request_timeout, &timeout, err) < 0)
        return NULL;
    return client_http_new(&(struct client_http_opts){.loop = loop,
                                                      .access = access,
                                                      .user_agent = STR("berth/v" BERTH_VERSION),
                                                      .burst = BURST,
                                                      .timeout = timeout},
                           err);
}

/* ---- failures ---- */

/* A sentence of kubectl's stands by itself. */
static int say(struct err *err, enum err_code code, struct str text) {
    err_set(err, code, "%.*s", STR_ARG(text));
    err->has_title = true;
    return -1;
}

static struct str host_of(struct str server) {
    struct str scheme, rest, host, path;
    str_cut(server, '/', &scheme, &rest);
    str_cut(str_sub(rest, 1, rest.n), '/', &host, &path);
    return host;
}

/* No server has answered. */
static int fail_unreached(const struct kubeconfig_access *access,
                          const struct client_answer *answer, struct arena *a, struct err *err) {
    struct str why = answer->message;
    if (answer->code == ERR_UNAUTHORIZED)
        return say(err, ERR_UNAUTHORIZED,
                   arena_printf(a, "Unable to connect to the server: getting credentials: %.*s",
                                STR_ARG(why)));
    if (str_is(why, "connection refused"))
        return say(err, ERR_UNAVAILABLE,
                   arena_printf(a,
                                "The connection to the server %.*s was refused - did you specify "
                                "the right host or port?",
                                STR_ARG(host_of(access->server))));
    return say(err, answer->code,
               arena_printf(a, "Unable to connect to the server: %.*s", STR_ARG(why)));
}

int cluster_fail(const struct kubeconfig_access *access, const struct client_answer *answer,
                 struct err *err) {
    AUTO(arena_release) struct arena a = {0};
    if (answer->status == 0)
        return fail_unreached(access, answer, &a, err);
    if (answer->code == ERR_UNAUTHORIZED)
        return err_set(err, ERR_UNAUTHORIZED, "You must be logged in to the server (%.*s)",
                       STR_ARG(answer->message));
    return say(err, answer->code,
               arena_printf(&a, "Error from server (%s): %.*s", err_reason(answer->code),
                            STR_ARG(answer->message)));
}
