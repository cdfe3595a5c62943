/* What plug-ins find on a node, as they find it, and what makes two findings the same. */
#include <assert.h>

#include "api/object.h"
#include "sched/explain/explain_int.h"

/* ---- making ---- */

bool sched__finding_start(struct sched__findings *out, enum sched_finding_code code,
                          struct sched_place place) {
    out->cut |= out->n == LIMIT_EXPLAIN_FINDINGS;
    if (out->cut)
        return false;
    out->v[out->n] = (struct sched_finding){.code = code,
                                            .operator= sched__finding_operator(code),
                                            .place = place,
                                            .v = out->operands[out->n]};
    out->n++;
    return true;
}

void sched__finding_add(struct sched__findings *out, enum sched_operand_name name,
                        struct sched_operand o) {
    struct sched_finding *f = &out->v[out->n - 1];
    assert(f->n < SCHED__MOST_OPERANDS);
    o.name = (uint8_t)name;
    f->v[f->n++] = o;
}

void sched__finding_add_of_node(struct sched__findings *out, enum sched_operand_name name,
                                struct sched_operand o) {
    struct str node = intern_text(out->cy->s->nodes.v[out->slot].name);
    o.of_node = true;
    o.is_node_name = (o.kind == SCHED_NODE || o.kind == SCHED_VALUE) && str_eq(o.text, node);
    sched__finding_add(out, name, o);
}

struct sched_operand sched__object_name(struct sched__findings *out, const struct api_object *o) {
    return sched__text(arena_printf(&out->scratch, "%.*s/%.*s", STR_ARG(o->meta->namespace),
                                    STR_ARG(o->meta->name)));
}

/* ---- verdicts of match ---- */

static void add_derived(struct sched__findings *out, struct str text) {
    if (text.p)
        sched__finding_add(out, SCHED_OPERAND_DETAIL,
                           (struct sched_operand){.kind = SCHED_DERIVED, .text = text});
}

/* Adds the node's value. A detail quotes it, which then is no name that others could have, too. */
static void add_left(struct sched__findings *out, struct str value, struct str detail) {
    struct sched_operand o = sched__value(value);
    if (!value.p)
        return;
    sched__finding_add_of_node(out, SCHED_OPERAND_LEFT, o);
    if (detail.p) {
        struct sched_finding *f = &out->v[out->n - 1];
        f->v[f->n - 1].is_node_name = false;
    }
}

bool sched__finding_taint(struct sched__findings *out, const struct match_taints *taints,
                          const struct match_verdict *v) {
    const struct match_tolerations *tolerations = out->cy->cls->tolerations;
    bool is_any = v->toleration == MATCH_NONE;
    struct match_operands o;
    if (!sched__finding_start(out, SCHED_FINDING_TAINT,
                              is_any ? sched__field(SCHED_FIELD_TOLERATIONS)
                                     : sched__item(SCHED_FIELD_TOLERATION, v->toleration)))
        return false;
    match_verdict_operands(tolerations, taints, v, &out->scratch, &o);
    if (!is_any)
        match_operands_find_condition(tolerations, taints, v, &out->scratch, &o);
    struct sched_finding *f = &out->v[out->n - 1];
    f->match = (uint8_t)o.code;
    f->operator= o.operator;
    sched__finding_add_of_node(out, SCHED_OPERAND_SUBJECT, sched__text(o.key));
    add_left(out, o.value.n ? o.value : (struct str){0}, o.detail);
    if (o.wanted.p)
        sched__finding_add(out, SCHED_OPERAND_RIGHT, sched__value(o.wanted));
    sched__finding_add_of_node(out, SCHED_OPERAND_EFFECT, sched__text(o.effect));
    if (o.code == MATCH_GATE_OFF)
        sched__finding_add(out, SCHED_OPERAND_DETAIL, sched__text(o.detail));
    else
        add_derived(out, o.detail);
    return true;
}

/* Which requirement of which term. */
struct requirement_key {
    const struct match_affinity *a;
    uint32_t part, term, list, requirement;
};

/* The first values of a requirement, which all nodes share. */
static const struct match_values *values_of(struct sched__findings *out,
                                            const struct match_affinity *a,
                                            const struct match_node_verdict *v) {
    const struct requirement_key key = {a, v->part, v->term, v->is_field, v->requirement};
    const struct str bytes = {(const char *)&key, sizeof key};
    struct arena *arena = out->cy->arena;
    struct match_values *values = map_get(&out->values, bytes);
    if (values)
        return values;
    values = arena_new(arena, struct match_values);
    *values = match_node_verdict_values(a, v, LIMIT_EXPLAIN_VALUES, &out->scratch);
    struct str *texts = arena_array(arena, struct str, values->n);
    for (size_t i = 0; i < values->n; i++)
        texts[i] = arena_str(arena, values->v[i]);
    values->v = texts;
    map_put(&out->values, arena_str(arena, bytes), values);
    return values;
}

/* Adds what is asked for: a list, a single value to compare with, or nothing. */
static void add_right(struct sched__findings *out, struct str operator,
                      const struct match_values * values) {
    bool is_set = str_is(operator, "In") || str_is(operator, "NotIn");
    if (is_set)
        sched__finding_add(out, SCHED_OPERAND_RIGHT,
                           (struct sched_operand){.kind = SCHED_VALUES, .values = values});
    else if (values->n)
        sched__finding_add(out, SCHED_OPERAND_RIGHT, sched__value(values->v[0]));
}

static struct sched_place place_of(enum sched_field field, const struct match_node_verdict *v) {
    bool has_requirement = match_node_verdict_has_requirement(v);
    struct sched_place place = {.field = field, .at = v->term, .requirement = v->requirement};
    if (v->part == MATCH_NODE_SELECTOR)
        place.field = SCHED_FIELD_NODE_SELECTOR;
    if (v->code == MATCH_NODE_NO_TERMS)
        place.at = UINT32_MAX;
    if (has_requirement && v->part != MATCH_NODE_SELECTOR)
        place.list = v->is_field ? SCHED_FIELDS : SCHED_EXPRESSIONS;
    return place;
}

bool sched__finding_requirement(struct sched__findings *out, enum sched_field field,
                                const struct match_affinity *a,
                                const struct match_node_verdict *v) {
    struct match_node_operands o;
    if (!sched__finding_start(out, SCHED_FINDING_REQUIREMENT, place_of(field, v)))
        return false;
    match_node_verdict_operands(a, out->cy->s->nodes.v[out->slot].labels, v, &out->scratch, &o);
    struct sched_finding *f = &out->v[out->n - 1];
    f->match = (uint8_t)v->code;
    if (!o.operator.p)
        return true;
    f->operator= o.operator;
    sched__finding_add(out, SCHED_OPERAND_SUBJECT, sched__text(o.key));
    if (v->code == MATCH_NODE_GATE_OFF) { /* whatever the node has */
        add_right(out, o.operator, values_of(out, a, v));
        sched__finding_add(out, SCHED_OPERAND_DETAIL, sched__text(o.detail));
        return true;
    }
    add_left(out, o.value, o.detail);
    add_right(out, o.operator, values_of(out, a, v));
    add_derived(out, o.detail);
    return true;
}

/* ---- comparing and keeping ---- */

void sched__findings_init(struct sched__findings *f, struct sched__cycle *cy) {
    f->cy = cy;
    f->scratch = (struct arena){0};
    f->values = MAP_INIT(cy->s->seed);
}

void sched__findings_release(struct sched__findings *f) {
    arena_release(&f->scratch);
    map_release(&f->values);
}

static void start(struct sched__findings *f, uint32_t slot) {
    f->slot = slot;
    f->n = 0;
    f->cut = false;
    arena_reset(&f->scratch);
}

void sched__findings_ask(struct sched__findings *f, enum sched_plugin p, uint32_t slot) {
    start(f, slot);
    if (sched__plugin_at(p)->explain)
        sched__plugin_at(p)->explain(f->cy, slot, f);
}

void sched__findings_ask_score(struct sched__findings *f, enum sched_plugin p, uint32_t slot) {
    start(f, slot);
    sched__plugin_at(p)->explain_score(f->cy, slot, f);
}

static void add_bytes(struct buf *key, const void *p, size_t n) {
    buf_add(key, (struct str){p, n});
}

static void add_text(struct buf *key, struct str text) {
    add_bytes(key, &text.n, sizeof text.n);
    buf_add(key, text);
}

bool sched__operand_varies(const struct sched_operand *o) {
    static const bool varies[SCHED_OPERAND_NAMES] = {
        [SCHED_OPERAND_LEFT] = true,         [SCHED_OPERAND_RIGHT] = true,
        [SCHED_OPERAND_ALLOCATABLE] = true,  [SCHED_OPERAND_POD] = true,
        [SCHED_OPERAND_NODE] = true,         [SCHED_OPERAND_ATTACHED] = true,
        [SCHED_OPERAND_ADDED] = true,        [SCHED_OPERAND_MATCHING] = true,
        [SCHED_OPERAND_DOMAIN_VALUE] = true,
    };
    return o->of_node && varies[o->name];
}

/* What follows from the rest, and what is not told, is no part of it. */
static void add_operand(struct buf *key, const struct sched_operand *o,
                        enum sched__likeness likeness, bool redact) {
    static const size_t own_name = SIZE_MAX; /* no text is so long */
    bool is_any = likeness == SCHED__ANY_OPERAND;
    buf_add_char(key, (char)o->name);
    if ((is_any && sched__operand_varies(o)) || (redact && o->kind == SCHED_VALUE))
        return;
    if (o->kind >= SCHED_NUMBER)
        add_bytes(key, &o->number, sizeof o->number);
    else if (o->kind == SCHED_VALUES || (o->kind == SCHED_DERIVED && (redact || !is_any)))
        return;
    else if (o->is_node_name && (o->kind == SCHED_NODE || likeness == SCHED__ANY_NAME))
        add_bytes(key, &own_name, sizeof own_name);
    else
        add_text(key, o->text);
}

bool sched__findings_name_node(const struct sched__findings *f) {
    for (size_t i = 0; i < f->n; i++)
        for (size_t k = 0; k < f->v[i].n; k++)
            if (f->v[i].v[k].is_node_name)
                return true;
    return false;
}

bool sched__findings_value_is_name(const struct sched__findings *f) {
    for (size_t i = 0; i < f->n; i++)
        for (size_t k = 0; k < f->v[i].n; k++)
            if (f->v[i].v[k].is_node_name && f->v[i].v[k].kind == SCHED_VALUE)
                return true;
    return false;
}

void sched__findings_key(const struct sched_finding *v, size_t n, enum sched__likeness likeness,
                         bool redact, struct buf *key) {
    for (size_t i = 0; i < n; i++) {
        const uint32_t head[] = {
            (uint32_t)v[i].code,       v[i].match,    (uint32_t)v[i].place.field,
            (uint32_t)v[i].place.list, v[i].place.at, v[i].place.requirement};
        add_bytes(key, head, sizeof head);
        for (size_t k = 0; k < v[i].n; k++)
            add_operand(key, &v[i].v[k], likeness, redact);
    }
}

const struct sched_finding *sched__findings_copy(const struct sched__findings *f, struct arena *a) {
    struct sched_finding *copy = arena_copy(a, f->v, f->n * sizeof *copy);
    for (size_t i = 0; i < f->n; i++) {
        copy[i].operator= arena_str(a, copy[i].operator);
        copy[i].v = arena_copy(a, copy[i].v, copy[i].n * sizeof *copy[i].v);
        for (size_t k = 0; k < copy[i].n; k++)
            if (copy[i].v[k].kind < SCHED_NUMBER && copy[i].v[k].kind != SCHED_VALUES)
                copy[i].v[k].text = arena_str(a, copy[i].v[k].text);
    }
    return copy;
}
