/*
 * RBAC: roles and bindings, and what they allow.
 *
 * `struct auth_rbac` belongs to one thread, which tells it of every role and binding that is stored
 * or deleted. It publishes `struct auth_rules`, which never change, are counted, and can be asked
 * by any thread. Only what has changed is compiled and indexed again: a role by itself, and the
 * bindings of its namespace.
 *
 * Of several bindings that allow the same, the first by name counts, cluster-wide ones first;
 * upstream takes whichever comes first in its cache.
 */
#ifndef AUTH_RBAC_H
#define AUTH_RBAC_H

#include "auth/auth.h"
#include "base/buf.h"

struct auth_rbac;
struct auth_rules;

/* Without any rules at first. Free it with auth_rbac_free, which accepts NULL. */
struct auth_rbac *auth_rbac_new(void);
void auth_rbac_free(struct auth_rbac *r);

/* Tells of an object that was stored, or deleted (of which only kind, namespace and name count).
 * Kinds that are neither roles nor bindings are passed over. A stored object must be published; one
 * more reference is held. */
void auth_rbac_set(struct auth_rbac *r, const struct api_object *o);
void auth_rbac_delete(struct auth_rbac *r, const struct api_object *o);

/* What holds now; the caller gets a reference. The same as before if nothing has changed. */
const struct auth_rules *auth_rbac_publish(struct auth_rbac *r);

/* ---- on any thread ---- */

/* One more holder; returns rules. And one less: the last one frees them. unref accepts NULL. */
const struct auth_rules *auth_rules_ref(const struct auth_rules *rules);
void auth_rules_unref(const struct auth_rules *rules);

/* May the user do this? */
struct auth_verdict auth_check(const struct auth_rules *rules, const struct auth_attributes *q);

/* Appends the reason of a verdict on this question, as audit logs and reviews have it:
 * `RBAC: allowed by ClusterRoleBinding "x" of ClusterRole "y" to Group "z"`, or which roles are
 * missing; nothing when there is nothing to say. */
void auth_reason_write(struct buf *out, const struct auth_rules *rules,
                       const struct auth_attributes *q, const struct auth_verdict *verdict);

/* auth_check, and the failure that a server answers with: its code is ERR_NONE when it is allowed.
 * *reason may be NULL; texts live in the arena. */
struct registry_failure auth_authorize(const struct auth_rules *rules, struct arena *a,
                                       const struct auth_attributes *q, struct str *reason);

/* The rules that apply to a user in a namespace, or cluster-wide ones alone if it is empty. */
struct auth_granted {
    const struct api_policy_rule **v; /* they live as long as the rules that were asked */
    size_t n;
    struct str missing; /* roles that were not found, as one text; empty: none */
};

/* All rules that apply to the user, in the order of bindings; in the arena. */
struct auth_granted auth_rules_for(const struct auth_rules *rules, struct arena *a,
                                   const struct auth_user *user, struct str namespace);

/* ---- writes to roles and bindings ---- */

/* Somebody creates or replaces an object. Everything is borrowed. */
struct auth_write {
    const struct auth_user *user;
    const struct api_object *object; /* as it would be stored */
    const struct api_object *old;    /* that it replaces; NULL: it is new */
    struct str namespace, name;      /* of the request's path; no name when something is created */
};

/* Nobody may give others what they do not have themselves, unless they may escalate or bind. The
 * failure is without a code when the write is fine, also for kinds that are not of RBAC. Texts live
 * in the arena. */
struct registry_failure auth_confirm_write(const struct auth_rules *rules, struct arena *a,
                                           const struct auth_write *w);

#endif
