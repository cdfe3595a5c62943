#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/image.h"

#define HEX32  "0123456789abcdef0123456789abcdef"
#define SHA256 "sha256:" HEX32 HEX32

/* Checked with the distribution project's reference package. */
static const struct {
    const char *image, *tag;
} cases[] = {
    {"nginx", "latest"},
    {"nginx:1.27", "1.27"},
    {"nginx:latest", "latest"},
    {"library/nginx", "latest"},
    {"registry.example.com/a/b:v1", "v1"},
    {"registry.example.com:5000/a/b", "latest"},
    {"localhost/a", "latest"},
    {"localhost:5000/a:x", "x"},
    {"Registry/a", "latest"},
    {"[::1]:80/a:latest", "latest"},
    {"[::1]/a", "latest"},
    {"[::g]/a", ""},
    {"a__b", "latest"},
    {"a--b", "latest"},
    {"a.b", "latest"},
    {"nginx@" SHA256, ""},
    {"nginx:latest@" SHA256, "latest"},
    {"nginx:latest@sha256:" HEX32, ""},
    {"nginx:latest@md5:" HEX32, ""},
    {"nginx:latest@sha512:" HEX32 HEX32 HEX32 HEX32, "latest"},
    {"nginx:latest@sha384:" HEX32 HEX32 HEX32, "latest"},
    {"nginx:latest@x", ""},
    {HEX32 HEX32, ""},
    {HEX32, "latest"},
    {"", ""},
    {"UPPER", ""},
    {"a/UPPER", ""},
    {"a___b", ""},
    {"a..b", ""},
    {"a+b", ""},
    {"a-", ""},
    {"-a", ""},
    {"a//b", ""},
    {"/a", ""},
    {"a b", ""},
    {"nginx:", ""},
    {"nginx:.x", ""},
    {"nginx:-x", ""},
    {"nginx:a b", ""},
    {"-x.io/a", ""},
    {"x..io/a", ""},
    {"x.io:port/a", ""},
};

static void tags_are_read_as_the_server_reads_them(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str tag = api_image_tag(str_of(cases[i].image));
        if (!str_is(tag, cases[i].tag))
            fail_msg("%s: want '%s', got '%.*s'", cases[i].image, cases[i].tag, STR_ARG(tag));
    }
}

static void names_and_tags_have_a_length(void **state) {
    (void)state;
    char name[512];
    memset(name, 'a', sizeof name);
    /* The "library/" that is left out counts. */
    assert_true(str_is(api_image_tag((struct str){name, 247}), "latest"));
    assert_true(str_is(api_image_tag((struct str){name, 248}), ""));
    name[1] = ':';
    assert_int_equal(api_image_tag((struct str){name, 2 + 128}).n, 128);
    assert_int_equal(api_image_tag((struct str){name, 2 + 129}).n, 0);
}

/* The words are those of upstream's own parser. */
static void faults_are_told_in_words(void **state) {
    static const struct {
        const char *image, *fault;
    } rows[] = {
        {"nginx", ""},
        {"nginx:1.2@sha256:" HEX32 HEX32, ""},
        {"Nginx:1", "invalid reference format: repository name (library/Nginx) must be lowercase"},
        {"docker.io/Nginx",
         "invalid reference format: repository name (library/Nginx) must be lowercase"},
        {"team/Nginx", "invalid reference format: repository name (team/Nginx) must be lowercase"},
        {"x.io:5000/Team/a:1",
         "invalid reference format: repository name (Team/a) must be lowercase"},
        {"Team/a b", "invalid reference format"},
        {"nginx:", "invalid reference format"},
        {"nginx:a:b", "invalid reference format"},
        {"", "invalid reference format"},
        {HEX32 HEX32,
         "invalid repository name (" HEX32 HEX32 "), cannot specify 64-byte hexadecimal strings"},
    };
    (void)state;
    AUTO(arena_release) struct arena a = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct str fault = api_image_fault(&a, str_of(rows[i].image));
        if (!str_is(fault, rows[i].fault))
            fail_msg("%s: %.*s", rows[i].image, STR_ARG(fault));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tags_are_read_as_the_server_reads_them),
        cmocka_unit_test(names_and_tags_have_a_length),
        cmocka_unit_test(faults_are_told_in_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
