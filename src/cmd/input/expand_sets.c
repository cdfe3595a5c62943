/* StatefulSets, whose pods have numbers and claims of their own, and DaemonSets, whose pods have
 * nodes of their own. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "cmd/input/expand.h"
#include "controller/controller.h"
#include "intern/intern.h"
#include "match/match.h"

/* ---- StatefulSet ---- */

/* One member of a set. */
struct member {
    struct str name, number, revision;
};

/* data-web-0 for the template data and the pod web-0. */
static struct str claim_name(struct arena *a, struct str template, struct str pod) {
    return arena_printf(a, "%.*s-%.*s", STR_ARG(template), STR_ARG(pod));
}

/* The names of the templates, sorted. */
static struct str *template_names(struct arena *a,
                                  const struct api_persistent_volume_claim_list *claims) {
    struct str *names = arena_array(a, struct str, claims->n);
    for (size_t i = 0; i < claims->n; i++)
        names[i] = claims->v[i].metadata.name;
    qsort(names, claims->n, sizeof *names, str_cmp_qsort);
    return names;
}

/* The claims of the set's templates come first, then the template's volumes of other names. */
static void put_claims(const struct api_stateful_set *set, struct api_object *made) {
    const struct api_persistent_volume_claim_list *claims = &set->spec.volume_claim_templates;
    struct api_pod *pod = made->body;
    struct arena *a = &made->arena;
    struct api_volume_list old = pod->spec.volumes, all = {0};
    if (!claims->n)
        return;
    all.v = arena_array(a, struct api_volume, old.n + claims->n);
    for (size_t i = 0; i < claims->n; i++) {
        struct str name = claims->v[i].metadata.name;
        struct api_persistent_volume_claim_volume_source *source =
            arena_new(a, struct api_persistent_volume_claim_volume_source);
        source->claim_name = claim_name(a, name, pod->metadata.name);
        all.v[all.n].name = arena_str(a, name);
        all.v[all.n++].volume_source.persistent_volume_claim = source;
    }
    const struct str *names = template_names(a, claims);
    for (size_t i = 0; i < old.n; i++)
        if (!bsearch(&old.v[i].name, names, claims->n, sizeof *names, str_cmp_qsort))
            all.v[all.n++] = old.v[i];
    pod->spec.volumes = all;
}

static bool create_claim(struct expand *e, const struct api_object *o,
                         const struct api_persistent_volume_claim *template, struct str pod) {
    struct str name = claim_name(&e->c->arena, template->metadata.name, pod);
    if (cluster_find(e->c, "PersistentVolumeClaim", o->meta->namespace, name))
        return true;
    struct api_object *made =
        api_object_new(api_kind_find(STR("v1"), STR("PersistentVolumeClaim")));
    struct api_persistent_volume_claim *claim = made->body;
    api_struct_copy(&made->arena, &api_types[API_T_persistent_volume_claim_spec], &template->spec,
                    &claim->spec);
    claim->metadata.name = name;
    claim->metadata.namespace = arena_str(&made->arena, o->meta->namespace);
    return expand__create(e, made);
}

static bool make_member(struct expand *e, const struct api_object *o, const struct member *m) {
    const struct api_stateful_set *set = o->body;
    for (size_t i = 0; i < set->spec.volume_claim_templates.n; i++)
        if (!create_claim(e, o, &set->spec.volume_claim_templates.v[i], m->name))
            return false;
    struct api_object *made = expand__pod_new(o, &set->spec.template, m->name);
    struct api_pod *pod = made->body;
    struct label labels[] = {
        {STR("statefulset.kubernetes.io/pod-name"), m->name},
        {STR("apps.kubernetes.io/pod-index"), m->number},
        {STR("controller-revision-hash"), m->revision},
    };
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        labels_put(&made->arena, &pod->metadata.labels, labels[i]);
    pod->spec.hostname = m->name;
    pod->spec.subdomain = arena_str(&made->arena, set->spec.service_name);
    put_claims(set, made);
    return expand__create(e, made);
}

/* All members at once: what they wait for when they are started in order is not simulated. */
void expand__stateful_set(struct expand *e, struct api_object *o) {
    const struct api_stateful_set *set = o->body;
    struct arena *a = &e->c->arena;
    int64_t count = set->spec.replicas.set ? set->spec.replicas.v : 1;
    int64_t start = set->spec.ordinals ? set->spec.ordinals->start : 0;
    struct str hash = expand__hash(a, &set->spec.template);
    struct member m = {.revision =
                           arena_printf(a, "%.*s-%.*s", STR_ARG(o->meta->name), STR_ARG(hash))};
    if (!expand__may(e, count))
        return;
    for (int64_t i = start; i < start + count; i++) {
        m.number = arena_printf(a, "%lld", (long long)i);
        m.name = arena_printf(a, "%.*s-%.*s", STR_ARG(o->meta->name), STR_ARG(m.number));
        if (!cluster_find(e->c, "Pod", o->meta->namespace, m.name) && !make_member(e, o, &m))
            return;
    }
}

/* ---- DaemonSet ---- */

struct expand_daemons {
    struct intern *atoms;
    struct match *match;
    VEC(struct controller_node) nodes;
    VEC(struct match_node *) labels;
};

static void add_node(struct expand_daemons *d, const struct api_object *o) {
    const struct api_node *node = o->body;
    struct match_node *labels = match_node_new(d->match, o->meta->name, &o->meta->labels);
    struct match_taints *taints = match_taints_get(d->match, &node->spec.taints);
    match_ref(&taints->list);
    vec_push(&d->labels, labels);
    vec_push(&d->nodes, (struct controller_node){o->meta->name, labels, taints});
}

/* The nodes, compiled when the first DaemonSet comes. */
static struct expand_daemons *daemons_of(struct expand *e) {
    const struct cluster *c = e->c;
    if (e->daemons)
        return e->daemons;
    struct expand_daemons *d = xcalloc(1, sizeof *d);
    d->atoms = intern_new(map_random_seed());
    d->match = match_new(d->atoms, &c->opts.gates->enabled, c->opts.engine, map_random_seed());
    for (size_t i = 0; i < c->items.n; i++) {
        const struct api_object *o = c->items.v[i].object;
        if (o && o->type == &api_types[API_T_node])
            add_node(d, o);
    }
    return e->daemons = d;
}

void expand__daemons_free(struct expand_daemons *d) {
    if (!d)
        return;
    for (size_t i = 0; i < d->labels.n; i++)
        match_node_free(d->labels.v[i]);
    vec_release(&d->labels);
    vec_release(&d->nodes);
    match_free(d->match);
    intern_free(d->atoms);
    free(d);
}

/* A term that only the node of this name matches. */
static void aim_at(struct api_object *made, struct str node) {
    struct arena *a = &made->arena;
    struct api_pod_spec *spec = &((struct api_pod *)made->body)->spec;
    struct api_node_selector *required = arena_new(a, struct api_node_selector);
    struct api_node_selector_term *term = arena_new(a, struct api_node_selector_term);
    struct api_node_selector_requirement *field =
        arena_new(a, struct api_node_selector_requirement);
    struct str *value = arena_new(a, struct str);
    *value = arena_str(a, node);
    *field = (struct api_node_selector_requirement){
        .key = STR("metadata.name"), .operator= STR("In"), .values = {value, 1}};
    term->match_fields = (struct api_node_selector_requirement_list){field, 1};
    required->node_selector_terms = (struct api_node_selector_term_list){term, 1};
    if (!spec->affinity)
        spec->affinity = arena_new(a, struct api_affinity);
    if (!spec->affinity->node_affinity)
        spec->affinity->node_affinity = arena_new(a, struct api_node_affinity);
    spec->affinity->node_affinity->required = required;
}

/* The node that a pod of a DaemonSet is for: where it is, or what its affinity names. */
static struct str target_of(const struct api_object *pod) {
    const struct api_pod_spec *spec = &((const struct api_pod *)pod->body)->spec;
    if (spec->node_name.n)
        return spec->node_name;
    const struct api_node_affinity *affinity =
        spec->affinity ? spec->affinity->node_affinity : NULL;
    if (!affinity || !affinity->required || !affinity->required->node_selector_terms.n)
        return STR("");
    const struct api_node_selector_term *term = &affinity->required->node_selector_terms.v[0];
    if (!term->match_fields.n || !term->match_fields.v[0].values.n)
        return STR("");
    return term->match_fields.v[0].values.v[0];
}

static void note_served(struct map *served, const struct expand_owned *owned) {
    for (size_t i = 0; owned && i < owned->pods.n; i++) {
        const struct api_object *pod = owned->pods.v[i];
        if (expand__is_active(pod) && target_of(pod).n)
            map_put(served, target_of(pod), (void *)pod);
    }
}

/* Where one daemon goes, and what makes it one of its set. */
struct daemon_place {
    struct str node, revision;
    size_t number;
};

static bool make_daemon(struct expand *e, const struct api_object *o,
                        const struct daemon_place *place) {
    const struct api_daemon_set *set = o->body;
    if (!expand__may(e, 1))
        return false;
    struct str name = arena_printf(&e->c->arena, "%.*s-%zu", STR_ARG(o->meta->name), place->number);
    struct api_object *made = expand__pod_new(o, &set->spec.template, name);
    struct api_pod *pod = made->body;
    struct api_toleration_list tolerations;
    labels_put(&made->arena, &pod->metadata.labels,
               (struct label){STR("controller-revision-hash"), place->revision});
    controller_daemon_tolerations(&made->arena, &pod->spec, &tolerations);
    pod->spec.tolerations = tolerations;
    aim_at(made, place->node);
    return expand__create(e, made);
}

void expand__daemon_set(struct expand *e, struct api_object *o) {
    const struct api_daemon_set *set = o->body;
    struct expand_daemons *d = daemons_of(e);
    struct map served = MAP_INIT(map_random_seed());
    struct controller_daemon *daemon = controller_daemon_new(d->match, &set->spec.template.spec);
    struct daemon_place place = {.revision = expand__hash(&e->c->arena, &set->spec.template)};
    note_served(&served, expand__owned(e, o));
    for (size_t i = 0; i < d->nodes.n; i++) {
        const struct controller_node *node = &d->nodes.v[i];
        place.node = node->name;
        place.number = i;
        if (!map_get(&served, node->name) && controller_daemon_check(daemon, node).should_run &&
            !make_daemon(e, o, &place))
            break;
    }
    controller_daemon_free(daemon);
    map_release(&served);
}
