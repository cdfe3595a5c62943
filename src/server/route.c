/* Paths, part by part. */
#include "server/route.h"

#include "base/ascii.h"

/* ---- decoding ---- */

int server_unescape(struct arena *a, struct str text, bool plus_is_space, struct str *out) {
    char *to = arena_alloc(a, text.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == '+' && plus_is_space)
            c = ' ';
        if (c == '%') {
            int high = i + 2 < text.n ? ascii_hex_value(text.p[i + 1]) : -1;
            int low = i + 2 < text.n ? ascii_hex_value(text.p[i + 2]) : -1;
            if (i + 2 >= text.n || high < 0 || low < 0)
                return -1;
            c = (char)(high * 16 + low);
            i += 2;
        }
        to[n++] = c;
    }
    *out = (struct str){to, n};
    return 0;
}

/* ---- parts ---- */

enum { PARTS_MOST = 10 };

struct parts {
    struct str v[PARTS_MOST];
    size_t n;
};

/* The parts between slashes, those at both ends trimmed; more than any resource has are one. */
static int split(struct arena *a, struct str path, struct parts *out) {
    out->n = 0;
    while (path.n && path.p[0] == '/')
        path = str_sub(path, 1, path.n);
    while (path.n && path.p[path.n - 1] == '/')
        path.n--;
    while (path.n && out->n < PARTS_MOST) {
        struct str part;
        if (out->n == PARTS_MOST - 1) {
            part = path;
            path.n = 0;
        } else
            str_cut(path, '/', &part, &path);
        if (server_unescape(a, part, false, &out->v[out->n++]) < 0)
            return -1;
    }
    return 0;
}

/* The rest of the parts. */
static struct parts rest_of(const struct parts *p, size_t from) {
    struct parts rest = {.n = 0};
    for (size_t i = from; i < p->n; i++)
        rest.v[rest.n++] = p->v[i];
    return rest;
}

static const struct registry_subresource *find_sub(const struct apiserver_resource *r,
                                                   struct str name) {
    for (const struct registry_subresource *s = r->row->subresources; s->name; s++)
        if (str_is(name, s->name))
            return s;
    return NULL;
}

/* namespaces/NS/RESOURCE…; namespaces/NAME and its own subresources are about the namespace. */
static bool names_a_namespace(const struct parts *p) {
    return p->n > 2 && str_is(p->v[0], "namespaces") && !str_is(p->v[2], "status") &&
           !str_is(p->v[2], "finalize");
}

/* Is there anything in the group, in whatever version? */
static bool has_group(const struct apiserver_catalog *catalog, struct str group) {
    size_t n;
    const struct apiserver_resource *r = apiserver_catalog_all(catalog, &n);
    for (size_t i = 0; i < n; i++)
        if (str_eq(r[i].group, group))
            return true;
    return false;
}

/* Does the path lead to something of a resource that is known? */
static bool is_served(const struct server_route *r, bool is_inside, size_t parts) {
    if (!r->resource || (parts > 3 && !str_is(r->subname, "proxy")) ||
        (is_inside && !r->resource->kind->namespaced))
        return false;
    if (r->name.n && !is_inside && r->resource->kind->namespaced)
        return false;
    return !r->subname.n || r->subresource;
}

/* RESOURCE[/NAME[/SUBRESOURCE[/…]]], in a namespace or not. */
static void read_resource(const struct apiserver_catalog *catalog, struct parts p,
                          struct server_route *out) {
    bool is_inside = names_a_namespace(&p);
    if (p.n > 1 && str_is(p.v[0], "namespaces"))
        out->namespace = p.v[1];
    if (is_inside)
        p = rest_of(&p, 2);
    out->plural = p.v[0];
    out->name = p.n > 1 ? p.v[1] : STR("");
    out->subname = p.n > 2 ? p.v[2] : STR("");
    out->resource = apiserver_catalog_find(catalog, out->group, out->version, out->plural);
    if (out->resource && out->subname.n)
        out->subresource = find_sub(out->resource, out->subname);
    out->kind = is_served(out, is_inside, p.n) ? SERVER_ROUTE_RESOURCE : SERVER_ROUTE_UNKNOWN;
}

/* What stands behind /api/v1 or /apis/GROUP/VERSION. */
static void read_below(const struct apiserver_catalog *catalog, struct parts rest,
                       struct server_route *out) {
    bool is_known = apiserver_catalog_has_version(catalog, out->group, out->version);
    if (!is_known)
        out->is_foreign = !has_group(catalog, out->group);
    if (rest.n && str_is(rest.v[0], "watch")) {
        out->is_watch = true;
        rest = rest_of(&rest, 1);
        out->is_cut = !rest.n;
        if (out->is_cut)
            return;
    }
    if (rest.n)
        read_resource(catalog, rest, out);
    else
        out->kind = SERVER_ROUTE_DISCOVERY;
}

void server_route_read(struct arena *a, const struct apiserver_catalog *catalog, struct str path,
                       struct server_route *out) {
    struct parts p;
    *out = (struct server_route){.kind = SERVER_ROUTE_MALFORMED};
    if (split(a, path, &p) < 0)
        return;
    bool is_core = p.n && str_is(p.v[0], "api"), is_group = p.n && str_is(p.v[0], "apis");
    if (!is_core && !is_group) {
        out->kind = SERVER_ROUTE_OTHER;
        return;
    }
    size_t at = 1;
    if (is_group && p.n > at)
        out->group = p.v[at++];
    if (p.n <= at) {
        out->kind = SERVER_ROUTE_DISCOVERY;
        return;
    }
    out->version = p.v[at++];
    read_below(catalog, rest_of(&p, at), out);
}
