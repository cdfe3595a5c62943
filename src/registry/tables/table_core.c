/*
 * Tables of pods, nodes, namespaces, services, events and configuration.
 *
 * Follows k8s.io/kubernetes pkg/printers/internalversion, func printPod, func printNode,
 * func printNamespace, func printService, func printEvent, func printSecret, func printConfigMap.
 */
#include <stdlib.h>

#include "base/ascii.h"
#include "base/map.h"
#include "registry/tables/table_int.h"

/* ---- pods ---- */

/* What the row of a pod says, while it is found out. */
struct pod_row {
    struct arena *a;
    const struct api_pod *pod;
    struct str reason;
    int64_t restarts, total, ready;
    struct api_time last_restart;
    bool is_initializing;
    struct str *sidecars; /* names of init containers that go on beside the others, sorted */
    size_t sidecar_count;
};

static bool is_later(struct api_time a, struct api_time b) {
    return a.set && (!b.set || a.sec > b.sec || (a.sec == b.sec && a.nsec > b.nsec));
}

static void note_restart(struct api_time *last, const struct api_container_status *c) {
    const struct api_container_state_terminated *t = c->last_state.terminated;
    if (t && is_later(t->finished_at, *last))
        *last = t->finished_at;
}

static bool is_restartable(const struct api_container *c) {
    return str_is(c->restart_policy, "Always");
}

static void find_sidecars(struct pod_row *r) {
    const struct api_container_list *list = &r->pod->spec.init_containers;
    r->sidecars = arena_array(r->a, struct str, list->n);
    for (size_t i = 0; i < list->n; i++)
        if (is_restartable(&list->v[i]))
            r->sidecars[r->sidecar_count++] = list->v[i].name;
    if (r->sidecar_count)
        qsort(r->sidecars, r->sidecar_count, sizeof *r->sidecars, str_cmp_qsort);
}

static bool is_sidecar(const struct pod_row *r, struct str name) {
    return r->sidecar_count &&
           bsearch(&name, r->sidecars, r->sidecar_count, sizeof name, str_cmp_qsort);
}

static struct str ending_of(struct arena *a, const struct api_container_state_terminated *t,
                            const char *prefix) {
    if (t->reason.n)
        return arena_printf(a, "%s%.*s", prefix, STR_ARG(t->reason));
    if (t->signal)
        return arena_printf(a, "%sSignal:%d", prefix, t->signal);
    return arena_printf(a, "%sExitCode:%d", prefix, t->exit_code);
}

/* False when the container has done its part, or runs beside the others: the next one counts. */
static bool look_at_init(struct pod_row *r, size_t i, const struct api_container_status *c,
                         bool restartable) {
    const struct api_container_state_terminated *t = c->state.terminated;
    struct str waiting = c->state.waiting ? c->state.waiting->reason : STR("");
    if (t && !t->exit_code)
        return false;
    if (restartable && c->started.set && c->started.v) {
        r->ready += c->ready;
        return false;
    }
    if (t)
        r->reason = ending_of(r->a, t, "Init:");
    else if (waiting.n && !str_is(waiting, "PodInitializing"))
        r->reason = arena_printf(r->a, "Init:%.*s", STR_ARG(waiting));
    else
        r->reason = arena_printf(r->a, "Init:%zu/%zu", i, r->pod->spec.init_containers.n);
    return r->is_initializing = true;
}

/* Restarts of those that go on beside the others are what counts later. */
struct restarts {
    int64_t n;
    struct api_time last;
};

static struct restarts look_at_inits(struct pod_row *r) {
    struct restarts lasting = {0};
    const struct api_container_status_list *list = &r->pod->status.init_container_statuses;
    for (size_t i = 0; i < list->n; i++) {
        const struct api_container_status *c = &list->v[i];
        bool restartable = is_sidecar(r, c->name);
        r->restarts += c->restart_count;
        note_restart(&r->last_restart, c);
        if (restartable) {
            lasting.n += c->restart_count;
            note_restart(&lasting.last, c);
        }
        if (look_at_init(r, i, c, restartable))
            break;
    }
    return lasting;
}

static bool has_condition(const struct api_pod *pod, const char *type) {
    for (size_t i = 0; i < pod->status.conditions.n; i++)
        if (str_is(pod->status.conditions.v[i].type, type))
            return str_is(pod->status.conditions.v[i].status, "True");
    return false;
}

static void look_at_containers(struct pod_row *r) {
    const struct api_container_status_list *list = &r->pod->status.container_statuses;
    struct str error = {0};
    bool has_running = false;
    for (size_t i = list->n; i-- > 0;) {
        const struct api_container_status *c = &list->v[i];
        r->restarts += c->restart_count;
        note_restart(&r->last_restart, c);
        if (c->state.waiting && c->state.waiting->reason.n)
            r->reason = c->state.waiting->reason;
        else if (c->state.terminated) {
            r->reason = ending_of(r->a, c->state.terminated, "");
            if (c->state.terminated->exit_code)
                error = r->reason;
        } else if (c->ready && c->state.running) {
            has_running = true;
            r->ready++;
        }
    }
    if (!str_is(r->reason, "Completed"))
        return;
    if (has_running && has_condition(r->pod, "Ready"))
        r->reason = STR("Running");
    else if (error.n)
        r->reason = error;
    else if (has_running)
        r->reason = STR("NotReady");
}

static void find_reason(struct pod_row *r) {
    const struct api_pod *pod = r->pod;
    r->reason = pod->status.reason.n ? pod->status.reason : pod->status.phase;
    for (size_t i = 0; i < pod->status.conditions.n; i++)
        if (str_is(pod->status.conditions.v[i].type, "PodScheduled") &&
            str_is(pod->status.conditions.v[i].reason, "SchedulingGated"))
            r->reason = STR("SchedulingGated");
    find_sidecars(r);
    r->total = (int64_t)(pod->spec.containers.n + r->sidecar_count);
    struct restarts lasting = look_at_inits(r);
    if (!r->is_initializing || has_condition(pod, "Initialized")) {
        r->restarts = lasting.n;
        r->last_restart = lasting.last;
        look_at_containers(r);
    }
    if (pod->metadata.deletion_timestamp.set && str_is(pod->status.reason, "NodeLost"))
        r->reason = STR("Unknown");
    else if (pod->metadata.deletion_timestamp.set && !api_pod_has_ended(pod))
        r->reason = STR("Terminating");
}

/* Of conditions of one type the first counts. */
static size_t count_open_gates(const struct api_pod *pod) {
    const struct api_pod_condition_list *all = &pod->status.conditions;
    struct map by_type = MAP_INIT(map_random_seed());
    size_t n = 0;
    for (size_t i = all->n; i-- > 0;)
        map_put_const(&by_type, all->v[i].type, &all->v[i]);
    for (size_t i = 0; i < pod->spec.readiness_gates.n; i++) {
        const struct api_pod_condition *c =
            map_get_const(&by_type, pod->spec.readiness_gates.v[i].condition_type);
        n += c && str_is(c->status, "True");
    }
    map_release(&by_type);
    return n;
}

static void cell_readiness_gates(struct registry__row *r, const struct api_pod *pod) {
    if (pod->spec.readiness_gates.n)
        registry__cellf(r, "%zu/%zu", count_open_gates(pod), pod->spec.readiness_gates.n);
    else
        registry__cell(r, STR("<none>"));
}

static void fill_pod(struct registry__row *r) {
    const struct api_pod *pod = r->o->body;
    struct pod_row p = {.a = r->a, .pod = pod};
    find_reason(&p);
    registry__cell_name(r);
    registry__cellf(r, "%lld/%lld", (long long)p.ready, (long long)p.total);
    registry__cell(r, p.reason);
    if (p.restarts && p.last_restart.set)
        registry__cellf(r, "%lld (%.*s ago)", (long long)p.restarts,
                        STR_ARG(registry__human(r->a, r->now.sec - p.last_restart.sec)));
    else
        registry__cellf(r, "%lld", (long long)p.restarts);
    registry__cell_age(r);
    registry__cell_or(r, pod->status.pod_ips.n ? pod->status.pod_ips.v[0].ip : STR(""), "<none>");
    registry__cell_or(r, pod->spec.node_name, "<none>");
    registry__cell_or(r, pod->status.nominated_node_name, "<none>");
    cell_readiness_gates(r, pod);
}

static const struct registry__column pod_columns[] = {{"Name", "string", false},
                                                      {"Ready", "string", false},
                                                      {"Status", "string", false},
                                                      {"Restarts", "string", false},
                                                      {"Age", "string", false},
                                                      {"IP", "string", true},
                                                      {"Node", "string", true},
                                                      {"Nominated Node", "string", true},
                                                      {"Readiness Gates", "string", true},
                                                      {0}};

/* ---- nodes ---- */

#define ROLE_PREFIX STR("node-role.kubernetes.io/")

/* Names of roles: those behind the prefix, and the value of the old label; sorted, each once. */
static struct str roles_of(struct arena *a, const struct labels *labels) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    struct str *roles = arena_array(a, struct str, labels->n);
    size_t n = 0;
    for (size_t i = 0; i < labels->n; i++) {
        const struct label *l = &labels->v[i];
        if (str_starts(l->key, ROLE_PREFIX) && l->key.n > ROLE_PREFIX.n)
            roles[n++] = str_sub(l->key, ROLE_PREFIX.n, l->key.n);
        else if (str_is(l->key, "kubernetes.io/role") && l->value.n)
            roles[n++] = l->value;
    }
    if (n)
        qsort(roles, n, sizeof *roles, str_cmp_qsort);
    for (size_t i = 0; i < n; i++)
        if (!i || !str_eq(roles[i], roles[i - 1]))
            buf_addf(&text, "%s%.*s", text.n ? "," : "", STR_ARG(roles[i]));
    return arena_str(a, buf_view(&text));
}

static struct str address_of(const struct api_node *node, const char *type) {
    for (size_t i = 0; i < node->status.addresses.n; i++)
        if (str_is(node->status.addresses.v[i].type, type))
            return node->status.addresses.v[i].address;
    return STR("");
}

static const char *readiness_of(const struct api_node *node) {
    for (size_t i = 0; i < node->status.conditions.n; i++)
        if (str_is(node->status.conditions.v[i].type, "Ready"))
            return str_is(node->status.conditions.v[i].status, "True") ? "Ready" : "NotReady";
    return "Unknown";
}

static void fill_node(struct registry__row *r) {
    const struct api_node *node = r->o->body;
    const struct api_node_system_info *info = &node->status.node_info;
    registry__cell_name(r);
    registry__cellf(r, "%s%s", readiness_of(node),
                    node->spec.unschedulable ? ",SchedulingDisabled" : "");
    registry__cell_or(r, roles_of(r->a, &node->metadata.labels), "<none>");
    registry__cell_age(r);
    registry__cell(r, info->kubelet_version);
    registry__cell_or(r, address_of(node, "InternalIP"), "<none>");
    registry__cell_or(r, address_of(node, "ExternalIP"), "<none>");
    registry__cell_or(r, info->os_image, "<unknown>");
    struct str kernel = info->kernel_version.n ? info->kernel_version : STR("<unknown>");
    if (info->architecture.n)
        registry__cellf(r, "%.*s (%.*s)", STR_ARG(kernel), STR_ARG(info->architecture));
    else
        registry__cell(r, kernel);
    registry__cell_or(r, info->container_runtime_version, "<unknown>");
}

static const struct registry__column node_columns[] = {{"Name", "string", false},
                                                       {"Status", "string", false},
                                                       {"Roles", "string", false},
                                                       {"Age", "string", false},
                                                       {"Version", "string", false},
                                                       {"Internal-IP", "string", true},
                                                       {"External-IP", "string", true},
                                                       {"OS-Image", "string", true},
                                                       {"Kernel-Version", "string", true},
                                                       {"Container-Runtime", "string", true},
                                                       {0}};

/* ---- namespaces, configuration ---- */

static void fill_namespace(struct registry__row *r) {
    registry__cell_name(r);
    registry__cell(r, ((const struct api_namespace *)r->o->body)->status.phase);
    registry__cell_age(r);
}

static const struct registry__column namespace_columns[] = {
    {"Name", "string", false}, {"Status", "string", false}, {"Age", "string", false}, {0}};

static void fill_config_map(struct registry__row *r) {
    const struct api_config_map *m = r->o->body;
    registry__cell_name(r);
    registry__cell_i64(r, (int64_t)(m->data.n + m->binary_data.n));
    registry__cell_age(r);
}

static const struct registry__column config_map_columns[] = {
    {"Name", "string", false}, {"Data", "string", false}, {"Age", "string", false}, {0}};

static void fill_secret(struct registry__row *r) {
    const struct api_secret *s = r->o->body;
    registry__cell_name(r);
    registry__cell(r, s->type);
    registry__cell_i64(r, (int64_t)s->data.n);
    registry__cell_age(r);
}

static const struct registry__column secret_columns[] = {{"Name", "string", false},
                                                         {"Type", "string", false},
                                                         {"Data", "string", false},
                                                         {"Age", "string", false},
                                                         {0}};

static void fill_service_account(struct registry__row *r) {
    registry__cell_name(r);
    registry__cell_age(r);
}

static const struct registry__column service_account_columns[] = {
    {"Name", "string", false}, {"Age", "string", false}, {0}};

/* ---- services ---- */

static void add_all(struct buf *b, const struct api_strs *list) {
    for (size_t i = 0; i < list->n; i++)
        buf_addf(b, "%s%.*s", b->n ? "," : "", STR_ARG(list->v[i]));
}

static struct str external_ip(struct arena *a, const struct api_service *s) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    if (str_is(s->spec.type, "ExternalName"))
        return s->spec.external_name;
    bool balanced = str_is(s->spec.type, "LoadBalancer");
    for (size_t i = 0; balanced && i < s->status.load_balancer.ingress.n; i++) {
        const struct api_load_balancer_ingress *in = &s->status.load_balancer.ingress.v[i];
        struct str address = in->ip.n ? in->ip : in->hostname;
        if (address.n)
            buf_addf(&text, "%s%.*s", text.n ? "," : "", STR_ARG(address));
    }
    add_all(&text, &s->spec.external_ips);
    if (text.n)
        return arena_str(a, buf_view(&text));
    if (!s->spec.type.n) /* the empty one of a bookmark */
        return STR("<unknown>");
    return balanced ? STR("<pending>") : STR("<none>");
}

static struct str ports_of(struct arena *a, const struct api_service *s) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    for (size_t i = 0; i < s->spec.ports.n; i++) {
        const struct api_service_port *p = &s->spec.ports.v[i];
        buf_addf(&text, "%s%d", i ? "," : "", p->port);
        if (p->node_port > 0)
            buf_addf(&text, ":%d", p->node_port);
        buf_addf(&text, "/%.*s", STR_ARG(p->protocol));
    }
    return arena_str(a, buf_view(&text));
}

static void fill_service(struct registry__row *r) {
    const struct api_service *s = r->o->body;
    registry__cell_name(r);
    registry__cell(r, s->spec.type);
    registry__cell_or(r, s->spec.cluster_ips.n ? s->spec.cluster_ips.v[0] : STR(""), "<none>");
    registry__cell(r, external_ip(r->a, s));
    registry__cell_or(r, ports_of(r->a, s), "<none>");
    registry__cell_age(r);
    registry__cell_labels(r, &s->spec.selector);
}

static const struct registry__column service_columns[] = {
    {"Name", "string", false},       {"Type", "string", false},
    {"Cluster-IP", "string", false}, {"External-IP", "string", false},
    {"Port(s)", "string", false},    {"Age", "string", false},
    {"Selector", "string", true},    {0}};

/* ---- events ---- */

static struct str lower(struct arena *a, struct str s) {
    char *to = arena_alloc(a, s.n + 1);
    for (size_t i = 0; i < s.n; i++)
        to[i] = ascii_to_lower(s.p[i]);
    return (struct str){to, s.n};
}

static struct str seen(struct registry__row *r, struct api_time t) {
    return t.set ? registry__human(r->a, r->now.sec - t.sec) : STR("<unknown>");
}

static void fill_event(struct registry__row *r) {
    const struct api_event *e = r->o->body;
    struct str first = seen(r, e->first_timestamp.set ? e->first_timestamp : e->event_time);
    struct str last = e->last_timestamp.set ? seen(r, e->last_timestamp) : first;
    int64_t count = e->count ? e->count : 1;
    if (e->series) {
        last = seen(r, e->series->last_observed_time);
        count = e->series->count;
    }
    struct str kind = lower(r->a, e->involved_object.kind), name = e->involved_object.name;
    struct str component = e->source.component.n ? e->source.component : e->reporting_component;
    struct str host = e->source.host.n ? e->source.host : e->reporting_instance;
    registry__cell(r, last);
    registry__cell(r, e->type);
    registry__cell(r, e->reason);
    registry__cellf(r, "%.*s%s%.*s", STR_ARG(kind), name.n ? "/" : "", STR_ARG(name));
    registry__cell(r, e->involved_object.field_path);
    registry__cellf(r, "%.*s%s%.*s", STR_ARG(component), host.n ? ", " : "", STR_ARG(host));
    registry__cell(r, str_trim(e->message));
    registry__cell(r, first);
    registry__cell_i64(r, count);
    registry__cell_name(r);
}

static const struct registry__column event_columns[] = {{"Last Seen", "string", false},
                                                        {"Type", "string", false},
                                                        {"Reason", "string", false},
                                                        {"Object", "string", false},
                                                        {"Subobject", "string", true},
                                                        {"Source", "string", true},
                                                        {"Message", "string", false},
                                                        {"First Seen", "string", true},
                                                        {"Count", "string", true},
                                                        {"Name", "string", true},
                                                        {0}};

const struct registry__table registry__core_tables[] = {
    {API_T_pod, pod_columns, fill_pod},
    {API_T_node, node_columns, fill_node},
    {API_T_namespace, namespace_columns, fill_namespace},
    {API_T_config_map, config_map_columns, fill_config_map},
    {API_T_secret, secret_columns, fill_secret},
    {API_T_service_account, service_account_columns, fill_service_account},
    {API_T_service, service_columns, fill_service},
    {API_T_event, event_columns, fill_event},
    {0},
};
