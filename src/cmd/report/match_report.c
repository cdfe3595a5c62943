/* What comes of a pod and a node, taint by taint, with the operands that decided it. */
#include "base/limits.h"
#include "base/printable.h"
#include "cmd/input/match_pairs.h"
#include "codec/json.h"

/* Stable names for programs. */
static const char *const codes[] = {
    [MATCH_YES] = "match",
    [MATCH_EFFECT_DIFFERS] = "effect-differs",
    [MATCH_KEY_DIFFERS] = "key-differs",
    [MATCH_VALUE_DIFFERS] = "value-differs",
    [MATCH_NOT_LESS] = "not-less",
    [MATCH_NOT_GREATER] = "not-greater",
    [MATCH_VERSIONS_DIFFER] = "versions-differ",
    [MATCH_TOLERATION_NO_NUMBER] = "toleration-not-a-number",
    [MATCH_TAINT_NO_NUMBER] = "taint-not-a-number",
    [MATCH_TOLERATION_NO_VERSION] = "toleration-not-a-version",
    [MATCH_TAINT_NO_VERSION] = "taint-not-a-version",
    [MATCH_GATE_OFF] = "gate-off",
    [MATCH_UNKNOWN_OPERATOR] = "unknown-operator",
    [MATCH_EXPRESSION_FALSE] = "expression-false",
    [MATCH_EXPRESSION_ERROR] = "expression-error",
    [MATCH_NO_ENGINE] = "expression-not-evaluated",
    [MATCH_EXPRESSION_REFUSED] = "expression-refused",
};

enum { LONGEST_SENTENCE = 1 << 20 };

/* What the report of one pair has come to, which has an end. */
struct page {
    size_t start;  /* in the buffer */
    size_t looked; /* at tolerations, for sentences about them */
};

static bool is_full(const struct page *page, const struct buf *out) {
    return out->n - page->start >= LIMIT_MATCH_REPORT_BYTES ||
           page->looked >= LIMIT_MATCH_REPORT_STEPS;
}

/* One taint of a host and all tolerations of a pod. */
struct question {
    const struct match_pod *pod;
    const struct match_host *host;
    uint32_t taint;
    uint32_t found; /* the toleration that matches, or MATCH_NONE */
    struct page *page;
};

static struct question ask(const struct match_pod *pod, const struct match_host *host,
                           uint32_t taint, struct page *page) {
    return (struct question){
        pod, host, taint, match_find_toleration(pod->tolerations, &host->taints->v[taint]), page};
}

/* How many of the taints from one on are not tolerated. */
static uint32_t count_untolerated(const struct match_pod *pod, const struct match_host *host,
                                  uint32_t from) {
    uint32_t n = 0;
    for (uint32_t i = from; i < host->taints->n; i++)
        n += match_find_toleration(pod->tolerations, &host->taints->v[i]) == MATCH_NONE;
    return n;
}

static struct match_verdict verdict_of(const struct question *q, uint32_t toleration) {
    return (struct match_verdict){
        match_toleration_check(&q->pod->tolerations->v[toleration], &q->host->taints->v[q->taint]),
        toleration, q->taint, false};
}

static enum feature gate_of(const struct match_toleration *t) {
    if (t->expression)
        return FEATURE_TaintTolerationCEL;
    return str_starts(intern_text(t->op_name), STR("Semver"))
               ? FEATURE_TolerationAffinitySemverOperators
               : FEATURE_TaintTolerationComparisonOperators;
}

static void note_gate(const struct question *q, const struct match_verdict *v,
                      struct feature_set *missing) {
    if (v->code == MATCH_GATE_OFF && q->found == MATCH_NONE)
        feature_set_put(missing, gate_of(&q->pod->tolerations->v[v->toleration]), true);
}

/* ---- text ---- */

/* "pod/web on node/a: match: ", without what has no name */
static void begin_line(struct buf *out, const struct match_pod *pod, const struct match_host *host,
                       bool matches) {
    if (pod->name.n) {
        buf_add(out, STR("pod/"));
        printable_add(out, pod->name);
    }
    if (host->name.n) {
        buf_add(out, pod->name.n ? STR(" on node/") : STR("node/"));
        printable_add(out, host->name);
    }
    if (pod->name.n || host->name.n)
        buf_add(out, STR(": "));
    buf_add(out, matches ? STR("match: ") : STR("no match: "));
}

static void write_sentence(struct buf *out, const struct question *q,
                           const struct match_verdict *v) {
    AUTO(buf_release) struct buf text = BUF_INIT(LONGEST_SENTENCE);
    match_verdict_write(&text, q->pod->tolerations, q->host->taints, v);
    begin_line(out, q->pod, q->host, v->code == MATCH_YES);
    printable_add(out, buf_view(&text));
    buf_add_char(out, '\n');
}

/* Is the toleration about the key of the taint, or about any? */
static bool concerns(const struct match_toleration *t, const struct match_taint *taint) {
    return !t->key || t->key == taint->key;
}

/* "pod/web on node/a: no match: taint sla=940:NoSchedule", about all tolerations together. */
static void begin_taint(struct buf *out, const struct question *q) {
    AUTO(buf_release) struct buf text = BUF_INIT(LONGEST_SENTENCE);
    begin_line(out, q->pod, q->host, false);
    buf_add(out, STR("taint "));
    match_taint_write(&text, &q->host->taints->v[q->taint]);
    printable_add(out, buf_view(&text));
}

/* Writes why each toleration that concerns the taint does not match; returns how many these are. */
static uint32_t write_reasons(struct buf *out, const struct question *q,
                              struct feature_set *missing) {
    const struct match_tolerations *all = q->pod->tolerations;
    uint32_t told = 0, left_out = 0;
    for (uint32_t i = 0; i < all->n; i++) {
        q->page->looked++;
        if (all->n > 1 && !concerns(&all->v[i], &q->host->taints->v[q->taint]))
            continue;
        if (is_full(q->page, out)) {
            left_out++;
            continue;
        }
        struct match_verdict v = verdict_of(q, i);
        write_sentence(out, q, &v);
        note_gate(q, &v, missing);
        told++;
    }
    if (left_out) {
        begin_taint(out, q);
        buf_addf(out, ": %u further tolerations do not match and are not listed\n", left_out);
    }
    return told + left_out;
}

/* Tolerations of other keys are no reason; when there is no other, their number is. */
static void write_misses(struct buf *out, const struct question *q, struct feature_set *missing) {
    if (write_reasons(out, q, missing))
        return;
    begin_taint(out, q);
    if (q->pod->tolerations->n == 0)
        buf_add(out, STR(": there are no tolerations\n"));
    else
        buf_addf(out, ": none of the %u tolerations has its key\n", q->pod->tolerations->n);
}

/* What stands in the place of the taints from one on. True when all of them are tolerated. */
static bool write_rest(struct buf *out, const struct match_pod *pod, const struct match_host *host,
                       uint32_t from) {
    uint32_t untolerated = count_untolerated(pod, host, from);
    begin_line(out, pod, host, untolerated == 0);
    buf_addf(out, "%u further taints are not listed, %u of them not tolerated\n",
             host->taints->n - from, untolerated);
    return untolerated == 0;
}

static bool write_taints(struct buf *out, const struct match_pod *pod,
                         const struct match_host *host, struct feature_set *missing) {
    struct page page = {.start = out->n};
    bool all = true;
    for (uint32_t i = 0; i < host->taints->n; i++) {
        if (is_full(&page, out))
            return write_rest(out, pod, host, i) && all;
        struct question q = ask(pod, host, i, &page);
        if (q.found == MATCH_NONE) {
            write_misses(out, &q, missing);
            all = false;
            continue;
        }
        struct match_verdict v = verdict_of(&q, q.found);
        write_sentence(out, &q, &v);
    }
    if (host->taints->n == 0) {
        begin_line(out, pod, host, true);
        buf_add(out, STR("there are no taints\n"));
    }
    return all;
}

/* Only a pod and a node from files have labels and something to ask of them. */
static bool has_affinity(const struct match_pod *pod, const struct match_host *host) {
    return pod->affinity && host->node;
}

static bool write_affinity(struct buf *out, const struct match_pod *pod,
                           const struct match_host *host) {
    struct match_node_verdict why = {0};
    bool matches = match_affinity_required(pod->affinity, host->node, &why);
    if (matches) {
        buf_add(out, STR("the node has what nodeSelector and node affinity require"));
        return true;
    }
    match_node_verdict_write(out, pod->affinity, host->node, &why);
    return false;
}

static void write_eviction(struct buf *out, const struct match_pod *pod,
                           const struct match_host *host) {
    struct match_fit fit = match_fit_compute(pod->tolerations, host->taints);
    if (fit.eviction != MATCH_EVICT_AFTER)
        return;
    begin_line(out, pod, host, true);
    buf_addf(out, "for %lld seconds, then a pod on the node is evicted\n",
             (long long)(fit.eviction_ns / 1000000000));
}

bool match_pair_write_text(struct buf *out, const struct match_pod *pod,
                           const struct match_host *host, struct feature_set *missing) {
    bool matches = write_taints(out, pod, host, missing);
    write_eviction(out, pod, host);
    if (!has_affinity(pod, host))
        return matches;
    AUTO(buf_release) struct buf text = BUF_INIT(LONGEST_SENTENCE);
    bool fits = write_affinity(&text, pod, host);
    begin_line(out, pod, host, fits);
    printable_add(out, buf_view(&text));
    buf_add_char(out, '\n');
    return matches && fits;
}

/* ---- JSON ---- */

static void add_text(struct buf *out, const char *key, struct str value) {
    buf_addf(out, "\"%s\":", key);
    json_write_str(out, value, true);
}

static void write_json_verdict(struct buf *out, const struct question *q,
                               const struct match_verdict *v) {
    AUTO(buf_release) struct buf text = BUF_INIT(LONGEST_SENTENCE);
    match_verdict_write(&text, q->pod->tolerations, q->host->taints, v);
    buf_addf(out, "{\"toleration\":%u,\"matches\":%s,\"code\":\"%s\",", v->toleration,
             v->code == MATCH_YES ? "true" : "false", codes[v->code]);
    add_text(out, "message", buf_view(&text));
    buf_add_char(out, '}');
}

static void write_json_taint(struct buf *out, const struct question *q,
                             struct feature_set *missing) {
    const struct match_taint *taint = &q->host->taints->v[q->taint];
    buf_add_char(out, '{');
    add_text(out, "key", intern_text(taint->key));
    buf_add_char(out, ',');
    add_text(out, "value", intern_text(taint->value));
    buf_add_char(out, ',');
    add_text(out, "effect", intern_text(taint->effect));
    buf_addf(out, ",\"tolerated\":%s,\"verdicts\":[", q->found == MATCH_NONE ? "false" : "true");
    uint32_t n = q->pod->tolerations->n, i = 0;
    for (; i < n && !is_full(q->page, out); i++) {
        struct match_verdict v = verdict_of(q, i);
        note_gate(q, &v, missing);
        if (i)
            buf_add_char(out, ',');
        write_json_verdict(out, q, &v);
    }
    buf_add_char(out, ']');
    if (i < n)
        buf_addf(out, ",\"verdictsOmitted\":%u", n - i);
    buf_add_char(out, '}');
}

/* True when all taints are tolerated. */
static bool write_json_taints(struct buf *out, const struct match_pod *pod,
                              const struct match_host *host, struct feature_set *missing) {
    struct page page = {.start = out->n};
    uint32_t n = host->taints->n, i = 0, untolerated = 0;
    buf_add(out, STR("\"taints\":["));
    for (; i < n && !is_full(&page, out); i++) {
        struct question q = ask(pod, host, i, &page);
        untolerated += q.found == MATCH_NONE;
        if (i)
            buf_add_char(out, ',');
        write_json_taint(out, &q, missing);
    }
    buf_add(out, STR("],"));
    if (i == n)
        return untolerated == 0;
    uint32_t rest = count_untolerated(pod, host, i);
    buf_addf(out, "\"taintsOmitted\":%u,\"untoleratedOmitted\":%u,", n - i, rest);
    return untolerated + rest == 0;
}

static void write_json_names(struct buf *out, const struct match_pod *pod,
                             const struct match_host *host) {
    if (pod->name.n) {
        buf_add(out, STR("\"pod\":{"));
        add_text(out, "namespace", pod->namespace);
        buf_add_char(out, ',');
        add_text(out, "name", pod->name);
        buf_add(out, STR("},"));
    } else {
        buf_add(out, STR("\"pod\":null,"));
    }
    if (host->name.n) {
        buf_add(out, STR("\"node\":{"));
        add_text(out, "name", host->name);
        buf_add(out, STR("},"));
    } else {
        buf_add(out, STR("\"node\":null,"));
    }
}

static void write_json_eviction(struct buf *out, const struct match_pod *pod,
                                const struct match_host *host) {
    static const char *const decisions[] = {
        [MATCH_EVICT_NEVER] = "never", [MATCH_EVICT_NOW] = "now", [MATCH_EVICT_AFTER] = "after"};
    struct match_fit fit = match_fit_compute(pod->tolerations, host->taints);
    buf_addf(out, "\"eviction\":{\"decision\":\"%s\"", decisions[fit.eviction]);
    if (fit.eviction == MATCH_EVICT_AFTER)
        buf_addf(out, ",\"seconds\":%lld", (long long)(fit.eviction_ns / 1000000000));
    buf_add(out, STR("},"));
}

static bool write_json_affinity(struct buf *out, const struct match_pod *pod,
                                const struct match_host *host) {
    if (!has_affinity(pod, host)) {
        buf_add(out, STR("\"affinity\":null,"));
        return true;
    }
    AUTO(buf_release) struct buf text = BUF_INIT(LONGEST_SENTENCE);
    bool fits = write_affinity(&text, pod, host);
    buf_addf(out, "\"affinity\":{\"matches\":%s,", fits ? "true" : "false");
    add_text(out, "message", buf_view(&text));
    buf_add(out, STR("},"));
    return fits;
}

bool match_pair_write_json(struct buf *out, const struct match_pod *pod,
                           const struct match_host *host, struct feature_set *missing) {
    buf_add_char(out, '{');
    write_json_names(out, pod, host);
    bool matches = write_json_taints(out, pod, host, missing);
    write_json_eviction(out, pod, host);
    matches &= write_json_affinity(out, pod, host);
    buf_addf(out, "\"matches\":%s}", matches ? "true" : "false");
    return matches;
}
