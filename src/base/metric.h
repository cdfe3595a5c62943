/*
 * Figures as Prometheus reads them (the text format, 0.0.4): numbers, heads, and histograms.
 *
 * A histogram is a row of bounds, which is const and shared, and the counts of one series.
 */
#ifndef BASE_METRIC_H
#define BASE_METRIC_H

#include <stdint.h>

#include "base/buf.h"

/* Appends the two lines before the values of a metric. The level is "STABLE", "BETA" or "ALPHA". */
void metric_head(struct buf *out, const char *name, const char *type, const char *level,
                 const char *help);

/* Appends a number in as few digits as tell it, as Go's strconv does with 'g'. */
void metric_number(struct buf *out, double v);

/* ---- histograms ---- */

enum { HISTOGRAM_MOST = 15 };

struct histogram_row {
    const char *name, *level, *help;
    double bounds[HISTOGRAM_MOST + 1]; /* ascending; 0 behind the last */
};

/* One series; zeroes at first. */
struct histogram {
    uint64_t counts[HISTOGRAM_MOST + 1]; /* by bound; behind the last, those above it */
    double sum;
};

/* Counts a value. */
void histogram_observe(const struct histogram_row *row, struct histogram *h, double value);

/* The same for nanoseconds, which are shown as seconds. */
void histogram_observe_ns(const struct histogram_row *row, struct histogram *h, int64_t ns);

/* How many values were counted. */
uint64_t histogram_count(const struct histogram *h);

/* Adds the counts of another series of the row. */
void histogram_add(struct histogram *h, const struct histogram *other);

/* Appends the head of the row, and a series of it: `labels` is what stands between braces, or
 * empty. */
void histogram_head(struct buf *out, const struct histogram_row *row);
void histogram_write(struct buf *out, const struct histogram_row *row, struct str labels,
                     const struct histogram *h);

#endif
