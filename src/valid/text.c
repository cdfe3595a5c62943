/*
 * Details of errors. They quote what users sent, in which a NUL is a character like any other, but
 * printf ends a text there. So texts are copied here, and only numbers are left to printf.
 */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "valid/valid_int.h"

/* What stands between % and the end of a conversion: 04X, lld, .*s */
static struct str read_conversion(const char **fmt) {
    size_t n = strcspn(*fmt, "duxXs%");
    struct str conversion = {*fmt, n + 1};
    *fmt += conversion.n;
    return conversion;
}

static void write_text(struct buf *out, struct str conversion, va_list *ap) {
    if (str_is(conversion, ".*s")) {
        int n = va_arg(*ap, int);
        buf_add(out, (struct str){va_arg(*ap, const char *), (size_t)n});
    } else {
        buf_add(out, str_of(va_arg(*ap, const char *)));
    }
}

/* Numbers of all sizes are printed as the largest one: the size is replaced by ll. */
static void write_number(struct buf *out, struct str conversion, va_list *ap) {
    bool is_signed = str_ends(conversion, STR("d"));
    size_t flags = strspn(conversion.p, "-+ #0123456789");
    char size = conversion.p[flags], fmt[32], number[64];
    long long value = size == 'l'   ? va_arg(*ap, long long)
                      : size == 'z' ? va_arg(*ap, ssize_t)
                      : is_signed   ? va_arg(*ap, int)
                                    : (long long)va_arg(*ap, unsigned);
    snprintf(fmt, sizeof fmt, "%%%.*sll%c", (int)flags, conversion.p,
             conversion.p[conversion.n - 1]);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(number, sizeof number, fmt, value);
#pragma GCC diagnostic pop
    buf_add(out, str_of(number));
}

void valid__write_text(struct buf *out, const char *fmt, va_list args) {
    va_list ap;
    va_copy(ap, args);
    for (const char *next; (next = strchr(fmt, '%')); fmt = next) {
        buf_add(out, (struct str){fmt, (size_t)(next++ - fmt)});
        struct str conversion = read_conversion(&next);
        if (str_ends(conversion, STR("s")))
            write_text(out, conversion, &ap);
        else if (str_is(conversion, "%"))
            buf_add_char(out, '%');
        else
            write_number(out, conversion, &ap);
    }
    va_end(ap);
    buf_add(out, str_of(fmt));
}

struct str valid__text(struct arena *a, const char *fmt, ...) {
    struct buf out = BUF_INIT(2 * LIMIT_OBJECT_BYTES);
    va_list ap;
    va_start(ap, fmt);
    valid__write_text(&out, fmt, ap);
    va_end(ap);
    struct str text = out.n ? arena_str(a, buf_view(&out)) : STR("");
    buf_release(&out);
    return text;
}
