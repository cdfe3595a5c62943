/* network.jsonl: an object of a service, of its endpoints, or of a way to them, that is new, or
 * replaces another, or whose status does so: what is wrong with it, or what a server warns of. */
#include "members.h"
#include "vectors.h"
#include "verdict.h"

static int compare_warnings(struct arena *a, const struct json *line, const struct api_object *o,
                            const struct api_object *old, struct buf *why) {
    struct json list = {.kind = JSON_ARRAY}, got = {.kind = JSON_OBJECT};
    struct valid_warnings warnings = {.a = a};
    valid_warn(o, old, str_is(vectors_text(line, STR("verb")), "status"), &warnings);
    for (size_t i = 0; i < warnings.n; i++)
        json_append(a, &list, json_of_str(warnings.v[i]));
    json_add(a, &got, STR("warnings"), list);
    return json_get(line, STR("warnings")) ? vectors_compare_members(line, &got, why) : 0;
}

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
    return rc ? rc : compare_warnings(a, line, o, old, why);
}

int vectors_check_network(struct arena *a, const struct json *line, struct buf *why) {
    static const struct json missing;
    const struct json *tree = json_get(line, STR("new")), *stored = json_get(line, STR("old"));
    struct api_object *o = NULL, *old = NULL;
    struct api_faults faults;
    api_faults_init(&faults, a);
    int rc = -1;
    if (api_object_decode(tree ? tree : &missing, NULL, &o, &faults) < 0 ||
        (stored && api_object_decode(stored, NULL, &old, &faults) < 0)) {
        buf_add(why, STR("not decoded: "));
        api_faults_write(why, &faults);
    } else
        rc = judge(a, line, o, old, why);
    api_object_free(o);
    api_object_free(old);
    return rc;
}
