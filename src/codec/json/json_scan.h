/*
 * Looking for the end of a run of ordinary bytes, 16 at a time with SSE2 (part of every x86-64) and
 * 8 at a time elsewhere. Nothing outside [p, end) is read.
 */
#ifndef CODEC_JSON_JSON_SCAN_H
#define CODEC_JSON_JSON_SCAN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__) && !defined(JSON_SCAN_PORTABLE)
#include <emmintrin.h>
#define JSON_SCAN_SSE2 1
#endif

#define JSON_SCAN_ONES UINT64_C(0x0101010101010101)
#define JSON_SCAN_HIGH UINT64_C(0x8080808080808080)

static inline uint64_t json__load8(const char *p) {
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* Not 0 if and only if a byte of v equals c. */
static inline uint64_t json__has_byte(uint64_t v, unsigned char c) {
    uint64_t x = v ^ (JSON_SCAN_ONES * c);
    return (x - JSON_SCAN_ONES) & ~x & JSON_SCAN_HIGH;
}

/* Not 0 if and only if a byte of v is below 0x20. */
static inline uint64_t json__has_control(uint64_t v) {
    return (v - JSON_SCAN_ONES * 0x20) & ~v & JSON_SCAN_HIGH;
}

static inline bool json__ends_plain(unsigned char c) {
    return c == '"' || c == '\\' || c < 0x20;
}

/* The first quote, backslash or control character of [p, end), or end. */
static inline const char *json__scan_string(const char *p, const char *end) {
#ifdef JSON_SCAN_SSE2
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\'),
                  control = _mm_set1_epi8(0x1F);
    for (; end - p >= 16; p += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i stops =
            _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, slash)),
                         _mm_cmpeq_epi8(_mm_min_epu8(v, control), v));
        unsigned stop = (unsigned)_mm_movemask_epi8(stops);
        if (stop)
            return p + __builtin_ctz(stop);
    }
#else
    for (; end - p >= 8; p += 8) {
        uint64_t v = json__load8(p);
        if (json__has_byte(v, '"') | json__has_byte(v, '\\') | json__has_control(v))
            break;
    }
#endif
    while (p < end && !json__ends_plain((unsigned char)*p))
        p++;
    return p;
}

static inline bool json__is_space(char c) {
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* The first byte of [p, end) that is not white space, or end. */
static inline const char *json__skip_space(const char *p, const char *end) {
    if (p < end && (unsigned char)*p > ' ')
        return p;
    while (p < end && json__is_space(*p)) {
        p++;
        /* indentation */
        while (end - p >= 8 && json__load8(p) == JSON_SCAN_ONES * ' ')
            p += 8;
    }
    return p;
}

/* How many bytes of [p, end) are the second to fourth of a UTF-8 sequence. */
static inline size_t json__count_tails(const char *p, const char *end) {
    size_t tails = 0;
#ifdef JSON_SCAN_SSE2
    const __m128i zero = _mm_setzero_si128(), last_tail = _mm_set1_epi8((char)0xC0);
    while (end - p >= 16) {
        __m128i sums = zero; /* one per column: 255 rows at the most */
        const char *rows_end = end - p < 255 * 16 ? p + ((end - p) & ~15) : p + 255 * 16;
        for (; p < rows_end; p += 16) {
            __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
            sums = _mm_sub_epi8(sums, _mm_cmplt_epi8(v, last_tail));
        }
        sums = _mm_sad_epu8(sums, zero);
        tails += (size_t)_mm_cvtsi128_si32(sums) + (size_t)_mm_extract_epi16(sums, 4);
    }
#endif
    for (; p < end; p++)
        tails += ((unsigned char)*p & 0xC0) == 0x80;
    return tails;
}

/* Must the writer do more than copy this byte? */
static inline bool json__is_special(unsigned char c, bool raw_html) {
    return json__ends_plain(c) || c >= 0x80 || (!raw_html && (c == '<' || c == '>' || c == '&'));
}

#ifdef JSON_SCAN_SSE2
/* One bit for each byte of v for which json__is_special holds. */
static inline unsigned json__special_mask(__m128i v, bool raw_html) {
    __m128i stops = _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('\\')),
                                 _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(0x1F)), v));
    if (raw_html) {
        stops = _mm_or_si128(stops, _mm_cmpeq_epi8(v, _mm_set1_epi8('"')));
    } else {
        /* '"' and '&' differ in one bit, '<' and '>' in another: one comparison for each pair */
        __m128i quote = _mm_or_si128(v, _mm_set1_epi8('"' ^ '&'));
        __m128i angle = _mm_or_si128(v, _mm_set1_epi8('<' ^ '>'));
        stops = _mm_or_si128(stops, _mm_or_si128(_mm_cmpeq_epi8(quote, _mm_set1_epi8('&')),
                                                 _mm_cmpeq_epi8(angle, _mm_set1_epi8('>'))));
    }
    return (unsigned)_mm_movemask_epi8(_mm_or_si128(stops, v));
}

/* Copies 4 to 15 bytes if all of them are plain, as two words that may overlap. */
static inline bool json__copy_short(char *to, const char *p, size_t n, bool raw_html) {
    uint64_t head, tail;
    uint32_t head4, tail4;
    if (n >= 8) {
        head = json__load8(p);
        tail = json__load8(p + n - 8);
    } else {
        memcpy(&head4, p, 4);
        memcpy(&tail4, p + n - 4, 4);
        head = tail = head4 | (uint64_t)tail4 << 32;
    }
    if (json__special_mask(_mm_set_epi64x((int64_t)tail, (int64_t)head), raw_html))
        return false;
    if (n >= 8) {
        memcpy(to, &head, 8);
        memcpy(to + n - 8, &tail, 8);
    } else {
        memcpy(to, &head4, 4);
        memcpy(to + n - 4, &tail4, 4);
    }
    return true;
}
#endif

/* The first byte of [p, end) that is not plain: a quote, backslash, control character, or not
 * ASCII; or end. */
static inline const char *json__scan_plain(const char *p, const char *end) {
#ifdef JSON_SCAN_SSE2
    for (; end - p >= 16; p += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        unsigned stop = json__special_mask(v, true);
        if (stop)
            return p + __builtin_ctz(stop);
    }
#endif
    while (p < end && !json__is_special((unsigned char)*p, true))
        p++;
    return p;
}

/* Copies bytes that need no escape from [p, end) to `to` and gives how many; `to` has room for
 * end - p bytes. Stops in front of a byte for which json__is_special holds. */
static inline size_t json__copy_plain(char *to, const char *p, const char *end, bool raw_html) {
    const char *from = p;
#ifdef JSON_SCAN_SSE2
    for (; end - p >= 16; p += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        _mm_storeu_si128((__m128i *)(void *)(to + (p - from)), v);
        unsigned stop = json__special_mask(v, raw_html);
        if (stop)
            return (size_t)(p - from) + (unsigned)__builtin_ctz(stop);
    }
    size_t rest = (size_t)(end - p);
    if (rest >= 4 && json__copy_short(to + (p - from), p, rest, raw_html))
        return (size_t)(end - from);
#endif
    for (; p < end && !json__is_special((unsigned char)*p, raw_html); p++)
        to[p - from] = *p;
    return (size_t)(p - from);
}

#endif
