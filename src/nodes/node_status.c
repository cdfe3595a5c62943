/*
 * What a kubelet says about its node: conditions, addresses, capacity, versions.
 *
 * Follows k8s.io/kubernetes pkg/kubelet/nodestatus, func ReadyCondition.
 */
#include "base/clock.h"
#include "nodes/kubelets_int.h"

struct api_time nodes__time(int64_t ns) {
    return (struct api_time){.sec = ns / CLOCK_SECOND, .set = true};
}

struct api_time nodes__micro_time(int64_t ns) {
    return (struct api_time){
        .sec = ns / CLOCK_SECOND, .nsec = (int32_t)(ns % CLOCK_SECOND / 1000 * 1000), .set = true};
}

static const struct {
    const char *type, *status, *reason, *message;
} conditions[] = {
    {"MemoryPressure", "False", "KubeletHasSufficientMemory",
     "kubelet has sufficient memory available"},
    {"DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"},
    {"PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"},
    {"Ready", "True", "KubeletReady", "kubelet is posting ready status"},
};
enum { CONDITIONS = sizeof conditions / sizeof conditions[0] };

static struct api_node_condition *find(struct api_node_condition_list *list, const char *type) {
    for (size_t i = 0; i < list->n; i++)
        if (str_is(list->v[i].type, type))
            return &list->v[i];
    return NULL;
}

/* The list becomes one of the arena's, with room for all that a kubelet says. */
static void own_conditions(struct arena *a, struct api_node_condition_list *list) {
    struct api_node_condition *v = arena_array(a, struct api_node_condition, list->n + CONDITIONS);
    if (list->n)
        memcpy(v, list->v, list->n * sizeof *v);
    list->v = v;
}

static bool complete_conditions(struct arena *a, struct api_node_condition_list *list,
                                int64_t now) {
    bool changes = false;
    own_conditions(a, list);
    for (size_t i = 0; i < CONDITIONS; i++) {
        struct api_node_condition *c = find(list, conditions[i].type);
        if (c && !str_is(c->status, "Unknown"))
            continue;
        c = c ? c : &list->v[list->n++];
        *c = (struct api_node_condition){
            .type = str_of(conditions[i].type),
            .status = str_of(conditions[i].status),
            .reason = str_of(conditions[i].reason),
            .message = str_of(conditions[i].message),
            .last_heartbeat_time = nodes__time(now),
            .last_transition_time = nodes__time(now),
        };
        changes = true;
    }
    return changes;
}

void nodes__beat(struct arena *a, struct api_node_status *status, int64_t now) {
    own_conditions(a, &status->conditions);
    for (size_t i = 0; i < CONDITIONS; i++) {
        struct api_node_condition *c = find(&status->conditions, conditions[i].type);
        if (c)
            c->last_heartbeat_time = nodes__time(now);
    }
}

static bool complete_addresses(struct arena *a, const struct nodes__facts *facts,
                               struct api_node_address_list *list) {
    if (list->n && !facts->is_moving)
        return false;
    list->v = arena_array(a, struct api_node_address, 2);
    list->n = 2;
    list->v[0] = (struct api_node_address){.type = STR("InternalIP"),
                                           .address = nodes__node_address(a, facts->index)};
    list->v[1] = (struct api_node_address){.type = STR("Hostname"), .address = facts->name};
    return true;
}

/* In the order of their names. */
static const struct {
    const char *name, *amount;
} default_capacity[] = {
    {"cpu", "32"}, {"ephemeral-storage", "1Ti"}, {"memory", "256Gi"}, {"pods", "110"}};

static struct api_quantities capacity_of(struct arena *a, const struct nodes_pool *pool) {
    size_t n = sizeof default_capacity / sizeof default_capacity[0];
    if (pool && pool->capacity.n)
        return pool->capacity;
    struct api_quantities out = {arena_array(a, struct api_quantity, n), n};
    for (size_t i = 0; i < n; i++) {
        out.v[i].key = str_of(default_capacity[i].name);
        quantity_parse(a, str_of(default_capacity[i].amount), &out.v[i].value, NULL);
    }
    return out;
}

static bool complete_capacity(struct arena *a, const struct nodes_pool *pool,
                              struct api_node_status *status) {
    if (status->capacity.n && status->allocatable.n)
        return false;
    if (!status->capacity.n)
        status->capacity = status->allocatable.n ? status->allocatable : capacity_of(a, pool);
    if (!status->allocatable.n)
        status->allocatable = status->capacity;
    return true;
}

/* What is said already stays. */
static void set_text(struct str *text, struct str first, struct str other) {
    if (!text->n)
        *text = first.n ? first : other;
}

static bool complete_info(const struct nodes_pool *pool, struct api_node_system_info *info) {
    static const struct nodes_pool none;
    if (info->kubelet_version.n && info->kernel_version.n && info->operating_system.n)
        return false;
    pool = pool ? pool : &none;
    set_text(&info->kubelet_version, pool->kubelet_version, STR("v1.37.1"));
    set_text(&info->kernel_version, pool->kernel_version, STR("6.1.0"));
    set_text(&info->os_image, pool->os_image, STR("Debian GNU/Linux 12 (bookworm)"));
    set_text(&info->container_runtime_version, pool->runtime_version, STR("containerd://2.1.4"));
    set_text(&info->operating_system, STR("linux"), STR(""));
    set_text(&info->architecture, STR("amd64"), STR(""));
    return true;
}

struct str nodes__uuid(struct arena *a, struct str name, uint64_t salt) {
    unsigned long long v[2] = {str_hash(name, salt), str_hash(name, ~salt)};
    return arena_printf(a, "%08llx-%04llx-4%03llx-8%03llx-%012llx", v[0] >> 32, v[0] >> 16 & 0xffff,
                        v[0] & 0xfff, v[1] >> 48 & 0xfff, v[1] & 0xffffffffffff);
}

/* Those of a machine: its own for ever, and of its start. */
static bool complete_ids(struct arena *a, struct str name, struct api_node_system_info *info) {
    enum { MACHINE = 1, SYSTEM, BOOT };
    unsigned long long first = str_hash(name, MACHINE), rest = str_hash(name, ~(uint64_t)MACHINE);
    if (info->machine_id.n && info->system_uuid.n && info->boot_id.n)
        return false;
    if (!info->machine_id.n)
        info->machine_id = arena_printf(a, "%016llx%016llx", first, rest);
    if (!info->system_uuid.n)
        info->system_uuid = nodes__uuid(a, name, SYSTEM);
    if (!info->boot_id.n)
        info->boot_id = nodes__uuid(a, name, BOOT);
    return true;
}

bool nodes__complete_status(struct arena *a, const struct nodes__facts *facts,
                            struct api_node_status *status) {
    bool changes = complete_conditions(a, &status->conditions, facts->now);
    changes |= complete_addresses(a, facts, &status->addresses);
    changes |= complete_capacity(a, facts->pool, status);
    changes |= complete_info(facts->pool, &status->node_info);
    changes |= complete_ids(a, facts->name, &status->node_info);
    if (facts->boot_id.n && !str_eq(status->node_info.boot_id, facts->boot_id)) {
        status->node_info.boot_id = facts->boot_id;
        changes = true;
    }
    if (!status->daemon_endpoints.kubelet_endpoint.port) {
        status->daemon_endpoints.kubelet_endpoint.port = 10250;
        changes = true;
    }
    return changes;
}
