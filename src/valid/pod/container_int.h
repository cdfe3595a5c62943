/*
 * What the files about containers and volumes share: the pod around a container, and the rules that
 * several of them need.
 */
#ifndef VALID_POD_CONTAINER_INT_H
#define VALID_POD_CONTAINER_INT_H

#include "valid/valid_int.h"

/* ---- for the rules of pods and other kinds ---- */

/*
 * The volumes of a pod at p; pod_name is empty in a template. Returns NULL when all are good, else
 * which of them are not, for valid__containers.
 */
const bool *valid__volumes(struct valid *v, const struct path *p,
                           const struct api_volume_list *list, struct str pod_name,
                           const struct pod_rules *rules);
/* The containers, init containers and ephemeral containers of the spec at spec_path, in this
 * order; bad_volumes as valid__volumes returned it. */
void valid__containers(struct valid *v, const struct path *spec_path,
                       const struct api_pod_spec *spec, const bool *bad_volumes,
                       const struct pod_rules *rules);
/* Only for pods, not for templates: image names without white space around them. */
void valid__container_images(struct valid *v, const struct path *p,
                             const struct api_container_list *list);
/* Environment variables from files: their volumes must be of type emptyDir. */
void valid__file_key_volumes(struct valid *v, const struct path *spec_path,
                             const struct api_pod_spec *spec);
/* The quantity with this name in a list, or NULL. */
const struct quantity *valid__find_quantity(const struct api_quantities *list, struct str name);
/* What the containers of a pod need together, init containers and sidecars considered: limits, or
 * else requests. Sorted by name, in the arena. */
struct api_quantities valid__aggregate(struct arena *a, const struct api_pod_spec *spec,
                                       bool limits);
/* resources of the whole pod, and its overhead. */
void valid__pod_resources(struct valid *v, const struct path *spec_path,
                          const struct api_pod_spec *spec, const struct pod_rules *rules);
void valid__overhead(struct valid *v, const struct path *p, const struct api_quantities *overhead,
                     const struct pod_rules *rules);
/* Parts of security contexts that pods and containers share; NULL is fine. */
void valid__seccomp_profile(struct valid *v, const struct path *p,
                            const struct api_seccomp_profile *profile);
void valid__app_armor_profile(struct valid *v, const struct path *p,
                              const struct api_app_armor_profile *profile);
void valid__windows_options(struct valid *v, const struct path *p,
                            const struct api_windows_security_context_options *options);
/* A path that is relative and has no .. in it. */
void valid__descending_path(struct valid *v, const struct path *p, struct str path);
/* The name of a CSI driver, and the spec of a volume claim, at p. */
void valid__csi_driver_name(struct valid *v, const struct path *p, struct str name);
void valid__volume_claim_spec(struct valid *v, const struct path *p,
                              const struct api_persistent_volume_claim_spec *spec);

/* A source of a volume at p, a struct of the type: nfs, hostPath, … of persistent volumes or of
 * pods. */
void valid__volume_source(struct valid *v, const struct path *p, const struct api_type *type,
                          const void *source);

/* ---- inside ---- */

/* Ratcheting: what the old object has although it would be refused today, and may keep. */
struct ratchets {
    bool restart_on_resize;  /* of init containers that are no sidecars */
    bool sidecar_resize;     /* resize policies of sidecars */
    bool restart_all;        /* rules that restart all containers */
    bool broken_huge_pages;  /* amounts that are no multiple of the page size */
    bool files_for_env;      /* variables from files */
    bool confined_sys_admin; /* CAP_SYS_ADMIN without privilege escalation */
    bool empty_image;        /* image volumes without a reference */
    bool odd_token_path;     /* of a projected token: not relative, or with .. */
};
/* The ratchets of an old spec, each asked in the file of its rule; none when old is NULL. */
struct ratchets valid__ratchets(struct arena *a, const struct api_pod_spec *old);
bool valid__had_restart_all(const struct api_pod_spec *old);
bool valid__had_broken_huge_pages(struct arena *a, const struct api_pod_spec *old);
bool valid__had_files_for_env(const struct api_pod_spec *old);
bool valid__had_confined_sys_admin(const struct api_pod_spec *old);
bool valid__had_empty_image(const struct api_pod_spec *old);
bool valid__had_odd_token_path(const struct api_pod_spec *old);

/* The pod whose containers are looked at. */
struct pod_view {
    struct valid *v;
    const struct api_pod_spec *spec;
    struct ratchets had;
    struct seen volumes; /* those without errors: name to struct api_volume */
    struct seen claims;  /* names of resource claims */
    bool relaxed_env;    /* any printable character in names of variables */
    /* The names of all claims, as errors list them; empty until the first error does. */
    struct str *claim_list;
};

/* All containers of a spec, regular ones first, then init and ephemeral ones; NULL at the end. */
const struct api_container *valid__next_container(const struct api_pod_spec *spec, size_t *at);

/* Parts of a container at p, in the file named after them. */
void valid__env(const struct pod_view *pod, const struct path *p, const struct api_env_var_list *l);
void valid__env_from(const struct pod_view *pod, const struct path *p,
                     const struct api_env_from_source_list *l);
/* Does an update keep a name that only relaxed rules allow? */
bool valid__env_was_relaxed(const struct api_pod_spec *spec, const struct api_pod_spec *old);
void valid__volume_mounts(const struct pod_view *pod, const struct path *p,
                          const struct api_container *c);
void valid__volume_devices(const struct pod_view *pod, const struct path *p,
                           const struct api_container *c);
void valid__resources(const struct pod_view *pod, const struct path *p,
                      const struct api_resource_requirements *r);
void valid__pod_requirements(const struct pod_view *pod, const struct path *p,
                             const struct api_resource_requirements *r);
void valid__security_context(const struct pod_view *pod, const struct path *p,
                             const struct api_security_context *sc);
void valid__lifecycle_and_probes(const struct pod_view *pod, const struct path *p,
                                 const struct api_container *c);
void valid__resize_policy(const struct pod_view *pod, const struct path *p,
                          const struct api_container *c);
void valid__restart_policy(const struct pod_view *pod, const struct path *p,
                           const struct api_container *c);
void valid__init_restart_policy(const struct pod_view *pod, const struct path *p,
                                const struct api_container *c);

/* Always, IfNotPresent or Never. */
void valid__pull_policy(struct valid *v, const struct path *p, struct str policy);
/* A number from 1 to 65535, and a name such as http. */
void valid__port_number(struct valid *v, const struct path *p, int64_t port);
void valid__port_name(struct valid *v, const struct path *p, struct str name);
/* A user or group id. */
void valid__id(struct valid *v, const struct path *p, const struct api_opt_i64 *id);

/* Paths: without .. as an element; also relative, and not starting with .. (and whether it is). */
void valid__no_backsteps(struct valid *v, const struct path *p, struct str path);
bool valid__has_backsteps(struct str path);
void valid__local_path(struct valid *v, const struct path *p, struct str path);
bool valid__is_local_path(struct str path);

/* Fields and resources of the pod that files and variables may show. */
extern const char *const valid__env_fields[], *const valid__volume_fields[];
void valid__field_ref(struct valid *v, const struct path *p,
                      const struct api_object_field_selector *s, const char *const *fields);
void valid__resource_field_ref(struct valid *v, const struct path *p,
                               const struct api_resource_field_selector *s, bool in_volume);

/* Sources of volumes, for the table in volumes.c. `volume` is for those that need its name. */
struct volume_view {
    struct valid *v;
    const struct path *path; /* of the volume */
    const struct api_volume *volume;
    struct str pod_name;
    struct ratchets had;
};
typedef void volume_rule(const struct volume_view *view, const struct path *p, const void *source);
volume_rule valid__secret_volume, valid__config_map_volume, valid__downward_api_volume,
    valid__projected_volume, valid__ephemeral_volume, valid__csi_volume;
void valid__file_mode(struct valid *v, const struct path *p, const struct api_opt_i32 *mode);

#endif
