/* Every type and every field has a line that tells what it means, and every line tells of one. */
#include "../data.h"
#include "api/types.h"
#include "openapi/openapi.h"

enum { LONGEST_LINE = 400, ANYWHERE = API_TYPES };

static void check_line(const struct api_type *type, const char *json, struct str line) {
    bool is_sentence = line.n > 3 && line.n <= LONGEST_LINE && line.p[line.n - 1] == '.' &&
                       str_find(line, STR("  ")) == STR_NONE;
    if (!is_sentence)
        fail_msg("%s.%s: \"%.*s\"", type->go, json ? json : "", STR_ARG(line));
}

static void all_rows_have_a_line(void **state) {
    (void)state;
    for (size_t i = 0; i < API_TYPES; i++) {
        const struct api_type *type = &api_types[i];
        check_line(type, NULL, openapi_doc(type, NULL));
        for (size_t j = 0; j < type->field_count; j++)
            if (type->fields[j].kind != API_INLINE)
                check_line(type, type->fields[j].json.p, openapi_doc(type, &type->fields[j]));
    }
}

static const struct {
    int type;
    const char *json;
} lines[] = {
#define API_T_ANYWHERE       ANYWHERE
#define TYPE(name, doc)      {API_T_##name, NULL},
#define DOC(name, json, doc) {API_T_##name, json},
#include "api/schema/docs/all.def"
#undef TYPE
#undef DOC
};

static bool has_row(const struct api_type *type, const char *json) {
    for (size_t i = 0; i < type->field_count; i++)
        if (str_is(type->fields[i].json, json))
            return true;
    return false;
}

static void all_lines_have_a_row(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (lines[i].type != ANYWHERE && lines[i].json &&
            !has_row(&api_types[lines[i].type], lines[i].json))
            fail_msg("%s has no %s", api_types[lines[i].type].go, lines[i].json);
}

/* The newest fields are told of with what they need. */
static void proposals_are_told_of(void **state) {
    (void)state;
    const struct api_type *type = &api_types[API_T_toleration];
    const struct api_field *next = type->fields;
    struct api_found found = api_field_find(type, STR("expression"), &next);
    assert_true(str_find(openapi_doc(type, found.field), STR("KEP-5500")) != STR_NONE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_rows_have_a_line),
        cmocka_unit_test(all_lines_have_a_row),
        cmocka_unit_test(proposals_are_told_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
