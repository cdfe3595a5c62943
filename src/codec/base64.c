/*
 * Base64 in quanta of four characters. What Go accepts is a little more than the RFC says (line
 * breaks anywhere, bits behind the last byte are not checked), and its errors name the byte.
 *
 * Follows std encoding/base64, func (*Encoding) Decode, func (*Encoding) decodeQuantum,
 * func (*Encoding) Encode.
 */
#include "codec/base64.h"

#include "base/ascii.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static int digit_of(char c) {
    if (ascii_is_upper(c))
        return c - 'A';
    if (ascii_is_lower(c))
        return c - 'a' + 26;
    if (ascii_is_digit(c))
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static size_t skip_breaks(struct str text, size_t at) {
    while (at < text.n && (text.p[at] == '\n' || text.p[at] == '\r'))
        at++;
    return at;
}

static int corrupt(size_t at, struct err *err) {
    return err_set(err, ERR_INVALID, "illegal base64 data at input byte %zu", at);
}

/* The padding behind `digits` digits; *at stands behind its first '='. Nothing may follow. */
static int read_padding(struct str text, int digits, size_t *at, struct err *err) {
    if (digits < 2)
        return corrupt(*at - 1, err);
    if (digits == 2) {
        *at = skip_breaks(text, *at);
        if (*at == text.n)
            return corrupt(text.n, err);
        if (text.p[*at] != '=')
            return corrupt(*at - 1, err);
        ++*at;
    }
    *at = skip_breaks(text, *at);
    return *at < text.n ? corrupt(*at, err) : 0;
}

/* Reads up to four digits into *bits: how many bytes they make, 0 at the end, -1 on error. */
static int read_quantum(struct str text, size_t *at, uint32_t *bits, struct err *err) {
    int digits = 0;
    for (*bits = 0; digits < 4;) {
        *at = skip_breaks(text, *at);
        if (*at == text.n)
            return digits ? corrupt(*at - (size_t)digits, err) : 0;
        char c = text.p[(*at)++];
        int digit = digit_of(c);
        if (digit < 0 && c != '=')
            return corrupt(*at - 1, err);
        if (digit < 0) {
            if (read_padding(text, digits, at, err) < 0)
                return -1;
            break;
        }
        *bits |= (uint32_t)digit << (18 - 6 * digits);
        digits++;
    }
    return digits - 1;
}

int base64_decode(struct arena *a, struct str text, struct str *out, struct err *err) {
    char *p = arena_alloc(a, text.n / 4 * 3 + 3);
    size_t n = 0, at = 0;
    uint32_t bits;
    int bytes;
    while ((bytes = read_quantum(text, &at, &bits, err)) > 0)
        for (; bytes > 0; bytes--, bits <<= 8)
            p[n++] = (char)(bits >> 16);
    if (bytes < 0)
        return -1;
    *out = (struct str){p, n};
    return 0;
}

void base64_write(struct buf *out, struct str bytes) {
    const unsigned char *p = (const unsigned char *)bytes.p;
    for (size_t at = 0; at < bytes.n; at += 3) {
        size_t n = bytes.n - at < 3 ? bytes.n - at : 3;
        uint32_t bits = (uint32_t)p[at] << 16;
        if (n > 1)
            bits |= (uint32_t)p[at + 1] << 8;
        if (n > 2)
            bits |= p[at + 2];
        char quantum[4] = {alphabet[bits >> 18], alphabet[bits >> 12 & 63],
                           n > 1 ? alphabet[bits >> 6 & 63] : '=',
                           n > 2 ? alphabet[bits & 63] : '='};
        buf_add(out, (struct str){quantum, sizeof quantum});
    }
}

/* ---- for URLs ---- */

/* The text in the standard alphabet, and padded. The offset of a character that is in neither is
 * returned, or text.n. */
static size_t to_standard(struct str text, char *out) {
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == '+' || c == '/' || c == '=')
            return i;
        out[i] = c == '-' ? '+' : c == '_' ? '/' : c;
    }
    memset(out + text.n, '=', 3);
    return text.n;
}

int base64_decode_url(struct arena *a, struct str text, struct str *out, struct err *err) {
    char *standard = arena_alloc(a, text.n + 3);
    size_t good = to_standard(text, standard);
    if (good < text.n)
        return corrupt(good, err);
    size_t digits = 0;
    for (size_t i = 0; i < text.n; i++)
        digits += text.p[i] != '\n' && text.p[i] != '\r';
    return base64_decode(a, (struct str){standard, text.n + (4 - digits % 4) % 4}, out, err);
}

void base64_write_url(struct buf *out, struct str bytes) {
    size_t start = out->n;
    base64_write(out, bytes);
    while (out->n > start && out->p[out->n - 1] == '=')
        out->n--;
    for (size_t i = start; i < out->n; i++)
        out->p[i] = (char)(out->p[i] == '+' ? '-' : out->p[i] == '/' ? '_' : out->p[i]);
}
