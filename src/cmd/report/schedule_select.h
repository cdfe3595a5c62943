/* Which pods of a placement are shown: kubectl's selectors, on pods as they are in the end. */
#ifndef CMD_REPORT_SCHEDULE_SELECT_H
#define CMD_REPORT_SCHEDULE_SELECT_H

#include "sim/placement.h"

struct schedule_field; /* a requirement of a field selector */

struct schedule_select {
    struct str namespace;          /* the only one; empty: all of them */
    const struct selector *labels; /* NULL: any */
    const struct schedule_field *fields;
    size_t field_count;
    bool pending; /* only pods that are still without a node */
};

/* Compiles -l and --field-selector, which may be absent, into *out, whose other members are left as
 * they are. Texts are borrowed, all else lives in the arena. */
int schedule_select_compile(struct arena *a, struct str labels, struct str fields,
                            struct schedule_select *out, struct err *err);

/* Is the pod one of them? */
bool schedule_selects(const struct schedule_select *s, const struct sim_placement_pod *pod);

#endif
