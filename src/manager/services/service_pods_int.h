/*
 * Which pods a service selects, and which services select a pod, kept up to date for all
 * controllers that ask. A pod's change costs what its labels and its services cost, whatever else
 * there is.
 */
#ifndef MANAGER_SERVICES_SERVICE_PODS_INT_H
#define MANAGER_SERVICES_SERVICE_PODS_INT_H

#include "manager/adoption_int.h"
#include "manager/controller_int.h"

struct service_pods;

/* That of the manager, which frees it behind its controllers. Services are added to the queue from
 * now on when they change or go, or when pods that they select do; and all that are there at once.
 */
struct service_pods *service_pods__join(struct manager *m, struct workqueue *queue);

/* The pods that a service selects, in the arena and borrowed as the informer has them. */
struct manager__objects service_pods__find(struct service_pods *x, struct arena *a,
                                           const struct api_object *service);

/* Does the service ask for endpoints to be made? Not one without a selector, or of ExternalName. */
bool service_pods__selects(const struct api_object *service);

/* Frees it. NULL is fine. */
void service_pods__free(struct service_pods *x);

#endif
