/*
 * ImageLocality: prefers nodes that have the pod's images, the more so the more nodes have them.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/framework/plugins/imagelocality,
 * func (*ImageLocality) Score, func calculatePriority, func sumImageScores.
 */
#include "sched/plugin_int.h"

enum { LEAST_MIB = 23, MOST_MIB = 1000 };
static const int64_t mib = 1024 * 1024;

struct images {
    struct str *names; /* with a tag */
    size_t n;
};

/* The name as nodes report it: with the tag latest if there is none behind the last slash. */
static struct str full_name(struct arena *a, struct str name) {
    for (size_t i = name.n; i-- && name.p[i] != '/';)
        if (name.p[i] == ':')
            return name;
    return arena_printf(a, "%.*s:latest", STR_ARG(name));
}

static void *compile(struct sched *s, struct sched__pod_class *c) {
    const struct api_pod_spec *spec = &c->pod->spec;
    struct images *d = arena_new(&c->arena, struct images);
    (void)s;
    d->names = arena_array(&c->arena, struct str,
                           spec->init_containers.n + spec->containers.n + spec->volumes.n);
    for (size_t i = 0; i < spec->init_containers.n; i++)
        d->names[d->n++] = full_name(&c->arena, spec->init_containers.v[i].image);
    for (size_t i = 0; i < spec->containers.n; i++)
        d->names[d->n++] = full_name(&c->arena, spec->containers.v[i].image);
    for (size_t i = 0; i < spec->volumes.n; i++)
        if (spec->volumes.v[i].volume_source.image)
            d->names[d->n++] =
                full_name(&c->arena, spec->volumes.v[i].volume_source.image->reference);
    return d;
}

/* Adds what an image is worth to each node that has it. */
static void add_image(const struct sched__cycle *cy, const struct sched__image *image,
                      int64_t *scores, uint32_t from, uint32_t to) {
    double spread = (double)image->nodes / (double)cy->s->nodes.live;
    int64_t worth = (int64_t)((double)image->size * spread);
    for (uint32_t i = from; i < to; i++)
        if (!cy->verdict[i] && sched__node_has_image(&cy->s->nodes.v[i], image))
            scores[i] = wrap_add_i64(scores[i], worth);
}

static int64_t clamped_share(int64_t sum, size_t images) {
    int64_t least = LEAST_MIB * mib, most = MOST_MIB * mib * (int64_t)images;
    if (sum < least)
        sum = least;
    if (sum > most)
        sum = most;
    return 100 * (sum - least) / (most - least);
}

static void score(struct sched__cycle *cy, int64_t *scores, uint32_t from, uint32_t to) {
    const struct images *d = cy->cls->data[SCHED_IMAGE_LOCALITY];
    bool any = false;
    for (uint32_t i = from; i < to; i++)
        scores[i] = 0;
    for (size_t k = 0; k < d->n; k++) {
        const struct sched__image *image = map_get(&cy->s->nodes.images, d->names[k]);
        if (image)
            add_image(cy, image, scores, from, to);
        any = any || image;
    }
    for (uint32_t i = from; any && i < to; i++)
        scores[i] = clamped_share(scores[i], d->n);
}

const struct sched__plugin sched__image_locality = {
    .compile = compile,
    .score = score,
};
