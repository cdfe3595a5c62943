/* An explanation that goes on: whenever something changes in the cluster that makes it another one,
 * what changed is told. */
#ifndef CMD_COMMANDS_FOLLOW_H
#define CMD_COMMANDS_FOLLOW_H

#include "cmd/commands/scene.h"
#include "cmd/report/explain_changes.h"

struct follow_opts {
    struct cmd_call *call;
    const struct scene *scene; /* gates, configuration, and what may not be listed */
    const struct scene_opts *from;
    const struct api_object *pod; /* as it was explained */
    bool redact;
    int64_t timeout; /* nanoseconds; 0: none */
};

/* Watches the cluster and tells of all that differs from `state`, which it takes over. Ends when
 * the pod is bound (CMD_GOOD) or gone, or the time is over (CMD_BAD_VERDICT). */
int follow(const struct follow_opts *opts, struct explain_state *state, struct err *err);

#endif
