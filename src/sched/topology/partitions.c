/*
 * Partitions of nodes: which domain each node is in, and whether it takes part at all. Answered
 * once per node and partition, and again only when the node changed; pods are then counted by
 * domain without a look at the node's labels or taints.
 */
#include <string.h>

#include "base/alloc.h"
#include "sched/topology/count_int.h"

/* ---- which domain ---- */

static uint32_t find_domain(struct sched *s, const struct sched__partition *g, uint32_t slot) {
    if (!(s->nodes.state[slot] & SCHED__NODE_THERE))
        return 0;
    uint32_t domain = g->topology ? g->topology->domain[slot] : slot + 1;
    return !g->eligible || g->eligible->is[slot] ? domain : 0;
}

/* ---- room ---- */

static void resize_domains(struct sched__partition *g, uint32_t cap) {
    uint32_t old = g->domain_cap;
    g->nodes = sched__column_resize(g->nodes, old, cap, sizeof *g->nodes);
    for (size_t i = 0; i < g->tallies.n; i++) {
        struct sched__tally *t = g->tallies.v[i];
        t->count = sched__column_resize(t->count, old, cap, sizeof *t->count);
    }
    g->domain_cap = cap;
}

static void reserve_domain(struct sched__partition *g, uint32_t domain) {
    uint32_t old = g->domain_cap;
    if (domain >= old)
        resize_domains(g, domain + 1 < 2 * old ? 2 * old : domain + 1);
}

void sched__partition_resize(struct sched__partition *g, uint32_t cap) {
    uint32_t domains = g->topology ? (uint32_t)g->topology->values.n + 1 : cap + 1;
    g->where = sched__column_resize(g->where, g->slot_cap, cap, sizeof *g->where);
    g->slot_cap = cap;
    if (domains < g->domain_cap / 2)
        resize_domains(g, domains);
}

/* ---- moving ---- */

static void drop_domain(struct sched__partition *g, uint32_t domain) {
    for (size_t i = 0; i < g->domains.n; i++)
        if (g->domains.v[i] == domain) {
            g->domains.v[i] = g->domains.v[--g->domains.n];
            return;
        }
}

static void move_node(struct sched__partition *g, uint32_t slot, uint32_t to) {
    uint32_t from = g->where[slot];
    g->where[slot] = to;
    if (from && !--g->nodes[from])
        drop_domain(g, from);
    if (to && !g->nodes[to]++)
        vec_push(&g->domains, to);
}

static void move_count(struct sched__tally *t, uint32_t from, uint32_t to) {
    if (from)
        t->count[from]--;
    if (to)
        t->count[to]++;
    t->total += (to != 0) - (from != 0);
}

static void move_pod(const struct sched__partition *g, const struct sched_pod *p, uint32_t from,
                     uint32_t to) {
    for (size_t i = 0; i < p->cls->memberships.n; i++) {
        const struct sched__podset *set = p->cls->memberships.v[i].other->owner;
        struct sched__tally *t = set->living && p->terminating ? NULL : sched__tally_find(set, g);
        if (t)
            move_count(t, from, to);
    }
}

void sched__partition_update(struct sched *s, struct sched__partition *g, uint32_t slot) {
    reserve_domain(g, g->topology ? g->topology->domain[slot] : slot + 1);
    uint32_t from = g->where[slot], to = find_domain(s, g, slot);
    if (from == to)
        return;
    move_node(g, slot, to);
    const struct sched__node *node = &s->nodes.v[slot];
    for (size_t i = 0; i < node->pods.n; i++)
        move_pod(g, node->pods.v[i], from, to);
}

/* ---- life ---- */

static void write_key(struct buf *out, const struct sched__partition_spec *spec) {
    buf_add_u64(out, spec->eligible ? spec->eligible->serial : 0);
    buf_add_char(out, spec->label.p ? '=' : '*');
    buf_add(out, spec->label);
}

static struct sched__partition *partition_new(struct sched *s, struct str key,
                                              const struct sched__partition_spec *spec) {
    struct sched__partition *g = xcalloc(1, sizeof *g);
    arena_start(&g->arena, key.n + 1);
    g->key = arena_str(&g->arena, key);
    if (spec->label.p)
        g->topology = sched__topology_ref(sched__topology_get(s, spec->label));
    g->eligible = spec->eligible;
    if (g->eligible)
        g->eligible->refs++;
    reserve_domain(g, g->topology ? (uint32_t)g->topology->values.n : s->nodes.cap);
    if (s->nodes.cap)
        sched__partition_resize(g, s->nodes.cap);
    for (uint32_t slot = 0; slot < s->nodes.n; slot++)
        move_node(g, slot, find_domain(s, g, slot));
    map_put(&s->partitions, g->key, g);
    return g;
}

struct sched__partition *sched__partition_get(struct sched *s,
                                              const struct sched__partition_spec *spec) {
    struct buf key = BUF_INIT(SIZE_MAX);
    write_key(&key, spec);
    struct sched__partition *g = map_get(&s->partitions, buf_view(&key));
    if (!g)
        g = partition_new(s, buf_view(&key), spec);
    g->refs++;
    buf_release(&key);
    return g;
}

void sched__partition_unref(struct sched *s, struct sched__partition *g) {
    if (--g->refs)
        return;
    map_del(&s->partitions, g->key);
    sched__eligible_unref(s, g->eligible);
    if (g->topology)
        sched__topology_unref(g->topology);
    free(g->where);
    free(g->nodes);
    vec_release(&g->domains);
    vec_release(&g->tallies);
    arena_release(&g->arena);
    free(g);
}
