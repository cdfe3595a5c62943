/* Changes against what other pods have taken, against volumes, spreading and pod affinity. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sched/cluster/requests_int.h"
#include "sched/explain/explain_int.h"

static struct api_pod_spec *own_spec(struct api_object *pod) {
    return &((struct api_pod *)api_own_body(pod))->spec;
}

/* Takes entry `at` out of a list. */
#define TAKE_OUT(list, at)                                                                    \
    (memmove(&(list)->v[at], &(list)->v[(at) + 1], ((list)->n - (at)-1) * sizeof *(list)->v), \
     (void)(list)->n--)

void sched__suggest_delete(struct sched__options *x, const struct sched_pod *pod) {
    if (!pod || pod->node == SCHED__NONE || !sched__option_wanted(x))
        return;
    struct sched__option o = {.kind = SCHED_CHANGE_DELETE};
    o.gone = map_get(&x->cy->s->pods, pod->key);
    o.text = arena_printf(x->cy->arena, "delete pod %.*s from node %.*s", STR_ARG(pod->key),
                          STR_ARG(intern_text(x->cy->s->nodes.v[pod->node].name)));
    sched__option_make(x, &o);
}

/* ---- resources ---- */

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

/* Makes room for one request, as if pods on the node had asked for less. False: the node has never
 * enough. */
static bool make_room(struct sched__options *x, const struct sched__amount *request,
                      struct api_object *node, struct buf *text) {
    const struct sched__resource *r = &x->cy->s->nodes.resources.v[request->resource];
    struct api_node *body = api_own_body(node);
    struct api_quantity *q = find_quantity(&body->status.allocatable, intern_text(r->name));
    int64_t amount = missing(x, request);
    if (amount <= 0)
        return true;
    if (request->amount > r->alloc[x->slot] || !q)
        return false;
    q->value = sched__amount_quantity(request->resource, wrap_add_i64(r->alloc[x->slot], amount));
    buf_add(text, text->n ? STR(" and ") : STR("free "));
    sched__amount_write(text, request->resource, amount);
    buf_addf(text, " %.*s", STR_ARG(intern_text(r->name)));
    return true;
}

static void make_place(struct sched__options *x, struct api_object *node, struct buf *text) {
    const struct sched__nodes *nodes = &x->cy->s->nodes;
    struct api_node *body = api_own_body(node);
    struct api_quantity *q = find_quantity(&body->status.allocatable, STR("pods"));
    int32_t have = nodes->pods[x->slot], most = nodes->pods_most[x->slot];
    if (have < most || !q)
        return;
    q->value = quantity_of_i64(have + 1, QUANTITY_DECIMAL_SI);
    buf_addf(text, "%s room for %d more pod%s", text->n ? " and" : "make", have + 1 - most,
             have == most ? "" : "s");
}

static void suggest_free(struct sched__options *x) {
    AUTO(buf_release) struct buf text = BUF_INIT(1 << 16);
    const struct sched__pod_class *c = x->cy->cls;
    struct api_object *node = api_object_derive(x->node);
    bool enough = true;
    SCHED__OWN_LIST(node, &((struct api_node *)api_own_body(node))->status.allocatable);
    for (size_t i = 0; enough && i < c->asked.n; i++)
        enough = make_room(x, &c->asked.v[i], node, &text);
    if (enough)
        make_place(x, node, &text);
    if (!enough || !text.n || !sched__option_wanted(x)) {
        api_object_free(node);
        return;
    }
    struct sched__option o = {.kind = SCHED_CHANGE_FREE, .node = node};
    o.cost = sched__fit_shortage(x->cy, x->slot);
    o.text = arena_printf(x->cy->arena, "%.*s on node %.*s", STR_ARG(buf_view(&text)),
                          STR_ARG(node->meta->name));
    sched__option_make(x, &o);
}

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
    if (!q || less < 0 || !sched__option_wanted(x))
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
    const struct sched__pod_class *c = x->cy->cls;
    suggest_free(x);
    for (size_t i = 0; i < c->asked.n; i++)
        if (missing(x, &c->asked.v[i]) > 0) {
            suggest_request(x, &c->asked.v[i]);
            return;
        }
}

/* ---- ports and volumes ---- */

void sched__suggest_ports(struct sched__options *x) {
    sched__suggest_delete(x, sched__ports_rival(x->cy, x->slot));
}

void sched__suggest_disk(struct sched__options *x) {
    sched__suggest_delete(x, sched__disk_rival(x->cy, x->slot));
}

void sched__suggest_binding(struct sched__options *x) {
    const struct api_node_selector_requirement *r = sched__binding_requirement(x->cy, x->slot);
    if (r)
        sched__suggest_label_for(x, r);
}

void sched__suggest_zone(struct sched__options *x) {
    struct label wanted;
    if (sched__zone_wanted(x->cy, x->slot, &wanted))
        sched__suggest_label(x, wanted.key, wanted.value);
}

/* ---- spreading ---- */

/* A derived pod's own constraint. */
static struct api_topology_spread_constraint *own_constraint(struct api_object *pod, size_t place) {
    SCHED__OWN_LIST(pod, &own_spec(pod)->topology_spread_constraints);
    return &own_spec(pod)->topology_spread_constraints.v[place];
}

static void raise_skew(struct sched__options *x, const struct sched__spread_violation *v) {
    if (!sched__option_wanted(x))
        return;
    struct api_object *pod = api_object_derive(x->pod);
    own_constraint(pod, v->place)->max_skew = v->skew;
    struct sched__option o = {.kind = SCHED_CHANGE_SKEW, .cost = v->skew, .pod = pod};
    o.text = arena_printf(x->cy->arena,
                          "raise maxSkew of topologySpreadConstraints[%zu] (%.*s) from %d to %d",
                          v->place, STR_ARG(v->label), v->max_skew, v->skew);
    sched__option_make(x, &o);
}

static void loosen_spread(struct sched__options *x, const struct sched__spread_violation *v) {
    if (!sched__option_wanted(x))
        return;
    struct api_object *pod = api_object_derive(x->pod);
    own_constraint(pod, v->place)->when_unsatisfiable = STR("ScheduleAnyway");
    struct sched__option o = {.kind = SCHED_CHANGE_DROP, .pod = pod};
    o.text = arena_printf(
        x->cy->arena,
        "set whenUnsatisfiable of topologySpreadConstraints[%zu] (%.*s) to ScheduleAnyway",
        v->place, STR_ARG(v->label));
    sched__option_make(x, &o);
}

void sched__suggest_spread(struct sched__options *x) {
    struct sched__spread_violation v;
    if (!sched__spread_violated(x->cy, x->slot, &v))
        return;
    if (!v.has_label && v.least.p)
        sched__suggest_label(x, v.label, v.least);
    if (v.own && v.has_label)
        raise_skew(x, &v);
    if (v.own)
        loosen_spread(x, &v);
}

/* ---- pod affinity ---- */

/* A derived pod's own list of required terms. */
static struct api_pod_affinity_term_list *own_terms(struct api_object *pod, bool anti) {
    struct api_pod_spec *spec = own_spec(pod);
    struct api_pod_affinity_term_list *list;
    SCHED__OWN(pod, spec->affinity);
    if (anti)
        list = &SCHED__OWN(pod, spec->affinity->pod_anti_affinity)->required;
    else
        list = &SCHED__OWN(pod, spec->affinity->pod_affinity)->required;
    SCHED__OWN_LIST(pod, list);
    return list;
}

static void drop_term(struct sched__options *x, const struct sched__affinity_violation *v) {
    if (!sched__option_wanted(x))
        return;
    struct api_object *pod = api_object_derive(x->pod);
    struct api_pod_affinity_term_list *list = own_terms(pod, v->anti);
    TAKE_OUT(list, v->place);
    struct sched__option o = {.kind = SCHED_CHANGE_DROP, .pod = pod};
    o.text = arena_printf(x->cy->arena, "remove %s.required[%zu]",
                          v->anti ? "podAntiAffinity" : "podAffinity", v->place);
    sched__option_make(x, &o);
}

void sched__suggest_pod_affinity(struct sched__options *x) {
    struct sched__affinity_violation v;
    if (!sched__affinity_violated(x->cy, x->slot, &v))
        return;
    if (v.domain.p)
        sched__suggest_label(x, v.label, v.domain);
    if (v.rival)
        sched__suggest_delete(x, v.rival);
    if (v.own)
        drop_term(x, &v);
}
