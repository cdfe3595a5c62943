/*
 * Which drivers took the place of old volume plug-ins, for those who bind and provision volumes.
 */
#ifndef SCHED_MIGRATED_H
#define SCHED_MIGRATED_H

#include "base/str.h"

/* The CSI driver in the place of an old plug-in; empty: there is none. */
struct str sched_migrated_driver(struct str plugin);

#endif
