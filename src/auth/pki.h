/*
 * Certificates: those that a server makes for itself at its first start, those that clients show,
 * and the kubeconfig with which an administrator gets in.
 *
 * The files have kubeadm's names (ca.crt, ca.key, apiserver.crt, apiserver.key, sa.key), so that a
 * folder that kubeadm made can be used, and one made here can be inspected with the same tools.
 */
#ifndef AUTH_PKI_H
#define AUTH_PKI_H

#include "auth/auth.h"
#include "base/err.h"

/* ---- the server's own ---- */

struct auth_pki_options {
    struct str dir;        /* made with mode 0700 if it is missing */
    struct api_strs names; /* DNS names and addresses of the server, beside those that all have */
    int64_t now;           /* seconds since the epoch */
};

/* Everything as PEM. */
struct auth_pki {
    struct str ca_certificate, ca_key;
    struct str server_certificate, server_key;
    struct str admin_certificate, admin_key; /* kubernetes-admin of system:masters */
    struct str service_account_key;          /* signs tokens */
};

/*
 * Reads the files of a folder and makes those that are missing. A certificate of the server or of
 * the administrator that ends within 30 days, has ended, or lacks a name is made anew; that of the
 * authority, of ten years, is made anew with the same key when it ends within a year. Files are
 * written with mode 0600. Fails when a file cannot be read or written, is something else, does not
 * belong to the others, is a key that others can read, or when the authority's certificate has
 * ended. Other processes that do the same wait. Texts live in the arena.
 */
int auth_pki_open(struct arena *a, const struct auth_pki_options *o, struct auth_pki *out,
                  struct err *err);

/* Makes a key and a certificate for a server of these names that vouches for itself, for a year; no
 * file has them. Texts live in the arena, as PEM. */
int auth_pki_self_signed(struct arena *a, const struct api_strs *names, int64_t now,
                         struct str *certificate, struct str *key, struct err *err);

/* ---- those of clients ---- */

struct auth_client_ca;

/* The authorities, as PEM, that vouch for clients. Free it with auth_client_ca_free, which accepts
 * NULL. */
struct auth_client_ca *auth_client_ca_new(struct str pem, struct err *err);
void auth_client_ca_free(struct auth_client_ca *ca);

/* A certificate that a client has shown. */
struct auth_client {
    struct auth_user user; /* its CN, its O, its fingerprint; without system:authenticated */
    bool has_user;         /* false: the certificate is good and has no CN */
    int64_t until;         /* when the certificate, or one above it, ends */
};

/* Looks at the certificates that a client has shown, the first of them its own, each in DER. -1
 * when they are not good for a client at this time, in seconds since the epoch. Can be called on
 * any thread; texts live in the arena. */
int auth_client_verify(const struct auth_client_ca *ca, struct arena *a,
                       const struct api_strs *chain, int64_t now, struct auth_client *out,
                       struct err *err);

/* ---- those that others ask for ---- */

/* Who certifies what others ask for; everything as PEM. */
struct auth_authority {
    struct str certificate, key;
};

/* What is asked for. */
struct auth_request {
    struct str pem;         /* PKCS #10 */
    struct api_strs usages; /* in the words of CertificateSigningRequests */
    int64_t now, seconds;   /* since the epoch; and for how long */
};

/* Are both PEM, and is the key that of the certificate? -1 when not. */
int auth_authority_check(const struct auth_authority *authority, struct err *err);

/* May a signer of Kubernetes certify such a request? False: it is not one whom we know. *fault:
 * why not, in upstream's words; empty: it may. In the arena. */
bool auth_request_judge(struct arena *a, struct str signer, const struct auth_request *r,
                        struct str *fault);

/* The certificate for a request as PEM, in the arena: with the subject and the other names that it
 * has, no longer than the authority's own. Absent after a failure. */
struct str auth_request_sign(struct arena *a, const struct auth_authority *by,
                             const struct auth_request *r, struct err *err);

/* ---- kubeconfig ---- */

/* What a kubeconfig says. Certificates and keys are PEM; empty ones are left out. */
struct auth_kubeconfig {
    struct str server; /* https://127.0.0.1:6443 */
    struct str ca_certificate;
    struct str client_certificate, client_key;
    struct str token;
    struct str cluster, user; /* their names; empty: kubernetes, kubernetes-admin */
    struct str context;       /* likewise; empty: user@cluster */
    struct str namespace;     /* empty: not said */
};

/* Appends it as YAML, with one cluster, user and context, which is the current one. */
void auth_kubeconfig_print(struct buf *out, const struct auth_kubeconfig *k);

/* Writes it to a file with mode 0600, whole or not at all; an old one is replaced. */
int auth_kubeconfig_write(struct str path, const struct auth_kubeconfig *k, struct err *err);

/* Where kubectl has its configuration; what is not given is empty. */
struct auth_kubeconfig_places {
    struct str file;  /* this one */
    struct str files; /* $KUBECONFIG */
    struct str home;  /* $HOME */
};

/* Puts a context, cluster and user of this name into the file that kubectl would change, which is
 * made with mode 0600 if it is not there. Everything else in it stays, also which context is the
 * current one, if there is one; comments are lost, as with kubectl. */
int auth_kubeconfig_merge(struct arena *a, const struct auth_kubeconfig_places *places,
                          struct str name, const struct auth_kubeconfig *k, struct err *err);

#endif
