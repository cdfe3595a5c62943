/*
 * Two lines, an object and a strategic merge patch for it: there is a tree or a failure with a
 * text, nothing that was lent is changed, and an empty patch changes nothing but how numbers are
 * written.
 */
#include <stdint.h>
#include <string.h>

#include "api/object.h"
#include "api/patch.h"
#include "check.h"

/* The object as a server has it; NULL if it is none. */
static struct api_object *decode(struct arena *a, struct str text) {
    struct json tree;
    struct api_object *o = NULL;
    if (json_parse(a, text, NULL, &tree, NULL) < 0 || api_object_decode(&tree, NULL, &o, NULL) < 0)
        return NULL;
    return o;
}

static void check_patch(struct arena *a, const struct api_type *type, const struct json *stored,
                        const struct json *tree, bool is_validated) {
    struct json stored_before = json_clone(a, stored), before = json_clone(a, tree);
    const struct json nothing = {.kind = JSON_OBJECT};
    struct api_faults faults;
    struct api_patched patched;
    api_faults_init(&faults, a);
    struct api_patch_failure failure = api_patch_strategic(
        a, type, stored, &(struct api_patch_body){tree, true, is_validated ? &faults : NULL},
        &patched);
    CHECK(failure.code == ERR_NONE || failure.message.n > 0);
    CHECK(failure.code != ERR_NONE || api_patch_text(a, &patched).n > 0);
    CHECK(json_equal(stored, &stored_before) && json_equal(tree, &before));
    failure =
        api_patch_strategic(a, type, stored, &(struct api_patch_body){.tree = &nothing}, &patched);
    CHECK(failure.code == ERR_NONE && patched.tree.n == stored->n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    const struct json_opts opts = {.allow_duplicates = true};
    struct arena a = {0};
    struct str first, second;
    struct json tree;
    str_cut(arena_str(&a, (struct str){(const char *)data, n}), '\n', &first, &second);
    struct api_object *o = decode(&a, first);
    if (o && json_parse(&a, second, &opts, &tree, NULL) == 0) {
        struct json stored = api_object_encode(o, &a);
        check_patch(&a, o->kind ? o->type : &api_types[API_T_pod], &stored, &tree, n % 2);
    }
    api_object_free(o);
    arena_release(&a);
    return 0;
}
