/*
 * LimitRanger: what containers ask for that say nothing, and the least and most that containers,
 * pods and claims may ask for.
 *
 * Follows k8s.io/kubernetes plugin/pkg/admission/limitranger, func (*LimitRanger) runLimitFunc,
 * func mergeContainerResources, func PodValidateLimitFunc,
 * func PersistentVolumeClaimValidateLimitFunc, func minConstraint, func maxConstraint,
 * func maxRequestConstraint, func limitRequestRatioConstraint.
 */
#include "base/limits.h"
#include "base/map.h"
#include "registry/admission/admission_int.h"

/* A way over the LimitRanges of a namespace. */
struct walk {
    struct registry__admission *m;
    bool (*fn)(struct walk *w, const struct api_limit_range *range);
    size_t work;     /* amounts that were set, or compared */
    struct buf told; /* of defaults */
    bool has_sums;
    struct api_quantities requests, limits; /* of the whole pod, when they were asked for */
    bool is_good;
};

/* ---- defaults ---- */

/* What a list became that got defaults. Most containers have the same one, none, or that which they
 * were given before; they get the same one then, which nobody writes to. */
struct filled {
    struct api_quantities defaults; /* of a container that says nothing */
    bool is_known;
    struct api_quantities before, after;
    struct buf names; /* of what was missing */
};

/* The pod that gets defaults, and what is told of it in an annotation. */
struct defaulting {
    struct api_object *pod;
    struct filled requests, limits;
    size_t *work; /* amounts that were looked at or set */
    struct buf told;
};

/* The later of two lists wins. Both are in the order of their names. */
static void overlay(struct arena *a, struct api_quantities *to, const struct api_quantities *more) {
    struct api_quantities out = {arena_array(a, struct api_quantity, to->n + more->n), 0};
    size_t i = 0, k = 0;
    while (i < to->n || k < more->n) {
        int c = i == to->n ? 1 : k == more->n ? -1 : str_cmp(to->v[i].key, more->v[k].key);
        out.v[out.n++] = c < 0 ? to->v[i] : more->v[k];
        i += c <= 0;
        k += c >= 0;
    }
    *to = out;
}

/* Adds what is missing to a list, in the arena of the pod, and notes its names. */
static void fill(struct defaulting *d, struct filled *f, const struct api_quantities *to) {
    struct arena *a = &d->pod->arena;
    const struct api_quantities *defaults = &f->defaults;
    struct api_quantities missing = {arena_array(a, struct api_quantity, defaults->n), 0};
    size_t at = 0;
    *d->work += defaults->n + to->n;
    f->is_known = true;
    f->before = f->after = *to;
    buf_clear(&f->names);
    for (size_t i = 0; i < defaults->n; i++) {
        struct str key = defaults->v[i].key;
        while (at < to->n && str_cmp(to->v[at].key, key) < 0)
            at++;
        if (at < to->n && str_eq(to->v[at].key, key))
            continue;
        missing.v[missing.n++] =
            (struct api_quantity){arena_str(a, key), quantity_copy(a, &defaults->v[i].value)};
        buf_add(&f->names, f->names.n ? STR(", ") : STR(""));
        buf_add(&f->names, key);
    }
    if (missing.n)
        overlay(a, &f->after, &missing);
}

static bool is_same_list(const struct api_quantities *x, const struct api_quantities *y) {
    return x->n == y->n && (!x->n || x->v == y->v);
}

static void fill_list(struct defaulting *d, struct filled *f, struct api_quantities *to) {
    if (*d->work > LIMIT_RANGE_AMOUNTS)
        return;
    if (!f->is_known || !is_same_list(to, &f->before))
        fill(d, f, to);
    *d->work += f->after.n - to->n;
    *to = f->after;
}

static void tell(struct defaulting *d, struct str names, const char *what, struct str container) {
    if (!names.n)
        return;
    buf_add(&d->told, d->told.n ? STR("; ") : STR("LimitRanger plugin set: "));
    buf_add(&d->told, names);
    buf_addf(&d->told, " %s ", what);
    buf_add(&d->told, container);
}

static void fill_containers(struct defaulting *d, struct api_container_list *list, bool init) {
    *d->work += list->n;
    for (size_t i = 0; i < list->n && *d->work <= LIMIT_RANGE_AMOUNTS; i++) {
        struct api_container *c = &list->v[i];
        fill_list(d, &d->limits, &c->resources.limits);
        fill_list(d, &d->requests, &c->resources.requests);
        tell(d, buf_view(&d->requests.names),
             init ? "request for init container" : "request for container", c->name);
        tell(d, buf_view(&d->limits.names),
             init ? "limit for init container" : "limit for container", c->name);
    }
}

/* Each LimitRange tells of its own defaults, and the last that has any is remembered. */
static bool default_pod(struct walk *w, const struct api_limit_range *range) {
    struct registry__admission *m = w->m;
    struct api_pod *pod = api_own_body(m->o);
    struct defaulting d = {
        .pod = m->o,
        .work = &w->work,
        .requests.names = BUF_INIT(LIMIT_RANGE_TOLD_BYTES),
        .limits.names = BUF_INIT(LIMIT_RANGE_TOLD_BYTES),
        .told = BUF_INIT(LIMIT_RANGE_TOLD_BYTES),
    };
    for (size_t i = 0; i < range->spec.limits.n; i++) {
        const struct api_limit_range_item *item = &range->spec.limits.v[i];
        if (!str_is(item->type, "Container"))
            continue;
        overlay(m->a, &d.requests.defaults, &item->default_request);
        overlay(m->a, &d.limits.defaults, &item->default_);
    }
    fill_containers(&d, &pod->spec.containers, false);
    fill_containers(&d, &pod->spec.init_containers, true);
    if (d.told.n) {
        buf_release(&w->told);
        w->told = d.told;
    }
    buf_release(&d.requests.names);
    buf_release(&d.limits.names);
    if (w->work > LIMIT_RANGE_AMOUNTS)
        return registry__forbid(m, "LimitRanges set more than %d amounts", LIMIT_RANGE_AMOUNTS);
    return true;
}

/* ---- limits ---- */

/* What is judged: the amounts of a container, a pod or a claim. */
struct subject {
    struct str type; /* of the limit: Container, … */
    const struct api_quantities *requests, *limits;
};

/* All that is wrong, as one error of Go's: none of it twice. */
struct faults {
    struct arena *a;
    struct map known;
    struct buf text; /* all of it, with commas */
    struct walk *walk;
};

/* The same quantities, as numbers that can be compared. */
struct values {
    int64_t request, limit, enforced;
};

#define MAX_MILLI (INT64_MAX / 1000)

static const struct quantity *find(const struct api_quantities *list, struct str name) {
    size_t low = 0, high = list->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int c = str_cmp(list->v[mid].key, name);
        if (!c)
            return &list->v[mid].value;
        if (c < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

static struct values values_of(const struct quantity *request, const struct quantity *limit,
                               const struct quantity *enforced) {
    static const struct quantity zero;
    request = request ? request : &zero;
    limit = limit ? limit : &zero;
    struct values v = {quantity_value(request), quantity_value(limit), quantity_value(enforced)};
    if (v.request <= MAX_MILLI && v.limit <= MAX_MILLI && v.enforced <= MAX_MILLI)
        v = (struct values){quantity_milli_value(request), quantity_milli_value(limit),
                            quantity_milli_value(enforced)};
    return v;
}

static struct str text_of(struct arena *a, const struct quantity *q) {
    AUTO(buf_release) struct buf b = BUF_INIT(SIZE_MAX);
    quantity_write(&b, q);
    return arena_str(a, buf_view(&b));
}

static void add_text(struct faults *f, struct str text) {
    if (f->text.full || map_get_const(&f->known, text))
        return;
    map_put_const(&f->known, text, f);
    buf_add(&f->text, f->text.n ? STR(", ") : STR(""));
    buf_add(&f->text, text);
}

/* <what> <name> usage per <type> is <enforced><rest> */
static void add_fault(struct faults *f, const struct subject *s, const char *what,
                      const struct api_quantity *enforced, struct str rest) {
    add_text(f, arena_printf(f->a, "%s %.*s usage per %.*s is %.*s%.*s", what,
                             STR_ARG(enforced->key), STR_ARG(s->type),
                             STR_ARG(text_of(f->a, &enforced->value)), STR_ARG(rest)));
}

static struct str but(struct faults *f, const char *which, const struct quantity *q) {
    return arena_printf(f->a, ", but %s is %.*s", which, STR_ARG(text_of(f->a, q)));
}

static void check_min(struct faults *f, const struct subject *s, const struct api_quantity *e) {
    const struct quantity *request = find(s->requests, e->key), *limit = find(s->limits, e->key);
    struct values v = values_of(request, limit, &e->value);
    if (!request)
        add_fault(f, s, "minimum", e, STR(".  No request is specified"));
    else if (v.request < v.enforced)
        add_fault(f, s, "minimum", e, but(f, "request", request));
    else if (limit && v.limit < v.enforced)
        add_fault(f, s, "minimum", e, but(f, "limit", limit));
}

static void check_max(struct faults *f, const struct subject *s, const struct api_quantity *e) {
    const struct quantity *request = find(s->requests, e->key), *limit = find(s->limits, e->key);
    struct values v = values_of(request, limit, &e->value);
    if (!limit)
        add_fault(f, s, "maximum", e, STR(".  No limit is specified"));
    else if (v.limit > v.enforced)
        add_fault(f, s, "maximum", e, but(f, "limit", limit));
    else if (request && v.request > v.enforced)
        add_fault(f, s, "maximum", e, but(f, "request", request));
}

static void check_max_request(struct faults *f, const struct subject *s,
                              const struct api_quantity *e) {
    const struct quantity *request = find(s->requests, e->key);
    struct values v = values_of(request, NULL, &e->value);
    if (!request)
        add_fault(f, s, "maximum", e, STR(".  No request is specified"));
    else if (v.request > v.enforced)
        add_fault(f, s, "maximum", e, but(f, "request", request));
}

static void add_ratio_fault(struct faults *f, const struct subject *s, const struct api_quantity *e,
                            struct str rest) {
    add_text(f, arena_printf(f->a, "%.*s max limit to request ratio per %.*s is %.*s, but %.*s",
                             STR_ARG(e->key), STR_ARG(s->type), STR_ARG(text_of(f->a, &e->value)),
                             STR_ARG(rest)));
}

static void check_ratio(struct faults *f, const struct subject *s, const struct api_quantity *e) {
    enum { MILLI = 1000 };
    const struct quantity *request = find(s->requests, e->key), *limit = find(s->limits, e->key);
    struct values v = values_of(request, limit, &e->value);
    if (!request || !v.request) {
        add_ratio_fault(f, s, e, STR("no request is specified or request is 0"));
        return;
    }
    if (!limit || !v.limit) {
        add_ratio_fault(f, s, e, STR("no limit is specified or limit is 0"));
        return;
    }
    double ratio = (double)v.limit / (double)v.request, shown = ratio;
    double most = (double)quantity_value(&e->value);
    if (quantity_value(&e->value) <= MAX_MILLI) {
        ratio *= MILLI;
        most = (double)quantity_milli_value(&e->value);
    }
    if (ratio > most)
        add_ratio_fault(f, s, e, arena_printf(f->a, "provided ratio is %f", shown));
}

static void check_subject(struct faults *f, const struct subject *s,
                          const struct api_limit_range_item *item) {
    f->walk->work += item->min.n + item->max.n + item->max_limit_request_ratio.n;
    if (f->walk->work > LIMIT_RANGE_AMOUNTS)
        return;
    for (size_t i = 0; i < item->min.n; i++)
        check_min(f, s, &item->min.v[i]);
    for (size_t i = 0; i < item->max.n; i++)
        check_max(f, s, &item->max.v[i]);
    for (size_t i = 0; i < item->max_limit_request_ratio.n; i++)
        check_ratio(f, s, &item->max_limit_request_ratio.v[i]);
}

static void check_containers(struct faults *f, const struct api_container_list *list,
                             const struct api_limit_range_item *item) {
    const struct api_resource_requirements *last = NULL;
    f->walk->work += list->n;
    for (size_t i = 0; i < list->n && f->walk->work <= LIMIT_RANGE_AMOUNTS; i++) {
        const struct api_resource_requirements *r = &list->v[i].resources;
        if (last && is_same_list(&last->requests, &r->requests) &&
            is_same_list(&last->limits, &r->limits))
            continue; /* nothing else is wrong with it */
        last = r;
        check_subject(f, &(struct subject){item->type, &r->requests, &r->limits}, item);
    }
}

static void check_pod(const struct registry__admission *m, struct faults *f,
                      const struct api_limit_range_item *item) {
    const struct api_pod *pod = m->o->body;
    bool whole = feature_enabled(m->registry->gates, FEATURE_PodLevelResources);
    unsigned what = whole ? REGISTRY__POD_LEVEL : 0;
    if (str_is(item->type, "Container")) {
        check_containers(f, &pod->spec.containers, item);
        check_containers(f, &pod->spec.init_containers, item);
    } else if (str_is(item->type, "Pod")) {
        struct walk *w = f->walk;
        if (!w->has_sums) {
            w->requests = registry__pod_resources(m->a, pod, what);
            w->limits = registry__pod_resources(m->a, pod, what | REGISTRY__LIMITS);
            w->has_sums = true;
        }
        check_subject(f, &(struct subject){item->type, &w->requests, &w->limits}, item);
    }
}

static void check_claim(const struct registry__admission *m, struct faults *f,
                        const struct api_limit_range_item *item) {
    static const struct api_quantities none;
    const struct api_persistent_volume_claim *claim = m->o->body;
    struct subject s = {item->type, &claim->spec.resources.requests, &none};
    if (!str_is(item->type, "PersistentVolumeClaim"))
        return;
    for (size_t i = 0; i < item->min.n; i++)
        check_min(f, &s, &item->min.v[i]);
    for (size_t i = 0; i < item->max.n; i++)
        check_max_request(f, &s, &item->max.v[i]);
}

/* One error stands as it is, several between brackets.
 *
 * Follows k8s.io/apimachinery pkg/util/errors, func (aggregate) Error. */
static bool judge(struct walk *w, const struct api_limit_range *range) {
    struct registry__admission *m = w->m;
    struct faults f = {.a = m->a,
                       .known = MAP_INIT(map_random_seed()),
                       .text = BUF_INIT(LIMIT_RANGE_FAULT_BYTES),
                       .walk = w};
    bool good = true;
    for (size_t i = 0; i < range->spec.limits.n; i++) {
        if (api_object_is(m->o, API_T_pod))
            check_pod(m, &f, &range->spec.limits.v[i]);
        else
            check_claim(m, &f, &range->spec.limits.v[i]);
    }
    if (w->work > LIMIT_RANGE_AMOUNTS)
        good = registry__forbid(m, "LimitRanges limit more than %d amounts", LIMIT_RANGE_AMOUNTS);
    else if (f.known.live)
        good =
            registry__forbid(m, f.known.live == 1 ? "%.*s" : "[%.*s]", STR_ARG(buf_view(&f.text)));
    map_release(&f.known);
    buf_release(&f.text);
    return good;
}

/* ---- the ranges of a namespace ---- */

static bool visit(void *ctx, const struct api_object *o) {
    struct walk *w = ctx;
    w->is_good = w->fn(w, o->body);
    return w->is_good;
}

/* Of a pod's updates only a resize can change what is limited; and what is being deleted may be
 * whatever it is. */
static bool is_limited(const struct registry__admission *m) {
    bool is_pod = api_object_is(m->o, API_T_pod), is_update = m->operation == REGISTRY_UPDATE;
    if (!is_pod && !api_object_is(m->o, API_T_persistent_volume_claim))
        return false;
    if (m->old && m->old->meta->deletion_timestamp.set)
        return false;
    return is_pod ? is_update != registry__is_whole(m) : registry__is_whole(m);
}

static void each_range(struct walk *w) {
    w->is_good = true;
    if (is_limited(w->m))
        registry_view_each(w->m->registry->view, registry__kind("v1", "LimitRange"),
                           registry__namespace_of(w->m), visit, w);
}

static bool mutate(struct registry__admission *m) {
    struct walk w = {.m = m, .fn = default_pod, .told = BUF_INIT(LIMIT_RANGE_TOLD_BYTES)};
    if (!api_object_is(m->o, API_T_pod))
        return true;
    each_range(&w);
    if (w.told.n)
        labels_put(&m->o->arena, &api_own_meta(m->o)->annotations,
                   (struct label){STR("kubernetes.io/limit-ranger"),
                                  arena_str(&m->o->arena, buf_view(&w.told))});
    buf_release(&w.told);
    return w.is_good;
}

static bool validate(struct registry__admission *m) {
    struct walk w = {.m = m, .fn = judge};
    each_range(&w);
    return w.is_good;
}

const struct registry__admission_plugin registry__limit_ranger = {
    .name = "LimitRanger",
    .mutate = {[REGISTRY_CREATE] = mutate, [REGISTRY_UPDATE] = mutate},
    .validate = {[REGISTRY_CREATE] = validate, [REGISTRY_UPDATE] = validate},
    .type = API_TYPES,
    .subresources = "resize"};
