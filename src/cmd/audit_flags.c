/*
 * From flags to what is kept of an audit log.
 *
 * Follows k8s.io/apiserver pkg/server/options, func (*AuditLogOptions) AddFlags.
 */
#include "cmd/audit_flags.h"

const struct opt audit_opts[] = {
    {.name = "audit-log-maxage",
     .kind = OPT_INT,
     .help = "Days after which a log that was moved aside is removed, by the time in its name; 0 "
             "is never.",
     .value = "DAYS",
     .fallback = "366",
     .offset = offsetof(struct audit_opts, most_age)},
    {.name = "audit-log-maxbackup",
     .kind = OPT_INT,
     .help = "Logs that are kept of those that were moved aside; 0 is all of them.",
     .value = "N",
     .fallback = "100",
     .offset = offsetof(struct audit_opts, most_files)},
    {.name = "audit-log-maxsize",
     .kind = OPT_INT,
     .help = "Megabytes after which the log is moved aside, to FILE-TIME before its suffix; 0 is "
             "never.",
     .value = "MB",
     .fallback = "100",
     .offset = offsetof(struct audit_opts, most_size)},
    {.name = "audit-log-path",
     .kind = OPT_STR,
     .help = "File that audit events are appended to, a line each; - is standard output.",
     .value = "FILE",
     .offset = offsetof(struct audit_opts, log)},
    {.name = "audit-policy-file",
     .kind = OPT_STR,
     .help = "Policy of audit.k8s.io/v1 that says what is audited; without it, nothing is.",
     .value = "FILE",
     .offset = offsetof(struct audit_opts, policy)},
    {0},
};

static int check(const char *name, int64_t value, struct err *err) {
    if (value > INT32_MAX)
        return err_set(err, ERR_USAGE, "--%s %lld is too large", name, (long long)value);
    return 0;
}

int audit_configure(const struct audit_opts *opts, struct server_audit_keep *out, struct err *err) {
    enum { DAY = 24 * 60 * 60 };
    /* From here on times do not fit into nanoseconds any more. */
    const int64_t longest = INT64_C(200) * 366;
    if (check("audit-log-maxage", opts->most_age, err) < 0 ||
        check("audit-log-maxbackup", opts->most_files, err) < 0 ||
        check("audit-log-maxsize", opts->most_size, err) < 0)
        return -1;
    *out = (struct server_audit_keep){.bytes = (uint64_t)opts->most_size << 20,
                                      .files = (uint32_t)opts->most_files,
                                      .seconds =
                                          (opts->most_age < longest ? opts->most_age : 0) * DAY};
    return 0;
}
