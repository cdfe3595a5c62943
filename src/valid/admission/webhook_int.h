/* What webhooks and policies of admission share: which requests they are asked about. */
#ifndef VALID_ADMISSION_WEBHOOK_INT_H
#define VALID_ADMISSION_WEBHOOK_INT_H

#include "valid/declared_int.h"

/* Resources and operations at p. */
void valid__rule_with_operations(struct valid *v, const struct path *p,
                                 const struct api_rule_with_operations *r);
/* Which requests a policy or a binding is about; NULL: nothing to say. */
void valid__match_resources(struct valid *v, const struct path *p,
                            const struct api_match_resources *m);
/* Operations that change nothing cannot be mutated; p is that of the list of rules. */
void valid__mutating_operations(struct valid *v, const struct path *p,
                                const struct api_named_rule_with_operations_list *rules);
/* The expressions that old objects have, by where they stand; those are compiled as stored ones. */
struct stored_expressions {
    struct seen of[VALID_CEL_PLACES];
};
/* None, and none any more. */
void valid__stored_init(struct stored_expressions *stored);
void valid__stored_release(struct stored_expressions *stored);
/* Notes the expressions of conditions. */
void valid__store_conditions(struct stored_expressions *stored,
                             const struct api_match_condition_list *list);

/* Conditions in CEL: their names and expressions. */
void valid__match_conditions(struct valid *v, const struct path *p,
                             const struct api_match_condition_list *list, bool has_params,
                             const struct stored_expressions *stored);

/* Names of what a server reads from files are not for new objects. */
void valid__static_suffix(struct valid *v, const struct api_object *o);

/* Is there nothing but white space in the text? */
bool valid__is_blank(struct str text);
/* The one of two words, or more; the list ends with NULL. */
extern const char *const valid__failure_policies[], *const valid__match_policies[],
                                                        *const valid__reinvocation_policies[];
/* A text that may be absent must be one of the list. */
void valid__optional_choice(struct valid *v, const struct path *p, struct str text,
                            const char *const *supported);

#endif
