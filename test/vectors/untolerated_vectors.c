/* untolerated.jsonl: what scheduler and taint-eviction controller make of a pod's tolerations on a
 * node with these taints. */
#include "match_vectors.h"
#include "vectors.h"

static struct json encode_untolerated(struct arena *a, const struct api_taint_list *taints,
                                      uint32_t i) {
    return i == MATCH_NONE ? (struct json){.kind = JSON_NULL}
                           : api_struct_encode(a, &api_types[API_T_taint], &taints->v[i]);
}

static struct json encode_eviction(struct arena *a, const struct match_fit *fit) {
    static const struct str names[] = {
        [MATCH_EVICT_NEVER] = STR_INIT("never"),
        [MATCH_EVICT_NOW] = STR_INIT("immediate"),
        [MATCH_EVICT_AFTER] = STR_INIT("after"),
    };
    struct json out = {.kind = JSON_OBJECT};
    json_add(a, &out, STR("decision"), json_of_str(names[fit->eviction]));
    if (fit->eviction != MATCH_EVICT_AFTER)
        return out;
    json_add(a, &out, STR("nanoseconds"), json_of_i64(fit->eviction_ns));
    json_add(a, &out, STR("seconds"), json_of_i64(fit->eviction_ns / 1000000000));
    return out;
}

/* The first toleration for each taint; none when one has none. */
static bool find_matching(struct arena *a, const struct match_tolerations *tolerations,
                          const struct match_taints *taints,
                          const struct api_toleration_list *specs, struct json *out) {
    *out = (struct json){.kind = JSON_ARRAY};
    for (uint32_t i = 0; i < taints->n; i++) {
        uint32_t at = match_find_toleration(tolerations, &taints->v[i]);
        if (at == MATCH_NONE) {
            out->n = 0;
            return false;
        }
        json_append(a, out, api_struct_encode(a, &api_types[API_T_toleration], &specs->v[at]));
    }
    return true;
}

static int check(struct arena *a, const struct json *line, struct match *m,
                 const struct api_node_spec *node, const struct api_pod_spec *pod,
                 struct buf *why) {
    const struct match_tolerations *tolerations = match_tolerations_get(m, &pod->tolerations);
    const struct match_taints *taints = match_taints_get(m, &node->taints);
    struct match_fit fit = match_fit(m, tolerations, taints);
    struct json got = {.kind = JSON_OBJECT}, matching;
    bool all = find_matching(a, tolerations, taints, &pod->tolerations, &matching);
    json_add(a, &got, STR("first_untolerated"),
             encode_untolerated(a, &node->taints, fit.untolerated));
    json_add(a, &got, STR("prefer_intolerable_count"), json_of_i64(fit.intolerable));
    json_add(a, &got, STR("matching_all_tolerated"), json_of_bool(all));
    json_add(a, &got, STR("matching_tolerations"), matching);
    json_add(a, &got, STR("eviction"), encode_eviction(a, &fit));
    return vectors_compare_members(line, &got, why);
}

int vectors_check_untolerated(struct arena *a, const struct json *line, struct buf *why) {
    struct match_vectors v;
    struct api_node_spec node = {0};
    struct api_pod_spec pod = {0};
    /* The members that these specs know by the same names, taints and tolerations, are taken. */
    if (match_vectors_decode(a, API_T_node_spec, line, &node, why) < 0 ||
        match_vectors_decode(a, API_T_pod_spec, line, &pod, why) < 0)
        return -1;
    match_vectors_init(&v, line);
    int rc = check(a, line, v.m, &node, &pod, why);
    match_vectors_release(&v);
    return rc;
}
