/*
 * What is said to and by programs that give credentials.
 *
 * Follows k8s.io/client-go plugin/pkg/client/auth/exec, func (*Authenticator) refreshCredsLocked.
 */
#include "client/access/exec_int.h"
#include "codec/base64.h"
#include "codec/json.h"
#include "codec/time.h"

static void add_text(struct arena *a, struct json *to, const char *key, struct str text) {
    if (text.n)
        json_add(a, to, str_of(key), json_of_str(text));
}

static struct json cluster_of(struct arena *a, const struct kubeconfig_access *access) {
    struct json cluster = {.kind = JSON_OBJECT};
    AUTO(buf_release) struct buf encoded = BUF_INIT(SIZE_MAX);
    add_text(a, &cluster, "server", access->server);
    add_text(a, &cluster, "tls-server-name", access->server_name);
    if (access->is_insecure)
        json_add(a, &cluster, STR("insecure-skip-tls-verify"), json_of_bool(true));
    base64_write(&encoded, access->authorities);
    add_text(a, &cluster, "certificate-authority-data", arena_str(a, buf_view(&encoded)));
    add_text(a, &cluster, "proxy-url", access->proxy);
    return cluster;
}

struct str client__exec_info(struct arena *a, const struct kubeconfig_access *access) {
    struct json info = {.kind = JSON_OBJECT}, spec = {.kind = JSON_OBJECT};
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    add_text(a, &info, "kind", STR("ExecCredential"));
    add_text(a, &info, "apiVersion", access->exec->api_version);
    if (access->exec->provides_cluster_info)
        json_add(a, &spec, STR("cluster"), cluster_of(a, access));
    json_add(a, &spec, STR("interactive"), json_of_bool(false));
    json_add(a, &info, STR("spec"), spec);
    json_write(&text, &info, NULL);
    return arena_str(a, buf_view(&text));
}

static struct str text_at(const struct json *v, const char *key) {
    const struct json *found = v ? json_get(v, str_of(key)) : NULL;
    return found && found->kind == JSON_STRING ? json_str(found) : (struct str){0};
}

static int read_end(struct str text, int64_t *until, struct err *err) {
    struct time_instant end;
    *until = INT64_MAX;
    if (!text.n)
        return 0;
    if (time_parse(text, &end, NULL) < 0)
        return err_set(err, ERR_INVALID, "expirationTimestamp \"%.*s\" is no time", STR_ARG(text));
    *until = end.seconds;
    return 0;
}

int client__exec_read(struct arena *a, struct str output, struct str api_version,
                      struct client__credential *out, int64_t *until, struct err *err) {
    struct json tree;
    if (json_parse(a, output, NULL, &tree, err) < 0)
        return -1;
    const struct json *status = json_get(&tree, STR("status"));
    if (!str_is(text_at(&tree, "kind"), "ExecCredential") ||
        !str_eq(text_at(&tree, "apiVersion"), api_version))
        return err_set(err, ERR_INVALID, "it is no ExecCredential of %.*s", STR_ARG(api_version));
    *out = (struct client__credential){.token = text_at(status, "token"),
                                       .certificate = text_at(status, "clientCertificateData"),
                                       .key = text_at(status, "clientKeyData")};
    if (!out->certificate.n != !out->key.n)
        return err_set(err, ERR_INVALID, "of certificate and key, one is not there");
    if (!out->token.n && !out->key.n)
        return err_set(err, ERR_INVALID, "it has neither a token nor a certificate");
    return read_end(text_at(status, "expirationTimestamp"), until, err);
}
