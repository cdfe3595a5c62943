/* Inside of the volume plug-ins: what they remember from one cycle to the next. */
#ifndef SCHED_VOLUMES_STATE_INT_H
#define SCHED_VOLUMES_STATE_INT_H

#include <string.h>

#include "api/selector_index.h"
#include "sched/volumes/attached_int.h"
#include "sched/volumes/volumes_int.h"

/* ---- volumes that claims may get (shelves.c) ---- */

/* Volumes that nobody had when they were put here, by size; one that was taken since stays. */
struct sched__rack {
    struct sched__pv **v;
    size_t n, cap;
    VEC(uint32_t) next; /* by place, and one behind the last: all before that one are taken */
    uint64_t plan;      /* serial of the plan that looked last; of no use to it is what is */
    uint32_t cursor;    /* before this place */
};

/* Racks of volumes that want certain values of one label, such as the name of the host. */
struct sched__rack_row {
    struct str key;
    struct map racks; /* struct sched__rack by the label's value */
};

/* Volumes that differ in size, labels and what they want of nodes only. */
struct sched__shelf {
    const struct api_strs *modes;
    VEC(struct sched__pv *) all;        /* by size */
    VEC(struct sched__rack_row *) rows; /* by key */
    struct sched__rack common;          /* volumes that want no such value */
    bool is_labelled;                   /* these are there, for claims that select volumes: */
    struct map labelled;                /* struct sched__rack by a label that volumes have */
};

/* Shelves that differ in access modes only. */
struct sched__shelf_group {
    VEC(struct sched__shelf *) shelves;
};

/* A volume that somebody has; borrowed from the store. */
struct sched__held {
    const struct api_object *object;
    uint32_t order; /* in the store */
};

struct sched__held_list {
    struct sched__held *v;
    size_t n, cap;
};

struct sched__shelves {
    bool made;
    uint64_t generation;        /* of volumes, when all this was made */
    struct map groups;          /* struct sched__shelf_group by class, mode and attributes class */
    struct map shelves;         /* struct sched__shelf by these and access modes */
    struct map held;            /* struct sched__held_list by namespace and name of the claim */
    struct sched__rack nothing; /* for selectors that no volume can match */
    struct buf key;
    struct arena arena;
};

/* The shelves, up to date. */
struct sched__shelves *sched__shelves_get(struct sched *s);

/* Frees them; fine if there are none. */
void sched__shelves_release(struct sched__shelves *x);

/* Where volumes of the claim's class, mode and attributes class are; NULL: there are none. */
const struct sched__shelf_group *sched__shelves_find(struct sched__shelves *x,
                                                     const struct sched__claim *c);

/* The next rack beside the common one where a node with these labels may find volumes; *at is 0 at
 * first. NULL: there are no more. */
struct sched__rack *sched__shelf_next_rack(const struct sched__shelf *shelf,
                                           const struct labels *labels, size_t *at);

/* A rack with all volumes of the shelf that the selector can match, the smallest that there is;
 * NULL: the selector asks for no label with a single value. */
struct sched__rack *sched__shelf_labelled(struct sched__shelves *x, struct sched__shelf *shelf,
                                          const struct selector *selector);

/* Volumes whose holder has the claim's name, in the order of the store; NULL: none. */
const struct sched__held_list *sched__shelves_held(struct sched__shelves *x,
                                                   const struct api_object *claim);

/* The volume, which nobody had, was taken for a claim. */
void sched__shelves_hold(struct sched *s, struct sched__pv *pv, const struct sched__holder *holder);

/* ---- capacities, compiled (capacities.c) ---- */

/* A capacity that nodes may reach; borrowed from the store. */
struct sched__offer {
    const struct api_csi_storage_capacity *capacity;
    int64_t limit; /* bytes of one volume */
};

struct sched__capacities {
    uint64_t generation; /* of the store's capacities, when all this was made */
    struct arena arena;
    struct map classes;          /* struct class_offers by name of the storage class */
    struct selector_index index; /* struct sched__offer by storage class and selector of nodes */
    struct selector_search search;
    VEC(const struct sched__offer *) steps; /* being looked for */
    struct arena found;                     /* what nodes reach, and: */
    size_t found_bytes;                     /* how much that is */
    struct buf key;
};

/* Frees them; NULL is fine. */
void sched__capacities_free(struct sched__capacities *x);

/* ---- what is remembered ---- */

struct sched__volumes {
    struct map compiled; /* struct sched__pv by name of the volume */
    struct map taken;    /* struct sched__taken by name of the volume: bound to a claim */
    struct map placed;   /* struct sched__taken by "namespace/name" of the claim: node chosen */
    struct map users;    /* of claims by "namespace/name": number of pods */
    struct map disks;    /* of pods on nodes, see disks.c */
    struct sched__shelves shelves;
    struct sched__capacities *capacities; /* NULL: not asked for yet */
    struct sched__attachments attachments;
    uint64_t plans; /* that were made */
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

/* Frees a compiled volume; and what was compiled of an object, if anything was. */
void sched__pv_free(struct sched__pv *pv);
void sched__pv_drop(struct sched *s, const struct api_object *object);

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
