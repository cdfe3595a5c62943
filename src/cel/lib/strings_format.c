/*
 * "...".format([...]), the formatter that Kubernetes has: numbers in the manner of en-US, nested
 * values quoted. One scanner reads the text; an evaluation formats what it finds, and the check of
 * a literal call looks at the types of the arguments only.
 *
 * Follows github.com/google/cel-go ext, func parseFormatString, func (*stringFormatter) Decimal,
 * func (stringFormatValidator) Validate.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/goquote.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "cel/lib/strings_int.h"
#include "cel/run/text_int.h"

enum { DEFAULT_PRECISION = 6 };

/* ---- scanning ---- */

struct clause {
    char letter;
    int precision; /* -1: not given */
};

struct scanner {
    struct cel_eval *ev; /* NULL when checking */
    struct str text;
    size_t at, arg; /* place in the text, number of the next argument */
    size_t args;    /* how many there are */
    bool checking;  /* upstream's check looks for an argument later than its evaluation does */
    struct buf error;
};

static bool fail(struct scanner *s, const char *text) {
    buf_add(&s->error, str_of(text));
    return false;
}

static bool fail_index(struct scanner *s) {
    buf_addf(&s->error, "index %zu out of range", s->arg);
    return false;
}

static bool read_precision(struct scanner *s, struct clause *c) {
    static const char PREFIX[] =
        "could not parse formatting clause: error while parsing precision: ";
    c->precision = -1;
    if (s->text.p[s->at] != '.')
        return true;
    size_t start = ++s->at;
    int v = 0;
    for (; s->at < s->text.n && ascii_is_digit(s->text.p[s->at]); s->at++)
        if (v <= LIMIT_CEL_FORMAT_PRECISION)
            v = v * 10 + (s->text.p[s->at] - '0');
    if (s->at == s->text.n) {
        fail(s, PREFIX);
        return fail(s, "could not find end of precision specifier");
    }
    if (s->at == start) {
        fail(s, PREFIX);
        return fail(s, "error while converting precision to integer: strconv.Atoi: parsing \"\": "
                       "invalid syntax");
    }
    if (v > LIMIT_CEL_FORMAT_PRECISION) {
        fail(s, PREFIX);
        return fail(s, "precision too large");
    }
    c->precision = v;
    return true;
}

/* The clause behind a '%' at s->at; false with the error. */
static bool read_clause(struct scanner *s, struct clause *c) {
    if (!s->checking && s->arg >= s->args)
        return fail_index(s);
    if (++s->at == s->text.n)
        return fail(s, "unexpected end of string");
    if (s->arg >= s->args)
        return fail_index(s);
    if (!read_precision(s, c))
        return false;
    c->letter = s->text.p[s->at++];
    if (c->letter != '\0' && strchr("sdfebxXo", c->letter))
        return true;
    char encoded[4];
    size_t n = utf8_encode((unsigned char)c->letter, encoded); /* upstream reads a byte as a rune */
    buf_addf(&s->error,
             "could not parse formatting clause: unrecognized formatting clause \"%.*s\"", (int)n,
             encoded);
    return false;
}

/* Copies the text up to the next clause: 1 = there is one, 0 = the end, -1 = error. */
static int next_clause(struct scanner *s, struct buf *out, struct clause *c) {
    while (s->at < s->text.n) {
        char now = s->text.p[s->at];
        if (now != '%') {
            buf_add_char(out, now);
            s->at++;
        } else if (s->at + 1 < s->text.n && s->text.p[s->at + 1] == '%') {
            buf_add_char(out, '%');
            s->at += 2;
        } else {
            return read_clause(s, c) ? 1 : -1;
        }
    }
    return 0;
}

/* ---- what each clause takes ---- */

#define K(kind) (1U << (kind))

static const struct {
    char letter;
    uint32_t kinds; /* of values at run time */
    const char *error;
} clauses[] = {
    {'d', K(CEL_INT) | K(CEL_UINT), "decimal clause can only be used on integers, was given "},
    {'f', K(CEL_DOUBLE) | K(CEL_STRING),
     "fixed-point clause can only be used on doubles, was given "},
    {'e', K(CEL_DOUBLE) | K(CEL_STRING),
     "scientific clause can only be used on doubles, was given "},
    {'b', K(CEL_INT) | K(CEL_UINT) | K(CEL_BOOL),
     "only integers and bools can be formatted as binary, was given "},
    {'x', K(CEL_INT) | K(CEL_UINT) | K(CEL_STRING) | K(CEL_BYTES),
     "only integers, byte buffers, and strings can be formatted as hex, was given "},
    {'o', K(CEL_INT) | K(CEL_UINT), "octal clause can only be used on integers, was given "},
    {'s',
     K(CEL_LIST) | K(CEL_MAP) | K(CEL_INT) | K(CEL_UINT) | K(CEL_DOUBLE) | K(CEL_BOOL) |
         K(CEL_STRING) | K(CEL_TIMESTAMP) | K(CEL_BYTES) | K(CEL_DURATION) | K(CEL_TYPE) |
         K(CEL_NULL),
     "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, "
     "durations, and timestamps, was given "},
};

static size_t clause_row(char letter) {
    size_t i = 0;
    char lower = letter == 'X' ? 'x' : letter;
    while (clauses[i].letter != lower)
        i++;
    return i;
}

static bool wrong_type(struct scanner *s, size_t row, struct str type) {
    buf_addf(&s->error, "error during formatting: %s%.*s", clauses[row].error, STR_ARG(type));
    return false;
}

/* ---- numbers ---- */

/* Digits before the point in groups of three. */
static void write_grouped(struct buf *out, struct str number) {
    size_t point = str_find_char(number, '.');
    size_t whole = point == STR_NONE ? number.n : point, i = 0;
    if (number.n > 0 && number.p[0] == '-')
        buf_add_char(out, number.p[i++]);
    for (; i < whole; i++) {
        buf_add_char(out, number.p[i]);
        size_t left = whole - i - 1;
        if (left > 0 && left % 3 == 0)
            buf_add_char(out, ',');
    }
    buf_add(out, str_sub(number, whole, number.n));
}

static bool write_special(struct buf *out, double d) {
    if (isnan(d))
        buf_add(out, STR("NaN"));
    else if (isinf(d))
        buf_add(out, d < 0 ? STR("-\xe2\x88\x9e") : STR("\xe2\x88\x9e"));
    else
        return false;
    return true;
}

/* Upstream keeps the least number of decimals in eight bits, and drops zeros down to it. */
static void drop_zeros(struct buf *plain, int precision) {
    size_t least = plain->n - (size_t)precision + (size_t)(precision & 0xff);
    while (plain->n > least && plain->p[plain->n - 1] == '0')
        plain->n--;
    if (plain->p[plain->n - 1] == '.')
        plain->n--;
}

static void write_fixed(struct buf *out, double d, int precision) {
    if (write_special(out, d))
        return;
    AUTO(buf_release) struct buf plain = BUF_INIT(LIMIT_CEL_EVAL_BYTES);
    buf_addf(&plain, "%.*f", precision, d == 0 ? 0.0 : d);
    if (precision > 0xff)
        drop_zeros(&plain, precision);
    write_grouped(out, buf_view(&plain));
}

static void write_superscript(struct buf *out, const char *exponent) {
    static const char *const digits[] = {
        "\xe2\x81\xb0", "\xc2\xb9",     "\xc2\xb2",     "\xc2\xb3",     "\xe2\x81\xb4",
        "\xe2\x81\xb5", "\xe2\x81\xb6", "\xe2\x81\xb7", "\xe2\x81\xb8", "\xe2\x81\xb9"};
    if (*exponent == '-')
        buf_add(out, STR("\xe2\x81\xbb"));
    for (exponent++; *exponent; exponent++)
        buf_add(out, str_of(digits[*exponent - '0']));
}

/* The precision is a least width; there are always six decimals. */
static void write_scientific(struct buf *out, double d, int width) {
    AUTO(buf_release) struct buf plain = BUF_INIT(4096);
    if (!write_special(&plain, d)) {
        char text[64];
        snprintf(text, sizeof text, "%.6e", d == 0 ? 0.0 : d);
        char *e = strchr(text, 'e');
        buf_add(&plain, (struct str){text, (size_t)(e - text)});
        buf_add(&plain, STR("\xc3\x97"
                            "10"));
        write_superscript(&plain, e + 1);
    }
    size_t n = utf8_count(buf_view(&plain));
    if ((size_t)width > n)
        buf_add_fill(out, ' ', (size_t)width - n);
    buf_add(out, buf_view(&plain));
}

static void write_radix(struct buf *out, struct cel_value v, unsigned base, const char *digits) {
    char text[65];
    size_t at = sizeof text;
    bool negative = v.kind == CEL_INT && v.i < 0;
    uint64_t u = v.kind == CEL_BOOL ? v.b : negative ? 0 - v.u : v.u;
    do
        text[--at] = digits[u % base];
    while (u /= base);
    buf_add(out, negative ? STR("-") : STR(""));
    buf_add(out, (struct str){text + at, sizeof text - at});
}

static void write_hex(struct buf *out, struct cel_value v, bool upper) {
    const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
    if (v.kind == CEL_INT || v.kind == CEL_UINT) {
        write_radix(out, v, 16, digits);
        return;
    }
    for (uint32_t i = 0; i < v.n; i++) {
        unsigned char c = (unsigned char)v.s[i];
        buf_add_char(out, digits[c >> 4]);
        buf_add_char(out, digits[c & 15]);
    }
}

/* ---- %s ---- */

static bool write_string(struct scanner *s, struct buf *out, struct cel_value v);
static bool write_nested(struct scanner *s, struct buf *out, struct cel_value v);

static bool write_list(struct scanner *s, struct buf *out, struct cel_value v) {
    buf_add_char(out, '[');
    for (uint32_t i = 0; i < v.n && !out->full; i++) {
        buf_add(out, i > 0 ? STR(", ") : STR(""));
        if (!write_nested(s, out, v.items[i]))
            return false;
    }
    buf_add_char(out, ']');
    return true;
}

struct pair {
    struct buf key;
    const struct cel_value *value;
};

static int cmp_pair(const void *a, const void *b) {
    const struct pair *x = a, *y = b;
    return str_cmp(buf_view(&x->key), buf_view(&y->key));
}

static bool format_key(struct scanner *s, const struct cel_entry *e, struct pair *out) {
    uint32_t keys = K(CEL_STRING) | K(CEL_BOOL) | K(CEL_INT) | K(CEL_UINT);
    *out = (struct pair){BUF_INIT(LIMIT_CEL_EVAL_BYTES), &e->value};
    if (keys >> e->key.kind & 1)
        return write_nested(s, &out->key, e->key);
    buf_addf(&s->error, "error during formatting: no formatting function for map key of type %.*s",
             STR_ARG(cel_type_name_of(e->key)));
    return false;
}

static bool write_pairs(struct scanner *s, struct buf *out, const struct pair *pairs, uint32_t n) {
    buf_add_char(out, '{');
    for (uint32_t i = 0; i < n && !out->full; i++) {
        buf_add(out, i > 0 ? STR(", ") : STR(""));
        buf_add(out, buf_view(&pairs[i].key));
        buf_add_char(out, ':');
        if (!write_nested(s, out, *pairs[i].value))
            return false;
    }
    buf_add_char(out, '}');
    return true;
}

/* Only keys are kept until they are sorted: many values may be one long list. */
static bool write_map(struct scanner *s, struct buf *out, const struct cel_map *map) {
    if (!cel__work(s->ev, (uint64_t)map->n * CEL_WORK_ENTRY))
        return false;
    struct pair *pairs = xcalloc(map->n + 1, sizeof *pairs);
    bool good = true;
    for (uint32_t i = 0; good && i < map->n; i++)
        good = format_key(s, &map->entries[i], &pairs[i]);
    if (good) {
        qsort(pairs, map->n, sizeof *pairs, cmp_pair);
        good = write_pairs(s, out, pairs, map->n);
    }
    for (uint32_t i = 0; i < map->n; i++)
        buf_release(&pairs[i].key);
    free(pairs);
    return good;
}

static bool write_bytes(struct scanner *s, struct buf *out, struct cel_value v) {
    if (utf8_valid_prefix(cel_str(v)) < v.n)
        return fail(s,
                    "error during formatting: could not convert argument \"invalid UTF-8 in bytes, "
                    "cannot convert to string\" to string");
    buf_add(out, cel_str(v));
    return true;
}

static bool write_string(struct scanner *s, struct buf *out, struct cel_value v) {
    switch (v.kind) {
    case CEL_LIST:
        return write_list(s, out, v);
    case CEL_MAP:
        return write_map(s, out, v.map);
    case CEL_BYTES:
        return write_bytes(s, out, v);
    case CEL_DURATION:
        cel__write_duration(out, v.i);
        return true;
    case CEL_TIMESTAMP:
        cel__write_timestamp(out, v);
        return true;
    case CEL_NULL:
        buf_add(out, STR("null"));
        return true;
    default:
        cel__write_plain(s->ev, out, v);
        return true;
    }
}

/* Inside lists and maps texts are quoted, and times say what they are. */
static bool write_nested(struct scanner *s, struct buf *out, struct cel_value v) {
    enum { PER_VALUE = 256 };
    if (!cel__work(s->ev, PER_VALUE))
        return false;
    if (!(clauses[clause_row('s')].kinds >> v.kind & 1)) {
        buf_addf(&s->error, "error during formatting: no formatting function for %.*s",
                 STR_ARG(cel_type_name_of(v)));
        return false;
    }
    if (v.kind == CEL_DOUBLE && !isnan(v.d) && !isinf(v.d)) {
        buf_addf(out, "%.6f", v.d);
        return true;
    }
    bool quoted = v.kind == CEL_STRING || v.kind == CEL_BYTES || v.kind == CEL_DOUBLE ||
                  v.kind == CEL_TIMESTAMP || v.kind == CEL_DURATION;
    if (!quoted)
        return write_string(s, out, v);
    AUTO(buf_release) struct buf plain = BUF_INIT(LIMIT_CEL_EVAL_BYTES);
    if (!write_string(s, &plain, v))
        return false;
    static const char *const prefixes[CEL_KINDS] = {
        [CEL_BYTES] = "b", [CEL_TIMESTAMP] = "timestamp(", [CEL_DURATION] = "duration("};
    if (prefixes[v.kind])
        buf_add(out, str_of(prefixes[v.kind]));
    goquote_write(out, buf_view(&plain));
    if (v.kind == CEL_TIMESTAMP || v.kind == CEL_DURATION)
        buf_add_char(out, ')');
    return true;
}

/* ---- evaluation ---- */

/* A double, or one of the three strings that stand for what is no number. */
static bool as_double(struct cel_value v, double *out) {
    struct str s = v.kind == CEL_STRING ? cel_str(v) : (struct str){0};
    if (v.kind == CEL_DOUBLE)
        *out = v.d;
    else if (str_is(s, "NaN"))
        *out = NAN;
    else if (str_is(s, "Infinity"))
        *out = INFINITY;
    else if (str_is(s, "-Infinity"))
        *out = -INFINITY;
    else
        return false;
    return true;
}

/* Work of a decimal of a double, which takes a division of all that are left. */
enum { PER_DECIMAL = 64 };

static bool format_one(struct scanner *s, struct buf *out, const struct clause *c,
                       struct cel_value v) {
    size_t row = clause_row(c->letter);
    int precision = c->precision < 0 ? DEFAULT_PRECISION : c->precision;
    double d = 0;
    bool number = c->letter == 'f' || c->letter == 'e';
    if (!(clauses[row].kinds >> v.kind & 1) || (number && !as_double(v, &d)))
        return wrong_type(s, row, cel_type_name_of(v));
    switch (c->letter) {
    case 'f':
        if (!cel__work(s->ev, (uint64_t)precision * PER_DECIMAL))
            return false;
        write_fixed(out, d, precision);
        return true;
    case 'e':
        write_scientific(out, d, precision);
        return true;
    case 'b':
        write_radix(out, v, 2, "01");
        return true;
    case 'o':
        write_radix(out, v, 8, "01234567");
        return true;
    case 'x':
    case 'X':
        write_hex(out, v, c->letter == 'X');
        return true;
    default:
        return write_string(s, out, v);
    }
}

struct cel_value cel__format(struct cel_eval *ev, const struct cel_value *args) {
    struct scanner s = {.ev = ev, .text = cel_str(args[0]), .args = args[1].n};
    AUTO(buf_release) struct buf out = BUF_INIT(LIMIT_CEL_EVAL_BYTES / 4);
    s.error = BUF_INIT(LIMIT_CEL_ERROR_BYTES);
    struct clause c;
    int rc;
    while ((rc = next_clause(&s, &out, &c)) > 0)
        if (!format_one(&s, &out, &c, args[1].items[s.arg++])) {
            rc = -1;
            break;
        }
    cel__work(ev, out.n);
    struct cel_value result = cel__string(ev, buf_view(&out));
    if (rc < 0)
        result = cel__error(ev, "%.*s", STR_ARG(buf_view(&s.error)));
    buf_release(&s.error);
    return out.full ? CEL_TOO_BIG : result;
}

/* ---- checking ---- */

/* Does the clause take a value of this type? dyn may be anything. */
static bool type_fits(const struct cel_type *t, size_t row) {
    return t->kind == CEL_T_DYN || (t->kind != CEL_T_PARAM && t->kind != CEL_T_ANY &&
                                    clauses[row].kinds & cel__type_kinds(t));
}

/* The first part of an argument of %s that cannot be shown, or NULL. */
static const struct cel_expr *find_bad(const struct cel_expr *e, size_t row) {
    const struct cel_expr *bad = NULL;
    if (!type_fits(e->type, row))
        return e;
    for (uint32_t i = 0; e->kind == CEL_E_LIST && !bad && i < e->count; i++)
        bad = find_bad(e->args[i], row);
    for (uint32_t i = 0; e->kind == CEL_E_MAP && !bad && i < e->count; i++) {
        bad = find_bad(e->entries[i].key, row);
        bad = bad ? bad : find_bad(e->entries[i].value, row);
    }
    return bad;
}

void cel__format_check(struct cel_ast *ast, const struct cel_expr *call) {
    if (call->operand->kind != CEL_E_LITERAL || call->operand->literal.kind != CEL_STRING ||
        call->count != 1 || call->args[0]->kind != CEL_E_LIST)
        return;
    const struct cel_expr *list = call->args[0], *bad = call;
    struct scanner s = {
        .text = cel_str(call->operand->literal), .args = list->count, .checking = true};
    AUTO(buf_release) struct buf ignored = BUF_INIT(LIMIT_CEL_ERROR_BYTES);
    s.error = BUF_INIT(LIMIT_CEL_ERROR_BYTES);
    struct clause c;
    int rc;
    while ((rc = next_clause(&s, &ignored, &c)) > 0) {
        size_t row = clause_row(c.letter);
        const struct cel_expr *arg = list->args[s.arg++];
        const struct cel_expr *found = c.letter == 's'             ? find_bad(arg, row)
                                       : type_fits(arg->type, row) ? NULL
                                                                   : arg;
        if (!found)
            continue;
        bad = found;
        wrong_type(&s, row, found->type->name);
        rc = -1;
        break;
    }
    if (rc < 0)
        cel__issue(&ast->source, bad->pos, "%.*s", STR_ARG(buf_view(&s.error)));
    else if (list->count > s.arg)
        cel__issue(&ast->source, call->pos,
                   "too many arguments supplied to string.format (expected %zu, got %u)", s.arg,
                   list->count);
    buf_release(&s.error);
}
