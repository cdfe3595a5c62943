/* The context, and the lists of tolerations and taints in it. */
#include "match/match.h"

#include <stdlib.h>

#include "api/types.h"
#include "base/alloc.h"
#include "match/match_int.h"

/* ---- taints ---- */

/* What makes two taints equal. */
struct taint_key {
    uint32_t key, value, effect;
};

static void free_taints(struct match_list *list) {
    struct match_taints *taints = (struct match_taints *)list;
    for (uint32_t i = 0; i < taints->n; i++) {
        intern_unref(taints->v[i].key);
        intern_unref(taints->v[i].value);
        intern_unref(taints->v[i].effect);
    }
    free(taints);
}

static struct match_taint read_taint(struct match *m, const struct api_taint *spec) {
    return (struct match_taint){
        .key = intern_get(m->atoms, spec->key),
        .value = intern_get(m->atoms, spec->value),
        .effect = intern_get(m->atoms, spec->effect),
    };
}

static uint16_t at_most_u16(size_t n) {
    return n < UINT16_MAX ? (uint16_t)n : UINT16_MAX;
}

static struct match_taints *make_taints(struct match *m, const struct match_taint *v, size_t n,
                                        struct str key) {
    size_t size = sizeof(struct match_taints) + size_mul(n, sizeof *v);
    struct match_taints *taints = (struct match_taints *)match__pool_add(&m->taints, size, key);
    taints->n = (uint32_t)n;
    for (size_t i = 0; i < n; i++) {
        taints->v[i] = v[i];
        match__taint_compile(m, &taints->v[i]);
        taints->v[i].mark.taints = at_most_u16(n);
        taints->effects |= taints->v[i].mark.effect;
        intern_ref(v[i].key);
        intern_ref(v[i].value);
        intern_ref(v[i].effect);
    }
    return taints;
}

struct match_taints *match_taints_get(struct match *m, const struct api_taint_list *spec) {
    struct match_taint *v = arena_array(&m->scratch, struct match_taint, spec->n);
    struct taint_key *keys = arena_array(&m->scratch, struct taint_key, spec->n);
    for (size_t i = 0; i < spec->n; i++) {
        v[i] = read_taint(m, &spec->v[i]);
        keys[i] = (struct taint_key){v[i].key->id, v[i].value->id, v[i].effect->id};
    }
    struct str key = {(const char *)keys, spec->n * sizeof *keys};
    struct match_list *list = match__pool_find(&m->taints, key);
    struct match_taints *taints =
        list ? (struct match_taints *)list : make_taints(m, v, spec->n, key);
    arena_reset(&m->scratch);
    return taints;
}

const struct match_taints *match_taints_unschedulable(const struct match *m) {
    return m->unschedulable;
}

/* ---- tolerations ---- */

/* What makes two tolerations equal; without padding, as it is compared by its bytes. */
struct toleration_key {
    uint32_t key, op_name, value, effect, expression, has_seconds;
    int64_t seconds;
};
_Static_assert(sizeof(struct toleration_key) == 32, "no padding");

/* The atoms that a toleration holds; some may be NULL. */
static void each_atom(const struct match_toleration *t, void (*f)(struct atom *)) {
    struct atom *const atoms[] = {t->key, t->effect, t->value, t->op_name, t->expression};
    for (size_t i = 0; i < sizeof atoms / sizeof *atoms; i++)
        if (atoms[i])
            f(atoms[i]);
}

static void ref_atom(struct atom *a) {
    intern_ref(a);
}

static void free_tolerations(struct match_list *list) {
    struct match_tolerations *tolerations = (struct match_tolerations *)list;
    for (uint32_t i = 0; i < tolerations->n; i++) {
        const struct match_toleration *t = &tolerations->v[i];
        if (t->engine && t->program)
            t->engine->free(t->engine->ctx, t->program);
        each_atom(t, intern_unref);
    }
    match__index_free(tolerations->index);
    free(tolerations);
}

static struct atom *get_unless_empty(struct match *m, struct str text) {
    return text.n ? intern_get(m->atoms, text) : NULL;
}

static struct match_toleration read_toleration(struct match *m, const struct api_toleration *spec) {
    return (struct match_toleration){
        .key = get_unless_empty(m, spec->key),
        .effect = get_unless_empty(m, spec->effect),
        .value = intern_get(m->atoms, spec->value),
        .op_name = intern_get(m->atoms, spec->operator),
        .expression = get_unless_empty(m, spec->expression),
        .has_seconds = spec->toleration_seconds.set,
        .seconds = spec->toleration_seconds.set ? spec->toleration_seconds.v : 0,
    };
}

static struct toleration_key key_of(const struct match_toleration *t) {
    return (struct toleration_key){
        .key = t->key ? t->key->id + 1 : 0,
        .op_name = t->op_name->id,
        .value = t->value->id,
        .effect = t->effect ? t->effect->id + 1 : 0,
        .expression = t->expression ? t->expression->id + 1 : 0,
        .has_seconds = t->has_seconds,
        .seconds = t->seconds,
    };
}

static struct match_tolerations *make_tolerations(struct match *m, const struct match_toleration *v,
                                                  size_t n, struct str key) {
    size_t size = sizeof(struct match_tolerations) + size_mul(n, sizeof *v);
    struct match_tolerations *made =
        (struct match_tolerations *)match__pool_add(&m->tolerations, size, key);
    size_t spent = 0, programs = 0;
    made->n = (uint32_t)n;
    for (size_t i = 0; i < n; i++) {
        made->v[i] = v[i];
        each_atom(&v[i], ref_atom);
        match__toleration_compile(m, &made->v[i], &spent);
        made->kinds |= match__toleration_kind(&made->v[i]);
        programs += made->v[i].engine && made->v[i].program;
    }
    for (size_t i = 0; i < n; i++)
        made->v[i].expressions = at_most_u16(programs);
    if (n >= MATCH__INDEX_LEAST)
        made->index = match__index_new(made);
    return made;
}

struct match_tolerations *match_tolerations_get(struct match *m,
                                                const struct api_toleration_list *spec) {
    struct match_toleration *v = arena_array(&m->scratch, struct match_toleration, spec->n);
    struct toleration_key *keys = arena_array(&m->scratch, struct toleration_key, spec->n);
    for (size_t i = 0; i < spec->n; i++) {
        v[i] = read_toleration(m, &spec->v[i]);
        keys[i] = key_of(&v[i]);
    }
    struct str key = {(const char *)keys, spec->n * sizeof *keys};
    struct match_list *list = match__pool_find(&m->tolerations, key);
    struct match_tolerations *tolerations =
        list ? (struct match_tolerations *)list : make_tolerations(m, v, spec->n, key);
    arena_reset(&m->scratch);
    return tolerations;
}

/* ---- context ---- */

struct match *match_new(struct intern *atoms, const struct feature_set *gates,
                        const struct match_engine *engine, uint64_t seed) {
    struct match *m = xcalloc(1, sizeof *m);
    m->tolerations.by_key = m->taints.by_key = MAP_INIT(seed);
    m->atoms = atoms;
    m->gates = *gates;
    m->engine = engine;
    struct api_taint taint = {.key = STR_INIT("node.kubernetes.io/unschedulable"),
                              .effect = STR_INIT("NoSchedule")};
    m->unschedulable = match_taints_get(m, &(struct api_taint_list){&taint, 1});
    match_ref(&m->unschedulable->list);
    return m;
}

void match_free(struct match *m) {
    if (!m)
        return;
    match__pool_release(&m->tolerations, free_tolerations);
    match__pool_release(&m->taints, free_taints);
    free(m->memo.entries);
    arena_release(&m->scratch);
    free(m);
}

size_t match_sweep(struct match *m) {
    size_t freed = match__pool_sweep(&m->tolerations, free_tolerations) +
                   match__pool_sweep(&m->taints, free_taints);
    if (freed)
        match__memo_sweep(&m->memo, &m->tolerations, &m->taints);
    return freed;
}

bool match_wants_sweep(const struct match *m) {
    return match__pool_wants_sweep(&m->tolerations) || match__pool_wants_sweep(&m->taints);
}

void match_stats(const struct match *m, struct match_stats *out) {
    *out = (struct match_stats){
        .tolerations = m->tolerations.by_key.live,
        .taints = m->taints.by_key.live,
        .computed = m->computed,
        .found = m->found,
        .outcomes = m->memo.used,
    };
}
