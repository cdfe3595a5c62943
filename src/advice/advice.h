/*
 * Advice that the API server does not give: objects that are valid and yet do not do what their
 * author most likely wants. Each kind of advice has a code that never changes, a page in
 * docs/warnings, and can be silenced for a run, or for an object by an annotation.
 */
#ifndef ADVICE_ADVICE_H
#define ADVICE_ADVICE_H

#include "api/object.h"
#include "base/arena.h"
#include "base/err.h"

/* The annotation that lists codes, separated by commas, which are not wanted for an object. */
#define ADVICE_ANNOTATION "berth.dev/silence"

/* What one run has seen and is not to speak of. */
struct advice;
struct advisor;

/* One kind of advice. */
struct advice_row {
    const char *code;
    const char *title; /* one sentence without a full stop: the problem in general */
    enum { ADVICE_ANY, ADVICE_PODS, ADVICE_NODES, ADVICE_DEPLOYMENTS } of; /* what it looks at */
    void (*check)(struct advisor *w); /* NULL: whoever finds it adds it with advice_add */
};

/* All of them in order of their codes, ended by a row whose code is NULL. */
extern const struct advice_row advice_rows[];

/* Advice for one object, and a list of it: what is wrong with it in particular, and how to put it
 * right. */
struct advice_note {
    const char *code;
    struct str path; /* spec.tolerations[0].value */
    struct str text;
};
struct advice_notes {
    struct arena *a; /* holds list and texts */
    struct advice_note *v;
    size_t n, cap;
    size_t left_out;   /* beyond LIMIT_WARNINGS; the last note tells how many */
    uint32_t silenced; /* by the object: a bit for each row */
    bool has_silenced; /* false: nobody has asked yet */
};

/* A new run; free with advice_free, which accepts NULL. */
struct advice *advice_new(void);
void advice_free(struct advice *run);

/* Codes that are not wanted in this run. Fails with ERR_USAGE when there is no such code. */
int advice_silence(struct advice *run, struct str code, struct err *err);

/*
 * Looks at an object that is decoded and defaulted, as its author wrote it: before admission and
 * preparation. What the run has seen before counts: taints of nodes and priority classes.
 * The list is then complete: a last note tells how many others found no room.
 */
void advice_check(struct advice *run, const struct api_object *o, struct advice_notes *out);

/* Adds a note of a known code before advice_check, unless it is silenced for the run or by the
 * object. The texts live in the arena of the list, or outlive it. */
void advice_add(const struct advice *run, const struct api_object *o, struct advice_note note,
                struct advice_notes *out);

#endif
