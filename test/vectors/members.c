#include "members.h"

#include <assert.h>

struct str vectors_text(const struct json *line, struct str key) {
    const struct json *v = json_get(line, key);
    return v && v->kind == JSON_STRING ? json_str(v) : (struct str){0};
}

static int differ(const struct json_member *got, const struct json *want, struct buf *why) {
    buf_add(why, got->key);
    buf_add(why, STR(": want "));
    if (want)
        json_write(why, want, NULL);
    else
        buf_add(why, STR("none"));
    buf_add(why, STR(", got "));
    json_write(why, &got->value, NULL);
    return -1;
}

int vectors_compare_members(const struct json *want, const struct json *got, struct buf *why) {
    assert(got->kind == JSON_OBJECT && got->n > 0);
    for (uint32_t i = 0; i < got->n; i++) {
        const struct json_member *member = &got->members[i];
        const struct json *value = want ? json_get(want, member->key) : NULL;
        if (!value || !json_equal(value, &member->value))
            return differ(member, value, why);
    }
    return 0;
}
