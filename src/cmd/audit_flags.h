/* Flags of the audit log: those of kube-apiserver. */
#ifndef CMD_AUDIT_FLAGS_H
#define CMD_AUDIT_FLAGS_H

#include "cli/opt.h"
#include "server/audit_file.h"

struct audit_opts {
    struct str log, policy;
    int64_t most_age, most_files, most_size;
};

/* The rows of struct audit_opts. */
extern const struct opt audit_opts[];

/* How much of the log is to be kept. */
int audit_configure(const struct audit_opts *opts, struct server_audit_keep *out, struct err *err);

#endif
