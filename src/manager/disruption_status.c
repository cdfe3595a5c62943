/*
 * What a PodDisruptionBudget allows.
 *
 * Follows k8s.io/kubernetes pkg/controller/disruption, func (*DisruptionController) trySync.
 */
#include <stdlib.h>

#include "api/budget.h"
#include "base/buf.h"
#include "base/clock.h"
#include "manager/disruption_int.h"
#include "manager/pods_int.h"
#include "valid/valid.h"

/* A pod whose eviction was allowed is expected to be gone after this. */
#define DELETION_TIMEOUT (2 * 60 * CLOCK_SECOND)

int32_t disruption__resolve(const struct api_int_or_str *x, int32_t total) {
    int64_t percent;
    if (!x->is_str)
        return x->i;
    if (!str_ends(x->s, STR("%")) || !str_to_i64(str_sub(x->s, 0, x->s.n - 1), &percent) ||
        percent < 0 || percent > INT32_MAX)
        return 0;
    int64_t value = (total * percent + 99) / 100;
    return value < INT32_MAX ? (int32_t)value : INT32_MAX;
}

/* ---- pods ---- */

static int by_key(const void *x, const void *y) {
    return str_cmp(((const struct api_time_entry *)x)->key,
                   ((const struct api_time_entry *)y)->key);
}

/* The times are sorted by key. */
static const struct api_time *find_time(const struct api_times *times, struct str key) {
    const struct api_time_entry wanted = {.key = key};
    const struct api_time_entry *found =
        times->n ? bsearch(&wanted, times->v, times->n, sizeof wanted, by_key) : NULL;
    return found ? &found->value : NULL;
}

void disruption__disrupted(struct arena *a, const struct api_pod_disruption_budget *pdb,
                           const struct manager__objects *pods, int64_t now,
                           struct disruption__disrupted *out) {
    const struct api_times *known = &pdb->status.disrupted_pods;
    *out = (struct disruption__disrupted){
        .pods = {arena_array(a, struct api_time_entry, pods->n), 0},
        .late = {arena_array(a, const struct api_object *, pods->n), 0},
    };
    for (size_t i = 0; known->n && i < pods->n; i++) {
        const struct api_object *pod = pods->v[i];
        const struct api_time *since = find_time(known, pod->meta->name);
        if (!since || pod->meta->deletion_timestamp.set)
            continue;
        int64_t left = clock_until(clock_after(manager__time_ns(*since), DELETION_TIMEOUT), now);
        if (left < 0) {
            out->late.v[out->late.n++] = pod;
            continue;
        }
        left = left ? left : 1;
        out->recheck = !out->recheck || left < out->recheck ? left : out->recheck;
        out->pods.v[out->pods.n++] = (struct api_time_entry){pod->meta->name, *since};
    }
    if (out->pods.n)
        qsort(out->pods.v, out->pods.n, sizeof *out->pods.v, by_key);
}

int32_t disruption__count_healthy(const struct manager__objects *pods,
                                  const struct api_times *disrupted) {
    int32_t n = 0;
    for (size_t i = 0; i < pods->n; i++)
        n += !pods->v[i]->meta->deletion_timestamp.set &&
             !find_time(disrupted, pods->v[i]->meta->name) && manager__pod_is_ready(pods->v[i]);
    return n;
}

/* ---- status ---- */

static bool differs(const struct api_object *o, const struct api_pod_disruption_budget_status *s) {
    const struct api_pod_disruption_budget *pdb = o->body;
    return !valid_equal(API_T_pod_disruption_budget_status, &pdb->status, s);
}

bool disruption__status(struct arena *a, const struct api_object *o,
                        const struct api_pod_disruption_budget_status *figures, int64_t now,
                        struct api_pod_disruption_budget_status *out) {
    const struct api_pod_disruption_budget *pdb = o->body;
    int32_t allowed = figures->current_healthy - figures->desired_healthy;
    *out = *figures;
    out->observed_generation = o->meta->generation;
    out->disruptions_allowed = figures->expected_pods <= 0 || allowed <= 0 ? 0 : allowed;
    out->conditions = pdb->status.conditions;
    api_conditions_set(a, &out->conditions, api_budget_condition(out, manager__time(now)));
    return differs(o, out);
}

bool disruption__fail_safe(struct arena *a, const struct api_object *o, struct str why, int64_t now,
                           struct api_pod_disruption_budget_status *out) {
    const struct api_pod_disruption_budget *pdb = o->body;
    *out = pdb->status;
    out->disruptions_allowed = 0;
    struct api_condition c = api_budget_condition(out, manager__time(now));
    c.reason = STR("SyncFailed");
    c.message = why;
    api_conditions_set(a, &out->conditions, c);
    return differs(o, out);
}

/* ---- texts ---- */

/* Events are cut much earlier. */
enum { LONGEST_SELECTOR = 4096 };

static void write_requirement(struct buf *out, const struct api_label_selector_requirement *r) {
    buf_addf(out, "LabelSelectorRequirement{Key:%.*s,Operator:%.*s,Values:[", STR_ARG(r->key),
             STR_ARG(r->operator));
    for (size_t i = 0; i < r->values.n && !out->full; i++)
        buf_addf(out, "%s%.*s", i ? " " : "", STR_ARG(r->values.v[i]));
    buf_add(out, STR("],},"));
}

struct str disruption__selector_text(struct arena *a, const struct api_label_selector *selector) {
    AUTO(buf_release) struct buf out = BUF_INIT(LONGEST_SELECTOR);
    if (!selector)
        return STR("nil");
    buf_add(&out, STR("&LabelSelector{MatchLabels:map[string]string{"));
    for (size_t i = 0; i < selector->match_labels.n && !out.full; i++)
        buf_addf(&out, "%.*s: %.*s,", STR_ARG(selector->match_labels.v[i].key),
                 STR_ARG(selector->match_labels.v[i].value));
    buf_add(&out, STR("},MatchExpressions:[]LabelSelectorRequirement{"));
    for (size_t i = 0; i < selector->match_expressions.n && !out.full; i++)
        write_requirement(&out, &selector->match_expressions.v[i]);
    buf_add(&out, STR("},}"));
    return arena_str(a, buf_view(&out));
}
