/* validate_create.jsonl: an object as a user posts it; is it accepted, and if not, what is wrong?
 */
#include "base/clock.h"
#include "tolexpr/tolexpr.h"
#include "vectors.h"
#include "verdict.h"

static int judge(struct arena *a, const struct json *line, struct api_object *o,
                 const struct valid_opts *opts, struct buf *why) {
    struct valid_errs errs = VALID_ERRS_INIT(a);
    api_object_default(o, opts->gates);
    valid_generate_name(o, STR("xxxxx"));
    valid_prepare_create(o, opts);
    valid_create(o, opts, &errs);
    return verdict_compare(line, o, &errs, why);
}

int vectors_check_validate_create(struct arena *a, const struct json *line, struct buf *why) {
    static const struct json missing;
    const struct json *tree = json_get(line, STR("object"));
    struct feature_set gates;
    struct api_object *o;
    struct api_faults faults;
    api_faults_init(&faults, a);
    if (verdict_gates(line, &gates, why) < 0)
        return -1;
    if (api_object_decode(tree ? tree : &missing, NULL, &o, &faults) < 0)
        return verdict_compare_refusal(line, &faults, why);
    struct tolexpr *x = tolexpr_new(&(struct tolexpr_opts){{1, 36}, &clock_system, 1, 0});
    struct valid_opts opts = {.gates = &gates,
                              .namespace = STR("default"),
                              .uid = STR(VECTORS_NEW_UID),
                              .cel = tolexpr_valid_cel(x)};
    int rc = judge(a, line, o, &opts, why);
    tolexpr_free(x);
    api_object_free(o);
    return rc;
}
