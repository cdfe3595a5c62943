/*
 * What the API server would say to one object, and how it comes about: decoded, defaulted, changed
 * by admission, prepared, validated, and looked at for advice.
 */
#ifndef CMD_REPORT_VERDICT_H
#define CMD_REPORT_VERDICT_H

#include "advice/advice.h"
#include "cli/opt.h"
#include "cmd/source.h"
#include "codec/json.h"
#include "feature/feature.h"

struct registry_remedy;
struct registry_known;
struct valid_cel;

struct verdict_opts {
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
    bool checked;       /* false: its kind is not Kubernetes' own, and nobody looked into it */
    bool has_rules;     /* false: of its fields only those of metadata have rules here */
    struct str text;    /* what kubectl prints when it is rejected, without a line break */
    struct json status; /* the metav1.Status when it is rejected, else null */
    struct advice_notes warnings;
    struct opt_list hints; /* about feature gates that would change the verdict */
};

struct verdict_run;

/* A run; opts are copied, what they point to is stored. Objects in `stored` (which may be NULL) are
 * there already. Fails when a code to silence does not exist. Free with verdict_run_free. */
int verdict_run_new(const struct verdict_opts *opts, const struct registry_known *stored,
                    struct verdict_run **out, struct err *err);
void verdict_run_free(struct verdict_run *run); /* NULL is fine */

/* What becomes of one value. *out borrows from the value and from the run: valid until the next
 * call. */
void verdict_of(struct verdict_run *run, const struct input_value *value,
                const struct input_source *source, struct verdict *out);

/* Appends what to do about a field that a gate refuses, of an object that kubectl calls by this
 * name. False when nothing helps. */
bool verdict_write_hint(struct buf *out, const struct feature_config *gates, struct str resource,
                        const struct registry_remedy *remedy);

#endif
