/*
 * The places of expressions other than tolerations: what they may name, what they must give, and
 * what is asked of them there.
 *
 * Follows k8s.io/apiserver pkg/admission/plugin/cel, func (compiler) CompileCELExpression.
 * Follows k8s.io/dynamic-resource-allocation cel, func (compiler) CompileCELExpression,
 * func (compiler) validateOutputType.
 */
#include "base/limits.h"
#include "tolexpr/tolexpr_int.h"

#define PART(name) (1U << TOLEXPR__##name)
#define POLICY     (PART(REQUEST) | PART(AUTHORIZER))

#define SCALARS    "bool", "int", "string", "google.protobuf.Any", "dyn", "kubernetes.Semver"
#define OF_SCALARS "a primitive scalar (string, integer, boolean, semver)"

const struct tolexpr__place tolexpr__places[VALID_CEL_PLACES] = {
    [VALID_CEL_TOLERATION] = {PART(TAINT), {"bool"}, "bool, not ", true},
    [VALID_CEL_DEVICE_SELECTOR] = {PART(DEVICE),
                                   {"bool", "google.protobuf.Any"},
                                   "bool or the unknown type, not ",
                                   true},
    [VALID_CEL_DERIVED_ATTRIBUTE] = {PART(DEVICE), {SCALARS}, OF_SCALARS ", not ", true},
    [VALID_CEL_MATCH_CONDITION] = {POLICY, {"bool"}, "bool but got ", false},
    [VALID_CEL_VARIABLE] = {POLICY, {NULL}, NULL, false},
    [VALID_CEL_VALIDATION] = {POLICY, {"bool"}, "bool but got ", false},
    [VALID_CEL_MESSAGE] = {PART(REQUEST), {"string"}, "string but got ", false},
    [VALID_CEL_AUDIT_ANNOTATION] = {POLICY,
                                    {"string", "null_type"},
                                    "one of [string null_type] but got ",
                                    false},
    [VALID_CEL_APPLY_CONFIGURATION] = {POLICY | PART(PATCHES),
                                       {"Object"},
                                       "Object but got ",
                                       false},
    [VALID_CEL_JSON_PATCH] = {POLICY | PART(PATCHES),
                              {"list(JSONPatch)"},
                              "list(JSONPatch) but got ",
                              false},
};

/* The same where attributes may be lists. */
static const struct tolexpr__place list_selector = {
    PART(DEVICE), {"bool", "dyn"}, "bool or the unknown type, not ", true};
static const struct tolexpr__place list_derived = {PART(DEVICE),
                                                   {SCALARS, "list(bool)", "list(int)",
                                                    "list(string)", "list(google.protobuf.Any)",
                                                    "list(dyn)", "list(kubernetes.Semver)"},
                                                   OF_SCALARS " or a list of these scalars, not ",
                                                   true};

static const struct tolexpr__place *place_of(const struct valid_cel_ask *ask) {
    bool lists = tolexpr__places[ask->place].parts & PART(DEVICE) &&
                 feature_enabled(ask->gates, FEATURE_DRAListTypeAttributes);
    if (!lists)
        return &tolexpr__places[ask->place];
    return ask->place == VALID_CEL_DEVICE_SELECTOR ? &list_selector : &list_derived;
}

/* The kinds of devices stand in the order of these two gates. */
static uint32_t device_part(const struct feature_set *gates) {
    return PART(DEVICE) << (feature_enabled(gates, FEATURE_DRAConsumableCapacity) +
                            2 * feature_enabled(gates, FEATURE_DRAListTypeAttributes));
}

static uint32_t parts_of(const struct valid_cel_ask *ask) {
    uint32_t parts = tolexpr__places[ask->place].parts;
    if (parts & PART(DEVICE))
        parts = device_part(ask->gates);
    return parts | (ask->is_stored ? PART(STORED_PART) : 0) | (ask->has_params ? PART(PARAMS) : 0) |
           (ask->variables ? PART(VARIABLES) : 0);
}

bool tolexpr__has_type(const struct tolexpr__place *place, const struct cel_ast *ast,
                       struct arena *a, struct str *sentence) {
    if (!place->types[0])
        return true;
    struct str type = cel_ast_type(ast, a);
    size_t n = sizeof place->types / sizeof *place->types;
    bool good = false;
    for (size_t i = 0; !good && i < n && place->types[i]; i++)
        good = str_is(type, place->types[i]);
    if (!good)
        *sentence = arena_printf(a, "must evaluate to %s%.*s", place->wanted, STR_ARG(type));
    return good;
}

/* The order of the questions is upstream's. */
static struct valid_cel_answer judge(const struct cel_ast *ast, const struct tolexpr__place *place,
                                     struct arena *a) {
    struct valid_cel_answer r = {.text = cel_ast_issues(ast)};
    struct cel_program *program = NULL;
    if (r.text.n)
        r.fault = VALID_CEL_COMPILE;
    else if (!tolexpr__has_type(place, ast, a, &r.text))
        r.fault = VALID_CEL_TYPE;
    else if (!(program = cel_program_new(ast, &r.text)))
        r.fault = VALID_CEL_PROGRAM;
    else if (place->is_costed && (r.cost = cel_estimate(ast).max) > CEL_COST_LIMIT)
        r.fault = VALID_CEL_COST;
    cel_program_free(program);
    r.text = arena_str(a, r.text);
    return r;
}

/* What the object's expressions have taken with this one; texts of errors count, as they are
 * kept. */
static void spend(size_t *spent, const struct cel_ast *ast) {
    size_t weight = cel_ast_weight(ast) + cel_ast_issues(ast).n / 16;
    *spent += weight > LIMIT_OBJECT_COMPILE_LEAST ? weight : LIMIT_OBJECT_COMPILE_LEAST;
}

struct valid_cel_answer tolexpr__check_place(struct tolexpr *x, const struct valid_cel_ask *ask,
                                             struct arena *a, size_t *spent) {
    if (*spent >= LIMIT_OBJECT_COMPILE_BYTES) {
        *spent = SIZE_MAX;
        return (struct valid_cel_answer){.fault = VALID_CEL_TOO_MUCH};
    }
    const struct cel_ast *ast = cel_compile_with(tolexpr__env(x, parts_of(ask)), &x->compiling,
                                                 ask->expression, ask->variables);
    struct valid_cel_answer r = judge(ast, place_of(ask), a);
    if (ask->place == VALID_CEL_VARIABLE)
        cel_fields_add(ask->variables, ask->name, r.fault == VALID_CEL_GOOD ? ast : NULL);
    spend(spent, ast);
    arena_reset(&x->compiling);
    return r;
}
