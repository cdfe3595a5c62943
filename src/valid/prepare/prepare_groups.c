/*
 * What is special to kinds by which a server rules itself: definitions, services of other servers,
 * requests for certificates, leases; and to autoscalers.
 *
 * Follows k8s.io/apiextensions-apiserver pkg/registry/customresourcedefinition, func (strategy)
 * PrepareForCreate, func (strategy) PrepareForUpdate.
 * Follows k8s.io/kube-aggregator pkg/registry/apiservice, func (apiServerStrategy)
 * PrepareForCreate, func (apiServerStatusStrategy) PrepareForUpdate.
 * Follows k8s.io/kubernetes pkg/registry/certificates/certificates, func (csrStrategy)
 * PrepareForCreate, func (csrStatusStrategy) PrepareForUpdate, func (csrApprovalStrategy)
 * PrepareForUpdate.
 * Follows k8s.io/kubernetes pkg/registry/coordination/lease, func (leaseStrategy) PrepareForUpdate.
 */
#include <string.h>

#include "valid/prepare/prepare_int.h"

/* ---- definitions of custom resources ---- */

static void note_stored(struct arena *a, struct api_strs *stored, struct str version) {
    for (size_t i = 0; i < stored->n; i++)
        if (str_eq(stored->v[i], version))
            return;
    struct str *longer = arena_array(a, struct str, stored->n + 1);
    if (stored->n)
        memcpy(longer, stored->v, stored->n * sizeof *longer);
    longer[stored->n] = version;
    *stored = (struct api_strs){longer, stored->n + 1};
}

/* Webhooks of which nothing is said are none. */
void valid__drop_empty_webhook(struct api_object *o, const struct valid_opts *opts) {
    (void)opts;
    struct api_custom_resource_conversion *c =
        ((struct api_custom_resource_definition *)api_own_body(o))->spec.conversion;
    if (c && c->webhook && !c->webhook->client_config && !c->webhook->conversion_review_versions.v)
        c->webhook = NULL;
}

/* The version that objects are stored in is among those in which some may be. */
void valid__create_crd(struct api_object *o, const struct valid_opts *opts) {
    (void)opts;
    struct api_custom_resource_definition *crd = api_own_body(o);
    for (size_t i = 0; i < crd->spec.versions.n; i++)
        if (crd->spec.versions.v[i].storage) {
            note_stored(&o->arena, &crd->status.stored_versions, crd->spec.versions.v[i].name);
            return;
        }
}

void valid__update_crd(struct api_object *o, const struct api_object *old,
                       const struct valid_opts *opts) {
    (void)old;
    valid__create_crd(o, opts);
}

/* ---- services of other servers ---- */

/* What the server itself serves is there. */
void valid__create_api_service(struct api_object *o, const struct valid_opts *opts) {
    struct api_api_service *service = api_own_body(o);
    if (service->spec.service)
        return;
    struct api_api_service_condition *c = arena_new(&o->arena, struct api_api_service_condition);
    *c = (struct api_api_service_condition){.type = STR("Available"),
                                            .status = STR("True"),
                                            .last_transition_time = opts->now,
                                            .reason = STR("Local"),
                                            .message =
                                                STR("Local APIServices are always available")};
    service->status.conditions = (struct api_api_service_condition_list){c, 1};
}

void valid__status_api_service(struct api_object *o, const struct api_object *old,
                               const struct valid_opts *opts) {
    (void)opts;
    struct api_object_meta *m = api_own_meta(o), was;
    api_struct_copy(&o->arena, &api_types[API_T_object_meta], old->meta, &was);
    m->labels = was.labels;
    m->annotations = was.annotations;
    m->finalizers = was.finalizers;
    m->owner_references = was.owner_references;
}

/* ---- flow control ---- */

void valid__status_flow_control(struct api_object *o, const struct api_object *old,
                                const struct valid_opts *opts) {
    (void)opts;
    struct api_object_meta *m = api_own_meta(o);
    struct api_managed_fields_entry_list managed = m->managed_fields;
    api_struct_copy(&o->arena, &api_types[API_T_object_meta], old->meta, m);
    m->managed_fields = managed;
}

/* ---- requests for certificates ---- */

static struct api_strs copy_strs(struct arena *a, const struct api_strs *from) {
    struct api_strs copy = {arena_array(a, struct str, from->n + 1), from->n};
    for (size_t i = 0; i < from->n; i++)
        copy.v[i] = arena_str(a, from->v[i]);
    return copy;
}

static struct api_str_lists copy_extra(struct arena *a, const struct api_str_lists *from) {
    struct api_str_lists copy = {0};
    if (!from->n)
        return copy;
    copy.v = arena_alloc(a, from->n * sizeof *copy.v);
    copy.n = from->n;
    for (size_t i = 0; i < from->n; i++) {
        copy.v[i].key = arena_str(a, from->v[i].key);
        copy.v[i].value = copy_strs(a, &from->v[i].value);
    }
    return copy;
}

/* Who asks is for the server to say. */
void valid__create_csr(struct api_object *o, const struct valid_opts *opts) {
    static const struct valid_user nobody;
    const struct valid_user *user = opts->user ? opts->user : &nobody;
    struct api_certificate_signing_request_spec *s =
        &((struct api_certificate_signing_request *)api_own_body(o))->spec;
    s->username = arena_str(&o->arena, user->name);
    s->uid = arena_str(&o->arena, user->uid);
    s->groups = copy_strs(&o->arena, &user->groups);
    s->extra_ = copy_extra(&o->arena, &user->extra);
}

void valid__update_csr(struct api_object *o, const struct api_object *old,
                       const struct valid_opts *opts) {
    (void)opts;
    struct api_certificate_signing_request *csr = api_own_body(o);
    valid__keep_part(o, old->body, &csr->spec, API_T_certificate_signing_request_spec);
}

typedef struct api_certificate_signing_request_condition condition;
typedef struct api_certificate_signing_request_condition_list conditions;

/* When the old condition of the same type and status began; now if there is none. */
static struct api_time began(const conditions *old, const condition *c, struct api_time now) {
    for (size_t i = 0; i < old->n; i++)
        if (str_eq(old->v[i].type, c->type) && str_eq(old->v[i].status, c->status) &&
            old->v[i].last_transition_time.set)
            return old->v[i].last_transition_time;
    return now;
}

static void set_times(conditions *list, const conditions *old, struct api_time now) {
    for (size_t i = 0; i < list->n; i++) {
        condition *c = &list->v[i];
        if (!c->last_update_time.set)
            c->last_update_time = now;
        if (!c->last_transition_time.set)
            c->last_transition_time = began(old, c, now);
    }
}

static size_t count(const conditions *list, struct str type) {
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++)
        n += str_eq(list->v[i].type, type);
    return n;
}

/* The status does not say who approved: such conditions stay as they are. */
static void keep_conditions(struct arena *a, conditions *list, const conditions *old,
                            struct str type) {
    if (count(list, type) != count(old, type))
        return;
    for (size_t i = 0, j = 0; i < list->n; i++) {
        if (!str_eq(list->v[i].type, type))
            continue;
        while (!str_eq(old->v[j].type, type))
            j++;
        api_struct_copy(a, &api_types[API_T_certificate_signing_request_condition], &old->v[j++],
                        &list->v[i]);
    }
}

void valid__status_csr(struct api_object *o, const struct api_object *old,
                       const struct valid_opts *opts) {
    struct api_certificate_signing_request *csr = api_own_body(o);
    const struct api_certificate_signing_request *was = old->body;
    keep_conditions(&o->arena, &csr->status.conditions, &was->status.conditions, STR("Approved"));
    keep_conditions(&o->arena, &csr->status.conditions, &was->status.conditions, STR("Denied"));
    set_times(&csr->status.conditions, &was->status.conditions, opts->now);
}

/* An approval is a write to the conditions alone. */
void valid__approve_csr(struct api_object *o, const struct api_object *old,
                        const struct valid_opts *opts) {
    struct api_certificate_signing_request *csr = api_own_body(o);
    const struct api_certificate_signing_request *was = old->body;
    set_times(&csr->status.conditions, &was->status.conditions, opts->now);
    csr->status.certificate = arena_str(&o->arena, was->status.certificate);
}

/* ---- leases ---- */

static void drop_coordination(struct api_lease_spec *s, const struct api_lease_spec *old,
                              const struct valid_opts *opts) {
    if (feature_enabled(opts->gates, FEATURE_CoordinatedLeaderElection))
        return;
    if (!old || !old->strategy.p)
        s->strategy = (struct str){0};
    if (!old || !old->preferred_holder.p)
        s->preferred_holder = (struct str){0};
}

void valid__create_lease(struct api_object *o, const struct valid_opts *opts) {
    drop_coordination(&((struct api_lease *)api_own_body(o))->spec, NULL, opts);
}

void valid__update_lease(struct api_object *o, const struct api_object *old,
                         const struct valid_opts *opts) {
    drop_coordination(&((struct api_lease *)api_own_body(o))->spec,
                      &((const struct api_lease *)old->body)->spec, opts);
}

/* ---- autoscalers ----
 *
 * Follows k8s.io/kubernetes pkg/registry/autoscaling/horizontalpodautoscaler,
 * func (autoscalerStrategy) PrepareForCreate, func (autoscalerStrategy) PrepareForUpdate. */

static bool counts_generations(const struct valid_opts *opts) {
    return feature_enabled(opts->gates, FEATURE_HPAGeneration);
}

void valid__create_autoscaler(struct api_object *o, const struct valid_opts *opts) {
    if (counts_generations(opts))
        api_own_meta(o)->generation = 1;
}

void valid__update_autoscaler(struct api_object *o, const struct api_object *old,
                              const struct valid_opts *opts) {
    if (counts_generations(opts) && valid__member_changed(o, old, "spec", false))
        api_own_meta(o)->generation++;
}
