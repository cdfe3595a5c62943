/* For plug-ins: how findings are made (explain/findings.c). */
#ifndef SCHED_FINDINGS_INT_H
#define SCHED_FINDINGS_INT_H

#include "base/limits.h"
#include "match/sentence.h"
#include "sched/finding.h"
#include "sched/plugin_int.h"

enum { SCHED__MOST_OPERANDS = 10 }; /* of a finding */

/* What a plug-in finds on one node. Texts are borrowed until the next node is asked about. */
struct sched__findings {
    struct sched__cycle *cy;
    uint32_t slot;
    struct arena scratch; /* for texts that are made */
    struct map values;    /* struct match_values by requirement, in the cycle's arena */
    size_t n;
    bool cut; /* there was no room for more */
    struct sched_finding v[LIMIT_EXPLAIN_FINDINGS];
    struct sched_operand operands[LIMIT_EXPLAIN_FINDINGS][SCHED__MOST_OPERANDS];
};

/* Begins a finding. False: there is no room, and more need not be looked for. */
bool sched__finding_start(struct sched__findings *out, enum sched_finding_code code,
                          struct sched_place place);

/* Adds an operand to the finding at hand: one of the pod or cluster, or one of the node. */
void sched__finding_add(struct sched__findings *out, enum sched_operand_name name,
                        struct sched_operand o);
void sched__finding_add_of_node(struct sched__findings *out, enum sched_operand_name name,
                                struct sched_operand o);

/* Finds that a toleration does not match a taint of the node, or with toleration MATCH_NONE that
 * none has its key and effect. False: there was no room. */
bool sched__finding_taint(struct sched__findings *out, const struct match_taints *taints,
                          const struct match_verdict *v);

/* Finds that the node does not meet a requirement of a term in this field. False: there was no
 * room. */
bool sched__finding_requirement(struct sched__findings *out, enum sched_field field,
                                const struct match_affinity *a, const struct match_node_verdict *v);

/* ---- operands ---- */

static inline struct sched_operand sched__text(struct str text) {
    return (struct sched_operand){.kind = SCHED_TEXT, .text = text};
}

static inline struct sched_operand sched__message(struct str text) {
    return (struct sched_operand){.kind = SCHED_MESSAGE, .text = text};
}

static inline struct sched_operand sched__node_name_of(const struct sched__cycle *cy,
                                                       uint32_t slot) {
    return (struct sched_operand){.kind = SCHED_NODE,
                                  .text = intern_text(cy->s->nodes.v[slot].name)};
}

static inline struct sched_operand sched__value(struct str text) {
    return (struct sched_operand){.kind = SCHED_VALUE, .text = text};
}

static inline struct sched_operand sched__number(int64_t number) {
    return (struct sched_operand){.kind = SCHED_NUMBER, .number = number};
}

/* The namespace and name of an object, in the scratch arena. */
struct sched_operand sched__object_name(struct sched__findings *out, const struct api_object *o);

/* A field without a list, and a place in one. */
static inline struct sched_place sched__field(enum sched_field field) {
    return (struct sched_place){.field = field};
}

static inline struct sched_place sched__item(enum sched_field field, size_t place) {
    return (struct sched_place){.field = field, .at = (uint32_t)place};
}

#endif
