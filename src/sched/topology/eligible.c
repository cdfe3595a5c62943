/*
 * Which nodes take part in spreading: those that have the labels, whose taints are tolerated, and
 * that node affinity matches. Constraints that ask the same share one column of answers, whatever
 * they spread by.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/framework/plugins/podtopologyspread,
 * func (*topologySpreadConstraint) matchNodeInclusionPolicies.
 */
#include <string.h>

#include "base/alloc.h"
#include "codec/json.h"
#include "sched/topology/count_int.h"

/* ---- answers ---- */

static bool is_eligible(struct sched *s, const struct sched__eligible *e, uint32_t slot) {
    if (!(s->nodes.state[slot] & SCHED__NODE_THERE))
        return false;
    for (size_t i = 0; i < e->must_count; i++)
        if (!e->must[i]->domain[slot])
            return false;
    if (e->tolerations &&
        match_fit(s->match, e->tolerations, s->nodes.taints[slot]).untolerated != MATCH_NONE)
        return false;
    return !e->affinity || match_affinity_required(e->affinity, s->nodes.v[slot].labels, NULL);
}

void sched__eligible_update(struct sched *s, struct sched__eligible *e, uint32_t slot) {
    e->is[slot] = is_eligible(s, e, slot);
}

void sched__eligible_resize(struct sched__eligible *e, uint32_t cap) {
    e->is = sched__column_resize(e->is, e->cap, cap, sizeof *e->is);
    e->cap = cap;
}

/* ---- life ---- */

static void write_affinity(struct buf *out, struct arena *a, const struct api_pod_spec *spec) {
    for (size_t i = 0; i < spec->node_selector.n; i++) {
        sched__key_add(out, spec->node_selector.v[i].key);
        sched__key_add(out, spec->node_selector.v[i].value);
    }
    if (!spec->affinity || !spec->affinity->node_affinity ||
        !spec->affinity->node_affinity->required)
        return;
    struct json tree = api_struct_encode(a, &api_types[API_T_node_selector],
                                         spec->affinity->node_affinity->required);
    json_write(out, &tree, NULL);
}

/* Ids of lists of tolerations stay the same while somebody holds the list. */
static void write_key(struct buf *out, struct arena *a, const struct sched__eligible_spec *spec) {
    for (size_t i = 0; i < spec->must_count; i++) {
        buf_add_char(out, '\n');
        sched__key_add(out, spec->must[i]);
    }
    if (spec->tolerations)
        buf_addf(out, "\n#%u", spec->tolerations->list.id);
    if (!spec->affinity)
        return;
    buf_add_char(out, '\n');
    buf_add_char(out, '@');
    write_affinity(out, a, spec->affinity);
}

static struct sched__eligible *eligible_new(struct sched *s, struct str key,
                                            const struct sched__eligible_spec *spec) {
    struct sched__eligible *e = xcalloc(1, sizeof *e);
    arena_start(&e->arena, key.n + 1 + spec->must_count * sizeof(struct sched__topology *));
    e->key = arena_str(&e->arena, key);
    e->serial = ++s->serial;
    e->must = arena_array(&e->arena, struct sched__topology *, spec->must_count);
    e->must_count = spec->must_count;
    for (size_t i = 0; i < spec->must_count; i++)
        e->must[i] = sched__topology_ref(sched__topology_get(s, spec->must[i]));
    e->tolerations = spec->tolerations;
    if (e->tolerations)
        match_ref(&e->tolerations->list);
    if (spec->affinity)
        e->affinity = match_affinity_new(
            s->match, &spec->affinity->node_selector,
            spec->affinity->affinity ? spec->affinity->affinity->node_affinity : NULL);
    if (s->nodes.cap)
        sched__eligible_resize(e, s->nodes.cap);
    for (uint32_t slot = 0; slot < s->nodes.n; slot++)
        sched__eligible_update(s, e, slot);
    map_put(&s->eligibles, e->key, e);
    return e;
}

struct sched__eligible *sched__eligible_get(struct sched *s,
                                            const struct sched__eligible_spec *spec) {
    if (!spec->must_count && !spec->tolerations && !spec->affinity)
        return NULL;
    struct arena arena = {0};
    struct buf key = BUF_INIT(SIZE_MAX);
    write_key(&key, &arena, spec);
    struct sched__eligible *e = map_get(&s->eligibles, buf_view(&key));
    if (!e)
        e = eligible_new(s, buf_view(&key), spec);
    e->refs++;
    buf_release(&key);
    arena_release(&arena);
    return e;
}

void sched__eligible_unref(struct sched *s, struct sched__eligible *e) {
    if (!e || --e->refs)
        return;
    map_del(&s->eligibles, e->key);
    for (size_t i = 0; i < e->must_count; i++)
        sched__topology_unref(e->must[i]);
    if (e->tolerations)
        match_unref(&e->tolerations->list);
    match_affinity_free(e->affinity);
    free(e->is);
    arena_release(&e->arena);
    free(e);
}
