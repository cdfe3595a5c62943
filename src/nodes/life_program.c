/*
 * Commands that are so simple that what they do can be told without running them: true, false,
 * exit, sleep and echo, alone or in a shell, one after the other. What has anything else in it
 * (variables, pipes, loops, other programs) is not told at all, so that nothing is told wrong.
 */
#include "base/clock.h"
#include "base/limits.h"
#include "base/vec.h"
#include "nodes/life_int.h"

/* A command as it is read: words of one statement, and what has come of those before. */
struct shell {
    struct arena *a;
    struct str rest;
    bool is_shell; /* `exit` is a word of it */
    struct str words[LIMIT_SIMULATED_COMMAND_WORDS];
    size_t n;
    int64_t at; /* nanoseconds that have passed; INT64_MAX: it sleeps for ever */
    int32_t status;
    bool has_exited;
    bool is_open; /* the last line has no end yet */
    VEC(struct nodes__line) lines;
};

/* What stands between two statements. */
enum joint { JOINT_NEXT, JOINT_AND, JOINT_OR, JOINT_END, JOINT_UNKNOWN };

/* ---- statements ---- */

/* Nanoseconds of 2, 0.5, 3m, inf, which is also what nobody lives to see; false: it is none. */
static bool read_sleep(struct str word, int64_t *ns) {
    static const struct {
        char unit;
        int64_t seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
    int64_t whole = 0, part = 0, unit = 1, scale = CLOCK_SECOND;
    struct str head, tail;
    if (str_is(word, "inf") || str_is(word, "infinity")) {
        *ns = INT64_MAX;
        return true;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (word.n > 1 && word.p[word.n - 1] == units[i].unit) {
            unit = units[i].seconds;
            word.n--;
            break;
        }
    bool has_part = str_cut(word, '.', &head, &tail);
    if (!has_part)
        head = word;
    if (head.n > 9 || !str_to_i64(head.n ? head : STR("0"), &whole) || whole < 0)
        return false;
    for (size_t i = 0; has_part && i < tail.n && i < 9; i++)
        part = part * 10 + (tail.p[i] - '0'), scale /= 10;
    for (size_t i = 0; has_part && i < tail.n; i++)
        if (tail.p[i] < '0' || tail.p[i] > '9')
            return false;
    if (__builtin_mul_overflow(whole * CLOCK_SECOND + part * scale, unit, ns))
        *ns = INT64_MAX;
    return true;
}

static bool run_sleep(struct shell *s) {
    for (size_t i = 1; i < s->n; i++) {
        int64_t ns;
        if (!read_sleep(s->words[i], &ns))
            return false;
        if (__builtin_add_overflow(s->at, ns, &s->at))
            s->at = INT64_MAX;
    }
    s->has_exited = s->at == INT64_MAX;
    s->status = 0;
    return s->n > 1;
}

static bool run_exit(struct shell *s) {
    int64_t code = s->status;
    if (!s->is_shell || s->n > 2 || (s->n == 2 && (!str_to_i64(s->words[1], &code) || code < 0)))
        return false;
    s->status = (int32_t)(code & 255);
    s->has_exited = true;
    return true;
}

/* Other options of echo than -n differ between shells. */
static bool run_echo(struct shell *s) {
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_OBJECT_BYTES);
    size_t first = s->n > 1 && str_is(s->words[1], "-n") ? 2 : 1;
    struct nodes__line line = {.at = s->at};
    if (s->n > first && str_starts(s->words[first], STR("-")))
        return false;
    if (s->is_open) {
        line = s->lines.v[--s->lines.n];
        buf_add(&text, line.text);
    }
    for (size_t i = first; i < s->n; i++)
        buf_addf(&text, "%s%.*s", i > first ? " " : "", STR_ARG(s->words[i]));
    line.text = arena_str(s->a, buf_view(&text));
    s->is_open = first == 2;
    vec_push(&s->lines, line);
    s->status = 0;
    return true;
}

static bool run_true(struct shell *s) {
    s->status = 0;
    return true;
}

static bool run_false(struct shell *s) {
    s->status = 1;
    return true;
}

static bool run_pause(struct shell *s) {
    s->at = INT64_MAX;
    s->has_exited = true;
    return true;
}

static struct str base_name(struct str path) {
    for (size_t i = path.n; i > 0; i--)
        if (path.p[i - 1] == '/')
            return str_sub(path, i, path.n);
    return path;
}

static bool run_statement(struct shell *s) {
    static const struct {
        const char *name;
        bool (*run)(struct shell *s);
    } programs[] = {
        {"true", run_true}, {":", run_true},      {"false", run_false}, {"sleep", run_sleep},
        {"echo", run_echo}, {"pause", run_pause}, {"exit", run_exit},
    };
    struct str name = s->n ? base_name(s->words[0]) : STR(":");
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (str_is(name, programs[i].name))
            return programs[i].run(s);
    return false;
}

/* ---- a script ---- */

/* Letters that mean nothing to a shell but themselves. */
static bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (unsigned char)c >= 0x80 || (c && strchr("_-+./:,@%^!=", c));
}

/* What stands in quotes; absent: it is not closed, or means more than itself. */
static struct str read_quoted(struct shell *s, char quote) {
    for (size_t i = 1; i < s->rest.n; i++) {
        char c = s->rest.p[i];
        if (quote == '"' && (c == '$' || c == '`' || c == '\\' || c == '!'))
            break;
        if (c != quote)
            continue;
        struct str inner = str_sub(s->rest, 1, i);
        s->rest = str_sub(s->rest, i + 1, s->rest.n);
        return (struct str){inner.n ? inner.p : "", inner.n};
    }
    return (struct str){0};
}

/* The word that the rest begins with; false: it cannot be read. */
static bool read_word(struct shell *s) {
    AUTO(buf_release) struct buf word = BUF_INIT(LIMIT_SIMULATED_COMMAND_BYTES);
    if (s->n == LIMIT_SIMULATED_COMMAND_WORDS)
        return false;
    while (s->rest.n) {
        char c = s->rest.p[0];
        if (c == '\'' || c == '"') {
            struct str inner = read_quoted(s, c);
            if (!inner.p)
                return false;
            buf_add(&word, inner);
        } else if (is_plain(c)) {
            buf_add_char(&word, c);
            s->rest = str_sub(s->rest, 1, s->rest.n);
        } else
            break;
    }
    s->words[s->n++] = arena_str(s->a, buf_view(&word));
    return true;
}

static void skip(struct shell *s, size_t n) {
    s->rest = str_sub(s->rest, n, s->rest.n);
}

static bool has_assignment(const struct shell *s) {
    return s->n && str_find_char(s->words[0], '=') != STR_NONE;
}

/* Reads one statement up to what joins it to the next. */
static enum joint read_statement(struct shell *s) {
    s->n = 0;
    for (;;) {
        char c = s->rest.n ? s->rest.p[0] : 0;
        if (!s->rest.n)
            return JOINT_END;
        if (c == ' ' || c == '\t') {
            skip(s, 1);
            continue;
        }
        if (c == ';' || c == '\n') {
            skip(s, 1);
            return JOINT_NEXT;
        }
        if (str_starts(s->rest, STR("&&")) || str_starts(s->rest, STR("||"))) {
            skip(s, 2);
            return c == '&' ? JOINT_AND : JOINT_OR;
        }
        bool is_word = is_plain(c) || c == '\'' || c == '"';
        if (!is_word || !read_word(s) || has_assignment(s))
            return JOINT_UNKNOWN;
    }
}

static bool run_script(struct shell *s) {
    bool runs = true;
    while (!s->has_exited) {
        enum joint joint = read_statement(s);
        if (joint == JOINT_UNKNOWN || (runs && !run_statement(s)))
            return false;
        if (joint == JOINT_END)
            break;
        if (joint == JOINT_NEXT)
            runs = true;
        else
            runs = joint == JOINT_AND ? s->status == 0 : s->status != 0;
    }
    return true;
}

/* ---- commands ---- */

/* Images that bring nothing that would get the arguments, and run a shell when there are none. */
static bool has_no_entrypoint(struct str image) {
    static const char *const names[] = {"busybox", "alpine", "debian", "ubuntu"};
    struct str name = base_name(image), rest;
    str_cut(name, '@', &name, &rest);
    str_cut(name, ':', &name, &rest);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(name, names[i]))
            return true;
    return false;
}

static bool add_words(struct shell *s, const struct api_strs *words) {
    for (size_t i = 0; i < words->n; i++) {
        bool is_short = words->v[i].n <= LIMIT_SIMULATED_COMMAND_BYTES;
        if (!is_short || s->n == LIMIT_SIMULATED_COMMAND_WORDS ||
            str_find(words->v[i], STR("$(")) != STR_NONE)
            return false;
        s->words[s->n++] = words->v[i];
    }
    return true;
}

static bool is_script(const struct shell *s) {
    static const char *const shells[] = {"sh", "bash", "ash", "dash"};
    if (s->n != 3 || !str_is(s->words[1], "-c"))
        return false;
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (str_is(base_name(s->words[0]), shells[i]))
            return true;
    return false;
}

bool nodes__read_program(struct arena *a, const struct api_container *c,
                         struct nodes__program *out) {
    struct shell s = {.a = a};
    bool is_own = !c->command.n, is_idle = is_own && !c->args.n;
    if (is_own && !has_no_entrypoint(c->image))
        return false;
    if (is_idle) { /* a shell that has nothing to read ends */
        *out = (struct nodes__program){0};
        return !c->stdin;
    }
    bool is_told = add_words(&s, &c->command) && add_words(&s, &c->args);
    if (is_told && is_script(&s)) {
        s.is_shell = true;
        s.rest = s.words[2];
        is_told = run_script(&s);
    } else
        is_told = is_told && run_statement(&s);
    *out = (struct nodes__program){.runs = s.at, .exit_code = s.status, .n = s.lines.n};
    out->lines = arena_array(a, struct nodes__line, s.lines.n);
    for (size_t i = 0; i < s.lines.n; i++)
        out->lines[i] = s.lines.v[i];
    vec_release(&s.lines);
    return is_told;
}
