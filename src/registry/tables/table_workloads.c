/*
 * Tables of workloads.
 *
 * Follows k8s.io/kubernetes pkg/printers/internalversion, func printReplicaSet,
 * func printDeployment, func printDaemonSet, func printStatefulSet, func printJob,
 * func printCronJob, func printReplicationController, func printPodDisruptionBudget.
 */
#include "registry/tables/table_int.h"

static int64_t wanted(struct api_opt_i32 replicas) {
    return replicas.set ? replicas.v : 0;
}

static const struct registry__column replica_columns[] = {
    {"Name", "string", false},   {"Desired", "integer", false}, {"Current", "integer", false},
    {"Ready", "integer", false}, {"Age", "string", false},      {"Containers", "string", true},
    {"Images", "string", true},  {"Selector", "string", true},  {0}};

static void fill_replica_set(struct registry__row *r) {
    const struct api_replica_set *o = r->o->body;
    registry__cell_name(r);
    registry__cell_i64(r, wanted(o->spec.replicas));
    registry__cell_i64(r, o->status.replicas);
    registry__cell_i64(r, o->status.ready_replicas);
    registry__cell_age(r);
    registry__cells_containers(r, &o->spec.template.spec.containers);
    registry__cell_selector(r, o->spec.selector, "<error>", "<none>");
}

static void fill_replication_controller(struct registry__row *r) {
    static const struct api_container_list none;
    const struct api_replication_controller *o = r->o->body;
    registry__cell_name(r);
    registry__cell_i64(r, wanted(o->spec.replicas));
    registry__cell_i64(r, o->status.replicas);
    registry__cell_i64(r, o->status.ready_replicas);
    registry__cell_age(r);
    registry__cells_containers(r, o->spec.template ? &o->spec.template->spec.containers : &none);
    registry__cell_labels(r, &o->spec.selector);
}

static const struct registry__column deployment_columns[] = {
    {"Name", "string", false},      {"Ready", "string", false},   {"Up-to-date", "string", false},
    {"Available", "string", false}, {"Age", "string", false},     {"Containers", "string", true},
    {"Images", "string", true},     {"Selector", "string", true}, {0}};

static void fill_deployment(struct registry__row *r) {
    const struct api_deployment *o = r->o->body;
    registry__cell_name(r);
    registry__cellf(r, "%d/%lld", o->status.ready_replicas, (long long)wanted(o->spec.replicas));
    registry__cell_i64(r, o->status.updated_replicas);
    registry__cell_i64(r, o->status.available_replicas);
    registry__cell_age(r);
    registry__cells_containers(r, &o->spec.template.spec.containers);
    registry__cell_selector(r, o->spec.selector, "<invalid>", "");
}

static const struct registry__column daemon_set_columns[] = {
    {"Name", "string", false},          {"Desired", "integer", false},
    {"Current", "integer", false},      {"Ready", "integer", false},
    {"Up-to-date", "integer", false},   {"Available", "integer", false},
    {"Node Selector", "string", false}, {"Age", "string", false},
    {"Containers", "string", true},     {"Images", "string", true},
    {"Selector", "string", true},       {0}};

static void fill_daemon_set(struct registry__row *r) {
    const struct api_daemon_set *o = r->o->body;
    registry__cell_name(r);
    registry__cell_i64(r, o->status.desired_number_scheduled);
    registry__cell_i64(r, o->status.current_number_scheduled);
    registry__cell_i64(r, o->status.number_ready);
    registry__cell_i64(r, o->status.updated_number_scheduled);
    registry__cell_i64(r, o->status.number_available);
    registry__cell_labels(r, &o->spec.template.spec.node_selector);
    registry__cell_age(r);
    registry__cells_containers(r, &o->spec.template.spec.containers);
    registry__cell_selector(r, o->spec.selector, "<error>", "<none>");
}

static const struct registry__column stateful_set_columns[] = {
    {"Name", "string", false},      {"Ready", "string", false}, {"Age", "string", false},
    {"Containers", "string", true}, {"Images", "string", true}, {0}};

static void fill_stateful_set(struct registry__row *r) {
    const struct api_stateful_set *o = r->o->body;
    registry__cell_name(r);
    registry__cellf(r, "%d/%lld", o->status.ready_replicas, (long long)wanted(o->spec.replicas));
    registry__cell_age(r);
    registry__cells_containers(r, &o->spec.template.spec.containers);
}

/* ---- jobs ---- */

/* The first of these that holds is the status. */
static const struct {
    const char *condition, *status;
} job_statuses[] = {
    {"Complete", "Complete"},
    {"Failed", "Failed"},
    {NULL, "Terminating"}, /* it is being deleted */
    {"Suspended", "Suspended"},
    {"FailureTarget", "FailureTarget"},
    {"SuccessCriteriaMet", "SuccessCriteriaMet"},
};

static bool has_condition(const struct api_job *job, const char *type) {
    for (size_t i = 0; i < job->status.conditions.n; i++)
        if (str_is(job->status.conditions.v[i].type, type))
            return str_is(job->status.conditions.v[i].status, "True");
    return false;
}

static struct str job_status(const struct api_job *job) {
    for (size_t i = 0; i < sizeof job_statuses / sizeof *job_statuses; i++) {
        const char *condition = job_statuses[i].condition;
        if (condition ? has_condition(job, condition) : job->metadata.deletion_timestamp.set)
            return str_of(job_statuses[i].status);
    }
    return STR("Running");
}

static void cell_completions(struct registry__row *r, const struct api_job *job) {
    int32_t parallelism = job->spec.parallelism.set ? job->spec.parallelism.v : 0;
    if (job->spec.completions.set)
        registry__cellf(r, "%d/%d", job->status.succeeded, job->spec.completions.v);
    else if (parallelism > 1)
        registry__cellf(r, "%d/1 of %d", job->status.succeeded, parallelism);
    else
        registry__cellf(r, "%d/1", job->status.succeeded);
}

static void fill_job(struct registry__row *r) {
    const struct api_job *job = r->o->body;
    struct api_time start = job->status.start_time, end = job->status.completion_time;
    registry__cell_name(r);
    registry__cell(r, job_status(job));
    cell_completions(r, job);
    registry__cell(r, start.set
                          ? registry__human(r->a, (end.set ? end.sec : r->now.sec) - start.sec)
                          : STR(""));
    registry__cell_age(r);
    registry__cells_containers(r, &job->spec.template.spec.containers);
    registry__cell_selector(r, job->spec.selector, "<error>", "<none>");
}

static const struct registry__column job_columns[] = {
    {"Name", "string", false},     {"Status", "string", false},  {"Completions", "string", false},
    {"Duration", "string", false}, {"Age", "string", false},     {"Containers", "string", true},
    {"Images", "string", true},    {"Selector", "string", true}, {0}};

static void fill_cron_job(struct registry__row *r) {
    const struct api_cron_job *job = r->o->body;
    const struct api_job_spec *spec = &job->spec.job_template.spec;
    registry__cell_name(r);
    registry__cell(r, job->spec.schedule);
    registry__cell(r, job->spec.time_zone.p ? job->spec.time_zone : STR("<none>"));
    registry__cell(r, !job->spec.suspend.set ? STR("<unset>")
                      : job->spec.suspend.v  ? STR("True")
                                             : STR("False"));
    registry__cell_i64(r, (int64_t)job->status.active.n);
    if (job->status.last_schedule_time.set)
        registry__cell_since(r, job->status.last_schedule_time);
    else
        registry__cell(r, STR("<none>"));
    registry__cell_age(r);
    registry__cells_containers(r, &spec->template.spec.containers);
    registry__cell_selector(r, spec->selector, "<error>", "<none>");
}

static const struct registry__column cron_job_columns[] = {{"Name", "string", false},
                                                           {"Schedule", "string", false},
                                                           {"Timezone", "string", false},
                                                           {"Suspend", "boolean", false},
                                                           {"Active", "integer", false},
                                                           {"Last Schedule", "string", false},
                                                           {"Age", "string", false},
                                                           {"Containers", "string", true},
                                                           {"Images", "string", true},
                                                           {"Selector", "string", true},
                                                           {0}};

/* ---- budgets ---- */

static void cell_amount(struct registry__row *r, const struct api_int_or_str *v) {
    if (!v)
        registry__cell(r, STR("N/A"));
    else if (v->is_str)
        registry__cell(r, v->s);
    else
        registry__cellf(r, "%d", v->i);
}

static void fill_budget(struct registry__row *r) {
    const struct api_pod_disruption_budget *b = r->o->body;
    registry__cell_name(r);
    cell_amount(r, b->spec.min_available);
    cell_amount(r, b->spec.max_unavailable);
    registry__cell_i64(r, b->status.disruptions_allowed);
    registry__cell_age(r);
}

static const struct registry__column budget_columns[] = {{"Name", "string", false},
                                                         {"Min Available", "string", false},
                                                         {"Max Unavailable", "string", false},
                                                         {"Allowed Disruptions", "integer", false},
                                                         {"Age", "string", false},
                                                         {0}};

const struct registry__table registry__workload_tables[] = {
    {API_T_replica_set, replica_columns, fill_replica_set},
    {API_T_replication_controller, replica_columns, fill_replication_controller},
    {API_T_deployment, deployment_columns, fill_deployment},
    {API_T_daemon_set, daemon_set_columns, fill_daemon_set},
    {API_T_stateful_set, stateful_set_columns, fill_stateful_set},
    {API_T_job, job_columns, fill_job},
    {API_T_cron_job, cron_job_columns, fill_cron_job},
    {API_T_pod_disruption_budget, budget_columns, fill_budget},
    {0},
};
