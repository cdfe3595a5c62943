/* The C side of regex.cc: plain C and plain C++ both read it. */
#ifndef CEL_KIT_REGEX_INT_H
#define CEL_KIT_REGEX_INT_H

#include <stdbool.h>
#include <stddef.h>

struct cel_regex;

/* Some of Go's words for what is wrong. */
#define CEL_REGEX_TOO_LARGE  "expression too large"
#define CEL_REGEX_BAD_ESCAPE "invalid escape sequence"

struct cel_regex_error {
    const char *code; /* Go's word for what is wrong */
    char piece[4000]; /* where, n bytes */
    size_t n;
};

/* A compiled pattern, or NULL with *error filled. */
struct cel_regex *cel__regex_compile(const char *pattern, size_t n, struct cel_regex_error *error);

/* The size of the compiled pattern, in instructions. */
size_t cel__regex_steps(const struct cel_regex *re);

/* re may be NULL. */
void cel__regex_delete(struct cel_regex *re);

/* Is there a match in text[from, n)? bounds may be NULL. */
bool cel__regex_search(const struct cel_regex *re, const char *text, size_t n, size_t from,
                       size_t bounds[2]);

#endif
