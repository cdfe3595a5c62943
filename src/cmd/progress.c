/* Progress of reading and of work that is counted, on the injected clock. */
#include "cmd/progress.h"
#include "cli/io.h"

enum { LINE_BYTES = 256 };

/* Work shorter than the first needs no display; a display faster than the second is a flicker. */
#define SHOW_AFTER (CLOCK_SECOND / 2)
#define SHOW_EVERY (CLOCK_SECOND / 10)

#define ERASE_LINE "\r\033[K"

void progress_init(struct progress *p, const struct cmd_ctx *ctx, uint64_t total) {
    *p = (struct progress){.ctx = ctx, .total = total};
    if (ctx->err_is_tty)
        p->started = clock_mono(ctx->clock);
}

void progress_init_count(struct progress *p, const struct cmd_ctx *ctx, uint64_t total,
                         const char *things) {
    progress_init(p, ctx, total);
    p->things = things;
}

static void print_count(const struct progress *p, int64_t elapsed, uint64_t done) {
    AUTO(buf_release) struct buf line = BUF_INIT(LINE_BYTES);
    unsigned long long n = done, all = p->total;
    double rate = (double)done / ((double)elapsed / (double)CLOCK_SECOND);
    if (all)
        buf_addf(&line, ERASE_LINE "%llu of %llu %s (%d %%), %.0f %s/s", n, all, p->things,
                 (int)(100 * n / all), rate, p->things);
    else
        buf_addf(&line, ERASE_LINE "%llu %s, %.0f %s/s", n, p->things, rate, p->things);
    (void)io_write(p->ctx->err, buf_view(&line), NULL);
}

static double megabytes(uint64_t bytes) {
    return (double)bytes / 1e6;
}

static void print(const struct progress *p, int64_t elapsed, uint64_t bytes, uint64_t objects) {
    AUTO(buf_release) struct buf line = BUF_INIT(LINE_BYTES);
    buf_addf(&line, ERASE_LINE "%.1f MB", megabytes(bytes));
    if (p->total >= bytes && p->total > 0)
        buf_addf(&line, " of %.1f MB (%d %%)", megabytes(p->total),
                 (int)(100 * megabytes(bytes) / megabytes(p->total)));
    buf_addf(&line, ", %llu objects, %.1f MB/s", (unsigned long long)objects,
             megabytes(bytes) / ((double)elapsed / (double)CLOCK_SECOND));
    (void)io_write(p->ctx->err, buf_view(&line), NULL);
}

void progress_update(struct progress *p, uint64_t bytes, uint64_t objects) {
    if (!p->ctx->err_is_tty)
        return;
    int64_t now = clock_mono(p->ctx->clock);
    bool due = p->shown ? now - p->shown >= SHOW_EVERY : now - p->started >= SHOW_AFTER;
    if (!due)
        return;
    if (p->things)
        print_count(p, now - p->started, bytes);
    else
        print(p, now - p->started, bytes, objects);
    p->shown = now;
}

void progress_end(struct progress *p) {
    if (p->shown)
        (void)io_write(p->ctx->err, STR(ERASE_LINE), NULL);
    p->shown = 0;
}
