/*
 * Paths that are no resources: version, the list of paths, health, metrics, documents.
 *
 * Follows k8s.io/apiserver pkg/server/routes, func (IndexLister) ServeHTTP,
 * func (Version) Install.
 */
#include <stdlib.h>
#include <sys/utsname.h>

#include "server/aside_int.h"

void server__answer_nothing(struct server__call *c) {
    server__answer_text(c, 404, STR("404 page not found\n"));
}

/* ---- /version ---- */

static void add(struct arena *a, struct json *tree, const char *name, struct str value) {
    json_add(a, tree, str_of(name), json_of_str(value));
}

static void add_version(struct arena *a, struct json *tree, const char *const names[2],
                        struct feature_version v) {
    add(a, tree, names[0], arena_printf(a, "%llu", (unsigned long long)v.major));
    add(a, tree, names[1], arena_printf(a, "%llu", (unsigned long long)v.minor));
}

/* linux/amd64, in Go's words for machines. */
static struct str platform(struct arena *a) {
    static const char *const machines[][2] = {{"x86_64", "amd64"}, {"aarch64", "arm64"}};
    struct utsname name;
    if (uname(&name) < 0)
        return STR("linux");
    const char *machine = name.machine;
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
        if (str_is(str_of(name.machine), machines[i][0]))
            machine = machines[i][1];
    return arena_printf(a, "linux/%s", machine);
}

static void answer_version(struct server__call *c) {
    static const char *const binary[] = {"major", "minor"},
                             *const emulated[] = {"emulationMajor", "emulationMinor"},
                             *const oldest[] = {"minCompatibilityMajor", "minCompatibilityMinor"};
    const struct server_opts *o = &c->s->opts;
    struct feature_version v = FEATURE_NEWEST;
    struct json tree = {.kind = JSON_OBJECT};
    struct arena *a = &c->arena;
    add_version(a, &tree, binary, v);
    add_version(a, &tree, emulated, o->emulated);
    add_version(a, &tree, oldest, o->min_compat);
    add(a, &tree, "gitVersion",
        arena_printf(a, "v%llu.%llu.1+berth.%s", (unsigned long long)v.major,
                     (unsigned long long)v.minor, o->program_version));
    add(a, &tree, "gitCommit", str_of(o->program_commit));
    add(a, &tree, "gitTreeState", *o->program_commit ? STR("clean") : STR(""));
    add(a, &tree, "buildDate", STR("1970-01-01T00:00:00Z"));
    add(a, &tree, "goVersion", STR("none"));
    add(a, &tree, "compiler", STR("cc"));
    add(a, &tree, "platform", platform(a));
    c->media = (struct server_media){.pretty = true};
    server__answer_json(c, 200, &tree);
}

/* ---- / ---- */

static int by_text(const void *a, const void *b) {
    return str_cmp(json_str(a), json_str(b));
}

static void add_path(struct arena *a, struct json *paths, struct str path) {
    json_append(a, paths, json_of_str(path));
}

/* /api/v1, /apis/apps, /apis/apps/v1 of all that is served. */
static void add_versions(struct server__call *c, struct json *paths) {
    size_t n;
    const struct apiserver_resource *r = apiserver_catalog_all(c->s->opts.catalog, &n);
    struct arena *a = &c->arena;
    for (size_t i = 0; i < n; i++) {
        if (!r[i].group.n) {
            add_path(a, paths, arena_printf(a, "/api/%.*s", STR_ARG(r[i].version)));
            continue;
        }
        struct str group = arena_printf(a, "/apis/%.*s", STR_ARG(r[i].group));
        add_path(a, paths, group);
        add_path(a, paths, arena_printf(a, "%.*s/%.*s", STR_ARG(group), STR_ARG(r[i].version)));
    }
}

/* The paths, each once, in their order. */
static void write_index(struct server__call *c, struct buf *out) {
    static const char *const fixed[] = {"/api",        "/apis",       "/metrics",
                                        "/openapi/v2", "/openapi/v3", "/version"};
    struct json tree = {.kind = JSON_OBJECT}, all = {.kind = JSON_ARRAY},
                paths = {.kind = JSON_ARRAY};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        add_path(&c->arena, &all, str_of(fixed[i]));
    add_versions(c, &all);
    server__health_paths(&c->arena, &all);
    qsort(all.items, all.n, sizeof *all.items, by_text);
    for (uint32_t i = 0; i < all.n; i++)
        if (!i || !str_eq(json_str(&all.items[i]), json_str(&all.items[i - 1])))
            add_path(&c->arena, &paths, json_str(&all.items[i]));
    json_add(&c->arena, &tree, STR("paths"), paths);
    json_write(out, &tree, &(struct json_style){.indent = 2});
}

static void answer_index(struct server__call *c) {
    struct server__headers h;
    if (!c->worker->index.n)
        write_index(c, &c->worker->index);
    struct net_part part = {.bytes = buf_view(&c->worker->index)};
    server__headers_start(c, &h, STR("application/json"));
    server__respond(c, 200, &h, &part, 1);
}

/* ---- all of them ---- */

static void answer_documents(struct server__call *c) {
    if (!server__openid(c) && !server__documents(c))
        server__answer_nothing(c);
}

static const struct {
    const char *path;
    void (*fn)(struct server__call *c);
    bool is_routed; /* by go-restful upstream, which refuses other methods and types */
} specials[] = {
    {"/", answer_index, false},           {"/index.html", answer_index, false},
    {"/version", answer_version, true},   {"/version/", answer_version, true},
    {"/metrics", server__figures, false},
};

void server__special(struct server__call *c) {
    const struct net_request *request = net_exchange_request(c->x);
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++) {
        if (!str_is(request->path, specials[i].path))
            continue;
        struct str accept = net_headers_find(request->headers, STR("Accept"));
        if (specials[i].is_routed && !str_is(request->method, "GET"))
            server__answer_failure(c, server__no_method());
        else if (specials[i].is_routed && !server_media_offers(accept, "application/json"))
            server__answer_failure(c, server__not_available(&c->arena, "application/json"));
        else
            specials[i].fn(c);
        return;
    }
    if (!server__health(c))
        answer_documents(c);
}
