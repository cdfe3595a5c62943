/* Resulting pods: as the API server would show them, and in the formats that are no tables. */
#include "api/object.h"
#include "base/printable.h"
#include "cmd/report/printer.h"
#include "cmd/report/schedule_int.h"

/* Output waits in this much memory before it goes to a file. */
enum { SPOOL_BYTES = 8 << 20, LONGEST_NAME = 1 << 20 };

/* ---- what became of a pod ---- */

/* A condition of the same status keeps the time of its last change. The list may be one that other
 * pods share: the pod gets its own. */
static void set_condition(struct api_object *o, struct api_pod_condition condition) {
    struct api_pod_condition_list *list = &((struct api_pod *)api_own_body(o))->status.conditions;
    struct api_pod_condition *own = arena_array(&o->arena, struct api_pod_condition, list->n + 1);
    size_t at = list->n;
    for (size_t i = list->n; i-- > 0;) {
        own[i] = list->v[i];
        if (str_eq(own[i].type, condition.type))
            at = i;
    }
    if (at < list->n && str_eq(own[at].status, condition.status))
        condition.last_transition_time = own[at].last_transition_time;
    own[at] = condition;
    *list = (struct api_pod_condition_list){own, list->n + (at == list->n)};
}

static void set_scheduled(struct api_object *o) {
    set_condition(o,
                  (struct api_pod_condition){.type = STR("PodScheduled"), .status = STR("True")});
}

static void set_not_scheduled(struct api_object *o, const char *reason, struct str message) {
    set_condition(o, (struct api_pod_condition){.type = STR("PodScheduled"),
                                                .status = STR("False"),
                                                .reason = str_of(reason),
                                                .message = arena_str(&o->arena, message)});
}

static void set_preempted(struct api_object *o, struct str scheduler) {
    set_condition(o, (struct api_pod_condition){
                         .type = STR("DisruptionTarget"),
                         .status = STR("True"),
                         .reason = STR("PreemptionByScheduler"),
                         .message = arena_printf(
                             &o->arena, "%.*s: preempting to accommodate a higher priority pod",
                             STR_ARG(scheduler))});
}

struct api_object *schedule__pod_now(const struct sim_placement_pod *pod) {
    static const char *const reasons[SIM_STATE_COUNT] = {
        [SIM_UNSCHEDULABLE] = "Unschedulable",
        [SIM_FAILED] = "SchedulerError",
        [SIM_GATED] = "SchedulingGated",
    };
    struct api_object *o = sim_placement_pod_now(pod);
    if (pod->state == SIM_UNSCHEDULABLE || pod->state == SIM_FAILED)
        ((struct api_pod *)api_own_body(o))->status.nominated_node_name =
            arena_str(&o->arena, pod->nominated);
    if (reasons[pod->state])
        set_not_scheduled(o, reasons[pod->state], pod->message);
    if (pod->state == SIM_SCHEDULED || (pod->state == SIM_PREEMPTED && pod->item))
        set_scheduled(o);
    if (pod->state == SIM_PREEMPTED)
        set_preempted(o, pod->scheduler);
    return o;
}

/* ---- formats ---- */

/* A pod that a rollout took off is not there any more. */
static bool is_shown(const struct schedule_view *view, const struct sim_placement_pod *pod) {
    return pod->state != SIM_REMOVED && schedule_selects(&view->select, pod);
}

static int write_objects(const struct cmd_ctx *ctx, const struct sim_placement *p,
                         const struct schedule_view *view, struct err *err) {
    struct printer printer;
    struct input_source nowhere = {.file = STR("output")};
    int rc = 0;
    printer_init(&printer, ctx, view->format == SCHEDULE_JSON ? PRINTER_JSON : PRINTER_YAML);
    printer.list = true;
    for (size_t i = 0; i < p->pods.n && rc == 0; i++)
        if (is_shown(view, &p->pods.v[i]))
            rc = printer_add(&printer, schedule__pod_now(&p->pods.v[i]), &nowhere, err);
    if (rc == 0)
        rc = printer_finish(&printer, err);
    printer_release(&printer);
    return rc;
}

/* pod/web-0, as kubectl prints it. */
static int add_names(struct spool *out, const struct cmd_ctx *ctx, const struct sim_placement *p,
                     const struct schedule_view *view, struct err *err) {
    AUTO(buf_release) struct buf text = BUF_INIT(LONGEST_NAME);
    (void)ctx;
    for (size_t i = 0; i < p->pods.n; i++) {
        if (!is_shown(view, &p->pods.v[i]))
            continue;
        buf_clear(&text);
        buf_add(&text, STR("pod/"));
        printable_add(&text, p->pods.v[i].pod->meta->name);
        buf_add_char(&text, '\n');
        if (spool_add(out, buf_view(&text), err) < 0)
            return -1;
    }
    return 0;
}

static int fill_row(struct table *t, const struct columns *columns,
                    const struct sim_placement_pod *pod, struct err *err) {
    struct str cells[TABLE_MOST_COLUMNS];
    AUTO(arena_release) struct arena a = {0};
    struct api_object *o = schedule__pod_now(pod);
    struct json tree = api_object_encode(o, &a);
    int rc = columns_fill(columns, &tree, &a, cells, err);
    for (size_t i = 0; i < columns->n && rc == 0; i++)
        cells[i] = arena_str(&t->arena, cells[i]);
    if (rc == 0)
        table_add(t, cells, TABLE_PLAIN);
    api_object_free(o);
    return rc;
}

static int add_columns(struct spool *out, const struct cmd_ctx *ctx, const struct sim_placement *p,
                       const struct schedule_view *view, struct err *err) {
    struct table table;
    struct table_style style = schedule__style(ctx, view);
    int rc = 0;
    table_init(&table, view->columns->heads, view->columns->n);
    for (size_t i = 0; i < p->pods.n && rc == 0; i++)
        if (is_shown(view, &p->pods.v[i]))
            rc = fill_row(&table, view->columns, &p->pods.v[i], err);
    if (rc == 0)
        rc = table_write(&table, &style, out, err);
    table_release(&table);
    return rc;
}

/* A v1 List of pods, which hold the texts of the tree. */
struct pod_list {
    struct arena arena;
    struct json tree;
    VEC(struct api_object *) pods;
};

static void list_pods(struct pod_list *list, const struct sim_placement *p,
                      const struct schedule_view *view) {
    struct json items = {.kind = JSON_ARRAY}, meta = {.kind = JSON_OBJECT};
    *list = (struct pod_list){.tree = {.kind = JSON_OBJECT}};
    for (size_t i = 0; i < p->pods.n; i++) {
        if (!is_shown(view, &p->pods.v[i]))
            continue;
        struct api_object *o = schedule__pod_now(&p->pods.v[i]);
        vec_push(&list->pods, o);
        json_append(&list->arena, &items, api_object_encode(o, &list->arena));
    }
    json_add(&list->arena, &meta, STR("resourceVersion"), json_of_str(STR("")));
    json_add(&list->arena, &list->tree, STR("apiVersion"), json_of_str(STR("v1")));
    json_add(&list->arena, &list->tree, STR("items"), items);
    json_add(&list->arena, &list->tree, STR("kind"), json_of_str(STR("List")));
    json_add(&list->arena, &list->tree, STR("metadata"), meta);
}

static void pod_list_release(struct pod_list *list) {
    for (size_t i = 0; i < list->pods.n; i++)
        api_object_free(list->pods.v[i]);
    vec_release(&list->pods);
    arena_release(&list->arena);
}

/* What a template says is for programs; a terminal it does not steer. */
static int add_template(struct spool *out, const struct cmd_ctx *ctx, const struct sim_placement *p,
                        const struct schedule_view *view, struct err *err) {
    AUTO(pod_list_release) struct pod_list list;
    AUTO(buf_release) struct buf text = BUF_INIT(PRINTER_MOST_BYTES);
    AUTO(buf_release) struct buf shown = BUF_INIT(PRINTER_MOST_BYTES);
    list_pods(&list, p, view);
    if (jsonpath_write(view->path, &list.tree, &list.arena, &text, err) < 0)
        return err_wrap(err, "error executing jsonpath");
    if (ctx->out_is_tty)
        printable_add_lines(&shown, buf_view(&text));
    if (text.full || shown.full)
        return err_set(err, ERR_TOO_LARGE, "the template gives more than %d MiB",
                       PRINTER_MOST_BYTES >> 20);
    return spool_add(out, buf_view(ctx->out_is_tty ? &shown : &text), err);
}

int schedule__write_pods(const struct cmd_ctx *ctx, const struct sim_placement *p,
                         const struct schedule_view *view, struct err *err) {
    static int (*const adders[])(struct spool * out, const struct cmd_ctx *ctx,
                                 const struct sim_placement *p, const struct schedule_view *view,
                                 struct err *err) = {
        [SCHEDULE_NAME] = add_names,
        [SCHEDULE_JSONPATH] = add_template,
        [SCHEDULE_COLUMNS] = add_columns,
    };
    struct spool out;
    if (view->format == SCHEDULE_JSON || view->format == SCHEDULE_YAML)
        return write_objects(ctx, p, view, err);
    spool_init(&out, SPOOL_BYTES, cmd_getenv(ctx, "TMPDIR"));
    int rc = adders[view->format](&out, ctx, p, view, err);
    if (rc == 0)
        rc = spool_copy(&out, ctx->out, err);
    spool_release(&out);
    return rc;
}
