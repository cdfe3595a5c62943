/* Services, as far as they select pods (services.c). */
#ifndef SCHED_TOPOLOGY_SERVICES_INT_H
#define SCHED_TOPOLOGY_SERVICES_INT_H

#include "sched/plugin_int.h"

/* Marks those of the pod's labels, by their places, that services which select the pod ask for. */
void sched__services_mark(struct sched *s, const struct api_object_meta *pod, bool *asked);

/* Frees what is remembered of services: all of it, or if it was found before they changed. */
void sched__services_release(struct sched *s);
void sched__services_sweep(struct sched *s);

#endif
