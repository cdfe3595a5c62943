/*
 * Kubeconfig files: which server a command speaks with, and as whom. They are read as kubectl reads
 * them: several files are one, in which the first that has an entry wins, and file names are
 * relative to the folder of the file that has them.
 *
 * Follows k8s.io/client-go tools/clientcmd, func (*ClientConfigLoadingRules) Load.
 */
#ifndef CLIENT_KUBECONFIG_H
#define CLIENT_KUBECONFIG_H

#include "base/arena.h"
#include "base/err.h"

struct kubeconfig;

/* A variable of the environment. */
struct kubeconfig_variable {
    struct str name, value;
};

/* A program that is asked for credentials (client.authentication.k8s.io). */
struct kubeconfig_exec {
    struct str api_version;
    struct str command; /* a path, or a name to be looked for in $PATH */
    struct str *args;
    size_t arg_count;
    struct kubeconfig_variable *variables; /* beside the environment of this process */
    size_t variable_count;
    struct str install_hint;    /* what to say when the command is missing */
    bool provides_cluster_info; /* it is told of the server */
};

/* How a server is reached and who asks: what becomes of a context. Empty texts are not said. */
struct kubeconfig_access {
    struct str server;      /* https://host:port/path, without a slash at its end */
    struct str namespace;   /* of requests that do not say one */
    struct str server_name; /* in the server's certificate, if it is not that of the URL */
    struct str proxy;
    bool is_insecure;            /* the server's certificate is not looked at */
    struct str authorities;      /* PEM; empty: those of the system */
    struct str certificate, key; /* PEM: of the client */
    struct str token;
    struct str token_file; /* is read again from time to time, and comes before `token` */
    const struct kubeconfig_exec *exec;                      /* NULL: none */
    struct str authorities_file, certificate_file, key_file; /* where the above are, if they are */
};

/* ---- texts ---- */

/* A configuration without files. It lives in the arena, with all that it comes to hold. */
struct kubeconfig *kubeconfig_new(struct arena *a);

/* Adds what a file says, beside and behind the files before it. -1 with the file and the place when
 * it is no kubeconfig. */
int kubeconfig_add(struct kubeconfig *k, struct str path, struct str text, struct err *err);

/* What a context says; empty: the current one. No file is read: names of files stand in *out. -1
 * with the file and the entry at fault. */
int kubeconfig_resolve(const struct kubeconfig *k, struct str context,
                       struct kubeconfig_access *out, struct err *err);

/* ---- files ---- */

/* Where the configuration is. What is not given is empty. */
struct kubeconfig_sources {
    struct str file;                       /* --kubeconfig: this one alone, which must be there */
    struct str files;                      /* $KUBECONFIG: names with colons between them */
    struct str home;                       /* $HOME: of .kube/config, if neither is given */
    struct str context;                    /* --context */
    struct str service_host, service_port; /* $KUBERNETES_SERVICE_HOST and _PORT, in a pod */
    struct str service_account; /* the folder of token and ca.crt; empty: where a pod has it */
};

/* Finds and reads the configuration, and the files that its context names, but for that of the
 * token. In a pod without any configuration it is that of its service account. */
int kubeconfig_load(struct arena *a, const struct kubeconfig_sources *from,
                    struct kubeconfig_access *out, struct err *err);

/* Reads a file of tokens or certificates, of up to LIMIT_AUTH_FILE_BYTES. */
int kubeconfig_read_file(struct arena *a, struct str path, struct str *out, struct err *err);

#endif
