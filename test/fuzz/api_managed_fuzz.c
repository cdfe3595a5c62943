/*
 * Three lines, a stored object, one that replaces it and one that is applied: managed fields that
 * come of it can be read again and are written the same, writing an object again changes nothing,
 * and nothing that was lent is changed.
 */
#include <stdint.h>
#include <string.h>

#include "api/managed.h"
#include "check.h"

static struct api_object *decode_tree(const struct json *tree) {
    struct api_object *o = NULL;
    return api_object_decode(tree, NULL, &o, NULL) == 0 ? o : NULL;
}

static struct api_object *decode(struct arena *a, struct str text) {
    struct json tree;
    return json_parse(a, text, NULL, &tree, NULL) == 0 ? decode_tree(&tree) : NULL;
}

static struct json entries_of(struct arena *a, const struct api_object *o) {
    struct json tree = api_object_encode(o, a);
    const struct json *found = json_get(json_get(&tree, STR("metadata")), STR("managedFields"));
    return found ? json_clone(a, found) : (struct json){0};
}

/* Both must be of the kind of the write, as they are on a server. */
static bool is_of(const struct api_managed_write *w, const struct api_object *o) {
    return o && o->kind == w->kind && o->meta;
}

/* What a server stores has managed fields that can be read. */
static bool is_stored(struct arena *a, const struct api_managed_write *w,
                      const struct api_object *o) {
    return is_of(w, o) && !api_managed_check(a, &o->meta->managed_fields).p;
}

static void check_update(struct arena *a, const struct api_managed_write *w,
                         const struct api_object *old, struct api_object *draft) {
    api_managed_update(w, old, draft);
    struct json once = entries_of(a, draft);
    CHECK(!api_managed_check(a, &draft->meta->managed_fields).p);
    struct api_object *again = api_object_copy(draft);
    struct api_managed_write later = *w;
    later.now.sec++;
    api_managed_update(&later, draft, again);
    struct json twice = entries_of(a, again);
    CHECK(json_equal(&once, &twice) || !draft->meta->uid.n);
    api_object_free(again);
}

static void check_apply(struct arena *a, const struct api_managed_write *w,
                        const struct api_object *old, const struct json *applied) {
    struct json before = json_clone(a, applied);
    struct api_managed_applied out;
    struct api_patch_failure failure = api_managed_apply(a, w, old, applied, false, &out);
    CHECK(json_equal(applied, &before));
    CHECK(failure.code == ERR_NONE || failure.message.n > 0);
    CHECK((failure.code == ERR_CONFLICT) == (out.conflict_count > 0));
    if (failure.code == ERR_CONFLICT)
        failure = api_managed_apply(a, w, old, applied, true, &out);
    CHECK(failure.code != ERR_CONFLICT);
    struct api_object *o = failure.code == ERR_NONE ? decode_tree(&out.tree) : NULL;
    CHECK(!o || !api_managed_check(a, &o->meta->managed_fields).p);
    api_object_free(o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    struct arena a = {0};
    struct str first, second, third;
    struct json applied;
    str_cut(arena_str(&a, (struct str){(const char *)data, n}), '\n', &first, &second);
    str_cut(second, '\n', &second, &third);
    struct api_object *old = decode(&a, first), *draft = decode(&a, second);
    struct api_managed_write w = {.kind = draft ? draft->kind : NULL,
                                  .manager = n % 3 ? STR("kubectl") : STR("m"),
                                  .subresource = n % 5 ? STR("") : STR("status"),
                                  .now = {.sec = 1767225600, .set = true}};
    const struct api_object *stored = w.kind && is_stored(&a, &w, old) ? old : NULL;
    if (w.kind && is_of(&w, draft)) {
        if (json_parse(&a, third, NULL, &applied, NULL) == 0)
            check_apply(&a, &w, stored, &applied);
        check_update(&a, &w, stored, draft);
    }
    api_object_free(old);
    api_object_free(draft);
    arena_release(&a);
    return 0;
}
