/*
 * Values as text: as CEL literals, and as Go's %v shows them in error texts.
 *
 * Follows github.com/google/cel-go common/types, func Format.
 * Follows std fmt, func (*pp) printValue.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/goquote.h"
#include "base/limits.h"
#include "cel/opaque_int.h"
#include "cel/run/text_int.h"
#include "codec/time.h"

/* ---- doubles ---- */

/* The fewest decimal digits that read back as d (finite, not negative), and where the point stands:
 * 0.digits * 10^point. */
struct digits {
    char text[20];
    int n, point;
};

static struct digits shortest_digits(double d) {
    struct digits out = {.n = 0};
    char text[40];
    if (d == 0)
        return (struct digits){.text = "0", .n = 1, .point = 1};
    int first = d < 0x1p-1022 ? 1 : 15; /* 15 digits of a normal number always read back */
    for (int precision = first; precision <= 17; precision++) {
        snprintf(text, sizeof text, "%.*e", precision - 1, d);
        if (precision == 17 || strtod(text, NULL) == d)
            break;
    }
    const char *e = strchr(text, 'e');
    for (const char *p = text; p < e; p++)
        if (*p != '.')
            out.text[out.n++] = *p;
    while (out.n > 1 && out.text[out.n - 1] == '0')
        out.n--;
    out.point = (int)strtol(e + 1, NULL, 10) + 1;
    return out;
}

static void write_exponent(struct buf *out, const struct digits *s) {
    buf_add_char(out, s->text[0]);
    if (s->n > 1) {
        buf_add_char(out, '.');
        buf_add(out, (struct str){s->text + 1, (size_t)s->n - 1});
    }
    int e = s->point - 1;
    buf_addf(out, "e%c%02d", e < 0 ? '-' : '+', e < 0 ? -e : e);
}

static void write_fixed(struct buf *out, const struct digits *s) {
    if (s->point <= 0) {
        buf_add(out, STR("0."));
        buf_add_fill(out, '0', (size_t)-s->point);
        buf_add(out, (struct str){s->text, (size_t)s->n});
        return;
    }
    int whole = s->n < s->point ? s->n : s->point;
    buf_add(out, (struct str){s->text, (size_t)whole});
    buf_add_fill(out, '0', (size_t)(s->point - whole));
    if (s->n > whole) {
        buf_add_char(out, '.');
        buf_add(out, (struct str){s->text + whole, (size_t)(s->n - whole)});
    }
}

static bool write_special(struct buf *out, double d) {
    if (isnan(d))
        buf_add(out, STR("NaN"));
    else if (isinf(d))
        buf_add(out, d < 0 ? STR("-Inf") : STR("+Inf"));
    else
        return false;
    return true;
}

void cel__write_double(struct buf *out, double d) {
    if (write_special(out, d))
        return;
    if (signbit(d))
        buf_add_char(out, '-');
    struct digits s = shortest_digits(fabs(d));
    if (s.point - 1 < -4 || s.point - 1 >= 6)
        write_exponent(out, &s);
    else
        write_fixed(out, &s);
}

void cel__write_double_fixed(struct buf *out, double d) {
    if (write_special(out, d))
        return;
    if (signbit(d))
        buf_add_char(out, '-');
    struct digits s = shortest_digits(fabs(d));
    write_fixed(out, &s);
}

/* ---- times ---- */

void cel__write_duration(struct buf *out, int64_t ns) {
    int64_t seconds = ns / 1000000000, rest = ns % 1000000000;
    cel__write_double_fixed(out, (double)seconds + (double)rest / 1e9);
    buf_add_char(out, 's');
}

static void write_nanos(struct buf *out, uint32_t nanos) {
    char text[16];
    int n = snprintf(text, sizeof text, ".%09u", nanos);
    while (n > 1 && text[n - 1] == '0')
        n--;
    if (n > 1)
        buf_add(out, (struct str){text, (size_t)n});
}

void cel__write_timestamp(struct buf *out, struct cel_value v) {
    struct time_civil c = time_to_civil(v.i + (int64_t)v.offset * 60);
    buf_addf(out, "%04lld-%02d-%02dT%02d:%02d:%02d", (long long)c.year, c.month, c.day, c.hour,
             c.minute, c.second);
    write_nanos(out, v.n);
    int off = v.offset < 0 ? -v.offset : v.offset;
    if (off)
        buf_addf(out, "%c%02d:%02d", v.offset < 0 ? '-' : '+', off / 60, off % 60);
    else
        buf_add_char(out, 'Z');
}

/* As Go's time.Time prints itself. */
static void write_go_time(struct buf *out, struct cel_value v) {
    struct time_civil c = time_to_civil(v.i + (int64_t)v.offset * 60);
    buf_addf(out, "%04lld-%02d-%02d %02d:%02d:%02d", (long long)c.year, c.month, c.day, c.hour,
             c.minute, c.second);
    write_nanos(out, v.n);
    int off = v.offset < 0 ? -v.offset : v.offset;
    char zone[16];
    snprintf(zone, sizeof zone, "%c%02d%02d", v.offset < 0 ? '-' : '+', off / 60, off % 60);
    buf_addf(out, " %s %s", zone, off ? zone : "UTC");
}

/* ---- literals ---- */

static void write_double_literal(struct buf *out, double d) {
    if (isnan(d)) {
        buf_add(out, STR("double(\"NaN\")"));
        return;
    }
    if (isinf(d)) {
        buf_add(out, d < 0 ? STR("double(\"-Infinity\")") : STR("double(\"Infinity\")"));
        return;
    }
    size_t start = out->n;
    cel__write_double_fixed(out, d);
    if (!out->full && !memchr(out->p + start, '.', out->n - start))
        buf_add(out, STR(".0"));
}

static void write_bytes_literal(struct buf *out, struct str s) {
    buf_add(out, STR("b\""));
    for (size_t i = 0; i < s.n; i++)
        buf_addf(out, "\\%03o", (unsigned char)s.p[i]);
    buf_add_char(out, '"');
}

/* Writes a value somewhere inside another one; ev is NULL where nobody counts. */
typedef void write_fn(struct cel_eval *ev, struct buf *out, struct cel_value v);

/* A list, until there is no more room: a few lists may hold each other a billion times. */
static void write_list(struct cel_eval *ev, struct buf *out, struct cel_value v, write_fn *write) {
    buf_add_char(out, '[');
    for (uint32_t i = 0; i < v.n && !out->full; i++) {
        buf_add(out, i > 0 ? STR(", ") : STR(""));
        write(ev, out, v.items[i]);
    }
    buf_add_char(out, ']');
}

struct printed {
    struct buf key;
    const struct cel_value *value;
};

static int cmp_printed(const void *a, const void *b) {
    const struct printed *x = a, *y = b;
    return str_cmp(buf_view(&x->key), buf_view(&y->key));
}

/* Entries in the order of their printed keys. */
static void write_map(struct cel_eval *ev, struct buf *out, const struct cel_map *map,
                      write_fn *write) {
    if (ev && !cel__work(ev, (uint64_t)map->n * CEL_WORK_ENTRY))
        return;
    struct printed *keys = xcalloc(map->n + 1, sizeof *keys);
    for (uint32_t i = 0; i < map->n; i++) {
        keys[i].key = BUF_INIT(LIMIT_CEL_EVAL_BYTES);
        keys[i].value = &map->entries[i].value;
        write(ev, &keys[i].key, map->entries[i].key);
    }
    qsort(keys, map->n, sizeof *keys, cmp_printed);
    buf_add_char(out, '{');
    for (uint32_t i = 0; i < map->n && !out->full; i++) {
        buf_add(out, i > 0 ? STR(", ") : STR(""));
        buf_add(out, buf_view(&keys[i].key));
        buf_add(out, STR(": "));
        write(ev, out, *keys[i].value);
    }
    buf_add_char(out, '}');
    for (uint32_t i = 0; i < map->n; i++)
        buf_release(&keys[i].key);
    free(keys);
}

static void write_scalar(struct buf *out, struct cel_value v) {
    switch (v.kind) {
    case CEL_NULL:
        buf_add(out, STR("null"));
        return;
    case CEL_BOOL:
        buf_add(out, v.b ? STR("true") : STR("false"));
        return;
    case CEL_INT:
        buf_add_i64(out, v.i);
        return;
    case CEL_UINT:
        buf_add_u64(out, v.u);
        return;
    case CEL_TYPE:
        buf_add(out, v.type->name);
        return;
    case CEL_ERROR:
        buf_add(out, cel_str(v));
        return;
    default:
        cel__opaque_write(out, v);
    }
}

/* name("text") */
static void write_quoted(struct buf *out, struct str name, struct cel_value v) {
    buf_add(out, name);
    buf_add(out, STR("(\""));
    if (v.kind == CEL_DURATION)
        cel__write_duration(out, v.i);
    else
        cel__write_timestamp(out, v);
    buf_add(out, STR("\")"));
}

static void write_literal(struct cel_eval *ev, struct buf *out, struct cel_value v) {
    switch (v.kind) {
    case CEL_UINT:
        buf_add_u64(out, v.u);
        buf_add_char(out, 'u');
        return;
    case CEL_DOUBLE:
        write_double_literal(out, v.d);
        return;
    case CEL_STRING:
        goquote_write(out, cel_str(v));
        return;
    case CEL_BYTES:
        write_bytes_literal(out, cel_str(v));
        return;
    case CEL_DURATION:
        write_quoted(out, STR("duration"), v);
        return;
    case CEL_TIMESTAMP:
        v.offset = 0;
        write_quoted(out, STR("timestamp"), v);
        return;
    case CEL_LIST:
        write_list(ev, out, v, write_literal);
        return;
    case CEL_MAP:
        write_map(ev, out, v.map, write_literal);
        return;
    case CEL_OPTIONAL:
        buf_add(out, v.opt ? STR("optional.of(") : STR("optional.none()"));
        if (v.opt) {
            write_literal(ev, out, *v.opt);
            buf_add_char(out, ')');
        }
        return;
    default:
        write_scalar(out, v);
    }
}

void cel_write(struct buf *out, struct cel_value v) {
    write_literal(NULL, out, v);
}

/* ---- as Go prints them ---- */

static void write_plain(struct cel_eval *ev, struct buf *out, struct cel_value v) {
    switch (v.kind) {
    case CEL_NULL:
        buf_add_char(out, '0'); /* a Go enumeration without a name */
        return;
    case CEL_DOUBLE:
        cel__write_double(out, v.d);
        return;
    case CEL_STRING:
        buf_add(out, cel_str(v));
        return;
    case CEL_BYTES:
        buf_add_char(out, '[');
        for (uint32_t i = 0; i < v.n && !out->full; i++)
            buf_addf(out, "%s%u", i > 0 ? " " : "", (unsigned char)v.s[i]);
        buf_add_char(out, ']');
        return;
    case CEL_DURATION:
        time_write_duration(out, v.i);
        return;
    case CEL_TIMESTAMP:
        write_go_time(out, v);
        return;
    case CEL_LIST:
        write_list(ev, out, v, write_plain);
        return;
    case CEL_MAP:
        write_map(ev, out, v.map, write_plain);
        return;
    case CEL_OPTIONAL:
        buf_add(out, v.opt ? STR("optional(") : STR("optional.none()"));
        if (v.opt) {
            write_plain(ev, out, *v.opt);
            buf_add_char(out, ')');
        }
        return;
    default:
        write_scalar(out, v);
    }
}

void cel__write_plain(struct cel_eval *ev, struct buf *out, struct cel_value v) {
    size_t start = out->n;
    write_plain(ev, out, v);
    cel__work(ev, out->n - start);
}
