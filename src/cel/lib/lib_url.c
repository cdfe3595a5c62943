/*
 * URLs.
 *
 * Follows k8s.io/apiserver pkg/cel/library, func URLs, func stringToUrl, func getQuery.
 */
#include <string.h>

#include "base/ascii.h"
#include "base/limits.h"
#include "cel/kit/url_int.h"

static const struct cel_url *url_of(struct cel_value v) {
    return v.opaque;
}

/* ParseRequestURI decides whether it is one, Parse what it is. */
static struct cel_value call_url(struct cel_eval *ev, const struct cel_value *args) {
    AUTO(buf_release) struct buf why = BUF_INIT(LIMIT_CEL_ERROR_BYTES);
    struct cel_url *url = cel__alloc(ev, sizeof *url);
    if (!url)
        return CEL_TOO_BIG;
    if (!cel__url_parse(ev->arena, cel_str(args[0]), true, url, &why) ||
        !cel__url_parse(ev->arena, cel_str(args[0]), false, url, &why))
        return cel__error(ev, "URL parse error during conversion from string: %.*s",
                          STR_ARG(buf_view(&why)));
    return cel__opaque(CEL_URL, url);
}

static struct cel_value call_is_url(struct cel_eval *ev, const struct cel_value *args) {
    if (!cel__work(ev, (uint64_t)args[0].n * CEL_WORK_BYTE))
        return CEL_TOO_BIG;
    AUTO(buf_release) struct buf why = BUF_INIT(LIMIT_CEL_ERROR_BYTES);
    struct cel_url url;
    return cel_of_bool(cel__url_parse(ev->arena, cel_str(args[0]), true, &url, &why));
}

static struct cel_value call_scheme(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    return cel_of_str(url_of(args[0])->scheme);
}

static struct cel_value call_host(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    return cel_of_str(url_of(args[0])->host);
}

/* The colon before a port, or the length. */
static size_t port_at(struct str host) {
    size_t colon = host.n;
    while (colon > 0 && host.p[colon - 1] != ':')
        colon--;
    if (colon == 0)
        return host.n;
    for (size_t i = colon; i < host.n; i++)
        if (!ascii_is_digit(host.p[i]))
            return host.n;
    return colon - 1;
}

static struct cel_value call_hostname(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    struct str host = url_of(args[0])->host;
    host = str_sub(host, 0, port_at(host));
    if (str_starts(host, STR("[")) && str_ends(host, STR("]")))
        host = str_sub(host, 1, host.n - 1);
    return cel_of_str(host);
}

static struct cel_value call_port(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    struct str host = url_of(args[0])->host;
    return cel_of_str(str_sub(host, port_at(host) + 1, host.n));
}

static struct cel_value call_path(struct cel_eval *ev, const struct cel_value *args) {
    AUTO(buf_release) struct buf out = BUF_INIT(LIMIT_CEL_EVAL_BYTES / 2);
    cel__url_write_path(&out, url_of(args[0]));
    cel__work(ev, out.n * CEL_WORK_BYTE);
    return out.full ? CEL_TOO_BIG : cel__string(ev, buf_view(&out));
}

/* Adds a value to the list under a key. */
static bool add_value(struct cel_map_builder *b, struct cel_value key, struct cel_value value) {
    struct cel_map now = {b->entries, b->n, b->slots, b->index};
    const struct cel_value *old = cel__map_find(b->ev, &now, key);
    size_t n = old ? old->n : 0;
    struct cel_value *items = cel__alloc_values(b->ev, n + 1);
    if (!items)
        return false;
    if (n)
        memcpy(items, old->items, n * sizeof *items);
    items[n] = value;
    return cel__map_put(b, key, cel__list(items, n + 1));
}

/* One key=value; what is ill-formed is left out. */
static bool add_pair(struct cel_map_builder *b, struct str pair) {
    struct str key, value;
    str_cut(pair, '=', &key, &value);
    if (pair.n == 0 || str_find_char(pair, ';') != STR_NONE ||
        !cel__url_unescape_query(b->ev->arena, key, &key) ||
        !cel__url_unescape_query(b->ev->arena, value, &value))
        return true;
    return add_value(b, cel_of_str(key), cel_of_str(value));
}

static struct cel_value call_query(struct cel_eval *ev, const struct cel_value *args) {
    struct cel_map_builder b = {.ev = ev};
    struct str rest = url_of(args[0])->query, pair;
    while (rest.n > 0) {
        str_cut(rest, '&', &pair, &rest);
        if (!cel__work(ev, CEL_WORK_ITEM + pair.n * CEL_WORK_BYTE))
            return CEL_TOO_BIG;
        if (!add_pair(&b, pair))
            return CEL_TOO_BIG;
    }
    return cel__map_done(&b);
}

#define T "kubernetes.URL"

enum { NAME = CEL_FN_COST_BY_NAME };

static const struct cel_fn fns[] = {
    {"url", "string_to_url", "(string) -> " T, call_url, cel__est_arg_keep, cel__cost_walk, NAME,
     "the URL that the text is; an error when it is none"},
    {"isURL", "is_url_string", "(string) -> bool", call_is_url, NULL, NULL, NAME,
     "is the text a URL?"},
    {"getScheme", "url_get_scheme", T ".() -> string", call_scheme, NULL, NULL, NAME,
     "the scheme, or an empty string"},
    {"getHost", "url_get_host", T ".() -> string", call_host, NULL, NULL, NAME,
     "the host with its port and brackets"},
    {"getHostname", "url_get_hostname", T ".() -> string", call_hostname, NULL, NULL, NAME,
     "the host alone"},
    {"getPort", "url_get_port", T ".() -> string", call_port, NULL, NULL, NAME,
     "the port, or an empty string"},
    {"getEscapedPath", "url_get_escaped_path", T ".() -> string", call_path, NULL, NULL, NAME,
     "the path, with escapes"},
    {"getQuery", "url_get_query", T ".() -> map(string, list(string))", call_query, NULL, NULL,
     NAME, "the values of each key of the query"},
};

const struct cel_library cel__lib_url = {CEL_LIB_URL, fns, sizeof fns / sizeof *fns};
