/*
 * Tokens that are asked for: POST serviceaccounts/NAME/token.
 *
 * Follows k8s.io/kubernetes pkg/registry/core/serviceaccount/storage, func (*TokenREST) Create.
 * Follows k8s.io/kubernetes pkg/serviceaccount, func Claims.
 */
#include "auth/token_int.h"
#include "base/alloc.h"
#include "base/goquote.h"

/* Kubelets ask for this many seconds for tokens of pods; such tokens are good for a year, and tell
 * when they should have been replaced. */
enum { WARN_ONLY_SECONDS = 3607, EXTENDED_SECONDS = 365 * 24 * 3600 };

/* ---- signing ---- */

static void add_text(struct arena *a, struct json *of, const char *key, struct str text) {
    if (text.n)
        json_add(a, of, str_of(key), json_of_str(text));
}

static void add_reference(struct arena *a, struct json *of, const char *key, struct str name,
                          struct str uid) {
    if (!name.n)
        return;
    struct json *ref = json_add(a, of, str_of(key), (struct json){.kind = JSON_OBJECT});
    add_text(a, ref, "name", name);
    add_text(a, ref, "uid", uid);
}

static struct json private_claims(struct arena *a, const struct auth_claims *c) {
    struct json k = {.kind = JSON_OBJECT};
    json_add(a, &k, STR("namespace"), json_of_str(c->namespace));
    add_reference(a, &k, "node", c->node_name, c->node_uid);
    add_reference(a, &k, "pod", c->pod_name, c->pod_uid);
    add_reference(a, &k, "secret", c->secret_name, c->secret_uid);
    add_reference(a, &k, "serviceaccount", c->name, c->uid);
    if (c->warn_after)
        json_add(a, &k, STR("warnafter"), json_of_i64(c->warn_after));
    return k;
}

static struct json claims_of(struct arena *a, struct str issuer, const struct auth_claims *c) {
    struct json t = {.kind = JSON_OBJECT};
    struct json audiences = {.kind = JSON_ARRAY};
    for (size_t i = 0; i < c->audiences.n; i++)
        json_append(a, &audiences, json_of_str(c->audiences.v[i]));
    if (audiences.n)
        json_add(a, &t, STR("aud"), audiences);
    json_add(a, &t, STR("exp"), json_of_i64(c->expires));
    json_add(a, &t, STR("iat"), json_of_i64(c->issued));
    json_add(a, &t, STR("iss"), json_of_str(issuer));
    add_text(a, &t, "jti", c->id);
    json_add(a, &t, STR("kubernetes.io"), private_claims(a, c));
    json_add(a, &t, STR("nbf"), json_of_i64(c->issued));
    struct auth_user user = auth_service_account(a, c->namespace, c->name, c->uid);
    json_add(a, &t, STR("sub"), json_of_str(user.name));
    return t;
}

struct str auth_token_sign(const struct auth_issuer *issuer, struct arena *a,
                           const struct auth_claims *claims, struct err *err) {
    AUTO(buf_release) struct buf payload = BUF_INIT(SIZE_MAX);
    if (!issuer->names.n) {
        err_set(err, ERR_INTERNAL, "there is no issuer of tokens");
        return (struct str){0};
    }
    struct json tree = claims_of(a, issuer->names.v[0], claims);
    json_write(&payload, &tree, NULL);
    return auth__jwt_sign(issuer->keys, a, buf_view(&payload), err);
}

/* ---- failures ---- */

static const struct registry_failure none = {.code = ERR_NONE};

/* An object that shows another name, as upstream has it in these failures. */
static struct registry_failure invalid_named(struct arena *a, const struct api_object *request,
                                             struct str name, const struct valid_errs *errs) {
    const struct api_object_meta meta = {.name = name};
    struct api_object shown = *request;
    shown.meta = &meta;
    return registry_invalid(a, &shown, errs);
}

static struct registry_failure conflict(struct arena *a, struct str group, struct str kind,
                                        struct str name, struct str why) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    buf_addf(&text, "Operation cannot be fulfilled on %.*s%s%.*s ", STR_ARG(kind),
             group.n ? "." : "", STR_ARG(group));
    goquote_write(&text, name);
    buf_add(&text, STR(": "));
    buf_add(&text, why);
    return (struct registry_failure){.code = ERR_CONFLICT,
                                     .message = arena_str(a, buf_view(&text)),
                                     .group = group,
                                     .kind = kind,
                                     .name = name};
}

/* metadata.name and metadata.namespace must be those of the path, if they are there at all. */
static struct registry_failure mismatch(struct arena *a, const struct api_object *request,
                                        const char *member, struct str value, struct str name) {
    AUTO(buf_release) struct buf body = BUF_INIT(SIZE_MAX);
    struct str detail = arena_printf(a, "must match the service account %s if specified", member);
    buf_add(&body, STR("Invalid value: "));
    goquote_write(&body, value);
    buf_addf(&body, ": %.*s", STR_ARG(detail));
    struct valid_error *e = arena_new(a, struct valid_error);
    *e = (struct valid_error){.type = VALID_INVALID,
                              .field = arena_printf(a, "metadata.%s", member),
                              .body = arena_str(a, buf_view(&body)),
                              .detail = detail};
    e->text = arena_printf(a, "%.*s: %.*s", STR_ARG(e->field), STR_ARG(e->body));
    struct valid_errs *errs = arena_new(a, struct valid_errs);
    *errs = (struct valid_errs){.a = a, .v = e, .n = 1, .cap = 1, .found = 1};
    return invalid_named(a, request, name, errs);
}

/* ---- what a token is bound to ---- */

/* A request that is answered, and what is known of it so far. */
struct answer {
    const struct auth_issuer *issuer;
    struct arena *a;
    struct auth_token_call *call;
    const struct api_object *request;
    const struct api_token_request_spec *spec;
    struct auth_claims claims;
};

static void let_go(const struct api_object **o) {
    api_object_unref(*o);
}

static const struct api_object *find(const struct answer *w, enum api_type_id type,
                                     struct str namespace, struct str name) {
    const struct auth_objects *objects = &w->issuer->objects;
    return objects->get(objects->ctx, type, namespace, name);
}

static const struct api_kind *kind_of(enum api_type_id type) {
    for (const struct api_kind *k = api_kinds; k->kind; k++)
        if (k->type == &api_types[type])
            return k;
    BUG("a type without a kind");
}

/* The node of a pod, or only its name if there is no such node. */
static void note_node(struct answer *w, struct str name) {
    AUTO(let_go) const struct api_object *node = find(w, API_T_node, STR(""), name);
    w->claims.node_name = arena_str(w->a, name);
    if (node)
        w->claims.node_uid = arena_str(w->a, node->meta->uid);
}

static struct registry_failure bind_pod(struct answer *w, const struct api_object *pod) {
    const struct api_pod_spec *spec = &((const struct api_pod *)pod->body)->spec;
    if (!str_eq(spec->service_account_name, w->call->name)) {
        AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
        buf_add(&text, STR("cannot bind token for serviceaccount "));
        goquote_write(&text, w->call->name);
        buf_add(&text, STR(" to pod running with different serviceaccount name."));
        return registry_bad_request(arena_str(w->a, buf_view(&text)));
    }
    w->claims.pod_name = arena_str(w->a, pod->meta->name);
    w->claims.pod_uid = arena_str(w->a, pod->meta->uid);
    if (spec->node_name.n)
        note_node(w, spec->node_name);
    return none;
}

static struct registry_failure bind(struct answer *w, enum api_type_id type,
                                    const struct api_bound_object_reference *ref) {
    struct str namespace = type == API_T_node ? STR("") : w->call->namespace;
    AUTO(let_go) const struct api_object *o = find(w, type, namespace, ref->name);
    struct registry_failure f = none;
    if (!o)
        return registry_not_found(w->a, kind_of(type), ref->name);
    if (type == API_T_pod) {
        f = bind_pod(w, o);
    } else if (type == API_T_node) {
        note_node(w, o->meta->name);
    } else {
        w->claims.secret_name = arena_str(w->a, o->meta->name);
        w->claims.secret_uid = arena_str(w->a, o->meta->uid);
    }
    if (f.code || !ref->uid.n || str_eq(ref->uid, o->meta->uid))
        return f;
    return conflict(w->a, STR(""), ref->kind, ref->name,
                    arena_printf(w->a,
                                 "the UID in the bound object reference (%.*s) does not match the "
                                 "UID in record. The object might have been deleted and then "
                                 "recreated",
                                 STR_ARG(ref->uid)));
}

/* Group and version of an apiVersion; both empty when it is none. */
static void split_version(struct str api_version, struct str *group, struct str *version) {
    struct str rest;
    *group = STR("");
    *version = api_version;
    if (!str_cut(api_version, '/', group, &rest)) {
        *group = STR("");
        return;
    }
    *version = rest;
    if (str_find_char(rest, '/') != STR_NONE)
        *group = *version = STR("");
}

static struct registry_failure refuse_type(const struct answer *w,
                                           const struct api_bound_object_reference *ref,
                                           struct str group, struct str version) {
    bool is_webhook = str_is(ref->api_version, "admissionregistration.k8s.io/v1") &&
                      (str_is(ref->kind, "ValidatingWebhookConfiguration") ||
                       str_is(ref->kind, "MutatingWebhookConfiguration"));
    return registry_bad_request(arena_printf(
        w->a, "cannot bind token to object of type %.*s/%.*s, Kind=%.*s%s", STR_ARG(group),
        STR_ARG(version), STR_ARG(ref->kind),
        is_webhook ? " (feature gate APIServerWebhookAuthenticationToken is disabled)" : ""));
}

static struct registry_failure bind_reference(struct answer *w) {
    static const struct {
        const char *kind;
        enum api_type_id type;
    } types[] = {{"Pod", API_T_pod}, {"Node", API_T_node}, {"Secret", API_T_secret}};
    const struct api_bound_object_reference *ref = w->spec->bound_object_ref;
    struct str group, version;
    if (!ref)
        return none;
    split_version(ref->api_version, &group, &version);
    for (size_t i = 0; !group.n && i < sizeof types / sizeof *types; i++)
        if (str_is(ref->kind, types[i].kind))
            return bind(w, types[i].type, ref);
    return refuse_type(w, ref, group, version);
}

/* ---- the request ---- */

static struct registry_failure check_names(const struct answer *w) {
    const struct api_object_meta *m = w->request->meta;
    if (m->name.n && !str_eq(m->name, w->call->name))
        return mismatch(w->a, w->request, "name", m->name, w->call->name);
    if (m->namespace.n && !str_eq(m->namespace, w->call->namespace))
        return mismatch(w->a, w->request, "namespace", m->namespace, w->call->name);
    return none;
}

static struct registry_failure check_uid(const struct answer *w, struct str uid) {
    struct str asked = w->request->meta->uid;
    if (!asked.n || str_eq(asked, uid))
        return none;
    return conflict(w->a, STR("authentication.k8s.io"), STR("TokenRequest"), w->call->name,
                    arena_printf(w->a,
                                 "the UID in the token request (%.*s) does not match the UID of "
                                 "the service account (%.*s)",
                                 STR_ARG(asked), STR_ARG(uid)));
}

/* Fills what the request leaves out. */
static void fill(struct answer *w, struct api_object *request, const struct api_object *account) {
    struct api_authentication_token_request *body = api_own_body(request);
    struct api_object_meta *m = api_own_meta(request);
    struct arena *a = &request->arena;
    m->name = arena_str(a, account->meta->name);
    m->namespace = arena_str(a, account->meta->namespace);
    m->uid = arena_str(a, account->meta->uid);
    m->creation_timestamp = (struct api_time){.sec = w->call->now, .set = true};
    body->status = (struct api_token_request_status){0};
    if (body->spec.audiences.n)
        return;
    const struct api_strs *own = &w->issuer->audiences;
    body->spec.audiences = (struct api_strs){.v = arena_array(a, struct str, own->n), .n = own->n};
    for (size_t i = 0; i < own->n; i++)
        body->spec.audiences.v[i] = arena_str(a, own->v[i]);
}

static struct registry_failure check_spec(const struct answer *w) {
    struct valid_errs *errs = arena_new(w->a, struct valid_errs);
    *errs = VALID_ERRS_INIT(w->a);
    valid_token_request(w->spec, errs);
    return errs->n ? invalid_named(w->a, w->request, STR(""), errs) : none;
}

/* Is every audience one of the server's own? */
static bool is_for_server(const struct answer *w) {
    return auth__audiences(w->a, &w->issuer->audiences, &w->spec->audiences).n ==
           w->spec->audiences.n;
}

/* How long the token lasts: what is asked for, but no longer than allowed. */
static void set_times(struct answer *w, struct api_token_request_spec *spec) {
    int64_t *seconds = &spec->expiration_seconds.v, most = w->call->most_seconds;
    w->call->warning = STR("");
    if (most > 0 && *seconds > most) {
        w->call->warning =
            arena_printf(w->a, "requested expiration of %lld seconds shortened to %lld seconds",
                         (long long)*seconds, (long long)most);
        *seconds = most;
    }
    w->claims.issued = w->call->now;
    w->claims.expires = w->call->now + *seconds;
    if (!w->call->extends || !w->claims.pod_name.n || *seconds != WARN_ONLY_SECONDS ||
        !is_for_server(w))
        return;
    w->claims.warn_after = w->claims.expires;
    w->claims.expires = w->call->now + EXTENDED_SECONDS;
}

static struct registry_failure sign(struct answer *w, struct api_object *request) {
    struct api_authentication_token_request *body = api_own_body(request);
    struct err err = {0};
    set_times(w, &body->spec);
    w->claims.namespace = request->meta->namespace;
    w->claims.name = request->meta->name;
    w->claims.uid = request->meta->uid;
    w->claims.id = w->call->id;
    w->claims.audiences = body->spec.audiences;
    struct str token = auth_token_sign(w->issuer, w->a, &w->claims, &err);
    if (!token.p)
        return (struct registry_failure){
            .code = ERR_INTERNAL,
            .message = arena_printf(w->a, "Internal error occurred: %s", err.msg)};
    body->status.token = arena_str(&request->arena, token);
    body->status.expiration_timestamp =
        (struct api_time){.sec = w->call->now + body->spec.expiration_seconds.v, .set = true};
    return none;
}

struct registry_failure auth_token_request(const struct auth_issuer *issuer, struct arena *a,
                                           struct auth_token_call *call,
                                           struct api_object *request) {
    const struct api_authentication_token_request *body = request->body;
    struct answer w = {
        .issuer = issuer, .a = a, .call = call, .request = request, .spec = &body->spec};
    struct registry_failure f = check_names(&w);
    if (f.code)
        return f;
    AUTO(let_go)
    const struct api_object *account = find(&w, API_T_service_account, call->namespace, call->name);
    if (!account)
        return registry_not_found(a, kind_of(API_T_service_account), call->name);
    f = check_uid(&w, account->meta->uid);
    if (f.code)
        return f;
    fill(&w, request, account);
    f = check_spec(&w);
    if (!f.code)
        f = bind_reference(&w);
    return f.code ? f : sign(&w, request);
}
