/*
 * What differs between two texts, line by line. As in Python's difflib, lines that stand often in a
 * long text do not start a run.
 *
 * Upstream looks for the longest run, then for the longest one before it and behind it, and so on,
 * and looks at all lines again each time. Here all runs are found once, and taken from the longest
 * down: one that lies in what is still open is the longest there, and one that reaches beyond it is
 * cut and waits for its new length. That costs as much as there are pairs of equal lines.
 *
 * Follows github.com/pmezard/go-difflib difflib, func (*SequenceMatcher) GetGroupedOpCodes,
 * func WriteUnifiedDiff.
 */
#include "codec/diff.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/vec.h"

enum { CONTEXT = 3, LONG_TEXT = 200 };

/* Equal lines have the same number. */
struct lines {
    VEC(struct str) text;
    VEC(uint32_t) id;
};

/* a[a .. a + n) equals b[b .. b + n) */
struct run {
    uint32_t a, b, n;
};

/* A run of lines that stand rarely, which may be taken. */
struct candidate {
    struct run run;
    uint32_t next; /* of the same length, its place + 1; 0: none */
};

/* What is open: lines from a1 to before a2 of the one text may equal those from b1 to before b2 of
 * the other. */
struct span {
    uint32_t a1, a2, b1, b2;
};

/* The span of a line that was taken. */
#define NO_SPAN UINT32_MAX

struct diff {
    struct map ids; /* number of a line + 1, by its text */
    struct lines a, b;
    size_t id_count;
    size_t *starts;   /* of the places in b of each line: places[starts[id] .. starts[id + 1]) */
    uint32_t *places; /* in ascending order */
    bool *popular;    /* by number: the line stands too often in b to start a run */
    VEC(struct candidate) candidates;
    uint32_t *last;         /* by length: the candidate that came last, its place + 1; 0: none */
    uint32_t *waiting;      /* by length: how many candidates there are */
    VEC(struct run) bucket; /* the candidates of one length */
    VEC(struct span) spans;
    uint32_t *span_of;    /* by line of a: its span, or NO_SPAN */
    VEC(struct run) runs; /* that were taken */
};

/* ---- lines ---- */

static void add_line(struct diff *d, struct lines *lines, struct str text) {
    uintptr_t id = (uintptr_t)map_get(&d->ids, text);
    if (!id) {
        id = ++d->id_count;
        map_put(&d->ids, text, (void *)id);
    }
    vec_push(&lines->text, text);
    vec_push(&lines->id, (uint32_t)(id - 1));
}

/* The text behind the last line break is a line, too. */
static void split(struct diff *d, struct lines *lines, struct str text) {
    struct str line;
    while (str_cut(text, '\n', &line, &text))
        add_line(d, lines, line);
    add_line(d, lines, line);
}

static void index_places(struct diff *d) {
    d->starts = xcalloc(d->id_count + 2, sizeof *d->starts);
    d->places = xcalloc(d->b.id.n, sizeof *d->places);
    d->popular = xcalloc(d->id_count, sizeof *d->popular);
    size_t *next = d->starts + 1; /* while it is filled: where the next place of a line goes */
    for (size_t j = 0; j < d->b.id.n; j++)
        next[d->b.id.v[j] + 1]++;
    for (size_t id = 0; id < d->id_count; id++) {
        d->popular[id] = d->b.id.n >= LONG_TEXT && next[id + 1] > d->b.id.n / 100 + 1;
        next[id + 1] += next[id];
    }
    for (size_t j = 0; j < d->b.id.n; j++)
        d->places[next[d->b.id.v[j]]++] = (uint32_t)j;
}

/* ---- candidates ---- */

static bool same_line(const struct diff *d, size_t a, size_t b) {
    return d->a.id.v[a] == d->b.id.v[b];
}

/* May these two lines stand in a candidate together? */
static bool is_pair(const struct diff *d, size_t a, size_t b) {
    return a < d->a.id.n && b < d->b.id.n && same_line(d, a, b) && !d->popular[d->a.id.v[a]];
}

static void file_candidate(struct diff *d, struct run run) {
    vec_push(&d->candidates, (struct candidate){run, d->last[run.n]});
    d->last[run.n] = (uint32_t)d->candidates.n;
    d->waiting[run.n]++;
}

/* All runs of lines that stand rarely, each as long as it can be. False: there are too many pairs
 * of equal lines. */
static bool find_candidates(struct diff *d) {
    size_t pairs = 0;
    for (uint32_t a = 0; a < d->a.id.n; a++) {
        uint32_t id = d->a.id.v[a];
        size_t end = d->popular[id] ? d->starts[id] : d->starts[id + 1];
        for (size_t p = d->starts[id]; p < end; p++) {
            struct run run = {a, d->places[p], 1};
            if (++pairs > LIMIT_DIFF_PAIRS)
                return false;
            if (a && run.b && is_pair(d, a - 1, run.b - 1))
                continue;
            while (is_pair(d, a + run.n, run.b + run.n))
                run.n++;
            file_candidate(d, run);
        }
    }
    return true;
}

static int by_places(const void *a, const void *b) {
    const struct run *x = a, *y = b;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

/* The candidates of that length, in order: those that were never cut are in order already. */
static void fill_bucket(struct diff *d, size_t length) {
    size_t n = d->waiting[length];
    bool is_sorted = true;
    vec_clear(&d->bucket);
    vec_reserve(&d->bucket, n);
    struct run *v = d->bucket.v;
    for (uint32_t i = d->last[length], k = (uint32_t)n; i; i = d->candidates.v[i - 1].next) {
        v[--k] = d->candidates.v[i - 1].run;
        is_sorted = is_sorted && (k + 1 == n || by_places(&v[k], &v[k + 1]) < 0);
    }
    d->bucket.n = n;
    if (!is_sorted)
        qsort(v, n, sizeof *v, by_places);
}

/* ---- runs ---- */

/* Are both lines in one span, so that they may still be equal? */
static bool is_open(const struct diff *d, uint32_t a, uint32_t b) {
    uint32_t i = d->span_of[a];
    return i != NO_SPAN && b >= d->spans.v[i].b1 && b < d->spans.v[i].b2;
}

/* What is open of a candidate. That is one piece: no run that was taken is shorter, so none leaves
 * something on both sides. */
static struct run cut(const struct diff *d, struct run run) {
    while (run.n && !is_open(d, run.a, run.b))
        run = (struct run){run.a + 1, run.b + 1, run.n - 1};
    while (run.n && !is_open(d, run.a + run.n - 1, run.b + run.n - 1))
        run.n--;
    assert(!run.n || d->span_of[run.a] == d->span_of[run.a + run.n - 1]);
    return run;
}

/* Lines that stand often lengthen a run, but do not start it. */
static struct run lengthen(const struct diff *d, const struct span *s, struct run run) {
    while (run.a > s->a1 && run.b > s->b1 && same_line(d, run.a - 1, run.b - 1))
        run = (struct run){run.a - 1, run.b - 1, run.n + 1};
    while (run.a + run.n < s->a2 && run.b + run.n < s->b2 &&
           same_line(d, run.a + run.n, run.b + run.n))
        run.n++;
    return run;
}

static void set_span(struct diff *d, uint32_t from, uint32_t to, uint32_t span) {
    for (uint32_t a = from; a < to; a++)
        d->span_of[a] = span;
}

/* Takes a run out of the span that it lies in; the smaller one of the two that are left gets a new
 * number, so that a line changes its number only as often as its span can be halved. */
static void take(struct diff *d, struct run run) {
    uint32_t i = d->span_of[run.a];
    const struct span whole = d->spans.v[i];
    run = lengthen(d, &whole, run);
    struct span kept = {whole.a1, run.a, whole.b1, run.b};
    struct span other = {run.a + run.n, whole.a2, run.b + run.n, whole.b2};
    if (kept.a2 - kept.a1 < other.a2 - other.a1) {
        struct span swap = kept;
        kept = other;
        other = swap;
    }
    vec_push(&d->runs, run);
    set_span(d, run.a, run.a + run.n, NO_SPAN);
    set_span(d, other.a1, other.a2, (uint32_t)d->spans.n);
    d->spans.v[i] = kept;
    vec_push(&d->spans, other);
}

/* A candidate is taken, or what is open of it waits for its turn. */
static void consider(struct diff *d, struct run run) {
    struct run open = cut(d, run);
    if (open.n == run.n)
        take(d, run);
    else if (open.n)
        file_candidate(d, open);
}

/* Where no candidate is left, lines that stand often are equal if a span begins with them. */
static void take_beginnings(struct diff *d) {
    for (size_t i = 0; i < d->spans.n; i++) {
        const struct span *s = &d->spans.v[i];
        struct run run = lengthen(d, s, (struct run){s->a1, s->b1, 0});
        if (run.n)
            vec_push(&d->runs, run);
    }
}

/* All runs in order. False: it would take too long. */
static bool find_runs(struct diff *d) {
    uint32_t a = (uint32_t)d->a.id.n, b = (uint32_t)d->b.id.n, longest = a < b ? a : b;
    d->last = xcalloc(longest + 1, sizeof *d->last);
    d->waiting = xcalloc(longest + 1, sizeof *d->waiting);
    d->span_of = xcalloc(a, sizeof *d->span_of);
    vec_push(&d->spans, (struct span){0, a, 0, b});
    if (!find_candidates(d))
        return false;
    for (size_t n = longest; n > 0; n--) {
        fill_bucket(d, n);
        for (size_t i = 0; i < d->bucket.n; i++)
            consider(d, d->bucket.v[i]);
    }
    take_beginnings(d);
    if (d->runs.n)
        qsort(d->runs.v, d->runs.n, sizeof *d->runs.v, by_places);
    return true;
}

/* Runs that follow upon each other in both texts become one; an empty one behind both ends. */
static void join_runs(struct diff *d) {
    size_t kept = 0;
    for (size_t i = 0; i < d->runs.n; i++) {
        struct run *last = kept ? &d->runs.v[kept - 1] : NULL, run = d->runs.v[i];
        if (last && last->a + last->n == run.a && last->b + last->n == run.b)
            last->n += run.n;
        else
            d->runs.v[kept++] = run;
    }
    d->runs.n = kept;
    vec_push(&d->runs, (struct run){(uint32_t)d->a.id.n, (uint32_t)d->b.id.n, 0});
}

/* ---- writing ---- */

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* One line is named, of several the first and how many, of none the one before. */
static void write_range(struct buf *out, size_t from, size_t to) {
    size_t n = to - from;
    if (n == 1)
        buf_addf(out, "%zu", from + 1);
    else
        buf_addf(out, "%zu,%zu", n ? from + 1 : from, n);
}

static void write_lines(struct buf *out, char mark, const struct lines *lines, size_t from,
                        size_t to) {
    for (size_t i = from; i < to; i++) {
        buf_add_char(out, mark);
        buf_add(out, lines->text.v[i]);
        buf_add_char(out, '\n');
    }
}

/* Changes that stand so close that their contexts meet: those before the runs from `first` to
 * before `last`. */
static void write_group(struct buf *out, const struct diff *d, size_t first, size_t last) {
    const struct run *r = d->runs.v;
    struct run before = first ? r[first - 1] : (struct run){0, 0, 0};
    size_t lead = least(before.n, CONTEXT), tail = least(r[last - 1].n, CONTEXT);
    size_t a = before.a + before.n, b = before.b + before.n;
    buf_add(out, STR("@@ -"));
    write_range(out, a - lead, r[last - 1].a + tail);
    buf_add(out, STR(" +"));
    write_range(out, b - lead, r[last - 1].b + tail);
    buf_add(out, STR(" @@\n"));
    write_lines(out, ' ', &d->a, a - lead, a);
    for (size_t i = first; i < last; i++) {
        size_t n = i + 1 < last ? r[i].n : tail;
        write_lines(out, '-', &d->a, a, r[i].a);
        write_lines(out, '+', &d->b, b, r[i].b);
        write_lines(out, ' ', &d->a, r[i].a, r[i].a + n);
        a = r[i].a + r[i].n;
        b = r[i].b + r[i].n;
    }
}

/* Is there a change before this run? There is none before one of both beginnings, nor before the
 * empty one if the texts end with a run. */
static bool is_changed_before(const struct diff *d, size_t i) {
    const struct run *r = d->runs.v;
    struct run before = i ? r[i - 1] : (struct run){0, 0, 0};
    return before.a + before.n != r[i].a || before.b + before.n != r[i].b;
}

static void write_groups(struct buf *out, const struct diff *d) {
    for (size_t i = 0; i < d->runs.n;) {
        size_t last = i + 1;
        if (is_changed_before(d, i)) {
            while (last < d->runs.n && d->runs.v[last - 1].n <= 2 * CONTEXT &&
                   is_changed_before(d, last))
                last++;
            write_group(out, d, i, last);
        }
        i = last;
    }
}

static void release(struct diff *d) {
    map_release(&d->ids);
    vec_release(&d->a.text);
    vec_release(&d->a.id);
    vec_release(&d->b.text);
    vec_release(&d->b.id);
    vec_release(&d->candidates);
    vec_release(&d->bucket);
    vec_release(&d->spans);
    vec_release(&d->runs);
    free(d->starts);
    free(d->places);
    free(d->popular);
    free(d->last);
    free(d->waiting);
    free(d->span_of);
}

bool diff_write(struct buf *out, struct str from, struct str to) {
    struct diff d = {.ids = MAP_INIT(map_random_seed())};
    split(&d, &d.a, from);
    split(&d, &d.b, to);
    index_places(&d);
    bool done = find_runs(&d);
    if (done) {
        join_runs(&d);
        write_groups(out, &d);
    }
    release(&d);
    return done;
}
