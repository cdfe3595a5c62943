/*
 * The set of atoms: a hash table of ids, and a column from id to atom.
 *
 * A slot holds 32 bits of the hash beside the id, so a lookup touches the slot and, when these bits
 * agree, the atom; growing and sweeping never hash a text again. The free places of the column form
 * a list that runs through the column itself.
 */
#include "intern/intern.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "intern/intern_int.h"

enum {
    FIRST_SLOTS = 64,
    FIRST_IDS = 32,
    LEAST_NEWS = 1024, /* fewer new atoms than this are not worth a sweep */
};

#define NO_ID UINT32_MAX

struct slot {
    uint32_t hash;
    uint32_t id1; /* id + 1; 0 = free */
};

/* Atoms are aligned, so the lowest bit tells a free place, which holds the next free id. */
union place {
    struct atom *atom;
    uintptr_t free;
};

struct intern {
    struct slot *slots;
    union place *places; /* by id */
    uint32_t slot_count; /* a power of two */
    uint32_t id_bound, id_cap;
    uint32_t first_free; /* id, or NO_ID */
    uint32_t live;       /* atoms */
    uint64_t seed;
    uint64_t made, freed;
    uint64_t sweep_due; /* when so many have been made */
};

static bool is_free(union place p) {
    return p.free & 1;
}

static union place free_place(uint32_t next) {
    return (union place){.free = (uintptr_t)next << 1 | 1};
}

static uint32_t next_free(union place p) {
    return (uint32_t)(p.free >> 1);
}

struct intern *intern_new(uint64_t seed) {
    struct intern *in = xcalloc(1, sizeof *in);
    in->seed = seed;
    in->slot_count = FIRST_SLOTS;
    in->slots = xcalloc(FIRST_SLOTS, sizeof *in->slots);
    in->id_cap = FIRST_IDS;
    in->places = xmalloc(FIRST_IDS * sizeof *in->places);
    in->first_free = NO_ID;
    in->sweep_due = LEAST_NEWS;
    return in;
}

static void free_atom(struct atom *a) {
    free(a->version);
    free(a);
}

void intern_free(struct intern *in) {
    if (!in)
        return;
    for (uint32_t id = 0; id < in->id_bound; id++)
        if (!is_free(in->places[id]))
            free_atom(in->places[id].atom);
    free(in->places);
    free(in->slots);
    free(in);
}

/* ---- table ---- */

/* Three quarters full is where linear probing is still short. */
static uint32_t capacity(uint32_t slot_count) {
    return slot_count / 4 * 3;
}

static void place_slot(struct slot *slots, uint32_t mask, struct slot s) {
    uint32_t at = s.hash & mask;
    while (slots[at].id1)
        at = (at + 1) & mask;
    slots[at] = s;
}

/* Moves the slots whose atoms are still there into a table of another size. */
static void rebuild_slots(struct intern *in, uint32_t slot_count) {
    struct slot *slots = xcalloc(slot_count, sizeof *slots);
    for (uint32_t i = 0; i < in->slot_count; i++) {
        struct slot s = in->slots[i];
        if (s.id1 && !is_free(in->places[s.id1 - 1]))
            place_slot(slots, slot_count - 1, s);
    }
    free(in->slots);
    in->slots = slots;
    in->slot_count = slot_count;
}

/* The atom, or NULL with *hash set for making it. */
static struct atom *find(const struct intern *in, struct str text, uint32_t *hash) {
    *hash = (uint32_t)str_hash(text, in->seed);
    uint32_t mask = in->slot_count - 1;
    for (uint32_t at = *hash & mask; in->slots[at].id1; at = (at + 1) & mask) {
        if (in->slots[at].hash != *hash)
            continue;
        struct atom *a = in->places[in->slots[at].id1 - 1].atom;
        if (str_eq(intern_text(a), text)) {
            a->state |= INTERN__TOUCHED;
            return a;
        }
    }
    return NULL;
}

/* ---- ids ---- */

static void resize_places(struct intern *in, uint32_t cap) {
    in->places = xrealloc(in->places, size_mul(cap, sizeof *in->places));
    in->id_cap = cap;
}

static uint32_t take_id(struct intern *in) {
    uint32_t id = in->first_free;
    if (id != NO_ID) {
        in->first_free = next_free(in->places[id]);
        return id;
    }
    if (in->id_bound == in->id_cap) {
        if (in->id_cap > UINT32_MAX / 4)
            BUG("more than a billion atoms");
        resize_places(in, in->id_cap * 2);
    }
    return in->id_bound++;
}

/* Strings the free places together, smallest id first, and forgets those at the end. */
static void gather_free_ids(struct intern *in) {
    while (in->id_bound && is_free(in->places[in->id_bound - 1]))
        in->id_bound--;
    in->first_free = NO_ID;
    for (uint32_t id = in->id_bound; id-- > 0;) {
        if (is_free(in->places[id])) {
            in->places[id] = free_place(in->first_free);
            in->first_free = id;
        }
    }
}

/* ---- atoms ---- */

static struct atom *make(struct intern *in, struct str text, uint32_t hash) {
    if (text.n >= UINT32_MAX)
        BUG("atom of more than 4 GiB");
    if (in->live >= capacity(in->slot_count))
        rebuild_slots(in, in->slot_count * 2);
    struct atom *a = xmalloc(sizeof *a + text.n + 1);
    *a = (struct atom){.id = take_id(in), .length = (uint32_t)text.n, .state = INTERN__NEW};
    if (text.n)
        memcpy(a->bytes, text.p, text.n);
    a->bytes[text.n] = '\0';
    in->places[a->id].atom = a;
    place_slot(in->slots, in->slot_count - 1, (struct slot){hash, a->id + 1});
    in->live++;
    in->made++;
    return a;
}

struct atom *intern_get(struct intern *in, struct str text) {
    uint32_t hash;
    struct atom *a = find(in, text, &hash);
    return a ? a : make(in, text, hash);
}

struct atom *intern_find(struct intern *in, struct str text) {
    uint32_t hash;
    return find(in, text, &hash);
}

struct atom *intern_at(const struct intern *in, uint32_t id) {
    return id < in->id_bound && !is_free(in->places[id]) ? in->places[id].atom : NULL;
}

uint32_t intern_id_bound(const struct intern *in) {
    return in->id_bound;
}

/* ---- sweep ---- */

/* Frees what is due and starts the next round for the rest. Returns how many of the rest have
 * proved their worth: they are held, or were handed out again in a round after their first. */
static size_t free_idle_atoms(struct intern *in) {
    size_t proven = 0;
    for (uint32_t id = 0; id < in->id_bound; id++) {
        if (is_free(in->places[id]))
            continue;
        struct atom *a = in->places[id].atom;
        if (a->refs || a->state & (INTERN__TOUCHED | INTERN__NEW)) {
            proven += a->refs || !(a->state & INTERN__NEW);
            a->state &= ~(uint32_t)(INTERN__TOUCHED | INTERN__NEW);
            continue;
        }
        free_atom(a);
        in->places[id] = free_place(NO_ID);
        in->live--;
        in->freed++;
    }
    return proven;
}

/* Takes freed atoms out of the tables and gives back what a peak has left behind; a quarter full is
 * where halving leaves room to grow. */
static void shrink(struct intern *in) {
    uint32_t slots = in->slot_count, ids = in->id_cap;
    while (slots > FIRST_SLOTS && in->live < capacity(slots) / 4)
        slots /= 2;
    rebuild_slots(in, slots); /* asks the places, so they come second */
    gather_free_ids(in);
    while (ids > FIRST_IDS && in->id_bound < ids / 4)
        ids /= 2;
    if (ids != in->id_cap)
        resize_places(in, ids);
}

size_t intern_sweep(struct intern *in) {
    uint64_t freed_before = in->freed;
    size_t proven = free_idle_atoms(in);
    /* A sweep walks over the proven and two rounds of new ones: after as many new ones as that, its
     * cost is spread thin. */
    in->sweep_due = in->made + LEAST_NEWS + proven;
    if (in->freed > freed_before)
        shrink(in);
    return (size_t)(in->freed - freed_before);
}

bool intern_wants_sweep(const struct intern *in) {
    return in->made >= in->sweep_due;
}

void intern_stats(const struct intern *in, struct intern_stats *out) {
    *out = (struct intern_stats){.atoms = in->live, .made = in->made, .freed = in->freed};
    out->bytes = sizeof *in + in->slot_count * sizeof *in->slots + in->id_cap * sizeof *in->places;
    for (uint32_t id = 0; id < in->id_bound; id++) {
        const struct atom *a = intern_at(in, id);
        if (!a)
            continue;
        out->held += a->refs > 0;
        out->bytes += sizeof *a + a->length + 1 + intern__version_bytes(a);
    }
}
