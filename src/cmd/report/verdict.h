/*
 * What the API server would say to one object, and how it comes about: decoded, defaulted, changed
 * by admission, prepared, validated, and looked at for advice.
 */
#ifndef CMD_REPORT_VERDICT_H
#define CMD_REPORT_VERDICT_H

#include "advice/advice.h"
#include "cmd/input/input.h"
#include "feature/feature.h"

struct registry_view;
struct valid_cel;

struct judge_opts {
    const struct feature_config *gates; /* borrowed */
    struct str namespace;               /* of the request; empty = default */
    const struct valid_cel *cel;        /* compiles expressions; borrowed */
    bool strict;                        /* unknown and repeated fields are refused */
    bool warnings;                      /* look for advice */
    bool closed;                        /* PriorityClasses that were not seen do not exist */
    struct opt_list silence;            /* codes of warnings that are not wanted */
};

struct verdict {
    struct input_source source;
    struct str api_version, kind, namespace, name; /* as far as they are known */
    struct str resource;                           /* pod/web, deployment.apps/web */
    bool accepted;
    bool checked;       /* false: there are no rules for its kind */
    struct str text;    /* what kubectl prints when it is rejected, without a line break */
    struct json status; /* the metav1.Status when it is rejected, else null */
    struct advice_notes warnings;
    struct opt_list hints; /* about feature gates that would change the verdict */
};

struct judge;

/* A judge; opts are copied, what they point to is stored. Objects in `stored` (which may be NULL)
 * are there already. Fails when a code to silence does not exist. Free with judge_free. */
int judge_new(const struct judge_opts *opts, const struct registry_view *stored, struct judge **out,
              struct err *err);
void judge_free(struct judge *j); /* NULL is fine */

/* Judges one value. *out borrows from the value and from the judge: valid until the next call. */
void judge_value(struct judge *j, const struct input_value *value,
                 const struct input_source *source, struct verdict *out);

/* --- its two halves, for those who must have seen all objects before they judge one --- */

/* The decoded object, the caller's; or NULL, and *out says why. An object with a uid was stored by
 * a server and may have fields that are not known. */
struct api_object *judge_decode(struct judge *j, const struct input_value *value,
                                const struct input_source *source, struct verdict *out);

/* Judges a decoded object, and leaves it as the server would store it if it is accepted. */
void judge_object(struct judge *j, struct api_object *o, const struct input_source *source,
                  struct verdict *out);

/* A PriorityClass that the cluster has, defaulted; one more reference is held. */
void judge_add_class(struct judge *j, struct api_object *class);

#endif
