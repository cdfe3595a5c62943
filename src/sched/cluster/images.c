/*
 * Images of nodes: how large each is, and how many nodes have it.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/backend/cache, func (*cacheImpl) addNodeImageStates,
 * func (*cacheImpl) removeNodeImageStates.
 */
#include <stdlib.h>
#include <string.h>

#include "api/types.h"
#include "base/alloc.h"
#include "sched/sched_int.h"

static struct sched__image *image_get(struct sched *s, struct str name, int64_t size) {
    struct sched__image *image = map_get(&s->nodes.images, name);
    if (image)
        return image;
    image = xmalloc(sizeof *image + name.n);
    char *text = (char *)(image + 1);
    if (name.n)
        memcpy(text, name.p, name.n);
    *image = (struct sched__image){.name = {text, name.n}, .size = size};
    map_put(&s->nodes.images, image->name, image);
    return image;
}

static void drop_images(struct sched *s, struct sched__node *node) {
    for (size_t i = 0; i < node->images.n; i++) {
        struct sched__image *image = node->images.v[i];
        if (--image->nodes)
            continue;
        map_del(&s->nodes.images, image->name);
        free(image);
    }
    vec_release(&node->images);
}

static int by_address(const void *a, const void *b) {
    uintptr_t x = (uintptr_t) * (struct sched__image *const *)a;
    uintptr_t y = (uintptr_t) * (struct sched__image *const *)b;
    return (x > y) - (x < y);
}

/* A node may name an image twice. */
static void count_images(struct sched__node *node) {
    size_t n = 0;
    if (node->images.n)
        qsort(node->images.v, node->images.n, sizeof *node->images.v, by_address);
    for (size_t i = 0; i < node->images.n; i++) {
        struct sched__image *image = node->images.v[i];
        if (n && node->images.v[n - 1] == image)
            continue;
        image->nodes++;
        node->images.v[n++] = image;
    }
    node->images.n = n;
}

void sched__images_set(struct sched *s, struct sched__node *node,
                       const struct api_container_image_list *images) {
    drop_images(s, node);
    for (size_t i = 0; images && i < images->n; i++) {
        const struct api_container_image *spec = &images->v[i];
        for (size_t j = 0; j < spec->names.n; j++)
            vec_push(&node->images, image_get(s, spec->names.v[j], spec->size_bytes));
    }
    count_images(node);
}

bool sched__node_has_image(const struct sched__node *node, const struct sched__image *image) {
    return node->images.n && bsearch(&image, node->images.v, node->images.n, sizeof *node->images.v,
                                     by_address) != NULL;
}
