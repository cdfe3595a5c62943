/*
 * A scheduler that lived through many events must know what a new one knows that is only told how
 * things are: what is remembered per class, per node and per domain is never old. And the seeds of
 * hash tables must not show.
 *
 * Bytes choose the events. Two schedulers with different seeds are told the same. Their decisions
 * are compared, and after each event what they and a new scheduler make of some pod.
 */
#ifndef TEST_SCHED_WALK_H
#define TEST_SCHED_WALK_H

#include <string.h>

#include "base/clock.h"
#include "sched/sched_int.h"
#include "walk_objects.h"

enum { WALKERS = 2, WALK_PROBES = 4, WALK_FIRST = 6, WALK_MOST_TEXT = 1 << 20 };

struct walk {
    struct choices choices;
    struct feature_config gates;
    struct clock_fake clock;
    struct sched *s[WALKERS];
    VEC(struct api_object *) objects; /* as they are now: what a new scheduler would be told */
    struct api_object *probes[WALK_PROBES];
    /* Held, so that what nodes made of them is remembered. */
    struct sched__class *held[WALKERS][WALK_PROBES];
    struct buf texts[WALKERS + 1];
    size_t decisions, comparisons, victims;
    size_t choices_of_nodes, placed; /* reports with scores; decisions that found a node */
};

/* Expressions without CEL: one is its length, true of taints with a shorter value, and fails for
 * taints without one. */
static inline void *walk_compile(void *ctx, struct str expression, size_t *spent, struct err *err) {
    (void)ctx;
    (void)spent;
    (void)err;
    return (void *)(uintptr_t)(expression.n % 8 + 1);
}

static inline int walk_eval(void *ctx, void *program, const struct match_taint *taint,
                            uint64_t evaluations, struct err *err) {
    (void)ctx;
    (void)evaluations;
    size_t n = intern_text(taint->value).n;
    if (!n)
        return err ? err_set(err, ERR_INVALID, "no value") : -1;
    return n < (uintptr_t)program;
}

static inline void walk_free(void *ctx, void *program) {
    (void)ctx;
    (void)program;
}

static const struct match_engine walk_engine = {
    .compile = walk_compile, .eval = walk_eval, .free = walk_free};

static inline struct sched *walk_sched(struct walk *w, uint64_t seed) {
    return sched_new(&(struct sched_opts){.gates = &w->gates.enabled,
                                          .engine = &walk_engine,
                                          .clock = &w->clock.clock,
                                          .seed = seed});
}

static inline void walk_start(struct walk *w, const uint8_t *bytes, size_t n) {
    *w = (struct walk){.choices = {bytes, n}};
    clock_fake_init(&w->clock, 1800000000 * CLOCK_SECOND);
    feature_config_init(&w->gates, FEATURE_NEWEST);
    feature_set_put(&w->gates.enabled, FEATURE_TaintTolerationComparisonOperators, true);
    feature_set_put(&w->gates.enabled, FEATURE_TolerationAffinitySemverOperators, true);
    feature_set_put(&w->gates.enabled, FEATURE_TaintTolerationCEL, true);
    for (size_t i = 0; i <= WALKERS; i++)
        w->texts[i] = BUF_INIT(WALK_MOST_TEXT);
    for (size_t i = 0; i < WALKERS; i++)
        w->s[i] = walk_sched(w, 1000 * i);
    for (size_t i = 0; i < WALK_PROBES; i++) {
        w->probes[i] = walk_object(&w->choices, "pending", &w->gates.enabled);
        for (size_t k = 0; k < WALKERS; k++)
            w->held[k][i] = sched__class_get(w->s[k], w->probes[i]);
    }
}

static inline void walk_end_all(struct walk *w) {
    for (size_t k = 0; k < WALKERS; k++) {
        for (size_t i = 0; i < WALK_PROBES; i++)
            sched__class_unref(w->s[k], w->held[k][i]);
        sched_free(w->s[k]);
    }
    for (size_t i = 0; i < WALK_PROBES; i++)
        api_object_unref(w->probes[i]);
    for (size_t i = 0; i < w->objects.n; i++)
        api_object_unref(w->objects.v[i]);
    vec_release(&w->objects);
    for (size_t i = 0; i <= WALKERS; i++)
        buf_release(&w->texts[i]);
}

/* ---- comparing ---- */

static inline void walk_require_equal(struct walk *w, size_t a, size_t b, const char *what) {
    struct str x = buf_view(&w->texts[a]), y = buf_view(&w->texts[b]);
    if (str_eq(x, y) && !w->texts[a].full)
        return;
    fprintf(stderr, "%s %zu differs:\n%.*s---- and %zu:\n%.*s", what, a, STR_ARG(x), b, STR_ARG(y));
    abort();
}

static inline void walk_write_status(struct buf *out, const struct sched_status *status) {
    buf_addf(out, " %d %.*s", status->code, STR_ARG(status->plugin));
    for (size_t i = 0; i < status->reason_count; i++)
        buf_addf(out, " [%.*s]", STR_ARG(status->reasons[i]));
}

static inline void walk_write_node(struct buf *out, const struct sched_report *r,
                                   const struct sched_node_report *n) {
    buf_addf(out, "%.*s%s%s", STR_ARG(n->node), n->absent ? " absent" : "",
             r->feasible && !r->error.p && n == &r->nodes[r->best] ? " best" : "");
    walk_write_status(out, &n->status);
    for (size_t p = 0; r->scored && p < SCHED_PLUGIN_COUNT; p++)
        if (r->scoring[p])
            buf_addf(out, " %s=%lld", sched_plugin_name((enum sched_plugin)p).p,
                     (long long)n->scores[p]);
    buf_addf(out, " = %lld\n", (long long)n->total);
}

/* True if there were scores. */
static inline bool walk_write_report(struct buf *out, struct sched *s, struct api_object *pod) {
    struct arena a = {0};
    struct sched_report r;
    buf_clear(out);
    sched_examine(s, pod, &a, &r);
    buf_addf(out, "rejected");
    walk_write_status(out, &r.rejected);
    buf_addf(out, "\nerror %.*s\nmessage %.*s\nfeasible %zu\n", STR_ARG(r.error),
             STR_ARG(r.message), r.feasible);
    for (size_t i = 0; i < r.node_count; i++)
        walk_write_node(out, &r, &r.nodes[i]);
    arena_release(&a);
    return r.scored;
}

static inline bool is_pod(const struct api_object *o) {
    return o->type == &api_types[API_T_pod];
}

static inline struct sched_pod *walk_pod(struct sched *s, const struct api_object *o) {
    char key[64];
    snprintf(key, sizeof key, "%.*s/%.*s", STR_ARG(o->meta->namespace), STR_ARG(o->meta->name));
    return map_get(&s->pods, str_of(key));
}

/* The pod with what only the scheduler knows: where it is assumed to be, or nominated to. */
static inline void walk_tell_pod(struct sched *to, struct sched *s, struct api_object *o) {
    const struct sched_pod *p = walk_pod(s, o);
    struct api_object *copy = api_object_copy(o);
    struct api_pod *body = copy->body;
    if (p && p->node != SCHED__NONE)
        body->spec.node_name = arena_str(&copy->arena, intern_text(s->nodes.v[p->node].name));
    body->status.nominated_node_name = STR("");
    if (p && p->nominated != SCHED__NONE)
        body->status.nominated_node_name =
            arena_str(&copy->arena, intern_text(s->nodes.v[p->nominated].name));
    sched_set(to, copy);
    api_object_unref(copy);
}

/* Nodes in the order of the slots that they have in s, then the rest. */
static inline struct sched *walk_new(struct walk *w, struct sched *s) {
    struct sched *fresh = walk_sched(w, 77);
    for (uint32_t i = 0; i < s->nodes.n; i++)
        if (s->nodes.state[i] & SCHED__NODE_THERE)
            sched_set(fresh, s->nodes.v[i].object);
    for (size_t i = 0; i < w->objects.n; i++)
        if (is_pod(w->objects.v[i]))
            walk_tell_pod(fresh, s, w->objects.v[i]);
        else if (w->objects.v[i]->type != &api_types[API_T_node])
            sched_set(fresh, w->objects.v[i]);
    return fresh;
}

static inline void walk_examine(struct walk *w, struct api_object *pod) {
    for (size_t k = 0; k < WALKERS; k++)
        walk_write_report(&w->texts[k], w->s[k], pod);
    walk_require_equal(w, 0, 1, "a report");
}

static inline void walk_compare(struct walk *w) {
    struct sched *fresh = walk_new(w, w->s[0]);
    for (size_t i = 0; i < 2; i++) {
        struct api_object *pod = w->probes[pick(&w->choices, WALK_PROBES)];
        walk_examine(w, pod);
        w->choices_of_nodes += walk_write_report(&w->texts[WALKERS], fresh, pod);
        walk_require_equal(w, 0, WALKERS, "what is remembered");
        w->comparisons++;
    }
    sched_free(fresh);
}

/* ---- events ---- */

static inline bool walk_is_same(const struct api_object *a, const struct api_object *b) {
    return a->type == b->type && str_eq(a->meta->name, b->meta->name) &&
           str_eq(a->meta->namespace, b->meta->namespace);
}

static inline void walk_forget(struct walk *w, const struct api_object *o) {
    for (size_t i = 0; i < w->objects.n; i++) {
        if (!walk_is_same(w->objects.v[i], o))
            continue;
        api_object_unref(w->objects.v[i]);
        memmove(&w->objects.v[i], &w->objects.v[i + 1],
                (--w->objects.n - i) * sizeof w->objects.v[0]);
        return;
    }
}

/* News of the pod when it was still pending, but it was placed since. */
static inline bool walk_is_old(struct sched *s, const struct api_object *o) {
    const struct sched_pod *p = walk_pod(s, o);
    const struct api_pod *body = o->body;
    return p && p->assumed && str_eq(p->uid, o->meta->uid) && !body->spec.node_name.n &&
           !str_is(body->status.phase, "Succeeded");
}

/* Takes the reference. */
static inline void walk_set(struct walk *w, struct api_object *o) {
    bool old = is_pod(o) && walk_is_old(w->s[0], o);
    for (size_t k = 0; k < WALKERS; k++)
        sched_set(w->s[k], o);
    if (!old) {
        walk_forget(w, o);
        vec_push(&w->objects, api_object_ref(o));
    }
    api_object_unref(o);
}

static inline void walk_delete(struct walk *w, struct api_object *o) {
    api_object_ref(o);
    for (size_t k = 0; k < WALKERS; k++)
        sched_delete(w->s[k], o);
    walk_forget(w, o);
    api_object_unref(o);
}

/* The object of a pod that a decision speaks of. */
static inline struct api_object *walk_find(struct walk *w, const struct sched_pod_name *name) {
    for (size_t i = 0; i < w->objects.n; i++) {
        struct api_object *o = w->objects.v[i];
        if (is_pod(o) && str_eq(o->meta->name, name->name) &&
            str_eq(o->meta->namespace, name->namespace) && str_eq(o->meta->uid, name->uid))
            return o;
    }
    abort();
}

/* The binding is confirmed. */
static inline void walk_bind(struct walk *w, const struct api_object *pod, struct str node) {
    struct api_object *bound = api_object_copy(pod);
    ((struct api_pod *)bound->body)->spec.node_name = arena_str(&bound->arena, node);
    walk_set(w, bound);
}

static inline void walk_write_result(struct buf *out, const struct sched_result *r) {
    buf_clear(out);
    buf_addf(out, "%.*s/%.*s %d node %.*s nominated %.*s %.*s\n", STR_ARG(r->pod.namespace),
             STR_ARG(r->pod.name), r->outcome, STR_ARG(r->node), STR_ARG(r->nominated),
             STR_ARG(r->message));
    for (size_t i = 0; i < r->victim_count; i++)
        buf_addf(out, "victim %.*s/%.*s\n", STR_ARG(r->victims[i].namespace),
                 STR_ARG(r->victims[i].name));
}

static inline void walk_evict(struct walk *w, const struct sched_result *r) {
    for (size_t i = 0; i < r->victim_count; i++)
        walk_delete(w, walk_find(w, &r->victims[i]));
    w->victims += r->victim_count;
}

static inline void walk_decide(struct walk *w) {
    struct sched_result r[WALKERS];
    bool any = sched_next(w->s[0], &r[0]);
    if (sched_next(w->s[1], &r[1]) != any)
        abort();
    if (!any) {
        clock_fake_advance(&w->clock, 2 * CLOCK_SECOND);
        return;
    }
    w->decisions++;
    w->placed += r[0].outcome == SCHED_SCHEDULED;
    for (size_t k = 0; k < WALKERS; k++)
        walk_write_result(&w->texts[k], &r[k]);
    walk_require_equal(w, 0, 1, "a decision");
    struct api_object *pod = walk_find(w, &r[0].pod);
    const struct api_pod *body = pod->body;
    /* What was taken of volumes shows in no object: the pod gives it back. */
    if (r[0].outcome == SCHED_SCHEDULED && body->spec.volumes.n) {
        for (size_t i = 0; i < WALK_PROBES; i++)
            walk_examine(w, w->probes[i]);
        walk_delete(w, pod);
    } else if (r[0].outcome == SCHED_SCHEDULED && pick(&w->choices, 2))
        walk_bind(w, pod, r[0].node);
    else if (r[0].victim_count && pick(&w->choices, 4))
        walk_evict(w, &r[0]);
}

static inline void walk_step(struct walk *w) {
    struct choices *c = &w->choices;
    unsigned kind = pick(c, 16);
    if (kind < 5)
        walk_decide(w);
    else if (kind < 8)
        walk_set(w, walk_object(c, "pod", &w->gates.enabled));
    else if (kind < 11)
        walk_set(w, walk_object(c, "node", &w->gates.enabled));
    else if (kind < 14)
        walk_set(w, walk_object(c, "other", &w->gates.enabled));
    else if (w->objects.n)
        walk_delete(w, w->objects.v[pick(c, (unsigned)w->objects.n)]);
    walk_compare(w);
}

static inline void walk_all(struct walk *w, const uint8_t *bytes, size_t n) {
    walk_start(w, bytes, n);
    for (size_t i = 0; i < WALK_FIRST; i++) {
        walk_set(w, walk_object(&w->choices, "node", &w->gates.enabled));
        walk_set(w, walk_object(&w->choices, "claim", &w->gates.enabled));
        walk_set(w, walk_object(&w->choices, i % 2 ? "class" : "volume", &w->gates.enabled));
    }
    while (w->choices.n)
        walk_step(w);
    walk_end_all(w);
}

#endif
