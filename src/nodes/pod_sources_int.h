/*
 * What containers and volumes of a pod are made of: ConfigMaps and Secrets, which a kubelet must
 * have before it can mount a volume or make a container.
 */
#ifndef NODES_POD_SOURCES_INT_H
#define NODES_POD_SOURCES_INT_H

#include "api/object.h"

struct nodes;
struct nodes__pod;

enum nodes__source { NODES__CONFIG_MAP, NODES__SECRET, NODES__SOURCES };

/* One of them, in the namespace of the pod. */
struct nodes__source_name {
    enum nodes__source source;
    struct str name;
};

/* What a pod waits for is listed up to this number, and what is wrong with its volumes, too: all of
 * it is looked at again when any of these has come. */
enum { NODES__MOST_LACKING = 16 };

/* Where they are looked up, and what was looked for in vain. */
struct nodes__sources {
    /* *out: the object, or NULL when there is none. False: that is not known yet. */
    bool (*find)(void *arg, enum nodes__source source, struct str namespace, struct str name,
                 const struct api_object **out);
    void *arg;
    uint64_t seed; /* of maps */
    bool is_late;  /* by now it should be known: that it is not is what is wrong */
    struct nodes__source_name lacking[NODES__MOST_LACKING];
    size_t n;
};

/* Why the environment of a container cannot be made, in the arena; empty if it is not known yet
 * whether it can, absent if it can. */
struct str nodes__env_fault(struct arena *a, struct nodes__sources *sources,
                            const struct api_object *pod, const struct api_container *c);

/* A volume that cannot be set up. */
struct nodes__mount_fault {
    struct str volume, why; /* `why` is empty if it is not known yet whether it can */
};

/* Fills in the faults of the volumes that containers mount, up to NODES__MOST_LACKING of them, and
 * tells how many there are. Texts are the pod's or the arena's. */
size_t nodes__mount_faults(struct arena *a, struct nodes__sources *sources,
                           const struct api_object *pod, struct nodes__mount_fault *out);

/* ---- who waits for them ---- */

/* Looks them up for the pods of a namespace; arg of `find` is struct nodes. Informers are made when
 * this is first asked. */
bool nodes__find_source(void *arg, enum nodes__source source, struct str namespace, struct str name,
                        const struct api_object **out);

/* Has the pod looked at again when what it lacks has come or has changed. `is_held`: it lacks
 * something else as well, of which its object will tell; with nothing at all, it waits no more. */
void nodes__await(struct nodes *n, struct nodes__pod *pod, const struct nodes__sources *sources,
                  bool is_held);

/* Is it time to say what the pod waits for, of which this is a hash? It is when that is new, and
 * then ever less often, as a kubelet tries again. *again: nanoseconds until the next time. */
bool nodes__is_time_to_tell(struct nodes *n, struct nodes__pod *pod, uint64_t what, int64_t *again);

#endif
