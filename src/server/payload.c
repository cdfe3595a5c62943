/*
 * Bodies: an object, a patch, or the options of a deletion.
 *
 * Follows k8s.io/apiserver pkg/endpoints/handlers, func transformDecodeError.
 */
#include <string.h>

#include "api/proto.h"
#include "codec/yml.h"
#include "server/server_int.h"

static bool refuse(struct server__call *c, struct registry_failure f) {
    server__answer_failure(c, f);
    return false;
}

static bool is_deletion(const struct server__call *c) {
    return c->r.verb == REGISTRY_VERB_DELETE || c->r.verb == REGISTRY_VERB_DELETE_COLLECTION;
}

struct registry_failure server__options_read(struct server__call *c) {
    bool is_apply = c->r.verb == REGISTRY_VERB_PATCH && c->r.patch_type == APISERVER_APPLY_PATCH;
    return server_query_options(&c->arena, &c->query, c->r.verb, is_apply, &c->r.options);
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

/* The options of a deletion are refused with the reason alone. */
static struct registry_failure unreadable(struct server__call *c, struct str why, struct str body) {
    if (is_deletion(c))
        return registry_bad_request(why);
    return registry_bad_request(arena_printf(
        &c->arena, "the object provided is unrecognized (must be of type %s): %.*s (%.*s)",
        kind_of(c)->kind, STR_ARG(why), STR_ARG(summary_of(&c->arena, body))));
}

/* Repeated keys are kept, to be told of; those of YAML are told. */
static struct registry_failure parse(struct server__call *c, enum server_format format,
                                     struct str body, struct json *out,
                                     struct yml_repeats *repeats) {
    bool is_yaml = format == SERVER_YAML;
    struct err err;
    int rc = is_yaml ? yml_parse_body(&c->arena, body, out, repeats, &err)
                     : json_parse(&c->arena, body, &(struct json_opts){.allow_duplicates = true},
                                  out, &err);
    if (rc < 0)
        return unreadable(
            c,
            arena_printf(&c->arena, "%s%s",
                         is_yaml ? "" : "couldn't get version/kind; json parse error: ", err.msg),
            body);
    if (out->kind == JSON_NULL)
        *out = (struct json){.kind = JSON_OBJECT};
    if (out->kind != JSON_OBJECT)
        return unreadable(c, api_text_without_kind(&c->arena, out), body);
    return (struct registry_failure){.code = ERR_NONE};
}

/* ---- objects ---- */

static void add_warnings(struct server__call *c, struct api_strs more) {
    struct api_strs all = {arena_array(&c->arena, struct str, c->warnings.n + more.n), 0};
    for (size_t i = 0; i < c->warnings.n; i++)
        all.v[all.n++] = c->warnings.v[i];
    for (size_t i = 0; i < more.n; i++)
        all.v[all.n++] = more.v[i];
    c->warnings = all;
}

static void warn_of_faults(struct server__call *c, const struct api_faults *faults) {
    struct api_strs texts = {arena_array(&c->arena, struct str, faults->n), faults->n};
    for (size_t i = 0; i < faults->n; i++)
        texts.v[i] = faults->v[i].text;
    add_warnings(c, texts);
}

/* What failures about the whole object begin with. */
static struct str subject_of(struct server__call *c) {
    const struct api_object *o = c->r.object;
    struct str full = o->names->api_version, group = registry_group_of(full);
    struct str version = str_sub(full, group.n ? group.n + 1 : 0, full.n);
    return arena_printf(&c->arena, "%.*s in version \"%.*s\" cannot be handled as a %s",
                        STR_ARG(o->names->kind), STR_ARG(version), kind_of(c)->kind);
}

/* All repeated keys of YAML are one fault, in front of the others. */
static struct registry_failure refuse_strictly(struct server__call *c,
                                               const struct yml_repeats *repeats,
                                               struct api_faults *faults) {
    if (!repeats->n)
        return registry_refuse_faults(faults);
    struct api_fault first = {
        .kind = API_FAULT_DUPLICATE,
        .text = apiserver_repeats_text(&c->arena, (struct api_strs){repeats->v, repeats->n})};
    memmove(&faults->v[1], &faults->v[0], faults->n * sizeof faults->v[0]);
    faults->v[0] = first;
    faults->n++;
    faults->subject = subject_of(c);
    return registry_refuse_faults(faults);
}

/* Of another kind or version than the path. */
static struct registry_failure check_kind(struct server__call *c, const struct api_kind *want) {
    const struct api_object *o = c->r.object;
    bool is_eviction = o->kind && o->type == &api_types[API_T_eviction] && o->type == want->type;
    if (o->kind == want || is_eviction) /* any version of it will do */
        return (struct registry_failure){.code = ERR_NONE};
    struct str full = o->names->api_version;
    if (str_is(o->names->kind, want->kind) && api_kind_find(full, o->names->kind))
        return registry_bad_request(arena_printf(
            &c->arena,
            "the API version in the data (%.*s) does not match the expected API version (%s)",
            STR_ARG(full), want->api_version));
    return registry_bad_request(arena_printf(&c->arena, "%.*s: %.*s", STR_ARG(subject_of(c)),
                                             STR_ARG(registry_no_conversion(&c->arena, o, want))));
}

static struct registry_failure decode_proto(struct server__call *c, struct str body,
                                            const struct api_decode_opts *opts,
                                            struct api_faults *faults) {
    if (!body.n)
        return unreadable(c, STR("empty data"), body);
    if (!str_starts(body, STR("k8s\0")))
        return unreadable(c,
                          STR("provided data does not appear to be a protobuf message, "
                              "expected prefix [107 56 115 0]"),
                          body);
    if (api_proto_decode(body, opts, &c->r.object, faults) < 0)
        return registry_refuse_faults(faults);
    api_object_default(c->r.object, c->s->opts.gates);
    return (struct registry_failure){.code = ERR_NONE};
}

/* Of fields that nobody knows, those of another kind are not told. */
static struct registry_failure decode(struct server__call *c, enum server_format format,
                                      struct str body, struct yml_repeats *repeats,
                                      struct api_faults *faults) {
    const struct api_kind *kind = kind_of(c);
    struct registry registry = {.gates = c->s->opts.gates};
    struct api_decode_opts opts = {.api_version = str_of(kind->api_version),
                                   .kind = str_of(kind->kind),
                                   .duplicates = true,
                                   .known_only = true};
    struct json tree;
    if (format == SERVER_PROTOBUF)
        return decode_proto(c, body, &opts, faults);
    struct registry_failure f = parse(c, format, body, &tree, repeats);
    return f.code ? f : registry_decode(&registry, &tree, &opts, &c->r.object, faults);
}

static struct registry_failure read_object(struct server__call *c, enum server_format format,
                                           struct str body) {
    struct yml_repeats repeats = {0};
    struct api_faults faults;
    api_faults_init(&faults, &c->arena);
    struct registry_failure f = decode(c, format, body, &repeats, &faults);
    if (!f.code)
        f = check_kind(c, kind_of(c));
    if (f.code || (!faults.n && !repeats.n))
        return f;
    if (c->r.options.field_validation == APISERVER_STRICT)
        return refuse_strictly(c, &repeats, &faults);
    if (c->r.options.field_validation == APISERVER_WARN) {
        add_warnings(c, (struct api_strs){repeats.v, repeats.n});
        warn_of_faults(c, &faults);
    }
    return f;
}

/* ---- options of a deletion ---- */

static struct str text_member(const struct json *tree, struct str name) {
    const struct json *v = json_get(tree, name);
    return v && v->kind == JSON_STRING ? json_str(v) : STR("");
}

/* Any group's DeleteOptions will do, and so will what does not say what it is. */
static struct registry_failure check_delete_kind(struct server__call *c, const struct json *tree) {
    struct str kind = text_member(tree, STR("kind")),
               version = text_member(tree, STR("apiVersion"));
    if (!kind.n || str_is(kind, "DeleteOptions"))
        return (struct registry_failure){.code = ERR_NONE};
    if (str_is(kind, "Status") && str_is(version, "v1"))
        return registry_bad_request(
            STR("converting (v1.Status) to (v1.DeleteOptions): unknown conversion"));
    return registry_bad_request(
        arena_printf(&c->arena,
                     "no kind \"%.*s\" is registered for version \"%.*s\" in scheme "
                     "\"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/"
                     "register.go:27\"",
                     STR_ARG(kind), STR_ARG(version.n ? version : STR("v1"))));
}

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
    struct yml_repeats repeats;
    struct registry_failure f = parse(c, format, body, &tree, &repeats);
    if (!f.code)
        f = check_delete_kind(c, &tree);
    if (!f.code && api_struct_decode(&c->arena, type, &tree, options, &faults) < 0)
        f = registry_refuse_faults(&faults);
    return f;
}

/* Options that break rules are refused before the object is looked for. */
static struct registry_failure check_delete(struct server__call *c,
                                            const struct api_delete_options *options) {
    struct valid_errs *errs = arena_new(&c->arena, struct valid_errs);
    *errs = VALID_ERRS_INIT(&c->arena);
    valid_delete_options(options, errs);
    return errs->n ? registry_invalid_options(&c->arena, STR("DeleteOptions"), errs)
                   : (struct registry_failure){.code = ERR_NONE};
}

static struct registry_failure read_delete(struct server__call *c, enum server_format format,
                                           struct str body) {
    struct api_delete_options *options = arena_new(&c->arena, struct api_delete_options);
    struct registry_failure f = body.n ? decode_delete(c, format, body, options)
                                       : server_query_delete(&c->arena, &c->query, options);
    c->r.delete = options;
    c->r.options.dry_run = options->dry_run.n > 0;
    return f.code ? f : check_delete(c, options);
}

/* ---- patches ---- */

static struct registry_failure read_patch(struct server__call *c, struct str body) {
    struct json *tree = arena_new(&c->arena, struct json);
    bool is_yaml = c->r.patch_type == APISERVER_APPLY_PATCH;
    struct err err;
    struct yml_repeats repeats = {0};
    int rc = is_yaml ? yml_parse_body(&c->arena, body, tree, &repeats, &err)
                     : json_parse(&c->arena, body, &(struct json_opts){.allow_duplicates = true},
                                  tree, &err);
    c->r.patch = tree;
    c->r.patch_has_duplicates = !is_yaml;
    c->r.patch_repeats = (struct api_strs){repeats.v, repeats.n};
    if (rc < 0 && !is_yaml)
        return registry_bad_request(STR("invalid JSON patch"));
    if (rc < 0)
        return registry_bad_request(arena_printf(
            &c->arena, "error decoding patch: error converting YAML to JSON: %s", err.msg));
    if (is_yaml && tree->kind != JSON_OBJECT && tree->kind != JSON_NULL)
        return registry_bad_request(arena_printf(
            &c->arena, "error decoding patch: error unmarshaling JSON: while decoding JSON: %.*s",
            STR_ARG(api_text_no_object(&c->arena, tree, "map[string]interface {}"))));
    return (struct registry_failure){.code = ERR_NONE};
}

static struct registry_failure check_media(struct server__call *c, enum server_format *format) {
    struct str type = net_headers_find(net_exchange_request(c->x)->headers, STR("Content-Type"));
    if (server_media_of_body(type, format))
        return (struct registry_failure){.code = ERR_NONE};
    return (struct registry_failure){
        .code = ERR_MEDIA_TYPE,
        .message = STR("the body of the request was in an unknown format - accepted media "
                       "types include: application/json, application/yaml, "
                       "application/vnd.kubernetes.protobuf")};
}

/* ---- what each verb reads, in upstream's order ---- */

typedef struct registry_failure read_fn(struct server__call *c, struct str body);

static struct registry_failure read_creation(struct server__call *c, struct str body) {
    enum server_format format;
    struct registry_failure f = check_media(c, &format);
    if (!f.code)
        f = server__options_read(c);
    return f.code ? f : read_object(c, format, body);
}

static struct registry_failure read_update(struct server__call *c, struct str body) {
    enum server_format format;
    struct registry_failure f = server__options_read(c);
    if (!f.code)
        f = check_media(c, &format);
    return f.code ? f : read_object(c, format, body);
}

static struct registry_failure read_patching(struct server__call *c, struct str body) {
    struct registry_failure f = server__options_read(c);
    return f.code ? f : read_patch(c, body);
}

static struct registry_failure read_deletion(struct server__call *c, struct str body) {
    enum server_format format = SERVER_JSON;
    struct registry_failure f = {.code = ERR_NONE};
    if (body.n)
        f = check_media(c, &format);
    return f.code ? f : read_delete(c, format, body);
}

bool server__body_read(struct server__call *c, struct str body) {
    static read_fn *const readers[REGISTRY_VERB_COUNT] = {
        [REGISTRY_VERB_CREATE] = read_creation,
        [REGISTRY_VERB_UPDATE] = read_update,
        [REGISTRY_VERB_PATCH] = read_patching,
        [REGISTRY_VERB_DELETE] = read_deletion,
        [REGISTRY_VERB_DELETE_COLLECTION] = read_deletion,
    };
    struct registry_failure f = readers[c->r.verb](c, body);
    if (f.code)
        return refuse(c, f);
    server__account_request(c);
    return true;
}
