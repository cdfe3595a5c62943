/* StatefulSets, whose pods have numbers and claims of their own, and DaemonSets, whose pods have
 * nodes of their own. */
#include <stdlib.h>
#include <string.h>

#include "api/names.h"
#include "base/alloc.h"
#include "controller/controller.h"
#include "controller/expand_int.h"
#include "intern/intern.h"
#include "match/match.h"

/* ---- StatefulSet ---- */

#define NAME_KEY  STR("statefulset.kubernetes.io/pod-name")
#define INDEX_KEY STR("apps.kubernetes.io/pod-index")

/* A set that is being expanded. */
struct stateful {
    const struct api_stateful_set *set;
    struct expand_members members;
    struct str revision;
    struct api_object *
        *claims;         /* per template, the claim that was judged last, or NULL; borrowed */
    size_t claim_digits; /* of the members whose claims these are */
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
    for (; all.n < claims->n; all.n++) {
        all.v[all.n].name = arena_str(a, claims->v[all.n].metadata.name);
        all.v[all.n].volume_source.persistent_volume_claim =
            arena_new(a, struct api_persistent_volume_claim_volume_source);
    }
    const struct str *names = template_names(a, claims);
    for (size_t i = 0; i < old.n; i++)
        if (!bsearch(&old.v[i].name, names, claims->n, sizeof *names, str_cmp_qsort))
            all.v[all.n++] = old.v[i];
    pod->spec.volumes = all;
}

/* The member's own claims, in the volumes that put_claims gave to the model. */
static void name_claims(const struct api_stateful_set *set, struct api_object *made) {
    const struct api_persistent_volume_claim_list *claims = &set->spec.volume_claim_templates;
    struct api_pod *pod = made->body;
    struct api_volume_list *volumes = &pod->spec.volumes;
    if (!claims->n)
        return;
    volumes->v = arena_copy(&made->arena, volumes->v, volumes->n * sizeof *volumes->v);
    for (size_t i = 0; i < claims->n; i++) {
        struct api_persistent_volume_claim_volume_source **source =
            &volumes->v[i].volume_source.persistent_volume_claim;
        *source = arena_copy(&made->arena, *source, sizeof **source);
        (*source)->claim_name =
            claim_name(&made->arena, claims->v[i].metadata.name, pod->metadata.name);
    }
}

static struct api_object *claim_new(const struct api_object *set,
                                    const struct api_persistent_volume_claim *template,
                                    struct str name) {
    struct api_object *made =
        api_object_new(api_kind_find(STR("v1"), STR("PersistentVolumeClaim")));
    struct api_persistent_volume_claim *claim = made->body;
    api_struct_copy(&made->arena, &api_types[API_T_persistent_volume_claim_spec], &template->spec,
                    &claim->spec);
    claim->metadata.name = name;
    claim->metadata.namespace = arena_str(&made->arena, set->meta->namespace);
    return made;
}

/* The claim of a member, of a template; like the member's pod, the first one of each length of
 * number is judged, and the others share what it became. */
static bool create_claim(struct expand *e, struct stateful *s, size_t template, struct str pod) {
    const struct api_object *o = s->members.owner;
    const struct api_persistent_volume_claim *from =
        &s->set->spec.volume_claim_templates.v[template];
    struct api_object **model = &s->claims[template];
    struct str name = claim_name(e->c->arena, from->metadata.name, pod);
    if (expand__find(e, API_T_persistent_volume_claim, o->meta->namespace, name))
        return true;
    if (*model)
        return expand__adopt(e, expand__derive(*model, name));
    *model = claim_new(o, from, name);
    return expand__create(e, *model);
}

static bool create_claims(struct expand *e, struct stateful *s, struct str pod, struct str number) {
    size_t n = s->set->spec.volume_claim_templates.n;
    if (n && s->claim_digits != number.n)
        memset(s->claims, 0, n * sizeof *s->claims);
    s->claim_digits = number.n;
    for (size_t i = 0; i < n; i++)
        if (!create_claim(e, s, i, pod))
            return false;
    return true;
}

/* A volume of the member, and what the scheduler knows of its claim. */
enum { VOLUME_BYTES = 512 };

/* What the claims of one member take. */
static size_t claim_bytes(const struct api_object *o) {
    const struct api_stateful_set *set = o->body;
    const struct api_persistent_volume_claim_list *templates = &set->spec.volume_claim_templates;
    size_t bytes = 0;
    for (size_t i = 0; i < templates->n; i++) {
        struct api_object *claim = claim_new(o, &templates->v[i], STR(""));
        bytes += claim->arena.bytes + VOLUME_BYTES;
        api_object_unref(claim);
    }
    return bytes;
}

static bool pay(struct expand *e, struct stateful *s) {
    if (!s->members.unpaid)
        return true;
    return expand__members_pay(e, &s->members, EXPAND__CLASS_BYTES + claim_bytes(s->members.owner));
}

static bool make_member(struct expand *e, struct stateful *s, struct str name, struct str number) {
    if (!pay(e, s) || !create_claims(e, s, name, number))
        return false;
    struct api_object *made = expand__member_new(&s->members, name, number);
    struct api_pod *pod = made->body;
    struct label labels[] = {
        {NAME_KEY, name}, {INDEX_KEY, number}, {STR("controller-revision-hash"), s->revision}};
    expand__set_labels(e->c->arena, &pod->metadata.labels, labels, sizeof labels / sizeof *labels);
    pod->spec.hostname = name;
    if (!s->members.model) {
        pod->spec.subdomain = arena_str(&made->arena, s->set->spec.service_name);
        put_claims(s->set, made);
    }
    name_claims(s->set, made);
    return expand__member_add(e, &s->members, made);
}

/* All members at once: what they wait for when they are started in order is not simulated. */
void expand__stateful_set(struct expand *e, struct api_object *o) {
    const struct api_stateful_set *set = o->body;
    const struct api_pod_template_spec *template = &set->spec.template;
    struct arena *a = e->c->arena;
    int64_t count = set->spec.replicas.set ? set->spec.replicas.v : 1;
    int64_t start = set->spec.ordinals ? set->spec.ordinals->start : 0;
    int64_t there = expand__count_active(expand__owned(e, o));
    struct str hash = expand__hash(a, template);
    struct stateful s = {
        .set = set,
        .members = {.owner = o, .template = template, .unpaid = count > there ? count - there : 1},
        .revision = arena_printf(a, "%.*s-%.*s", STR_ARG(o->meta->name), STR_ARG(hash)),
        .claims = arena_array(&e->arena, struct api_object *, set->spec.volume_claim_templates.n)};
    s.members.differ = expand__asks_own_label(&template->spec, NAME_KEY) ||
                       expand__asks_own_label(&template->spec, INDEX_KEY);
    if (!expand__may(e, count))
        return;
    for (int64_t i = start; i < start + count; i++) {
        struct str number = arena_printf(a, "%lld", (long long)i);
        struct str name = arena_printf(a, "%.*s-%.*s", STR_ARG(o->meta->name), STR_ARG(number));
        if (!expand__find(e, API_T_pod, o->meta->namespace, name) &&
            !make_member(e, &s, name, number))
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
    if (e->daemons)
        return e->daemons;
    struct expand_daemons *d = xcalloc(1, sizeof *d);
    d->atoms = intern_new(map_random_seed());
    d->match = match_new(d->atoms, e->c->gates, e->c->engine, map_random_seed());
    for (size_t i = 0; i < e->object_count; i++) {
        const struct api_object *o = e->objects[i].object;
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

/* A term that only the node of this name matches, in an affinity of the pod's own. */
static void aim_at(struct api_object *made, struct str node) {
    struct arena *a = &made->arena;
    struct api_pod_spec *spec = &((struct api_pod *)made->body)->spec;
    struct api_affinity *affinity = arena_new(a, struct api_affinity);
    struct api_node_affinity *node_affinity = arena_new(a, struct api_node_affinity);
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
    if (spec->affinity)
        *affinity = *spec->affinity;
    if (affinity->node_affinity)
        *node_affinity = *affinity->node_affinity;
    node_affinity->required = required;
    affinity->node_affinity = node_affinity;
    spec->affinity = affinity;
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

/* A set that is being expanded. */
struct daemons {
    struct expand_members members;
    struct str revision;
};

/* A node that a server stored may have a name that a pod cannot ask for: that pod is judged. */
static bool make_daemon(struct expand *e, struct daemons *all, struct str node, struct str number) {
    struct expand_members *members = &all->members;
    struct label revision = {STR("controller-revision-hash"), all->revision};
    if (!expand__may(e, 1) || !expand__members_pay(e, members, 0))
        return false;
    if (names_check_dns1123_subdomain(node).n)
        members->model = NULL;
    struct str name = arena_printf(e->c->arena, "%.*s-%.*s", STR_ARG(members->owner->meta->name),
                                   STR_ARG(number));
    struct api_object *made = expand__member_new(members, name, number);
    struct api_pod_spec *spec = &((struct api_pod *)made->body)->spec;
    if (!members->model) {
        struct api_toleration_list tolerations;
        expand__set_labels(e->c->arena, &made->meta->labels, &revision, 1);
        controller_daemon_tolerations(&made->arena, spec, &tolerations);
        spec->tolerations = tolerations;
    }
    aim_at(made, node);
    return expand__member_add(e, members, made);
}

/* The nodes that need a daemon and have none. */
struct places {
    VEC(size_t) nodes; /* in the order of the input */
};

static void find_places(struct expand *e, const struct api_object *o, struct places *out) {
    const struct api_daemon_set *set = o->body;
    struct expand_daemons *d = daemons_of(e);
    struct map served = MAP_INIT(map_random_seed());
    struct controller_daemon *daemon = controller_daemon_new(d->match, &set->spec.template.spec);
    note_served(&served, expand__owned(e, o));
    for (size_t i = 0; i < d->nodes.n; i++)
        if (!map_get(&served, d->nodes.v[i].name) &&
            controller_daemon_check(daemon, &d->nodes.v[i]).should_run)
            vec_push(&out->nodes, i);
    controller_daemon_free(daemon);
    map_release(&served);
}

void expand__daemon_set(struct expand *e, struct api_object *o) {
    const struct api_daemon_set *set = o->body;
    struct arena *a = e->c->arena;
    struct places places = {0};
    find_places(e, o, &places);
    struct daemons all = {
        .members = {.owner = o, .template = &set->spec.template, .unpaid = (int64_t)places.nodes.n},
        .revision = expand__hash(a, &set->spec.template)};
    for (size_t i = 0; i < places.nodes.n; i++) {
        size_t node = places.nodes.v[i];
        if (!make_daemon(e, &all, e->daemons->nodes.v[node].name, arena_printf(a, "%zu", node)))
            break;
    }
    vec_release(&places.nodes);
}
