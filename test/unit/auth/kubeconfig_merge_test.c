/* A context in somebody's kubeconfig: which file, what changes, and what stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "auth/pki.h"

struct place {
    struct arena a;
    char dir[64];
};

static int setup(void **state) {
    struct place *p = calloc(1, sizeof *p);
    memcpy(p->dir, "/tmp/berth-merge-XXXXXX", 24);
    *state = p;
    return mkdtemp(p->dir) ? 0 : -1;
}

static int teardown(void **state) {
    static const char *const names[] = {"a",    "b",         "b.lock",
                                        "link", "link.lock", "new/.kube/config"};
    struct place *p = *state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(arena_printf(&p->a, "%s/%s", p->dir, names[i]).p);
    rmdir(arena_printf(&p->a, "%s/new/.kube", p->dir).p);
    rmdir(arena_printf(&p->a, "%s/new", p->dir).p);
    rmdir(p->dir);
    arena_release(&p->a);
    free(p);
    return 0;
}

static struct str path_of(struct place *p, const char *name) {
    return arena_printf(&p->a, "%s/%s", p->dir, name);
}

static void write_file(struct place *p, const char *name, const char *text) {
    FILE *f = fopen(path_of(p, name).p, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    fclose(f);
}

/* The file's text, without the credentials that it has. */
static const char *read_file(struct place *p, const char *name) {
    static char text[8192];
    FILE *f = fopen(path_of(p, name).p, "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    return text;
}

static const struct auth_kubeconfig access_here = {.server = STR_INIT("https://127.0.0.1:6443"),
                                                   .token = STR_INIT("secret")};

static int merge(struct place *p, const struct auth_kubeconfig_places *places, struct err *err) {
    return auth_kubeconfig_merge(&p->a, places, STR("berth"), &access_here, err);
}

#define ENTRIES                                                                                \
    "clusters:\n- cluster:\n    server: https://127.0.0.1:6443\n  name: berth\ncontexts:\n"    \
    "- context:\n    cluster: berth\n    user: berth\n  name: berth\ncurrent-context: berth\n" \
    "users:\n- name: berth\n  user:\n    token: secret\n"

static void a_file_is_made(void **state) {
    struct place *p = *state;
    struct auth_kubeconfig_places places = {.home = path_of(p, "new")};
    struct err err = {0};
    struct stat st;
    assert_int_equal(merge(p, &places, &err), 0);
    assert_int_equal(stat(path_of(p, "new/.kube/config").p, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    const char *text = read_file(p, "new/.kube/config");
    assert_non_null(strstr(text, "apiVersion: v1\n"));
    assert_non_null(strstr(text, "kind: Config\n"));
    assert_non_null(strstr(text, "current-context: berth\n"));
    /* Once more is the same. */
    char *before = strdup(text);
    assert_int_equal(merge(p, &places, &err), 0);
    assert_string_equal(read_file(p, "new/.kube/config"), before);
    free(before);
}

static void what_is_there_stays(void **state) {
    struct place *p = *state;
    struct err err = {0};
    struct stat st;
    write_file(p, "a",
               "# mine\napiVersion: v1\nkind: Config\ncurrent-context: work\nclusters:\n"
               "- cluster: {server: 'https://work', odd: [1, 2]}\n  name: work\n"
               "- cluster: {server: 'https://old'}\n  name: berth\nextensions: [{name: x}]\n");
    assert_int_equal(symlink("a", path_of(p, "link").p), 0);
    assert_int_equal(merge(p, &(struct auth_kubeconfig_places){.file = path_of(p, "link")}, &err),
                     0);
    assert_int_equal(lstat(path_of(p, "link").p, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    const char *text = read_file(p, "a");
    assert_non_null(strstr(text, "current-context: work\n"));
    assert_non_null(strstr(text, "server: https://work\n"));
    assert_non_null(strstr(text, "odd:\n"));
    assert_non_null(strstr(text, "extensions:\n- name: x\n"));
    assert_non_null(strstr(text, "server: https://127.0.0.1:6443\n"));
    assert_null(strstr(text, "https://old"));
}

static void the_file_is_kubectls(void **state) {
    struct place *p = *state;
    struct err err = {0};
    struct str both = arena_printf(&p->a, "%s/a:%s/b", p->dir, p->dir);
    /* None is there: the last one. */
    assert_int_equal(merge(p, &(struct auth_kubeconfig_places){.files = both}, &err), 0);
    assert_int_equal(access(path_of(p, "a").p, F_OK), -1);
    /* The context is in the last one, although the first is there by now. */
    write_file(p, "a", "{}");
    assert_int_equal(merge(p, &(struct auth_kubeconfig_places){.files = both}, &err), 0);
    assert_string_equal(read_file(p, "a"), "{}");
    /* Nobody has it: the first that is there. */
    write_file(p, "b", "{}");
    assert_int_equal(merge(p, &(struct auth_kubeconfig_places){.files = both}, &err), 0);
    assert_string_equal(read_file(p, "a"), ENTRIES);
    assert_string_equal(read_file(p, "b"), "{}");
}

static void what_cannot_be_done_is_told(void **state) {
    struct place *p = *state;
    struct auth_kubeconfig_places places = {.file = path_of(p, "b")};
    struct err err = {0};
    write_file(p, "b", "[1]");
    assert_int_equal(merge(p, &places, &err), -1);
    assert_non_null(strstr(err.msg, "/b is no kubeconfig"));
    assert_string_equal(read_file(p, "b"), "[1]");
    assert_int_equal(access(path_of(p, "b.lock").p, F_OK), -1);
    write_file(p, "b.lock", "");
    assert_int_equal(merge(p, &places, &err), -1);
    assert_non_null(strstr(err.msg, "/b.lock': File exists"));
}

/* kubectl locks by the name that it is given, wherever that leads. */
static void the_lock_is_that_of_the_name(void **state) {
    struct place *p = *state;
    struct auth_kubeconfig_places places = {.file = path_of(p, "link")};
    struct err err = {0};
    write_file(p, "a", "{}");
    write_file(p, "link.lock", "");
    assert_int_equal(symlink("a", path_of(p, "link").p), 0);
    assert_int_equal(merge(p, &places, &err), -1);
    assert_non_null(strstr(err.msg, "/link.lock': File exists"));
    assert_string_equal(read_file(p, "a"), "{}");
}

static void a_link_that_leads_nowhere_stays(void **state) {
    struct place *p = *state;
    struct auth_kubeconfig_places places = {.file = path_of(p, "link")};
    struct err err = {0};
    struct stat st;
    assert_int_equal(symlink("a", path_of(p, "link").p), 0);
    assert_int_equal(merge(p, &places, &err), -1);
    assert_non_null(strstr(err.msg, "cannot follow the link '"));
    assert_non_null(strstr(err.msg, "/link': No such file or directory"));
    assert_int_equal(lstat(path_of(p, "link").p, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(access(path_of(p, "a").p, F_OK), -1);
    assert_int_equal(access(path_of(p, "link.lock").p, F_OK), -1);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_file_is_made),
        TEST(what_is_there_stays),
        TEST(the_file_is_kubectls),
        TEST(what_cannot_be_done_is_told),
        TEST(the_lock_is_that_of_the_name),
        TEST(a_link_that_leads_nowhere_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
