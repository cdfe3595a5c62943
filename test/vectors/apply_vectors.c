/* apply.jsonl: a write to an object by a manager of fields, and what becomes of its managed fields;
 * by server-side apply, what becomes of the object, or why nothing does. */
#include "api/managed.h"
#include "codec/time.h"
#include "members.h"
#include "vectors.h"
#include "verdict.h"

static struct api_object *decode(const struct json *tree) {
    struct api_object *o = NULL;
    return tree && api_object_decode(tree, NULL, &o, NULL) == 0 ? o : NULL;
}

static struct json copy_member(struct arena *a, const struct json *v) {
    static const struct json nothing = {.kind = JSON_ARRAY};
    return v ? json_clone(a, v) : nothing;
}

static struct json check_update(struct arena *a, const struct api_managed_write *w,
                                const struct api_object *old, struct api_object *draft) {
    struct json got = {.kind = JSON_OBJECT};
    api_managed_update(w, old, draft);
    struct json tree = api_object_encode(draft, a);
    json_add(a, &got, STR("managedFields"),
             copy_member(a, json_get(json_get(&tree, STR("metadata")), STR("managedFields"))));
    return got;
}

static struct json describe_failure(struct arena *a, const struct api_patch_failure *f,
                                    const struct api_managed_applied *applied) {
    struct json got = {.kind = JSON_OBJECT}, failure = {.kind = JSON_OBJECT},
                causes = {.kind = JSON_ARRAY};
    json_add(a, &failure, STR("code"), json_of_i64(err_http_status(f->code)));
    json_add(a, &failure, STR("message"), json_of_str(f->message));
    json_add(a, &got, STR("failure"), failure);
    for (size_t i = 0; i < applied->conflict_count; i++) {
        struct json cause = {.kind = JSON_OBJECT};
        json_add(a, &cause, STR("reason"), json_of_str(STR("FieldManagerConflict")));
        json_add(a, &cause, STR("message"), json_of_str(applied->conflicts[i].message));
        json_add(a, &cause, STR("field"), json_of_str(applied->conflicts[i].field));
        json_append(a, &causes, cause);
    }
    if (causes.n)
        json_add(a, &got, STR("causes"), causes);
    return got;
}

/* What is not to be decoded is told without the reason, which upstream has from another decoder. */
static struct json undecodable(struct arena *a, const struct json *applied) {
    const struct json *meta = json_get(applied, STR("metadata"));
    struct str version = vectors_text(applied, STR("apiVersion"));
    struct str text = arena_printf(
        a, "failed to convert new object (%.*s/%.*s; %s%.*s, Kind=%.*s) to proper version",
        STR_ARG(meta ? vectors_text(meta, STR("namespace")) : STR("")),
        STR_ARG(meta ? vectors_text(meta, STR("name")) : STR("")),
        str_find_char(version, '/') == STR_NONE ? "/" : "", STR_ARG(version),
        STR_ARG(vectors_text(applied, STR("kind"))));
    struct api_patch_failure f = {ERR_UNTOLD, text, text};
    return describe_failure(a, &f, &(struct api_managed_applied){0});
}

static struct json check_apply(struct arena *a, const struct api_managed_write *w,
                               const struct api_object *old, const struct json *line,
                               const struct feature_set *gates) {
    const struct json *applied = json_get(line, STR("object")),
                      *force = json_get(line, STR("force"));
    struct api_managed_applied out;
    struct json got = {.kind = JSON_OBJECT};
    struct api_patch_failure f = api_managed_apply(a, w, old, applied, force && force->b, &out);
    if (f.code != ERR_NONE)
        return describe_failure(a, &f, &out);
    struct api_object *o = decode(&out.tree);
    if (!o)
        return undecodable(a, applied);
    if (!out.is_same)
        api_object_default(o, gates);
    struct json tree = api_object_encode(o, a);
    json_add(a, &got, STR("after"), json_clone(a, &tree));
    api_object_free(o);
    return got;
}

int vectors_check_apply(struct arena *a, const struct json *line, struct buf *why) {
    const struct api_kind *kind =
        api_kind_find(vectors_text(line, STR("apiVersion")), vectors_text(line, STR("kind")));
    struct time_instant now = {0};
    struct feature_set gates;
    if (!kind || time_parse(vectors_text(line, STR("now")), &now, NULL) < 0 ||
        verdict_gates(line, &gates, why) < 0) {
        buf_add(why, STR("no kind or time"));
        return -1;
    }
    struct api_managed_write w = {.kind = kind,
                                  .manager = vectors_text(line, STR("manager")),
                                  .subresource = vectors_text(line, STR("subresource")),
                                  .now = {.sec = now.seconds, .set = true}};
    struct api_object *old = decode(json_get(line, STR("old")));
    struct json got;
    if (str_is(vectors_text(line, STR("operation")), "update")) {
        struct api_object *draft = decode(json_get(line, STR("object")));
        got = draft ? check_update(a, &w, old, draft) : (struct json){.kind = JSON_OBJECT};
        api_object_free(draft);
    } else
        got = check_apply(a, &w, old, line, &gates);
    api_object_free(old);
    return vectors_compare_members(line, &got, why);
}
