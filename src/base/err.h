/*
 * Why an operation failed: a code for programs, a text for people, and a place in the input when
 * there is one. Lives on the caller's stack; there is nothing to free.
 *
 * Functions that can fail take `struct err *err` last and return -1 with it filled; on success it
 * is untouched. Outcomes that are expected (a value does not match, an object is invalid) are data
 * and never travel this way. Bugs are asserted, not reported.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdbool.h>
#include <stdint.h>

/* code, HTTP status, Kubernetes reason */
#define ERR_CODES(X)                           \
    X(NONE, 200, "")                           \
    X(INVALID, 400, "BadRequest")              \
    X(UNPROCESSABLE, 422, "Invalid")           \
    X(NOT_FOUND, 404, "NotFound")              \
    X(EXISTS, 409, "AlreadyExists")            \
    X(CONFLICT, 409, "Conflict")               \
    X(FORBIDDEN, 403, "Forbidden")             \
    X(UNAUTHORIZED, 401, "Unauthorized")       \
    X(TOO_LARGE, 413, "RequestEntityTooLarge") \
    X(TOO_MANY, 429, "TooManyRequests")        \
    X(GONE, 410, "Gone")                       \
    X(EXPIRED, 410, "Expired")                 \
    X(METHOD, 405, "MethodNotAllowed")         \
    X(NOT_ACCEPTABLE, 406, "NotAcceptable")    \
    X(MEDIA_TYPE, 415, "UnsupportedMediaType") \
    X(UNAVAILABLE, 503, "ServiceUnavailable")  \
    X(TIMEOUT, 504, "Timeout")                 \
    X(USAGE, 400, "BadRequest")                \
    X(IO, 500, "InternalError")                \
    X(INTERNAL, 500, "InternalError")          \
    X(UNTOLD, 500, "")

enum err_code {
#define X(name, status, reason) ERR_##name,
    ERR_CODES(X)
#undef X
};

enum { ERR_TEXT = 512 };

struct err {
    enum err_code code;
    uint32_t line, column; /* 1-based place in the input; 0 = none */
    bool has_lines;        /* line breaks in msg are ours: nothing from outside brought them */
    bool has_title;        /* msg begins with a title of its own, and so without "error:" */
    char msg[ERR_TEXT];    /* cut at a character boundary when too long, and then ends in "..." */
};

/* Fills *e; always returns -1, so that a function fails in one line. e may be NULL. */
__attribute__((format(printf, 3, 4))) int err_set(struct err *e, enum err_code code,
                                                  const char *fmt, ...);

/* err_set at a place in the input; line and column are 1-based. */
__attribute__((format(printf, 5, 6))) int
err_set_at(struct err *e, enum err_code code, uint32_t line, uint32_t column, const char *fmt, ...);

/* Puts "context: " before the text, keeping code and place; always returns -1. */
__attribute__((format(printf, 2, 3))) int err_wrap(struct err *e, const char *fmt, ...);

/* The HTTP status and the Kubernetes reason that stand for a code. */
int err_http_status(enum err_code code);
const char *err_reason(enum err_code code);

#endif
