/*
 * Objects made from few bytes. A seed decides every choice of a rule of walk_grammar.h, each by
 * its own place, so that a choice can be changed and all others stay as they are: the way objects
 * of a cluster change.
 */
#ifndef TEST_SCHED_WALK_OBJECTS_H
#define TEST_SCHED_WALK_OBJECTS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/object.h"
#include "base/buf.h"
#include "feature/feature.h"
#include "walk_grammar.h"

enum { WALK_MOST_CHANGES = 8, WALK_MOST_CHOICES = 160, WALK_MOST_OPTIONS = 24 };

/* A choice that is not the seed's. */
struct walk_change {
    uint32_t choice;
    uint32_t value;
};

/* What an object is made from. */
struct walk_spec {
    uint8_t kind, number; /* a row of walk_kinds; which of them */
    uint8_t seed;
    uint8_t life; /* how often it was made anew */
    uint8_t change_count, oldest;
    uint32_t version; /* how often it was told */
    uint32_t era;     /* objects of different eras have no name in common */
    struct walk_change changes[WALK_MOST_CHANGES];
};

/* The choices that there were when an object was made, in order, and in how many rules and other
 * choices each of them is. */
struct walk_choices {
    uint32_t v[WALK_MOST_CHOICES];
    uint8_t depth[WALK_MOST_CHOICES];
    size_t n;
};

/* A number that looks like chance and is the same everywhere (splitmix64). */
static inline uint64_t walk_mix(uint64_t z) {
    z += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Makes one choice another one from now on; the oldest such change gives way. */
static inline void walk_change(struct walk_spec *spec, uint32_t choice, uint8_t value) {
    size_t i = 0;
    while (i < spec->change_count && spec->changes[i].choice != choice)
        i++;
    if (i == WALK_MOST_CHANGES)
        i = spec->oldest++ % WALK_MOST_CHANGES;
    else if (i == spec->change_count)
        spec->change_count++;
    spec->changes[i] = (struct walk_change){choice, value};
}

/* ---- texts ---- */

struct walk_writer {
    const struct walk_spec *spec;
    struct walk_choices *choices;
    struct buf *out;
    uint8_t depth;
};

static inline unsigned walk_choose(struct walk_writer *w, uint32_t choice, unsigned n) {
    if (w->choices->n < WALK_MOST_CHOICES) {
        w->choices->depth[w->choices->n] = w->depth;
        w->choices->v[w->choices->n++] = choice;
    }
    for (size_t i = 0; i < w->spec->change_count; i++)
        if (w->spec->changes[i].choice == choice)
            return w->spec->changes[i].value % n;
    return (unsigned)(walk_mix((uint64_t)w->spec->seed << 32 | choice) % n);
}

static inline const struct walk_rule *walk_rule(struct str name) {
    for (size_t i = 0; i < sizeof walk_rules / sizeof *walk_rules; i++)
        if (str_is(name, walk_rules[i].name))
            return &walk_rules[i];
    abort();
}

/* The options of the text behind a <, up to its >, whose place is returned. */
static inline size_t walk_options(const char *text, struct str *options, unsigned *n) {
    int depth = 0;
    size_t from = 0;
    *n = 0;
    for (size_t i = 0;; i++) {
        if (depth == 0 && (text[i] == '>' || text[i] == '|')) {
            if (*n == WALK_MOST_OPTIONS)
                abort();
            options[(*n)++] = (struct str){text + from, i - from};
            from = i + 1;
        }
        if (depth == 0 && text[i] == '>')
            return i;
        depth += text[i] == '<' ? 1 : text[i] == '>' ? -1 : 0;
    }
}

/* What names of an era end with; the first era has nothing. */
static inline void walk_write_era(struct buf *out, uint32_t era) {
    if (era)
        buf_addf(out, "e%u", era);
}

static inline bool walk_write_own(const struct walk_writer *w, char c) {
    const struct walk_spec *spec = w->spec;
    switch (c) {
    case '#':
        buf_add_u64(w->out, spec->number);
        return true;
    case '@':
        buf_add_char(w->out, (char)('a' + spec->number % 3));
        return true;
    case '%':
        buf_add_u64(w->out, spec->number / 3);
        return true;
    case '!':
        buf_add_u64(w->out, spec->life);
        return true;
    case '^':
        buf_add_u64(w->out, spec->version);
        return true;
    case '~':
        walk_write_era(w->out, spec->era);
        return true;
    default:
        return false;
    }
}

/* `path` tells the places of one rule apart that is written in several. Eras are no part of it: a
 * seed means the same in all of them. */
static inline void walk_write(struct walk_writer *w, struct str text, uint32_t path) {
    size_t place = 0, counted = 0;
    w->depth++;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        for (; counted < i; counted++)
            place += text.p[counted] != '~';
        uint32_t here = (uint32_t)walk_mix((uint64_t)path << 16 | place);
        if (c == '$') {
            size_t end = i + 1;
            while (end < text.n && text.p[end] >= 'a' && text.p[end] <= 'z')
                end++;
            const struct walk_rule *rule = walk_rule(str_sub(text, i + 1, end));
            walk_write(w, str_of(rule->text), here);
            i = end - 1;
        } else if (c == '<') {
            struct str options[WALK_MOST_OPTIONS];
            unsigned n;
            i += 1 + walk_options(text.p + i + 1, options, &n);
            unsigned taken = walk_choose(w, here, n);
            walk_write(w, options[taken], here + taken);
        } else if (!walk_write_own(w, c)) {
            char quote = c == '"' ? '\'' : '"';
            buf_add_char(w->out, c == '\'' || c == '"' ? quote : c);
        }
    }
    w->depth--;
}

/* Appends an object's text. */
static inline void walk_text(const struct walk_spec *spec, struct walk_choices *choices,
                             struct buf *out) {
    struct walk_writer w = {.spec = spec, .choices = choices, .out = out};
    choices->n = 0;
    walk_write(&w, str_of(walk_rule(str_of(walk_kinds[spec->kind].rule))->text), 0);
}

/* ---- objects ---- */

/* One of the choices; there are many deep in lists, and those further out come as often. */
static inline uint32_t walk_draw_choice(const struct walk_choices *choices, uint64_t chance) {
    enum { DRAWS = 3 };
    size_t best = chance % choices->n;
    for (int i = 1; i < DRAWS; i++) {
        size_t other = (chance >> 16 * i) % choices->n;
        best = choices->depth[other] < choices->depth[best] ? other : best;
    }
    return choices->v[best];
}

/* Makes one choice another one so that the object's text changes; gives up where that is hard. */
static inline void walk_vary(struct walk_spec *spec, const struct walk_choices *choices,
                             uint64_t chance) {
    enum { TRIES = 12, OF_ONE = 4 };
    struct buf before = BUF_INIT(1 << 16), after = BUF_INIT(1 << 16);
    struct walk_choices unused;
    uint32_t choice = 0;
    walk_text(spec, &unused, &before);
    for (int i = 0; i < TRIES; i++) {
        struct walk_spec varied = *spec;
        chance = walk_mix(chance);
        choice = i % OF_ONE ? choice : walk_draw_choice(choices, chance);
        walk_change(&varied, choice, (uint8_t)(chance >> 56));
        buf_clear(&after);
        walk_text(&varied, &unused, &after);
        if (str_eq(buf_view(&before), buf_view(&after)))
            continue;
        *spec = varied;
        break;
    }
    buf_release(&before);
    buf_release(&after);
}

/* An object with defaults; the caller owns it. */
static inline struct api_object *walk_object(const struct walk_spec *spec,
                                             struct walk_choices *choices,
                                             const struct feature_set *gates) {
    struct buf text = BUF_INIT(1 << 16);
    struct arena a = {0};
    struct json tree;
    struct api_object *o = NULL;
    walk_text(spec, choices, &text);
    if (json_parse(&a, buf_view(&text), NULL, &tree, NULL) < 0 ||
        api_object_decode(&tree, &(struct api_decode_opts){.strict = true}, &o, NULL) < 0) {
        fprintf(stderr, "%.*s cannot be decoded\n", STR_ARG(buf_view(&text)));
        abort();
    }
    arena_release(&a);
    buf_release(&text);
    api_object_default(o, gates);
    return o;
}

#endif
