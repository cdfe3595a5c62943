/*
 * Tokens of service accounts: what they say, and whether all they are bound to is still there.
 *
 * Follows k8s.io/kubernetes pkg/serviceaccount, func (*jwtTokenAuthenticator) AuthenticateToken,
 * func (*validator) Validate, func (*legacyValidator) Validate.
 */
#include <math.h>
#include <openssl/crypto.h>

#include "auth/token_int.h"
#include "base/goquote.h"

#define LEGACY_ISSUER "kubernetes/serviceaccount"
#define LEGACY_CLAIM  "kubernetes.io/serviceaccount/"

enum { LEEWAY = 60 }; /* seconds that clocks may differ */

/* ---- claims ---- */

/* A moment, if the token tells it. */
struct moment {
    bool set;
    int64_t seconds;
};

/* An object that the token is bound to. */
struct reference {
    bool set;
    struct str name, uid;
};

struct claims {
    struct str issuer, subject, id;
    struct api_strs audiences;
    struct moment expires, not_before, issued;
    /* of bound tokens */
    struct str namespace;
    struct reference account, pod, secret, node;
    bool of_webhook;
    /* of those in Secrets */
    struct str legacy_namespace, legacy_secret, legacy_name, legacy_uid;
};

/* Numbers that are none of int64 become the least one, as the processor's own conversion has it. */
static bool read_moment(const struct json *claims, const char *name, struct moment *out) {
    const struct json *v = json_get(claims, str_of(name));
    if (!v || v->kind == JSON_NULL)
        return true;
    if (v->kind != JSON_INT && v->kind != JSON_UINT && v->kind != JSON_FLOAT)
        return false;
    double d = json_double(v);
    bool fits = d >= -0x1p63 && d < 0x1p63;
    *out = (struct moment){.set = true, .seconds = fits ? (int64_t)d : INT64_MIN};
    return isfinite(d);
}

static bool read_audiences(struct arena *a, const struct json *claims, struct api_strs *out) {
    const struct json *v = json_get(claims, STR("aud"));
    if (!v || v->kind == JSON_STRING) {
        out->n = v ? 1 : 0;
        out->v = arena_array(a, struct str, 1);
        out->v[0] = v ? json_str(v) : STR("");
        return true;
    }
    if (v->kind != JSON_ARRAY)
        return false;
    out->v = arena_array(a, struct str, v->n);
    for (; out->n < v->n; out->n++) {
        if (v->items[out->n].kind != JSON_STRING)
            return false;
        out->v[out->n] = json_str(&v->items[out->n]);
    }
    return true;
}

static bool read_reference(const struct json *of, const char *name, struct reference *out) {
    const struct json *v = json_get(of, str_of(name));
    out->set = v && v->kind == JSON_OBJECT;
    if (v && v->kind != JSON_OBJECT && v->kind != JSON_NULL)
        return false;
    return auth__claim_text(v, "name", &out->name) && auth__claim_text(v, "uid", &out->uid);
}

static bool read_bound(const struct json *claims, struct claims *c) {
    const struct json *v = json_get(claims, STR("kubernetes.io"));
    struct reference webhook = {0}, other = {0};
    struct moment warn;
    if (v && v->kind != JSON_OBJECT && v->kind != JSON_NULL)
        return false;
    bool good = auth__claim_text(v, "namespace", &c->namespace) &&
                read_reference(v, "serviceaccount", &c->account) &&
                read_reference(v, "pod", &c->pod) && read_reference(v, "secret", &c->secret) &&
                read_reference(v, "node", &c->node) &&
                read_reference(v, "validatingwebhookconfiguration", &webhook) &&
                read_reference(v, "mutatingwebhookconfiguration", &other) &&
                read_moment(v, "warnafter", &warn);
    c->of_webhook = webhook.set || other.set;
    return good;
}

static bool read_legacy(const struct json *claims, struct claims *c) {
    return auth__claim_text(claims, LEGACY_CLAIM "namespace", &c->legacy_namespace) &&
           auth__claim_text(claims, LEGACY_CLAIM "secret.name", &c->legacy_secret) &&
           auth__claim_text(claims, LEGACY_CLAIM "service-account.name", &c->legacy_name) &&
           auth__claim_text(claims, LEGACY_CLAIM "service-account.uid", &c->legacy_uid);
}

static bool read_claims(struct arena *a, const struct json *claims, bool is_legacy,
                        struct claims *c) {
    return auth__claim_text(claims, "iss", &c->issuer) &&
           auth__claim_text(claims, "sub", &c->subject) &&
           auth__claim_text(claims, "jti", &c->id) && read_audiences(a, claims, &c->audiences) &&
           read_moment(claims, "exp", &c->expires) && read_moment(claims, "nbf", &c->not_before) &&
           read_moment(claims, "iat", &c->issued) &&
           (is_legacy ? read_legacy(claims, c) : read_bound(claims, c));
}

/* ---- answers ---- */

static struct auth_answer refuse(struct str why) {
    return (struct auth_answer){.outcome = AUTH_REFUSED, .why = why};
}

/* Nothing is wrong so far. */
static const struct auth_answer fine = {.outcome = AUTH_KNOWN};

/* One check of a token, and what all of them need. */
struct check {
    const struct auth_issuer *issuer;
    struct arena *a;
    int64_t now;
    const struct claims *claims;
};

static const struct api_object *find(const struct check *c, enum api_type_id type,
                                     struct str namespace, struct str name) {
    const struct auth_objects *objects = &c->issuer->objects;
    return objects->get(objects->ctx, type, namespace, name);
}

static void let_go(const struct api_object **o) {
    api_object_unref(*o);
}

/* Has the object been marked for deletion for longer than clocks may differ? */
static bool is_long_gone(const struct check *c, const struct api_object *o) {
    const struct api_time *at = &o->meta->deletion_timestamp;
    return at->set && at->sec < c->now - LEEWAY;
}

/* ---- bound tokens ---- */

static struct auth_answer check_times(const struct check *c) {
    const struct claims *t = c->claims;
    if (t->not_before.set && c->now + LEEWAY < t->not_before.seconds)
        return refuse(STR("service account token is not valid yet"));
    if (t->expires.set && c->now - LEEWAY > t->expires.seconds)
        return refuse(STR("service account token has expired"));
    if (t->issued.set && c->now + LEEWAY < t->issued.seconds)
        return refuse(STR("service account token is issued in the future"));
    return fine;
}

static struct auth_answer refuse_uid(const struct check *c, const char *what, struct str uid,
                                     const char *whose, struct str claim) {
    return refuse(arena_printf(c->a, "%s UID (%.*s) does not match %sclaim (%.*s)", what,
                               STR_ARG(uid), whose, STR_ARG(claim)));
}

static struct auth_answer check_account(const struct check *c) {
    const struct claims *t = c->claims;
    AUTO(let_go)
    const struct api_object *o = find(c, API_T_service_account, t->namespace, t->account.name);
    if (!o) {
        AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
        buf_add(&text, STR("serviceaccounts "));
        goquote_write(&text, t->account.name);
        buf_add(&text, STR(" not found"));
        return refuse(arena_str(c->a, buf_view(&text)));
    }
    if (!str_eq(o->meta->uid, t->account.uid))
        return refuse_uid(c, "service account", o->meta->uid, "", t->account.uid);
    if (is_long_gone(c, o))
        return refuse(arena_printf(c->a, "service account %.*s/%.*s has been deleted",
                                   STR_ARG(t->namespace), STR_ARG(t->account.name)));
    return fine;
}

/* Anything else that a token is bound to. */
static struct auth_answer check_reference(const struct check *c, enum api_type_id type,
                                          const char *what, const struct reference *ref) {
    if (!ref->set)
        return fine;
    struct str namespace = type == API_T_node ? STR("") : c->claims->namespace;
    AUTO(let_go) const struct api_object *o = find(c, type, namespace, ref->name);
    if (!o)
        return refuse(STR("service account token has been invalidated"));
    struct str whose = arena_printf(c->a, "service account %s ref ", what);
    if (!str_eq(o->meta->uid, ref->uid))
        return refuse_uid(c, what, o->meta->uid, whose.p, ref->uid);
    if (is_long_gone(c, o))
        return refuse(STR("service account token has been invalidated"));
    return fine;
}

static struct auth_answer check_bound(const struct check *c) {
    static const struct reference none = {0};
    const struct claims *t = c->claims;
    struct auth_answer answer = check_times(c);
    if (answer.outcome == AUTH_KNOWN)
        answer = check_account(c);
    if (answer.outcome == AUTH_KNOWN)
        answer = check_reference(c, API_T_secret, "secret", &t->secret);
    if (answer.outcome == AUTH_KNOWN)
        answer = check_reference(c, API_T_pod, "pod", &t->pod);
    if (answer.outcome == AUTH_KNOWN) /* the node of a pod need not be there any more */
        answer = check_reference(c, API_T_node, "node", t->pod.set ? &none : &t->node);
    if (answer.outcome == AUTH_KNOWN && t->of_webhook)
        answer = refuse(STR("feature gate \"APIServerWebhookAuthenticationToken\" is disabled, "
                            "but token is webhook bound"));
    return answer;
}

static struct auth_user bound_user(const struct check *c) {
    const struct claims *t = c->claims;
    struct auth_user user =
        auth_service_account(c->a, t->namespace, t->account.name, t->account.uid);
    if (t->pod.name.n && t->pod.uid.n) {
        auth_user_note(c->a, &user, STR(AUTH_EXTRA_POD_NAME), t->pod.name);
        auth_user_note(c->a, &user, STR(AUTH_EXTRA_POD_UID), t->pod.uid);
    }
    if (t->id.n)
        auth_user_note(c->a, &user, STR(AUTH_EXTRA_CREDENTIAL_ID),
                       arena_printf(c->a, "JTI=%.*s", STR_ARG(t->id)));
    if (t->node.name.n) {
        auth_user_note(c->a, &user, STR(AUTH_EXTRA_NODE_NAME), t->node.name);
        if (t->node.uid.n)
            auth_user_note(c->a, &user, STR(AUTH_EXTRA_NODE_UID), t->node.uid);
    }
    return user;
}

/* ---- tokens that are kept in Secrets ---- */

static struct auth_answer check_legacy_claims(const struct check *c) {
    const struct claims *t = c->claims;
    const struct {
        struct str text;
        const char *name;
    } needed[] = {{t->subject, "sub"},
                  {t->legacy_namespace, "namespace"},
                  {t->legacy_secret, "secretName"},
                  {t->legacy_name, "serviceAccountName"},
                  {t->legacy_uid, "serviceAccountUID"}};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!needed[i].text.n)
            return refuse(arena_printf(c->a, "%s claim is missing", needed[i].name));
    struct str namespace, name;
    if (!auth_service_account_split(t->subject, &namespace, &name) ||
        !str_eq(namespace, t->legacy_namespace) || !str_eq(name, t->legacy_name))
        return refuse(STR("sub claim is invalid"));
    return fine;
}

static bool holds_token(const struct api_object *secret, struct str token) {
    const struct label *kept =
        labels_find(&((const struct api_secret *)secret->body)->data, STR("token"));
    return kept && kept->value.n == token.n && CRYPTO_memcmp(kept->value.p, token.p, token.n) == 0;
}

static struct auth_answer check_legacy_account(const struct check *c) {
    const struct claims *t = c->claims;
    AUTO(let_go)
    const struct api_object *o =
        find(c, API_T_service_account, t->legacy_namespace, t->legacy_name);
    if (!o)
        return refuse(
            arena_printf(c->a, "serviceaccounts \"%.*s\" not found", STR_ARG(t->legacy_name)));
    if (o->meta->deletion_timestamp.set)
        return refuse(arena_printf(c->a, "ServiceAccount %.*s/%.*s has been deleted",
                                   STR_ARG(t->legacy_namespace), STR_ARG(t->legacy_name)));
    if (!str_eq(o->meta->uid, t->legacy_uid))
        return refuse_uid(c, "ServiceAccount", o->meta->uid, "", t->legacy_uid);
    struct auth_answer answer = fine;
    const struct api_service_account *account = o->body;
    for (size_t i = 0; i < account->secrets.n; i++)
        if (str_eq(account->secrets.v[i].name, t->legacy_secret))
            answer.warning =
                STR("Use tokens from the TokenRequest API or manually created secret-based tokens "
                    "instead of auto-generated secret-based tokens.");
    return answer;
}

static struct auth_answer refuse_marked(const struct check *c) {
    const struct claims *t = c->claims;
    return refuse(arena_printf(
        c->a,
        "the token in secret %.*s/%.*s for service account %.*s/%.*s has been marked invalid. Use "
        "tokens from the TokenRequest API or manually created secret-based tokens, or remove the "
        "'kubernetes.io/legacy-token-invalid-since' label from the secret to temporarily allow "
        "use of this token",
        STR_ARG(t->legacy_namespace), STR_ARG(t->legacy_secret), STR_ARG(t->legacy_namespace),
        STR_ARG(t->legacy_name)));
}

static struct auth_answer check_legacy(const struct check *c, struct str token) {
    const struct claims *t = c->claims;
    struct auth_answer answer = check_legacy_claims(c);
    if (answer.outcome != AUTH_KNOWN)
        return answer;
    AUTO(let_go)
    const struct api_object *secret = find(c, API_T_secret, t->legacy_namespace, t->legacy_secret);
    if (!secret || secret->meta->deletion_timestamp.set)
        return refuse(STR("Token has been invalidated"));
    if (!holds_token(secret, token))
        return refuse(STR("Token does not match server's copy"));
    answer = check_legacy_account(c);
    const struct label *marked =
        labels_find(&secret->meta->labels, STR("kubernetes.io/legacy-token-invalid-since"));
    return answer.outcome == AUTH_KNOWN && marked && marked->value.n ? refuse_marked(c) : answer;
}

/* ---- audiences ---- */

static bool has(const struct api_strs *list, struct str text) {
    for (size_t i = 0; i < list->n; i++)
        if (str_eq(list->v[i], text))
            return true;
    return false;
}

struct api_strs auth__audiences(struct arena *a, const struct api_strs *of,
                                const struct api_strs *wanted) {
    struct api_strs both = {.v = arena_array(a, struct str, wanted->n)};
    for (size_t i = 0; i < wanted->n; i++)
        if (has(of, wanted->v[i]))
            both.v[both.n++] = wanted->v[i];
    return both;
}

static void write_list(struct buf *out, const struct api_strs *list) {
    buf_add_char(out, '[');
    for (size_t i = 0; i < list->n; i++) {
        if (i)
            buf_add_char(out, ' ');
        goquote_write(out, list->v[i]);
    }
    buf_add_char(out, ']');
}

static struct auth_answer refuse_audiences(struct arena *a, const struct api_strs *said,
                                           const struct api_strs *wanted) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    buf_add(&text, STR("token audiences "));
    write_list(&text, said);
    buf_add(&text, STR(" is invalid for the target audiences "));
    write_list(&text, wanted);
    return refuse(arena_str(a, buf_view(&text)));
}

/* ---- all of it ---- */

static struct auth_answer check_claims(const struct check *c, bool is_legacy, struct str token,
                                       const struct api_strs *wanted) {
    const struct claims *t = c->claims;
    const struct api_strs *own = &c->issuer->audiences;
    const struct api_strs *said = t->audiences.n ? &t->audiences : own;
    wanted = wanted && wanted->n ? wanted : own;
    struct api_strs audiences = auth__audiences(c->a, said, wanted);
    if (!audiences.n && own->n)
        return refuse_audiences(c->a, said, wanted);
    struct auth_answer answer = is_legacy ? check_legacy(c, token) : check_bound(c);
    if (answer.outcome != AUTH_KNOWN)
        return answer;
    answer.audiences = audiences;
    answer.user =
        is_legacy ? auth_service_account(c->a, t->legacy_namespace, t->legacy_name, t->legacy_uid)
                  : bound_user(c);
    return answer;
}

struct auth_answer auth__service_account_check(const struct auth_issuer *issuer, struct arena *a,
                                               struct str token, const struct api_strs *audiences,
                                               int64_t now) {
    struct auth__jwt t = {0};
    struct claims claims = {0};
    struct str name, why;
    if (!auth__jwt_split(a, token, &t) || !auth__claim_text(&t.claims, "iss", &name))
        return (struct auth_answer){.outcome = AUTH_NOBODY};
    bool is_legacy = str_is(name, LEGACY_ISSUER);
    if (!is_legacy && !has(&issuer->names, name))
        return (struct auth_answer){.outcome = AUTH_NOBODY};
    if (!auth__jwt_verify(issuer->keys, &t, &why))
        return refuse(why);
    if (!read_claims(a, &t.claims, is_legacy, &claims))
        return refuse(STR("the claims of the token cannot be read"));
    struct check c = {.issuer = issuer, .a = a, .now = now, .claims = &claims};
    return check_claims(&c, is_legacy, token, audiences);
}
