/*
 * Any nodeSelector and nodeAffinity against any node, as {"gate": true, "name": …, "labels": {…},
 * "nodeSelector": {…}, "requiredDuring…": {…}, "preferredDuring…": […]}: what is compiled gives the
 * verdicts and errors of a plain implementation, which for upstream's operators is api/selector.h.
 */
#include <stdlib.h>
#include <string.h>

#include "api/names.h"
#include "api/object.h"
#include "api/selector.h"
#include "check.h"
#include "feature/feature.h"
#include "match/match.h"
#include "semver/semver.h"

/* What the plain implementation is given, and what it finds out. */
struct plain {
    struct arena *a;
    const struct api_object_meta *node;
    bool gate, is_volume;
    struct str path;  /* of the term */
    struct str error; /* text that must hold every fault */
    bool fatal;
};

/* Is `part`, without the brackets of several faults, in the error? */
static void require_fault(const struct plain *p, struct str part) {
    bool several = str_starts(part, STR("[nodeSelectorTerms")) || str_starts(part, STR("[["));
    CHECK(part.n > 0);
    CHECK(str_find(p->error, several ? str_sub(part, 1, part.n - 1) : part) != STR_NONE);
}

static int semver_order(struct str op) {
    return str_is(op, "SemverLt")   ? -1
           : str_is(op, "SemverEq") ? 0
           : str_is(op, "SemverGt") ? 1
                                    : 2;
}

enum verdict { NO, YES, INVALID };

static enum verdict check_versions(struct plain *p, const struct api_node_selector_requirement *r) {
    struct semver x, y;
    bool good = names_check_label_key(r->key).n == 0 && r->values.n == 1 &&
                names_check_label_value(r->values.v[0]).n == 0 &&
                semver_parse_tolerant(p->a, r->values.v[0], &y, NULL) == 0;
    p->fatal |= p->gate && !good;
    if (!good || !p->gate)
        return INVALID;
    const struct label *label = labels_find(&p->node->labels, r->key);
    return label && semver_parse_tolerant(p->a, label->value, &x, NULL) == 0 &&
           semver_cmp(&x, &y) == semver_order(r->operator);
}

static enum verdict check_expression(struct plain *p, const struct api_node_selector_requirement *r,
                                     size_t index) {
    static const struct {
        const char *name;
        enum selector_op op;
    } ops[] = {
        {"In", SELECTOR_IN},           {"NotIn", SELECTOR_NOT_IN},
        {"Exists", SELECTOR_EXISTS},   {"DoesNotExist", SELECTOR_DOES_NOT_EXIST},
        {"Gt", SELECTOR_GREATER_THAN}, {"Lt", SELECTOR_LESS_THAN},
    };
    if (semver_order(r->operator) != 2)
        return check_versions(p, r);
    struct selector sel;
    selector_init(&sel, p->a);
    sel.path = arena_printf(p->a, "%.*s.matchExpressions[%zu]", STR_ARG(p->path), index);
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        if (!str_is(r->operator, ops[i].name))
            continue;
        if (selector_require(&sel, r->key, ops[i].op, r->values.v, r->values.n, NULL) == 0)
            return selector_matches(&sel, &p->node->labels);
        require_fault(p, sel.error);
    }
    p->fatal = true;
    return INVALID;
}

static enum verdict check_field(struct plain *p, const struct api_node_selector_requirement *r) {
    bool in = str_is(r->operator, "In");
    if ((!in && !str_is(r->operator, "NotIn")) || r->values.n != 1) {
        p->fatal = true;
        return INVALID;
    }
    if (!p->node->name.n || p->is_volume)
        return YES;
    struct str field = str_is(r->key, "metadata.name") ? p->node->name : STR("");
    return str_eq(field, r->values.v[0]) == in;
}

static enum verdict check_term(struct plain *p, const struct api_node_selector_term *term) {
    if (!term->match_expressions.n && !term->match_fields.n)
        return NO;
    bool all = true, good = true;
    for (size_t i = 0; i < term->match_expressions.n; i++) {
        enum verdict v = check_expression(p, &term->match_expressions.v[i], i);
        all &= v == YES;
        good &= v != INVALID;
    }
    for (size_t i = 0; i < term->match_fields.n; i++) {
        enum verdict v = check_field(p, &term->match_fields.v[i]);
        all &= v == YES;
        good &= v != INVALID;
    }
    return !good ? INVALID : all ? YES : NO;
}

/* ---- comparison ---- */

static void write_verdict(const struct match_affinity *a, const struct match_node *node,
                          const struct match_node_verdict *v) {
    struct buf text = BUF_INIT(1 << 16);
    match_node_verdict_write(&text, a, node, v);
    CHECK(text.n > 0);
    buf_release(&text);
}

static void check_one(const struct match_affinity *a, const struct match_node *node,
                      enum match_node_part part, uint32_t term, enum verdict want) {
    struct match_node_verdict v = match_affinity_check_term(a, part, term, node);
    CHECK((v.code == MATCH_NODE_YES) == (want == YES));
    CHECK((v.code == MATCH_NODE_INVALID_TERM || v.code == MATCH_NODE_GATE_OFF) ==
          (want == INVALID));
    write_verdict(a, node, &v);
}

static bool check_selector(struct plain *p, const struct labels *selector) {
    for (size_t i = 0; i < selector->n; i++) {
        const struct label *label = labels_find(&p->node->labels, selector->v[i].key);
        if (!label || !str_eq(label->value, selector->v[i].value))
            return false;
    }
    return true;
}

static void check_required(struct plain *p, const struct match_affinity *a,
                           const struct match_node *node, const struct labels *selector,
                           const struct api_node_selector *spec) {
    bool want = !spec, faults = false;
    p->error = match_affinity_error(a, MATCH_NODE_REQUIRED);
    CHECK(match_affinity_term_count(a, MATCH_NODE_REQUIRED) ==
          (spec ? spec->node_selector_terms.n : 0));
    for (uint32_t i = 0; spec && i < spec->node_selector_terms.n; i++) {
        p->path = arena_printf(p->a, "nodeSelectorTerms[%u]", i);
        enum verdict v = check_term(p, &spec->node_selector_terms.v[i]);
        want |= v == YES;
        faults |= v == INVALID;
        check_one(a, node, MATCH_NODE_REQUIRED, i, v);
    }
    struct match_node_verdict why;
    CHECK(faults == (p->error.p != NULL));
    CHECK(match_affinity_required(a, node, &why) == (want && check_selector(p, selector)));
    write_verdict(a, node, &why);
}

static void check_preferred(struct plain *p, const struct match_affinity *a,
                            const struct match_node *node,
                            const struct api_preferred_scheduling_term_list *spec) {
    int64_t score = 0;
    bool faults = false;
    p->fatal = false;
    p->error = match_affinity_error(a, MATCH_NODE_PREFERRED);
    for (uint32_t i = 0; i < spec->n; i++) {
        p->path = arena_printf(p->a, "[%u]", i);
        enum verdict v = spec->v[i].weight ? check_term(p, &spec->v[i].preference) : NO;
        score += v == YES ? spec->v[i].weight : 0;
        faults |= v == INVALID;
        check_one(a, node, MATCH_NODE_PREFERRED, i, v);
    }
    CHECK(faults == (p->error.p != NULL));
    CHECK(p->fatal == match_affinity_fails(a, MATCH_NODE_PREFERRED));
    CHECK(score == match_affinity_score(a, node));
}

static void check(struct plain *p, const struct labels *selector,
                  const struct api_node_affinity *spec) {
    struct feature_set gates = {0};
    feature_set_put(&gates, FEATURE_TolerationAffinitySemverOperators, p->gate);
    struct intern *atoms = intern_new(1);
    struct match *m = match_new(atoms, &gates, NULL, 1);
    struct match_node *node = match_node_new(m, p->node->name, &p->node->labels);
    struct match_affinity *a = match_affinity_new(m, selector, spec);
    check_required(p, a, node, selector, spec->required);
    check_preferred(p, a, node, &spec->preferred);
    match_affinity_free(a);
    p->is_volume = true;
    struct api_volume_node_affinity volume = {.required = spec->required};
    a = match_affinity_new_volume(m, &volume);
    check_required(p, a, node, &(struct labels){0}, spec->required);
    CHECK(match_affinity_required(a, node, NULL) == !match_affinity_volume_error(a, node).p);
    match_affinity_free(a);
    match_node_free(node);
    match_free(m);
    intern_free(atoms);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena a = {0};
    struct json tree;
    struct api_pod_spec pod = {0};
    struct api_object_meta node = {0};
    struct api_node_affinity spec = {0};
    if (json_parse(&a, (struct str){(const char *)data, size}, NULL, &tree, NULL) == 0 &&
        api_struct_decode(&a, &api_types[API_T_pod_spec], &tree, &pod, NULL) == 0 &&
        api_struct_decode(&a, &api_types[API_T_object_meta], &tree, &node, NULL) == 0 &&
        api_struct_decode(&a, &api_types[API_T_node_affinity], &tree, &spec, NULL) == 0) {
        const struct json *gate = json_get(&tree, STR("gate"));
        struct plain p = {
            .a = &a, .node = &node, .gate = gate && gate->kind == JSON_BOOL && gate->b};
        check(&p, &pod.node_selector, &spec);
    }
    arena_release(&a);
    return 0;
}
