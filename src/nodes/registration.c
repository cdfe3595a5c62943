/*
 * Registration: the Node objects of pools are made, Ready from the start.
 *
 * Follows k8s.io/kubernetes pkg/kubelet, func (*Kubelet) initialNode,
 * func (*Kubelet) updateDefaultLabels.
 */
#include "base/clock.h"
#include "nodes/kubelets_int.h"
#include "nodes/pool.h"

const struct nodes_pool *nodes__pool_of(const struct nodes *n, struct str name) {
    for (size_t i = 0; i < n->opts.pool_count; i++) {
        const struct nodes_pool *pool = &n->opts.pools[i];
        int64_t number;
        if (str_starts(name, pool->prefix) &&
            str_to_i64(str_sub(name, pool->prefix.n, name.n), &number) && number >= 0 &&
            (uint64_t)number < pool->count)
            return pool;
    }
    return NULL;
}

void nodes__register_pools(struct nodes *n) {
    struct arena a = {0};
    for (size_t i = 0; i < n->opts.pool_count; i++)
        for (size_t k = 0; k < n->opts.pools[i].count; k++) {
            struct str name = arena_printf(&a, "%.*s%zu", STR_ARG(n->opts.pools[i].prefix), k);
            workqueue_add(n->registrations, STR(""), name);
            arena_reset(&a);
        }
    arena_release(&a);
}

/* The labels that a kubelet sets, beside the one with its name. */
static const struct label default_labels[] = {
    {STR_INIT("beta.kubernetes.io/arch"), STR_INIT("amd64")},
    {STR_INIT("beta.kubernetes.io/os"), STR_INIT("linux")},
    {STR_INIT("kubernetes.io/arch"), STR_INIT("amd64")},
    {STR_INIT("kubernetes.io/hostname"), {0}},
    {STR_INIT("kubernetes.io/os"), STR_INIT("linux")},
};
enum { DEFAULT_LABELS = sizeof default_labels / sizeof *default_labels };

static struct label default_label(size_t i, struct str node) {
    struct label l = default_labels[i];
    return (struct label){l.key, l.value.p ? l.value : node};
}

void nodes__complete_labels(struct arena *a, struct str node, struct labels *labels) {
    for (size_t i = 0; i < DEFAULT_LABELS; i++) {
        struct label l = default_label(i, node);
        if (!labels_find(labels, l.key))
            labels_put(a, labels, l);
    }
}

static void label(struct arena *a, const struct nodes_pool *pool, struct api_object_meta *meta) {
    nodes__complete_labels(a, meta->name, &meta->labels);
    labels_merge(a, &meta->labels, pool->labels.v, pool->labels.n);
}

/* Gives a node that others have made the labels that it lacks. What it has stays, other than with
 * upstream: one of a dump may be of another kind. True: a write is under way. */
static bool complete_labels(struct work *w, const struct api_object *node) {
    AUTO(buf_release) struct buf patch = BUF_INIT(SIZE_MAX);
    const char *before = "{\"metadata\":{\"labels\":{";
    for (size_t i = 0; i < DEFAULT_LABELS; i++) {
        struct label l = default_label(i, node->meta->name);
        if (labels_find(&node->meta->labels, l.key))
            continue;
        buf_addf(&patch, "%s\"%.*s\":\"%.*s\"", before, STR_ARG(l.key), STR_ARG(l.value));
        before = ",";
    }
    if (!buf_view(&patch).n)
        return false;
    buf_add(&patch, STR("}}}"));
    work_send(w,
              &(struct client_request){.verb = REGISTRY_VERB_PATCH,
                                       .kind = node->kind,
                                       .name = node->meta->name,
                                       .patch_type = CLIENT_PATCH_MERGE,
                                       .patch = buf_view(&patch)},
              NULL, NULL);
    return true;
}

/* What is in the pool outlives the object, but may not be shared by several of them. */
static struct api_object *new_node(struct nodes *n, const struct nodes_pool *pool,
                                   struct str name) {
    struct api_object *o = api_object_new(client_kind(API_T_node));
    struct api_node *node = api_own_body(o);
    struct arena *a = &o->arena;
    node->metadata.name = arena_str(a, name);
    label(a, pool, &node->metadata);
    struct nodes__facts facts = {
        .name = node->metadata.name,
        .index = n->next_index++,
        .now = nodes__wall(n),
        .pool = pool,
    };
    int64_t number = 0;
    str_to_i64(str_sub(name, pool->prefix.n, name.n), &number);
    nodes__draw(a, pool, (size_t)number, node);
    nodes__complete_status(a, &facts, &node->status);
    struct api_object *copy = api_object_copy(o);
    api_object_free(o);
    return copy;
}

static void registered(void *arg, struct work *w, const struct client_answer *answer) {
    (void)arg;
    if (answer->code != ERR_NONE && answer->code != ERR_EXISTS)
        work_fail(w, "register node: %.*s", STR_ARG(answer->message));
}

void nodes__register(void *arg, struct work *w) {
    struct nodes *n = arg;
    const struct nodes_pool *pool = nodes__pool_of(n, work_name(w));
    if (!pool || informer_get(n->node_informer, STR(""), work_name(w)))
        return;
    struct client_request request = {
        .verb = REGISTRY_VERB_CREATE,
        .kind = client_kind(API_T_node),
        .object = new_node(n, pool, work_name(w)),
    };
    work_send(w, &request, registered, NULL);
}

/* ---- status ---- */

struct nodes__facts nodes__facts_of(const struct nodes *n, const struct nodes__node *node) {
    return (struct nodes__facts){
        .name = node->name,
        .index = node->index,
        .is_moving = node->is_moving,
        .now = nodes__wall(n),
        .pool = nodes__pool_of(n, node->name),
        .boot_id = node->boot_id,
    };
}

void nodes__sync_status(void *arg, struct work *w) {
    struct nodes *n = arg;
    struct nodes__node *node = nodes__find_running(n, work_name(w));
    const struct api_object *object = informer_get(n->node_informer, STR(""), work_name(w));
    if (!node || !object)
        return;
    if (complete_labels(w, object)) {
        work_again_after(w, 0);
        return;
    }
    int64_t now = net_loop_now(n->loop);
    bool beats = node->heartbeat_at && now >= node->heartbeat_at;
    if (!node->heartbeat_at)
        node->heartbeat_at = now + nodes__until(n, nodes__phase(node, NODES__HEARTBEAT_EVERY));
    struct nodes__facts facts = nodes__facts_of(n, node);
    struct api_node_status status = ((const struct api_node *)object->body)->status;
    if (!nodes__complete_status(work_arena(w), &facts, &status) && !beats) {
        work_again_after(w, node->heartbeat_at - now);
        return;
    }
    node->heartbeat_at = now + nodes__until(n, NODES__HEARTBEAT_EVERY);
    n->heartbeats++;
    nodes__tell_status(n, object, &status);
    nodes__beat(work_arena(w), &status, facts.now);
    struct client_request request = {
        .verb = REGISTRY_VERB_UPDATE,
        .kind = object->kind,
        .subresource = "status",
        .name = node->name,
        .object = api_object_derive(object),
    };
    struct api_node *body = api_own_body(request.object);
    api_struct_copy(&request.object->arena, &api_types[API_T_node_status], &status, &body->status);
    work_send(w, &request, NULL, NULL);
    work_again_after(w, node->heartbeat_at - now);
}
