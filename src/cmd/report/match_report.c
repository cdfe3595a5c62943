/* What comes of a pod and a node, taint by taint, with the operands that decided it. */
#include "base/limits.h"
#include "base/printable.h"
#include "cmd/match_pairs.h"
#include "codec/json.h"
#include "match/sentence.h"

enum { LONGEST_SENTENCE = 1 << 20 };

static size_t written(const struct match_report *r) {
    return r->written + r->out->n;
}

static void begin_pair(struct match_report *r) {
    r->pair_start = written(r);
}

static bool is_full(const struct match_report *r) {
    return written(r) >= LIMIT_MATCH_REPORT_BYTES ||
           written(r) - r->pair_start >= LIMIT_MATCH_PAIR_BYTES;
}

/* One taint of a host and all tolerations of a pod. */
struct question {
    const struct match_pod *pod;
    const struct match_host *host;
    uint32_t taint;
    uint32_t found; /* the toleration that matches, or MATCH_NONE */
};

static struct question ask(const struct match_pod *pod, const struct match_host *host,
                           uint32_t taint) {
    return (struct question){pod, host, taint,
                             match_find_toleration(pod->tolerations, &host->taints->v[taint])};
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
        toleration, q->taint};
}

static enum feature gate_of(const struct match_toleration *t) {
    if (t->expression)
        return FEATURE_TaintTolerationCEL;
    return str_starts(intern_text(t->op_name), STR("Semver"))
               ? FEATURE_TolerationAffinitySemverOperators
               : FEATURE_TaintTolerationComparisonOperators;
}

static void note_gate(struct match_report *r, const struct question *q,
                      const struct match_verdict *v) {
    if (v->code == MATCH_GATE_OFF && q->found == MATCH_NONE)
        feature_set_put(&r->missing, gate_of(&q->pod->tolerations->v[v->toleration]), true);
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

/* Some tolerations, in two runs that are each in order. */
struct some {
    const struct match_place *any, *own; /* those for any key, those of one */
    uint32_t any_n, own_n;
};

/* The first of a pod's places that has no smaller key. */
static uint32_t find_key(const struct match_pod *pod, uint32_t key) {
    uint32_t low = 0, high = pod->tolerations->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (pod->by_key[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The tolerations that are about the key of the taint, or about any; one that stands alone always
 * is. */
static struct some concerned(const struct question *q) {
    const struct match_pod *pod = q->pod;
    const struct atom *atom = q->host->taints->v[q->taint].key;
    if (pod->tolerations->n == 1)
        return (struct some){.any = pod->by_key, .any_n = 1};
    struct some s = {.any = pod->by_key, .any_n = find_key(pod, 1)};
    if (atom) {
        uint32_t first = find_key(pod, atom->id + 1);
        s.own = pod->by_key + first;
        s.own_n = find_key(pod, atom->id + 2) - first;
    }
    return s;
}

/* The next of them, in order. */
static uint32_t take(struct some *s) {
    if (s->any_n && (!s->own_n || s->any->place < s->own->place)) {
        s->any_n--;
        return s->any++->place;
    }
    s->own_n--;
    return s->own++->place;
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
static uint32_t write_reasons(struct match_report *r, const struct question *q) {
    struct some left = concerned(q);
    uint32_t all = left.any_n + left.own_n, listed = 0;
    for (; listed < all && !is_full(r); listed++) {
        struct match_verdict v = verdict_of(q, take(&left));
        write_sentence(r->out, q, &v);
        note_gate(r, q, &v);
    }
    if (listed < all) {
        begin_taint(r->out, q);
        buf_addf(r->out, ": %u further tolerations do not match and are not listed\n",
                 all - listed);
    }
    return all;
}

/* Tolerations of other keys are no reason; when there is no other, their number is. */
static void write_misses(struct match_report *r, const struct question *q) {
    if (write_reasons(r, q))
        return;
    begin_taint(r->out, q);
    if (q->pod->tolerations->n == 0)
        buf_add(r->out, STR(": there are no tolerations\n"));
    else
        buf_addf(r->out, ": none of the %u tolerations has its key\n", q->pod->tolerations->n);
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

static bool write_taints(struct match_report *r, const struct match_pod *pod,
                         const struct match_host *host) {
    bool all = true;
    for (uint32_t i = 0; i < host->taints->n; i++) {
        if (is_full(r))
            return write_rest(r->out, pod, host, i) && all;
        struct question q = ask(pod, host, i);
        if (q.found == MATCH_NONE) {
            write_misses(r, &q);
            all = false;
            continue;
        }
        struct match_verdict v = verdict_of(&q, q.found);
        write_sentence(r->out, &q, &v);
    }
    if (host->taints->n == 0) {
        begin_line(r->out, pod, host, true);
        buf_add(r->out, STR("there are no taints\n"));
    }
    return all;
}

/* Only a pod and a node from files have labels and something to ask of them. */
static bool has_affinity(const struct match_pod *pod, const struct match_host *host) {
    return pod->affinity && host->node;
}

/* A requirement can have a list of values, which is told as long as there is room. */
static bool write_affinity(const struct match_report *r, const struct match_pod *pod,
                           const struct match_host *host, struct buf *out) {
    struct match_node_verdict why = {0};
    bool matches = match_affinity_required(pod->affinity, host->node, &why);
    if (matches)
        buf_add(out, STR("the node has what nodeSelector and node affinity require"));
    else if (is_full(r))
        buf_add(out, STR("the node has not what nodeSelector and node affinity require"));
    else
        match_node_verdict_write(out, pod->affinity, host->node, &why);
    return matches;
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

bool match_report_write_text(struct match_report *r, const struct match_pod *pod,
                             const struct match_host *host) {
    begin_pair(r);
    bool matches = write_taints(r, pod, host);
    write_eviction(r->out, pod, host);
    if (!has_affinity(pod, host))
        return matches;
    AUTO(buf_release) struct buf text = BUF_INIT(LONGEST_SENTENCE);
    bool fits = write_affinity(r, pod, host, &text);
    begin_line(r->out, pod, host, fits);
    printable_add(r->out, buf_view(&text));
    buf_add_char(r->out, '\n');
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
    buf_addf(out, "{\"toleration\":%u,\"matches\":%s,\"code\":\"%.*s\",", v->toleration,
             v->code == MATCH_YES ? "true" : "false", STR_ARG(match_code_name(v->code)));
    add_text(out, "message", buf_view(&text));
    buf_add_char(out, '}');
}

static void write_json_taint(struct match_report *r, const struct question *q) {
    struct buf *out = r->out;
    const struct match_taint *taint = &q->host->taints->v[q->taint];
    buf_add_char(out, '{');
    add_text(out, "key", intern_text(taint->key));
    buf_add_char(out, ',');
    add_text(out, "value", intern_text(taint->value));
    buf_add_char(out, ',');
    add_text(out, "effect", intern_text(taint->effect));
    buf_addf(out, ",\"tolerated\":%s,\"verdicts\":[", q->found == MATCH_NONE ? "false" : "true");
    uint32_t n = q->pod->tolerations->n, i = 0;
    for (; i < n && !is_full(r); i++) {
        struct match_verdict v = verdict_of(q, i);
        note_gate(r, q, &v);
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
static bool write_json_taints(struct match_report *r, const struct match_pod *pod,
                              const struct match_host *host) {
    uint32_t n = host->taints->n, i = 0, untolerated = 0;
    buf_add(r->out, STR("\"taints\":["));
    for (; i < n && !is_full(r); i++) {
        struct question q = ask(pod, host, i);
        untolerated += q.found == MATCH_NONE;
        if (i)
            buf_add_char(r->out, ',');
        write_json_taint(r, &q);
    }
    buf_add(r->out, STR("],"));
    if (i == n)
        return untolerated == 0;
    uint32_t rest = count_untolerated(pod, host, i);
    buf_addf(r->out, "\"taintsOmitted\":%u,\"untoleratedOmitted\":%u,", n - i, rest);
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

static bool write_json_affinity(struct match_report *r, const struct match_pod *pod,
                                const struct match_host *host) {
    struct buf *out = r->out;
    if (!has_affinity(pod, host)) {
        buf_add(out, STR("\"affinity\":null,"));
        return true;
    }
    AUTO(buf_release) struct buf text = BUF_INIT(LONGEST_SENTENCE);
    bool fits = write_affinity(r, pod, host, &text);
    buf_addf(out, "\"affinity\":{\"matches\":%s,", fits ? "true" : "false");
    add_text(out, "message", buf_view(&text));
    buf_add(out, STR("},"));
    return fits;
}

bool match_report_write_json(struct match_report *r, const struct match_pod *pod,
                             const struct match_host *host) {
    begin_pair(r);
    buf_add_char(r->out, '{');
    write_json_names(r->out, pod, host);
    bool matches = write_json_taints(r, pod, host);
    write_json_eviction(r->out, pod, host);
    matches &= write_json_affinity(r, pod, host);
    buf_addf(r->out, "\"matches\":%s}", matches ? "true" : "false");
    return matches;
}
