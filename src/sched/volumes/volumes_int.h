/*
 * Claims and volumes, shared by the four plug-ins that look at them: which claims a pod has, which
 * volumes could be theirs on a node, and what earlier decisions already took.
 *
 * A volume is compiled when first asked for and again when the store holds another object of its
 * name. What a decision took (a volume for a claim, a node for a claim that is to be provisioned)
 * is remembered as upstream's assume caches do: until the object comes back with another
 * resourceVersion, or the pod is forgotten.
 */
#ifndef SCHED_VOLUMES_VOLUMES_INT_H
#define SCHED_VOLUMES_VOLUMES_INT_H

#include "api/volumes.h"
#include "sched/plugin_int.h"

struct sched__volumes;

/* ---- what the core calls ---- */

/* The pod was given the node: the volumes and the provisioning that its claims get there are taken,
 * so that the next pod sees it. Moves storage_generation if anything was. The result tells what has
 * to be written, in s->cycle. */
void sched__volumes_assume(struct sched *s, struct sched_pod *p, uint32_t slot,
                           struct sched_result *out);

/* Undoes the above: the pod could not be bound. Nothing happens if nothing was taken. */
void sched__volumes_forget(struct sched *s, struct sched_pod *p);

/* An object that plug-ins look up is another one now, or gone (NULL): what was made of the old one
 * and what decisions took of it are history. Objects that are not about volumes are fine. */
void sched__volumes_replaced(struct sched *s, const struct api_object *old,
                             const struct api_object *now);

/* Frees what was made of all volumes, capacities or attachments before some of them changed: it
 * would be made anew before anybody looks at it. */
void sched__volumes_sweep(struct sched *s);

/* The pod came to a node (delta 1) or left it (-1): counts who uses a claim, who has a disk, and
 * what is attached. Moves storage_generation if that claim may be used by one pod only. */
void sched__volumes_pod(struct sched *s, const struct sched_pod *p, uint32_t slot, int delta);

/* Frees s->volumes. */
void sched__volumes_release(struct sched *s);

/* ---- claims (claims.c) ---- */

struct api_csi_node;
struct api_csi_storage_capacity;
struct api_persistent_volume;
struct api_persistent_volume_claim;
struct api_storage_class;
struct api_volume;
struct api_volume_source;
struct api_volume_node_affinity;
struct selector;

/* The name of the claim that a pod's volume stands for, in the arena if it has to be made; absent
 * if the volume is no claim. */
struct str sched__claim_name(struct arena *a, const struct api_object *pod,
                             const struct api_volume *volume);

/* Does a volume of the pod stand for this claim? Generic ephemeral volumes count if asked for. */
bool sched__claim_is_of_pod(const struct api_object *claim, const struct api_object *pod,
                            bool ephemeral);

/* Absent if the claim of a generic ephemeral volume was made for this pod, else upstream's text. */
struct str sched__claim_owner_error(struct arena *a, const struct api_object *claim,
                                    const struct api_object *pod);

/* May the claim be used by one pod at a time only? */
bool sched__claim_is_exclusive(const struct api_object *claim);

/* Number of pods on nodes that use a claim by its name. */
size_t sched__claim_users(const struct sched *s, struct str ns, struct str name);

/* Does the list have every one of the others? Long lists are sorted first. */
bool sched__strs_cover(const struct api_strs *has, const struct api_strs *wanted);

/* The listers' texts: `persistentvolumeclaim "x" not found`. */
struct str sched__not_found(struct arena *a, const char *resource, struct str name);

/* The filter fails with this text; the first one stays. */
void sched__filter_fail(struct sched__cycle *cy, enum sched_plugin plugin, struct str text);

/* ---- volumes (pv.c) ---- */

/* A PersistentVolume, compiled. */
struct sched__pv {
    const struct api_object *object; /* held */
    const struct api_persistent_volume *body;
    struct str class_name;
    struct quantity size;
    struct match_affinity *affinity; /* NULL: any node */
    struct match_affinity *migrated; /* as its CSI driver sees it; NULL: as above */
    bool migrated_known;
    struct str migration_error; /* absent: none; in the arena */
    struct arena arena;
    /* Of volumes on shelves: */
    uint32_t order;  /* in the store */
    bool is_held;    /* somebody took it since it was put there */
    uint32_t chosen; /* its place among the bindings of a plan, if it is among them */
};

/* The claim that a volume is bound to. */
struct sched__holder {
    struct str ns, name, uid;
};

/* The volume by name (NULL when there is none), or of a stored object. Valid until that changes. */
struct sched__pv *sched__pv_get(struct sched *s, struct str name);
struct sched__pv *sched__pv_of(struct sched *s, const struct api_object *object);

/* Is the volume bound, or assumed to be bound, to any claim? *out: to which. */
bool sched__volume_holder(const struct sched *s, const struct api_object *volume,
                          struct sched__holder *out);

/* Is it this claim? One of another uid is not, unless the volume names none. */
bool sched__holder_is(const struct sched__holder *h, const struct api_object *claim);

/* What the volume wants of nodes, as that node's CSINode (or NULL) makes it to be seen; NULL: any
 * node. An error of the translation goes to *error. */
const struct match_affinity *sched__pv_affinity(struct sched *s, struct sched__pv *pv,
                                                const struct api_object *csi_node,
                                                struct str *error);

/* The node that an unbound claim is to be provisioned for, or assumed to be; absent: none. */
struct str sched__claim_selected_node(const struct sched *s, const struct api_object *claim);

/* ---- the claims of one pod, and what a node makes of them (match.c) ---- */

struct sched__rack;
struct sched__shelf;

/* How many volumes could be an unbound claim's, whatever the node: counted when texts need it. */
struct sched__suitable {
    bool known;
    size_t n;
    struct sched__pv *first;
};

struct sched__claim {
    const struct api_object *object;
    const struct api_persistent_volume_claim *body;
    const struct api_storage_class *storage_class; /* of claims that wait for a consumer */
    struct str selected_node;                      /* absent: any */
    struct quantity size;
    bool has_size;
    size_t order;                /* among those that are unbound */
    struct sched__pv *pv;        /* a bound claim's; NULL: it does not exist */
    struct sched__pv **prebound; /* volumes that are an unbound claim's already */
    size_t prebound_count;
    struct sched__shelf **shelves; /* where other volumes for it are, if the selector matches */
    struct sched__rack **labelled; /* by shelf: those that it can match; NULL: not known */
    size_t shelf_count;
    const struct selector *selector; /* NULL: any */
    struct sched__suitable *suitable;
    bool needs_space; /* the driver says how much it has */
};

struct sched__claim_list {
    struct sched__claim *v;
    size_t n;
};

struct sched__binding {
    const struct sched__claim *claim;
    struct sched__pv *pv;
};

struct sched__provision {
    const struct sched__claim *claim;
    const struct api_csi_storage_capacity *capacity; /* NULL: not looked at */
};

/* In upstream's order of reasons. */
enum sched__conflict {
    SCHED__VOLUME_AFFINITY,
    SCHED__NO_VOLUME,
    SCHED__NO_SPACE,
    SCHED__VOLUME_MISSING,
    SCHED__CONFLICT_COUNT
};

/* Why there is no volume for an unbound claim. */
enum sched__no_volume { SCHED__OTHER_NODE, SCHED__NO_PROVISIONER, SCHED__TOPOLOGY };

/* What comes of a pod's claims on one node. */
struct sched__volume_plan {
    const struct sched__claim *conflicts[SCHED__CONFLICT_COUNT]; /* NULL: none of this kind */
    enum sched__no_volume no_volume;
    bool by_version; /* a bound volume's node affinity asks for another version than the node's */
    struct sched__binding *bindings;
    struct sched__provision *provisions;
    size_t binding_count, provision_count;
    uint64_t serial;  /* tells it from any other */
    struct str error; /* absent: none */
};

/* All that matters of a pod's claims, for one cycle. */
struct sched__pod_claims {
    struct sched__claim_list bound, selected, unbound; /* unbound by size */
    bool immediate;                                    /* some should have been bound before */
    struct str error;                                  /* Filter fails with this; absent: none */
    struct sched__volume_plan plan;                    /* of the node that was asked about last */
};

/* Reads the claims of a pod, which must all exist. Fails with upstream's text in *error. Everything
 * lives in the arena. */
int sched__pod_claims_read(struct sched *s, const struct api_object *pod, struct arena *a,
                           struct sched__pod_claims *out, struct str *error);

/* Lists what could be an unbound claim's volume, whatever the node (candidates.c).
 * Absent, or the text with which Filter fails. */
struct str sched__candidates_find(struct sched *s, struct arena *a, struct sched__claim *c);

/* The volume that the claim gets on a node, or NULL; none that the plan has already. One that is
 * bound to the claim is the only choice. */
struct sched__pv *sched__candidates_choose(const struct sched__claim *c,
                                           const struct sched__volume_plan *plan,
                                           const struct sched__node *node);

/* How many volumes could be the claim's, whatever the node, and the first of them. */
const struct sched__suitable *sched__candidates_count(const struct sched__claim *c);

/* Fills c->plan for a node. */
const struct sched__volume_plan *
sched__pod_claims_place(struct sched *s, struct sched__pod_claims *c, uint32_t slot);

/* Is there any conflict, or an error? */
bool sched__volume_plan_fails(const struct sched__volume_plan *plan);

/* The CSINode of a node, or NULL. */
const struct api_object *sched__csi_node(struct sched *s, uint32_t slot);

/* ---- space for volumes that are to be provisioned (capacities.c) ---- */

/* The most that a volume of this capacity may have; NULL: nothing is said. */
const struct quantity *sched__capacity_limit(const struct api_csi_storage_capacity *capacity);

/* The first capacity of the storage class that nodes with these labels reach and that allows a
 * volume of so many bytes; NULL: there is none. */
const struct api_csi_storage_capacity *sched__capacities_find(struct sched *s,
                                                              struct str class_name, int64_t size,
                                                              const struct labels *labels);

/* ---- volumes of old kinds as CSI volumes (migration.c) ---- */

/* An old kind of volume, and the driver that took its place. */
struct sched__migration {
    struct str plugin, driver, topology;
    uint16_t volume, inline_volume; /* offsets of the sources */
    bool on;                        /* the kubelet and the scheduler translate it */
};

/* The old kind of a PersistentVolume, of a pod's volume, of a provisioner; NULL: none. */
const struct sched__migration *sched__migration_of_pv(const struct api_persistent_volume *pv);
const struct sched__migration *sched__migration_of_volume(const struct api_volume *volume);
const struct sched__migration *sched__migration_of_plugin(struct str plugin);

/* Does the node say that it uses the driver instead? csi_node may be NULL. */
bool sched__migration_is_on_node(const struct sched__migration *m,
                                 const struct api_object *csi_node);

/* The driver's handle of an old volume, in the arena. Fails with upstream's text in *error. */
int sched__migration_handle_pv(struct arena *a, const struct api_object *pv, struct str *out,
                               struct str *error);
int sched__migration_handle_volume(struct arena *a, const struct api_volume *volume,
                                   struct str *out, struct str *error);

/* The volume's node affinity with the driver's topology key, in the arena; may be NULL. */
const struct api_volume_node_affinity *sched__migration_affinity(struct arena *a,
                                                                 const struct api_object *pv);

#endif
