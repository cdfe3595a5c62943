/*
 * Terms of pod affinity seen from the other side: a pod on a node keeps others away, or attracts
 * them. Equal terms are one, whoever carries them; a class knows the terms that match its pods, so
 * that a cycle looks at these and no others.
 */
#include "base/alloc.h"
#include "sched/cluster/count_int.h"

/* ---- who meets a term ---- */

/* A namespace that does not exist has no labels. */
static bool meets(struct sched *s, const struct sched__carried *t, const struct sched__class *c) {
    static const struct labels none;
    const struct api_object_meta *pod = &c->pod->metadata;
    const struct labels *found =
        t->term.namespace_selector ? sched__namespace_labels(s, pod->namespace) : NULL;
    return sched__podterm_matches(&t->term, pod, found ? found : &none);
}

/* Pods that have their node do not ask any more. */
static void introduce(struct sched *s, struct sched__carried *t, struct sched__class *c) {
    if (!c->placed && meets(s, t, c))
        vec_push(&c->meets, t);
}

static void introduce_all(struct sched *s, struct sched__carried *t) {
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&s->classes, &at));)
        introduce(s, t, e->value);
}

static void part(struct sched__class *c, const struct sched__carried *t) {
    for (size_t i = 0; i < c->meets.n; i++)
        if (c->meets.v[i] == t) {
            c->meets.v[i] = c->meets.v[--c->meets.n];
            return;
        }
}

static void part_all(struct sched *s, const struct sched__carried *t) {
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&s->classes, &at));)
        part(e->value, t);
}

void sched__carried_meet(struct sched *s, struct sched__class *c) {
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&s->carried, &at));)
        introduce(s, e->value, c);
}

void sched__carried_namespaces_changed(struct sched *s) {
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&s->carried, &at));) {
        struct sched__carried *t = e->value;
        if (!t->term.namespace_selector || t->term.everywhere)
            continue;
        part_all(s, t);
        introduce_all(s, t);
    }
}

/* ---- life ---- */

static struct sched__carried *carried_new(struct sched *s, struct str key,
                                          const struct sched__carried_spec *spec) {
    struct sched__carried *t = xcalloc(1, sizeof *t);
    t->key = arena_str(&t->arena, key);
    t->kind = spec->kind;
    t->weight = spec->weight;
    t->term = sched__podterm_copy(&t->arena, &spec->term);
    struct sched__partition *by =
        sched__partition_get(s, &(struct sched__partition_spec){.label = spec->label});
    t->topology = by->topology;
    t->tally = sched__tally_get(s, sched__podset_named(s, t->key), by);
    map_put(&s->carried, t->key, t);
    introduce_all(s, t);
    return t;
}

static bool carries(const struct sched__class *c, const struct sched__carried *t) {
    for (size_t i = 0; i < c->carries.n; i++)
        if (c->carries.v[i] == t)
            return true;
    return false;
}

/* A term that a pod has twice counts twice: the second is another one. */
void sched__carried_add(struct sched *s, struct sched__class *c,
                        const struct sched__carried_spec *spec) {
    struct buf key = BUF_INIT(SIZE_MAX);
    buf_addf(&key, "c%d,%d,%.*s\n", (int)spec->kind, spec->weight, STR_ARG(spec->label));
    sched__podterm_write(&key, &spec->term);
    struct sched__carried *t;
    while ((t = map_get(&s->carried, buf_view(&key))) && carries(c, t))
        buf_add_char(&key, '+');
    if (!t)
        t = carried_new(s, buf_view(&key), spec);
    buf_release(&key);
    t->refs++;
    sched__podset_join(t->tally->set, c);
    vec_push(&c->carries, t);
}

static void carried_unref(struct sched *s, struct sched__carried *t) {
    if (--t->refs)
        return;
    part_all(s, t);
    map_del(&s->carried, t->key);
    sched__tally_unref(s, t->tally);
    arena_release(&t->arena);
    free(t);
}

void sched__carried_drop(struct sched *s, struct sched__class *c) {
    for (size_t i = 0; i < c->carries.n; i++)
        carried_unref(s, c->carries.v[i]);
    vec_release(&c->carries);
    vec_release(&c->meets);
}
