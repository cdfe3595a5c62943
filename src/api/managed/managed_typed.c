/*
 * Objects and sets of fields by the shapes of the schema: what is wrong with an applied object, the
 * fields that it has, and objects without some of them.
 *
 * Follows sigs.k8s.io/structured-merge-diff/v6 typed, func (TypedValue) Validate,
 * func (TypedValue) ToFieldSet, func (TypedValue) RemoveItems, func ReconcileFieldSetWithSchema.
 * Follows sigs.k8s.io/structured-merge-diff/v6 fieldpath, func (*Set) EnsureNamedFieldsAreMembers.
 */
#include "api/go_text_int.h"
#include "api/managed/managed_int.h"
#include "base/limits.h"

/* ---- validation ---- */

/* Where a value is, innermost first. */
struct spot {
    const struct spot *up;
    struct api__step step;
};

struct validator {
    struct arena *a;
    struct buf text; /* of all errors */
    size_t errors;
};

static void add_spot(struct buf *b, const struct spot *at) {
    if (!at)
        return;
    add_spot(b, at->up);
    api__step_write(b, &at->step);
}

static struct buf *begin_error(struct validator *v, const struct spot *at) {
    buf_add(&v->text, v->errors++ ? STR("\n  ") : STR("  "));
    size_t before = v->text.n;
    add_spot(&v->text, at);
    if (v->text.n > before)
        buf_add(&v->text, STR(": "));
    return &v->text;
}

static void expect(struct validator *v, const struct spot *at, const char *what,
                   const struct json *got) {
    struct buf *out = begin_error(v, at);
    buf_addf(out, "expected %s, got &{", what);
    api__write_go(out, got, 'v');
    buf_add_char(out, '}');
}

static void validate_scalar(struct validator *v, const struct spot *at, enum api__scalar scalar,
                            const struct json *value) {
    bool is_number =
        value->kind == JSON_INT || value->kind == JSON_UINT || value->kind == JSON_FLOAT;
    if (value->kind == JSON_NULL)
        return;
    if (scalar == API__NUMERIC && !is_number)
        buf_addf(begin_error(v, at), "expected numeric (int or float), got %s",
                 api__go_type(value));
    if (scalar == API__STRING && value->kind != JSON_STRING) {
        struct buf *out = begin_error(v, at);
        buf_add(out, STR("expected string, got &value.valueUnstructured{Value:"));
        api__write_go(out, value, '#');
        buf_add_char(out, '}');
    }
    if (scalar == API__BOOLEAN && value->kind != JSON_BOOL)
        expect(v, at, "boolean", value);
    if (scalar == API__UNTYPED && value->kind >= JSON_ARRAY)
        expect(v, at, "any scalar", value);
}

static void validate(struct validator *v, const struct spot *at, const struct api__shape_of *shape,
                     const struct json *value);

/* An item that cannot be told from others ends the list. */
static bool find_step(struct arena *a, const struct api__shape_of *shape, const struct json *list,
                      uint32_t i, struct api__step *out, struct str *wrong) {
    *out = (struct api__step){API__STEP_INDEX, json_of_i64(i)};
    return api__is_whole(shape, API__LIST) ||
           api__step_of_item(a, shape, &list->items[i], out, wrong) == 0;
}

/* Which steps stood before. */
static bool *find_repeated(struct arena *a, const struct api__step *steps, uint32_t n) {
    const struct api__step **sorted = api__steps_sort(a, steps, n);
    bool *out = arena_array(a, bool, n);
    for (uint32_t i = 1; i < n; i++)
        out[sorted[i] - steps] = api__step_compare(sorted[i - 1], sorted[i]) == 0;
    return out;
}

static void validate_items(struct validator *v, const struct spot *at,
                           const struct api__shape_of *shape, const struct json *list) {
    struct api__shape_of item = api__shape_of_item(shape);
    struct api__step *steps = arena_array(v->a, struct api__step, list->n);
    uint32_t n = 0;
    struct str wrong = {0};
    while (n < list->n && find_step(v->a, shape, list, n, &steps[n], &wrong))
        n++;
    const bool *repeated = find_repeated(v->a, steps, n);
    for (uint32_t i = 0; i < n; i++) {
        if (repeated[i]) {
            buf_add(begin_error(v, at), STR("duplicate entries for key "));
            api__step_write(&v->text, &steps[i]);
        }
        validate(v, &(struct spot){at, steps[i]}, &item, &list->items[i]);
    }
    if (n < list->n)
        buf_addf(begin_error(v, at), "element %u: %.*s", n, STR_ARG(wrong));
}

/* Upstream stops at the first field of a struct that is not in the schema. */
static void validate_members(struct validator *v, const struct spot *at,
                             const struct api__shape_of *shape, const struct json *map) {
    for (uint32_t i = 0; i < map->n; i++) {
        struct spot here = {.up = at, .step = {API__STEP_FIELD, json_of_str(map->members[i].key)}};
        struct api__shape_of member;
        if (!api__shape_of_member(shape, map->members[i].key, &member)) {
            buf_add(begin_error(v, &here), STR("field not declared in schema"));
            return;
        }
        validate(v, &here, &member, &map->members[i].value);
    }
}

/* The parser limits how deep this and its like go. */
static void validate(struct validator *v, const struct spot *at, const struct api__shape_of *shape,
                     const struct json *value) {
    enum api__form form = api__form_of(shape, value);
    if (form == API__SCALAR)
        validate_scalar(v, at, shape->scalar, value);
    else if (value->kind == JSON_NULL)
        return;
    else if (form == API__LIST && value->kind != JSON_ARRAY)
        expect(v, at, "list", value);
    else if (form == API__LIST)
        validate_items(v, at, shape, value);
    else if (value->kind != JSON_OBJECT)
        expect(v, at, "map", value);
    else
        validate_members(v, at, shape, value);
}

struct str api__validate(struct arena *a, const struct api_type *type, const struct json *object) {
    struct validator v = {.a = a, .text = BUF_INIT(LIMIT_PATCH_ERROR_BYTES)};
    struct api__shape_of shape = api__shape_of_type(type);
    struct str out = {0};
    validate(&v, NULL, &shape, object);
    if (v.errors == 1)
        out = arena_str(a, str_sub(buf_view(&v.text), 2, v.text.n));
    else if (v.errors)
        out = arena_printf(a, "errors:\n%.*s", STR_ARG(buf_view(&v.text)));
    buf_release(&v.text);
    return out;
}

/* ---- the fields of an object ---- */

struct collector {
    struct arena *a;
    api__path_nodes stack;
};

static void collect(struct collector *c, const struct api__shape_of *shape, const struct json *v,
                    struct api__path_node *node);

/* Items that are there more than once count as one, without what is in them. */
static void collect_items(struct collector *c, const struct api__shape_of *shape,
                          const struct json *list) {
    struct api__shape_of item = api__shape_of_item(shape);
    struct api__steps steps;
    if (!api__steps_of_items(c->a, shape, list, &steps))
        return;
    for (uint32_t i = 0; i < list->n; i++) {
        struct api__path_node node = {.step = steps.v[i]};
        if (!steps.is_repeated[i])
            collect(c, &item, &list->items[i], &node);
        node.flags |= API__MEMBER;
        vec_push(&c->stack, node);
    }
}

static void collect_members(struct collector *c, const struct api__shape_of *shape,
                            const struct json *map) {
    for (uint32_t i = 0; i < map->n; i++) {
        const struct json_member *m = &map->members[i];
        struct api__path_node node = {.step = {API__STEP_FIELD, json_of_str(m->key)}};
        struct api__shape_of member;
        if (!api__shape_of_member(shape, m->key, &member))
            continue;
        collect(c, &member, &m->value, &node);
        bool is_empty = m->value.kind == JSON_NULL || (m->value.kind == JSON_OBJECT && !m->value.n);
        if (is_empty || !api__shape_names(shape, m->key))
            node.flags |= API__MEMBER;
        vec_push(&c->stack, node);
    }
}

static void collect(struct collector *c, const struct api__shape_of *shape, const struct json *v,
                    struct api__path_node *node) {
    enum api__form form = api__form_of(shape, v);
    size_t from = c->stack.n;
    if (api__is_whole(shape, form)) {
        node->flags |= API__MEMBER;
        return;
    }
    if (form == API__LIST && v->kind == JSON_ARRAY)
        collect_items(c, shape, v);
    else if (form == API__MAP && v->kind == JSON_OBJECT)
        collect_members(c, shape, v);
    node->children = api__set_make(c->a, &c->stack, from);
}

const struct api__path_set *api__fields_of(struct arena *a, const struct api_type *type,
                                           const struct json *object) {
    struct collector c = {.a = a};
    struct api__shape_of shape = api__shape_of_type(type);
    struct api__path_node root = {0};
    collect(&c, &shape, object, &root);
    vec_release(&c.stack);
    return root.children;
}

/* ---- sets by the schema ---- */

/* The shape of what a step leads to; without one, nothing is known. */
static bool follow(const struct api__shape_of *shape, const struct api__step *step,
                   struct api__shape_of *out) {
    if (step->kind == API__STEP_FIELD && shape->form != API__LIST && shape->form != API__SCALAR)
        return api__shape_of_member(shape, json_str(&step->value), out);
    if (step->kind == API__STEP_FIELD || shape->form != API__LIST)
        return false;
    *out = api__shape_of_item(shape);
    return true;
}

static struct api__path_set *copy_set(struct arena *a, const struct api__path_set *s) {
    return arena_copy(a, s, sizeof *s + s->n * sizeof *s->v);
}

static const struct api__path_set *add_names(struct arena *a, const struct api__shape_of *shape,
                                             const struct api__path_set *s) {
    if (!s)
        return NULL;
    struct api__path_set *out = copy_set(a, s);
    for (uint32_t i = 0; i < out->n; i++) {
        struct api__path_node *node = &out->v[i];
        struct api__shape_of next = {.form = API__SCALAR};
        bool is_field = node->step.kind == API__STEP_FIELD;
        if (!node->children)
            continue;
        if (is_field && shape && api__shape_names(shape, json_str(&node->step.value)))
            node->flags |= API__MEMBER;
        bool is_known = shape && (is_field || node->step.kind == API__STEP_KEY) &&
                        follow(shape, &node->step, &next);
        node->children = add_names(a, is_known ? &next : NULL, node->children);
    }
    return out;
}

const struct api__path_set *api__set_with_names(struct arena *a, const struct api_type *type,
                                                const struct api__path_set *s) {
    struct api__shape_of shape = api__shape_of_type(type);
    return add_names(a, &shape, s);
}

static const struct api__path_set *reconcile(struct arena *a, const struct api__shape_of *shape,
                                             const struct api__path_set *s) {
    struct api__path_set *own = NULL;
    for (uint32_t i = 0; s && i < s->n; i++) {
        const struct api__path_node *node = &s->v[i];
        struct api__shape_of next;
        if (!node->children || !follow(shape, &node->step, &next) || next.form == API__SCALAR ||
            next.form == API__ANY)
            continue;
        struct api__path_node changed = *node;
        changed.flags = next.is_atomic ? API__MEMBER : node->flags;
        changed.children = next.is_atomic ? NULL : reconcile(a, &next, node->children);
        if (changed.children == node->children)
            continue;
        if (!own)
            s = own = copy_set(a, s);
        own->v[i] = changed;
    }
    return s;
}

const struct api__path_set *api__set_reconcile(struct arena *a, const struct api_type *type,
                                               const struct api__path_set *s) {
    struct api__shape_of shape = api__shape_of_type(type);
    return reconcile(a, &shape, s);
}

/* ---- objects without some fields ---- */

/* What is left of a value without the fields of the set; false: nothing. */
static bool strip(struct arena *a, const struct api__shape_of *shape, const struct json *v,
                  const struct api__path_set *s, struct json *out);

/* A part whose own path is in the set goes; one with parts in the set loses these. */
static bool strip_part(struct arena *a, const struct api__shape_of *shape, const struct json *v,
                       const struct api__path_node *node, struct json *out) {
    static const struct json null;
    *out = *v;
    if (!node)
        return true;
    if (node->flags)
        return false;
    if (!strip(a, shape, v, node->children, out))
        *out = null;
    return true;
}

static bool strip_items(struct arena *a, const struct api__shape_of *shape, const struct json *v,
                        const struct api__path_set *s, struct json *out) {
    struct api__shape_of item = api__shape_of_item(shape);
    struct json list = {.kind = JSON_ARRAY}, left;
    struct str wrong;
    for (uint32_t i = 0; i < v->n; i++) {
        struct api__step step;
        bool has_step = api__step_of_item(a, shape, &v->items[i], &step, &wrong) == 0;
        if (strip_part(a, &item, &v->items[i], has_step ? api__set_find(s, &step) : NULL, &left))
            json_append(a, &list, left);
    }
    *out = list;
    return list.n > 0;
}

static bool strip_members(struct arena *a, const struct api__shape_of *shape, const struct json *v,
                          const struct api__path_set *s, struct json *out) {
    struct json map = {.kind = JSON_OBJECT}, left;
    for (uint32_t i = 0; i < v->n; i++) {
        const struct json_member *m = &v->members[i];
        struct api__step step = {API__STEP_FIELD, json_of_str(m->key)};
        struct api__shape_of member = {.form = API__ANY};
        api__shape_of_member(shape, m->key, &member);
        if (strip_part(a, &member, &m->value, api__set_find(s, &step), &left))
            json_add(a, &map, m->key, left);
    }
    *out = map;
    return map.n > 0;
}

static bool strip(struct arena *a, const struct api__shape_of *shape, const struct json *v,
                  const struct api__path_set *s, struct json *out) {
    enum api__form form = api__form_of(shape, v);
    *out = *v;
    if (form == API__SCALAR)
        return true;
    if (api__is_vacant(v) || api__is_whole(shape, form))
        return false;
    return form == API__LIST ? strip_items(a, shape, v, s, out)
                             : strip_members(a, shape, v, s, out);
}

struct json api__remove_fields(struct arena *a, const struct api_type *type,
                               const struct json *object, const struct api__path_set *s) {
    struct api__shape_of shape = api__shape_of_type(type);
    struct json out;
    return strip(a, &shape, object, s, &out) ? out : (struct json){0};
}
