/*
 * The printing behind buf_addf, arena_printf and their like: printf's formats, but a string with
 * its length ("%.*s" and STR_ARG) is written whole, NUL bytes included. Keys and values from
 * outside may hold any byte, and a text about them must not end there.
 */
#ifndef BASE_PRINT_H
#define BASE_PRINT_H

#include <stdarg.h>
#include <stddef.h>

/*
 * Writes the text to `to`, at most room - 1 bytes and a NUL, and returns how many bytes the whole
 * text has, as vsnprintf does; the caller can use `args` again. Knows the conversions %.*s %c %%
 * and, with flags, width and precision, s d u x X o (of int, long, long long and size_t) f e g; any
 * other, a negative length or precision, and NULL for %s are bugs. Only %.*s itself goes past a
 * NUL, not its forms with a width.
 */
__attribute__((format(printf, 3, 0))) size_t print_text(char *to, size_t room, const char *fmt,
                                                        va_list args);

#endif
