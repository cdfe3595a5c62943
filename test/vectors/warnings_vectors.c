/* warnings.jsonl: a pod, or what makes pods, that is new or replaces another: what a server warns
 * of. */
#include "members.h"
#include "objects.h"
#include "verdict.h"

static void prepare(struct api_object *o, struct api_object *old, const struct valid_opts *opts) {
    if (old)
        api_object_default(old, opts->gates);
    api_object_default(o, opts->gates);
    if (!old)
        valid_generate_name(o, STR("xxxxx"));
    if (old)
        valid_prepare_update(o, old, opts);
    else
        valid_prepare_create(o, opts);
}

static int judge(struct arena *a, const struct json *line, struct api_object *o,
                 struct api_object *old, struct buf *why) {
    struct feature_set gates;
    if (verdict_gates(line, &gates, why) < 0)
        return -1;
    struct valid_warnings warnings = {.a = a, .gates = &gates};
    struct valid_opts opts = {.gates = &gates,
                              .namespace = STR("default"),
                              .uid = STR(VECTORS_NEW_UID),
                              .warnings = &warnings};
    prepare(o, old, &opts);
    valid_warn(o, old, false, &warnings);
    return vectors_compare_texts(a, line, &warnings, why);
}

int vectors_check_warnings(struct arena *a, const struct json *line, struct buf *why) {
    return vectors_judge_objects(a, line, judge, why);
}
