/*
 * Who asks, and what they may: users, the questions that are asked about them, and the answers.
 *
 * All of it is data in and data out. How somebody proves who they are is in auth/token.h and
 * auth/pki.h, how questions are answered in auth/rbac.h.
 */
#ifndef AUTH_AUTH_H
#define AUTH_AUTH_H

#include "api/object.h"
#include "base/arena.h"
#include "registry/registry.h"

/* ---- users ---- */

#define AUTH_ANONYMOUS             "system:anonymous"
#define AUTH_MASTERS               "system:masters"
#define AUTH_NODES                 "system:nodes"
#define AUTH_AUTHENTICATED         "system:authenticated"
#define AUTH_UNAUTHENTICATED       "system:unauthenticated"
#define AUTH_ALL_SERVICE_ACCOUNTS  "system:serviceaccounts"
#define AUTH_SERVICE_ACCOUNT       "system:serviceaccount:"
#define AUTH_EXTRA_CREDENTIAL_ID   "authentication.kubernetes.io/credential-id"
#define AUTH_EXTRA_POD_NAME        "authentication.kubernetes.io/pod-name"
#define AUTH_EXTRA_POD_UID         "authentication.kubernetes.io/pod-uid"
#define AUTH_EXTRA_NODE_NAME       "authentication.kubernetes.io/node-name"
#define AUTH_EXTRA_NODE_UID        "authentication.kubernetes.io/node-uid"
#define AUTH_EXTRA_ASSOCIATED_KEYS "authentication.kubernetes.io/associated-node-keys"

/* Somebody who asks. Everything is borrowed and lives where the function that filled it says. */
struct auth_user {
    struct str name, uid;
    struct api_strs groups;
    struct api_str_lists extra; /* sorted by key, each key once */
};

/* Whoever does not say who they are. */
extern const struct auth_user auth_anonymous;

/* Is the user a member of the group? */
bool auth_user_is_in(const struct auth_user *user, struct str group);

/* The values of the user's extra key; none when there is no such key. */
struct api_strs auth_user_extra(const struct auth_user *user, struct str key);

/* Adds a group behind the others: the list becomes a new one in the arena. */
void auth_user_join(struct arena *a, struct auth_user *user, struct str group);

/* Adds a value under an extra key; lists become new ones in the arena. Key and value are stored. */
void auth_user_note(struct arena *a, struct auth_user *user, struct str key, struct str value);

/* Adds the group of all who have said who they are, unless the user is anonymous or is in it or in
 * the group of the others already. */
void auth_user_mark_authenticated(struct arena *a, struct auth_user *user);

/* A deep copy: everything lives in the arena. */
struct auth_user auth_user_copy(struct arena *a, const struct auth_user *user);

/* The user as reviews show it, in the arena. The extra map is empty rather than missing. */
struct api_user_info auth_user_info(struct arena *a, const struct auth_user *user);

/* A service account: name and groups in the arena, uid stored. */
struct auth_user auth_service_account(struct arena *a, struct str namespace, struct str name,
                                      struct str uid);

/* The two parts of the user name of a service account; false when it is not one. */
bool auth_service_account_split(struct str username, struct str *namespace, struct str *name);

/* The name of a node in the user name system:node:NAME; false when it is not one. */
bool auth_node_split(struct str username, struct str *name);

/* ---- questions and answers ---- */

/* May this user do this? Everything is borrowed. */
struct auth_attributes {
    const struct auth_user *user;
    struct str verb;
    bool is_resource;
    struct str namespace, group, version, resource, subresource, name; /* of a resource */
    struct str path; /* of anything else: /healthz */
};

/* The answer. What it points to lives as long as the rules that were asked. */
struct auth_verdict {
    bool allowed;
    const struct api_object *binding; /* that allows it; NULL: the group system:masters does */
    size_t subject;                   /* the place of the first subject that is the user */
    bool is_incomplete; /* not allowed, but a binding of the user names a role that is missing */
};

/* How a server refuses: `pods is forbidden: User "joe" cannot list resource "pods" in API group ""
 * in the namespace "default"`, and the reason behind it if there is one. In the arena. */
struct registry_failure auth_forbidden(struct arena *a, const struct auth_attributes *q,
                                       struct str reason);

/* The same with other words: what may not be done with the object of a resource; without a name,
 * with all of its objects, and without a resource, with the request as a whole. Names are stored.
 */
struct registry_failure auth_refuse(struct arena *a, struct str group, struct str resource,
                                    struct str name, struct str why);

/* How a server refuses whoever says wrongly who they are. */
struct registry_failure auth_unauthorized(void);

#endif
