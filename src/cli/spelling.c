/* Levenshtein distance over two short rows, and the list of names near a typed one. */
#include "cli/spelling.h"

#include <ctype.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/printable.h"

enum { LONGEST_NAME = 40, MOST_EDITS = 2 };

static size_t min3(size_t a, size_t b, size_t c) {
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* Does b begin with a, letter case aside? */
static bool begins_with(struct str b, struct str a) {
    return a.n <= b.n && strncasecmp(a.p, b.p, a.n) == 0;
}

/* The next row of the table of edits, for the letter c of the one word; the least figure in it. */
static size_t next_row(size_t *row, char c, struct str word) {
    size_t diagonal = row[0], fewest = ++row[0];
    for (size_t j = 1; j <= word.n; j++) {
        bool same = tolower((unsigned char)c) == tolower((unsigned char)word.p[j - 1]);
        size_t edits = min3(row[j] + 1, row[j - 1] + 1, diagonal + !same);
        diagonal = row[j];
        row[j] = edits;
        if (edits < fewest)
            fewest = edits;
    }
    return fewest;
}

size_t suggest_distance(struct str a, struct str b) {
    size_t row[LONGEST_NAME + 1], apart = a.n > b.n ? a.n - b.n : b.n - a.n;
    if (a.n > LONGEST_NAME || b.n > LONGEST_NAME)
        return SIZE_MAX;
    if (begins_with(a, b) || begins_with(b, a))
        return apart;
    if (apart > MOST_EDITS)
        return SIZE_MAX;
    for (size_t j = 0; j <= b.n; j++)
        row[j] = j;
    for (size_t i = 0; i < a.n; i++)
        if (next_row(row, a.p[i], b) > MOST_EDITS)
            return SIZE_MAX;
    return row[b.n] > MOST_EDITS ? SIZE_MAX : row[b.n];
}

void suggest_offer(struct suggest *s, const char *name) {
    struct str candidate = str_of(name);
    bool begins = s->typed.n > 0 && begins_with(candidate, s->typed);
    size_t edits = suggest_distance(s->typed, candidate);
    bool near = edits <= MOST_EDITS && edits < candidate.n;
    if (s->n < SUGGEST_MOST && (begins || near))
        s->names[s->n++] = name;
}

/* Cuts the next word off *rest: up to the next capital that follows a small letter. */
static struct str next_word(struct str *rest) {
    size_t n = 1;
    while (n < rest->n &&
           !(isupper((unsigned char)rest->p[n]) && !isupper((unsigned char)rest->p[n - 1])))
        n++;
    struct str word = str_sub(*rest, 0, n);
    *rest = str_sub(*rest, n, rest->n);
    return word;
}

void suggest_offer_words(struct suggest *s, const char *name) {
    struct str rest = s->typed, in = str_of(name);
    size_t words = 0;
    for (; rest.n; words++) {
        size_t at = 0;
        struct str word = next_word(&rest);
        while (at + word.n <= in.n && strncasecmp(in.p + at, word.p, word.n) != 0)
            at++;
        if (at + word.n > in.n)
            return;
        in = str_sub(in, at + word.n, in.n);
    }
    if (words > 1 && s->n < SUGGEST_MOST)
        s->names[s->n++] = name;
}

int suggest_fail(const struct suggest *s, const char *prefix, struct err *err) {
    if (s->n == 0 || !err)
        return -1;
    AUTO(buf_release) struct buf text = BUF_INIT(2 * ERR_TEXT);
    printable_add(&text, str_of(err->msg));
    buf_add(&text, STR("\n\nDid you mean this?\n"));
    for (size_t i = 0; i < s->n; i++) {
        buf_addf(&text, "\t%s", prefix);
        printable_add(&text, str_of(s->names[i]));
        buf_add_char(&text, '\n');
    }
    err_set(err, err->code, "%.*s", STR_ARG(buf_view(&text)));
    err->has_lines = true;
    return -1;
}
