/*
 * Requests and limits: names of resources, amounts, and how the two relate; and resource claims.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func ValidateContainerResourceRequirements,
 * func validateResourceRequirements, func validatePodResourceClaims.
 */
#include "base/limits.h"
#include "valid/pod/container_int.h"
#include "valid/resource_int.h"

/* ---- names ---- */

typedef void resource_name_rule(struct valid *v, const struct path *p, struct str name);

static void check_pod_name(struct valid *v, const struct path *p, struct str name) {
    static const char *const supported[] = {"cpu", "hugepages-", "memory", NULL};
    if (valid__resource_name(v, p, name) && !str_is(name, "cpu") && !str_is(name, "memory") &&
        !valid__is_huge_page(name))
        valid__not_supported(v, p, VALUE_NAMED(name), supported);
}

/* ---- amounts ---- */

static int compare_name(const void *name, const void *entry) {
    return str_cmp(*(const struct str *)name, ((const struct api_quantity *)entry)->key);
}

const struct quantity *valid__find_quantity(const struct api_quantities *list, struct str name) {
    const struct api_quantity *found =
        list->n ? bsearch(&name, list->v, list->n, sizeof *list->v, compare_name) : NULL;
    return found ? &found->value : NULL;
}

/* Is the amount a multiple of the page size, which the resource's name tells? */
static bool is_whole_pages(struct arena *a, struct str name, const struct quantity *q) {
    struct quantity page;
    if (quantity_parse(a, str_sub(name, sizeof "hugepages-" - 1, name.n), &page, NULL) < 0)
        return false;
    if (quantity_sign(&page) <= 0 || quantity_milli_value(&page) % 1000 != 0)
        return false;
    int64_t size = quantity_value(&page);
    return size != 0 && quantity_value(q) % size == 0;
}

static bool has_broken_pages(struct arena *a, const struct api_quantities *list) {
    for (size_t i = 0; i < list->n; i++)
        if (valid__is_huge_page(list->v[i].key) &&
            !is_whole_pages(a, list->v[i].key, &list->v[i].value))
            return true;
    return false;
}

bool valid__had_broken_huge_pages(struct arena *a, const struct api_pod_spec *old) {
    const struct api_container *c;
    for (size_t at = 0; (c = valid__next_container(old, &at));)
        if (has_broken_pages(a, &c->resources.limits) ||
            has_broken_pages(a, &c->resources.requests))
            return true;
    return has_broken_pages(a, &old->overhead);
}

/* ---- requirements ---- */

struct requirements {
    const struct pod_view *pod;
    const struct path *path;
    const struct api_resource_requirements *r;
    resource_name_rule *check;
    bool has_compute, has_huge_pages;
};

static void check_huge_pages(struct requirements *req, const struct path *p,
                             const struct api_quantity *q) {
    struct valid *v = req->pod->v;
    struct arena *a = v->errs->a;
    if (!valid__is_huge_page(q->key))
        return;
    req->has_huge_pages = true;
    if (is_whole_pages(a, q->key, &q->value) || req->pod->had.broken_huge_pages)
        return;
    struct str text = valid__quantity_text(a, &q->value);
    valid__invalid(v, p, VALUE_Q(text), "%.*s is not positive integer multiple of %.*s",
                   STR_ARG(text), STR_ARG(q->key));
}

static bool is_compute(struct str name) {
    return str_is(name, "cpu") || str_is(name, "memory");
}

static void check_limits(struct requirements *req) {
    const struct path *p = AT(req->path, "limits");
    for (size_t i = 0; i < req->r->limits.n; i++) {
        const struct api_quantity *q = &req->r->limits.v[i];
        const struct path *here = AT_KEY(p, q->key);
        req->check(req->pod->v, here, q->key);
        valid__resource_amount(req->pod->v, here, q);
        check_huge_pages(req, here, q);
        req->has_compute |= is_compute(q->key);
    }
}

static void check_request_and_limit(struct requirements *req, const struct path *p,
                                    const struct api_quantity *q) {
    struct valid *v = req->pod->v;
    const struct quantity *limit = valid__find_quantity(&req->r->limits, q->key);
    bool overcommit = valid__may_overcommit(q->key);
    if (!limit) {
        if (!overcommit)
            valid__required(v, AT(req->path, "limits"),
                            "Limit must be set for non overcommitable resources");
        return;
    }
    int order = quantity_cmp(&q->value, limit);
    if (overcommit ? order <= 0 : order == 0)
        return;
    struct str name = q->key, most = valid__quantity_text(v->errs->a, limit);
    valid__invalid(v, p, VALUE_Q(valid__quantity_text(v->errs->a, &q->value)),
                   "must be %s %.*s limit of %.*s",
                   overcommit ? "less than or equal to" : "equal to", STR_ARG(name), STR_ARG(most));
}

static void check_requests(struct requirements *req) {
    const struct path *p = AT(req->path, "requests");
    for (size_t i = 0; i < req->r->requests.n; i++) {
        const struct api_quantity *q = &req->r->requests.v[i];
        const struct path *here = AT_KEY(p, q->key);
        req->check(req->pod->v, here, q->key);
        valid__resource_amount(req->pod->v, here, q);
        check_request_and_limit(req, p, q);
        check_huge_pages(req, here, q);
        req->has_compute |= is_compute(q->key);
    }
}

/* ---- claims ---- */

/* The names of the pod's claims, sorted, behind ": ", or that there are none; in the arena. */
static struct str list_claims(struct arena *a, const struct api_pod_resource_claim_list *claims) {
    AUTO(buf_release) struct buf out = BUF_INIT(LIMIT_OBJECT_BYTES);
    struct str *sorted = arena_array(a, struct str, claims->n + 1), last = {0};
    for (size_t i = 0; i < claims->n; i++)
        sorted[i] = claims->v[i].name;
    qsort(sorted, claims->n, sizeof *sorted, str_cmp_qsort);
    for (size_t i = 0; i < claims->n; i++) {
        if (str_eq(sorted[i], last))
            continue;
        buf_add(&out, out.n ? STR(", ") : STR(": "));
        buf_add(&out, sorted[i]);
        last = sorted[i];
    }
    return out.n ? arena_str(a, buf_view(&out)) : STR(" which is empty");
}

static void claim_not_found(const struct pod_view *pod, const struct path *p, struct str name) {
    if (!pod->claim_list->n)
        *pod->claim_list = list_claims(pod->v->errs->a, &pod->spec->resource_claims);
    valid__not_found(pod->v, p, VALUE_Q(name),
                     "must be one of the names in pod.spec.resourceClaims%.*s",
                     STR_ARG(*pod->claim_list));
}

/*
 * A claim may be named as a whole or request by request, but nothing twice. `names` holds claims
 * named as a whole and claim/request pairs, `claims` every claim of which something is named.
 */
static void check_claim_name(struct valid *v, const struct path *p,
                             const struct api_resource_claim *claim, struct seen *names,
                             struct seen *claims) {
    struct str key = claim->name;
    if (seen_get(names, key)) {
        valid__duplicate(v, p, VALUE_Q(key), NO_DETAIL);
        return;
    }
    if (claim->request.n) {
        valid__dns_label(v, AT(p, "request"), claim->request);
        key = arena_printf(v->errs->a, "%.*s/%.*s", STR_ARG(key), STR_ARG(claim->request));
    }
    bool is_new = seen_add(names, key);
    bool overlaps = !seen_add(claims, claim->name) && !claim->request.n;
    if (!is_new || overlaps)
        valid__duplicate(v, p, VALUE_Q(key), NO_DETAIL);
}

static void check_claims(const struct pod_view *pod, const struct path *p,
                         const struct api_resource_claim_list *list) {
    struct seen names, claims;
    seen_init(&names);
    seen_init(&claims);
    for (size_t i = 0; i < list->n; i++) {
        const struct path *here = AT_INDEX(p, i);
        if (!list->v[i].name.n) {
            valid__required(pod->v, here, NO_DETAIL);
            continue;
        }
        check_claim_name(pod->v, here, &list->v[i], &names, &claims);
        if (!seen_get(&pod->claims, list->v[i].name))
            claim_not_found(pod, here, list->v[i].name);
    }
    seen_release(&names);
    seen_release(&claims);
}

/* ---- all together ---- */

static void check_requirements(const struct pod_view *pod, const struct path *p,
                               const struct api_resource_requirements *r,
                               resource_name_rule *check) {
    struct requirements req = {.pod = pod, .path = p, .r = r, .check = check};
    check_limits(&req);
    check_requests(&req);
    if (req.has_huge_pages && !req.has_compute)
        valid__forbidden(pod->v, p, "HugePages require cpu or memory");
    if (r->claims.n)
        check_claims(pod, AT(p, "claims"), &r->claims);
}

void valid__resources(const struct pod_view *pod, const struct path *p,
                      const struct api_resource_requirements *r) {
    check_requirements(pod, p, r, valid__container_resource_name);
}

void valid__pod_requirements(const struct pod_view *pod, const struct path *p,
                             const struct api_resource_requirements *r) {
    check_requirements(pod, p, r, check_pod_name);
}

void valid__overhead(struct valid *v, const struct path *p, const struct api_quantities *overhead,
                     const struct pod_rules *rules) {
    struct str claim_list = {0};
    struct pod_view pod = {
        .v = v, .claim_list = &claim_list, .had = valid__ratchets(v->errs->a, rules->old)};
    struct api_resource_requirements r = {.limits = *overhead};
    valid__resources(&pod, p, &r);
}
