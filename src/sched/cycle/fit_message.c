/*
 * The text of a pod that fits nowhere: how many nodes gave which reason.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/framework, func (*FitError) Error.
 */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "sched/plugin_int.h"

static void count_last(struct sched__tallied *t) {
    uintptr_t count = t->nodes ? (uintptr_t)map_get(&t->counts, t->last) : 0;
    if (t->nodes)
        map_put(&t->counts, t->last, (void *)(count + t->nodes));
    t->nodes = 0;
}

void sched__tallied_add(struct sched__tallied *t, struct str reason, uint32_t nodes) {
    if (t->last.p != reason.p || t->last.n != reason.n)
        count_last(t);
    t->last = reason;
    t->nodes += nodes;
}

/* Entries are sorted as texts, number first: "10 x" comes before "2 y". */
struct str sched__tallied_write(struct sched__tallied *t, uint32_t all_nodes, struct arena *a) {
    count_last(t);
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

static void tally_status(struct sched__cycle *cy, uint32_t slot, uint32_t nodes,
                         struct sched__tallied *t) {
    struct sched_status status = sched__cycle_status(cy, slot);
    for (size_t j = 0; j < status.reason_count; j++)
        sched__tallied_add(t, status.reasons[j], nodes);
}

static bool is_of_node(enum sched__reason r) {
    return r > SCHED__ABSENT && !sched__reason_row(r)->text;
}

/* Can a plug-in be asked about the slot together with others? Nominated pods take room on a node
 * only while it is asked alone. */
static bool is_one_of_many(const struct sched__cycle *cy, uint32_t slot, enum sched_plugin plugin) {
    enum sched__reason r = cy->verdict[slot];
    return is_of_node(r) && sched__reason_row(r)->plugin == plugin &&
           sched__plugin_at(plugin)->tally && !cy->s->nodes.v[slot].nominated.n;
}

/* How many slots the plug-in was asked about at once. */
static uint32_t tally_many(struct sched__cycle *cy, enum sched_plugin plugin, uint32_t asked,
                           struct sched__tallied *t) {
    uint32_t n = 0;
    if (!sched__plugin_at(plugin)->tally)
        return 0;
    uint32_t *slots = arena_array(cy->arena, uint32_t, asked);
    for (uint32_t i = 0; i < cy->s->nodes.n; i++)
        if (is_one_of_many(cy, i, plugin))
            slots[n++] = i;
    if (n)
        sched__plugin_at(plugin)->tally(cy, slots, n, t);
    return n;
}

/* Only reasons whose text depends on the node are asked for node by node. */
static void tally(struct sched__cycle *cy, struct sched__tallied *t) {
    uint32_t counts[SCHED__REASON_COUNT] = {0}, asked = 0, n = cy->s->nodes.n;
    for (uint32_t i = 0; i < n; i++)
        counts[cy->verdict[i]]++;
    for (enum sched__reason r = SCHED__ABSENT; r < SCHED__REASON_COUNT; r++) {
        const uint8_t *first = counts[r] ? memchr(cy->verdict, (int)r, n) : NULL;
        if (first && is_of_node(r))
            asked += counts[r];
        else if (first)
            tally_status(cy, (uint32_t)(first - cy->verdict), counts[r], t);
    }
    for (enum sched_plugin p = 0; asked && p < SCHED_PLUGIN_COUNT; p++)
        asked -= tally_many(cy, p, asked, t);
    for (uint32_t i = 0; asked && i < n; i++) {
        enum sched__reason r = cy->verdict[i];
        if (!is_of_node(r) || is_one_of_many(cy, i, sched__reason_row(r)->plugin))
            continue;
        tally_status(cy, i, 1, t);
        asked--;
    }
}

struct str sched__cycle_message(struct sched__cycle *cy) {
    struct sched__tallied t = {.counts = MAP_INIT(cy->s->seed)};
    if (cy->rejected.code == SCHED_CODE_SUCCESS) {
        tally(cy, &t);
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
