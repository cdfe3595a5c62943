/*
 * Strings are views: pointer and length, never NUL-terminated by contract.
 *
 * A view owns nothing; who owns the bytes is said where the view is stored. A NUL byte is a byte
 * like any other. p == NULL means "absent" where a field distinguishes absent from empty.
 */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
    const char *p;
    size_t n;
};

/* A view of a string literal; STR_INIT is the same for static initialisers. */
#define STR(lit) ((struct str){"" lit, sizeof(lit) - 1})
#define STR_INIT(lit) \
    { "" lit, sizeof(lit) - 1 }

/* The two arguments of "%.*s". */
#define STR_ARG(s) (int)(s).n, (s).p

/* A view of a NUL-terminated string; NULL gives the absent view. */
static inline struct str str_of(const char *cstr) {
    return (struct str){cstr, cstr ? strlen(cstr) : 0};
}

/* The 8 bytes at p as a number. */
static inline uint64_t str_word(const char *p) {
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

/* Same length and bytes? Absent equals empty. Names are short, so most need no call. */
static inline bool str_eq(struct str a, struct str b) {
    if (a.n != b.n)
        return false;
    if (a.n && (!a.p || !b.p))
        __builtin_unreachable(); /* bytes have an address */
    size_t tail = a.n - 8;       /* huge when there are fewer */
    if (tail > 8)
        return a.n == 0 || memcmp(a.p, b.p, a.n) == 0;
    return str_word(a.p) == str_word(b.p) && str_word(a.p + tail) == str_word(b.p + tail);
}

/* Is s exactly this NUL-terminated string? */
static inline bool str_is(struct str s, const char *cstr) {
    return str_eq(s, str_of(cstr));
}

/* Byte-wise order as Go's string comparison: negative, 0, positive. */
int str_cmp(struct str a, struct str b);

/* str_cmp on two `struct str`, for qsort and bsearch. */
int str_cmp_qsort(const void *a, const void *b);

bool str_starts(struct str s, struct str prefix); /* does s begin with prefix? */
bool str_ends(struct str s, struct str suffix);   /* does s end with suffix? */

/* The bytes [from, to) of s; both are clamped to its length. */
struct str str_sub(struct str s, size_t from, size_t to);

/* Index of the first byte c, or of the first occurrence of needle; STR_NONE when there is none. */
#define STR_NONE SIZE_MAX
size_t str_find_char(struct str s, char c);
size_t str_find(struct str s, struct str needle);

/* s without ASCII white space (space, \t, \n, \v, \f, \r) at both ends. */
struct str str_trim(struct str s);

/*
 * Cuts at the first byte c: *head is what stands before it, *rest what follows. Without c, *head is
 * all of s, *rest is empty, and false is returned. head and rest may point to s itself.
 */
bool str_cut(struct str s, char c, struct str *head, struct str *rest);

/*
 * Strict decimal of digits with an optional '-': false on anything else, on an empty string and on
 * overflow, and *out is untouched then. Leading zeros and '+' are refused.
 */
bool str_to_i64(struct str s, int64_t *out);

/* Seeded 64-bit hash; the seed keeps an outsider from choosing colliding keys. */
uint64_t str_hash(struct str s, uint64_t seed);

#endif
