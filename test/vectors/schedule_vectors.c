/*
 * schedule.jsonl: what every filter and score of the default profile makes of a pod in a cluster,
 * and what follows from it. The members of the line's `result` are built from our report one by one
 * and compared, so that the first difference says at which step the two part.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"
#include "cluster.h"
#include "members.h"
#include "sched/sched.h"
#include "vectors.h"

/* ---- our answer, in the words of the line ---- */

static struct json encode_status(struct arena *a, const struct sched_status *s) {
    struct json out = {.kind = JSON_OBJECT}, reasons = {.kind = JSON_ARRAY};
    for (size_t i = 0; i < s->reason_count; i++)
        json_append(a, &reasons, json_of_str(s->reasons[i]));
    json_add(a, &out, STR("code"), json_of_str(sched_code_name(s->code)));
    json_add(a, &out, STR("plugin"), json_of_str(s->plugin));
    json_add(a, &out, STR("reasons"), reasons);
    return out;
}

static struct json encode_node_status(struct arena *a, const struct sched_report *r) {
    struct json out = {.kind = JSON_OBJECT};
    for (size_t i = 0; i < r->node_count; i++) {
        const struct sched_node_report *n = &r->nodes[i];
        if (n->status.code != SCHED_CODE_SUCCESS && !n->absent &&
            r->rejected.code == SCHED_CODE_SUCCESS)
            json_add(a, &out, n->node, encode_status(a, &n->status));
    }
    return out;
}

/* The status of nodes that no filter was asked about; NULL when there are none. */
static const struct sched_status *find_absent_status(const struct sched_report *r) {
    if (r->rejected.code != SCHED_CODE_SUCCESS)
        return &r->rejected;
    for (size_t i = 0; i < r->node_count; i++)
        if (r->nodes[i].absent)
            return &r->nodes[i].status;
    return NULL;
}

static struct json encode_message(struct arena *a, const struct sched_status *s) {
    struct buf text = BUF_INIT(LIMIT_OBJECT_BYTES);
    for (size_t i = 0; i < s->reason_count; i++) {
        buf_add(&text, i ? STR(", ") : STR(""));
        buf_add(&text, s->reasons[i]);
    }
    struct json out = json_of_str(arena_str(a, buf_view(&text)));
    buf_release(&text);
    return out;
}

static bool is_feasible(const struct sched_report *r, size_t i) {
    if (r->nominated)
        return i == r->best;
    return r->rejected.code == SCHED_CODE_SUCCESS &&
           r->nodes[i].status.code == SCHED_CODE_SUCCESS && !r->nodes[i].absent;
}

static struct json encode_feasible(struct arena *a, const struct sched_report *r) {
    struct json out = {.kind = JSON_ARRAY};
    struct str *names = arena_array(a, struct str, r->node_count);
    size_t n = 0;
    for (size_t i = 0; i < r->node_count; i++)
        if (is_feasible(r, i))
            names[n++] = r->nodes[i].node;
    qsort(names, n, sizeof *names, str_cmp_qsort);
    for (size_t i = 0; i < n; i++)
        json_append(a, &out, json_of_str(names[i]));
    return out;
}

/* Upstream's plug-ins for claims of devices and volumes say 0 where no pod has a claim, the latter
 * only with StorageCapacityScoring; lines with a configuration, which may turn them off, do not
 * show that. */
static struct json encode_scores(const struct cluster *c, const struct sched_report *r,
                                 const struct sched_node_report *node) {
    struct arena *a = c->arena;
    struct json out = {.kind = JSON_OBJECT}, plugins = {.kind = JSON_OBJECT};
    int64_t volumes = node->scores[SCHED_VOLUME_BINDING];
    for (enum sched_plugin p = 0; p < SCHED_PLUGIN_COUNT; p++)
        if (r->scoring[p] && p != SCHED_VOLUME_BINDING)
            json_add(a, &plugins, sched_plugin_name(p), json_of_i64(node->scores[p]));
    bool scores = feature_enabled(&c->gates, FEATURE_StorageCapacityScoring);
    if ((!c->config && scores) || volumes)
        json_add(a, &plugins, STR("VolumeBinding"), json_of_i64(volumes));
    if (!c->config)
        json_add(a, &plugins, STR("DynamicResources"), json_of_i64(0));
    json_add(a, &out, STR("plugins"), plugins);
    json_add(a, &out, STR("total"), json_of_i64(node->total));
    return out;
}

static struct json encode_all_scores(const struct cluster *c, const struct sched_report *r) {
    struct json out = {.kind = JSON_OBJECT};
    for (size_t i = 0; i < r->node_count; i++)
        if (is_feasible(r, i))
            json_add(c->arena, &out, r->nodes[i].node, encode_scores(c, r, &r->nodes[i]));
    return out;
}

static struct json encode_report(const struct cluster *c, const struct sched_report *r) {
    struct arena *a = c->arena;
    struct json out = {.kind = JSON_OBJECT};
    const struct sched_status *absent = find_absent_status(r);
    bool failed = r->error.p != NULL;
    if (failed && !r->feasible) {
        json_add(a, &out, STR("error"), json_of_str(r->error));
        return out;
    }
    if (r->rejected.code != SCHED_CODE_SUCCESS)
        json_add(a, &out, STR("prefilter_message"), encode_message(a, &r->rejected));
    json_add(a, &out, STR("node_status"), encode_node_status(a, r));
    if (absent)
        json_add(a, &out, STR("absent_nodes_status"), encode_status(a, absent));
    json_add(a, &out, STR("feasible"), encode_feasible(a, r));
    if (failed)
        json_add(a, &out, STR("score_error"), json_of_str(r->error));
    if (r->scored && !failed)
        json_add(a, &out, STR("scores"), encode_all_scores(c, r));
    if (r->message.n > 0)
        json_add(a, &out, STR("message"), json_of_str(r->message));
    return out;
}

/* ---- comparison ---- */

static bool has_item(const struct json *list, const struct json *item) {
    for (uint32_t i = 0; i < list->n; i++)
        if (json_equal(&list->items[i], item))
            return true;
    return false;
}

/* Upstream keeps all but a few resources in a map, and names what is missing in any order. */
static bool same_reasons(const struct json *want, const struct json *got) {
    bool same = want->n == got->n;
    for (uint32_t i = 0; same && i < want->n; i++)
        same = has_item(got, &want->items[i]) && has_item(want, &got->items[i]);
    return same;
}

/* Objects are compared member by member, those we should have and then those we should not:
 * the innermost difference is the one to show. */
static int compare(struct buf *why, struct str where, const struct json *want,
                   const struct json *got) {
    if (want && got && str_is(where, "reasons") && want->kind == JSON_ARRAY &&
        got->kind == JSON_ARRAY && same_reasons(want, got))
        return 0;
    if (!want || !got || want->kind != JSON_OBJECT || got->kind != JSON_OBJECT)
        return want && got && json_equal(want, got) ? 0 : vectors_differ(why, where, want, got);
    for (uint32_t i = 0; i < want->n; i++) {
        struct str key = want->members[i].key;
        if (compare(why, key, &want->members[i].value, json_get(got, key)) < 0) {
            buf_addf(why, " (%.*s)", STR_ARG(where));
            return -1;
        }
    }
    for (uint32_t i = 0; i < got->n; i++)
        if (!json_get(want, got->members[i].key))
            return vectors_differ(why, got->members[i].key, NULL, &got->members[i].value);
    return 0;
}

/* Of several best nodes upstream may take any. */
static int compare_best(const struct json *top, const struct sched_report *r, struct buf *why) {
    if (!top)
        return 0;
    struct json best = json_of_str(r->nodes[r->best].node);
    for (uint32_t i = 0; i < top->n; i++)
        if (json_equal(&top->items[i], &best))
            return 0;
    return vectors_differ(why, STR("top"), top, &best);
}

/* Steps that a result goes through, each the reason of the next. */
static const struct str steps[] = {
    STR_INIT("error"),       STR_INIT("prefilter_message"), STR_INIT("absent_nodes_status"),
    STR_INIT("node_status"), STR_INIT("feasible"),          STR_INIT("score_error"),
    STR_INIT("scores"),      STR_INIT("message"),
};

static int compare_report(const struct cluster *c, const struct json *want,
                          const struct sched_report *r, struct buf *why) {
    struct json got = encode_report(c, r);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const struct json *w = json_get(want, steps[i]), *g = json_get(&got, steps[i]);
        if ((w || g) && compare(why, steps[i], w, g) < 0)
            return -1;
    }
    return compare_best(json_get(want, STR("top")), r, why);
}

/* ---- a line ---- */

static bool is_node(const struct api_object *o) {
    return o->type == &api_types[API_T_node];
}

/* Tells the cluster with its nodes as they were before, and asks: nothing of that may be left when
 * the nodes are told as they are. The pod, which is the last object, waits unless it names a node,
 * so that what was found out about pods like it is remembered. */
static int tell_past(struct cluster *c, struct sched *s, const struct json *line, struct buf *why) {
    const struct json *nodes = json_get(line, STR("nodes_before"));
    size_t n = c->n;
    const struct api_object *pod = c->objects[n - 1];
    struct sched_report report;
    if (!nodes)
        return 0;
    if (cluster_add_all(c, "Node", nodes, why) < 0)
        return -1;
    for (size_t i = n; i < c->n; i++)
        sched_set(s, c->objects[i]);
    for (size_t i = 0; i + 1 < n; i++)
        if (!is_node(c->objects[i]))
            sched_set(s, c->objects[i]);
    if (!((const struct api_pod *)pod->body)->spec.node_name.n)
        sched_set(s, pod);
    sched_examine(s, pod, c->arena, &report);
    return 0;
}

static int check(struct cluster *c, const struct json *line, struct buf *why) {
    const struct json *want = json_get(line, STR("result"));
    if (!want || want->kind != JSON_OBJECT || want->n == 0)
        return vectors_differ(why, STR("result"), want, NULL);
    if (cluster_add_line(c, line, why) < 0)
        return -1;
    size_t n = c->n;
    const struct api_object *pod = cluster_add(c, "Pod", json_get(line, STR("pod")), why);
    if (!pod)
        return -1;
    struct clock_manual clock;
    clock_manual_init(&clock, CLOCK_SECOND);
    struct sched *s = cluster_sched_new(c, &clock.clock);
    int rc = tell_past(c, s, line, why);
    for (size_t i = 0; i < n; i++)
        sched_set(s, c->objects[i]);
    struct sched_report report;
    sched_examine(s, pod, c->arena, &report);
    if (rc == 0)
        rc = compare_report(c, want, &report, why);
    sched_free(s);
    return rc;
}

int vectors_check_schedule(struct arena *a, const struct json *line, struct buf *why) {
    return cluster_check(a, line, why, check);
}
