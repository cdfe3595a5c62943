/* The outside world as commands see it: terminals, environment, output, and error reports. */
#include "base/printable.h"
#include "base/utf8.h"
#include "cli/io.h"
#include "cmd/cmd.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { DEFAULT_WIDTH = 80, LEAST_WIDTH = 40, MOST_WIDTH = 1000, LONGEST_REPORT = 4096 };

const char *cmd_getenv(const struct cmd_ctx *ctx, const char *name) {
    size_t n = strlen(name);
    for (const char *const *e = ctx->env; *e; e++)
        if (strncmp(*e, name, n) == 0 && (*e)[n] == '=')
            return *e + n + 1;
    return NULL;
}

static unsigned text_width(const struct cmd_ctx *ctx) {
    struct winsize size;
    int64_t columns = 0;
    const char *columns_text = cmd_getenv(ctx, "COLUMNS");
    if (!columns_text || !str_to_i64(str_of(columns_text), &columns)) {
        if (!ctx->out_is_tty || ioctl(ctx->out, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
            return DEFAULT_WIDTH;
        columns = size.ws_col;
    }
    if (columns > MOST_WIDTH)
        columns = MOST_WIDTH;
    return columns < LEAST_WIDTH ? LEAST_WIDTH : (unsigned)columns;
}

/* https://no-color.org: set to anything but the empty string. */
static bool wants_colour(const struct cmd_ctx *ctx) {
    const char *no_colour = cmd_getenv(ctx, "NO_COLOR");
    const char *term = cmd_getenv(ctx, "TERM");
    return !(no_colour && *no_colour) && !(term && strcmp(term, "dumb") == 0);
}

void cmd_ctx_init(struct cmd_ctx *ctx, int in, int out, int err, const char *const *env) {
    *ctx = (struct cmd_ctx){
        .program = "berth", .in = in, .out = out, .err = err, .env = env, .clock = &clock_system};
    ctx->in_is_tty = isatty(in);
    ctx->out_is_tty = isatty(out);
    ctx->err_is_tty = isatty(err);
    ctx->out_colour = ctx->out_is_tty && wants_colour(ctx);
    ctx->err_colour = ctx->err_is_tty && wants_colour(ctx);
    ctx->width = text_width(ctx);
    ctx->log = (struct log){.fd = err, .clock = ctx->clock};
}

void cmd_add_title(const struct cmd_ctx *ctx, enum cmd_title title, struct buf *out) {
    static const struct {
        const char *text, *colour;
    } titles[] = {
        [CMD_ERROR] = {"error:", "31"},
        [CMD_WARNING] = {"Warning:", "33"},
        [CMD_HINT] = {"hint:", "36"},
    };
    if (ctx->err_colour)
        buf_addf(out, "\033[%sm%s\033[0m ", titles[title].colour, titles[title].text);
    else
        buf_addf(out, "%s ", titles[title].text);
}

int cmd_hint(struct err *err, struct str hint) {
    AUTO(buf_release) struct buf text = BUF_INIT(2 * ERR_TEXT), told = BUF_INIT(2 * ERR_TEXT);
    bool has_title = err->has_title;
    printable_add(&told, str_of(err->msg));
    size_t room = ERR_TEXT - strlen("...\nhint: ") - 1;
    room -= hint.n < room ? hint.n : room;
    struct str cut = str_sub(buf_view(&told), 0, room);
    buf_add(&text, str_sub(cut, 0, utf8_valid_prefix(cut)));
    buf_addf(&text, "%s\nhint: %.*s", cut.n < told.n ? "..." : "", STR_ARG(hint));
    err_set(err, err->code, "%.*s", STR_ARG(buf_view(&text)));
    err->has_lines = true;
    err->has_title = has_title;
    return -1;
}

void cmd_report(const struct cmd_ctx *ctx, const struct cmd *who, const struct err *err) {
    if (err->msg[0] == 0)
        return;
    AUTO(buf_release) struct buf text = BUF_INIT(LONGEST_REPORT);
    if (!err->has_title)
        cmd_add_title(ctx, CMD_ERROR, &text);
    if (err->has_lines)
        printable_add_lines(&text, str_of(err->msg));
    else
        printable_add(&text, str_of(err->msg));
    if (err->code == ERR_USAGE || !str_ends(buf_view(&text), STR("\n")))
        buf_add_char(&text, '\n');
    if (err->code == ERR_USAGE && who)
        buf_addf(&text, "See '%s %s --help' for usage.\n", ctx->program, who->name);
    else if (err->code == ERR_USAGE)
        buf_addf(&text, "Run '%s --help' for usage.\n", ctx->program);
    /* There is nobody left to tell when standard error cannot be written. */
    (void)io_write(ctx->err, buf_view(&text), NULL);
}
