/*
 * Roles and bindings as they come and go, and what is published of them: by namespace, the roles by
 * name and the bindings by whom they concern.
 */
#include <stdlib.h>

#include "auth/rbac_int.h"
#include "base/alloc.h"

/* Roles and bindings of a namespace, as told so far. */
struct space {
    char *name;                /* of the namespace; empty: objects without one */
    struct str namespace;      /* the same as a view */
    struct map roles;          /* name to struct auth__role, held */
    struct map bindings;       /* name to struct api_object, held */
    struct auth__scope *scope; /* what was published last, held; NULL: it is out of date */
};

struct auth_rbac {
    struct map spaces;                  /* namespace to struct space */
    const struct auth_rules *published; /* held; NULL: out of date */
    uint64_t seed;
};

/* ---- kinds ---- */

static bool is_role(const struct api_object *o) {
    return api_object_is(o, API_T_role) || api_object_is(o, API_T_cluster_role);
}

static bool is_binding(const struct api_object *o) {
    return api_object_is(o, API_T_role_binding) || api_object_is(o, API_T_cluster_role_binding);
}

static const struct api_policy_rule_list *rules_of(const struct api_object *role) {
    return api_object_is(role, API_T_role) ? &((const struct api_role *)role->body)->rules
                                           : &((const struct api_cluster_role *)role->body)->rules;
}

const struct api_subject_list *auth__subjects(const struct api_object *binding) {
    return api_object_is(binding, API_T_role_binding)
               ? &((const struct api_role_binding *)binding->body)->subjects
               : &((const struct api_cluster_role_binding *)binding->body)->subjects;
}

const struct api_role_ref *auth__role_ref(const struct api_object *binding) {
    return api_object_is(binding, API_T_role_binding)
               ? &((const struct api_role_binding *)binding->body)->role_ref
               : &((const struct api_cluster_role_binding *)binding->body)->role_ref;
}

/* ---- counting ---- */

static void hold(uint32_t *refs) {
    __atomic_fetch_add(refs, 1, __ATOMIC_RELAXED);
}

/* True when this was the last holder. */
static bool let_go(uint32_t *refs) {
    return __atomic_fetch_sub(refs, 1, __ATOMIC_ACQ_REL) == 1;
}

static void unref_role(struct auth__role *role) {
    if (!role || !let_go(&role->refs))
        return;
    api_object_unref(role->object);
    free(role);
}

static void release_roles(struct map *roles) {
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(roles, &at));)
        unref_role(e->value);
    map_release(roles);
}

static void unref_scope(struct auth__scope *scope) {
    if (!scope || !let_go(&scope->refs))
        return;
    release_roles(&scope->roles);
    for (size_t i = 0; i < scope->binding_count; i++)
        api_object_unref(scope->bindings[i]);
    map_release(&scope->users);
    map_release(&scope->groups);
    arena_release(&scope->arena);
    free(scope);
}

const struct auth_rules *auth_rules_ref(const struct auth_rules *rules) {
    hold(&rules->own->refs);
    return rules;
}

void auth_rules_unref(const struct auth_rules *rules) {
    if (!rules || !let_go(&rules->own->refs))
        return;
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&rules->scopes, &at));)
        unref_scope(e->value);
    map_release(&rules->own->scopes);
    free(rules->own);
}

/* ---- roles ---- */

static void add_sieve(struct auth__sieve *sum, const struct auth__sieve *s) {
    sum->verbs |= s->verbs;
    sum->groups |= s->groups;
    sum->resources |= s->resources;
    sum->urls |= s->urls;
}

static struct auth__role *compile_role(const struct api_object *o) {
    const struct api_policy_rule_list *rules = rules_of(o);
    size_t bytes = size_mul(rules->n, sizeof(struct auth__sieve));
    struct auth__role *role = xcalloc(1, sizeof *role + bytes);
    role->refs = 1;
    role->object = api_object_ref(o);
    role->rules = rules;
    for (size_t i = 0; i < rules->n; i++) {
        role->sieves[i] = auth__sieve_of_rule(&rules->v[i]);
        add_sieve(&role->any, &role->sieves[i]);
    }
    return role;
}

/* ---- scopes ---- */

static int compare_bindings(const void *a, const void *b) {
    const struct api_object *const *x = a, *const *y = b;
    return str_cmp((*x)->meta->name, (*y)->meta->name);
}

static void take_bindings(struct auth__scope *scope, const struct map *bindings) {
    size_t at = 0;
    scope->bindings = arena_array(&scope->arena, const struct api_object *, bindings->live);
    for (struct map_entry *e; (e = map_next(bindings, &at));)
        scope->bindings[scope->binding_count++] = api_object_ref(e->const_value);
    if (scope->binding_count)
        qsort(scope->bindings, scope->binding_count, sizeof *scope->bindings, compare_bindings);
}

/* The name of the user or group that a subject stands for; absent when it stands for nobody. */
static struct str name_of_subject(struct auth__scope *scope, const struct api_subject *s) {
    if (!str_is(s->kind, "ServiceAccount"))
        return auth__key(s->name);
    struct str namespace = s->namespace.n ? s->namespace : scope->namespace;
    if (!namespace.n)
        return (struct str){0};
    return arena_printf(&scope->arena, AUTH_SERVICE_ACCOUNT "%.*s:%.*s", STR_ARG(namespace),
                        STR_ARG(s->name));
}

static struct map *place_of_subject(struct auth__scope *scope, const struct api_subject *s) {
    if (str_is(s->kind, "Group"))
        return &scope->groups;
    return str_is(s->kind, "User") || str_is(s->kind, "ServiceAccount") ? &scope->users : NULL;
}

/* Files a subject; they come from the last to the first, so that lists are in order. */
static void file_subject(struct auth__scope *scope, size_t binding, size_t subject) {
    const struct api_subject *s = &auth__subjects(scope->bindings[binding])->v[subject];
    struct map *place = place_of_subject(scope, s);
    struct str name = name_of_subject(scope, s);
    if (!place || !name.p)
        return;
    struct auth__grant *g = arena_new(&scope->arena, struct auth__grant);
    g->binding = (uint32_t)binding;
    g->subject = (uint32_t)subject;
    g->next = map_get(place, name);
    map_put(place, name, g);
}

static struct auth__scope *make_scope(const struct auth_rbac *r, const struct space *space) {
    struct auth__scope *scope = xcalloc(1, sizeof *scope);
    *scope = (struct auth__scope){.refs = 1,
                                  .roles = MAP_INIT(r->seed),
                                  .users = MAP_INIT(r->seed),
                                  .groups = MAP_INIT(r->seed)};
    scope->namespace = arena_str(&scope->arena, space->namespace);
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&space->roles, &at));) {
        struct auth__role *role = e->value;
        hold(&role->refs);
        map_put(&scope->roles, role->object->meta->name, role);
    }
    take_bindings(scope, &space->bindings);
    for (size_t i = scope->binding_count; i-- > 0;)
        for (size_t k = auth__subjects(scope->bindings[i])->n; k-- > 0;)
            file_subject(scope, i, k);
    return scope;
}

const struct auth__scope *auth__scope_find(const struct auth_rules *rules, struct str namespace) {
    return map_get(&rules->scopes, auth__key(namespace));
}

/* ---- what is told ---- */

struct auth_rbac *auth_rbac_new(void) {
    struct auth_rbac *r = xcalloc(1, sizeof *r);
    r->seed = map_random_seed();
    r->spaces = MAP_INIT(r->seed);
    return r;
}

static void free_space(struct space *space) {
    size_t at = 0;
    release_roles(&space->roles);
    for (struct map_entry *e; (e = map_next(&space->bindings, &at));)
        api_object_unref(e->const_value);
    map_release(&space->bindings);
    unref_scope(space->scope);
    free(space->name);
    free(space);
}

void auth_rbac_free(struct auth_rbac *r) {
    if (!r)
        return;
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&r->spaces, &at));)
        free_space(e->value);
    map_release(&r->spaces);
    auth_rules_unref(r->published);
    free(r);
}

static struct str namespace_of(const struct api_object *o) {
    return o->kind->namespaced ? auth__key(o->meta->namespace) : STR("");
}

static struct space *find_space(const struct auth_rbac *r, const struct api_object *o) {
    return map_get(&r->spaces, namespace_of(o));
}

static struct space *find_or_make_space(struct auth_rbac *r, const struct api_object *o) {
    struct space *space = find_space(r, o);
    if (space)
        return space;
    struct str namespace = namespace_of(o);
    space = xcalloc(1, sizeof *space);
    space->name = xmalloc(namespace.n + 1);
    memcpy(space->name, namespace.n ? namespace.p : "", namespace.n);
    space->namespace = (struct str){space->name, namespace.n};
    space->roles = MAP_INIT(r->seed);
    space->bindings = MAP_INIT(r->seed);
    map_put(&r->spaces, space->namespace, space);
    return space;
}

/* What was published of the space holds no longer. */
static void outdate(struct auth_rbac *r, struct space *space) {
    unref_scope(space->scope);
    space->scope = NULL;
    auth_rules_unref(r->published);
    r->published = NULL;
}

/* A map keeps the key that it has, which may live in the object that is to go. */
static void delete_from(struct space *space, const struct api_object *o) {
    if (is_role(o))
        unref_role(map_del(&space->roles, o->meta->name));
    else
        api_object_unref(map_del_const(&space->bindings, o->meta->name));
}

/* Whatever should be in a namespace and is in none is nothing that a server stores. */
static bool is_of_rbac(const struct api_object *o) {
    return (is_role(o) || is_binding(o)) && (!o->kind->namespaced || o->meta->namespace.n);
}

void auth_rbac_set(struct auth_rbac *r, const struct api_object *o) {
    if (!is_of_rbac(o))
        return;
    struct space *space = find_or_make_space(r, o);
    delete_from(space, o);
    if (is_role(o))
        map_put(&space->roles, o->meta->name, compile_role(o));
    else
        map_put_const(&space->bindings, o->meta->name, api_object_ref(o));
    outdate(r, space);
}

void auth_rbac_delete(struct auth_rbac *r, const struct api_object *o) {
    if (!is_of_rbac(o))
        return;
    struct space *space = find_space(r, o);
    if (!space)
        return;
    delete_from(space, o);
    outdate(r, space);
    if (space->roles.live || space->bindings.live)
        return;
    map_del(&r->spaces, space->namespace);
    free_space(space);
}

const struct auth_rules *auth_rbac_publish(struct auth_rbac *r) {
    if (r->published)
        return auth_rules_ref(r->published);
    struct auth_rules *rules = xcalloc(1, sizeof *rules);
    *rules = (struct auth_rules){.refs = 1, .own = rules, .scopes = MAP_INIT(r->seed)};
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&r->spaces, &at));) {
        struct space *space = e->value;
        if (!space->scope)
            space->scope = make_scope(r, space);
        hold(&space->scope->refs);
        map_put(&rules->scopes, space->scope->namespace, space->scope);
    }
    r->published = rules;
    return auth_rules_ref(rules);
}
