/*
 * The roles and bindings that every cluster has: what a server writes at its start, and what it
 * makes of those that are there already. And roles that are made of others.
 */
#ifndef AUTH_BOOTSTRAP_H
#define AUTH_BOOTSTRAP_H

#include "api/object.h"

/* Called for each object, which is not published and becomes the callee's. */
typedef void auth_bootstrap_fn(void *ctx, struct api_object *o);

/* Makes all objects: ClusterRoles, ClusterRoleBindings, then Roles and RoleBindings, whose
 * namespaces kube-system and kube-public must be there. */
void auth_bootstrap_each(auth_bootstrap_fn *visit, void *ctx);

/* What a server does about one of them. */
enum auth_reconciliation {
    AUTH_RECONCILE_NONE,     /* it is there and has everything, or wants to be left alone */
    AUTH_RECONCILE_CREATE,   /* it is missing */
    AUTH_RECONCILE_UPDATE,   /* rules, subjects, labels or annotations are added */
    AUTH_RECONCILE_RECREATE, /* it binds another role: it is deleted and made anew */
};

/* Holds what is stored, or NULL, against what is expected. *out is what is to be written, not
 * published and the caller's; NULL if nothing is. */
enum auth_reconciliation auth_reconcile(const struct api_object *expected,
                                        const struct api_object *stored, struct api_object **out);

/* What a ClusterRole with an aggregationRule is to be, by all ClusterRoles, which are sorted by
 * name: a copy with other rules, not published and the caller's. NULL when it is that already, or
 * has no such rule. */
struct api_object *auth_aggregate(const struct api_object *role,
                                  const struct api_object *const *roles, size_t count);

#endif
