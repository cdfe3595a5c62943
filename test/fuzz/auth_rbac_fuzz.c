/*
 * Roles, bindings, users and questions, made of few words by the bytes of the input. What the
 * compiled rules allow, and by which binding, is what a plain walk over all objects finds; and
 * whoever may write a role may do all that it allows.
 */
#include "auth/rbac.h"
#include "check.h"

enum { NAMESPACES = 2, ROLES = 3, BINDINGS = 5, RULES = 3, ITEMS = 2, OBJECTS = 32 };

static const char *const verbs[] = {"get", "list", "*", "bind"};
static const char *const groups[] = {"", "apps", "*"};
static const char *const resources[] = {"pods", "pods/log", "*/log", "*", "roles"};
static const char *const names[] = {"r0", "x"};
static const char *const urls[] = {"/a", "/a/*", "*", "/a*"};
static const char *const users[] = {"joe", "system:serviceaccount:n0:joe"};
static const char *const teams[] = {"dev", "ops"};
static const char *const namespaces[] = {"n0", "n1"};
static const char *const role_names[] = {"r0", "r1", "r2"};
static const char *const binding_names[] = {"b0", "b1", "b2", "b3", "b4"};

#define COUNT(list) (sizeof(list) / sizeof *(list))

struct input {
    const uint8_t *p, *end;
};

/* A number below n; 0 when there are no bytes any more. */
static size_t choose(struct input *in, size_t n) {
    return in->p < in->end ? *in->p++ % n : 0;
}

static struct str word(struct input *in, const char *const *list, size_t n) {
    return str_of(list[choose(in, n)]);
}

#define WORD(in, list) word(in, list, COUNT(list))

static struct api_strs words(struct input *in, struct arena *a, const char *const *list, size_t n) {
    struct api_strs out = {.n = choose(in, ITEMS + 1)};
    out.v = arena_array(a, struct str, out.n);
    for (size_t i = 0; i < out.n; i++)
        out.v[i] = word(in, list, n);
    return out;
}

#define WORDS(in, a, list) words(in, a, list, COUNT(list))

/* ---- objects ---- */

static struct api_object *new_object(const char *kind, const char *namespace, const char *name) {
    struct api_object *o =
        api_object_new(api_kind_find(STR("rbac.authorization.k8s.io/v1"), str_of(kind)));
    api_own_meta(o)->namespace = str_of(namespace);
    api_own_meta(o)->name = str_of(name);
    return o;
}

static struct api_policy_rule_list make_rules(struct input *in, struct arena *a) {
    struct api_policy_rule_list rules = {.n = choose(in, RULES + 1)};
    rules.v = arena_array(a, struct api_policy_rule, rules.n);
    for (size_t i = 0; i < rules.n; i++) {
        struct api_policy_rule *r = &rules.v[i];
        r->verbs = WORDS(in, a, verbs);
        r->api_groups = WORDS(in, a, groups);
        r->resources = WORDS(in, a, resources);
        if (choose(in, 4) == 0)
            r->resource_names = WORDS(in, a, names);
        if (choose(in, 4) == 0)
            r->non_resource_urls = WORDS(in, a, urls);
    }
    return rules;
}

static struct api_object *make_role(struct input *in, const char *namespace, const char *name) {
    struct api_object *o = new_object(*namespace ? "Role" : "ClusterRole", namespace, name);
    struct api_policy_rule_list rules = make_rules(in, &o->arena);
    if (*namespace)
        ((struct api_role *)api_own_body(o))->rules = rules;
    else
        ((struct api_cluster_role *)api_own_body(o))->rules = rules;
    return o;
}

static struct api_subject make_subject(struct input *in) {
    switch (choose(in, 3)) {
    case 0:
        return (struct api_subject){.kind = STR("User"), .name = WORD(in, users)};
    case 1:
        return (struct api_subject){.kind = STR("Group"), .name = WORD(in, teams)};
    default:
        return (struct api_subject){.kind = STR("ServiceAccount"),
                                    .name = STR("joe"),
                                    .namespace = choose(in, 2) ? STR("n0") : STR("")};
    }
}

static struct api_object *make_binding(struct input *in, const char *namespace, const char *name) {
    struct api_object *o =
        new_object(*namespace ? "RoleBinding" : "ClusterRoleBinding", namespace, name);
    struct api_subject_list subjects = {.n = choose(in, ITEMS + 1)};
    subjects.v = arena_array(&o->arena, struct api_subject, subjects.n);
    for (size_t i = 0; i < subjects.n; i++)
        subjects.v[i] = make_subject(in);
    struct api_role_ref ref = {.kind = choose(in, 3) ? STR("ClusterRole") : STR("Role"),
                               .name = WORD(in, role_names)};
    if (*namespace) {
        ((struct api_role_binding *)api_own_body(o))->subjects = subjects;
        ((struct api_role_binding *)api_own_body(o))->role_ref = ref;
    } else {
        ((struct api_cluster_role_binding *)api_own_body(o))->subjects = subjects;
        ((struct api_cluster_role_binding *)api_own_body(o))->role_ref = ref;
    }
    return o;
}

/* ---- the plain walk ---- */

struct cluster {
    const struct api_object *v[OBJECTS];
    size_t n;
};

static bool has(const struct api_strs *list, struct str text) {
    for (size_t i = 0; i < list->n; i++)
        if (str_eq(list->v[i], text))
            return true;
    return false;
}

static bool has_or_all(const struct api_strs *list, struct str text) {
    return has(list, STR("*")) || has(list, text);
}

static bool url_allows(const struct api_strs *list, struct str path) {
    for (size_t i = 0; i < list->n; i++) {
        struct str url = list->v[i];
        bool is_prefix = str_ends(url, STR("*"));
        while (str_ends(url, STR("*")))
            url.n--;
        if (is_prefix ? str_starts(path, url) : str_eq(path, url))
            return true;
    }
    return false;
}

static bool rule_allows(const struct api_policy_rule *r, const struct auth_attributes *q) {
    if (!has_or_all(&r->verbs, q->verb))
        return false;
    if (!q->is_resource)
        return url_allows(&r->non_resource_urls, q->path);
    struct buf full = BUF_INIT(256), any = BUF_INIT(256);
    buf_addf(&full, "%.*s%s%.*s", STR_ARG(q->resource), q->subresource.n ? "/" : "",
             STR_ARG(q->subresource));
    buf_addf(&any, "*/%.*s", STR_ARG(q->subresource));
    bool good = has_or_all(&r->api_groups, q->group) &&
                (has_or_all(&r->resources, buf_view(&full)) ||
                 (q->subresource.n && has(&r->resources, buf_view(&any)))) &&
                (!r->resource_names.n || has(&r->resource_names, q->name));
    buf_release(&full);
    buf_release(&any);
    return good;
}

static bool is_user(const struct api_subject *s, const struct auth_user *u, struct str namespace) {
    if (str_is(s->kind, "User"))
        return str_eq(s->name, u->name);
    if (str_is(s->kind, "Group"))
        return auth_user_is_in(u, s->name);
    struct buf name = BUF_INIT(256);
    struct str in = s->namespace.n ? s->namespace : namespace;
    buf_addf(&name, "system:serviceaccount:%.*s:%.*s", STR_ARG(in), STR_ARG(s->name));
    bool same = in.n && str_eq(buf_view(&name), u->name);
    buf_release(&name);
    return same;
}

static const struct api_policy_rule_list *find_role(const struct cluster *c, const char *kind,
                                                    struct str namespace, struct str name) {
    for (size_t i = 0; i < c->n; i++) {
        const struct api_object *o = c->v[i];
        if (!str_is(o->names->kind, kind) || !str_eq(o->meta->namespace, namespace) ||
            !str_eq(o->meta->name, name))
            continue;
        return str_is(o->names->kind, "Role") ? &((const struct api_role *)o->body)->rules
                                              : &((const struct api_cluster_role *)o->body)->rules;
    }
    return NULL;
}

static bool binding_allows(const struct cluster *c, const struct api_object *o,
                           const struct auth_attributes *q) {
    const struct api_role_binding *b = o->body;
    const struct api_cluster_role_binding *of_cluster = o->body;
    bool namespaced = o->kind->namespaced, applies = false;
    const struct api_subject_list *subjects = namespaced ? &b->subjects : &of_cluster->subjects;
    const struct api_role_ref *ref = namespaced ? &b->role_ref : &of_cluster->role_ref;
    for (size_t i = 0; i < subjects->n; i++)
        applies = applies || is_user(&subjects->v[i], q->user, o->meta->namespace);
    bool of_namespace = str_is(ref->kind, "Role");
    const struct api_policy_rule_list *rules =
        applies && (!of_namespace || namespaced)
            ? find_role(c, of_namespace ? "Role" : "ClusterRole",
                        of_namespace ? o->meta->namespace : STR(""), ref->name)
            : NULL;
    for (size_t i = 0; rules && i < rules->n; i++)
        if (rule_allows(&rules->v[i], q))
            return true;
    return false;
}

/* The first binding that allows it: objects are in the order of namespaces and names. */
static const struct api_object *plain_check(const struct cluster *c,
                                            const struct auth_attributes *q) {
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < c->n; i++) {
            const struct api_object *o = c->v[i];
            bool is_binding = str_ends(o->names->kind, STR("Binding"));
            if (is_binding && o->kind->namespaced == (pass == 1) &&
                (pass == 0 || str_eq(o->meta->namespace, q->namespace)) && binding_allows(c, o, q))
                return o;
        }
    return NULL;
}

/* ---- checks ---- */

static struct auth_attributes make_question(struct input *in, const struct auth_user *user) {
    static const char *const asked[] = {"pods", "roles", "deployments"};
    struct auth_attributes q = {.user = user, .verb = WORD(in, verbs)};
    q.is_resource = choose(in, 4) != 0;
    if (!q.is_resource) {
        q.path = choose(in, 2) ? STR("/a/b") : STR("/a");
        return q;
    }
    q.group = WORD(in, groups);
    q.resource = WORD(in, asked);
    q.subresource = choose(in, 3) ? STR("") : STR("log");
    q.name = WORD(in, names);
    q.namespace = choose(in, 3) ? WORD(in, namespaces) : STR("");
    return q;
}

static void check_question(struct input *in, const struct cluster *c,
                           const struct auth_rules *rules, const struct auth_user *user) {
    struct auth_attributes q = make_question(in, user);
    struct auth_verdict verdict = auth_check(rules, &q);
    const struct api_object *expected = plain_check(c, &q);
    struct buf reason = BUF_INIT(65536);
    CHECK(verdict.allowed == (expected != NULL));
    CHECK(verdict.binding == expected);
    auth_reason_write(&reason, rules, &q, &verdict);
    CHECK(!verdict.allowed || reason.n > 0);
    buf_release(&reason);
}

/* Everything that the new role allows was allowed before, if its author is not one who may bind
 * and escalate anything. */
static void check_write(struct input *in, const struct auth_rules *rules,
                        const struct auth_user *user) {
    struct arena a = {0};
    struct api_object *o = make_role(in, "", "new");
    struct auth_write w = {.user = user, .object = o};
    struct auth_attributes escalate = {.user = user,
                                       .verb = STR("escalate"),
                                       .is_resource = true,
                                       .group = STR("rbac.authorization.k8s.io"),
                                       .resource = STR("clusterroles")};
    bool accepted = !auth_confirm_write(rules, &a, &w).code;
    const struct api_policy_rule_list *list = &((const struct api_cluster_role *)o->body)->rules;
    for (int i = 0; accepted && !auth_check(rules, &escalate).allowed && i < 8; i++) {
        struct auth_attributes q = make_question(in, user);
        q.namespace = STR("");
        bool by_new = false;
        for (size_t k = 0; k < list->n; k++)
            by_new = by_new || rule_allows(&list->v[k], &q);
        CHECK(!by_new || auth_check(rules, &q).allowed);
    }
    api_object_free(o);
    arena_release(&a);
}

static void tell(struct auth_rbac *r, struct cluster *c, struct api_object *o) {
    const struct api_object *published = api_publish(o);
    auth_rbac_set(r, published);
    c->v[c->n++] = published;
}

static void fill(struct input *in, struct auth_rbac *r, struct cluster *c) {
    const char *places[] = {"", namespaces[0], namespaces[1]};
    for (size_t p = 0; p < 1 + NAMESPACES; p++) {
        for (size_t i = 0; i < ROLES; i++)
            if (choose(in, 3))
                tell(r, c, make_role(in, places[p], role_names[i]));
        for (size_t i = 0; i < BINDINGS; i++)
            if (choose(in, 2))
                tell(r, c, make_binding(in, places[p], binding_names[i]));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct input in = {data, data + size};
    struct arena a = {0};
    struct auth_rbac *r = auth_rbac_new();
    struct cluster c = {0};
    struct auth_user user = {.name = WORD(&in, users)};
    user.groups = WORDS(&in, &a, teams);
    fill(&in, r, &c);
    const struct auth_rules *rules = auth_rbac_publish(r);
    for (int i = 0; i < 8; i++)
        check_question(&in, &c, rules, &user);
    check_write(&in, rules, &user);
    auth_rules_unref(rules);
    for (size_t i = 0; i < c.n; i++)
        if (choose(&in, 2))
            auth_rbac_delete(r, c.v[i]);
    auth_rules_unref(auth_rbac_publish(r));
    auth_rbac_free(r);
    for (size_t i = 0; i < c.n; i++)
        api_object_unref(c.v[i]);
    arena_release(&a);
    return 0;
}
