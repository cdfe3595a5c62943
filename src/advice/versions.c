/*
 * Versions that are compared: in tolerations and in node affinity. What vendors and kernels call
 * a version is a pre-release to the rules of semantic versioning, or nothing at all.
 */
#include "advice/advice_int.h"
#include "base/buf.h"

bool advice__key_has(struct str key, const char *word) {
    struct str domain, name;
    if (!str_cut(key, '/', &domain, &name))
        name = key;
    return str_find(name, str_of(word)) != STR_NONE;
}

bool advice__has_vendor_suffix(const struct semver *v) {
    static const char *const stages[] = {"alpha", "beta",   "rc",      "pre",
                                         "dev",   "canary", "nightly", "snapshot"};
    if (!v->pre_count)
        return false;
    if (!v->pre[0].text)
        return v->pre_count > 1; /* 1.2.3-0 is a usual lowest pre-release */
    struct str first = {v->pre[0].text, (size_t)v->pre[0].number};
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        if (str_starts(first, str_of(stages[i])))
            return false;
    return true;
}

/* ---- every version that an object compares with ---- */

struct use {
    struct str key, operator, value;
    struct advice_place term;  /* of node affinity; its list is NULL: in a toleration */
    size_t requirement, index; /* of the term and of its values; index: of the toleration */
    struct semver version;     /* of value */
};

typedef void use_fn(struct advisor *w, const struct use *use);

static struct str path_of(struct advisor *w, const struct use *u) {
    const struct advice_place *at = &u->term;
    if (!at->list)
        return advice__path(w, ".tolerations[%zu].value", u->index);
    return advice__path(w, ".%s[%zu]%s.matchExpressions[%zu].values[%zu]", at->list, at->index,
                        at->tail, u->requirement, u->index);
}

static bool is_semver_operator(struct str operator) {
    return str_starts(operator, STR("Semver"));
}

static void visit(struct advisor *w, struct use use, use_fn *fn) {
    if (semver_parse_tolerant(w->out->a, use.value, &use.version, NULL) == 0)
        fn(w, &use);
}

static void visit_term(struct advisor *w, const struct api_node_selector_term *term,
                       struct advice_place place, use_fn *fn) {
    for (size_t i = 0; i < term->match_expressions.n; i++) {
        const struct api_node_selector_requirement *r = &term->match_expressions.v[i];
        for (size_t k = 0; is_semver_operator(r->operator) && k < r->values.n; k++)
            visit(w, (struct use){r->key, r->operator, r->values.v[k], place, i, k, {0}}, fn);
    }
}

static void visit_affinity(struct advisor *w, const struct api_node_affinity *affinity,
                           use_fn *fn) {
    const struct api_node_selector *required = affinity->required;
    for (size_t i = 0; required && i < required->node_selector_terms.n; i++)
        visit_term(w, &required->node_selector_terms.v[i], ADVICE_REQUIRED_NODE_TERM(i), fn);
    for (size_t i = 0; i < affinity->preferred.n; i++)
        visit_term(w, &affinity->preferred.v[i].preference, ADVICE_PREFERRED_NODE_TERM(i), fn);
}

static void visit_all(struct advisor *w, use_fn *fn) {
    const struct api_toleration_list *list = &w->spec->tolerations;
    for (size_t i = 0; i < list->n; i++) {
        const struct api_toleration *t = &list->v[i];
        if (is_semver_operator(t->operator))
            visit(
                w,
                (struct use){.key = t->key, .operator= t->operator, .value = t->value, .index = i},
                fn);
    }
    if (w->spec->affinity && w->spec->affinity->node_affinity)
        visit_affinity(w, w->spec->affinity->node_affinity, fn);
}

#define NUMBERS(v) \
    (unsigned long long)(v)->major, (unsigned long long)(v)->minor, (unsigned long long)(v)->patch

/* ---- build-metadata ---- */

static void check_build(struct advisor *w, const struct use *u) {
    if (u->version.build_length)
        advice__say(w, path_of(w, u),
                    "\"+%.*s\" is ignored: %.*s %.*s compares with %llu.%llu.%llu, and no taint or "
                    "label can have a '+'; leave it out",
                    (int)u->version.build_length, u->version.build, STR_ARG(u->operator),
                    STR_ARG(u->value), NUMBERS(&u->version));
}

void advice__build_metadata(struct advisor *w) {
    visit_all(w, check_build);
}

/* ---- kernel-version ---- */

static void check_kernel(struct advisor *w, const struct use *u) {
    if (advice__key_has(u->key, "kernel"))
        advice__say(w, path_of(w, u),
                    "%.*s %.*s misses kernels that are newer: 5.15.0-112-generic counts as less "
                    "than 5.15.0, and 4.18.0-553.el8_10.x86_64 is no version and never matches; "
                    "give nodes a value of three numbers, such as 5.15.0",
                    STR_ARG(u->operator), STR_ARG(u->value));
}

void advice__kernel_version(struct advisor *w) {
    visit_all(w, check_kernel);
}

/* ---- prerelease-admitted ---- */

static void check_admitted(struct advisor *w, const struct use *u) {
    const struct semver *v = &u->version;
    if (!str_is(u->operator, "SemverGt") || v->patch < 99 || v->pre_count)
        return;
    struct str next = arena_printf(w->out->a, "%llu.%llu.0", (unsigned long long)v->major,
                                   (unsigned long long)v->minor + 1);
    advice__say(w, path_of(w, u),
                "SemverGt %.*s also matches pre-releases such as %.*s-alpha.0; for %.*s and above "
                "use two %s, SemverGt %.*s and SemverEq %.*s",
                STR_ARG(u->value), STR_ARG(next), STR_ARG(next),
                u->term.list ? "terms" : "tolerations", STR_ARG(next), STR_ARG(next));
}

void advice__prerelease_admitted(struct advisor *w) {
    visit_all(w, check_admitted);
}

/* ---- vendor-suffix ---- */

static bool is_kubernetes_key(struct str key) {
    return advice__key_has(key, "kubelet") || advice__key_has(key, "kubernetes") ||
           advice__key_has(key, "k8s");
}

static void check_suffix(struct advisor *w, const struct use *u) {
    const struct semver *v = &u->version;
    if (advice__has_vendor_suffix(v))
        advice__say(w, path_of(w, u),
                    "%.*s counts as a pre-release of %llu.%llu.%llu and is less than it: "
                    "%.*s %.*s also goes by the suffix, which vendors change; compare with three "
                    "numbers",
                    STR_ARG(u->value), NUMBERS(v), STR_ARG(u->operator), STR_ARG(u->value));
    else if (is_kubernetes_key(u->key) && !v->pre_count && !str_is(u->operator, "SemverGt"))
        advice__say(w, path_of(w, u),
                    "vendors' builds such as v%llu.%llu.%llu-eks-a737599 are less than "
                    "%llu.%llu.%llu: %.*s %.*s %s; give nodes a value of three numbers",
                    NUMBERS(v), NUMBERS(v), STR_ARG(u->operator), STR_ARG(u->value),
                    str_is(u->operator, "SemverLt") ? "matches them" : "does not match them");
}

static void check_taints(struct advisor *w, const struct api_taint_list *taints) {
    for (size_t i = 0; i < taints->n; i++) {
        struct str value = taints->v[i].value;
        struct semver v;
        if (semver_parse_tolerant(w->out->a, value, &v, NULL) < 0 || !advice__has_vendor_suffix(&v))
            continue;
        advice__say(w, arena_printf(w->out->a, "spec.taints[%zu].value", i),
                    "%.*s counts as a pre-release: it is less than %llu.%llu.%llu, SemverLt "
                    "%llu.%llu.%llu matches it and SemverEq %llu.%llu.%llu does not; taint the "
                    "node with %llu.%llu.%llu",
                    STR_ARG(value), NUMBERS(&v), NUMBERS(&v), NUMBERS(&v), NUMBERS(&v));
    }
}

void advice__vendor_suffix(struct advisor *w) {
    if (w->spec)
        visit_all(w, check_suffix);
    else if (w->o->type == &api_types[API_T_node])
        check_taints(w, &((const struct api_node *)w->o->body)->spec.taints);
}
