/*
 * The smallest changes that make a pod fit.
 *
 * For one node of each of the closest groups every option against the first plug-in that rejects
 * is tried; whatever still rejects after that is met with its best option, until the pod fits or it
 * takes too many steps. Each step is judged by the filters themselves, on changed copies that the
 * scheduler is given and that are taken back; what is told was judged by a whole cycle.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "sched/explain/explain_int.h"
#include "sched/topology/count_int.h"

enum { MOST_GROUPS = 24, MOST_STEPS = 6, MOST_OPTIONS = 8, MOST_TRIED = 5 };

struct str sched_change_name(enum sched_change_kind kind) {
    static const struct str names[] = {
#define CHANGE(id, name) STR_INIT(name),
        SCHED_CHANGES(CHANGE)
#undef CHANGE
    };
    return names[kind];
}

/* ---- options ---- */

static sched__suggest_fn *const suggesters[SCHED_PLUGIN_COUNT] = {
    [SCHED_NODE_UNSCHEDULABLE] = sched__suggest_unschedulable,
    [SCHED_TAINT_TOLERATION] = sched__suggest_taint,
    [SCHED_NODE_AFFINITY] = sched__suggest_affinity,
    [SCHED_NODE_PORTS] = sched__suggest_ports,
    [SCHED_FIT] = sched__suggest_fit,
    [SCHED_VOLUME_RESTRICTIONS] = sched__suggest_disk,
    [SCHED_SPREAD] = sched__suggest_spread,
    [SCHED_INTER_POD_AFFINITY] = sched__suggest_pod_affinity,
};

bool sched__option_wanted(struct sched__options *x) {
    return x->seen++ == x->choice;
}

struct str sched__option_shown(const struct sched__options *x, struct str value) {
    return x->redact ? STR("***") : value;
}

void sched__option_make(struct sched__options *x, const struct sched__option *o) {
    x->option = *o;
    x->made = true;
}

/* ---- a path of changes on one node ---- */

/* A pod that had to go, and where it was. */
struct leaver {
    struct sched_pod *pod;
    struct sched__seat seat;
};

struct path {
    struct sched *s;
    struct arena *a;
    bool redact;
    uint32_t slot;
    const struct api_object *pod, *node; /* as they are now, held */
    const struct api_object *untouched;  /* the node as it was, held */
    struct leaver gone[MOST_STEPS * SCHED__MOST_GONE];
    size_t gone_count;
    struct sched_change *changes;
    size_t n;
    int64_t cost;
    enum sched_change_kind worst;
    unsigned kinds; /* the sum of them */
};

static void path_start(struct path *p, const struct api_object *pod) {
    p->pod = api_object_ref(pod);
    p->untouched = api_object_ref(p->s->nodes.v[p->slot].object);
    p->node = api_object_ref(p->untouched);
    p->changes = arena_array(p->a, struct sched_change, MOST_STEPS);
}

/* The scheduler is as it was before. */
static void path_undo(struct path *p) {
    for (size_t i = p->gone_count; i--;)
        sched__pod_put_back(p->s, p->gone[i].pod, &p->gone[i].seat);
    if (p->node != p->untouched)
        sched__node_set(p->s, p->untouched);
}

/* The scheduler is as the changes make it. */
static void path_redo(struct path *p) {
    if (p->node != p->untouched)
        sched__node_set(p->s, p->node);
    for (size_t i = 0; i < p->gone_count; i++)
        p->gone[i].seat = sched__pod_take_off(p->s, p->gone[i].pod);
}

static void path_release(struct path *p) {
    api_object_unref(p->pod);
    api_object_unref(p->node);
    api_object_unref(p->untouched);
}

/* `with` is published in the place of an object. */
static void replace(const struct api_object **object, struct api_object *with) {
    api_object_unref(*object);
    *object = api_publish(with);
}

static void take_option(struct path *p, const struct sched__option *o) {
    p->changes[p->n++] = (struct sched_change){o->kind, o->text};
    p->cost += o->cost;
    p->kinds += o->kind;
    if (o->kind > p->worst)
        p->worst = o->kind;
    if (o->pod)
        replace(&p->pod, o->pod);
    if (o->node) {
        replace(&p->node, o->node);
        sched__node_set(p->s, p->node);
    }
    for (size_t i = 0; i < o->gone_count; i++)
        p->gone[p->gone_count++] =
            (struct leaver){o->gone[i], sched__pod_take_off(p->s, o->gone[i])};
}

/* ---- what a search may cost ---- */

/* What has been compiled so far, in bytes of pods and nodes. */
struct effort {
    size_t spent;
    bool over; /* too much: nothing more is begun */
};

/* Takes a node's lists for so many bytes an item. */
enum { ITEM_BYTES = 64 };

static void spend(struct effort *e, const struct sched__pod_class *c,
                  const struct api_object *host) {
    const struct api_node *node = host->body;
    size_t items = host->meta->labels.n + node->spec.taints.n + node->status.images.n +
                   node->status.allocatable.n;
    e->spent += c->key.n + ITEM_BYTES * items;
    e->over = e->spent > LIMIT_SUGGEST_BYTES;
}

/* ---- steps ---- */

enum step { FITS, CHANGED, STUCK };

/* The first filter that rejects the node, or SCHED_PLUGIN_COUNT. */
static enum sched_plugin first_rejection(struct sched__cycle *cy, uint32_t slot) {
    const struct sched_order *order = &cy->profile->points[SCHED_FILTER];
    for (size_t i = 0; i < order->n; i++)
        if (sched__filter_alone(cy, order->v[i], slot, slot + 1) &&
            cy->verdict[slot] != SCHED__FITS)
            return order->v[i];
    return SCHED_PLUGIN_COUNT;
}

static enum step take_step(struct path *p, struct sched__cycle *cy, size_t choice) {
    cy->verdict = p->s->trial;
    sched__cycle_pre_filter(cy);
    if (cy->error.p || cy->rejected.code != SCHED_CODE_SUCCESS)
        return STUCK;
    enum sched_plugin rejecting = first_rejection(cy, p->slot);
    if (rejecting == SCHED_PLUGIN_COUNT)
        return cy->error.p ? STUCK : FITS;
    if (!suggesters[rejecting] || p->n == MOST_STEPS)
        return STUCK;
    struct sched__options x = {.cy = cy,
                               .slot = p->slot,
                               .redact = p->redact,
                               .pod = p->pod,
                               .node = p->node,
                               .choice = choice};
    suggesters[rejecting](&x);
    if (x.made)
        take_option(p, &x.option);
    return x.made ? CHANGED : STUCK;
}

static enum step step_once(struct path *p, size_t choice, struct effort *effort) {
    struct sched__trial trial;
    if (effort->over)
        return STUCK;
    const struct api_object *pod = api_object_ref(p->pod); /* a step may replace it */
    sched__trial_start(&trial, p->s, pod, p->a);
    spend(effort, trial.cycle.cls, p->node);
    enum step step = take_step(p, &trial.cycle, choice);
    sched__trial_end(&trial);
    api_object_unref(pod);
    return step;
}

/* Begins with that option; false when there is none such. *fits: the path leads to the end. */
static bool walk(struct path *p, size_t choice, struct effort *effort, bool *fits) {
    enum step step = step_once(p, choice, effort);
    bool begun = step == CHANGED;
    while (step == CHANGED)
        step = step_once(p, 0, effort);
    *fits = begun && step == FITS;
    return begun;
}

/* ---- the search ---- */

struct search {
    struct sched *s;
    const struct api_object *pod;
    const struct sched_explanation *e;
    struct arena *a;
    struct effort effort;
    VEC(struct path) found;
};

static int compare_paths(const void *x, const void *y) {
    const struct path *a = x, *b = y;
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    if (a->worst != b->worst)
        return a->worst < b->worst ? -1 : 1;
    if (a->kinds != b->kinds)
        return a->kinds < b->kinds ? -1 : 1;
    if (a->cost != b->cost)
        return a->cost < b->cost ? -1 : 1;
    if (a->slot != b->slot)
        return a->slot < b->slot ? -1 : 1;
    return str_cmp(a->changes[0].text, b->changes[0].text);
}

static bool same_changes(const struct path *a, const struct path *b) {
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (!str_eq(a->changes[i].text, b->changes[i].text))
            return false;
    return true;
}

static bool is_known(const struct search *x, const struct path *p) {
    for (size_t i = 0; i < x->found.n; i++)
        if (same_changes(&x->found.v[i], p))
            return true;
    return false;
}

static void search_node(struct search *x, uint32_t slot) {
    bool begun = true;
    for (size_t choice = 0; begun && choice < MOST_OPTIONS; choice++) {
        struct path p = {.s = x->s, .a = x->a, .redact = x->e->redact, .slot = slot};
        bool fits;
        path_start(&p, x->pod);
        begun = walk(&p, choice, &x->effort, &fits);
        path_undo(&p);
        if (fits && !is_known(x, &p))
            vec_push(&x->found, p);
        else
            path_release(&p);
    }
}

/* What fails alike is changed alike: of each bundle the group that misses least, then the one that
 * misses most, for a change that opens them all, then others. */
static const struct sched_group *group_at(const struct sched_bundle *b, size_t round) {
    if (round < 2)
        return round ? b->farthest : b->groups[0];
    return round <= b->group_count ? b->groups[round - 1] : NULL;
}

static void search_groups(struct search *x) {
    const struct sched_bundles *bundles = &x->e->bundles;
    size_t searched = 0, found = 1;
    for (size_t round = 0; found && searched < MOST_GROUPS; round++) {
        found = 0;
        for (size_t i = 0; i < bundles->n && searched < MOST_GROUPS; i++) {
            const struct sched_group *g = group_at(&bundles->v[i], round);
            if (!g)
                continue;
            found++;
            if (round && g == bundles->v[i].groups[0])
                continue;
            search_node(x, x->e->report.nodes[g->nodes[0]].slot);
            searched++;
        }
    }
}

/* ---- what is told ---- */

/* Runs the whole cycle on the changed objects: how many nodes fit, this one among them; else 0. */
static size_t verify(struct search *x, struct path *p) {
    struct sched__trial trial;
    size_t feasible = 0;
    path_redo(p);
    sched__trial_start(&trial, x->s, p->pod, x->a);
    sched__cycle_filter(&trial.cycle);
    if (!trial.cycle.error.p && trial.cycle.rejected.code == SCHED_CODE_SUCCESS &&
        !trial.cycle.verdict[p->slot])
        feasible = trial.cycle.feasible;
    sched__trial_end(&trial);
    path_undo(p);
    return feasible;
}

static size_t place_of(const struct sched_report *r, uint32_t slot) {
    size_t i = 0;
    while (r->nodes[i].slot != slot)
        i++;
    return i;
}

static void tell(struct search *x, const struct path *p, size_t feasible,
                 struct sched_suggestions *out) {
    struct sched_suggestion *s = &out->v[out->n++];
    *s = (struct sched_suggestion){.changes = p->changes,
                                   .change_count = p->n,
                                   .node = place_of(&x->e->report, p->slot),
                                   .feasible = feasible,
                                   .pod = api_object_ref(p->pod),
                                   .host = api_object_ref(p->node),
                                   .gone_count = p->gone_count};
    s->gone = arena_array(x->a, struct sched_pod_name, p->gone_count);
    for (size_t i = 0; i < p->gone_count; i++)
        s->gone[i] = sched__pod_name(p->gone[i].pod, x->a);
}

/* Paths of one kind that the scheduler agreed to: the one that changes least, and the one after
 * which most nodes fit. */
struct chosen {
    const struct path *least, *most;
    size_t least_feasible, most_feasible;
};

static void try_path(struct search *x, struct path *p, struct chosen *c) {
    size_t feasible = verify(x, p);
    if (!feasible)
        return;
    if (!c->least) {
        c->least = p;
        c->least_feasible = feasible;
    }
    if (feasible > c->most_feasible) {
        c->most = p;
        c->most_feasible = feasible;
    }
}

/* Paths [from, to) are of one kind, by rising cost: the first few are tried, and the last, which
 * goes farthest. */
static struct chosen choose(struct search *x, size_t from, size_t to) {
    struct chosen c = {0};
    for (size_t i = from; i < to; i++)
        if (i < from + MOST_TRIED || i + 1 == to || !c.least)
            try_path(x, &x->found.v[i], &c);
    return c;
}

static void tell_smallest(struct search *x, struct sched_suggestions *out) {
    const struct path *found = x->found.v;
    size_t from = 0, to;
    out->v = arena_array(x->a, struct sched_suggestion, SCHED_MOST_SUGGESTIONS);
    for (; from < x->found.n && found[from].n == found[0].n; from = to) {
        for (to = from + 1;
             to < x->found.n && found[to].n == found[0].n && found[to].worst == found[from].worst;)
            to++;
        struct chosen c = choose(x, from, to);
        if (c.least && out->n < SCHED_MOST_SUGGESTIONS)
            tell(x, c.least, c.least_feasible, out);
        if (c.most != c.least && out->n < SCHED_MOST_SUGGESTIONS)
            tell(x, c.most, c.most_feasible, out);
    }
}

static void finish_search(struct search *x, struct sched_suggestions *out) {
    if (x->found.n)
        qsort(x->found.v, x->found.n, sizeof *x->found.v, compare_paths);
    tell_smallest(x, out);
    for (size_t i = 0; i < x->found.n; i++)
        path_release(&x->found.v[i]);
    vec_release(&x->found);
}

/* ---- as if nothing had been ---- */

/* The order in which a partition lists its domains: of equal ones the first is told. */
struct domain_order {
    struct sched__partition *partition;
    uint32_t *domains;
    struct domain_order *next;
};

static struct domain_order *note_domains(struct sched *s, struct arena *a) {
    struct domain_order *all = NULL;
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&s->partitions, &at));) {
        struct domain_order *o = arena_new(a, struct domain_order);
        *o = (struct domain_order){.partition = e->value, .next = all};
        o->domains =
            arena_copy(a, o->partition->domains.v, o->partition->domains.n * sizeof *o->domains);
        all = o;
    }
    return all;
}

/* They are the same domains, as all changes have been undone. */
static void restore_domains(const struct domain_order *all) {
    for (const struct domain_order *o = all; o; o = o->next)
        if (o->partition->domains.n)
            memcpy(o->partition->domains.v, o->domains,
                   o->partition->domains.n * sizeof *o->domains);
}

void sched_suggest(const struct sched_explanation *e, size_t node, struct arena *a,
                   struct sched_suggestions *out) {
    struct search x = {.s = e->sched, .pod = e->pod, .e = e, .a = a};
    struct sched__trial base; /* keeps the pod's class */
    bool one = node != SIZE_MAX;
    *out = (struct sched_suggestions){0};
    if (!e->group_count || (one ? e->group_of[node] == SIZE_MAX : e->report.feasible > 0))
        return;
    sched__trial_start(&base, x.s, x.pod, a);
    struct domain_order *order = note_domains(x.s, a);
    if (one)
        search_node(&x, e->report.nodes[node].slot);
    else
        search_groups(&x);
    finish_search(&x, out);
    restore_domains(order);
    sched__trial_end(&base);
    out->ended_early = x.effort.over;
}

void sched_suggestions_release(struct sched_suggestions *list) {
    for (size_t i = 0; i < list->n; i++) {
        api_object_unref(list->v[i].pod);
        api_object_unref(list->v[i].host);
    }
    *list = (struct sched_suggestions){0};
}
