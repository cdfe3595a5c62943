/* The feature gate flags, for the commands whose answer depends on gates. */
#ifndef CMD_GATE_FLAGS_H
#define CMD_GATE_FLAGS_H

#include "cli/opt.h"
#include "feature/feature.h"

struct log;

/* A command embeds them and names gates_opts among its groups. */
struct gates_opts {
    struct opt_list gates, emulated, min_compat;
    bool unlock;
};
extern const struct opt gates_opts[];

/* What the flags make of the defaults, with kube-apiserver's errors (ERR_USAGE) and warnings. */
int gates_configure(const struct gates_opts *opts, const struct log *log,
                    struct feature_config *out, struct err *err);

/* The same, for those who ask for nothing but the gates. */
int gates_resolve(const struct gates_opts *opts, const struct log *log, struct feature_set *out,
                  struct err *err);

/* Appends what to do to have a gate on that is off: "--feature-gates=X=true", with the version that
 * has the gate before it if the emulated one does not. False when nothing helps: it is locked. */
bool gates_write_remedy(struct buf *out, const struct feature_config *c, enum feature gate);

#endif
