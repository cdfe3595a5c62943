/*
 * What a pod asks for, or may take at most, by resource: containers that run at the same time add
 * up, init containers run one after the other beside the sidecars that were started before them,
 * and a pod that is being resized counts with the largest of what it wants, was given and has.
 *
 * Every resource is independent of the others, so there is a row for each name that the pod
 * mentions, found by binary search, and each mention costs one addition or comparison.
 *
 * Follows k8s.io/component-helpers resource, func PodRequests, func PodLimits,
 * func AggregateContainerRequests, func AggregateContainerLimits.
 * Follows k8s.io/kubernetes plugin/pkg/admission/limitranger, func podRequests, func podLimits.
 */
#include <stdlib.h>

#include "base/vec.h"
#include "registry/admission/admission_int.h"

struct amount {
    bool there;
    struct quantity q;
};

struct row {
    struct str name;
    struct amount total;    /* in the view that is being summed */
    struct amount sidecars; /* restartable init containers so far */
    struct amount init;     /* most during initialisation */
    struct amount result;
};

/* Which figures of a container count. */
enum view { SPEC, ALLOCATED, ACTUATED };

struct sums {
    struct arena *a;
    const struct api_pod *pod;
    unsigned what;
    bool is_infeasible; /* the resize cannot be done */
    VEC(struct str) names;
    struct row *rows;
    size_t n;
    const struct api_container_status **statuses; /* by name */
    size_t status_count;
};

/* ---- amounts ---- */

/* A sum that is too long to write down keeps its larger part. */
static void add(struct sums *s, struct amount *to, const struct quantity *q) {
    if (!to->there)
        *to = (struct amount){true, *q};
    else if (quantity_add(s->a, &to->q, q, &to->q, NULL) < 0 && quantity_cmp(q, &to->q) > 0)
        to->q = *q;
}

static void raise_to(struct amount *to, const struct amount *from) {
    if (from->there && (!to->there || quantity_cmp(&from->q, &to->q) > 0))
        *to = *from;
}

/* ---- rows ---- */

static int compare_row(const void *name, const void *row) {
    return str_cmp(*(const struct str *)name, ((const struct row *)row)->name);
}

static struct row *find_row(const struct sums *s, struct str name) {
    return bsearch(&name, s->rows, s->n, sizeof *s->rows, compare_row);
}

static void add_names(struct sums *s, const struct api_quantities *list) {
    for (size_t i = 0; i < list->n; i++)
        vec_push(&s->names, list->v[i].key);
}

static void add_requirement_names(struct sums *s, const struct api_resource_requirements *r) {
    if (r)
        add_names(s, s->what & REGISTRY__LIMITS ? &r->limits : &r->requests);
}

static void add_status_names(struct sums *s, const struct api_container_status_list *list) {
    for (size_t i = 0; s->what & REGISTRY__STATUS && i < list->n; i++) {
        add_names(s, &list->v[i].allocated_resources);
        add_requirement_names(s, list->v[i].resources);
    }
}

static void make_rows(struct sums *s) {
    const struct api_pod_spec *spec = &s->pod->spec;
    for (size_t i = 0; i < spec->containers.n; i++)
        add_requirement_names(s, &spec->containers.v[i].resources);
    for (size_t i = 0; i < spec->init_containers.n; i++)
        add_requirement_names(s, &spec->init_containers.v[i].resources);
    add_requirement_names(s, spec->resources);
    add_names(s, &spec->overhead);
    add_status_names(s, &s->pod->status.container_statuses);
    add_status_names(s, &s->pod->status.init_container_statuses);
    if (s->names.n)
        qsort(s->names.v, s->names.n, sizeof *s->names.v, str_cmp_qsort);
    s->rows = arena_array(s->a, struct row, s->names.n);
    for (size_t i = 0; i < s->names.n; i++)
        if (i == 0 || !str_eq(s->names.v[i], s->names.v[i - 1]))
            s->rows[s->n++] = (struct row){.name = s->names.v[i]};
    vec_release(&s->names);
}

/* ---- statuses ---- */

/* Of statuses with the same name the first in the pod counts. */
static int compare_status(const void *a, const void *b) {
    const struct api_container_status *x = *(const struct api_container_status *const *)a;
    const struct api_container_status *y = *(const struct api_container_status *const *)b;
    int c = str_cmp(x->name, y->name);
    return c ? c : (x > y) - (x < y);
}

static void sort_statuses(struct sums *s) {
    const struct api_container_status_list *lists[] = {&s->pod->status.container_statuses,
                                                       &s->pod->status.init_container_statuses};
    s->statuses = arena_array(s->a, const struct api_container_status *, lists[0]->n + lists[1]->n);
    for (size_t k = 0; s->what & REGISTRY__STATUS && k < 2; k++)
        for (size_t i = 0; i < lists[k]->n; i++)
            s->statuses[s->status_count++] = &lists[k]->v[i];
    if (s->status_count)
        qsort(s->statuses, s->status_count, sizeof(void *), compare_status);
}

static const struct api_container_status *find_status(const struct sums *s, struct str name) {
    size_t low = 0, high = s->status_count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (str_cmp(s->statuses[mid]->name, name) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    bool found = low < s->status_count && str_eq(s->statuses[low]->name, name);
    return found ? s->statuses[low] : NULL;
}

/* ---- sums ---- */

static const struct api_quantities *list_of(const struct sums *s,
                                            const struct api_resource_requirements *r) {
    static const struct api_quantities none;
    if (!r)
        return &none;
    return s->what & REGISTRY__LIMITS ? &r->limits : &r->requests;
}

/* Empty lists of a status are as good as absent: a server that stored them gives nothing back. */
static const struct api_quantities *container_list(const struct sums *s, enum view view,
                                                   const struct api_container *c) {
    static const struct api_quantities none;
    const struct api_container_status *status = view == SPEC ? NULL : find_status(s, c->name);
    bool limits = s->what & REGISTRY__LIMITS;
    if (view == ACTUATED && status && list_of(s, status->resources)->n)
        return list_of(s, status->resources);
    if (status && !limits && status->allocated_resources.n)
        return &status->allocated_resources;
    return view != SPEC && s->is_infeasible ? &none : list_of(s, &c->resources);
}

static void add_container(struct sums *s, const struct api_quantities *list) {
    for (size_t i = 0; i < list->n; i++)
        add(s, &find_row(s, list->v[i].key)->total, &list->v[i].value);
}

static void add_sidecar(struct sums *s, const struct api_quantities *list) {
    add_container(s, list);
    for (size_t i = 0; i < list->n; i++) {
        struct row *row = find_row(s, list->v[i].key);
        add(s, &row->sidecars, &list->v[i].value);
        raise_to(&row->init, &row->sidecars);
    }
}

static void add_init(struct sums *s, const struct api_quantities *list) {
    for (size_t i = 0; i < list->n; i++) {
        struct row *row = find_row(s, list->v[i].key);
        struct amount both = {true, list->v[i].value};
        if (row->sidecars.there)
            add(s, &both, &row->sidecars.q);
        raise_to(&row->init, &both);
    }
}

static void sum_view(struct sums *s, enum view view) {
    const struct api_pod_spec *spec = &s->pod->spec;
    for (size_t i = 0; i < s->n; i++)
        s->rows[i].total.there = s->rows[i].sidecars.there = s->rows[i].init.there = false;
    for (size_t i = 0; i < spec->containers.n; i++)
        add_container(s, container_list(s, view, &spec->containers.v[i]));
    for (size_t i = 0; i < spec->init_containers.n; i++) {
        const struct api_container *c = &spec->init_containers.v[i];
        if (str_is(c->restart_policy, "Always"))
            add_sidecar(s, container_list(s, view, c));
        else
            add_init(s, container_list(s, view, c));
    }
    for (size_t i = 0; i < s->n; i++) {
        raise_to(&s->rows[i].total, &s->rows[i].init);
        raise_to(&s->rows[i].result, &s->rows[i].total);
    }
}

static bool is_of_pods(const struct sums *s, struct str name) {
    return str_is(name, "cpu") || str_is(name, "memory") ||
           (s->what & REGISTRY__HUGE_PAGES && str_starts(name, STR("hugepages-")));
}

/* What the pod says as a whole replaces what its containers say. */
static void replace_by_pod_level(struct sums *s) {
    const struct api_quantities *list = list_of(s, s->pod->spec.resources);
    for (size_t i = 0; i < list->n; i++)
        if (is_of_pods(s, list->v[i].key))
            find_row(s, list->v[i].key)->result = (struct amount){true, list->v[i].value};
}

/* Limits grow by what the runtime takes for itself, but where there is none there stays none. */
static void add_overhead(struct sums *s) {
    const struct api_quantities *list = &s->pod->spec.overhead;
    for (size_t i = 0; i < list->n; i++) {
        struct amount *to = &find_row(s, list->v[i].key)->result;
        bool limited = to->there && quantity_sign(&to->q);
        if (limited || !(s->what & REGISTRY__LIMITS))
            add(s, to, &list->v[i].value);
    }
}

static bool is_resize_infeasible(const struct api_pod *pod) {
    const struct api_pod_condition_list *list = &pod->status.conditions;
    for (size_t i = 0; i < list->n; i++)
        if (str_is(list->v[i].type, "PodResizePending"))
            return str_is(list->v[i].reason, "Infeasible");
    return false;
}

static void sum_views(struct sums *s) {
    s->is_infeasible = s->what & REGISTRY__STATUS && is_resize_infeasible(s->pod);
    if (!s->is_infeasible)
        sum_view(s, SPEC);
    if (s->what & REGISTRY__STATUS)
        sum_view(s, ACTUATED);
    if (s->what & REGISTRY__STATUS && !(s->what & REGISTRY__LIMITS))
        sum_view(s, ALLOCATED);
}

struct api_quantities registry__pod_resources(struct arena *a, const struct api_pod *pod,
                                              unsigned what) {
    struct sums s = {.a = a, .pod = pod, .what = what};
    make_rows(&s);
    sort_statuses(&s);
    sum_views(&s);
    if (what & REGISTRY__POD_LEVEL)
        replace_by_pod_level(&s);
    if (what & REGISTRY__OVERHEAD)
        add_overhead(&s);
    struct api_quantities out = {arena_array(a, struct api_quantity, s.n), 0};
    for (size_t i = 0; i < s.n; i++)
        if (s.rows[i].result.there)
            out.v[out.n++] = (struct api_quantity){s.rows[i].name, s.rows[i].result.q};
    return out;
}
