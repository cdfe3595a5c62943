/* Which controllers have figures of their own. */
#include "manager/manager_metrics.h"

#include "manager/controller_int.h"
#include "manager/taint_eviction_int.h"

enum {
#define CONTROLLER(id, name, alias) ROW_##id,
#include "manager/controllers.def"
#undef CONTROLLER
};

void manager_metrics_write(const struct manager *m, struct buf *out) {
    if (m->running[ROW_taint_eviction])
        manager__taint_eviction_write_metrics(m->running[ROW_taint_eviction], out);
}
