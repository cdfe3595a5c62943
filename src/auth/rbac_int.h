/* What the files of RBAC share: compiled roles, the bindings of a namespace, and rules. */
#ifndef AUTH_RBAC_INT_H
#define AUTH_RBAC_INT_H

#include "auth/rbac.h"
#include "base/map.h"

/* ---- one rule ---- */

/* A bit for what each text of a list looks like: if a question and a rule have none in common, the
 * rule has nothing to do with it. All bits are set for a text that stands for many. */
struct auth__sieve {
    uint64_t verbs, groups, resources, urls;
};

struct auth__sieve auth__sieve_of_rule(const struct api_policy_rule *rule);  /* of a rule */
struct auth__sieve auth__sieve_of_question(const struct auth_attributes *q); /* of both */
bool auth__sieve_lets(const struct auth__sieve *rule, const struct auth__sieve *question,
                      bool is_resource); /* may the rule have to do with the question? */

/* Does the rule allow it? */
bool auth__rule_allows(const struct api_policy_rule *rule, const struct auth_attributes *q);

/* ---- roles and bindings ---- */

/* A Role or ClusterRole, compiled. Immutable and counted. */
struct auth__role {
    uint32_t refs;
    const struct api_object *object; /* held */
    const struct api_policy_rule_list *rules;
    struct auth__sieve any;      /* of all rules together */
    struct auth__sieve sieves[]; /* one for each rule */
};

/* A subject of a binding, filed under the name of a user or group. */
struct auth__grant {
    const struct auth__grant *next; /* of a later binding, or of a later subject of the same */
    uint32_t binding, subject;
};

/* What is in one namespace, or in none. Immutable and counted. */
struct auth__scope {
    uint32_t refs;
    struct arena arena;
    struct str namespace;
    struct map roles; /* name to struct auth__role, held */
    size_t binding_count;
    const struct api_object **bindings; /* by name; held */
    struct map users, groups;           /* name to the first struct auth__grant */
};

struct auth_rules {
    uint32_t refs;
    struct auth_rules *own; /* itself, for those who count its holders */
    struct map scopes;      /* namespace to struct auth__scope, held; empty: that of no namespace */
};

/* A text as the key of a map, which is never absent. */
static inline struct str auth__key(struct str s) {
    return s.p ? s : STR("");
}

/* Subjects and roleRef of a binding of either kind. */
const struct api_subject_list *auth__subjects(const struct api_object *binding);
const struct api_role_ref *auth__role_ref(const struct api_object *binding);

/* The scope of a namespace, or NULL when nothing is in it. */
const struct auth__scope *auth__scope_find(const struct auth_rules *rules, struct str namespace);

/* The role that a roleRef in this scope names, or NULL. */
const struct auth__role *auth__role_find(const struct auth_rules *rules,
                                         const struct auth__scope *scope,
                                         const struct api_role_ref *ref);

/* Appends why there is none; roles are called as the paths of the API call them, or by the singular
 * words that the caches of the authorizer have. */
void auth__role_missing_write(struct buf *out, const struct api_role_ref *ref, bool as_path);

/* ---- the bindings of a user ---- */

/* Calls visit for each grant that the user has in a scope, list by list; a list is in the order of
 * bindings. visit returns false to go on with the next list. */
typedef bool auth__grant_fn(void *ctx, const struct auth__grant *g);
void auth__grants_visit(const struct auth__scope *scope, const struct auth_user *user,
                        auth__grant_fn *visit, void *ctx);

/* All rules that apply to the user, with missing roles named as the paths of the API name them, or
 * as the authorizer does. */
struct auth_granted auth__rules_granted(const struct auth_rules *rules, struct arena *a,
                                        const struct auth_user *user, struct str namespace,
                                        bool as_path);

/* ---- rules that cover others ---- */

struct auth__rules_list {
    struct api_policy_rule *v;
    size_t n, cap;
};

/* The parts of the rules `wanted` that no rule of `held` covers, appended to *missing: each has one
 * verb, resource, group and name. False when there would be too much to compare. */
bool auth__rules_missing(struct arena *a, const struct api_policy_rule *const *held,
                         size_t held_count, const struct api_policy_rule_list *wanted,
                         struct auth__rules_list *missing);

/* Appends ["a" "b"], as Go prints a list of strings with %q. */
void auth__strs_write(struct buf *out, const struct api_strs *list);

#endif
