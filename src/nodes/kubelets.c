/* Which nodes there are, who looks after them, and what is told to whom. */
#include "nodes/nodes.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "intern/intern.h"
#include "match/match.h"
#include "nodes/kubelets_int.h"

int64_t nodes__wall(const struct nodes *n) {
    return clock_wall(net_loop_clock(n->loop));
}

bool nodes__is_away(const struct nodes__node *node) {
    return node->fault >= NODES__STOPPED;
}

struct nodes__node *nodes__find_running(const struct nodes *n, struct str name) {
    struct nodes__node *node = map_get(&n->nodes, name);
    return node && node->keeper == NODES__OURS && !nodes__is_away(node) ? node : NULL;
}

size_t nodes_count(const struct nodes *n) {
    return n->ours;
}

/* ---- nodes come and go ---- */

void nodes__look_after(struct nodes *n, const struct nodes__node *node,
                       const struct api_object *pod) {
    workqueue_add_after(n->pod_queue, pod->meta->namespace, pod->meta->name,
                        node->fault == NODES__SLOW ? node->slow : 0);
}

static void wake(struct nodes *n, struct nodes__node *node) {
    size_t count;
    const struct api_object *const *pods =
        informer_find(n->pod_informer, INFORMER_BY_NODE, node->name, &count);
    workqueue_add(n->statuses, STR(""), node->name);
    for (size_t i = 0; i < count; i++)
        nodes__look_after(n, node, pods[i]);
}

void nodes__set_keeper(struct nodes *n, struct nodes__node *node, enum nodes__keeper keeper) {
    if (node->keeper == keeper)
        return;
    n->ours += keeper == NODES__OURS;
    n->ours -= node->keeper == NODES__OURS;
    node->keeper = keeper;
    if (keeper == NODES__OURS)
        wake(n, node);
}

/* ---- faults ---- */

static enum nodes__fault fault_of(const struct api_object *node) {
    static const char *const words[] = {[NODES__SLOW] = "slow",
                                        [NODES__STOPPED] = "stopped",
                                        [NODES__PARTITIONED] = "partitioned",
                                        [NODES__CRASHED] = "crashed"};
    const struct label *l = labels_find(&node->meta->annotations, STR("berth.dev/kubelet"));
    for (size_t i = NODES__SLOW; l && i < sizeof words / sizeof *words; i++)
        if (str_is(l->value, words[i]))
            return (enum nodes__fault)i;
    return NODES__WELL;
}

/* A slow kubelet takes ten seconds, unless it is said how many. */
static int64_t slowness_of(const struct api_object *node) {
    const struct label *l = labels_find(&node->meta->annotations, STR("berth.dev/slow-seconds"));
    int64_t seconds = 10;
    if (l && (!str_to_i64(l->value, &seconds) || seconds < 0 || seconds > INT32_MAX))
        seconds = 10;
    return seconds * CLOCK_SECOND;
}

/* The machine has been started again: what ran on it does not any more. */
static void boot(struct nodes *n, struct nodes__node *node) {
    AUTO(arena_release) struct arena a = {0};
    node->booted = nodes__wall(n) / CLOCK_SECOND;
    struct str id = nodes__uuid(&a, node->name, (uint64_t)node->booted);
    memcpy(node->boot_text, id.p, id.n);
    node->boot_id = (struct str){node->boot_text, id.n};
}

static void recover(struct nodes *n, struct nodes__node *node, const struct api_object *object,
                    enum nodes__fault from) {
    if (from == NODES__CRASHED)
        boot(n, node);
    if (from == NODES__PARTITIONED)
        node->away_until = nodes__wall(n);
    else
        nodes__tell_start(n, object, from == NODES__CRASHED ? node->boot_id : STR(""));
    workqueue_add(n->leases, STR(""), node->name);
    wake(n, node);
}

static struct nodes__node *add_node(struct nodes *n, const struct api_object *object) {
    struct str name = object->meta->name;
    struct nodes__node *node = xcalloc(1, sizeof *node + name.n);
    memcpy(node + 1, name.p, name.n);
    node->name = (struct str){(char *)(node + 1), name.n};
    if (!nodes__index_of(object->body, &node->index))
        node->index = n->next_index++;
    map_put(&n->nodes, node->name, node);
    return node;
}

/* Is the node to be looked after here? */
static bool is_wanted(struct nodes *n, struct str name) {
    return !n->opts.is_choosy || map_get_const(&n->chosen, name) || nodes__pool_of(n, name);
}

/* A status that needs nothing is not looked at again, but for what others have done to it. */
static void node_set(void *arg, const struct api_object *old, const struct api_object *object) {
    struct nodes *n = arg;
    struct nodes__node *node = map_get(&n->nodes, object->meta->name);
    enum nodes__fault before = node ? node->fault : NODES__WELL;
    bool was_away = node && nodes__is_away(node);
    if (!node && !is_wanted(n, object->meta->name)) {
        nodes__note_index(n, object);
        return;
    }
    nodes__tell_annotations(n, old, object);
    if (!node) {
        node = add_node(n, object);
        workqueue_add(n->leases, STR(""), node->name);
    }
    nodes__note_index(n, object);
    node->range = nodes__range_of(object->body, node->index);
    node->fault = fault_of(object);
    node->slow = slowness_of(object);
    if (was_away && !nodes__is_away(node))
        recover(n, node, object, before);
    else if (nodes__find_running(n, node->name))
        workqueue_add(n->statuses, STR(""), node->name);
}

static void free_node(struct nodes *n, struct nodes__node *node) {
    while (node->pods.n)
        nodes__free_pod(n, node->pods.v[node->pods.n - 1]);
    vec_release(&node->pods);
    map_del(&n->nodes, node->name);
    free(node);
}

static void node_deleted(void *arg, const struct api_object *last) {
    struct nodes *n = arg;
    struct nodes__node *node = map_get(&n->nodes, last->meta->name);
    nodes__forget_index(n, last);
    if (!node)
        return;
    nodes__set_keeper(n, node, NODES__UNDECIDED);
    free_node(n, node);
}

/* ---- pods come and go ---- */

static void pod_set(void *arg, const struct api_object *old, const struct api_object *object) {
    struct nodes *n = arg;
    const struct api_pod *pod = object->body;
    if (old && !str_eq(old->meta->uid, object->meta->uid))
        nodes__drop_pod(n, old);
    if (api_pod_has_ended(pod)) /* at once: the next pod may be bound to its room by now */
        nodes__drop_pod(n, object);
    const struct nodes__node *node =
        pod->spec.node_name.n ? nodes__find_running(n, pod->spec.node_name) : NULL;
    if (node)
        nodes__look_after(n, node, object);
}

static void pod_deleted(void *arg, const struct api_object *last) {
    nodes__drop_pod(arg, last);
}

/* ---- life ---- */

/* Writes of many nodes are on their way at a time. */
enum { WORKERS = 256 };

static struct workqueue *queue(struct nodes *n, const char *name,
                               void (*sync)(void *arg, struct work *w)) {
    return workqueue_new(&(struct workqueue_opts){
        .name = name,
        .client = n->opts.client,
        .informers = n->opts.informers,
        .log = n->opts.log,
        .workers = WORKERS,
        .most_delay = 7 * CLOCK_SECOND,
        .sync = sync,
        .arg = n,
    });
}

static void listen(struct nodes *n) {
    informer_listen(n->node_informer,
                    &(struct informer_handler){.set = node_set, .deleted = node_deleted, .arg = n});
    informer_listen(n->lease_informer,
                    &(struct informer_handler){.set = nodes__lease_set, .arg = n});
    informer_listen(n->pod_informer,
                    &(struct informer_handler){.set = pod_set, .deleted = pod_deleted, .arg = n});
}

struct nodes *nodes_new(const struct nodes_opts *opts) {
    struct nodes *n = xcalloc(1, sizeof *n);
    n->opts = *opts;
    n->loop = client_loop(opts->client);
    n->nodes = MAP_INIT(opts->seed);
    n->pods = MAP_INIT(opts->seed);
    n->rejections = MAP_INIT(opts->seed);
    n->chosen = MAP_INIT(opts->seed);
    n->awaited = MAP_INIT(opts->seed);
    n->holders = MAP_INIT(opts->seed);
    for (size_t i = 0; i < opts->chosen_count; i++)
        map_put_const(&n->chosen, opts->chosen[i], &opts->chosen[i]);
    n->atoms = intern_new(opts->seed);
    n->match = match_new(n->atoms, opts->gates, opts->engine, opts->seed);
    n->events = events_new(
        &(struct events_opts){.client = opts->client, .log = opts->log, .component = "kubelet"});
    n->node_informer = informers_of(opts->informers, client_kind(API_T_node));
    n->pod_informer = informers_of(opts->informers, client_kind(API_T_pod));
    n->lease_informer = informers_of(opts->informers, client_kind(API_T_lease));
    n->registrations = queue(n, "kubelet_registration", nodes__register);
    n->leases = queue(n, "kubelet_lease", nodes__renew);
    n->statuses = queue(n, "kubelet_node_status", nodes__sync_status);
    n->pod_queue = queue(n, "kubelet_pod", nodes__sync_pod);
    listen(n);
    nodes__register_pools(n);
    return n;
}

void nodes_free(struct nodes *n) {
    size_t at = 0;
    if (!n)
        return;
    workqueue_free(n->registrations);
    workqueue_free(n->leases);
    workqueue_free(n->statuses);
    workqueue_free(n->pod_queue);
    for (struct map_entry *entry; (entry = map_next(&n->nodes, &at));)
        free_node(n, entry->value);
    at = 0;
    for (struct map_entry *entry; (entry = map_next(&n->rejections, &at));)
        free(entry->value);
    map_release(&n->nodes);
    map_release(&n->pods);
    map_release(&n->rejections);
    map_release(&n->chosen);
    map_release(&n->awaited); /* which nobody waits for any more */
    nodes__free_indexes(n);
    informers_free(n->own_informers);
    events_free(n->events);
    match_free(n->match);
    intern_free(n->atoms);
    free(n);
}
