/*
 * Atoms: each distinct string once, with what it means as a number and as a version.
 *
 * Two strings are equal if and only if their atoms are the same pointer, or have the same id. Ids
 * are small and dense, and are used again after a sweep, so bitmaps and columns can be indexed by
 * them. What an atom means is worked out when first asked for and never again.
 *
 * Atoms are counted. What nobody holds is freed by intern_sweep, but not before it has been left
 * alone for a whole round: an atom that was handed out outlives the next sweep even uncounted, so
 * that values in passing need no counting. Everything here is for one thread.
 *
 * Memory per atom: 32 bytes + the text + 1, what malloc adds, 8 bytes in the column of ids and 11
 * to 21 in the hash table; a version that was asked for takes 72 bytes more, and its pre-release.
 */
#ifndef INTERN_INTERN_H
#define INTERN_INTERN_H

#include <assert.h>

#include "base/err.h"
#include "base/str.h"
#include "semver/semver.h"

struct intern;

/* A text read as a version. What the version points to stands behind it in the same block. */
struct intern__version {
    struct semver_key key;
    struct semver semver;
};

/* Read the id and use the functions for the rest. */
struct atom {
    uint32_t id;
    uint32_t refs;
    uint32_t length;
    uint32_t state; /* INTERN__* below */
    int64_t number;
    struct intern__version *version; /* owned; NULL until asked for, or when it is none */
    char bytes[];                    /* the text and a NUL */
};

enum {
    INTERN__NEW = 1,      /* made since the last sweep */
    INTERN__TOUCHED = 2,  /* handed out since the last sweep, after it was made */
    INTERN__NUMBER = 4,   /* read as a number; the next two say with what success */
    INTERN__DECIMAL = 8,  /* is a canonical decimal */
    INTERN__INTEGER = 16, /* is an integer to strconv.ParseInt */
    INTERN__VERSION = 32, /* read as a version */
};

/* An empty set of atoms. The seed keeps outsiders from choosing colliding texts; nothing observable
 * depends on it. Free with intern_free. */
struct intern *intern_new(uint64_t seed);

/* Frees the set and all atoms, whoever holds them. */
void intern_free(struct intern *in);

/* The atom of a text, made if need be; the text is copied. Valid until the second sweep from now,
 * and for as long as it is counted. */
struct atom *intern_get(struct intern *in, struct str text);

/* The atom of a text if there is one, else NULL; handed out as by intern_get. */
struct atom *intern_find(struct intern *in, struct str text);

/* The atom with this id, or NULL; not handed out: it may go with the next sweep. */
struct atom *intern_at(const struct intern *in, uint32_t id);

/* One more than the largest id in use. */
uint32_t intern_id_bound(const struct intern *in);

/* Counts a holder; returns the atom. */
static inline struct atom *intern_ref(struct atom *a) {
    a->refs++;
    return a;
}

/* Counts a holder off; the atom is freed by a later sweep. NULL is fine. */
static inline void intern_unref(struct atom *a) {
    if (!a)
        return;
    assert(a->refs > 0);
    a->refs--;
}

/* The atom's text, with a NUL behind it; lives as long as the atom. */
static inline struct str intern_text(const struct atom *a) {
    return (struct str){a->bytes, a->length};
}

/* Behind the getters: reads the text. */
void intern__read_number(struct atom *a);
void intern__read_version(struct atom *a);

/*
 * The text as Lt and Gt of tolerations read it: a decimal in canonical form ("-5", "0"; not "+5",
 * "05", "-0") that fits int64. False, and *out untouched, when it is not.
 */
static inline bool intern_decimal(struct atom *a, int64_t *out) {
    if (!(a->state & INTERN__NUMBER))
        intern__read_number(a);
    if (!(a->state & INTERN__DECIMAL))
        return false;
    *out = a->number;
    return true;
}

/* The text as Gt and Lt of node affinity read it: strconv.ParseInt(text, 10, 64), which takes '+'
 * and leading zeros. False, and *out untouched, when it is not. */
static inline bool intern_integer(struct atom *a, int64_t *out) {
    if (!(a->state & INTERN__NUMBER))
        intern__read_number(a);
    if (!(a->state & INTERN__INTEGER))
        return false;
    *out = a->number;
    return true;
}

/* The text as SemverLt, SemverGt and SemverEq read it, or NULL when it is no version; lives as long
 * as the atom. */
static inline const struct semver *intern_version(struct atom *a) {
    if (!(a->state & INTERN__VERSION))
        intern__read_version(a);
    return a->version ? &a->version->semver : NULL;
}

/* The first word of that version's key. False, and *out untouched, when there is none. */
static inline bool intern_version_word(struct atom *a, uint64_t *out) {
    if (!intern_version(a))
        return false;
    *out = a->version->key.words[0];
    return true;
}

/* Precedence of two texts that intern_version has read as versions, when so many words of their
 * keys are known to be equal: -1, 0, 1. */
static inline int intern_version_cmp(const struct atom *a, const struct atom *b, size_t equal) {
    for (size_t i = equal; i < SEMVER_KEY_WORDS; i++) {
        uint64_t x = a->version->key.words[i], y = b->version->key.words[i];
        if (x != y || !(x & SEMVER_KEY_MORE))
            return (x > y) - (x < y);
    }
    return semver_cmp(&a->version->semver, &b->version->semver);
}

/* Why the text is not a decimal, an integer, a version, in upstream's words: -1 and err filled, or
 * 0 when it is one. Worked out anew at each call: explanations are rare, their texts are long. */
int intern_explain_decimal(const struct atom *a, struct err *err);
int intern_explain_integer(const struct atom *a, struct err *err);
int intern_explain_version(const struct atom *a, struct err *err);

/* Frees atoms that nobody holds and that were not handed out since the last sweep; returns how
 * many. Their ids are used again, the smallest first. Takes time in proportion to the atoms. */
size_t intern_sweep(struct intern *in);

/* Have so many atoms been made since the last sweep that another is worth its time? Sweeping
 * whenever this holds costs a constant time per atom made. */
bool intern_wants_sweep(const struct intern *in);

struct intern_stats {
    size_t atoms;         /* there now */
    size_t held;          /* of them with a holder */
    size_t bytes;         /* asked of malloc, tables included */
    uint64_t made, freed; /* ever */
};

/* Figures for metrics; takes time in proportion to the atoms. */
void intern_stats(const struct intern *in, struct intern_stats *out);

#endif
