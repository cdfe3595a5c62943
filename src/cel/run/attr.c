/*
 * Attributes: a variable or any other value, and the chain of .field, [key] and [?key] behind it.
 *
 * Follows github.com/google/cel-go interpreter, func (*absoluteAttribute) Resolve,
 * func (*maybeAttribute) Resolve, func refQualify.
 */
#include "cel/run/plan_int.h"

#include <math.h>
#include <string.h>

#include "base/limits.h"

/* What a step found. */
enum found { ABSENT, PRESENT, FAILED };

static struct cel_value resolve(struct cel_eval *ev, const struct cel_attr *attr);

static struct cel_value say(struct cel_eval *ev, const char *fmt, struct cel_value v) {
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_CEL_EVAL_BYTES);
    cel__write_plain(ev, &text, v);
    return cel__error(ev, fmt, STR_ARG(buf_view(&text)));
}

/* An index as an integer; false when it is none. */
static bool list_index(struct cel_eval *ev, struct cel_value key, int64_t *out,
                       struct cel_value *error) {
    if (key.kind == CEL_INT) {
        *out = key.i;
        return true;
    }
    if (key.kind == CEL_UINT && key.u <= INT64_MAX) {
        *out = (int64_t)key.u;
        return true;
    }
    if (key.kind == CEL_DOUBLE && key.d > -0x1p63 && key.d < 0x1p63 && floor(key.d) == key.d) {
        *out = (int64_t)key.d;
        return true;
    }
    if (key.kind == CEL_UINT || key.kind == CEL_DOUBLE)
        *error = say(ev, "unsupported index value %.*s in list", key);
    else
        *error =
            cel__error(ev, "unsupported index type '%.*s' in list", STR_ARG(cel_type_name_of(key)));
    return false;
}

static enum found find_in_list(struct cel_eval *ev, struct cel_value list, struct cel_value key,
                               struct cel_value *out) {
    int64_t i;
    if (!list_index(ev, key, &i, out))
        return FAILED;
    if (i < 0 || i >= list.n)
        return ABSENT;
    *out = list.items[i];
    return PRESENT;
}

/* A constant field of an object stands where its type has it. */
static enum found find_in_map(struct cel_eval *ev, const struct cel_map *map,
                              const struct cel_qual *q, struct cel_value key,
                              struct cel_value *out) {
    if (q->hint < map->n && key.kind == CEL_STRING) {
        const struct cel_entry *e = &map->entries[q->hint];
        if (e->key.kind == CEL_STRING && e->key.n == key.n && memcmp(e->key.s, key.s, key.n) == 0) {
            *out = e->value;
            return PRESENT;
        }
    }
    const struct cel_value *found = cel__map_find(ev, map, key);
    if (!found)
        return ABSENT;
    *out = *found;
    return PRESENT;
}

static enum found step(struct cel_eval *ev, const struct cel_qual *q, struct cel_value obj,
                       struct cel_value key, struct cel_value *out) {
    if (obj.kind == CEL_MAP)
        return find_in_map(ev, obj.map, q, key, out);
    if (obj.kind == CEL_LIST)
        return find_in_list(ev, obj, key, out);
    return ABSENT;
}

static struct cel_value key_of(struct cel_eval *ev, const struct cel_qual *q) {
    if (q->attr)
        return resolve(ev, q->attr);
    return q->node ? cel__node_eval(ev, q->node) : q->key;
}

/* The key itself, or an error when nothing can be looked up by its kind, in the words of Go. */
struct cel_value cel__bad_key(struct cel_eval *ev, struct cel_value key) {
    static const bool refused[CEL_KINDS] = {
        [CEL_NULL] = true,     [CEL_BYTES] = true,  [CEL_DURATION] = true, [CEL_TIMESTAMP] = true,
        [CEL_TYPE] = true,     [CEL_LIST] = true,   [CEL_MAP] = true,      [CEL_OPTIONAL] = true,
        [CEL_QUANTITY] = true, [CEL_SEMVER] = true, [CEL_URL] = true,      [CEL_IP] = true,
        [CEL_CIDR] = true,     [CEL_FORMAT] = true};
    return refused[key.kind] ? cel__error(ev, "invalid qualifier type: %s", cel__go_type(key))
                             : key;
}

/* One step. In an optional chain what is absent ends it; elsewhere it is an error. */
static enum found qualify(struct cel_eval *ev, const struct cel_attr *attr,
                          const struct cel_qual *q, bool optional, struct cel_value *obj) {
    bool paid = !attr->hidden;
    struct cel_value key = cel__bad_key(ev, key_of(ev, q)), out;
    if (key.kind == CEL_ERROR) {
        cel__charge(ev, paid && !optional);
        *obj = key;
        return FAILED;
    }
    enum found found = step(ev, q, *obj, key, &out);
    if (found == FAILED) {
        cel__charge(ev, paid && !optional);
        *obj = out;
        return FAILED;
    }
    if (q->test_only) {
        cel__charge(ev, paid && (!optional || found == PRESENT));
        *obj = optional ? cel_of_null() : cel_of_bool(found == PRESENT);
        return optional ? found : PRESENT;
    }
    cel__charge(ev, paid && (!optional || found == PRESENT));
    if (found == PRESENT) {
        *obj = out;
        return PRESENT;
    }
    if (optional)
        return ABSENT;
    bool list = obj->kind == CEL_LIST;
    *obj = say(ev, list ? "index out of bounds: %.*s" : "no such key: %.*s", key);
    return FAILED;
}

static struct cel_value apply(struct cel_eval *ev, const struct cel_attr *attr,
                              struct cel_value v) {
    bool optional = v.kind == CEL_OPTIONAL;
    if (optional) {
        if (!v.opt || attr->qual_count == 0)
            return v;
        v = *v.opt;
    }
    for (uint32_t i = 0; i < attr->qual_count; i++) {
        optional = optional || attr->quals[i].optional;
        enum found found = qualify(ev, attr, &attr->quals[i], optional, &v);
        if (found == FAILED)
            return v;
        if (found == ABSENT)
            return cel__none();
    }
    return optional ? cel__some(ev, v) : v;
}

static struct cel_value first_value(struct cel_eval *ev, struct cel_value *local) {
    const struct cel_fold_node *f = local->opaque;
    struct cel_value v = cel__node_eval(ev, f->init);
    *local = v;
    return v;
}

static inline struct cel_value read_local(struct cel_eval *ev, uint32_t slot) {
    struct cel_value *local = &ev->locals[slot];
    return __builtin_expect(local->kind != CEL_LAZY, 1) ? *local : first_value(ev, local);
}

static struct cel_value base_of(struct cel_eval *ev, const struct cel_attr *attr) {
    if (attr->base == CEL_BASE_VAR)
        return ev->vars[attr->slot];
    if (attr->base == CEL_BASE_LOCAL)
        return read_local(ev, attr->slot);
    return cel__node_eval(ev, attr->node);
}

/* The value of the chain; charged are its steps alone. */
static struct cel_value resolve(struct cel_eval *ev, const struct cel_attr *attr) {
    while (attr->base == CEL_BASE_COND) {
        struct cel_value c = cel__node_eval(ev, attr->node);
        if (c.kind != CEL_BOOL)
            return c.kind == CEL_ERROR ? c : CEL_NO_OVERLOAD;
        attr = c.b ? attr->yes : attr->no;
    }
    struct cel_value v = base_of(ev, attr);
    return v.kind == CEL_ERROR ? v : apply(ev, attr, v);
}

/* A test for presence takes back the cost of the chain, which a choice between two did not add. So
 * the cost can fall below zero, which upstream takes for more than any limit. */
static void take_back(struct cel_eval *ev) {
    if (ev->cancelled)
        return;
    ev->cost--;
    cel__charge_over(ev, 0);
}

struct cel_value cel__eval_local(struct cel_eval *ev, const struct cel_node *n) {
    struct cel_value v = read_local(ev, ((const struct cel_attr_node *)n)->attr->slot);
    cel__charge(ev, 1);
    return v;
}

struct cel_value cel__eval_attr(struct cel_eval *ev, const struct cel_node *n) {
    const struct cel_attr_node *node = (const struct cel_attr_node *)n;
    struct cel_value v = resolve(ev, node->attr);
    if (node->attr->base != CEL_BASE_COND)
        cel__charge(ev, !node->test_only);
    else if (node->test_only)
        take_back(ev);
    if (node->test_only && v.kind == CEL_OPTIONAL)
        return cel_of_bool(v.opt != NULL);
    return v;
}
