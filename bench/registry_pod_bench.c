/*
 * What a pod costs on its way into the store: decoded, defaulted, prepared and validated, from a
 * parsed tree; and validation alone. For tools/bench-upstream, `cases` prints the pods, and `raw`
 * the times from text to verdict, and how many errors there are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "registry/registry.h"
#include "valid/valid.h"

enum { ROUNDS = 50000 };

static const struct {
    const char *name;
    struct str text;
} pods[] = {
    {"smallest",
     STR_INIT("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},\"spec\":{"
              "\"containers\":[{\"name\":\"c\",\"image\":\"busybox\"}]}}")},
    {"of a deployment",
     STR_INIT(
         "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"generateName\":\"web-6d4cf56db6-"
         "\",\"namespace\":\"shop\",\"labels\":{\"app\":\"web\",\"pod-template-hash\":"
         "\"6d4cf56db6\",\"tier\":\"front\"},\"annotations\":{\"example.com/checksum\":"
         "\"0123456789abcdef\"},\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":"
         "\"ReplicaSet\",\"name\":\"web-6d4cf56db6\",\"uid\":\"8f1d\",\"controller\":true,"
         "\"blockOwnerDeletion\":true}]},\"spec\":{\"containers\":[{\"name\":\"web\",\"image\":"
         "\"registry.example.com/shop/web:1.4.2\",\"ports\":[{\"name\":\"http\",\"containerPort\":"
         "8080}],\"env\":[{\"name\":\"POD_IP\",\"valueFrom\":{\"fieldRef\":{\"fieldPath\":"
         "\"status.podIP\"}}},{\"name\":\"MODE\",\"value\":\"prod\"}],\"resources\":{\"requests\":"
         "{\"cpu\":\"250m\",\"memory\":\"256Mi\"},\"limits\":{\"memory\":\"512Mi\"}},"
         "\"readinessProbe\":{\"httpGet\":{\"path\":\"/ready\",\"port\":\"http\"}},"
         "\"livenessProbe\":{\"httpGet\":{\"path\":\"/live\",\"port\":8080},\"periodSeconds\":20},"
         "\"volumeMounts\":[{\"name\":\"config\",\"mountPath\":\"/etc/web\",\"readOnly\":true},"
         "{\"name\":\"cache\",\"mountPath\":\"/var/cache\"}],\"securityContext\":{"
         "\"runAsNonRoot\":true,\"capabilities\":{\"drop\":[\"ALL\"]}}}],\"volumes\":[{\"name\":"
         "\"config\",\"configMap\":{\"name\":\"web\"}},{\"name\":\"cache\",\"emptyDir\":{}}],"
         "\"serviceAccountName\":\"web\",\"priorityClassName\":\"high\",\"nodeSelector\":{"
         "\"kubernetes.io/os\":\"linux\"},\"affinity\":{\"podAntiAffinity\":{"
         "\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":100,\"podAffinityTerm\":"
         "{\"labelSelector\":{\"matchLabels\":{\"app\":\"web\"}},\"topologyKey\":"
         "\"kubernetes.io/hostname\",\"matchLabelKeys\":[\"pod-template-hash\"]}}]}},"
         "\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":"
         "\"topology.kubernetes.io/zone\",\"whenUnsatisfiable\":\"DoNotSchedule\","
         "\"labelSelector\":{\"matchLabels\":{\"app\":\"web\"}}}],\"tolerations\":[{\"key\":"
         "\"dedicated\",\"operator\":\"Equal\",\"value\":\"web\",\"effect\":\"NoSchedule\"},{"
         "\"key\":\"node.kubernetes.io/not-ready\",\"operator\":\"Exists\",\"effect\":"
         "\"NoExecute\",\"tolerationSeconds\":300}]}}")},
    {"with five errors",
     STR_INIT("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"P\"},\"spec\":{"
              "\"containers\":[{\"name\":\"C\",\"image\":\"\"}],\"tolerations\":[{\"operator\":"
              "\"Foo\"}]}}")},
};

/* Processor time, so that other work on the machine does not count. */
static double now_us(void) {
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static void fail(const char *what) {
    fprintf(stderr, "registry_pod_bench: %s\n", what);
    exit(1);
}

static struct api_object *prepared(const struct json *tree, const struct valid_opts *opts) {
    struct api_object *o;
    if (api_object_decode(tree, NULL, &o, NULL) < 0)
        fail("an object cannot be decoded");
    api_object_default(o, opts->gates);
    valid_generate_name(o, STR("x7k2p"));
    valid_prepare_create(o, opts);
    return o;
}

static double time_whole_way(const struct json *tree, const struct valid_opts *opts) {
    struct arena a = {0};
    double start = now_us();
    for (int i = 0; i < ROUNDS; i++) {
        struct valid_errs errs = VALID_ERRS_INIT(&a);
        struct api_object *o = prepared(tree, opts);
        valid_create(o, opts, &errs);
        api_object_free(o);
        arena_reset(&a);
    }
    double us = (now_us() - start) / ROUNDS;
    arena_release(&a);
    return us;
}

static double time_validation(const struct json *tree, const struct valid_opts *opts,
                              size_t *errors) {
    struct arena a = {0};
    struct api_object *o = prepared(tree, opts);
    double start = now_us();
    for (int i = 0; i < ROUNDS; i++) {
        struct valid_errs errs = VALID_ERRS_INIT(&a);
        valid_create(o, opts, &errs);
        *errors = errs.n;
        arena_reset(&a);
    }
    double us = (now_us() - start) / ROUNDS;
    api_object_free(o);
    arena_release(&a);
    return us;
}

static double time_parse(struct str text) {
    struct arena a = {0};
    struct json tree;
    double start = now_us();
    for (int i = 0; i < ROUNDS; i++) {
        if (json_parse(&a, text, NULL, &tree, NULL) < 0)
            fail("a pod is not JSON");
        arena_reset(&a);
    }
    double us = (now_us() - start) / ROUNDS;
    arena_release(&a);
    return us;
}

/* A pod's way from text to verdict: how many errors it has. */
static size_t judge(struct arena *a, struct str text, const struct valid_opts *opts) {
    struct json tree;
    if (json_parse(a, text, NULL, &tree, NULL) < 0)
        fail("a pod is not JSON");
    struct valid_errs errs = VALID_ERRS_INIT(a);
    struct api_object *o = prepared(&tree, opts);
    valid_create(o, opts, &errs);
    if (errs.n) {
        struct registry_failure failure = registry_invalid(a, o, &errs);
        registry_status(a, &failure);
    }
    api_object_free(o);
    return errs.n;
}

static void print_raw(size_t i, const struct valid_opts *opts) {
    struct arena a = {0};
    size_t errors = 0;
    double start = now_us();
    for (int n = 0; n < ROUNDS; n++) {
        errors = judge(&a, pods[i].text, opts);
        arena_reset(&a);
    }
    printf("%s\t%.1f\t%zu\n", pods[i].name, (now_us() - start) / ROUNDS * 1e3, errors);
    arena_release(&a);
}

static int for_upstream(bool raw, const struct valid_opts *opts) {
    for (size_t i = 0; i < sizeof pods / sizeof *pods; i++)
        if (raw)
            print_raw(i, opts);
        else
            printf("%s\t%.*s\n", pods[i].name, STR_ARG(pods[i].text));
    return 0;
}

int main(int argc, char **argv) {
    struct feature_config config;
    feature_config_init(&config, FEATURE_NEWEST);
    struct valid_opts opts = {.gates = &config.enabled,
                              .namespace = STR("shop"),
                              .uid = STR("8f1d") /* as upstream is given one */};
    if (argc > 1)
        return for_upstream(strcmp(argv[1], "raw") == 0, &opts);
    for (size_t i = 0; i < sizeof pods / sizeof *pods; i++) {
        struct arena a = {0};
        struct json tree;
        size_t errors;
        double parse = time_parse(pods[i].text);
        if (json_parse(&a, pods[i].text, NULL, &tree, NULL) < 0)
            fail("a pod is not JSON");
        double alone = time_validation(&tree, &opts, &errors);
        double whole = time_whole_way(&tree, &opts);
        printf("%-17s %4zu bytes, %zu errors: validate %7.2f us (%8.0f/s), decode to validate "
               "%7.2f us (%7.0f/s), JSON before it %5.2f us\n",
               pods[i].name, pods[i].text.n, errors, alone, 1e6 / alone, whole, 1e6 / whole, parse);
        arena_release(&a);
    }
    return 0;
}
