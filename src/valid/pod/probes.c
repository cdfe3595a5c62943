/*
 * Probes and lifecycle hooks: exactly one handler each, and the numbers around it.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func validateProbe, func validateHandler,
 * func validateLifecycle.
 */
#include "base/ascii.h"
#include "valid/pod/container_int.h"

/* ---- handlers ---- */

static bool is_header_name(struct str s) {
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (!ascii_is_alnum(c) && c != '-')
            return false;
    }
    return s.n > 0;
}

static void check_port(struct valid *v, const struct path *p, const struct api_int_or_str *port) {
    if (port->is_str)
        valid__port_name(v, p, port->s);
    else
        valid__port_number(v, p, port->i);
}

static void check_exec(struct valid *v, const struct path *p, const struct api_exec_action *exec) {
    if (!exec->command.n)
        valid__required(v, AT(p, "command"), NO_DETAIL);
}

static void check_http_protocol(struct valid *v, const struct path *p,
                                const struct api_http_get_action *http) {
    static const char *const protocols[] = {"HTTP1", "HTTP2", NULL};
    struct str protocol = http->protocol;
    if (!valid__one_of(protocol, protocols))
        valid__not_supported(v, AT(p, "protocol"), VALUE_NAMED(protocol), protocols);
    else if (str_is(protocol, "HTTP2") && !str_is(http->scheme, "HTTP"))
        valid__invalid(v, AT(p, "protocol"), VALUE_NAMED(protocol),
                       "is only supported with HTTP (H2C)");
    else if (str_is(protocol, "HTTP2") && http->host.n)
        valid__invalid(v, AT(p, "host"), VALUE_Q(http->host),
                       "must be empty when `protocol` is \"HTTP2\"");
}

static void check_http_get(struct valid *v, const struct path *p,
                           const struct api_http_get_action *http) {
    static const char *const schemes[] = {"HTTP", "HTTPS", NULL};
    if (!http->path.n)
        valid__required(v, AT(p, "path"), NO_DETAIL);
    check_port(v, AT(p, "port"), &http->port);
    if (!valid__one_of(http->scheme, schemes))
        valid__not_supported(v, AT(p, "scheme"), VALUE_NAMED(http->scheme), schemes);
    for (size_t i = 0; i < http->http_headers.n; i++)
        if (!is_header_name(http->http_headers.v[i].name))
            valid__invalid(v, AT(p, "httpHeaders"), VALUE_Q(http->http_headers.v[i].name),
                           "a valid HTTP header must consist of alphanumeric characters or '-' "
                           "(e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')");
    if (http->protocol.p)
        check_http_protocol(v, p, http);
}

static void check_grpc(struct valid *v, const struct path *p, const struct api_grpc_action *grpc) {
    static const char *const modes[] = {"Plaintext", "TLS", NULL};
    valid__port_number(v, AT(p, "port"), grpc->port);
    if (grpc->mode.p && !valid__one_of(grpc->mode, modes))
        valid__not_supported(v, AT(p, "mode"), VALUE_NAMED(grpc->mode), modes);
}

static void check_sleep(const struct pod_view *pod, const struct path *p,
                        const struct api_sleep_action *sleep) {
    const struct api_opt_i64 *grace = &pod->spec->termination_grace_period_seconds;
    if (grace->set && (sleep->seconds < 0 || sleep->seconds > grace->v))
        valid__invalid(pod->v, p, VALUE_I64(sleep->seconds),
                       "must be non-negative and less than terminationGracePeriodSeconds (%lld)",
                       (long long)grace->v);
}

/* What probes and hooks have in common; the others are NULL. */
struct handler {
    const struct api_exec_action *exec;
    const struct api_http_get_action *http_get;
    const struct api_tcp_socket_action *tcp_socket;
    const struct api_grpc_action *grpc;
    const struct api_sleep_action *sleep;
};

/* Only the first handler is looked at; there must not be others. */
static void check_handler(const struct pod_view *pod, const struct path *p,
                          const struct handler *h) {
    const struct {
        const char *name;
        const void *action;
    } actions[] = {{"exec", h->exec},
                   {"httpGet", h->http_get},
                   {"tcpSocket", h->tcp_socket},
                   {"grpc", h->grpc},
                   {"sleep", h->sleep}};
    struct valid *v = pod->v;
    const void *first = NULL;
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        const void *action = actions[i].action;
        const struct path *here = AT(p, actions[i].name);
        if (action && first)
            valid__forbidden(v, here, "may not specify more than 1 handler type");
        if (!action || first)
            continue;
        first = action;
        if (action == h->exec)
            check_exec(v, here, h->exec);
        else if (action == h->http_get)
            check_http_get(v, here, h->http_get);
        else if (action == h->tcp_socket)
            check_port(v, AT(here, "port"), &h->tcp_socket->port);
        else if (action == h->grpc)
            check_grpc(v, here, h->grpc);
        else
            check_sleep(pod, here, h->sleep);
    }
    if (!first)
        valid__required(v, p, "must specify a handler type");
}

/* ---- probes ---- */

enum probe_kind { LIVENESS, READINESS, STARTUP };

static void check_probe(const struct pod_view *pod, const struct path *p,
                        const struct api_probe *probe, enum probe_kind kind) {
    if (!probe)
        return;
    struct valid *v = pod->v;
    const struct api_probe_handler *h = &probe->probe_handler;
    const struct api_opt_i64 *grace = &probe->termination_grace_period_seconds;
    check_handler(pod, p, &(struct handler){h->exec, h->http_get, h->tcp_socket, h->grpc, NULL});
    valid__not_negative(v, AT(p, "initialDelaySeconds"), probe->initial_delay_seconds);
    valid__not_negative(v, AT(p, "timeoutSeconds"), probe->timeout_seconds);
    valid__not_negative(v, AT(p, "periodSeconds"), probe->period_seconds);
    valid__not_negative(v, AT(p, "successThreshold"), probe->success_threshold);
    valid__not_negative(v, AT(p, "failureThreshold"), probe->failure_threshold);
    if (grace->set && grace->v <= 0)
        valid__invalid(v, AT(p, "terminationGracePeriodSeconds"), VALUE_I64(grace->v),
                       "must be greater than 0");
    if (kind == READINESS && grace->set)
        valid__invalid(v, AT(p, "terminationGracePeriodSeconds"), VALUE_I64(grace->v),
                       "must not be set for readinessProbes");
    if (kind != READINESS && probe->success_threshold != 1)
        valid__invalid(v, AT(p, "successThreshold"), VALUE_I64(probe->success_threshold),
                       "must be 1");
}

/* ---- hooks ---- */

static void check_stop_signal(const struct pod_view *pod, const struct path *p, struct str name) {
    static const char *const windows[] = {"SIGKILL", "SIGTERM", NULL};
    static const char *const linux_signals[] = {
        "SIGABRT",     "SIGALRM",     "SIGBUS",      "SIGCHLD",     "SIGCLD",      "SIGCONT",
        "SIGFPE",      "SIGHUP",      "SIGILL",      "SIGINT",      "SIGIO",       "SIGIOT",
        "SIGKILL",     "SIGPIPE",     "SIGPOLL",     "SIGPROF",     "SIGPWR",      "SIGQUIT",
        "SIGRTMAX",    "SIGRTMAX-1",  "SIGRTMAX-10", "SIGRTMAX-11", "SIGRTMAX-12", "SIGRTMAX-13",
        "SIGRTMAX-14", "SIGRTMAX-2",  "SIGRTMAX-3",  "SIGRTMAX-4",  "SIGRTMAX-5",  "SIGRTMAX-6",
        "SIGRTMAX-7",  "SIGRTMAX-8",  "SIGRTMAX-9",  "SIGRTMIN",    "SIGRTMIN+1",  "SIGRTMIN+10",
        "SIGRTMIN+11", "SIGRTMIN+12", "SIGRTMIN+13", "SIGRTMIN+14", "SIGRTMIN+15", "SIGRTMIN+2",
        "SIGRTMIN+3",  "SIGRTMIN+4",  "SIGRTMIN+5",  "SIGRTMIN+6",  "SIGRTMIN+7",  "SIGRTMIN+8",
        "SIGRTMIN+9",  "SIGSEGV",     "SIGSTKFLT",   "SIGSTOP",     "SIGSYS",      "SIGTERM",
        "SIGTRAP",     "SIGTSTP",     "SIGTTIN",     "SIGTTOU",     "SIGURG",      "SIGUSR1",
        "SIGUSR2",     "SIGVTALRM",   "SIGWINCH",    "SIGXCPU",     "SIGXFSZ",     NULL};
    const struct api_pod_os *os = pod->spec->os;
    if (!os) {
        valid__forbidden(pod->v, p, "may not be set for containers with empty `spec.os.name`");
        return;
    }
    const char *const *known = str_is(os->name, "windows") ? windows
                               : str_is(os->name, "linux") ? linux_signals
                                                           : NULL;
    if (known && !valid__one_of(name, known))
        valid__not_supported(pod->v, p, VALUE_NAMED(name), known);
}

static void check_hook(const struct pod_view *pod, const struct path *p,
                       const struct api_lifecycle_handler *h) {
    if (h)
        check_handler(pod, p,
                      &(struct handler){h->exec, h->http_get, h->tcp_socket, NULL, h->sleep});
}

static void check_lifecycle(const struct pod_view *pod, const struct path *p,
                            const struct api_lifecycle *l) {
    check_hook(pod, AT(p, "postStart"), l->post_start);
    check_hook(pod, AT(p, "preStop"), l->pre_stop);
    if (l->stop_signal.p)
        check_stop_signal(pod, AT(p, "stopSignal"), l->stop_signal);
}

void valid__lifecycle_and_probes(const struct pod_view *pod, const struct path *p,
                                 const struct api_container *c) {
    if (c->lifecycle)
        check_lifecycle(pod, AT(p, "lifecycle"), c->lifecycle);
    check_probe(pod, AT(p, "livenessProbe"), c->liveness_probe, LIVENESS);
    check_probe(pod, AT(p, "readinessProbe"), c->readiness_probe, READINESS);
    check_probe(pod, AT(p, "startupProbe"), c->startup_probe, STARTUP);
}
