#include "members.h"

#include <assert.h>

struct str vectors_text(const struct json *line, struct str key) {
    const struct json *v = json_get(line, key);
    return v && v->kind == JSON_STRING ? json_str(v) : (struct str){0};
}

static void add_value(struct buf *out, const struct json *v) {
    if (v)
        json_write(out, v, NULL);
    else
        buf_add(out, STR("none"));
}

int vectors_differ(struct buf *why, struct str where, const struct json *want,
                   const struct json *got) {
    buf_addf(why, "%.*s: want ", STR_ARG(where));
    add_value(why, want);
    buf_add(why, STR(", got "));
    add_value(why, got);
    return -1;
}

int vectors_compare_members(const struct json *want, const struct json *got, struct buf *why) {
    assert(got->kind == JSON_OBJECT && got->n > 0);
    for (uint32_t i = 0; i < got->n; i++) {
        const struct json_member *member = &got->members[i];
        const struct json *value = want ? json_get(want, member->key) : NULL;
        if (!value || !json_equal(value, &member->value))
            return vectors_differ(why, member->key, value, &member->value);
    }
    return 0;
}
