/* What must hold for every row of the schema, whoever adds the next one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/default_int.h"
#include "api/types.h"

/* The encoder collects the members of one object in an array of this size. */
enum { MOST_FIELDS = 80 };

static size_t count_fields(const struct api_type *type) {
    size_t n = 0;
    for (size_t i = 0; i < type->field_count; i++) {
        const struct api_field *f = &type->fields[i];
        n += f->kind == API_INLINE ? count_fields(f->type) : 1;
    }
    return n;
}

static bool is_object_kind(const struct api_field *f) {
    return f->kind == API_OBJ || f->kind == API_PTR || f->kind == API_LIST || f->kind == API_MOBJ ||
           f->kind == API_INLINE;
}

/* A list that is a map names the fields of its elements that tell them apart. */
static void check_keys(const struct api_field *f) {
    assert_int_equal(f->list == API_LIST_MAP, f->keys != NULL);
    assert_true(f->list != API_LIST_MAP || f->kind == API_LIST);
    for (struct str key, left = str_of(f->keys ? f->keys : ""); left.n;) {
        str_cut(left, ',', &key, &left);
        const struct api_field *next = f->type->fields;
        assert_non_null(api_field_find(f->type, key, &next).field);
    }
}

static void check_field(const struct api_type *type, const struct api_field *f) {
    assert_true(f->offset >= sizeof(struct json *) && f->offset < type->size);
    assert_int_equal(is_object_kind(f), f->type != NULL);
    assert_true(f->kind == API_INLINE || f->json.n > 0);
    assert_true(!f->merge_key || f->patch & API_PATCH_MERGE);
    check_keys(f);
    const struct api_field *next = type->fields;
    if (f->kind != API_INLINE)
        assert_ptr_equal(api_field_find(type, f->json, &next).field, f);
}

static void rows_are_consistent(void **state) {
    (void)state;
    for (size_t id = 0; id < API_TYPES; id++) {
        const struct api_type *type = &api_types[id];
        assert_int_equal(type->id, id);
        assert_non_null(strchr(type->go, '.'));
        assert_true(count_fields(type) <= MOST_FIELDS);
        for (size_t i = 0; i < type->field_count; i++)
            check_field(type, &type->fields[i]);
    }
}

/* Does defaulting find something to do at the row? */
static bool is_defaulted(const struct api_field *f) {
    return f->def || f->kind == API_MQUANTITY || (f->type && f->type->defaulted);
}

/* Defaulting always looks at an object as a whole. */
static bool is_object(const struct api_type *type) {
    for (const struct api_kind *k = api_kinds; k->kind; k++)
        if (k->type == type)
            return true;
    return false;
}

static void defaulting_looks_at_the_rows_that_concern_it(void **state) {
    (void)state;
    for (size_t id = 0; id < API_TYPES; id++) {
        const struct api_type *type = &api_types[id];
        assert_true(type->field_count <= 64);
        for (size_t i = 0; i < type->field_count; i++)
            assert_int_equal(type->defaulted >> i & 1, is_defaulted(&type->fields[i]));
        assert_true(!api__default_rules[id] || type->defaulted || is_object(type));
    }
}

/* A field can be dropped, and its use be told, if it may be absent. */
static bool may_have_gate(const struct api_field *f) {
    static const uint8_t kinds[] = {API_PSTR,    API_PBOOL,     API_PI32,      API_PI64, API_PTR,
                                    API_PINTSTR, API_LIST,      API_LSTR,      API_LI64, API_LBOOL,
                                    API_MSTR,    API_PQUANTITY, API_MQUANTITY, API_MOBJ};
    return memchr(kinds, f->kind, sizeof kinds);
}

static bool is_gated(const struct api_field *f) {
    return f->flags >> API_GATE_SHIFT || (f->type && api_gated_rows[f->type->id]);
}

static void gates_are_found_by_the_rows_around_them(void **state) {
    (void)state;
    for (size_t id = 0; id < API_TYPES; id++) {
        const struct api_type *type = &api_types[id];
        for (size_t i = 0; i < type->field_count; i++) {
            const struct api_field *f = &type->fields[i];
            assert_int_equal(api_gated_rows[id] >> i & 1, is_gated(f));
            assert_true(!(f->flags >> API_GATE_SHIFT) || may_have_gate(f));
        }
    }
}

static void protobuf_numbers_are_unique_in_their_message(void **state) {
    (void)state;
    for (size_t id = 0; id < API_TYPES; id++) {
        const struct api_type *type = &api_types[id];
        for (size_t i = 0; i < type->field_count; i++)
            for (size_t j = 0; j < i; j++)
                if (type->fields[i].number || type->fields[j].number)
                    assert_int_not_equal(type->fields[i].number, type->fields[j].number);
    }
}

static void fields_are_found_in_any_order(void **state) {
    (void)state;
    const struct api_type *volume = &api_types[API_T_volume];
    const struct api_field *next = volume->fields;
    struct api_found name = api_field_find(volume, STR("name"), &next);
    assert_int_equal(name.offset, offsetof(struct api_volume, name));
    struct api_found nfs = api_field_find(volume, STR("nfs"), &next);
    assert_int_equal(nfs.offset, offsetof(struct api_volume, volume_source.nfs));
    assert_string_equal(nfs.via, "VolumeSource");
    assert_ptr_equal(api_field_find(volume, STR("name"), &next).field, name.field);
    assert_null(api_field_find(volume, STR("NFS"), &next).field);
    assert_null(api_field_find(volume, STR(""), &next).field);
}

static void kinds_are_found_by_name_and_version(void **state) {
    (void)state;
    for (const struct api_kind *k = api_kinds; k->kind; k++)
        assert_ptr_equal(api_kind_find(str_of(k->api_version), str_of(k->kind)), k);
    const struct api_kind *d = api_kind_find(STR("apps/v1"), STR("Deployment"));
    assert_string_equal(d->plural, "deployments");
    assert_true(d->namespaced);
    assert_null(api_kind_find(STR("v1"), STR("Deployment")));
    assert_null(api_kind_find(STR("apps/v1"), STR("deployment")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_consistent),
        cmocka_unit_test(defaulting_looks_at_the_rows_that_concern_it),
        cmocka_unit_test(gates_are_found_by_the_rows_around_them),
        cmocka_unit_test(protobuf_numbers_are_unique_in_their_message),
        cmocka_unit_test(fields_are_found_in_any_order),
        cmocka_unit_test(kinds_are_found_by_name_and_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
