/* Names and shapes by which files that are no manifests are known. */
#include "cmd/skip.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "codec/json.h"

static const struct {
    const char *one, *many;
} names[SKIP_REASONS] = {
    [SKIP_NOT] = {"", ""},
    [SKIP_HELM_TEMPLATE] = {"Helm template", "Helm templates"},
    [SKIP_HELM_CHART] = {"Helm chart", "Helm charts"},
    [SKIP_HELM_VALUES] = {"file of Helm values", "files of Helm values"},
    [SKIP_HELM_INDEX] = {"index of a Helm repository", "indexes of Helm repositories"},
    [SKIP_KUSTOMIZATION] = {"kustomization", "kustomizations"},
    [SKIP_NO_MANIFEST] = {"file without apiVersion and kind", "files without apiVersion and kind"},
    [SKIP_EMPTY] = {"empty file", "empty files"},
    [SKIP_IGNORED] = {"ignored file", "ignored files"},
};

const char *skip_reason_name(enum skip_reason reason) {
    return names[reason].one;
}

const char *skip_reason_plural(enum skip_reason reason) {
    return names[reason].many;
}

static struct str base_name(struct str path) {
    size_t at = path.n;
    while (at > 0 && path.p[at - 1] != '/')
        at--;
    return str_sub(path, at, path.n);
}

static bool is_kustomization(struct str name) {
    return str_is(name, "kustomization.yaml") || str_is(name, "kustomization.yml");
}

/* values.yaml, values-prod.yaml, values.schema.json and so on. */
static bool is_values(struct str name) {
    return str_starts(name, STR("values"));
}

enum skip_reason skip_reason_of_file(struct str file) {
    struct str name = base_name(file);
    if (is_kustomization(name))
        return SKIP_KUSTOMIZATION;
    return is_values(name) ? SKIP_HELM_VALUES : SKIP_NO_MANIFEST;
}

enum skip_reason skip_reason_of(struct str file, const struct json *document) {
    const struct json *version = json_get(document, STR("apiVersion"));
    const struct json *kind = json_get(document, STR("kind"));
    bool is_kustomize = version ? version->kind == JSON_STRING &&
                                      str_starts(json_str(version), STR("kustomize.config.k8s.io/"))
                                : is_kustomization(base_name(file));
    if (is_kustomize)
        return SKIP_KUSTOMIZATION;
    if (kind)
        return SKIP_NOT;
    if (str_is(base_name(file), "Chart.yaml"))
        return SKIP_HELM_CHART;
    if (str_is(base_name(file), "index.yaml") && json_get(document, STR("entries")))
        return SKIP_HELM_INDEX;
    bool lacks_kind = version || json_get(document, STR("metadata"));
    return lacks_kind ? SKIP_NOT : skip_reason_of_file(file);
}

/* Is there a Chart.yaml in the directory, which ends with a slash or is empty? */
static bool has_chart(struct str directory) {
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%.*sChart.yaml", STR_ARG(directory));
    return n > 0 && (size_t)n < sizeof path && access(path, F_OK) == 0;
}

bool skip_is_in_chart(struct str path) {
    static const struct str templates = STR_INIT("templates/");
    for (size_t at = 0; at + templates.n < path.n; at++) {
        bool begins = at == 0 || path.p[at - 1] == '/';
        if (begins && str_starts(str_sub(path, at, path.n), templates) &&
            has_chart(str_sub(path, 0, at)))
            return true;
    }
    return false;
}
