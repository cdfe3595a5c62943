/*
 * Flags from bytes. The first byte says how many lines are values of which flag; whatever the lines
 * are, an accepted configuration keeps the table's promises and is the same when its named gates
 * are given in the opposite order.
 */
#include <stdint.h>
#include <string.h>

#include "check.h"
#include "feature/feature.h"

enum { VALUES = 4 };

/* The lines of the input, dealt out to the three flags by the selector's bits. */
static void deal(struct str text, unsigned selector, struct feature_flag flags[3],
                 struct str values[3][VALUES]) {
    for (unsigned i = 0; i < VALUES && text.n; i++) {
        unsigned to = selector >> (2 * i) & 3;
        struct feature_flag *f = &flags[to == 3 ? 0 : to];
        struct str *v = values[f - flags];
        str_cut(text, '\n', &v[f->n], &text);
        f->v = v;
        f->n++;
    }
}

static void check_gates(const struct feature_config *c) {
    for (int i = 0; i < FEATURE_COUNT; i++) {
        enum feature f = (enum feature)i;
        const struct feature_spec *s = feature_spec_at(f, c->emulated, c->min_compat);
        bool on = feature_enabled(&c->enabled, f), named = feature_enabled(&c->named, f);
        CHECK(!(s->locked && named) || on == s->on);
        CHECK(s->stage != FEATURE_PRE_ALPHA || (!on && !named));
    }
#define NEEDS(name, other)                                 \
    CHECK(!feature_enabled(&c->enabled, FEATURE_##name) || \
          feature_enabled(&c->enabled, FEATURE_##other));
#include "feature/gates.def"
}

static void check_reversed(const struct feature_config *c, const struct feature_flags *flags) {
    struct buf gates = BUF_INIT(1 << 20);
    for (int i = FEATURE_COUNT - 1; i >= 0; i--)
        if (feature_enabled(&c->named, (enum feature)i))
            buf_addf(&gates, "%.*s=%d,", STR_ARG(feature_name((enum feature)i)),
                     feature_enabled(&c->enabled, (enum feature)i));
    struct str value = buf_view(&gates);
    struct feature_flags reversed = *flags;
    reversed.gates = (struct feature_flag){&value, 1};
    struct feature_config again;
    CHECK(feature_configure(&reversed, &again, NULL) == 0);
    CHECK(memcmp(&again.enabled, &c->enabled, sizeof again.enabled) == 0);
    CHECK(memcmp(&again.named, &c->named, sizeof again.named) == 0);
    buf_release(&gates);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    struct str values[3][VALUES];
    struct feature_flag dealt[3] = {{0}};
    deal((struct str){(const char *)data + 1, size - 1}, data[0], dealt, values);
    const struct feature_flags flags = {
        .gates = dealt[0], .emulated = dealt[1], .min_compat = dealt[2]};
    struct feature_config c;
    struct err err = {0};
    if (feature_configure(&flags, &c, &err) < 0) {
        CHECK(err.code == ERR_USAGE && err.msg[0]);
        return 0;
    }
    CHECK(err.code == ERR_NONE);
    check_gates(&c);
    check_reversed(&c, &flags);
    return 0;
}
