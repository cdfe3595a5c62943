/*
 * Flags that tell a server whom to believe: those of kube-apiserver, with defaults that need none
 * of them.
 */
#ifndef CMD_AUTH_FLAGS_H
#define CMD_AUTH_FLAGS_H

#include "auth/token.h"
#include "cli/opt.h"

struct auth_opts {
    struct str token_file, signing_key_file, jwks_uri, most_lifetime;
    struct opt_list key_files, issuers, audiences;
    bool anonymous, extends;
};

/* The rows of struct auth_opts. */
extern const struct opt auth_opts[];

/* What became of the flags. */
struct auth_config {
    struct auth_setup setup;
    int64_t most_seconds; /* of a token; 0: any */
};

/* Reads what the flags name; own_key, in PEM, signs tokens unless a flag names another. Release it
 * with auth_config_release, which accepts zeroes. Texts live in the arena. */
int auth_configure(struct arena *a, const struct auth_opts *opts, struct str own_key,
                   struct auth_config *out, struct err *err);
void auth_config_release(struct auth_config *c);

#endif
