/* What costs nodes that fit some of their scores: taints and terms that are preferences. */
#include "base/alloc.h"
#include "sched/explain/explain_int.h"

struct costs {
    struct sched__cycle *cy;
    struct sched_explanation *e;
    struct sched__findings findings;
    struct sched_group *groups; /* of all plug-ins; each has one cause */
    size_t n;
    struct map by_key; /* of the plug-in at hand */
    struct buf key;
};

static struct sched_group *add_group(struct costs *c, enum sched_plugin p) {
    struct arena *a = c->cy->arena;
    struct sched_cause *cause = arena_new(a, struct sched_cause);
    *cause = (struct sched_cause){.plugin = p,
                                  .findings = sched__findings_copy(&c->findings, a),
                                  .finding_count = c->findings.n,
                                  .cut = c->findings.cut,
                                  .names_node = sched__findings_name_node(&c->findings)};
    struct sched_group *g = &c->groups[c->n++];
    g->causes = arena_array(a, const struct sched_cause *, 1);
    g->causes[0] = cause;
    g->cause_count = 1;
    return g;
}

/* The group of a node that costs are known of; NULL: nothing costs it anything. */
static struct sched_group *group_of(struct costs *c, enum sched_plugin p, uint32_t slot) {
    sched__findings_ask_score(&c->findings, p, slot);
    if (!c->findings.n)
        return NULL;
    buf_clear(&c->key);
    sched__findings_key(c->findings.v, c->findings.n, SCHED__ANY_NAME, c->e->redact, &c->key);
    struct sched_group *g = map_get(&c->by_key, buf_view(&c->key));
    if (!g)
        map_put(&c->by_key, arena_str(c->cy->arena, buf_view(&c->key)), g = add_group(c, p));
    return g;
}

static void explain_plugin(struct costs *c, enum sched_plugin p) {
    const struct sched_report *r = &c->e->report;
    struct sched_group *first = &c->groups[c->n];
    size_t *home = arena_array(c->cy->arena, size_t, r->node_count);
    c->by_key = MAP_INIT(c->cy->s->seed);
    for (size_t i = 0; i < r->node_count; i++) {
        bool fits = r->nodes[i].status.code == SCHED_CODE_SUCCESS;
        struct sched_group *g = fits ? group_of(c, p, r->nodes[i].slot) : NULL;
        home[i] = g ? (size_t)(g - first) : SIZE_MAX;
    }
    sched__groups_fill(first, (size_t)(&c->groups[c->n] - first), home, r->node_count,
                       c->cy->arena);
    map_release(&c->by_key);
}

void sched__explain_costs(struct sched__cycle *cy, struct sched_explanation *e) {
    struct costs c = {.cy = cy, .e = e, .key = BUF_INIT(SIZE_MAX)};
    sched__findings_init(&c.findings, cy);
    c.groups =
        arena_array(cy->arena, struct sched_group, SCHED_PLUGIN_COUNT * e->report.node_count);
    for (enum sched_plugin p = 0; p < SCHED_PLUGIN_COUNT; p++)
        if (e->report.scoring[p] && sched__plugin_at(p)->explain_score)
            explain_plugin(&c, p);
    sched__bundle_groups(e, c.groups, c.n, cy->arena, &e->costs);
    sched__findings_release(&c.findings);
    buf_release(&c.key);
}
