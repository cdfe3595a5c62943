/*
 * The table of gates and the questions that can be put to it.
 *
 * Follows k8s.io/component-base featuregate, func (*featureGate) KnownFeatures,
 * func featureSpecAtEmulationAndMinCompatVersion.
 */
#include <stdlib.h>

#include "feature/feature_int.h"

enum { SPECS = 4 }; /* the longest history in the table */

struct gate {
    struct str name;
    struct feature_spec specs[SPECS]; /* what is not used is PRE_ALPHA */
};

#define SINCE(major, minor, stage, state) SINCE_IF(major, minor, stage, state, 0, 0)
#define SINCE_IF(major, minor, stage, state, compat_major, compat_minor) \
    {major, minor, compat_major, compat_minor, FEATURE_##stage, STATE_##state},
#define STATE_OFF        false, false
#define STATE_ON         true, false
#define STATE_LOCKED_OFF false, true
#define STATE_LOCKED_ON  true, true

static const struct gate gates[FEATURE_COUNT] = {
#define GATE(name, ...) {STR_INIT(#name), {__VA_ARGS__}},
#include "feature/gates.def"
};

static const struct str effects[FEATURE_COUNT] = {
#define EFFECT(name, text) [FEATURE_##name] = STR_INIT(text),
#include "feature/effects.def"
};

struct str feature_effect(enum feature f) {
    return effects[f].p ? effects[f] : STR("");
}

const char *feature_stage_name(enum feature_stage stage) {
    static const char *const names[] = {"PRE-ALPHA", "ALPHA", "BETA", "GA", "DEPRECATED"};
    return names[stage];
}

void feature_set_put(struct feature_set *set, enum feature f, bool on) {
    uint64_t bit = UINT64_C(1) << (f % 64);
    set->words[f / 64] = (set->words[f / 64] & ~bit) | (on ? bit : 0);
}

struct str feature_name(enum feature f) {
    return gates[f].name;
}

static int compare_name(const void *name, const void *gate) {
    return str_cmp(*(const struct str *)name, ((const struct gate *)gate)->name);
}

bool feature_find(struct str name, enum feature *out) {
    const struct gate *g = bsearch(&name, gates, FEATURE_COUNT, sizeof *gates, compare_name);
    if (g)
        *out = (enum feature)(g - gates);
    return g != NULL;
}

const struct feature_spec *feature_specs(enum feature f, size_t *count) {
    size_t n = 0;
    while (n < SPECS && gates[f].specs[n].stage != FEATURE_PRE_ALPHA)
        n++;
    *count = n;
    return gates[f].specs;
}

const struct feature_spec *feature_spec_at(enum feature f, struct feature_version emulated,
                                           struct feature_version min_compat) {
    static const struct feature_spec not_yet = {.stage = FEATURE_PRE_ALPHA};
    size_t n;
    const struct feature_spec *specs = feature_specs(f, &n);
    while (n-- > 0) {
        const struct feature_spec *s = &specs[n];
        struct feature_version since = {s->major, s->minor};
        struct feature_version compat = {s->compat_major, s->compat_minor};
        if (feature__version_cmp(since, emulated) <= 0 &&
            feature__version_cmp(compat, min_compat) <= 0)
            return s;
    }
    return &not_yet;
}

/* Is there something for a user to set? */
static bool is_shown(const struct feature_spec *s) {
    return s->stage == FEATURE_ALPHA || s->stage == FEATURE_BETA;
}

static void write_option(struct buf *out, enum feature f, const struct feature_spec *s) {
    buf_addf(out, "%.*s=true|false (%s - default=%s)", STR_ARG(gates[f].name),
             feature_stage_name(s->stage), s->on ? "true" : "false");
}

/* What the gate is now and, where that differs, what it would be among equals in age. */
static void write_gate_help(struct buf *out, enum feature f, const struct feature_config *c) {
    const struct feature_spec *now = feature_spec_at(f, c->emulated, c->min_compat);
    const struct feature_spec *later = feature_spec_at(f, c->emulated, c->emulated);
    if (out->n && (is_shown(now) || is_shown(later)))
        buf_add_char(out, '\n');
    if (is_shown(now))
        write_option(out, f, now);
    if (later == now || !is_shown(later))
        return;
    if (is_shown(now))
        buf_add(out, STR(", or "));
    write_option(out, f, later);
    buf_addf(out, " if --min-compatibility-version>=%d.%d", later->compat_major,
             later->compat_minor);
}

void feature_write_help(struct buf *out, const struct feature_config *c) {
    for (int f = 0; f < FEATURE_COUNT; f++)
        write_gate_help(out, (enum feature)f, c);
}
