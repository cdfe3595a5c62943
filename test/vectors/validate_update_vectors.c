/* validate_update.jsonl: an object as stored, and the one that is to replace it. */
#include "vectors.h"
#include "verdict.h"

static int judge(struct arena *a, const struct json *line, struct api_object *o,
                 struct api_object *old, struct buf *why) {
    struct feature_set gates;
    if (verdict_gates(line, &gates, why) < 0)
        return -1;
    struct valid_opts opts = {.gates = &gates, .namespace = STR("default")};
    struct valid_errs errs = VALID_ERRS_INIT(a);
    api_object_default(old, &gates);
    api_object_default(o, &gates);
    valid_prepare_update(o, old, &opts);
    valid_update(o, old, &opts, &errs);
    return verdict_compare(line, o, &errs, why);
}

static int decode(const struct json *line, struct str key, struct api_object **out,
                  struct api_faults *faults) {
    static const struct json missing;
    const struct json *tree = json_get(line, key);
    return api_object_decode(tree ? tree : &missing, NULL, out, faults);
}

int vectors_check_validate_update(struct arena *a, const struct json *line, struct buf *why) {
    struct api_object *o = NULL, *old = NULL;
    struct api_faults faults;
    api_faults_init(&faults, a);
    int rc;
    if (decode(line, STR("old"), &old, &faults) < 0 || decode(line, STR("new"), &o, &faults) < 0)
        rc = verdict_compare_refusal(line, &faults, why);
    else
        rc = judge(a, line, o, old, why);
    api_object_free(o);
    api_object_free(old);
    return rc;
}
