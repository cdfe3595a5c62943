/*
 * A file that lines are appended to and that is moved aside when it is full: NAME-TIME.EXT beside
 * it, of which the newest are kept. Owned by one thread.
 */
#ifndef SERVER_AUDIT_FILE_H
#define SERVER_AUDIT_FILE_H

#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"

/* How much is kept. */
struct server_audit_keep {
    uint64_t bytes;  /* of a file; 0: any, nothing is moved aside */
    uint32_t files;  /* beside the newest; 0: any */
    int64_t seconds; /* how old they become; 0: any */
};

struct server_audit_file {
    const char *path; /* stored */
    struct server_audit_keep keep;
    const struct clock *clock; /* stored */
    int fd;
    uint64_t size;
    bool is_regular; /* only such a file is moved aside */
};

/* Opens it to append, "-" is standard output; one that is made is its owner's alone. */
int server_audit_file_open(struct server_audit_file *f, struct err *err);
void server_audit_file_close(struct server_audit_file *f);

/* Appends a line; -1 and *err when that failed. */
int server_audit_file_write(struct server_audit_file *f, struct str line, struct err *err);

#endif
