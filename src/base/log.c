#include "base/log.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"

/* A line longer than this is cut: a log must not be a way to exhaust memory. */
enum { LONGEST_LINE = 16384 };

/* A double-quoted string with JSON's escapes; they read well in text lines, too. */
static void add_quoted(struct buf *b, struct str s) {
    buf_add_char(b, '"');
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c == '"' || c == '\\')
            buf_addf(b, "\\%c", c);
        else if (c == '\n')
            buf_add(b, STR("\\n"));
        else if (c < 0x20 || c == 0x7F)
            buf_addf(b, "\\u%04x", c);
        else
            buf_add_char(b, (char)c);
    }
    buf_add_char(b, '"');
}

static void add_value(struct buf *b, const struct log_kv *kv) {
    switch (kv->kind) {
    case LOG_KV_STR:
        add_quoted(b, kv->value.s);
        break;
    case LOG_KV_INT:
        buf_add_i64(b, kv->value.i);
        break;
    case LOG_KV_BOOL:
        buf_add(b, kv->value.b ? STR("true") : STR("false"));
        break;
    }
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

struct line {
    enum log_severity severity;
    int64_t wall_ns;
    const char *file;
    int line;
    const char *msg;
    const struct log_kv *kv;
};

/* Of the second; cut, not rounded, so that both formats name the same moment. */
static int microseconds(const struct line *l) {
    return (int)(l->wall_ns % CLOCK_SECOND / 1000);
}

static void write_text(struct buf *b, const struct line *l) {
    time_t seconds = (time_t)(l->wall_ns / CLOCK_SECOND);
    struct tm tm;
    gmtime_r(&seconds, &tm);
    buf_addf(b, "%c%02d%02d %02d:%02d:%02d.%06d %s:%d] ", "IWE"[l->severity], tm.tm_mon + 1,
             tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, microseconds(l), base_name(l->file),
             l->line);
    add_quoted(b, str_of(l->msg));
    for (const struct log_kv *kv = l->kv; kv->key; kv++) {
        buf_addf(b, " %s=", kv->key);
        add_value(b, kv);
    }
}

static void write_json(struct buf *b, const struct line *l) {
    static const char *const names[] = {"info", "warning", "error"};
    buf_addf(b, "{\"ts\":%lld.%06d,\"severity\":\"%s\",\"caller\":\"%s:%d\",\"msg\":",
             (long long)(l->wall_ns / CLOCK_SECOND), microseconds(l), names[l->severity],
             base_name(l->file), l->line);
    add_quoted(b, str_of(l->msg));
    for (const struct log_kv *kv = l->kv; kv->key; kv++) {
        buf_addf(b, ",\"%s\":", kv->key);
        add_value(b, kv);
    }
    buf_add_char(b, '}');
}

void log_write(const struct log *log, enum log_severity severity, const char *file, int line,
               const char *msg, const struct log_kv *kv) {
    struct buf b = BUF_INIT(LONGEST_LINE);
    struct line l = {severity, clock_wall(log->clock), file, line, msg, kv};
    (log->format == LOG_JSON ? write_json : write_text)(&b, &l);
    if (b.n == LONGEST_LINE)
        b.n--; /* the line break matters more than the last byte of a long line */
    buf_add_char(&b, '\n');
    /* A log line that cannot be written has nowhere to be reported. */
    ssize_t written = write(log->fd, b.p, b.n);
    (void)written;
    buf_release(&b);
}

bool log_limit_allows(struct log_limit *limit, const struct log *log) {
    int64_t second = clock_mono(log->clock) / CLOCK_SECOND;
    if (second != limit->second) {
        if (limit->left_out)
            log_warn(log, "Lines like the next one were left out",
                     LOG_I64("count", (int64_t)limit->left_out));
        *limit = (struct log_limit){.second = second};
    }
    if (limit->lines++ < LOG_MOST_IN_SECOND)
        return true;
    limit->left_out++;
    return false;
}
