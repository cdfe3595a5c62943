/* An audit log that is moved aside when it is full: what the files are called, and which stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/vec.h"
#include "server/audit_file.h"

enum { MOST_NAMES = 16 };

struct world {
    char folder[32];
    char path[64];
    struct clock_manual clock;
    struct server_audit_file file;
};

/* A log in a folder of its own, at 2026-01-02T03:04:05.006Z. */
static void set_up(struct world *w, const char *name, struct server_audit_keep keep) {
    struct err err;
    strcpy(w->folder, "/tmp/berth-audit-XXXXXX");
    assert_non_null(mkdtemp(w->folder));
    snprintf(w->path, sizeof w->path, "%s/%s", w->folder, name);
    clock_manual_init(&w->clock, INT64_C(1767323045006) * (CLOCK_SECOND / 1000));
    w->file = (struct server_audit_file){
        .path = w->path, .keep = keep, .clock = &w->clock.clock, .fd = -1};
    if (server_audit_file_open(&w->file, &err) < 0)
        fail_msg("%s", err.msg);
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names in the folder, sorted, with their sizes; in the arena. */
static struct str list(const struct world *w, struct arena *a) {
    const char *names[MOST_NAMES];
    size_t n = 0;
    DIR *folder = opendir(w->folder);
    for (struct dirent *e; (e = readdir(folder)) && n < MOST_NAMES;)
        if (e->d_name[0] != '.')
            names[n++] = arena_str(a, str_of(e->d_name)).p;
    closedir(folder);
    qsort(names, n, sizeof *names, by_text);
    struct str text = STR("");
    for (size_t i = 0; i < n; i++) {
        struct stat st;
        assert_int_equal(stat(arena_printf(a, "%s/%s", w->folder, names[i]).p, &st), 0);
        text = arena_printf(a, "%.*s%s:%d ", STR_ARG(text), names[i], (int)st.st_size);
    }
    return text;
}

static void tear_down(struct world *w) {
    AUTO(arena_release) struct arena a = {0};
    server_audit_file_close(&w->file);
    DIR *folder = opendir(w->folder);
    for (struct dirent *e; (e = readdir(folder));)
        if (e->d_name[0] != '.')
            unlink(arena_printf(&a, "%s/%s", w->folder, e->d_name).p);
    closedir(folder);
    rmdir(w->folder);
}

static void write_line(struct world *w, const char *text) {
    struct err err;
    if (server_audit_file_write(&w->file, str_of(text), &err) < 0)
        fail_msg("%s", err.msg);
}

static void assert_files(const struct world *w, const char *wanted) {
    AUTO(arena_release) struct arena a = {0};
    assert_string_equal(list(w, &a).p, wanted);
}

static void touch(const struct world *w, const char *name) {
    AUTO(arena_release) struct arena a = {0};
    FILE *f = fopen(arena_printf(&a, "%s/%s", w->folder, name).p, "w");
    assert_non_null(f);
    fclose(f);
}

static void a_full_file_is_moved_aside(void **state) {
    struct world w;
    (void)state;
    set_up(&w, "audit.log", (struct server_audit_keep){.bytes = 10});
    assert_int_equal(chmod(w.path, 0640), 0);
    write_line(&w, "12345\n");
    write_line(&w, "123\n");
    assert_files(&w, "audit.log:10 ");
    write_line(&w, "6\n");
    assert_files(&w, "audit-2026-01-02T03-04-05.006.log:10 audit.log:2 ");
    struct stat st;
    assert_int_equal(stat(w.path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    tear_down(&w);
}

static void a_file_that_is_full_at_the_start_is_moved_aside(void **state) {
    struct world w;
    struct err err;
    (void)state;
    set_up(&w, "audit", (struct server_audit_keep){.bytes = 10});
    write_line(&w, "1234567\n");
    server_audit_file_close(&w.file);
    assert_int_equal(server_audit_file_open(&w.file, &err), 0);
    write_line(&w, "123\n");
    assert_files(&w, "audit:4 audit-2026-01-02T03-04-05.006:8 ");
    tear_down(&w);
}

static void the_newest_files_stay(void **state) {
    struct world w;
    (void)state;
    set_up(&w, "a.b.log", (struct server_audit_keep){.bytes = 4, .files = 2});
    touch(&w, "a.b-2025-01-02T03-04-05.006.txt"); /* another file */
    touch(&w, "a.b-2025-01-02T03-04-05.00x.log"); /* this one, too */
    for (int i = 0; i < 5; i++) {
        write_line(&w, "123\n");
        clock_manual_advance(&w.clock, CLOCK_SECOND);
    }
    assert_files(&w, "a.b-2025-01-02T03-04-05.006.txt:0 a.b-2025-01-02T03-04-05.00x.log:0 "
                     "a.b-2026-01-02T03-04-08.006.log:4 a.b-2026-01-02T03-04-09.006.log:4 "
                     "a.b.log:4 ");
    tear_down(&w);
}

static void old_files_go(void **state) {
    struct world w;
    (void)state;
    set_up(&w, "x.log", (struct server_audit_keep){.bytes = 4, .seconds = 3600});
    touch(&w, "x-2026-01-02T02-04-05.005.log");
    touch(&w, "x-2026-01-02T02-04-05.006.log");
    write_line(&w, "123\n");
    write_line(&w, "123\n");
    assert_files(&w, "x-2026-01-02T02-04-05.006.log:0 x-2026-01-02T03-04-05.006.log:4 x.log:4 ");
    tear_down(&w);
}

static void a_line_that_never_fits_is_told(void **state) {
    struct world w;
    struct err err;
    (void)state;
    set_up(&w, "x.log", (struct server_audit_keep){.bytes = 4});
    assert_int_equal(server_audit_file_write(&w.file, STR("12345\n"), &err), -1);
    assert_non_null(strstr(err.msg, "write length 6 exceeds maximum file size 4"));
    write_line(&w, "123\n");
    assert_files(&w, "x.log:4 ");
    tear_down(&w);
}

static void without_a_limit_nothing_is_moved(void **state) {
    struct world w;
    (void)state;
    set_up(&w, "x.log", (struct server_audit_keep){.files = 1});
    for (int i = 0; i < 100; i++)
        write_line(&w, "123\n");
    assert_files(&w, "x.log:400 ");
    tear_down(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_file_is_moved_aside),
        cmocka_unit_test(a_file_that_is_full_at_the_start_is_moved_aside),
        cmocka_unit_test(the_newest_files_stay),
        cmocka_unit_test(old_files_go),
        cmocka_unit_test(a_line_that_never_fits_is_told),
        cmocka_unit_test(without_a_limit_nothing_is_moved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
