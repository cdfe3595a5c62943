/*
 * Volumes that show objects of the API as files: secrets, config maps, the pod itself, tokens and
 * certificates, and projections of several of them into one folder.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func validateSecretVolumeSource,
 * func validateDownwardAPIVolumeSource, func validateProjectedVolumeSource.
 */
#include <string.h>

#include "valid/certificates/certificates_int.h"
#include "valid/pod/container_int.h"

/* ---- files ---- */

static void check_key_to_path(struct valid *v, const struct path *p,
                              const struct api_key_to_path *item) {
    if (!item->key.n)
        valid__required(v, AT(p, "key"), NO_DETAIL);
    if (!item->path.n)
        valid__required(v, AT(p, "path"), NO_DETAIL);
    valid__local_path(v, AT(p, "path"), item->path);
    valid__file_mode(v, AT(p, "mode"), &item->mode);
    valid__id(v, AT(p, "user"), &item->user);
}

static void check_items(struct valid *v, const struct path *p,
                        const struct api_key_to_path_list *items) {
    for (size_t i = 0; i < items->n; i++)
        check_key_to_path(v, AT_INDEX(p, i), &items->v[i]);
}

static void check_downward_file(struct valid *v, const struct path *p,
                                const struct api_downward_api_volume_file *file) {
    if (!file->path.n)
        valid__required(v, AT(p, "path"), NO_DETAIL);
    valid__local_path(v, AT(p, "path"), file->path);
    if (file->field_ref) {
        valid__field_ref(v, AT(p, "fieldRef"), file->field_ref, valid__volume_fields);
        if (file->resource_field_ref)
            valid__invalid(v, p, VALUE_Q(STR("resource")),
                           "fieldRef and resourceFieldRef can not be specified simultaneously");
    } else if (file->resource_field_ref) {
        valid__resource_field_ref(v, AT(p, "resourceFieldRef"), file->resource_field_ref, true);
    } else {
        valid__required(v, p, "one of fieldRef and resourceFieldRef is required");
    }
    valid__file_mode(v, AT(p, "mode"), &file->mode);
    valid__id(v, AT(p, "user"), &file->user);
}

/* ---- one object in a volume ---- */

void valid__secret_volume(const struct volume_view *view, const struct path *p,
                          const void *source) {
    const struct api_secret_volume_source *s = source;
    if (!s->secret_name.n)
        valid__required(view->v, AT(p, "secretName"), NO_DETAIL);
    valid__file_mode(view->v, AT(p, "defaultMode"), &s->default_mode);
    valid__id(view->v, AT(p, "defaultUser"), &s->default_user);
    check_items(view->v, AT(p, "items"), &s->items);
}

void valid__config_map_volume(const struct volume_view *view, const struct path *p,
                              const void *source) {
    const struct api_config_map_volume_source *s = source;
    if (!s->local_object_reference.name.n)
        valid__required(view->v, AT(p, "name"), NO_DETAIL);
    valid__file_mode(view->v, AT(p, "defaultMode"), &s->default_mode);
    valid__id(view->v, AT(p, "defaultUser"), &s->default_user);
    check_items(view->v, AT(p, "items"), &s->items);
}

/* Errors of items have upstream's path, which does not tell the item. */
void valid__downward_api_volume(const struct volume_view *view, const struct path *p,
                                const void *source) {
    const struct api_downward_api_volume_source *s = source;
    valid__file_mode(view->v, AT(p, "defaultMode"), &s->default_mode);
    valid__id(view->v, AT(p, "defaultUser"), &s->default_user);
    for (size_t i = 0; i < s->items.n; i++)
        check_downward_file(view->v, p, &s->items.v[i]);
}

/* ---- projections ---- */

struct projection {
    const struct volume_view *view;
    struct valid *v;
    const struct path *path; /* of the projected volume */
    struct seen files;       /* their paths */
};

/* `value` is what the error shows for a path that another source has, too. */
static void add_file(struct projection *pr, struct str path, struct str value) {
    if (!seen_add(&pr->files, path))
        valid__invalid(pr->v, pr->path, VALUE_Q(value), "conflicting duplicate paths");
}

/* A secret or config map. */
static void check_object(struct projection *pr, const struct path *p, struct str name,
                         const struct api_key_to_path_list *items) {
    if (!name.n)
        valid__required(pr->v, AT(p, "name"), NO_DETAIL);
    for (size_t i = 0; i < items->n; i++) {
        check_key_to_path(pr->v, AT_INDEX(AT(p, "items"), i), &items->v[i]);
        if (items->v[i].path.n)
            add_file(pr, items->v[i].path, name);
    }
}

static void check_downward(struct projection *pr, const struct path *p,
                           const struct api_downward_api_projection *s) {
    for (size_t i = 0; i < s->items.n; i++) {
        check_downward_file(pr->v, p, &s->items.v[i]);
        if (s->items.v[i].path.n)
            add_file(pr, s->items.v[i].path, s->items.v[i].path);
    }
}

bool valid__had_odd_token_path(const struct api_pod_spec *old) {
    for (size_t i = 0; i < old->volumes.n; i++) {
        const struct api_projected_volume_source *s = old->volumes.v[i].volume_source.projected;
        for (size_t j = 0; s && j < s->sources.n; j++)
            if (s->sources.v[j].service_account_token &&
                !valid__is_local_path(s->sources.v[j].service_account_token->path))
                return true;
    }
    return false;
}

static void check_token(struct projection *pr, const struct path *p,
                        const struct api_service_account_token_projection *s) {
    struct valid *v = pr->v;
    const struct path *seconds = AT(p, "expirationSeconds");
    const struct api_opt_i64 *expiration = &s->expiration_seconds;
    if (!expiration->set)
        valid__required(v, seconds, NO_DETAIL);
    else if (expiration->v < 600)
        valid__invalid(v, seconds, VALUE_I64(expiration->v),
                       "may not specify a duration less than 10 minutes");
    else if (expiration->v > INT64_C(1) << 32)
        valid__invalid(v, seconds, VALUE_I64(expiration->v),
                       "may not specify a duration larger than 2^32 seconds");
    if (!s->path.n)
        valid__required(v, AT(pr->path, "path"), NO_DETAIL);
    else if (!valid__is_local_path(s->path) && !pr->view->had.odd_token_path)
        valid__local_path(v, AT(pr->path, "path"), s->path);
    valid__id(v, AT(p, "user"), &s->user);
}

/* ---- trust bundles ---- */

#define BAD_BUNDLE "not a valid clustertrustbundlename: "

static struct str replace(struct arena *a, struct str s, char from, char to) {
    char *p = arena_copy(a, s.p, s.n);
    for (size_t i = 0; i < s.n; i++)
        if (p[i] == from)
            p[i] = to;
    return (struct str){p, s.n};
}

/* Whose bundle it is stands before the last colon, with : where names of signers have /. */
static bool check_bundle_signer(struct valid *v, const struct path *p, struct str name,
                                struct str signer) {
    struct arena *a = v->errs->a;
    if (!signer.n) {
        valid__invalid(v, p, VALUE_Q(name),
                       BAD_BUNDLE
                       "ClusterTrustBundle without signer name must not have \":\" in its name");
        return false;
    }
    if (str_find_char(signer, '/') == STR_NONE)
        return true;
    struct str shown = replace(a, signer, ':', '/'), prefix = replace(a, signer, '/', ':');
    valid__invalid(v, p, VALUE_Q(name),
                   BAD_BUNDLE
                   "ClusterTrustBundle for signerName %.*s must be named with prefix %.*s:",
                   STR_ARG(shown), STR_ARG(prefix));
    return false;
}

static void check_bundle_name(struct valid *v, const struct path *p, struct str name) {
    size_t start = name.n; /* of the name as such */
    if (!name.n)
        valid__required(v, p, "must be a valid object name");
    while (start > 0 && name.p[start - 1] != ':')
        start--;
    if (start > 0 && !check_bundle_signer(v, p, name, str_sub(name, 0, start - 1)))
        return;
    struct names_errs errs = names_check_dns1123_subdomain(str_sub(name, start, name.n));
    for (size_t i = 0; i < errs.n; i++)
        valid__invalid(v, p, VALUE_Q(name), BAD_BUNDLE "%.*s", STR_ARG(errs.v[i]));
}

static void check_named_bundle(struct valid *v, const struct path *p,
                               const struct api_cluster_trust_bundle_projection *s) {
    check_bundle_name(v, AT(p, "name"), s->name);
    if (s->label_selector)
        valid__invalid(v, AT(p, "labelSelector"),
                       valid__struct_value(v->errs->a, API_T_label_selector, s->label_selector),
                       "labelSelector must be unset if name is specified");
}

static void check_signed_bundle(struct valid *v, const struct path *p,
                                const struct api_cluster_trust_bundle_projection *s) {
    if (!s->signer_name.n)
        valid__required(v, AT(p, "signerName"), "must be a valid signer name");
    valid__signer_name(v, AT(p, "signerName"), s->signer_name);
    if (s->label_selector)
        valid__label_selector(v, AT(p, "labelSelector"), s->label_selector,
                              &(struct selector_rules){0});
}

static void check_bundle(struct projection *pr, const struct path *p,
                         const struct api_cluster_trust_bundle_projection *s) {
    struct valid *v = pr->v;
    if (s->name.p && s->signer_name.p)
        valid__invalid(v, p,
                       valid__struct_value(v->errs->a, API_T_cluster_trust_bundle_projection, s),
                       "only one of name and signerName may be used");
    else if (s->name.p)
        check_named_bundle(v, p, s);
    else if (s->signer_name.p)
        check_signed_bundle(v, p, s);
    else
        valid__required(v, p, "either name or signerName must be specified");
    if (!s->path.n)
        valid__required(v, AT(p, "path"), NO_DETAIL);
    valid__id(v, AT(p, "user"), &s->user);
    valid__local_path(v, AT(p, "path"), s->path);
    add_file(pr, s->path, s->path);
}

/* ---- certificates ---- */

static void check_annotation_key(struct valid *v, const struct path *p, struct str key) {
    if (!key.n) {
        valid__required(v, p, NO_DETAIL);
        return;
    }
    struct names_errs errs = names_check_label_key(key);
    valid__names(v, p, key, &errs);
    if (!errs.n && str_find_char(key, '/') == STR_NONE)
        valid__invalid(v, p, VALUE_Q(key),
                       "must be a domain-prefixed key (such as \"acme.io/foo\")");
}

void valid__user_annotations(struct valid *v, const struct path *p,
                             const struct labels *annotations) {
    enum { MOST = 256 * 1024 };
    size_t bytes = 0;
    for (size_t i = 0; i < annotations->n; i++) {
        check_annotation_key(v, p, valid__lower(v->errs->a, annotations->v[i].key));
        bytes += annotations->v[i].key.n + annotations->v[i].value.n;
    }
    if (bytes > MOST)
        valid__too_long(v, p, MOST);
}

static void check_expiration(struct valid *v, const struct path *p,
                             const struct api_pod_certificate_projection *s) {
    enum { HOUR = 3600, DAY = 24 * HOUR, KUBERNETES_MOST = DAY, MOST = 91 * DAY };
    int32_t seconds = s->max_expiration_seconds.v;
    int32_t most = valid__is_kubernetes_signer(s->signer_name) ? KUBERNETES_MOST : MOST;
    if (!s->max_expiration_seconds.set)
        return;
    if (seconds < HOUR)
        valid__invalid(v, p, VALUE_I64(seconds), "if provided, maxExpirationSeconds must be >= %d",
                       HOUR);
    if (seconds > most)
        valid__invalid(v, p, VALUE_I64(seconds), "if provided, maxExpirationSeconds must be <= %d",
                       (int)most);
}

static void check_certificate(struct projection *pr, const struct path *p,
                              const struct api_pod_certificate_projection *s) {
    static const char *const key_types[] = {"RSA3072",   "RSA4096", "ECDSAP256", "ECDSAP384",
                                            "ECDSAP521", "ED25519", NULL};
    const struct {
        const char *name;
        struct str path;
    } files[] = {{"credentialBundlePath", s->credential_bundle_path},
                 {"keyPath", s->key_path},
                 {"certificateChainPath", s->certificate_chain_path}};
    struct valid *v = pr->v;
    size_t count = 0;
    valid__signer_name(v, AT(p, "signerName"), s->signer_name);
    valid__user_annotations(v, AT(p, "userAnnotations"), &s->user_annotations);
    valid__id(v, AT(p, "user"), &s->user);
    if (!valid__one_of(s->key_type, key_types))
        valid__not_supported(v, AT(p, "keyType"), VALUE_Q(s->key_type), key_types);
    check_expiration(v, AT(p, "maxExpirationSeconds"), s);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (!files[i].path.n)
            continue;
        count++;
        valid__local_path(v, AT(p, files[i].name), files[i].path);
        add_file(pr, files[i].path, files[i].path);
    }
    if (!count)
        valid__required(
            v, p,
            "specify at least one of credentialBundlePath, keyPath, and certificateChainPath");
}

/* ---- sources of a projection ---- */

static void check_source(struct projection *pr, const struct path *p,
                         const struct api_volume_projection *s) {
    if (s->secret)
        check_object(pr, AT(p, "secret"), s->secret->local_object_reference.name,
                     &s->secret->items);
    if (s->config_map)
        check_object(pr, AT(p, "configMap"), s->config_map->local_object_reference.name,
                     &s->config_map->items);
    if (s->downward_api)
        check_downward(pr, AT(p, "downwardAPI"), s->downward_api);
    if (s->service_account_token)
        check_token(pr, AT(p, "serviceAccountToken"), s->service_account_token);
    if (s->cluster_trust_bundle)
        check_bundle(pr, AT(p, "clusterTrustBundle"), s->cluster_trust_bundle);
    if (s->pod_certificate)
        check_certificate(pr, AT(p, "podCertificate"), s->pod_certificate);
    int sources = !!s->secret + !!s->config_map + !!s->downward_api + !!s->service_account_token +
                  !!s->cluster_trust_bundle + !!s->pod_certificate;
    if (sources > 1)
        valid__forbidden(pr->v, p, "may not specify more than 1 volume type per source");
}

void valid__projected_volume(const struct volume_view *view, const struct path *p,
                             const void *source) {
    const struct api_projected_volume_source *s = source;
    struct projection pr = {.view = view, .v = view->v, .path = p};
    valid__file_mode(view->v, AT(p, "defaultMode"), &s->default_mode);
    valid__id(view->v, AT(p, "defaultUser"), &s->default_user);
    for (size_t i = 0; i < s->sources.n; i++)
        check_source(&pr, AT_INDEX(AT(p, "sources"), i), &s->sources.v[i]);
    seen_release(&pr.files);
}
