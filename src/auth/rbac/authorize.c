/*
 * May the user do this? Goes through the bindings that concern the user, and through the rules of
 * their roles.
 *
 * Follows k8s.io/kubernetes plugin/pkg/auth/authorizer/rbac, func (*RBACAuthorizer) Authorize.
 * Follows k8s.io/kubernetes pkg/registry/rbac/validation,
 * func (*DefaultRuleResolver) VisitRulesFor.
 */
#include <stdlib.h>

#include "auth/rbac_int.h"
#include "base/goquote.h"
#include "base/vec.h"

/* ---- roles ---- */

const struct auth__role *auth__role_find(const struct auth_rules *rules,
                                         const struct auth__scope *scope,
                                         const struct api_role_ref *ref) {
    if (str_is(ref->kind, "ClusterRole")) {
        scope = auth__scope_find(rules, STR(""));
        return scope ? map_get(&scope->roles, auth__key(ref->name)) : NULL;
    }
    if (str_is(ref->kind, "Role") && scope && scope->namespace.n)
        return map_get(&scope->roles, auth__key(ref->name));
    return NULL;
}

void auth__role_missing_write(struct buf *out, const struct api_role_ref *ref, bool as_path) {
    bool of_cluster = str_is(ref->kind, "ClusterRole");
    if (!of_cluster && !str_is(ref->kind, "Role")) {
        buf_add(out, STR("unsupported role reference kind: "));
        goquote_write(out, ref->kind);
        return;
    }
    buf_addf(out, "%s%s.rbac.authorization.k8s.io ", of_cluster ? "clusterrole" : "role",
             as_path ? "s" : "");
    goquote_write(out, ref->name);
    buf_add(out, STR(" not found"));
}

/* ---- grants ---- */

static void visit_list(const struct auth__grant *g, auth__grant_fn *visit, void *ctx) {
    while (g && visit(ctx, g))
        g = g->next;
}

void auth__grants_visit(const struct auth__scope *scope, const struct auth_user *user,
                        auth__grant_fn *visit, void *ctx) {
    visit_list(map_get(&scope->users, auth__key(user->name)), visit, ctx);
    for (size_t i = 0; i < user->groups.n; i++)
        visit_list(map_get(&scope->groups, auth__key(user->groups.v[i])), visit, ctx);
}

/* ---- the check ---- */

/* The first binding that allows it, so far, and its first subject that is the user. */
struct search {
    const struct auth_rules *rules;
    const struct auth__scope *scope;
    const struct auth_attributes *q;
    struct auth__sieve sieve;
    uint32_t binding, subject; /* UINT32_MAX: none yet */
    bool is_incomplete;
};

static bool role_allows(const struct auth__role *role, const struct search *s) {
    bool is_resource = s->q->is_resource;
    if (!auth__sieve_lets(&role->any, &s->sieve, is_resource))
        return false;
    for (size_t i = 0; i < role->rules->n; i++)
        if (auth__sieve_lets(&role->sieves[i], &s->sieve, is_resource) &&
            auth__rule_allows(&role->rules->v[i], s->q))
            return true;
    return false;
}

/* Lists are in the order of bindings: nothing behind the binding that was found matters. */
static bool look_at_grant(void *ctx, const struct auth__grant *g) {
    struct search *s = ctx;
    if (g->binding > s->binding)
        return false;
    if (g->binding == s->binding) {
        if (g->subject < s->subject)
            s->subject = g->subject;
        return true;
    }
    const struct api_object *binding = s->scope->bindings[g->binding];
    const struct auth__role *role = auth__role_find(s->rules, s->scope, auth__role_ref(binding));
    if (!role)
        s->is_incomplete = true;
    if (!role || !role_allows(role, s))
        return true;
    s->binding = g->binding;
    s->subject = g->subject;
    return true;
}

static bool search_scope(struct search *s, struct str namespace) {
    s->scope = auth__scope_find(s->rules, namespace);
    if (s->scope)
        auth__grants_visit(s->scope, s->q->user, look_at_grant, s);
    return s->binding != UINT32_MAX;
}

struct auth_verdict auth_check(const struct auth_rules *rules, const struct auth_attributes *q) {
    if (auth_user_is_in(q->user, STR(AUTH_MASTERS)))
        return (struct auth_verdict){.allowed = true};
    struct search s = {.rules = rules,
                       .q = q,
                       .sieve = auth__sieve_of_question(q),
                       .binding = UINT32_MAX,
                       .subject = UINT32_MAX};
    if (!search_scope(&s, STR("")) && (!q->namespace.n || !search_scope(&s, q->namespace)))
        return (struct auth_verdict){.is_incomplete = s.is_incomplete};
    return (struct auth_verdict){
        .allowed = true, .binding = s.scope->bindings[s.binding], .subject = s.subject};
}

/* ---- all rules of a user ---- */

struct collection {
    VEC(struct auth__grant) grants;
};

static bool collect_grant(void *ctx, const struct auth__grant *g) {
    struct collection *c = ctx;
    vec_push(&c->grants, *g);
    return true;
}

static int compare_grants(const void *a, const void *b) {
    const struct auth__grant *x = a, *y = b;
    return (x->binding > y->binding) - (x->binding < y->binding);
}

/* What is known so far of a user's rules, and the texts about roles that are missing. */
struct gathering {
    struct arena *a;
    VEC(const struct api_policy_rule *) rules;
    VEC(struct str) missing;
    struct map seen; /* texts in missing */
    bool as_path;
};

static void note_missing(struct gathering *g, const struct api_role_ref *ref) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    auth__role_missing_write(&text, ref, g->as_path);
    if (map_get(&g->seen, buf_view(&text)))
        return;
    struct str kept = arena_str(g->a, buf_view(&text));
    vec_push(&g->missing, kept);
    map_put(&g->seen, kept, g);
}

static void gather_binding(struct gathering *g, const struct auth_rules *rules,
                           const struct auth__scope *scope, size_t binding) {
    const struct api_role_ref *ref = auth__role_ref(scope->bindings[binding]);
    const struct auth__role *role = auth__role_find(rules, scope, ref);
    if (!role)
        note_missing(g, ref);
    for (size_t i = 0; role && i < role->rules->n; i++)
        vec_push(&g->rules, &role->rules->v[i]);
}

static void gather_scope(struct gathering *g, const struct auth_rules *rules,
                         const struct auth_user *user, struct str namespace) {
    const struct auth__scope *scope = auth__scope_find(rules, namespace);
    if (!scope)
        return;
    struct collection c = {0};
    auth__grants_visit(scope, user, collect_grant, &c);
    if (c.grants.n)
        qsort(c.grants.v, c.grants.n, sizeof *c.grants.v, compare_grants);
    for (size_t i = 0; i < c.grants.n; i++)
        if (i == 0 || c.grants.v[i].binding != c.grants.v[i - 1].binding)
            gather_binding(g, rules, scope, c.grants.v[i].binding);
    vec_release(&c.grants);
}

/* One error stands as it is, several stand between brackets. */
static struct str join_missing(struct arena *a, const struct str *v, size_t n) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    for (size_t i = 0; i < n; i++) {
        buf_add(&text, i ? STR(", ") : n > 1 ? STR("[") : STR(""));
        buf_add(&text, v[i]);
    }
    if (n > 1)
        buf_add_char(&text, ']');
    return n ? arena_str(a, buf_view(&text)) : STR("");
}

struct auth_granted auth__rules_granted(const struct auth_rules *rules, struct arena *a,
                                        const struct auth_user *user, struct str namespace,
                                        bool as_path) {
    struct gathering g = {.a = a, .seen = MAP_INIT(map_random_seed()), .as_path = as_path};
    gather_scope(&g, rules, user, STR(""));
    if (namespace.n)
        gather_scope(&g, rules, user, namespace);
    struct auth_granted granted = {
        .v = arena_copy(a, g.rules.v, g.rules.n * sizeof *g.rules.v),
        .n = g.rules.n,
        .missing = join_missing(a, g.missing.v, g.missing.n),
    };
    vec_release(&g.rules);
    vec_release(&g.missing);
    map_release(&g.seen);
    return granted;
}

struct auth_granted auth_rules_for(const struct auth_rules *rules, struct arena *a,
                                   const struct auth_user *user, struct str namespace) {
    return auth__rules_granted(rules, a, user, namespace, false);
}

/* ---- reasons ---- */

/* A name, and the namespace that belongs to it behind a slash, as one quoted word. */
static void write_pair(struct buf *out, struct str name, struct str namespace) {
    AUTO(buf_release) struct buf pair = BUF_INIT(SIZE_MAX);
    buf_add(&pair, name);
    buf_add_char(&pair, '/');
    buf_add(&pair, namespace);
    goquote_write(out, buf_view(&pair));
}

static void write_subject(struct buf *out, const struct api_subject *s, struct str namespace) {
    buf_add(out, s->kind);
    buf_add_char(out, ' ');
    if (str_is(s->kind, "ServiceAccount"))
        write_pair(out, s->name, s->namespace.n ? s->namespace : namespace);
    else
        goquote_write(out, s->name);
}

static void write_binding(struct buf *out, const struct auth_verdict *verdict) {
    const struct api_object *binding = verdict->binding;
    const struct api_role_ref *ref = auth__role_ref(binding);
    bool namespaced = binding->kind->namespaced;
    struct str namespace = namespaced ? binding->meta->namespace : STR("");
    buf_add(out, str_of(binding->kind->kind));
    buf_add_char(out, ' ');
    if (namespaced)
        write_pair(out, binding->meta->name, namespace);
    else
        goquote_write(out, binding->meta->name);
    buf_add(out, STR(" of "));
    buf_add(out, ref->kind);
    buf_add_char(out, ' ');
    goquote_write(out, ref->name);
    buf_add(out, STR(" to "));
    write_subject(out, &auth__subjects(binding)->v[verdict->subject], namespace);
}

void auth_reason_write(struct buf *out, const struct auth_rules *rules,
                       const struct auth_attributes *q, const struct auth_verdict *verdict) {
    if (verdict->binding) {
        buf_add(out, STR("RBAC: allowed by "));
        write_binding(out, verdict);
    } else if (verdict->is_incomplete) {
        AUTO(arena_release) struct arena a = {0};
        buf_add(out, STR("rbac: RBAC: ")); /* the first word is that of upstream's union */
        buf_add(out, auth_rules_for(rules, &a, q->user, q->namespace).missing);
    }
}

struct registry_failure auth_authorize(const struct auth_rules *rules, struct arena *a,
                                       const struct auth_attributes *q, struct str *reason) {
    struct auth_verdict verdict = auth_check(rules, q);
    if (verdict.allowed && !reason)
        return (struct registry_failure){0};
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    auth_reason_write(&text, rules, q, &verdict);
    struct str why = arena_str(a, buf_view(&text));
    if (reason)
        *reason = why;
    return verdict.allowed ? (struct registry_failure){0} : auth_forbidden(a, q, why);
}
