/* decode.jsonl: an object of any kind, and what strict decoding and the defaults of its version
 * make of it, or why it is not read. */
#include "api/object.h"
#include "members.h"
#include "vectors.h"
#include "verdict.h"

static struct json outcome(struct arena *a, const struct json *tree,
                           const struct feature_set *gates) {
    const struct api_decode_opts strict = {.strict = true};
    struct json got = {.kind = JSON_OBJECT};
    struct api_object *o = NULL;
    struct api_faults faults;
    api_faults_init(&faults, a);
    if (api_object_decode(tree, &strict, &o, &faults) < 0) {
        AUTO(buf_release) struct buf text = BUF_INIT(1 << 24);
        api_faults_write(&text, &faults);
        json_add(a, &got, STR("decode_error"), json_of_str(arena_str(a, buf_view(&text))));
        return got;
    }
    api_object_default(o, gates);
    struct json encoded = api_object_encode(o, a);
    json_add(a, &got, STR("defaulted"), json_clone(a, &encoded));
    api_object_free(o);
    return got;
}

int vectors_check_decode(struct arena *a, const struct json *line, struct buf *why) {
    static const struct json missing;
    const struct json *tree = json_get(line, STR("object"));
    struct feature_set gates;
    if (verdict_gates(line, &gates, why) < 0)
        return -1;
    struct json got = outcome(a, tree ? tree : &missing, &gates);
    return vectors_compare_members(line, &got, why);
}
