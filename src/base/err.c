#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Ends a text that was cut in "...", without leaving half a UTF-8 sequence before it. */
static void mark_cut(char *msg) {
    size_t at = ERR_TEXT - 1 - 3;
    while (at > 0 && ((unsigned char)msg[at] & 0xC0) == 0x80)
        at--;
    memcpy(msg + at, "...", 4);
}

__attribute__((format(printf, 2, 0))) static void print(char *msg, const char *fmt, va_list ap) {
    int n = vsnprintf(msg, ERR_TEXT, fmt, ap);
    if (n >= ERR_TEXT)
        mark_cut(msg);
}

__attribute__((format(printf, 3, 0))) static void fill(struct err *e, struct err to,
                                                       const char *fmt, va_list ap) {
    if (!e)
        return;
    *e = to;
    print(e->msg, fmt, ap);
}

int err_set(struct err *e, enum err_code code, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    fill(e, (struct err){.code = code}, fmt, ap);
    va_end(ap);
    return -1;
}

int err_set_at(struct err *e, enum err_code code, uint32_t line, uint32_t column, const char *fmt,
               ...) {
    va_list ap;
    va_start(ap, fmt);
    fill(e, (struct err){.code = code, .line = line, .column = column}, fmt, ap);
    va_end(ap);
    return -1;
}

int err_wrap(struct err *e, const char *fmt, ...) {
    if (!e)
        return -1;
    char context[ERR_TEXT], old[ERR_TEXT];
    va_list ap;
    va_start(ap, fmt);
    print(context, fmt, ap);
    va_end(ap);
    memcpy(old, e->msg, sizeof old);
    e->has_title = false;
    int n = snprintf(e->msg, ERR_TEXT, "%s: %s", context, old);
    if (n >= ERR_TEXT)
        mark_cut(e->msg);
    return -1;
}

static const struct {
    int status;
    const char *reason;
} codes[] = {
#define X(name, status, reason) [ERR_##name] = {status, reason},
    ERR_CODES(X)
#undef X
};

int err_http_status(enum err_code code) {
    return codes[code].status;
}

const char *err_reason(enum err_code code) {
    return codes[code].reason;
}
