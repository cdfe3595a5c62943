/* What a walk knows itself: the objects there are, and where pods went. */
#ifndef TEST_SCHED_WALK_MODEL_H
#define TEST_SCHED_WALK_MODEL_H

#include "base/clock.h"
#include "sched/sched_int.h"
#include "walk_objects.h"
#include "walk_report.h"

enum { WALKERS = 2, WALK_MOST_ENTRIES = 128 };

/* One name that an object can have, in each era. Nodes are told apart by walk_node_of, 0: none. */
struct walk_entry {
    struct walk_spec spec;
    struct walk_choices choices;
    const struct api_object *object; /* as schedulers know it; NULL: there is none */
    unsigned bound, assumed;         /* pods: where they are by their object, or by a decision */
    unsigned nominated;              /* pods: before the last decision */
    bool open;                       /* pods: they were without gates once */
    bool left; /* pods that are assumed: their deletion began, which took them off the node */
    const struct api_object
        *shadow; /* pods that are assumed, volumes and claims that are taken before
              the last decision: as their objects would show it; NULL: no */
    struct {
        struct walk_spec spec;
        struct walk_choices choices;
        const struct api_object *object;    /* NULL: there are none */
    } news;                                 /* pods that are assumed: what came of them since */
    struct sched__pod_class *held[WALKERS]; /* of probes: so that what nodes made of them stays; of
                                           pods: a twin's, which was there before theirs */
};

struct walk_stats {
    size_t steps, decisions, placed, victims, comparisons, scored;
};

struct walk {
    struct feature_config gates;
    struct clock_manual clock;
    struct arena arena;
    struct sched_config *config;
    struct sched *s[WALKERS];
    struct walk_entry entries[WALK_MOST_ENTRIES];
    size_t entry_count, first[WALK_KINDS];       /* of a kind */
    struct walk_entry *chosen[UINT8_MAX + 1];    /* by byte: the more often the more weight */
    struct walk_entry *known[WALK_MOST_ENTRIES]; /* objects there are, in the order they came */
    size_t known_count;
    struct walk_stats stats;
    size_t stride; /* so many events come before all is compared again */
    size_t period; /* so many events are an era; 0: there is one era */
    bool trace;    /* every event is printed */
};

/* ---- looking up ---- */

static inline struct walk_entry *walk_entry(struct walk *w, unsigned kind, unsigned number) {
    return &w->entries[w->first[kind] + number];
}

static inline bool walk_is(const struct walk_entry *e, const char *rule) {
    return strcmp(walk_kinds[e->spec.kind].rule, rule) == 0;
}

/* The number and the era in a name such as n3 or p12e345. */
struct walk_name {
    unsigned number, era;
};

static inline struct walk_name walk_read_name(struct str name) {
    unsigned v[2] = {0};
    size_t part = 0;
    for (size_t i = 1; i < name.n; i++)
        if (name.p[i] == 'e')
            part = 1;
        else
            v[part] = v[part] * 10 + (unsigned)(name.p[i] - '0');
    return (struct walk_name){v[0], v[1]};
}

/* The pod called p12; the number tells its namespace, too. */
static inline struct walk_entry *walk_pod_named(struct walk *w, struct str name) {
    return walk_entry(w, WALK_POD, walk_read_name(name).number);
}

/* The pod with this "namespace/name". */
static inline struct walk_entry *walk_pod_keyed(struct walk *w, struct str key) {
    struct str ns, name;
    str_cut(key, '/', &ns, &name);
    return walk_pod_named(w, name);
}

/* What stands for a node: its era and number, and back; 0: none. */
enum { WALK_NODES_OF_ERA = 16 };

static inline unsigned walk_node_of(struct str name) {
    struct walk_name read = walk_read_name(name);
    return name.n ? read.era * WALK_NODES_OF_ERA + read.number + 1 : 0;
}

static inline unsigned walk_node_number(unsigned node) {
    return (node - 1) % WALK_NODES_OF_ERA;
}

/* The node's name, in the arena. */
static inline struct str walk_node_name(struct arena *a, unsigned node) {
    struct buf name = BUF_INIT(64);
    if (!node)
        return (struct str){0};
    buf_addf(&name, "n%u", walk_node_number(node));
    walk_write_era(&name, (node - 1) / WALK_NODES_OF_ERA);
    struct str copy = arena_str(a, buf_view(&name));
    buf_release(&name);
    return copy;
}

/* Says in the pod's object that it is on the node. */
static inline void walk_put_on(struct api_object *pod, unsigned node) {
    ((struct api_pod *)api_own_body(pod))->spec.node_name = walk_node_name(&pod->arena, node);
}

static inline const struct api_pod *walk_pod_body(const struct api_object *o) {
    return o->body;
}

/* ---- changes ---- */

static inline void walk_trace(const struct walk *w, const char *what, const struct api_object *o) {
    if (w->trace)
        walk_print_object(what, o);
}

static inline void walk_replace(const struct api_object **at, const struct api_object *with) {
    api_object_unref(*at);
    *at = with;
}

static inline void walk_list(struct walk *w, struct walk_entry *e) {
    for (size_t i = 0; i < w->known_count; i++)
        if (w->known[i] == e)
            return;
    w->known[w->known_count++] = e;
}

static inline void walk_unlist(struct walk *w, const struct walk_entry *e) {
    size_t n = 0;
    for (size_t i = 0; i < w->known_count; i++)
        if (w->known[i] != e)
            w->known[n++] = w->known[i];
    w->known_count = n;
}

static inline bool walk_has_ended(const struct api_object *pod) {
    struct str phase = walk_pod_body(pod)->status.phase;
    return str_is(phase, "Succeeded") || str_is(phase, "Failed");
}

/* News of the pod when it was still pending, but it was placed since. */
static inline bool walk_is_old(const struct walk_entry *e, const struct api_object *o) {
    return e->assumed && str_eq(e->object->meta->uid, o->meta->uid) &&
           !walk_pod_body(o)->spec.node_name.n && !walk_has_ended(o);
}

typedef struct sched__pod_class *walk_class_of(struct sched *s, const struct api_object *pod);

static inline void walk_hold(struct walk *w, struct walk_entry *e, const struct api_object *pod,
                             walk_class_of *class_of) {
    for (size_t k = 0; k < WALKERS; k++) {
        struct sched__pod_class *before = e->held[k];
        e->held[k] = class_of(w->s[k], pod);
        if (before)
            sched__pod_class_unref(w->s[k], before);
    }
}

/* Gates that come to a pod that had none do not take it out of the queue. */
static inline void walk_note_gates(struct walk_entry *e, const struct api_object *pod) {
    bool known = e->object && str_eq(e->object->meta->uid, pod->meta->uid);
    e->open = (known && e->open) || !walk_pod_body(pod)->spec.scheduling_gates.n;
}

/* Before schedulers hear of a pod they know one that differs in one choice. If the key of classes
 * misses that choice, the pod is taken for the other one in all that becomes of it. */
static inline void walk_hold_twin(struct walk *w, struct walk_entry *e, struct walk_spec spec,
                                  const struct walk_choices *choices, unsigned node) {
    struct walk_choices unused;
    walk_vary(&spec, choices, walk_mix((uint64_t)spec.seed << 40 | w->stats.steps));
    struct api_object *draft = walk_object(&spec, &unused, &w->gates.enabled);
    walk_put_on(draft, node);
    const struct api_object *twin = api_publish(draft);
    walk_hold(w, e, twin, sched__pod_class_get);
    api_object_unref(twin);
}

static inline void walk_delete(struct walk *w, struct walk_entry *e) {
    if (!e->object || e->spec.kind == WALK_PROBE)
        return;
    walk_trace(w, "delete", e->object);
    for (size_t k = 0; k < WALKERS; k++)
        sched_delete(w->s[k], e->object);
    walk_unlist(w, e);
    walk_replace(&e->object, NULL);
    walk_replace(&e->shadow, NULL);
    walk_replace(&e->news.object, NULL);
    e->bound = e->assumed = 0;
}

/* The era of what is made now. */
static inline uint32_t walk_era(const struct walk *w) {
    return w->period ? (uint32_t)(w->stats.steps / w->period) : 0;
}

/* What comes next under this entry has another name: schedulers see one object go. */
static inline void walk_end_era(struct walk *w, struct walk_entry *e) {
    unsigned bound = e->bound;
    walk_delete(w, e);
    e->bound = bound;
}

/* Tells schedulers of the object that the spec makes. */
static inline void walk_tell(struct walk *w, struct walk_entry *e, struct walk_spec spec) {
    struct walk_choices choices;
    bool is_pod = spec.kind == WALK_POD;
    if (e->object && e->spec.era != spec.era)
        walk_end_era(w, e);
    spec.version++;
    struct api_object *draft = walk_object(&spec, &choices, &w->gates.enabled);
    if (is_pod && e->bound && !walk_pod_body(draft)->spec.node_name.n)
        walk_put_on(draft, e->bound);
    const struct api_object *o = api_publish(draft);
    if (is_pod) {
        walk_hold_twin(w, e, spec, &choices, walk_node_of(walk_pod_body(o)->spec.node_name));
        walk_note_gates(e, o);
    }
    walk_trace(w, spec.kind == WALK_PROBE ? "probe" : "set", o);
    for (size_t k = 0; spec.kind != WALK_PROBE && k < WALKERS; k++)
        sched_set(w->s[k], o);
    if (is_pod && walk_is_old(e, o)) {
        walk_replace(&e->news.object, o);
        e->left = e->left || o->meta->deletion_timestamp.set;
        e->news.spec = spec;
        e->news.choices = choices;
        return;
    }
    walk_replace(&e->news.object, NULL);
    walk_replace(&e->object, o);
    walk_replace(&e->shadow, NULL);
    e->spec = spec;
    e->choices = choices;
    e->assumed = 0;
    if (spec.kind == WALK_PROBE)
        walk_hold(w, e, o, sched__pod_class_get_pending);
    else
        walk_list(w, e);
}

/* An object as the seed alone makes it. */
static inline void walk_set_seed(struct walk *w, struct walk_entry *e, uint8_t seed) {
    struct walk_spec spec = {.kind = e->spec.kind,
                             .number = e->spec.number,
                             .seed = seed,
                             .life = e->spec.life,
                             .era = walk_era(w),
                             .version = e->spec.version};
    e->bound = 0;
    walk_tell(w, e, spec);
}

/* The pod was given the node. */
static inline void walk_assume(struct walk_entry *e, struct str node) {
    e->assumed = walk_node_of(node);
    e->left = false;
    struct api_object *copy = api_object_copy(e->object);
    walk_put_on(copy, e->assumed);
    walk_replace(&e->shadow, api_publish(copy));
}

/* The pod comes back with the node that it was given. */
static inline void walk_bind(struct walk *w, struct walk_entry *e) {
    walk_trace(w, "bind", e->shadow);
    walk_hold_twin(w, e, e->spec, &e->choices, e->assumed);
    for (size_t k = 0; k < WALKERS; k++)
        sched_set(w->s[k], e->shadow);
    walk_replace(&e->object, e->shadow);
    walk_replace(&e->news.object, NULL);
    e->shadow = NULL;
    e->bound = e->assumed;
    e->assumed = 0;
}

/* The pod does not get the node that it was given: it waits again, as it is now. */
static inline void walk_forget(struct walk *w, struct walk_entry *e) {
    const struct api_object_meta *meta = e->object->meta;
    walk_trace(w, "forget", e->object);
    for (size_t k = 0; k < WALKERS; k++)
        if (!sched_forget(w->s[k],
                          &(struct sched_pod_name){meta->namespace, meta->name, meta->uid}))
            abort();
    walk_replace(&e->shadow, NULL);
    e->assumed = 0;
    if (!e->news.object)
        return;
    walk_replace(&e->object, e->news.object);
    e->news.object = NULL;
    e->spec = e->news.spec;
    e->choices = e->news.choices;
}

/* Forgets an entry at the end of the walk. */
static inline void walk_drop(struct walk *w, struct walk_entry *e) {
    for (size_t k = 0; k < WALKERS; k++)
        if (e->held[k])
            sched__pod_class_unref(w->s[k], e->held[k]);
    walk_replace(&e->object, NULL);
    walk_replace(&e->shadow, NULL);
    walk_replace(&e->news.object, NULL);
}

#endif
