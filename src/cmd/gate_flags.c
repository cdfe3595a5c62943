/* From flags to a set of feature gates. */
#include "cmd/gate_flags.h"

#include "cli/spelling.h"

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
     .help = "Kubernetes version whose gates, stages and defaults hold, such as 1.34.",
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
    {0},
};

static struct feature_flag flag_of(const struct opt_list *list) {
    return (struct feature_flag){list->v, list->n};
}

/* Puts the gates that an unknown one may stand for under the text that tells of it. */
static int suggest_gates(struct err *err) {
    struct str unknown = STR("unrecognized feature gate: "), text = str_of(err->msg);
    if (!str_starts(text, unknown))
        return -1;
    struct suggest suggest = {.typed = str_sub(text, unknown.n, text.n)};
    for (enum feature f = 0; f < FEATURE_COUNT; f++)
        suggest_offer(&suggest, feature_name(f).p);
    return suggest_fail(&suggest, "", err);
}

int gates_configure(const struct gates_opts *opts, const struct log *log,
                    struct feature_config *out, struct err *err) {
    struct feature_flags flags = {
        .gates = flag_of(&opts->gates),
        .emulated = flag_of(&opts->emulated),
        .min_compat = flag_of(&opts->min_compat),
    };
    if (feature_configure(&flags, out, err) < 0) {
        err->code = ERR_USAGE;
        return suggest_gates(err);
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
