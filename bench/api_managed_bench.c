/* What managed fields cost: a kubelet's writes to the status of a pod and of a node, and a second
 * server-side apply of a Deployment, each by an object that others manage, too. */
#include <stdio.h>
#include <time.h>

#include "api/managed.h"

enum { ROUNDS = 20000 };

/* Processor time, so that other work on the machine does not count. */
static double now_ns(void) {
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

/* ---- objects ---- */

static void add_containers(struct buf *b) {
    buf_add(b, STR("\"containers\":["));
    for (int i = 0; i < 2; i++) {
        buf_addf(b, "%s{\"name\":\"c%d\",\"image\":\"registry.example.com/shop/web:v%d\",\"env\":[",
                 i ? "," : "", i, i);
        for (int k = 0; k < 10; k++)
            buf_addf(b, "%s{\"name\":\"VARIABLE_%d\",\"value\":\"value of number %d\"}",
                     k ? "," : "", k, k);
        buf_add(b, STR("],\"ports\":[{\"containerPort\":8080,\"name\":\"http\",\"protocol\":"
                       "\"TCP\"}],\"resources\":{\"limits\":{\"cpu\":\"1\",\"memory\":\"512Mi\"},"
                       "\"requests\":{\"cpu\":\"250m\",\"memory\":\"256Mi\"}},\"readinessProbe\":"
                       "{\"httpGet\":{\"path\":\"/healthz\",\"port\":8080},\"periodSeconds\":10},"
                       "\"volumeMounts\":[{\"mountPath\":\"/etc/shop\",\"name\":\"config\"}]}"));
    }
    buf_add(b, STR("],\"volumes\":[{\"name\":\"config\",\"configMap\":{\"name\":\"shop\"}}],"
                   "\"tolerations\":[{\"effect\":\"NoExecute\",\"key\":\"node.kubernetes.io/"
                   "not-ready\",\"operator\":\"Exists\",\"tolerationSeconds\":300}]"));
}

static void add_meta(struct buf *b) {
    buf_add(b, STR("\"metadata\":{\"name\":\"web-6d4cf56db6-x2x4z\",\"namespace\":\"shop\",\"uid\":"
                   "\"0c24d0e1-a265-11e9-abe4-42010a80026b\",\"labels\":{\"app\":\"web\",\"pod-"
                   "template-hash\":\"6d4cf56db6\",\"team\":\"payments\",\"tier\":\"front\"},"
                   "\"annotations\":{\"example.com/checksum\":\"8f1b\"},\"ownerReferences\":[{"
                   "\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"web-6d4cf56db6\","
                   "\"uid\":\"f0b1\",\"controller\":true}]}"));
}

static void add_conditions(struct buf *b, int n, int seconds) {
    buf_add(b, STR("\"conditions\":["));
    for (int i = 0; i < n; i++)
        buf_addf(b,
                 "%s{\"type\":\"Condition%d\",\"status\":\"True\",\"reason\":\"AllIsGood\","
                 "\"message\":\"what number %d is about is functioning properly\","
                 "\"lastTransitionTime\":\"2026-01-01T00:00:%02dZ\"}",
                 i ? "," : "", i, i, seconds);
    buf_add_char(b, ']');
}

static void write_pod(struct buf *b, int seconds) {
    buf_add(b, STR("{\"apiVersion\":\"v1\",\"kind\":\"Pod\","));
    add_meta(b);
    buf_add(b, STR(",\"spec\":{\"nodeName\":\"n1\","));
    add_containers(b);
    buf_add(b, STR("},\"status\":{\"phase\":\"Running\",\"podIP\":\"10.0.0.7\",\"podIPs\":[{\"ip\":"
                   "\"10.0.0.7\"}],"));
    add_conditions(b, 5, seconds);
    buf_add(b, STR("}}"));
}

static void write_node(struct buf *b, int seconds) {
    buf_add(b, STR("{\"apiVersion\":\"v1\",\"kind\":\"Node\","));
    add_meta(b);
    buf_add(b,
            STR(",\"spec\":{\"podCIDR\":\"10.0.0.0/24\"},\"status\":{\"capacity\":{\"cpu\":\"8\","
                "\"memory\":\"32Gi\",\"pods\":\"110\"},\"images\":["));
    for (int i = 0; i < 30; i++)
        buf_addf(b,
                 "%s{\"names\":[\"registry.example.com/image-%d@sha256:80e5e113a984d74836aa16f5\"]"
                 ",\"sizeBytes\":%d}",
                 i ? "," : "", i, 1000000 + i);
    buf_add(b, STR("],"));
    add_conditions(b, 10, seconds);
    buf_add(b, STR("}}"));
}

static void write_deployment(struct buf *b, int replicas) {
    buf_addf(b,
             "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"web\","
             "\"namespace\":\"shop\",\"labels\":{\"app\":\"web\"}},\"spec\":{\"replicas\":%d,"
             "\"selector\":{\"matchLabels\":{\"app\":\"web\"}},\"template\":{\"metadata\":{"
             "\"labels\":{\"app\":\"web\"}},\"spec\":{",
             replicas);
    add_containers(b);
    buf_add(b, STR("}}}}"));
}

typedef void write_fn(struct buf *b, int variant);

static struct json parse(struct arena *a, write_fn *write, int variant, size_t *bytes) {
    AUTO(buf_release) struct buf text = BUF_INIT(1 << 20);
    struct json tree;
    write(&text, variant);
    *bytes = text.n;
    if (json_parse(a, arena_str(a, buf_view(&text)), NULL, &tree, NULL) < 0)
        BUG("the benchmark's own object cannot be read");
    return tree;
}

static struct api_object *decode(const struct json *tree) {
    struct api_object *o;
    if (api_object_decode(tree, NULL, &o, NULL) < 0)
        BUG("the benchmark's own object cannot be decoded");
    return o;
}

static struct api_managed_write by(const char *kind, const char *version, const char *manager) {
    return (struct api_managed_write){.kind = api_kind_find(str_of(version), str_of(kind)),
                                      .manager = str_of(manager),
                                      .now = {.sec = 1767225600, .set = true}};
}

/* ---- measuring ---- */

/* Created by one, written to by another, then a status over and over. The copy of the stored object
 * that each round changes is made outside of the clock. */
static void time_status(const char *kind, write_fn *write) {
    struct arena a = {0};
    size_t bytes;
    struct json first = parse(&a, write, 0, &bytes), then = parse(&a, write, 30, &bytes);
    struct api_managed_write w = by(kind, "v1", "kube-controller-manager");
    struct api_object *old = decode(&first);
    double spent = 0;
    api_managed_update(&w, NULL, old);
    w = by(kind, "v1", "kubelet");
    w.subresource = STR("status");
    for (int i = 0; i < ROUNDS; i++) {
        struct api_object *draft = decode(i % 2 ? &first : &then);
        double start = now_ns();
        api_managed_update(&w, old, draft);
        spent += now_ns() - start;
        api_object_free(old);
        old = draft;
    }
    printf("%-28s %6zu bytes %8.1f us\n", kind, bytes, spent / ROUNDS / 1000);
    api_object_free(old);
    arena_release(&a);
}

static void time_apply(void) {
    struct arena a = {0}, scratch = {0};
    size_t bytes;
    struct json first = parse(&a, write_deployment, 3, &bytes),
                then = parse(&a, write_deployment, 4, &bytes);
    struct api_managed_write w = by("Deployment", "apps/v1", "a");
    struct api_managed_applied out;
    api_managed_apply(&a, &w, NULL, &first, false, &out);
    struct api_object *old = decode(&out.tree);
    double start = now_ns();
    for (int i = 0; i < ROUNDS; i++) {
        api_managed_apply(&scratch, &w, old, i % 2 ? &first : &then, false, &out);
        arena_reset(&scratch);
    }
    printf("%-28s %6zu bytes %8.1f us\n", "apply a Deployment", bytes,
           (now_ns() - start) / ROUNDS / 1000);
    api_object_free(old);
    arena_release(&a);
    arena_release(&scratch);
}

int main(void) {
    time_status("Pod", write_pod);
    time_status("Node", write_node);
    time_apply();
    return 0;
}
