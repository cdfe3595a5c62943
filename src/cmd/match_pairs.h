/*
 * The two sides of `berth match`: pods, which tolerate, and nodes, which are tainted; each as far
 * as it matters, compiled.
 */
#ifndef CMD_MATCH_PAIRS_H
#define CMD_MATCH_PAIRS_H

#include "base/vec.h"
#include "cmd/cmd.h"
#include "feature/feature.h"
#include "match/match.h"

struct api_node_spec;
struct api_object;

/* A toleration among those of its key. */
struct match_place {
    uint32_t key; /* id of its atom + 1; 0: any */
    uint32_t place;
};

struct match_pod {
    struct str namespace, name; /* empty: from the command line */
    struct match_tolerations *tolerations;
    struct match_place *by_key;      /* of each toleration, by key and place */
    struct match_affinity *affinity; /* NULL: it asks for nothing */
};

struct match_host {
    struct str name; /* empty: from the command line */
    struct match_taints *taints;
    struct match_node *node; /* NULL: nothing but taints is known */
};

struct match_pairs {
    struct arena arena; /* names */
    struct intern *atoms;
    struct tolexpr *expressions;
    struct match *match;
    VEC(struct match_pod) pods;
    VEC(struct match_host) hosts;
};

/* Nothing yet on either side. The clock, which is stored, times what expressions cost. */
void match_pairs_init(struct match_pairs *p, const struct feature_config *gates,
                      const struct clock *clock);

/* Frees everything. */
void match_pairs_release(struct match_pairs *p);

/* A side from the command line; nothing is borrowed. */
void match_pairs_add_tolerations(struct match_pairs *p, const struct api_toleration_list *list);
void match_pairs_add_taints(struct match_pairs *p, const struct api_taint_list *list);

/* A Pod or a Node, of which nothing is borrowed; other kinds are left out. */
void match_pairs_add_object(struct match_pairs *p, const struct api_object *o);

/* The taints of a node, and the one that spec.unschedulable stands for. The list is in the arena,
 * its texts are the node's. */
struct api_taint_list match_node_taints(struct arena *a, const struct api_node_spec *spec);

/* ---- match_report.c ---- */

/* The report of one run, whose pairs share what may be said. */
struct match_report {
    struct buf *out;            /* borrowed; may be emptied between two pairs */
    size_t written;             /* bytes that were taken out of it */
    size_t pair_start;          /* bytes before the pair at hand */
    struct feature_set missing; /* gates that are off and in the way */
};

/* Appends what comes of the pair as lines of text, or as one JSON object, and says whether pod and
 * node match. Where the report is long enough, only numbers of taints are told. */
bool match_report_write_text(struct match_report *r, const struct match_pod *pod,
                             const struct match_host *host);
bool match_report_write_json(struct match_report *r, const struct match_pod *pod,
                             const struct match_host *host);

#endif
