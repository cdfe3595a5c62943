/*
 * cel_spec: asks our engine the tests that conformance.mjs reads from the specification's package.
 *
 * A line of standard input is one test as JSON, in the form of cel_conformance_k8s.jsonl; a line of
 * standard output is its verdict: "ok", or "differs: " and what we answer instead.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../vectors/vectors.h"
#include "base/limits.h"

static void check(struct arena *a, struct str line, struct buf *why) {
    struct json parsed;
    struct err err;
    if (json_parse(a, line, NULL, &parsed, &err) < 0)
        buf_addf(why, "not JSON: %s", err.msg);
    else if (vectors_check_cel_conformance(a, &parsed, why) == 0)
        return;
    else if (why->n == 0)
        buf_add(why, STR("no reason given"));
}

static void print_verdict(struct str why) {
    fputs(why.n ? "differs: " : "ok", stdout);
    for (size_t i = 0; i < why.n; i++)
        putchar(why.p[i] == '\n' ? ' ' : why.p[i]);
    putchar('\n');
}

int main(void) {
    struct arena arena = {0};
    struct buf why = BUF_INIT(LIMIT_OBJECT_BYTES);
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    while ((n = getline(&line, &room, stdin)) > 0) {
        arena_reset(&arena);
        buf_clear(&why);
        check(&arena, (struct str){line, (size_t)n}, &why);
        print_verdict(buf_view(&why));
    }
    free(line);
    arena_release(&arena);
    buf_release(&why);
    return 0;
}
