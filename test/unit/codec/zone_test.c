/* The rules that the files of time zones end in: also the forms that no zone of today has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "codec/zone.h"

enum { BAD = INT32_MIN };

static const struct {
    const char *rule;
    int64_t seconds;
    int32_t offset;
} rows[] = {
    {"CET-1CEST,M3.5.0,M10.5.0/3", 1704067200, 3600}, /* 2024-01-01 */
    {"CET-1CEST,M3.5.0,M10.5.0/3", 1719792000, 7200}, /* 2024-07-01 */
    {"AEST-10AEDT,M10.1.0,M4.1.0/3", 1704067200, 39600},
    {"<+0330>-3:30<+0430>,J79/24,J263/24", 1609459200, 12600}, /* 2021-01-01 */
    {"<+0330>-3:30<+0430>,J79/24,J263/24", 1625097600, 16200}, /* 2021-07-01 */
    {"A0B,J60/0,J61/0", 1677672000, 3600},                     /* 2023-03-01 12:00 */
    {"A0B,J60/0,J61/0", 1709208000, 0},                        /* 2024-02-29 12:00 */
    {"A0B,J60/0,J61/0", 1709294400, 3600},                     /* 2024-03-01 12:00 */
    {"A0B,59/0,60/0", 1709208000, 3600},
    {"A0B,59/0,60/0", 1709294400, 0},
    {"UTC0", 0, 0},
    {"A+1:02:03", 0, -3723},
    {"A0B-2,0/0,365/0", 1709208000, 7200},
    {"", 0, BAD},
    {"5", 0, BAD},
    {"A", 0, BAD},
    {"A5:x", 0, BAD},
    {"<A5", 0, BAD},
    {"A5,", 0, BAD},
    {"A5B", 0, BAD},
    {"A5B-", 0, BAD},
    {"A5B,M3", 0, BAD},
    {"A5B,Jx,J2", 0, BAD},
    {"A5B,M3.2.0", 0, BAD},
    {"A5B,M3.2.0/x,M11.1.0", 0, BAD},
};

static void rules_give_offsets(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int32_t offset = 0;
        bool good = zone_rule_offset(str_of(rows[i].rule), rows[i].seconds, &offset);
        if ((good ? offset : BAD) != rows[i].offset)
            fail_msg("%s at %lld: %d", rows[i].rule, (long long)rows[i].seconds, (int)offset);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_give_offsets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
