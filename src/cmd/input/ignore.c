/* Patterns are POSIX extended regular expressions, which match anywhere in the path. */
#include "cmd/input/ignore.h"

#include <regex.h>

static int compile(regex_t *re, struct str pattern, struct err *err) {
    char why[128];
    int code = regcomp(re, pattern.p, REG_EXTENDED | REG_NOSUB);
    if (code == 0)
        return 0;
    regerror(code, re, why, sizeof why);
    return err_set(err, ERR_USAGE, "invalid value \"%.*s\" for --ignore-filename-pattern: %s",
                   STR_ARG(pattern), why);
}

static void filter(struct arena *a, const regex_t *re, struct walk_files *files,
                   struct opt_list *ignored) {
    size_t kept = 0;
    for (size_t i = 0; i < files->n; i++) {
        const struct walk_file *file = &files->v[i];
        if (!file->is_stdin && regexec(re, file->path.p, 0, NULL, 0) == 0)
            opt_list_add(a, ignored, file->path);
        else
            files->v[kept++] = *file;
    }
    files->n = kept;
}

int ignore_files(struct arena *a, const struct opt_list *patterns, struct walk_files *files,
                 struct opt_list *ignored, struct err *err) {
    for (size_t i = 0; i < patterns->n; i++) {
        regex_t re;
        if (compile(&re, patterns->v[i], err) < 0)
            return -1;
        filter(a, &re, files, ignored);
        regfree(&re);
    }
    return 0;
}
