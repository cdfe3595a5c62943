/*
 * The annotation of nodes that tells kubelets how long they may remember Secrets and ConfigMaps:
 * the larger the cluster, the longer.
 *
 * Follows k8s.io/kubernetes pkg/controller/ttl, func (*Controller) updateNodeIfNeeded.
 */
#include <stdlib.h>

#include "base/alloc.h"
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
    struct manager *manager;
    struct workqueue *queue;
    struct informer *nodes;
    size_t count; /* of nodes */
    size_t size;  /* which of the sizes it is */
};

static bool has_annotation(const struct api_object *node, int seconds) {
    const struct label *l = labels_find(&node->meta->annotations, STR(ANNOTATION));
    int64_t v;
    return l && !goatoi_read(l->value, &v) && v == seconds;
}

static void sync(void *arg, struct work *w) {
    struct ttl *c = arg;
    const struct api_object *node = informer_get(c->nodes, STR(""), work_name(w));
    int seconds = sizes[c->size].seconds;
    if (!node || has_annotation(node, seconds))
        return;
    work_send(w,
              &(struct client_request){
                  .verb = REGISTRY_VERB_PATCH,
                  .kind = node->kind,
                  .name = work_name(w),
                  .patch_type = CLIENT_PATCH_STRATEGIC,
                  .patch = arena_printf(
                      work_arena(w), "{\"metadata\":{\"annotations\":{\"" ANNOTATION "\":\"%d\"}}}",
                      seconds)},
              NULL, NULL);
}

/* Nodes that are there already follow when their status is written next. */
static void node_set(void *arg, const struct api_object *old, const struct api_object *node) {
    struct ttl *c = arg;
    if (!old && ++c->count > sizes[c->size].most)
        c->size++;
    workqueue_add_object(c->queue, node);
}

static void node_deleted(void *arg, const struct api_object *last) {
    struct ttl *c = arg;
    (void)last;
    if (--c->count < sizes[c->size].least)
        c->size--;
}

static void *start(struct manager *m) {
    struct ttl *c = xcalloc(1, sizeof *c);
    c->manager = m;
    c->nodes = manager__informer(m, API_T_node);
    c->queue = workqueue_new(&(struct workqueue_opts){.name = "ttlcontroller",
                                                      .client = m->client,
                                                      .informers = m->informers,
                                                      .log = m->log,
                                                      .sync = sync,
                                                      .arg = c});
    informer_listen(c->nodes,
                    &(struct informer_handler){.set = node_set, .deleted = node_deleted, .arg = c});
    return c;
}

static void stop(void *self) {
    struct ttl *c = self;
    workqueue_free(c->queue);
    free(c);
}

const struct manager__controller manager__ttl = {start, stop};
