/*
 * ControllerRevisions: what the template of a workload was, so that it can be told from what it is
 * and be brought back.
 */
#ifndef MANAGER_REVISION_INT_H
#define MANAGER_REVISION_INT_H

#include "manager/adoption_int.h"

struct feature_set;

#define REVISION_HASH "controller-revision-hash"

/* The revisions of a workload, by what its template is now. */
struct revisions {
    const struct api_object *current; /* of the template; the newest of several; NULL: none */
    struct manager__objects same;     /* others of the same template */
    struct manager__objects old;      /* in the order of their numbers */
    int64_t next;                     /* the number that the current one has to have at least */
};

/* What a revision keeps of a template: a patch that puts it in place of another. In the arena. */
struct json revision__data(struct arena *a, const struct api_pod_template_spec *template);

/* Sorts revisions; lists live in the arena. */
void revision__sort(struct arena *a, const struct manager__objects *all, const struct json *data,
                    struct revisions *out);

/* Has a StatefulSet the template of these data when it is brought back to the revision? That may
 * have been written by another version, with members and defaults of its own. */
bool revision__restores(struct arena *a, const struct api_object *set,
                        const struct api_object *revision, const struct json *data,
                        const struct feature_set *gates);

/* A new revision of the owner, not yet created, with this number and a label that is the hash. */
struct api_object *revision__new(const struct api_object *owner,
                                 const struct api_pod_template_spec *template, struct label hash,
                                 int64_t number);

/* The template that a revision keeps, in the arena; false: it keeps none. */
bool revision__template(struct arena *a, const struct api_object *revision,
                        struct api_pod_template_spec *out);

/* The hash that is the label of an object; empty: it has none. */
struct str revision__hash(const struct api_object *o);

/* The hashes that pods have, sorted. */
struct revisions_used {
    struct str *v;
    size_t n;
};

/* Finds them; the list lives in the arena, the texts are the pods'. */
struct revisions_used revision__used(struct arena *a, const struct manager__objects *pods);

/* Has a pod this hash? None has an empty one. */
bool revision__is_used(const struct revisions_used *used, struct str hash);

#endif
