/*
 * Pods and nodes as an API server prints them, made up but of real proportions: managed fields, an
 * escaped last-applied annotation, some text that is not ASCII. The same numbers give the same
 * bytes everywhere.
 */
#ifndef BENCH_JSON_CORPUS_H
#define BENCH_JSON_CORPUS_H

#include <string.h>

#include "codec/json.h"

static uint64_t corpus_next(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static unsigned corpus_below(uint64_t *state, unsigned n) {
    return (unsigned)(corpus_next(state) % n);
}

static const char *corpus_word(uint64_t *state) {
    static const char *const words[] = {"frontend",
                                        "payments",
                                        "ledger",
                                        "kube-system",
                                        "monitoring",
                                        "checkout",
                                        "catalogue",
                                        "search",
                                        "zürich-ost",
                                        "東京",
                                        "registry.example.com/team/service",
                                        "canary",
                                        "stable",
                                        "v1.29.4",
                                        "gold",
                                        "batch",
                                        "ingress",
                                        "cache",
                                        "queue",
                                        "Entwürfe – alt"};
    return words[corpus_below(state, sizeof words / sizeof *words)];
}

static void corpus_labels(struct buf *b, uint64_t *rng, unsigned n) {
    buf_addf(b, "{\"app.kubernetes.io/name\":\"%s\"", corpus_word(rng));
    for (unsigned i = 0; i < n; i++)
        buf_addf(b, ",\"topology.example.com/label-%u\":\"%s-%u\"", i, corpus_word(rng),
                 corpus_below(rng, 1000));
    buf_add_char(b, '}');
}

static void corpus_container(struct buf *b, uint64_t *rng, unsigned i) {
    buf_addf(b,
             "{\"name\":\"c%u\",\"image\":\"registry.example.com/%s@sha256:%016llx%016llx\","
             "\"args\":[\"--listen=:8080\",\"--peers=a,b,c\",\"--match=<none>\"],"
             "\"ports\":[{\"name\":\"http\",\"containerPort\":%u,\"protocol\":\"TCP\"}],\"env\":[",
             i, corpus_word(rng), (unsigned long long)corpus_next(rng),
             (unsigned long long)corpus_next(rng), 1024 + corpus_below(rng, 60000));
    unsigned env = corpus_below(rng, 8);
    for (unsigned k = 0; k < env; k++)
        buf_addf(b, "%s{\"name\":\"SETTING_%u\",\"value\":\"%s\"}", k ? "," : "", k,
                 corpus_word(rng));
    buf_addf(b,
             "],\"resources\":{\"limits\":{\"cpu\":\"%um\",\"memory\":\"%uMi\"},\"requests\":{"
             "\"cpu\":\"100m\",\"memory\":\"64Mi\"}},\"livenessProbe\":{\"httpGet\":{\"path\":"
             "\"/healthz\",\"port\":8080,\"scheme\":\"HTTP\"},\"initialDelaySeconds\":%u,"
             "\"timeoutSeconds\":1,\"periodSeconds\":10},\"imagePullPolicy\":\"IfNotPresent\","
             "\"terminationMessagePath\":\"/dev/termination-log\"}",
             100 * (1 + corpus_below(rng, 40)), 128 * (1 + corpus_below(rng, 32)),
             corpus_below(rng, 60));
}

static void corpus_spec(struct buf *b, uint64_t *rng) {
    buf_add(b, STR("{\"containers\":["));
    unsigned n = corpus_below(rng, 10) ? 1 + corpus_below(rng, 3) : 4;
    for (unsigned i = 0; i < n; i++) {
        if (i)
            buf_add_char(b, ',');
        corpus_container(b, rng, i);
    }
    buf_addf(b,
             "],\"restartPolicy\":\"Always\",\"terminationGracePeriodSeconds\":30,\"dnsPolicy\":"
             "\"ClusterFirst\",\"serviceAccountName\":\"%s\",\"nodeName\":\"node-%u\","
             "\"hostNetwork\":%s,\"priority\":%u,\"tolerations\":[",
             corpus_word(rng), corpus_below(rng, 5000), corpus_below(rng, 4) ? "false" : "true",
             corpus_below(rng, 1000000));
    unsigned tolerations = corpus_below(rng, 4);
    for (unsigned i = 0; i < tolerations; i++)
        buf_addf(b,
                 "%s{\"key\":\"example.com/dedicated-%u\",\"operator\":\"Equal\",\"value\":\"%s\","
                 "\"effect\":\"NoExecute\",\"tolerationSeconds\":300}",
                 i ? "," : "", i, corpus_word(rng));
    buf_add(b, STR("]}"));
}

/* managedFields: keys like f:metadata with empty objects below. */
static void corpus_managed(struct buf *b, uint64_t *rng) {
    buf_addf(b,
             "[{\"manager\":\"kubectl-client-side-apply\",\"operation\":\"Update\",\"apiVersion\":"
             "\"v1\",\"time\":\"2024-0%u-11T09:12:44Z\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":"
             "{\"f:metadata\":{\"f:annotations\":{\".\":{},\"f:kubectl.kubernetes.io/"
             "last-applied-configuration\":{}},\"f:labels\":{\".\":{},\"f:app.kubernetes.io/name\":"
             "{}",
             1 + corpus_below(rng, 9));
    unsigned n = corpus_below(rng, 12);
    for (unsigned i = 0; i < n; i++)
        buf_addf(b, ",\"f:topology.example.com/label-%u\":{}", i);
    buf_add(b, STR("}},\"f:spec\":{\"f:containers\":{\"k:{\\\"name\\\":\\\"c0\\\"}\":{\".\":{},"
                   "\"f:image\":{},\"f:imagePullPolicy\":{},\"f:name\":{},\"f:resources\":{}}},"
                   "\"f:dnsPolicy\":{},\"f:restartPolicy\":{}}}}]"));
}

static void corpus_conditions(struct buf *b, uint64_t *rng, const char *const *types, unsigned n) {
    buf_add(b, STR("\"conditions\":["));
    for (unsigned i = 0; i < n; i++)
        buf_addf(b,
                 "%s{\"type\":\"%s\",\"status\":\"%s\",\"lastProbeTime\":null,"
                 "\"lastTransitionTime\":\"2024-03-%02uT10:00:00Z\",\"message\":\"all \\\"%s\\\" "
                 "checks passed\\n\"}",
                 i ? "," : "", types[i], corpus_below(rng, 2) ? "True" : "False",
                 1 + corpus_below(rng, 28), corpus_word(rng));
    buf_add(b, STR("]"));
}

/* The metadata up to its end; the annotation holds `applied`, as kubectl leaves it. */
static void corpus_metadata(struct buf *b, uint64_t *rng, unsigned i, struct str applied) {
    buf_addf(b,
             "\"metadata\":{\"name\":\"object-%05u\",\"namespace\":\"%s\",\"uid\":\"%08x-4a1b-%04x"
             "\",\"resourceVersion\":\"%u\",\"generation\":%u,\"creationTimestamp\":"
             "\"2024-03-11T09:12:44Z\",\"labels\":",
             i, corpus_word(rng), (unsigned)corpus_next(rng), corpus_below(rng, 65536),
             corpus_below(rng, 100000000), corpus_below(rng, 20));
    corpus_labels(b, rng, corpus_below(rng, 10));
    buf_addf(b, ",\"annotations\":{\"example.com/weight\":\"0.5\",\"example.com/note\":\"%s\"",
             corpus_word(rng));
    if (applied.n) {
        buf_add(b, STR(",\"kubectl.kubernetes.io/last-applied-configuration\":"));
        json_write_str(b, applied, false);
    }
    buf_add(b, STR("},\"managedFields\":"));
    corpus_managed(b, rng);
    buf_add_char(b, '}');
}

static void corpus_pod(struct buf *b, uint64_t *rng, unsigned i) {
    static const char *const types[] = {"Initialized", "Ready", "ContainersReady", "PodScheduled"};
    struct buf spec = BUF_INIT(1 << 20);
    corpus_spec(&spec, rng);
    buf_add(b, STR("{\"apiVersion\":\"v1\",\"kind\":\"Pod\","));
    corpus_metadata(b, rng, i, corpus_below(rng, 3) ? buf_view(&spec) : STR(""));
    buf_add(b, STR(",\"spec\":"));
    buf_add(b, buf_view(&spec));
    buf_addf(b, ",\"status\":{\"phase\":\"Running\",\"hostIP\":\"10.0.%u.%u\",",
             corpus_below(rng, 256), corpus_below(rng, 256));
    corpus_conditions(b, rng, types, 4);
    buf_add(b, STR("}}"));
    buf_release(&spec);
}

static void corpus_node(struct buf *b, uint64_t *rng, unsigned i) {
    static const char *const types[] = {"MemoryPressure", "DiskPressure", "PIDPressure", "Ready"};
    buf_add(b, STR("{\"apiVersion\":\"v1\",\"kind\":\"Node\","));
    corpus_metadata(b, rng, i, STR(""));
    buf_addf(b,
             ",\"spec\":{\"podCIDR\":\"10.%u.0.0/24\",\"taints\":[{\"key\":\"example.com/pool\","
             "\"value\":\"%s\",\"effect\":\"NoSchedule\"}]},\"status\":{\"capacity\":{\"cpu\":"
             "\"64\",\"memory\":\"263846200Ki\",\"pods\":\"110\"},",
             corpus_below(rng, 256), corpus_word(rng));
    corpus_conditions(b, rng, types, 4);
    buf_add(b, STR(",\"images\":["));
    unsigned images = corpus_below(rng, 44);
    for (unsigned k = 0; k < images; k++)
        buf_addf(b,
                 "%s{\"names\":[\"registry.example.com/%s@sha256:%016llx%016llx\"],\"sizeBytes\":"
                 "%u}",
                 k ? "," : "", corpus_word(rng), (unsigned long long)corpus_next(rng),
                 (unsigned long long)corpus_next(rng), corpus_below(rng, 900000000));
    buf_add(b, STR("]}}"));
}

/* Appends object number i. */
static void corpus_object(struct buf *b, uint64_t *rng, unsigned i) {
    if (i % 4 == 3)
        corpus_node(b, rng, i);
    else
        corpus_pod(b, rng, i);
}

#endif
