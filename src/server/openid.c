/*
 * Documents by which others verify tokens of service accounts.
 *
 * Follows k8s.io/kubernetes pkg/routes, func (*OpenIDMetadataServer) Install.
 * Follows k8s.io/kubernetes pkg/serviceaccount, func NewOpenIDMetadataProvider.
 */
#include "server/aside_int.h"

#define JWKS_PATH   "/openid/v1/jwks"
#define CONFIG_PATH "/.well-known/openid-configuration"

/* An issuer that is no URL of this sort has no such documents. */
static bool is_for_openid(struct str issuer) {
    return str_starts(issuer, STR("https://")) && str_find_char(issuer, '?') == STR_NONE &&
           str_find_char(issuer, '#') == STR_NONE;
}

static struct str jwks_uri(struct server__call *c) {
    const struct server *s = c->s;
    if (s->opts.jwks_uri.n)
        return s->opts.jwks_uri;
    return arena_printf(&c->arena, "https://%s" JWKS_PATH, s->public_address);
}

static void answer(struct server__call *c, struct str text, const char *type) {
    const struct net_header headers[] = {
        {STR("Content-Type"), str_of(type)},
        {STR("Cache-Control"), STR("public, max-age=3600")},
    };
    struct net_part part = {.bytes = text};
    net_respond(c->x, 200, (struct net_headers){headers, 2}, &part, 1);
    server__call_free(c);
}

bool server__openid(struct server__call *c) {
    const struct auth_issuer *issuer = c->s->opts.who.issuer;
    const struct net_request *request = net_exchange_request(c->x);
    struct str path = request->path;
    if (path.n > 1 && path.p[path.n - 1] == '/')
        path.n--;
    bool is_keys = str_is(path, JWKS_PATH);
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    if ((!is_keys && !str_is(path, CONFIG_PATH)) || !issuer || !issuer->names.n ||
        !is_for_openid(issuer->names.v[0]))
        return false;
    const char *type = is_keys ? "application/jwk-set+json" : "application/json";
    if (!str_is(request->method, "GET")) {
        server__answer_failure(c, server__no_method());
        return true;
    }
    if (!server_media_offers(net_headers_find(request->headers, STR("Accept")), type)) {
        server__answer_failure(c, server__not_available(&c->arena, type));
        return true;
    }
    if (is_keys)
        auth_jwks_write(&text, issuer->keys);
    else
        auth_openid_write(&text, issuer->keys, issuer->names.v[0], jwks_uri(c));
    answer(c, buf_view(&text), type);
    return true;
}
