/*
 * Resources of a whole pod against those of its containers.
 */
#include <string.h>

#include "valid/pod/container_int.h"

/* ---- sums and maxima; lists are sorted by name ---- */

enum merge { SUM, MAXIMUM };

static struct quantity merge_two(struct arena *a, const struct quantity *x,
                                 const struct quantity *y, enum merge how) {
    struct quantity result = *x;
    if (how == MAXIMUM)
        return quantity_cmp(y, x) > 0 ? *y : *x;
    /* Only a sum of absurd length fails; the first amount then stands for it. */
    quantity_add(a, x, y, &result, NULL);
    return result;
}

static struct api_quantities merge(struct arena *a, const struct api_quantities *x,
                                   const struct api_quantities *y, enum merge how) {
    struct api_quantities all = {arena_array(a, struct api_quantity, x->n + y->n + 1), 0};
    for (size_t i = 0, j = 0; i < x->n || j < y->n;) {
        int order = i == x->n ? 1 : j == y->n ? -1 : str_cmp(x->v[i].key, y->v[j].key);
        struct api_quantity *out = &all.v[all.n++];
        *out = order <= 0 ? x->v[i] : y->v[j];
        if (order == 0)
            out->value = merge_two(a, &x->v[i].value, &y->v[j].value, how);
        i += order <= 0;
        j += order >= 0;
    }
    return all;
}

static const struct api_quantities *pick(const struct api_container *c, bool limits) {
    return limits ? &c->resources.limits : &c->resources.requests;
}

/* While an init container runs, the sidecars that started before it run, too. */
struct api_quantities valid__aggregate(struct arena *a, const struct api_pod_spec *spec,
                                       bool limits) {
    struct api_quantities total = {0}, sidecars = {0}, init = {0};
    for (size_t i = 0; i < spec->containers.n; i++)
        total = merge(a, &total, pick(&spec->containers.v[i], limits), SUM);
    for (size_t i = 0; i < spec->init_containers.n; i++) {
        const struct api_container *c = &spec->init_containers.v[i];
        struct api_quantities with = merge(a, &sidecars, pick(c, limits), SUM);
        if (str_is(c->restart_policy, "Always")) {
            total = merge(a, &total, pick(c, limits), SUM);
            sidecars = with;
        }
        init = merge(a, &init, &with, MAXIMUM);
    }
    return merge(a, &total, &init, MAXIMUM);
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
    struct pod_view pod = {.v = v, .spec = spec, .had = valid__habits(v->errs->a, rules->old)};
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
