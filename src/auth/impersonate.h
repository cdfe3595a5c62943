/*
 * Impersonation: somebody asks as if they were somebody else, if they may.
 */
#ifndef AUTH_IMPERSONATE_H
#define AUTH_IMPERSONATE_H

#include "auth/rbac.h"

/* A header of a request; names in any case. */
struct auth_header {
    struct str name, value;
};

/* Whom a request wants to be, by its headers Impersonate-User, -Group, -Uid and -Extra-KEY. */
struct auth_wanted {
    bool is_set; /* false: nobody else */
    struct auth_user user;
};

/* Reads the headers; other ones are passed over. Fails when they name no user but something else.
 * Texts live in the arena, or with the headers. */
struct registry_failure auth_impersonation_read(struct arena *a, const struct auth_header *headers,
                                                size_t count, struct auth_wanted *out);

/* Who the request is from if it is wanted and allowed: *out, with the groups that go with it. *how
 * is the constraint for the audit log, `impersonate:user-info`, or empty if it is without. Fails
 * when it is not allowed. Texts live in the arena, or where those of `wanted` do. */
struct registry_failure auth_impersonate(const struct auth_rules *rules, struct arena *a,
                                         const struct auth_attributes *q,
                                         const struct auth_user *wanted, struct auth_user *out,
                                         struct str *how);

#endif
