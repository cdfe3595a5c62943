/* Figures of all kubelets together, as Prometheus reads them. */
#include <inttypes.h>

#include "nodes/kubelets_int.h"
#include "nodes/nodes.h"

uint64_t nodes_rejections(const struct nodes *n, struct str reason) {
    uint64_t sum = 0;
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&n->rejections, &at));)
        if (!reason.n || str_eq(e->key, reason))
            sum += ((const struct nodes__count *)e->value)->n;
    return sum;
}

static void write_rejections(const struct nodes *n, struct buf *out) {
    static const char name[] = "kubelet_admission_rejections_total";
    size_t at = 0;
    buf_addf(out, "# HELP %s [ALPHA] Pods that kubelets rejected.\n# TYPE %s counter\n", name,
             name);
    for (struct map_entry *e; (e = map_next(&n->rejections, &at));)
        buf_addf(out, "%s{reason=\"%.*s\"} %" PRIu64 "\n", name, STR_ARG(e->key),
                 ((const struct nodes__count *)e->value)->n);
}

static void write_figure(struct buf *out, const char *name, const char *type, const char *help,
                         uint64_t value) {
    buf_addf(out, "# HELP %s [ALPHA] %s\n# TYPE %s %s\n%s %" PRIu64 "\n", name, help, name, type,
             name, value);
}

void nodes_write_metrics(const struct nodes *n, struct buf *out) {
    write_rejections(n, out);
    write_figure(out, "kubelet_running_pods", "gauge",
                 "Pods that were admitted and have not ended.", n->pods.live);
    write_figure(out, "berth_kubelets", "gauge", "Nodes that are looked after.", n->ours);
    write_figure(out, "berth_kubelet_lease_renewals_total", "counter", "Leases that were renewed.",
                 n->renewals);
    write_figure(out, "berth_kubelet_status_updates_total", "counter",
                 "Statuses of nodes that were written.", n->heartbeats);
}
