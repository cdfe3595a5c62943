/*
 * Why a plug-in rejects a node, as data: what was compared with what, and where that stands in the
 * pod. Sentences, JSON and groups of nodes are made of findings (findings.def has a row for each
 * kind of them); a plug-in writes no words.
 */
#ifndef SCHED_FINDING_H
#define SCHED_FINDING_H

#include "base/buf.h"

struct match_values;

enum sched_field {
#define FIELD(id, ...) SCHED_FIELD_##id,
#include "sched/findings.def"
};

enum sched_operand_name {
#define OPERAND(id, name) SCHED_OPERAND_##id,
#include "sched/findings.def"
    SCHED_OPERAND_NAMES
};

enum sched_finding_code {
#define FINDING(id, ...) SCHED_FINDING_##id,
#include "sched/findings.def"
};

enum sched_operand_kind {
    SCHED_TEXT,    /* a name, a key, an effect: never confidential */
    SCHED_NODE,    /* the name of a node */
    SCHED_MESSAGE, /* of the scheduler: what it quotes may be confidential */
    SCHED_VALUE,   /* of a taint, toleration, label or requirement: may be confidential */
    SCHED_VALUES,  /* of a requirement; they follow from the finding's place */
    SCHED_DERIVED, /* a text that follows from the other operands and may quote values */
    SCHED_NUMBER,
    SCHED_COUNT, /* an amount of a resource in units */
    SCHED_MILLI, /* an amount of a resource in thousandths */
    SCHED_BYTES, /* an amount of a resource in bytes */
};

/* What an operand is on several nodes that are told of together. */
struct sched_range {
    bool is_number;        /* the values are numbers, and then: */
    int64_t least, most;   /* of an amount as the operand counts it */
    struct str least_node; /* a node that has so little, and one that has so much */
    struct str most_node;
    struct str texts[3]; /* the first values, each once, if they are no numbers */
    uint8_t text_count;
    bool has_more; /* there are others */
};

struct sched_operand {
    uint8_t name;      /* enum sched_operand_name */
    uint8_t kind;      /* enum sched_operand_kind */
    bool of_node;      /* it is the node's: another node may have another one */
    bool is_node_name; /* it is the node's own name */
    union {
        struct str text;
        int64_t number;
        const struct match_values *values;
    };
    const struct sched_range *range; /* NULL: it is the same on all nodes */
};

/* Of a term of node affinity: all of it, or one of its lists. */
enum sched_term_list { SCHED_WHOLE_TERM, SCHED_EXPRESSIONS, SCHED_FIELDS };

/* Where the right-hand side stands: a field, and places in lists as far as there are any. */
struct sched_place {
    enum sched_field field;
    enum sched_term_list list;
    uint32_t at;          /* the place for the # of the field; the term, UINT32_MAX: all of them */
    uint32_t requirement; /* in the list of the term */
};

struct sched_finding {
    enum sched_finding_code code;
    uint8_t match;       /* enum match_code, or match_node_code: of TAINT and REQUIREMENT */
    uint8_t n;           /* operands */
    struct str operator; /* absent: nothing is compared */
    struct sched_place place;
    struct sched_operand *v;
};

/* The stable name of a finding's code, for programs; static. */
struct str sched_finding_name(const struct sched_finding *f);

/* What operands are called; static. */
struct str sched_operand_name(enum sched_operand_name name);

/* The operand of this name, or NULL. */
const struct sched_operand *sched_finding_get(const struct sched_finding *f,
                                              enum sched_operand_name name);

/* Would another node have the same finding? Not if an operand is the node's. */
bool sched_finding_is_of_node(const struct sched_finding *f);

/* Appends the path of the field; nothing if there is none. */
void sched_place_write(struct buf *out, const struct sched_place *place);

/* How findings are told. */
struct sched_wording {
    struct str node; /* the name of the node; absent: of several, and {node} stands for it */
    bool redact;     /* *** for values, and nothing that is derived from them */
};

/* Appends a single operand that is not SCHED_VALUES. */
void sched_operand_write(struct buf *out, const struct sched_operand *o,
                         const struct sched_wording *w);

/* Appends one clause. */
void sched_finding_write(struct buf *out, const struct sched_finding *f,
                         const struct sched_wording *w);

#endif
