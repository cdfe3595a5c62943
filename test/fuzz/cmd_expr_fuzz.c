/*
 * Bytes as an expression of berth cel: every report is written, and what is written stays
 * printable.
 */
#include <stdlib.h>
#include <string.h>

#include "api/types.h"
#include "base/utf8.h"
#include "cmd/expr/expr.h"

static void check_printable(struct str s) {
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < ' ' && s.p[i] != '\n' && s.p[i] != '\t')
            abort();
    if (utf8_valid_prefix(s) != s.n)
        abort();
}

static bool report(const struct expr_report *r,
                   bool (*how)(struct buf *, const struct expr_report *)) {
    AUTO(buf_release) struct buf out = BUF_INIT(256 << 20);
    bool good = how(&out, r);
    check_printable(buf_view(&out));
    return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct api_taint taint = {
        .key = STR_INIT("a"), .value = STR_INIT("1.2.3"), .effect = STR_INIT("NoSchedule")};
    const struct expr_taint taints[] = {{.taint = &taint}};
    AUTO(arena_release) struct arena a = {0};
    struct clock_manual clock;
    struct expr e;
    struct expr_parts parts;
    if (size > 4096)
        return 0;
    clock_manual_init(&clock, 0);
    static struct cel_env *env; /* made once: it never changes */
    if (!env)
        env = expr_env_new();
    expr_init(&e, env, &a, (struct str){(const char *)data, size}, &clock.clock);
    expr_parts_init(&parts, env, &a, &e, &clock.clock);
    struct expr_report r = {.clock = &clock.clock,
                            .expr = &e,
                            .parts = &parts,
                            .taints = taints,
                            .taint_count = 1,
                            .ast = true};
    if (report(&r, expr_report_write_text) != report(&r, expr_report_write_json))
        abort();
    expr_parts_release(&parts);
    expr_release(&e);
    return 0;
}
