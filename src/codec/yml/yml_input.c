/*
 * Bytes on their way to the scanner, which gets whole characters that YAML allows, and no more of
 * them for one event than an object may have. In a stream the lines with "---" are checked the way
 * kubectl's splitter does.
 *
 * Follows k8s.io/apimachinery pkg/util/yaml, func splitYAMLDocument.
 * Follows go.yaml.in/yaml/v2, func yaml_parser_update_buffer.
 */
#include <string.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "codec/yml/yml_scan_int.h"

enum { BYTE_ORDER_MARK = 0xFEFF };

static const char incomplete[] = "incomplete UTF-8 octet sequence";

/* Why the bytes at the start of s (s.n > 0) are not a character; go-yaml's words. */
static const char *utf8_problem(struct str s) {
    unsigned char lead = (unsigned char)s.p[0];
    size_t width = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC0 || lead >= 0xF8)
        return "invalid leading UTF-8 octet";
    for (size_t i = 1; i < width; i++) {
        if (i == s.n)
            return incomplete;
        if (((unsigned char)s.p[i] & 0xC0) != 0x80)
            return "invalid trailing UTF-8 octet";
    }
    return "invalid UTF-8 sequence";
}

static bool is_line_break(uint32_t c) {
    return c == '\n' || c == '\r' || c == 0x85 || c == 0x2028 || c == 0x2029;
}

/* The characters that YAML allows in a stream. */
static bool is_allowed(uint32_t c) {
    if (c < 0x20)
        return c == '\t' || c == '\n' || c == '\r';
    return c < 0x7F || c == 0x85 || (c >= 0xA0 && c <= 0xFFFD) || c >= 0x10000;
}

static void fail(struct yml_input *in, const char *problem) {
    in->failed = true;
    err_set_at(&in->err, ERR_INVALID, in->line, in->column, "%s", problem);
}

/* Looks for "---" and what follows it on its line; false at what must not follow. */
static bool check_separator(struct yml_input *in, uint32_t c) {
    if (in->dashes == YML_NO_SEPARATOR)
        return true;
    if (in->dashes < YML_SEPARATOR)
        in->dashes = c == '-' ? in->dashes + 1 : YML_NO_SEPARATOR;
    else if (c == '#')
        in->dashes = YML_NO_SEPARATOR;
    else
        return c == ' ' || c == '\t' || is_line_break(c);
    return true;
}

/* The rest of a line that starts at p and may not be read to its end yet; cut when it is long. */
static struct str rest_of_line(struct yml_input *in, struct str seen, char *to, size_t size) {
    size_t n = seen.n < size ? seen.n : size;
    memcpy(to, seen.p, n);
    while (n < size && !memchr(to, '\n', n)) {
        int64_t got = in->read(in->ctx, to + n, size - n, NULL);
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    struct str line, rest;
    str_cut((struct str){to, n}, '\n', &line, &rest);
    return str_trim(str_sub(line, 0, utf8_valid_prefix(line)));
}

static void refuse_separator(struct yml_input *in, struct str seen) {
    char text[128];
    struct str line = rest_of_line(in, seen, text, sizeof text);
    in->failed = true;
    err_set_at(&in->err, ERR_INVALID, in->line, in->column, "invalid Yaml document separator: %.*s",
               STR_ARG(line));
}

static void advance(struct yml_input *in, uint32_t c) {
    in->column++;
    if (c == '\n') {
        in->line++;
        in->column = 1;
        in->dashes = in->stream ? 0 : YML_NO_SEPARATOR;
    }
}

/* Ordinary ASCII inside of a line, which needs no further look: how many bytes of it come next. */
static size_t skip_ordinary(struct yml_input *in, const char *p, size_t n) {
    size_t at = 0;
    if (in->column == 1 || in->dashes != YML_NO_SEPARATOR)
        return 0;
    while (at < n && p[at] >= ' ' && p[at] < 0x7F)
        at++;
    in->column += (uint32_t)at;
    return at;
}

/* How many of the n bytes are good; sets `failed` or leaves a partial character behind. */
static size_t check(struct yml_input *in, const char *p, size_t n, bool last) {
    size_t at = 0, len;
    for (; at < n; at += len) {
        len = skip_ordinary(in, p + at, n - at);
        if (len)
            continue;
        uint32_t c = (unsigned char)p[at];
        len = 1;
        if (c >= 0x80)
            c = utf8_decode((struct str){p + at, n - at}, &len);
        if (c == UTF8_INVALID) {
            const char *problem = utf8_problem((struct str){p + at, n - at});
            if (problem != incomplete || last)
                fail(in, problem);
            return at;
        }
        if (c == BYTE_ORDER_MARK && !in->started && at == 0) {
            in->has_bom = true;
            continue;
        }
        if (!is_allowed(c))
            fail(in, "control characters are not allowed");
        else if (!check_separator(in, c))
            refuse_separator(in, (struct str){p + at, n - at});
        if (in->failed)
            return at;
        advance(in, c);
    }
    return at;
}

/* The mark is no part of the first line. */
static void drop_bom(struct yml_input *in, char *p, size_t *n) {
    if (!in->started && *n && in->has_bom) {
        *n -= 3;
        memmove(p, p + 3, *n);
    }
    in->started = in->started || *n || in->has_bom;
}

/* One chunk; *got stays 0 when a character is still incomplete. */
static bool read_chunk(struct yml_input *in, char *to, size_t size, size_t *got) {
    memcpy(to, in->held, in->held_n);
    int64_t n = in->read(in->ctx, to + in->held_n, size - in->held_n, &in->err);
    if (n < 0) {
        in->failed = true;
        return true;
    }
    size_t total = in->held_n + (size_t)n;
    *got = check(in, to, total, n == 0);
    in->held_n = in->failed ? 0 : total - *got;
    memcpy(in->held, to + *got, in->held_n);
    drop_bom(in, to, got);
    in->bytes += *got;
    return in->failed || *got || n == 0;
}

size_t yml__input_read(struct yml_input *in, char *to, size_t size) {
    size_t got = 0;
    /* The scanner is ahead of its events by what it asks for at a time. */
    if (in->bytes > LIMIT_OBJECT_BYTES + YML_WINDOW && !in->failed) {
        in->failed = true;
        err_set_at(&in->err, ERR_TOO_LARGE, in->line, in->column, "value is larger than %u bytes",
                   LIMIT_OBJECT_BYTES);
    }
    while (!in->failed && !read_chunk(in, to, size, &got))
        continue;
    return got;
}
