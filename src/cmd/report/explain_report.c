/* What reports for people and for programs share. */
#include "cmd/report/explain_report.h"

#include <stdlib.h>

#include "cmd/cmd.h"

const char *const explain_formats[] = {
    [EXPLAIN_TEXT] = "text", [EXPLAIN_WIDE] = "wide", [EXPLAIN_JSON] = "json", NULL};

const struct sched_cause *explain_find_cause(const struct sched_explanation *e, size_t place,
                                             enum sched_plugin plugin) {
    size_t group = e->group_of[place];
    for (size_t i = 0; group != SIZE_MAX && i < e->groups[group].cause_count; i++)
        if (e->groups[group].causes[i]->plugin == plugin)
            return e->groups[group].causes[i];
    return NULL;
}

void explain_add_sentence(struct buf *out, struct str text, struct str node) {
    const struct str mark = STR("{node}");
    for (size_t at; node.p && (at = str_find(text, mark)) < text.n;) {
        buf_add(out, str_sub(text, 0, at));
        buf_add(out, node);
        text = str_sub(text, at + mark.n, text.n);
    }
    buf_add(out, text);
}

/* What stands between quotes may be a value. */
void explain_add_message(struct buf *out, const struct sched_explanation *e, struct str text) {
    bool quoted = false;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] != '"' || !e->redact) {
            if (!quoted)
                buf_add_char(out, text.p[i]);
            continue;
        }
        buf_add(out, quoted ? STR("\"") : STR("\"***"));
        quoted = !quoted;
    }
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
