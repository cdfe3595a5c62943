/*
 * ResourceQuota: what the objects of a namespace may use together. The status of a quota says what
 * they use now; a write that is let in adds its part to it, and both are stored together or not at
 * all. What a deletion gives back is for the quota's controller to count.
 *
 * Follows k8s.io/apiserver pkg/admission/plugin/resourcequota, func (*QuotaAdmission) Validate,
 * func CheckRequest, func (*quotaEvaluator) checkQuotas, func (*quotaEvaluator) Evaluate,
 * func hasUsageStats.
 * Follows k8s.io/apiserver pkg/quota/v1/generic, func Matches.
 */
#include "base/vec.h"
#include "registry/quota.h"
#include "registry/quota/quota_int.h"

/* A quota that concerns the object. */
struct concerned {
    const struct api_object *quota;
    struct api_quantities delta; /* what the request adds */
    struct api_quantities used;  /* with that */
};

/* A request before the quotas of its namespace. */
struct check {
    struct registry__admission *m;
    const struct registry__evaluator *evaluator;
    struct registry__silent silent; /* of the object */
    VEC(struct concerned) quotas;
};

static const struct registry__evaluator *evaluator_of(const struct api_object *o) {
    static const struct registry__evaluator *const special[] = {
        &registry__quota_pods, &registry__quota_services, &registry__quota_claims,
        &registry__quota_devices};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (api_object_is(o, special[i]->type))
            return special[i];
    return &registry__quota_count;
}

/* ---- which quotas ---- */

/* Scopes without values that an object was found in: a quota may name each of the few there are
 * thousands of times, and some look at all that a pod has. */
struct held_scopes {
    struct str names[8];
    size_t n;
};

static bool is_held(const struct held_scopes *held, struct str name) {
    for (size_t i = 0; i < held->n; i++)
        if (str_eq(held->names[i], name))
            return true;
    return false;
}

static bool is_in_scope(const struct check *c, struct held_scopes *held, const struct api_object *o,
                        const registry__scope *scope) {
    bool is_plain = str_is(scope->operator, "Exists") && !scope->values.n;
    if (is_plain && is_held(held, scope->scope_name))
        return true;
    if (!c->evaluator->is_in || !c->evaluator->is_in(c->m, o, scope))
        return false;
    if (is_plain && held->n < sizeof held->names / sizeof *held->names)
        held->names[held->n++] = scope->scope_name;
    return true;
}

static bool is_in_scopes(const struct check *c, const struct api_resource_quota_spec *spec,
                         const struct api_object *o) {
    const struct api_scope_selector *selector = spec->scope_selector;
    struct held_scopes held = {0};
    for (size_t i = 0; i < spec->scopes.n; i++) {
        registry__scope scope = {.scope_name = spec->scopes.v[i], .operator= STR("Exists")};
        if (!is_in_scope(c, &held, o, &scope))
            return false;
    }
    for (size_t i = 0; selector && i < selector->match_expressions.n; i++)
        if (!is_in_scope(c, &held, o, &selector->match_expressions.v[i]))
            return false;
    return true;
}

/* What the quota limits that objects of this kind use. */
static struct api_quantities limited_by(const struct check *c,
                                        const struct api_resource_quota *quota) {
    const struct api_quantities *hard = &quota->status.hard;
    struct api_quantities out = {arena_array(c->m->a, struct api_quantity, hard->n), 0};
    for (size_t i = 0; i < hard->n; i++)
        if (c->evaluator->counts(c->m, hard->v[i].key))
            out.v[out.n++] = hard->v[i];
    return out;
}

static bool has_figures(const struct api_resource_quota *quota,
                        const struct api_quantities *limited) {
    for (size_t i = 0; i < limited->n; i++)
        if (!registry__amount_find(&quota->status.used, limited->v[i].key))
            return false;
    return true;
}

static struct str names_of(struct arena *a, const struct api_quantities *list) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    for (size_t i = 0; i < list->n; i++) {
        buf_add(&text, i ? STR(",") : STR(""));
        buf_add(&text, list->v[i].key);
    }
    return arena_str(a, buf_view(&text));
}

/* Notes a quota that concerns the object, unless the object cannot be judged by it. */
static bool consider(void *ctx, const struct api_object *o) {
    struct check *c = ctx;
    const struct api_resource_quota *quota = o->body;
    struct str name = quota->metadata.name;
    struct api_quantities limited = limited_by(c, quota);
    if (!limited.n || !is_in_scopes(c, &quota->spec, c->m->o))
        return true;
    struct str fault = {0};
    if (c->evaluator->fault)
        fault = c->evaluator->fault(c->m, &limited, &c->silent);
    if (fault.p)
        return registry__forbid(c->m, "failed quota: %.*s: %.*s", STR_ARG(name), STR_ARG(fault));
    if (!has_figures(quota, &limited))
        return registry__forbid(c->m, "status unknown for quota: %.*s, resources: %.*s",
                                STR_ARG(name), STR_ARG(names_of(c->m->a, &limited)));
    vec_push(&c->quotas, (struct concerned){.quota = o});
    return true;
}

/* ---- how much ---- */

static bool refuse_negative(struct registry__admission *m, const struct api_quantities *usage) {
    struct api_quantities negative = {arena_array(m->a, struct api_quantity, usage->n), 0};
    for (size_t i = 0; i < usage->n; i++)
        if (quantity_sign(&usage->v[i].value) < 0)
            negative.v[negative.n++] = usage->v[i];
    return !negative.n || registry__forbid(m, "quota usage is negative for resource(s): %.*s",
                                           STR_ARG(names_of(m->a, &negative)));
}

/* What an object uses that was in the quota before, less what it used then. */
static bool measure(struct check *c) {
    struct registry__admission *m = c->m;
    struct api_quantities usage = c->evaluator->usage(m, m->o), before, grown = usage;
    if (!refuse_negative(m, &usage))
        return false;
    if (m->old) {
        before = c->evaluator->usage(m, m->old);
        grown = registry__amounts_grown(m->a, &usage, &before);
    }
    for (size_t i = 0; i < c->quotas.n; i++) {
        const struct api_resource_quota *quota = c->quotas.v[i].quota->body;
        bool was_in = m->old && is_in_scopes(c, &quota->spec, m->old);
        c->quotas.v[i].delta = registry__amounts_nonzero(m->a, was_in ? &grown : &usage);
    }
    return true;
}

static bool refuse_exceeded(struct registry__admission *m, const struct concerned *q,
                            const struct api_quantities *requested,
                            const struct api_quantities *exceeded) {
    const struct api_resource_quota *quota = q->quota->body;
    struct arena *a = m->a;
    struct api_quantities asked = registry__amounts_mask(a, requested, exceeded);
    struct api_quantities used = registry__amounts_mask(a, &quota->status.used, exceeded);
    return registry__forbid(
        m, "exceeded quota: %.*s, requested: %.*s, used: %.*s, limited: %.*s",
        STR_ARG(quota->metadata.name), STR_ARG(registry__amounts_text(a, &asked)),
        STR_ARG(registry__amounts_text(a, &used)), STR_ARG(registry__amounts_text(a, exceeded)));
}

/* Adds what the request needs to what is used. A write to the status is counted, but not refused:
 * what it tells has happened. */
static bool charge(struct registry__admission *m, struct concerned *q) {
    const struct api_resource_quota_status *status =
        &((const struct api_resource_quota *)q->quota->body)->status;
    struct api_quantities requested = registry__amounts_mask(m->a, &q->delta, &status->hard);
    struct api_quantities exceeded = {arena_array(m->a, struct api_quantity, status->hard.n), 0};
    q->used = registry__amounts_add(m->a, &status->used, &requested);
    for (size_t i = 0; i < status->hard.n; i++) {
        struct str name = status->hard.v[i].key;
        bool asks = registry__amount_find(&requested, name);
        if (asks &&
            quantity_cmp(registry__amount_find(&q->used, name), &status->hard.v[i].value) > 0)
            exceeded.v[exceeded.n++] = status->hard.v[i];
    }
    return !exceeded.n || str_is(m->request->subresource, "status") ||
           refuse_exceeded(m, q, &requested, &exceeded);
}

/* ---- what becomes of the quotas ---- */

/* The quota with what is used now. */
static struct api_object *charged(const struct concerned *q) {
    struct api_object *o = api_object_copy(q->quota);
    struct api_quantities *used = &((struct api_resource_quota *)api_own_body(o))->status.used;
    *used =
        (struct api_quantities){arena_array(&o->arena, struct api_quantity, q->used.n), q->used.n};
    for (size_t i = 0; i < q->used.n; i++)
        used->v[i] = (struct api_quantity){arena_str(&o->arena, q->used.v[i].key),
                                           quantity_copy(&o->arena, &q->used.v[i].value)};
    return o;
}

static void hand_out(const struct check *c) {
    struct registry_effects *effects = c->m->request->effects;
    if (!effects)
        return;
    effects->v = arena_array(c->m->a, struct api_object *, c->quotas.n);
    for (size_t i = 0; i < c->quotas.n; i++) {
        const struct concerned *q = &c->quotas.v[i];
        const struct api_resource_quota *quota = q->quota->body;
        if (q->delta.n && !registry__amounts_equal(&q->used, &quota->status.used))
            effects->v[effects->n++] = charged(q);
    }
}

static bool run(struct check *c) {
    registry_view_each(c->m->registry->view, registry__kind("v1", "ResourceQuota"),
                       registry__namespace_of(c->m), consider, c);
    if (c->m->failure.code)
        return false;
    if (!c->quotas.n)
        return true;
    if (!measure(c))
        return false;
    for (size_t i = 0; i < c->quotas.n; i++)
        if (c->quotas.v[i].delta.n && !charge(c->m, &c->quotas.v[i]))
            return false;
    hand_out(c);
    return true;
}

/* Events have never been counted. */
static bool validate(struct registry__admission *m) {
    struct check c = {.m = m, .evaluator = evaluator_of(m->o)};
    if (!registry__namespace_of(m).n || m->resource || api_object_is(m->o, API_T_event) ||
        api_object_is(m->o, API_T_events_event) || !c.evaluator->handles(m))
        return true;
    bool good = run(&c);
    vec_release(&c.quotas);
    return good;
}

const struct registry__admission_plugin registry__resource_quota = {
    .name = "ResourceQuota",
    .validate = {[REGISTRY_CREATE] = validate, [REGISTRY_UPDATE] = validate},
    .type = API_TYPES,
    .subresources = "*"};

/* ---- counting anew ---- */

struct api_quantities registry_quota_names(const struct registry_meter *meter,
                                           const struct api_kind *kind,
                                           const struct api_quantities *hard) {
    const struct registry registry = {.gates = meter->gates};
    struct api_object *model = api_object_new(kind);
    struct registry__admission m = {.registry = &registry, .a = meter->arena, .o = model};
    VEC(struct api_quantity) found = {0};
    for (size_t i = 0; i < hard->n; i++)
        if (evaluator_of(model)->counts(&m, hard->v[i].key))
            vec_push(&found, (struct api_quantity){hard->v[i].key,
                                                   quantity_of_i64(0, QUANTITY_DECIMAL_SI)});
    struct api_quantities out = {arena_array(meter->arena, struct api_quantity, found.n), found.n};
    for (size_t i = 0; i < found.n; i++)
        out.v[i] = found.v[i];
    vec_release(&found);
    api_object_free(model);
    return out;
}

void registry_quota_add(const struct registry_meter *meter,
                        const struct api_resource_quota_spec *quota, const struct api_object *o,
                        struct api_quantities *used) {
    const struct registry registry = {.gates = meter->gates};
    const struct registry_request request = {.now = meter->now};
    AUTO(arena_release) struct arena scratch = {0};
    struct registry__admission m = {.registry = &registry, .request = &request, .a = &scratch};
    struct check c = {.m = &m, .evaluator = evaluator_of(o)};
    if (!is_in_scopes(&c, quota, o))
        return;
    struct api_quantities usage = c.evaluator->usage(&m, o);
    registry__amounts_join(meter->arena, used, &usage);
}

bool registry_amounts_equal(const struct api_quantities *a, const struct api_quantities *b) {
    return registry__amounts_equal(a, b);
}
