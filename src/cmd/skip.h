/*
 * What lies beside manifests and is plainly none: templates and descriptions of Helm and kustomize,
 * configuration of other programs, empty files. A run over a whole repository names and counts it.
 */
#ifndef CMD_SKIP_H
#define CMD_SKIP_H

#include <stdbool.h>

#include "base/str.h"

struct json;

enum skip_reason {
    SKIP_NOT, /* it may be a manifest */
    SKIP_HELM_TEMPLATE,
    SKIP_HELM_CHART,
    SKIP_HELM_VALUES,
    SKIP_HELM_INDEX,
    SKIP_KUSTOMIZATION,
    SKIP_NO_MANIFEST, /* neither apiVersion nor kind nor metadata */
    SKIP_EMPTY,
    SKIP_IGNORED, /* by a pattern of the user */
    SKIP_REASONS
};

/* What to call a file that is skipped for a reason: "Helm template", and several of them. */
const char *skip_reason_name(enum skip_reason reason);
const char *skip_reason_plural(enum skip_reason reason);

/* Why a document, which is an object, is no manifest, or SKIP_NOT. */
enum skip_reason skip_reason_of(struct str file, const struct json *document);

/* The same of a document that is no object. */
enum skip_reason skip_reason_of_file(struct str file);

/* Is the file below the templates of a Helm chart, which has a Chart.yaml beside them? The path has
 * a NUL behind it. */
bool skip_is_in_chart(struct str path);

#endif
