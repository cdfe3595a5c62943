/* Answers of schedulers, compared field by field; only a difference is put into words. */
#ifndef TEST_SCHED_WALK_REPORT_H
#define TEST_SCHED_WALK_REPORT_H

#include <stdio.h>
#include <stdlib.h>

#include "api/object.h"
#include "base/buf.h"
#include "sched/sched.h"

enum { WALK_MOST_TEXT = 1 << 20 };

/* ---- what schedulers make of a pod ---- */

static inline bool walk_same_status(const struct sched_status *a, const struct sched_status *b) {
    if (a->code != b->code || !str_eq(a->plugin, b->plugin) || a->reason_count != b->reason_count)
        return false;
    for (size_t i = 0; i < a->reason_count; i++)
        if (!str_eq(a->reasons[i], b->reasons[i]))
            return false;
    return true;
}

static inline bool walk_same_node(const struct sched_report *a, const struct sched_report *b,
                                  size_t i) {
    const struct sched_node_report *x = &a->nodes[i], *y = &b->nodes[i];
    if (!str_eq(x->node, y->node) || x->absent != y->absent ||
        !walk_same_status(&x->status, &y->status) || x->total != y->total)
        return false;
    for (size_t p = 0; a->scored && p < SCHED_PLUGIN_COUNT; p++)
        if (a->scoring[p] != b->scoring[p] || (a->scoring[p] && x->scores[p] != y->scores[p]))
            return false;
    return true;
}

static inline bool walk_same_report(const struct sched_report *a, const struct sched_report *b) {
    if (!walk_same_status(&a->rejected, &b->rejected) || !str_eq(a->error, b->error) ||
        !str_eq(a->message, b->message) || a->feasible != b->feasible || a->scored != b->scored ||
        a->nominated != b->nominated || a->node_count != b->node_count || a->best != b->best)
        return false;
    for (size_t i = 0; i < a->node_count; i++)
        if (!walk_same_node(a, b, i))
            return false;
    return true;
}

static inline void walk_write_status(struct buf *out, const struct sched_status *status) {
    buf_addf(out, " %d %.*s", status->code, STR_ARG(status->plugin));
    for (size_t i = 0; i < status->reason_count; i++)
        buf_addf(out, " [%.*s]", STR_ARG(status->reasons[i]));
}

static inline void walk_write_node(struct buf *out, const struct sched_report *r,
                                   const struct sched_node_report *n) {
    buf_addf(out, "  %.*s%s%s", STR_ARG(n->node), n->absent ? " absent" : "",
             r->feasible && !r->error.p && n == &r->nodes[r->best] ? " best" : "");
    walk_write_status(out, &n->status);
    for (size_t p = 0; r->scored && p < SCHED_PLUGIN_COUNT; p++)
        if (r->scoring[p])
            buf_addf(out, " %s=%lld", sched_plugin_name((enum sched_plugin)p).p,
                     (long long)n->scores[p]);
    buf_addf(out, " = %lld\n", (long long)n->total);
}

static inline void walk_print_report(const char *who, const struct sched_report *r) {
    struct buf out = BUF_INIT(WALK_MOST_TEXT);
    buf_addf(&out, "%s: rejected", who);
    walk_write_status(&out, &r->rejected);
    buf_addf(&out, "\n  error %.*s\n  message %.*s\n  feasible %zu\n", STR_ARG(r->error),
             STR_ARG(r->message), r->feasible);
    for (size_t i = 0; i < r->node_count; i++)
        walk_write_node(&out, r, &r->nodes[i]);
    fprintf(stderr, "%.*s", STR_ARG(buf_view(&out)));
    buf_release(&out);
}

/* ---- decisions ---- */

static inline bool walk_same_name(const struct sched_pod_name *a, const struct sched_pod_name *b) {
    return str_eq(a->namespace, b->namespace) && str_eq(a->name, b->name) && str_eq(a->uid, b->uid);
}

static inline bool walk_same_result(const struct sched_result *a, const struct sched_result *b) {
    if (!walk_same_name(&a->pod, &b->pod) || a->outcome != b->outcome ||
        !str_eq(a->node, b->node) || !str_eq(a->message, b->message) ||
        !str_eq(a->nominated, b->nominated) || a->victim_count != b->victim_count)
        return false;
    for (size_t i = 0; i < a->victim_count; i++)
        if (!walk_same_name(&a->victims[i], &b->victims[i]))
            return false;
    return true;
}

static inline void walk_print_result(const char *who, const struct sched_result *r) {
    fprintf(stderr, "%s: %.*s/%.*s outcome %d, node %.*s, nominated %.*s\n  message %.*s\n", who,
            STR_ARG(r->pod.namespace), STR_ARG(r->pod.name), r->outcome, STR_ARG(r->node),
            STR_ARG(r->nominated), STR_ARG(r->message));
    for (size_t i = 0; i < r->victim_count; i++)
        fprintf(stderr, "  victim %.*s\n", STR_ARG(r->victims[i].name));
}

/* ---- objects ---- */

static inline void walk_print_object(const char *what, const struct api_object *o) {
    struct arena a = {0};
    struct buf out = BUF_INIT(WALK_MOST_TEXT);
    struct json tree = api_object_encode(o, &a);
    json_write(&out, &tree, NULL);
    fprintf(stderr, "%s %.*s\n", what, STR_ARG(buf_view(&out)));
    buf_release(&out);
    arena_release(&a);
}

#endif
