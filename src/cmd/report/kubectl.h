/* kubectl's words for what a server answers. */
#ifndef CMD_REPORT_KUBECTL_H
#define CMD_REPORT_KUBECTL_H

#include "base/buf.h"
#include "registry/registry.h"

/* Appends what kubectl prints when creating what a file holds has failed, without a line break. */
void kubectl_write_failure(struct buf *out, const struct registry_failure *f, struct str file);

/* Appends what kubectl calls an object: pod/web, deployment.apps/web. */
void kubectl_write_name(struct buf *out, struct str api_version, struct str kind, struct str name);

#endif
