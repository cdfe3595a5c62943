/*
 * The shapes of values, as server-side apply sees them: from the rows of the schema.
 *
 * Follows sigs.k8s.io/structured-merge-diff/v6 typed, func listItemToPathElement,
 * func keyedAssociativeListItemToPathElement, func setItemToPathElement,
 * func getAssociativeKeyDefault.
 * Follows sigs.k8s.io/structured-merge-diff/v6 value, func EqualsUsing.
 */
#include <stdlib.h>

#include "api/managed/managed_int.h"
#include "base/goquote.h"
#include "base/map.h"

/* What a field is, and what its items are. */
static const struct {
    uint8_t form, scalar, item, item_scalar;
} forms[API_FIELD_KINDS] = {
    [API_STR] = {API__SCALAR, API__STRING, 0, 0},
    [API_PSTR] = {API__SCALAR, API__STRING, 0, 0},
    [API_BOOL] = {API__SCALAR, API__BOOLEAN, 0, 0},
    [API_PBOOL] = {API__SCALAR, API__BOOLEAN, 0, 0},
    [API_I32] = {API__SCALAR, API__NUMERIC, 0, 0},
    [API_PI32] = {API__SCALAR, API__NUMERIC, 0, 0},
    [API_I64] = {API__SCALAR, API__NUMERIC, 0, 0},
    [API_PI64] = {API__SCALAR, API__NUMERIC, 0, 0},
    [API_PF64] = {API__SCALAR, API__NUMERIC, 0, 0},
    [API_BYTES] = {API__SCALAR, API__STRING, 0, 0},
    [API_TIME] = {API__SCALAR, API__UNTYPED, 0, 0},
    [API_PTIME] = {API__SCALAR, API__UNTYPED, 0, 0},
    [API_MICROTIME] = {API__SCALAR, API__UNTYPED, 0, 0},
    [API_PMICROTIME] = {API__SCALAR, API__UNTYPED, 0, 0},
    [API_QUANTITY] = {API__SCALAR, API__UNTYPED, 0, 0},
    [API_PQUANTITY] = {API__SCALAR, API__UNTYPED, 0, 0},
    [API_INTSTR] = {API__SCALAR, API__UNTYPED, 0, 0},
    [API_PINTSTR] = {API__SCALAR, API__UNTYPED, 0, 0},
    [API_RAW] = {API__MAP, 0, API__ANY, API__UNTYPED},
    [API_PRAW] = {API__MAP, 0, API__ANY, API__UNTYPED},
    [API_LSTR] = {API__LIST, 0, API__SCALAR, API__STRING},
    [API_LI32] = {API__LIST, 0, API__SCALAR, API__NUMERIC},
    [API_LI64] = {API__LIST, 0, API__SCALAR, API__NUMERIC},
    [API_LBOOL] = {API__LIST, 0, API__SCALAR, API__BOOLEAN},
    [API_LQUANTITY] = {API__LIST, 0, API__SCALAR, API__UNTYPED},
    [API_LRAW] = {API__LIST, 0, API__ANY, API__UNTYPED},
    [API_MSTR] = {API__MAP, 0, API__SCALAR, API__STRING},
    [API_MBYTES] = {API__MAP, 0, API__SCALAR, API__STRING},
    [API_MLSTR] = {API__MAP, 0, API__LIST, API__STRING},
    [API_MQUANTITY] = {API__MAP, 0, API__SCALAR, API__UNTYPED},
    [API_MTIME] = {API__MAP, 0, API__SCALAR, API__UNTYPED},
    [API_OBJ] = {API__MAP, 0, 0, 0},
    [API_PTR] = {API__MAP, 0, 0, 0},
    [API_LIST] = {API__LIST, 0, API__MAP, 0},
    [API_MOBJ] = {API__MAP, 0, API__MAP, 0},
};

static const struct api__shape_of anything = {.form = API__ANY, .scalar = API__UNTYPED};

struct api__shape_of api__shape_of_type(const struct api_type *type) {
    if (type->bare)
        return anything;
    return (struct api__shape_of){
        .form = API__MAP, .type = type, .is_atomic = type->map == API_MAP_ATOMIC};
}

static struct api__shape_of shape_of_field(const struct api_field *f) {
    struct api__shape_of out = {.form = forms[f->kind].form, .scalar = forms[f->kind].scalar};
    if (f->kind == API_OBJ || f->kind == API_PTR)
        out = api__shape_of_type(f->type);
    else
        out.field = f;
    if (f->map != API_MAP_UNSAID)
        out.is_atomic = f->map == API_MAP_ATOMIC;
    if (f->kind == API_RAW || f->kind == API_PRAW)
        out.is_atomic = true; /* whatever it is, it is of one manager */
    if (out.form == API__LIST)
        out.is_atomic = f->list == API_LIST_ATOMIC;
    return out;
}

static const struct api_field *find_field(const struct api_type *type, struct str name) {
    const struct api_field *next = type->fields;
    return api_field_find(type, name, &next).field;
}

bool api__shape_names(const struct api__shape_of *in, struct str name) {
    return in->form == API__MAP && in->type && find_field(in->type, name);
}

bool api__shape_of_member(const struct api__shape_of *in, struct str name,
                          struct api__shape_of *out) {
    const struct api_field *f = in->type ? find_field(in->type, name) : NULL;
    if (f)
        *out = shape_of_field(f);
    else if (!in->type)
        *out = api__shape_of_item(in);
    return f || !in->type;
}

struct api__shape_of api__shape_of_item(const struct api__shape_of *in) {
    const struct api_field *f = in->field;
    if (!f) /* whatever a value is, or the texts of a list in a map */
        return in->form == API__LIST ? (struct api__shape_of){.scalar = in->scalar} : anything;
    if (f->kind == API_LIST || f->kind == API_MOBJ)
        return api__shape_of_type(f->type);
    return (struct api__shape_of){.form = forms[f->kind].item,
                                  .scalar = forms[f->kind].item_scalar,
                                  .is_atomic = forms[f->kind].item == API__LIST};
}

/* ---- steps to items ---- */

/* The default of a key as the OpenAPI definition has it; upstream gives one to the names of local
 * references, though they may be left out. */
static bool default_of_key(const struct api_type *type, struct str name, struct json *out) {
    const struct api_field *f = find_field(type, name);
    bool is_text = f && forms[f->kind].scalar == API__STRING;
    if (!f)
        return false;
    *out = is_text ? json_of_str(str_of(f->def)) : json_of_i64(0);
    return f->def || !(f->flags & API_OMIT) || type->id == API_T_local_object_reference;
}

static int refuse(struct str *wrong, struct str why) {
    *wrong = why;
    return -1;
}

static int no_keys(struct arena *a, const char *keys, struct str *wrong) {
    AUTO(buf_release) struct buf names = BUF_INIT(1024);
    struct str rest = str_of(keys), key;
    while (rest.n) {
        str_cut(rest, ',', &key, &rest);
        buf_add(&names, names.n ? STR(" ") : STR(""));
        goquote_write(&names, key);
    }
    *wrong = arena_printf(a,
                          "associative list with keys has an element that omits all key fields "
                          "[%.*s] (and doesn't have default values for any key fields)",
                          STR_ARG(buf_view(&names)));
    return -1;
}

/* Keys are few: they are sorted as they come. */
static void put_key(struct arena *a, struct json *keys, struct str name, struct json value) {
    json_add(a, keys, name, value);
    for (uint32_t i = keys->n - 1; i > 0; i--) {
        struct json_member *m = &keys->members[i], kept = *m;
        if (str_cmp(m[-1].key, m->key) <= 0)
            return;
        *m = m[-1];
        m[-1] = kept;
    }
}

static int key_of_item(struct arena *a, const struct api_field *f, const struct json *item,
                       struct api__step *out, struct str *wrong) {
    struct json keys = {.kind = JSON_OBJECT}, value;
    struct str rest = str_of(f->keys), key;
    if (item->kind == JSON_NULL)
        return refuse(wrong, STR("associative list with keys may not have a null element"));
    if (item->kind != JSON_OBJECT)
        return refuse(wrong, STR("associative list with keys may not have non-map elements"));
    while (rest.n) {
        str_cut(rest, ',', &key, &rest);
        const struct json *given = json_get(item, key);
        if (given)
            put_key(a, &keys, key, *given);
        else if (default_of_key(f->type, key, &value))
            put_key(a, &keys, key, value);
    }
    if (!keys.n)
        return no_keys(a, f->keys, wrong);
    *out = (struct api__step){API__STEP_KEY, keys};
    return 0;
}

static int value_of_item(const struct json *item, struct api__step *out, struct str *wrong) {
    if (item->kind == JSON_OBJECT)
        return refuse(wrong, STR("associative list without keys has an element that's a map type"));
    if (item->kind == JSON_ARRAY)
        return refuse(wrong, STR("not supported: associative list with lists as elements"));
    if (item->kind == JSON_NULL)
        return refuse(wrong,
                      STR("associative list without keys has an element that's an explicit null"));
    *out = (struct api__step){API__STEP_VALUE, *item};
    return 0;
}

int api__step_of_item(struct arena *a, const struct api__shape_of *list, const struct json *item,
                      struct api__step *out, struct str *wrong) {
    return list->field->list == API_LIST_MAP ? key_of_item(a, list->field, item, out, wrong)
                                             : value_of_item(item, out, wrong);
}

static int by_step(const void *a, const void *b) {
    const struct api__step *x = *(const struct api__step *const *)a,
                           *y = *(const struct api__step *const *)b;
    int order = api__step_compare(x, y);
    return order ? order : (x > y) - (x < y);
}

const struct api__step **api__steps_sort(struct arena *a, const struct api__step *v, uint32_t n) {
    const struct api__step **sorted = arena_array(a, const struct api__step *, n);
    for (uint32_t i = 0; i < n; i++)
        sorted[i] = &v[i];
    qsort(sorted, n, sizeof *sorted, by_step);
    return sorted;
}

bool api__steps_of_items(struct arena *a, const struct api__shape_of *list, const struct json *v,
                         struct api__steps *out) {
    uint32_t n = v && v->kind == JSON_ARRAY ? v->n : 0;
    struct str wrong;
    *out = (struct api__steps){.v = arena_array(a, struct api__step, n)};
    for (uint32_t i = 0; i < n; i++)
        if (api__step_of_item(a, list, &v->items[i], &out->v[i], &wrong) < 0)
            return false;
    out->n = n;
    out->sorted = api__steps_sort(a, out->v, n);
    out->is_repeated = arena_array(a, bool, n);
    for (uint32_t i = 1; i < n; i++)
        if (api__step_compare(out->sorted[i - 1], out->sorted[i]) == 0)
            out->is_repeated[out->sorted[i - 1] - out->v] =
                out->is_repeated[out->sorted[i] - out->v] = true;
    return true;
}

/* ---- equality ---- */

static bool is_number(const struct json *v) {
    return v->kind == JSON_INT || v->kind == JSON_UINT || v->kind == JSON_FLOAT;
}

static bool equal_items(const struct json *a, const struct json *b) {
    for (uint32_t i = 0; i < a->n; i++)
        if (!api__value_equal(&a->items[i], &b->items[i]))
            return false;
    return true;
}

/* Members mostly stand in the same order. */
static bool equal_members(const struct json *a, const struct json *b) {
    uint32_t i = 0;
    for (; i < a->n && str_eq(a->members[i].key, b->members[i].key); i++)
        if (!api__value_equal(&a->members[i].value, &b->members[i].value))
            return false;
    if (i == a->n)
        return true;
    AUTO(map_release) struct map rest = MAP_INIT(map_random_seed());
    for (uint32_t k = i; k < b->n; k++)
        map_put(&rest, b->members[k].key, &b->members[k].value);
    for (; i < a->n; i++) {
        const struct json *other = map_get(&rest, a->members[i].key);
        if (!other || !api__value_equal(&a->members[i].value, other))
            return false;
    }
    return true;
}

/* The parser limits how deep this goes. */
bool api__value_equal(const struct json *a, const struct json *b) {
    if (is_number(a) && is_number(b))
        return a->kind == b->kind && a->kind != JSON_FLOAT ? a->u == b->u
                                                           : json_double(a) == json_double(b);
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case JSON_STRING:
        return str_eq(json_str(a), json_str(b));
    case JSON_BOOL:
        return a->b == b->b;
    case JSON_ARRAY:
        return a->n == b->n && equal_items(a, b);
    case JSON_OBJECT:
        return a->n == b->n && equal_members(a, b);
    default:
        return true;
    }
}
