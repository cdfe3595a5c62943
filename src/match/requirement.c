/*
 * One requirement of a node selector term, compiled and matched.
 *
 * Upstream builds each requirement anew for every node, and finds out then what is wrong with it;
 * here it is found out once, in the same words and the same order: key, number of values,
 * threshold, values as label values.
 *
 * Follows k8s.io/component-helpers scheduling/corev1/nodeaffinity,
 * func nodeSelectorRequirementsAsSelector.
 * Follows k8s.io/apimachinery pkg/labels, func NewRequirement.
 */
#include <stdlib.h>

#include "api/names.h"
#include "api/types.h"
#include "base/goquote.h"
#include "match/match_int.h"
#include "semver/semver.h"

enum { FEW = 8 }; /* values that are searched one by one */

#define GT_LT       "for 'Gt', 'Lt' operators, "
#define SEMVER      "for 'SemverLt', 'SemverGt', 'SemverEq' operators, "
#define EXACTLY_ONE "exactly one value is required"
#define NO_GATE     FEATURE_COUNT

enum threshold { NOTHING, NUMBER, VERSION };

/* A row per operator, in the order in which upstream lists what it supports. */
static const struct {
    struct str name;
    bool for_fields;
    size_t least, most;     /* number of values */
    struct str wrong_count; /* what upstream says about any other number */
    enum threshold threshold;
    enum feature gate;
} ops[] = {
#define SET                                                                                   \
    1, SIZE_MAX, STR_INIT("for 'in', 'notin' operators, values set can't be empty"), NOTHING, \
        NO_GATE
#define PRESENCE \
    0, 0, STR_INIT("values set must be empty for exists and does not exist"), NOTHING, NO_GATE
#define NUMERIC 1, 1, STR_INIT(GT_LT EXACTLY_ONE), NUMBER, NO_GATE
#define VERSIONED \
    1, 1, STR_INIT(SEMVER EXACTLY_ONE), VERSION, FEATURE_TolerationAffinitySemverOperators
    [MATCH__NODE_IN] = {STR_INIT("In"), true, SET},
    [MATCH__NODE_NOT_IN] = {STR_INIT("NotIn"), true, SET},
    [MATCH__NODE_EXISTS] = {STR_INIT("Exists"), false, PRESENCE},
    [MATCH__NODE_DOES_NOT_EXIST] = {STR_INIT("DoesNotExist"), false, PRESENCE},
    [MATCH__NODE_GT] = {STR_INIT("Gt"), false, NUMERIC},
    [MATCH__NODE_LT] = {STR_INIT("Lt"), false, NUMERIC},
    [MATCH__NODE_SEMVER_LT] = {STR_INIT("SemverLt"), false, VERSIONED},
    [MATCH__NODE_SEMVER_GT] = {STR_INIT("SemverGt"), false, VERSIONED},
    [MATCH__NODE_SEMVER_EQ] = {STR_INIT("SemverEq"), false, VERSIONED},
};

enum { OPS = sizeof ops / sizeof *ops };

struct str match__node_op_name(enum match__node_op op) {
    return ops[op].name;
}

enum feature match__node_op_gate(enum match__node_op op) {
    return ops[op].gate;
}

/* ---- faults ---- */

/* A requirement that is being compiled, and where it stands. */
struct place {
    struct match__builder *b;
    const char *list; /* matchExpressions or matchFields */
    size_t index;
};

/* Starts a fault at a child of the requirement's path. */
static struct buf *add_fault(const struct place *p, struct str child) {
    struct match__faults *f = &p->b->faults;
    buf_add(&f->text, f->n++ ? STR(", ") : STR("["));
    buf_add(&f->text, buf_view(&p->b->path));
    buf_addf(&f->text, ".%s[%zu].", p->list, p->index);
    buf_add(&f->text, child);
    f->fatal = true;
    return &f->text;
}

static void add_invalid(struct buf *out, struct str value, const struct names_errs *errs) {
    buf_add(out, STR("Invalid value: "));
    goquote_write(out, value);
    buf_add(out, STR(": "));
    names_errs_join(out, errs, STR("; "));
}

static void add_wrong_count(const struct place *p, const struct api_strs *values,
                            struct str detail) {
    struct buf *out = add_fault(p, STR("values: Invalid value: "));
    buf_add(out, values->v ? STR("[") : STR("null"));
    for (size_t i = 0; values->v && i < values->n; i++) {
        if (i > 0)
            buf_add_char(out, ',');
        json_write_str(out, values->v[i], false);
    }
    buf_add(out, values->v ? STR("]: ") : STR(": "));
    buf_add(out, detail);
}

static bool is_enabled(const struct place *p, size_t op) {
    return ops[op].gate == NO_GATE || feature_enabled(&p->b->m->gates, ops[op].gate);
}

static void add_unsupported(const struct place *p, struct str name, bool for_fields) {
    struct buf *out = add_fault(p, STR("operator: Unsupported value: "));
    json_write_str(out, name, false);
    struct str sep = STR(": supported values: \"");
    for (size_t i = 0; i < OPS; i++) {
        if ((for_fields && !ops[i].for_fields) || !is_enabled(p, i))
            continue;
        buf_add(out, sep);
        buf_add(out, ops[i].name);
        sep = STR("\", \"");
    }
    buf_add_char(out, '"');
}

/* ---- checks ---- */

static void check_key(const struct place *p, struct str key) {
    struct names_errs errs = names_check_label_key(key);
    if (errs.n)
        add_invalid(add_fault(p, STR("key: ")), key, &errs);
}

static void check_count(const struct place *p, const struct api_strs *values,
                        enum match__node_op op) {
    if (values->n < ops[op].least || values->n > ops[op].most)
        add_wrong_count(p, values, ops[op].wrong_count);
}

static struct buf *add_bad_value(const struct place *p, size_t i, struct str value) {
    struct buf *out = add_fault(p, STR("values"));
    buf_addf(out, "[%zu]: Invalid value: ", i);
    goquote_write(out, value);
    return out;
}

static void check_thresholds(const struct place *p, const struct match__requirement *r) {
    int64_t ignored;
    struct err err;
    for (size_t i = 0; i < r->value_count; i++) {
        struct atom *value = r->values[i];
        if (ops[r->op].threshold == NUMBER && !intern_integer(value, &ignored))
            buf_add(add_bad_value(p, i, intern_text(value)),
                    STR(": " GT_LT "the value must be an integer"));
        if (ops[r->op].threshold == VERSION && intern_explain_version(value, &err) < 0)
            buf_addf(add_bad_value(p, i, intern_text(value)),
                     ": " SEMVER "the value must be a semantic version: %s", err.msg);
    }
}

static void check_values(const struct place *p, struct str key, const struct api_strs *values) {
    for (size_t i = 0; i < values->n; i++) {
        struct names_errs errs = names_check_label_value(values->v[i]);
        if (!errs.n)
            continue;
        struct buf *out = add_fault(p, STR("values"));
        buf_addf(out, "[%zu][", i);
        buf_add(out, key);
        buf_add(out, STR("]: "));
        add_invalid(out, values->v[i], &errs);
    }
}

/* ---- compiling ---- */

/* Finds the operator among those there are, whether or not their gate is on. */
static bool find_op(struct str name, enum match__node_op *op) {
    for (size_t i = 0; i < OPS; i++) {
        if (str_eq(name, ops[i].name)) {
            *op = (enum match__node_op)i;
            return true;
        }
    }
    return false;
}

static int by_address(const void *a, const void *b) {
    struct atom *const *x = a, *const *y = b;
    return ((uintptr_t)*x > (uintptr_t)*y) - ((uintptr_t)*x < (uintptr_t)*y);
}

static void hold_values(struct match__builder *b, const struct api_strs *values,
                        struct match__requirement *r) {
    struct arena *arena = &b->a->arena;
    r->value_count = (uint32_t)values->n;
    r->values = arena_array(arena, struct atom *, values->n);
    for (size_t i = 0; i < values->n; i++)
        r->values[i] = match__hold(b, values->v[i]);
    if (values->n <= FEW)
        return;
    r->sorted = arena_copy(arena, r->values, values->n * sizeof *r->values);
    qsort(r->sorted, values->n, sizeof *r->sorted, by_address);
}

static void set_threshold(struct match__requirement *r) {
    if (ops[r->op].threshold == NUMBER)
        intern_integer(r->values[0], &r->number);
    else if (ops[r->op].threshold == VERSION)
        intern_version(r->values[0]); /* intern_version_cmp wants it read */
}

bool match__expression_compile(struct match__builder *b,
                               const struct api_node_selector_requirement *spec, size_t index,
                               struct match__requirement *out) {
    struct place place = {b, "matchExpressions", index};
    struct str name = spec->operator;
    bool was_fatal = b->faults.fatal, is_known = find_op(name, &out->op);
    out->is_off = is_known && !is_enabled(&place, out->op);
    out->key = match__hold(b, spec->key);
    hold_values(b, &spec->values, out);
    if (!is_known || out->is_off) {
        add_unsupported(&place, name, false);
        b->faults.fatal = was_fatal || !is_known;
        return false;
    }
    size_t faults_before = b->faults.n;
    check_key(&place, spec->key);
    check_count(&place, &spec->values, out->op);
    check_thresholds(&place, out);
    check_values(&place, spec->key, &spec->values);
    if (b->faults.n > faults_before)
        return false;
    set_threshold(out);
    return true;
}

bool match__field_compile(struct match__builder *b,
                          const struct api_node_selector_requirement *spec, size_t index,
                          struct match__requirement *out) {
    struct place place = {b, "matchFields", index};
    struct str name = spec->operator;
    if (!find_op(name, &out->op) || !ops[out->op].for_fields) {
        add_unsupported(&place, name, true);
        return false;
    }
    if (spec->values.n != 1) {
        add_wrong_count(&place, &spec->values, STR("must have one element"));
        return false;
    }
    out->key = match__hold(b, spec->key);
    out->is_name = str_is(spec->key, "metadata.name");
    hold_values(b, &spec->values, out);
    return true;
}

/* ---- matching ---- */

static bool is_among(const struct match__requirement *r, struct atom *value) {
    if (r->sorted)
        return bsearch(&value, r->sorted, r->value_count, sizeof value, by_address);
    for (uint32_t i = 0; i < r->value_count; i++)
        if (r->values[i] == value)
            return true;
    return false;
}

static enum match_node_code check_number(const struct match__requirement *r, struct atom *value) {
    int64_t number;
    if (!intern_integer(value, &number))
        return MATCH_NODE_NO_NUMBER;
    if (r->op == MATCH__NODE_LT)
        return number < r->number ? MATCH_NODE_YES : MATCH_NODE_NOT_LESS;
    return number > r->number ? MATCH_NODE_YES : MATCH_NODE_NOT_GREATER;
}

static enum match_node_code check_version(const struct match__requirement *r, struct atom *value) {
    if (!intern_version(value))
        return MATCH_NODE_NO_VERSION;
    int order = intern_version_cmp(value, r->values[0], 0);
    if (r->op == MATCH__NODE_SEMVER_LT)
        return order < 0 ? MATCH_NODE_YES : MATCH_NODE_NOT_LESS;
    if (r->op == MATCH__NODE_SEMVER_GT)
        return order > 0 ? MATCH_NODE_YES : MATCH_NODE_NOT_GREATER;
    return order == 0 ? MATCH_NODE_YES : MATCH_NODE_VERSIONS_DIFFER;
}

enum match_node_code match__expression_check(const struct match__requirement *r,
                                             const struct match_node *node) {
    struct atom *value = match__node_label(node, r->key);
    if (!value)
        return r->op == MATCH__NODE_NOT_IN || r->op == MATCH__NODE_DOES_NOT_EXIST
                   ? MATCH_NODE_YES
                   : MATCH_NODE_NO_LABEL;
    switch (r->op) {
    case MATCH__NODE_IN:
        return is_among(r, value) ? MATCH_NODE_YES : MATCH_NODE_NOT_AMONG;
    case MATCH__NODE_NOT_IN:
        return is_among(r, value) ? MATCH_NODE_AMONG : MATCH_NODE_YES;
    case MATCH__NODE_EXISTS:
        return MATCH_NODE_YES;
    case MATCH__NODE_DOES_NOT_EXIST:
        return MATCH_NODE_HAS_LABEL;
    case MATCH__NODE_GT:
    case MATCH__NODE_LT:
        return check_number(r, value);
    default:
        return check_version(r, value);
    }
}

/* metadata.name is the only field there is; the others read as empty. */
enum match_node_code match__field_check(const struct match__requirement *r,
                                        const struct match_node *node) {
    bool equal = r->is_name ? r->values[0] == node->name : r->values[0]->length == 0;
    if (r->op == MATCH__NODE_IN)
        return equal ? MATCH_NODE_YES : MATCH_NODE_NOT_AMONG;
    return equal ? MATCH_NODE_AMONG : MATCH_NODE_YES;
}
