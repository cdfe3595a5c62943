/* What reports for people and for programs share. */
#include "cmd/report/explain_report.h"

#include <stdlib.h>

#include "cmd/cmd.h"

const char *const explain_formats[] = {
    [EXPLAIN_TEXT] = "text", [EXPLAIN_WIDE] = "wide", [EXPLAIN_JSON] = "json", NULL};

bool explain_gets_node(const struct explain_report *r) {
    if (r->outlook)
        return r->outlook->state == SIM_SCHEDULED;
    return r->e->report.feasible && !r->e->report.error.p;
}

const struct sched_cause *explain_find_cause(const struct sched_explanation *e, size_t place,
                                             enum sched_plugin plugin) {
    size_t group = e->group_of[place];
    for (size_t i = 0; group != SIZE_MAX && i < e->groups[group].cause_count; i++)
        if (e->groups[group].causes[i]->plugin == plugin)
            return e->groups[group].causes[i];
    return NULL;
}

void explain_add_cause(struct buf *out, const struct sched_explanation *e,
                       const struct sched_cause *cause, struct str node) {
    sched_cause_write(out, cause, &(struct sched_wording){node, e->redact});
}

bool explain_is_full(const struct buf *out, const struct explain_report *r) {
    return out->n >= r->most;
}

bool explain_wants(const struct explain_report *r, size_t place) {
    return r->node == SIZE_MAX || r->node == place;
}

struct ranked {
    int64_t total;
    size_t place;
};

static int compare(const void *x, const void *y) {
    const struct ranked *a = x, *b = y;
    if (a->total != b->total)
        return a->total > b->total ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

size_t *explain_rank_nodes(struct arena *a, const struct sched_report *r, size_t *n) {
    struct ranked *ranked = arena_array(a, struct ranked, r->node_count);
    size_t *places = arena_array(a, size_t, r->node_count);
    *n = 0;
    if (!r->feasible) /* then statuses may be unset: PreFilter ended it */
        return places;
    for (size_t i = 0; i < r->node_count; i++)
        if (r->nodes[i].status.code == SCHED_CODE_SUCCESS)
            ranked[(*n)++] = (struct ranked){r->nodes[i].total, i};
    qsort(ranked, *n, sizeof *ranked, compare);
    for (size_t i = 0; i < *n; i++)
        places[i] = ranked[i].place;
    return places;
}
