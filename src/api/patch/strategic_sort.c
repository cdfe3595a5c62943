/*
 * Go's stable sort, step by step: upstream's comparison contradicts itself where an item has no
 * place in the wanted order, and what comes of that depends on who is compared with whom.
 *
 * Follows std sort, func stable_func, func insertionSort_func, func symMerge_func,
 * func rotate_func.
 */
#include "api/patch/strategic_int.h"

enum { BLOCK = 20 };

static bool is_less(const struct api__ranked *a, const struct api__ranked *b) {
    return a->rank < 0 || b->rank < 0 || a->rank < b->rank;
}

static void swap(struct api__ranked *v, size_t i, size_t j) {
    struct api__ranked kept = v[i];
    v[i] = v[j];
    v[j] = kept;
}

static void sort_block(struct api__ranked *v, size_t a, size_t b) {
    for (size_t i = a + 1; i < b; i++)
        for (size_t j = i; j > a && is_less(&v[j], &v[j - 1]); j--)
            swap(v, j, j - 1);
}

/* Makes [m, b) stand in front of [a, m). */
static void rotate(struct api__ranked *v, size_t a, size_t m, size_t b) {
    size_t i = m - a, j = b - m;
    while (i != j) {
        bool left = i > j;
        for (size_t k = 0, n = left ? j : i; k < n; k++)
            swap(v, m - i + k, left ? m + k : m + j - i + k);
        if (left)
            i -= j;
        else
            j -= i;
    }
    for (size_t k = 0; k < i; k++)
        swap(v, m - i + k, m + k);
}

/* The first of [m, b) that the item at a may stand in front of; and likewise for the item at m. */
static void insert_first(struct api__ranked *v, size_t a, size_t m, size_t b) {
    size_t i = m, j = b;
    while (i < j) {
        size_t half = i + (j - i) / 2;
        if (is_less(&v[half], &v[a]))
            i = half + 1;
        else
            j = half;
    }
    for (size_t k = a; k + 1 < i; k++)
        swap(v, k, k + 1);
}

static void insert_last(struct api__ranked *v, size_t a, size_t m) {
    size_t i = a, j = m;
    while (i < j) {
        size_t half = i + (j - i) / 2;
        if (!is_less(&v[m], &v[half]))
            i = half + 1;
        else
            j = half;
    }
    for (size_t k = m; k > i; k--)
        swap(v, k, k - 1);
}

/* Merges the sorted [a, m) and [m, b), none of which is empty. Goes as deep as the logarithm. */
static void merge(struct api__ranked *v, size_t a, size_t m, size_t b) {
    if (m - a == 1 || b - m == 1) {
        if (m - a == 1)
            insert_first(v, a, m, b);
        else
            insert_last(v, a, m);
        return;
    }
    size_t mid = a + (b - a) / 2, n = mid + m;
    size_t start = m > mid ? n - b : a, end = m > mid ? mid : m;
    while (start < end) {
        size_t c = start + (end - start) / 2;
        if (!is_less(&v[n - 1 - c], &v[c]))
            start = c + 1;
        else
            end = c;
    }
    end = n - start;
    if (start < m && m < end)
        rotate(v, start, m, end);
    if (a < start && start < mid)
        merge(v, a, start, mid);
    if (mid < end && end < b)
        merge(v, mid, end, b);
}

void api__sort_ranked(struct api__ranked *v, size_t n) {
    for (size_t a = 0; a < n; a += BLOCK)
        sort_block(v, a, a + BLOCK < n ? a + BLOCK : n);
    for (size_t size = BLOCK; size < n; size *= 2)
        for (size_t a = 0; a + size < n; a += 2 * size)
            merge(v, a, a + size, a + 2 * size < n ? a + 2 * size : n);
}
