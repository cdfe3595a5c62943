/*
 * Classes of storage and of attributes of volumes: who makes the volumes, and how.
 *
 * Follows k8s.io/kubernetes pkg/apis/storage/validation, func ValidateStorageClass,
 * func ValidateStorageClassUpdate, func ValidateVolumeAttributesClass,
 * func ValidateVolumeAttributesClassUpdate.
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func ValidateTopologySelectorTerm.
 */
#include <assert.h>

#include "valid/declared_int.h"
#include "valid/kind_warnings_int.h"
#include "valid/kinds_int.h"

enum { MOST_PARAMETERS = 512, MOST_PARAMETER_BYTES = 256 << 10 };

static const struct api_storage_class *class_of(const struct api_object *o) {
    return o->body;
}

/* ---- what both kinds have ---- */

static void check_provisioner(struct valid *v, const struct path *p, struct str name) {
    if (!name.n) {
        valid__cover(v, "");
        valid__required(v, p, NO_DETAIL);
        valid__uncover(v);
        return;
    }
    valid__label_key(v, p, valid__lower(v->errs->a, name));
}

static void check_parameters(struct valid *v, const struct path *p, const struct labels *params,
                             bool may_be_empty) {
    size_t bytes = 0;
    assert(params->v || !params->n);
    if (params->n > MOST_PARAMETERS) {
        valid__too_long(v, p, MOST_PARAMETERS);
        return;
    }
    for (size_t i = 0; i < params->n; i++) {
        if (!params->v[i].key.n)
            valid__invalid(v, p, VALUE_Q(STR("")), "field can not be empty.");
        bytes += params->v[i].key.n + params->v[i].value.n;
    }
    if (bytes > MOST_PARAMETER_BYTES)
        valid__too_long(v, p, MOST_PARAMETER_BYTES);
    if (!may_be_empty && !params->n)
        valid__required(v, p, "must contain at least one key/value pair");
}

/* ---- topologies ---- */

static void check_requirement(struct valid *v, const struct path *p,
                              const struct api_topology_selector_label_requirement *r) {
    struct seen values;
    seen_init(&values);
    if (!r->values.n)
        valid__required(v, AT(p, "values"), NO_DETAIL);
    for (size_t i = 0; i < r->values.n; i++)
        if (!seen_add(&values, r->values.v[i]))
            valid__duplicate(v, AT_INDEX(AT(p, "values"), i), VALUE_Q(r->values.v[i]), NO_DETAIL);
    seen_release(&values);
    valid__label_key(v, AT(p, "key"), r->key);
}

static void check_term(struct valid *v, const struct path *p,
                       const struct api_topology_selector_term *term) {
    struct seen keys;
    seen_init(&keys);
    for (size_t i = 0; i < term->match_label_expressions.n; i++) {
        const struct api_topology_selector_label_requirement *r =
            &term->match_label_expressions.v[i];
        check_requirement(v, AT_INDEX(p, i), r);
        if (!seen_add(&keys, r->key))
            valid__duplicate(v, AT(AT_INDEX(p, i), "key"), VALUE_Q(r->key), NO_DETAIL);
    }
    seen_release(&keys);
}

static int by_key(const void *a, const void *b) {
    const struct api_topology_selector_label_requirement *x = a, *y = b;
    return str_cmp(x->key, y->key);
}

/* What a term asks for, so that terms which ask for the same are the same text: keys in order, each
 * with the values of its last requirement, in order and once. */
static void write_requirement(struct arena *a, struct buf *out,
                              const struct api_topology_selector_label_requirement *r) {
    struct str *values = arena_copy(a, r->values.v, r->values.n * sizeof *values);
    if (r->values.n > 1)
        qsort(values, r->values.n, sizeof *values, str_cmp_qsort);
    buf_addf(out, "%zu:%.*s", r->key.n, STR_ARG(r->key));
    for (size_t i = 0; i < r->values.n; i++)
        if (!i || !str_eq(values[i], values[i - 1]))
            buf_addf(out, ",%zu:%.*s", values[i].n, STR_ARG(values[i]));
    buf_add_char(out, ';');
}

/* A requirement is void when a later one has its key. */
static struct str term_text(struct arena *a, const struct api_topology_selector_term *term) {
    const struct api_topology_selector_label_requirement_list *list =
        &term->match_label_expressions;
    struct api_topology_selector_label_requirement *left =
        arena_array(a, struct api_topology_selector_label_requirement, list->n + 1);
    AUTO(buf_release) struct buf text = BUF_INIT(64U << 20);
    struct seen keys;
    size_t n = 0;
    seen_init(&keys);
    for (size_t i = list->n; i-- > 0;)
        if (seen_add(&keys, list->v[i].key))
            left[n++] = list->v[i];
    seen_release(&keys);
    if (n > 1)
        qsort(left, n, sizeof *left, by_key);
    for (size_t i = 0; i < n; i++)
        write_requirement(a, &text, &left[i]);
    return arena_str(a, buf_view(&text));
}

/* Upstream compares each term with all before it, and with as many empty ones as there are terms;
 * one error stands for those that say the same. */
static void check_topologies(struct valid *v, const struct path *p,
                             const struct api_topology_selector_term_list *list) {
    AUTO(arena_release) struct arena scratch = {0};
    struct seen terms;
    seen_init(&terms);
    if (list->n)
        seen_add(&terms, STR(""));
    for (size_t i = 0; i < list->n; i++) {
        const struct path *at = AT(AT_INDEX(p, i), "matchLabelExpressions");
        check_term(v, at, &list->v[i]);
        if (!seen_add(&terms, term_text(&scratch, &list->v[i])))
            valid__duplicate(v, at, VALUE_Q(STR("")), NO_DETAIL);
    }
    seen_release(&terms);
}

/* ---- storage classes ---- */

static void check_class(struct valid *v, const struct api_storage_class *c) {
    static const char *const policies[] = {"Delete", "Retain", NULL};
    static const char *const modes[] = {"Immediate", "WaitForFirstConsumer", NULL};
    check_provisioner(v, AT(NULL, "provisioner"), c->provisioner);
    check_parameters(v, AT(NULL, "parameters"), &c->parameters, true);
    if (c->reclaim_policy.n && !valid__one_of(c->reclaim_policy, policies))
        valid__not_supported(v, AT(NULL, "reclaimPolicy"), VALUE_NAMED(c->reclaim_policy),
                             policies);
    if (!c->volume_binding_mode.p)
        valid__required(v, AT(NULL, "volumeBindingMode"), NO_DETAIL);
    else if (!valid__one_of(c->volume_binding_mode, modes))
        valid__not_supported(v, AT(NULL, "volumeBindingMode"), VALUE_NAMED(c->volume_binding_mode),
                             modes);
    check_topologies(v, AT(NULL, "allowedTopologies"), &c->allowed_topologies);
}

static void create_class(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check_class(v, class_of(o));
}

/* The fields that stay as they are: in the order of the rules, and in that of the type. */
static struct value optional(struct str text) {
    return text.p ? VALUE_NAMED(text) : VALUE_JSON((struct json){.kind = JSON_NULL});
}

static bool is_same(struct str a, struct str b) {
    return !a.p == !b.p && str_eq(a, b);
}

static void update_class(struct valid *v, const struct api_object *o,
                         const struct api_object *before) {
    const struct api_storage_class *c = class_of(o), *old = class_of(before);
    valid__metadata_update(v, o, before);
    check_class(v, c);
    valid__cover(v, "immutable");
    if (!labels_equal(&c->parameters, &old->parameters))
        valid__immutable(v, AT(NULL, "parameters"),
                         valid__labels_value(v->errs->a, &c->parameters));
    if (!str_eq(c->provisioner, old->provisioner))
        valid__immutable(v, AT(NULL, "provisioner"), VALUE_Q(c->provisioner));
    if (!is_same(c->reclaim_policy, old->reclaim_policy))
        valid__immutable(v, AT(NULL, "reclaimPolicy"), optional(c->reclaim_policy));
    if (!is_same(c->volume_binding_mode, old->volume_binding_mode))
        valid__immutable(v, AT(NULL, "volumeBindingMode"), optional(c->volume_binding_mode));
    valid__uncover(v);
}

static void declared_class(struct valid *v, const struct api_object *o,
                           const struct api_object *before) {
    const struct api_storage_class *c = class_of(o), *old = before ? class_of(before) : NULL;
    if (!c->provisioner.n && !(old && !old->provisioner.n))
        valid__say_required(v, AT(NULL, "provisioner"));
    if (!old)
        return;
    if (!str_eq(c->provisioner, old->provisioner))
        valid__say_immutable(v, AT(NULL, "provisioner"));
    if (!labels_equal(&c->parameters, &old->parameters))
        valid__say_immutable(v, AT(NULL, "parameters"));
    if (!is_same(c->reclaim_policy, old->reclaim_policy))
        valid__say_immutable(v, AT(NULL, "reclaimPolicy"));
    if (!is_same(c->volume_binding_mode, old->volume_binding_mode))
        valid__say_immutable(v, AT(NULL, "volumeBindingMode"));
}

/* ---- classes of attributes ---- */

static void check_attributes(struct valid *v, const struct api_volume_attributes_class *c) {
    check_provisioner(v, AT(NULL, "driverName"), c->driver_name);
    check_parameters(v, AT(NULL, "parameters"), &c->parameters, false);
}

static void create_attributes(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check_attributes(v, o->body);
}

/* Go takes an empty map for another one than none. */
static void update_attributes(struct valid *v, const struct api_object *o,
                              const struct api_object *before) {
    const struct api_volume_attributes_class *c = o->body, *old = before->body;
    valid__finalizer_names(v, AT(AT(NULL, "metadata"), "finalizers"), &o->meta->finalizers);
    if (!str_eq(c->driver_name, old->driver_name))
        valid__forbidden(v, AT(NULL, "driverName"), "updates to driverName are forbidden.");
    if (!labels_equal(&c->parameters, &old->parameters) || !c->parameters.v != !old->parameters.v)
        valid__forbidden(v, AT(NULL, "parameters"), "updates to parameters are forbidden.");
    valid__metadata_names(v, o);
    check_attributes(v, c);
}

const struct valid_kind valid__storage_class = {.type = API_T_storage_class,
                                                .create = create_class,
                                                .update = update_class,
                                                .declared = declared_class,
                                                .warn = valid__warn_storage_class};
const struct valid_kind valid__volume_attributes_class = {.type = API_T_volume_attributes_class,
                                                          .create = create_attributes,
                                                          .update = update_attributes};
