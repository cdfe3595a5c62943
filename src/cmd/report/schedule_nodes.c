/* The table of nodes: how full they are, before and after. */
#include "api/object.h"
#include "cmd/report/schedule_int.h"
#include "quantity/quantity.h"
#include "sim/usage.h"

/* One cell has four amounts; one line has one for each resource. */
enum { LONGEST_CELL = 256, LONGEST_SUM = 1 << 20 };

/* 1500m, 3Gi, 7 */
static void add_amount(struct buf *out, struct str resource, int64_t amount) {
    struct quantity q = quantity_of_i64(amount, QUANTITY_DECIMAL_SI);
    if (str_is(resource, "cpu"))
        q = quantity_of_milli(amount, QUANTITY_DECIMAL_SI);
    else if (str_is(resource, "memory") || str_is(resource, "ephemeral-storage") ||
             str_starts(resource, STR("hugepages-")))
        q = quantity_of_i64(amount, QUANTITY_BINARY_SI);
    quantity_write_canonical(out, &q);
}

/* 0 → 1500m of 4 (37%); the first only if it is another one. */
static void add_usage(struct buf *out, struct str resource, const struct sim_usage_cell *cell) {
    int64_t before = cell->requested[SIM_BEFORE], after = cell->requested[SIM_AFTER];
    if (before != after) {
        add_amount(out, resource, before);
        buf_add(out, STR(" → "));
    }
    add_amount(out, resource, after);
    buf_add(out, STR(" of "));
    add_amount(out, resource, cell->allocatable);
    if (cell->allocatable > 0)
        buf_addf(out, " (%lld%%)", (long long)((double)after * 100 / (double)cell->allocatable));
}

static struct str usage_text(struct arena *a, struct str resource,
                             const struct sim_usage_cell *cell) {
    AUTO(buf_release) struct buf text = BUF_INIT(LONGEST_CELL);
    add_usage(&text, resource, cell);
    return arena_str(a, buf_view(&text));
}

static struct str upper(struct arena *a, struct str text) {
    char *out = arena_alloc(a, text.n + 1);
    for (size_t i = 0; i < text.n; i++)
        out[i] = text.p[i] >= 'a' && text.p[i] <= 'z' ? (char)(text.p[i] - 'a' + 'A') : text.p[i];
    return (struct str){out, text.n};
}

/* How many resources have a column; the others are in the sum. */
static size_t shown(const struct sim_usage *u) {
    size_t most = TABLE_MOST_COLUMNS - 1;
    return u->resources.n < most ? u->resources.n : most;
}

static void add_node(struct table *t, const struct sim_usage *u, size_t place) {
    struct str cells[TABLE_MOST_COLUMNS] = {u->nodes.v[place]->meta->name};
    const struct sim_usage_cell *usage = u->cells + place * u->resources.n;
    for (size_t i = 0; i < shown(u); i++)
        cells[i + 1] = usage_text(&t->arena, u->resources.v[i], &usage[i]);
    table_add(t, cells, TABLE_PLAIN);
}

/* 2 nodes: pods 3 → 5 of 20 (25%), cpu 1 → 2 of 8 (25%) */
static struct str sum_of(struct arena *a, const struct sim_usage *u) {
    AUTO(buf_release) struct buf text = BUF_INIT(LONGEST_SUM);
    buf_addf(&text, "%zu node%s: ", u->nodes.n, u->nodes.n == 1 ? "" : "s");
    for (size_t i = 0; i < u->resources.n; i++) {
        buf_addf(&text, "%s%.*s ", i ? ", " : "", STR_ARG(u->resources.v[i]));
        add_usage(&text, u->resources.v[i], &u->sums[i]);
    }
    buf_add_char(&text, '\n');
    return arena_str(a, buf_view(&text));
}

void schedule__nodes_table(struct table *t, const struct sim_placement *p, struct str *sum) {
    struct sim_usage usage;
    struct arena heads_arena = {0};
    struct str heads[TABLE_MOST_COLUMNS] = {STR("NODE")};
    sim_usage_init(&usage, p);
    for (size_t i = 0; i < shown(&usage); i++)
        heads[i + 1] = upper(&heads_arena, usage.resources.v[i]);
    table_init(t, heads, shown(&usage) + 1);
    t->arena = heads_arena;
    for (size_t i = 0; i < usage.nodes.n; i++)
        add_node(t, &usage, i);
    *sum = sum_of(&t->arena, &usage);
    sim_usage_release(&usage);
}
