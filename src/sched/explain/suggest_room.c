/* Changes against nodes that are too full: smaller requests, and pods that could be elsewhere. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sched/cluster/requests_int.h"
#include "sched/explain/explain_int.h"

static struct api_pod_spec *own_spec(struct api_object *pod) {
    return &((struct api_pod *)api_own_body(pod))->spec;
}

static int64_t amount_of(uint32_t resource, const struct quantity *q) {
    return resource == SCHED__CPU ? quantity_milli_value(q) : quantity_value(q);
}

/* What is missing on the node for one of the class's requests; not above 0: nothing. */
static int64_t missing(const struct sched__options *x, const struct sched__amount *request) {
    const struct sched__resource *r = &x->cy->s->nodes.resources.v[request->resource];
    return wrap_sub_i64(request->amount, sched__resource_free(r, x->slot));
}

static struct api_quantity *find_quantity(const struct api_quantities *list, struct str name) {
    for (size_t i = 0; i < list->n; i++)
        if (str_eq(list->v[i].key, name))
            return &list->v[i];
    return NULL;
}

/* ---- pods that could be elsewhere ---- */

/* Pods that leave the node, until there is room. */
struct movers {
    const struct sched__options *x;
    struct sched_pod *v[SCHED__MOST_GONE];
    size_t n;
};

static int64_t amount_in(const struct sched__amounts *list, uint32_t resource) {
    for (size_t i = 0; i < list->n; i++)
        if (list->v[i].resource == resource)
            return list->v[i].amount;
    return 0;
}

/* What is still missing of a request when these are gone. */
static int64_t missing_after(const struct movers *m, const struct sched__amount *request) {
    int64_t amount = missing(m->x, request);
    for (size_t i = 0; i < m->n; i++)
        amount = wrap_sub_i64(amount, amount_in(&m->v[i]->cls->requests, request->resource));
    return amount;
}

static bool is_pod_missing(const struct movers *m) {
    const struct sched__nodes *nodes = &m->x->cy->s->nodes;
    return nodes->pods[m->x->slot] - (int32_t)m->n >= nodes->pods_most[m->x->slot];
}

static bool has_room(const struct movers *m) {
    const struct sched__amounts *asked = &m->x->cy->cls->asked;
    for (size_t i = 0; i < asked->n; i++)
        if (missing_after(m, &asked->v[i]) > 0)
            return false;
    return !is_pod_missing(m);
}

/* How much a pod helps: thousandths of each amount that is missing. */
static int64_t help_of(const struct movers *m, const struct sched_pod *pod) {
    const struct sched__amounts *asked = &m->x->cy->cls->asked;
    int64_t help = is_pod_missing(m) ? 1000 : 0;
    for (size_t i = 0; i < asked->n; i++) {
        int64_t short_of = missing_after(m, &asked->v[i]);
        int64_t has = amount_in(&pod->cls->requests, asked->v[i].resource);
        if (short_of > 0 && has > 0)
            help += has >= short_of ? 1000 : (int64_t)((double)has / (double)short_of * 1000);
    }
    return help;
}

/* More important pods stay, and so do those that would come back. */
static bool can_move(const struct movers *m, const struct sched_pod *pod) {
    for (size_t i = 0; i < m->n; i++)
        if (m->v[i] == pod)
            return false;
    return pod->priority <= m->x->cy->pod->priority && !pod->terminating && !pod->returns;
}

/* What a pod takes away from the node, in thousandths of what the pod asks for. */
static int64_t size_of(const struct movers *m, const struct sched_pod *pod) {
    const struct sched__amounts *asked = &m->x->cy->cls->asked;
    double size = 0;
    for (size_t i = 0; i < asked->n; i++)
        if (asked->v[i].amount > 0)
            size += (double)amount_in(&pod->cls->requests, asked->v[i].resource) /
                    (double)asked->v[i].amount;
    return (int64_t)(size * 1000);
}

/* Is the first the better one to move? It helps more, or is as good and less important, smaller, or
 * first by name. */
static bool is_better(const struct movers *m, const struct sched_pod *a,
                      const struct sched_pod *b) {
    if (help_of(m, a) != help_of(m, b))
        return help_of(m, a) > help_of(m, b);
    if (a->priority != b->priority)
        return a->priority < b->priority;
    if (size_of(m, a) != size_of(m, b))
        return size_of(m, a) < size_of(m, b);
    return str_cmp(a->key, b->key) < 0;
}

/* Chooses pods one by one. False: so few are not enough. */
static bool choose_movers(struct movers *m) {
    const struct sched__node *node = &m->x->cy->s->nodes.v[m->x->slot];
    while (!has_room(m)) {
        struct sched_pod *best = NULL;
        for (size_t i = 0; i < node->pods.n; i++) {
            struct sched_pod *pod = node->pods.v[i];
            if (can_move(m, pod) && help_of(m, pod) > 0 && (!best || is_better(m, pod, best)))
                best = pod;
        }
        if (!best || m->n == SCHED__MOST_GONE)
            return false;
        m->v[m->n++] = best;
    }
    return m->n > 0;
}

/* "free 1 cpu and 1Gi memory" */
static void write_missing(struct buf *out, const struct sched__options *x) {
    const struct movers none = {.x = x};
    const struct sched__amounts *asked = &x->cy->cls->asked;
    for (size_t i = 0; i < asked->n; i++) {
        struct str name = intern_text(x->cy->s->nodes.resources.v[asked->v[i].resource].name);
        int64_t amount = missing(x, &asked->v[i]);
        if (amount <= 0)
            continue;
        buf_add(out, out->n ? STR(" and ") : STR("free "));
        sched__amount_write(out, asked->v[i].resource, amount);
        buf_addf(out, " %.*s", STR_ARG(name));
    }
    if (is_pod_missing(&none))
        buf_add(out, out->n ? STR(" and room for a pod") : STR("make room for a pod"));
}

static void suggest_free(struct sched__options *x) {
    AUTO(buf_release) struct buf text = BUF_INIT(1 << 16);
    struct movers m = {.x = x};
    if (!choose_movers(&m) || !sched__option_wanted(x))
        return;
    struct sched__option o = {.kind = SCHED_CHANGE_FREE, .gone_count = m.n};
    memcpy(o.gone, m.v, m.n * sizeof *m.v);
    o.cost = sched__fit_shortage(x->cy, x->slot);
    write_missing(&text, x);
    buf_addf(&text, " on node %.*s by moving pod%s ", STR_ARG(x->node->meta->name),
             m.n == 1 ? "" : "s");
    for (size_t i = 0; i < m.n; i++) {
        buf_add(&text, !i ? STR("") : i + 1 < m.n ? STR(", ") : STR(" and "));
        buf_add(&text, m.v[i]->key);
    }
    o.text = arena_str(x->cy->arena, buf_view(&text));
    sched__option_make(x, &o);
}

/* ---- smaller requests ---- */

/* The container that asks for most of a resource; NULL: none does. */
static struct api_container *greediest(const struct api_container_list *list, struct str name,
                                       uint32_t resource) {
    struct api_container *found = NULL;
    int64_t most = 0;
    for (size_t i = 0; i < list->n; i++) {
        const struct api_quantity *q = find_quantity(&list->v[i].resources.requests, name);
        if (q && amount_of(resource, &q->value) > most) {
            most = amount_of(resource, &q->value);
            found = &list->v[i];
        }
    }
    return found;
}

static void suggest_request(struct sched__options *x, const struct sched__amount *request) {
    struct str name = intern_text(x->cy->s->nodes.resources.v[request->resource].name);
    const struct api_pod *before = x->pod->body;
    struct api_container *c = greediest(&before->spec.containers, name, request->resource);
    struct api_quantity *q = c ? find_quantity(&c->resources.requests, name) : NULL;
    int64_t amount = q ? amount_of(request->resource, &q->value) : 0;
    int64_t less = wrap_sub_i64(amount, missing(x, request));
    if (!q || less <= 0 || !sched__option_wanted(x))
        return;
    struct api_object *pod = api_object_derive(x->pod);
    SCHED__OWN_LIST(pod, &own_spec(pod)->containers);
    c = greediest(&own_spec(pod)->containers, name, request->resource);
    SCHED__OWN_LIST(pod, &c->resources.requests);
    q = find_quantity(&c->resources.requests, name);
    AUTO(buf_release) struct buf text = BUF_INIT(1 << 16);
    buf_addf(&text, "lower the request of container %.*s for %.*s from ", STR_ARG(c->name),
             STR_ARG(name));
    sched__amount_write(&text, request->resource, amount);
    buf_add(&text, STR(" to "));
    sched__amount_write(&text, request->resource, less);
    q->value = sched__amount_quantity(request->resource, less);
    struct sched__option o = {.kind = SCHED_CHANGE_REQUEST, .pod = pod};
    o.cost = sched__fit_shortage(x->cy, x->slot);
    o.text = arena_str(x->cy->arena, buf_view(&text));
    sched__option_make(x, &o);
}

void sched__suggest_fit(struct sched__options *x) {
    const struct sched__amounts *asked = &x->cy->cls->asked;
    size_t i = 0;
    while (i < asked->n && missing(x, &asked->v[i]) <= 0)
        i++;
    if (i < asked->n)
        suggest_request(x, &asked->v[i]);
    suggest_free(x);
}
