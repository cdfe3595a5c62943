/* Options of processes with one component, and what they come to. */
#include "cmd/flag_values.h"
#include "cmd/parts/solo_int.h"
#include "sched/config.h"

const struct opt solo_connection_rows[] = {
    {.name = "kubeconfig",
     .kind = OPT_STR,
     .value = "FILE",
     .help = "Kubeconfig file that says which server to speak with, and as whom; by default "
             "$KUBECONFIG, ~/.kube/config, or in a pod its service account.",
     .offset = offsetof(struct solo_connection, kubeconfig)},
    {.name = "context",
     .kind = OPT_STR,
     .value = "NAME",
     .help = "Context of the kubeconfig; by default the current one.",
     .offset = offsetof(struct solo_connection, context)},
    {.name = "kube-api-qps",
     .kind = OPT_STR,
     .value = "NUMBER",
     .help = "Requests a second to the server; watches do not count, and events have as many of "
             "their own. 0 is no limit. By default 50 for a scheduler, 20 for controllers, 0 for "
             "nodes.",
     .offset = offsetof(struct solo_connection, qps)},
    {.name = "kube-api-burst",
     .kind = OPT_INT,
     .value = "N",
     .help = "Requests that may be sent at once when there were none for a while; by default 100 "
             "for a scheduler, 30 for controllers.",
     .offset = offsetof(struct solo_connection, burst)},
    {0},
};

const struct opt solo_election_rows[] = {
    {.name = "leader-elect",
     .kind = OPT_FLAG,
     .help = "Work only while this process has the Lease, of several that could.",
     .fallback = "true",
     .offset = offsetof(struct solo_election, is_on)},
    {.name = "leader-elect-lease-duration",
     .kind = OPT_STR,
     .value = "DURATION",
     .help = "How long others wait behind the last renewal that they saw; 15s by default.",
     .offset = offsetof(struct solo_election, lease_duration)},
    {.name = "leader-elect-renew-deadline",
     .kind = OPT_STR,
     .value = "DURATION",
     .help = "How long renewing may fail before the process stops to work and ends with 1; 10s by "
             "default.",
     .offset = offsetof(struct solo_election, renew_deadline)},
    {.name = "leader-elect-retry-period",
     .kind = OPT_STR,
     .value = "DURATION",
     .help = "Time between two attempts to get or to renew the Lease; 2s by default.",
     .offset = offsetof(struct solo_election, retry_period)},
    {.name = "leader-elect-resource-lock",
     .kind = OPT_STR,
     .value = "KIND",
     .help = "What is locked: leases, which is all that there is.",
     .offset = offsetof(struct solo_election, lock)},
    {.name = "leader-elect-resource-name",
     .kind = OPT_STR,
     .value = "NAME",
     .help = "Name of the Lease; by default that of upstream's component.",
     .offset = offsetof(struct solo_election, name)},
    {.name = "leader-elect-resource-namespace",
     .kind = OPT_STR,
     .value = "NAME",
     .help = "Namespace of the Lease; kube-system by default.",
     .offset = offsetof(struct solo_election, namespace)},
    {0},
};

static const struct sched_process nothing;

static const struct sched_process *configured(const struct solo_opts *o) {
    return o->configured ? o->configured : &nothing;
}

/* ---- election ---- */

static struct str first_text(struct str given, struct str in_file, const char *fallback) {
    return given.p ? given : in_file.n ? in_file : str_of(fallback);
}

static int first_time(const char *name, struct str given, int64_t in_file, int64_t fallback,
                      int64_t *out, struct err *err) {
    *out = in_file ? in_file : fallback;
    return given.p ? flag_duration(name, given, out, err) : 0;
}

static int read_times(const struct solo_election *e, const struct sched_process *p,
                      struct election_times *out, struct err *err) {
    return first_time("leader-elect-lease-duration", e->lease_duration, p->lease_duration,
                      15 * CLOCK_SECOND, &out->lease_duration, err) < 0 ||
                   first_time("leader-elect-renew-deadline", e->renew_deadline, p->renew_deadline,
                              10 * CLOCK_SECOND, &out->renew_deadline, err) < 0 ||
                   first_time("leader-elect-retry-period", e->retry_period, p->retry_period,
                              2 * CLOCK_SECOND, &out->retry_period, err) < 0 ||
                   election_times_check(out, err) < 0
               ? -1
               : 0;
}

int solo__read_election(const struct solo_opts *o, struct solo__election *out, struct err *err) {
    const struct solo_election *e = o->election;
    const struct sched_process *p = configured(o);
    *out = (struct solo__election){0};
    if (!e || !e->is_on || p->is_alone)
        return 0;
    out->is_on = true;
    if (!str_is(first_text(e->lock, p->lock, "leases"), "leases"))
        return err_set(err, ERR_USAGE, "--leader-elect-resource-lock must be leases");
    out->name = first_text(e->name, p->lease, o->component->name);
    out->namespace = first_text(e->namespace, p->lease_namespace, "kube-system");
    return read_times(e, p, &out->times, err);
}

/* ---- requests ---- */

int solo__read_limits(const struct solo_opts *o, struct client_http_opts *out, struct err *err) {
    const struct sched_process *p = configured(o);
    int64_t burst = o->connection->burst;
    out->qps = p->qps != 0 ? p->qps : o->qps;
    if (o->connection->qps.p && flag_number("kube-api-qps", o->connection->qps, &out->qps, err) < 0)
        return -1;
    if (burst > INT32_MAX)
        return err_set(err, ERR_USAGE, "--kube-api-burst is too large");
    out->burst = burst ? (uint32_t)burst : p->burst ? (uint32_t)p->burst : o->burst;
    return 0;
}
