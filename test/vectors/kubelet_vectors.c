/* kubelet.jsonl: does the kubelet of a node with some pods admit one more, and if not, why not? */
#include "cluster.h"
#include "kubelet/kubelet.h"
#include "members.h"
#include "vectors.h"

typedef void write_fn(struct buf *out, const struct kubelet_failure *f);

static struct json render(struct arena *a, write_fn *write, const struct kubelet_failure *f) {
    struct buf text = BUF_INIT(4096);
    write(&text, f);
    struct json out = json_of_str(arena_str(a, buf_view(&text)));
    buf_release(&text);
    return out;
}

/* Where no filter was asked the line has no failures of filters. */
static struct json encode_failures(struct arena *a, const struct kubelet_verdict *v) {
    struct json out = {.kind = JSON_ARRAY};
    for (size_t i = 0; i < v->n; i++)
        if (v->v[i].code >= KUBELET_RESOURCE)
            json_append(a, &out, render(a, kubelet_failure_write_message, &v->v[i]));
    return out;
}

static int compare(struct arena *a, const struct json *line, const struct kubelet_verdict *v,
                   struct buf *why) {
    struct json got = {.kind = JSON_OBJECT}, empty = json_of_str(STR(""));
    bool admit = v->n == 0;
    json_add(a, &got, STR("admit"), json_of_bool(admit));
    json_add(a, &got, STR("reason"),
             admit ? empty : render(a, kubelet_failure_write_reason, &v->v[0]));
    json_add(a, &got, STR("message"),
             admit ? empty : render(a, kubelet_failure_write_message, &v->v[0]));
    json_add(a, &got, STR("all_failures"), encode_failures(a, v));
    return vectors_compare_members(line, &got, why);
}

static int check(struct cluster *c, const struct json *line, struct buf *why) {
    const struct api_object *node = cluster_add(c, "Node", json_get(line, STR("node")), why);
    const struct api_object *pod = cluster_add(c, "Pod", json_get(line, STR("pod")), why);
    size_t first = c->n;
    if (!node || !pod || cluster_add_all(c, "Pod", json_get(line, STR("other_pods")), why) < 0)
        return -1;
    const struct api_pod **others = arena_array(c->arena, const struct api_pod *, c->n - first);
    for (size_t i = first; i < c->n; i++)
        others[i - first] = c->objects[i]->body;
    struct kubelet_ctx ctx = {c->match, &c->gates, c->arena};
    struct kubelet_state state = {node->body, others, c->n - first};
    struct kubelet_verdict v;
    kubelet_admit(&ctx, &state, pod->body, &v);
    return compare(c->arena, line, &v, why);
}

int vectors_check_kubelet(struct arena *a, const struct json *line, struct buf *why) {
    return cluster_check(a, line, why, check);
}
