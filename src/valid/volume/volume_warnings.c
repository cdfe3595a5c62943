/*
 * What a server warns of in the volumes of pods, and in claims.
 *
 * Follows k8s.io/kubernetes pkg/api/pod, func warningsForOverlappingVirtualPaths, func
 * checkVolumeMappingForOverlap, func checkForOverlap, func (pathAndSource) String.
 * Follows k8s.io/kubernetes pkg/api/persistentvolumeclaim, func
 * GetWarningsForPersistentVolumeClaimSpec.
 */
#include "base/vec.h"
#include "valid/volume/volume_int.h"
#include "valid/warnings_int.h"

/* ---- kinds of volumes that are no more ---- */

static void warn_source(struct valid_warnings *w, const struct path *p,
                        const struct api_volume_source *s) {
    bool has_driver = feature_enabled(w->gates, FEATURE_GitRepoVolumeDriver);
    const struct {
        bool is_used;
        const char *name, *message;
    } kinds[] = {
        {s->photon_persistent_disk, "photonPersistentDisk",
         "deprecated in v1.11, non-functional in v1.16+"},
        {s->git_repo, "gitRepo",
         has_driver ? "deprecated in v1.11"
                    : "deprecated in v1.11, and disabled by default in v1.33+"},
        {s->scale_io, "scaleIO", "deprecated in v1.16, non-functional in v1.22+"},
        {s->flocker, "flocker", "deprecated in v1.22, non-functional in v1.25+"},
        {s->storageos, "storageOS", "deprecated in v1.22, non-functional in v1.25+"},
        {s->quobyte, "quobyte", "deprecated in v1.22, non-functional in v1.25+"},
        {s->glusterfs, "glusterfs", "deprecated in v1.25, non-functional in v1.26+"},
        {s->cephfs, "cephfs", "deprecated in v1.28, non-functional in v1.31+"},
        {s->rbd, "rbd", "deprecated in v1.28, non-functional in v1.31+"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].is_used)
            valid__warn_at(w, AT(p, kinds[i].name), "%s", kinds[i].message);
    if (s->ephemeral && s->ephemeral->volume_claim_template)
        valid__warn_claim_spec(w, AT(AT(AT(p, "ephemeral"), "volumeClaimTemplate"), "spec"),
                               &s->ephemeral->volume_claim_template->spec);
}

void valid__warn_claim_spec(struct valid_warnings *w, const struct path *p,
                            const struct api_persistent_volume_claim_spec *spec) {
    const struct path *resources = AT(p, "resources");
    valid__warn_fraction(w, AT(resources, "requests"), &spec->resources.requests, "storage");
    valid__warn_fraction(w, AT(resources, "limits"), &spec->resources.limits, "storage");
}

/* ---- files of one volume that are in each other's way ---- */

struct file {
    struct str path;
    struct str source; /* empty: there is but one */
};

struct files {
    struct valid_warnings *w;
    struct str volume, kind; /* for the texts */
    VEC(struct file) v;
};

static struct str file_text(struct arena *a, const struct file *f) {
    struct str quoted = valid__go_quoted(a, f->path);
    return f->source.n ? arena_printf(a, "%.*s (%.*s)", STR_ARG(quoted), STR_ARG(f->source))
                       : quoted;
}

/* Is one the other's folder, or are they the same? */
static bool overlap(struct str a, struct str b) {
    struct str shorter = a.n < b.n ? a : b, longer = a.n < b.n ? b : a;
    return str_starts(longer, shorter) && (longer.n == shorter.n || longer.p[shorter.n] == '/');
}

static void add_file(struct files *all, struct str path, struct str source) {
    struct valid_warnings *w = all->w;
    while (path.n && path.p[path.n - 1] == '/')
        path.n--;
    struct file file = {path, source};
    for (size_t i = 0; path.n && i < all->v.n && valid__may_compare(w); i++)
        if (all->v.v[i].path.n && overlap(path, all->v.v[i].path))
            valid__warn(w, "volume %.*s (%.*s): overlapping paths: %.*s with %.*s",
                        STR_ARG(valid__go_quoted(w->a, all->volume)), STR_ARG(all->kind),
                        STR_ARG(file_text(w->a, &file)), STR_ARG(file_text(w->a, &all->v.v[i])));
    vec_push(&all->v, file);
}

static void add_keys(struct files *all, const struct api_key_to_path_list *list,
                     struct str source) {
    for (size_t i = 0; i < list->n; i++)
        add_file(all, list->v[i].path, source);
}

static void add_downward(struct files *all, const struct api_downward_api_volume_file_list *list,
                         struct str source) {
    for (size_t i = 0; i < list->n; i++)
        add_file(all, list->v[i].path, source);
}

static struct str named(struct arena *a, const char *kind, struct str name) {
    return arena_printf(a, "%s %.*s", kind, STR_ARG(valid__go_quoted(a, name)));
}

static void add_certificate(struct files *all, const struct api_pod_certificate_projection *c) {
    if (c->certificate_chain_path.n)
        add_file(all, c->certificate_chain_path, STR("PodCertificate chain"));
    if (c->key_path.n)
        add_file(all, c->key_path, STR("PodCertificate key"));
    if (c->credential_bundle_path.n)
        add_file(all, c->credential_bundle_path, STR("PodCertificate credential bundle"));
}

static void add_projection(struct files *all, const struct api_volume_projection *p) {
    struct arena *a = all->w->a;
    if (p->config_map && p->config_map->items.v) {
        add_keys(all, &p->config_map->items,
                 named(a, "ConfigMap", p->config_map->local_object_reference.name));
    } else if (p->secret && p->secret->items.v) {
        add_keys(all, &p->secret->items,
                 named(a, "Secret", p->secret->local_object_reference.name));
    } else if (p->downward_api && p->downward_api->items.v) {
        add_downward(all, &p->downward_api->items, STR("DownwardAPI"));
    } else if (p->service_account_token) {
        add_file(all, p->service_account_token->path, STR("ServiceAccountToken"));
    } else if (p->cluster_trust_bundle) {
        const struct api_cluster_trust_bundle_projection *b = p->cluster_trust_bundle;
        add_file(all, b->path,
                 named(a, "ClusterTrustBundle", b->name.p ? b->name : b->signer_name));
    } else if (p->pod_certificate) {
        add_certificate(all, p->pod_certificate);
    }
}

static void warn_projected(struct files *all, const struct api_projected_volume_source *source) {
    all->kind = STR("Projected");
    for (size_t i = 0; i < source->sources.n; i++) {
        const struct api_volume_projection *p = &source->sources.v[i];
        if (p->config_map || p->secret || p->downward_api || p->service_account_token ||
            p->cluster_trust_bundle || p->pod_certificate)
            add_projection(all, p);
        else
            valid__warn(all->w, "volume %.*s (Projected) has no sources provided",
                        STR_ARG(valid__go_quoted(all->w->a, all->volume)));
    }
}

static void warn_files(struct valid_warnings *w, struct str volume,
                       const struct api_volume_source *s) {
    struct files all = {.w = w, .volume = volume};
    if (s->config_map) {
        all.kind = named(w->a, "ConfigMap", s->config_map->local_object_reference.name);
        add_keys(&all, &s->config_map->items, STR(""));
    }
    all.v.n = 0;
    if (s->secret) {
        all.kind = named(w->a, "Secret", s->secret->secret_name);
        add_keys(&all, &s->secret->items, STR(""));
    }
    all.v.n = 0;
    if (s->downward_api) {
        all.kind = STR("DownwardAPI");
        add_downward(&all, &s->downward_api->items, STR(""));
    }
    all.v.n = 0;
    if (s->projected)
        warn_projected(&all, s->projected);
    vec_release(&all.v);
}

void valid__warn_volumes(struct valid_warnings *w, const struct path *p,
                         const struct api_volume_list *list) {
    for (size_t i = 0; i < list->n; i++)
        warn_source(w, AT_INDEX(p, i), &list->v[i].volume_source);
    for (size_t i = 0; i < list->n; i++)
        warn_files(w, list->v[i].name, &list->v[i].volume_source);
}
