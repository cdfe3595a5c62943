/*
 * Tables of autoscalers and of scales.
 *
 * Follows k8s.io/kubernetes pkg/printers/internalversion, func printHorizontalPodAutoscaler,
 * func formatHPAMetrics, func printScale.
 */
#include "registry/tables/table_int.h"

enum { METRICS_SHOWN = 2 };

/* A metric as it should be and as it is; `is` is NULL when nobody knows. */
struct metric {
    struct str name; /* of a resource; empty: it is not named */
    const struct api_metric_target *target;
    const struct api_metric_value_status *is;
};

static void add_quantity(struct buf *text, const struct quantity *q) {
    if (q)
        quantity_write(text, q);
    else
        buf_add(text, STR("<nil>"));
}

static void add_share(struct buf *text, const struct metric *m) {
    if (m->is && m->is->average_utilization.set)
        buf_addf(text, "%d%%", m->is->average_utilization.v);
    else
        buf_add(text, STR("<unknown>"));
    if (m->target->average_utilization.set)
        buf_addf(text, "/%d%%", m->target->average_utilization.v);
    else
        buf_add(text, STR("/<auto>"));
}

/* Of a sum per pod, or of a value as a whole. */
static void add_amount(struct buf *text, const struct metric *m, bool is_average) {
    if (m->is)
        add_quantity(text, is_average ? m->is->average_value : m->is->value);
    else
        buf_add(text, STR("<unknown>"));
    buf_add_char(text, '/');
    add_quantity(text, is_average ? m->target->average_value : m->target->value);
}

static void add_resource(struct buf *text, const struct metric *m) {
    buf_addf(text, "%.*s: ", STR_ARG(m->name));
    if (m->target->average_value)
        add_amount(text, m, true);
    else
        add_share(text, m);
}

/* One of another sort: an average is told as such. */
static void add_other(struct buf *text, struct metric m) {
    bool is_average = m.target->average_value != NULL;
    if (is_average && m.is && !m.is->average_value)
        m.is = NULL;
    add_amount(text, &m, is_average);
    buf_add(text, is_average ? STR(" (avg)") : STR(""));
}

#define CURRENT(status, sort) ((status) && (status)->sort ? &(status)->sort->current : NULL)

static void add_metric(struct buf *text, const struct api_metric_spec *s,
                       const struct api_metric_status *is) {
    if (str_is(s->type, "External") && s->external)
        add_other(text,
                  (struct metric){.target = &s->external->target, .is = CURRENT(is, external)});
    else if (str_is(s->type, "Object") && s->object)
        add_other(text, (struct metric){.target = &s->object->target, .is = CURRENT(is, object)});
    else if (str_is(s->type, "Pods") && s->pods)
        add_amount(text, &(struct metric){.target = &s->pods->target, .is = CURRENT(is, pods)},
                   true);
    else if (str_is(s->type, "Resource") && s->resource)
        add_resource(text, &(struct metric){.name = s->resource->name,
                                            .target = &s->resource->target,
                                            .is = CURRENT(is, resource)});
    else if (str_is(s->type, "ContainerResource") && s->container_resource)
        add_resource(text, &(struct metric){.name = s->container_resource->name,
                                            .target = &s->container_resource->target,
                                            .is = CURRENT(is, container_resource)});
    else
        buf_add(text, STR("<unknown type>"));
}

static void cell_metrics(struct registry__row *r, const struct api_horizontal_pod_autoscaler *h) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    const struct api_metric_spec_list *specs = &h->spec.metrics;
    const struct api_metric_status_list *statuses = &h->status.current_metrics;
    for (size_t i = 0; i < specs->n && i < METRICS_SHOWN; i++) {
        buf_add(&text, i ? STR(", ") : STR(""));
        add_metric(&text, &specs->v[i], i < statuses->n ? &statuses->v[i] : NULL);
    }
    if (specs->n > METRICS_SHOWN)
        buf_addf(&text, " + %zu more...", specs->n - METRICS_SHOWN);
    registry__cell_or(r, arena_str(r->a, buf_view(&text)), "<none>");
}

static void fill_autoscaler(struct registry__row *r) {
    const struct api_horizontal_pod_autoscaler *h = r->o->body;
    const struct api_cross_version_object_reference *target = &h->spec.scale_target_ref;
    registry__cell_name(r);
    registry__cellf(r, "%.*s/%.*s", STR_ARG(target->kind), STR_ARG(target->name));
    cell_metrics(r, h);
    if (h->spec.min_replicas.set)
        registry__cellf(r, "%d", h->spec.min_replicas.v);
    else
        registry__cell(r, STR("<unset>"));
    registry__cell_i64(r, h->spec.max_replicas);
    registry__cell_i64(r, h->status.current_replicas);
    registry__cell_age(r);
}

static const struct registry__column autoscaler_columns[] = {
    {"Name", "string", false},    {"Reference", "string", false},
    {"Targets", "string", false}, {"MinPods", "string", false},
    {"MaxPods", "string", false}, {"Replicas", "string", false},
    {"Age", "string", false},     {0}};

static void fill_scale(struct registry__row *r) {
    const struct api_scale *s = r->o->body;
    registry__cell_name(r);
    registry__cell_i64(r, s->spec.replicas);
    registry__cell_i64(r, s->status.replicas);
    registry__cell_age(r);
}

static const struct registry__column scale_columns[] = {{"Name", "string", false},
                                                        {"Desired", "integer", false},
                                                        {"Available", "integer", false},
                                                        {"Age", "string", false},
                                                        {0}};

const struct registry__table registry__scaling_tables[] = {
    {API_T_horizontal_pod_autoscaler, autoscaler_columns, fill_autoscaler},
    {API_T_scale, scale_columns, fill_scale},
    {0},
};
