#include "match_vectors.h"

#include "base/clock.h"
#include "feature/feature.h"
#include "tolexpr/tolexpr.h"

static struct feature_set gates_of(const struct json *line) {
    const struct json *on = json_get(line, STR("comparison_operators"));
    const struct json *gates = json_get(line, STR("gates"));
    struct feature_config config;
    enum feature gate;
    feature_config_init(&config, FEATURE_NEWEST);
    feature_set_put(&config.enabled, FEATURE_TaintTolerationComparisonOperators,
                    on && on->kind == JSON_BOOL && on->b);
    for (uint32_t i = 0; gates && i < gates->n; i++)
        if (feature_find(gates->members[i].key, &gate))
            feature_set_put(&config.enabled, gate, gates->members[i].value.b);
    return config.enabled;
}

void match_vectors_init(struct match_vectors *v, const struct json *line) {
    struct feature_set gates = gates_of(line);
    v->atoms = intern_new(1);
    v->expressions = tolexpr_new(&(struct tolexpr_opts){{1, 36}, &clock_system, 1, 0});
    v->m = match_new(v->atoms, &gates, tolexpr_match_engine(v->expressions), 1);
}

void match_vectors_release(struct match_vectors *v) {
    match_free(v->m);
    tolexpr_free(v->expressions);
    intern_free(v->atoms);
}

int match_vectors_decode(struct arena *a, enum api_type_id type, const struct json *value,
                         void *body, struct buf *why) {
    struct api_faults faults;
    api_faults_init(&faults, a);
    if (!value || value->kind == JSON_NULL ||
        api_struct_decode(a, &api_types[type], value, body, &faults) == 0)
        return 0;
    buf_add(why, STR("not decoded: "));
    api_faults_write(why, &faults);
    return -1;
}

struct json match_vectors_text_or_null(struct arena *a, struct str s) {
    return s.p ? json_of_str(arena_str(a, s)) : (struct json){.kind = JSON_NULL};
}
