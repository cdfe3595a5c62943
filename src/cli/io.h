/*
 * Descriptors: writing all of a text, and errno as an error.
 */
#ifndef CLI_IO_H
#define CLI_IO_H

#include "base/err.h"
#include "base/str.h"

/* Writes all of s to fd. Fails with ERR_IO; a closed pipe gives ERR_IO and an empty text. */
int io_write(int fd, struct str s, struct err *err);

/* "context: what errno says", with code ERR_IO; the system's text begins in lower case, as Go has
 * it. Always returns -1. */
__attribute__((format(printf, 2, 3))) int io_fail(struct err *err, const char *fmt, ...);

#endif
