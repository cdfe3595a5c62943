/* What is wrong with the annotations by which simulated nodes and containers are told what to do.
 */
#include "nodes/kubelets_int.h"

#include "base/limits.h"
#include "base/utf8.h"

/* Of more annotations of an object nothing is said, and no more of a value is shown. */
enum { MOST_READ = 1000, MOST_SHOWN = 64 };

/* A value that an annotation may have: a whole number up to `most`, or one of some words. */
struct rule {
    const char *name; /* behind berth.dev/ */
    int64_t most;
    const char *words[5];
};

static const struct rule pod_rules[] = {
    {.name = "start-seconds", .most = INT32_MAX},
    {.name = "run-seconds", .most = INT32_MAX},
    {.name = "exit-code", .most = 255},
    {.name = "stop-seconds", .most = INT32_MAX},
    {.name = "ready-seconds", .most = INT32_MAX},
    {.name = "ready", .words = {"true", "false"}},
    {.name = "startup-seconds", .most = INT32_MAX},
    {.name = "live-seconds", .most = INT32_MAX},
    {.name = "image", .words = {"missing"}},
    {0},
};
static const struct rule node_rules[] = {
    {.name = "kubelet", .words = {"stopped", "crashed", "partitioned", "slow"}},
    {.name = "slow-seconds", .most = INT32_MAX},
    {0},
};

static const struct rule *find_rule(const struct rule *rules, struct str name) {
    for (; rules->name; rules++)
        if (str_is(name, rules->name))
            return rules;
    return NULL;
}

/* Splits NAME.berth.dev/KEY; of berth.dev/KEY the container is empty. False: it is not ours. */
static bool split(struct str key, struct str *container, struct str *name) {
    struct str domain;
    *container = STR("");
    if (!str_cut(key, '/', &domain, name))
        return false;
    if (str_is(domain, "berth.dev"))
        return true;
    if (!str_ends(domain, STR(".berth.dev")))
        return false;
    *container = str_sub(domain, 0, domain.n - strlen(".berth.dev"));
    return true;
}

/* ---- values ---- */

static bool is_allowed(const struct rule *rule, struct str value) {
    int64_t v;
    if (!rule->words[0])
        return str_to_i64(value, &v) && v >= 0 && v <= rule->most;
    for (size_t i = 0; rule->words[i]; i++)
        if (str_is(value, rule->words[i]))
            return true;
    return false;
}

static void write_allowed(struct buf *out, const struct rule *rule) {
    if (!rule->words[0]) {
        buf_addf(out, "a whole number from 0 to %lld", (long long)rule->most);
        return;
    }
    for (size_t i = 0; rule->words[i]; i++)
        buf_addf(out, "%s%s", i == 0 ? "" : rule->words[i + 1] ? ", " : " or ", rule->words[i]);
}

static void write_names(struct buf *out, const struct rule *rules) {
    for (const struct rule *r = rules; r->name; r++)
        buf_addf(out, "%sberth.dev/%s", r == rules ? "" : ", ", r->name);
}

/* ---- faults ---- */

static bool has_container(const struct api_object *pod, struct str name) {
    const struct api_pod_spec *spec = &((const struct api_pod *)pod->body)->spec;
    const struct api_container_list *lists[] = {&spec->containers, &spec->init_containers};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < lists[k]->n; i++)
            if (str_eq(lists[k]->v[i].name, name))
                return true;
    for (size_t i = 0; i < spec->ephemeral_containers.n; i++)
        if (str_eq(spec->ephemeral_containers.v[i].container.name, name))
            return true;
    return false;
}

/* What is wrong with an annotation; false: nothing. */
static bool write_fault(struct buf *out, const struct api_object *o, const struct label *l) {
    bool is_pod = api_object_is(o, API_T_pod);
    const struct rule *rules = is_pod ? pod_rules : node_rules;
    struct str container, name;
    if (!split(l->key, &container, &name) || (is_pod && str_is(name, "silence")))
        return false;
    const struct rule *rule = find_rule(rules, name);
    buf_addf(out, "annotation %.*s is ignored: ", STR_ARG(l->key));
    if (!rule || (!is_pod && container.n)) {
        buf_addf(out, "a %s has ", is_pod ? "pod" : "node");
        write_names(out, rules);
        return true;
    }
    if (container.n && !has_container(o, container)) {
        buf_addf(out, "there is no container \"%.*s\"", STR_ARG(container));
        return true;
    }
    if (is_allowed(rule, l->value))
        return false;
    struct str shown = str_sub(l->value, 0, l->value.n < MOST_SHOWN ? l->value.n : MOST_SHOWN);
    shown = str_sub(shown, 0, utf8_valid_prefix(shown));
    buf_addf(out, "the value \"%.*s\"%s must be ", STR_ARG(shown), shown.n < l->value.n ? "…" : "");
    write_allowed(out, rule);
    return true;
}

size_t nodes__annotation_faults(struct arena *a, const struct api_object *o, struct str *out,
                                size_t most) {
    const struct labels *all = &o->meta->annotations;
    size_t n = 0;
    for (size_t i = 0; i < all->n && i < MOST_READ && n < most; i++) {
        AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_OBJECT_BYTES);
        if (write_fault(&text, o, &all->v[i]))
            out[n++] = arena_str(a, buf_view(&text));
    }
    return n;
}
