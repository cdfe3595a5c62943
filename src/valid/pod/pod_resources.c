/*
 * Resources of a whole pod against those of its containers.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func validatePodResources,
 * func validatePodResourceConsistency.
 */
#include <string.h>

#include "valid/pod/container_int.h"
#include "valid/resource_int.h"

/* ---- sums and maxima ---- */

/* An amount of one container. */
struct amount {
    struct str name;
    const struct quantity *value;
    size_t place;                /* of the container: regular ones come first */
    bool is_regular, is_sidecar; /* neither: an init container that ends */
};

/* Sums of one resource; NULL: nobody names it. */
struct sums {
    const struct quantity *total, *sidecars, *init;
};

static const struct api_quantities *pick(const struct api_container *c, bool limits) {
    return limits ? &c->resources.limits : &c->resources.requests;
}

static struct amount *add_amounts(struct amount *out, const struct amount *container,
                                  const struct api_quantities *list) {
    for (size_t i = 0; i < list->n; i++) {
        *out = *container;
        out->name = list->v[i].key;
        out->value = &list->v[i].value;
        out++;
    }
    return out;
}

static size_t count_amounts(const struct api_container_list *list, bool limits) {
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++)
        n += pick(&list->v[i], limits)->n;
    return n;
}

static int compare_amounts(const void *a, const void *b) {
    const struct amount *x = a, *y = b;
    int order = str_cmp(x->name, y->name);
    return order ? order : (x->place > y->place) - (x->place < y->place);
}

/* The amounts of all containers, those of one resource together, in the order of containers. */
static struct amount *gather(struct arena *a, const struct api_pod_spec *spec, bool limits,
                             size_t *n) {
    const struct api_container_list *regular = &spec->containers, *init = &spec->init_containers;
    *n = count_amounts(regular, limits) + count_amounts(init, limits);
    struct amount *all = arena_array(a, struct amount, *n + 1), *end = all;
    for (size_t i = 0; i < regular->n; i++)
        end = add_amounts(end, &(struct amount){.place = i, .is_regular = true},
                          pick(&regular->v[i], limits));
    for (size_t i = 0; i < init->n; i++)
        end =
            add_amounts(end,
                        &(struct amount){.place = regular->n + i,
                                         .is_sidecar = str_is(init->v[i].restart_policy, "Always")},
                        pick(&init->v[i], limits));
    qsort(all, *n, sizeof *all, compare_amounts);
    return all;
}

/* Only a sum of absurd length fails; the first amount then stands for it. */
static const struct quantity *sum(struct arena *a, const struct quantity *x,
                                  const struct quantity *y) {
    if (!x)
        return y;
    struct quantity *result = arena_copy(a, x, sizeof *x);
    quantity_add(a, x, y, result, NULL);
    return result;
}

static const struct quantity *larger(const struct quantity *x, const struct quantity *y) {
    if (!x || !y)
        return x ? x : y;
    return quantity_cmp(y, x) > 0 ? y : x;
}

/* While an init container runs, the sidecars that started before it run, too. */
static void count_in(struct arena *a, struct sums *s, const struct amount *amount) {
    if (amount->is_regular) {
        s->total = sum(a, s->total, amount->value);
        return;
    }
    const struct quantity *with = sum(a, s->sidecars, amount->value);
    if (amount->is_sidecar) {
        s->total = sum(a, s->total, amount->value);
        s->sidecars = with;
    }
    s->init = larger(s->init, with);
}

struct api_quantities valid__aggregate(struct arena *a, const struct api_pod_spec *spec,
                                       bool limits) {
    size_t n;
    const struct amount *all = gather(a, spec, limits, &n);
    struct api_quantities result = {arena_array(a, struct api_quantity, n + 1), 0};
    for (size_t i = 0; i < n;) {
        struct str name = all[i].name;
        struct sums sums = {0};
        for (; i < n && str_eq(all[i].name, name); i++)
            count_in(a, &sums, &all[i]);
        result.v[result.n++] = (struct api_quantity){name, *larger(sums.total, sums.init)};
    }
    return result;
}

/* ---- the pod's against its containers' ---- */

/* Each amount of `sums` that the pod names, too, must not be larger than the pod's. */
static void check_sums(struct valid *v, const struct path *p, const struct api_quantities *of_pod,
                       const struct api_quantities *sums, const char *what) {
    bool limits = strcmp(what, "limits") == 0;
    for (size_t i = 0; i < sums->n; i++) {
        const struct api_quantity *sum = &sums->v[i];
        const struct quantity *q = valid__find_quantity(of_pod, sum->key);
        if (!q || quantity_cmp(&sum->value, q) <= 0)
            continue;
        if (limits && !str_starts(sum->key, STR("hugepages-")))
            continue;
        struct str least = valid__quantity_text(v->errs->a, &sum->value);
        valid__invalid(v, AT_KEY(AT(p, what), sum->key),
                       VALUE_Q(valid__quantity_text(v->errs->a, q)),
                       "must be greater than or equal to aggregate container %s of %.*s", what,
                       STR_ARG(least));
    }
}

static void check_container_limits(struct valid *v, const struct path *p,
                                   const struct api_pod_spec *spec) {
    for (size_t i = 0; i < spec->containers.n; i++) {
        const struct api_quantities *limits = &spec->containers.v[i].resources.limits;
        for (size_t j = 0; j < limits->n; j++) {
            const struct api_quantity *limit = &limits->v[j];
            const struct quantity *most =
                valid__find_quantity(&spec->resources->limits, limit->key);
            if (!most || quantity_cmp(&limit->value, most) <= 0)
                continue;
            struct str text = valid__quantity_text(v->errs->a, most);
            valid__invalid(v, AT(AT_KEY(AT_INDEX(AT(p, "containers"), i), limit->key), "limits"),
                           VALUE_Q(valid__quantity_text(v->errs->a, &limit->value)),
                           "must be less than or equal to pod limits of %.*s", STR_ARG(text));
        }
    }
}

void valid__pod_resources(struct valid *v, const struct path *spec_path,
                          const struct api_pod_spec *spec, const struct pod_rules *rules) {
    const struct api_resource_requirements *r = spec->resources;
    const struct path *p = AT(spec_path, "resources");
    if (!r || !feature_enabled(v->gates, FEATURE_PodLevelResources))
        return;
    if (spec->os && str_is(spec->os->name, "windows")) {
        valid__forbidden(v, p, "may not be set for a windows pod");
        return;
    }
    if (r->claims.v)
        valid__forbidden(v, AT(p, "claims"), "claims may not be set for Resources at pod-level");
    struct str claim_list = {0};
    struct pod_view pod = {.v = v,
                           .spec = spec,
                           .claim_list = &claim_list,
                           .had = valid__ratchets(v->errs->a, rules->old)};
    for (size_t i = 0; i < spec->resource_claims.n; i++)
        seen_add(&pod.claims, spec->resource_claims.v[i].name);
    valid__pod_requirements(&pod, p, r);
    seen_release(&pod.claims);
    struct api_quantities requests = valid__aggregate(v->errs->a, spec, false);
    struct api_quantities limits = valid__aggregate(v->errs->a, spec, true);
    check_sums(v, p, &r->requests, &requests, "requests");
    check_sums(v, p, &r->limits, &limits, "limits");
    check_container_limits(v, p, spec);
}
