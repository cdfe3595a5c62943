/*
 * The words in which upstream declares rules beside the fields of its types. A rule is in force
 * with the gate DeclarativeValidationBeta, unless v->is_standard says that it always is; what it
 * finds takes the place of what a covered rule (valid__cover) found, if that is the same. What an
 * update does not change is not looked at again: whoever calls them knows that.
 */
#ifndef VALID_DECLARED_INT_H
#define VALID_DECLARED_INT_H

#include "valid/metadata_int.h"

/* Required value, without a word more. */
void valid__say_required(struct valid *v, const struct path *p);
/* Forbidden, without a word more. */
void valid__say_forbidden(struct valid *v, const struct path *p);
/* Invalid value: null: field is immutable */
void valid__say_immutable(struct valid *v, const struct path *p);
/* The same for the three ways in which a field may not change. */
void valid__say_not_set(struct valid *v, const struct path *p);
void valid__say_not_cleared(struct valid *v, const struct path *p);
void valid__say_not_modified(struct valid *v, const struct path *p);
/* Duplicate value: <value> */
void valid__say_duplicate(struct valid *v, const struct path *p, struct value value);
/* Unsupported value: <value>, unless it is in the list, which ends with NULL. */
void valid__say_choice(struct valid *v, const struct path *p, struct str text,
                       const char *const *supported);

/* Most and fewest: bytes and characters of texts, items of lists, numbers. */
void valid__most_bytes(struct valid *v, const struct path *p, struct str text, size_t most);
void valid__most_characters(struct valid *v, const struct path *p, struct str text, size_t most);
void valid__most_items(struct valid *v, const struct path *p, size_t n, size_t most);
void valid__least(struct valid *v, const struct path *p, int64_t value, int64_t least);
void valid__most(struct valid *v, const struct path *p, int64_t value, int64_t most);

/* Names: a label, a subdomain, one in letters of either case, and what is wrong with any other. */
void valid__short_name(struct valid *v, const struct path *p, struct str name);
void valid__long_name(struct valid *v, const struct path *p, struct str name);
void valid__caseless_name(struct valid *v, const struct path *p, struct str name);
void valid__say_names(struct valid *v, const struct path *p, struct str name,
                      const struct names_errs *errs, const char *origin);
#define ORIGIN_SHORT_NAME "format=k8s-short-name"
#define ORIGIN_LONG_NAME  "format=k8s-long-name"
#define ORIGIN_CASELESS   "format=k8s-long-name-caseless"
#define ORIGIN_LABEL_KEY  "format=k8s-label-key"

/* A member of a union, of which one must be set: in the order of the texts that list them. */
struct union_member {
    const char *name;
    bool is_set, was_set;
};
/* Exactly one of them; has_old: an update, which is not asked when the same are set. */
void valid__say_union(struct valid *v, const struct path *p, const struct union_member *members,
                      size_t n, bool has_old);
/* The same, of at most one. */
void valid__say_at_most_one(struct valid *v, const struct path *p,
                            const struct union_member *members, size_t n, bool has_old);

/* Is the rule in force? Then the errors that follow are marked with their origin. */
bool valid__begin_declared(struct valid *v, const char *origin);

/* All that the tables of declared/ have of the object's type; old is NULL on create. */
void valid__declared_rows(struct valid *v, const struct api_object *o,
                          const struct api_object *old);

#endif
