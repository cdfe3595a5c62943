/* delete.jsonl: what becomes of an object that is to be deleted? */
#include "codec/time.h"
#include "match_vectors.h"
#include "registry/known.h"
#include "registry/registry.h"
#include "vectors.h"
#include "verdict.h"

static struct json encode_marks(struct arena *a, const struct api_object *o) {
    static const char *const names[] = {"deletionTimestamp", "deletionGracePeriodSeconds",
                                        "generation", "finalizers"};
    struct json tree = api_object_encode(o, a), marks = {.kind = JSON_OBJECT};
    const struct json *meta = json_get(&tree, STR("metadata"));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct json *value = json_get(meta, str_of(names[i]));
        if (value)
            json_add(a, &marks, str_of(names[i]), *value);
    }
    const struct json *phase = json_get(json_get(&tree, STR("status")), STR("phase"));
    if (phase && api_object_is(o, API_T_namespace))
        json_add(a, &marks, STR("phase"), *phase);
    return marks;
}

static int compare(struct arena *a, const struct json *line, const struct api_object *o,
                   const struct registry_failure *failure, enum registry_deletion deletion,
                   struct buf *why) {
    static const char *const outcomes[] = {
        [REGISTRY_DELETION_NOW] = "deleted",
        [REGISTRY_DELETION_MARKED] = "marked",
        [REGISTRY_DELETION_PENDING] = "pending",
    };
    struct json got = {.kind = JSON_OBJECT};
    const char *outcome = failure->code ? "refused" : outcomes[deletion];
    json_add(a, &got, STR("outcome"), json_of_str(str_of(outcome)));
    if (failure->code)
        json_add(a, &got, STR("status"), registry_status(a, failure));
    else
        json_add(a, &got, STR("after"), encode_marks(a, o));
    return vectors_compare_members(line, &got, why);
}

/* Upstream looks at a clock that runs: it is half a second past the line's time on average. */
static int read_now(const struct json *line, struct api_time *now, struct buf *why) {
    struct time_instant t;
    if (time_parse(vectors_text(line, STR("now")), &t, why) < 0)
        return -1;
    *now = (struct api_time){.sec = t.seconds, .nsec = 500000000, .set = true};
    return 0;
}

static int judge(struct arena *a, const struct json *line, struct api_object *o, struct buf *why) {
    struct feature_set gates;
    struct registry_known *known = registry_known_new(STR(""));
    struct registry_request request = {.namespace = STR("default")};
    struct registry registry = {
        .gates = &gates, .view = registry_known_view(known), .plugins = registry_plugins_offline()};
    struct api_delete_options options = {0};
    enum registry_deletion deletion = REGISTRY_DELETION_NOW;
    int rc = -1;
    if (verdict_gates(line, &gates, why) == 0 && read_now(line, &request.now, why) == 0 &&
        match_vectors_decode(a, API_T_delete_options, json_get(line, STR("options")), &options,
                             why) == 0) {
        api_object_default(o, &gates);
        struct registry_failure failure =
            registry_delete(&registry, &request, a, &options, o, &deletion);
        rc = compare(a, line, o, &failure, deletion, why);
    }
    registry_known_free(known);
    return rc;
}

int vectors_check_delete(struct arena *a, const struct json *line, struct buf *why) {
    struct api_object *o = NULL;
    struct api_faults faults;
    api_faults_init(&faults, a);
    const struct json *tree = json_get(line, STR("object"));
    if (!tree || api_object_decode(tree, NULL, &o, &faults) < 0) {
        buf_add(why, STR("not decoded: "));
        api_faults_write(why, &faults);
        return -1;
    }
    int rc = judge(a, line, o, why);
    api_object_free(o);
    return rc;
}
