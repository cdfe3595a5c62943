/* Time zones: fixed offsets and UTC. */
#include "cel/tz_int.h"

#include "base/goquote.h"

/* Go's Atoi of a small number; false with its text in *error. */
static bool read_number(struct cel_eval *ev, struct str s, int64_t *out, struct cel_value *error) {
    struct str digits = s;
    bool negative = str_starts(s, STR("-"));
    if (negative || str_starts(s, STR("+")))
        digits = str_sub(s, 1, s.n);
    int64_t v = 0;
    bool good = digits.n > 0 && digits.n < 10;
    for (size_t i = 0; good && i < digits.n; i++) {
        good = digits.p[i] >= '0' && digits.p[i] <= '9';
        v = v * 10 + (digits.p[i] - '0');
    }
    *out = negative ? -v : v;
    if (good)
        return true;
    AUTO(buf_release) struct buf quoted = BUF_INIT(4096);
    goquote_write(&quoted, s);
    *error =
        cel__error(ev, "strconv.Atoi: parsing %.*s: invalid syntax", STR_ARG(buf_view(&quoted)));
    return false;
}

bool cel__tz_offset(struct cel_eval *ev, struct str zone, int64_t seconds, int32_t *offset,
                    struct cel_value *error) {
    (void)seconds;
    *offset = 0;
    size_t colon = str_find_char(zone, ':');
    if (zone.n == 0 || str_is(zone, "UTC") || str_is(zone, "Local"))
        return true;
    if (colon == STR_NONE) {
        *error = cel__error(ev, "unknown time zone %.*s", STR_ARG(zone));
        return false;
    }
    int64_t hours, minutes;
    if (!read_number(ev, str_sub(zone, 0, colon), &hours, error) ||
        !read_number(ev, str_sub(zone, colon + 1, zone.n), &minutes, error))
        return false;
    bool negative = str_starts(zone, STR("-"));
    *offset = (int32_t)((hours * 60 + (negative ? -minutes : minutes)) * 60);
    return true;
}
