/* The server as a whole: its making, and what all answers share. */
#include <stdarg.h>
#include <stdlib.h>

#include "api/names.h"
#include "apiserver/apiserver_int.h"

struct apiserver *apiserver_new(const struct apiserver_opts *opts) {
    struct apiserver *s = xcalloc(1, sizeof *s);
    s->opts = *opts;
    apiserver__view_init(s);
    apiserver__ranges_init(s);
    return s;
}

void apiserver_free(struct apiserver *s) {
    if (!s)
        return;
    auth_rules_unref(s->rules);
    registry_ranges_free(s->ranges);
    free(s);
}

void apiserver_rules_set(struct apiserver *s, const struct auth_rules *rules) {
    auth_rules_unref(s->rules);
    s->rules = auth_rules_ref(rules);
}

/* ---- responses ---- */

void apiserver_response_release(struct apiserver_response *response) {
    api_object_unref(response->object);
    store_snapshot_unref(response->list.snapshot);
    *response = (struct apiserver_response){0};
}

void apiserver__fail(struct apiserver_response *out, struct registry_failure failure) {
    out->answer = APISERVER_FAILURE;
    out->code = err_http_status(failure.code);
    out->failure = failure;
}

void apiserver__answer(struct apiserver_response *out, int code, const struct api_object *o) {
    out->answer = APISERVER_OBJECT;
    out->code = code;
    out->object = api_object_ref(o);
}

struct registry_failure apiserver__failure(struct arena *a, enum err_code code, const char *fmt,
                                           ...) {
    va_list args;
    va_start(args, fmt);
    struct str message = arena_vprintf(a, fmt, args);
    va_end(args);
    return (struct registry_failure){.code = code, .message = message};
}

/* ---- chance and time ---- */

struct str apiserver__letters(struct apiserver *s, struct arena *a, size_t n) {
    unsigned char *bytes = arena_alloc(a, n + 1);
    s->opts.draw(s->opts.draw_ctx, bytes, n);
    char *text = arena_alloc(a, n + 1);
    for (size_t i = 0; i < n; i++)
        text[i] = NAMES_LETTERS[bytes[i] % (sizeof NAMES_LETTERS - 1)];
    return (struct str){text, n};
}

struct str apiserver__uuid(struct apiserver *s, struct arena *a) {
    unsigned char b[16];
    s->opts.draw(s->opts.draw_ctx, b, sizeof b);
    b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
    b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
    AUTO(buf_release) struct buf text = BUF_INIT(64);
    for (size_t i = 0; i < sizeof b; i += i ? 2 : 4) {
        if (i > 0 && i <= 10)
            buf_add_char(&text, '-');
        buf_add_hex(&text, b + i, i ? 2 : 4);
    }
    return arena_str(a, buf_view(&text));
}

struct api_time apiserver__now(const struct apiserver *s) {
    return (struct api_time){.sec = clock_wall(s->opts.clock) / CLOCK_SECOND, .set = true};
}
