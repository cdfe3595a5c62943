/* Files and names of a command line become keys, issuers and tokens, or a message says why not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "auth/token_int.h"
#include "tokens.h"

/* A folder with a file in it. */
struct folder {
    struct arena a;
    char path[64];
};

static struct str write_file(struct folder *f, const char *name, struct str text) {
    struct err err = {0};
    struct str path = arena_printf(&f->a, "%s/%s", f->path, name);
    assert_int_equal(auth__file_write(path, text, &err), 0);
    return path;
}

static int set_up(void **state) {
    struct folder *f = xcalloc(1, sizeof *f);
    snprintf(f->path, sizeof f->path, "/tmp/berth-setup-XXXXXX");
    assert_non_null(mkdtemp(f->path));
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    static const char *const names[] = {"tokens", "key", "more"};
    struct folder *f = *state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(arena_printf(&f->a, "%s/%s", f->path, names[i]).p);
    rmdir(f->path);
    arena_release(&f->a);
    free(f);
    return 0;
}

static void files_are_read(void **state) {
    struct folder *f = *state;
    struct err err = {0};
    struct str own = new_key(&f->a, false), other = new_key(&f->a, true), issuer = STR("i");
    struct str files[] = {write_file(f, "key", own), write_file(f, "more", other)};
    struct auth_setup_options o = {.token_file =
                                       write_file(f, "tokens", STR("secret,alice,u1,\"a,b\"\n")),
                                   .own_key = own,
                                   .key_files = {files, 2},
                                   .issuers = {&issuer, 1}};
    struct auth_setup s;
    assert_int_equal(auth_setup_open(&f->a, &o, &s, &err), 0);
    assert_int_equal(s.keys->n, 2); /* the own key is not there twice */
    assert_true(str_is(s.issuer.audiences.v[0], "i"));
    const struct auth_user *user = auth_token_file_find(s.file, STR("secret"));
    assert_true(user && str_is(user->name, "alice") && user->groups.n == 2);
    auth_setup_release(&s);
    o.signing_key_file = files[1];
    assert_int_equal(auth_setup_open(&f->a, &o, &s, &err), 0);
    assert_string_equal(s.keys->v[0].algorithm, "RS256");
    auth_setup_release(&s);
}

static void faults_are_told(void **state) {
    struct folder *f = *state;
    struct str own = new_key(&f->a, false), twice[] = {STR("i"), STR("i")}, empty = STR("");
    struct str missing = STR("/nonexistent"), words = write_file(f, "more", STR("no key"));
    const struct {
        struct auth_setup_options o;
        const char *text;
    } cases[] = {
        {{.own_key = own}, "service-account-issuer is a required flag"},
        {{.own_key = own, .issuers = {&empty, 1}},
         "service-account-issuer should not be an empty string"},
        {{.own_key = own, .issuers = {twice, 2}},
         "service-account-issuer \"i\" is already specified"},
        {{.own_key = own, .issuers = {twice, 1}, .token_file = missing},
         "cannot read '/nonexistent': no such file or directory"},
        {{.own_key = own, .issuers = {twice, 1}, .key_files = {&words, 1}},
         "keys of service accounts: no key in PEM"},
        {{.own_key = own, .issuers = {twice, 1}, .signing_key_file = words},
         "keys of service accounts: no private key in PEM"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        struct auth_setup s;
        assert_int_equal(auth_setup_open(&f->a, &cases[i].o, &s, &err), -1);
        assert_string_equal(err.msg, cases[i].text);
        assert_null(s.keys);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(files_are_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(faults_are_told, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
