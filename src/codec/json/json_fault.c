/*
 * What is wrong with a text, in the words of Go's encoding/json where it has some, and where: line
 * and column are counted only here, when there is an error to report.
 *
 * Follows std encoding/json, func (*scanner) error, func stateBeginValue, func quoteChar.
 */
#include <stdio.h>
#include <string.h>

#include "base/goquote.h"
#include "base/utf8.h"
#include "codec/json/json_int.h"
#include "codec/json/json_scan.h"

/* What Go says behind "invalid character 'x' ". */
static const char *const contexts[] = {
    [JSON_FAULT_VALUE] = "looking for beginning of value",
    [JSON_FAULT_KEY] = "looking for beginning of object key string",
    [JSON_FAULT_COLON] = "after object key",
    [JSON_FAULT_PAIR] = "after object key:value pair",
    [JSON_FAULT_ELEMENT] = "after array element",
    [JSON_FAULT_TRAIL] = "after top-level value",
    [JSON_FAULT_STRING] = "in string literal",
    [JSON_FAULT_ESCAPE] = "in string escape code",
    [JSON_FAULT_HEX] = "in \\u hexadecimal character escape",
    [JSON_FAULT_NUMBER] = "in numeric literal",
    [JSON_FAULT_POINT] = "after decimal point in numeric literal",
    [JSON_FAULT_EXPONENT] = "in exponent of numeric literal",
    [JSON_FAULT_DEPTH] = "exceeded max depth",
};

/* Go takes the byte for a character of its own: a byte of UTF-8 shows as Latin-1. At the end of the
 * text it takes a space for the next byte. */
static int invalid_char(const struct json__run *run, const char *context, struct err *err) {
    bool at_end = run->fault_at == run->text.n;
    unsigned char c = at_end ? ' ' : (unsigned char)run->text.p[run->fault_at];
    char bytes[4];
    struct buf quoted = BUF_INIT(16);
    goquote_write(&quoted, (struct str){bytes, utf8_encode(c, bytes)});
    struct str inner = str_sub(buf_view(&quoted), 1, quoted.n - 1);
    /* between single quotes it is the other one that needs a backslash */
    if (c == '"' || c == '\'')
        inner = c == '"' ? STR("\"") : STR("\\'");
    err_set(err, ERR_INVALID, "invalid character '%.*s' %s", STR_ARG(inner), context);
    buf_release(&quoted);
    return -1;
}

static int bad_literal(const struct json__run *run, struct err *err) {
    char context[64];
    snprintf(context, sizeof context, "in literal %s (expecting '%c')", run->fault_of.p,
             run->fault_of.p[run->fault_of.n]);
    return invalid_char(run, context, err);
}

static int duplicate_field(const struct json__run *run, struct err *err) {
    struct buf quoted = BUF_INIT(SIZE_MAX / 2);
    goquote_write(&quoted, run->fault_of);
    err_set(err, ERR_INVALID, "duplicate field %.*s", STR_ARG(buf_view(&quoted)));
    buf_release(&quoted);
    return -1;
}

static int say(const struct json__run *run, struct err *err) {
    bool in_token = run->unfinished >= JSON_FAULT_ESCAPE && run->unfinished <= JSON_FAULT_LITERAL;
    switch (run->fault == JSON_FAULT_END && in_token ? run->unfinished : run->fault) {
    case JSON_FAULT_END:
        return err_set(err, ERR_INVALID, "unexpected end of JSON input");
    case JSON_FAULT_LITERAL:
        return bad_literal(run, err);
    case JSON_FAULT_UTF8:
        return err_set(err, ERR_INVALID, "invalid UTF-8 in string literal");
    case JSON_FAULT_SURROGATE:
        return err_set(err, ERR_INVALID, "unpaired surrogate '%.6s' in string literal",
                       run->text.p + run->fault_at);
    case JSON_FAULT_RANGE:
        return err_set(err, ERR_INVALID,
                       "cannot unmarshal number %.*s into Go value of type float64",
                       STR_ARG(run->fault_of));
    case JSON_FAULT_DUPLICATE:
        return duplicate_field(run, err);
    case JSON_FAULT_SIZE:
        return err_set(err, ERR_TOO_LARGE, "value is larger than %zu bytes", run->opts.max_bytes);
    default:
        return invalid_char(run, contexts[in_token ? run->unfinished : run->fault], err);
    }
}

int json__explain(const struct json__run *run, uint32_t line, uint32_t column, struct err *err) {
    if (!err)
        return -1;
    say(run, err);
    json__advance(str_sub(run->text, 0, run->fault_at), &line, &column);
    err->line = line;
    err->column = column;
    return -1;
}

/* --- places --- */

/* Code points: every byte but the second to fourth of a sequence begins one. */
static uint32_t count_chars(struct str s) {
    return (uint32_t)(s.n - json__count_tails(s.p, s.p + s.n));
}

static uint32_t count_lines(struct str s) {
    uint32_t lines = 0;
    for (const char *p = s.p, *end = s.p + s.n; (p = memchr(p, '\n', (size_t)(end - p))); p++)
        lines++;
    return lines;
}

void json__advance(struct str text, uint32_t *line, uint32_t *column) {
    if (text.n == 0)
        return;
    const char *newline = memrchr(text.p, '\n', text.n);
    if (newline) {
        *line += count_lines(text);
        *column = 1;
        text = str_sub(text, (size_t)(newline - text.p) + 1, text.n);
    }
    *column += count_chars(text);
}
