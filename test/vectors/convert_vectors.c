/* convert.jsonl: an object, and what it is in the version `to`. */
#include "members.h"
#include "registry/registry.h"
#include "vectors.h"
#include "verdict.h"

static struct api_object *converted(const struct json *line, struct api_object *o,
                                    struct buf *why) {
    struct feature_set gates;
    struct str version = json_str(json_get(line, STR("to")));
    const struct api_kind *to = api_kind_find(version, str_of(o->kind->kind));
    if (!to || verdict_gates(line, &gates, why) < 0) {
        buf_add(why, STR("there is no such version"));
        return NULL;
    }
    api_object_default(o, &gates);
    return registry_convert(o, to);
}

int vectors_check_convert(struct arena *a, const struct json *line, struct buf *why) {
    struct api_object *o = NULL, *other;
    struct json got = {.kind = JSON_OBJECT};
    if (api_object_decode(json_get(line, STR("object")), NULL, &o, NULL) < 0) {
        buf_add(why, STR("the object cannot be decoded"));
        return -1;
    }
    other = converted(line, o, why);
    int rc = -1;
    if (other) {
        json_add(a, &got, STR("converted"), api_object_encode(other, a));
        rc = vectors_compare_members(line, &got, why);
    }
    api_object_free(other);
    api_object_free(o);
    return rc;
}
