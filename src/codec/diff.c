/*
 * What differs between two texts, line by line. As in Python's difflib, lines that stand often in a
 * long text do not start a run.
 *
 * Follows github.com/pmezard/go-difflib difflib, func (*SequenceMatcher) GetGroupedOpCodes,
 * func WriteUnifiedDiff.
 */
#include "codec/diff.h"

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
    size_t a, b, n;
};

/* Lines from a1 to before a2 of the one text, and from b1 to before b2 of the other. */
struct span {
    size_t a1, a2, b1, b2;
};

/* A run that ends in a row; only that of the row before counts. */
struct end {
    size_t row, n;
};

struct diff {
    struct map ids; /* number of a line + 1, by its text */
    struct lines a, b;
    size_t id_count;
    size_t *starts;      /* of the places in b of each line: places[starts[id] .. starts[id + 1]) */
    uint32_t *places;    /* in ascending order */
    bool *popular;       /* by number: the line stands too often in b to start a run */
    struct end *ends[2]; /* of runs, by the line of b behind them: for even and for odd rows */
    size_t row;          /* the line of a that is looked at, counted over all searches */
    size_t steps;        /* taken so far */
    VEC(struct run) runs;
    VEC(struct span) spans;
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
    d->ends[0] = xcalloc(d->b.id.n + 1, sizeof **d->ends);
    d->ends[1] = xcalloc(d->b.id.n + 1, sizeof **d->ends);
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

/* ---- runs ---- */

/* Of all runs in the span that end with a[i], the first longest one replaces a shorter one. */
static void look_at_row(struct diff *d, const struct span *s, size_t i, struct run *best) {
    uint32_t id = d->a.id.v[i];
    const struct end *before = d->ends[(d->row + 1) % 2];
    struct end *now = d->ends[d->row % 2];
    for (size_t p = d->starts[id]; p < d->starts[id + 1] && !d->popular[id]; p++, d->steps++) {
        size_t j = d->places[p];
        if (j < s->b1 || j >= s->b2)
            continue;
        size_t n = before[j].row + 1 == d->row ? before[j].n + 1 : 1;
        now[j + 1] = (struct end){d->row, n};
        if (n > best->n)
            *best = (struct run){i + 1 - n, j + 1 - n, n};
    }
}

static bool same_line(const struct diff *d, size_t a, size_t b) {
    return d->a.id.v[a] == d->b.id.v[b];
}

/* The longest run in the span, of those the one that starts first; lines that stand often lengthen
 * it, but do not start it. */
static struct run find_longest(struct diff *d, const struct span *s) {
    struct run best = {s->a1, s->b1, 0};
    d->row++; /* no run goes on from the search before */
    for (size_t i = s->a1; i < s->a2; i++) {
        d->row++;
        d->steps++;
        look_at_row(d, s, i, &best);
    }
    while (best.a > s->a1 && best.b > s->b1 && same_line(d, best.a - 1, best.b - 1))
        best = (struct run){best.a - 1, best.b - 1, best.n + 1};
    while (best.a + best.n < s->a2 && best.b + best.n < s->b2 &&
           same_line(d, best.a + best.n, best.b + best.n))
        best.n++;
    return best;
}

static void push_span(struct diff *d, struct span s) {
    if (s.a1 < s.a2 && s.b1 < s.b2)
        vec_push(&d->spans, s);
}

static int by_place(const void *a, const void *b) {
    const struct run *x = a, *y = b;
    return (x->a > y->a) - (x->a < y->a);
}

/* All runs in order. False: it would take too long. */
static bool find_runs(struct diff *d) {
    push_span(d, (struct span){0, d->a.id.n, 0, d->b.id.n});
    while (d->spans.n) {
        struct span s = d->spans.v[--d->spans.n];
        struct run run = find_longest(d, &s);
        if (d->steps > LIMIT_DIFF_STEPS)
            return false;
        if (!run.n)
            continue;
        vec_push(&d->runs, run);
        push_span(d, (struct span){s.a1, run.a, s.b1, run.b});
        push_span(d, (struct span){run.a + run.n, s.a2, run.b + run.n, s.b2});
    }
    if (d->runs.n)
        qsort(d->runs.v, d->runs.n, sizeof *d->runs.v, by_place);
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
    vec_push(&d->runs, (struct run){d->a.id.n, d->b.id.n, 0});
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
    vec_release(&d->runs);
    vec_release(&d->spans);
    free(d->starts);
    free(d->places);
    free(d->popular);
    free(d->ends[0]);
    free(d->ends[1]);
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
