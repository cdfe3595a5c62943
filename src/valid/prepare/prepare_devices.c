/*
 * What is special to devices, to groups of pods that may claim some, and to attachments of volumes.
 *
 * Follows k8s.io/kubernetes pkg/registry/resource/devicetaintrule,
 * func (*deviceTaintRuleStrategy) PrepareForUpdate.
 * Follows k8s.io/kubernetes pkg/registry/resource/resourceclaim, func dropDeallocatedStatusDevices.
 * Follows k8s.io/kubernetes pkg/registry/scheduling/podgroup,
 * func dropDisabledPodGroupStatusFields.
 * Follows k8s.io/kubernetes pkg/registry/scheduling/workload, func dropDisabledWorkloadFields.
 * Follows k8s.io/kubernetes pkg/registry/storage/volumeattachment,
 * func (volumeAttachmentStatusStrategy) PrepareForUpdate.
 */
#include <string.h>

#include "valid/prepare/prepare_int.h"

static bool is_off(const struct valid_opts *opts, enum feature gate) {
    return !feature_enabled(opts->gates, gate);
}

/* ---- taints: when they were added is the server's to say, unless the client does ---- */

static void set_time(struct api_device_taint *taint, struct api_time now) {
    if (!taint->time_added.set)
        taint->time_added = now;
}

void valid__time_taint_rule(struct api_object *o, const struct valid_opts *opts) {
    set_time(&((struct api_device_taint_rule *)api_own_body(o))->spec.taint, opts->now);
}

static void set_times(struct api_device_taint_list *taints, struct api_time now) {
    for (size_t i = 0; i < taints->n; i++)
        set_time(&taints->v[i], now);
}

void valid__time_slice(struct api_object *o, const struct valid_opts *opts) {
    struct api_device_list *devices = &((struct api_resource_slice *)api_own_body(o))->spec.devices;
    for (size_t i = 0; i < devices->n; i++)
        set_times(&devices->v[i].taints, opts->now);
}

void valid__time_slice_v1beta1(struct api_object *o, const struct valid_opts *opts) {
    struct api_device_v1beta1_list *devices =
        &((struct api_resource_slice_v1beta1 *)api_own_body(o))->spec.devices;
    for (size_t i = 0; i < devices->n; i++)
        if (devices->v[i].basic)
            set_times(&devices->v[i].basic->taints, opts->now);
}

static bool same_time(struct api_time a, struct api_time b) {
    return a.set == b.set && (!a.set || (a.sec == b.sec && a.nsec == b.nsec));
}

/* Another effect begins anew. */
void valid__update_device_taint_rule(struct api_object *o, const struct api_object *old,
                                     const struct valid_opts *opts) {
    struct api_device_taint *now = &((struct api_device_taint_rule *)api_own_body(o))->spec.taint;
    const struct api_device_taint *was =
        &((const struct api_device_taint_rule *)old->body)->spec.taint;
    if (!str_eq(now->effect, was->effect) && same_time(now->time_added, was->time_added))
        now->time_added = opts->now;
}

/* ---- claims ---- */

/* A device, or a share of it, as one name. */
static struct str device_name(struct arena *a, const struct str parts[4]) {
    AUTO(buf_release) struct buf name = BUF_INIT(SIZE_MAX);
    for (size_t i = 0; i < 4; i++)
        buf_addf(&name, "%zu/%.*s", parts[i].n, STR_ARG(parts[i]));
    return arena_str(a, buf_view(&name));
}

static void add_results(struct arena *a, struct seen *names,
                        const struct api_allocation_result *r) {
    for (size_t i = 0; r && i < r->devices.results.n; i++) {
        const struct api_device_request_allocation_result *d = &r->devices.results.v[i];
        seen_add(names,
                 device_name(a, (struct str[4]){d->driver, d->pool, d->device, d->share_id}));
    }
}

/* The status of a device goes with its allocation. */
static void drop_deallocated(struct arena *a, struct api_resource_claim_status *now,
                             const struct api_resource_claim_status *was) {
    struct seen before, after;
    size_t kept = 0;
    seen_init(&before);
    seen_init(&after);
    add_results(a, &before, was->allocation);
    add_results(a, &after, now->allocation);
    for (size_t i = 0; i < now->devices.n; i++) {
        struct api_allocated_device_status *d = &now->devices.v[i];
        struct str name =
            device_name(a, (struct str[4]){d->driver, d->pool, d->device, d->share_id});
        if (!seen_get(&before, name) || seen_get(&after, name))
            now->devices.v[kept++] = *d;
    }
    now->devices.n = kept;
    seen_release(&before);
    seen_release(&after);
}

static struct api_resource_claim_status *claim_status(struct api_object *o) {
    void *body = api_own_body(o);
    return api_object_is(o, API_T_resource_resource_claim)
               ? &((struct api_resource_resource_claim *)body)->status
               : &((struct api_resource_claim_v1beta1 *)body)->status;
}

static const struct api_resource_claim_status *old_claim_status(const struct api_object *o) {
    return api_object_is(o, API_T_resource_resource_claim)
               ? &((const struct api_resource_resource_claim *)o->body)->status
               : &((const struct api_resource_claim_v1beta1 *)o->body)->status;
}

void valid__status_resource_claim(struct api_object *o, const struct api_object *old,
                                  const struct valid_opts *opts) {
    AUTO(arena_release) struct arena a = {0};
    (void)opts;
    drop_deallocated(&a, claim_status(o), old_claim_status(old));
}

/* ---- groups of pods ---- */

void valid__status_pod_group(struct api_object *o, const struct api_object *old,
                             const struct valid_opts *opts) {
    struct api_pod_group *group = api_own_body(o);
    const struct api_pod_group *was = old->body;
    if (is_off(opts, FEATURE_DRAWorkloadResourceClaims) && !was->spec.resource_claims.n)
        group->status.resource_claim_statuses =
            (struct api_pod_group_resource_claim_status_list){0};
}

static void drop_from_templates(struct api_pod_group_template_list *list,
                                const struct api_pod_group_template_list *old,
                                const struct valid_opts *opts) {
    static const struct api_pod_group_template none;
    for (size_t i = 0; i < list->n; i++) {
        struct api_pod_group_template *t = &list->v[i];
        const struct api_pod_group_template *was = i < old->n ? &old->v[i] : &none;
        if (is_off(opts, FEATURE_TopologyAwareWorkloadScheduling) && !was->scheduling_constraints)
            t->scheduling_constraints = NULL;
        if (is_off(opts, FEATURE_DRAWorkloadResourceClaims) && !was->resource_claims.n)
            t->resource_claims = (struct api_pod_group_resource_claim_list){0};
        if (is_off(opts, FEATURE_PodGroupPreemptionPolicy) && !was->preemption_policy.p)
            t->preemption_policy = (struct str){0};
    }
}

/* Templates inside templates; those of a name belong together. Depth is that of the tree which was
 * decoded, which is limited. */
static void drop_from_composites(struct api_composite_pod_group_template_list *list,
                                 const struct api_composite_pod_group_template_list *old,
                                 const struct valid_opts *opts) {
    static const struct api_composite_pod_group_template none;
    AUTO(seen_release) struct seen named;
    seen_init(&named);
    for (size_t i = old->n; i > 0; i--)
        seen_put(&named, old->v[i - 1].name, &old->v[i - 1]);
    for (size_t i = 0; i < list->n; i++) {
        struct api_composite_pod_group_template *t = &list->v[i];
        const struct api_composite_pod_group_template *was = seen_get(&named, t->name);
        was = was ? was : &none;
        if (is_off(opts, FEATURE_PodGroupPreemptionPolicy) && !was->preemption_policy.p)
            t->preemption_policy = (struct str){0};
        if (is_off(opts, FEATURE_CompositePodGroup) && !was->composite_pod_group_templates.n)
            t->composite_pod_group_templates = (struct api_composite_pod_group_template_list){0};
        drop_from_composites(&t->composite_pod_group_templates, &was->composite_pod_group_templates,
                             opts);
        drop_from_templates(&t->pod_group_templates, &was->pod_group_templates, opts);
    }
}

static void drop_from_workload(struct api_workload_spec *s, const struct api_workload_spec *old,
                               const struct valid_opts *opts) {
    drop_from_templates(&s->pod_group_templates, &old->pod_group_templates, opts);
    if (is_off(opts, FEATURE_CompositePodGroup) && !old->composite_pod_group_templates.n)
        s->composite_pod_group_templates = (struct api_composite_pod_group_template_list){0};
    drop_from_composites(&s->composite_pod_group_templates, &old->composite_pod_group_templates,
                         opts);
}

void valid__create_workload(struct api_object *o, const struct valid_opts *opts) {
    static const struct api_workload_spec none;
    drop_from_workload(&((struct api_workload *)api_own_body(o))->spec, &none, opts);
}

void valid__update_workload(struct api_object *o, const struct api_object *old,
                            const struct valid_opts *opts) {
    drop_from_workload(&((struct api_workload *)api_own_body(o))->spec,
                       &((const struct api_workload *)old->body)->spec, opts);
}

/* ---- attachments ---- */

static void drop_code(struct api_volume_error *now, const struct api_volume_error *was) {
    if (now && !(was && was->error_code.set))
        now->error_code = (struct api_opt_i32){0};
}

void valid__status_volume_attachment(struct api_object *o, const struct api_object *old,
                                     const struct valid_opts *opts) {
    struct api_volume_attachment_status *now =
        &((struct api_volume_attachment *)api_own_body(o))->status;
    const struct api_volume_attachment_status *was =
        &((const struct api_volume_attachment *)old->body)->status;
    if (!is_off(opts, FEATURE_MutableCSINodeAllocatableCount))
        return;
    drop_code(now->attach_error, was->attach_error);
    drop_code(now->detach_error, was->detach_error);
}
