/*
 * Lists of amounts.
 *
 * Follows k8s.io/apiserver pkg/quota/v1, func Add, func SubtractWithNonNegativeResult, func Mask,
 * func RemoveZeros, func Equals.
 */
#include <stdlib.h>

#include "registry/quota/quota_int.h"

static int compare(const void *name, const void *entry) {
    return str_cmp(*(const struct str *)name, ((const struct api_quantity *)entry)->key);
}

const struct quantity *registry__amount_find(const struct api_quantities *list, struct str name) {
    const struct api_quantity *e =
        list->n ? bsearch(&name, list->v, list->n, sizeof *list->v, compare) : NULL;
    return e ? &e->value : NULL;
}

bool registry__amounts_equal(const struct api_quantities *a, const struct api_quantities *b) {
    for (size_t i = 0; i < a->n && i < b->n; i++)
        if (!str_eq(a->v[i].key, b->v[i].key) || quantity_cmp(&a->v[i].value, &b->v[i].value))
            return false;
    return a->n == b->n;
}

static int compare_entries(const void *a, const void *b) {
    const struct api_quantity *x = a, *y = b;
    return str_cmp(x->key, y->key);
}

void registry__amounts_sort(struct api_quantities *list) {
    size_t n = 0;
    if (list->n)
        qsort(list->v, list->n, sizeof *list->v, compare_entries);
    for (size_t i = 0; i < list->n; i++) {
        bool repeats = n && str_eq(list->v[n - 1].key, list->v[i].key);
        n -= repeats;
        list->v[n++] = list->v[i];
    }
    list->n = n;
}

/* What becomes of the amounts of one name, of which one may be NULL. */
typedef struct quantity join_fn(struct arena *arena, const struct quantity *a,
                                const struct quantity *b);

/* Walks both lists side by side. */
static struct api_quantities join(struct arena *arena, const struct api_quantities *a,
                                  const struct api_quantities *b, join_fn *fn) {
    struct api_quantities out = {arena_array(arena, struct api_quantity, a->n + b->n), 0};
    size_t i = 0, k = 0;
    while (i < a->n || k < b->n) {
        int c = i == a->n ? 1 : k == b->n ? -1 : str_cmp(a->v[i].key, b->v[k].key);
        out.v[out.n++] = (struct api_quantity){
            c <= 0 ? a->v[i].key : b->v[k].key,
            fn(arena, c <= 0 ? &a->v[i].value : NULL, c >= 0 ? &b->v[k].value : NULL)};
        i += c <= 0;
        k += c >= 0;
    }
    return out;
}

/* A sum that is too long to write down keeps its first part. */
static struct quantity sum(struct arena *arena, const struct quantity *a,
                           const struct quantity *b) {
    struct quantity q = a ? *a : *b;
    if (a && b)
        (void)quantity_add(arena, a, b, &q, NULL);
    return q;
}

static struct quantity growth(struct arena *arena, const struct quantity *a,
                              const struct quantity *b) {
    struct quantity q = a ? *a : (struct quantity){0};
    if (a && b)
        (void)quantity_sub(arena, a, b, &q, NULL);
    return quantity_sign(&q) > 0 ? q : quantity_of_i64(0, QUANTITY_DECIMAL_SI);
}

struct api_quantities registry__amounts_add(struct arena *arena, const struct api_quantities *a,
                                            const struct api_quantities *b) {
    return join(arena, a, b, sum);
}

void registry__amounts_join(struct arena *arena, struct api_quantities *list,
                            const struct api_quantities *more) {
    for (size_t i = 0; list->n && i < more->n; i++) {
        struct api_quantity *e =
            bsearch(&more->v[i].key, list->v, list->n, sizeof *list->v, compare);
        if (!e)
            continue;
        struct quantity total = sum(arena, &e->value, &more->v[i].value);
        e->value = total.dec ? quantity_copy(arena, &total) : total;
    }
}

struct api_quantities registry__amounts_grown(struct arena *arena, const struct api_quantities *a,
                                              const struct api_quantities *b) {
    return join(arena, a, b, growth);
}

struct api_quantities registry__amounts_mask(struct arena *arena, const struct api_quantities *list,
                                             const struct api_quantities *names) {
    struct api_quantities out = {arena_array(arena, struct api_quantity, list->n), 0};
    for (size_t i = 0; i < list->n; i++)
        if (registry__amount_find(names, list->v[i].key))
            out.v[out.n++] = list->v[i];
    return out;
}

struct api_quantities registry__amounts_nonzero(struct arena *arena,
                                                const struct api_quantities *list) {
    struct api_quantities out = {arena_array(arena, struct api_quantity, list->n), 0};
    for (size_t i = 0; i < list->n; i++)
        if (quantity_sign(&list->v[i].value))
            out.v[out.n++] = list->v[i];
    return out;
}

struct str registry__amounts_text(struct arena *arena, const struct api_quantities *list) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    for (size_t i = 0; i < list->n; i++) {
        buf_add(&text, i ? STR(",") : STR(""));
        buf_add(&text, list->v[i].key);
        buf_add_char(&text, '=');
        quantity_write(&text, &list->v[i].value);
    }
    return arena_str(arena, buf_view(&text));
}
