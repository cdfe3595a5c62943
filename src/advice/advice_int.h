/* What the checks share: what they look at, and how they speak. */
#ifndef ADVICE_ADVICE_INT_H
#define ADVICE_ADVICE_INT_H

#include "advice/advice.h"
#include "base/map.h"
#include "base/vec.h"
#include "semver/semver.h"

/* A taint of a node that went by. */
struct advice_taint {
    struct str key, value, effect, node;
};

/* A label of a node that went by: it looks like a version, and is none. */
struct advice_label {
    struct str key, value, node;
};

/* More different taints than this are not remembered: clusters have a few dozen. */
enum { ADVICE_MOST_TAINTS = 1024, ADVICE_MOST_LABELS = 1024 };

struct advice {
    struct arena arena;
    uint32_t silenced; /* a bit for each row */
    VEC(struct advice_taint) taints;
    struct map taint_texts; /* key=value of those -> the run */
    VEC(struct advice_label) labels;
    struct map label_texts;    /* likewise */
    struct map classes;        /* name of a PriorityClass -> the run */
    struct map warned_classes; /* unknown ones that were warned of once */
    bool has_default_class;
};

/* One look at one object. */
struct advisor {
    struct advice *run;
    const struct api_object *o;
    const struct advice_row *row;
    struct advice_notes *out;
    /* The pod, if the object is one or makes some: */
    const struct api_pod_spec *spec; /* NULL: it is not */
    const struct labels *labels;     /* of the pod */
    const char *spec_path;           /* spec, spec.template.spec, … */
    bool of_daemon_set;              /* the pod stands for its node */
};

/* Says something about the place. */
__attribute__((format(printf, 3, 4))) void advice__say(struct advisor *w, struct str path,
                                                       const char *fmt, ...);

/* spec_path and what is printed behind it, in the arena of the notes; empty when there is no room
 * for a note at this place. */
__attribute__((format(printf, 2, 3))) struct str advice__path(struct advisor *w, const char *fmt,
                                                              ...);

/* An item of a list of the pod spec. Its path is printed when there is something to
 * say about it: most of the items of a long list are as they should be. */
struct advice_place {
    const char *list; /* affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution */
    size_t index;
    const char *tail; /* what stands behind the index */
};

#define ADVICE_REQUIRED_NODE_TERM(i)                                                              \
    (struct advice_place) {                                                                       \
        "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms", \
            i, ""                                                                                 \
    }
#define ADVICE_PREFERRED_NODE_TERM(i)                                                             \
    (struct advice_place) {                                                                       \
        "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution", i, ".preference" \
    }

/* ---- thresholds: tolerations whose operator compares ---- */

enum threshold_side { THRESHOLD_LESS, THRESHOLD_GREATER, THRESHOLD_EQUAL };

struct threshold {
    size_t index; /* of the toleration */
    const struct api_toleration *t;
    enum threshold_side side;
    bool is_version;
    int64_t number;
    struct semver version;
};

/* Comparisons are held against each other; nobody has more. */
enum { ADVICE_MOST_THRESHOLDS = 32 };

/* The tolerations with such an operator and a value that can be read; at most as many as fit. */
size_t advice__thresholds(struct advisor *w, struct threshold out[ADVICE_MOST_THRESHOLDS]);

/* Is the value of a taint less than the threshold's (-1), equal (0) or greater (1)? False when it
 * cannot be compared. */
bool advice__compare(struct advisor *w, const struct threshold *th, struct str value, int *order);

/* ---- versions ---- */

/* A version with a pre-release that is none by its looks: 1.30.4-eks-a737599. */
bool advice__has_vendor_suffix(const struct semver *v);

/* Does the text begin as versions do, and is none, even to the tolerant reader of the Semver
 * operators? Then *why tells why not. */
bool advice__is_bad_version(struct arena *a, struct str text, struct err *why);

/* Does the name part of a key contain the word? */
bool advice__key_has(struct str key, const char *word);

/* ---- the checks, by file ---- */

/* tolerations.c */
void advice__comparison_seconds(struct advisor *w);
void advice__default_eviction(struct advisor *w);
void advice__does_not_attract(struct advisor *w);
/* thresholds.c */
void advice__threshold_boundary(struct advisor *w);
void advice__threshold_direction(struct advisor *w);
void advice__threshold_never(struct advisor *w);
void advice__threshold_union(struct advisor *w);
/* versions.c */
void advice__build_metadata(struct advisor *w);
void advice__kernel_version(struct advisor *w);
void advice__prerelease_admitted(struct advisor *w);
void advice__vendor_suffix(struct advisor *w); /* on nodes, too */
/* affinity.c */
void advice__affinity_never_matches(struct advisor *w);
void advice__anti_affinity_rollout(struct advisor *w);
void advice__label_key_missing(struct advisor *w);
void advice__label_not_a_version(struct advisor *w);
/* nodes.c */
void advice__number_not_canonical(struct advisor *w);
void advice__version_not_parsed(struct advisor *w);
/* expressions.c */
void advice__cel_strict_semver(struct advisor *w);
void advice__expression_boundary(struct advisor *w);
void advice__needless_expression(struct advisor *w);
/* advice.c */
void advice__priority_class_unknown(struct advisor *w);

#endif
