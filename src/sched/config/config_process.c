/*
 * What a KubeSchedulerConfiguration says of the process around the scheduler.
 *
 * Follows k8s.io/component-base config/validation, func ValidateLeaderElectionConfiguration,
 * func ValidateClientConnectionConfiguration.
 */
#include "codec/time.h"
#include "sched/config/config_int.h"

static void read_duration(struct sched__reading *r, struct sched__at at, const char *name,
                          int64_t *out) {
    struct str text;
    struct err why;
    if (!sched__config_str(r, at, name, &text))
        return;
    if (time_parse_duration(text, out, &why) < 0)
        sched__config_error(r, sched__config_path(r, at.path, name), "%s", why.msg);
    else if (*out <= 0)
        sched__config_invalid(r, sched__config_path(r, at.path, name), text,
                              "must be greater than zero");
}

static void read_election(struct sched__reading *r, struct sched__at at, struct sched_process *p) {
    static const char *const known[] = {
        "leaderElect",  "leaseDuration", "renewDeadline",     "retryPeriod",
        "resourceLock", "resourceName",  "resourceNamespace", NULL};
    bool elects = true;
    sched__config_known(r, at, "", known);
    sched__config_bool(r, at, "leaderElect", &elects);
    p->is_alone = !elects;
    sched__config_str(r, at, "resourceLock", &p->lock);
    sched__config_str(r, at, "resourceName", &p->lease);
    sched__config_str(r, at, "resourceNamespace", &p->lease_namespace);
    if (p->is_alone)
        return;
    read_duration(r, at, "leaseDuration", &p->lease_duration);
    read_duration(r, at, "renewDeadline", &p->renew_deadline);
    read_duration(r, at, "retryPeriod", &p->retry_period);
}

static void read_connection(struct sched__reading *r, struct sched__at at,
                            struct sched_process *p) {
    static const char *const known[] = {
        "kubeconfig", "acceptContentTypes", "contentType", "qps", "burst", NULL};
    const struct json *qps = at.v ? json_get(at.v, STR("qps")) : NULL;
    sched__config_known(r, at, "", known);
    sched__config_str(r, at, "kubeconfig", &p->kubeconfig);
    if (qps && (qps->kind == JSON_INT || qps->kind == JSON_FLOAT))
        p->qps = json_double(qps);
    else if (qps && qps->kind != JSON_NULL)
        sched__config_error(r, sched__config_path(r, at.path, "qps"), "must be a number");
    sched__config_i32(r, at, "burst", &p->burst);
    if (p->burst < 0)
        sched__config_invalid_int(r, sched__config_path(r, at.path, "burst"), p->burst,
                                  "must be non-negative");
}

void sched__process_read(struct sched__reading *r, struct sched__at at, struct sched_process *p) {
    read_election(r, sched__config_member(r, at, "leaderElection", JSON_OBJECT), p);
    read_connection(r, sched__config_member(r, at, "clientConnection", JSON_OBJECT), p);
}
