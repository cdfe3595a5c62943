/*
 * Cron schedules, judged as robfig/cron's standard parser does, which upstream uses: five fields or
 * a descriptor such as @daily, after an optional time zone. Only the verdict is needed here.
 *
 * Follows github.com/robfig/cron/v3, func ParseStandard, func (Parser) Parse, func getRange.
 */
#include "base/utf8.h"
#include "codec/time.h"
#include "valid/workload/workload_int.h"
#include "valid/workload/zones_table.h"

/* ---- time zones ---- */

static int compare_zone(const void *name, const void *entry) {
    return str_cmp(*(const struct str *)name, str_of(*(const char *const *)entry));
}

static bool is_zone(struct str name) {
    return bsearch(&name, zone_names, sizeof zone_names / sizeof *zone_names, sizeof *zone_names,
                   compare_zone);
}

struct str valid__zone_error(struct arena *a, struct str name) {
    if (!name.n || str_is(name, "UTC") || str_is(name, "Local"))
        return (struct str){0};
    if (str_find(name, STR("..")) != STR_NONE || name.p[0] == '/' || name.p[0] == '\\')
        return STR("time: invalid location name");
    if (str_find_char(name, '\0') != STR_NONE)
        return STR("invalid argument"); /* says the system of such a file name */
    return is_zone(name) ? (struct str){0}
                         : arena_printf(a, "unknown time zone %.*s", STR_ARG(name));
}

/* ---- numbers ---- */

bool valid__atoi(struct arena *a, struct str text, int64_t *out, struct str *error) {
    if (labels_value_to_i64(text, out))
        return true;
    struct str shown = valid__go_quoted(a, text);
    *error =
        arena_printf(a, "strconv.Atoi: parsing %.*s: %s", STR_ARG(shown), labels_value_fault(text));
    return false;
}

/* ---- fields ---- */

struct field {
    int64_t least, most;
    const char *const *names; /* of the values from `least` on, ended by NULL; or NULL */
};

static const char *const months[] = {"jan", "feb", "mar", "apr", "may", "jun", "jul",
                                     "aug", "sep", "oct", "nov", "dec", NULL};
static const char *const days[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat", NULL};

static const struct field fields[] = {
    {0, 59, NULL}, {0, 23, NULL}, {1, 31, NULL}, {1, 12, months}, {0, 6, days}};

enum { FIELDS = sizeof fields / sizeof *fields };

static struct str read_number(struct arena *a, struct str text, int64_t *out) {
    struct str error;
    if (!valid__atoi(a, text, out, &error))
        return arena_printf(a, "failed to parse int from %.*s: %.*s", STR_ARG(text),
                            STR_ARG(error));
    if (*out < 0)
        return arena_printf(a, "negative number (%lld) not allowed: %.*s", (long long)*out,
                            STR_ARG(text));
    return (struct str){0};
}

static struct str read_value(struct arena *a, const struct field *f, struct str text,
                             int64_t *out) {
    for (size_t i = 0; f->names && f->names[i]; i++)
        if (str_is(valid__lower(a, text), f->names[i])) {
            *out = f->least + (int64_t)i;
            return (struct str){0};
        }
    return read_number(a, text, out);
}

struct range {
    int64_t from, to, step;
    bool one; /* a single value, not two with a dash between them */
};

/* 5, 5-7, * or ? */
static struct str read_ends(struct arena *a, const struct field *f, struct str expr,
                            struct str ends, struct range *r) {
    struct str low, high, error;
    r->one = !str_cut(ends, '-', &low, &high);
    if (str_is(low, "*") || str_is(low, "?")) {
        r->from = f->least;
        r->to = f->most;
        return (struct str){0};
    }
    error = read_value(a, f, low, &r->from);
    r->to = r->from;
    if (error.p || r->one)
        return error;
    if (str_find_char(high, '-') != STR_NONE)
        return arena_printf(a, "too many hyphens: %.*s", STR_ARG(expr));
    return read_value(a, f, high, &r->to);
}

static struct str read_step(struct arena *a, const struct field *f, struct str expr,
                            struct str step, struct range *r) {
    if (str_find_char(step, '/') != STR_NONE)
        return arena_printf(a, "too many slashes: %.*s", STR_ARG(expr));
    if (r->one)
        r->to = f->most;
    return read_number(a, step, &r->step);
}

static struct str range_error(struct arena *a, const struct field *f, struct str expr) {
    struct range r = {.step = 1};
    struct str ends, step;
    bool has_step = str_cut(expr, '/', &ends, &step);
    struct str error = read_ends(a, f, expr, ends, &r);
    if (!error.p && has_step)
        error = read_step(a, f, expr, step, &r);
    if (error.p)
        return error;
    if (r.from < f->least)
        return arena_printf(a, "beginning of range (%lld) below minimum (%lld): %.*s",
                            (long long)r.from, (long long)f->least, STR_ARG(expr));
    if (r.to > f->most)
        return arena_printf(a, "end of range (%lld) above maximum (%lld): %.*s", (long long)r.to,
                            (long long)f->most, STR_ARG(expr));
    if (r.from > r.to)
        return arena_printf(a, "beginning of range (%lld) beyond end of range (%lld): %.*s",
                            (long long)r.from, (long long)r.to, STR_ARG(expr));
    if (r.step == 0)
        return arena_printf(a, "step of range should be a positive number: %.*s", STR_ARG(expr));
    return (struct str){0};
}

/* Ranges with commas between them; empty ones do not count. */
static struct str field_error(struct arena *a, const struct field *f, struct str text) {
    struct str range, error = {0};
    for (bool more = true; more && !error.p;) {
        more = str_cut(text, ',', &range, &text);
        if (range.n)
            error = range_error(a, f, range);
    }
    return error;
}

/* ---- schedules ---- */

/* Cuts what stands before the first white space; false when there is nothing left. */
static bool next_word(struct str *rest, struct str *word) {
    *rest = utf8_trim_space(*rest);
    size_t n = 0, length;
    while (n < rest->n) {
        struct str at = str_sub(*rest, n, rest->n);
        utf8_decode(at, &length);
        if (utf8_trim_space(str_sub(at, 0, length)).n == 0)
            break;
        n += length;
    }
    *word = str_sub(*rest, 0, n);
    *rest = str_sub(*rest, n, rest->n);
    return n > 0;
}

/* "expected exactly 5 fields, found 2: [a b]" */
static struct str count_error(struct arena *a, struct str spec, size_t count) {
    struct buf words = BUF_INIT(spec.n + 2);
    struct str word;
    while (next_word(&spec, &word)) {
        if (words.n)
            buf_add_char(&words, ' ');
        buf_add(&words, word);
    }
    struct str list = buf_view(&words);
    struct str text = arena_printf(a, "expected exactly %d fields, found %zu: [%.*s]", FIELDS,
                                   count, STR_ARG(list));
    buf_release(&words);
    return text;
}

static struct str fields_error(struct arena *a, struct str spec) {
    struct str words[FIELDS], word, rest = spec, error = {0};
    size_t count = 0;
    for (; next_word(&rest, &word); count++)
        if (count < FIELDS)
            words[count] = word;
    if (count != FIELDS)
        return count_error(a, spec, count);
    for (size_t i = 0; i < FIELDS && !error.p; i++)
        error = field_error(a, &fields[i], words[i]);
    return error;
}

static struct str descriptor_error(struct arena *a, struct str spec) {
    static const char *const known[] = {"@yearly", "@annually", "@monthly", "@weekly",
                                        "@daily",  "@midnight", "@hourly",  NULL};
    static const struct str every = STR_INIT("@every ");
    struct err err;
    int64_t ns;
    if (valid__one_of(spec, known))
        return (struct str){0};
    if (!str_starts(spec, every))
        return arena_printf(a, "unrecognized descriptor: %.*s", STR_ARG(spec));
    if (time_parse_duration(str_sub(spec, every.n, spec.n), &ns, &err) < 0)
        return arena_printf(a, "failed to parse duration %.*s: %s", STR_ARG(spec), err.msg);
    return (struct str){0};
}

struct str valid__cron_error(struct arena *a, struct str schedule) {
    struct str zone, rest = schedule;
    if (str_starts(schedule, STR("TZ=")) || str_starts(schedule, STR("CRON_TZ="))) {
        str_cut(schedule, '=', &zone, &rest);
        if (!str_cut(rest, ' ', &zone, &rest))
            return STR("invalid schedule format: runtime error: slice bounds out of range [:-1]");
        struct str error = valid__zone_error(a, zone);
        if (error.p)
            return arena_printf(a, "provided bad location %.*s: %.*s", STR_ARG(zone),
                                STR_ARG(error));
        rest = utf8_trim_space(rest);
    }
    return str_starts(rest, STR("@")) ? descriptor_error(a, rest) : fields_error(a, rest);
}
