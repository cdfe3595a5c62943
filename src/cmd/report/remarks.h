/* What is said about the objects of a cluster, on its way to standard error. */
#ifndef CMD_REPORT_REMARKS_H
#define CMD_REPORT_REMARKS_H

#include "cmd/cmd.h"
#include "feature/feature.h"
#include "sim/cluster.h"

struct remarks;

/* No remarks yet. ctx and gates are stored. Free with remarks_free, which accepts NULL. */
struct remarks *remarks_new(const struct cmd_ctx *ctx, const struct feature_config *gates);
void remarks_free(struct remarks *r);

/* Adds one; ctx is the struct remarks. */
void remarks_add(void *ctx, const struct sim_remark *remark);

/* Writes all of them to standard error. */
void remarks_write(struct remarks *r);

#endif
