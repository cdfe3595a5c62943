#include "cli/io.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int io_fail(struct err *err, const char *fmt, ...) {
    const char *why = strerror(errno);
    char context[ERR_TEXT];
    va_list args;
    va_start(args, fmt);
    vsnprintf(context, sizeof context, fmt, args);
    va_end(args);
    return err_set(err, ERR_IO, "%s: %c%s", context, tolower((unsigned char)why[0]), why + 1);
}

int io_write(int fd, struct str s, struct err *err) {
    while (s.n > 0) {
        ssize_t n = write(fd, s.p, s.n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EPIPE)
            return err_set(err, ERR_IO, "%s", "");
        if (n < 0)
            return io_fail(err, "write standard output");
        s = str_sub(s, (size_t)n, s.n);
    }
    return 0;
}
