/*
 * A live object and an applied one become one.
 *
 * Follows sigs.k8s.io/structured-merge-diff/v6 typed, func (TypedValue) Merge,
 * func (*mergingWalker) merge, func (*mergingWalker) visitListItems.
 */
#include <assert.h>

#include "api/managed/managed_int.h"
#include "base/map.h"

struct merger {
    struct arena *a;
    uint64_t seed; /* of maps */
};

static bool merge(struct merger *m, const struct api__shape_of *shape, const struct json *live,
                  const struct json *applied, struct json *out);

/* ---- maps ---- */

static void merge_member(struct merger *m, const struct api__shape_of *shape, struct str key,
                         const struct json *live, const struct json *applied, struct json *out) {
    struct api__shape_of member = {.form = API__ANY};
    struct json value;
    api__shape_of_member(shape, key, &member);
    if (merge(m, &member, live, applied, &value))
        json_add(m->a, out, key, value);
}

static bool merge_maps(struct merger *m, const struct api__shape_of *shape, const struct json *live,
                       const struct json *applied, struct json *out) {
    AUTO(map_release) struct map rest = MAP_INIT(m->seed);
    *out = (struct json){.kind = JSON_OBJECT};
    for (uint32_t i = 0; applied && applied->kind == JSON_OBJECT && i < applied->n; i++)
        map_put(&rest, applied->members[i].key, &applied->members[i].value);
    for (uint32_t i = 0; live && live->kind == JSON_OBJECT && i < live->n; i++) {
        const struct json_member *member = &live->members[i];
        const struct json *other = map_del(&rest, member->key);
        merge_member(m, shape, member->key, &member->value, other, out);
    }
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&rest, &at));)
        merge_member(m, shape, e->key, NULL, e->value, out);
    return out->n > 0;
}

/* ---- lists ---- */

/* The first item of that step, or -1. */
static int64_t find_item(const struct api__steps *s, const struct api__step *step) {
    uint32_t low = 0, high = s->n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (api__step_compare(s->sorted[mid], step) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    bool is_there = low < s->n && api__step_compare(s->sorted[low], step) == 0;
    return is_there ? s->sorted[low] - s->v : -1;
}

struct list_merge {
    struct merger *m;
    struct api__shape_of item;
    const struct json *live_items, *applied_items;
    struct api__steps live, applied; /* the steps to them */
    bool *done;                      /* by the places of applied items: they are in the result */
    uint32_t
        next_shared; /* place of the applied item that is next among those that are live, too */
    struct json out;
};

/* Moves on to the next applied item that is live, too. */
static void find_shared(struct list_merge *l, uint32_t from) {
    while (from < l->applied.n && find_item(&l->live, &l->applied.v[from]) < 0)
        from++;
    l->next_shared = from;
}

static void take(struct list_merge *l, const struct json *live, const struct json *applied) {
    struct json merged;
    if (merge(l->m, &l->item, live, applied, &merged))
        json_append(l->m->a, &l->out, merged);
}

/* Items that are live more than once are not merged with what is applied, but give way to it. */
static void take_applied(struct list_merge *l, uint32_t r) {
    static const struct json null;
    int64_t at = find_item(&l->live, &l->applied.v[r]);
    bool is_repeated = at >= 0 && l->live.is_repeated[at];
    l->done[r] = true;
    take(l, at < 0 ? NULL : is_repeated ? &null : &l->live_items[at], &l->applied_items[r]);
}

/*
 * Live items stay where they are, applied ones come in their own order: a live item that is
 * applied, too, waits for its turn among the applied ones. Places that are past their list are at
 * its end.
 */
static void merge_in_order(struct list_merge *l) {
    uint32_t i = 0, r = 0;
    find_shared(l, 0);
    while (i < l->live.n || r < l->applied.n) {
        const struct api__step *step = i < l->live.n ? &l->live.v[i] : NULL;
        int64_t at = step ? find_item(&l->applied, step) : -1;
        if (step && r < l->applied.n && at == r) {
            take_applied(l, r++);
            i++;
            find_shared(l, l->next_shared < l->applied.n ? l->next_shared + 1 : l->next_shared);
            continue;
        }
        if (step && r < l->applied.n && at >= 0 && l->next_shared < l->applied.n &&
            at != l->next_shared) {
            i++;
            continue;
        }
        if (step && at < 0) {
            take(l, &l->live_items[i++], NULL);
            continue;
        }
        if (step && l->done[at])
            i++;
        if (r < l->applied.n) {
            take_applied(l, r);
            if (l->next_shared == r)
                find_shared(l, r + 1);
            r++;
        }
    }
}

static bool merge_lists(struct merger *m, const struct api__shape_of *shape,
                        const struct json *live, const struct json *applied, struct json *out) {
    struct list_merge l = {.m = m, .item = api__shape_of_item(shape), .out = {.kind = JSON_ARRAY}};
    api__steps_of_items(m->a, shape, live, &l.live);
    api__steps_of_items(m->a, shape, applied, &l.applied);
    l.live_items = live && l.live.n ? live->items : NULL;
    l.applied_items = applied && l.applied.n ? applied->items : NULL;
    l.done = arena_array(m->a, bool, l.applied.n);
    merge_in_order(&l);
    *out = l.out;
    return l.out.n > 0;
}

/* ---- values ---- */

static bool merge_as(struct merger *m, const struct api__shape_of *shape, enum api__form form,
                     const struct json *live, const struct json *applied, struct json *out) {
    bool has_parts =
        !api__is_whole(shape, form) && (!api__is_vacant(live) || !api__is_vacant(applied));
    assert(applied || live);
    *out = applied ? *applied : *live;
    if (!has_parts)
        return true;
    return form == API__MAP ? merge_maps(m, shape, live, applied, out)
                            : merge_lists(m, shape, live, applied, out);
}

/* False: nothing comes of it. One of both must be there. The parser limits how deep this goes. */
static bool merge(struct merger *m, const struct api__shape_of *shape, const struct json *live,
                  const struct json *applied, struct json *out) {
    enum api__form form = api__form_of(shape, applied ? applied : live);
    return merge_as(m, shape, form, live, applied, out);
}

struct json api__merge_objects(struct arena *a, const struct api_type *type,
                               const struct json *live, const struct json *applied) {
    struct merger m = {a, map_random_seed()};
    struct api__shape_of shape = api__shape_of_type(type);
    struct json out;
    return merge(&m, &shape, live, applied, &out) ? out : (struct json){.kind = JSON_OBJECT};
}
