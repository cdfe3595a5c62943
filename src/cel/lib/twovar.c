/*
 * What the two-variable macros need: entries added to a map that is being built.
 *
 * Follows github.com/google/cel-go ext, func TwoVarComprehensions.
 */
#include "cel/cel_int.h"

#include "base/limits.h"

/* The map of an accumulator, and how to go on building it; `map` comes first. */
struct building {
    struct cel_map map;
    struct cel_map_builder builder;
};

/* The accumulator as something that can grow: what an insertion made, or the empty map that the
 * macros begin with. */
static struct building *grow(struct cel_eval *ev, struct cel_value accu) {
    if (accu.flag == CEL_ACCUMULATOR)
        return accu.growing;
    struct building *b = cel__alloc(ev, sizeof *b);
    if (b)
        *b = (struct building){.builder = {.ev = ev}};
    return b;
}

static struct cel_value put(struct cel_eval *ev, struct building *b, struct cel_value key,
                            struct cel_value value) {
    struct cel_map now = {b->builder.entries, b->builder.n, b->builder.slots, b->builder.index};
    if (cel__map_find(ev, &now, key)) {
        AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_CEL_ERROR_BYTES);
        cel__write_plain(ev, &text, key);
        return cel__error(ev, "insert failed: key %.*s already exists", STR_ARG(buf_view(&text)));
    }
    b->builder.ev = ev;
    return cel__map_put(&b->builder, key, value) ? cel_of_bool(true) : CEL_TOO_BIG;
}

static struct cel_value done(struct building *b) {
    b->map = (struct cel_map){b->builder.entries, b->builder.n, b->builder.slots, b->builder.index};
    struct cel_value v = cel_of_map(&b->map);
    v.flag = CEL_ACCUMULATOR;
    return v;
}

static struct cel_value insert_key(struct cel_eval *ev, const struct cel_value *args) {
    struct building *b = grow(ev, args[0]);
    if (!b)
        return CEL_TOO_BIG;
    struct cel_value r = put(ev, b, args[1], args[2]);
    return r.kind == CEL_ERROR ? r : done(b);
}

static struct cel_value insert_map(struct cel_eval *ev, const struct cel_value *args) {
    struct building *b = grow(ev, args[0]);
    if (!b)
        return CEL_TOO_BIG;
    for (uint32_t i = 0; i < args[1].map->n && cel__work(ev, CEL_WORK_ITEM); i++) {
        struct cel_value r = put(ev, b, args[1].map->entries[i].key, args[1].map->entries[i].value);
        if (r.kind == CEL_ERROR)
            return r;
    }
    return done(b);
}

static const struct cel_fn fns[] = {
    {"cel.@mapInsert", "@mapInsert_key_value", "(map(K, V), K, V) -> map(K, V)", insert_key, NULL,
     NULL, CEL_FN_INTERNAL, "the map with one entry more"},
    {"cel.@mapInsert", "@mapInsert_map", "(map(K, V), map(K, V)) -> map(K, V)", insert_map, NULL,
     NULL, CEL_FN_INTERNAL, "the map with the entries of another"},
};

const struct cel_library cel__lib_twovar = {CEL_LIB_TWOVAR, fns, sizeof fns / sizeof *fns};
