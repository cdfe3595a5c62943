/* The text of a pod that fits nowhere: how many nodes gave which reason. */
#include <stdlib.h>

#include "base/limits.h"
#include "sched/plugin_int.h"

void sched__tallied_add(struct sched__tallied *t, struct str reason, uint32_t nodes) {
    uintptr_t count = (uintptr_t)map_get(&t->counts, reason);
    map_put(&t->counts, reason, (void *)(count + nodes));
}

/* Entries are sorted as texts, number first: "10 x" comes before "2 y". */
struct str sched__tallied_write(struct sched__tallied *t, uint32_t all_nodes, struct arena *a) {
    struct str *entries = arena_array(a, struct str, t->counts.live);
    size_t n = 0, at = 0;
    for (struct map_entry *e; (e = map_next(&t->counts, &at));)
        entries[n++] =
            arena_printf(a, "%lu %.*s", (unsigned long)(uintptr_t)e->value, STR_ARG(e->key));
    qsort(entries, n, sizeof *entries, str_cmp_qsort);
    struct buf out = BUF_INIT(LIMIT_MESSAGE_BYTES);
    buf_addf(&out, "0/%u nodes are available:", all_nodes);
    for (size_t i = 0; i < n; i++) {
        buf_add(&out, i ? STR(", ") : STR(" "));
        buf_add(&out, entries[i]);
    }
    buf_add_char(&out, n ? '.' : ' ');
    struct str text = arena_str(a, buf_view(&out));
    buf_release(&out);
    map_release(&t->counts);
    return text;
}

/* Reasons whose text does not depend on the node are counted without being asked for. */
static void tally_plain(struct sched__cycle *cy, struct sched__tallied *t) {
    uint32_t counts[SCHED__REASON_COUNT] = {0};
    for (uint32_t i = 0; i < cy->s->nodes.n; i++)
        counts[cy->verdict[i]]++;
    for (enum sched__reason r = SCHED__ABSENT + 1; r < SCHED__REASON_COUNT; r++)
        if (counts[r] && sched__reason_row(r)->text)
            sched__tallied_add(t, str_of(sched__reason_row(r)->text), counts[r]);
}

static void tally_others(struct sched__cycle *cy, struct sched__tallied *t) {
    for (uint32_t i = 0; i < cy->s->nodes.n; i++) {
        enum sched__reason r = cy->verdict[i];
        if (r == SCHED__FITS || r == SCHED__GONE ||
            (r != SCHED__ABSENT && sched__reason_row(r)->text))
            continue;
        struct sched_status status = sched__cycle_status(cy, i);
        for (size_t j = 0; j < status.reason_count; j++)
            sched__tallied_add(t, status.reasons[j], 1);
    }
}

struct str sched__cycle_message(struct sched__cycle *cy) {
    struct sched__tallied t = {MAP_INIT(cy->s->seed)};
    if (cy->rejected.code == SCHED_SUCCESS) {
        tally_plain(cy, &t);
        tally_others(cy, &t);
        return sched__tallied_write(&t, cy->s->nodes.live, cy->arena);
    }
    struct buf out = BUF_INIT(LIMIT_MESSAGE_BYTES);
    buf_addf(&out, "0/%u nodes are available: ", cy->s->nodes.live);
    for (size_t i = 0; i < cy->rejected.reason_count; i++) {
        buf_add(&out, i ? STR(", ") : STR(""));
        buf_add(&out, cy->rejected.reasons[i]);
    }
    buf_add_char(&out, '.');
    struct str text = arena_str(cy->arena, buf_view(&out));
    buf_release(&out);
    return text;
}
