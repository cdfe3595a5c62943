#include "verdict.h"

#include "members.h"
#include "registry/registry.h"

int verdict_gates(const struct json *line, struct feature_set *out, struct buf *why) {
    struct feature_config defaults;
    feature_config_init(&defaults, FEATURE_NEWEST);
    *out = defaults.enabled;
    const struct json *gates = json_get(line, STR("gates"));
    for (uint32_t i = 0; gates && i < gates->n; i++) {
        const struct json_member *gate = &gates->members[i];
        enum feature f;
        if (!feature_find(gate->key, &f)) {
            buf_addf(why, "no gate %.*s", STR_ARG(gate->key));
            return -1;
        }
        feature_set_put(out, f, gate->value.b);
    }
    return 0;
}

/* Equal, member by member in the same order. */
static bool same(const struct json *want, const struct json *got);

static bool same_members(const struct json *want, const struct json *got) {
    for (uint32_t i = 0; i < want->n; i++) {
        const struct json_member *w = &want->members[i], *g = &got->members[i];
        if (!str_eq(w->key, g->key) || !same(&w->value, &g->value))
            return false;
    }
    return true;
}

static bool same_items(const struct json *want, const struct json *got) {
    for (uint32_t i = 0; i < want->n; i++)
        if (!same(&want->items[i], &got->items[i]))
            return false;
    return true;
}

static bool same(const struct json *want, const struct json *got) {
    if (want->kind != got->kind)
        return false;
    if (want->kind != JSON_ARRAY && want->kind != JSON_OBJECT)
        return json_equal(want, got);
    if (want->n != got->n)
        return false;
    return want->kind == JSON_ARRAY ? same_items(want, got) : same_members(want, got);
}

static int compare(const struct json *line, struct str key, const struct json *got,
                   struct buf *why) {
    static const struct json none = {.kind = JSON_NULL};
    const struct json *want = json_get(line, key);
    if (!want)
        want = &none;
    if (same(want, got))
        return 0;
    buf_addf(why, "%.*s: want ", STR_ARG(key));
    json_write(why, want, NULL);
    buf_add(why, STR("\n    got "));
    json_write(why, got, NULL);
    return -1;
}

static struct str full_text(struct arena *a, const struct valid_error *e) {
    return arena_printf(a, "%.*s: %.*s", STR_ARG(e->field), STR_ARG(e->body));
}

static struct json list_of(const struct valid_errs *errs) {
    struct arena *a = errs->a;
    struct json list = {.kind = JSON_ARRAY};
    for (size_t i = 0; i < errs->n; i++) {
        const struct valid_error *e = &errs->v[i];
        struct json *item = json_append(a, &list, (struct json){.kind = JSON_OBJECT});
        json_add(a, item, STR("type"), json_of_str(str_of(valid_reason(e->type))));
        json_add(a, item, STR("field"), json_of_str(e->field));
        json_add(a, item, STR("detail"), json_of_str(e->detail));
        json_add(a, item, STR("text"), json_of_str(full_text(a, e)));
    }
    return list;
}

/* Puts the error with this text at place i, when there is one at or behind it. */
static void bring_forward(struct valid_errs *errs, size_t i, struct str text) {
    for (size_t j = i; j < errs->n; j++) {
        if (!str_eq(full_text(errs->a, &errs->v[j]), text))
            continue;
        struct valid_error e = errs->v[j];
        errs->v[j] = errs->v[i];
        errs->v[i] = e;
        return;
    }
}

/* Where upstream's order is random, it was so for the list and again for the status. */
static void order_as_list(const struct json *list, struct valid_errs *errs) {
    for (uint32_t i = 0; list && i < list->n && i < errs->n; i++)
        bring_forward(errs, i, vectors_text(&list->items[i], STR("text")));
}

static void order_as_causes(const struct json *causes, struct valid_errs *errs) {
    for (uint32_t i = 0; causes && i < causes->n && i < errs->n; i++) {
        struct str field = vectors_text(&causes->items[i], STR("field"));
        struct str message = vectors_text(&causes->items[i], STR("message"));
        bring_forward(errs, i,
                      arena_printf(errs->a, "%.*s: %.*s", STR_ARG(field), STR_ARG(message)));
    }
}

static int compare_list(const struct json *line, struct valid_errs *errs, bool random,
                        struct buf *why) {
    if (random)
        order_as_list(json_get(line, STR("errors")), errs);
    struct json list = list_of(errs), valid = json_of_bool(!errs->n);
    if (json_get(line, STR("errors")) && compare(line, STR("errors"), &list, why) < 0)
        return -1;
    return compare(line, STR("valid"), &valid, why);
}

static int compare_status(const struct json *line, const struct api_object *o,
                          struct valid_errs *errs, bool random, struct buf *why) {
    const struct json *details = json_get(json_get(line, STR("status")), STR("details"));
    if (random)
        order_as_causes(json_get(details, STR("causes")), errs);
    struct json status = {.kind = JSON_NULL};
    if (errs->n) {
        struct registry_failure failure = registry_invalid(errs->a, o, errs);
        status = registry_status(errs->a, &failure);
    }
    return compare(line, STR("status"), &status, why);
}

int verdict_compare(const struct json *line, const struct api_object *o, struct valid_errs *errs,
                    struct buf *why) {
    const struct json *random = json_get(line, STR("order_random"));
    bool is_random = random && random->b;
    if (compare_list(line, errs, is_random, why) < 0)
        return -1;
    return compare_status(line, o, errs, is_random, why);
}

int verdict_compare_refusal(const struct json *line, const struct api_faults *faults,
                            struct buf *why) {
    struct json none = {.kind = JSON_ARRAY}, invalid = json_of_bool(false);
    struct registry_failure failure = registry_refuse_faults(faults);
    struct json status = registry_status(faults->a, &failure);
    if (compare(line, STR("errors"), &none, why) < 0 ||
        compare(line, STR("valid"), &invalid, why) < 0)
        return -1;
    return compare(line, STR("status"), &status, why);
}
