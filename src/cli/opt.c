/* The one option parser: it knows kinds of values, and no option by name. */
#include "cli/opt.h"

#include "cli/spelling.h"

/* An option as found on the command line. */
struct found {
    const struct opt *opt;
    void *value; /* where it goes */
};

/* The words that are left to parse. */
struct cursor {
    const struct opt_list *words;
    size_t at;
};

void opt_list_add(struct arena *a, struct opt_list *list, struct str s) {
    bool is_full = (list->n & (list->n - 1)) == 0;
    if (is_full) {
        size_t room = list->n == 0 ? 1 : 2 * list->n;
        struct str *grown = arena_array(a, struct str, room);
        for (size_t i = 0; i < list->n; i++)
            grown[i] = list->v[i];
        list->v = grown;
    }
    list->v[list->n++] = s;
}

static bool find_long(const struct opt_parser *p, struct str name, struct found *out) {
    for (size_t t = 0; t < p->target_count; t++)
        for (const struct opt *o = p->targets[t].rows; o->name; o++)
            if (str_is(name, o->name)) {
                *out = (struct found){o, (char *)p->targets[t].base + o->offset};
                return true;
            }
    return false;
}

static bool find_short(const struct opt_parser *p, char letter, struct found *out) {
    for (size_t t = 0; t < p->target_count; t++)
        for (const struct opt *o = p->targets[t].rows; o->name; o++)
            if (o->letter == letter) {
                *out = (struct found){o, (char *)p->targets[t].base + o->offset};
                return true;
            }
    return false;
}

struct str opt_words_join(struct arena *a, const char *const *words, const char *separator,
                          const char *last) {
    struct str joined = STR("");
    for (size_t i = 0; words[i]; i++) {
        const char *between = i == 0 ? "" : words[i + 1] ? separator : last;
        joined = arena_printf(a, "%.*s%s%s", STR_ARG(joined), between, words[i]);
    }
    return joined;
}

static int bad_value(const struct opt *o, struct str value, const char *why, struct err *err) {
    char letter[] = {'-', o->letter, ',', ' ', 0};
    return err_set(err, ERR_USAGE, "invalid argument \"%.*s\" for \"%s--%s\" flag: %s",
                   STR_ARG(value), o->letter ? letter : "", o->name, why);
}

/* The spellings that Go's strconv.ParseBool takes. */
static int store_flag(const struct opt *o, struct str value, bool *out, struct err *err) {
    static const char *const yes[] = {"true", "1", "t", "T", "TRUE", "True"};
    static const char *const no[] = {"false", "0", "f", "F", "FALSE", "False"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        bool is_yes = str_is(value, yes[i]);
        if (is_yes || str_is(value, no[i])) {
            *out = is_yes;
            return 0;
        }
    }
    return bad_value(o, value, "must be true or false", err);
}

static int store_int(const struct opt *o, struct str value, int64_t *out, struct err *err) {
    int64_t number;
    if (!str_to_i64(value, &number) || number < 0)
        return bad_value(o, value, "must be a whole number from 0 to 9223372036854775807", err);
    *out = number;
    return 0;
}

static int bad_choice(struct arena *a, const struct opt *o, struct str value, struct err *err) {
    struct str choices = opt_words_join(a, o->words, ", ", " or ");
    return bad_value(o, value, arena_printf(a, "must be %.*s", STR_ARG(choices)).p, err);
}

static int store_enum(struct arena *a, const struct opt *o, struct str value, int *out,
                      struct err *err) {
    for (int i = 0; o->words[i]; i++)
        if (str_is(value, o->words[i])) {
            *out = i;
            return 0;
        }
    return bad_choice(a, o, value, err);
}

static int store_form(struct arena *a, const struct opt *o, struct str value, struct opt_form *out,
                      struct err *err) {
    for (int i = 0; o->words[i]; i++) {
        struct str word = str_of(o->words[i]);
        bool has_text = str_ends(word, STR("="));
        if (has_text ? !str_starts(value, word) : !str_eq(value, word))
            continue;
        *out = (struct opt_form){i, {0}};
        if (has_text)
            out->text = arena_str(a, str_sub(value, word.n, value.n));
        return 0;
    }
    return bad_choice(a, o, value, err);
}

static void store_list(struct arena *a, struct str value, struct opt_list *out) {
    bool more = true;
    while (more) {
        struct str head;
        more = str_cut(value, ',', &head, &value);
        opt_list_add(a, out, arena_str(a, head));
    }
}

static int store(struct arena *a, const struct found *f, struct str value, struct err *err) {
    switch (f->opt->kind) {
    case OPT_FLAG:
        return store_flag(f->opt, value, f->value, err);
    case OPT_INT:
        return store_int(f->opt, value, f->value, err);
    case OPT_ENUM:
        return store_enum(a, f->opt, value, f->value, err);
    case OPT_FORM:
        return store_form(a, f->opt, value, f->value, err);
    case OPT_STR:
        *(struct str *)f->value = value;
        return 0;
    case OPT_LIST:
    case OPT_FILES:
        store_list(a, value, f->value);
        return 0;
    case OPT_TEXTS:
        opt_list_add(a, f->value, arena_str(a, value));
        return 0;
    }
    BUG("option of no kind");
}

static void store_defaults(const struct opt_parser *p) {
    for (size_t t = 0; t < p->target_count; t++)
        for (const struct opt *o = p->targets[t].rows; o->name; o++) {
            struct found f = {o, (char *)p->targets[t].base + o->offset};
            if (o->fallback && store(p->arena, &f, str_of(o->fallback), NULL) < 0)
                BUG("the default of an option is not a value for it");
        }
}

/* The value of an option without "=": the next word. Flags, and options with a value that they
 * imply, need none. */
static bool next_value(struct cursor *c, const struct opt *o, struct str *value) {
    if (o->kind == OPT_FLAG)
        *value = STR("true");
    else if (o->implied)
        *value = str_of(o->implied);
    else if (c->at < c->words->n)
        *value = c->words->v[c->at++];
    else
        return false;
    return true;
}

static int unknown_long(const struct opt_parser *p, struct str name, struct err *err) {
    struct suggest suggest = {.typed = name};
    for (size_t t = 0; t < p->target_count; t++)
        for (const struct opt *o = p->targets[t].rows; o->name; o++)
            if (!o->hidden)
                suggest_offer(&suggest, o->name);
    err_set(err, ERR_USAGE, "unknown flag: --%.*s", STR_ARG(name));
    return suggest_fail(&suggest, "--", err);
}

/* --name, --name=value or --name value */
static int parse_long(const struct opt_parser *p, struct cursor *c, struct str word,
                      struct err *err) {
    struct str name, value;
    bool has_value = str_cut(str_sub(word, 2, word.n), '=', &name, &value);
    if (name.n == 0 || name.p[0] == '-')
        return err_set(err, ERR_USAGE, "bad flag syntax: %.*s", STR_ARG(word));
    struct found f;
    if (!find_long(p, name, &f))
        return unknown_long(p, name, err);
    if (!has_value && !next_value(c, f.opt, &value))
        return err_set(err, ERR_USAGE, "flag needs an argument: --%.*s", STR_ARG(name));
    return store(p->arena, &f, value, err);
}

/* -x, -xyz, -xvalue, -x=value or -x value */
static int parse_short(const struct opt_parser *p, struct cursor *c, struct str word,
                       struct err *err) {
    for (struct str rest = str_sub(word, 1, word.n); rest.n > 0; rest = str_sub(rest, 1, rest.n)) {
        struct found f;
        if (!find_short(p, rest.p[0], &f))
            return err_set(err, ERR_USAGE, "unknown shorthand flag: '%c' in -%.*s", rest.p[0],
                           STR_ARG(rest));
        bool has_sign = rest.n > 2 && rest.p[1] == '=';
        bool has_value = has_sign || (rest.n > 1 && f.opt->kind != OPT_FLAG);
        struct str value = str_sub(rest, has_sign ? 2 : 1, rest.n);
        if (!has_value && !next_value(c, f.opt, &value))
            return err_set(err, ERR_USAGE, "flag needs an argument: '%c' in -%.*s", rest.p[0],
                           STR_ARG(rest));
        if (store(p->arena, &f, value, err) < 0)
            return -1;
        if (has_value)
            break;
    }
    return 0;
}

static bool is_option(struct str word) {
    return word.n > 1 && word.p[0] == '-';
}

int opt_parse(const struct opt_parser *p, const struct opt_list *words, struct opt_list *args,
              struct err *err) {
    struct cursor c = {.words = words};
    bool options_ended = false;
    store_defaults(p);
    while (c.at < words->n) {
        struct str word = words->v[c.at++];
        int rc = 0;
        if (options_ended || !is_option(word)) {
            opt_list_add(p->arena, args, word);
            options_ended |= p->stop_at_argument;
        } else if (str_is(word, "--")) {
            options_ended = true;
        } else if (word.p[1] == '-') {
            rc = parse_long(p, &c, word, err);
        } else {
            rc = parse_short(p, &c, word, err);
        }
        if (rc < 0)
            return -1;
    }
    return 0;
}
