/*
 * Reviews: questions about users that are asked through the API, and answered at once.
 */
#ifndef AUTH_REVIEW_H
#define AUTH_REVIEW_H

#include "auth/rbac.h"
#include "auth/token.h"

/* Who is asked, and by whom. Everything is borrowed. */
struct auth_reviewer {
    const struct auth_rules *rules;
    const struct auth_authenticator *who; /* for TokenReviews; NULL: they get no answer */
    const struct auth_user *user;         /* who asks */
    struct str namespace;                 /* of the path */
    int64_t now;                          /* seconds since the epoch */
};

/* Is it a review that auth_review answers? */
bool auth_is_review(const struct api_object *o);

/* Answers a SubjectAccessReview, LocalSubjectAccessReview, SelfSubjectAccessReview,
 * SelfSubjectRulesReview, SelfSubjectReview or TokenReview: it gets its status, and whatever else
 * a server changes. It must have its defaults and not be published. Texts of a failure live in the
 * arena. */
struct registry_failure auth_review(const struct auth_reviewer *r, struct arena *a,
                                    struct api_object *o);

#endif
