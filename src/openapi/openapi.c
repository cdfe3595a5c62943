/* Documents: made when they are first asked for, and kept. */
#include "openapi/openapi.h"

#include <openssl/sha.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "openapi/openapi_int.h"

struct openapi {
    struct openapi_opts opts;
    struct arena a; /* names, and the documents that are kept */
    struct openapi__versions versions;
    struct map documents; /* kind of document and name -> struct openapi_document */
};

enum { MOST_BYTES = 64 << 20 };

/* A tree that is to become a document. */
typedef struct json make_fn(struct openapi *o, struct arena *a, struct str name);

struct openapi *openapi_new(const struct openapi_opts *opts) {
    struct openapi *o = xcalloc(1, sizeof *o);
    if (opts)
        o->opts = *opts;
    o->documents = MAP_INIT(0);
    o->versions = openapi__versions(&o->a, o->opts.all_versions);
    return o;
}

void openapi_free(struct openapi *o) {
    if (!o)
        return;
    map_release(&o->documents);
    arena_release(&o->a);
    free(o);
}

/* ---- keeping ---- */

static struct str etag_of(struct arena *a, struct str body) {
    unsigned char hash[SHA512_DIGEST_LENGTH];
    AUTO(buf_release) struct buf text = BUF_INIT(256);
    SHA512((const unsigned char *)body.p, body.n, hash);
    buf_add_char(&text, '"');
    for (size_t i = 0; i < sizeof hash; i++)
        buf_addf(&text, "%02X", hash[i]);
    buf_add_char(&text, '"');
    return arena_str(a, buf_view(&text));
}

static const struct openapi_document *keep(struct openapi *o, struct str key, struct str body) {
    struct openapi_document *d = arena_new(&o->a, struct openapi_document);
    d->body = arena_str(&o->a, body);
    if (body.n)
        d->etag = etag_of(&o->a, d->body);
    map_put(&o->documents, arena_str(&o->a, key), d);
    return d;
}

static const struct openapi_document *find_or_make(struct openapi *o, const char *sort,
                                                   struct str name, make_fn *make) {
    AUTO(arena_release) struct arena scratch = {0};
    AUTO(buf_release) struct buf body = BUF_INIT(MOST_BYTES);
    static const struct openapi_document none;
    struct str key = arena_printf(&scratch, "%s %.*s", sort, STR_ARG(name));
    const struct openapi_document *there = map_get(&o->documents, key);
    if (there)
        return there;
    struct json tree = make(o, &scratch, name);
    if (tree.kind == JSON_NULL)
        return &none;
    json_write(&body, &tree, NULL);
    return keep(o, key, buf_view(&body));
}

/* ---- discovery ---- */

static struct json make_discovery(struct openapi *o, struct arena *a, struct str path) {
    return openapi__discovery(a, &o->versions, &o->opts, path);
}

static struct json make_aggregated(struct openapi *o, struct arena *a, struct str path) {
    return openapi__aggregated(a, &o->versions, path);
}

const struct openapi_document *openapi_discovery(struct openapi *o, struct str path) {
    return find_or_make(o, "discovery", path, make_discovery);
}

const struct openapi_document *openapi_aggregated(struct openapi *o, struct str path) {
    return find_or_make(o, "aggregated", path, make_aggregated);
}

/* ---- version 3 ---- */

static struct json info_of(struct arena *a) {
    struct json info = {.kind = JSON_OBJECT};
    openapi__add_str(a, &info, "title", STR("Kubernetes"));
    openapi__add_str(a, &info, "version", STR("unversioned"));
    return info;
}

static struct json security_of(struct arena *a) {
    struct json token = {.kind = JSON_OBJECT}, schemes = {.kind = JSON_OBJECT};
    openapi__add_str(a, &token, "type", STR("apiKey"));
    openapi__add_str(a, &token, "description", STR("A bearer token."));
    openapi__add_str(a, &token, "name", STR("authorization"));
    openapi__add_str(a, &token, "in", STR("header"));
    json_add(a, &schemes, STR("BearerToken"), token);
    return schemes;
}

static struct json document_of(struct openapi__models *m, struct json paths) {
    struct json doc = {.kind = JSON_OBJECT}, components = {.kind = JSON_OBJECT};
    openapi__models_finish(m);
    openapi__add_str(m->a, &doc, "openapi", STR("3.0.0"));
    json_add(m->a, &doc, STR("info"), info_of(m->a));
    json_add(m->a, &doc, STR("paths"), paths);
    if (m->schemas.n)
        json_add(m->a, &components, STR("schemas"), m->schemas);
    json_add(m->a, &components, STR("securitySchemes"), security_of(m->a));
    json_add(m->a, &doc, STR("components"), components);
    return doc;
}

/* Documents that tell what there is. */
static const struct {
    const char *name, *path, *id, *tag, *model;
} infos[] = {
    {"api", "/api/", "getCoreAPIVersions", "core",
     "io.k8s.apimachinery.pkg.apis.meta.v1.APIVersions"},
    {"apis", "/apis/", "getAPIVersions", "apis",
     "io.k8s.apimachinery.pkg.apis.meta.v1.APIGroupList"},
    {"version", "/version/", "getCodeVersion", "version", "io.k8s.apimachinery.pkg.version.Info"},
};

static struct json make_group(struct openapi__models *m) {
    struct str word = openapi__group_word(m->a, m->of->group);
    struct json paths = openapi__info_path(
        m, arena_printf(m->a, "/apis/%.*s/", STR_ARG(m->of->group)),
        arena_printf(m->a, "get%.*sAPIGroup", STR_ARG(word)),
        openapi__group_tag(m->a, m->of->group), "io.k8s.apimachinery.pkg.apis.meta.v1.APIGroup");
    return document_of(m, paths);
}

static struct json make_v3(struct openapi *o, struct arena *a, struct str name) {
    static const struct openapi__version nothing;
    struct openapi__models *m = arena_new(a, struct openapi__models);
    *m = (struct openapi__models){.a = a, .of = &nothing, .schemas = {.kind = JSON_OBJECT}};
    for (size_t i = 0; i < sizeof infos / sizeof *infos; i++)
        if (str_is(name, infos[i].name))
            return document_of(m, openapi__info_path(m, str_of(infos[i].path), str_of(infos[i].id),
                                                     str_of(infos[i].tag), infos[i].model));
    bool is_core = str_starts(name, STR("api/"));
    struct str version = str_sub(name, is_core ? strlen("api/") : strlen("apis/"), name.n);
    for (size_t i = 0; (is_core || str_starts(name, STR("apis/"))) && i < o->versions.n; i++) {
        m->of = &o->versions.v[i];
        if (str_eq(m->of->api_version, version) && is_core == !m->of->group.n)
            return document_of(m, openapi__paths(m));
        if (!is_core && m->of->group.n && str_eq(m->of->group, version))
            return make_group(m);
    }
    return (struct json){.kind = JSON_NULL};
}

const struct openapi_document *openapi_v3(struct openapi *o, struct str name) {
    return find_or_make(o, "v3", name, make_v3);
}

/* {"serverRelativeURL":"/openapi/v3/api/v1?hash=…"} */
static void add_place(struct openapi *o, struct arena *a, struct json *paths, struct str name) {
    struct json place = {.kind = JSON_OBJECT};
    struct str etag = openapi_v3(o, name)->etag;
    struct str hash = str_sub(etag, 1, etag.n - 1);
    openapi__add_str(a, &place, "serverRelativeURL",
                     arena_printf(a, "/openapi/v3/%.*s?hash=%.*s", STR_ARG(name), STR_ARG(hash)));
    json_add(a, paths, name, place);
}

static struct json make_v3_index(struct openapi *o, struct arena *a, struct str unused) {
    (void)unused;
    struct json index = {.kind = JSON_OBJECT}, paths = {.kind = JSON_OBJECT};
    for (size_t i = 0; i < sizeof infos / sizeof *infos; i++)
        add_place(o, a, &paths, str_of(infos[i].name));
    for (size_t i = 0; i < o->versions.n; i++) {
        const struct openapi__version *v = &o->versions.v[i];
        if (v->group.n && (i == 0 || !str_eq(v->group, v[-1].group)))
            add_place(o, a, &paths, arena_printf(a, "apis/%.*s", STR_ARG(v->group)));
        add_place(o, a, &paths,
                  arena_printf(a, "%s/%.*s", v->group.n ? "apis" : "api", STR_ARG(v->api_version)));
    }
    json_add(a, &index, STR("paths"), paths);
    return index;
}

const struct openapi_document *openapi_v3_index(struct openapi *o) {
    return find_or_make(o, "index", STR(""), make_v3_index);
}

/* ---- version 2 ---- */

static struct json *find(struct json *object, struct str key) {
    for (uint32_t i = 0; i < object->n; i++)
        if (str_eq(object->members[i].key, key))
            return &object->members[i].value;
    return NULL;
}

static bool has_item(const struct json *list, const struct json *item) {
    for (uint32_t i = 0; i < list->n; i++)
        if (json_equal(&list->items[i], item))
            return true;
    return false;
}

/* A model that several documents have may be of a kind in each of them. */
static void merge_kinds(struct arena *a, struct json *into, const struct json *from) {
    struct str key = STR("x-kubernetes-group-version-kind");
    struct json *known = find(into, key);
    const struct json *more = json_get(from, key);
    for (uint32_t i = 0; known && more && more->kind == JSON_ARRAY && i < more->n; i++)
        if (!has_item(known, &more->items[i]))
            json_append(a, known, more->items[i]);
}

static void merge(struct arena *a, struct json *into, const struct json *from) {
    for (uint32_t i = 0; from && i < from->n; i++) {
        struct json *there = find(into, from->members[i].key);
        if (there)
            merge_kinds(a, there, &from->members[i].value);
        else
            json_add(a, into, from->members[i].key, from->members[i].value);
    }
}

/* All documents of version 3 in one; models of the same name are the same. */
static struct json make_v2(struct openapi *o, struct arena *a, struct str unused) {
    (void)unused;
    struct json doc = {.kind = JSON_OBJECT}, paths = {.kind = JSON_OBJECT};
    struct json components = {.kind = JSON_OBJECT}, schemas = {.kind = JSON_OBJECT};
    struct json index = make_v3_index(o, a, STR(""));
    const struct json *names = json_get(&index, STR("paths"));
    for (uint32_t i = 0; i < names->n; i++) {
        struct json one = make_v3(o, a, names->members[i].key);
        merge(a, &paths, json_get(&one, STR("paths")));
        merge(a, &schemas, json_get(json_get(&one, STR("components")), STR("schemas")));
    }
    openapi__add_str(a, &doc, "openapi", STR("3.0.0"));
    json_add(a, &doc, STR("info"), info_of(a));
    json_add(a, &doc, STR("paths"), paths);
    json_add(a, &components, STR("schemas"), schemas);
    json_add(a, &components, STR("securitySchemes"), security_of(a));
    json_add(a, &doc, STR("components"), components);
    return openapi__to_v2(a, &doc);
}

const struct openapi_document *openapi_v2(struct openapi *o) {
    return find_or_make(o, "v2", STR(""), make_v2);
}

const struct openapi_document *openapi_v2_proto(struct openapi *o) {
    AUTO(arena_release) struct arena scratch = {0};
    AUTO(buf_release) struct buf body = BUF_INIT(MOST_BYTES);
    const struct openapi_document *there = map_get(&o->documents, STR("proto"));
    if (there)
        return there;
    struct json tree = make_v2(o, &scratch, STR(""));
    openapi__write_gnostic(&body, &tree);
    return keep(o, STR("proto"), buf_view(&body));
}
