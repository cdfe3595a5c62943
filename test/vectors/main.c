/*
 * berth_vectors DIR: holds Berth against recorded answers of upstream.
 *
 * Every file of DIR in the table below is read line by line; each line is one question with its
 * answer. Exit 0: all answers hold; 1: some do not; 2: usage or I/O error, or nothing to check.
 *
 * berth_vectors -: the same with lines of standard input, each of which names its file, without the
 * ending, as its "area". For each a line is written at once: null if Berth agrees, else a string
 * that says where it does not.
 *
 * berth_vectors --rows: the rows of the schema, see rows.c.
 * berth_vectors --documents DIR: what a server says about itself, see documents.c.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "members.h"
#include "vectors.h"

static const struct kind {
    const char *file;
    vectors_check_fn *check;
} kinds[] = {
    {"admission.jsonl", vectors_check_admission},
    {"apply.jsonl", vectors_check_apply},
    {"cel_conformance_k8s.jsonl", vectors_check_cel_conformance},
    {"cel_vectors.jsonl", vectors_check_cel},
    {"daemon.jsonl", vectors_check_daemon},
    {"decode.jsonl", vectors_check_decode},
    {"delete.jsonl", vectors_check_delete},
    {"discovery.jsonl", vectors_check_discovery},
    {"jwt.jsonl", vectors_check_jwt},
    {"kubelet.jsonl", vectors_check_kubelet},
    {"labelselector.jsonl", vectors_check_labelselector},
    {"merge.jsonl", vectors_check_merge},
    {"metadata.jsonl", vectors_check_metadata},
    {"network.jsonl", vectors_check_network},
    {"warnings.jsonl", vectors_check_warnings},
    {"nodeselector.jsonl", vectors_check_nodeselector},
    {"patch.jsonl", vectors_check_patch},
    {"preempt.jsonl", vectors_check_preempt},
    {"prepare.jsonl", vectors_check_prepare},
    {"proto.jsonl", vectors_check_proto},
    {"quantity.jsonl", vectors_check_quantity},
    {"rbac.jsonl", vectors_check_rbac},
    {"rbac_policy.jsonl", vectors_check_rbac_policy},
    {"requeue.jsonl", vectors_check_requeue},
    {"rules.jsonl", vectors_check_rules},
    {"schedule.jsonl", vectors_check_schedule},
    {"semver.jsonl", vectors_check_semver},
    {"tolerate.jsonl", vectors_check_tolerate},
    {"untolerated.jsonl", vectors_check_untolerated},
    {"validate_create.jsonl", vectors_check_validate_create},
    {"convert.jsonl", vectors_check_convert},
    {"validate_status.jsonl", vectors_check_validate_status},
    {"validate_subresource.jsonl", vectors_check_validate_subresource},
    {"validate_update.jsonl", vectors_check_validate_update},
    {"yaml.jsonl", vectors_check_yaml},
};

enum { KIND_COUNT = sizeof kinds / sizeof *kinds, SHOWN_FAILURES = 5, SHOWN_BYTES = 2000 };

struct tally {
    unsigned long passed, failed;
};

static int complain(const char *subject, const char *what) {
    fprintf(stderr, "berth_vectors: %s: %s\n", subject, what);
    return -1;
}

/*
 * Reads the next line, without its end, into *line: 1, 0 at the end of the file, -1 when it cannot
 * be read or is longer than the buffer's maximum.
 */
static int read_line(FILE *f, const char *name, struct buf *line) {
    buf_clear(line);
    int c;
    while ((c = getc_unlocked(f)) != EOF && c != '\n' && !line->full)
        buf_add_char(line, (char)c);
    if (ferror(f))
        return complain(name, strerror(errno));
    if (line->full)
        return complain(name, "line too long");
    return c != EOF || line->n > 0;
}

static int check_line(const struct kind *kind, struct arena *a, struct str line, struct buf *why) {
    struct json parsed;
    struct err err;
    if (json_parse(a, line, NULL, &parsed, &err) < 0) {
        buf_addf(why, "not JSON: %s", err.msg);
        return -1;
    }
    return kind->check(a, &parsed, why);
}

/* Whole clusters are too long to be read here; a line starts with its id. */
static void show_failure(const char *file, unsigned long number, struct str line, struct str why) {
    struct str start = str_sub(line, 0, SHOWN_BYTES), reason = str_sub(why, 0, SHOWN_BYTES);
    printf("%s:%lu: %.*s\n    %.*s\n", file, number, STR_ARG(start), STR_ARG(reason));
}

static int check_lines(const struct kind *kind, FILE *f, struct tally *tally) {
    struct buf line = BUF_INIT(LIMIT_OBJECT_BYTES), why = BUF_INIT(LIMIT_OBJECT_BYTES);
    struct arena arena = {0};
    int rc;
    while ((rc = read_line(f, kind->file, &line)) > 0) {
        arena_reset(&arena);
        buf_clear(&why);
        if (check_line(kind, &arena, buf_view(&line), &why) == 0) {
            tally->passed++;
            continue;
        }
        if (tally->failed++ < SHOWN_FAILURES)
            show_failure(kind->file, tally->passed + tally->failed, buf_view(&line),
                         buf_view(&why));
    }
    arena_release(&arena);
    buf_release(&line);
    buf_release(&why);
    return rc;
}

/* Checks one file and adds to the total; a file that is not there adds nothing. */
static int check_file(const struct kind *kind, const char *dir, struct tally *total) {
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", dir, kind->file) >= (int)sizeof path)
        return complain(dir, strerror(ENAMETOOLONG));
    FILE *f = fopen(path, "re");
    if (!f)
        return errno == ENOENT ? 0 : complain(path, strerror(errno));
    struct tally tally = {0};
    int rc = check_lines(kind, f, &tally);
    fclose(f);
    if (rc < 0)
        return -1;
    if (tally.passed + tally.failed == 0)
        return complain(path, "no lines in it");
    printf("%s: %lu passed, %lu failed\n", kind->file, tally.passed, tally.failed);
    total->passed += tally.passed;
    total->failed += tally.failed;
    return 0;
}

/* The kind that the line names, or NULL. */
static const struct kind *kind_of(const struct json *line) {
    struct str area = vectors_text(line, STR("area"));
    for (size_t i = 0; i < KIND_COUNT; i++) {
        struct str file = str_of(kinds[i].file);
        if (area.n && str_starts(file, area) && file.n == area.n + strlen(".jsonl"))
            return &kinds[i];
    }
    return NULL;
}

static int check_any(struct arena *a, struct str text, struct buf *why) {
    struct json line;
    struct err err;
    if (json_parse(a, text, NULL, &line, &err) < 0)
        return complain("standard input", err.msg);
    const struct kind *kind = kind_of(&line);
    if (!kind)
        return complain("standard input", "a line of no known area");
    struct json answer = {.kind = JSON_NULL};
    if (kind->check(a, &line, why) < 0)
        answer = json_of_str(arena_str(a, why->n ? buf_view(why) : STR("differs")));
    buf_clear(why);
    json_write(why, &answer, NULL);
    return 0;
}

/* Answers each line before the next one is read, as whoever asks may wait for it. */
static int check_pipe(void) {
    struct buf line = BUF_INIT(LIMIT_OBJECT_BYTES), why = BUF_INIT(LIMIT_OBJECT_BYTES);
    struct arena arena = {0};
    int rc;
    while ((rc = read_line(stdin, "standard input", &line)) > 0) {
        arena_reset(&arena);
        buf_clear(&why);
        rc = check_any(&arena, buf_view(&line), &why);
        if (rc < 0)
            break;
        printf("%.*s\n", STR_ARG(buf_view(&why)));
        fflush(stdout);
    }
    arena_release(&arena);
    buf_release(&line);
    buf_release(&why);
    return rc < 0 ? 2 : 0;
}

static int is_vector_file(const struct dirent *entry) {
    return str_ends(str_of(entry->d_name), STR(".jsonl"));
}

static bool is_known(const char *file) {
    for (size_t i = 0; i < KIND_COUNT; i++)
        if (strcmp(kinds[i].file, file) == 0)
            return true;
    return false;
}

static int note_unknown_files(const char *dir) {
    struct dirent **entries;
    int n = scandir(dir, &entries, is_vector_file, alphasort);
    if (n < 0)
        return complain(dir, strerror(errno));
    for (int i = 0; i < n; i++) {
        if (!is_known(entries[i]->d_name))
            fprintf(stderr, "%s: skipped (no check yet)\n", entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "--documents") == 0)
        return vectors_write_documents(argv[2]) < 0 ? 2 : 0;
    if (argc != 2) {
        fprintf(stderr, "usage: berth_vectors DIR | berth_vectors - | berth_vectors --rows | "
                        "berth_vectors --documents DIR\n");
        return 2;
    }
    if (strcmp(argv[1], "-") == 0)
        return check_pipe();
    if (strcmp(argv[1], "--rows") == 0) {
        vectors_write_rows();
        return fflush(stdout) == 0 ? 0 : 2;
    }
    struct tally total = {0};
    if (note_unknown_files(argv[1]) < 0)
        return 2;
    for (size_t i = 0; i < KIND_COUNT; i++)
        if (check_file(&kinds[i], argv[1], &total) < 0)
            return 2;
    if (total.passed + total.failed == 0) {
        complain(argv[1], "no vectors that I know");
        return 2;
    }
    printf("%lu passed, %lu failed\n", total.passed, total.failed);
    if (fflush(stdout) != 0)
        return 2;
    return total.failed > 0;
}
