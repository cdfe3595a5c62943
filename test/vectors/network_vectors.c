/* network.jsonl: an object of a service, of its endpoints, or of a way to them, that is new, or
 * replaces another, or whose status does so: what is wrong with it, or what a server warns of. */
#include "members.h"
#include "objects.h"
#include "verdict.h"

static int judge(struct arena *a, const struct json *line, struct api_object *o,
                 struct api_object *old, struct buf *why) {
    struct feature_set gates;
    struct valid_errs errs = VALID_ERRS_INIT(a);
    bool of_status = str_is(vectors_text(line, STR("verb")), "status");
    if (verdict_gates(line, &gates, why) < 0)
        return -1;
    struct valid_opts opts = {
        .gates = &gates, .namespace = STR("default"), .uid = STR(VECTORS_NEW_UID)};
    if (old)
        api_object_default(old, &gates);
    api_object_default(o, &gates);
    if (!old) {
        valid_generate_name(o, STR("xxxxx"));
        valid_prepare_create(o, &opts);
        valid_create(o, &opts, &errs);
    } else if (of_status) {
        valid_prepare_status(o, old, &opts);
        valid_status(o, old, &opts, &errs);
    } else {
        valid_prepare_update(o, old, &opts);
        valid_update(o, old, &opts, &errs);
    }
    int rc = verdict_compare(line, o, &errs, why);
    return rc ? rc : vectors_compare_warnings(a, line, o, old, why);
}

int vectors_check_network(struct arena *a, const struct json *line, struct buf *why) {
    return vectors_judge_objects(a, line, judge, why);
}
