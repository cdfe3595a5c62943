/* yaml.jsonl: a document, and the JSON that sigs.k8s.io/yaml makes of it, or that it refuses it. */
#include "codec/yml.h"
#include "members.h"
#include "vectors.h"

int vectors_check_yaml(struct arena *a, const struct json *line, struct buf *why) {
    struct json got = {.kind = JSON_OBJECT}, value;
    struct err err;
    if (yml_parse(a, vectors_text(line, STR("text")), &value, &err) == 0)
        json_add(a, &got, STR("json"), value);
    else
        json_add(a, &got, STR("refused"), (struct json){.kind = JSON_BOOL, .b = true});
    return vectors_compare_members(line, &got, why);
}
