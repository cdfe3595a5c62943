/* What the files of this room share: a table of kinds, each with columns and a function. */
#ifndef REGISTRY_TABLE_INT_H
#define REGISTRY_TABLE_INT_H

#include "api/selector.h"
#include "registry/printed.h"

/* A row on its way: cells are added from left to right. */
struct registry__row {
    struct arena *a;
    const struct api_object *o;
    struct api_time now;
    struct json cells;
};

struct registry__column {
    const char *name; /* NULL ends a list */
    const char *type; /* string, integer, boolean */
    bool is_wide;     /* shown by -o wide alone */
};

struct registry__table {
    enum api_type_id type;
    const struct registry__column *columns;
    void (*fill)(struct registry__row *r); /* adds a cell for each column */
};

/* The tables of each file, ended by one without columns. */
extern const struct registry__table registry__core_tables[], registry__workload_tables[],
    registry__storage_tables[], registry__other_tables[], registry__network_tables[],
    registry__device_tables[], registry__scaling_tables[], registry__policy_tables[],
    registry__group_tables[];

/* ---- cells ---- */

void registry__cell(struct registry__row *r, struct str text); /* a text */
void registry__cell_i64(struct registry__row *r, int64_t v);   /* a number */
void registry__cell_bool(struct registry__row *r, bool v);     /* true or false */
void registry__cell_or(struct registry__row *r, struct str text, const char *otherwise);
void registry__cell_name(struct registry__row *r);                     /* the object's name */
void registry__cell_age(struct registry__row *r);                      /* since its creation */
void registry__cell_since(struct registry__row *r, struct api_time t); /* <unknown> when unset */

/* printf into a cell. */
__attribute__((format(printf, 2, 3))) void registry__cellf(struct registry__row *r, const char *fmt,
                                                           ...);

/* Two cells: names and images of containers. */
void registry__cells_containers(struct registry__row *r, const struct api_container_list *list);

/* A selector; `bad` when it cannot be compiled, `none` when it is empty. */
void registry__cell_selector(struct registry__row *r, const struct api_label_selector *s,
                             const char *bad, const char *none);

/* key=value,…, or <none>. */
void registry__cell_labels(struct registry__row *r, const struct labels *labels);

/* How long it takes from one time to another, for people: 3m20s. In the arena. */
struct str registry__human(struct arena *a, int64_t seconds);

#endif
