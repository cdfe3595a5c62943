/*
 * Feature gates: what a component of a given Kubernetes version has switched on.
 *
 * The gates, their stages and their defaults are one table (gates.def). A component reads its flags
 * once, with feature_configure, and then asks its own `struct feature_set`, which is a few words to
 * be copied freely; there is no global set. Names, precedence and texts are those of Kubernetes'
 * component-base, so that what works with kube-apiserver's flags works here.
 */
#ifndef FEATURE_FEATURE_H
#define FEATURE_FEATURE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

struct log;

/* FEATURE_DRADeviceTaints and so on: the gate's name behind FEATURE_. */
enum feature {
#define GATE(name, ...) FEATURE_##name,
#include "feature/gates.def"
    FEATURE_COUNT
};

/* Which gates are on. */
struct feature_set {
    uint64_t words[(FEATURE_COUNT + 63) / 64];
};

/* Is the gate on? One load and a mask. */
static inline bool feature_enabled(const struct feature_set *set, enum feature f) {
    return set->words[f / 64] >> (f % 64) & 1;
}

/* Switches one gate, whatever its stage; for tests and for what-if. */
void feature_set_put(struct feature_set *set, enum feature f, bool on);

/* A Kubernetes release. */
struct feature_version {
    uint64_t major, minor;
};

/* The newest release in the table: what a component is unless told otherwise. */
#define FEATURE_NEWEST ((struct feature_version){1, 37})

/* The oldest release that can be emulated: MatchLabelKeysInPodAffinity begins there. A component of
 * Kubernetes reaches back three releases; gates that were removed before the newest one are not in
 * the table. */
#define FEATURE_OLDEST ((struct feature_version){1, 29})

/* PRE_ALPHA: not there yet. */
enum feature_stage {
    FEATURE_PRE_ALPHA,
    FEATURE_ALPHA,
    FEATURE_BETA,
    FEATURE_GA,
    FEATURE_DEPRECATED,
};

/* "ALPHA", "BETA", "GA", "DEPRECATED", "PRE-ALPHA". */
const char *feature_stage_name(enum feature_stage stage);

/* What a gate is from one version on. */
struct feature_spec {
    uint8_t major, minor;               /* since this version */
    uint8_t compat_major, compat_minor; /* and if nothing in the cluster is older; 0.0 = any age */
    uint8_t stage;                      /* enum feature_stage */
    bool on, locked;                    /* by default; cannot be changed */
};

/* The gate's name; static. */
struct str feature_name(enum feature f);

/* Finds a gate by its exact name; false when there is none. */
bool feature_find(struct str name, enum feature *out);

/* What is different in this program while the gate is on, in one line; empty when nothing asks for
 * it. Static. */
struct str feature_effect(enum feature f);

/* The gate's history, oldest first; *count rows, static. */
const struct feature_spec *feature_specs(enum feature f, size_t *count);

/* What the gate is at `emulated` in a cluster whose oldest component is `min_compat`; static, and
 * of stage FEATURE_PRE_ALPHA before its first version. */
const struct feature_spec *feature_spec_at(enum feature f, struct feature_version emulated,
                                           struct feature_version min_compat);

/* Values of a flag that may be given several times, in the order given; borrowed. */
struct feature_flag {
    const struct str *v;
    size_t n;
};

/* What a component was told. Zeroed means: nothing. */
struct feature_flags {
    struct feature_flag gates;      /* --feature-gates: A=true,kube:B=false */
    struct feature_flag emulated;   /* --emulated-version: 1.34 or kube=1.34 */
    struct feature_flag min_compat; /* --min-compatibility-version: likewise */
    bool unlock;                    /* locked gates may be set like others */
};

struct feature_config {
    struct feature_version emulated, min_compat;
    struct feature_set enabled; /* what to ask */
    struct feature_set named;   /* gates that the flags name */
};

/* The defaults of a version, in a cluster that is at most one minor version behind it. */
void feature_config_init(struct feature_config *c, struct feature_version emulated);

/*
 * What the flags make of the newest version, in kube-apiserver's way: the order of gates does not
 * matter, later values of one gate win, a named gate wins over AllAlpha and AllBeta. Fails with
 * upstream's text, several of them as "[one, two]", in the table's order. Nothing is kept of the
 * flags.
 */
int feature_configure(const struct feature_flags *flags, struct feature_config *out,
                      struct err *err);

/*
 * Appends the settings that are missing in flags which feature_configure refuses because gates need
 * others: "GenericWorkload=true,EventedPLEG=false"; what is needed and cannot be on, its user does
 * without. Nothing when it is not that, or when the flags contradict themselves.
 */
void feature_write_missing(struct buf *out, const struct feature_flags *flags);

/* Says which named gates will go away, and which alpha gates are on below the newest version. */
void feature_config_log(const struct feature_config *c, const struct log *log);

/* Appends one line per gate a user may set, as --help shows them: sorted, joined by line breaks,
 * "X=true|false (ALPHA - default=false)". GA and deprecated gates are not shown. */
void feature_write_help(struct buf *out, const struct feature_config *c);

#endif
