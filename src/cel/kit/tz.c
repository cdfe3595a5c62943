/*
 * Time zones as getters of timestamps name them: fixed offsets, and IANA zones, which are read when
 * asked for.
 *
 * Follows github.com/google/cel-go common/types, func timeZone.
 */
#include "cel/kit/tz_int.h"

#include "base/goatoi.h"
#include "base/goquote.h"
#include "base/limits.h"
#include "codec/zone.h"

/* Work of reading a zone's file, in bytes read in the same time. */
enum { PER_FILE = 32 << 10 };

static bool named_offset(struct cel_eval *ev, struct str name, int64_t t, int64_t *offset,
                         struct cel_value *error) {
    const char *fault;
    if (!zone_is_name(name)) {
        *error = CEL_FAIL("time: invalid location name");
        return false;
    }
    if (!cel__work(ev, PER_FILE))
        return false;
    struct zone *z = zone_load(name, &fault);
    if (z)
        *offset = zone_offset(z, t);
    else
        *error = fault ? cel__fail(str_of(fault))
                       : cel__error(ev, "unknown time zone %.*s", STR_ARG(name));
    bool good = z != NULL;
    zone_free(z);
    return good;
}

/* ---- fixed offsets ---- */

static bool parse_number(struct cel_eval *ev, struct str s, int64_t *out, struct cel_value *error) {
    const char *wrong = goatoi_read(s, out);
    if (!wrong)
        return true;
    AUTO(buf_release) struct buf quoted = BUF_INIT(LIMIT_CEL_ERROR_BYTES);
    goquote_write(&quoted, s);
    *error = cel__error(ev, "strconv.Atoi: parsing %.*s: %s", STR_ARG(buf_view(&quoted)), wrong);
    return false;
}

/* Upstream goes through nanoseconds, which wrap around, and a floating point number. */
static int64_t seconds_of_minutes(int64_t minutes) {
    const int64_t second = 1000000000;
    int64_t ns;
    (void)__builtin_mul_overflow(minutes, 60 * second, &ns);
    int64_t whole = ns / second, rest = ns % second;
    return (int64_t)((double)whole + (double)rest / (double)second);
}

static bool fixed_offset(struct cel_eval *ev, struct str zone, int64_t *offset,
                         struct cel_value *error) {
    size_t colon = str_find_char(zone, ':');
    int64_t hours, minutes, total;
    if (!parse_number(ev, str_sub(zone, 0, colon), &hours, error) ||
        !parse_number(ev, str_sub(zone, colon + 1, zone.n), &minutes, error))
        return false;
    (void)__builtin_mul_overflow(hours, 60, &total);
    if (zone.p[0] == '-')
        (void)__builtin_sub_overflow(total, minutes, &total);
    else
        (void)__builtin_add_overflow(total, minutes, &total);
    *offset = seconds_of_minutes(total);
    return true;
}

bool cel__tz_offset(struct cel_eval *ev, struct str zone, int64_t seconds, int64_t *offset,
                    struct cel_value *error) {
    *offset = 0;
    if (zone.n == 0 || str_is(zone, "UTC") || str_is(zone, "Local"))
        return true;
    if (str_find_char(zone, ':') != STR_NONE)
        return fixed_offset(ev, zone, offset, error);
    return named_offset(ev, zone, seconds, offset, error);
}
