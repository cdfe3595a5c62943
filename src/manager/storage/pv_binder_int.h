/*
 * The controller that binds claims to volumes: what its files share.
 *
 * It writes at most one object at a time for a claim or a volume, and looks at it again when that
 * was done, with what informers have seen by then. So every step follows from what is stored, as it
 * must after a restart.
 */
#ifndef MANAGER_STORAGE_PV_BINDER_INT_H
#define MANAGER_STORAGE_PV_BINDER_INT_H

#include "api/claim_binding.h"
#include "base/clock.h"
#include "manager/controller_int.h"

/* What cannot be done yet is tried again after this. */
#define PV__RESYNC (15 * CLOCK_SECOND)

#define PV__PROVISIONER     STR("volume.kubernetes.io/storage-provisioner")
#define PV__OLD_PROVISIONER STR("volume.beta.kubernetes.io/storage-provisioner")
#define PV__MIGRATED_TO     STR("pv.kubernetes.io/migrated-to")

struct labelled;
struct pv_index;

struct pv_binder {
    struct manager__base base;
    struct workqueue *claim_queue, *volume_queue;
    struct informer *claims, *volumes, *classes;
    struct pv_index *index;
    struct labelled *pods;      /* by the claims that they name */
    struct labelled *by_volume; /* claims, by the volumes that they name */
};

/* Work on a claim (pv_claims.c) and on a volume (pv_volumes.c). */
void pv__sync_claim(void *self, struct work *w, const struct api_object *o);
void pv__sync_volume(void *self, struct work *w, const struct api_object *o);

/* ---- pods (pv_pods.c) ---- */

/* A pod is new, has changed or is gone. */
void pv__pod_set(void *self, const struct api_object *old, const struct api_object *pod);
void pv__pod_deleted(void *self, const struct api_object *last);

/* The names of pods that have not ended and name the claim, sorted and joined by commas in the
 * arena; *n tells how many. Only those without a node, by their names alone, or all of them with
 * their namespaces. */
struct str pv__pods_of(struct pv_binder *b, struct arena *a, struct str namespace, struct str claim,
                       bool only_waiting, size_t *n);

/* ---- writes (pv_writes.c): each is true when something is to be written, and was sent ---- */

/* What is said when a write was done; a NULL reason: nothing. The text lives as long as the work.
 */
struct pv_remark {
    enum events_type type;
    const char *reason;
    struct str text;
};

/* Sends an object, which is taken, or its status. */
void pv__send(struct pv_binder *b, struct work *w, struct api_object *draft,
              const char *subresource, const struct pv_remark *remark);

/* The phase of a volume. */
bool pv__set_volume_phase(struct pv_binder *b, struct work *w, const struct api_object *volume,
                          const char *phase, const struct pv_remark *remark);

/* The status of a claim: its phase, and what it has of its volume, or of none (NULL). */
bool pv__set_claim_status(struct pv_binder *b, struct work *w, const struct api_object *claim,
                          const char *phase, const struct api_object *volume,
                          const struct pv_remark *remark);

/* The next step of binding one to the other; false: it is done. */
bool pv__bind(struct pv_binder *b, struct work *w, const struct api_object *volume,
              const struct api_object *claim);

/* Gives a volume back: it names no claim any more, or the one that its maker named. */
void pv__unbind(struct pv_binder *b, struct work *w, const struct api_object *volume);

/* Has the annotation that says by which driver an old plug-in was replaced. */
bool pv__set_migration(struct pv_binder *b, struct work *w, const struct api_object *o,
                       struct str plugin);

#endif
