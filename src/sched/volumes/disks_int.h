/* Disks that exclude each other (disks.c). */
#ifndef SCHED_VOLUMES_DISKS_INT_H
#define SCHED_VOLUMES_DISKS_INT_H

#include "sched/plugin_int.h"

/* Is the volume a disk that others may not use at the same time? */
bool sched__is_disk(const struct api_volume_source *source);

/* One of the names under which a disk excludes others. */
struct sched__disk_name {
    char *text; /* begins with room for a slot */
    size_t n;
    bool read_only;
    size_t volume; /* its place among the pod's */
};

/* In the order of the volumes. */
struct sched__disk_names {
    struct sched__disk_name *v;
    size_t n;
};

/* The names of a pod's disks, in the arena. */
struct sched__disk_names sched__disk_names(struct arena *a, const struct api_object *pod);

/* A pod with these disks came to a node (delta 1) or left it (-1). The map is only for these
 * functions. */
void sched__disks_count(struct map *disks, const struct sched__disk_names *names, uint32_t slot,
                        int delta);

/* The first of the names that is excluded by a disk on the node; NULL: none. */
const struct sched__disk_name *
sched__disks_find(const struct map *disks, const struct sched__disk_names *names, uint32_t slot);

/* Forgets all disks. */
void sched__disks_release(struct map *disks);

#endif
