/*
 * From flags to a set of gates. The steps and their order are kube-apiserver's: versions first,
 * then the syntax of all gates, then what each gate says to its value, then what gates need of each
 * other, and last whether the versions are in range.
 *
 * Follows k8s.io/component-base featuregate, func (*featureGate) Set,
 * func (*featureGate) unsafeSetFromMap.
 * Follows k8s.io/component-base compatibility, func (*componentGlobalsRegistry) Set.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/goquote.h"
#include "base/log.h"
#include "base/utf8.h"
#include "feature/feature_int.h"

/* The component that all of Kubernetes goes by. */
#define KUBE STR("kube")

#define VERSION_FORMAT "%" PRIu64 ".%" PRIu64
#define VERSION_ARG(v) (v).major, (v).minor

/* How many minor versions back upstream's components may be set. */
enum { OLDEST_OFFSET = 3 };

static const struct {
    enum feature gate, other;
} needs[] = {
#define NEEDS(name, other) {FEATURE_##name, FEATURE_##other},
#include "feature/gates.def"
};

/* The oldest version that a cluster with this one is expected to have: upstream's, or, for versions
 * that upstream does not emulate any more, our own. */
static struct feature_version oldest_beside(struct feature_version emulated) {
    struct feature_version oldest = {FEATURE_NEWEST.major, FEATURE_NEWEST.minor - OLDEST_OFFSET};
    return feature__version_cmp(emulated, oldest) < 0 ? FEATURE_OLDEST : oldest;
}

/* Several errors as one text, "[one, two]"; a single one without brackets. */
struct errors {
    struct buf text;
    size_t count;
};

/* A few more bytes than err can hold, so that err marks the cut. */
#define ERRORS_INIT ((struct errors){.text = BUF_INIT(4 * ERR_TEXT)})

__attribute__((format(printf, 2, 3))) static void add_error(struct errors *e, const char *fmt,
                                                            ...) {
    char text[ERR_TEXT];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (e->count++)
        buf_add(&e->text, STR(", "));
    buf_add(&e->text, str_of(text));
}

/* -1 with the errors in err, or 0 if there are none; releases them. */
static int finish_errors(struct errors *e, struct err *err) {
    bool many = e->count > 1;
    if (e->count)
        err_set(err, ERR_USAGE, "%s%.*s%s", many ? "[" : "", STR_ARG(buf_view(&e->text)),
                many ? "]" : "");
    buf_release(&e->text);
    return e->count ? -1 : 0;
}

static const char *bool_text(bool b) {
    return b ? "true" : "false";
}

static bool is_one_of(struct str s, const char *const *words) {
    while (*words && !str_is(s, *words))
        words++;
    return *words != NULL;
}

/* Go's strconv.ParseBool. */
static bool parse_bool(struct str s, bool *out) {
    static const char *const yes[] = {"1", "t", "T", "true", "TRUE", "True", NULL};
    static const char *const no[] = {"0", "f", "F", "false", "FALSE", "False", NULL};
    *out = is_one_of(s, yes);
    return *out || is_one_of(s, no);
}

/* Goes through the comma-separated items of all values of a flag. */
struct items {
    struct feature_flag left; /* values not begun */
    struct str rest;          /* of the current value */
    bool more;                /* rest has an item, perhaps an empty one */
};

static bool next_item(struct items *it, struct str *item) {
    while (!it->more) {
        if (it->left.n == 0)
            return false;
        it->rest = *it->left.v++;
        it->left.n--;
        it->more = it->rest.n > 0;
    }
    it->more = str_cut(it->rest, ',', item, &it->rest);
    return true;
}

/* ---- versions ---- */

static int refuse_patch(const struct feature__version *v, struct str component, struct err *err) {
    AUTO(buf_release) struct buf text = BUF_INIT(ERR_TEXT);
    feature__version_write(&text, v);
    return err_set(err, ERR_USAGE, "patch version not allowed, got: %.*s=%.*s", STR_ARG(component),
                   STR_ARG(buf_view(&text)));
}

static int refuse_second(const struct feature__version *first, const struct feature__version *v,
                         struct err *err) {
    AUTO(buf_release) struct buf a = BUF_INIT(ERR_TEXT), b = BUF_INIT(ERR_TEXT);
    feature__version_write(&a, first);
    feature__version_write(&b, v);
    return err_set(err, ERR_USAGE, "duplicate version flag, kube=%.*s and kube=%.*s",
                   STR_ARG(buf_view(&a)), STR_ARG(buf_view(&b)));
}

static int refuse_unregistered(struct str component, struct err *err) {
    return err_set(err, ERR_USAGE, "component not registered: %.*s", STR_ARG(component));
}

/* Reads "1.34" or "kube=1.34", at most once; *out stays if the flag was not given. */
static int read_version(struct feature_flag flag, struct feature_version *out, struct err *err) {
    struct items it = {.left = flag};
    struct feature__version kube = {0}, v;
    struct str item, unregistered = {0};
    while (next_item(&it, &item)) {
        struct str component = KUBE, text = item;
        if (str_find_char(item, '=') != STR_NONE) {
            str_cut(item, '=', &component, &text);
            component = utf8_trim_space(component);
            text = utf8_trim_space(text);
        }
        if (feature__version_parse(text, &v, err) < 0)
            return -1;
        if (v.patch)
            return refuse_patch(&v, component, err);
        if (!str_eq(component, KUBE)) {
            unregistered = unregistered.p ? unregistered : component;
            continue;
        }
        if (kube.numbers.p)
            return refuse_second(&kube, &v, err);
        kube = v;
    }
    if (unregistered.p)
        return refuse_unregistered(unregistered, err);
    if (kube.numbers.p)
        *out = (struct feature_version){kube.major, kube.minor};
    return 0;
}

static void add_range_error(struct errors *e, const char *what, struct feature_version v,
                            struct feature_version newest, const char *patch) {
    struct feature_version oldest = FEATURE_OLDEST;
    if (feature__version_cmp(v, newest) <= 0 && feature__version_cmp(v, oldest) >= 0)
        return;
    add_error(e,
              "%s version " VERSION_FORMAT " is not between [" VERSION_FORMAT ", " VERSION_FORMAT
              "%s]",
              what, VERSION_ARG(v), VERSION_ARG(oldest), VERSION_ARG(newest), patch);
}

static int check_versions(const struct feature_config *c, struct err *err) {
    struct errors e = ERRORS_INIT;
    add_range_error(&e, "emulation", c->emulated, FEATURE_NEWEST, ".0");
    add_range_error(&e, "minCompatibilityVersion", c->min_compat, c->emulated, "");
    return finish_errors(&e, err);
}

static int read_versions(const struct feature_flags *flags, struct feature_config *c,
                         struct err *err) {
    c->emulated = FEATURE_NEWEST;
    if (read_version(flags->emulated, &c->emulated, err) < 0)
        return -1;
    c->min_compat = feature__version_before(c->emulated);
    struct feature_version oldest = oldest_beside(c->emulated);
    if (feature__version_cmp(c->min_compat, oldest) < 0)
        c->min_compat = oldest;
    return read_version(flags->min_compat, &c->min_compat, err);
}

/* ---- gates ---- */

/* Cuts an item into component and setting. */
static void cut_component(struct str item, struct str *component, struct str *setting) {
    if (!str_cut(item, ':', component, setting)) {
        *setting = *component;
        *component = STR("");
    }
    *component = utf8_trim_space(*component);
    *setting = utf8_trim_space(*setting);
}

/* All settings must be for this component, and say so in one way: with "kube:" or without. */
static int check_components(struct feature_flag flag, struct err *err) {
    struct items it = {.left = flag};
    bool bare = false, kube = false;
    for (struct str item, component, setting; next_item(&it, &item);) {
        if (item.n == 0)
            continue;
        cut_component(item, &component, &setting);
        if (component.n && !str_eq(component, KUBE))
            return refuse_unregistered(component, err);
        *(component.n ? &kube : &bare) = true;
    }
    if (kube && bare)
        return err_set(err, ERR_USAGE,
                       "set kube feature gates with default empty prefix or kube: prefix "
                       "consistently, do not mix use");
    return 0;
}

/* What the flags say about each gate, before the gates are asked. */
struct assignments {
    struct feature_set named, on;
    bool unlock;        /* locked gates may be set */
    struct str unknown; /* the first name that is no gate; absent = none */
};

static int refuse_value(struct str name, struct str value, struct err *err) {
    AUTO(buf_release) struct buf quoted = BUF_INIT(4 * ERR_TEXT + 4);
    goquote_write(&quoted, str_sub(value, 0, ERR_TEXT));
    return err_set(err, ERR_USAGE,
                   "invalid value of %.*s=%.*s, err: strconv.ParseBool: parsing %.*s: invalid "
                   "syntax",
                   STR_ARG(name), STR_ARG(value), STR_ARG(buf_view(&quoted)));
}

/* Reads one "Name=value". */
static int read_assignment(struct assignments *w, struct str item, struct err *err) {
    struct str name, value;
    bool has_value = str_cut(item, '=', &name, &value), on;
    name = utf8_trim_space(name);
    if (!has_value)
        return err_set(err, ERR_USAGE, "missing bool value for %.*s", STR_ARG(name));
    value = utf8_trim_space(value);
    if (!parse_bool(value, &on))
        return refuse_value(name, value, err);
    enum feature f;
    if (feature_find(name, &f)) {
        feature_set_put(&w->named, f, true);
        feature_set_put(&w->on, f, on);
    } else if (!w->unknown.p) {
        w->unknown = name;
    }
    return 0;
}

static int read_assignments(struct feature_flag flag, struct assignments *w, struct err *err) {
    if (check_components(flag, err) < 0)
        return -1;
    struct items it = {.left = flag};
    for (struct str item, component, setting; next_item(&it, &item);) {
        cut_component(item, &component, &setting);
        if (setting.n && read_assignment(w, setting, err) < 0)
            return -1;
    }
    if (w->unknown.p)
        return err_set(err, ERR_USAGE, "unrecognized feature gate: %.*s", STR_ARG(w->unknown));
    return 0;
}

/* The value of a gate that is not named: what AllAlpha or AllBeta says of its stage, or its own. */
static bool unnamed_value(const struct assignments *w, const struct feature_spec *s) {
    if (s->stage == FEATURE_ALPHA && feature_enabled(&w->named, FEATURE_AllAlpha))
        return feature_enabled(&w->on, FEATURE_AllAlpha);
    if (s->stage == FEATURE_BETA && feature_enabled(&w->named, FEATURE_AllBeta))
        return feature_enabled(&w->on, FEATURE_AllBeta);
    return s->on;
}

/* May a named gate have this value? */
static void check_assignment(const struct feature_config *c, enum feature f,
                             const struct assignments *w, struct errors *e) {
    const struct feature_spec *s = feature_spec_at(f, c->emulated, c->min_compat);
    struct str name = feature_name(f);
    bool on = feature_enabled(&w->on, f);
    if (s->locked && s->on != on && !w->unlock)
        add_error(e, "cannot set feature gate %.*s to %s, feature is locked to %s", STR_ARG(name),
                  bool_text(on), bool_text(s->on));
    else if (s->stage == FEATURE_PRE_ALPHA)
        add_error(e,
                  "cannot set feature gate %.*s to %s, feature is PreAlpha at emulated "
                  "version " VERSION_FORMAT ", min compatibility version " VERSION_FORMAT,
                  STR_ARG(name), bool_text(on), VERSION_ARG(c->emulated),
                  VERSION_ARG(c->min_compat));
}

static int assign_gates(struct feature_config *c, const struct assignments *w, struct err *err) {
    struct errors e = ERRORS_INIT;
    c->named = w->named;
    for (int i = 0; i < FEATURE_COUNT; i++) {
        enum feature f = (enum feature)i;
        const struct feature_spec *s = feature_spec_at(f, c->emulated, c->min_compat);
        bool named = feature_enabled(&w->named, f), on = feature_enabled(&w->on, f);
        if (named)
            check_assignment(c, f, w, &e);
        feature_set_put(&c->enabled, f, named ? on : unnamed_value(w, s));
    }
    return finish_errors(&e, err);
}

/* The rows of `needs` are sorted by gate: gathers what one gate misses, and moves behind it. */
static void check_needs_of(const struct feature_config *c, size_t *at, struct errors *e) {
    AUTO(buf_release) struct buf missing = BUF_INIT(ERR_TEXT);
    enum feature gate = needs[*at].gate;
    for (; *at < sizeof needs / sizeof *needs && needs[*at].gate == gate; ++*at) {
        struct str other = feature_name(needs[*at].other);
        if (!feature_enabled(&c->enabled, needs[*at].other))
            buf_addf(&missing, "%s%.*s", missing.n ? " " : "", STR_ARG(other));
    }
    if (missing.n && feature_enabled(&c->enabled, gate))
        add_error(e, "%.*s is enabled, but depends on features that are disabled: [%.*s]",
                  STR_ARG(feature_name(gate)), STR_ARG(buf_view(&missing)));
}

static int check_needs(const struct feature_config *c, struct err *err) {
    struct errors e = ERRORS_INIT;
    for (size_t at = 0; at < sizeof needs / sizeof *needs;)
        check_needs_of(c, &at, &e);
    return finish_errors(&e, err);
}

void feature_config_init(struct feature_config *c, struct feature_version emulated) {
    static const struct assignments none;
    *c = (struct feature_config){.emulated = emulated,
                                 .min_compat = feature__version_before(emulated)};
    assign_gates(c, &none, NULL);
}

int feature_configure(const struct feature_flags *flags, struct feature_config *out,
                      struct err *err) {
    struct feature_config c = {0};
    struct assignments w = {.unlock = flags->unlock};
    if (read_versions(flags, &c, err) < 0 || read_assignments(flags->gates, &w, err) < 0 ||
        assign_gates(&c, &w, err) < 0 || check_needs(&c, err) < 0 || check_versions(&c, err) < 0)
        return -1;
    *out = c;
    return 0;
}

/* May the flags go on with this setting? Not if they say otherwise, nor if the gate is not there or
 * locked. */
static bool can_add(const struct feature_config *c, const struct assignments *w, enum feature f) {
    const struct feature_spec *s = feature_spec_at(f, c->emulated, c->min_compat);
    return !feature_enabled(&w->named, f) && s->stage != FEATURE_PRE_ALPHA && !s->locked;
}

/* Adds a setting for one of the needs that are not met: the other gate on or, where that cannot be,
 * the gate itself off. A gate is set once, so that this ends. False when there is nothing to add.
 */
static bool add_missing(struct feature_config *c, struct assignments *w, struct buf *out) {
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        enum feature gate = needs[i].gate, other = needs[i].other;
        if (!feature_enabled(&c->enabled, gate) || feature_enabled(&c->enabled, other))
            continue;
        bool on = can_add(c, w, other);
        if (!on && !can_add(c, w, gate))
            continue;
        enum feature f = on ? other : gate;
        buf_addf(out, "%s%.*s=%s", out->n ? "," : "", STR_ARG(feature_name(f)), bool_text(on));
        feature_set_put(&c->enabled, f, on);
        feature_set_put(&w->named, f, true);
        return true;
    }
    return false;
}

void feature_write_missing(struct buf *out, const struct feature_flags *flags) {
    struct feature_config c = {0};
    struct assignments w = {.unlock = flags->unlock};
    AUTO(buf_release) struct buf settings = BUF_INIT(1 << 16);
    if (read_versions(flags, &c, NULL) < 0 || read_assignments(flags->gates, &w, NULL) < 0 ||
        assign_gates(&c, &w, NULL) < 0)
        return;
    while (add_missing(&c, &w, &settings))
        continue;
    if (check_needs(&c, NULL) == 0)
        buf_add(out, buf_view(&settings));
}

/* ---- what to say about it ---- */

static void log_named(const struct feature_config *c, enum feature f, const struct log *log) {
    const struct feature_spec *s = feature_spec_at(f, c->emulated, c->min_compat);
    bool on = feature_enabled(&c->enabled, f);
    if (s->stage == FEATURE_DEPRECATED)
        log_info(log, 0,
                 "Warning: setting deprecated feature gate. It will be removed in a future "
                 "release.",
                 LOG_STR("featureGate", feature_name(f)), LOG_BOOL("value", on));
    else if (s->stage == FEATURE_GA)
        log_info(log, 0,
                 "Warning: setting GA feature gate. It will be removed in a future release.",
                 LOG_STR("featureGate", feature_name(f)), LOG_BOOL("value", on));
}

static void log_alphas(const struct feature_config *c, const struct log *log) {
    AUTO(buf_release) struct buf names = BUF_INIT(8192);
    for (int i = 0; i < FEATURE_COUNT; i++) {
        enum feature f = (enum feature)i;
        const struct feature_spec *s = feature_spec_at(f, c->emulated, c->min_compat);
        if (s->stage == FEATURE_ALPHA && feature_enabled(&c->enabled, f))
            buf_addf(&names, "%s%.*s", names.n ? " " : "", STR_ARG(feature_name(f)));
    }
    if (names.n)
        log_warn(log,
                 "component has alpha features enabled in emulated version, this is unsupported",
                 LOG_STR("features", buf_view(&names)));
}

void feature_config_log(const struct feature_config *c, const struct log *log) {
    for (int f = 0; f < FEATURE_COUNT; f++)
        if (feature_enabled(&c->named, (enum feature)f))
            log_named(c, (enum feature)f, log);
    if (feature__version_cmp(c->emulated, FEATURE_NEWEST) < 0)
        log_alphas(c, log);
}
