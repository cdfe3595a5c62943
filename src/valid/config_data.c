/*
 * What others read: ConfigMaps, Secrets and Leases.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func ValidateConfigMap,
 * func ValidateConfigMapUpdate, func ValidateSecret, func ValidateSecretUpdate.
 * Follows k8s.io/kubernetes pkg/apis/coordination/validation, func ValidateLeaseSpec,
 * func ValidateCoordinatedLeaseStrategy.
 * Follows k8s.io/apimachinery pkg/util/validation, func IsConfigMapKey.
 */
#include "valid/go_json_int.h"
#include "valid/kinds_int.h"
#include "valid/metadata_int.h"

enum { MAX_DATA_BYTES = 1024 * 1024 };

/* ---- maps from keys to data ---- */

/* An empty key is no required value here, but a wrong one. */
static void check_key(struct valid *v, const struct path *p, struct str key) {
    if (key.n)
        valid__config_key(v, p, key);
    else
        valid__invalid(v, p, VALUE_Q(key),
                       "a valid config key must consist of alphanumeric characters, '-', '_' or "
                       "'.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for "
                       "validation is '[-._a-zA-Z0-9]+')");
}

static size_t check_keys(struct valid *v, const struct path *p, const struct labels *data,
                         const struct labels *others) {
    size_t bytes = 0;
    for (size_t i = 0; i < data->n; i++) {
        struct str key = data->v[i].key;
        check_key(v, AT_KEY(p, key), key);
        if (others && labels_find(others, key))
            valid__invalid(v, AT_KEY(p, key), VALUE_Q(key),
                           "duplicate of key present in binaryData");
        bytes += data->v[i].value.n;
    }
    return bytes;
}

/* What cannot change any more; Go takes an empty map for another one than none. */
static void keep_data(struct valid *v, const char *name, const struct labels *now,
                      const struct labels *old) {
    if (!labels_equal(now, old) || !now->v != !old->v)
        valid__forbidden(v, AT(NULL, name), "field is immutable when `immutable` is set");
}

static bool is_locked(struct api_opt_bool immutable) {
    return immutable.set && immutable.v;
}

static void keep_lock(struct valid *v, struct api_opt_bool immutable) {
    if (!is_locked(immutable))
        valid__forbidden(v, AT(NULL, "immutable"), "field is immutable when `immutable` is set");
}

/* ---- ConfigMaps ---- */

static void check_config_map(struct valid *v, const struct api_config_map *map) {
    size_t bytes = check_keys(v, AT(NULL, "data"), &map->data, &map->binary_data);
    bytes += check_keys(v, AT(NULL, "binaryData"), &map->binary_data, NULL);
    if (bytes > MAX_DATA_BYTES)
        valid__too_long(v, AT(NULL, ""), MAX_DATA_BYTES);
}

static void create_config_map(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check_config_map(v, o->body);
}

static void finalizers(struct valid *v, const struct api_object *o) {
    valid__finalizer_names(v, AT(AT(NULL, "metadata"), "finalizers"), &o->meta->finalizers);
}

static void update_config_map(struct valid *v, const struct api_object *o,
                              const struct api_object *old) {
    const struct api_config_map *map = o->body, *was = old->body;
    finalizers(v, o);
    if (is_locked(was->immutable)) {
        keep_lock(v, map->immutable);
        keep_data(v, "data", &map->data, &was->data);
        keep_data(v, "binaryData", &map->binary_data, &was->binary_data);
    }
    valid__metadata_names(v, o);
    check_config_map(v, map);
}

/* ---- Secrets ---- */

#define ACCOUNT STR("kubernetes.io/service-account.name")

static const struct label *need(struct valid *v, const struct api_secret *s, const char *key) {
    const struct label *data = labels_find(&s->data, str_of(key));
    if (!data)
        valid__required(v, AT_KEY(AT(NULL, "data"), str_of(key)), NO_DETAIL);
    return data;
}

static void check_docker(struct valid *v, const struct api_secret *s, const char *key) {
    const struct label *data = need(v, s, key);
    struct str why = data ? valid__go_object_fault(v->errs->a, data->value) : STR("");
    if (why.n)
        valid__add(v, VALID_INVALID, AT_KEY(AT(NULL, "data"), str_of(key)),
                   &VALUE_Q(STR("<secret contents redacted>")), why);
}

static void check_account(struct valid *v, const struct api_secret *s) {
    const struct label *name = labels_find(&s->metadata.annotations, ACCOUNT);
    if (!name || !name->value.n)
        valid__required(v, AT_KEY(AT(AT(NULL, "metadata"), "annotations"), ACCOUNT), NO_DETAIL);
}

static void check_basic_auth(struct valid *v, const struct api_secret *s) {
    if (labels_find(&s->data, STR("username")) || labels_find(&s->data, STR("password")))
        return;
    need(v, s, "username");
    need(v, s, "password");
}

static void check_ssh_auth(struct valid *v, const struct api_secret *s) {
    const struct label *key = labels_find(&s->data, STR("ssh-privatekey"));
    if (!key || !key->value.n)
        valid__required(v, AT_KEY(AT(NULL, "data"), STR("ssh-privatekey")), NO_DETAIL);
}

static void check_tls(struct valid *v, const struct api_secret *s) {
    need(v, s, "tls.crt");
    need(v, s, "tls.key");
}

static void check_dockercfg(struct valid *v, const struct api_secret *s) {
    check_docker(v, s, ".dockercfg");
}

static void check_docker_config(struct valid *v, const struct api_secret *s) {
    check_docker(v, s, ".dockerconfigjson");
}

/* What Secrets of a type must have; those of other types may have anything. */
static const struct {
    const char *type;
    void (*check)(struct valid *v, const struct api_secret *s);
} secret_types[] = {
    {"kubernetes.io/service-account-token", check_account},
    {"kubernetes.io/dockercfg", check_dockercfg},
    {"kubernetes.io/dockerconfigjson", check_docker_config},
    {"kubernetes.io/basic-auth", check_basic_auth},
    {"kubernetes.io/ssh-auth", check_ssh_auth},
    {"kubernetes.io/tls", check_tls},
};

static void check_secret(struct valid *v, const struct api_secret *s) {
    if (check_keys(v, AT(NULL, "data"), &s->data, NULL) > MAX_DATA_BYTES)
        valid__too_long(v, AT(NULL, "data"), MAX_DATA_BYTES);
    for (size_t i = 0; i < sizeof secret_types / sizeof *secret_types; i++)
        if (str_is(s->type, secret_types[i].type))
            secret_types[i].check(v, s);
}

static void create_secret(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check_secret(v, o->body);
}

static void update_secret(struct valid *v, const struct api_object *o,
                          const struct api_object *old) {
    const struct api_secret *s = o->body, *was = old->body;
    finalizers(v, o);
    if (!str_eq(s->type, was->type))
        valid__immutable(v, AT(NULL, "type"), VALUE_NAMED(s->type));
    if (is_locked(was->immutable)) {
        keep_lock(v, s->immutable);
        keep_data(v, "data", &s->data, &was->data);
    }
    valid__metadata_names(v, o);
    check_secret(v, s);
}

/* ---- Leases ---- */

void valid__lease_strategy(struct valid *v, const struct path *p, struct str strategy) {
    static const char *const known[] = {"OldestEmulationVersion", NULL};
    if (str_find_char(strategy, '/') == STR_NONE) {
        if (!valid__one_of(strategy, known))
            valid__not_supported(v, AT(p, "strategy"), VALUE_NAMED(strategy), known);
        return;
    }
    struct names_errs errs = names_check_label_key(strategy);
    for (size_t i = 0; i < errs.n; i++)
        valid__add(v, VALID_INVALID, AT(p, "strategy"), &VALUE_NAMED(strategy), errs.v[i]);
}

static void check_lease(struct valid *v, const struct api_lease_spec *s) {
    const struct path *p = AT(NULL, "spec");
    if (s->lease_duration_seconds.set && s->lease_duration_seconds.v <= 0)
        valid__invalid(v, AT(p, "leaseDurationSeconds"), VALUE_I64(s->lease_duration_seconds.v),
                       "must be greater than 0");
    if (s->lease_transitions.set)
        valid__not_negative(v, AT(p, "leaseTransitions"), s->lease_transitions.v);
    if (s->strategy.p)
        valid__lease_strategy(v, AT(p, "strategy"), s->strategy);
    if (s->preferred_holder.n && !s->strategy.n)
        valid__forbidden(v, AT(p, "preferredHolder"),
                         "may only be specified if `strategy` is defined");
}

static void create_lease(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check_lease(v, &((const struct api_lease *)o->body)->spec);
}

static void update_lease(struct valid *v, const struct api_object *o,
                         const struct api_object *old) {
    valid__metadata_update(v, o, old);
    check_lease(v, &((const struct api_lease *)o->body)->spec);
}

const struct valid_kind valid__config_map = {
    .type = API_T_config_map, .create = create_config_map, .update = update_config_map};
const struct valid_kind valid__secret = {
    .type = API_T_secret, .create = create_secret, .update = update_secret};
const struct valid_kind valid__lease = {
    .type = API_T_lease, .create = create_lease, .update = update_lease};
