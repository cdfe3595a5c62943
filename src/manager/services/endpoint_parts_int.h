/* What endpoints are made of, whether in Endpoints or in EndpointSlices. */
#ifndef MANAGER_SERVICES_ENDPOINT_PARTS_INT_H
#define MANAGER_SERVICES_ENDPOINT_PARTS_INT_H

#include "manager/adoption_int.h"

#define ENDPOINT__SERVICE_NAME STR("kubernetes.io/service-name")
#define ENDPOINT__HEADLESS     STR("service.kubernetes.io/headless")
#define ENDPOINT__TRIGGER_TIME STR("endpoints.kubernetes.io/last-change-trigger-time")

/* ---- of pods and services ---- */

/* Is the pod to be among endpoints? Those that are on their way out are if asked for. */
bool endpoint__has_pod(const struct api_object *pod, bool terminating);

/* Is the pod known by its hostname in the service's domain? */
bool endpoint__has_hostname(const struct api_object *pod, const struct api_object *service);

/* The pod's addresses of a family, each written in the one way; in the arena. */
struct api_strs endpoint__addresses(struct arena *a, const struct api_object *pod, bool is_v6);

/* Has the service an address of its own? */
bool endpoint__is_headless(const struct api_object *service);

/* A reference to a pod, in the arena and borrowing from it. */
struct api_object_reference *endpoint__pod_ref(struct arena *a, const struct api_object *pod);

/* Sets or takes away the annotation with the moment of the change that led to a write. */
void endpoint__set_trigger_time(struct api_object *draft, struct api_time t);

/* ---- of slices ---- */

typedef struct api_discovery_endpoint_port_list endpoint__ports;

/* A text that lists of the same ports have in common, in whatever order; in the arena. */
struct str endpoint__ports_key(struct arena *a, const endpoint__ports *ports);

/* A text that tells endpoints apart, which stays when conditions and places change; in the arena.
 */
struct str endpoint__key(struct arena *a, const struct api_endpoint *e);

/* Are endpoints of the same key equal? Hints do not count. */
bool endpoint__is_same(const struct api_endpoint *x, const struct api_endpoint *y);

/* Bytes that a copy of labels or annotations takes. */
size_t endpoint__labels_size(const struct labels *labels);

/* What labels say of who manages a slice; may be empty. */
struct str endpoint__manager_of(const struct api_object *slice);

/* The service that a slice says it is of; may be empty. */
struct str endpoint__service_of(const struct api_object *slice);

#endif
