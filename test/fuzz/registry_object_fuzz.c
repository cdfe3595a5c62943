/*
 * Any JSON, taken for an object that a user creates, and for one that is to replace it: it is
 * decoded, defaulted, prepared and validated. Whatever comes of it, the errors have a place and a
 * text, each once, the same ones when asked again, and what is kept of an old object outlives it.
 */
#include <string.h>

#include "base/limits.h"
#include "check.h"
#include "registry/registry.h"
#include "valid/valid.h"

static void check_errors(const struct valid_errs *errs, const struct api_object *o) {
    for (size_t i = 0; i < errs->n; i++)
        CHECK(errs->v[i].field.n > 0 && errs->v[i].body.n > 0);
    if (!errs->n)
        return;
    struct buf text = BUF_INIT(64U << 20);
    struct registry_failure failure = registry_invalid(errs->a, o, errs);
    struct json status = registry_status(errs->a, &failure);
    json_write(&text, &status, NULL);
    CHECK(!text.full);
    buf_release(&text);
}

static void check_same(const struct valid_errs *a, const struct valid_errs *b) {
    CHECK(a->n == b->n);
    for (size_t i = 0; i < a->n; i++)
        CHECK(str_eq(a->v[i].field, b->v[i].field) && str_eq(a->v[i].body, b->v[i].body));
}

static void encode(struct arena *a, const struct api_object *o) {
    struct buf text = BUF_INIT(64U << 20);
    struct json tree = api_object_encode(o, a);
    json_write(&text, &tree, NULL);
    CHECK(!text.full);
    buf_release(&text);
}

static void create(struct arena *a, struct api_object *o, const struct valid_opts *opts) {
    struct valid_errs errs = VALID_ERRS_INIT(a), again = VALID_ERRS_INIT(a);
    valid_generate_name(o, STR("xxxxx"));
    valid_prepare_create(o, opts);
    valid_create(o, opts, &errs);
    valid_create(o, opts, &again);
    check_errors(&errs, o);
    check_same(&errs, &again);
}

/* Takes both objects. */
static void update(struct arena *a, struct api_object *o, struct api_object *old,
                   const struct valid_opts *opts) {
    struct valid_errs errs = VALID_ERRS_INIT(a), again = VALID_ERRS_INIT(a);
    valid_prepare_update(o, old, opts);
    valid_update(o, old, opts, &errs);
    valid_update(o, old, opts, &again);
    check_errors(&errs, o);
    check_same(&errs, &again);
    api_object_free(old);
    encode(a, o);
    api_object_free(o);
}

static struct api_object *read_object(const struct json *tree, const struct valid_opts *opts) {
    struct api_object *o;
    const struct api_decode_opts lenient = {.duplicates = true};
    if (api_object_decode(tree, &lenient, &o, NULL) < 0)
        return NULL;
    if (!valid_knows(o->kind)) {
        api_object_free(o);
        return NULL;
    }
    api_object_default(o, opts->gates);
    return o;
}

/* Changes the scalar that comes `*left` places behind the start of the tree, if there is one. */
static void mutate(struct json *v, unsigned *left) {
    if (v->kind == JSON_ARRAY || v->kind == JSON_OBJECT) {
        for (uint32_t i = 0; i < v->n && *left; i++)
            mutate(v->kind == JSON_ARRAY ? &v->items[i] : &v->members[i].value, left);
        return;
    }
    if (--*left)
        return;
    if (v->kind == JSON_INT)
        v->i = (int64_t)((uint64_t)v->i + 1);
    else if (v->kind == JSON_BOOL)
        v->b = !v->b;
    else
        *v = json_of_str(v->kind == JSON_STRING && v->n ? STR("") : STR("other"));
}

/* The object to update to: the second one of the text, or the first with a change. */
static struct json successor(struct arena *a, const struct json *tree, struct str rest,
                             unsigned change) {
    struct json next;
    struct json_opts opts = {.max_depth = 100, .allow_duplicates = true};
    if (json_parse(a, rest, &opts, &next, NULL) == 0)
        return next;
    next = json_clone(a, tree);
    unsigned left = change + 1;
    mutate(&next, &left);
    return next;
}

static struct feature_set gates_for(bool all) {
    struct feature_config config;
    feature_config_init(&config, FEATURE_NEWEST);
    for (enum feature f = 0; all && f < FEATURE_COUNT; f++)
        feature_set_put(&config.enabled, f, true);
    return config.enabled;
}

static void judge(struct arena *a, struct str text, unsigned choice) {
    struct json_opts json_opts = {.max_depth = 100, .allow_duplicates = true};
    struct feature_set gates = gates_for(choice & 1);
    struct valid_opts opts = {.gates = &gates, .namespace = STR("default")};
    struct json tree;
    size_t used;
    if (json_parse_prefix(a, text, true, &json_opts, &tree, &used, NULL) != 1)
        return;
    struct api_object *old = read_object(&tree, &opts);
    if (!old)
        return;
    create(a, old, &opts);
    encode(a, old);
    struct json next = successor(a, &tree, str_sub(text, used, text.n), choice >> 1);
    struct api_object *o = read_object(&next, &opts);
    if (o && o->kind == old->kind) {
        update(a, o, old, &opts);
        return;
    }
    api_object_free(o);
    api_object_free(old);
}

/* The first byte chooses gates and the change. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    struct arena a = {0};
    judge(&a, (struct str){(const char *)data + 1, size - 1}, data[0]);
    arena_release(&a);
    return 0;
}
