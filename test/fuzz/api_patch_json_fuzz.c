/*
 * Two lines, an object and a patch, as a JSON patch and as a merge patch: whatever they are, there
 * is a tree or a failure with a text, nothing that was lent is changed, and a merge patch that is
 * applied again changes nothing.
 */
#include <stdint.h>
#include <string.h>

#include "api/patch.h"
#include "check.h"

static void check_merge(struct arena *a, const struct json *stored,
                        const struct api_patch_body *patch) {
    struct api_patched once, twice, thrice;
    if (api_patch_merge(a, stored, patch, &once).code != ERR_NONE)
        return;
    CHECK(api_patch_merge(a, &once.tree, patch, &twice).code == ERR_NONE);
    CHECK(api_patch_merge(a, &twice.tree, patch, &thrice).code == ERR_NONE);
    CHECK(json_equal(&twice.tree, &thrice.tree));
}

static void check_json(struct arena *a, const struct json *stored,
                       const struct api_patch_body *patch) {
    struct api_patched patched;
    struct api_patch_failure failure = api_patch_json(a, stored, patch, &patched);
    CHECK(failure.code == ERR_NONE || failure.message.n > 0);
    CHECK(failure.code != ERR_NONE || api_patch_text(a, &patched).n > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    const struct json_opts opts = {.allow_duplicates = true};
    struct arena a = {0};
    struct str first, second;
    struct json stored, tree;
    struct api_faults faults;
    str_cut(arena_str(&a, (struct str){(const char *)data, n}), '\n', &first, &second);
    if (json_parse(&a, first, NULL, &stored, NULL) == 0 && stored.kind == JSON_OBJECT &&
        json_parse(&a, second, &opts, &tree, NULL) == 0) {
        struct json stored_before = json_clone(&a, &stored), before = json_clone(&a, &tree);
        api_faults_init(&faults, &a);
        struct api_patch_body patch = {&tree, true, n % 2 ? &faults : NULL};
        check_json(&a, &stored, &patch);
        check_merge(&a, &stored, &patch);
        CHECK(json_equal(&stored, &stored_before) && json_equal(&tree, &before));
    }
    arena_release(&a);
    return 0;
}
