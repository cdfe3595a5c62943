/*
 * What the API server would say to one object, and how it comes about: decoded, defaulted, changed
 * by admission, prepared, validated, and looked at for advice.
 */
#ifndef CMD_VERDICT_H
#define CMD_VERDICT_H

#include "advice/advice.h"
#include "cmd/input.h"
#include "cmd/stored.h"
#include "feature/feature.h"

struct valid_cel;

struct judge_opts {
    const struct feature_config *gates; /* borrowed */
    struct str namespace;               /* of the request; empty = default */
    const struct valid_cel *cel;        /* compiles expressions; borrowed */
    bool strict;                        /* unknown and repeated fields are refused */
    bool warnings;                      /* look for advice */
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
int judge_new(const struct judge_opts *opts, const struct stored *stored, struct judge **out,
              struct err *err);
void judge_free(struct judge *j); /* NULL is fine */

/* Judges one value. *out borrows from the value and from the judge: valid until the next call. */
void judge_value(struct judge *j, const struct input_value *value,
                 const struct input_source *source, struct verdict *out);

#endif
