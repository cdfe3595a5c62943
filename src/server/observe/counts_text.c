/*
 * Figures in the text form of Prometheus. Counters of all workers are copied, sorted by their
 * labels, and those of the same labels are added up.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "codec/json.h"
#include "server/observe/counts_int.h"

/* ---- lines ---- */

void server_metric_head(struct buf *out, const char *name, const char *type, const char *help) {
    buf_addf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void server_metric_number(struct buf *out, double value) {
    json_write_double(out, value);
}

void server_metric_one(struct buf *out, const char *name, const char *type, const char *help,
                       double value) {
    server_metric_head(out, name, type, help);
    buf_addf(out, "%s ", name);
    server_metric_number(out, value);
    buf_add_char(out, '\n');
}

/* ---- sums ---- */

/* A series that stands still. */
struct sum {
    struct server_labels labels;
    struct {
        int code;
        uint64_t count;
    } codes[SERVER__CODES];
    uint64_t durations[SERVER__DURATIONS + 1], duration_ns;
    uint64_t sizes[SERVER__SIZES + 1], size_bytes;
    int64_t long_now;
};

struct sums {
    struct sum *v;
    size_t n, cap;
};

static uint64_t load(const _Atomic uint64_t *counter) {
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static void add_code(struct sum *to, int code, uint64_t count) {
    for (size_t i = 0; i < SERVER__CODES; i++)
        if (!to->codes[i].code || to->codes[i].code == code) {
            to->codes[i].code = code;
            to->codes[i].count += count;
            return;
        }
}

static void add_series(struct sum *to, const struct server_series *s) {
    for (size_t i = 0; i < SERVER__CODES; i++) {
        int code = atomic_load_explicit(&s->codes[i].code, memory_order_acquire);
        if (code)
            add_code(to, code, load(&s->codes[i].count));
    }
    for (size_t i = 0; i <= SERVER__DURATIONS; i++)
        to->durations[i] += load(&s->durations[i]);
    for (size_t i = 0; i <= SERVER__SIZES; i++)
        to->sizes[i] += load(&s->sizes[i]);
    to->duration_ns += load(&s->duration_ns);
    to->size_bytes += load(&s->size_bytes);
    to->long_now += (int64_t)load(&s->long_now);
}

static int compare_labels(const void *x, const void *y) {
    const struct server_labels *a = x, *b = y; /* the first member of what is sorted */
    int rc = str_cmp(a->group, b->group);
    rc = rc ? rc : str_cmp(a->version, b->version);
    rc = rc ? rc : str_cmp(a->resource, b->resource);
    rc = rc ? rc : str_cmp(a->subresource, b->subresource);
    rc = rc ? rc : strcmp(a->verb, b->verb);
    rc = rc ? rc : strcmp(a->scope, b->scope);
    return rc ? rc : a->is_dry_run - b->is_dry_run;
}

static void add_sum(struct sum *to, const struct sum *from) {
    for (size_t i = 0; i < SERVER__CODES && from->codes[i].code; i++)
        add_code(to, from->codes[i].code, from->codes[i].count);
    for (size_t i = 0; i <= SERVER__DURATIONS; i++)
        to->durations[i] += from->durations[i];
    for (size_t i = 0; i <= SERVER__SIZES; i++)
        to->sizes[i] += from->sizes[i];
    to->duration_ns += from->duration_ns;
    to->size_bytes += from->size_bytes;
    to->long_now += from->long_now;
}

/* Adds up neighbours of the same labels. */
static void merge(struct sums *sums) {
    size_t n = 0;
    for (size_t i = 0; i < sums->n; i++)
        if (n && compare_labels(&sums->v[n - 1], &sums->v[i]) == 0)
            add_sum(&sums->v[n - 1], &sums->v[i]);
        else
            sums->v[n++] = sums->v[i];
    sums->n = n;
}

static void gather(struct sums *sums, struct server_counts *const *counts, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (const struct server_series *s =
                 atomic_load_explicit(&counts[i]->series, memory_order_acquire);
             s; s = s->next) {
            vec_push(sums, (struct sum){.labels = s->labels});
            add_series(&sums->v[sums->n - 1], s);
        }
    if (sums->n)
        qsort(sums->v, sums->n, sizeof *sums->v, compare_labels);
    merge(sums);
}

/* ---- labels ---- */

/* Which labels a metric has; upstream's metrics have not all of them. */
enum labels { WITH_DRY_RUN = 1, WITH_COMPONENT = 2 };

static void write_labels(struct buf *out, const struct server_labels *l, unsigned with) {
    buf_add(out, STR("{"));
    if (with & WITH_COMPONENT)
        buf_add(out, STR("component=\"apiserver\","));
    if (with & WITH_DRY_RUN)
        buf_addf(out, "dry_run=\"%s\",", l->is_dry_run ? "All" : "");
    buf_addf(out,
             "group=\"%.*s\",resource=\"%.*s\",scope=\"%s\",subresource=\"%.*s\",verb=\"%s\","
             "version=\"%.*s\"",
             STR_ARG(l->group), STR_ARG(l->resource), l->scope, STR_ARG(l->subresource), l->verb,
             STR_ARG(l->version));
}

/* ---- histograms ---- */

struct histogram {
    const char *name;
    struct str labels; /* with the brace that opens them */
    const double *bounds;
    const uint64_t *counts;
    size_t n, first; /* buckets below the first are added to it */
    double sum;
};

static void write_histogram(struct buf *out, const struct histogram *h) {
    uint64_t all = 0;
    for (size_t i = 0; i <= h->n; i++) {
        all += h->counts[i];
        if (i < h->first)
            continue;
        buf_addf(out, "%s_bucket%.*s,le=\"", h->name, STR_ARG(h->labels));
        if (i < h->n)
            server_metric_number(out, h->bounds[i]);
        else
            buf_add(out, STR("+Inf"));
        buf_addf(out, "\"} %" PRIu64 "\n", all);
    }
    buf_addf(out, "%s_sum%.*s} ", h->name, STR_ARG(h->labels));
    server_metric_number(out, h->sum);
    buf_addf(out, "\n%s_count%.*s} %" PRIu64 "\n", h->name, STR_ARG(h->labels), all);
}

static bool any(const uint64_t *counts, size_t n) {
    for (size_t i = 0; i <= n; i++)
        if (counts[i])
            return true;
    return false;
}

/* ---- requests ---- */

static void write_totals(struct buf *out, const struct sums *sums) {
    server_metric_head(out, "apiserver_request_total", "counter",
                       "[STABLE] Requests that were answered, by what they asked for and by the "
                       "code of the answer.");
    for (size_t i = 0; i < sums->n; i++)
        for (size_t k = 0; k < SERVER__CODES && sums->v[i].codes[k].code; k++) {
            struct buf labels = BUF_INIT(SIZE_MAX);
            write_labels(&labels, &sums->v[i].labels, WITH_DRY_RUN | WITH_COMPONENT);
            buf_addf(out, "apiserver_request_total{code=\"%d\",%.*s} %" PRIu64 "\n",
                     sums->v[i].codes[k].code, (int)(buf_view(&labels).n - 1),
                     buf_view(&labels).p + 1, sums->v[i].codes[k].count);
            buf_release(&labels);
        }
}

static void write_durations(struct buf *out, const struct sums *sums, bool is_sli) {
    const char *name =
        is_sli ? "apiserver_request_sli_duration_seconds" : "apiserver_request_duration_seconds";
    server_metric_head(out, name, "histogram",
                       is_sli ? "[ALPHA] How long requests took, watches left out."
                              : "[STABLE] How long requests took, in seconds.");
    for (size_t i = 0; i < sums->n; i++) {
        const struct sum *s = &sums->v[i];
        AUTO(buf_release) struct buf labels = BUF_INIT(SIZE_MAX);
        if (!any(s->durations, SERVER__DURATIONS) ||
            (is_sli && (strcmp(s->labels.verb, "WATCH") == 0 || s->labels.is_dry_run)))
            continue;
        write_labels(&labels, &s->labels, is_sli ? WITH_COMPONENT : WITH_DRY_RUN | WITH_COMPONENT);
        write_histogram(out, &(struct histogram){.name = name,
                                                 .labels = buf_view(&labels),
                                                 .bounds = server__duration_bounds,
                                                 .counts = s->durations,
                                                 .n = SERVER__DURATIONS,
                                                 .first = is_sli ? 2 : 0,
                                                 .sum = (double)s->duration_ns / 1e9});
    }
}

static void write_sizes(struct buf *out, const struct sums *sums) {
    server_metric_head(out, "apiserver_response_sizes", "histogram",
                       "[STABLE] Lengths of answers to reads, in bytes.");
    for (size_t i = 0; i < sums->n; i++) {
        const struct sum *s = &sums->v[i];
        AUTO(buf_release) struct buf labels = BUF_INIT(SIZE_MAX);
        if (!any(s->sizes, SERVER__SIZES))
            continue;
        write_labels(&labels, &s->labels, WITH_COMPONENT);
        write_histogram(out, &(struct histogram){.name = "apiserver_response_sizes",
                                                 .labels = buf_view(&labels),
                                                 .bounds = server__size_bounds,
                                                 .counts = s->sizes,
                                                 .n = SERVER__SIZES,
                                                 .sum = (double)s->size_bytes});
    }
}

static void write_long(struct buf *out, const struct sums *sums) {
    server_metric_head(out, "apiserver_longrunning_requests", "gauge",
                       "[STABLE] Watches that are open.");
    for (size_t i = 0; i < sums->n; i++) {
        AUTO(buf_release) struct buf labels = BUF_INIT(SIZE_MAX);
        if (strcmp(sums->v[i].labels.verb, "WATCH") != 0)
            continue;
        write_labels(&labels, &sums->v[i].labels, WITH_COMPONENT);
        buf_addf(out, "apiserver_longrunning_requests%.*s} %" PRId64 "\n",
                 STR_ARG(buf_view(&labels)), sums->v[i].long_now);
    }
}

/* ---- watches ---- */

struct watch_sum {
    struct server_labels labels;
    uint64_t sizes[SERVER__EVENTS + 1], size_bytes;
};

struct watch_sums {
    struct watch_sum *v;
    size_t n, cap;
};

static struct watch_sum *find_watch(struct watch_sums *sums, const struct server_labels *l) {
    for (size_t i = 0; i < sums->n; i++)
        if (compare_labels(&sums->v[i].labels, l) == 0)
            return &sums->v[i];
    vec_push(sums, (struct watch_sum){.labels = *l});
    return &sums->v[sums->n - 1];
}

static void gather_watches(struct watch_sums *sums, struct server_counts *const *counts, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (const struct server_watch_series *s =
                 atomic_load_explicit(&counts[i]->watches, memory_order_acquire);
             s; s = s->next) {
            struct watch_sum *to = find_watch(sums, &s->labels);
            for (size_t k = 0; k <= SERVER__EVENTS; k++)
                to->sizes[k] += load(&s->sizes[k]);
            to->size_bytes += load(&s->size_bytes);
        }
    if (sums->n)
        qsort(sums->v, sums->n, sizeof *sums->v, compare_labels);
}

static void write_watch_labels(struct buf *out, const struct server_labels *l) {
    buf_addf(out, "{group=\"%.*s\",resource=\"%.*s\",version=\"%.*s\"", STR_ARG(l->group),
             STR_ARG(l->resource), STR_ARG(l->version));
}

static void write_watches(struct buf *out, const struct watch_sums *sums) {
    server_metric_head(out, "apiserver_watch_events_total", "counter",
                       "[BETA] Events that were sent to watchers.");
    for (size_t i = 0; i < sums->n; i++) {
        uint64_t all = 0;
        for (size_t k = 0; k <= SERVER__EVENTS; k++)
            all += sums->v[i].sizes[k];
        buf_add(out, STR("apiserver_watch_events_total"));
        write_watch_labels(out, &sums->v[i].labels);
        buf_addf(out, "} %" PRIu64 "\n", all);
    }
    server_metric_head(out, "apiserver_watch_events_sizes", "histogram",
                       "[BETA] Lengths of events that were sent to watchers, in bytes.");
    for (size_t i = 0; i < sums->n; i++) {
        AUTO(buf_release) struct buf labels = BUF_INIT(SIZE_MAX);
        write_watch_labels(&labels, &sums->v[i].labels);
        write_histogram(out, &(struct histogram){.name = "apiserver_watch_events_sizes",
                                                 .labels = buf_view(&labels),
                                                 .bounds = server__event_bounds,
                                                 .counts = sums->v[i].sizes,
                                                 .n = SERVER__EVENTS,
                                                 .sum = (double)sums->v[i].size_bytes});
    }
}

void server_counts_write(struct buf *out, struct server_counts *const *counts, size_t n) {
    struct sums sums = {0};
    struct watch_sums watches = {0};
    gather(&sums, counts, n);
    gather_watches(&watches, counts, n);
    write_totals(out, &sums);
    write_durations(out, &sums, false);
    write_durations(out, &sums, true);
    write_sizes(out, &sums);
    write_long(out, &sums);
    write_watches(out, &watches);
    free(sums.v);
    free(watches.v);
}
