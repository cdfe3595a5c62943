/* daemon.jsonl: should pods of a DaemonSet with this template run on this node? */
#include "cluster.h"
#include "controller/controller.h"
#include "match_vectors.h"
#include "vectors.h"

static int compare(struct arena *a, const struct json *line,
                   const struct controller_daemon_verdict *v, struct buf *why) {
    struct json got = {.kind = JSON_OBJECT};
    json_add(a, &got, STR("should_run"), json_of_bool(v->should_run));
    json_add(a, &got, STR("should_continue_running"), json_of_bool(v->should_continue));
    return vectors_compare_members(line, &got, why);
}

static int check(struct cluster *c, const struct json *line, struct buf *why) {
    struct api_node node = {0};
    struct api_pod_spec template = {0};
    if (match_vectors_decode(c->arena, API_T_node, json_get(line, STR("node")), &node, why) < 0 ||
        match_vectors_decode(c->arena, API_T_pod_spec, json_get(line, STR("template_spec")),
                             &template, why) < 0)
        return -1;
    struct match_node *labels = match_node_new(c->match, node.metadata.name, &node.metadata.labels);
    struct controller_node at = {node.metadata.name, labels,
                                 match_taints_get(c->match, &node.spec.taints)};
    struct controller_daemon *daemon = controller_daemon_new(c->match, &template);
    struct controller_daemon_verdict v = controller_daemon_check(daemon, &at);
    controller_daemon_free(daemon);
    match_node_free(labels);
    return compare(c->arena, line, &v, why);
}

int vectors_check_daemon(struct arena *a, const struct json *line, struct buf *why) {
    return cluster_check(a, line, why, check);
}
