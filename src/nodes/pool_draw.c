/* What each node of a pool is like: drawn by its number and the seed, the same in each run. */
#include "base/clock.h"
#include "nodes/kubelets_int.h"
#include "nodes/pool.h"

/* A number for a node that has nothing to do with those of others. */
static uint64_t chance(const struct nodes_pool *pool, size_t number, uint64_t salt) {
    uint64_t words[] = {(uint64_t)number, salt};
    return str_hash((struct str){(const char *)words, sizeof words}, pool->seed);
}

static struct str value_of(const struct nodes_pool *pool, size_t number, size_t variation) {
    const struct nodes_variation *v = &pool->variations[variation];
    uint64_t place = v->is_random ? chance(pool, number, variation + 1) : number;
    return v->values.v[place % v->values.n];
}

static struct str *info_of(struct api_node_system_info *info, struct str name) {
    const struct {
        const char *name;
        struct str *field;
    } fields[] = {
        {"kubeletVersion", &info->kubelet_version},
        {"kernelVersion", &info->kernel_version},
        {"osImage", &info->os_image},
        {"containerRuntimeVersion", &info->container_runtime_version},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (str_is(name, fields[i].name))
            return fields[i].field;
    return NULL;
}

bool nodes__has_info(struct str name) {
    struct api_node_system_info info;
    return info_of(&info, name);
}

static void vary(struct arena *a, const struct nodes_variation *v, struct str value,
                 struct api_node *node) {
    switch (v->what) {
    case NODES_VARY_LABEL:
        labels_put(a, &node->metadata.labels, (struct label){v->key, value});
        break;
    case NODES_VARY_ANNOTATION:
        labels_put(a, &node->metadata.annotations, (struct label){v->key, value});
        break;
    case NODES_VARY_TAINT:
        for (size_t i = 0; i < node->spec.taints.n; i++)
            if (str_eq(node->spec.taints.v[i].key, v->key))
                node->spec.taints.v[i].value = value;
        break;
    case NODES_VARY_NODE_INFO:
        *info_of(&node->status.node_info, v->key) = value;
        break;
    }
}

static void draw_fault(struct arena *a, const struct nodes_pool *pool, size_t number,
                       struct api_node *node) {
    int64_t lot = (int64_t)(chance(pool, number, 0) % 100);
    for (size_t i = 0; i < pool->fault_count; i++) {
        lot -= pool->faults[i].percent;
        if (lot >= 0)
            continue;
        labels_put(a, &node->metadata.annotations,
                   (struct label){STR("berth.dev/kubelet"), pool->faults[i].fault});
        return;
    }
}

void nodes__draw(struct arena *a, const struct nodes_pool *pool, size_t number,
                 struct api_node *node) {
    const struct api_node *model = pool->model;
    if (model) {
        node->spec = model->spec;
        node->status = model->status;
        const struct api_object_meta *meta = &model->metadata;
        labels_merge(a, &node->metadata.labels, meta->labels.v, meta->labels.n);
        labels_merge(a, &node->metadata.annotations, meta->annotations.v, meta->annotations.n);
    }
    const struct api_taint_list *taints = model ? &model->spec.taints : &pool->taints;
    node->spec.taints =
        (struct api_taint_list){arena_array(a, struct api_taint, taints->n), taints->n};
    for (size_t i = 0; i < taints->n; i++)
        node->spec.taints.v[i] = taints->v[i];
    for (size_t i = 0; i < pool->variation_count; i++)
        vary(a, &pool->variations[i], value_of(pool, number, i), node);
    draw_fault(a, pool, number, node);
}
