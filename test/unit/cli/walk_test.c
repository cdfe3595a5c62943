/* Which files a list of -f names stands for, and in which order. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/walk.h"

static void touch(const char *path, const char *text) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

/* A tree to walk, which is also the working directory of the test. */
static int make_tree(void **state) {
    static char root[] = "/tmp/berth-walk-XXXXXX";
    assert_non_null(mkdtemp(root));
    assert_int_equal(chdir(root), 0);
    static const char *const dirs[] = {"d", "d/b.yaml", "d/m", "empty", "only", "linked"};
    for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++)
        assert_int_equal(mkdir(dirs[i], 0700), 0);
    touch("one.yaml", "12345");
    touch("two.txt", "1234567");
    touch("d/a.yml", "1");
    touch("d/c.json", "22");
    touch("d/.hidden.yaml", "333");
    touch("d/notes.txt", "4444");
    touch("d/b.yaml/inner.yaml", "55555");
    touch("d/m/deep.yaml", "666666");
    touch("only/notes.txt", "x");
    assert_int_equal(symlink("../one.yaml", "d/z.yaml"), 0);
    assert_int_equal(symlink("../nowhere", "linked/gone.yaml"), 0);
    assert_int_equal(symlink("nowhere", "gone.yaml"), 0);
    assert_int_equal(symlink("d", "to-d"), 0);
    assert_int_equal(symlink("../d", "only/sub"), 0);
    assert_int_equal(mkfifo("pipe", 0600), 0);
    *state = root;
    return 0;
}

static int remove_tree(void **state) {
    struct arena a = {0};
    assert_int_equal(chdir("/"), 0);
    int rc = system(arena_printf(&a, "rm -rf '%s'", (char *)*state).p);
    arena_release(&a);
    return rc;
}

/* Walks the names, separated by spaces, and compares "path:size path:size …" or the error. */
static void check(const char *names, bool recursive, const char *want) {
    struct arena a = {0};
    struct opt_list list = {0};
    struct walk_files files = {0};
    struct buf out = BUF_INIT(8192);
    struct err err = {0};
    struct str rest = str_of(names), name;
    while (rest.n > 0) {
        str_cut(rest, ' ', &name, &rest);
        opt_list_add(&a, &list, arena_str(&a, name));
    }
    if (walk_expand(&a, &list, recursive, &files, &err) < 0)
        buf_addf(&out, "%s", err.msg);
    for (size_t i = 0; i < files.n && !err.msg[0]; i++)
        buf_addf(&out, "%s%s:%d%s", i ? " " : "", files.v[i].path.p, (int)files.v[i].size,
                 files.v[i].is_stdin ? "!" : "");
    if (!str_is(buf_view(&out), want))
        fail_msg("'%s': wanted '%s', got '%.*s'", names, want, STR_ARG(buf_view(&out)));
    buf_release(&out);
    walk_files_release(&files);
    arena_release(&a);
}

static void files_are_found_in_kubectls_order(void **state) {
    (void)state;
    check("one.yaml", false, "one.yaml:5");
    check("two.txt one.yaml", false, "two.txt:7 one.yaml:5");
    check("one.yaml one.yaml", false, "one.yaml:5 one.yaml:5");
    check("d", false, "d/.hidden.yaml:3 d/a.yml:1 d/c.json:2 d/z.yaml:5");
    check("d/", false, "d/.hidden.yaml:3 d/a.yml:1 d/c.json:2 d/z.yaml:5");
    check("d", true,
          "d/.hidden.yaml:3 d/a.yml:1 d/b.yaml/inner.yaml:5 d/c.json:2 d/m/deep.yaml:6 d/z.yaml:5");
    check("to-d", false, "to-d/.hidden.yaml:3 to-d/a.yml:1 to-d/c.json:2 to-d/z.yaml:5");
    check("-", false, "STDIN:0!");
    check("one.yaml -", false, "one.yaml:5 STDIN:0!");
    check("pipe", false, "pipe:0");
    check("/dev/null", false, "/dev/null:0");
    check("o*.yaml", false, "one.yaml:5");
    check("[ot]*.*", false, "one.yaml:5 two.txt:7");
    check("d/m*", false, "d/m/deep.yaml:6");
    check("linked", false, "linked/gone.yaml:0");
}

static void what_is_not_there_is_told_in_kubectls_words(void **state) {
    (void)state;
    static const char extensions[] = ": recognized file extensions are [.json .yaml .yml]";
    struct arena a = {0};
    check("", false, "one or more files must be specified as -f pod.yaml or --filename=pod.json");
    check("nope", false, "the path \"nope\" does not exist");
    check("gone.yaml", false, "the path \"gone.yaml\" does not exist");
    check("x*.yaml", false, "the path \"x*.yaml\" does not exist");
    check("one.yaml nope", false, "the path \"nope\" does not exist");
    check("one.yaml/x", false,
          "the path \"one.yaml/x\" cannot be accessed: stat one.yaml/x: not a directory");
    check("empty", false, arena_printf(&a, "error reading [empty]%s", extensions).p);
    check("one.yaml only", true, arena_printf(&a, "error reading [only]%s", extensions).p);
    check("- one.yaml -", false, "standard input cannot be used for multiple arguments");
    check("https://example.com/x.yaml", false,
          "\"https://example.com/x.yaml\" is a URL, and berth does not use the network here: "
          "download it, or pipe it into -f -");
    arena_release(&a);
}

static void nesting_has_an_end(void **state) {
    (void)state;
    struct arena a = {0};
    struct str path = STR("deep");
    assert_int_equal(mkdir(path.p, 0700), 0);
    for (int i = 0; i <= WALK_MOST_DEPTH; i++) {
        if (i == WALK_MOST_DEPTH)
            check("deep", true,
                  "error reading [deep]: recognized file extensions are "
                  "[.json .yaml .yml]");
        path = arena_printf(&a, "%.*s/d", STR_ARG(path));
        assert_int_equal(mkdir(path.p, 0700), 0);
    }
    check("deep", true,
          arena_printf(&a, "error reading \"deep\": %.*s: directories nest deeper than %d",
                       STR_ARG(path), WALK_MOST_DEPTH)
              .p);
    arena_release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_found_in_kubectls_order),
        cmocka_unit_test(what_is_not_there_is_told_in_kubectls_words),
        cmocka_unit_test(nesting_has_an_end),
    };
    return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
