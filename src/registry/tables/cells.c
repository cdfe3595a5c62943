/*
 * Tables by kind, and how cells are written.
 *
 * Follows k8s.io/apimachinery pkg/util/duration, func HumanDuration.
 * Follows k8s.io/apiserver pkg/registry/rest, func NewDefaultTableConvertor.
 */
#include <stdarg.h>

#include "codec/time.h"
#include "registry/tables/table_int.h"

/* ---- cells ---- */

void registry__cell(struct registry__row *r, struct str text) {
    json_append(r->a, &r->cells, json_of_str(text));
}

void registry__cell_i64(struct registry__row *r, int64_t v) {
    json_append(r->a, &r->cells, json_of_i64(v));
}

void registry__cell_bool(struct registry__row *r, bool v) {
    json_append(r->a, &r->cells, json_of_bool(v));
}

void registry__cell_or(struct registry__row *r, struct str text, const char *otherwise) {
    registry__cell(r, text.n ? text : str_of(otherwise));
}

void registry__cell_name(struct registry__row *r) {
    registry__cell(r, r->o->meta->name);
}

void registry__cellf(struct registry__row *r, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    registry__cell(r, arena_vprintf(r->a, fmt, args));
    va_end(args);
}

/* A longer and a shorter unit, the shorter one only if there is something of it. */
static struct str two_units(struct arena *a, int64_t more, char unit, int64_t less, char smaller) {
    if (!less)
        return arena_printf(a, "%lld%c", (long long)more, unit);
    return arena_printf(a, "%lld%c%lld%c", (long long)more, unit, (long long)less, smaller);
}

struct str registry__human(struct arena *a, int64_t seconds) {
    int64_t minutes = seconds / 60, hours = minutes / 60, days = hours / 24;
    if (seconds < -1)
        return STR("<invalid>");
    if (seconds < 120)
        return arena_printf(a, "%llds", seconds < 0 ? 0LL : (long long)seconds);
    if (minutes < 10)
        return two_units(a, minutes, 'm', seconds % 60, 's');
    if (minutes < 180)
        return two_units(a, minutes, 'm', 0, 0);
    if (hours < 8)
        return two_units(a, hours, 'h', minutes % 60, 'm');
    if (hours < 48)
        return two_units(a, hours, 'h', 0, 0);
    if (hours < 24 * 8)
        return two_units(a, days, 'd', hours % 24, 'h');
    if (hours < 24 * 365 * 2)
        return two_units(a, days, 'd', 0, 0);
    return two_units(a, days / 365, 'y', hours < 24 * 365 * 8 ? days % 365 : 0, 'd');
}

void registry__cell_since(struct registry__row *r, struct api_time t) {
    registry__cell(r, t.set ? registry__human(r->a, r->now.sec - t.sec) : STR("<unknown>"));
}

void registry__cell_age(struct registry__row *r) {
    registry__cell_since(r, r->o->meta->creation_timestamp);
}

void registry__cells_containers(struct registry__row *r, const struct api_container_list *list) {
    AUTO(buf_release) struct buf names = BUF_INIT(SIZE_MAX), images = BUF_INIT(SIZE_MAX);
    for (size_t i = 0; i < list->n; i++) {
        buf_addf(&names, "%s%.*s", i ? "," : "", STR_ARG(list->v[i].name));
        buf_addf(&images, "%s%.*s", i ? "," : "", STR_ARG(list->v[i].image));
    }
    registry__cell(r, arena_str(r->a, buf_view(&names)));
    registry__cell(r, arena_str(r->a, buf_view(&images)));
}

void registry__cell_selector(struct registry__row *r, const struct api_label_selector *s,
                             const char *bad, const char *none) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    struct selector *sel = NULL;
    if (selector_compile(r->a, s, &sel, NULL) < 0) {
        registry__cell(r, str_of(bad));
        return;
    }
    selector_write(&text, sel);
    registry__cell_or(r, arena_str(r->a, buf_view(&text)), none);
}

void registry__cell_labels(struct registry__row *r, const struct labels *labels) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    for (size_t i = 0; i < labels->n; i++)
        buf_addf(&text, "%s%.*s=%.*s", i ? "," : "", STR_ARG(labels->v[i].key),
                 STR_ARG(labels->v[i].value));
    registry__cell_or(r, arena_str(r->a, buf_view(&text)), "<none>");
}

/* ---- kinds without a table of their own ---- */

static void fill_default(struct registry__row *r) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    registry__cell_name(r);
    if (r->o->meta->creation_timestamp.set)
        time_write(&text, (struct time_instant){.seconds = r->o->meta->creation_timestamp.sec});
    else
        buf_add(&text, STR("0001-01-01T00:00:00Z"));
    registry__cell(r, arena_str(r->a, buf_view(&text)));
}

static const struct registry__column default_columns[] = {
    {"Name", "string", false}, {"Created At", "date", false}, {0}};
static const struct registry__table default_table = {API_TYPES, default_columns, fill_default};

static const struct registry__table *find_in(const struct registry__table *tables,
                                             const struct api_type *type) {
    for (; tables->columns; tables++)
        if (type == &api_types[tables->type])
            return tables;
    return NULL;
}

static const struct registry__table *table_of(const struct api_type *type) {
    static const struct registry__table *const all[] = {
        registry__core_tables,   registry__workload_tables, registry__storage_tables,
        registry__other_tables,  registry__network_tables,  registry__device_tables,
        registry__policy_tables, registry__scaling_tables,  registry__group_tables};
    const struct registry__table *found = NULL;
    for (size_t i = 0; !found && i < sizeof all / sizeof *all; i++)
        found = find_in(all[i], type);
    return found ? found : &default_table;
}

/* ---- the door ---- */

/* Is the column one of names? Two of upstream's tables do not say so of theirs. */
static bool is_name_column(const struct registry__table *t, const struct registry__column *c) {
    bool is_plain = t->type == API_T_scale || t->type == API_T_storage_version_migration;
    return (str_is(str_of(c->name), "Name") && !is_plain) || str_is(str_of(c->name), "Attacher");
}

struct json registry_table_columns(struct arena *a, const struct api_kind *kind) {
    struct json list = {.kind = JSON_ARRAY};
    const struct registry__table *table = table_of(kind->type);
    for (const struct registry__column *c = table->columns; c->name; c++) {
        struct json *column = json_append(a, &list, (struct json){.kind = JSON_OBJECT});
        bool is_name = is_name_column(table, c);
        json_add(a, column, STR("name"), json_of_str(str_of(c->name)));
        json_add(a, column, STR("type"), json_of_str(str_of(c->type)));
        json_add(a, column, STR("format"), json_of_str(is_name ? STR("name") : STR("")));
        json_add(a, column, STR("description"), json_of_str(str_of(c->name)));
        json_add(a, column, STR("priority"), json_of_i64(c->is_wide));
    }
    return list;
}

bool registry_table_is_default(const struct api_kind *kind) {
    return table_of(kind->type) == &default_table;
}

struct json registry_table_cells(struct arena *a, const struct api_object *o, struct api_time now) {
    struct registry__row r = {.a = a, .o = o, .now = now, .cells = {.kind = JSON_ARRAY}};
    table_of(o->type)->fill(&r);
    return r.cells;
}

struct json registry_table_conditions(struct arena *a, const struct api_object *o) {
    struct json list = {.kind = JSON_NULL};
    const struct api_pod *pod = o->body;
    if (!api_object_is(o, API_T_pod) || !api_pod_has_ended(pod))
        return list;
    bool failed = str_is(pod->status.phase, "Failed");
    list = (struct json){.kind = JSON_ARRAY};
    struct json *c = json_append(a, &list, (struct json){.kind = JSON_OBJECT});
    json_add(a, c, STR("type"), json_of_str(STR("Completed")));
    json_add(a, c, STR("status"), json_of_str(STR("True")));
    json_add(a, c, STR("reason"), json_of_str(pod->status.phase));
    json_add(
        a, c, STR("message"),
        json_of_str(failed ? STR("The pod failed.") : STR("The pod has completed successfully.")));
    return list;
}
