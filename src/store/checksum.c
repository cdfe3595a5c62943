/* Follows the specification of XXH64 (xxHash fast digest algorithm, version 0.1.1). */
#include "store/checksum_int.h"

#include <endian.h>
#include <string.h>

#define PRIME_1 UINT64_C(0x9E3779B185EBCA87)
#define PRIME_2 UINT64_C(0xC2B2AE3D27D4EB4F)
#define PRIME_3 UINT64_C(0x165667B19E3779F9)
#define PRIME_4 UINT64_C(0x85EBCA77C2B2AE63)
#define PRIME_5 UINT64_C(0x27D4EB2F165667C5)

static uint64_t rotate(uint64_t x, unsigned n) {
    return x << n | x >> (64 - n);
}

/* Bytes as numbers, the lowest first. */
static uint64_t read_8(const char *p) {
    uint64_t x;
    memcpy(&x, p, sizeof x);
    return le64toh(x);
}

static uint64_t read_4(const char *p) {
    uint32_t x;
    memcpy(&x, p, sizeof x);
    return le32toh(x);
}

static uint64_t mix(uint64_t sum, uint64_t lane) {
    return rotate(sum + lane * PRIME_2, 31) * PRIME_1;
}

static uint64_t merge(uint64_t sum, uint64_t lane) {
    return (sum ^ mix(0, lane)) * PRIME_1 + PRIME_4;
}

/* All stripes of 32 bytes. */
static uint64_t stripes(const char *p, size_t n, uint64_t seed) {
    uint64_t a = seed + PRIME_1 + PRIME_2, b = seed + PRIME_2, c = seed, d = seed - PRIME_1;
    for (; n >= 32; n -= 32, p += 32) {
        a = mix(a, read_8(p));
        b = mix(b, read_8(p + 8));
        c = mix(c, read_8(p + 16));
        d = mix(d, read_8(p + 24));
    }
    uint64_t sum = rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18);
    return merge(merge(merge(merge(sum, a), b), c), d);
}

static uint64_t avalanche(uint64_t sum) {
    sum = (sum ^ sum >> 33) * PRIME_2;
    sum = (sum ^ sum >> 29) * PRIME_3;
    return sum ^ sum >> 32;
}

uint64_t store__checksum(struct str bytes, uint64_t seed) {
    uint64_t sum = bytes.n >= 32 ? stripes(bytes.p, bytes.n, seed) : seed + PRIME_5;
    const char *p = bytes.p + bytes.n / 32 * 32, *end = bytes.p + bytes.n;
    sum += bytes.n;
    for (; end - p >= 8; p += 8)
        sum = rotate(sum ^ mix(0, read_8(p)), 27) * PRIME_1 + PRIME_4;
    if (end - p >= 4) {
        sum = rotate(sum ^ read_4(p) * PRIME_1, 23) * PRIME_2 + PRIME_3;
        p += 4;
    }
    for (; p < end; p++)
        sum = rotate(sum ^ (unsigned char)*p * PRIME_5, 11) * PRIME_1;
    return avalanche(sum);
}

uint64_t store__checksum_words(const uint64_t *words, size_t n, uint64_t seed) {
    for (size_t i = 0; i < n; i++) {
        char bytes[8];
        for (unsigned k = 0; k < 8; k++)
            bytes[k] = (char)(words[i] >> 8 * k);
        seed = store__checksum((struct str){bytes, sizeof bytes}, seed);
    }
    return seed;
}
