#include "api/labels.h"

#include <stdlib.h>

#include "codec/json.h"

enum { FEW = 16 }; /* labels that are searched one by one */

static int by_key(const void *a, const void *b) {
    return str_cmp(((const struct label *)a)->key, ((const struct label *)b)->key);
}

void labels_sort(struct labels *labels) {
    if (labels->n > 1)
        qsort(labels->v, labels->n, sizeof *labels->v, by_key);
}

/* Lengths mostly tell keys apart: for a few of them that beats finding out which is smaller. */
static const struct label *scan(const struct labels *labels, size_t *at, struct str key) {
    for (size_t i = *at; i < labels->n; i++) {
        if (labels->v[i].key.n == key.n && str_eq(labels->v[i].key, key)) {
            *at = i;
            return &labels->v[i];
        }
    }
    return NULL;
}

const struct label *labels_next(const struct labels *labels, size_t *at, struct str key) {
    size_t low = *at, high = labels->n;
    if (high - low <= FEW)
        return scan(labels, at, key);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = str_cmp(labels->v[middle].key, key);
        if (order == 0) {
            *at = middle;
            return &labels->v[middle];
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *at = low;
    return NULL;
}

const struct label *labels_find(const struct labels *labels, struct str key) {
    size_t at = 0;
    return labels_next(labels, &at, key);
}

bool labels_equal(const struct labels *a, const struct labels *b) {
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (!str_eq(a->v[i].key, b->v[i].key) || !str_eq(a->v[i].value, b->v[i].value))
            return false;
    return true;
}

static bool are_in_order(const struct label *v, size_t n) {
    for (size_t i = 1; i < n; i++)
        if (str_cmp(v[i - 1].key, v[i].key) >= 0)
            return false;
    return true;
}

/* Both point into one list: of the same key, the later one stands behind. */
static int by_key_then_place(const void *a, const void *b) {
    const struct label *x = *(const struct label *const *)a, *y = *(const struct label *const *)b;
    int order = str_cmp(x->key, y->key);
    return order ? order : (x > y) - (x < y);
}

/* The same labels in order, the last of each key. */
static struct labels in_order(struct arena *a, const struct label *v, size_t n) {
    const struct label **sorted = arena_array(a, const struct label *, n);
    struct labels out = {arena_array(a, struct label, n), 0};
    for (size_t i = 0; i < n; i++)
        sorted[i] = &v[i];
    qsort(sorted, n, sizeof *sorted, by_key_then_place);
    for (size_t i = 0; i < n; i++)
        if (i + 1 == n || !str_eq(sorted[i]->key, sorted[i + 1]->key))
            out.v[out.n++] = *sorted[i];
    return out;
}

void labels_merge(struct arena *a, struct labels *labels, const struct label *v, size_t n) {
    struct labels sorted = {0}, grown = {0};
    size_t i = 0, k = 0, old = labels->v ? labels->n : 0;
    if (!n)
        return;
    if (!are_in_order(v, n)) {
        sorted = in_order(a, v, n);
        v = sorted.v;
        n = sorted.n;
    }
    grown.v = arena_array(a, struct label, old + n);
    while (i < old || k < n) {
        int c = i == old ? 1 : k == n ? -1 : str_cmp(labels->v[i].key, v[k].key);
        grown.v[grown.n++] = c < 0 ? labels->v[i] : v[k];
        i += c <= 0;
        k += c >= 0;
    }
    *labels = grown;
}

void labels_put(struct arena *a, struct labels *labels, struct label label) {
    labels_merge(a, labels, &label, 1);
}

struct labels labels_copy(struct arena *a, const struct labels *labels) {
    struct labels out = {arena_array(a, struct label, labels->n), labels->n};
    for (size_t i = 0; i < out.n; i++)
        out.v[i] = (struct label){arena_str(a, labels->v[i].key), arena_str(a, labels->v[i].value)};
    return out;
}

void labels_remove(struct arena *a, struct labels *labels, struct str key) {
    struct labels old = *labels;
    if (!labels_find(&old, key))
        return;
    *labels = (struct labels){arena_array(a, struct label, old.n), 0};
    for (size_t i = 0; i < old.n; i++)
        if (!str_eq(old.v[i].key, key))
            labels->v[labels->n++] = old.v[i];
}

int labels_from_json(struct arena *a, const struct json *object, struct labels *out,
                     struct err *err) {
    *out = (struct labels){0};
    if (!object || object->kind == JSON_NULL)
        return 0;
    if (object->kind != JSON_OBJECT)
        return err_set(err, ERR_INVALID, "labels must be an object of strings");
    struct labels labels = {arena_array(a, struct label, object->n), object->n};
    for (size_t i = 0; i < labels.n; i++) {
        const struct json_member *m = &object->members[i];
        bool is_null = m->value.kind == JSON_NULL;
        if (m->value.kind != JSON_STRING && !is_null)
            return err_set(err, ERR_INVALID, "label '%.*s' is not a string", STR_ARG(m->key));
        labels.v[i] = (struct label){m->key, is_null ? STR("") : json_str(&m->value)};
    }
    labels_sort(&labels);
    *out = labels;
    return 0;
}

/* -1 or +1 for the sign at the start of *s, which is taken off. */
static int take_sign(struct str *s) {
    char c = s->n ? s->p[0] : '\0';
    if (c == '-' || c == '+')
        *s = str_sub(*s, 1, s->n);
    return c == '-' ? -1 : 1;
}

bool labels_value_to_i64(struct str value, int64_t *out) {
    int sign = take_sign(&value);
    if (value.n == 0)
        return false;
    int64_t sum = 0;
    for (size_t i = 0; i < value.n; i++) {
        int digit = value.p[i] - '0';
        if (digit < 0 || digit > 9 || __builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_add_overflow(sum, sign * digit, &sum))
            return false;
    }
    *out = sum;
    return true;
}

const char *labels_value_fault(struct str value) {
    uint64_t sum = 0;
    take_sign(&value);
    for (size_t i = 0; i < value.n; i++) {
        int digit = value.p[i] - '0';
        if (digit < 0 || digit > 9)
            return "invalid syntax";
        if (__builtin_mul_overflow(sum, 10, &sum) || __builtin_add_overflow(sum, digit, &sum))
            break;
    }
    return value.n ? "value out of range" : "invalid syntax";
}
