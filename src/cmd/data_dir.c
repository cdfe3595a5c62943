/* The folder in which an API server keeps its store and its certificates. */
#include "cmd/data_dir.h"

#include <errno.h>
#include <sys/stat.h>

#include "cli/io.h"

int data_dir_choose(struct cmd_ctx *ctx, struct arena *a, struct str asked, struct str *out,
                    struct err *err) {
    const char *data = cmd_getenv(ctx, "XDG_DATA_HOME");
    const char *home = cmd_getenv(ctx, "HOME");
    if (asked.n)
        *out = arena_str(a, asked);
    else if (data && *data)
        *out = arena_printf(a, "%s/berth", data);
    else if (home && *home)
        *out = arena_printf(a, "%s/.local/share/berth", home);
    else
        return err_set(err, ERR_USAGE, "no home folder: say --data-dir DIR");
    return 0;
}

static int make(const char *path, struct err *err) {
    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return io_fail(err, "folder '%s'", path);
    return 0;
}

int data_dir_make(struct arena *a, struct str dir, struct err *err) {
    for (size_t i = 1; i < dir.n; i++)
        if (dir.p[i] == '/' && make(arena_str(a, str_sub(dir, 0, i)).p, err) < 0)
            return -1;
    return make(arena_str(a, dir).p, err);
}

struct str data_dir_inside(struct arena *a, struct str dir, const char *name) {
    return arena_printf(a, "%.*s/%s", STR_ARG(dir), name);
}
