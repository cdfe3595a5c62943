/* semver.jsonl: a text read strictly and tolerantly, or two versions in order. */
#include "base/limits.h"
#include "members.h"
#include "semver/semver.h"
#include "vectors.h"

typedef int parse_fn(struct arena *a, struct str text, struct semver *out, struct err *err);

static struct json of_u64(uint64_t v) {
    if (v <= INT64_MAX)
        return json_of_i64((int64_t)v);
    return (struct json){.kind = JSON_UINT, .u = v};
}

static struct json pre_of(struct arena *a, const struct semver *v) {
    struct json list = {.kind = JSON_ARRAY};
    for (size_t i = 0; i < v->pre_count; i++) {
        const struct semver_id *id = &v->pre[i];
        struct str text = {id->text, id->number};
        if (!id->text)
            text = arena_printf(a, "%llu", (unsigned long long)id->number);
        json_append(a, &list, json_of_str(text));
    }
    return list;
}

static struct json build_of(struct arena *a, const struct semver *v) {
    struct json list = {.kind = JSON_ARRAY};
    struct str rest = {v->build, v->build_length}, id;
    bool more = rest.n > 0;
    while (more) {
        more = str_cut(rest, '.', &id, &rest);
        json_append(a, &list, json_of_str(id));
    }
    return list;
}

static struct json string_of(struct arena *a, const struct semver *v) {
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_OBJECT_BYTES);
    semver_write(&text, v);
    return json_of_str(arena_str(a, buf_view(&text)));
}

static struct json outcome(struct arena *a, parse_fn *parse, struct str text) {
    struct json got = {.kind = JSON_OBJECT};
    struct semver v;
    struct err err;
    if (parse(a, text, &v, &err) < 0) {
        json_add(a, &got, STR("error"), json_of_str(arena_str(a, str_of(err.msg))));
        return got;
    }
    json_add(a, &got, STR("string"), string_of(a, &v));
    json_add(a, &got, STR("major"), of_u64(v.major));
    json_add(a, &got, STR("minor"), of_u64(v.minor));
    json_add(a, &got, STR("patch"), of_u64(v.patch));
    json_add(a, &got, STR("pre"), pre_of(a, &v));
    json_add(a, &got, STR("build"), build_of(a, &v));
    return got;
}

static int check_parse(struct arena *a, const struct json *line, struct buf *why) {
    struct str input = vectors_text(line, STR("input"));
    struct json strict = outcome(a, semver_parse, input);
    struct json tolerant = outcome(a, semver_parse_tolerant, input);
    if (vectors_compare_members(json_get(line, STR("strict")), &strict, why) < 0)
        return -1;
    return vectors_compare_members(json_get(line, STR("tolerant")), &tolerant, why);
}

static int check_compare(struct arena *a, const struct json *line, struct buf *why) {
    struct semver x, y;
    struct err err;
    if (semver_parse_tolerant(a, vectors_text(line, STR("a")), &x, &err) < 0 ||
        semver_parse_tolerant(a, vectors_text(line, STR("b")), &y, &err) < 0) {
        buf_addf(why, "%s", err.msg);
        return -1;
    }
    struct json got = {.kind = JSON_OBJECT};
    json_add(a, &got, STR("result"), json_of_i64(semver_cmp(&x, &y)));
    return vectors_compare_members(line, &got, why);
}

int vectors_check_semver(struct arena *a, const struct json *line, struct buf *why) {
    bool compare = str_is(vectors_text(line, STR("kind")), "compare");
    return compare ? check_compare(a, line, why) : check_parse(a, line, why);
}
