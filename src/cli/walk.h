/* From what stands behind -f to the files to read: directories, patterns and standard input. */
#ifndef CLI_WALK_H
#define CLI_WALK_H

#include "cli/opt.h"

/* Directories below directories; a path of PATH_MAX could nest 2,000 deep. */
enum { WALK_MOST_DEPTH = 64 };

struct walk_file {
    struct str path; /* NUL behind it */
    bool is_stdin;
    bool is_found; /* in a directory, and not named itself */
    uint64_t size; /* 0 = unknown: a pipe or a device */
};

struct walk_files {
    struct walk_file *v;
    size_t n, cap;
};

/*
 * Appends the files that the names stand for, in kubectl's order: names as given, the files of a
 * directory (.json, .yaml, .yml; below it only when recursive) sorted by name. Paths are in the
 * arena. Missing files, empty directories, URLs and a second "-" are errors in kubectl's words.
 */
int walk_expand(struct arena *a, const struct opt_list *names, bool recursive,
                struct walk_files *out, struct err *err);

/* Frees the list. Accepts one that is zeroed. */
void walk_files_release(struct walk_files *files);

#endif
