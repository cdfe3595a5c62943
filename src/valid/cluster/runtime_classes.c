/*
 * Runtime classes: a handler that never changes, what it costs, and where it is.
 *
 * Follows k8s.io/kubernetes pkg/apis/node/validation, func ValidateRuntimeClass,
 * func ValidateRuntimeClassUpdate.
 */
#include "valid/declared_int.h"
#include "valid/kind_warnings_int.h"
#include "valid/kinds_int.h"
#include "valid/pod/container_int.h"

static const struct api_runtime_class *class_of(const struct api_object *o) {
    return o->body;
}

static void check_handler(struct valid *v, const struct path *p, struct str handler) {
    valid__cover(v, handler.n ? ORIGIN_SHORT_NAME : "");
    if (handler.n)
        valid__dns_label(v, p, handler);
    else
        valid__required(v, p, NO_DETAIL);
    valid__uncover(v);
}

/* What tells tolerations apart, as one text. */
static struct str toleration_key(struct arena *a, const struct api_toleration *t) {
    return arena_printf(a, "%zu:%.*s %zu:%.*s %zu:%.*s %.*s", t->key.n, STR_ARG(t->key),
                        t->operator.n, STR_ARG(t->operator), t->value.n, STR_ARG(t->value),
                        STR_ARG(t->effect));
}

static void check_tolerations(struct valid *v, const struct path *p,
                              const struct api_toleration_list *list) {
    AUTO(arena_release) struct arena scratch = {0};
    struct seen keys;
    seen_init(&keys);
    valid__tolerations(v, p, list, &(struct pod_rules){0});
    for (size_t i = 0; i < list->n; i++)
        if (!seen_add(&keys, toleration_key(&scratch, &list->v[i])))
            valid__duplicate(v, AT_INDEX(p, i),
                             valid__struct_value(v->errs->a, API_T_toleration, &list->v[i]),
                             NO_DETAIL);
    seen_release(&keys);
}

static void check(struct valid *v, const struct api_runtime_class *c) {
    const struct path *p = AT(NULL, "scheduling");
    check_handler(v, AT(NULL, "handler"), c->handler);
    if (c->overhead)
        valid__overhead(v, AT(NULL, "overhead"), &c->overhead->pod_fixed, &(struct pod_rules){0});
    if (!c->scheduling)
        return;
    valid__labels(v, AT(p, "nodeSelector"), &c->scheduling->node_selector);
    check_tolerations(v, AT(p, "tolerations"), &c->scheduling->tolerations);
}

static void create(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check(v, class_of(o));
}

static void update(struct valid *v, const struct api_object *o, const struct api_object *old) {
    struct str handler = class_of(o)->handler;
    valid__metadata_update(v, o, old);
    check(v, class_of(o));
    valid__cover(v, "immutable");
    if (!str_eq(handler, class_of(old)->handler))
        valid__immutable(v, AT(NULL, "handler"), VALUE_Q(handler));
    valid__uncover(v);
}

static void declared(struct valid *v, const struct api_object *o, const struct api_object *old) {
    const struct path *p = AT(NULL, "handler");
    struct str handler = class_of(o)->handler;
    bool is_changed = !old || !str_eq(handler, class_of(old)->handler);
    if (!is_changed)
        return;
    if (old)
        valid__say_immutable(v, p);
    if (!handler.n)
        valid__say_required(v, p);
    else if (!old)
        valid__short_name(v, p, handler);
}

const struct valid_kind valid__runtime_class = {.type = API_T_runtime_class,
                                                .create = create,
                                                .update = update,
                                                .declared = declared,
                                                .warn = valid__warn_runtime_class};
