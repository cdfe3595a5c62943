/* How long plug-ins take, see times_int.h. */
#include "sched/times_int.h"

#include "sched/metrics_int.h"

void sched__times_start(struct sched__cycle *cy) {
    cy->times = cy->s->times;
    if (cy->times)
        *cy->times = (struct sched__times){0};
}

int64_t sched__times_sum(const struct sched__cycle *cy, enum sched_point point) {
    int64_t sum = 0;
    for (int i = 0; cy->times && i < SCHED_PLUGIN_COUNT; i++)
        sum += cy->times->v[point][i].ns;
    return sum;
}

/* Of the plug-in that was asked last. */
static enum sched_code code_of(const struct sched__cycle *cy, enum sched_plugin plugin) {
    if (cy->error.p)
        return SCHED_CODE_ERROR;
    return str_eq(cy->rejected.plugin, sched_plugin_name(plugin)) ? cy->rejected.code
                                                                  : SCHED_CODE_SUCCESS;
}

void sched__times_add(struct sched__cycle *cy, enum sched_point point, enum sched_plugin plugin,
                      int64_t start) {
    struct sched__time *t = &cy->times->v[point][plugin];
    t->ns += sched__stopwatch_read(cy->s) - start;
    t->called = true;
    t->code = code_of(cy, plugin);
}

bool sched__ask_pre_score(struct sched__cycle *cy, enum sched_plugin p) {
    const struct sched__plugin *plugin = sched__plugin_at(p);
    if (!plugin->pre_score)
        return true;
    int64_t start = sched__time_start(cy);
    bool scores = plugin->pre_score(cy);
    sched__time_stop(cy, SCHED_PRE_SCORE, p, start);
    return scores;
}

/* A filter has the code of nodes that it rejected, if there are any. */
static void read_filter_codes(const struct sched__cycle *cy) {
    for (uint32_t i = 0; cy->verdict && i < cy->s->nodes.n; i++) {
        if (cy->verdict[i] <= SCHED__ABSENT)
            continue;
        const struct sched__reason_row *row = sched__reason_row(cy->verdict[i]);
        cy->times->v[SCHED_FILTER][row->plugin].code = row->code;
    }
}

void sched__times_tell(const struct sched__cycle *cy) {
    if (!cy->times)
        return;
    read_filter_codes(cy);
    for (int point = 0; point < SCHED_POINT_COUNT; point++)
        for (int i = 0; i < SCHED_PLUGIN_COUNT; i++) {
            const struct sched__time *t = &cy->times->v[point][i];
            if (t->called)
                sched__metrics_plugin(cy, (enum sched_point)point, (enum sched_plugin)i, t->code,
                                      t->ns);
        }
}
