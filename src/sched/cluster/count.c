/* Sets of pods and their tallies, see count_int.h. */
#include "sched/cluster/count_int.h"

#include <string.h>

#include "base/alloc.h"

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

static void count_residents(struct sched__podset *set, const struct sched__class *c, int delta) {
    for (const struct sched_pod *p = c->residents; p; p = p->resident_next)
        count_in_set(set, p, p->node, delta);
}

static struct sched__tally *find_tally(const struct sched__podset *set,
                                       const struct sched__partition *by) {
    for (size_t i = 0; i < set->tallies.n; i++)
        if (set->tallies.v[i]->by == by)
            return set->tallies.v[i];
    return NULL;
}

static void fill_tally(struct sched__tally *t) {
    for (size_t i = 0; i < t->set->members.n; i++)
        for (const struct sched_pod *p = t->set->members.v[i]->residents; p; p = p->resident_next)
            if (!t->set->living || !p->terminating)
                count(t, p->node, 1);
}

struct sched__tally *sched__tally_get(struct sched *s, struct sched__podset *set,
                                      struct sched__partition *by) {
    struct sched__tally *t = find_tally(set, by);
    if (t) {
        t->refs++;
        sched__podset_unref(s, set);
        sched__partition_unref(s, by);
        return t;
    }
    t = xcalloc(1, sizeof *t);
    *t = (struct sched__tally){.set = set, .by = by, .refs = 1};
    t->count = xcalloc(by->domain_cap, sizeof *t->count);
    vec_push(&set->tallies, t);
    vec_push(&by->tallies, t);
    fill_tally(t);
    return t;
}

#define REMOVE(vec, element)                     \
    for (size_t i_ = 0; i_ < (vec)->n; i_++)     \
        if ((vec)->v[i_] == (element)) {         \
            (vec)->v[i_] = (vec)->v[--(vec)->n]; \
            break;                               \
        }

void sched__tally_unref(struct sched *s, struct sched__tally *t) {
    if (!t || --t->refs)
        return;
    REMOVE(&t->set->tallies, t);
    REMOVE(&t->by->tallies, t);
    sched__podset_unref(s, t->set);
    sched__partition_unref(s, t->by);
    free(t->count);
    free(t);
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

const struct sched_pod *sched__tally_example(const struct sched__tally *t, uint32_t domain) {
    for (size_t i = 0; i < t->set->members.n; i++)
        for (const struct sched_pod *p = t->set->members.v[i]->residents; p; p = p->resident_next)
            if (t->by->where[p->node] == domain && (!t->set->living || !p->terminating))
                return p;
    return NULL;
}

/* ---- membership ---- */

void sched__podset_join(struct sched__podset *set, struct sched__class *c) {
    vec_push(&set->members, c);
    vec_push(&c->memberships, set);
    count_residents(set, c, 1);
}

bool sched__podset_has(const struct sched__podset *set, const struct sched__class *c) {
    for (size_t i = 0; i < c->memberships.n; i++)
        if (c->memberships.v[i] == set)
            return true;
    return false;
}

/* A namespace that does not exist matches no selector of namespaces. */
static bool belongs(struct sched *s, const struct sched__podset *set,
                    const struct sched__class *c) {
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

static void find_members(struct sched *s, struct sched__podset *set) {
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&s->classes, &at));)
        if (belongs(s, set, e->value))
            sched__podset_join(set, e->value);
}

static void drop_members(struct sched__podset *set) {
    for (size_t i = 0; i < set->members.n; i++) {
        REMOVE(&set->members.v[i]->memberships, set);
        count_residents(set, set->members.v[i], -1);
    }
    vec_clear(&set->members);
}

/* ---- sets ---- */

static struct sched__podset *podset_new(struct sched *s, struct str key) {
    struct sched__podset *set = xcalloc(1, sizeof *set);
    set->key = arena_str(&set->arena, key);
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

struct sched__podset *sched__podset_get(struct sched *s, const struct sched__podterm *terms,
                                        size_t term_count, bool living) {
    struct buf key = BUF_INIT(SIZE_MAX);
    buf_add_char(&key, living ? 'l' : 'a');
    for (size_t i = 0; i < term_count; i++)
        sched__podterm_write(&key, &terms[i]);
    struct sched__podset *set = map_get(&s->podsets, buf_view(&key));
    if (!set) {
        set = podset_new(s, buf_view(&key));
        set->living = living;
        set_terms(set, terms, term_count);
        find_members(s, set);
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

void sched__podset_unref(struct sched *s, struct sched__podset *set) {
    if (--set->refs)
        return;
    map_del(&s->podsets, set->key);
    drop_members(set);
    vec_release(&set->members);
    vec_release(&set->tallies);
    arena_release(&set->arena);
    free(set);
}

/* ---- what the core tells ---- */

void sched__count_join(struct sched *s, struct sched__class *c) {
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&s->podsets, &at));)
        if (belongs(s, e->value, c))
            sched__podset_join(e->value, c);
    sched__carried_meet(s, c);
}

void sched__count_leave(struct sched *s, struct sched__class *c) {
    for (size_t i = 0; i < c->memberships.n; i++)
        REMOVE(&c->memberships.v[i]->members, c);
    vec_release(&c->memberships);
    sched__carried_drop(s, c);
}

static void link_resident(struct sched_pod *p) {
    struct sched__class *c = p->cls;
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

void sched__count_pod(struct sched *s, struct sched_pod *p, uint32_t slot, int delta) {
    (void)s;
    for (size_t i = 0; i < p->cls->memberships.n; i++)
        count_in_set(p->cls->memberships.v[i], p, slot, delta);
    if (delta > 0)
        link_resident(p);
    else
        unlink_resident(p);
}

void sched__count_grow(struct sched *s, uint32_t cap) {
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&s->partitions, &at));)
        sched__partition_grow(e->value, cap);
}

void sched__count_node_changed(struct sched *s, uint32_t slot) {
    size_t at = 0;
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
    sched__carried_namespaces_changed(s);
}

void sched__count_release(struct sched *s) {
    assert(!s->podsets.live && !s->partitions.live && !s->carried.live);
    map_release(&s->podsets);
    map_release(&s->partitions);
    map_release(&s->carried);
}
