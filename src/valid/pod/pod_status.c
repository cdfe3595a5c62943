/*
 * The status of a pod, as its kubelet, the scheduler and controllers write it.
 *
 * Follows k8s.io/kubernetes pkg/registry/core/pod, func (podStatusStrategy) PrepareForUpdate.
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func ValidatePodStatusUpdate.
 */
#include "valid/ip.h"
#include "valid/pod/pod_int.h"

/* ---- preparing ---- */

/* The conditions of one type that were, in their order, as far as none that is takes after them. */
struct chain {
    size_t first, last;
};

struct chains {
    struct seen by_type;
    struct chain *v; /* at the place of the first of its type */
    size_t *next;    /* of the same type; the number of conditions: there is none */
};

static struct chain *find_chain(const struct chains *c, struct str type) {
    const struct chain *found = seen_get(&c->by_type, type);
    return found ? &c->v[found - c->v] : NULL;
}

static void chain_conditions(struct arena *a, const struct api_pod_condition_list *list,
                             struct chains *c) {
    seen_init(&c->by_type);
    c->v = arena_array(a, struct chain, list->n);
    c->next = arena_array(a, size_t, list->n);
    for (size_t i = 0; i < list->n; i++) {
        struct chain *chain = find_chain(c, list->v[i].type);
        c->next[i] = list->n;
        c->v[i] = (struct chain){i, i};
        if (!chain)
            seen_put(&c->by_type, list->v[i].type, &c->v[i]);
        else
            chain->last = c->next[chain->last] = i;
    }
}

/* Clients that do not know of generations leave them out: those that were observed stay. The n-th
 * condition of a type takes after the n-th that was. */
static void keep_generations(struct arena *a, struct api_pod_status *now,
                             const struct api_pod_status *was) {
    struct chains chains;
    if (!now->observed_generation)
        now->observed_generation = was->observed_generation;
    chain_conditions(a, &was->conditions, &chains);
    for (size_t i = 0; i < now->conditions.n; i++) {
        struct api_pod_condition *c = &now->conditions.v[i];
        struct chain *chain = find_chain(&chains, c->type);
        if (!chain || chain->first == was->conditions.n)
            continue;
        if (!c->observed_generation)
            c->observed_generation = was->conditions.v[chain->first].observed_generation;
        chain->first = chains.next[chain->first];
    }
    seen_release(&chains.by_type);
}

/* Claims that a client leaves out stay, and so does the class, which never changes. */
static void keep_claims(struct api_pod_status *now, const struct api_pod_status *copy) {
    if (!now->qos_class.n)
        now->qos_class = copy->qos_class;
    if (!now->resource_claim_statuses.v)
        now->resource_claim_statuses = copy->resource_claim_statuses;
    if (!now->extended_resource_claim_status)
        now->extended_resource_claim_status = copy->extended_resource_claim_status;
    if (!now->node_allocatable_resource_claim_statuses.v)
        now->node_allocatable_resource_claim_statuses =
            copy->node_allocatable_resource_claim_statuses;
}

void valid__pod_prepare_status(struct api_object *o, const struct api_object *old,
                               const struct valid_opts *opts) {
    struct api_pod *pod = api_own_body(o), copy;
    const struct api_pod *was = old->body;
    api_struct_copy(&o->arena, &api_types[API_T_pod], was, &copy);
    pod->metadata.deletion_timestamp = (struct api_time){0};
    pod->metadata.owner_references = copy.metadata.owner_references;
    keep_claims(&pod->status, &copy.status);
    keep_generations(&o->arena, &pod->status, &was->status);
    valid__drop_disabled(&pod->spec, &pod->metadata.annotations, &was->spec, opts->gates);
    valid__drop_disabled_status(&pod->status, &was->status, opts->gates);
}

/* ---- conditions ---- */

static void check_generation(struct valid *v, const struct path *p, int64_t generation) {
    if (generation < 0)
        valid__invalid(v, p, VALUE_I64(generation), "must be a non-negative integer");
}

static void check_conditions(struct valid *v, const struct path *p,
                             const struct api_pod_condition_list *list) {
    static const char *const known[] = {"PodScheduled", "Ready", "Initialized", NULL};
    for (size_t i = 0; i < list->n; i++) {
        const struct path *at = AT_INDEX(p, i);
        check_generation(v, AT(at, "observedGeneration"), list->v[i].observed_generation);
        if (!valid__one_of(list->v[i].type, known))
            valid__label_key(v, AT(at, "Type"), list->v[i].type);
    }
}

static void check_nomination(struct valid *v, const struct path *p, const struct api_pod *pod,
                             const struct api_pod *old) {
    struct str node = pod->status.nominated_node_name;
    if (!node.n || str_eq(node, old->status.nominated_node_name))
        return;
    valid__dns_subdomain(v, p, node);
    if (feature_enabled(v->gates, FEATURE_ClearingNominatedNodeNameAfterBinding) &&
        old->spec.node_name.n)
        valid__forbidden(v, p, "may not be set on pods that are already bound to a node");
}

/* ---- addresses ---- */

/* Texts of addresses, the list in an error text, and what the status says beside it. */
struct addresses {
    const struct path *p;
    struct api_strs now, was;
    struct value shown;
};

static void check_each(struct valid *v, const struct addresses *a) {
    struct seen seen;
    seen_init(&seen);
    for (size_t i = 0; i < a->was.n; i++)
        seen_add(&seen, a->was.v[i]);
    for (size_t i = 0; i < a->now.n; i++)
        if (!seen_get(&seen, a->now.v[i]))
            valid__ip(v, AT_INDEX(a->p, i), a->now.v[i]);
    seen_release(&seen);
}

static void check_families(struct valid *v, const struct addresses *a) {
    bool found[2] = {false, false}, good = true;
    if (a->now.n < 2)
        return;
    for (size_t i = 0; good && i < a->now.n; i++) {
        struct ip ip = {0};
        good = valid_ip_parse(a->now.v[i], &ip);
        found[ip.is_v6 && !valid_ip_is_mapped(&ip)] = true;
        if (!good)
            valid__internal(v, a->p,
                            "failed to check for dual stack with error:invalid IP[%zu]: %.*s", i,
                            STR_ARG(a->now.v[i]));
    }
    if (!good || !found[0] || !found[1] || a->now.n > 2)
        valid__invalid(v, a->p, a->shown, "may specify no more than one IP for each IP family");
}

static struct api_strs pod_addresses(struct arena *a, const struct api_pod_ip_list *list) {
    struct api_strs texts = {arena_array(a, struct str, list->n), list->n};
    for (size_t i = 0; i < list->n; i++)
        texts.v[i] = list->v[i].ip;
    return texts;
}

static struct api_strs host_addresses(struct arena *a, const struct api_host_ip_list *list) {
    struct api_strs texts = {arena_array(a, struct str, list->n), list->n};
    for (size_t i = 0; i < list->n; i++)
        texts.v[i] = list->v[i].ip;
    return texts;
}

/* Defaulting has seen to it that the first of them is the one that stands alone, unless that is
 * empty. */
static void check_pod_ips(struct valid *v, const struct api_pod_status *now,
                          const struct api_pod_status *was) {
    struct arena *a = v->errs->a;
    struct addresses addresses = {AT(AT(NULL, "status"), "podIPs"), pod_addresses(a, &now->pod_ips),
                                  pod_addresses(a, &was->pod_ips), VALUE_NONE};
    if (now->pod_ips.n)
        addresses.shown = valid__list_value(a, API_T_pod_ip, &now->pod_ips);
    check_each(v, &addresses);
    check_families(v, &addresses);
    if (now->pod_ips.n && !now->pod_ip.n)
        valid__invalid(v, addresses.p, addresses.shown,
                       "podIP and podIPs must either both be set or both be unset");
}

static void check_host_ips(struct valid *v, const struct api_pod_status *now,
                           const struct api_pod_status *was) {
    struct arena *a = v->errs->a;
    const struct path *p = AT(AT(NULL, "status"), "hostIPs");
    struct addresses addresses = {p, host_addresses(a, &now->host_ips),
                                  host_addresses(a, &was->host_ips), VALUE_NONE};
    if (!now->host_ips.n)
        return;
    if (!str_eq(now->host_ip, now->host_ips.v[0].ip))
        valid__invalid(v, AT(AT_INDEX(p, 0), "ip"), VALUE_Q(now->host_ips.v[0].ip),
                       "must be equal to `hostIP`");
    if (now->host_ips.n > 1)
        addresses.shown = valid__list_value(a, API_T_host_ip, &now->host_ips);
    check_each(v, &addresses);
    check_families(v, &addresses);
}

/* ---- all of it ---- */

void valid__pod_status(struct valid *v, const struct api_object *o, const struct api_object *old) {
    const struct api_pod *pod = o->body, *was = old->body;
    const struct path *meta = AT(NULL, "metadata"), *p = AT(NULL, "status");
    struct pod_rules rules = valid__pod_rules(v->gates, &was->spec, &was->metadata);
    valid__finalizer_names(v, AT(meta, "finalizers"), &pod->metadata.finalizers);
    valid__pod_annotations_update(v, AT(meta, "annotations"), &pod->metadata.annotations,
                                  &was->metadata.annotations);
    valid__pod_annotations(v, AT(meta, "annotations"), &pod->metadata.annotations, &pod->spec,
                           &rules);
    check_conditions(v, AT(p, "conditions"), &pod->status.conditions);
    check_nomination(v, AT(p, "nominatedNodeName"), pod, was);
    check_generation(v, AT(p, "observedGeneration"), pod->status.observed_generation);
    if (!str_eq(pod->status.qos_class, was->status.qos_class))
        valid__immutable(v, AT(p, "qosClass"), VALUE_NAMED(pod->status.qos_class));
    valid__container_transitions(v, pod, was);
    valid__claim_statuses(v, pod);
    check_pod_ips(v, &pod->status, &was->status);
    check_host_ips(v, &pod->status, &was->status);
    valid__container_statuses(v, pod);
}
