/*
 * ServiceAccount: every pod runs as somebody, who exists, and can prove it.
 *
 * Follows k8s.io/kubernetes plugin/pkg/admission/serviceaccount, func (*Plugin) Admit,
 * func (*Plugin) Validate, func (*Plugin) limitSecretReferences,
 * func (*Plugin) limitEphemeralContainerSecretReferences, func (*Plugin) mountServiceAccountToken,
 * func TokenVolumeSource.
 */
#include "api/names.h"
#include "base/map.h"
#include "registry/admission/admission_int.h"

#define MOUNT_PATH STR("/var/run/secrets/kubernetes.io/serviceaccount")

static const struct api_pod_spec *spec_of(const struct registry__admission *m) {
    return &((const struct api_pod *)m->o->body)->spec;
}

/* ---- the account ---- */

static bool find_account(struct registry__admission *m, const struct api_object **out) {
    struct str name = spec_of(m)->service_account_name, namespace = registry__namespace_of(m);
    *out = registry_view_get(m->registry->view, registry__kind("v1", "ServiceAccount"), namespace,
                             name);
    if (*out)
        return true;
    return registry__forbid(m,
                            "error looking up service account %.*s/%.*s: serviceaccount %.*s not "
                            "found",
                            STR_ARG(namespace), STR_ARG(name),
                            STR_ARG(registry__quote(m->a, name)));
}

static bool demand_account(struct registry__admission *m, const struct api_object **out) {
    if (spec_of(m)->service_account_name.n)
        return find_account(m, out);
    return registry__forbid(m, "no service account specified for pod %.*s/%.*s",
                            STR_ARG(registry__namespace_of(m)), STR_ARG(m->o->meta->name));
}

/* Does the account let its pods have only the secrets that it names? */
static bool is_strict(const struct api_object *account) {
    static const char *const yes[] = {"1", "t", "T", "TRUE", "true", "True"};
    const struct label *l =
        labels_find(&account->meta->annotations, STR("kubernetes.io/enforce-mountable-secrets"));
    for (size_t i = 0; l && i < sizeof yes / sizeof *yes; i++)
        if (str_is(l->value, yes[i]))
            return true;
    return false;
}

/* ---- secrets ---- */

/* Names that an account lists, and that a pod asks for: there may be tens of thousands of both. */
struct names {
    struct api_strs list;
    struct map map; /* the same, when more than a few were asked for */
    size_t asked;
};

static bool has_name(struct names *x, struct str name) {
    enum { FEW = 16 };
    if (x->asked++ >= FEW) {
        for (size_t i = x->map.live ? x->list.n : 0; i < x->list.n; i++)
            map_put_const(&x->map, x->list.v[i], x);
        return map_get_const(&x->map, name);
    }
    for (size_t i = 0; i < x->list.n; i++)
        if (str_eq(x->list.v[i], name))
            return true;
    return false;
}

/* What an account lets its pods have. */
struct allowance {
    struct arena *a;
    struct str account;
    struct names secrets, pull_secrets;
};

static void allowance_init(struct allowance *x, struct arena *a,
                           const struct api_service_account *account) {
    uint64_t seed = map_random_seed();
    *x = (struct allowance){.a = a, .account = account->metadata.name};
    x->secrets.map = x->pull_secrets.map = MAP_INIT(seed);
    x->secrets.list.v = arena_array(a, struct str, account->secrets.n);
    for (size_t i = 0; i < account->secrets.n; i++)
        x->secrets.list.v[x->secrets.list.n++] = account->secrets.v[i].name;
    x->pull_secrets.list.v = arena_array(a, struct str, account->image_pull_secrets.n);
    for (size_t i = 0; i < account->image_pull_secrets.n; i++)
        x->pull_secrets.list.v[x->pull_secrets.list.n++] = account->image_pull_secrets.v[i].name;
}

static void allowance_release(struct allowance *x) {
    map_release(&x->secrets.map);
    map_release(&x->pull_secrets.map);
}

/* Why the container may not have a secret that it refers to, in the arena; or absent. */
static struct str container_fault(struct allowance *x, const struct api_container *c,
                                  const char *sort) {
    static const char rest[] = "referencing secret.secretName=\"%.*s\" is not allowed because "
                               "service account %.*s does not reference that secret";
    struct arena *a = x->a;
    struct str name, subject = {0};
    for (size_t i = 0; i < c->env.n && !subject.p; i++) {
        const struct api_env_var_source *from = c->env.v[i].value_from;
        if (!from || !from->secret_key_ref)
            continue;
        name = from->secret_key_ref->local_object_reference.name;
        if (!has_name(&x->secrets, name))
            subject = arena_printf(a, "%s %.*s with envVar %.*s", sort, STR_ARG(c->name),
                                   STR_ARG(c->env.v[i].name));
    }
    for (size_t i = 0; i < c->env_from.n && !subject.p; i++) {
        if (!c->env_from.v[i].secret_ref)
            continue;
        name = c->env_from.v[i].secret_ref->local_object_reference.name;
        if (!has_name(&x->secrets, name))
            subject = arena_printf(a, "%s %.*s with envFrom", sort, STR_ARG(c->name));
    }
    if (!subject.p)
        return subject;
    struct str why = arena_printf(a, rest, STR_ARG(name), STR_ARG(x->account));
    return arena_printf(a, "%.*s %.*s", STR_ARG(subject), STR_ARG(why));
}

static struct str containers_fault(struct allowance *x, const struct api_container_list *list,
                                   const char *sort) {
    struct str fault = {0};
    for (size_t i = 0; i < list->n && !fault.p; i++)
        fault = container_fault(x, &list->v[i], sort);
    return fault;
}

static struct str volumes_fault(struct allowance *x, const struct api_pod_spec *spec) {
    for (size_t i = 0; i < spec->volumes.n; i++) {
        const struct api_secret_volume_source *s = spec->volumes.v[i].volume_source.secret;
        if (s && !has_name(&x->secrets, s->secret_name))
            return arena_printf(x->a,
                                "volume with secret.secretName=\"%.*s\" is not allowed because "
                                "service account %.*s does not reference that secret",
                                STR_ARG(s->secret_name), STR_ARG(x->account));
    }
    return (struct str){0};
}

static struct str pull_fault(struct allowance *x, const struct api_pod_spec *spec) {
    for (size_t i = 0; i < spec->image_pull_secrets.n; i++) {
        struct str name = spec->image_pull_secrets.v[i].name;
        if (!has_name(&x->pull_secrets, name))
            return arena_printf(x->a,
                                "imagePullSecrets[%zu].name=\"%.*s\" is not allowed because "
                                "service account %.*s does not reference that imagePullSecret",
                                i, STR_ARG(name), STR_ARG(x->account));
    }
    return (struct str){0};
}

static bool limit_secrets(struct registry__admission *m, const struct api_object *o) {
    const struct api_pod_spec *spec = spec_of(m);
    struct allowance x;
    allowance_init(&x, m->a, o->body);
    struct str fault = volumes_fault(&x, spec);
    if (!fault.p)
        fault = containers_fault(&x, &spec->init_containers, "init container");
    if (!fault.p)
        fault = containers_fault(&x, &spec->containers, "container");
    if (!fault.p)
        fault = pull_fault(&x, spec);
    allowance_release(&x);
    return !fault.p || registry__forbid(m, "%.*s", STR_ARG(fault));
}

/* What upstream does not say as a refusal. */
static bool limit_ephemeral(struct registry__admission *m) {
    const struct api_object *account;
    const struct api_pod_spec *spec = spec_of(m);
    struct allowance x;
    struct str fault = {0};
    if (!demand_account(m, &account))
        return false;
    if (!is_strict(account))
        return true;
    allowance_init(&x, m->a, account->body);
    for (size_t i = 0; i < spec->ephemeral_containers.n && !fault.p; i++)
        fault =
            container_fault(&x, &spec->ephemeral_containers.v[i].container, "ephemeral container");
    allowance_release(&x);
    return !fault.p || registry__break_off(m, "%.*s", STR_ARG(fault));
}

/* ---- judging ---- */

static bool projects_token(const struct api_pod_spec *spec) {
    for (size_t i = 0; i < spec->volumes.n; i++) {
        const struct api_projected_volume_source *p = spec->volumes.v[i].volume_source.projected;
        for (size_t k = 0; p && k < p->sources.n; k++)
            if (p->sources.v[k].service_account_token)
                return true;
    }
    return false;
}

static bool validate_mirror(struct registry__admission *m) {
    const struct api_pod_spec *spec = spec_of(m);
    if (spec->service_account_name.n)
        return registry__forbid(m, "a mirror pod may not reference service accounts");
    if (registry__pod_has_secrets(spec))
        return registry__forbid(m, "a mirror pod may not reference secrets");
    if (projects_token(spec))
        return registry__forbid(m, "a mirror pod may not use ServiceAccountToken volume "
                                   "projections");
    return true;
}

static bool validate(struct registry__admission *m) {
    const struct api_object *account;
    if (registry__is_mirror(m->o))
        return validate_mirror(m);
    return demand_account(m, &account) && (!is_strict(account) || limit_secrets(m, account));
}

static bool validate_update(struct registry__admission *m) {
    return !str_is(m->request->subresource, "ephemeralcontainers") || limit_ephemeral(m);
}

/* ---- the token ---- */

static bool mounts_token(const struct api_container *c) {
    for (size_t i = 0; i < c->volume_mounts.n; i++)
        if (str_eq(c->volume_mounts.v[i].mount_path, MOUNT_PATH))
            return true;
    return false;
}

/* Mounts the volume in all containers that have nothing at its place. True if there is one. */
static bool mount_in(struct arena *a, struct api_container_list *list, struct str volume) {
    bool mounted = false;
    for (size_t i = 0; i < list->n; i++) {
        struct api_volume_mount_list *old = &list->v[i].volume_mounts, mounts;
        if (mounts_token(&list->v[i]))
            continue;
        mounts.v = arena_array(a, struct api_volume_mount, old->n + 1);
        for (mounts.n = 0; mounts.n < old->n; mounts.n++)
            mounts.v[mounts.n] = old->v[mounts.n];
        mounts.v[mounts.n++] =
            (struct api_volume_mount){.name = volume, .read_only = true, .mount_path = MOUNT_PATH};
        *old = mounts;
        mounted = true;
    }
    return mounted;
}

/* A volume with a token of the account, the certificates to trust, and the namespace. */
static void add_token_volume(struct registry__admission *m, struct str name) {
    enum { MODE = 0644, SECONDS = 3607, SOURCES = 3 };
    struct arena *a = &m->o->arena;
    struct api_volume_list *old = &((struct api_pod *)api_own_body(m->o))->spec.volumes, list;
    struct api_projected_volume_source *p = arena_new(a, struct api_projected_volume_source);
    struct api_volume_projection *s = arena_array(a, struct api_volume_projection, SOURCES);
    struct api_service_account_token_projection *token =
        arena_new(a, struct api_service_account_token_projection);
    struct api_config_map_projection *ca = arena_new(a, struct api_config_map_projection);
    struct api_downward_api_projection *downward = arena_new(a, struct api_downward_api_projection);
    struct api_key_to_path *item = arena_new(a, struct api_key_to_path);
    struct api_downward_api_volume_file *file = arena_new(a, struct api_downward_api_volume_file);
    struct api_object_field_selector *field = arena_new(a, struct api_object_field_selector);
    *token = (struct api_service_account_token_projection){.path = STR("token"),
                                                           .expiration_seconds = {true, SECONDS}};
    *item = (struct api_key_to_path){.key = STR("ca.crt"), .path = STR("ca.crt")};
    *ca = (struct api_config_map_projection){
        .local_object_reference = {.name = STR("kube-root-ca.crt")}, .items = {item, 1}};
    *field = (struct api_object_field_selector){.api_version = STR("v1"),
                                                .field_path = STR("metadata.namespace")};
    *file = (struct api_downward_api_volume_file){.path = STR("namespace"), .field_ref = field};
    *downward = (struct api_downward_api_projection){.items = {file, 1}};
    s[0] = (struct api_volume_projection){.service_account_token = token};
    s[1] = (struct api_volume_projection){.config_map = ca};
    s[2] = (struct api_volume_projection){.downward_api = downward};
    *p =
        (struct api_projected_volume_source){.sources = {s, SOURCES}, .default_mode = {true, MODE}};
    list.v = arena_array(a, struct api_volume, old->n + 1);
    for (list.n = 0; list.n < old->n; list.n++)
        list.v[list.n] = old->v[list.n];
    list.v[list.n++] = (struct api_volume){.name = name, .volume_source = {.projected = p}};
    *old = list;
}

/* Random where the uids of new objects are. The pods of one owner have one name for it: a volume's
 * name means something in its pod alone, and so their containers are alike. */
static struct str new_volume_name(struct registry__admission *m) {
    enum { LETTERS = 5, KINDS = sizeof NAMES_LETTERS - 1 };
    char suffix[LETTERS + 1] = {0};
    const struct api_owner_reference *owner = api_object_controller(m->o);
    uint64_t chance = str_hash(owner ? owner->uid : m->request->uid, 0);
    for (size_t i = 0; i < LETTERS; i++, chance /= KINDS)
        suffix[i] = NAMES_LETTERS[chance % KINDS];
    return arena_printf(&m->o->arena, "kube-api-access-%s", suffix);
}

static void mount_token(struct registry__admission *m) {
    struct api_pod_spec *spec = &((struct api_pod *)api_own_body(m->o))->spec;
    struct str name = {0};
    for (size_t i = 0; i < spec->volumes.n && !name.p; i++)
        if (str_starts(spec->volumes.v[i].name, STR("kube-api-access-")))
            name = spec->volumes.v[i].name;
    bool had = name.p;
    if (!had)
        name = new_volume_name(m);
    bool first = mount_in(&m->o->arena, &spec->init_containers, name);
    bool mounted = mount_in(&m->o->arena, &spec->containers, name) || first;
    if (mounted && !had)
        add_token_volume(m, name);
}

/* ---- changing ---- */

static void take_pull_secrets(struct registry__admission *m,
                              const struct api_service_account *account) {
    struct arena *a = &m->o->arena;
    struct api_pod_spec *spec = &((struct api_pod *)api_own_body(m->o))->spec;
    size_t n = account->image_pull_secrets.n;
    if (spec->image_pull_secrets.n || !n)
        return;
    spec->image_pull_secrets = (struct api_local_object_reference_list){
        arena_array(a, struct api_local_object_reference, n), n};
    for (size_t i = 0; i < n; i++)
        spec->image_pull_secrets.v[i] = (struct api_local_object_reference){
            .name = arena_str(a, account->image_pull_secrets.v[i].name)};
}

/* The pod's wish counts before the account's. */
static bool wants_token(const struct api_pod_spec *spec,
                        const struct api_service_account *account) {
    if (spec->automount_service_account_token.set)
        return spec->automount_service_account_token.v;
    return !account->automount_service_account_token.set ||
           account->automount_service_account_token.v;
}

static bool mutate(struct registry__admission *m) {
    struct api_pod_spec *spec = &((struct api_pod *)api_own_body(m->o))->spec;
    const struct api_object *account;
    if (registry__is_mirror(m->o))
        return validate(m);
    if (!spec->service_account_name.n)
        spec->service_account_name = spec->service_account = STR("default");
    if (!find_account(m, &account))
        return false;
    if (wants_token(spec, account->body))
        mount_token(m);
    take_pull_secrets(m, account->body);
    return validate(m);
}

const struct registry__admission_plugin registry__service_account = {
    .name = "ServiceAccount",
    .mutate = {[REGISTRY_CREATE] = mutate},
    .validate = {[REGISTRY_CREATE] = validate, [REGISTRY_UPDATE] = validate_update},
    .type = API_T_pod,
    .subresources = "ephemeralcontainers",
    .is_off = true};
