/*
 * DefaultBinder: binds a pod to its node. The core only decides; whoever runs it writes the binding
 * to the API. The plug-in exists because profiles name it and must have one that binds.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/framework/plugins/defaultbinder,
 * func (DefaultBinder) Bind.
 */
#include "sched/plugin_int.h"

const struct sched__plugin sched__default_binder = {.scope = SCHED__SCOPE_NODE};
