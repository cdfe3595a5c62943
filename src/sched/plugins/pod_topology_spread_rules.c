/*
 * The constraints of a class: its own, or the profile's with a selector made from the services that
 * select the pod and the controller that owns it. The latter change as these objects do.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/framework/plugins/podtopologyspread,
 * func (*PodTopologySpread) getConstraints, func (*PodTopologySpread) buildDefaultConstraints.
 */
#include <string.h>

#include "sched/plugins/pod_topology_spread_int.h"
#include "sched/topology/services_int.h"

static const struct api_topology_spread_constraint system_constraints[] = {
    {.topology_key = STR_INIT("kubernetes.io/hostname"),
     .when_unsatisfiable = STR_INIT("ScheduleAnyway"),
     .max_skew = 3},
    {.topology_key = STR_INIT("topology.kubernetes.io/zone"),
     .when_unsatisfiable = STR_INIT("ScheduleAnyway"),
     .max_skew = 5},
};

/* ---- selectors ---- */

/* What is required of labels cannot be wrong: it comes from labels, or was compiled before. */
static void require_labels(struct selector *sel, const struct labels *labels) {
    struct err err;
    for (size_t i = 0; i < labels->n; i++)
        selector_require(sel, labels->v[i].key, SELECTOR_EQUALS, &labels->v[i].value, 1, &err);
}

static void require_all(struct selector *sel, const struct selector *other) {
    struct err err;
    for (size_t i = 0; i < other->n; i++)
        selector_require(sel, other->reqs[i].key, other->reqs[i].op, other->reqs[i].values,
                         other->reqs[i].value_count, &err);
}

/* The pod's own values of the labels that matchLabelKeys names. */
static struct labels named_labels(struct arena *a, const struct api_strs *keys,
                                  const struct labels *labels) {
    struct labels named = {.v = arena_array(a, struct label, keys->n)};
    for (size_t i = 0; i < keys->n; i++) {
        const struct label *label = labels_find(labels, keys->v[i]);
        if (label)
            named.v[named.n++] = *label;
    }
    return named;
}

static int compile_selector(struct sched *s, struct sched__spread *d,
                            const struct api_topology_spread_constraint *spec,
                            const struct selector **out, struct str *error) {
    struct selector *sel;
    struct err err;
    *out = NULL;
    if (selector_compile(&d->arena, spec->label_selector, &sel, &err) < 0) {
        *error = sel->error;
        return -1;
    }
    *out = sel;
    if (!sel || !spec->match_label_keys.n ||
        !feature_enabled(&s->gates, FEATURE_MatchLabelKeysInPodTopologySpread))
        return 0;
    struct labels named =
        named_labels(&d->arena, &spec->match_label_keys, &d->cls->pod->metadata.labels);
    struct selector *merged = arena_new(&d->arena, struct selector);
    selector_init(merged, &d->arena);
    require_labels(merged, &named);
    require_all(merged, sel);
    selector_seal(merged);
    *out = merged;
    return 0;
}

/* ---- the selector of default constraints ---- */

/* Services that select the pod have its own values. A replication controller, which need not select
 * it, has the last word on the labels that it names. */
static void require_services(struct sched *s, const struct api_object_meta *pod,
                             const struct labels *controller, struct selector *sel) {
    bool *asked = arena_array(sel->arena, bool, pod->labels.n);
    struct err err;
    sched__services_mark(s, pod, asked);
    for (size_t i = 0; i < pod->labels.n; i++)
        if (asked[i] && !labels_find(controller, pod->labels.v[i].key))
            selector_require(sel, pod->labels.v[i].key, SELECTOR_EQUALS, &pod->labels.v[i].value, 1,
                             &err);
}

static const struct api_owner_reference *find_controller(const struct api_object_meta *pod) {
    for (size_t i = 0; i < pod->owner_references.n; i++)
        if (pod->owner_references.v[i].controller.set && pod->owner_references.v[i].controller.v)
            return &pod->owner_references.v[i];
    return NULL;
}

/* The controller of the pod, if it is of this kind and known. */
static const struct api_object *find_owner(struct sched *s, const struct api_object_meta *pod,
                                           struct str version, struct str kind,
                                           const struct map *objects) {
    const struct api_owner_reference *owner = find_controller(pod);
    if (!owner || !str_eq(owner->api_version, version) || !str_eq(owner->kind, kind))
        return NULL;
    return sched__store_find(s, objects, pod->namespace, owner->name);
}

static void require_spec(struct selector *sel, const struct api_label_selector *spec) {
    struct selector *other;
    struct err err;
    if (selector_compile(sel->arena, spec, &other, &err) == 0 && other)
        require_all(sel, other);
}

static void require_owner(struct sched *s, const struct api_object_meta *pod,
                          struct selector *sel) {
    const struct api_object *o =
        find_owner(s, pod, STR("apps/v1"), STR("ReplicaSet"), &s->store.replica_sets);
    if (o)
        require_spec(sel, ((const struct api_replica_set *)o->body)->spec.selector);
    o = find_owner(s, pod, STR("apps/v1"), STR("StatefulSet"), &s->store.stateful_sets);
    if (o)
        require_spec(sel, ((const struct api_stateful_set *)o->body)->spec.selector);
}

/* Borrows from the objects that it is made of. */
static struct selector *default_selector(struct sched *s, const struct api_object_meta *pod,
                                         struct arena *a) {
    static const struct labels none;
    const struct api_object *o = find_owner(s, pod, STR("v1"), STR("ReplicationController"),
                                            &s->store.replication_controllers);
    const struct labels *controller =
        o ? &((const struct api_replication_controller *)o->body)->spec.selector : &none;
    struct selector *sel = arena_new(a, struct selector);
    selector_init(sel, a);
    require_services(s, pod, controller, sel);
    require_labels(sel, controller);
    require_owner(s, pod, sel);
    selector_seal(sel);
    return sel;
}

/* ---- rules ---- */

static bool honors(struct sched *s, struct str policy, bool by_default) {
    if (!policy.p || !feature_enabled(&s->gates, FEATURE_NodeInclusionPolicyInPodTopologySpread))
        return by_default;
    return str_is(policy, "Honor");
}

static struct sched__spread_rule make_rule(struct sched *s, const struct sched__spread *d,
                                           size_t place, const struct selector *sel) {
    const struct api_topology_spread_constraint *spec = &d->specs[place];
    return (struct sched__spread_rule){
        .place = place,
        .label = spec->topology_key,
        .max_skew = spec->max_skew,
        .min_domains = spec->min_domains.set ? spec->min_domains.v : 1,
        .honors_affinity = honors(s, spec->node_affinity_policy, true),
        .honors_taints = honors(s, spec->node_taints_policy, false),
        .by_host = str_is(spec->topology_key, "kubernetes.io/hostname"),
        .self = selector_matches(sel, &d->cls->pod->metadata.labels),
        .selector = sel,
        .topology = sched__topology_ref(sched__topology_get(s, spec->topology_key)),
    };
}

static void add_rule(struct sched *s, struct sched__spread *d, size_t place,
                     const struct selector *shared) {
    const struct api_topology_spread_constraint *spec = &d->specs[place];
    bool hard = str_is(spec->when_unsatisfiable, "DoNotSchedule");
    if (!hard && !str_is(spec->when_unsatisfiable, "ScheduleAnyway"))
        return;
    struct sched__spread_rules *rules = hard ? &d->hard : &d->soft;
    const struct selector *sel = shared;
    if (rules->error.p || (!shared && compile_selector(s, d, spec, &sel, &rules->error) < 0))
        return;
    rules->v[rules->n++] = make_rule(s, d, place, sel);
}

/* An empty selector counts nothing, though it matches the pod itself. */
static struct sched__podset *rule_set(struct sched *s, const struct sched__spread *d,
                                      const struct sched__spread_rule *rule) {
    const struct selector *sel = rule->selector;
    struct sched__podterm term = {.namespaces = &d->cls->pod->metadata.namespace,
                                  .namespace_count = 1,
                                  .selector = sel && sel->n ? sel : NULL};
    return sched__podset_get(s, &term, 1, true);
}

/* Most pods care for no particular nodes; then all of them share partitions. */
static bool has_affinity(const struct api_pod_spec *spec) {
    return spec->node_selector.n || (spec->affinity && spec->affinity->node_affinity &&
                                     spec->affinity->node_affinity->required);
}

/* The nodes that take part, by whether taints and node affinity are honored; NULL: not asked for
 * yet, or all do. */
struct participants {
    struct sched__eligible_spec spec; /* without what the rules differ in */
    struct sched__eligible *v[2][2];
};

static struct sched__eligible *participants_of(struct sched *s, const struct sched__spread *d,
                                               struct participants *all,
                                               const struct sched__spread_rule *rule) {
    const struct api_pod_spec *pod = &d->cls->pod->spec;
    struct sched__eligible **known = &all->v[rule->honors_taints][rule->honors_affinity];
    if (*known)
        return *known;
    struct sched__eligible_spec spec = all->spec;
    spec.tolerations = rule->honors_taints ? d->cls->tolerations : NULL;
    spec.affinity = rule->honors_affinity && has_affinity(pod) ? pod : NULL;
    return *known = sched__eligible_get(s, &spec);
}

static void count_rule(struct sched *s, const struct sched__spread *d, struct participants *all,
                       struct sched__spread_rule *rule, bool each_node) {
    struct sched__partition_spec by = {0};
    if (!each_node)
        by = (struct sched__partition_spec){rule->label, participants_of(s, d, all, rule)};
    rule->tally = sched__tally_get(s, rule_set(s, d, rule), sched__partition_get(s, &by));
}

static void count_rules(struct sched *s, const struct sched__spread *d,
                        const struct sched__spread_rules *rules, bool strict) {
    struct arena a = {0};
    struct participants all = {0};
    if (!rules->n)
        return;
    struct str *labels = arena_array(&a, struct str, rules->n);
    for (size_t i = 0; i < rules->n; i++)
        labels[i] = rules->v[i].label;
    all.spec.must = labels;
    all.spec.must_count = strict && rules->n > 1 ? rules->n : 0;
    for (size_t i = 0; i < rules->n; i++)
        count_rule(s, d, &all, &rules->v[i], rules == &d->soft && rules->v[i].by_host);
    for (size_t i = 0; i < 4; i++)
        sched__eligible_unref(s, all.v[i / 2][i % 2]);
    arena_release(&a);
}

static void drop_rules(struct sched *s, struct sched__spread_rules *rules) {
    for (size_t i = 0; i < rules->n; i++) {
        sched__tally_unref(s, rules->v[i].tally);
        sched__topology_unref(rules->v[i].topology);
    }
    *rules = (struct sched__spread_rules){0};
}

static void make_rules(struct sched *s, struct sched__spread *d, const struct selector *shared) {
    d->hard.v = arena_array(&d->arena, struct sched__spread_rule, d->spec_count);
    d->soft.v = arena_array(&d->arena, struct sched__spread_rule, d->spec_count);
    for (size_t i = 0; i < d->spec_count; i++)
        add_rule(s, d, i, shared);
    count_rules(s, d, &d->hard, true);
    count_rules(s, d, &d->soft, d->strict);
}

/* ---- life ---- */

/* The pod's own constraints, or the profile's. */
static void take_specs(struct sched__spread *d, const struct sched_profile *profile) {
    const struct api_topology_spread_constraint_list *own =
        &d->cls->pod->spec.topology_spread_constraints;
    const struct api_topology_spread_constraint_list *list = own->n ? own : profile->default_spread;
    d->own = own->n > 0;
    if (!d->own && profile->system_spread) {
        d->specs = system_constraints;
        d->spec_count = sizeof system_constraints / sizeof *system_constraints;
    } else if (list) {
        d->specs = list->v;
        d->spec_count = list->n;
    }
}

/* Enough for the text of a selector that asks for nothing, which most pods have by default. */
enum { FIRST_BYTES = 64 };

void *sched__spread_compile(struct sched *s, struct sched__pod_class *c) {
    struct sched__spread d = {.cls = c};
    if (!c->profile)
        return NULL;
    take_specs(&d, c->profile);
    if (!d.spec_count)
        return NULL;
    d.strict = d.own || !c->profile->system_spread;
    d.generation = s->selectors_generation - 1;
    struct sched__spread *data = arena_copy(&c->arena, &d, sizeof d);
    arena_start(&data->arena, FIRST_BYTES);
    if (d.own)
        make_rules(s, data, NULL);
    return data;
}

static void clear(struct sched *s, struct sched__spread *d) {
    drop_rules(s, &d->hard);
    drop_rules(s, &d->soft);
    d->selector = (struct str){0};
}

void sched__spread_discard(struct sched *s, void *data) {
    struct sched__spread *d = data;
    clear(s, d);
    arena_release(&d->arena);
}

static void refresh_defaults(struct sched *s, struct sched__spread *d) {
    struct arena a = {0};
    struct buf text = BUF_INIT(SIZE_MAX);
    d->generation = s->selectors_generation;
    struct selector *sel = default_selector(s, &d->cls->pod->metadata, &a);
    sched__podterm_write(&text, &(struct sched__podterm){.selector = sel});
    if (!str_eq(buf_view(&text), d->selector)) {
        clear(s, d);
        arena_reset(&d->arena);
        d->selector = arena_str(&d->arena, buf_view(&text));
        if (sel->n)
            make_rules(
                s, d,
                sched__podterm_copy(&d->arena, &(struct sched__podterm){.selector = sel}).selector);
    }
    buf_release(&text);
    arena_release(&a);
}

const struct sched__spread *sched__spread_refresh(struct sched *s, struct sched__pod_class *c) {
    struct sched__spread *d = c->data[SCHED_SPREAD];
    if (d && !d->own && d->generation != s->selectors_generation)
        refresh_defaults(s, d);
    return d;
}
