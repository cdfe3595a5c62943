/*
 * The version and the feature gates of a server, as far as it tells them.
 *
 * Follows k8s.io/component-base metrics/prometheus/feature, func RecordFeatureInfo.
 */
#include "cmd/remote.h"

#include "client/client.h"
#include "codec/json.h"
#include "net/loop.h"

/* ---- what is asked ---- */

/* A path, and what came of it. */
struct asked {
    struct remote *r;
    struct arena *arena;
    bool is_done;
    enum err_code code;
    struct err err; /* in kubectl's words */
    bool is_reached;
    struct str text;
};

static void on_answer(void *arg, const struct client_answer *answer) {
    struct asked *asked = arg;
    asked->is_done = true;
    asked->code = answer->code;
    asked->is_reached = answer->status > 0;
    if (answer->code)
        cluster_fail(&asked->r->access, answer, &asked->err);
    else
        asked->text = arena_str(asked->arena, answer->text);
}

static void ask(struct asked *asked, const char *path) {
    client_send(asked->r->client,
                &(struct client_request){.verb = REGISTRY_VERB_GET, .path = str_of(path)},
                on_answer, asked);
}

/* ---- the version ---- */

/* Some servers write 33+. */
static bool read_number(const struct json *tree, const char *key, uint64_t *out) {
    const struct json *v = json_get(tree, str_of(key));
    int64_t n;
    if (!v || v->kind != JSON_STRING)
        return false;
    struct str text = json_str(v);
    if (str_ends(text, STR("+")))
        text.n--;
    if (!str_to_i64(text, &n) || n < 0)
        return false;
    *out = (uint64_t)n;
    return true;
}

int remote_version_read(struct str body, struct feature_version *out, struct err *err) {
    AUTO(arena_release) struct arena a = {0};
    struct json tree;
    if (json_parse(&a, body, NULL, &tree, err) < 0 || tree.kind != JSON_OBJECT)
        return err_set(err, ERR_INVALID, "the server's /version is not understood");
    bool is_read =
        (read_number(&tree, "emulationMajor", &out->major) &&
         read_number(&tree, "emulationMinor", &out->minor)) ||
        (read_number(&tree, "major", &out->major) && read_number(&tree, "minor", &out->minor));
    return is_read ? 0 : err_set(err, ERR_INVALID, "the server's /version has no version");
}

static bool is_older(struct feature_version a, struct feature_version b) {
    return a.major < b.major || (a.major == b.major && a.minor < b.minor);
}

/* The nearest version whose gates are known. */
static struct feature_version nearest(const struct remote *r, struct feature_version v) {
    struct feature_version known = is_older(v, FEATURE_OLDEST)   ? FEATURE_OLDEST
                                   : is_older(FEATURE_NEWEST, v) ? FEATURE_NEWEST
                                                                 : v;
    if (known.major != v.major || known.minor != v.minor)
        log_warn(&r->call->ctx->log, "the gates of the server's version are not known",
                 LOG_I64("major", (int64_t)v.major), LOG_I64("minor", (int64_t)v.minor),
                 LOG_I64("assumedMinor", (int64_t)known.minor));
    return known;
}

/* ---- gates ---- */

#define FEATURE_METRIC "kubernetes_feature_enabled{name=\""

/* The gate of a line, and whether it is on. */
static bool read_line(struct str line, enum feature *gate, bool *on) {
    struct str start = STR(FEATURE_METRIC), name, rest;
    if (!str_starts(line, start) || !str_cut(str_sub(line, start.n, line.n), '"', &name, &rest) ||
        !feature_find(name, gate))
        return false;
    *on = str_ends(rest, STR("} 1"));
    return *on || str_ends(rest, STR("} 0"));
}

static void add_gate(struct arena *a, enum feature gate, bool on, struct opt_list *out) {
    struct str name = feature_name(gate);
    opt_list_add(a, out, arena_printf(a, "%.*s=%s", STR_ARG(name), on ? "true" : "false"));
}

void remote_gates_read(struct arena *a, struct str metrics, struct feature_version version,
                       struct opt_list *out) {
    struct feature_config defaults;
    feature_config_init(&defaults, version);
    while (metrics.n) {
        struct str line;
        enum feature gate;
        bool on;
        str_cut(metrics, '\n', &line, &metrics);
        if (!read_line(line, &gate, &on) || on == feature_enabled(&defaults.enabled, gate))
            continue;
        const struct feature_spec *spec = feature_spec_at(gate, version, defaults.min_compat);
        if (!spec->locked && spec->stage != FEATURE_PRE_ALPHA)
            add_gate(a, gate, on, out);
    }
}

/* ---- both ---- */

static void append(struct arena *a, struct opt_list *to, const struct opt_list *list) {
    for (size_t i = 0; i < list->n; i++)
        opt_list_add(a, to, list->v[i]);
}

/* Gates that do not go together here are left at their defaults: the server may know others that
 * they need. */
static void take_gates(struct remote *r, const struct asked *metrics, struct feature_version v,
                       struct gates_opts *out) {
    struct feature_config config;
    struct gates_opts with = *out;
    struct err err = {.code = ERR_NONE};
    remote_gates_read(r->call->arena, metrics->text, v, &with.gates);
    struct feature_flags flags = {.gates = {with.gates.v, with.gates.n},
                                  .emulated = {with.emulated.v, with.emulated.n}};
    if (metrics->code || feature_configure(&flags, &config, &err) < 0) {
        log_info(&r->call->ctx->log, 1, "the server's gates are not known: defaults are assumed",
                 LOG_STR("why", str_of(metrics->code ? metrics->err.msg : err.msg)));
        return;
    }
    for (size_t i = 0; i < with.gates.n; i++)
        log_info(&r->call->ctx->log, 1, "gate of the server", LOG_STR("gate", with.gates.v[i]));
    *out = with;
}

static void assume(struct remote *r, const struct asked *version, const struct asked *metrics,
                   struct gates_opts *out) {
    struct arena *a = r->call->arena;
    struct feature_version v;
    struct err err;
    if (version->code || remote_version_read(version->text, &v, &err) < 0) {
        log_info(&r->call->ctx->log, 1, "the server's version is not known: the newest is assumed",
                 LOG_STR("why", str_of(version->code ? version->err.msg : err.msg)));
        return;
    }
    v = nearest(r, v);
    struct str text =
        arena_printf(a, "%llu.%llu", (unsigned long long)v.major, (unsigned long long)v.minor);
    log_info(&r->call->ctx->log, 1, "version of the server", LOG_STR("emulated", text));
    opt_list_add(a, &out->emulated, text);
    take_gates(r, metrics, v, out);
}

int remote_gates(struct remote *r, const struct gates_opts *given, struct gates_opts *out,
                 struct err *err) {
    AUTO(arena_release) struct arena a = {0};
    struct asked version = {.r = r, .arena = &a}, metrics = {.r = r, .arena = &a};
    bool is_emulated = given->emulated.n > 0;
    *out = (struct gates_opts){.unlock = given->unlock, .min_compat = given->min_compat};
    ask(&version, "/version");
    if (is_emulated)
        metrics.is_done = true;
    else
        ask(&metrics, "/metrics");
    while (!version.is_done || !metrics.is_done)
        net_loop_turn(r->loop, CLOCK_SECOND);
    if (version.code && (!version.is_reached || version.code == ERR_UNAUTHORIZED)) {
        *err = version.err;
        return -1;
    }
    if (is_emulated)
        out->emulated = given->emulated;
    else
        assume(r, &version, &metrics, out);
    append(r->call->arena, &out->gates, &given->gates);
    return 0;
}

int remote_begin(struct remote *r, struct cmd_call *call, const struct cluster_opts *opts,
                 struct gates_opts *gates, struct err *err) {
    const struct gates_opts given = *gates;
    const struct log silent = {.fd = -1};
    struct feature_config config;
    if (gates_configure(&given, &silent, &config, err) < 0 || remote_open(r, call, opts, err) < 0)
        return -1;
    return remote_gates(r, &given, gates, err);
}
