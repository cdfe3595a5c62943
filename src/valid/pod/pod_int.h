/*
 * What the files about pods share with each other.
 */
#ifndef VALID_POD_POD_INT_H
#define VALID_POD_POD_INT_H

#include "valid/pod/container_int.h"

/* ---- walking over containers ---- */

/* All containers of a spec: init containers, containers, ephemeral containers. Start with
 * CONTAINER_WALK(spec, path of the spec); valid__walk moves on and is false at the end. */
struct container_walk {
    const struct api_pod_spec *spec;
    struct path list, at; /* at: the path of c */
    size_t next;
    struct api_container *c;
};
#define CONTAINER_WALK(pod_spec, p) ((struct container_walk){.spec = (pod_spec), .list.up = (p)})
bool valid__walk(struct container_walk *w);

/* ---- operators ---- */

bool valid__is_comparison(struct str operator); /* Lt, Gt */
bool valid__is_semver(struct str operator);     /* SemverLt, SemverGt, SemverEq */
/* A value that such an operator compares with. */
void valid__version(struct valid *v, const struct path *p, struct str value);

/* matchLabelKeys and mismatchLabelKeys of a term or constraint at p, after the merge. */
void valid__label_keys(struct valid *v, const struct path *p, const struct api_strs *match,
                       const struct api_strs *mismatch, const struct api_label_selector *selector);

/* ---- what an old pod has already: errors at any path if it would be refused today ---- */

/* Does its node affinity use SemverLt, …? a may be NULL. */
bool valid__affinity_uses_semver(const struct api_affinity *a);
/* All selectors of pod affinity; a may be NULL. */
void valid__affinity_selectors(struct valid *v, const struct api_affinity *a);
/* All matchLabelKeys of spread constraints, by the rule of today or the one before the merge. */
void valid__spread_keys(struct valid *v, const struct api_pod_spec *spec, bool legacy);
/* All selectors of spread constraints. */
void valid__spread_selectors(struct valid *v, const struct api_pod_spec *spec);
/* Is the sysctl one that belongs to a namespace of the host, which the pod uses? If so, the field
 * that says it: hostNetwork, hostIPC; else NULL. */
const char *valid__host_sysctl(struct str sysctl, const struct api_pod_spec *spec);
/* Is the annotation about the cost of deleting the pod absent, or a number? */
bool valid__deletion_cost_is_good(const struct labels *annotations);

/* ---- parts of a pod ---- */

/* The security context of a pod, and what only works on one operating system. */
void valid__pod_security(struct valid *v, const struct path *spec_path,
                         const struct api_pod_spec *spec, const struct pod_rules *rules);
void valid__host_process(struct valid *v, const struct path *spec_path,
                         const struct api_pod_spec *spec);
void valid__host_users(struct valid *v, const struct path *spec_path,
                       const struct api_pod_spec *spec, const struct pod_rules *rules);
void valid__os(struct valid *v, const struct path *spec_path, const struct api_pod_spec *spec);

/* Annotations that mean something for pods; that agree with fields; that may not change. */
void valid__pod_annotations(struct valid *v, const struct path *p, const struct labels *annotations,
                            const struct api_pod_spec *spec, const struct pod_rules *rules);
void valid__pod_annotations_match(struct valid *v, const struct path *spec_path,
                                  const struct labels *annotations,
                                  const struct api_pod_spec *spec);
void valid__pod_annotations_update(struct valid *v, const struct path *p,
                                   const struct labels *annotations, const struct labels *old);
/* Copies the AppArmor profiles of annotations into the fields that took their place; warnings may
 * be NULL. */
void valid__app_armor_from_annotations(struct arena *a, const struct labels *annotations,
                                       struct api_pod_spec *spec, struct valid_warnings *warnings);

/* The annotation about a container, or NULL; and does the profile of the whole pod say the same as
 * one about AppArmor? */
const struct label *valid__seccomp_annotation(const struct labels *annotations,
                                              struct str container);
const struct label *valid__app_armor_annotation(const struct labels *annotations,
                                                struct str container);
#define OLD_APP_ARMOR "deprecated since v1.30; use the \"appArmorProfile\" field instead"
bool valid__app_armor_is_said(const struct api_pod_spec *spec, struct str annotation);

/* What a server warns of. */
valid_warn_fn valid__warn_pod, valid__warn_pod_status;

/* metadata and spec of a pod, as on create and on update. */
void valid__pod_meta_and_spec(struct valid *v, const struct api_pod *pod,
                              const struct pod_rules *rules);
void valid__pod_update(struct valid *v, const struct api_object *o, const struct api_object *old);
void valid__pod_prepare_create(struct api_object *o, const struct valid_opts *opts);
void valid__pod_prepare_update(struct api_object *o, const struct api_object *old,
                               const struct valid_opts *opts);

/* The status of a pod, and its parts: states of containers that may not follow those that were,
 * what is said of each container, and of claims and volumes. */
valid_prepare_fn valid__pod_prepare_status;
valid_update_fn valid__pod_status;
void valid__container_transitions(struct valid *v, const struct api_pod *pod,
                                  const struct api_pod *old);
void valid__container_statuses(struct valid *v, const struct api_pod *pod);
void valid__claim_statuses(struct valid *v, const struct api_pod *pod);
/* The amount of a resource that a container requests, or NULL. */
const struct quantity *valid__find_request(const struct api_container *c, struct str name);
/* Drops fields of a status that are behind gates that are off, unless old has them. */
void valid__drop_disabled_status(struct api_pod_status *s, const struct api_pod_status *old,
                                 const struct feature_set *gates);

/* Defaults of spec.resources from what the containers ask for: of new pods, and before the gate
 * that fixed it, of all that come in. */
void valid__default_pod_resources(struct arena *a, struct api_pod_spec *spec, bool create,
                                  const struct feature_set *gates);
/* Guaranteed, Burstable or BestEffort. */
struct str valid__qos_class(const struct api_pod_spec *spec, const struct feature_set *gates);

#endif
