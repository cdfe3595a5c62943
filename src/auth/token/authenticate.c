/*
 * Who asks: by a certificate, by a token in a header, or by one among the protocols of a WebSocket.
 *
 * Follows k8s.io/apiserver pkg/authentication/request/bearertoken,
 * func (*Authenticator) AuthenticateRequest.
 * Follows k8s.io/apiserver pkg/authentication/request/websocket,
 * func (*ProtocolAuthenticator) AuthenticateRequest.
 */
#include "auth/token_int.h"
#include "base/ascii.h"
#include "base/utf8.h"
#include "codec/base64.h"

#define PROTOCOL_PREFIX "base64url.bearer.authorization.k8s.io."

static struct auth_answer refuse(struct str why) {
    return (struct auth_answer){.outcome = AUTH_REFUSED, .why = why};
}

/* Whoever is known by a file may talk to this server alone. */
static struct auth_answer try_file(const struct auth_authenticator *who, struct arena *a,
                                   struct str token, const struct api_strs *audiences) {
    struct auth_answer answer = {.outcome = AUTH_NOBODY};
    const struct auth_user *user = who->file ? auth_token_file_find(who->file, token) : NULL;
    if (!user)
        return answer;
    bool has_wish = audiences && audiences->n;
    if (who->issuer)
        answer.audiences = auth__audiences(a, &who->issuer->audiences,
                                           has_wish ? audiences : &who->issuer->audiences);
    if (has_wish && !answer.audiences.n)
        return answer;
    answer.outcome = AUTH_KNOWN;
    answer.user = *user;
    return answer;
}

struct auth_answer auth_authenticate_token(const struct auth_authenticator *who, struct arena *a,
                                           struct str token, const struct api_strs *audiences,
                                           int64_t now) {
    struct auth_answer answer = try_file(who, a, token, audiences);
    if (answer.outcome == AUTH_NOBODY && who->issuer)
        answer = auth__service_account_check(who->issuer, a, token, audiences, now);
    return answer.outcome == AUTH_NOBODY ? refuse(STR("invalid bearer token")) : answer;
}

/* ---- the header Authorization ---- */

static bool is_bearer(struct str word) {
    static const char bearer[] = "bearer";
    for (size_t i = 0; i < word.n; i++)
        if (i >= sizeof bearer - 1 || ascii_to_lower(word.p[i]) != bearer[i])
            return false;
    return word.n == sizeof bearer - 1;
}

static struct auth_answer try_header(const struct auth_authenticator *who, struct arena *a,
                                     const struct auth_credentials *shown) {
    struct auth_answer nobody = {.outcome = AUTH_NOBODY};
    struct str word, token, rest;
    if (!str_cut(str_trim(shown->authorization), ' ', &word, &rest) || !is_bearer(word))
        return nobody;
    bool has_more = str_cut(rest, ' ', &token, &rest);
    if (token.n)
        return auth_authenticate_token(who, a, token, NULL, shown->now);
    if (has_more)
        nobody.warning = STR("the provided Authorization header contains extra space before the "
                             "bearer token, and is ignored");
    return nobody;
}

/* ---- the protocols of a WebSocket ---- */

struct protocols {
    struct arena *a;
    struct str token;
    bool has_token;
    struct buf others; /* with commas between them */
    size_t count;      /* of the others */
};

static void add_other(struct protocols *p, struct str protocol) {
    if (p->count++)
        buf_add_char(&p->others, ',');
    buf_add(&p->others, protocol);
}

/* What is wrong with a protocol; empty: nothing. */
static struct str read_protocol(struct protocols *p, struct str protocol) {
    if (!str_starts(protocol, STR(PROTOCOL_PREFIX))) {
        add_other(p, protocol);
        return STR("");
    }
    if (p->has_token)
        return STR("multiple base64.bearer.authorization tokens specified");
    p->has_token = true;
    struct str encoded = str_sub(protocol, sizeof PROTOCOL_PREFIX - 1, protocol.n);
    if (base64_decode_url(p->a, encoded, &p->token, NULL) < 0)
        return STR("invalid base64.bearer.authorization token encoding");
    if (utf8_valid_prefix(p->token) != p->token.n)
        return STR("invalid base64.bearer.authorization token");
    return STR("");
}

static struct str read_protocols(struct protocols *p, const struct api_strs *headers) {
    for (size_t i = 0; i < headers->n; i++) {
        struct str rest = headers->v[i], one;
        for (bool more = true; more;) {
            more = str_cut(rest, ',', &one, &rest);
            struct str why = read_protocol(p, str_trim(one));
            if (why.n)
                return why;
        }
    }
    return p->token.n && !p->count ? STR("missing additional subprotocol") : STR("");
}

static struct auth_answer try_protocols(const struct auth_authenticator *who, struct arena *a,
                                        const struct auth_credentials *shown) {
    struct auth_answer answer = {.outcome = AUTH_NOBODY};
    if (!shown->is_websocket)
        return answer;
    struct protocols p = {.a = a, .others = BUF_INIT(SIZE_MAX)};
    struct str why = read_protocols(&p, &shown->protocols);
    if (why.n)
        answer = refuse(why);
    else if (p.token.n)
        answer = auth_authenticate_token(who, a, p.token, NULL, shown->now);
    if (answer.outcome == AUTH_KNOWN)
        answer.protocols = arena_str(a, buf_view(&p.others));
    buf_release(&p.others);
    return answer;
}

/* ---- all of them ---- */

static struct auth_answer try_client(const struct auth_authenticator *who, struct arena *a,
                                     const struct auth_credentials *shown) {
    (void)who;
    (void)a;
    if (shown->client_fault.n)
        return refuse(shown->client_fault);
    if (!shown->client || !shown->client->has_user)
        return (struct auth_answer){.outcome = AUTH_NOBODY};
    if (shown->certificate_now > shown->client->until)
        return refuse(STR("verifying certificate failed: certificate has expired"));
    return (struct auth_answer){.outcome = AUTH_KNOWN, .user = shown->client->user};
}

static struct auth_answer nobody_known(const struct auth_authenticator *who,
                                       const struct auth_answer *so_far) {
    if (so_far->outcome == AUTH_REFUSED || !who->allows_anonymous)
        return refuse(so_far->why.n ? so_far->why : STR("nothing was shown that says who asks"));
    return (struct auth_answer){
        .outcome = AUTH_KNOWN, .user = auth_anonymous, .warning = so_far->warning};
}

/* The first that knows who it is counts; if none does, the first that finds a fault. */
struct auth_answer auth_authenticate(const struct auth_authenticator *who, struct arena *a,
                                     const struct auth_credentials *shown) {
    static struct auth_answer (*const ways[])(const struct auth_authenticator *, struct arena *,
                                              const struct auth_credentials *) = {
        try_client, try_header, try_protocols};
    struct auth_answer so_far = {.outcome = AUTH_NOBODY};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct auth_answer answer = ways[i](who, a, shown);
        if (answer.outcome == AUTH_KNOWN) {
            auth_user_mark_authenticated(a, &answer.user);
            return answer;
        }
        if (answer.warning.n)
            so_far.warning = answer.warning;
        if (answer.outcome == AUTH_REFUSED && so_far.outcome == AUTH_NOBODY)
            so_far = (struct auth_answer){
                .outcome = AUTH_REFUSED, .why = answer.why, .warning = so_far.warning};
    }
    return nobody_known(who, &so_far);
}
