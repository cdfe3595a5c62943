/* Classes of ASCII characters, whatever the locale; bytes beyond ASCII are in none of them. */
#ifndef BASE_ASCII_H
#define BASE_ASCII_H

#include <stdbool.h>

/* 0 to 9; a to z; A to Z; a letter; a letter or digit. */
static inline bool ascii_is_digit(char c) {
    return c >= '0' && c <= '9';
}
static inline bool ascii_is_lower(char c) {
    return c >= 'a' && c <= 'z';
}
static inline bool ascii_is_upper(char c) {
    return c >= 'A' && c <= 'Z';
}
static inline bool ascii_is_letter(char c) {
    return ascii_is_lower(c) || ascii_is_upper(c);
}
static inline bool ascii_is_alnum(char c) {
    return ascii_is_letter(c) || ascii_is_digit(c);
}

/* The small letter of a capital one; anything else as it is. */
static inline char ascii_to_lower(char c) {
    return ascii_is_upper(c) ? (char)(c + ('a' - 'A')) : c;
}

/* What a hexadecimal digit stands for; -1 when it is none. */
static inline int ascii_hex_value(char c) {
    if (ascii_is_digit(c))
        return c - '0';
    char lower = ascii_to_lower(c);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

#endif
