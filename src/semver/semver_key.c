/*
 * Keys of versions: a version as a string of bits whose order is the order of versions.
 *
 * A number is a prefix that tells its width, and that many bits. A text is six bits a character, in
 * the order of bytes, and six zeros. After the three numbers one bit tells releases from
 * pre-releases; before each identifier one bit tells texts from numbers, and behind it one bit
 * tells whether another follows. No such string is the beginning of another, so when the keys of
 * two versions agree, either both end within the key and are equal, or both were cut off.
 */
#include "semver/semver.h"

enum { WORD_BITS = 63 }; /* the last bit of a word says whether there was more */

struct bits {
    struct semver_key key;
    unsigned word, room; /* being filled, and its free bits */
};

/* Appends the lowest `width` bits, up to 64, of a value that has no others. */
static void put(struct bits *b, uint64_t value, unsigned width) {
    while (width > 0) {
        if (b->room == 0) {
            b->key.words[b->word] |= SEMVER_KEY_MORE;
            if (b->word + 1 == SEMVER_KEY_WORDS)
                return;
            b->word++;
            b->room = WORD_BITS;
        }
        unsigned part = width < b->room ? width : b->room;
        width -= part;
        b->room -= part;
        b->key.words[b->word] |= value >> width << (b->room + 1);
        value &= (UINT64_C(1) << width) - 1;
    }
}

static bool is_full(const struct bits *b) {
    return b->key.words[SEMVER_KEY_WORDS - 1] & SEMVER_KEY_MORE;
}

static void put_number(struct bits *b, uint64_t number) {
    static const struct {
        uint64_t most;
        unsigned prefix, prefix_width, width;
    } forms[] = {
        {15, 0, 1, 4},           {UINT8_MAX, 2, 2, 8},    {UINT16_MAX, 6, 3, 16},
        {UINT32_MAX, 14, 4, 32}, {UINT64_MAX, 15, 4, 64},
    };
    size_t i = 0;
    while (number > forms[i].most)
        i++;
    put(b, forms[i].prefix, forms[i].prefix_width);
    put(b, number, forms[i].width);
}

/* From 1 to 63: identifiers are made of "-", digits and letters. */
static unsigned code_of(char c) {
    if (c >= 'a')
        return (unsigned)(c - 'a') + 38;
    if (c >= 'A')
        return (unsigned)(c - 'A') + 12;
    return c == '-' ? 1 : (unsigned)(c - '0') + 2;
}

static void put_id(struct bits *b, const struct semver_id *id) {
    put(b, id->text != NULL, 1);
    if (!id->text) {
        put_number(b, id->number);
        return;
    }
    for (uint64_t i = 0; i < id->number && !is_full(b); i++)
        put(b, code_of(id->text[i]), 6);
    put(b, 0, 6);
}

struct semver_key semver_key_of(const struct semver *v) {
    struct bits b = {.room = WORD_BITS};
    put_number(&b, v->major);
    put_number(&b, v->minor);
    put_number(&b, v->patch);
    put(&b, v->pre_count == 0, 1);
    for (size_t i = 0; i < v->pre_count && !is_full(&b); i++) {
        put_id(&b, &v->pre[i]);
        put(&b, i + 1 < v->pre_count, 1);
    }
    return b.key;
}
