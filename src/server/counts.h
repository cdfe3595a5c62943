/*
 * What is counted of requests and watches. Each worker counts for itself, in memory that only it
 * writes and that is not freed before the server: whoever wants figures reads them all and sums up.
 *
 * Follows k8s.io/apiserver pkg/endpoints/metrics, func MonitorRequest.
 */
#ifndef SERVER_COUNTS_H
#define SERVER_COUNTS_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/buf.h"

/* The counters of one worker. */
struct server_counts;

/* What a request is counted under. Texts must live as long as the server, and be the same bytes in
 * memory whenever they are the same labels. */
struct server_labels {
    struct str group, version, resource, subresource;
    const char *verb, *scope;
    bool is_dry_run;
};

/* The requests of one set of labels. */
struct server_series;

/* The events that were sent to watchers of one resource. */
struct server_watch_series;

/* Counters beside those of requests. */
#define SERVER_TALLIES(X) \
    X(AUTHENTICATED)      \
    X(UNAUTHENTICATED)    \
    X(ALLOWED)            \
    X(DENIED)             \
    X(DEADLINES)

enum server_tally {
#define X(name) SERVER_TALLY_##name,
    SERVER_TALLIES(X)
#undef X
        SERVER_TALLY_COUNT
};

/* Counters that are all zero; free them when no worker runs. NULL is fine. */
struct server_counts *server_counts_new(void);
void server_counts_free(struct server_counts *c);

/* ---- on the worker's thread ---- */

/* The series of these labels; made if it is not there. Lives as long as the counts. */
struct server_series *server_counts_series(struct server_counts *c, const struct server_labels *l);
struct server_watch_series *server_counts_watch(struct server_counts *c,
                                                const struct server_labels *l);

/* A request was answered with this code, after so many nanoseconds. */
void server_series_answer(struct server_series *s, int code, int64_t ns);

/* Its answer had so many bytes. */
void server_series_size(struct server_series *s, size_t bytes);

/* A request that takes long has begun (1) or ended (-1). */
void server_series_long(struct server_series *s, int delta);

/* A watcher was sent an event of so many bytes. */
void server_watch_series_event(struct server_watch_series *s, size_t bytes);

/* Adds to one of the other counters. */
void server_counts_tally(struct server_counts *c, enum server_tally which);

/* ---- on any thread ---- */

/* The sum of one of the other counters over n workers. */
uint64_t server_counts_sum(struct server_counts *const *counts, size_t n, enum server_tally which);

/* Appends the figures of requests and watches of n workers, in the text form of Prometheus. */
void server_counts_write(struct buf *out, struct server_counts *const *counts, size_t n);

/* ---- the text form ---- */

/* Appends the two lines before a metric's values: # HELP and # TYPE. */
void server_metric_head(struct buf *out, const char *name, const char *type, const char *help);

/* Appends a metric that has one value without labels, with its head. */
void server_metric_one(struct buf *out, const char *name, const char *type, const char *help,
                       double value);

/* Appends a number as Prometheus reads it: whole ones without a fraction. */
void server_metric_number(struct buf *out, double value);

#endif
