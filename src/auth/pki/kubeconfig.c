/* The kubeconfig with which somebody gets in, as kubeadm and kubectl write it. */
#include "auth/pki_int.h"
#include "codec/base64.h"
#include "codec/json.h"
#include "codec/yml.h"

static void add_text(struct arena *a, struct json *object, const char *key, struct str text) {
    if (text.n)
        json_add(a, object, str_of(key), json_of_str(text));
}

static void add_data(struct arena *a, struct json *object, const char *key, struct str text) {
    AUTO(buf_release) struct buf encoded = BUF_INIT(SIZE_MAX);
    base64_write(&encoded, text);
    add_text(a, object, key, arena_str(a, buf_view(&encoded)));
}

/* A list of one item: its name, and what it has under the key. */
static void add_named(struct arena *a, struct json *config, const char *list, struct str name,
                      const char *key, struct json value) {
    struct json *items = json_add(a, config, str_of(list), (struct json){.kind = JSON_ARRAY});
    struct json *item = json_append(a, items, (struct json){.kind = JSON_OBJECT});
    json_add(a, item, str_of(key), value);
    json_add(a, item, STR("name"), json_of_str(name));
}

static struct json cluster_of(struct arena *a, const struct auth_kubeconfig *k) {
    struct json cluster = {.kind = JSON_OBJECT};
    add_data(a, &cluster, "certificate-authority-data", k->ca_certificate);
    add_text(a, &cluster, "server", k->server);
    return cluster;
}

static struct json user_of(struct arena *a, const struct auth_kubeconfig *k) {
    struct json user = {.kind = JSON_OBJECT};
    add_data(a, &user, "client-certificate-data", k->client_certificate);
    add_data(a, &user, "client-key-data", k->client_key);
    add_text(a, &user, "token", k->token);
    return user;
}

void auth_kubeconfig_print(struct buf *out, const struct auth_kubeconfig *k) {
    AUTO(arena_release) struct arena a = {0};
    struct str cluster = k->cluster.n ? k->cluster : STR("kubernetes");
    struct str user = k->user.n ? k->user : STR("kubernetes-admin");
    struct str context =
        k->context.n ? k->context : arena_printf(&a, "%.*s@%.*s", STR_ARG(user), STR_ARG(cluster));
    struct json config = {.kind = JSON_OBJECT}, in = {.kind = JSON_OBJECT};
    add_text(&a, &in, "cluster", cluster);
    add_text(&a, &in, "namespace", k->namespace);
    add_text(&a, &in, "user", user);
    add_text(&a, &config, "apiVersion", STR("v1"));
    add_named(&a, &config, "clusters", cluster, "cluster", cluster_of(&a, k));
    add_named(&a, &config, "contexts", context, "context", in);
    add_text(&a, &config, "current-context", context);
    add_text(&a, &config, "kind", STR("Config"));
    json_add(&a, &config, STR("preferences"), (struct json){.kind = JSON_OBJECT});
    add_named(&a, &config, "users", user, "user", user_of(&a, k));
    yml_write(out, &config);
}

int auth_kubeconfig_write(struct str path, const struct auth_kubeconfig *k, struct err *err) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    auth_kubeconfig_print(&text, k);
    return auth__file_write(path, buf_view(&text), err);
}
