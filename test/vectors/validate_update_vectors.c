/* validate_update.jsonl: an object as stored, and the one that is to replace it;
 * validate_status.jsonl: the same for a write to its status; and validate_subresource.jsonl: for a
 * write to the subresource that the line names. */
#include "base/clock.h"
#include "members.h"
#include "tolexpr/tolexpr.h"
#include "vectors.h"
#include "verdict.h"

/* The two steps of an update. */
struct steps {
    void (*prepare)(struct api_object *o, const struct api_object *old,
                    const struct valid_opts *opts);
    void (*check)(const struct api_object *o, const struct api_object *old,
                  const struct valid_opts *opts, struct valid_errs *out);
};

static const struct steps update = {valid_prepare_update, valid_update};
static const struct steps status = {valid_prepare_status, valid_status};

/* What a write to the status may change. */
static int compare_after(struct arena *a, const struct json *line, const struct api_object *o,
                         struct buf *why) {
    struct json tree = api_object_encode(o, a), after = {.kind = JSON_OBJECT};
    struct json got = {.kind = JSON_OBJECT};
    const struct json *meta = json_get(&tree, STR("metadata"));
    const struct {
        struct str name;
        const struct json *value;
    } parts[] = {{STR_INIT("labels"), json_get(meta, STR("labels"))},
                 {STR_INIT("ownerReferences"), json_get(meta, STR("ownerReferences"))},
                 {STR_INIT("status"), json_get(&tree, STR("status"))}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].value)
            json_add(a, &after, parts[i].name, *parts[i].value);
    json_add(a, &got, STR("after"), after);
    return json_get(line, STR("after")) ? vectors_compare_members(line, &got, why) : 0;
}

static int judge(const struct json *line, const struct steps *steps, struct api_object *o,
                 struct api_object *old, struct valid_errs *errs, struct buf *why) {
    struct feature_set gates;
    if (verdict_gates(line, &gates, why) < 0)
        return -1;
    struct tolexpr *x = tolexpr_new(&(struct tolexpr_opts){{1, 36}, &clock_system, 1, 0});
    struct valid_opts opts = {.gates = &gates,
                              .namespace = STR("default"),
                              .now = {.sec = 1767225600, .set = true},
                              .cel = tolexpr_valid_cel(x)};
    api_object_default(old, &gates);
    valid_decoded(old, &opts);
    api_object_default(o, &gates);
    steps->prepare(o, old, &opts);
    steps->check(o, old, &opts, errs);
    tolexpr_free(x);
    int rc = verdict_compare(line, o, errs, why);
    return rc ? rc : compare_after(errs->a, line, o, why);
}

static int decode(const struct json *line, struct str key, struct api_object **out,
                  struct api_faults *faults) {
    static const struct json missing;
    const struct json *tree = json_get(line, key);
    return api_object_decode(tree ? tree : &missing, NULL, out, faults);
}

static int check_line(struct arena *a, const struct json *line, const struct steps *steps,
                      struct buf *why) {
    struct valid_errs errs = VALID_ERRS_INIT(a);
    struct api_object *o = NULL, *old = NULL;
    struct api_faults faults;
    api_faults_init(&faults, a);
    int rc;
    if (decode(line, STR("old"), &old, &faults) < 0 || decode(line, STR("new"), &o, &faults) < 0)
        rc = verdict_compare_refusal(line, &faults, why);
    else
        rc = judge(line, steps, o, old, &errs, why);
    api_object_free(o);
    api_object_free(old);
    return rc;
}

/* ---- subresources ---- */

static const struct json *member(const struct json *of, const char *name) {
    return json_get(of, str_of(name));
}

/* What a write to a subresource may change. */
static int compare_whole(struct arena *a, const struct json *line, const struct api_object *o,
                         struct buf *why) {
    struct json tree = api_object_encode(o, a), after = {.kind = JSON_OBJECT};
    struct json got = {.kind = JSON_OBJECT};
    const struct json *meta = member(&tree, "metadata");
    const struct {
        struct str name;
        const struct json *value;
    } parts[] = {{STR_INIT("labels"), member(meta, "labels")},
                 {STR_INIT("annotations"), member(meta, "annotations")},
                 {STR_INIT("generation"), member(meta, "generation")},
                 {STR_INIT("spec"), member(&tree, "spec")},
                 {STR_INIT("status"), member(&tree, "status")}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].value)
            json_add(a, &after, parts[i].name, *parts[i].value);
    json_add(a, &got, STR("after"), after);
    return member(line, "after") ? vectors_compare_members(line, &got, why) : 0;
}

static int judge_subresource(const struct json *line, struct api_object *o, struct api_object *old,
                             struct valid_errs *errs, struct buf *why) {
    struct feature_set gates;
    const struct json *name = member(line, "subresource");
    if (verdict_gates(line, &gates, why) < 0)
        return -1;
    struct valid_opts opts = {
        .gates = &gates, .namespace = STR("default"), .now = {.sec = 1767225600, .set = true}};
    api_object_default(old, &gates);
    valid_decoded(old, &opts);
    api_object_default(o, &gates);
    valid_prepare_subresource(o, old, json_str(name), &opts);
    valid_subresource(o, old, json_str(name), &opts, errs);
    int rc = verdict_compare(line, o, errs, why);
    return rc ? rc : compare_whole(errs->a, line, o, why);
}

int vectors_check_validate_subresource(struct arena *a, const struct json *line, struct buf *why) {
    struct valid_errs errs = VALID_ERRS_INIT(a);
    struct api_object *o = NULL, *old = NULL;
    struct api_faults faults;
    api_faults_init(&faults, a);
    int rc;
    if (decode(line, STR("old"), &old, &faults) < 0 || decode(line, STR("new"), &o, &faults) < 0)
        rc = verdict_compare_refusal(line, &faults, why);
    else
        rc = judge_subresource(line, o, old, &errs, why);
    api_object_free(o);
    api_object_free(old);
    return rc;
}

int vectors_check_validate_update(struct arena *a, const struct json *line, struct buf *why) {
    return check_line(a, line, &update, why);
}

int vectors_check_validate_status(struct arena *a, const struct json *line, struct buf *why) {
    return check_line(a, line, &status, why);
}
