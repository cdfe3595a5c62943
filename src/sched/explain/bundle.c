/*
 * Groups of nodes that differ in operands of their nodes only, told together: "117 nodes: cpu:
 * requested 12, free at most 6620m of 8 on n17".
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "sched/explain/explain_int.h"

/* A group on its way into a bundle. */
struct member {
    const struct sched_group *group;
    int64_t distance;
};

struct bundler {
    const struct sched_explanation *e;
    struct arena *a;
    struct member *members; /* those that miss least first */
    size_t n;
    struct sched_bundles *out;
    struct map by_key; /* place in out + 1 */
};

/* ---- which groups miss least ---- */

static int64_t finding_distance(const struct sched_finding *f) {
    const struct sched_operand *left = sched_finding_get(f, SCHED_OPERAND_LEFT);
    const struct sched_operand *right = sched_finding_get(f, SCHED_OPERAND_RIGHT);
    if (!left || !right || left->kind != SCHED_VALUE || right->kind != SCHED_VALUE)
        return 0;
    return sched__suggest_distance(left->text, right->text);
}

static int64_t distance_of(const struct sched_group *g) {
    int64_t sum = 0;
    for (size_t i = 0; i < g->cause_count; i++)
        for (size_t k = 0; k < g->causes[i]->finding_count; k++)
            sum += finding_distance(&g->causes[i]->findings[k]);
    return sum;
}

static int compare_numbers(int64_t a, int64_t b) {
    return (a > b) - (a < b);
}

static int compare_members(const void *x, const void *y) {
    const struct member *a = x, *b = y;
    int order = compare_numbers((int64_t)a->group->cause_count, (int64_t)b->group->cause_count);
    if (!order)
        order = compare_numbers(a->group->shortage, b->group->shortage);
    if (!order)
        order = compare_numbers(a->distance, b->distance);
    return order ? order : (a->group > b->group) - (a->group < b->group);
}

/* Of bundles that miss as much, what concerns most nodes comes first. */
static int compare_bundles(const void *x, const void *y) {
    const struct sched_bundle *a = x, *b = y;
    int order = compare_numbers((int64_t)a->cause_count, (int64_t)b->cause_count);
    if (!order)
        order = compare_numbers(a->shortage, b->shortage);
    if (!order)
        order = compare_numbers(a->distance, b->distance);
    if (!order)
        order = compare_numbers((int64_t)b->node_count, (int64_t)a->node_count);
    return order ? order : (a->groups[0] > b->groups[0]) - (a->groups[0] < b->groups[0]);
}

/* ---- which belong together ---- */

static void add_reasons(struct buf *key, const struct sched_status *status) {
    for (size_t i = 0; i < status->reason_count; i++) {
        buf_add(key, status->reasons[i]);
        buf_add_char(key, '\0');
    }
}

static void write_key(struct buf *key, const struct sched_group *g, bool redact) {
    buf_clear(key);
    for (size_t i = 0; i < g->cause_count; i++) {
        const struct sched_cause *c = g->causes[i];
        buf_addf(key, "%d %d %zu %d ", c->plugin, c->status.code, c->finding_count, c->cut);
        if (!c->finding_count)
            add_reasons(key, &c->status);
        sched__findings_key(c->findings, c->finding_count, SCHED__ANY_OPERAND, redact, key);
    }
}

static struct sched_bundle *bundle_of(struct bundler *b, const struct member *m, struct str key) {
    size_t *place = map_get(&b->by_key, key);
    if (place)
        return &b->out->v[*place];
    place = arena_new(b->a, size_t);
    *place = b->out->n;
    map_put(&b->by_key, arena_str(b->a, key), place);
    struct sched_bundle *bundle = &b->out->v[b->out->n++];
    bundle->cause_count = m->group->cause_count;
    bundle->shortage = m->group->shortage;
    bundle->distance = m->distance;
    return bundle;
}

/* Two rounds: how many groups each bundle has, and which. */
static void fill_bundles(struct bundler *b) {
    AUTO(buf_release) struct buf key = BUF_INIT(SIZE_MAX);
    size_t *home = arena_array(b->a, size_t, b->n);
    for (size_t i = 0; i < b->n; i++) {
        write_key(&key, b->members[i].group, b->e->redact);
        struct sched_bundle *bundle = bundle_of(b, &b->members[i], buf_view(&key));
        home[i] = (size_t)(bundle - b->out->v);
        bundle->group_count++;
    }
    for (size_t i = 0; i < b->out->n; i++) {
        struct sched_bundle *bundle = &b->out->v[i];
        bundle->groups = arena_array(b->a, const struct sched_group *, bundle->group_count);
        bundle->group_count = 0;
    }
    for (size_t i = 0; i < b->n; i++) {
        struct sched_bundle *bundle = &b->out->v[home[i]];
        bundle->groups[bundle->group_count++] = b->members[i].group;
        bundle->node_count += b->members[i].group->node_count;
        if (b->members[i].group->shortage == bundle->shortage) /* by rising distance */
            bundle->farthest = b->members[i].group;
    }
}

/* ---- ranges of operands ---- */

/* The operand as a number. False: it is none. */
static bool read_number(const struct sched_operand *o, int64_t *out) {
    if (o->kind == SCHED_VALUE && !o->is_node_name)
        return labels_value_to_i64(o->text, out);
    *out = o->number;
    return o->kind >= SCHED_NUMBER;
}

static bool is_same(const struct sched_operand *a, const struct sched_operand *b) {
    if (a->kind >= SCHED_NUMBER)
        return a->number == b->number;
    return (a->is_node_name && b->is_node_name) || str_eq(a->text, b->text);
}

static void widen_text(struct sched_range *r, struct str text) {
    for (size_t i = 0; i < r->text_count; i++)
        if (str_eq(r->texts[i], text))
            return;
    if (r->text_count == sizeof r->texts / sizeof *r->texts)
        r->has_more = true;
    else
        r->texts[r->text_count++] = text;
}

static void widen(struct sched_range *r, const struct sched_operand *o, struct str node) {
    int64_t number;
    bool is_number = read_number(o, &number);
    if (o->kind < SCHED_NUMBER)
        widen_text(r, o->text);
    r->is_number &= is_number;
    if (!r->is_number)
        return;
    if (!r->least_node.p || number < r->least) {
        r->least = number;
        r->least_node = node;
    }
    if (!r->most_node.p || number > r->most) {
        r->most = number;
        r->most_node = node;
    }
}

/* Where an operand stands in every group of a bundle. */
struct column {
    const struct sched_bundle *bundle;
    size_t cause, finding, operand;
};

static const struct sched_operand *operand_of(const struct column *c, size_t group) {
    return &c->bundle->groups[group]->causes[c->cause]->findings[c->finding].v[c->operand];
}

static bool is_same_on_all(const struct column *c) {
    for (size_t i = 1; i < c->bundle->group_count; i++)
        if (!is_same(operand_of(c, 0), operand_of(c, i)))
            return false;
    return true;
}

/* NULL: the operand is the same on all nodes, or is not told. */
static const struct sched_range *range_of(const struct bundler *b, const struct column *c) {
    const struct sched_operand *o = operand_of(c, 0);
    if (!sched__operand_varies(o) || (b->e->redact && o->kind == SCHED_VALUE) || is_same_on_all(c))
        return NULL;
    struct sched_range *r = arena_new(b->a, struct sched_range);
    r->is_number = true;
    for (size_t i = 0; i < c->bundle->group_count; i++)
        widen(r, operand_of(c, i), b->e->report.nodes[c->bundle->groups[i]->nodes[0]].node);
    return r;
}

/* "free at most 6620m of 8 on n17": the 8 is of the node that has the 6620m. */
static void follow_most(struct column c, struct sched_finding *f, size_t allocatable) {
    size_t group = 0;
    for (c.operand = 0; f->v[c.operand].name != SCHED_OPERAND_LEFT;)
        c.operand++;
    const struct sched_range *left = f->v[c.operand].range;
    while (left && operand_of(&c, group)->number != left->most)
        group++;
    c.operand = allocatable;
    f->v[allocatable] = *operand_of(&c, group);
}

static void range_finding(const struct bundler *b, struct column c, struct sched_finding *f) {
    f->v = arena_copy(b->a, f->v, f->n * sizeof *f->v);
    for (c.operand = 0; c.operand < f->n; c.operand++)
        f->v[c.operand].range = range_of(b, &c);
    for (size_t i = 0; i < f->n; i++)
        if (f->v[i].name == SCHED_OPERAND_ALLOCATABLE && f->v[i].range)
            follow_most(c, f, i);
}

static void range_cause(const struct bundler *b, struct column c, struct sched_cause *cause) {
    struct sched_finding *findings =
        arena_copy(b->a, cause->findings, cause->finding_count * sizeof *findings);
    for (c.finding = 0; c.finding < cause->finding_count; c.finding++)
        range_finding(b, c, &findings[c.finding]);
    cause->findings = findings;
}

static void range_bundle(const struct bundler *b, struct sched_bundle *bundle) {
    struct column c = {.bundle = bundle};
    struct sched_cause *causes = arena_array(b->a, struct sched_cause, bundle->cause_count);
    for (c.cause = 0; c.cause < bundle->cause_count; c.cause++) {
        causes[c.cause] = *bundle->groups[0]->causes[c.cause];
        if (bundle->group_count > 1)
            range_cause(b, c, &causes[c.cause]);
    }
    bundle->causes = causes;
}

void sched__bundle_groups(const struct sched_explanation *e, struct sched_group *groups, size_t n,
                          struct arena *a, struct sched_bundles *out) {
    struct bundler b = {.e = e, .a = a, .n = n, .out = out, .by_key = MAP_INIT(e->sched->seed)};
    *out = (struct sched_bundles){.v = arena_array(a, struct sched_bundle, n)};
    if (!n)
        return;
    b.members = arena_array(a, struct member, n);
    for (size_t i = 0; i < n; i++)
        b.members[i] = (struct member){&groups[i], distance_of(&groups[i])};
    qsort(b.members, n, sizeof *b.members, compare_members);
    fill_bundles(&b);
    for (size_t i = 0; i < out->n; i++)
        range_bundle(&b, &out->v[i]);
    qsort(out->v, out->n, sizeof *out->v, compare_bundles);
    map_release(&b.by_key);
}
