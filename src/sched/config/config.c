/*
 * The configuration of the scheduler: upstream's default, and what a KubeSchedulerConfiguration
 * makes of it. Everything that is wrong is said at once, in upstream's words and order.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/apis/config/v1,
 * func SetDefaults_KubeSchedulerConfiguration.
 * Follows k8s.io/kubernetes pkg/scheduler/apis/config/validation,
 * func ValidateKubeSchedulerConfiguration.
 */
#include "sched/config/config_int.h"

#include <stdarg.h>

#include "base/goquote.h"
#include "base/limits.h"
#include "base/vec.h"

#define API_VERSION "kubescheduler.config.k8s.io/v1"

enum { MOST_TEXT = 64 << 10 };

static const struct str plugin_names[SCHED_PLUGIN_COUNT] = {
#define PLUGIN(id, lower, name, weight) STR_INIT(name),
#include "sched/plugins.def"
#undef PLUGIN
};

struct str sched_plugin_name(enum sched_plugin plugin) {
    return plugin_names[plugin];
}

bool sched_plugin_find(struct str name, enum sched_plugin *out) {
    for (int i = 0; i < SCHED_PLUGIN_COUNT; i++) {
        if (!str_eq(plugin_names[i], name))
            continue;
        *out = (enum sched_plugin)i;
        return true;
    }
    return false;
}

/* ---- noting what is wrong ---- */

size_t sched__config_cut(struct str text, size_t most) {
    if (text.n <= most)
        return text.n;
    while (most && ((unsigned char)text.p[most] & 0xC0) == 0x80) /* inside a character */
        most--;
    return most;
}

struct str sched__config_path(struct sched__reading *r, struct str path, const char *name) {
    return arena_printf(r->a, "%.*s%s%s", STR_ARG(path), path.n ? "." : "", name);
}

struct str sched__config_item(struct sched__reading *r, struct str path, size_t i) {
    return arena_printf(r->a, "%.*s[%zu]", STR_ARG(path), i);
}

void sched__config_error(struct sched__reading *r, struct str path, const char *fmt, ...) {
    char text[ERR_TEXT];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (r->error_count++)
        buf_add(&r->errors, STR(", "));
    buf_addf(&r->errors, "%.*s: %s", STR_ARG(path), text);
}

void sched__config_invalid(struct sched__reading *r, struct str path, struct str value,
                           const char *detail) {
    struct buf quoted = BUF_INIT(ERR_TEXT);
    goquote_write(&quoted, arena_printf(r->a, SCHED__CUT, SCHED__CUT_ARG(value)));
    sched__config_error(r, path, "Invalid value: %.*s: %s", STR_ARG(buf_view(&quoted)), detail);
    buf_release(&quoted);
}

void sched__config_invalid_int(struct sched__reading *r, struct str path, int64_t value,
                               const char *detail) {
    sched__config_error(r, path, "Invalid value: %lld: %s", (long long)value, detail);
}

bool sched__config_repeats(struct map *seen, struct str name) {
    return map_put(seen, name.n ? name : STR(""), seen);
}

static bool among(const char *const *names, struct str name) {
    for (; *names; names++)
        if (str_is(name, *names))
            return true;
    return false;
}

void sched__config_known(struct sched__reading *r, struct sched__at at, const char *prefix,
                         const char *const *names) {
    for (uint32_t i = 0; at.v && i < at.v->n; i++) {
        struct str key = at.v->members[i].key;
        if (among(names, key))
            continue;
        buf_addf(&r->strict, "%s%sunknown field \"%.*s%s" SCHED__CUT "\"", r->strict.n ? ", " : "",
                 prefix, STR_ARG(at.path), at.path.n ? "." : "", SCHED__CUT_ARG(key));
        prefix = "";
    }
}

/* ---- reading ---- */

/* A member of this kind, or NULL; says what it should be if it is something else. */
static const struct json *typed(struct sched__reading *r, struct sched__at at, const char *name,
                                enum json_kind kind, const char *wanted) {
    const struct json *v = at.v ? json_get(at.v, str_of(name)) : NULL;
    if (!v || v->kind == JSON_NULL || v->kind == kind)
        return v && v->kind == kind ? v : NULL;
    sched__config_error(r, sched__config_path(r, at.path, name), "must be %s", wanted);
    return NULL;
}

struct sched__at sched__config_member(struct sched__reading *r, struct sched__at at,
                                      const char *name, enum json_kind kind) {
    const struct json *v = typed(r, at, name, kind, kind == JSON_ARRAY ? "a list" : "an object");
    struct str path = sched__config_path(r, at.path, name);
    if (v && kind == JSON_ARRAY && v->n > LIMIT_CONFIG_ITEMS) {
        sched__config_error(r, path, "Too many: %u: must have at most %d items", v->n,
                            LIMIT_CONFIG_ITEMS);
        v = NULL;
    }
    return (struct sched__at){v, path};
}

bool sched__config_is_object(struct sched__reading *r, struct sched__at at) {
    if (at.v->kind != JSON_OBJECT)
        sched__config_error(r, at.path, "must be an object");
    return at.v->kind == JSON_OBJECT;
}

bool sched__config_i64(struct sched__reading *r, struct sched__at at, const char *name,
                       int64_t *out) {
    const struct json *v = typed(r, at, name, JSON_INT, "an integer");
    if (v)
        *out = v->i;
    return v;
}

bool sched__config_i32(struct sched__reading *r, struct sched__at at, const char *name,
                       int32_t *out) {
    int64_t wide;
    if (!sched__config_i64(r, at, name, &wide))
        return false;
    if (wide < INT32_MIN || wide > INT32_MAX) {
        sched__config_error(r, sched__config_path(r, at.path, name),
                            "must be an integer of 32 bits");
        return false;
    }
    *out = (int32_t)wide;
    return true;
}

bool sched__config_bool(struct sched__reading *r, struct sched__at at, const char *name,
                        bool *out) {
    const struct json *v = typed(r, at, name, JSON_BOOL, "true or false");
    if (v)
        *out = v->b;
    return v;
}

bool sched__config_str(struct sched__reading *r, struct sched__at at, const char *name,
                       struct str *out) {
    const struct json *v = typed(r, at, name, JSON_STRING, "a string");
    if (v)
        *out = json_str(v);
    return v;
}

/* ---- defaults ---- */

static struct sched_config *new_config(struct arena *a, size_t profiles) {
    struct sched_config *c = arena_new(a, struct sched_config);
    c->profiles = arena_array(a, struct sched_profile, profiles);
    c->profile_count = profiles;
    c->initial_backoff_seconds = 1;
    c->max_backoff_seconds = 10;
    for (size_t i = 0; i < profiles; i++)
        sched__args_default(a, &c->profiles[i]);
    return c;
}

struct sched_config *sched_config_default(struct arena *a) {
    struct sched__reading r = {.a = a};
    struct sched_config *c = new_config(a, 1);
    c->profiles[0].scheduler_name = STR("default-scheduler");
    sched__plugin_sets_apply(sched__plugin_sets_read(&r, (struct sched__at){0}), &c->profiles[0],
                             NULL);
    return c;
}

/* ---- profiles ---- */

/* What is known of a profile before all of them are known to be valid. */
struct draft {
    struct sched__plugin_sets *sets;
    struct str fit_errors;
};

static void read_percentage(struct sched__reading *r, struct sched__at at, struct sched_config *c,
                            int32_t *out) {
    if (!sched__config_i32(r, at, "percentageOfNodesToScore", out))
        return;
    c->sample_nodes = true;
    if (*out < 0 || *out > 100)
        sched__config_invalid_int(r, sched__config_path(r, at.path, "percentageOfNodesToScore"),
                                  *out, "not in valid range [0-100]");
}

static void read_profile(struct sched__reading *r, struct sched__at at, struct sched_config *c,
                         size_t i, struct draft *draft) {
    static const char *const known[] = {"schedulerName", "percentageOfNodesToScore", "plugins",
                                        "pluginConfig", NULL};
    struct sched_profile *p = &c->profiles[i];
    bool named = sched__config_str(r, at, "schedulerName", &p->scheduler_name);
    if (!named && c->profile_count == 1)
        p->scheduler_name = STR("default-scheduler");
    sched__config_known(r, at, "", known);
    if (p->scheduler_name.n == 0)
        sched__config_error(r, sched__config_path(r, at.path, "schedulerName"), "Required value");
    read_percentage(r, at, c, &p->percentage_of_nodes_to_score);
    draft->sets = sched__plugin_sets_read(r, sched__config_member(r, at, "plugins", JSON_OBJECT));
    sched__args_read(r, sched__config_member(r, at, "pluginConfig", JSON_ARRAY), p,
                     &draft->fit_errors);
}

static void read_profiles(struct sched__reading *r, struct sched__at list, struct sched_config *c,
                          struct draft *drafts) {
    struct map names = MAP_INIT(map_random_seed());
    for (size_t i = 0; i < c->profile_count; i++) {
        struct sched__at at = {list.v ? &list.v->items[i] : NULL,
                               sched__config_item(r, list.path, i)};
        if (at.v && !sched__config_is_object(r, at))
            at.v = NULL;
        read_profile(r, at, c, i, &drafts[i]);
        if (sched__config_repeats(&names, c->profiles[i].scheduler_name))
            /* what upstream's path of the other profile looks like as a value */
            sched__config_error(r, sched__config_path(r, at.path, "schedulerName"),
                                "Duplicate value: {}");
    }
    map_release(&names);
    for (size_t i = 0; i < c->profile_count; i++)
        sched__plugin_sets_check_sort(r, drafts[0].sets, drafts[i].sets,
                                      sched__config_item(r, list.path, i));
}

/* ---- the whole ---- */

static void read_backoff(struct sched__reading *r, struct sched__at at, struct sched_config *c) {
    sched__config_i64(r, at, "podInitialBackoffSeconds", &c->initial_backoff_seconds);
    sched__config_i64(r, at, "podMaxBackoffSeconds", &c->max_backoff_seconds);
    if (c->initial_backoff_seconds <= 0)
        sched__config_invalid_int(r, STR("podInitialBackoffSeconds"), c->initial_backoff_seconds,
                                  "must be greater than 0");
    if (c->max_backoff_seconds < c->initial_backoff_seconds)
        sched__config_invalid_int(r, STR("podMaxBackoffSeconds"), c->max_backoff_seconds,
                                  "must be greater than or equal to PodInitialBackoffSeconds");
    if (c->max_backoff_seconds > INT32_MAX) /* in nanoseconds it must fit into 64 bits */
        sched__config_invalid_int(r, STR("podMaxBackoffSeconds"), c->max_backoff_seconds,
                                  "must be less than 2147483648");
}

static void read_parallelism(struct sched__reading *r, struct sched__at at) {
    int32_t parallelism = 1;
    sched__config_i32(r, at, "parallelism", &parallelism);
    if (parallelism <= 0)
        sched__config_invalid_int(r, STR("parallelism"), parallelism,
                                  "should be an integer value greater than zero");
}

static void read_extenders(struct sched__reading *r, struct sched__at at) {
    struct sched__at extenders = sched__config_member(r, at, "extenders", JSON_ARRAY);
    if (extenders.v && extenders.v->n)
        sched__config_error(r, extenders.path, "Forbidden: extenders are not supported");
}

static int fail(const struct sched__reading *r, struct err *err) {
    struct str strict = buf_view(&r->strict), errors = buf_view(&r->errors);
    bool many = r->error_count > 1;
    if (strict.n)
        return err_set(err, ERR_INVALID, "strict decoding error: %.*s", STR_ARG(strict));
    return err_set(err, ERR_INVALID, "%s%.*s%s", many ? "[" : "", STR_ARG(errors), many ? "]" : "");
}

static int make_profile(const struct draft *draft, struct sched_profile *p, struct err *err) {
    if (draft->fit_errors.n && sched__plugin_sets_need(draft->sets, SCHED_FIT))
        return err_set(err, ERR_INVALID, "initializing plugin \"NodeResourcesFit\": %.*s",
                       STR_ARG(draft->fit_errors));
    return sched__plugin_sets_apply(draft->sets, p, err);
}

static int make_profiles(const struct draft *drafts, struct sched_config *c, struct err *err) {
    for (size_t i = 0; i < c->profile_count; i++)
        if (make_profile(&drafts[i], &c->profiles[i], err) < 0)
            return err_wrap(
                err, "initializing profiles: creating profile for scheduler name " SCHED__CUT,
                SCHED__CUT_ARG(c->profiles[i].scheduler_name));
    return 0;
}

static int read_whole(struct sched__reading *r, struct sched__at at, struct sched_config **out,
                      struct err *err) {
    static const char *const known[] = {"apiVersion",
                                        "kind",
                                        "parallelism",
                                        "leaderElection",
                                        "clientConnection",
                                        "enableProfiling",
                                        "enableContentionProfiling",
                                        "percentageOfNodesToScore",
                                        "podInitialBackoffSeconds",
                                        "podMaxBackoffSeconds",
                                        "profiles",
                                        "extenders",
                                        "delayCacheUntilActive",
                                        NULL};
    struct sched__at profiles = sched__config_member(r, at, "profiles", JSON_ARRAY);
    size_t count = profiles.v && profiles.v->n ? profiles.v->n : 1;
    if (profiles.v && profiles.v->n == 0)
        profiles.v = NULL;
    struct sched_config *c = new_config(r->a, count);
    struct draft *drafts = arena_array(r->a, struct draft, count);
    sched__config_known(r, at, "", known);
    read_parallelism(r, at);
    read_profiles(r, profiles, c, drafts);
    read_percentage(r, at, c, &c->percentage_of_nodes_to_score);
    read_backoff(r, at, c);
    read_extenders(r, at);
    sched__process_read(r, at, &c->process);
    if (r->strict.n || r->error_count)
        return fail(r, err);
    *out = c;
    return make_profiles(drafts, c, err);
}

static int check_kind(const struct json *tree, struct err *err) {
    const struct json *kind = json_get(tree, STR("kind"));
    const struct json *version = json_get(tree, STR("apiVersion"));
    struct str k = kind && kind->kind == JSON_STRING ? json_str(kind) : STR("");
    struct str v = version && version->kind == JSON_STRING ? json_str(version) : STR("");
    if (!str_is(k, "KubeSchedulerConfiguration") || !str_is(v, API_VERSION))
        return err_set(err, ERR_INVALID,
                       "no kind \"" SCHED__CUT "\" is registered for version \"" SCHED__CUT
                       "\": a KubeSchedulerConfiguration of " API_VERSION " is wanted",
                       SCHED__CUT_ARG(k), SCHED__CUT_ARG(v));
    return 0;
}

int sched_config_read(struct arena *a, const struct json *tree, struct sched_config **out,
                      struct err *err) {
    struct sched__reading r = {
        .a = a, .strict = BUF_INIT(MOST_TEXT), .errors = BUF_INIT(MOST_TEXT)};
    int rc = check_kind(tree, err);
    if (rc == 0)
        rc = read_whole(&r, (struct sched__at){tree, STR("")}, out, err);
    buf_release(&r.strict);
    buf_release(&r.errors);
    return rc;
}
