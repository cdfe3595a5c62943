/*
 * Making the members of a workload: one is judged as a server would, and the others share what it
 * became. What all of them together may take is limited.
 */
#include <string.h>

#include "base/limits.h"
#include "controller/expand_int.h"

/* ---- how many, and how much ---- */

bool expand__may(struct expand *e, int64_t pods) {
    AUTO(arena_release) struct arena a = {0};
    if (pods <= LIMIT_EXPANDED_PODS - (int64_t)e->made->pods)
        return true;
    e->c->refuse(e->c->ctx,
                 arena_printf(&a,
                              "%.*s: not expanded: %lld more pods would be more than %d made of "
                              "templates",
                              STR_ARG(e->maker), (long long)pods, LIMIT_EXPANDED_PODS));
    return false;
}

bool expand__afford(struct expand *e, size_t bytes, int64_t count) {
    AUTO(arena_release) struct arena a = {0};
    size_t left = LIMIT_EXPANDED_BYTES - e->made->bytes;
    if (bytes <= left / (size_t)count) {
        e->made->bytes += bytes * (size_t)count;
        return true;
    }
    e->c->refuse(e->c->ctx,
                 arena_printf(&a,
                              "%.*s: not expanded: %lld pods of %zu bytes each would take more "
                              "than the %u MiB that all pods made of templates may; ask for "
                              "fewer of them, or shorten the template",
                              STR_ARG(e->maker), (long long)count, bytes,
                              LIMIT_EXPANDED_BYTES >> 20));
    return false;
}

/* ---- single objects ---- */

struct api_object *expand__derive(const struct api_object *model, struct str name) {
    struct api_object *o = api_object_derive(model);
    api_own_meta(o)->name = name;
    api_own_meta(o)->uid = STR("");
    return o;
}

void expand__set_labels(struct arena *a, struct labels *labels, const struct label *own, size_t n) {
    struct labels all = {arena_array(a, struct label, labels->n + n), labels->n};
    if (labels->n)
        memcpy(all.v, labels->v, labels->n * sizeof *labels->v);
    for (size_t i = 0; i < n; i++) {
        const struct label *there = labels_find(labels, own[i].key);
        if (there)
            all.v[there - labels->v].value = own[i].value;
        else
            all.v[all.n++] = own[i];
    }
    if (all.n > labels->n)
        labels_sort(&all);
    *labels = all;
}

/* The object may be gone when it was refused. */
static void note_made(struct expand *e, const struct api_object *o, bool is_pod, bool is_good) {
    if (!is_pod || !is_good)
        return;
    e->made->pods++;
    if (e->rollout)
        expand__roll_created(e, o);
}

const struct api_object *expand__create(struct expand *e, struct api_object *o) {
    bool is_pod = o->type == &api_types[API_T_pod];
    const struct api_object *stored = e->c->create(e->c->ctx, o, e->maker);
    note_made(e, stored, is_pod, stored);
    return stored;
}

bool expand__adopt(struct expand *e, struct api_object *o) {
    bool is_pod = o->type == &api_types[API_T_pod];
    bool is_good = e->c->adopt(e->c->ctx, o);
    note_made(e, o, is_pod, is_good);
    return is_good;
}

/* ---- members with numbers ---- */

static bool has_key(const struct api_strs *keys, struct str key) {
    for (size_t i = 0; i < keys->n; i++)
        if (str_eq(keys->v[i], key))
            return true;
    return false;
}

static bool term_asks(const struct api_pod_affinity_term *term, struct str key) {
    return has_key(&term->match_label_keys, key) || has_key(&term->mismatch_label_keys, key);
}

static bool terms_ask(const struct api_pod_affinity_term_list *required,
                      const struct api_weighted_pod_affinity_term_list *preferred, struct str key) {
    for (size_t i = 0; i < required->n; i++)
        if (term_asks(&required->v[i], key))
            return true;
    for (size_t i = 0; i < preferred->n; i++)
        if (term_asks(&preferred->v[i].pod_affinity_term, key))
            return true;
    return false;
}

bool expand__asks_own_label(const struct api_pod_spec *spec, struct str key) {
    const struct api_affinity *a = spec->affinity;
    for (size_t i = 0; i < spec->topology_spread_constraints.n; i++)
        if (has_key(&spec->topology_spread_constraints.v[i].match_label_keys, key))
            return true;
    if (a && a->pod_affinity &&
        terms_ask(&a->pod_affinity->required, &a->pod_affinity->preferred, key))
        return true;
    return a && a->pod_anti_affinity &&
           terms_ask(&a->pod_anti_affinity->required, &a->pod_anti_affinity->preferred, key);
}

/* What the scheduler keeps of a class beside its own bytes: of each label, to find the terms that
 * select it; of each term about other pods, to count them; of each term about nodes. */
enum { LABEL_BYTES = 128, POD_TERM_BYTES = 2048, NODE_TERM_BYTES = 256 };

static size_t term_bytes(const struct api_pod_spec *spec) {
    const struct api_affinity *a = spec->affinity;
    size_t pod_terms = spec->topology_spread_constraints.n, node_terms = 0;
    if (a && a->pod_affinity)
        pod_terms += a->pod_affinity->required.n + a->pod_affinity->preferred.n;
    if (a && a->pod_anti_affinity)
        pod_terms += a->pod_anti_affinity->required.n + a->pod_anti_affinity->preferred.n;
    if (a && a->node_affinity)
        node_terms = a->node_affinity->preferred.n;
    return pod_terms * POD_TERM_BYTES + node_terms * NODE_TERM_BYTES;
}

bool expand__members_pay(struct expand *e, struct expand_members *all, size_t beside) {
    int64_t count = all->unpaid;
    if (!count)
        return true;
    struct api_object *pod = controller_pod_new(all->owner, all->template, STR(""));
    size_t bytes = pod->arena.bytes + pod->meta->labels.n * LABEL_BYTES +
                   term_bytes(&all->template->spec) + beside;
    api_object_free(pod);
    all->unpaid = 0;
    return expand__afford(e, bytes, count);
}

struct api_object *expand__member_new(struct expand_members *all, struct str name,
                                      struct str number) {
    if (all->model && !all->differ && all->digits == number.n)
        return expand__derive(all->model, name);
    all->model = NULL;
    all->digits = number.n;
    return controller_pod_new(all->owner, all->template, name);
}

bool expand__member_add(struct expand *e, struct expand_members *all, struct api_object *pod) {
    if (all->model)
        return expand__adopt(e, pod);
    all->model = expand__create(e, pod);
    return all->model;
}
