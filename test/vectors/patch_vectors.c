/* patch.jsonl: a stored object, a patch, and what becomes of the one by the other, or why nothing
 * does. */
#include "api/patch.h"
#include "members.h"
#include "vectors.h"

typedef struct api_patch_failure patch_fn(struct arena *a, const struct api_type *type,
                                          const struct json *stored,
                                          const struct api_patch_body *patch,
                                          struct api_patched *out);

static struct api_patch_failure patch_json(struct arena *a, const struct api_type *type,
                                           const struct json *stored,
                                           const struct api_patch_body *patch,
                                           struct api_patched *out) {
    (void)type;
    return api_patch_json(a, stored, patch, out);
}

static struct api_patch_failure patch_merge(struct arena *a, const struct api_type *type,
                                            const struct json *stored,
                                            const struct api_patch_body *patch,
                                            struct api_patched *out) {
    (void)type;
    return api_patch_merge(a, stored, patch, out);
}

static patch_fn *type_of(struct str name) {
    return str_is(name, "json")    ? patch_json
           : str_is(name, "merge") ? patch_merge
                                   : api_patch_strategic;
}

static struct json describe_failure(struct arena *a, const struct api_patch_failure *failure) {
    struct json got = {.kind = JSON_OBJECT}, status = {.kind = JSON_OBJECT};
    json_add(a, &status, STR("code"), json_of_i64(err_http_status(failure->code)));
    json_add(a, &status, STR("message"), json_of_str(failure->message));
    json_add(a, &got, STR("failure"), status);
    json_add(a, &got, STR("cause"), json_of_str(failure->cause));
    return got;
}

static struct json describe(struct arena *a, const struct api_patched *patched,
                            const struct api_faults *faults) {
    struct json got = {.kind = JSON_OBJECT}, texts = {.kind = JSON_ARRAY};
    for (size_t i = 0; i < faults->n; i++)
        json_append(a, &texts, json_of_str(faults->v[i].text));
    json_add(a, &got, STR("patched"), patched->tree);
    json_add(a, &got, STR("faults"), texts);
    if (patched->spent.kind == JSON_OBJECT)
        json_add(a, &got, STR("spent"), json_of_str(api_patch_text(a, patched)));
    return got;
}

int vectors_check_patch(struct arena *a, const struct json *line, struct buf *why) {
    const struct api_kind *kind =
        api_kind_find(vectors_text(line, STR("apiVersion")), vectors_text(line, STR("kind")));
    const struct json *validated = json_get(line, STR("validated")),
                      *object = json_get(line, STR("object"));
    struct str text = vectors_text(line, STR("text"));
    struct json parsed;
    struct api_faults faults;
    api_faults_init(&faults, a);
    struct api_patch_body patch = {.tree = json_get(line, STR("patch")),
                                   .duplicates = text.p != NULL,
                                   .faults = validated && validated->b ? &faults : NULL};
    if (text.p &&
        json_parse(a, text, &(struct json_opts){.allow_duplicates = true}, &parsed, NULL) == 0)
        patch.tree = &parsed;
    if (!kind || !object || !patch.tree) {
        buf_add(why, STR("no kind, object or patch"));
        return -1;
    }
    struct api_patched patched;
    struct api_patch_failure failure =
        type_of(vectors_text(line, STR("type")))(a, kind->type, object, &patch, &patched);
    struct json got =
        failure.code == ERR_NONE ? describe(a, &patched, &faults) : describe_failure(a, &failure);
    return vectors_compare_members(line, &got, why);
}
