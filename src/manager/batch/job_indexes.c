/*
 * Completion indexes as intervals.
 *
 * Follows k8s.io/kubernetes pkg/controller/job, func (orderedIntervals) merge,
 * func parseIndexesFromString, func firstPendingIndexes.
 */
#include "manager/batch/job_indexes_int.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/goatoi.h"

/* ---- text ---- */

/* 7 or 3-5; false when it is neither. */
static bool read_interval(struct str text, struct job__interval *out) {
    struct str first, rest, last;
    int64_t from, to;
    bool has_end = str_cut(text, '-', &first, &rest);
    str_cut(rest, '-', &last, &rest);
    if (goatoi_read(first, &from))
        return false;
    to = from;
    if (has_end && goatoi_read(last, &to))
        return false;
    if (from < 0 || from > INT32_MAX || to < from)
        return false;
    *out = (struct job__interval){(int32_t)from, to < INT32_MAX ? (int32_t)to : INT32_MAX};
    return true;
}

struct job__indexes job__indexes_parse(struct arena *a, struct str text, int32_t completions) {
    struct job__indexes out = {0};
    size_t most = 1;
    for (size_t i = 0; i < text.n; i++)
        most += text.p[i] == ',';
    if (!text.n)
        return out;
    out.v = arena_array(a, struct job__interval, most);
    for (bool more = true; more;) {
        struct str part;
        struct job__interval in;
        more = str_cut(text, ',', &part, &text);
        if (!read_interval(part, &in))
            continue;
        if (in.first >= completions)
            break;
        in.last = in.last < completions ? in.last : completions - 1;
        if (out.n && out.v[out.n - 1].last == in.first - 1)
            out.v[out.n - 1].last = in.last;
        else
            out.v[out.n++] = in;
    }
    return out;
}

struct str job__indexes_text(struct arena *a, const struct job__indexes *list) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    for (size_t i = 0; i < list->n; i++) {
        const struct job__interval *in = &list->v[i];
        buf_addf(&text, "%s%d", i ? "," : "", (int)in->first);
        if (in->last > in->first)
            buf_addf(&text, "%s%d", in->last == in->first + 1 ? "," : "-", (int)in->last);
    }
    return text.n ? arena_str(a, buf_view(&text)) : STR("");
}

/* ---- sets ---- */

int64_t job__indexes_total(const struct job__indexes *list) {
    int64_t total = 0;
    for (size_t i = 0; i < list->n; i++)
        total += list->v[i].last - list->v[i].first + 1;
    return total;
}

bool job__indexes_have(const struct job__indexes *list, int32_t index) {
    size_t lo = 0, hi = list->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (list->v[mid].last >= index)
            hi = mid;
        else
            lo = mid + 1;
    }
    return hi < list->n && list->v[hi].first <= index;
}

static void append(struct job__indexes *out, const struct job__interval *in) {
    struct job__interval *last = out->n ? &out->v[out->n - 1] : NULL;
    if (!last || in->first > last->last + 1)
        out->v[out->n++] = *in;
    else if (last->last < in->last)
        last->last = in->last;
}

struct job__indexes job__indexes_join(struct arena *a, const struct job__indexes *x,
                                      const struct job__indexes *y) {
    struct job__indexes out = {arena_array(a, struct job__interval, x->n + y->n), 0};
    size_t i = 0, k = 0;
    while (i < x->n || k < y->n)
        if (k == y->n || (i < x->n && x->v[i].first < y->v[k].first))
            append(&out, &x->v[i++]);
        else
            append(&out, &y->v[k++]);
    return out;
}

static int compare(const void *x, const void *y) {
    int32_t a = *(const int32_t *)x, b = *(const int32_t *)y;
    return (a > b) - (a < b);
}

struct job__indexes job__indexes_of(struct arena *a, int32_t *v, size_t n) {
    struct job__indexes out = {arena_array(a, struct job__interval, n), 0};
    if (n)
        qsort(v, n, sizeof *v, compare);
    for (size_t i = 0; i < n; i++)
        append(&out, &(struct job__interval){v[i], v[i]});
    return out;
}

/* Follows k8s.io/kubernetes pkg/controller/job, func matchSucceededIndexesRule. */
int64_t job__indexes_common(const struct job__indexes *x, const struct job__indexes *y) {
    int64_t sum = 0;
    for (size_t i = 0, k = 0; i < x->n && k < y->n;) {
        const struct job__interval *p = &x->v[i], *q = &y->v[k];
        int32_t first = p->first > q->first ? p->first : q->first;
        int32_t last = p->last < q->last ? p->last : q->last;
        sum += last >= first ? last - first + 1 : 0;
        i += p->last <= q->last;
        k += q->last <= p->last;
    }
    return sum;
}

int32_t *job__indexes_free(struct arena *a, const struct job__indexes *taken, int32_t completions,
                           size_t most, size_t *n) {
    int32_t *out = arena_array(a, int32_t, most), next = 0;
    *n = 0;
    for (size_t i = 0; i <= taken->n; i++) {
        int32_t end = i < taken->n ? taken->v[i].first : completions;
        for (; next < completions && next < end && *n < most; next++)
            out[(*n)++] = next;
        if (i < taken->n && next <= taken->v[i].last)
            next = taken->v[i].last + 1;
    }
    return out;
}
