/*
 * StatefulSets, whose pods have numbers and claims of their own.
 *
 * Follows k8s.io/kubernetes pkg/controller/statefulset, func newStatefulSetPod,
 * func getPersistentVolumeClaims, func updateStorage.
 */
#include <stdlib.h>
#include <string.h>

#include "controller/expand_int.h"

#define NAME_KEY  STR("statefulset.kubernetes.io/pod-name")
#define INDEX_KEY STR("apps.kubernetes.io/pod-index")

/* A set that is being expanded. */
struct stateful {
    const struct api_stateful_set *set;
    struct expand_members members;
    struct str revision;
    /* Per template, the claim that was judged last, or NULL; borrowed. */
    const struct api_object **claims;
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
    struct api_pod *pod = api_own_body(made);
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
    struct api_pod *pod = api_own_body(made);
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
    struct api_persistent_volume_claim *claim = api_own_body(made);
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
    const struct api_object **model = &s->claims[template];
    struct str name = claim_name(e->c->arena, from->metadata.name, pod);
    if (expand__find(e, API_T_persistent_volume_claim, o->meta->namespace, name))
        return true;
    if (*model)
        return expand__adopt(e, expand__derive(*model, name));
    *model = expand__create(e, claim_new(o, from, name));
    return *model;
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
        api_object_free(claim);
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
    struct api_pod *pod = api_own_body(made);
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

/* Begins to make members of the set, about so many. */
static struct stateful stateful_of(struct expand *e, const struct api_object *o, int64_t count) {
    const struct api_stateful_set *set = o->body;
    const struct api_pod_template_spec *template = &set->spec.template;
    struct arena *a = e->c->arena;
    struct str hash = controller_template_hash(a, template, NULL);
    return (struct stateful){
        .set = set,
        .members = {.owner = o,
                    .template = template,
                    .unpaid = count,
                    .differ = expand__asks_own_label(&template->spec, NAME_KEY) ||
                              expand__asks_own_label(&template->spec, INDEX_KEY)},
        .revision = arena_printf(a, "%.*s-%.*s", STR_ARG(o->meta->name), STR_ARG(hash)),
        .claims =
            arena_array(&e->arena, const struct api_object *, set->spec.volume_claim_templates.n)};
}

/* The numbers of the members that there shall be: from, to, without the last. */
struct ordinals {
    int64_t from, to;
};

static struct ordinals ordinals_of(const struct api_stateful_set *set) {
    int64_t count = set->spec.replicas.set ? set->spec.replicas.v : 1;
    int64_t from = set->spec.ordinals ? set->spec.ordinals->start : 0;
    return (struct ordinals){from, from + count};
}

static struct str member_name(struct expand *e, const struct api_object *o, struct str number) {
    return arena_printf(e->c->arena, "%.*s-%.*s", STR_ARG(o->meta->name), STR_ARG(number));
}

/* All members at once: what they wait for when they are started in order is not simulated. */
void expand__stateful_set(struct expand *e, const struct api_object *o) {
    struct ordinals all = ordinals_of(o->body);
    int64_t missing = all.to - all.from - expand__count_active(expand__owned(e, o));
    struct stateful s = stateful_of(e, o, missing > 0 ? missing : 1);
    if (!expand__may(e, all.to - all.from))
        return;
    for (int64_t i = all.from; i < all.to; i++) {
        struct str number = arena_printf(e->c->arena, "%lld", (long long)i);
        struct str name = member_name(e, o, number);
        if (!expand__find(e, API_T_pod, o->meta->namespace, name) &&
            !make_member(e, &s, name, number))
            return;
    }
}

/* ---- rollouts ---- */

/* The number of a member, or -1. */
static int64_t ordinal_of(const struct api_object *o, struct str pod) {
    int64_t number;
    size_t n = o->meta->name.n;
    if (pod.n <= n + 1 || !str_starts(pod, o->meta->name) || pod.p[n] != '-' ||
        !str_to_i64(str_sub(pod, n + 1, pod.n), &number))
        return -1;
    return number;
}

/* The first number whose old member is replaced. */
static int64_t first_replaced(struct expand *e, const struct api_object *o) {
    const struct api_stateful_set *set = o->body, *before = e->before->body;
    const struct api_stateful_set_update_strategy *strategy = &set->spec.update_strategy;
    if (!expand__replaces(e, strategy->type, &set->spec.template, &before->spec.template))
        return INT64_MAX;
    if (!strategy->rolling_update || !strategy->rolling_update->partition.set)
        return 0;
    return strategy->rolling_update->partition.v;
}

/* The last member comes first. Their names differ in their numbers only. */
static int compare_ordinals(const void *x, const void *y) {
    const struct controller_rollout_pod *a = x, *b = y;
    if (a->place.n != b->place.n)
        return a->place.n < b->place.n ? 1 : -1;
    return str_cmp(b->place, a->place);
}

/* The members that are there; those from the first on and those that have to go are old. */
static void add_members(struct expand *e, const struct api_object *o, int64_t first,
                        struct controller_rollout *r) {
    const struct expand_owned *owned = expand__owned(e, o);
    struct ordinals all = ordinals_of(o->body);
    for (size_t i = 0; owned && i < owned->pods.n; i++) {
        int64_t number = ordinal_of(o, owned->pods.v[i]->meta->name);
        bool stays = number >= all.from && number < all.to && number < first;
        if (!expand__is_active(owned->pods.v[i]))
            continue;
        expand__roll_add(r, owned->pods.v[i], stays);
        r->kept += stays && first > 0 && first < INT64_MAX;
    }
    if (r->pods.n)
        qsort(r->pods.v, r->pods.n, sizeof *r->pods.v, compare_ordinals);
}

/* Members that are missing, and those that replace old ones from the first on; the last comes
 * first. False when one is refused. */
static bool make_members(struct expand *e, struct stateful *s, struct ordinals all, int64_t first) {
    const struct api_object *o = s->members.owner;
    for (int64_t i = all.to; i-- > all.from;) {
        struct str number = arena_printf(e->c->arena, "%lld", (long long)i);
        struct str name = member_name(e, o, number);
        bool is_there = expand__find(e, API_T_pod, o->meta->namespace, name);
        if ((!is_there || i >= first) && !make_member(e, s, name, number))
            return false;
    }
    return true;
}

bool expand__roll_stateful_set(struct expand *e, const struct api_object *o) {
    struct ordinals all = ordinals_of(o->body);
    struct controller_rollout r = {.maker = e->maker};
    struct stateful s = stateful_of(e, o, all.to > all.from ? all.to - all.from : 1);
    int64_t first = first_replaced(e, o);
    controller_rollout_of_stateful_set(&r, o->body);
    add_members(e, o, first, &r);
    bool rolls = r.pods.n && expand__may(e, all.to - all.from);
    if (rolls) {
        expand__roll_begin(e, &r);
        expand__roll_end(e, make_members(e, &s, all, first));
    }
    controller_rollout_release(&r);
    return rolls;
}
