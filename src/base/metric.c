/* Writes figures, and counts by bounds. */
#include "base/metric.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

void metric_head(struct buf *out, const char *name, const char *type, const char *level,
                 const char *help) {
    buf_addf(out, "# HELP %s [%s] %s\n# TYPE %s %s\n", name, level, help, name, type);
}

void metric_number(struct buf *out, double v) {
    char text[32];
    int digits = 0;
    do
        snprintf(text, sizeof text, "%.*e", digits, v);
    while (strtod(text, NULL) != v && ++digits < 17);
    const char *e = strchr(text, 'e');
    int exponent = (int)strtol(e + 1, NULL, 10);
    if (exponent < -4 || exponent >= 6)
        buf_add(out, str_of(text));
    else
        buf_addf(out, "%.*f", digits > exponent ? digits - exponent : 0, v);
}

/* ---- histograms ---- */

void histogram_observe(const struct histogram_row *row, struct histogram *h, double value) {
    size_t i = 0;
    while (row->bounds[i] > 0 && value > row->bounds[i])
        i++;
    h->counts[i]++;
    h->sum += value;
}

void histogram_observe_ns(const struct histogram_row *row, struct histogram *h, int64_t ns) {
    histogram_observe(row, h, (double)ns / (double)CLOCK_SECOND);
}

uint64_t histogram_count(const struct histogram *h) {
    uint64_t all = 0;
    for (size_t i = 0; i <= HISTOGRAM_MOST; i++)
        all += h->counts[i];
    return all;
}

void histogram_add(struct histogram *h, const struct histogram *other) {
    for (size_t i = 0; i <= HISTOGRAM_MOST; i++)
        h->counts[i] += other->counts[i];
    h->sum += other->sum;
}

void histogram_head(struct buf *out, const struct histogram_row *row) {
    metric_head(out, row->name, "histogram", row->level, row->help);
}

void histogram_write(struct buf *out, const struct histogram_row *row, struct str labels,
                     const struct histogram *h) {
    const char *comma = labels.n ? "," : "", *open = labels.n ? "{" : "",
               *close = labels.n ? "}" : "";
    uint64_t all = 0;
    for (size_t i = 0; row->bounds[i] > 0; i++) {
        buf_addf(out, "%s_bucket{%.*s%sle=\"", row->name, STR_ARG(labels), comma);
        metric_number(out, row->bounds[i]);
        buf_addf(out, "\"} %" PRIu64 "\n", all += h->counts[i]);
    }
    all = histogram_count(h);
    buf_addf(out, "%s_bucket{%.*s%sle=\"+Inf\"} %" PRIu64 "\n", row->name, STR_ARG(labels), comma,
             all);
    buf_addf(out, "%s_sum%s%.*s%s ", row->name, open, STR_ARG(labels), close);
    metric_number(out, h->sum);
    buf_addf(out, "\n%s_count%s%.*s%s %" PRIu64 "\n", row->name, open, STR_ARG(labels), close, all);
}
