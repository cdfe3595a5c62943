/*
 * Services by what they select: which of a pod's labels do the services ask for that select it?
 *
 * Services of one namespace with the same selector are one. Each is found under the rarest of its
 * labels, so that a pod looks only at selectors of which it has at least that one. The whole is
 * made anew when it is asked for after a service or a controller changed.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/framework/plugins/helper, func DefaultSelector,
 * func GetPodServices.
 */
#include <string.h>

#include "base/alloc.h"
#include "sched/topology/count_int.h"
#include "sched/topology/services_int.h"

/* A selector, in the list of those with the same rarest label. */
struct selection {
    const struct api_object *service;
    struct selection *next;
};

/* A label of selectors in one namespace. */
struct wanted {
    size_t count; /* selectors that have it */
    struct selection *selections;
};

struct sched__services {
    struct arena arena;
    struct map selectors; /* services by namespace and selector, one of each, held */
    struct map labels;    /* struct wanted by namespace, key and value */
    uint64_t generation;
};

static const struct labels *selector_of(const struct api_object *service) {
    return &((const struct api_service *)service->body)->spec.selector;
}

/* Lengths tell where a part ends. */
static void add_part(struct buf *out, struct str part) {
    buf_add_u64(out, part.n);
    buf_add_char(out, ':');
    buf_add(out, part);
}

static struct str label_key(struct buf *key, struct str ns, const struct label *label) {
    buf_clear(key);
    add_part(key, ns);
    add_part(key, label->key);
    add_part(key, label->value);
    return buf_view(key);
}

static struct str selector_key(struct buf *key, const struct api_object *service) {
    const struct labels *selector = selector_of(service);
    buf_clear(key);
    add_part(key, service->meta->namespace);
    for (size_t i = 0; i < selector->n; i++) {
        add_part(key, selector->v[i].key);
        add_part(key, selector->v[i].value);
    }
    return buf_view(key);
}

/* ---- making it ---- */

static void count_label(struct sched__services *x, struct str key) {
    struct wanted *w = map_get(&x->labels, key);
    if (!w) {
        w = arena_new(&x->arena, struct wanted);
        map_put(&x->labels, arena_str(&x->arena, key), w);
    }
    w->count++;
}

/* A service without a selector selects nothing; an empty one selects all and asks for nothing. */
static void add_service(struct sched__services *x, struct buf *key,
                        const struct api_object *service) {
    const struct labels *selector = selector_of(service);
    if (!selector->n || map_get_const(&x->selectors, selector_key(key, service)))
        return;
    map_put_const(&x->selectors, arena_str(&x->arena, buf_view(key)), api_object_ref(service));
    for (size_t i = 0; i < selector->n; i++)
        count_label(x, label_key(key, service->meta->namespace, &selector->v[i]));
}

/* What is known of a label that a service in the table asks for. */
static struct wanted *find_wanted(const struct sched__services *x, struct buf *key,
                                  const struct api_object *service, size_t label) {
    const struct label *l = &selector_of(service)->v[label];
    return map_get(&x->labels, label_key(key, service->meta->namespace, l));
}

static void file_under_rarest(struct sched__services *x, struct buf *key,
                              const struct api_object *service) {
    const struct labels *selector = selector_of(service);
    struct wanted *rarest = find_wanted(x, key, service, 0);
    for (size_t i = 1; i < selector->n; i++) {
        struct wanted *w = find_wanted(x, key, service, i);
        if (w->count < rarest->count)
            rarest = w;
    }
    struct selection *selection = arena_new(&x->arena, struct selection);
    *selection = (struct selection){service, rarest->selections};
    rarest->selections = selection;
}

static struct sched__services *services_new(struct sched *s, struct buf *key) {
    struct sched__services *x = xcalloc(1, sizeof *x);
    size_t at = 0;
    x->selectors = x->labels = MAP_INIT(s->seed);
    x->generation = s->selectors_generation;
    for (struct map_entry *e; (e = map_next(&s->store.services, &at));)
        add_service(x, key, e->const_value);
    at = 0;
    for (struct map_entry *e; (e = map_next(&x->selectors, &at));)
        file_under_rarest(x, key, e->const_value);
    return x;
}

static struct sched__services *services_get(struct sched *s, struct buf *key) {
    sched__services_sweep(s);
    if (!s->services)
        s->services = services_new(s, key);
    return s->services;
}

void sched__services_release(struct sched *s) {
    struct sched__services *x = s->services;
    size_t at = 0;
    if (!x)
        return;
    for (struct map_entry *e; (e = map_next(&x->selectors, &at));)
        api_object_unref(e->const_value);
    map_release(&x->selectors);
    map_release(&x->labels);
    arena_release(&x->arena);
    free(x);
    s->services = NULL;
}

void sched__services_sweep(struct sched *s) {
    if (s->services && s->services->generation != s->selectors_generation)
        sched__services_release(s);
}

/* ---- asking ---- */

static bool selects(const struct labels *selector, const struct labels *labels) {
    for (size_t i = 0; i < selector->n; i++) {
        const struct label *label = labels_find(labels, selector->v[i].key);
        if (!label || !str_eq(label->value, selector->v[i].value))
            return false;
    }
    return true;
}

static void mark(const struct labels *selector, const struct labels *labels, bool *asked) {
    for (size_t i = 0; i < selector->n; i++)
        asked[labels_find(labels, selector->v[i].key) - labels->v] = true;
}

void sched__services_mark(struct sched *s, const struct api_object_meta *pod, bool *asked) {
    if (!s->store.services.live)
        return;
    AUTO(buf_release) struct buf key = BUF_INIT(SIZE_MAX);
    const struct sched__services *x = services_get(s, &key);
    for (size_t i = 0; i < pod->labels.n; i++) {
        const struct wanted *w =
            map_get(&x->labels, label_key(&key, pod->namespace, &pod->labels.v[i]));
        for (const struct selection *l = w ? w->selections : NULL; l; l = l->next)
            if (selects(selector_of(l->service), &pod->labels))
                mark(selector_of(l->service), &pod->labels, asked);
    }
}
