/*
 * The annotation of nodes that tells kubelets how long they may remember Secrets and ConfigMaps:
 * the larger the cluster, the longer.
 *
 * Follows k8s.io/kubernetes pkg/controller/ttl, func (*Controller) updateNodeIfNeeded.
 */
#include "base/goatoi.h"
#include "manager/controller_int.h"

#define ANNOTATION "node.alpha.kubernetes.io/ttl"

/* Sizes overlap, so that one node that comes and goes does not change all others. */
static const struct {
    size_t least, most; /* of nodes */
    int seconds;
} sizes[] = {
    {0, 100, 0}, {90, 500, 15}, {450, 1000, 30}, {900, 2000, 60}, {1800, SIZE_MAX, 300},
};

struct ttl {
    struct manager__base base; /* keys: nodes */
    size_t count;              /* of nodes */
    size_t size;               /* which of the sizes it is */
};

static bool has_annotation(const struct api_object *node, int seconds) {
    const struct label *l = labels_find(&node->meta->annotations, STR(ANNOTATION));
    int64_t v;
    return l && !goatoi_read(l->value, &v) && v == seconds;
}

static void sync(void *self, struct work *w, const struct api_object *node) {
    struct ttl *c = self;
    int seconds = sizes[c->size].seconds;
    if (has_annotation(node, seconds))
        return;
    struct str text = arena_printf(
        work_arena(w), "{\"metadata\":{\"annotations\":{\"" ANNOTATION "\":\"%d\"}}}", seconds);
    work_patch(w, node, &(struct work_patch){CLIENT_PATCH_STRATEGIC, NULL, text}, NULL, NULL);
}

/* Nodes that are there already follow when their status is written next. */
static void node_set(void *self, const struct api_object *old, const struct api_object *node) {
    struct ttl *c = self;
    if (!old && ++c->count > sizes[c->size].most)
        c->size++;
    workqueue_add_object(c->base.queue, node);
}

static void node_deleted(void *self, const struct api_object *last) {
    struct ttl *c = self;
    (void)last;
    if (--c->count < sizes[c->size].least)
        c->size--;
}

const struct manager__controller manager__ttl = {
    .size = sizeof(struct ttl),
    .queues = {{"ttlcontroller", sync, .names = API_T_node}},
    .kinds = {{API_T_node, .set = node_set, .deleted = node_deleted}},
};
