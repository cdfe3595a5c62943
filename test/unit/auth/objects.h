/* What the tests of auth make objects and questions of. */
#ifndef TEST_UNIT_AUTH_OBJECTS_H
#define TEST_UNIT_AUTH_OBJECTS_H

#include "auth/rbac.h"
#include "codec/yml.h"

/* An object from its manifest, which is YAML in flow style; the caller owns it. */
static inline struct api_object *object_of(const char *text) {
    struct arena a = {0};
    struct json tree;
    struct api_object *o = NULL;
    struct err err = {0};
    if (yml_parse(&a, str_of(text), &tree, &err) < 0)
        fail_msg("%s: %s", text, err.msg);
    assert_int_equal(api_object_decode(&tree, NULL, &o, NULL), 0);
    arena_release(&a);
    return o;
}

/* Tells of an object that is stored. */
static inline void tell(struct auth_rbac *r, const char *text) {
    const struct api_object *o = api_publish(object_of(text));
    auth_rbac_set(r, o);
    api_object_unref(o);
}

/* Tells that an object is deleted. */
static inline void untell(struct auth_rbac *r, const char *text) {
    const struct api_object *o = api_publish(object_of(text));
    auth_rbac_delete(r, o);
    api_object_unref(o);
}

#define RBAC "apiVersion: rbac.authorization.k8s.io/v1, "
#define CLUSTER_ROLE(name, rules) \
    "{" RBAC "kind: ClusterRole, metadata: {name: " name "}, rules: [" rules "]}"
#define ROLE(namespace_, name, rules)                                                            \
    "{" RBAC "kind: Role, metadata: {namespace: " namespace_ ", name: " name "}, rules: [" rules \
    "]}"
#define CLUSTER_BINDING(name, role, subjects)                                             \
    "{" RBAC "kind: ClusterRoleBinding, metadata: {name: " name "}, subjects: [" subjects \
    "], roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: " role "}}"
#define BINDING(namespace_, name, kind_, role, subjects)                                       \
    "{" RBAC "kind: RoleBinding, metadata: {namespace: " namespace_ ", name: " name            \
    "}, subjects: [" subjects "], roleRef: {apiGroup: rbac.authorization.k8s.io, kind: " kind_ \
    ", name: " role "}}"
#define USER(name)  "{kind: User, name: " name "}"
#define GROUP(name) "{kind: Group, name: '" name "'}"
#define ACCOUNT(namespace_, name) \
    "{kind: ServiceAccount, namespace: '" namespace_ "', name: " name "}"
#define RULE(verbs_, groups_, resources_) \
    "{verbs: [" verbs_ "], apiGroups: [" groups_ "], resources: [" resources_ "]}"
#define URLS(verbs_, urls_) "{verbs: [" verbs_ "], nonResourceURLs: [" urls_ "]}"

/* A user of these groups, of which the last is followed by NULL. */
#define USER_OF(user_name, ...)                      \
    ((struct auth_user){                             \
        .name = STR_INIT(user_name),                 \
        .groups = {.v = (struct str[]){__VA_ARGS__}, \
                   .n = sizeof((struct str[]){__VA_ARGS__}) / sizeof(struct str)}})

#endif
