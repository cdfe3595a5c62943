/*
 * Durations as Go's time package reads and prints them, including which sums overflow and in which
 * steps a fraction is rounded.
 *
 * Follows std time, func ParseDuration, func (Duration) format.
 */
#include "base/alloc.h"
#include "base/ascii.h"
#include "codec/time.h"
#include "codec/time_int.h"

#define LARGEST (UINT64_C(1) << 63) /* of a negative duration; positive ones end one earlier */

static const struct unit {
    const char *name;
    uint64_t ns;
} units[] = {
    {"ns", 1},
    {"us", 1000},
    {"\xC2\xB5s", 1000},
    {"\xCE\xBCs", 1000}, /* µs, μs */
    {"ms", 1000000},
    {"s", 1000000000},
    {"m", UINT64_C(60) * 1000000000},
    {"h", UINT64_C(3600) * 1000000000},
};

static bool is_digit(struct str s) {
    return s.n && ascii_is_digit(s.p[0]);
}

/* Digits in front of the point; false on overflow. */
static bool read_whole(struct str *s, uint64_t *out) {
    for (*out = 0; is_digit(*s); *s = str_sub(*s, 1, s->n)) {
        if (*out > LARGEST / 10)
            return false;
        *out = *out * 10 + (uint64_t)(s->p[0] - '0');
        if (*out > LARGEST)
            return false;
    }
    return true;
}

/* Digits behind the point as *out / *scale; those that would overflow are dropped. */
static void read_fraction(struct str *s, uint64_t *out, double *scale) {
    bool full = false;
    for (; is_digit(*s); *s = str_sub(*s, 1, s->n)) {
        if (full || *out > (LARGEST - 1) / 10) {
            full = true;
            continue;
        }
        *out = *out * 10 + (uint64_t)(s->p[0] - '0');
        *scale *= 10;
    }
}

static const struct unit *find_unit(struct str name) {
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (str_is(name, units[i].name))
            return &units[i];
    return NULL;
}

static struct str take_unit(struct str *s) {
    size_t n = 0;
    while (n < s->n && s->p[n] != '.' && !is_digit(str_sub(*s, n, s->n)))
        n++;
    struct str unit = str_sub(*s, 0, n);
    *s = str_sub(*s, n, s->n);
    return unit;
}

static int fail(struct str text, const char *problem, struct str unit, struct err *err) {
    AUTO(buf_release) struct buf b = BUF_INIT((size_t)2 * ERR_TEXT);
    buf_addf(&b, "time: %s ", problem);
    if (unit.p) {
        time__quote(&b, unit);
        buf_add(&b, STR(" in duration "));
    }
    time__quote(&b, text);
    return err_set(err, ERR_INVALID, "%.*s", STR_ARG(buf_view(&b)));
}

/* One number with its unit, in nanoseconds. */
static int read_term(struct str text, struct str *s, uint64_t *ns, struct err *err) {
    static const char invalid[] = "invalid duration";
    uint64_t whole, fraction = 0;
    double scale = 1;
    size_t before = s->n;
    if (!read_whole(s, &whole))
        return fail(text, invalid, (struct str){0}, err);
    bool digits = s->n != before;
    if (s->n && s->p[0] == '.') {
        *s = str_sub(*s, 1, s->n);
        before = s->n;
        read_fraction(s, &fraction, &scale);
        digits = digits || s->n != before;
    }
    if (!digits)
        return fail(text, invalid, (struct str){0}, err);
    struct str name = take_unit(s);
    if (!name.n)
        return fail(text, "missing unit in duration", (struct str){0}, err);
    const struct unit *unit = find_unit(name);
    if (!unit)
        return fail(text, "unknown unit", name, err);
    if (whole > LARGEST / unit->ns)
        return fail(text, invalid, (struct str){0}, err);
    *ns = whole * unit->ns;
    if (fraction)
        *ns += (uint64_t)((double)fraction * ((double)unit->ns / scale));
    return *ns > LARGEST ? fail(text, invalid, (struct str){0}, err) : 0;
}

int time_parse_duration(struct str text, int64_t *out, struct err *err) {
    struct str s = text;
    uint64_t sum = 0, term = 0;
    bool negative = s.n && s.p[0] == '-';
    if (negative || (s.n && s.p[0] == '+'))
        s = str_sub(s, 1, s.n);
    if (str_is(s, "0")) {
        *out = 0;
        return 0;
    }
    bool good = s.n > 0;
    while (good && s.n) {
        if (s.p[0] != '.' && !is_digit(s))
            return fail(text, "invalid duration", (struct str){0}, err);
        if (read_term(text, &s, &term, err) < 0)
            return -1;
        sum += term;
        good = sum <= LARGEST;
    }
    if (!good || (!negative && sum == LARGEST))
        return fail(text, "invalid duration", (struct str){0}, err);
    *out = (int64_t)(negative ? 0 - sum : sum);
    return 0;
}

/* value / 10^places without trailing zeros. */
static void write_decimal(struct buf *out, uint64_t value, int places) {
    uint64_t unit = 1;
    for (int i = 0; i < places; i++)
        unit *= 10;
    buf_add_u64(out, value / unit);
    uint64_t fraction = value % unit;
    if (!fraction)
        return;
    for (; fraction % 10 == 0; places--)
        fraction /= 10;
    buf_addf(out, ".%0*llu", places, (unsigned long long)fraction);
}

void time_write_duration(struct buf *out, int64_t ns) {
    uint64_t u = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns, minutes = u / 60000000000;
    if (ns < 0)
        buf_add_char(out, '-');
    if (u == 0) {
        buf_add(out, STR("0s"));
    } else if (u < 1000000000) {
        int places = u < 1000 ? 0 : u < 1000000 ? 3 : 6;
        write_decimal(out, u, places);
        buf_add(out, places == 0 ? STR("ns") : places == 3 ? STR("\xC2\xB5s") : STR("ms"));
    } else {
        if (minutes >= 60)
            buf_addf(out, "%lluh", (unsigned long long)(minutes / 60));
        if (minutes)
            buf_addf(out, "%llum", (unsigned long long)(minutes % 60));
        write_decimal(out, u % 60000000000, 9);
        buf_add_char(out, 's');
    }
}
