/*
 * Time zones out of TZif files (RFC 8536). Behind the last recorded change of a zone the rule at
 * the end of its file holds.
 *
 * Follows std time, func LoadLocationFromTZData, func (*Location) lookup, func tzset, func Date.
 */
#include "codec/zone.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/ascii.h"

enum { MAX_FILE = 64 << 10, HEADER = 44, DAY = 86400 };

/* ---- TZif ---- */

struct tzif {
    const unsigned char *p;
    size_t n;
    uint32_t counts[6]; /* isutc, isstd, leap, times, types, chars */
    size_t word;        /* bytes of a time: 4 or 8 */
    struct str footer;
};

enum { ISUTC, ISSTD, LEAP, TIMES, TYPES, CHARS };

static uint32_t be32(const unsigned char *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int64_t be_time(const unsigned char *p, size_t word) {
    if (word == 4)
        return (int32_t)be32(p);
    return (int64_t)((uint64_t)be32(p) << 32 | be32(p + 4));
}

/* The size of the block behind a header, as the header says; 0 when it is none. */
static size_t read_header(struct tzif *f, size_t word) {
    if (f->n < HEADER || memcmp(f->p, "TZif", 4) != 0)
        return 0;
    for (int i = 0; i < 6; i++) {
        f->counts[i] = be32(f->p + 20 + 4 * i);
        if (f->counts[i] > MAX_FILE)
            return 0;
    }
    f->word = word;
    size_t size = f->counts[TIMES] * (word + 1) + f->counts[TYPES] * 6 + f->counts[CHARS] +
                  f->counts[LEAP] * (word + 4) + f->counts[ISSTD] + f->counts[ISUTC];
    return f->counts[TYPES] && size <= f->n - HEADER ? size : 0;
}

/* Points f at the 64-bit block of a file and its footer, or at the only block of an old one. */
static bool open_tzif(struct tzif *f, const unsigned char *p, size_t n) {
    *f = (struct tzif){.p = p, .n = n};
    size_t size = read_header(f, 4);
    if (!size)
        return false;
    if (p[4] >= '2') {
        f->p += HEADER + size;
        f->n -= HEADER + size;
        size = read_header(f, 8);
        if (!size)
            return false;
        struct str rest = {(const char *)f->p + HEADER + size, f->n - HEADER - size}, after;
        if (rest.n > 0 && rest.p[0] == '\n')
            str_cut(str_sub(rest, 1, rest.n), '\n', &f->footer, &after);
    }
    f->p += HEADER;
    return true;
}

/* ---- the rule of a footer: EST5EDT,M3.2.0,M11.1.0 ---- */

struct rule {
    int month, week, day; /* M form; month 0: `day` of the year */
    bool julian;          /* J form: no 29 February */
    int32_t time;
};

struct cursor {
    const char *p, *end;
};

static bool skip_char(struct cursor *c, char want) {
    if (c->p == c->end || *c->p != want)
        return false;
    c->p++;
    return true;
}

static bool read_int(struct cursor *c, int *out) {
    const char *start = c->p;
    int v = 0;
    while (c->p < c->end && ascii_is_digit(*c->p) && c->p - start < 6)
        v = v * 10 + (*c->p++ - '0');
    *out = v;
    return c->p > start;
}

/* [+-]hh[:mm[:ss]] */
static bool read_hms(struct cursor *c, int32_t *out) {
    bool negative = skip_char(c, '-');
    if (!negative)
        skip_char(c, '+');
    int h, m = 0, s = 0;
    if (!read_int(c, &h) || (skip_char(c, ':') && !read_int(c, &m)) ||
        (skip_char(c, ':') && !read_int(c, &s)))
        return false;
    *out = (h * 60 + m) * 60 + s;
    if (negative)
        *out = -*out;
    return true;
}

/* A zone's abbreviation: letters, or anything between < and >. */
static bool skip_name(struct cursor *c) {
    const char *start = c->p;
    if (skip_char(c, '<')) {
        while (c->p < c->end && *c->p != '>')
            c->p++;
        return skip_char(c, '>');
    }
    while (c->p < c->end && ascii_is_letter(*c->p))
        c->p++;
    return c->p > start;
}

static bool read_rule(struct cursor *c, struct rule *r) {
    *r = (struct rule){.time = 7200};
    if (!skip_char(c, ','))
        return false;
    if (skip_char(c, 'M')) {
        if (!read_int(c, &r->month) || !skip_char(c, '.') || !read_int(c, &r->week) ||
            !skip_char(c, '.') || !read_int(c, &r->day))
            return false;
    } else {
        r->julian = skip_char(c, 'J');
        if (!read_int(c, &r->day))
            return false;
    }
    return !skip_char(c, '/') || read_hms(c, &r->time);
}

static bool is_leap(int64_t year) {
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* Seconds from the start of a year to a rule's moment, in local time. */
static int64_t rule_seconds(const struct rule *r, int64_t year) {
    struct time_civil first = {year, 1, 1, 0, 0, 0};
    int64_t start = time_of_civil(&first);
    if (r->month == 0) {
        int day = r->julian ? r->day - 1 + (is_leap(year) && r->day >= 60) : r->day;
        return (int64_t)day * DAY + r->time;
    }
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int month = r->month >= 1 && r->month <= 12 ? r->month : 1;
    int length = lengths[month - 1] + (month == 2 && is_leap(year));
    struct time_civil of_month = {year, month, 1, 0, 0, 0};
    int64_t first_day = time_of_civil(&of_month) / DAY;
    int weekday = (int)(((first_day + 4) % 7 + 7) % 7);
    int day = (r->day - weekday + 7) % 7 + (r->week - 1) * 7;
    while (day >= length)
        day -= 7;
    return first_day * DAY - start + (int64_t)day * DAY + r->time;
}

bool zone_rule_offset(struct str footer, int64_t t, int32_t *out) {
    struct cursor c = {footer.p, footer.p + footer.n};
    int32_t west, summer;
    struct rule begin, end;
    if (!skip_name(&c) || !read_hms(&c, &west))
        return false;
    *out = -west;
    if (c.p == c.end)
        return true;
    summer = -west + 3600;
    if (!skip_name(&c))
        return false;
    if (c.p < c.end && *c.p != ',') {
        if (!read_hms(&c, &summer))
            return false;
        summer = -summer;
    }
    if (!read_rule(&c, &begin) || !read_rule(&c, &end))
        return false;
    int64_t local, year;
    if (__builtin_sub_overflow(t, west, &local))
        return true; /* nobody has rules for then */
    year = time_to_civil(local).year;
    struct time_civil first = {year, 1, 1, 0, 0, 0};
    int64_t into = t - time_of_civil(&first);
    int64_t from = rule_seconds(&begin, year) + west, to = rule_seconds(&end, year) - summer;
    bool in_summer = from < to ? into >= from && into < to : into >= from || into < to;
    if (in_summer)
        *out = summer;
    return true;
}

/* ---- zones ---- */

static int32_t type_offset(const struct tzif *f, uint32_t type) {
    const unsigned char *types = f->p + f->counts[TIMES] * (f->word + 1);
    return type < f->counts[TYPES] ? (int32_t)be32(types + type * 6) : 0;
}

/* Before the first change the first type that is not daylight saving holds. */
static uint32_t first_type(const struct tzif *f) {
    const unsigned char *types = f->p + f->counts[TIMES] * (f->word + 1);
    for (uint32_t i = 0; i < f->counts[TYPES]; i++)
        if (!types[i * 6 + 4])
            return i;
    return 0;
}

static int32_t offset_of(const struct tzif *f, int64_t t) {
    uint32_t n = f->counts[TIMES], lo = 0, hi = n;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (be_time(f->p + mid * f->word, f->word) <= t)
            lo = mid + 1;
        else
            hi = mid;
    }
    int32_t offset;
    if (lo == n && f->footer.n && zone_rule_offset(f->footer, t, &offset))
        return offset;
    if (lo == 0)
        return type_offset(f, first_type(f));
    return type_offset(f, f->p[n * f->word + lo - 1]);
}

/* The bytes of a zone's file into *n; 0, or the error number. */
static int read_zone(struct str name, unsigned char *out, size_t *n) {
    char path[512];
    int len = snprintf(path, sizeof path, "/usr/share/zoneinfo/%.*s", STR_ARG(name));
    if (memchr(name.p, '\0', name.n))
        return EINVAL;
    if (len >= (int)sizeof path)
        return ENAMETOOLONG;
    FILE *f = fopen(path, "re");
    if (!f)
        return errno;
    errno = 0;
    *n = fread(out, 1, MAX_FILE, f);
    int failure = ferror(f) ? errno : 0;
    fclose(f);
    return failure;
}

/* What Go says of a file that is there and cannot be read; NULL: it says that it knows no such
 * zone. */
static const char *read_failure(int number) {
    static const struct {
        int number;
        const char *text;
    } failures[] = {
        {0, "malformed time zone information"}, {EISDIR, "is a directory"},
        {ENOTDIR, "not a directory"},           {ENAMETOOLONG, "file name too long"},
        {EINVAL, "invalid argument"},           {EACCES, "permission denied"},
    };
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++)
        if (failures[i].number == number)
            return failures[i].text;
    return NULL;
}

struct zone {
    struct tzif f;
    unsigned char data[];
};

bool zone_is_name(struct str name) {
    return name.n && str_find(name, STR("..")) == STR_NONE && name.p[0] != '/' && name.p[0] != '\\';
}

struct zone *zone_load(struct str name, const char **fault) {
    struct zone *z = xmalloc(sizeof *z + MAX_FILE);
    size_t n = 0;
    int failure = read_zone(name, z->data, &n);
    if (failure == 0 && open_tzif(&z->f, z->data, n))
        return z;
    *fault = read_failure(failure);
    free(z);
    return NULL;
}

void zone_free(struct zone *z) {
    free(z);
}

int64_t zone_offset(const struct zone *z, int64_t seconds) {
    return z ? offset_of(&z->f, seconds) : 0;
}

/* ---- calendar ---- */

struct time_civil zone_to_civil(const struct zone *z, int64_t seconds) {
    return time_to_civil(seconds + zone_offset(z, seconds));
}

int64_t zone_of_civil(const struct zone *z, const struct time_civil *c) {
    struct time_civil first = *c;
    first.day = 1;
    int64_t local = time_of_civil(&first) + (int64_t)(c->day - 1) * DAY;
    int64_t offset = zone_offset(z, local);
    return local - (offset ? zone_offset(z, local - offset) : 0);
}
