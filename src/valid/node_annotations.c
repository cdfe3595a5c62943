/*
 * Annotations of nodes that were fields, or meant to become some: taints, and pods that had better
 * run elsewhere.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func ValidateNodeSpecificAnnotations,
 * func ValidateAvoidPodsInNodeAnnotations.
 */
#include <strings.h>

#include "valid/go_json_int.h"
#include "valid/node_int.h"

#define TAINTS "scheduler.alpha.kubernetes.io/taints"
#define AVOID  "scheduler.alpha.kubernetes.io/preferAvoidPods"

static void check_taints(struct valid *v, const struct path *p, struct str text) {
    static const struct go_field fields[] = {
        {"Taint.Key", "string", GO_STR, offsetof(struct api_taint, key)},
        {"Taint.Value", "string", GO_STR, offsetof(struct api_taint, value)},
        {"Taint.Effect", "core.TaintEffect", GO_STR, offsetof(struct api_taint, effect)},
        {"Taint.TimeAdded", "v1.Time", GO_TIME, offsetof(struct api_taint, time_added)},
        {0}};
    static const struct go_struct taint = {"[]core.Taint", "core.Taint", sizeof(struct api_taint),
                                           fields};
    struct api_taint_list list = {0};
    struct err err = {0};
    if (valid__read_go_list(v->errs->a, &taint, text, &list, &err) < 0)
        valid__invalid(v, p, VALUE_Q(STR(TAINTS)), "%s", err.msg);
    else
        valid__taints(v, AT(p, TAINTS), &list);
}

/* ---- preferAvoidPods ---- */

static void fold_names(const struct api_type *type, struct json *tree);

static void fold_member(const struct api_type *type, struct json_member *m) {
    for (size_t i = 0; i < type->field_count; i++) {
        const struct api_field *f = &type->fields[i];
        if (m->key.n != f->json.n || strncasecmp(m->key.p, f->json.p, m->key.n) != 0)
            continue;
        m->key = f->json;
        if (f->type)
            fold_names(f->type, &m->value);
    }
}

/* Go's own reader of JSON takes the names of members in any case, unlike that of API objects. The
 * depth is that of the type. */
static void fold_names(const struct api_type *type, struct json *tree) {
    if (tree->kind == JSON_ARRAY)
        for (uint32_t i = 0; i < tree->n; i++)
            fold_names(type, &tree->items[i]);
    if (tree->kind == JSON_OBJECT)
        for (uint32_t i = 0; i < tree->n; i++)
            fold_member(type, &tree->members[i]);
}

/* Go's text of what is wrong with it; empty: nothing. */
static struct str read_avoid_pods(struct arena *a, struct str text, struct api_avoid_pods *out) {
    static const struct json_opts opts = {.allow_duplicates = true};
    const struct api_type *type = &api_types[API_T_avoid_pods];
    struct api_faults faults;
    struct json tree;
    struct err err;
    if (json_parse(a, text, &opts, &tree, &err) < 0)
        return arena_str(a, str_of(err.msg));
    if (tree.kind == JSON_NULL)
        return STR("");
    fold_names(type, &tree);
    api_faults_init(&faults, a);
    bool good = api_struct_decode(a, type, &tree, out, &faults) == 0;
    return good ? STR("") : faults.v[faults.n - 1].text;
}

/* Upstream crashes when the reference does not say whether it is to a controller. */
static void check_entry(struct valid *v, const struct path *p,
                        const struct api_prefer_avoid_pods_entry *entry) {
    const struct path *signature = AT(p, "PodSignature");
    const struct api_owner_reference *owner = entry->pod_signature.pod_controller;
    if (!owner)
        valid__required(v, signature, NO_DETAIL);
    else if (!owner->controller.v)
        valid__invalid(v, AT(AT(signature, "PodController"), "Controller"), VALUE_BOOL(false),
                       "must point to a controller");
}

static void check_avoid_pods(struct valid *v, const struct path *p, struct str text) {
    struct api_avoid_pods avoid = {0};
    struct str fault = read_avoid_pods(v->errs->a, text, &avoid);
    if (fault.n) {
        valid__invalid(v, AT(p, "AvoidPods"), VALUE_Q(STR(AVOID)), "%.*s", STR_ARG(fault));
        return;
    }
    for (size_t i = 0; i < avoid.prefer_avoid_pods.n; i++)
        check_entry(v, AT_INDEX(AT(p, AVOID), i), &avoid.prefer_avoid_pods.v[i]);
}

void valid__node_annotations(struct valid *v, const struct path *p,
                             const struct labels *annotations) {
    const struct label *taints = labels_find(annotations, STR(TAINTS));
    const struct label *avoid = labels_find(annotations, STR(AVOID));
    if (taints && taints->value.n)
        check_taints(v, p, taints->value);
    if (avoid && avoid->value.n)
        check_avoid_pods(v, p, avoid->value);
}
