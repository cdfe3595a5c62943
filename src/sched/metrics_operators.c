/*
 * Counts what operators that upstream does not have, or not by default, did for a pod: by numbers
 * (KEP-5471), by versions (KEP-5721) and by expressions (KEP-5500). A pod that was scheduled counts
 * for those that its node needed; an attempt that failed counts for those that kept it from some
 * node.
 */
#include <string.h>

#include "sched/metrics_int.h"
#include "sched/volumes/volumes_int.h"

static const struct {
    enum match_kind kind;
    enum sched__metric good, bad;
} by_kind[] = {
    {MATCH_NUMERIC, SCHED__METRIC_NUMERIC_TOLERATIONS, SCHED__METRIC_NUMERIC_MISMATCHES},
    {MATCH_SEMVER, SCHED__METRIC_SEMVER_TOLERATIONS, SCHED__METRIC_SEMVER_MISMATCHES},
    {MATCH_CEL, SCHED__METRIC_CEL_TOLERATIONS, SCHED__METRIC_CEL_MISMATCHES},
};

static void count(const struct sched__cycle *cy, enum sched__metric metric, bool counts) {
    sched__metrics_add(cy->s->metrics, metric, SCHED__LABELS(0), counts);
}

static void count_kinds(const struct sched__cycle *cy, unsigned kinds, bool is_good) {
    for (size_t i = 0; i < sizeof by_kind / sizeof *by_kind; i++)
        count(cy, is_good ? by_kind[i].good : by_kind[i].bad, kinds & by_kind[i].kind);
}

/* ---- scheduled ---- */

static unsigned used_kinds(const struct sched__cycle *cy) {
    const struct match_tolerations *tolerations = cy->cls->tolerations;
    const struct match_taints *taints = cy->s->nodes.taints[cy->pod->node];
    return tolerations->kinds ? match_fit(cy->s->match, tolerations, taints).used : 0;
}

/* Does a volume that a claim of the pod is bound to ask for a version of the node? */
static bool volumes_use_versions(const struct sched__cycle *cy, const struct match_node *node) {
    const struct sched__pod_claims *claims = cy->data[SCHED_VOLUME_BINDING];
    for (size_t i = 0; claims && i < claims->bound.n; i++) {
        const struct sched__pv *pv = claims->bound.v[i].pv;
        if (pv && pv->affinity && match_affinity_uses_versions(pv->affinity, node))
            return true;
    }
    return false;
}

static void count_scheduled(const struct sched__cycle *cy) {
    const struct match_node *node = cy->s->nodes.v[cy->pod->node].labels;
    count_kinds(cy, used_kinds(cy), true);
    count(cy, SCHED__METRIC_SEMVER_AFFINITY, match_affinity_uses_versions(cy->cls->affinity, node));
    count(cy, SCHED__METRIC_SEMVER_VOLUMES, volumes_use_versions(cy, node));
}

/* ---- not scheduled ---- */

/* Nodes with the same taints often stand side by side. */
static unsigned failed_kinds(const struct sched__cycle *cy) {
    const struct match_tolerations *tolerations = cy->cls->tolerations;
    const struct match_taints *last = NULL;
    unsigned kinds = 0;
    for (uint32_t i = 0; kinds != tolerations->kinds && i < cy->s->nodes.n; i++) {
        const struct match_taints *taints = cy->s->nodes.taints[i];
        if (cy->verdict[i] != SCHED__REASON_TAINT || taints == last)
            continue;
        kinds |= match_fit(cy->s->match, tolerations, taints).failed;
        last = taints;
    }
    return kinds;
}

static bool is_given(const struct sched__cycle *cy, enum sched__reason reason) {
    return memchr(cy->verdict, (int)reason, cy->s->nodes.n) != NULL;
}

static void count_unschedulable(const struct sched__cycle *cy) {
    count_kinds(cy, failed_kinds(cy), false);
    count(cy, SCHED__METRIC_SEMVER_AFFINITY_MISMATCHES,
          is_given(cy, SCHED__REASON_AFFINITY_VERSION));
    count(cy, SCHED__METRIC_SEMVER_VOLUME_MISMATCHES, is_given(cy, SCHED__REASON_VOLUME_VERSION));
}

void sched__metrics_operators(const struct sched__cycle *cy, enum sched_outcome outcome) {
    if (outcome == SCHED_SCHEDULED)
        count_scheduled(cy);
    else if (outcome == SCHED_UNSCHEDULABLE && cy->verdict)
        count_unschedulable(cy);
}
