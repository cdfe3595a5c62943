/*
 * Which nodes a DaemonSet's pods run on. The controller asks this about every node for every
 * DaemonSet, so the template is compiled once and a node costs a few comparisons.
 *
 * Follows k8s.io/kubernetes pkg/controller/daemon, func NodeShouldRunDaemonPod, func predicates.
 * Follows k8s.io/kubernetes pkg/controller/daemon/util, func AddOrUpdateDaemonPodTolerations.
 */
#include <stdlib.h>

#include "api/types.h"
#include "controller/controller.h"
#include "match/match.h"

struct controller_daemon {
    struct match *match;
    const struct api_pod_spec *template;
    struct match_tolerations *tolerations;
    struct match_affinity *affinity;
};

/* What a daemon outlives; the last only if it uses the node's network. */
static const struct api_toleration added[] = {
#define ROW(taint, on)                                                               \
    {                                                                                \
        .key = STR_INIT("node.kubernetes.io/" taint), .operator= STR_INIT("Exists"), \
        .effect = STR_INIT(on),                                                      \
    }
    ROW("not-ready", "NoExecute"),
    ROW("unreachable", "NoExecute"),
    ROW("disk-pressure", "NoSchedule"),
    ROW("memory-pressure", "NoSchedule"),
    ROW("pid-pressure", "NoSchedule"),
    ROW("unschedulable", "NoSchedule"),
    ROW("network-unavailable", "NoSchedule"),
#undef ROW
};
enum { ADDED = sizeof added / sizeof *added };

static bool is_same(const struct api_toleration *a, const struct api_toleration *b) {
    return str_eq(a->key, b->key) && str_eq(a->effect, b->effect) &&
           str_eq(a->operator, b->operator) && str_eq(a->value, b->value);
}

static void add_or_replace(struct api_toleration_list *list, const struct api_toleration *t) {
    bool found = false;
    for (size_t i = 0; i < list->n; i++)
        if (is_same(&list->v[i], t)) {
            list->v[i] = *t;
            found = true;
        }
    if (!found)
        list->v[list->n++] = *t;
}

void controller_daemon_tolerations(struct arena *a, const struct api_pod_spec *template,
                                   struct api_toleration_list *out) {
    const struct api_toleration_list *own = &template->tolerations;
    *out = (struct api_toleration_list){arena_array(a, struct api_toleration, own->n + ADDED), 0};
    for (size_t i = 0; i < own->n; i++)
        out->v[out->n++] = own->v[i];
    for (size_t i = 0; i < (template->host_network ? ADDED : ADDED - 1); i++)
        add_or_replace(out, &added[i]);
}

struct controller_daemon *controller_daemon_new(struct match *m,
                                                const struct api_pod_spec *template) {
    struct controller_daemon *d = xcalloc(1, sizeof *d);
    struct arena arena = {0};
    struct api_toleration_list tolerations;
    controller_daemon_tolerations(&arena, template, &tolerations);
    *d = (struct controller_daemon){
        .match = m,
        .template = template,
        .tolerations = match_tolerations_get(m, &tolerations),
        .affinity =
            match_affinity_new(m, &template->node_selector,
                               template->affinity ? template->affinity->node_affinity : NULL),
    };
    match_ref(&d->tolerations->list);
    arena_release(&arena);
    return d;
}

void controller_daemon_free(struct controller_daemon *d) {
    if (!d)
        return;
    match_unref(&d->tolerations->list);
    match_affinity_free(d->affinity);
    free(d);
}

struct controller_daemon_verdict controller_daemon_check(const struct controller_daemon *d,
                                                         const struct controller_node *node) {
    struct str wanted = d->template->node_name;
    if (wanted.n > 0 && !str_eq(wanted, node->name))
        return (struct controller_daemon_verdict){.code = CONTROLLER_DAEMON_OTHER_NODE};
    if (!match_affinity_required(d->affinity, node->labels, NULL))
        return (struct controller_daemon_verdict){.code = CONTROLLER_DAEMON_AFFINITY};
    struct match_fit fit = match_fit(d->match, d->tolerations, node->taints);
    if (fit.untolerated == MATCH_NONE)
        return (struct controller_daemon_verdict){CONTROLLER_DAEMON_RUNS, true, true, MATCH_NONE};
    return (struct controller_daemon_verdict){
        .code = CONTROLLER_DAEMON_TAINT,
        .should_continue = fit.untolerated_execute == MATCH_NONE,
        .taint = fit.untolerated,
    };
}

static void write_affinity(struct buf *out, const struct controller_daemon *d,
                           const struct controller_node *node) {
    struct match_node_verdict why;
    if (!match_affinity_required(d->affinity, node->labels, &why))
        match_node_verdict_write(out, d->affinity, node->labels, &why);
}

void controller_daemon_verdict_write(struct buf *out, const struct controller_daemon *d,
                                     const struct controller_node *node,
                                     const struct controller_daemon_verdict *v) {
    switch (v->code) {
    case CONTROLLER_DAEMON_RUNS:
        buf_add(out, STR("runs here"));
        break;
    case CONTROLLER_DAEMON_OTHER_NODE:
        buf_addf(out, "template wants node %.*s", STR_ARG(d->template->node_name));
        break;
    case CONTROLLER_DAEMON_AFFINITY:
        write_affinity(out, d, node);
        break;
    case CONTROLLER_DAEMON_TAINT:
        buf_add(out, STR("taint "));
        match_taint_write(out, &node->taints->v[v->taint]);
        buf_add(out, v->should_continue ? STR(" is not tolerated; pods that are there stay")
                                        : STR(" is not tolerated"));
        break;
    }
}
