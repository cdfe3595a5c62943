/*
 * Structured logging as klog does it: a constant message and key=value pairs.
 *
 *     I1115 21:45:47.123456 cmd_validate.c:88] "object read" file="a.yaml" objects=3
 *
 * or, as JSON, {"ts":…,"caller":…,"msg":…,…}. Diagnostics only: results go to stdout by other ways.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/clock.h"
#include "base/str.h"

enum log_format { LOG_TEXT, LOG_JSON };
enum log_severity { LOG_INFO, LOG_WARNING, LOG_ERROR };

struct log {
    int fd;        /* where lines go; each line is one write */
    int verbosity; /* -v N: info lines of a level above it are dropped */
    enum log_format format;
    const struct clock *clock; /* borrowed */
};

struct log_kv {
    const char *key;
    enum { LOG_KV_STR, LOG_KV_INT, LOG_KV_BOOL } kind;
    union {
        struct str s;
        int64_t i;
        bool b;
    } value;
};

#define LOG_STR(k, v)  ((struct log_kv){.key = (k), .kind = LOG_KV_STR, .value.s = (v)})
#define LOG_I64(k, v)  ((struct log_kv){.key = (k), .kind = LOG_KV_INT, .value.i = (v)})
#define LOG_BOOL(k, v) ((struct log_kv){.key = (k), .kind = LOG_KV_BOOL, .value.b = (v)})

/* log_info(log, level, "message", LOG_STR("pod", name), …): dropped unless level <= verbosity. */
#define log_info(log, level, ...) \
    ((level) <= (log)->verbosity ? LOG__CALL(log, LOG_INFO, __VA_ARGS__, LOG__END) : (void)0)

/* Warnings and errors are always written. */
#define log_warn(log, ...)  LOG__CALL(log, LOG_WARNING, __VA_ARGS__, LOG__END)
#define log_error(log, ...) LOG__CALL(log, LOG_ERROR, __VA_ARGS__, LOG__END)

/* Lets at most LOG_MOST_IN_SECOND lines through in a second. For lines of one kind that input can
 * cause in any number; all zeroes at first. */
enum { LOG_MOST_IN_SECOND = 10 };
struct log_limit {
    int64_t second; /* of the log's monotonic clock */
    uint32_t lines; /* in this second */
    uint64_t left_out;
};

/* May a line be written now? If some were left out since the last one, writes how many. */
bool log_limit_allows(struct log_limit *limit, const struct log *log);

#define LOG__END ((struct log_kv){0})
#define LOG__CALL(log, severity, msg, ...) \
    log_write(log, severity, __FILE__, __LINE__, msg, (const struct log_kv[]){__VA_ARGS__})

/* Behind the macros: writes one line; kv ends with an entry whose key is NULL. */
void log_write(const struct log *log, enum log_severity severity, const char *file, int line,
               const char *msg, const struct log_kv *kv);

#endif
