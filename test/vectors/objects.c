#include "objects.h"

#include "members.h"
#include "verdict.h"

int vectors_judge_objects(struct arena *a, const struct json *line, vectors_judge_fn *judge,
                          struct buf *why) {
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

int vectors_compare_texts(struct arena *a, const struct json *line,
                          const struct valid_warnings *warnings, struct buf *why) {
    struct json list = {.kind = JSON_ARRAY}, got = {.kind = JSON_OBJECT};
    for (size_t i = 0; i < warnings->n; i++)
        json_append(a, &list, json_of_str(warnings->v[i]));
    json_add(a, &got, STR("warnings"), list);
    return json_get(line, STR("warnings")) ? vectors_compare_members(line, &got, why) : 0;
}

int vectors_compare_warnings(struct arena *a, const struct json *line, const struct api_object *o,
                             const struct api_object *old, struct buf *why) {
    struct feature_set gates;
    if (!json_get(line, STR("warnings")))
        return 0; /* a server warns only of what it accepts */
    if (verdict_gates(line, &gates, why) < 0)
        return -1;
    struct valid_warnings warnings = {.a = a, .gates = &gates};
    valid_warn(o, old, str_is(vectors_text(line, STR("verb")), "status"), &warnings);
    return vectors_compare_texts(a, line, &warnings, why);
}
