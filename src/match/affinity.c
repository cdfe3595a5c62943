/*
 * Nodes, and what pods, volumes and scheduler profiles want of them: terms, ORed, of requirements,
 * ANDed.
 *
 * Follows k8s.io/component-helpers scheduling/corev1/nodeaffinity, func (*NodeSelector) Match,
 * func (RequiredNodeAffinity) Match, func (*PreferredSchedulingTerms) Score.
 */
#include <stdlib.h>

#include "api/types.h"
#include "base/alloc.h"
#include "base/limits.h"
#include "match/match_int.h"

/* ---- nodes ---- */

static int by_key_address(const void *a, const void *b) {
    uintptr_t x = (uintptr_t)((const struct match__node_label *)a)->key;
    uintptr_t y = (uintptr_t)((const struct match__node_label *)b)->key;
    return (x > y) - (x < y);
}

struct match_node *match_node_new(struct match *m, struct str name, const struct labels *labels) {
    size_t size = sizeof(struct match_node) + size_mul(labels->n, sizeof(struct match__node_label));
    struct match_node *node = xcalloc(1, size);
    node->name = name.n ? intern_ref(intern_get(m->atoms, name)) : NULL;
    node->n = (uint32_t)labels->n;
    for (size_t i = 0; i < labels->n; i++) {
        node->v[i].key = intern_ref(intern_get(m->atoms, labels->v[i].key));
        node->v[i].value = intern_ref(intern_get(m->atoms, labels->v[i].value));
    }
    qsort(node->v, node->n, sizeof *node->v, by_key_address);
    return node;
}

void match_node_free(struct match_node *node) {
    if (!node)
        return;
    intern_unref(node->name);
    for (uint32_t i = 0; i < node->n; i++) {
        intern_unref(node->v[i].key);
        intern_unref(node->v[i].value);
    }
    free(node);
}

struct atom *match__node_label(const struct match_node *node, const struct atom *key) {
    uint32_t low = 0, high = node->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (node->v[middle].key == key)
            return node->v[middle].value;
        if ((uintptr_t)node->v[middle].key < (uintptr_t)key)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* ---- compiling ---- */

struct atom *match__hold(struct match__builder *b, struct str text) {
    struct atom *atom = intern_ref(intern_get(b->m->atoms, text));
    vec_push(&b->a->held, atom);
    return atom;
}

typedef bool compile_fn(struct match__builder *b, const struct api_node_selector_requirement *spec,
                        size_t index, struct match__requirement *out);

/* True when all requirements are good. */
static bool compile_requirements(struct match__builder *b,
                                 const struct api_node_selector_requirement_list *spec,
                                 compile_fn *compile, struct match__requirements *out) {
    bool good = true;
    out->v = arena_array(&b->a->arena, struct match__requirement, spec->n);
    out->n = (uint32_t)spec->n;
    for (size_t i = 0; i < spec->n; i++)
        good &= compile(b, &spec->v[i], i, &out->v[i]);
    return good;
}

/* The first requirement whose operator's gate is off; their number if there is none. */
static uint32_t find_off(const struct match__requirements *list) {
    uint32_t i = 0;
    while (i < list->n && !list->v[i].is_off)
        i++;
    return i;
}

static void compile_term(struct match__builder *b, const struct api_node_selector_term *spec,
                         struct match__term *out) {
    if (!spec->match_expressions.n && !spec->match_fields.n) {
        out->flaw = MATCH_NODE_EMPTY_TERM;
        return;
    }
    bool good = compile_requirements(b, &spec->match_expressions, match__expression_compile,
                                     &out->expressions);
    good &= compile_requirements(b, &spec->match_fields, match__field_compile, &out->fields);
    if (!good)
        out->flaw = find_off(&out->expressions) < out->expressions.n ? MATCH_NODE_GATE_OFF
                                                                     : MATCH_NODE_INVALID_TERM;
    for (uint32_t i = 0; good && i < out->expressions.n; i++)
        b->a->uses_versions |= match__is_by_version(&out->expressions.v[i]);
}

static void begin_terms(struct match__builder *b, struct match__terms *out, size_t n) {
    out->given = true;
    out->n = (uint32_t)n;
    out->v = arena_array(&b->a->arena, struct match__term, n);
    b->faults = (struct match__faults){.text = BUF_INIT(LIMIT_NODE_SELECTOR_ERROR_BYTES)};
    b->path = BUF_INIT(64);
}

/* Upstream's form of several errors is "[one, two]". */
static void end_terms(struct match__builder *b, struct match__terms *out) {
    struct match__faults *f = &b->faults;
    if (f->n > 1)
        buf_add_char(&f->text, ']');
    struct str text = buf_view(&f->text);
    if (f->n)
        out->error = arena_str(&b->a->arena, f->n > 1 ? text : str_sub(text, 1, text.n));
    out->fatal = f->fatal;
    buf_release(&f->text);
    buf_release(&b->path);
}

static void compile_required(struct match__builder *b, const struct api_node_selector *spec,
                             struct match__terms *out) {
    if (!spec)
        return;
    begin_terms(b, out, spec->node_selector_terms.n);
    for (size_t i = 0; i < out->n; i++) {
        buf_clear(&b->path);
        buf_addf(&b->path, "nodeSelectorTerms[%zu]", i);
        compile_term(b, &spec->node_selector_terms.v[i], &out->v[i]);
    }
    end_terms(b, out);
}

static void compile_preferred(struct match__builder *b,
                              const struct api_preferred_scheduling_term_list *spec,
                              struct match__terms *out) {
    if (!spec->v)
        return;
    begin_terms(b, out, spec->n);
    for (size_t i = 0; i < out->n; i++) {
        buf_clear(&b->path);
        buf_addf(&b->path, "[%zu]", i);
        out->v[i].weight = spec->v[i].weight;
        if (spec->v[i].weight == 0)
            out->v[i].flaw = MATCH_NODE_ZERO_WEIGHT;
        else
            compile_term(b, &spec->v[i].preference, &out->v[i]);
    }
    end_terms(b, out);
}

/* Nothing is wrong with any key or value here: upstream does not look. */
static void compile_selector(struct match__builder *b, const struct labels *labels,
                             struct match__requirements *out) {
    if (!labels || !labels->n)
        return;
    out->n = (uint32_t)labels->n;
    out->v = arena_array(&b->a->arena, struct match__requirement, out->n);
    for (size_t i = 0; i < out->n; i++) {
        struct match__requirement *r = &out->v[i];
        r->key = match__hold(b, labels->v[i].key);
        r->op = MATCH__NODE_IN;
        r->value_count = 1;
        r->values = arena_new(&b->a->arena, struct atom *);
        r->values[0] = match__hold(b, labels->v[i].value);
    }
}

/* Enough for a term of two requirements. */
enum { FIRST_BYTES = 256 };

struct match_affinity *match_affinity_new(struct match *m, const struct labels *node_selector,
                                          const struct api_node_affinity *affinity) {
    struct match_affinity *a = xcalloc(1, sizeof *a);
    struct match__builder b = {.m = m, .a = a};
    if (affinity || (node_selector && node_selector->n))
        arena_start(&a->arena, FIRST_BYTES);
    compile_selector(&b, node_selector, &a->selector);
    if (affinity) {
        compile_required(&b, affinity->required, &a->required);
        compile_preferred(&b, &affinity->preferred, &a->preferred);
    }
    return a;
}

struct match_affinity *match_affinity_new_volume(struct match *m,
                                                 const struct api_volume_node_affinity *affinity) {
    struct api_node_affinity required = {.required = affinity ? affinity->required : NULL};
    struct match_affinity *a = match_affinity_new(m, NULL, &required);
    a->is_volume = true;
    return a;
}

void match_affinity_free(struct match_affinity *a) {
    if (!a)
        return;
    for (size_t i = 0; i < a->held.n; i++)
        intern_unref(a->held.v[i]);
    vec_release(&a->held);
    arena_release(&a->arena);
    free(a);
}

/* ---- matching ---- */

static const struct match__terms *terms_of(const struct match_affinity *a,
                                           enum match_node_part part) {
    assert(part != MATCH_NODE_SELECTOR);
    return part == MATCH_NODE_REQUIRED ? &a->required : &a->preferred;
}

uint32_t match_affinity_term_count(const struct match_affinity *a, enum match_node_part part) {
    return terms_of(a, part)->n;
}

/* Upstream skips matchFields when there is no name to look at. */
static bool sees_fields(const struct match_affinity *a, const struct match_node *node) {
    return !a->is_volume && node->name;
}

struct match_node_verdict match_affinity_check_term(const struct match_affinity *a,
                                                    enum match_node_part part, uint32_t term,
                                                    const struct match_node *node) {
    const struct match__term *t = &terms_of(a, part)->v[term];
    struct match_node_verdict v = {.code = t->flaw, .part = part, .term = term};
    if (v.code == MATCH_NODE_GATE_OFF)
        v.requirement = find_off(&t->expressions);
    if (v.code != MATCH_NODE_YES)
        return v;
    for (; v.requirement < t->expressions.n; v.requirement++)
        if ((v.code = match__expression_check(&t->expressions.v[v.requirement], node)) !=
            MATCH_NODE_YES)
            return v;
    v.is_field = sees_fields(a, node);
    for (v.requirement = 0; v.is_field && v.requirement < t->fields.n; v.requirement++)
        if ((v.code = match__field_check(&t->fields.v[v.requirement], node)) != MATCH_NODE_YES)
            return v;
    return (struct match_node_verdict){.part = part, .term = term};
}

static struct match_node_verdict check_selector(const struct match_affinity *a,
                                                const struct match_node *node) {
    struct match_node_verdict v = {.part = MATCH_NODE_SELECTOR};
    for (; v.requirement < a->selector.n; v.requirement++)
        if ((v.code = match__expression_check(&a->selector.v[v.requirement], node)) !=
            MATCH_NODE_YES)
            return v;
    v.requirement = 0;
    return v;
}

/* The same question where nobody asks why. */
static bool term_matches(const struct match_affinity *a, const struct match__term *t,
                         const struct match_node *node) {
    if (t->flaw != MATCH_NODE_YES)
        return false;
    for (uint32_t i = 0; i < t->expressions.n; i++)
        if (match__expression_check(&t->expressions.v[i], node) != MATCH_NODE_YES)
            return false;
    for (uint32_t i = 0; i < t->fields.n && sees_fields(a, node); i++)
        if (match__field_check(&t->fields.v[i], node) != MATCH_NODE_YES)
            return false;
    return true;
}

/* The first term that matches, or else the verdict on the first one. */
static struct match_node_verdict check_required(const struct match_affinity *a,
                                                const struct match_node *node) {
    for (uint32_t i = 0; i < a->required.n; i++)
        if (term_matches(a, &a->required.v[i], node))
            return (struct match_node_verdict){.part = MATCH_NODE_REQUIRED, .term = i};
    if (!a->required.n)
        return (struct match_node_verdict){.code = MATCH_NODE_NO_TERMS,
                                           .part = MATCH_NODE_REQUIRED};
    return match_affinity_check_term(a, MATCH_NODE_REQUIRED, 0, node);
}

bool match_affinity_required(const struct match_affinity *a, const struct match_node *node,
                             struct match_node_verdict *why) {
    struct match_node_verdict v = check_selector(a, node);
    if (v.code == MATCH_NODE_YES && a->required.given)
        v = check_required(a, node);
    if (why)
        *why = v;
    return v.code == MATCH_NODE_YES;
}

static bool has_version(const struct match__term *t) {
    for (uint32_t i = 0; i < t->expressions.n; i++)
        if (match__is_by_version(&t->expressions.v[i]))
            return true;
    return false;
}

static bool term_fails_version(const struct match__term *t, const struct match_node *node) {
    for (uint32_t i = 0; t->flaw == MATCH_NODE_YES && i < t->expressions.n; i++) {
        if (!match__is_by_version(&t->expressions.v[i]))
            continue;
        enum match_node_code code = match__expression_check(&t->expressions.v[i], node);
        if (code != MATCH_NODE_YES && code != MATCH_NODE_NO_LABEL && code != MATCH_NODE_NO_VERSION)
            return true;
    }
    return false;
}

bool match_affinity_uses_versions(const struct match_affinity *a, const struct match_node *node) {
    const struct match__terms *const parts[] = {&a->required, &a->preferred};
    for (size_t part = 0; a->uses_versions && part < 2; part++)
        for (uint32_t i = 0; i < parts[part]->n; i++)
            if (has_version(&parts[part]->v[i]) && term_matches(a, &parts[part]->v[i], node))
                return true;
    return false;
}

bool match_affinity_fails_versions(const struct match_affinity *a, const struct match_node *node) {
    for (uint32_t i = 0; a->uses_versions && i < a->required.n; i++)
        if (term_fails_version(&a->required.v[i], node))
            return true;
    return false;
}

int64_t match_affinity_score(const struct match_affinity *a, const struct match_node *node) {
    int64_t score = 0;
    for (uint32_t i = 0; i < a->preferred.n; i++)
        if (term_matches(a, &a->preferred.v[i], node))
            score += a->preferred.v[i].weight;
    return score;
}

/* ---- errors ---- */

struct str match_affinity_error(const struct match_affinity *a, enum match_node_part part) {
    return terms_of(a, part)->error;
}

bool match_affinity_fails(const struct match_affinity *a, enum match_node_part part) {
    return terms_of(a, part)->fatal;
}

struct str match_affinity_volume_error(const struct match_affinity *a,
                                       const struct match_node *node) {
    if (match_affinity_required(a, node, NULL))
        return (struct str){0};
    return a->required.error.p ? a->required.error : STR("no matching NodeSelectorTerms");
}

int match_affinity_check_added(const struct match_affinity *a, struct buf *why) {
    const struct {
        const char *name;
        struct str error;
    } parts[] = {
        {"required", a->required.error},
        {"preferred", a->preferred.fatal ? a->preferred.error : (struct str){0}},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!parts[i].error.p)
            continue;
        buf_addf(why,
                 "parsing addedAffinity.%sDuringSchedulingIgnoredDuringExecution: ", parts[i].name);
        buf_add(why, parts[i].error);
        return -1;
    }
    return 0;
}
