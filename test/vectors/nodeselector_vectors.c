/* nodeselector.jsonl: which nodes a pod's nodeSelector and nodeAffinity, or a volume's, accept. */
#include "match_vectors.h"
#include "vectors.h"

static void add_required(struct arena *a, struct json *got, const struct match_affinity *affinity,
                         const struct match_node *node) {
    struct match_node_verdict verdict;
    bool match = match_affinity_required(affinity, node, &verdict);
    struct str error = {0};
    if (!match && verdict.part == MATCH_NODE_REQUIRED)
        error = match_affinity_error(affinity, MATCH_NODE_REQUIRED);
    json_add(a, got, STR("required_match"), json_of_bool(match));
    json_add(a, got, STR("required_error"), match_vectors_text_or_null(a, error));
}

static void add_preferred(struct arena *a, struct json *got, const struct match_affinity *affinity,
                          const struct match_node *node) {
    struct str error = match_affinity_error(affinity, MATCH_NODE_PREFERRED);
    json_add(a, got, STR("preferred_error"), match_vectors_text_or_null(a, error));
    json_add(a, got, STR("preferred_score"),
             error.p ? (struct json){.kind = JSON_NULL}
                     : json_of_i64(match_affinity_score(affinity, node)));
}

static int check_pod(struct arena *a, const struct json *line, struct match *m, struct buf *why) {
    struct api_pod_spec pod = {0};
    struct api_node_affinity node_affinity = {0}; /* stands beside nodeSelector in these lines */
    struct api_object_meta meta = {0};
    const struct json *spec = json_get(line, STR("spec"));
    if (match_vectors_decode(a, API_T_object_meta, json_get(line, STR("node")), &meta, why) < 0 ||
        match_vectors_decode(a, API_T_pod_spec, spec, &pod, why) < 0 ||
        match_vectors_decode(a, API_T_node_affinity, json_get(spec, STR("nodeAffinity")),
                             &node_affinity, why) < 0)
        return -1;
    struct json got = {.kind = JSON_OBJECT};
    struct match_node *node = match_node_new(m, meta.name, &meta.labels);
    struct match_affinity *affinity = match_affinity_new(m, &pod.node_selector, &node_affinity);
    add_required(a, &got, affinity, node);
    if (node_affinity.preferred.n)
        add_preferred(a, &got, affinity, node);
    match_affinity_free(affinity);
    match_node_free(node);
    return vectors_compare_members(line, &got, why);
}

static int check_volume(struct arena *a, const struct json *line, struct match *m,
                        struct buf *why) {
    struct api_persistent_volume_spec spec = {0};
    struct labels labels;
    struct err err;
    if (match_vectors_decode(a, API_T_persistent_volume_spec, json_get(line, STR("spec")), &spec,
                             why) < 0)
        return -1;
    if (labels_from_json(a, json_get(line, STR("node_labels")), &labels, &err) < 0) {
        buf_addf(why, "%s", err.msg);
        return -1;
    }
    struct json got = {.kind = JSON_OBJECT};
    struct match_node *node = match_node_new(m, STR("any"), &labels);
    struct match_affinity *affinity = match_affinity_new_volume(m, spec.node_affinity);
    struct str error = match_affinity_volume_error(affinity, node);
    json_add(a, &got, STR("match"), json_of_bool(!error.p));
    json_add(a, &got, STR("error"), match_vectors_text_or_null(a, error));
    match_affinity_free(affinity);
    match_node_free(node);
    return vectors_compare_members(line, &got, why);
}

int vectors_check_nodeselector(struct arena *a, const struct json *line, struct buf *why) {
    struct match_vectors v;
    match_vectors_init(&v, line);
    bool is_volume = str_is(vectors_text(line, STR("kind")), "pv");
    int rc = is_volume ? check_volume(a, line, v.m, why) : check_pod(a, line, v.m, why);
    match_vectors_release(&v);
    return rc;
}
