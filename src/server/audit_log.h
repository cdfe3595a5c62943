/*
 * The file that audit events go to, a line each, by a thread of its own: a disk that is slow delays
 * nobody. What does not fit into the queue is dropped, and counted.
 */
#ifndef SERVER_AUDIT_LOG_H
#define SERVER_AUDIT_LOG_H

#include "base/buf.h"
#include "base/err.h"
#include "server/audit_file.h"

struct log;
struct server_audit_log;

struct server_audit_opts {
    const char *path; /* stored; appended to, made for its owner alone; "-": standard output */
    struct server_audit_keep keep; /* how much of it is kept */
    const struct clock *clock;     /* stored */
    const struct log *log;         /* stored; errors of the file are told there */
    size_t queue_bytes;            /* 0: LIMIT_AUDIT_QUEUE_BYTES */
};

/* Opens the file and starts the thread. */
int server_audit_log_open(const struct server_audit_opts *opts, struct server_audit_log **out,
                          struct err *err);

/* Writes what waits, and ends the thread. NULL is fine. */
void server_audit_log_close(struct server_audit_log *l);

/* Has a line, with its line break, written; it is taken. Any thread. */
void server_audit_log_write(struct server_audit_log *l, struct buf line);

struct server_audit_stats {
    uint64_t written, dropped, failed;
    uint64_t queued_bytes; /* now */
};

/* Any thread. */
void server_audit_log_stats(const struct server_audit_log *l, struct server_audit_stats *out);

#endif
