/*
 * Discovery: which groups, versions and resources there are.
 *
 * Follows k8s.io/apiserver pkg/endpoints/discovery, func StorageVersionHash.
 * Follows k8s.io/apiserver pkg/endpoints, func ConvertGroupVersionIntoToDiscovery.
 */
#include <openssl/sha.h>
#include <stdlib.h>
#include <string.h>

#include "codec/base64.h"
#include "openapi/openapi_int.h"

/* The groups in the order in which upstream's server lists them. */
static const char *const groups[] = {
    "",
    "apiregistration.k8s.io",
    "apps",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "storage.k8s.io",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "scheduling.k8s.io",
    "coordination.k8s.io",
    "node.k8s.io",
    "discovery.k8s.io",
    "resource.k8s.io",
    "flowcontrol.apiserver.k8s.io",
    "internal.apiserver.k8s.io",
    "storagemigration.k8s.io",
    "lifecycle.k8s.io",
};

/* ---- versions ---- */

/* v2 before v1 before v1beta2 before v1beta1 before v1alpha3. */
static int stage_of(struct str version) {
    return str_find(version, STR("alpha")) != STR_NONE  ? 2
           : str_find(version, STR("beta")) != STR_NONE ? 1
                                                        : 0;
}

static int by_preference(const void *a, const void *b) {
    const struct openapi__version *x = a, *y = b;
    int stages = stage_of(x->version) - stage_of(y->version);
    return stages ? stages : str_cmp(y->version, x->version);
}

static struct openapi__version version_of(const struct api_kind *kind) {
    struct openapi__version v = {.api_version = str_of(kind->api_version)};
    if (!str_cut(v.api_version, '/', &v.group, &v.version)) {
        v.version = v.api_version;
        v.group = STR("");
    }
    return v;
}

static bool is_known(const struct openapi__versions *all, struct str api_version) {
    for (size_t i = 0; i < all->n; i++)
        if (str_eq(all->v[i].api_version, api_version))
            return true;
    return false;
}

struct openapi__versions openapi__versions(struct arena *a, bool all) {
    size_t count;
    const struct registry_resource *r = registry_resources(&count);
    struct openapi__versions found = {.v = arena_array(a, struct openapi__version, count)};
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        size_t first = found.n;
        for (size_t i = 0; i < count; i++) {
            struct openapi__version v = version_of(r[i].kind);
            if (str_is(v.group, groups[g]) && !is_known(&found, v.api_version) &&
                (all ? !registry_is_for_old_clients(r[i].kind)
                     : registry_is_on_by_default(r[i].kind)))
                found.v[found.n++] = v;
        }
        qsort(found.v + first, found.n - first, sizeof *found.v, by_preference);
    }
    return found;
}

bool openapi__has(const struct openapi__version *of, const struct registry_resource *r) {
    return str_is(of->api_version, r->kind->api_version);
}

/* ---- resources ---- */

typedef const struct registry_resource *resource_ptr;

static int by_plural(const void *a, const void *b) {
    const resource_ptr *x = a, *y = b;
    return strcmp((*x)->kind->plural, (*y)->kind->plural);
}

/* The resources of a version in the order of their names. */
static resource_ptr *resources_of(struct arena *a, const struct openapi__version *of, size_t *n) {
    size_t count;
    const struct registry_resource *r = registry_resources(&count);
    resource_ptr *found = arena_array(a, resource_ptr, count);
    *n = 0;
    for (size_t i = 0; i < count; i++)
        if (openapi__has(of, &r[i]))
            found[(*n)++] = &r[i];
    qsort(found, *n, sizeof *found, by_plural);
    return found;
}

static void add_verbs(struct arena *a, struct json *to, uint32_t verbs) {
    static const char *const verb_names[] = {
#define X(id, name) name,
        REGISTRY_VERBS(X)
#undef X
    };
    struct json list = {.kind = JSON_ARRAY};
    for (unsigned i = 0; i < REGISTRY_VERB_COUNT; i++)
        if (verbs >> i & 1)
            json_append(a, &list, json_of_str(str_of(verb_names[i])));
    json_add(a, to, STR("verbs"), list);
}

/* Names that are separated by commas; none leave no member. */
static void add_names(struct arena *a, struct json *to, const char *key, const char *text) {
    struct json list = {.kind = JSON_ARRAY};
    struct str rest = str_of(text), name;
    while (rest.n) {
        str_cut(rest, ',', &name, &rest);
        json_append(a, &list, json_of_str(name));
    }
    if (list.n)
        json_add(a, to, str_of(key), list);
}

/* ---- the version that objects are stored in ---- */

/* Where it is not the best version of the kind's own group. */
static const struct {
    const char *group, *kind, *stored;
} stored_elsewhere[] = {
    {"apiextensions.k8s.io", "CustomResourceDefinition", "apiextensions.k8s.io/v1beta1"},
    {"certificates.k8s.io", "ClusterTrustBundle", "certificates.k8s.io/v1beta1"},
    {"certificates.k8s.io", "PodCertificateRequest", "certificates.k8s.io/v1beta1"},
    {"events.k8s.io", "Event", "/v1"},
    {"resource.k8s.io", "DeviceTaintRule", "resource.k8s.io/v1beta2"},
    {"storagemigration.k8s.io", "StorageVersionMigration", "storagemigration.k8s.io/v1beta1"},
};

static struct str stored_version(struct arena *a, const struct registry_resource *r) {
    struct openapi__version own = version_of(r->kind), best = own;
    for (size_t i = 0; i < sizeof stored_elsewhere / sizeof *stored_elsewhere; i++)
        if (str_is(own.group, stored_elsewhere[i].group) &&
            strcmp(r->kind->kind, stored_elsewhere[i].kind) == 0)
            return str_of(stored_elsewhere[i].stored);
    size_t count;
    const struct registry_resource *all = registry_resources(&count);
    for (size_t i = 0; i < count; i++) {
        struct openapi__version v = version_of(all[i].kind);
        if (str_eq(v.group, own.group) && strcmp(all[i].kind->kind, r->kind->kind) == 0 &&
            by_preference(&v, &best) < 0)
            best = v;
    }
    return arena_printf(a, "%.*s/%.*s", STR_ARG(best.group), STR_ARG(best.version));
}

enum { SHOWN_BYTES = 8 };

static struct str storage_hash(struct arena *a, const struct registry_resource *r) {
    struct str version = stored_version(a, r);
    struct str name = arena_printf(a, "%.*s/%s", STR_ARG(version), r->kind->kind);
    unsigned char hash[SHA256_DIGEST_LENGTH];
    SHA256((const unsigned char *)name.p, name.n, hash);
    AUTO(buf_release) struct buf text = BUF_INIT(64);
    base64_write(&text, (struct str){(const char *)hash, SHOWN_BYTES});
    return arena_str(a, buf_view(&text));
}

/* What can only be posted, or only be read, is not stored. */
static bool is_stored(const struct registry_resource *r) {
    return r->verbs >> REGISTRY_VERB_WATCH & 1;
}

/* ---- by version ---- */

static void add_group_version(struct arena *a, struct json *to, const char *api_version) {
    struct str group, version;
    if (!api_version)
        return;
    str_cut(str_of(api_version), '/', &group, &version);
    openapi__add_str(a, to, "group", group);
    openapi__add_str(a, to, "version", version);
}

static struct json legacy_resource(struct arena *a, const struct registry_resource *r) {
    struct json one = {.kind = JSON_OBJECT};
    openapi__add_str(a, &one, "name", str_of(r->kind->plural));
    openapi__add_str(a, &one, "singularName", str_of(r->singular));
    json_add(a, &one, STR("namespaced"), json_of_bool(r->kind->namespaced));
    openapi__add_str(a, &one, "kind", str_of(r->kind->kind));
    add_verbs(a, &one, r->verbs);
    add_names(a, &one, "shortNames", r->short_names);
    add_names(a, &one, "categories", r->categories);
    if (is_stored(r))
        openapi__add_str(a, &one, "storageVersionHash", storage_hash(a, r));
    return one;
}

static struct json legacy_subresource(struct arena *a, const struct registry_resource *r,
                                      const struct registry_subresource *s) {
    struct json one = {.kind = JSON_OBJECT};
    openapi__add_str(a, &one, "name", arena_printf(a, "%s/%s", r->kind->plural, s->name));
    openapi__add_str(a, &one, "singularName", STR(""));
    json_add(a, &one, STR("namespaced"), json_of_bool(r->kind->namespaced));
    add_group_version(a, &one, s->api_version);
    openapi__add_str(a, &one, "kind", str_of(s->kind));
    add_verbs(a, &one, s->verbs);
    return one;
}

static struct json resource_list(struct arena *a, const struct openapi__version *of) {
    struct json doc = {.kind = JSON_OBJECT}, list = {.kind = JSON_ARRAY};
    size_t n;
    resource_ptr *r = resources_of(a, of, &n);
    for (size_t i = 0; i < n; i++) {
        json_append(a, &list, legacy_resource(a, r[i]));
        for (const struct registry_subresource *s = r[i]->subresources; s->name; s++)
            json_append(a, &list, legacy_subresource(a, r[i], s));
    }
    openapi__add_str(a, &doc, "kind", STR("APIResourceList"));
    if (of->group.n) /* upstream's core group does not say it */
        openapi__add_str(a, &doc, "apiVersion", STR("v1"));
    openapi__add_str(a, &doc, "groupVersion", of->api_version);
    json_add(a, &doc, STR("resources"), list);
    return doc;
}

/* ---- groups ---- */

static struct json group_version(struct arena *a, const struct openapi__version *v) {
    struct json one = {.kind = JSON_OBJECT};
    openapi__add_str(a, &one, "groupVersion", v->api_version);
    openapi__add_str(a, &one, "version", v->version);
    return one;
}

/* The group whose versions begin at v->v[first]. */
static void add_group(struct arena *a, const struct openapi__versions *v, size_t first,
                      struct json *to) {
    struct json list = {.kind = JSON_ARRAY};
    for (size_t i = first; i < v->n && str_eq(v->v[i].group, v->v[first].group); i++)
        json_append(a, &list, group_version(a, &v->v[i]));
    openapi__add_str(a, to, "name", v->v[first].group);
    json_add(a, to, STR("versions"), list);
    json_add(a, to, STR("preferredVersion"), group_version(a, &v->v[first]));
}

static bool starts_group(const struct openapi__versions *v, size_t i) {
    return v->v[i].group.n && (i == 0 || !str_eq(v->v[i].group, v->v[i - 1].group));
}

static struct json group_list(struct arena *a, const struct openapi__versions *v) {
    struct json doc = {.kind = JSON_OBJECT}, list = {.kind = JSON_ARRAY};
    for (size_t i = 0; i < v->n; i++) {
        struct json group = {.kind = JSON_OBJECT};
        if (!starts_group(v, i))
            continue;
        add_group(a, v, i, &group);
        json_append(a, &list, group);
    }
    openapi__add_str(a, &doc, "kind", STR("APIGroupList"));
    openapi__add_str(a, &doc, "apiVersion", STR("v1"));
    json_add(a, &doc, STR("groups"), list);
    return doc;
}

static struct json core_versions(struct arena *a, const struct openapi_opts *opts) {
    struct json doc = {.kind = JSON_OBJECT}, versions = {.kind = JSON_ARRAY};
    struct json addresses = {.kind = JSON_ARRAY}, any = {.kind = JSON_OBJECT};
    json_append(a, &versions, json_of_str(STR("v1")));
    openapi__add_str(a, &any, "clientCIDR", STR("0.0.0.0/0"));
    openapi__add_str(a, &any, "serverAddress", str_of(opts->address ? opts->address : ""));
    if (opts->address)
        json_append(a, &addresses, any);
    openapi__add_str(a, &doc, "kind", STR("APIVersions"));
    json_add(a, &doc, STR("versions"), versions);
    json_add(a, &doc, STR("serverAddressByClientCIDRs"), addresses);
    return doc;
}

static struct json one_group(struct arena *a, const struct openapi__versions *v, size_t first) {
    struct json doc = {.kind = JSON_OBJECT};
    openapi__add_str(a, &doc, "kind", STR("APIGroup"));
    openapi__add_str(a, &doc, "apiVersion", STR("v1"));
    add_group(a, v, first, &doc);
    return doc;
}

struct json openapi__discovery(struct arena *a, const struct openapi__versions *versions,
                               const struct openapi_opts *opts, struct str path) {
    if (str_is(path, "/api"))
        return core_versions(a, opts);
    if (str_is(path, "/apis"))
        return group_list(a, versions);
    bool is_core = str_starts(path, STR("/api/"));
    struct str name = str_sub(path, is_core ? strlen("/api/") : strlen("/apis/"), path.n);
    for (size_t i = 0; (is_core || str_starts(path, STR("/apis/"))) && i < versions->n; i++) {
        const struct openapi__version *v = &versions->v[i];
        if (str_eq(v->api_version, name) && is_core == !v->group.n)
            return resource_list(a, v);
        if (!is_core && starts_group(versions, i) && str_eq(v->group, name))
            return one_group(a, versions, i);
    }
    return (struct json){.kind = JSON_NULL};
}

/* ---- aggregated ---- */

/* Group and version are told when they are not those around it. */
static struct json response_kind(struct arena *a, const char *api_version, const char *kind) {
    struct json one = {.kind = JSON_OBJECT};
    struct str group = STR(""), version = STR("");
    if (api_version)
        str_cut(str_of(api_version), '/', &group, &version);
    openapi__add_str(a, &one, "group", group);
    openapi__add_str(a, &one, "version", version);
    openapi__add_str(a, &one, "kind", str_of(kind));
    return one;
}

static struct json aggregated_resource(struct arena *a, const struct registry_resource *r) {
    struct json one = {.kind = JSON_OBJECT}, subs = {.kind = JSON_ARRAY};
    openapi__add_str(a, &one, "resource", str_of(r->kind->plural));
    json_add(a, &one, STR("responseKind"), response_kind(a, NULL, r->kind->kind));
    openapi__add_str(a, &one, "scope", r->kind->namespaced ? STR("Namespaced") : STR("Cluster"));
    openapi__add_str(a, &one, "singularResource", str_of(r->singular));
    add_verbs(a, &one, r->verbs);
    add_names(a, &one, "shortNames", r->short_names);
    add_names(a, &one, "categories", r->categories);
    for (const struct registry_subresource *s = r->subresources; s->name; s++) {
        struct json sub = {.kind = JSON_OBJECT};
        openapi__add_str(a, &sub, "subresource", str_of(s->name));
        json_add(a, &sub, STR("responseKind"), response_kind(a, s->api_version, s->kind));
        add_verbs(a, &sub, s->verbs);
        json_append(a, &subs, sub);
    }
    if (subs.n)
        json_add(a, &one, STR("subresources"), subs);
    return one;
}

static struct json aggregated_version(struct arena *a, const struct openapi__version *of) {
    struct json one = {.kind = JSON_OBJECT}, list = {.kind = JSON_ARRAY};
    size_t n;
    resource_ptr *r = resources_of(a, of, &n);
    for (size_t i = 0; i < n; i++)
        json_append(a, &list, aggregated_resource(a, r[i]));
    openapi__add_str(a, &one, "version", of->version);
    json_add(a, &one, STR("resources"), list);
    openapi__add_str(a, &one, "freshness", STR("Current"));
    return one;
}

static struct json aggregated_group(struct arena *a, const struct openapi__versions *v,
                                    size_t first) {
    struct json one = {.kind = JSON_OBJECT}, meta = {.kind = JSON_OBJECT};
    struct json list = {.kind = JSON_ARRAY};
    if (v->v[first].group.n)
        openapi__add_str(a, &meta, "name", v->v[first].group);
    for (size_t i = first; i < v->n && str_eq(v->v[i].group, v->v[first].group); i++)
        json_append(a, &list, aggregated_version(a, &v->v[i]));
    json_add(a, &one, STR("metadata"), meta);
    json_add(a, &one, STR("versions"), list);
    return one;
}

struct json openapi__aggregated(struct arena *a, const struct openapi__versions *v,
                                struct str path) {
    struct json doc = {.kind = JSON_OBJECT}, items = {.kind = JSON_ARRAY};
    bool is_core = str_is(path, "/api");
    if (!is_core && !str_is(path, "/apis"))
        return (struct json){.kind = JSON_NULL};
    for (size_t i = 0; i < v->n; i++)
        if (is_core ? !v->v[i].group.n : starts_group(v, i))
            json_append(a, &items, aggregated_group(a, v, i));
    openapi__add_str(a, &doc, "kind", STR("APIGroupDiscoveryList"));
    openapi__add_str(a, &doc, "apiVersion", STR("apidiscovery.k8s.io/v2"));
    json_add(a, &doc, STR("metadata"), (struct json){.kind = JSON_OBJECT});
    json_add(a, &doc, STR("items"), items);
    return doc;
}
