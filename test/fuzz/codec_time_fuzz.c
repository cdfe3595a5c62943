/*
 * Times, durations and base64 from anywhere: what was read, printed and read again is the same, and
 * what was printed is always readable.
 */
#include <string.h>

#include "check.h"
#include "codec/base64.h"
#include "codec/time.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_time(struct time_instant t) {
    struct time_civil c = time_to_civil(t.seconds);
    struct time_instant again;
    struct buf text = BUF_INIT(64);
    CHECK(time_of_civil(&c) == t.seconds);
    time_write_micro(&text, t);
    if (c.year >= 0 && c.year <= 9999) {
        CHECK(time_parse_micro(buf_view(&text), &again, NULL) == 0);
        CHECK(again.seconds == t.seconds && again.nanos == t.nanos / 1000 * 1000);
        CHECK(time_parse(buf_view(&text), &again, NULL) == 0 && again.seconds == t.seconds);
        CHECK(time_is_yaml_timestamp(buf_view(&text)));
    }
    buf_release(&text);
}

static void check_duration(int64_t ns) {
    int64_t again;
    struct buf text = BUF_INIT(64);
    time_write_duration(&text, ns);
    CHECK(time_parse_duration(buf_view(&text), &again, NULL) == 0 && again == ns);
    buf_release(&text);
}

static void check_base64(struct str bytes) {
    struct arena a = {0};
    struct str again;
    struct buf text = BUF_INIT(bytes.n * 2 + 4);
    base64_write(&text, bytes);
    CHECK(base64_decode(&a, buf_view(&text), &again, NULL) == 0 && str_eq(again, bytes));
    buf_release(&text);
    arena_release(&a);
}

static void check_text(struct str text) {
    struct arena a = {0};
    struct err err = {0};
    struct time_instant t;
    struct str bytes;
    int64_t ns;
    struct buf why = BUF_INIT(1 << 20);
    if (time_parse(text, &t, &why) == 0)
        check_time(t);
    else
        CHECK(why.n > 0);
    buf_release(&why);
    if (time_parse_micro(text, &t, NULL) == 0)
        check_time(t);
    if (time_parse_duration(text, &ns, &err) == 0)
        check_duration(ns);
    if (base64_decode(&a, text, &bytes, &err) == 0)
        check_base64(bytes);
    (void)time_is_yaml_timestamp(text);
    arena_release(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct str text = {(const char *)data, size};
    uint64_t number = 0;
    check_text(text);
    check_base64(text);
    if (size >= sizeof number) {
        memcpy(&number, data, sizeof number);
        check_duration((int64_t)number);
        /* years up to about 36,000, on both sides */
        check_time((struct time_instant){(int64_t)number >> 24, (int32_t)(number % 1000000000)});
    }
    return 0;
}
