/*
 * Bodies: an object, a patch, or the options of a deletion.
 *
 * Follows k8s.io/apiserver pkg/endpoints/handlers, func transformDecodeError.
 */
#include "api/proto.h"
#include "codec/yml.h"
#include "server/server_int.h"

static bool refuse(struct server__call *c, struct registry_failure f) {
    server__answer_failure(c, f);
    return false;
}

/* ---- trees ---- */

/* The kind that the body of the request is of. */
static const struct api_kind *kind_of(const struct server__call *c) {
    const struct registry_subresource *sub = c->route.subresource;
    const struct api_kind *kind = c->route.resource->kind;
    if (!sub)
        return kind;
    struct str version = str_of(sub->api_version ? sub->api_version : kind->api_version);
    return api_kind_find(version, str_of(sub->kind));
}

/* The first bytes of a body, in hexadecimal unless they begin an object. */
enum { SUMMARY_BYTES = 30 };

static struct str summary_of(struct arena *a, struct str body) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    struct str first = str_sub(body, 0, body.n < SUMMARY_BYTES ? body.n : SUMMARY_BYTES);
    if (!body.n)
        return STR("<empty>");
    if (body.p[0] == '{')
        buf_add(&text, first);
    else
        buf_add_hex(&text, first.p, first.n);
    buf_add(&text, body.n > SUMMARY_BYTES ? STR(" ...") : STR(""));
    return arena_str(a, buf_view(&text));
}

static struct registry_failure unreadable(struct server__call *c, struct str why, struct str body) {
    return registry_bad_request(arena_printf(
        &c->arena, "the object provided is unrecognized (must be of type %s): %.*s (%.*s)",
        kind_of(c)->kind, STR_ARG(why), STR_ARG(summary_of(&c->arena, body))));
}

/* What Go says of a value that is no object, and should be one with a version and a kind. */
static struct str not_an_object(struct arena *a, const struct json *tree) {
    static const char *const names[] = {
        [JSON_BOOL] = "bool",    [JSON_INT] = "number",    [JSON_UINT] = "number",
        [JSON_FLOAT] = "number", [JSON_STRING] = "string", [JSON_ARRAY] = "array",
    };
    return arena_printf(a,
                        "couldn't get version/kind; json parse error: json: cannot unmarshal %s "
                        "into Go value of type struct { APIVersion string "
                        "\"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
                        "\"json:\\\"kind,omitempty\\\"\" }",
                        names[tree->kind]);
}

/* Repeated keys are kept, to be told of. */
static struct registry_failure parse(struct server__call *c, enum server_format format,
                                     struct str body, struct json *out) {
    bool is_yaml = format == SERVER_YAML;
    struct err err;
    int rc = is_yaml ? yml_parse(&c->arena, body, out, &err)
                     : json_parse(&c->arena, body, &(struct json_opts){.allow_duplicates = true},
                                  out, &err);
    if (rc < 0)
        return unreadable(
            c,
            arena_printf(&c->arena, "%s%s",
                         is_yaml ? "" : "couldn't get version/kind; json parse error: ", err.msg),
            body);
    if (out->kind != JSON_OBJECT && out->kind != JSON_NULL)
        return unreadable(c, not_an_object(&c->arena, out), body);
    return (struct registry_failure){.code = ERR_NONE};
}

/* ---- objects ---- */

static void warn_of_faults(struct server__call *c, const struct api_faults *faults) {
    struct api_strs all = {arena_array(&c->arena, struct str, c->warnings.n + faults->n), 0};
    for (size_t i = 0; i < c->warnings.n; i++)
        all.v[all.n++] = c->warnings.v[i];
    for (size_t i = 0; i < faults->n; i++)
        all.v[all.n++] = faults->v[i].text;
    c->warnings = all;
}

/* The package of upstream's internal types of a group. */
static struct str package_of(struct str group) {
    struct str first, rest;
    if (!group.n || str_is(group, "events.k8s.io"))
        return STR("core");
    str_cut(group, '.', &first, &rest);
    return first;
}

/* Why upstream's decoder cannot make a `want` of it. */
static struct str no_conversion(struct server__call *c, const struct api_kind *want,
                                struct str version) {
    const struct api_type_meta *names = c->r.object->names;
    struct str package = package_of(registry_group_of(str_of(want->api_version)));
    if (!api_kind_find(names->api_version, names->kind))
        return arena_printf(&c->arena,
                            "no kind \"%.*s\" is registered for version \"%.*s\" in scheme "
                            "\"k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30\"",
                            STR_ARG(names->kind), STR_ARG(names->api_version));
    return arena_printf(&c->arena, "converting (%.*s.%.*s) to (%.*s.%s): unknown conversion",
                        STR_ARG(version), STR_ARG(names->kind), STR_ARG(package), want->kind);
}

/* Of another kind or version than the path. */
static struct registry_failure check_kind(struct server__call *c, const struct api_kind *want) {
    const struct api_object *o = c->r.object;
    bool is_eviction = o->kind && o->type == &api_types[API_T_eviction] && o->type == want->type;
    if (o->kind == want || is_eviction) /* any version of it will do */
        return (struct registry_failure){.code = ERR_NONE};
    struct str full = o->names->api_version, group = registry_group_of(full);
    if (str_is(o->names->kind, want->kind) && api_kind_find(full, o->names->kind))
        return registry_bad_request(arena_printf(
            &c->arena,
            "the API version in the data (%.*s) does not match the expected API version (%s)",
            STR_ARG(full), want->api_version));
    struct str version = str_sub(full, group.n ? group.n + 1 : 0, full.n);
    return registry_bad_request(
        arena_printf(&c->arena, "%.*s in version \"%.*s\" cannot be handled as a %s: %.*s",
                     STR_ARG(o->names->kind), STR_ARG(version), want->kind,
                     STR_ARG(no_conversion(c, want, version))));
}

static struct registry_failure decode(struct server__call *c, enum server_format format,
                                      struct str body, const struct api_kind *kind,
                                      struct api_faults *faults) {
    struct registry registry = {.gates = c->s->opts.gates};
    struct api_decode_opts opts = {.api_version = str_of(kind->api_version),
                                   .kind = str_of(kind->kind),
                                   .strict = c->r.options.field_validation == APISERVER_STRICT,
                                   .duplicates = true,
                                   .known_only = true};
    struct json tree;
    if (format == SERVER_PROTOBUF) {
        if (!str_starts(body, STR("k8s\0")))
            return unreadable(c,
                              STR("provided data does not appear to be a protobuf message, "
                                  "expected prefix [107 56 115 0]"),
                              body);
        if (api_proto_decode(body, &opts, &c->r.object, faults) < 0)
            return registry_refuse_faults(faults);
        api_object_default(c->r.object, c->s->opts.gates);
        return (struct registry_failure){.code = ERR_NONE};
    }
    struct registry_failure f = parse(c, format, body, &tree);
    return f.code ? f : registry_decode(&registry, &tree, &opts, &c->r.object, faults);
}

static struct registry_failure read_object(struct server__call *c, enum server_format format,
                                           struct str body) {
    const struct api_kind *kind = kind_of(c);
    struct api_faults faults;
    api_faults_init(&faults, &c->arena);
    struct registry_failure f = decode(c, format, body, kind, &faults);
    if (f.code)
        return f;
    if (c->r.options.field_validation == APISERVER_WARN)
        warn_of_faults(c, &faults);
    return check_kind(c, kind);
}

/* ---- options of a deletion ---- */

/* Any group's DeleteOptions will do. */
static struct registry_failure decode_delete(struct server__call *c, enum server_format format,
                                             struct str body, struct api_delete_options *options) {
    const struct api_type *type = &api_types[API_T_delete_options];
    struct api_proto_envelope envelope;
    struct api_faults faults;
    struct json tree;
    struct err err;
    api_faults_init(&faults, &c->arena);
    if (format == SERVER_PROTOBUF) {
        if (api_proto_open(body, &envelope, &err) < 0)
            return registry_bad_request(arena_str(&c->arena, str_of(err.msg)));
        if (api_proto_struct_decode(&c->arena, type, envelope.message, options, &faults) < 0)
            return registry_refuse_faults(&faults);
        return (struct registry_failure){.code = ERR_NONE};
    }
    struct registry_failure f = parse(c, format, body, &tree);
    if (!f.code && api_struct_decode(&c->arena, type, &tree, options, &faults) < 0)
        f = registry_refuse_faults(&faults);
    return f;
}

static struct registry_failure read_delete(struct server__call *c, enum server_format format,
                                           struct str body) {
    struct api_delete_options *options = arena_new(&c->arena, struct api_delete_options);
    struct registry_failure f = body.n ? decode_delete(c, format, body, options)
                                       : server_query_delete(&c->arena, &c->query, options);
    c->r.delete = options;
    c->r.options.dry_run = options->dry_run.n > 0;
    return f;
}

/* ---- patches ---- */

static struct registry_failure read_patch(struct server__call *c, struct str body) {
    struct json *tree = arena_new(&c->arena, struct json);
    bool is_yaml = c->r.patch_type == APISERVER_APPLY_PATCH;
    struct err err;
    int rc = is_yaml ? yml_parse(&c->arena, body, tree, &err)
                     : json_parse(&c->arena, body, &(struct json_opts){.allow_duplicates = true},
                                  tree, &err);
    c->r.patch = tree;
    c->r.patch_has_duplicates = !is_yaml;
    if (rc < 0 && !is_yaml)
        return registry_bad_request(STR("invalid JSON patch"));
    if (rc < 0)
        return registry_bad_request(arena_printf(&c->arena, "error decoding patch: %s", err.msg));
    return (struct registry_failure){.code = ERR_NONE};
}

bool server__body_read(struct server__call *c, struct str body) {
    struct str type = net_headers_find(net_exchange_request(c->x)->headers, STR("Content-Type"));
    enum server_format format = SERVER_JSON;
    struct registry_failure f;
    bool is_delete =
        c->r.verb == REGISTRY_VERB_DELETE || c->r.verb == REGISTRY_VERB_DELETE_COLLECTION;
    if (c->r.verb == REGISTRY_VERB_PATCH)
        f = read_patch(c, body);
    else if (!server_media_of_body(type, &format) && (body.n || !is_delete))
        f = (struct registry_failure){
            .code = ERR_MEDIA_TYPE,
            .message = STR("the body of the request was in an unknown format - accepted media "
                           "types include: application/json, application/yaml, "
                           "application/vnd.kubernetes.protobuf")};
    else
        f = is_delete ? read_delete(c, format, body) : read_object(c, format, body);
    if (f.code)
        return refuse(c, f);
    server__account_request(c);
    return true;
}
