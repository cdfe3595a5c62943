/*
 * evictionResponders of a pod: who reacts when the pod is to be evicted, by priority.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/v1, func Validate_PodSpec,
 * func Validate_EvictionResponder.
 */
#include "valid/pod/pod_int.h"

enum { MOST_RESPONDERS = 10, FIRST_FREE_PRIORITY = 1000, HIGHEST_PRIORITY = 100000 };

static bool same_priority(struct api_opt_i32 a, struct api_opt_i32 b) {
    return a.set == b.set && (!a.set || a.v == b.v);
}

/* The first one of this name, or NULL. */
static const struct api_eviction_responder *find(const struct api_eviction_responder_list *list,
                                                 struct str name) {
    for (size_t i = 0; i < list->n; i++)
        if (str_eq(list->v[i].name, name))
            return &list->v[i];
    return NULL;
}

/* The text without what the schema does not know, with the names of the API. */
static struct value responder_value(struct arena *a, const struct api_eviction_responder *r) {
    struct api_eviction_responder known = {.name = r->name, .priority = r->priority};
    return VALUE_JSON(api_struct_encode(a, &api_types[API_T_eviction_responder], &known));
}

static void check_name(struct valid *v, const struct path *p, struct str name) {
    if (!name.n) {
        valid__required(v, p, NO_DETAIL);
        return;
    }
    valid__foreign_domain(v, p, name);
    struct names_errs errs = names_check_label_key(name);
    valid__names(v, p, name, &errs);
    if (!errs.n && str_find_char(name, '/') == STR_NONE)
        valid__invalid(v, p, VALUE_Q(name), "must include a prefix (e.g. 'example.com/key')");
}

static void check_priority(struct valid *v, const struct path *p, struct api_opt_i32 priority) {
    if (!priority.set)
        valid__required(v, p, NO_DETAIL);
    else if (priority.v >= 0 && priority.v < FIRST_FREE_PRIORITY)
        valid__invalid(v, p, VALUE_I64(priority.v),
                       "priorities 0-999 are reserved for responders with *.k8s.io suffix");
    else if (priority.v > HIGHEST_PRIORITY)
        valid__invalid(v, p, VALUE_I64(priority.v), "must be less than or equal to %d",
                       HIGHEST_PRIORITY);
    else if (priority.v < 0)
        valid__not_negative(v, p, priority.v);
}

static void check_repeats(struct valid *v, const struct path *p,
                          const struct api_eviction_responder_list *list) {
    for (size_t i = 1; i < list->n; i++)
        if (find(&(struct api_eviction_responder_list){list->v, i}, list->v[i].name))
            valid__duplicate(v, AT_INDEX(p, i), responder_value(v->errs->a, &list->v[i]),
                             NO_DETAIL);
}

/* Responders are known by their name: an old one of the same name has had its name judged. */
static void check_responders(struct valid *v, const struct path *p,
                             const struct api_eviction_responder_list *list,
                             const struct api_eviction_responder_list *old) {
    if (list->n > MOST_RESPONDERS) {
        valid__too_many(v, p, list->n, MOST_RESPONDERS);
        return;
    }
    check_repeats(v, p, list);
    for (size_t i = 0; i < list->n; i++) {
        const struct api_eviction_responder *r = &list->v[i], *was = find(old, r->name);
        const struct path *at = AT_INDEX(p, i);
        if (!was)
            check_name(v, AT(at, "name"), r->name);
        if (!was || !same_priority(r->priority, was->priority))
            check_priority(v, AT(at, "priority"), r->priority);
    }
}

void valid__declared_pod_spec(struct valid *v, const struct path *p,
                              const struct api_pod_spec *spec, const struct api_pod_spec *old) {
    static const struct api_eviction_responder_list none;
    const struct api_eviction_responder_list *was = old ? &old->eviction_responders : &none;
    if (!valid__equal_lists(API_T_eviction_responder, &spec->eviction_responders, was))
        check_responders(v, AT(p, "evictionResponders"), &spec->eviction_responders, was);
}
