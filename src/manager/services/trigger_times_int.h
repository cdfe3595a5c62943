/*
 * Which change led to a write of endpoints: the moment of the oldest one since the last look, of a
 * pod that became ready or not ready, or of a service that was made.
 *
 * Follows k8s.io/endpointslice util, func (*TriggerTimeTracker)
 * ComputeEndpointLastChangeTriggerTime.
 */
#ifndef MANAGER_SERVICES_TRIGGER_TIMES_INT_H
#define MANAGER_SERVICES_TRIGGER_TIMES_INT_H

#include "manager/adoption_int.h"

struct trigger_times;

/* Nothing observable depends on the seed. Free it with trigger_times__free, which accepts NULL. */
struct trigger_times *trigger_times__new(uint64_t seed);
void trigger_times__free(struct trigger_times *x);

/* Looks at a service and its pods: the moment; not set when nothing has changed since. */
struct api_time trigger_times__look(struct trigger_times *x, const struct api_object *service,
                                    const struct manager__objects *pods);

/* The service is gone. */
void trigger_times__forget(struct trigger_times *x, struct str namespace, struct str name);

#endif
