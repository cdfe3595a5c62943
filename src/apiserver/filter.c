/*
 * Which objects, of which revision, from where on: what lists and watches read from their options.
 *
 * Follows k8s.io/apiserver pkg/storage, func DecodeContinue, func EncodeContinue,
 * func NewTooLargeResourceVersionError.
 */
#include "apiserver/apiserver_int.h"
#include "base/goquote.h"
#include "codec/base64.h"

/* ---- selectors ---- */

struct registry_failure apiserver__filter_read(const struct apiserver_request *r, struct arena *a,
                                               struct apiserver__filter *out) {
    const struct apiserver_options *o = &r->options;
    struct str why;
    *out = (struct apiserver__filter){0};
    if (o->label_selector.n &&
        selector_parse(a, arena_str(a, o->label_selector), &out->labels, NULL) < 0)
        return registry_bad_request(out->labels->error);
    if (out->labels)
        selector_drop_repeated(out->labels);
    if (o->field_selector.n &&
        registry_fields_parse(a, r->resource->kind, r->resource->stored,
                              arena_str(a, o->field_selector), &out->fields, &why) < 0)
        return registry_bad_request(why);
    return (struct registry_failure){.code = ERR_NONE};
}

bool apiserver__filter_has(const struct apiserver__filter *f, const struct api_object *o) {
    return (!f->labels || selector_matches(f->labels, &o->meta->labels)) &&
           registry_fields_match(f->fields, o);
}

/* ---- revisions ---- */

bool apiserver__revision_read(struct str text, uint64_t *out) {
    uint64_t v = 0;
    for (size_t i = 0; i < text.n; i++) {
        uint64_t digit = (uint64_t)(unsigned char)text.p[i] - '0';
        if (digit > 9 || v > (UINT64_MAX - digit) / 10)
            return false;
        v = v * 10 + digit;
    }
    *out = v;
    return true;
}

struct str apiserver__revision_fault(struct arena *a, struct str text) {
    AUTO(buf_release) struct buf b = BUF_INIT(SIZE_MAX);
    bool is_number = text.n > 0;
    for (size_t i = 0; i < text.n; i++)
        is_number = is_number && text.p[i] >= '0' && text.p[i] <= '9';
    buf_add(&b, STR("strconv.ParseUint: parsing "));
    goquote_write(&b, text);
    buf_addf(&b, ": %s", is_number ? "value out of range" : "invalid syntax");
    return arena_str(a, buf_view(&b));
}

struct str apiserver__revision_invalid(struct arena *a, struct str text) {
    struct str why = apiserver__revision_fault(a, text);
    AUTO(buf_release) struct buf b = BUF_INIT(SIZE_MAX);
    goquote_write(&b, text);
    return arena_printf(a, "resourceVersion: Invalid value: %.*s: %.*s", STR_ARG(buf_view(&b)),
                        STR_ARG(why));
}

struct registry_failure apiserver__too_large(struct arena *a, uint64_t asked, uint64_t current) {
    static const struct registry_cause cause = {.reason = STR_INIT("ResourceVersionTooLarge"),
                                                .message = STR_INIT("Too large resource version")};
    struct registry_failure f = apiserver__failure(
        a, ERR_TIMEOUT, "Timeout: Too large resource version: %llu, current: %llu",
        (unsigned long long)asked, (unsigned long long)current);
    f.further = &cause;
    f.further_count = 1;
    f.retry_after = 1;
    return f;
}

/* ---- continue tokens ---- */

#define TOKEN_VERSION "meta.k8s.io/v1"

struct str apiserver__continue_write(struct arena *a, const struct apiserver__continue *c) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    struct json token = {.kind = JSON_OBJECT};
    json_add(a, &token, STR("v"), json_of_str(STR(TOKEN_VERSION)));
    json_add(a, &token, STR("rv"), json_of_i64(c->revision));
    json_add(a, &token, STR("start"), json_of_str(c->start));
    json_write(&text, &token, NULL);
    AUTO(buf_release) struct buf encoded = BUF_INIT(SIZE_MAX);
    base64_write_url(&encoded, buf_view(&text));
    return arena_str(a, buf_view(&encoded));
}

static struct registry_failure invalid(struct arena *a, struct str why) {
    return apiserver__failure(
        a, ERR_INVALID, "invalid continue token: continue key is not valid%.*s", STR_ARG(why));
}

/* A path that leads nowhere but to keys below. */
static bool is_clean(struct str start) {
    struct str path = start, part;
    if (str_starts(path, STR("/")))
        path = str_sub(path, 1, path.n);
    do {
        str_cut(path, '/', &part, &path);
        if (!part.n || str_is(part, ".") || str_is(part, ".."))
            return false;
    } while (path.n);
    return !str_ends(start, STR("/"));
}

struct registry_failure apiserver__continue_read(struct arena *a, struct str token,
                                                 struct apiserver__continue *out) {
    struct str text;
    struct json tree;
    struct err err;
    if (base64_decode_url(a, token, &text, &err) < 0 || json_parse(a, text, NULL, &tree, &err) < 0)
        return invalid(a, arena_printf(a, ": %s", err.msg));
    const struct json *version = json_get(&tree, STR("v")), *revision = json_get(&tree, STR("rv"));
    const struct json *start = json_get(&tree, STR("start"));
    struct str name = version && version->kind == JSON_STRING ? json_str(version) : STR("");
    if (!str_is(name, TOKEN_VERSION))
        return invalid(a, arena_printf(a, ": server does not recognize this encoded version %.*s",
                                       STR_ARG(name)));
    if (!revision || revision->kind != JSON_INT || !revision->i)
        return invalid(
            a, STR(": incorrect encoded start resourceVersion (version " TOKEN_VERSION ")"));
    if (!start || start->kind != JSON_STRING || !start->n)
        return invalid(a, STR(": encoded start key empty (version " TOKEN_VERSION ")"));
    *out = (struct apiserver__continue){revision->i, json_str(start)};
    if (is_clean(out->start))
        return (struct registry_failure){.code = ERR_NONE};
    return invalid(a, arena_printf(a, ": %.*s", STR_ARG(out->start)));
}
