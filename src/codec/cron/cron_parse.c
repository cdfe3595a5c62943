/*
 * Reads cron schedules as robfig/cron's standard parser does, which upstream uses: five fields or a
 * descriptor such as @daily, after an optional time zone.
 *
 * Follows github.com/robfig/cron/v3, func ParseStandard, func (Parser) Parse, func getRange.
 */
#include "codec/cron.h"

#include <stdlib.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/goatoi.h"
#include "base/goquote.h"
#include "base/utf8.h"
#include "codec/cron/zone_names.h"
#include "codec/time.h"

/* ---- time zones ---- */

static int compare_zone(const void *name, const void *entry) {
    return str_cmp(*(const struct str *)name, str_of(*(const char *const *)entry));
}

static bool is_zone(struct str name) {
    return bsearch(&name, zone_names, sizeof zone_names / sizeof *zone_names, sizeof *zone_names,
                   compare_zone);
}

struct str cron_zone_error(struct arena *a, struct str name) {
    if (!name.n || str_is(name, "UTC") || str_is(name, "Local"))
        return (struct str){0};
    if (str_find(name, STR("..")) != STR_NONE || name.p[0] == '/' || name.p[0] == '\\')
        return STR("time: invalid location name");
    if (str_find_char(name, '\0') != STR_NONE)
        return STR("invalid argument"); /* says the system of such a file name */
    return is_zone(name) ? (struct str){0}
                         : arena_printf(a, "unknown time zone %.*s", STR_ARG(name));
}

/* ---- fields ---- */

struct field {
    int64_t least, most;
    const char *const *names; /* of the values from `least` on, ended by NULL; or NULL */
};

static const char *const months[] = {"jan", "feb", "mar", "apr", "may", "jun", "jul",
                                     "aug", "sep", "oct", "nov", "dec", NULL};
static const char *const days[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat", NULL};

static const struct field fields[CRON_FIELDS] = {
    {0, 59, NULL}, {0, 23, NULL}, {1, 31, NULL}, {1, 12, months}, {0, 6, days}};

static struct str quoted(struct arena *a, struct str s) {
    AUTO(buf_release) struct buf b = BUF_INIT(4 * s.n + 2);
    goquote_write(&b, s);
    return arena_str(a, buf_view(&b));
}

static struct str read_number(struct arena *a, struct str text, int64_t *out) {
    const char *wrong = goatoi_read(text, out);
    if (wrong) {
        struct str shown = quoted(a, text);
        return arena_printf(a, "failed to parse int from %.*s: strconv.Atoi: parsing %.*s: %s",
                            STR_ARG(text), STR_ARG(shown), wrong);
    }
    if (*out < 0)
        return arena_printf(a, "negative number (%lld) not allowed: %.*s", (long long)*out,
                            STR_ARG(text));
    return (struct str){0};
}

/* The small letter of a character, as Go's ToLower has it, of which only ASCII matters here: two
 * characters beyond it have small letters inside. */
static char lower_of(uint32_t cp) {
    enum { CAPITAL_I_WITH_DOT = 0x130, KELVIN_SIGN = 0x212A };
    if (cp == CAPITAL_I_WITH_DOT)
        return 'i';
    if (cp == KELVIN_SIGN)
        return 'k';
    return cp < 0x80 ? ascii_to_lower((char)cp) : '\0';
}

static bool is_name(struct str text, const char *name) {
    size_t len;
    for (; text.n && *name; name++, text = str_sub(text, len, text.n))
        if (lower_of(utf8_decode(text, &len)) != *name)
            return false;
    return !text.n && !*name;
}

static struct str read_value(struct arena *a, const struct field *f, struct str text,
                             int64_t *out) {
    for (size_t i = 0; f->names && f->names[i]; i++)
        if (is_name(text, f->names[i])) {
            *out = f->least + (int64_t)i;
            return (struct str){0};
        }
    return read_number(a, text, out);
}

struct range {
    int64_t from, to, step;
    bool one;     /* a single value, not two with a dash between them */
    bool is_star; /* * or ? */
};

/* 5, 5-7, * or ? */
static struct str read_ends(struct arena *a, const struct field *f, struct str expr,
                            struct str ends, struct range *r) {
    struct str low, high, error;
    r->one = !str_cut(ends, '-', &low, &high);
    if (str_is(low, "*") || str_is(low, "?")) {
        r->from = f->least;
        r->to = f->most;
        r->is_star = true;
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

static struct str range_error(struct arena *a, const struct field *f, const struct range *r,
                              struct str expr) {
    if (r->from < f->least)
        return arena_printf(a, "beginning of range (%lld) below minimum (%lld): %.*s",
                            (long long)r->from, (long long)f->least, STR_ARG(expr));
    if (r->to > f->most)
        return arena_printf(a, "end of range (%lld) above maximum (%lld): %.*s", (long long)r->to,
                            (long long)f->most, STR_ARG(expr));
    if (r->from > r->to)
        return arena_printf(a, "beginning of range (%lld) beyond end of range (%lld): %.*s",
                            (long long)r->from, (long long)r->to, STR_ARG(expr));
    if (r->step == 0)
        return arena_printf(a, "step of range should be a positive number: %.*s", STR_ARG(expr));
    return (struct str){0};
}

static struct str read_range(struct arena *a, const struct field *f, struct str expr,
                             struct cron_field *out) {
    struct range r = {.step = 1};
    struct str ends, step;
    bool has_step = str_cut(expr, '/', &ends, &step);
    struct str error = read_ends(a, f, expr, ends, &r);
    if (!error.p && has_step)
        error = read_step(a, f, expr, step, &r);
    if (!error.p)
        error = range_error(a, f, &r, expr);
    if (error.p)
        return error;
    for (int64_t i = r.from; i <= r.to; i += r.step < 64 ? r.step : 64)
        out->values |= UINT64_C(1) << i;
    out->is_any = out->is_any || (r.is_star && r.step == 1);
    return error;
}

/* Ranges with commas between them; empty ones do not count. */
static struct str read_field(struct arena *a, const struct field *f, struct str text,
                             struct cron_field *out) {
    struct str range, error = {0};
    for (bool more = true; more && !error.p;) {
        more = str_cut(text, ',', &range, &text);
        if (range.n)
            error = read_range(a, f, range, out);
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
    struct str text = arena_printf(a, "expected exactly %d fields, found %zu: [%.*s]", CRON_FIELDS,
                                   count, STR_ARG(list));
    buf_release(&words);
    return text;
}

static struct str read_fields(struct arena *a, struct str spec, struct cron *out) {
    struct str words[CRON_FIELDS], word, rest = spec, error = {0};
    size_t count = 0;
    for (; next_word(&rest, &word); count++)
        if (count < CRON_FIELDS)
            words[count] = word;
    if (count != CRON_FIELDS)
        return count_error(a, spec, count);
    for (size_t i = 0; i < CRON_FIELDS && !error.p; i++)
        error = read_field(a, &fields[i], words[i], &out->fields[i]);
    return error;
}

static struct str read_every(struct arena *a, struct str spec, struct str text, struct cron *out) {
    const int64_t second = 1000000000;
    struct err err;
    int64_t ns;
    if (time_parse_duration(text, &ns, &err) < 0)
        return arena_printf(a, "failed to parse duration %.*s: %s", STR_ARG(spec), err.msg);
    out->every = ns < second ? 1 : ns / second;
    return (struct str){0};
}

static struct str read_descriptor(struct arena *a, struct str spec, struct cron *out) {
    static const struct {
        const char *name, *fields;
    } known[] = {
        {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"},
        {"@weekly", "0 0 * * 0"}, {"@daily", "0 0 * * *"},    {"@midnight", "0 0 * * *"},
        {"@hourly", "0 * * * *"},
    };
    static const struct str every = STR_INIT("@every ");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_is(spec, known[i].name))
            return read_fields(a, str_of(known[i].fields), out);
    if (!str_starts(spec, every))
        return arena_printf(a, "unrecognized descriptor: %.*s", STR_ARG(spec));
    return read_every(a, spec, str_sub(spec, every.n, spec.n), out);
}

struct str cron_parse(struct arena *a, struct str schedule, struct cron *out) {
    struct str rest = schedule;
    *out = (struct cron){0};
    if (str_starts(schedule, STR("TZ=")) || str_starts(schedule, STR("CRON_TZ="))) {
        str_cut(schedule, '=', &out->zone, &rest);
        if (!str_cut(rest, ' ', &out->zone, &rest))
            return STR("invalid schedule format: runtime error: slice bounds out of range [:-1]");
        struct str error = cron_zone_error(a, out->zone);
        if (error.p)
            return arena_printf(a, "provided bad location %.*s: %.*s", STR_ARG(out->zone),
                                STR_ARG(error));
        rest = utf8_trim_space(rest);
    }
    return str_starts(rest, STR("@")) ? read_descriptor(a, rest, out) : read_fields(a, rest, out);
}
