/*
 * Walks what -f names, as kubectl's resource builder does. Nothing is opened but directories.
 *
 * Follows k8s.io/cli-runtime pkg/resource, func ExpandPathsToFileVisitors.
 */
#include "cli/walk.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <sys/stat.h>

#include "base/vec.h"
#include "cli/io.h"

struct walk {
    struct arena *arena;
    bool recursive;
    struct walk_files *out;
    bool inside;    /* of a directory that was named */
    bool passed_by; /* a directory was not entered */
};

void walk_files_release(struct walk_files *files) {
    vec_release(files);
}

static void add_file(struct walk *w, struct str path, const struct stat *st) {
    uint64_t size = S_ISREG(st->st_mode) ? (uint64_t)st->st_size : 0;
    vec_push(w->out, (struct walk_file){.path = path, .is_found = w->inside, .size = size});
}

static bool has_known_extension(struct str name) {
    return str_ends(name, STR(".json")) || str_ends(name, STR(".yaml")) ||
           str_ends(name, STR(".yml"));
}

static int list_directory(struct walk *w, struct str path, struct opt_list *names,
                          struct err *err) {
    DIR *dir = opendir(path.p);
    if (!dir)
        return io_fail(err, "open %s", path.p);
    struct dirent *entry;
    while ((errno = 0, entry = readdir(dir)) != NULL) {
        struct str name = str_of(entry->d_name);
        if (!str_is(name, ".") && !str_is(name, ".."))
            opt_list_add(w->arena, names, arena_str(w->arena, name));
    }
    int failed = errno;
    closedir(dir);
    errno = failed;
    if (failed)
        return io_fail(err, "read %s", path.p);
    if (names->n > 1)
        qsort(names->v, names->n, sizeof *names->v, str_cmp_qsort);
    return 0;
}

static int walk_directory(struct walk *w, struct str path, unsigned depth, struct err *err);

/* One entry of a directory. Links to files are read, links to directories are not entered. */
static int walk_entry(struct walk *w, struct str path, unsigned depth, struct err *err) {
    struct stat st;
    if (lstat(path.p, &st) < 0)
        return io_fail(err, "lstat %s", path.p);
    if (S_ISDIR(st.st_mode) && w->recursive)
        return walk_directory(w, path, depth + 1, err);
    if (S_ISDIR(st.st_mode)) {
        w->passed_by = true;
        return 0;
    }
    if (!has_known_extension(path))
        return 0;
    if (S_ISLNK(st.st_mode))
        (void)stat(path.p, &st); /* a link to nowhere fails when it is opened */
    add_file(w, path, &st);
    return 0;
}

static int walk_directory(struct walk *w, struct str path, unsigned depth, struct err *err) {
    if (depth > WALK_MOST_DEPTH)
        return err_set(err, ERR_IO, "%.*s: directories nest deeper than %d", STR_ARG(path),
                       WALK_MOST_DEPTH);
    struct opt_list names = {0};
    if (list_directory(w, path, &names, err) < 0)
        return -1;
    const char *slash = str_ends(path, STR("/")) ? "" : "/";
    for (size_t i = 0; i < names.n; i++) {
        struct str child =
            arena_printf(w->arena, "%.*s%s%.*s", STR_ARG(path), slash, STR_ARG(names.v[i]));
        if (walk_entry(w, child, depth, err) < 0)
            return -1;
    }
    return 0;
}

/* A path that was named: its extension does not matter, and links are followed. */
static int walk_path(struct walk *w, struct str path, struct err *err) {
    struct stat st;
    if (stat(path.p, &st) < 0 && errno == ENOENT)
        return err_set(err, ERR_IO, "the path \"%.*s\" does not exist", STR_ARG(path));
    if (stat(path.p, &st) < 0)
        return io_fail(err, "the path \"%s\" cannot be accessed: stat %s", path.p, path.p);
    if (!S_ISDIR(st.st_mode)) {
        add_file(w, path, &st);
        return 0;
    }
    size_t before = w->out->n;
    w->passed_by = false;
    w->inside = true;
    int rc = walk_directory(w, path, 0, err);
    w->inside = false;
    if (rc < 0)
        return err_wrap(err, "error reading \"%.*s\"", STR_ARG(path));
    if (w->out->n == before)
        return err_set(err, ERR_IO,
                       "error reading [%.*s]: recognized file extensions are [.json .yaml .yml]%s",
                       STR_ARG(path), w->passed_by ? "; -R reads what is below it" : "");
    return 0;
}

/* A name that is no file may be a pattern that the shell was kept from expanding. */
static int walk_pattern(struct walk *w, struct str name, struct err *err) {
    glob_t found;
    if (glob(name.p, 0, NULL, &found) != 0)
        return walk_path(w, name, err);
    int rc = 0;
    for (size_t i = 0; i < found.gl_pathc && rc == 0; i++)
        rc = walk_path(w, arena_str(w->arena, str_of(found.gl_pathv[i])), err);
    globfree(&found);
    return rc;
}

static int add_stdin(struct walk *w, struct err *err) {
    for (size_t i = 0; i < w->out->n; i++)
        if (w->out->v[i].is_stdin)
            return err_set(err, ERR_USAGE, "standard input cannot be used for multiple arguments");
    vec_push(w->out, (struct walk_file){.path = STR("STDIN"), .is_stdin = true});
    return 0;
}

static int walk_name(struct walk *w, struct str name, struct err *err) {
    struct stat st;
    if (str_is(name, "-"))
        return add_stdin(w, err);
    if (str_starts(name, STR("http://")) || str_starts(name, STR("https://")))
        return err_set(err, ERR_USAGE,
                       "\"%.*s\" is a URL, and berth does not use the network here: download it, "
                       "or pipe it into -f -",
                       STR_ARG(name));
    if (stat(name.p, &st) < 0 && errno == ENOENT)
        return walk_pattern(w, name, err);
    return walk_path(w, name, err);
}

int walk_expand(struct arena *a, const struct opt_list *names, bool recursive,
                struct walk_files *out, struct err *err) {
    struct walk w = {.arena = a, .recursive = recursive, .out = out};
    if (names->n == 0)
        return err_set(err, ERR_USAGE,
                       "one or more files must be specified as -f pod.yaml or --filename=pod.json");
    for (size_t i = 0; i < names->n; i++)
        if (walk_name(&w, names->v[i], err) < 0)
            return -1;
    return 0;
}
