/* From flags to a set of feature gates. */
#include "cmd/gate_flags.h"

#include "cli/spelling.h"
#include "cmd/cmd.h"

static bool is_for_users(const struct feature_spec *spec) {
    return !spec->locked && (spec->stage == FEATURE_ALPHA || spec->stage == FEATURE_BETA);
}

static void offer_gates(struct buf *out) {
    for (enum feature f = 0; f < FEATURE_COUNT; f++) {
        struct str name = feature_name(f);
        if (is_for_users(feature_spec_at(f, FEATURE_NEWEST, FEATURE_NEWEST)))
            buf_addf(out, "%.*s=true %.*s=false ", STR_ARG(name), STR_ARG(name));
    }
}

const struct opt gates_opts[] = {
    {.name = "emulated-version",
     .kind = OPT_LIST,
     .value = "VERSION",
     .help = "Kubernetes version whose gates, stages and defaults hold, from 1.29 on.",
     .offset = offsetof(struct gates_opts, emulated)},
    {.name = "feature-gates",
     .kind = OPT_LIST,
     .value = "GATE=BOOL",
     .help = "Feature gates to switch, such as AllAlpha=true or "
             "TaintTolerationComparisonOperators=true. "
             "Separated by commas or given several times.",
     .offset = offsetof(struct gates_opts, gates),
     .offer = offer_gates},
    {.name = "min-compatibility-version",
     .kind = OPT_LIST,
     .value = "VERSION",
     .help = "Oldest Kubernetes version in the cluster to stay compatible with.",
     .offset = offsetof(struct gates_opts, min_compat)},
    {.name = "unlock-feature-gates",
     .kind = OPT_FLAG,
     .help =
         "Let --feature-gates set gates that are locked to their default, which no component of "
         "Kubernetes does: to try a rollback.",
     .offset = offsetof(struct gates_opts, unlock)},
    {0},
};

static struct feature_flag flag_of(const struct opt_list *list) {
    return (struct feature_flag){list->v, list->n};
}

/* Puts the gates that an unknown one may stand for under the text that tells of it. */
static void suggest_gates(struct err *err) {
    struct str unknown = STR("unrecognized feature gate: "), text = str_of(err->msg);
    if (!str_starts(text, unknown))
        return;
    struct suggest suggest = {.typed = str_sub(text, unknown.n, text.n)};
    for (enum feature f = 0; f < FEATURE_COUNT; f++)
        suggest_offer(&suggest, feature_name(f).p);
    for (enum feature f = 0; f < FEATURE_COUNT && suggest.n == 0; f++)
        suggest_offer_words(&suggest, feature_name(f).p);
    suggest_fail(&suggest, "", err);
}

/* The last version in which a gate that is locked now can be set; false if that was too long ago.
 */
static bool last_unlocked(enum feature f, const struct feature_config *c,
                          struct feature_version *out) {
    const struct feature_spec *now = feature_spec_at(f, c->emulated, c->min_compat);
    size_t count;
    if (now == feature_specs(f, &count) || now->minor == 0)
        return false;
    *out = (struct feature_version){now->major, now->minor - 1u};
    return out->major == FEATURE_OLDEST.major && out->minor >= FEATURE_OLDEST.minor;
}

/* Tells how to set what is locked: the flags are good but for that. */
static void hint_at_locks(const struct feature_flags *flags, struct err *err) {
    struct feature_flags unlocked = *flags;
    struct feature_config c;
    struct feature_version last;
    AUTO(buf_release) struct buf hint = BUF_INIT(ERR_TEXT);
    unlocked.unlock = true;
    if (flags->unlock || feature_configure(&unlocked, &c, NULL) < 0)
        return;
    for (enum feature f = 0; f < FEATURE_COUNT && hint.n == 0; f++) {
        const struct feature_spec *spec = feature_spec_at(f, c.emulated, c.min_compat);
        bool against = spec->locked && spec->on != feature_enabled(&c.enabled, f);
        if (against && last_unlocked(f, &c, &last))
            buf_addf(&hint, "it can be set with --emulated-version=%u.%u; ", (unsigned)last.major,
                     (unsigned)last.minor);
    }
    buf_add(&hint, STR("--unlock-feature-gates sets it here, as no component of Kubernetes does"));
    cmd_hint(err, buf_view(&hint));
}

/* Tells which gates must be on as well. */
static void hint_at_needs(const struct feature_flags *flags, struct err *err) {
    AUTO(buf_release) struct buf missing = BUF_INIT(ERR_TEXT), hint = BUF_INIT(2 * ERR_TEXT);
    feature_write_missing(&missing, flags);
    if (missing.n == 0)
        return;
    buf_addf(&hint, "add --feature-gates=%.*s", STR_ARG(buf_view(&missing)));
    cmd_hint(err, buf_view(&hint));
}

int gates_configure(const struct gates_opts *opts, const struct log *log,
                    struct feature_config *out, struct err *err) {
    struct feature_flags flags = {
        .gates = flag_of(&opts->gates),
        .emulated = flag_of(&opts->emulated),
        .min_compat = flag_of(&opts->min_compat),
        .unlock = opts->unlock,
    };
    if (feature_configure(&flags, out, err) < 0) {
        err->code = ERR_USAGE;
        suggest_gates(err);
        hint_at_locks(&flags, err);
        hint_at_needs(&flags, err);
        return -1;
    }
    feature_config_log(out, log);
    return 0;
}

int gates_resolve(const struct gates_opts *opts, const struct log *log, struct feature_set *out,
                  struct err *err) {
    struct feature_config config;
    if (gates_configure(opts, log, &config, err) < 0)
        return -1;
    *out = config.enabled;
    return 0;
}

/* The first version from the emulated one on in which the gate can be switched on, or is. */
static const struct feature_spec *first_usable(enum feature gate, const struct feature_config *c) {
    size_t count;
    const struct feature_spec *now = feature_spec_at(gate, c->emulated, c->min_compat);
    if (now->stage != FEATURE_PRE_ALPHA && (!now->locked || now->on))
        return now;
    const struct feature_spec *specs = feature_specs(gate, &count);
    for (size_t i = 0; i < count; i++) {
        bool later = specs[i].major > c->emulated.major ||
                     (specs[i].major == c->emulated.major && specs[i].minor > c->emulated.minor);
        if (later && (!specs[i].locked || specs[i].on))
            return &specs[i];
    }
    return NULL;
}

bool gates_write_remedy(struct buf *out, const struct feature_config *c, enum feature gate) {
    const struct feature_spec *spec = first_usable(gate, c);
    if (!spec)
        return false;
    bool newer = spec->major > c->emulated.major ||
                 (spec->major == c->emulated.major && spec->minor > c->emulated.minor);
    bool flag = !newer || !spec->on;
    if (newer)
        buf_addf(out, "--emulated-version=%u.%u%s", spec->major, spec->minor, flag ? " " : "");
    if (flag)
        buf_addf(out, "--feature-gates=%.*s=true", STR_ARG(feature_name(gate)));
    return true;
}
