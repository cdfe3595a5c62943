/* Inside of the volume plug-ins: what they remember from one cycle to the next. */
#ifndef SCHED_VOLUMES_STATE_INT_H
#define SCHED_VOLUMES_STATE_INT_H

#include <string.h>

#include "sched/volumes/volumes_int.h"

struct sched__volumes {
    struct map compiled; /* struct sched__pv by name of the volume */
    struct map taken;    /* struct sched__taken by name of the volume: bound to a claim */
    struct map placed;   /* struct sched__taken by "namespace/name" of the claim: node chosen */
    struct map users;    /* of claims by "namespace/name": number of pods */
    struct map disks;    /* of pods on nodes, see disks.c */
};

/* Something that a decision took and that no object shows yet. */
struct sched__taken {
    struct arena arena;              /* of all texts */
    struct str key;                  /* of the volume or claim */
    struct str resource_version;     /* of the object that was taken */
    struct str pod;                  /* key of the pod it was taken for */
    struct str claim_ns, claim_name; /* volumes: who has it */
    struct str claim_uid;
    struct str node; /* claims: where to provision */
};

/* s->volumes, made if need be. */
struct sched__volumes *sched__volumes_get(struct sched *s);

/* What was taken and still counts, as the object has not changed since; NULL: nothing. */
const struct sched__taken *sched__volume_taken(const struct sched *s,
                                               const struct api_object *volume);
const struct sched__taken *sched__claim_placed(const struct sched *s,
                                               const struct api_object *claim);

/* Frees a compiled volume. */
void sched__pv_free(struct sched__pv *pv);

static inline const struct api_pod_spec *sched__pod_spec(const struct api_object *pod) {
    return &((const struct api_pod *)pod->body)->spec;
}
static inline const struct api_persistent_volume_claim *
sched__claim_body(const struct api_object *claim) {
    return claim->body;
}
static inline const struct api_persistent_volume *sched__pv_body(const struct api_object *volume) {
    return volume->body;
}

#endif
