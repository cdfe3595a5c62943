/*
 * Counts, and writes what was counted. Gauges are not kept: they are read off the scheduler when
 * the text is asked for.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/metrics, func InitMetrics.
 */
#include "sched/metrics.h"

#include <assert.h>

#include "base/clock.h"
#include "base/metric.h"
#include "sched/metrics_int.h"
#include "sched/queue/queue_int.h"

/* ALL: series of 0 are shown, too. NS: nanoseconds, which are shown as seconds. */
enum type { COUNTER, COUNTER_NS, GAUGE, GAUGE_ALL, HISTOGRAM };

enum dim {
    DIM_NONE,
    DIM_PROFILE,
    DIM_RESULT,
    DIM_PLUGIN,
    DIM_POINT,
    DIM_STATUS,
    DIM_QUEUE,
    DIM_QUEUE_OF_ENTITIES,
    DIM_EVENT,
    DIM_HELD,
    DIM_HINT,
    DIM_ATTEMPTS,
    DIM_ENTITY,
    DIM_CACHED,
    DIM_COUNT
};

enum { MOST_BUCKETS = 20, MOST_ATTEMPTS = 15 };

struct row {
    const char *name, *help, *stability;
    enum type type;
    uint8_t dims[3];
    double start, factor;
    size_t buckets;
};

#define DIMS(a, b, c) \
    { DIM_##a, DIM_##b, DIM_##c }
#define BUCKETS(start, factor, count) start, factor, count
#define NO_BUCKETS                    0, 0, 0
#define METRIC(id, type, stability, name, dims, buckets, help) \
    METRIC_ROW(type, stability, name, help, dims, buckets)
#define METRIC_ROW(type, stability, name, help, a, b, c, ...) \
    {"scheduler_" name, help, stability, type, a, b, c, __VA_ARGS__},
static const struct row rows[SCHED__METRIC_COUNT] = {
#include "sched/metrics.def"
};
#undef METRIC

/* Values of labels that are neither profiles, plug-ins nor events. */
static const struct dim_row {
    const char *label;
    uint16_t count;
    const char *values[8];
} dims[DIM_COUNT] = {
    [DIM_NONE] = {NULL, 1, {NULL}},
    [DIM_PROFILE] = {"profile", 0, {NULL}},
    [DIM_RESULT] = {"result", 3, {"scheduled", "unschedulable", "error"}},
    [DIM_PLUGIN] = {"plugin", SCHED_PLUGIN_COUNT, {NULL}},
    [DIM_POINT] = {"extension_point",
                   SCHED_POINT_COUNT,
                   {"PreEnqueue", "PreFilter", "Filter", "PostFilter", "PreScore", "Score"}},
    [DIM_STATUS] = {"status",
                    4,
                    {"Success", "Unschedulable", "UnschedulableAndUnresolvable", "Error"}},
    [DIM_QUEUE] = {"queue",
                   6,
                   {"active", "backoff", "unschedulable", "gated", "incomplete", "pending"}},
    [DIM_QUEUE_OF_ENTITIES] = {"queue", 4, {"active", "backoff", "unschedulable", "gated"}},
    [DIM_EVENT] = {"event", SCHED__EVENT_COUNT, {NULL}},
    [DIM_HELD] = {"event", SCHED__EVENT_COUNT + 1, {NULL}},
    [DIM_HINT] = {"hint", 2, {"QueueSkip", "Queue"}},
    [DIM_ATTEMPTS] = {"attempts", MOST_ATTEMPTS, {NULL}},
    [DIM_ENTITY] = {"type", 1, {"pod"}},
    [DIM_CACHED] = {"type", 3, {"nodes", "pods", "assumed_pods"}},
};

static uint16_t dim_size(const struct sched *s, enum dim dim) {
    return dim == DIM_PROFILE ? (uint16_t)s->config->profile_count : dims[dim].count;
}

static struct str event_name(uint16_t i) {
    return i < SCHED__EVENT_COUNT ? sched__event_rows[i].label : STR("PodPopped");
}

static struct str attempts_name(uint16_t i) {
    static const char texts[MOST_ATTEMPTS][4] = {"1", "2",  "3",  "4",  "5",  "6",  "7",  "8",
                                                 "9", "10", "11", "12", "13", "14", "15+"};
    return str_of(texts[i]);
}

static struct str dim_value(const struct sched *s, enum dim dim, uint16_t i) {
    switch (dim) {
    case DIM_PROFILE:
        return s->config->profiles[i].scheduler_name;
    case DIM_PLUGIN:
        return sched_plugin_name((enum sched_plugin)i);
    case DIM_EVENT:
    case DIM_HELD:
        return event_name(i);
    case DIM_ATTEMPTS:
        return attempts_name(i);
    default:
        return str_of(dims[dim].values[i]);
    }
}

/* ---- counting ---- */

static size_t series_count(const struct sched__series *series) {
    return (size_t)series->size[0] * series->size[1] * series->size[2];
}

struct sched__metrics *sched__metrics_new(const struct sched *s) {
    assert(s->config->profile_count <= UINT16_MAX);
    struct sched__metrics *m = xcalloc(1, sizeof *m);
    for (size_t i = 0; i < SCHED__METRIC_COUNT; i++) {
        struct sched__series *series = &m->v[i];
        for (size_t d = 0; d < 3; d++)
            series->size[d] = dim_size(s, rows[i].dims[d]);
        if (rows[i].type == HISTOGRAM)
            series->hist = xcalloc(series_count(series), sizeof *series->hist);
        else
            series->values = xcalloc(series_count(series), sizeof *series->values);
    }
    return m;
}

void sched__metrics_free(struct sched__metrics *m) {
    if (!m)
        return;
    for (size_t i = 0; i < SCHED__METRIC_COUNT; i++) {
        if (m->v[i].hist)
            for (size_t k = 0; k < series_count(&m->v[i]); k++)
                free(m->v[i].hist[k]);
        free(m->v[i].hist);
        free(m->v[i].values);
    }
    free(m);
}

void sched__metrics_observe(struct sched__metrics *m, enum sched__metric metric,
                            struct sched__labels labels, double value) {
    const struct row *row = &rows[metric];
    struct sched__histogram **h = &m->v[metric].hist[sched__series_at(&m->v[metric], labels)];
    if (!*h)
        *h = xcalloc(1, sizeof **h + (row->buckets + 1) * sizeof *(*h)->buckets);
    size_t i = 0;
    for (double bound = row->start; i < row->buckets && value > bound; bound *= row->factor)
        i++;
    (*h)->buckets[i]++;
    (*h)->sum += value;
}

static uint64_t observations(const struct row *row, const struct sched__histogram *h) {
    uint64_t n = 0;
    for (size_t i = 0; h && i <= row->buckets; i++)
        n += h->buckets[i];
    return n;
}

uint64_t sched__metrics_value(const struct sched__metrics *m, enum sched__metric metric,
                              struct sched__labels labels) {
    size_t at = sched__series_at(&m->v[metric], labels);
    return rows[metric].type == HISTOGRAM ? observations(&rows[metric], m->v[metric].hist[at])
                                          : m->v[metric].values[at];
}

/* The plug-ins of a point that have something to do for the class. */
static void count_evaluations(const struct sched__cycle *cy, enum sched_point point) {
    const struct sched_order *order = &cy->profile->points[point];
    uint16_t profile = sched__profile_label(cy->s, cy->profile);
    for (size_t i = 0; i < order->n; i++)
        if (!cy->s->queue->plugins[order->v[i]]->compile || cy->cls->data[order->v[i]])
            sched__metrics_add(cy->s->metrics, SCHED__METRIC_EVALUATIONS,
                               SCHED__LABELS((uint16_t)point, order->v[i], profile), 1);
}

void sched__metrics_attempt(struct sched *s, uint16_t profile, enum sched_outcome outcome,
                            double seconds) {
    struct sched__labels labels = SCHED__LABELS(profile, (uint16_t)outcome);
    sched__metrics_add(s->metrics, SCHED__METRIC_ATTEMPTS, labels, 1);
    sched__metrics_observe(s->metrics, SCHED__METRIC_ATTEMPT_SECONDS, labels, seconds);
}

void sched__metrics_cycle(const struct sched__cycle *cy, double seconds) {
    struct sched__metrics *m = cy->s->metrics;
    sched__metrics_observe(m, SCHED__METRIC_ALGORITHM_SECONDS, SCHED__LABELS(0), seconds);
    if (!cy->verdict)
        return;
    count_evaluations(cy, SCHED_PRE_FILTER);
    count_evaluations(cy, SCHED_FILTER);
    if (cy->feasible < 2)
        return;
    count_evaluations(cy, SCHED_PRE_SCORE);
    count_evaluations(cy, SCHED_SCORE);
}

static double seconds_of(int64_t ns) {
    return (double)ns / (double)CLOCK_SECOND;
}

void sched__metrics_point(const struct sched__cycle *cy, enum sched_point point,
                          enum sched_code code, int64_t ns) {
    uint16_t profile = sched__profile_label(cy->s, cy->profile);
    sched__metrics_observe(cy->s->metrics, SCHED__METRIC_POINT_SECONDS,
                           SCHED__LABELS((uint16_t)point, profile, (uint16_t)code), seconds_of(ns));
}

void sched__metrics_plugin(const struct sched__cycle *cy, enum sched_point point,
                           enum sched_plugin plugin, enum sched_code code, int64_t ns) {
    sched__metrics_observe(cy->s->metrics, SCHED__METRIC_PLUGIN_SECONDS,
                           SCHED__LABELS((uint16_t)point, (uint16_t)plugin, (uint16_t)code),
                           seconds_of(ns));
}

void sched__metrics_preemption(struct sched *s, size_t victims) {
    sched__metrics_add(s->metrics, SCHED__METRIC_PREEMPTIONS, SCHED__LABELS(0), 1);
    if (victims)
        sched__metrics_observe(s->metrics, SCHED__METRIC_VICTIMS, SCHED__LABELS(0),
                               (double)victims);
}

/* ---- gauges ---- */

static void set(const struct sched *s, enum sched__metric metric, struct sched__labels labels,
                uint64_t value) {
    struct sched__series *series = &s->metrics->v[metric];
    series->values[sched__series_at(series, labels)] = value;
}

static void read_queue(const struct sched *s) {
    const struct sched__queue *q = s->queue;
    uint64_t sizes[] = {
        [SCHED__QUEUE_ACTIVE] = q->active.n,
        [SCHED__QUEUE_BACKOFF] = q->backoff.n + q->error_backoff.n,
        [SCHED__QUEUE_UNSCHEDULABLE] = q->unschedulable_pods.n,
        [SCHED__QUEUE_GATED] = q->gated,
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        set(s, SCHED__METRIC_PENDING_PODS, SCHED__LABELS((uint16_t)i), sizes[i]);
        set(s, SCHED__METRIC_QUEUED_ENTITIES, SCHED__LABELS((uint16_t)i), sizes[i]);
    }
    for (size_t p = 0; p < s->config->profile_count; p++)
        for (int i = 0; i < SCHED_PLUGIN_COUNT; i++)
            set(s, SCHED__METRIC_UNSCHEDULABLE_PODS, SCHED__LABELS((uint16_t)i, (uint16_t)p),
                q->rejected[p * SCHED_PLUGIN_COUNT + (size_t)i]);
}

static void read_held_events(const struct sched *s) {
    const struct sched__queue *q = s->queue;
    uint64_t counts[SCHED__EVENT_COUNT] = {0};
    for (size_t i = 0; i < q->held.n; i++)
        counts[q->held.v[i].id]++;
    for (int i = 0; i < SCHED__EVENT_COUNT; i++)
        set(s, SCHED__METRIC_INFLIGHT_EVENTS, SCHED__LABELS((uint16_t)i), counts[i]);
    set(s, SCHED__METRIC_INFLIGHT_EVENTS, SCHED__LABELS(SCHED__EVENT_COUNT), q->in_flight);
}

static void read_cache(const struct sched *s) {
    uint64_t there = 0, assumed = 0;
    const struct map_entry *e;
    for (size_t at = 0; (e = map_next(&s->pods, &at));) {
        const struct sched_pod *pod = e->value;
        there += pod->node != SCHED__NONE;
        assumed += pod->node != SCHED__NONE && pod->assumed;
    }
    set(s, SCHED__METRIC_CACHE_SIZE, SCHED__LABELS(0), s->nodes.live);
    set(s, SCHED__METRIC_CACHE_SIZE, SCHED__LABELS(1), there);
    set(s, SCHED__METRIC_CACHE_SIZE, SCHED__LABELS(2), assumed);
}

static void read_engine(const struct sched *s) {
    struct match_cache_stats stats = {0};
    if (s->engine && s->engine->cache_stats)
        s->engine->cache_stats(s->engine->ctx, &stats);
    const struct {
        enum sched__metric metric;
        uint64_t value;
    } values[] = {
        {SCHED__METRIC_CEL_CACHE_BYTES, stats.bytes},
        {SCHED__METRIC_CEL_CACHE_ENTRIES, stats.entries},
        {SCHED__METRIC_CEL_CACHE_EVICTIONS, stats.evictions},
        {SCHED__METRIC_CEL_CACHE_HITS, stats.hits},
        {SCHED__METRIC_CEL_CACHE_MISSES, stats.misses},
        {SCHED__METRIC_CEL_COMPILE_SECONDS, stats.compile_ns},
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        set(s, values[i].metric, SCHED__LABELS(0), values[i].value);
}

/* ---- writing ---- */

static void write_label_value(struct buf *out, struct str s) {
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\\' || s.p[i] == '"' || s.p[i] == '\n')
            buf_add_char(out, '\\');
        buf_add_char(out, s.p[i] == '\n' ? 'n' : s.p[i]);
    }
}

struct line {
    const struct sched *s;
    const struct row *row;
    struct sched__labels labels;
    struct buf *out;
};

/* name_suffix{a="x",le="1"}, and the space behind it; without a bound if it is 0. */
static void write_name(const struct line *l, const char *suffix, double bound, bool infinite) {
    char before = '{';
    buf_addf(l->out, "%s%s", l->row->name, suffix);
    for (size_t d = 0; d < 3 && l->row->dims[d]; d++, before = ',') {
        buf_addf(l->out, "%c%s=\"", before, dims[l->row->dims[d]].label);
        write_label_value(l->out, dim_value(l->s, l->row->dims[d], (uint16_t)l->labels.v[d]));
        buf_add_char(l->out, '"');
    }
    if (bound > 0 || infinite) {
        buf_addf(l->out, "%cle=\"", before);
        if (infinite)
            buf_add(l->out, STR("+Inf"));
        else
            metric_number(l->out, bound);
        buf_add_char(l->out, '"');
        before = ',';
    }
    buf_add(l->out, before == ',' ? STR("} ") : STR(" "));
}

static void write_value(const struct line *l, double value) {
    metric_number(l->out, value);
    buf_add_char(l->out, '\n');
}

static void write_histogram(const struct line *l, const struct sched__histogram *h) {
    uint64_t sum = 0;
    double bound = l->row->start;
    for (size_t i = 0; i <= l->row->buckets; i++, bound *= l->row->factor) {
        sum += h ? h->buckets[i] : 0;
        write_name(l, "_bucket", bound, i == l->row->buckets);
        write_value(l, (double)sum);
    }
    write_name(l, "_sum", 0, false);
    write_value(l, h ? h->sum : 0);
    write_name(l, "_count", 0, false);
    write_value(l, (double)sum);
}

static void write_series(const struct line *l, const struct sched__series *series) {
    size_t at = sched__series_at(series, l->labels);
    bool always = l->row->type == GAUGE_ALL || !l->row->dims[0];
    if (l->row->type == HISTOGRAM) {
        if (always || series->hist[at])
            write_histogram(l, series->hist[at]);
    } else if (always || series->values[at]) {
        write_name(l, "", 0, false);
        write_value(l, (double)series->values[at] / (l->row->type == COUNTER_NS ? 1e9 : 1));
    }
}

struct sorted_value {
    struct str text;
    uint16_t i;
};

static int by_text(const void *a, const void *b) {
    return str_cmp(((const struct sorted_value *)a)->text, ((const struct sorted_value *)b)->text);
}

/* The places of a label's values in the order of their texts. */
static struct sorted_value *sorted(struct arena *a, const struct sched *s, enum dim dim) {
    uint16_t n = dim_size(s, dim);
    struct sorted_value *v = arena_array(a, struct sorted_value, n);
    for (uint16_t i = 0; i < n; i++)
        v[i] = (struct sorted_value){dim_value(s, dim, i), i};
    qsort(v, n, sizeof *v, by_text);
    return v;
}

static void write_family(struct arena *a, const struct line *family,
                         const struct sched__series *series) {
    static const char *const types[] = {"counter", "counter", "gauge", "gauge", "histogram"};
    const struct row *row = family->row;
    struct line l = *family;
    struct sorted_value *order[3];
    size_t start = l.out->n, head;
    buf_addf(l.out, "# HELP %s [%s] %s\n", row->name, row->stability, row->help);
    buf_addf(l.out, "# TYPE %s %s\n", row->name, types[row->type]);
    head = l.out->n;
    for (size_t d = 0; d < 3; d++)
        order[d] = sorted(a, l.s, row->dims[d]);
    for (size_t i = 0; i < series_count(series); i++) {
        size_t k = i % series->size[2], j = i / series->size[2] % series->size[1];
        l.labels = SCHED__LABELS(order[0][i / series->size[2] / series->size[1]].i, order[1][j].i,
                                 order[2][k].i);
        write_series(&l, series);
    }
    if (l.out->n == head)
        l.out->n = start;
}

void sched_metrics_write(const struct sched *s, struct buf *out) {
    struct arena a = {0};
    read_queue(s);
    read_held_events(s);
    read_cache(s);
    read_engine(s);
    for (size_t i = 0; i < SCHED__METRIC_COUNT; i++) {
        arena_reset(&a);
        write_family(&a, &(struct line){.s = s, .row = &rows[i], .out = out}, &s->metrics->v[i]);
    }
    arena_release(&a);
}
