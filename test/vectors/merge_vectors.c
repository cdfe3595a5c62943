/* merge.jsonl: a pod as it is posted; its selectors after matchLabelKeys and mismatchLabelKeys were
 * merged into them, and what is wrong with it then, in any order. */
#include <stdlib.h>

#include "members.h"
#include "vectors.h"
#include "verdict.h"

static struct json affinity_of(struct arena *a, const struct api_pod_spec *spec) {
    static const struct json none = {.kind = JSON_NULL};
    return spec->affinity ? api_struct_encode(a, &api_types[API_T_affinity], spec->affinity) : none;
}

static struct json spread_of(struct arena *a, const struct api_pod_spec *spec) {
    const struct api_topology_spread_constraint_list *list = &spec->topology_spread_constraints;
    struct json array = {.kind = list->n ? JSON_ARRAY : JSON_NULL};
    for (size_t i = 0; i < list->n; i++)
        json_append(
            a, &array,
            api_struct_encode(a, &api_types[API_T_topology_spread_constraint], &list->v[i]));
    return array;
}

static int by_text(const void *a, const void *b) {
    return str_cmp(json_str(a), json_str(b));
}

static struct json sorted(struct arena *a, const struct json *list) {
    struct json copy = json_clone(a, list);
    if (copy.n)
        qsort(copy.items, copy.n, sizeof *copy.items, by_text);
    return copy;
}

static struct json texts_of(const struct valid_errs *errs) {
    struct json list = {.kind = JSON_ARRAY};
    for (size_t i = 0; i < errs->n; i++) {
        AUTO(buf_release) struct buf text = BUF_INIT(1 << 24);
        buf_add(&text, errs->v[i].field);
        buf_add(&text, STR(": "));
        buf_add(&text, errs->v[i].body);
        json_append(errs->a, &list, json_of_str(arena_str(errs->a, buf_view(&text))));
    }
    return list;
}

static struct json outcome(struct arena *a, struct api_object *o, const struct valid_opts *opts) {
    const struct api_pod_spec *spec = &((const struct api_pod *)o->body)->spec;
    struct valid_errs errs = VALID_ERRS_INIT(a);
    struct json got = {.kind = JSON_OBJECT};
    api_object_default(o, opts->gates);
    valid_prepare_create(o, opts);
    valid_create(o, opts, &errs);
    struct json texts = texts_of(&errs);
    json_add(a, &got, STR("affinity_after"), affinity_of(a, spec));
    json_add(a, &got, STR("topologySpreadConstraints_after"), spread_of(a, spec));
    json_add(a, &got, STR("valid"), json_of_bool(errs.n == 0));
    json_add(a, &got, STR("errors"), sorted(a, &texts));
    return got;
}

/* The line with its errors in order. */
static struct json wanted(struct arena *a, const struct json *line) {
    struct json want = {.kind = JSON_OBJECT};
    for (uint32_t i = 0; i < line->n; i++) {
        const struct json_member *m = &line->members[i];
        bool is_errors = str_is(m->key, "errors") && m->value.kind == JSON_ARRAY;
        json_add(a, &want, m->key, is_errors ? sorted(a, &m->value) : m->value);
    }
    return want;
}

int vectors_check_merge(struct arena *a, const struct json *line, struct buf *why) {
    static const struct json missing;
    const struct json *tree = json_get(line, STR("pod"));
    struct feature_set gates;
    struct api_object *o;
    struct api_faults faults;
    api_faults_init(&faults, a);
    if (verdict_gates(line, &gates, why) < 0)
        return -1;
    if (api_object_decode(tree ? tree : &missing, NULL, &o, &faults) < 0) {
        buf_add(why, STR("pod: "));
        api_faults_write(why, &faults);
        return -1;
    }
    struct valid_opts opts = {.gates = &gates};
    int rc = -1;
    if (o->type == &api_types[API_T_pod]) {
        struct json want = wanted(a, line), got = outcome(a, o, &opts);
        rc = vectors_compare_members(&want, &got, why);
    } else {
        buf_add(why, STR("not a pod"));
    }
    api_object_free(o);
    return rc;
}
