/*
 * Admission: what plug-ins do to an object before its own rules are asked, and what they think of
 * it afterwards. A plug-in is a row of the table and a file of its own.
 */
#ifndef REGISTRY_ADMISSION_INT_H
#define REGISTRY_ADMISSION_INT_H

#include "registry/registry_int.h"

/* One object on its way through the plug-ins. */
struct registry__admission {
    const struct registry *registry;
    const struct registry_request *request;
    struct arena *a; /* of the failure's texts */
    enum registry_operation operation;
    const struct api_kind *resource; /* whose path was asked for; NULL: of the object's kind */
    struct api_object *o;            /* of a deletion: what is deleted */
    const struct api_object *old;    /* that an update replaces; else NULL */
    struct registry_failure failure;
};

/* False, and the failure is filled, when the object is refused. */
typedef bool registry__admit_fn(struct registry__admission *m);

/* A plug-in has nothing to say where a slot is NULL. */
struct registry__admission_plugin {
    const char *name;
    registry__admit_fn *mutate[REGISTRY_OPERATIONS];   /* before preparation and rules */
    registry__admit_fn *validate[REGISTRY_OPERATIONS]; /* behind them */
    enum api_type_id type;    /* of the resources that it looks at; API_TYPES: all */
    const char *subresources; /* that it looks at too, with commas; NULL: none, "*": all */
    bool is_off;              /* unless it is asked for */
    bool is_offline;          /* it can decide without a cluster */
};

extern const struct registry__admission_plugin registry__namespace_lifecycle,
    registry__limit_ranger, registry__service_account, registry__node_restriction,
    registry__taint_nodes, registry__pod_node_selector, registry__priority,
    registry__default_toleration_seconds, registry__pod_toleration_restriction,
    registry__default_storage_class, registry__storage_protection, registry__pod_group_protection,
    registry__owner_references, registry__claim_resize, registry__runtime_class,
    registry__certificate_approval, registry__certificate_signing, registry__trust_bundle_attest,
    registry__certificate_subject, registry__default_ingress_class, registry__pod_topology_labels,
    registry__resource_quota;

/* ---- for the plug-ins ---- */

/* Refuses the object for a reason, printed as printf does: pods "web" is forbidden: <reason>.
 * Always false. */
__attribute__((format(printf, 2, 3))) bool registry__forbid(struct registry__admission *m,
                                                            const char *reason, ...);

/* Refuses the object with a text of its own, for which no reason of the API stands. Always
 * false. */
__attribute__((format(printf, 2, 3))) bool registry__break_off(struct registry__admission *m,
                                                               const char *text, ...);

/* Refuses the object because that of another kind does not exist, as a server says it: namespaces
 * "x" not found; or as upstream's caches do: namespace "x" not found. Always false. */
bool registry__miss(struct registry__admission *m, const struct api_kind *kind, struct str name);
bool registry__miss_cached(struct registry__admission *m, const struct api_kind *kind,
                           struct str name);

/* Is the object of the resource itself, and not of one of its subresources? */
bool registry__is_whole(const struct registry__admission *m);

/* The namespace of the request; empty for resources that have none. */
struct str registry__namespace_of(const struct registry__admission *m);

/* The name of the request: of its path, or of the object. */
struct str registry__name_of(const struct registry__admission *m);

/* The kind of a name in the group and version that a server stores. */
const struct api_kind *registry__kind(const char *api_version, const char *kind);

/* The text between double quotes, as Go's %q writes it, in the arena. */
struct str registry__quote(struct arena *a, struct str text);

/* The class of a claim, which an annotation may name too; empty: none. */
struct str registry__claim_class(const struct api_object *claim);

/* Who a certificate is asked for; texts are in the arena of the call. */
struct registry__csr_subject {
    struct str common_name;
    struct api_strs organizations;
};
int registry__csr_read(struct arena *a, struct str request, struct registry__csr_subject *out,
                       struct err *err);

/* ---- pods ---- */

/* Does the pod stand for one of a kubelet's own files? */
bool registry__is_mirror(const struct api_object *pod);

/* Containers by number: those of initialisation first, ephemeral ones last; NULL behind the last.
 */
const struct api_container *registry__container_at(const struct api_pod_spec *spec, size_t i);

/* Does the pod refer to secrets by name? */
bool registry__pod_has_secrets(const struct api_pod_spec *spec);

/* What a pod refers to that is in the API. All NULL: nothing. */
struct registry__reference {
    const char *what;    /* secrets, … */
    const char *unknown; /* or why that cannot be told of a volume */
    struct str volume;
};
struct registry__reference registry__pod_reference(const struct api_pod_spec *spec);

/* Adds tolerations to a list, which becomes a new one in the arena: of two of which one tolerates
 * all that the other does, only that stays. */
void registry__tolerations_merge(struct arena *a, struct api_toleration_list *to,
                                 const struct api_toleration_list *more);

/* Is each of the list tolerated by one that is allowed? An empty list allows all. */
bool registry__tolerations_allowed(const struct api_toleration_list *list,
                                   const struct api_toleration_list *allowed);

/* What of a pod is counted. */
enum registry__pod_amounts {
    REGISTRY__LIMITS = 1,     /* limits instead of requests */
    REGISTRY__STATUS = 2,     /* what the kubelet reports of a resize, too */
    REGISTRY__POD_LEVEL = 4,  /* what the pod says as a whole, of cpu and memory */
    REGISTRY__HUGE_PAGES = 8, /* and of huge pages */
    REGISTRY__OVERHEAD = 16,  /* what the runtime takes for itself, too */
};

/* The amounts of a pod by resource; `what` is an or of the values above. The list lives in the
 * arena, its texts and long numbers are the pod's. */
struct api_quantities registry__pod_resources(struct arena *a, const struct api_pod *pod,
                                              unsigned what);

/* ---- for those who call plug-ins ---- */

/* Asks all plug-ins that change objects, and all that judge them, in upstream's order. */
registry__admit_fn registry__mutate, registry__validate;

#endif
