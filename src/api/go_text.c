/*
 * Values as Go's fmt shows them, which upstream's errors about patches and apply do.
 *
 * Follows std fmt, func (*pp) printValue, func (*pp) badVerb, func (*fmt) fmtFloat.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/go_text_int.h"
#include "base/goquote.h"
#include "base/limits.h"

/* Digits of the shortest text that reads back as d, as "%.*e" counts them. */
static int shortest(double d) {
    char text[64];
    int digits = 0;
    for (; digits < 16; digits++) {
        snprintf(text, sizeof text, "%.*e", digits, d);
        if (strtod(text, NULL) == d)
            break;
    }
    return digits;
}

/* %v of a float64: that of %g with as many digits as needed, where six decide about exponents. */
static void write_float(struct buf *out, double d) {
    char text[64];
    int digits = shortest(d);
    snprintf(text, sizeof text, "%.*e", digits, d);
    long exponent = strtol(strchr(text, 'e') + 1, NULL, 10);
    if (exponent < -4 || exponent >= 6)
        buf_add(out, str_of(text));
    else
        buf_addf(out, "%.*f", digits > exponent ? digits - (int)exponent : 0, d);
}

static int by_key(const void *a, const void *b) {
    const struct json_member *x = a, *y = b;
    return str_cmp(x->key, y->key);
}

static void write_map(struct buf *out, const struct json *v, char verb) {
    bool typed = verb == '#';
    struct json_member *sorted = xmalloc(v->n * sizeof *sorted + 1);
    for (uint32_t i = 0; i < v->n; i++)
        sorted[i] = v->members[i];
    qsort(sorted, v->n, sizeof *sorted, by_key);
    buf_add(out, typed ? STR("map[string]interface {}{") : STR("map["));
    for (uint32_t i = 0; i < v->n; i++) {
        buf_add(out, !i ? STR("") : typed ? STR(", ") : STR(" "));
        if (typed)
            goquote_write(out, sorted[i].key);
        else
            buf_add(out, sorted[i].key);
        buf_add_char(out, ':');
        api__write_go(out, &sorted[i].value, verb);
    }
    buf_add_char(out, typed ? '}' : ']');
    free(sorted);
}

static void write_list(struct buf *out, const struct json *v, char verb) {
    bool typed = verb == '#';
    buf_add(out, typed ? STR("[]interface {}{") : STR("["));
    for (uint32_t i = 0; i < v->n; i++) {
        buf_add(out, !i ? STR("") : typed ? STR(", ") : STR(" "));
        api__write_go(out, &v->items[i], verb);
    }
    buf_add_char(out, typed ? '}' : ']');
}

static void write_scalar(struct buf *out, const struct json *v) {
    if (v->kind == JSON_BOOL)
        buf_add(out, v->b ? STR("true") : STR("false"));
    else if (v->kind == JSON_INT)
        buf_add_i64(out, v->i);
    else
        write_float(out, json_double(v));
}

/* What has no form for %s is shown with its type: %!s(int64=1). */
static void write_bad_verb(struct buf *out, const struct json *v) {
    buf_addf(out, "%%!s(%s=",
             v->kind == JSON_BOOL  ? "bool"
             : v->kind == JSON_INT ? "int64"
                                   : "float64");
    write_scalar(out, v);
    buf_add_char(out, ')');
}

/* The parser limits how deep this goes. */
void api__write_go(struct buf *out, const struct json *v, char verb) {
    if (v->kind == JSON_OBJECT)
        write_map(out, v, verb);
    else if (v->kind == JSON_ARRAY)
        write_list(out, v, verb);
    else if (v->kind == JSON_STRING && verb == '#')
        goquote_write(out, json_str(v));
    else if (v->kind == JSON_STRING)
        buf_add(out, json_str(v));
    else if (v->kind == JSON_NULL)
        buf_add(out, verb == '#' ? STR("interface {}(nil)") : STR("<nil>"));
    else if (verb == 's')
        write_bad_verb(out, v);
    else
        write_scalar(out, v);
}

struct str api__go_text(struct arena *a, const struct json *v, char verb) {
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_PATCH_ERROR_BYTES);
    if (verb == 's' && v->kind == JSON_NULL) /* inside of others it has a form */
        return STR("%!s(<nil>)");
    api__write_go(&text, v, verb);
    return arena_str(a, buf_view(&text));
}

const char *api__go_type(const struct json *v) {
    static const char *const names[] = {[JSON_NULL] = "<nil>",
                                        [JSON_BOOL] = "bool",
                                        [JSON_INT] = "int64",
                                        [JSON_UINT] = "float64",
                                        [JSON_FLOAT] = "float64",
                                        [JSON_STRING] = "string",
                                        [JSON_ARRAY] = "[]interface {}",
                                        [JSON_OBJECT] = "map[string]interface {}"};
    return names[v->kind];
}

void api__write_go_name(struct buf *out, struct str version, const char *name) {
    for (const char *p = name; *p; p++) {
        if (*p == '.' && (p == name || p[-1] == ']' || p[-1] == '['))
            buf_add(out, version);
        buf_add_char(out, *p);
    }
}
