/* Any text is a field selector of a kind or is refused with a reason; it can be asked about any
 * object. */
#include "check.h"
#include "registry/fields.h"

static void check_kind(struct arena *a, const struct api_kind *kind, struct str text) {
    struct registry_fields *f;
    struct str why;
    if (registry_fields_parse(a, kind, kind, text, &f, &why) < 0) {
        CHECK(why.n);
        return;
    }
    struct api_object *o = api_object_new(kind);
    struct str name = registry_fields_name(f);
    if (name.n && registry_fields_match(f, o))
        CHECK(false); /* the object has no name */
    (void)registry_fields_are_any(f);
    api_object_free(o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const kinds[][2] = {
        {"v1", "Pod"}, {"v1", "Node"}, {"v1", "Event"}, {"v1", "Secret"}, {"apps/v1", "Deployment"},
    };
    struct str text = {(const char *)data, size};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        AUTO(arena_release) struct arena a = {0};
        check_kind(&a, api_kind_find(str_of(kinds[i][0]), str_of(kinds[i][1])), text);
    }
    return 0;
}
