/* Which change led to a write of endpoints. */
#include "manager/services/trigger_times_int.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "manager/pods_int.h"

/* A pod as it was looked at last, known by its name's hash. */
struct moment {
    uint64_t hash;
    int64_t sec;
};

struct seen {
    struct moment *v; /* by hash */
    size_t n;
    int64_t service;
    size_t key_size;
    char key[];
};

struct trigger_times {
    struct map services; /* struct seen */
    struct buf key;
};

struct trigger_times *trigger_times__new(uint64_t seed) {
    struct trigger_times *x = xcalloc(1, sizeof *x);
    x->services = MAP_INIT(seed);
    x->key = BUF_INIT(SIZE_MAX);
    return x;
}

static void free_seen(struct seen *s) {
    if (s)
        free(s->v);
    free(s);
}

void trigger_times__free(struct trigger_times *x) {
    const struct map_entry *e;
    if (!x)
        return;
    for (size_t at = 0; (e = map_next(&x->services, &at));)
        free_seen(e->value);
    map_release(&x->services);
    buf_release(&x->key);
    free(x);
}

static struct str key_of(struct trigger_times *x, struct str namespace, struct str name) {
    buf_clear(&x->key);
    buf_addf(&x->key, "%.*s/%.*s", STR_ARG(namespace), STR_ARG(name));
    return buf_view(&x->key);
}

void trigger_times__forget(struct trigger_times *x, struct str namespace, struct str name) {
    free_seen(map_del(&x->services, key_of(x, namespace, name)));
}

static struct seen *seen_of(struct trigger_times *x, const struct api_object *service) {
    struct str key = key_of(x, service->meta->namespace, service->meta->name);
    struct seen *s = map_get(&x->services, key);
    if (!s) {
        s = xcalloc(1, sizeof *s + key.n);
        s->key_size = key.n;
        memcpy(s->key, key.p, key.n);
        map_put(&x->services, (struct str){s->key, key.n}, s);
    }
    return s;
}

static int by_hash(const void *a, const void *b) {
    const struct moment *x = a, *y = b;
    return (x->hash > y->hash) - (x->hash < y->hash);
}

/* Is it younger than what was seen of it? */
static bool is_news(const struct seen *s, const struct moment *m) {
    const struct moment *was = s->n ? bsearch(m, s->v, s->n, sizeof *m, by_hash) : NULL;
    return !was || m->sec > was->sec;
}

static void add(struct api_time *oldest, int64_t sec) {
    if (!oldest->set || sec < oldest->sec)
        *oldest = (struct api_time){.sec = sec, .set = true};
}

struct api_time trigger_times__look(struct trigger_times *x, const struct api_object *service,
                                    const struct manager__objects *pods) {
    struct seen *s = seen_of(x, service);
    struct api_time oldest = {0}, made = service->meta->creation_timestamp;
    struct moment *now = xcalloc(pods->n + 1, sizeof *now);
    bool is_known = s->v;
    size_t n = 0;
    for (size_t i = 0; i < pods->n; i++) {
        const struct api_pod_condition *ready = manager__pod_condition(pods->v[i], "Ready");
        if (!ready || !ready->last_transition_time.set)
            continue;
        now[n] = (struct moment){str_hash(pods->v[i]->meta->name, x->services.seed),
                                 ready->last_transition_time.sec};
        if (is_news(s, &now[n]))
            add(&oldest, now[n].sec);
        n++;
    }
    if (made.set && (!is_known || made.sec > s->service))
        add(&oldest, made.sec);
    qsort(now, n, sizeof *now, by_hash);
    free(s->v);
    s->v = now;
    s->n = n;
    s->service = made.sec;
    return is_known ? oldest : made;
}
