/*
 * Volumes that are attached to nodes, by CSI driver: those of a node's pods, and those that
 * VolumeAttachments tell of. They are counted when a node is first asked about, and kept up as pods
 * come and go, until an object changes that tells which volume a claim stands for.
 */
#ifndef SCHED_VOLUMES_ATTACHED_INT_H
#define SCHED_VOLUMES_ATTACHED_INT_H

#include "sched/sched_int.h"

struct api_csi_node_driver;

/* A volume that a node has to attach. */
struct sched__attachable {
    struct str driver;
    struct str key; /* of driver and handle */
};

/* Those of a pod; it may have one twice. */
struct sched__attachables {
    struct sched__attachable *v;
    size_t n;
    struct str error; /* upstream's text; absent: none */
    bool not_found;   /* the error is a claim that is not there */
};

struct sched__attach_opts {
    bool has_csi_node; /* the node has one, and translates volumes of old kinds */
    bool is_new;       /* the pod is not there yet: a claim that is not there is an error */
};

/* The volumes that a node has to attach for the pod, in the arena. */
struct sched__attachables sched__attachables(struct sched *s, const struct api_object *pod,
                                             const struct sched__attach_opts *opts,
                                             struct arena *a);

/* What a node that has a CSINode has attached, valid until pods or objects change. */
const struct sched__attached *sched__attached_get(struct sched *s, uint32_t slot);

/* Does a pod there have the volume? How many volumes of the driver are attached, for pods or as an
 * attachment tells? */
bool sched__attached_by_pod(const struct sched__attached *x, struct str key);
size_t sched__attached_count(const struct sched__attached *x, struct str driver);

/* The driver as the CSINode has it, or NULL. */
const struct api_csi_node_driver *sched__attached_driver(const struct sched__attached *x,
                                                         struct str name);

/* Why the volumes of the first pod for which that is so cannot be told, in the arena; absent: they
 * all can. */
struct str sched__attached_error(struct sched *s, uint32_t slot, struct arena *a);

/* A pod came to a node (delta 1) or left it (-1); and pods of a node change places. */
void sched__attached_pod(struct sched *s, const struct sched_pod *p, uint32_t slot, int delta);
void sched__attached_reorder(struct sched *s, uint32_t slot);

/* Forgets what was counted; NULL is fine. */
void sched__attached_free(struct sched__attached *x);

/* VolumeAttachments by node. */
struct sched__attachments {
    uint64_t generation; /* of the objects, when they were listed */
    struct map by_node;  /* those of a node, by its name; borrowed from the store */
    struct arena arena;
};

/* Forgets them. */
void sched__attachments_release(struct sched__attachments *x);

#endif
