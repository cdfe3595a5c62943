/* Which controllers have figures of their own. */
#include "manager/manager_metrics.h"

#include "manager/controller_int.h"
#include "manager/taint_eviction_int.h"

enum {
#define CONTROLLER(id, name, alias) ROW_##id,
#include "manager/controllers.def"
#undef CONTROLLER
};

static void (*const writers[])(const void *self, struct buf *out) = {
    [ROW_taint_eviction] = manager__taint_eviction_write_metrics,
};

void manager_metrics_write(const struct manager *m, struct buf *out) {
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++)
        if (writers[i] && m->running[i])
            writers[i](m->running[i], out);
    static const struct manager__controller *const rows[] = {
#define CONTROLLER(id, name, alias) &manager__##id,
#include "manager/controllers.def"
#undef CONTROLLER
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i]->write_metrics && m->running[i])
            rows[i]->write_metrics(m->running[i], out);
}
