/*
 * A pod's requests. Containers that run at the same time add up, init containers run one after the
 * other beside the sidecars that were started before them, and a pod that is being resized counts
 * with the largest of what it wants, was given and has.
 *
 * Every resource is independent of the others, so there is a row for each name the pod mentions,
 * found by binary search, and each mention of a name costs one addition or comparison. Two rows
 * more count cpu and memory as scoring wants them, with a default for containers without.
 *
 * Follows k8s.io/component-helpers resource, func PodRequests, func AggregateContainerRequests.
 */
#include "sched/requests.h"

#include <stdlib.h>

#include "api/names.h"
#include "api/types.h"
#include "feature/feature.h"

enum { DEFAULT_MILLI_CPU = 100, DEFAULT_MEMORY = 200 << 20 };

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
enum view { SPEC, ALLOCATED, ACTUATED, VIEW_COUNT };

/* The two rows in front. */
enum { FILLED_CPU, FILLED_MEMORY, NAMED };

struct status_ref {
    struct str name;
    size_t order;
    const struct api_container_status *status;
};

struct sums {
    struct arena *arena;
    const struct api_pod *pod;
    bool use_status, pod_level, pod_level_status, claims; /* what the gates allow */
    bool infeasible;                                      /* the resize cannot be done */
    struct row *rows;
    size_t n;
    struct status_ref *statuses; /* by name */
    size_t status_count;
};

/* ---- names ---- */

static bool is_prefixed_native(struct str name) {
    return str_find(name, STR("kubernetes.io/")) != STR_NONE;
}

bool sched_resource_is_extended(struct str name) {
    static const char quota[] = "requests.";
    char text[512];
    enum { QUOTA = sizeof quota - 1 };
    if (str_find_char(name, '/') == STR_NONE || is_prefixed_native(name) ||
        str_starts(name, STR("requests.")) || name.n > sizeof text - QUOTA)
        return false;
    for (size_t i = 0; i < QUOTA + name.n; i++)
        text[i] = i < QUOTA ? quota[i] : name.p[i - QUOTA];
    return names_check_label_key((struct str){text, QUOTA + name.n}).n == 0;
}

bool sched_resource_is_scalar(struct str name) {
    return str_starts(name, STR("hugepages-")) || is_prefixed_native(name) ||
           str_starts(name, STR("attachable-volumes-")) || sched_resource_is_extended(name);
}

static bool is_pod_level(struct str name) {
    return str_is(name, "cpu") || str_is(name, "memory") || str_starts(name, STR("hugepages-"));
}

/* ---- amounts ---- */

/* A sum that is too long to write down keeps its larger part. */
static void add(struct sums *s, struct amount *to, const struct quantity *q) {
    if (!to->there)
        *to = (struct amount){true, *q};
    else if (quantity_add(s->arena, &to->q, q, &to->q, NULL) < 0 && quantity_cmp(q, &to->q) > 0)
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
    return bsearch(&name, s->rows + NAMED, s->n - NAMED, sizeof *s->rows, compare_row);
}

static const struct quantity *find_quantity(const struct api_quantities *list, const char *name) {
    for (size_t i = 0; i < list->n; i++)
        if (str_is(list->v[i].key, name))
            return &list->v[i].value;
    return NULL;
}

/* The two rows in front take the amount of the row whose resource they count. */
typedef void row_fn(struct sums *s, struct row *row, const struct quantity *q);

static void each_row(struct sums *s, row_fn *fn, struct str name, const struct quantity *q) {
    fn(s, find_row(s, name), q);
    if (str_is(name, "cpu"))
        fn(s, &s->rows[FILLED_CPU], q);
    else if (str_is(name, "memory"))
        fn(s, &s->rows[FILLED_MEMORY], q);
}

static void each_quantity(struct sums *s, row_fn *fn, const struct api_quantities *list) {
    for (size_t i = 0; i < list->n; i++)
        each_row(s, fn, list->v[i].key, &list->v[i].value);
}

/* The same for a container's requests, which leave a gap that is filled. */
static void each_request(struct sums *s, row_fn *fn, const struct api_quantities *list) {
    each_quantity(s, fn, list);
    struct quantity cpu = quantity_of_milli(DEFAULT_MILLI_CPU, QUANTITY_DECIMAL_SI);
    struct quantity memory = quantity_of_i64(DEFAULT_MEMORY, QUANTITY_DECIMAL_SI);
    if (!find_quantity(list, "cpu"))
        fn(s, &s->rows[FILLED_CPU], &cpu);
    if (!find_quantity(list, "memory"))
        fn(s, &s->rows[FILLED_MEMORY], &memory);
}

static void add_total(struct sums *s, struct row *row, const struct quantity *q) {
    add(s, &row->total, q);
}

static void raise_total(struct sums *s, struct row *row, const struct quantity *q) {
    (void)s;
    raise_to(&row->total, &(struct amount){true, *q});
}

/* A sidecar runs from now on: with all that comes, and with the containers. */
static void add_sidecar(struct sums *s, struct row *row, const struct quantity *q) {
    add(s, &row->total, q);
    add(s, &row->sidecars, q);
    raise_to(&row->init, &row->sidecars);
}

/* An init container runs beside the sidecars before it, and is gone then. */
static void add_init(struct sums *s, struct row *row, const struct quantity *q) {
    struct amount use = row->sidecars;
    add(s, &use, q);
    raise_to(&row->init, &use);
}

static void add_result(struct sums *s, struct row *row, const struct quantity *q) {
    add(s, &row->result, q);
}

static void clear_result(struct sums *s, struct row *row, const struct quantity *q) {
    (void)s;
    (void)q;
    if (is_pod_level(row->name))
        row->result.there = false;
}

static void raise_result(struct sums *s, struct row *row, const struct quantity *q) {
    (void)s;
    if (is_pod_level(row->name))
        raise_to(&row->result, &(struct amount){true, *q});
}

/* ---- which names and statuses there are ---- */

struct names {
    struct str *v;
    size_t n, cap;
};

static void note(struct sums *s, struct names *names, struct str name) {
    if (names->n == names->cap) {
        struct str *old = names->v;
        names->cap = names->cap ? 2 * names->cap : 16;
        names->v = arena_array(s->arena, struct str, names->cap);
        for (size_t i = 0; i < names->n; i++)
            names->v[i] = old[i];
    }
    names->v[names->n++] = name;
}

static void note_all(struct sums *s, struct names *names, const struct api_quantities *list) {
    for (size_t i = 0; i < list->n; i++)
        note(s, names, list->v[i].key);
}

static void note_requirements(struct sums *s, struct names *names,
                              const struct api_resource_requirements *r) {
    if (r)
        note_all(s, names, &r->requests);
}

static void note_containers(struct sums *s, struct names *names,
                            const struct api_container_list *list) {
    for (size_t i = 0; i < list->n; i++)
        note_all(s, names, &list->v[i].resources.requests);
}

static void note_statuses(struct sums *s, struct names *names) {
    for (size_t i = 0; i < s->status_count; i++) {
        note_all(s, names, &s->statuses[i].status->allocated_resources);
        note_requirements(s, names, s->statuses[i].status->resources);
    }
    note_all(s, names, &s->pod->status.allocated_resources);
    note_requirements(s, names, s->pod->status.resources);
}

static void note_claims(struct sums *s, struct names *names) {
    const struct api_node_allocatable_resource_claim_status_list *list =
        &s->pod->status.node_allocatable_resource_claim_statuses;
    for (size_t i = 0; i < list->n; i++) {
        for (size_t k = 0; k < list->v[i].mapping.n; k++)
            note(s, names, list->v[i].mapping.v[k].name);
        for (size_t k = 0; k < list->v[i].overhead.n; k++)
            note(s, names, list->v[i].overhead.v[k].name);
    }
}

static void make_rows(struct sums *s) {
    struct names names = {0};
    note_containers(s, &names, &s->pod->spec.containers);
    note_containers(s, &names, &s->pod->spec.init_containers);
    note_requirements(s, &names, s->pod->spec.resources);
    note_all(s, &names, &s->pod->spec.overhead);
    if (s->use_status)
        note_statuses(s, &names);
    if (s->claims)
        note_claims(s, &names);
    if (names.n > 1)
        qsort(names.v, names.n, sizeof *names.v, str_cmp_qsort);
    s->rows = arena_array(s->arena, struct row, NAMED + names.n);
    s->rows[FILLED_CPU].name = STR("cpu");
    s->rows[FILLED_MEMORY].name = STR("memory");
    s->n = NAMED;
    for (size_t i = 0; i < names.n; i++)
        if (i == 0 || !str_eq(names.v[i], names.v[i - 1]))
            s->rows[s->n++].name = names.v[i];
}

static int compare_status(const void *a, const void *b) {
    const struct status_ref *x = a, *y = b;
    int c = str_cmp(x->name, y->name);
    return c ? c : (x->order > y->order) - (x->order < y->order);
}

static void add_statuses(struct sums *s, const struct api_container_status_list *list) {
    for (size_t i = 0; i < list->n; i++, s->status_count++)
        s->statuses[s->status_count] =
            (struct status_ref){list->v[i].name, s->status_count, &list->v[i]};
}

/* Of statuses with the same name the first counts, and those of containers come first. */
static void sort_statuses(struct sums *s) {
    const struct api_pod_status *status = &s->pod->status;
    size_t most = status->container_statuses.n + status->init_container_statuses.n;
    if (!s->use_status || most == 0)
        return;
    s->statuses = arena_array(s->arena, struct status_ref, most);
    add_statuses(s, &status->container_statuses);
    add_statuses(s, &status->init_container_statuses);
    qsort(s->statuses, s->status_count, sizeof *s->statuses, compare_status);
}

static const struct api_container_status *find_status(const struct sums *s, struct str name) {
    size_t low = 0, high = s->status_count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (str_cmp(s->statuses[mid].name, name) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    bool found = low < s->status_count && str_eq(s->statuses[low].name, name);
    return found ? s->statuses[low].status : NULL;
}

/* ---- sums ---- */

/* Empty lists of a status are as good as absent: a server that stored them gives nothing back. */
static const struct api_quantities *container_requests(const struct sums *s, enum view view,
                                                       const struct api_container *c) {
    static const struct api_quantities none = {0};
    const struct api_container_status *status = view == SPEC ? NULL : find_status(s, c->name);
    if (view == ACTUATED && status && status->resources && status->resources->requests.n)
        return &status->resources->requests;
    if (status && status->allocated_resources.n)
        return &status->allocated_resources;
    return view != SPEC && s->infeasible ? &none : &c->resources.requests;
}

static void add_claims(struct sums *s) {
    const struct api_node_allocatable_resource_claim_status_list *list =
        &s->pod->status.node_allocatable_resource_claim_statuses;
    for (size_t i = 0; s->claims && i < list->n; i++) {
        for (size_t k = 0; k < list->v[i].mapping.n; k++)
            if (list->v[i].mapping.v[k].quantity)
                each_row(s, add_total, list->v[i].mapping.v[k].name,
                         list->v[i].mapping.v[k].quantity);
        for (size_t k = 0; k < list->v[i].overhead.n; k++) {
            const struct api_node_allocatable_overhead_resources *o = &list->v[i].overhead.v[k];
            if (o->per_pod)
                each_row(s, add_total, o->name, o->per_pod);
            for (size_t c = 0; o->per_container && c < list->v[i].containers.n; c++)
                each_row(s, add_total, o->name, o->per_container);
        }
    }
}

static void sum_containers(struct sums *s, enum view view) {
    const struct api_pod_spec *spec = &s->pod->spec;
    for (size_t i = 0; i < spec->containers.n; i++)
        each_request(s, add_total, container_requests(s, view, &spec->containers.v[i]));
    for (size_t i = 0; i < spec->init_containers.n; i++) {
        const struct api_container *c = &spec->init_containers.v[i];
        row_fn *fn = str_is(c->restart_policy, "Always") ? add_sidecar : add_init;
        each_request(s, fn, container_requests(s, view, c));
    }
    for (size_t i = 0; i < s->n; i++)
        raise_to(&s->rows[i].total, &s->rows[i].init);
    if (view != ACTUATED)
        add_claims(s);
}

/* Does the pod's status have the figures of all containers together? */
static bool has_pod_status(const struct sums *s) {
    const struct api_pod_status *status = &s->pod->status;
    return s->pod_level_status && status->allocated_resources.n && status->resources &&
           status->resources->requests.n;
}

static void sum_view(struct sums *s, enum view view) {
    for (size_t i = 0; i < s->n; i++)
        s->rows[i].total.there = s->rows[i].sidecars.there = s->rows[i].init.there = false;
    if (view == SPEC || !has_pod_status(s))
        sum_containers(s, view);
    else if (view == ALLOCATED)
        each_quantity(s, raise_total, &s->pod->status.allocated_resources);
    else
        each_quantity(s, raise_total, &s->pod->status.resources->requests);
    for (size_t i = 0; i < s->n; i++)
        raise_to(&s->rows[i].result, &s->rows[i].total);
}

static void sum_views(struct sums *s) {
    if (!s->infeasible)
        sum_view(s, SPEC);
    for (enum view view = ALLOCATED; s->use_status && view < VIEW_COUNT; view++)
        sum_view(s, view);
}

static bool has_pod_level_requests(const struct sums *s) {
    const struct api_resource_requirements *r = s->pod->spec.resources;
    for (size_t i = 0; s->pod_level && r && i < r->requests.n; i++)
        if (is_pod_level(r->requests.v[i].key))
            return true;
    return false;
}

/* What the pod asks for as a whole replaces what its containers ask for. */
static void replace_by_pod_level(struct sums *s) {
    const struct api_quantities *spec = &s->pod->spec.resources->requests;
    const struct api_pod_status *status = &s->pod->status;
    bool resized = s->pod_level_status && status->resources;
    const struct api_quantities *lists[] = {
        resized && s->infeasible ? NULL : spec,
        resized ? &status->resources->requests : NULL,
        resized ? &status->allocated_resources : NULL,
    };
    enum { LISTS = sizeof lists / sizeof *lists };
    for (size_t i = 0; i < LISTS; i++)
        if (lists[i])
            each_quantity(s, clear_result, lists[i]);
    for (size_t i = 0; i < LISTS; i++)
        if (lists[i])
            each_quantity(s, raise_result, lists[i]);
}

static bool is_resize_infeasible(const struct api_pod *pod) {
    const struct api_pod_condition_list *list = &pod->status.conditions;
    for (size_t i = 0; i < list->n; i++)
        if (str_is(list->v[i].type, "PodResizePending"))
            return str_is(list->v[i].reason, "Infeasible");
    return false;
}

/* ---- results ---- */

static int64_t amount_of(const struct row *row) {
    if (!row->result.there)
        return 0;
    if (str_is(row->name, "cpu"))
        return quantity_milli_value(&row->result.q);
    bool counts = str_is(row->name, "memory") || str_is(row->name, "ephemeral-storage") ||
                  sched_resource_is_scalar(row->name);
    return counts ? quantity_value(&row->result.q) : 0;
}

/* A container without is filled up unless the pod as a whole has an amount. */
static int64_t nonzero(const struct sums *s, struct row *filled, bool pod_level) {
    const struct row *row = find_row(s, filled->name);
    return amount_of(pod_level && row && row->result.there ? row : filled);
}

static void list_requests(struct sums *s, struct sched_requests *out) {
    out->v = arena_array(s->arena, struct sched_request, s->n - NAMED);
    for (size_t i = NAMED; i < s->n; i++) {
        int64_t amount = amount_of(&s->rows[i]);
        if (amount != 0)
            out->v[out->n++] = (struct sched_request){s->rows[i].name, amount};
    }
}

static void sum_up(struct sums *s) {
    sort_statuses(s);
    make_rows(s);
    sum_views(s);
    if (has_pod_level_requests(s))
        replace_by_pod_level(s);
    each_quantity(s, add_result, &s->pod->spec.overhead);
}

bool sched_requests_have_status(const struct api_pod *pod) {
    const struct api_pod_status *status = &pod->status;
    return status->container_statuses.n || status->init_container_statuses.n || status->resources ||
           status->allocated_resources.n || status->node_allocatable_resource_claim_statuses.n ||
           is_resize_infeasible(pod);
}

/* Is there anything but requests of containers? */
static bool is_plain(const struct api_pod *pod) {
    return !pod->spec.resources && !sched_requests_have_status(pod);
}

/* Upstream's NodeResourcesFit is never told of the gates when it scores. */
static void score(const struct sums *all, struct sched_requests *out) {
    struct sums containers = {.arena = all->arena, .pod = all->pod};
    if (!is_plain(all->pod)) {
        sum_up(&containers);
        all = &containers;
    }
    out->scored_cpu = amount_of(&all->rows[FILLED_CPU]);
    out->scored_memory = amount_of(&all->rows[FILLED_MEMORY]);
}

void sched_requests_get(struct arena *a, const struct api_pod *pod, const struct feature_set *gates,
                        unsigned use, struct sched_requests *out) {
    struct sums s = {.arena = a, .pod = pod};
    s.use_status =
        use & SCHED_REQUESTS_RESIZE && feature_enabled(gates, FEATURE_InPlacePodVerticalScaling);
    s.pod_level = feature_enabled(gates, FEATURE_PodLevelResources);
    s.pod_level_status =
        s.use_status && feature_enabled(gates, FEATURE_InPlacePodLevelResourcesVerticalScaling);
    s.claims =
        use & SCHED_REQUESTS_CLAIMS && feature_enabled(gates, FEATURE_DRANodeAllocatableResources);
    s.infeasible = s.use_status && is_resize_infeasible(pod);
    sum_up(&s);

    *out = (struct sched_requests){0};
    list_requests(&s, out);
    score(&s, out);
    bool pod_level = has_pod_level_requests(&s);
    out->nonzero_cpu = nonzero(&s, &s.rows[FILLED_CPU], pod_level);
    out->nonzero_memory = nonzero(&s, &s.rows[FILLED_MEMORY], pod_level);
}
