/*
 * RFC 3339 and its relatives. Go reads times by a layout, an example of the wanted form; the forms
 * that Kubernetes uses are kept here as tables of layout elements, because Go's error texts name
 * the element that did not fit and its leniencies (one-digit hours, a comma before the fraction)
 * come from how elements are read.
 *
 * Follows std time, func parse, func (Time) AppendFormat, func (*ParseError) Error.
 * Follows k8s.io/apimachinery pkg/apis/meta/v1, func (*Time) UnmarshalJSON,
 * func (*MicroTime) UnmarshalJSON.
 */
#include "codec/time.h"

#include "base/alloc.h"
#include "base/ascii.h"
#include "codec/time_int.h"

enum field { YEAR, MONTH, DAY, HOUR, MINUTE, SECOND, FRACTION, MICROS, ZONE, END };

struct element {
    const char *prefix; /* literal text in front of the field */
    enum field field;
    const char *text; /* the field as the layout shows it; "0…" asks for two digits */
};

#define DATE(month, day)                       \
    {"", YEAR, "2006"}, {"-", MONTH, month}, { \
        "-", DAY, day                          \
    }

static const struct element rfc3339[] = {
    DATE("01", "02"),    {"T", HOUR, "15"},    {":", MINUTE, "04"},
    {":", SECOND, "05"}, {"", ZONE, "Z07:00"}, {"", END, ""},
};
static const struct element rfc3339_micro[] = {
    DATE("01", "02"),        {"T", HOUR, "15"},    {":", MINUTE, "04"}, {":", SECOND, "05"},
    {"", MICROS, ".000000"}, {"", ZONE, "Z07:00"}, {"", END, ""},
};
static const struct element yaml_upper[] = {
    DATE("1", "2"),     {"T", HOUR, "15"},    {":", MINUTE, "4"}, {":", SECOND, "5"},
    {"", FRACTION, ""}, {"", ZONE, "Z07:00"}, {"", END, ""},
};
static const struct element yaml_lower[] = {
    DATE("1", "2"),     {"t", HOUR, "15"},    {":", MINUTE, "4"}, {":", SECOND, "5"},
    {"", FRACTION, ""}, {"", ZONE, "Z07:00"}, {"", END, ""},
};
static const struct element yaml_spaced[] = {
    DATE("1", "2"),     {" ", HOUR, "15"},  {":", MINUTE, "4"},
    {":", SECOND, "5"}, {"", FRACTION, ""}, {"", END, ""},
};
static const struct element yaml_date[] = {DATE("1", "2"), {"", END, ""}};

struct parse {
    const char *layout;
    struct str text; /* all of it */
    struct str rest; /* what is not read yet */
    struct time_civil civil;
    int32_t nanos;
    int offset;               /* of the zone, in seconds */
    const char *out_of_range; /* what is said about a field whose value is */
};

void time__quote(struct buf *out, struct str s) {
    buf_add_char(out, '"');
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c < 0x20 || c >= 0x80)
            buf_addf(out, "\\x%02x", c);
        else if (c == '"' || c == '\\')
            buf_addf(out, "\\%c", c);
        else
            buf_add_char(out, (char)c);
    }
    buf_add_char(out, '"');
}

/* The error of the rest that does not fit an element of the layout. */
static int misfit(const struct parse *p, struct str rest, const char *element, struct buf *why) {
    if (!why)
        return -1;
    buf_add(why, STR("parsing time "));
    time__quote(why, p->text);
    buf_add(why, STR(" as "));
    time__quote(why, str_of(p->layout));
    buf_add(why, STR(": cannot parse "));
    time__quote(why, rest);
    buf_add(why, STR(" as "));
    time__quote(why, str_of(element));
    return -1;
}

/* The error of a text that fits its layout but is no time. `quoted` may be absent. */
static int refuse(const struct parse *p, const char *problem, struct str quoted, struct buf *why) {
    if (!why)
        return -1;
    buf_add(why, STR("parsing time "));
    time__quote(why, p->text);
    buf_addf(why, ": %s", problem);
    if (quoted.p)
        time__quote(why, quoted);
    return -1;
}

static bool digit_at(struct str s, size_t i) {
    return i < s.n && ascii_is_digit(s.p[i]);
}

static void skip(struct str *s, size_t n) {
    *s = str_sub(*s, n, s->n);
}

/* Literal text; a space in the layout stands for any number of them. */
static bool read_literal(struct str *s, const char *literal) {
    if (*literal == ' ') {
        if (s->n && s->p[0] != ' ')
            return false;
        while (s->n && s->p[0] == ' ')
            skip(s, 1);
        return true;
    }
    if (*literal && (!s->n || s->p[0] != *literal))
        return false;
    skip(s, *literal != '\0');
    return true;
}

/* One or two digits; exactly two when the layout's field starts with 0. */
static bool read_number(struct str *s, bool two_digits, int *out) {
    if (!digit_at(*s, 0) || (two_digits && !digit_at(*s, 1)))
        return false;
    size_t n = digit_at(*s, 1) ? 2 : 1;
    *out = n == 2 ? (s->p[0] - '0') * 10 + s->p[1] - '0' : s->p[0] - '0';
    skip(s, n);
    return true;
}

static bool read_year(struct parse *p) {
    for (size_t i = 0; i < 4; i++) {
        if (!digit_at(p->rest, i))
            return false;
        p->civil.year = p->civil.year * 10 + p->rest.p[i] - '0';
    }
    skip(&p->rest, 4);
    return true;
}

static bool starts_fraction(struct str s) {
    return s.n && (s.p[0] == '.' || s.p[0] == ',') && digit_at(s, 1);
}

/* A separator and digits behind it, of which nine count. */
static void read_fraction(struct parse *p) {
    if (!starts_fraction(p->rest))
        return;
    size_t n = 1;
    p->nanos = 0;
    for (int32_t unit = 100000000; digit_at(p->rest, n); n++, unit /= 10)
        p->nanos += unit * (p->rest.p[n] - '0');
    skip(&p->rest, n);
}

/* Exactly six digits; a sign in front of five is what Go's number reader lets through, too. */
static bool read_micros(struct parse *p) {
    struct str s = str_sub(p->rest, 0, 7);
    if (s.n < 7 || (s.p[0] != '.' && s.p[0] != ','))
        return false;
    bool sign = s.p[1] == '-' || s.p[1] == '+';
    int32_t micros = 0;
    for (size_t i = sign ? 2 : 1; i < s.n; i++) {
        if (!digit_at(s, i))
            return false;
        micros = micros * 10 + s.p[i] - '0';
    }
    if (s.p[1] == '-' && micros)
        p->out_of_range = "fractional second out of range";
    p->nanos = micros * 1000;
    skip(&p->rest, 7);
    return true;
}

static bool read_zone(struct parse *p) {
    if (p->rest.n && p->rest.p[0] == 'Z') {
        skip(&p->rest, 1);
        return true;
    }
    struct str s = str_sub(p->rest, 0, 6), hours = str_sub(s, 1, 3), minutes = str_sub(s, 4, 6);
    int h = 0, m = 0;
    if (s.n < 6 || s.p[3] != ':')
        return false;
    bool good = read_number(&hours, true, &h) && read_number(&minutes, true, &m);
    /* "24" and "60" pass, because some people write them. */
    if (h > 24)
        p->out_of_range = "time zone offset hour out of range";
    if (m > 60)
        p->out_of_range = "time zone offset minute out of range";
    p->offset = (h * 60 + m) * 60 * (s.p[0] == '-' ? -1 : 1);
    skip(&p->rest, 6);
    return good && (s.p[0] == '+' || s.p[0] == '-');
}

static bool read_ranged(struct parse *p, const struct element *e, int *out, int least, int most) {
    static const char *const problems[] = {
        [MONTH] = "month out of range",
        [HOUR] = "hour out of range",
        [MINUTE] = "minute out of range",
        [SECOND] = "second out of range",
    };
    if (!read_number(&p->rest, e->text[0] == '0', out))
        return false;
    if (*out < least || *out > most)
        p->out_of_range = problems[e->field];
    return true;
}

static bool read_second(struct parse *p, const struct element *e) {
    if (!read_ranged(p, e, &p->civil.second, 0, 59))
        return false;
    if (e[1].field != MICROS && !p->out_of_range)
        read_fraction(p);
    return true;
}

static bool read_field(struct parse *p, const struct element *e) {
    switch (e->field) {
    case YEAR:
        return read_year(p);
    case MONTH:
        return read_ranged(p, e, &p->civil.month, 1, 12);
    case DAY:
        return read_number(&p->rest, e->text[0] == '0', &p->civil.day);
    case HOUR:
        return read_ranged(p, e, &p->civil.hour, 0, 23);
    case MINUTE:
        return read_ranged(p, e, &p->civil.minute, 0, 59);
    case SECOND:
        return read_second(p, e);
    case FRACTION:
        read_fraction(p);
        return true;
    case MICROS:
        return read_micros(p);
    case ZONE:
        return read_zone(p);
    case END:
        break;
    }
    return true;
}

static int days_in(int month, int64_t year) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return month == 2 && leap ? 29 : days[month - 1];
}

static int finish(const struct parse *p, struct time_instant *out, struct buf *why) {
    if (p->civil.day < 1 || p->civil.day > days_in(p->civil.month, p->civil.year))
        return refuse(p, "day out of range", (struct str){0}, why);
    *out = (struct time_instant){time_of_civil(&p->civil) - p->offset, p->nanos};
    return 0;
}

static int parse(struct parse *p, const struct element *e, struct time_instant *out,
                 struct buf *why) {
    for (p->rest = p->text;; e++) {
        if (!read_literal(&p->rest, e->prefix))
            return misfit(p, p->rest, e->prefix, why);
        if (e->field == END)
            return p->rest.n ? refuse(p, "extra text: ", p->rest, why) : finish(p, out, why);
        struct str before = p->rest;
        bool good = read_field(p, e);
        if (p->out_of_range)
            return refuse(p, p->out_of_range, (struct str){0}, why);
        if (!good)
            return misfit(p, before, e->text, why);
    }
}

int time_parse(struct str text, struct time_instant *out, struct buf *why) {
    struct parse p = {.layout = "2006-01-02T15:04:05Z07:00", .text = text};
    return parse(&p, rfc3339, out, why);
}

int time_parse_micro(struct str text, struct time_instant *out, struct buf *why) {
    struct parse p = {.layout = "2006-01-02T15:04:05.000000Z07:00", .text = text};
    return parse(&p, rfc3339_micro, out, why);
}

bool time_is_yaml_timestamp(struct str text) {
    static const struct element *const layouts[] = {yaml_upper, yaml_lower, yaml_spaced, yaml_date};
    if (text.n < 5 || text.p[4] != '-')
        return false;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        struct parse p = {.layout = "", .text = text};
        struct time_instant t;
        if (parse(&p, layouts[i], &t, NULL) == 0)
            return true;
    }
    return false;
}

/* Days since 1970-01-01: years are counted from March, so that the leap day is the last one. */
static int64_t days_of(int64_t year, int month, int day) {
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t year_of_era = year - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

int64_t time_of_civil(const struct time_civil *c) {
    int64_t hours = days_of(c->year, c->month, c->day) * 24 + c->hour;
    return (hours * 60 + c->minute) * 60 + c->second;
}

struct time_civil time_to_civil(int64_t seconds) {
    int64_t day = seconds / 86400, second = seconds % 86400;
    if (second < 0) {
        day--;
        second += 86400;
    }
    day += 719468;
    int64_t era = (day >= 0 ? day : day - 146096) / 146097;
    int64_t day_of_era = day - era * 146097;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int from_march = (int)((5 * day_of_year + 2) / 153);
    int month = from_march < 10 ? from_march + 3 : from_march - 9;
    return (struct time_civil){
        .year = year_of_era + era * 400 + (month <= 2),
        .month = month,
        .day = (int)(day_of_year - (153 * from_march + 2) / 5 + 1),
        .hour = (int)(second / 3600),
        .minute = (int)(second / 60 % 60),
        .second = (int)(second % 60),
    };
}

/* n in at least `width` digits; objects are full of times, and printf is slow. */
static void write_number(struct buf *out, int64_t n, unsigned width) {
    char digits[24];
    unsigned at = sizeof digits;
    do
        digits[--at] = (char)('0' + n % 10);
    while ((n /= 10));
    while (sizeof digits - at < width)
        digits[--at] = '0';
    buf_add(out, (struct str){digits + at, sizeof digits - at});
}

static void write_civil(struct buf *out, int64_t seconds) {
    struct time_civil c = time_to_civil(seconds);
    if (c.year < 0)
        buf_add_char(out, '-');
    write_number(out, c.year < 0 ? -c.year : c.year, 4);
    const struct {
        char before;
        int n;
    } parts[] = {{'-', c.month}, {'-', c.day}, {'T', c.hour}, {':', c.minute}, {':', c.second}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        buf_add_char(out, parts[i].before);
        write_number(out, parts[i].n, 2);
    }
}

void time_write(struct buf *out, struct time_instant t) {
    write_civil(out, t.seconds);
    buf_add_char(out, 'Z');
}

void time_write_micro(struct buf *out, struct time_instant t) {
    write_civil(out, t.seconds);
    buf_add_char(out, '.');
    write_number(out, t.nanos / 1000, 6);
    buf_add_char(out, 'Z');
}
