/*
 * Details of errors. They quote what users sent, in which a NUL is a character like any other, but
 * printf ends a text there. This one knows only the conversions that the rules use.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "valid/valid_int.h"

/* The conversions, longest first; the texts behind %. */
enum conversion {
    BYTES,
    LONG_LONG,
    UNSIGNED_LONG_LONG,
    CODE_POINT,
    SIZE,
    INT,
    STRING,
    PERCENT,
    CONVERSIONS
};
static const char *const conversions[CONVERSIONS] = {".*s", "lld", "llu", "04X",
                                                     "zu",  "d",   "s",   "%"};

static enum conversion read_conversion(const char **fmt) {
    for (int i = 0; i < CONVERSIONS; i++) {
        size_t n = strlen(conversions[i]);
        if (strncmp(*fmt, conversions[i], n) == 0) {
            *fmt += n;
            return (enum conversion)i;
        }
    }
    BUG("unknown conversion");
}

static struct str read_bytes(va_list *ap) {
    int n = va_arg(*ap, int);
    const char *p = va_arg(*ap, const char *);
    return (struct str){p, (size_t)n};
}

static void write_argument(struct buf *out, enum conversion conversion, va_list *ap) {
    switch (conversion) {
    case BYTES:
        buf_add(out, read_bytes(ap));
        break;
    case LONG_LONG:
        buf_add_i64(out, va_arg(*ap, long long));
        break;
    case UNSIGNED_LONG_LONG:
        buf_add_u64(out, va_arg(*ap, unsigned long long));
        break;
    case CODE_POINT:
        buf_addf(out, "%04X", va_arg(*ap, unsigned));
        break;
    case SIZE:
        buf_add_u64(out, va_arg(*ap, size_t));
        break;
    case INT:
        buf_add_i64(out, va_arg(*ap, int));
        break;
    case STRING:
        buf_add(out, str_of(va_arg(*ap, const char *)));
        break;
    case PERCENT:
    case CONVERSIONS:
        buf_add_char(out, '%');
        break;
    }
}

struct str valid__vtext(struct arena *a, const char *fmt, va_list args) {
    struct buf out = BUF_INIT(2 * LIMIT_OBJECT_BYTES);
    va_list ap;
    va_copy(ap, args);
    for (const char *next; (next = strchr(fmt, '%')); fmt = next) {
        buf_add(&out, (struct str){fmt, (size_t)(next - fmt)});
        next++;
        write_argument(&out, read_conversion(&next), &ap);
    }
    va_end(ap);
    buf_add(&out, str_of(fmt));
    struct str text = out.n ? arena_str(a, buf_view(&out)) : STR("");
    buf_release(&out);
    return text;
}

struct str valid__text(struct arena *a, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    struct str text = valid__vtext(a, fmt, ap);
    va_end(ap);
    return text;
}
