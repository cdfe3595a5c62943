/* For tests that look at sentences of a plug-in without a whole explanation. */
#ifndef TEST_SCHED_SENTENCES_H
#define TEST_SCHED_SENTENCES_H

#include "sched/explain/explain_int.h"

/* Appends the sentence of a plug-in that rejects the slot. */
static inline void sentence_write(struct sched__cycle *cy, enum sched_plugin p, uint32_t slot,
                                  struct buf *out) {
    struct sched__findings findings;
    sched__findings_init(&findings, cy);
    sched__findings_ask(&findings, p, slot);
    struct sched_cause cause = {
        .findings = findings.v, .finding_count = findings.n, .cut = findings.cut};
    struct str node = intern_text(cy->s->nodes.v[slot].name);
    sched_cause_write(out, &cause, &(struct sched_wording){.node = node});
    sched__findings_release(&findings);
}

#endif
