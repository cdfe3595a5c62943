/*
 * From flags to keys, issuers and tokens.
 *
 * Follows k8s.io/kubernetes pkg/kubeapiserver/options, func (*BuiltInAuthenticationOptions)
 * AddFlags.
 * Follows k8s.io/kubernetes pkg/controlplane/apiserver/options, func (*Options) Complete.
 */
#include "cmd/auth_flags.h"

#include "base/clock.h"
#include "codec/time.h"

const struct opt auth_opts[] = {
    {.name = "anonymous-auth",
     .kind = OPT_FLAG,
     .help = "Take requests that show nothing of who asks for those of system:anonymous; when "
             "false they get 401.",
     .fallback = "true",
     .offset = offsetof(struct auth_opts, anonymous)},
    {.name = "api-audiences",
     .kind = OPT_LIST,
     .help = "Names of this API, of which a service account's token must be for one; by default "
             "the issuers.",
     .value = "NAME",
     .offset = offsetof(struct auth_opts, audiences)},
    {.name = "service-account-extend-token-expiration",
     .kind = OPT_FLAG,
     .help = "Let tokens that kubelets ask for on behalf of pods last a year.",
     .fallback = "true",
     .offset = offsetof(struct auth_opts, extends)},
    {.name = "service-account-issuer",
     .kind = OPT_TEXTS,
     .help = "Who issues tokens of service accounts; the first one given signs, all are believed. "
             "By default https://kubernetes.default.svc.cluster.local.",
     .value = "NAME",
     .offset = offsetof(struct auth_opts, issuers)},
    {.name = "service-account-jwks-uri",
     .kind = OPT_STR,
     .help = "Where /.well-known/openid-configuration says that keys are; by default on this "
             "server.",
     .value = "URI",
     .offset = offsetof(struct auth_opts, jwks_uri)},
    {.name = "service-account-key-file",
     .kind = OPT_TEXTS,
     .help = "Keys in PEM, public or private, that verify tokens of service accounts beside the "
             "one that signs. May be given several times.",
     .value = "FILE",
     .offset = offsetof(struct auth_opts, key_files)},
    {.name = "service-account-max-token-expiration",
     .kind = OPT_STR,
     .help = "The longest that tokens last that are asked for, such as 24h; from 1h on.",
     .value = "DURATION",
     .offset = offsetof(struct auth_opts, most_lifetime)},
    {.name = "service-account-signing-key-file",
     .kind = OPT_STR,
     .help = "Private key in PEM that signs tokens of service accounts; by default sa.key of the "
             "data folder.",
     .value = "FILE",
     .offset = offsetof(struct auth_opts, signing_key_file)},
    {.name = "token-auth-file",
     .kind = OPT_STR,
     .help = "Tokens in CSV: token, user, uid and, in quotes, groups.",
     .value = "FILE",
     .offset = offsetof(struct auth_opts, token_file)},
    {0},
};

/* A token lasts at least an hour and at most 2^32 seconds. */
static int read_lifetime(struct str text, int64_t *out, struct err *err) {
    const int64_t least = 3600 * CLOCK_SECOND, most = (INT64_C(1) << 32) * CLOCK_SECOND;
    int64_t ns = 0;
    *out = 0;
    if (!text.n)
        return 0;
    if (time_parse_duration(text, &ns, err) < 0)
        return err_wrap(err, "--service-account-max-token-expiration");
    if (ns && (ns < least || ns > most))
        return err_set(err, ERR_USAGE,
                       "the service-account-max-token-expiration must be between 1 hour and 2^32 "
                       "seconds");
    *out = ns / CLOCK_SECOND;
    return 0;
}

static struct api_strs strs_of(const struct opt_list *list) {
    return (struct api_strs){list->v, list->n};
}

int auth_configure(struct arena *a, const struct auth_opts *opts, struct str own_key,
                   struct auth_config *out, struct err *err) {
    struct auth_setup_options setup = {.token_file = opts->token_file,
                                       .signing_key_file = opts->signing_key_file,
                                       .own_key = own_key,
                                       .key_files = strs_of(&opts->key_files),
                                       .issuers = strs_of(&opts->issuers),
                                       .audiences = strs_of(&opts->audiences)};
    *out = (struct auth_config){0};
    if (!setup.issuers.n) {
        struct str *name = arena_array(a, struct str, 1);
        *name = STR("https://kubernetes.default.svc.cluster.local");
        setup.issuers = (struct api_strs){name, 1};
    }
    if (opts->jwks_uri.n && !str_starts(opts->jwks_uri, STR("https://")))
        return err_set(err, ERR_USAGE,
                       "service-account-jwks-uri requires https scheme, parsed as: %.*s",
                       STR_ARG(opts->jwks_uri));
    if (read_lifetime(opts->most_lifetime, &out->most_seconds, err) < 0)
        return -1;
    return auth_setup_open(a, &setup, &out->setup, err);
}

void auth_config_release(struct auth_config *c) {
    auth_setup_release(&c->setup);
}
