/*
 * Keys, issuers and tokens as the command line of a server names them.
 *
 * Follows k8s.io/kubernetes pkg/kubeapiserver/options, func (*BuiltInAuthenticationOptions)
 * Validate, func (*BuiltInAuthenticationOptions) ToAuthenticationConfig.
 */
#include "auth/pki_int.h"
#include "auth/token.h"

static int read_file(struct arena *a, struct str path, struct str *out, struct err *err) {
    if (auth__file_read(a, path, false, out, err) < 0)
        return -1;
    return out->p ? 0
                  : err_set(err, ERR_IO, "cannot read '%.*s': no such file or directory",
                            STR_ARG(path));
}

/* The key that signs comes first. */
static int read_keys(struct arena *a, const struct auth_setup_options *o, struct auth_setup *out,
                     struct err *err) {
    struct api_strs pems = {arena_array(a, struct str, o->key_files.n + 1), 1};
    pems.v[0] = o->own_key;
    if (o->signing_key_file.n && read_file(a, o->signing_key_file, &pems.v[0], err) < 0)
        return -1;
    for (size_t i = 0; i < o->key_files.n; i++)
        if (read_file(a, o->key_files.v[i], &pems.v[pems.n++], err) < 0)
            return -1;
    out->keys = auth_keys_new(&pems, err);
    return out->keys ? 0 : err_wrap(err, "keys of service accounts");
}

static int check_issuers(const struct api_strs *issuers, struct err *err) {
    if (!issuers->n)
        return err_set(err, ERR_USAGE, "service-account-issuer is a required flag");
    for (size_t i = 0; i < issuers->n; i++) {
        if (!issuers->v[i].n)
            return err_set(err, ERR_USAGE, "service-account-issuer should not be an empty string");
        for (size_t k = 0; k < i; k++)
            if (str_eq(issuers->v[i], issuers->v[k]))
                return err_set(err, ERR_USAGE,
                               "service-account-issuer \"%.*s\" is already specified",
                               STR_ARG(issuers->v[i]));
    }
    return 0;
}

static int read_tokens(struct arena *a, struct str path, struct auth_setup *out, struct err *err) {
    struct str text;
    if (!path.n)
        return 0;
    if (read_file(a, path, &text, err) < 0)
        return -1;
    out->file = auth_token_file_parse(text, path, err);
    return out->file ? 0 : -1;
}

int auth_setup_open(struct arena *a, const struct auth_setup_options *o, struct auth_setup *out,
                    struct err *err) {
    *out = (struct auth_setup){0};
    if (check_issuers(&o->issuers, err) < 0 || read_tokens(a, o->token_file, out, err) < 0 ||
        read_keys(a, o, out, err) < 0) {
        auth_setup_release(out);
        return -1;
    }
    out->issuer = (struct auth_issuer){.names = o->issuers,
                                       .audiences = o->audiences.n ? o->audiences : o->issuers,
                                       .keys = out->keys};
    return 0;
}

void auth_setup_release(struct auth_setup *s) {
    auth_token_file_free(s->file);
    auth_keys_free(s->keys);
    *s = (struct auth_setup){0};
}
