/* Sets of pods and their tallies, see count_int.h. */
#include "sched/topology/count_int.h"

#include <string.h>

#include "base/alloc.h"
#include "sched/topology/facets_int.h"
#include "sched/topology/services_int.h"

/* Idle tallies are swept when so many members and columns were made for each pod and node that
 * there is, and some more. */
enum { SHARE = 4, LEAST_KEPT = 256 };

/* The terms of most sets need no more than this. */
enum { TERM_BYTES = 256 };

/* ---- tallies ---- */

static void count(struct sched__tally *t, uint32_t slot, int delta) {
    uint32_t domain = t->by->where[slot];
    if (!domain)
        return;
    t->count[domain] += delta;
    t->total += delta;
}

/* Counts a pod into all tallies of the set, or out of them. */
static void count_in_set(struct sched__podset *set, const struct sched_pod *p, uint32_t slot,
                         int delta) {
    if (set->living && p->terminating)
        return;
    for (size_t i = 0; i < set->tallies.n; i++)
        count(set->tallies.v[i], slot, delta);
}

static void count_residents(struct sched__podset *set, const struct sched__pod_class *c,
                            int delta) {
    for (const struct sched_pod *p = c->residents; p && set->tallies.n; p = p->resident_next)
        count_in_set(set, p, p->node, delta);
}

struct sched__tally *sched__tally_find(const struct sched__podset *set,
                                       const struct sched__partition *by) {
    bool in_set = set->tallies.n < by->tallies.n;
    struct sched__tally *const *list = in_set ? set->tallies.v : by->tallies.v;
    size_t n = in_set ? set->tallies.n : by->tallies.n;
    for (size_t i = 0; i < n; i++)
        if (list[i]->set == set && list[i]->by == by)
            return list[i];
    return NULL;
}

/* ---- tallies without references ---- */

/* Takes a tally out of the list of idle ones that it is in. */
static void wake(struct sched__tally *t) {
    *t->idle_at = t->idle_next;
    if (t->idle_next)
        t->idle_next->idle_at = t->idle_at;
    t->idle_at = NULL;
}

static void push_idle(struct sched__tally **list, struct sched__tally *t) {
    t->idle_at = list;
    t->idle_next = *list;
    if (*list)
        (*list)->idle_at = &t->idle_next;
    *list = t;
}

/* Takes a tally out of a list in which it knows its place; the last one moves there. */
#define TAKE_OUT(list, at) ((list).v[at] = (list).v[--(list).n])

static void leave_lists(const struct sched__tally *t) {
    TAKE_OUT(t->set->tallies, t->in_set)->in_set = t->in_set;
    TAKE_OUT(t->by->tallies, t->in_by)->in_by = t->in_by;
    vec_shrink(&t->set->tallies);
    vec_shrink(&t->by->tallies);
}

static void tally_free(struct sched *s, struct sched__tally *t) {
    wake(t);
    leave_lists(t);
    sched__tally_unref(s, t->all);
    sched__tally_unref(s, t->excluded);
    sched__podset_unref(s, t->set);
    sched__partition_unref(s, t->by);
    free(t->count);
    free(t);
}

/* Frees tallies that nobody asked for since the last time. */
static void age_idle(struct sched *s) {
    struct sched__idle *idle = &s->idle;
    while (idle->old)
        tally_free(s, idle->old);
    idle->old = idle->recent;
    if (idle->old)
        idle->old->idle_at = &idle->old;
    idle->recent = NULL;
    idle->made = 0;
}

void sched__tallies_sweep(struct sched *s) {
    if (s->idle.made > SHARE * (s->pods.live + s->nodes.n) + LEAST_KEPT)
        age_idle(s);
}

/* ---- life of tallies ---- */

static struct sched__pod_class *member(const struct sched__podset *set, size_t i) {
    return set->members.v[i].other->owner;
}

static void fill_tally(struct sched__tally *t) {
    for (size_t i = 0; i < t->set->members.n; i++)
        for (const struct sched_pod *p = member(t->set, i)->residents; p; p = p->resident_next)
            if (!t->set->living || !p->terminating)
                count(t, p->node, 1);
}

void sched__tally_refresh(struct sched__tally *t) {
    if (!t->all)
        return;
    for (uint32_t i = 0; i < t->by->domain_cap; i++)
        t->count[i] = t->all->count[i] - t->excluded->count[i];
    t->total = t->all->total - t->excluded->total;
}

/* The set's counts come from those of two others. */
static void derive_tally(struct sched *s, struct sched__tally *t) {
    t->by->refs += 2;
    t->all = sched__tally_get(s, sched__podset_ref(t->set->all), t->by);
    t->excluded = sched__tally_get(s, sched__podset_ref(t->set->excluded), t->by);
    sched__tally_refresh(t);
}

struct sched__tally *sched__tally_get(struct sched *s, struct sched__podset *set,
                                      struct sched__partition *by) {
    struct sched__tally *t = sched__tally_find(set, by);
    if (t) {
        if (!t->refs++)
            wake(t);
        sched__podset_unref(s, set);
        sched__partition_unref(s, by);
        return t;
    }
    t = xcalloc(1, sizeof *t);
    *t = (struct sched__tally){.set = set,
                               .by = by,
                               .in_set = (uint32_t)set->tallies.n,
                               .in_by = (uint32_t)by->tallies.n,
                               .refs = 1};
    t->count = xcalloc(by->domain_cap, sizeof *t->count);
    vec_push(&set->tallies, t);
    vec_push(&by->tallies, t);
    if (set->all)
        derive_tally(s, t);
    else
        fill_tally(t);
    s->idle.made += 1 + by->domains.n + s->nodes.n;
    return t;
}

void sched__tally_unref(struct sched *s, struct sched__tally *t) {
    if (t && !--t->refs)
        push_idle(&s->idle.recent, t);
}

uint32_t sched__tally_least(const struct sched__tally *t) {
    uint32_t least = 0;
    for (size_t i = 0; i < t->by->domains.n; i++) {
        uint32_t domain = t->by->domains.v[i];
        if (!least || t->count[domain] < t->count[least])
            least = domain;
    }
    return least;
}

void sched__tally_show(const struct sched__tally *t, const struct sched__pod_class *c,
                       const struct sched_pod **examples) {
    for (const struct sched_pod *p = c->residents; p; p = p->resident_next) {
        const struct sched_pod **example = &examples[t->by->where[p->node]];
        if (!t->set->living || !p->terminating)
            *example = sched__pod_first(*example, p);
    }
}

const struct sched_pod **sched__tally_examples(struct arena *a, const struct sched__tally *t) {
    const struct sched_pod **examples = arena_array(a, const struct sched_pod *, t->by->domain_cap);
    const struct sched__podset *set = t->set->all ? t->set->all : t->set;
    for (size_t i = 0; i < set->members.n; i++)
        if (set == t->set || !sched__podset_has(t->set->excluded, member(set, i)))
            sched__tally_show(t, member(set, i), examples);
    return examples;
}

/* ---- membership ---- */

void sched__podset_join(struct sched *s, struct sched__podset *set, struct sched__pod_class *c) {
    sched__link(&set->members, &c->memberships);
    count_residents(set, c, 1);
    s->idle.made++;
}

bool sched__podset_has(const struct sched__podset *set, const struct sched__pod_class *c) {
    if (set->all)
        return sched__podset_has(set->all, c) && !sched__podset_has(set->excluded, c);
    return sched__are_linked(&set->members, &c->memberships);
}

/* A namespace that does not exist matches no selector of namespaces. */
static bool matches(struct sched *s, const struct sched__podset *set,
                    const struct sched__pod_class *c) {
    const struct api_object_meta *pod = &c->pod->metadata;
    for (size_t i = 0; i < set->term_count; i++) {
        const struct sched__podterm *t = &set->terms[i];
        const struct labels *namespace_labels =
            t->namespace_selector ? sched__namespace_labels(s, pod->namespace) : NULL;
        if (!sched__podterm_matches(t, pod, namespace_labels))
            return false;
    }
    return set->term_count > 0;
}

static bool belongs(struct sched *s, const struct sched__podset *set,
                    const struct sched__pod_class *c) {
    return set->of ? matches(s, set->of, c) && !matches(s, set, c) : matches(s, set, c);
}

static void find_members(struct sched *s, struct sched__podset *set) {
    struct sched__candidates found = {0};
    if (set->of)
        sched__facets_find_excluded(s, set->terms, set->term_count, &found);
    else if (!set->all)
        sched__facets_find_classes(s, set->terms, set->term_count, &found);
    for (size_t i = 0; i < found.n; i++)
        if (belongs(s, set, found.v[i].item))
            sched__podset_join(s, set, found.v[i].item);
    vec_release(&found);
}

static void drop_members(struct sched__podset *set) {
    for (size_t i = 0; i < set->members.n; i++)
        count_residents(set, member(set, i), -1);
    sched__unlink_all(&set->members);
}

/* ---- sets ---- */

static struct sched__podset *podset_new(struct sched *s, struct str key) {
    struct sched__podset *set = xcalloc(1, sizeof *set);
    arena_start(&set->arena, key.n + TERM_BYTES);
    set->key = arena_str(&set->arena, key);
    set->serial = ++s->serial;
    set->members.owner = set->filed.owner = set;
    map_put(&s->podsets, set->key, set);
    return set;
}

static void set_terms(struct sched__podset *set, const struct sched__podterm *terms, size_t n) {
    struct sched__podterm *copy = arena_array(&set->arena, struct sched__podterm, n);
    for (size_t i = 0; i < n; i++)
        copy[i] = sched__podterm_copy(&set->arena, &terms[i]);
    set->terms = copy;
    set->term_count = n;
}

static struct sched__podset *podset_of_terms(struct sched *s, struct str key,
                                             const struct sched__podterm *terms, size_t n,
                                             bool living) {
    struct sched__podset *set = podset_new(s, key);
    set->living = living;
    set_terms(set, terms, n);
    return set;
}

/* The set of those pods of set->all that the set's terms exclude, with one more reference. */
static struct sched__podset *get_excluded(struct sched *s, const struct sched__podset *set) {
    AUTO(buf_release) struct buf key = BUF_INIT(SIZE_MAX);
    buf_add_char(&key, 'x');
    buf_add(&key, set->key);
    struct sched__podset *x = map_get(&s->podsets, buf_view(&key));
    if (x)
        return sched__podset_ref(x);
    x = podset_of_terms(s, buf_view(&key), set->terms, set->term_count, set->living);
    x->of = sched__podset_ref(set->all);
    sched__facets_add_excluding(s, &s->facets.podsets, &x->filed, x->terms, x->term_count);
    find_members(s, x);
    return sched__podset_ref(x);
}

/* Makes it a set of all pods but those that its terms exclude. */
static void derive_set(struct sched *s, struct sched__podset *set) {
    AUTO(arena_release) struct arena a = {0};
    struct sched__podterm *base = arena_array(&a, struct sched__podterm, set->term_count);
    for (size_t i = 0; i < set->term_count; i++)
        base[i] = sched__podterm_base(&a, &set->terms[i]);
    set->all = sched__podset_get(s, base, set->term_count, set->living);
    set->excluded = get_excluded(s, set);
}

static void fill_set(struct sched *s, struct sched__podset *set) {
    sched__facets_add(s, &s->facets.podsets, &set->filed, set->terms, set->term_count);
    find_members(s, set);
}

struct sched__podset *sched__podset_get(struct sched *s, const struct sched__podterm *terms,
                                        size_t term_count, bool living) {
    struct buf key = BUF_INIT(SIZE_MAX);
    buf_add_char(&key, living ? 'l' : 'a');
    for (size_t i = 0; i < term_count; i++)
        sched__podterm_write(&key, &terms[i]);
    struct sched__podset *set = map_get(&s->podsets, buf_view(&key));
    if (!set) {
        set = podset_of_terms(s, buf_view(&key), terms, term_count, living);
        (sched__facets_exclude_few(s, terms, term_count) ? derive_set : fill_set)(s, set);
    }
    buf_release(&key);
    set->refs++;
    return set;
}

struct sched__podset *sched__podset_named(struct sched *s, struct str name) {
    struct sched__podset *set = map_get(&s->podsets, name);
    if (!set)
        set = podset_new(s, name);
    set->refs++;
    return set;
}

struct sched__podset *sched__podset_ref(struct sched__podset *set) {
    set->refs++;
    return set;
}

void sched__podset_unref(struct sched *s, struct sched__podset *set) {
    if (!set || --set->refs)
        return;
    map_del(&s->podsets, set->key);
    sched__facets_drop(&s->facets.podsets, &set->filed);
    drop_members(set);
    sched__podset_unref(s, set->excluded);
    sched__podset_unref(s, set->all);
    sched__podset_unref(s, set->of);
    vec_release(&set->tallies);
    arena_release(&set->arena);
    free(set);
}

/* ---- what the core tells ---- */

void sched__count_join(struct sched *s, struct sched__pod_class *c) {
    struct sched__candidates found = {0};
    c->memberships.owner = c->matching_terms.owner = c;
    sched__facets_add_class(s, c);
    sched__facets_find(s, &s->facets.podsets, c, &found);
    for (size_t i = 0; i < found.n; i++)
        if (belongs(s, found.v[i].item, c))
            sched__podset_join(s, found.v[i].item, c);
    vec_release(&found);
    sched__existing_terms_match(s, c);
}

void sched__count_leave(struct sched *s, struct sched__pod_class *c) {
    sched__facets_drop(&s->facets.classes, &c->filed);
    sched__unlink_all(&c->memberships);
    sched__existing_terms_drop(s, c);
}

static void link_resident(struct sched_pod *p) {
    struct sched__pod_class *c = p->cls;
    p->resident_prev = NULL;
    p->resident_next = c->residents;
    if (c->residents)
        c->residents->resident_prev = p;
    c->residents = p;
}

static void unlink_resident(struct sched_pod *p) {
    if (p->resident_prev)
        p->resident_prev->resident_next = p->resident_next;
    else
        p->cls->residents = p->resident_next;
    if (p->resident_next)
        p->resident_next->resident_prev = p->resident_prev;
    p->resident_next = p->resident_prev = NULL;
}

void sched__count_seat(struct sched_pod *p, struct sched_pod *neighbour) {
    if (!neighbour)
        return; /* as it has come */
    unlink_resident(p);
    p->resident_prev = neighbour;
    p->resident_next = neighbour->resident_next;
    neighbour->resident_next = p;
    if (p->resident_next)
        p->resident_next->resident_prev = p;
}

void sched__count_pod(struct sched *s, struct sched_pod *p, uint32_t slot, int delta) {
    (void)s;
    for (size_t i = 0; i < p->cls->memberships.n; i++)
        count_in_set(p->cls->memberships.v[i].other->owner, p, slot, delta);
    if (delta > 0)
        link_resident(p);
    else
        unlink_resident(p);
}

void sched__count_resize(struct sched *s, uint32_t cap) {
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&s->eligibles, &at));)
        sched__eligible_resize(e->value, cap);
    at = 0;
    for (struct map_entry *e; (e = map_next(&s->partitions, &at));)
        sched__partition_resize(e->value, cap);
}

void sched__count_node_changed(struct sched *s, uint32_t slot) {
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&s->eligibles, &at));)
        sched__eligible_update(s, e->value, slot);
    at = 0;
    for (struct map_entry *e; (e = map_next(&s->partitions, &at));)
        sched__partition_update(s, e->value, slot);
}

static bool looks_at_namespaces(const struct sched__podset *set) {
    for (size_t i = 0; i < set->term_count; i++)
        if (set->terms[i].namespace_selector && !set->terms[i].everywhere)
            return true;
    return false;
}

void sched__count_namespaces_changed(struct sched *s) {
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&s->podsets, &at));) {
        struct sched__podset *set = e->value;
        if (!looks_at_namespaces(set))
            continue;
        drop_members(set);
        find_members(s, set);
    }
    sched__existing_terms_namespaces_changed(s);
}

void sched__count_release(struct sched *s) {
    while (s->idle.recent || s->idle.old) /* some hold others */
        age_idle(s);
    assert(!s->podsets.live && !s->partitions.live && !s->eligibles.live &&
           !s->existing_terms.live);
    map_release(&s->podsets);
    map_release(&s->partitions);
    map_release(&s->eligibles);
    map_release(&s->existing_terms);
    sched__facets_release(s);
    sched__services_release(s);
}
