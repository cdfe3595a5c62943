/* What claims and volumes say of each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/claim_binding.h"
#include "codec/yml.h"

static struct api_object *object_of(struct arena *a, const char *text) {
    struct json tree;
    struct api_object *o = NULL;
    struct err err = {0};
    if (yml_parse(a, str_of(text), &tree, &err) < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(api_object_decode(&tree, NULL, &o, NULL), 0);
    return o;
}

#define CLAIM                                                                                 \
    "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {namespace: ns, name: c, uid: u" \
    ", resourceVersion: '7'}}"

/* A volume's claimRef, whether it names the claim, and whether that is by a controller then. */
static const struct {
    const char *ref;
    bool is_of, binds, is_by_controller;
} refs[] = {
    {"", false, true, true},
    {"{namespace: ns, name: c}", true, true, false},
    {"{namespace: ns, name: c, uid: u}", true, false, false},
    {"{namespace: ns, name: c, uid: other}", false, true, true},
    {"{namespace: m, name: c}", false, true, true},
};

static void volumes_are_bound(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof refs / sizeof *refs; i++) {
        AUTO(arena_release) struct arena a = {0};
        struct api_object *claim = object_of(&a, CLAIM);
        struct api_object *volume =
            object_of(&a, arena_printf(&a,
                                       "{apiVersion: v1, kind: PersistentVolume, metadata: {name: "
                                       "v}, spec: {%s%s}}",
                                       *refs[i].ref ? "claimRef: " : "", refs[i].ref)
                              .p);
        assert_int_equal(api_volume_is_of(volume, claim), refs[i].is_of);
        assert_int_equal(api_volume_bind(volume, claim), refs[i].binds);
        const struct api_persistent_volume *body = volume->body;
        assert_true(str_is(body->spec.claim_ref->uid, "u"));
        if (refs[i].binds)
            assert_true(str_is(body->spec.claim_ref->resource_version, "7"));
        assert_int_equal(labels_find(&volume->meta->annotations, API_BOUND_BY) != NULL,
                         refs[i].is_by_controller);
        assert_false(api_volume_bind(volume, claim));
        api_object_free(claim);
        api_object_free(volume);
    }
}

static void classes_are_asked_for(void **state) {
    AUTO(arena_release) struct arena a = {0};
    (void)state;
    struct api_object *none = object_of(&a, CLAIM);
    struct api_object *empty = object_of(
        &a, "{apiVersion: v1, kind: PersistentVolumeClaim, spec: {storageClassName: ''}}");
    struct api_object *old = object_of(
        &a, "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {annotations: "
            "{volume.beta.kubernetes.io/storage-class: a}}, spec: {storageClassName: b}}");
    assert_false(api_claim_has_class(none));
    assert_true(api_claim_has_class(empty));
    assert_int_equal(api_claim_class(empty).n, 0);
    assert_true(str_is(api_claim_class(old), "a"));
    api_object_free(none);
    api_object_free(empty);
    api_object_free(old);
}

static void a_label_is_taken_away(void **state) {
    AUTO(arena_release) struct arena a = {0};
    struct labels list = {0};
    (void)state;
    labels_put(&a, &list, (struct label){STR("a"), STR("1")});
    labels_put(&a, &list, (struct label){STR("b"), STR("2")});
    labels_remove(&a, &list, STR("c"));
    assert_int_equal(list.n, 2);
    labels_remove(&a, &list, STR("a"));
    assert_int_equal(list.n, 1);
    assert_true(str_is(list.v[0].key, "b"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(volumes_are_bound),
        cmocka_unit_test(classes_are_asked_for),
        cmocka_unit_test(a_label_is_taken_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
