#include "base/print.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

enum { SPEC_BYTES = 40 }; /* of one conversion, rewritten for snprintf */

static const char INTEGERS[] = "duxXo"; /* all printed as long long */

struct printer {
    char *to;
    size_t room, n; /* n counts what had no room, too */
    va_list args;
};

static bool is_in(const char *set, char c) {
    return c && strchr(set, c);
}

/* How many bytes still fit, the NUL at the end included. */
static size_t left(const struct printer *p) {
    return p->n < p->room ? p->room - p->n : 0;
}

static void add(struct printer *p, const char *bytes, size_t n) {
    size_t fit = left(p) > n ? n : left(p);
    if (fit > 0)
        memcpy(p->to + p->n, bytes, fit);
    p->n += n;
}

/* The next argument, an integer of the length that the format names. */
static long long next_integer(struct printer *p, const char *length, char kind) {
    if (length[0] == 'z')
        return (long long)va_arg(p->args, size_t);
    if (length[0] == 'l' && length[1] == 'l')
        return va_arg(p->args, long long);
    if (length[0] == 'l')
        return va_arg(p->args, long);
    if (kind == 'd')
        return va_arg(p->args, int);
    return va_arg(p->args, unsigned);
}

/* Most conversions are plain numbers, and snprintf takes ten times as long for one. */
static void add_decimal(struct printer *p, long long number, bool is_signed) {
    char digits[20];
    size_t at = sizeof digits;
    bool is_negative = is_signed && number < 0;
    unsigned long long left_over = (unsigned long long)number;
    if (is_negative)
        left_over = 0 - left_over;
    do
        digits[--at] = (char)('0' + left_over % 10);
    while (left_over /= 10);
    if (is_negative)
        add(p, "-", 1);
    add(p, digits + at, sizeof digits - at);
}

/* Writes the next argument with snprintf, by spec: "%", flags, width, precision, length, kind. */
static void add_by(struct printer *p, const char *spec, const char *length, char kind) {
    char *at = left(p) ? p->to + p->n : NULL;
    int n = -1;
    if (is_in(INTEGERS, kind))
        n = snprintf(at, left(p), spec, next_integer(p, length, kind));
    else if (is_in("feg", kind))
        n = snprintf(at, left(p), spec, va_arg(p->args, double));
    else if (kind == 's')
        n = snprintf(at, left(p), spec, va_arg(p->args, const char *));
    if (n < 0)
        BUG("a conversion that print_text does not know");
    p->n += (size_t)n;
}

/* Writes what the conversion at f asks for with snprintf; returns what follows it. */
static const char *convert_by_spec(struct printer *p, const char *f) {
    char spec[SPEC_BYTES] = "%";
    size_t n = 1;
    for (f++; is_in("-+ #0123456789.*", *f); f++) {
        if (n > SPEC_BYTES - 20)
            BUG("a conversion too long for print_text");
        if (*f == '*')
            n += (size_t)snprintf(spec + n, 12, "%d", va_arg(p->args, int));
        else
            spec[n++] = *f;
    }
    const char *length = f;
    f += strspn(f, "lz");
    if (is_in(INTEGERS, *f)) {
        spec[n++] = 'l';
        spec[n++] = 'l';
    }
    spec[n] = *f;
    add_by(p, spec, length, *f);
    return f + 1;
}

/* Writes what the conversion at f asks for; returns what follows it. */
static const char *convert(struct printer *p, const char *f) {
    if (!strncmp(f, "%.*s", 4)) {
        int n = va_arg(p->args, int);
        if (n < 0)
            BUG("a string with a negative length");
        add(p, va_arg(p->args, const char *), (size_t)n);
        return f + 4;
    }
    if (f[1] == 's') {
        const char *s = va_arg(p->args, const char *);
        add(p, s, strlen(s));
    } else if (f[1] == 'c') {
        add(p, &(char){(char)va_arg(p->args, int)}, 1);
    } else if (f[1] == '%') {
        add(p, f, 1);
    } else {
        const char *kind = f + 1 + strspn(f + 1, "lz");
        if (*kind != 'd' && *kind != 'u')
            return convert_by_spec(p, f);
        add_decimal(p, next_integer(p, f + 1, *kind), *kind == 'd');
        return kind + 1;
    }
    return f + 2;
}

size_t print_text(char *to, size_t room, const char *fmt, va_list args) {
    struct printer p = {.to = to, .room = room};
    va_copy(p.args, args);
    while (*fmt) {
        size_t plain = 0; /* a few letters, mostly */
        while (fmt[plain] && fmt[plain] != '%')
            plain++;
        add(&p, fmt, plain);
        fmt += plain;
        if (*fmt)
            fmt = convert(&p, fmt);
    }
    va_end(p.args);
    if (room > 0)
        to[p.n < room ? p.n : room - 1] = '\0';
    return p.n;
}
