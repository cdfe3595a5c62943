/*
 * Long lists of tolerations: which one matches a taint first, without asking all of them.
 *
 * Tolerations of one key, effect and operator are a group. What an earlier one of a group matches
 * as well is left out: of Gt a threshold that is not below all before it, of Equal a value that was
 * there. What remains of Lt and Gt matches ever more, so the first that matches is found by
 * halves, and Equal by its value. A taint asks at most 28 groups. Expressions are asked one by one,
 * each text once.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "match/match_int.h"

struct group {
    uint32_t key, effect; /* id of the atom + 1; 0: any */
    uint8_t way;          /* enum match_way */
    int8_t order;         /* enum match__order */
    uint32_t first, n;    /* places[first .. first + n) */
};

struct match__index {
    struct group *groups; /* by key, effect, way, order */
    uint32_t group_count, expression_count;
    uint32_t *places, *expressions;
};

/* A toleration in the making of an index. */
struct entry {
    const struct match_toleration *t;
    uint32_t place;
    struct group group;
};

/* ---- making ---- */

static int cmp_u32(uint32_t a, uint32_t b) {
    return (a > b) - (a < b);
}

static int cmp_groups(const struct group *a, const struct group *b) {
    int order = cmp_u32(a->key, b->key);
    order = order ? order : cmp_u32(a->effect, b->effect);
    order = order ? order : a->way - b->way;
    return order ? order : a->order - b->order;
}

/* Of operators that ask for a value, entries are sorted by it; of the others as they stand. */
static int cmp_entries(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    int order = cmp_groups(&x->group, &y->group);
    if (!order && x->group.order == MATCH__SAME)
        order = match__cmp_thresholds(x->t, y->t);
    return order ? order : cmp_u32(x->place, y->place);
}

static int cmp_expressions(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    int order = cmp_u32(x->t->expression->id, y->t->expression->id);
    return order ? order : cmp_u32(x->place, y->place);
}

static int cmp_places(const void *a, const void *b) {
    return cmp_u32(*(const uint32_t *)a, *(const uint32_t *)b);
}

static struct group group_of(const struct match_toleration *t) {
    return (struct group){.key = t->key ? t->key->id + 1 : 0,
                          .effect = t->effect ? t->effect->id + 1 : 0,
                          .way = t->way,
                          .order = t->order};
}

/* Does the group's last entry match all that this one matches? */
static bool is_covered(const struct match_toleration *last, const struct match_toleration *t) {
    int order = match__cmp_thresholds(t, last);
    return t->order == MATCH__SAME ? order == 0 : t->order == MATCH__LESS ? order <= 0 : order >= 0;
}

static void add_entry(struct match__index *index, const struct match_tolerations *list,
                      const struct entry *e) {
    struct group *last = index->groups + index->group_count - (index->group_count > 0);
    uint32_t end = last->first + last->n;
    if (!index->group_count || cmp_groups(last, &e->group) != 0) {
        last = &index->groups[index->group_count++];
        *last = e->group;
        last->first = end;
    } else if (is_covered(&list->v[index->places[end - 1]], e->t)) {
        return;
    }
    index->places[end] = e->place;
    last->n++;
}

static void add_expressions(struct match__index *index, struct entry *entries, size_t n) {
    qsort(entries, n, sizeof *entries, cmp_expressions);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || entries[i].t->expression != entries[i - 1].t->expression)
            index->expressions[index->expression_count++] = entries[i].place;
    qsort(index->expressions, index->expression_count, sizeof *index->expressions, cmp_places);
}

struct match__index *match__index_new(const struct match_tolerations *list) {
    struct entry *entries = xcalloc(list->n, sizeof *entries);
    struct match__index *index = xcalloc(1, sizeof *index);
    size_t n = 0, end = list->n; /* operators from the start, expressions from the end */
    index->groups = xcalloc(list->n, sizeof *index->groups);
    index->places = xcalloc(list->n, sizeof *index->places);
    index->expressions = xcalloc(list->n, sizeof *index->expressions);
    for (uint32_t i = 0; i < list->n; i++) {
        const struct match_toleration *t = &list->v[i];
        if (t->expression && t->program)
            entries[--end] = (struct entry){.t = t, .place = i};
        else if (!t->expression && t->order != MATCH__NEVER)
            entries[n++] = (struct entry){t, i, group_of(t)};
    }
    qsort(entries, n, sizeof *entries, cmp_entries);
    for (size_t i = 0; i < n; i++)
        add_entry(index, list, &entries[i]);
    add_expressions(index, entries + end, list->n - end);
    free(entries);
    return index;
}

void match__index_free(struct match__index *index) {
    if (!index)
        return;
    free(index->groups);
    free(index->places);
    free(index->expressions);
    free(index);
}

/* ---- asking ---- */

static uint32_t least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

/* The first of the group that matches, or MATCH_NONE. What the halves are told apart by is whether
 * a toleration matches, or stands behind the taint's value. */
static uint32_t find_in_group(const struct match__index *index, const struct group *g,
                              const struct match_tolerations *list,
                              const struct match_taint *taint) {
    const uint32_t *places = index->places + g->first;
    uint32_t low = 0, high = g->n;
    if (!(taint->mark.ways >> g->way & 1))
        return MATCH_NONE;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = match__cmp_values(&list->v[places[middle]], taint);
        if (g->order == MATCH__SAME ? order <= 0 : order == g->order)
            high = middle;
        else
            low = middle + 1;
    }
    bool found = low < g->n && match_tolerates(&list->v[places[low]], taint);
    return found ? places[low] : MATCH_NONE;
}

/* Of the groups with this key and effect. */
static uint32_t find_in_groups(const struct match__index *index, const struct group *want,
                               const struct match_tolerations *list,
                               const struct match_taint *taint) {
    uint32_t low = 0, high = index->group_count, found = MATCH_NONE;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct group *g = &index->groups[middle];
        int order = cmp_u32(g->key, want->key);
        if ((order ? order : cmp_u32(g->effect, want->effect)) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < index->group_count; low++) {
        const struct group *g = &index->groups[low];
        if (g->key != want->key || g->effect != want->effect)
            break;
        found = least(found, find_in_group(index, g, list, taint));
    }
    return found;
}

uint32_t match__index_find(const struct match__index *index, const struct match_tolerations *list,
                           const struct match_taint *taint) {
    const struct group wants[] = {
        {.key = taint->key->id + 1, .effect = taint->effect->id + 1},
        {.key = taint->key->id + 1},
        {.effect = taint->effect->id + 1},
        {.key = 0},
    };
    uint32_t found = MATCH_NONE;
    for (size_t i = 0; i < sizeof wants / sizeof *wants; i++)
        found = least(found, find_in_groups(index, &wants[i], list, taint));
    for (uint32_t i = 0; i < index->expression_count && index->expressions[i] < found; i++)
        if (match_tolerates(&list->v[index->expressions[i]], taint))
            return index->expressions[i];
    return found;
}
