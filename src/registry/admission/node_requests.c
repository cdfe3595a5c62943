/*
 * What a kubelet may ask for on behalf of its pods: tokens and certificates.
 *
 * Follows k8s.io/kubernetes plugin/pkg/admission/noderestriction,
 * func (*Plugin) admitServiceAccount, func (*Plugin) validateNodeServiceAccountAudience,
 * func (*Plugin) podReferencesAudience, func (*Plugin) admitPodCertificateRequest,
 * func (*Plugin) validateNodePodCertificateSigner.
 */
#include "registry/admission/node_restriction_int.h"

static bool allows(struct registry__admission *m, const char *verb, struct str resource,
                   struct str name) {
    const struct registry_authorizer *authorizer = m->registry->authorizer;
    const struct api_kind *kind = m->resource ? m->resource : m->o->kind;
    struct str reason;
    struct registry_access q = {.user = m->request->user,
                                .verb = str_of(verb),
                                .group = registry_group_of(str_of(kind->api_version)),
                                .resource = resource,
                                .namespace = registry__namespace_of(m),
                                .name = name};
    return !authorizer || authorizer->allows(authorizer, m->a, &q, &reason);
}

/* ---- tokens ---- */

/* Who tokens of a pod's volumes are for. */
struct audience {
    struct registry__admission *m;
    const struct api_pod *pod;
    struct str wanted;
    struct buf errors; /* joined */
    size_t error_count;
};

static void note_missing(struct audience *a, const struct api_kind *kind, struct str name) {
    struct str group = registry_group_of(str_of(kind->api_version));
    buf_addf(&a->errors, "%s%s%s%.*s ", a->error_count++ ? ", " : "",
             registry_resource_of(kind)->singular, group.n ? "." : "", STR_ARG(group));
    buf_add(&a->errors, registry__quote(a->m->a, name));
    buf_add(&a->errors, STR(" not found"));
}

static const struct api_object *look_up(struct audience *a, const struct api_kind *kind,
                                        struct str name) {
    struct str namespace = kind->namespaced ? a->pod->metadata.namespace : STR("");
    const struct api_object *o = registry_view_get(a->m->registry->view, kind, namespace, name);
    if (!o)
        note_missing(a, kind, name);
    return o;
}

/* The driver behind a claim; empty: there is none, or it is not known. */
static struct str driver_of_claim(struct audience *a, struct str name) {
    const struct api_object *claim =
        look_up(a, registry__kind("v1", "PersistentVolumeClaim"), name);
    if (!claim)
        return STR("");
    struct str volume = ((const struct api_persistent_volume_claim *)claim->body)->spec.volume_name;
    const struct api_object *o = look_up(a, registry__kind("v1", "PersistentVolume"), volume);
    const struct api_persistent_volume *pv = o ? o->body : NULL;
    return pv && pv->spec.persistent_volume_source.csi
               ? pv->spec.persistent_volume_source.csi->driver
               : STR("");
}

static struct str driver_of(struct audience *a, const struct api_volume *v) {
    const struct api_volume_source *s = &v->volume_source;
    if (s->ephemeral && s->ephemeral->volume_claim_template)
        return driver_of_claim(a, arena_printf(a->m->a, "%.*s-%.*s", STR_ARG(a->pod->metadata.name),
                                               STR_ARG(v->name)));
    if (s->persistent_volume_claim)
        return driver_of_claim(a, s->persistent_volume_claim->claim_name);
    return s->csi ? s->csi->driver : STR("");
}

static bool driver_serves(struct audience *a, struct str driver) {
    const struct api_object *o =
        driver.n ? look_up(a, registry__kind("storage.k8s.io/v1", "CSIDriver"), driver) : NULL;
    const struct api_csi_driver *d = o ? o->body : NULL;
    for (size_t i = 0; d && i < d->spec.token_requests.n; i++)
        if (str_eq(d->spec.token_requests.v[i].audience, a->wanted))
            return true;
    return false;
}

static bool projects_for(const struct audience *a, const struct api_projected_volume_source *p) {
    for (size_t i = 0; p && i < p->sources.n; i++) {
        const struct api_service_account_token_projection *t =
            p->sources.v[i].service_account_token;
        if (t && str_eq(t->audience, a->wanted))
            return true;
    }
    return false;
}

static bool is_for_pod(struct audience *a) {
    for (size_t i = 0; i < a->pod->spec.volumes.n; i++) {
        const struct api_volume *v = &a->pod->spec.volumes.v[i];
        if (projects_for(a, v->volume_source.projected) || driver_serves(a, driver_of(a, v)))
            return true;
    }
    return false;
}

static bool judge_audience(struct audience *a, struct str account) {
    struct registry__admission *m = a->m;
    struct str quoted = registry__quote(m->a, a->wanted), user = m->request->user->name;
    if (is_for_pod(a))
        return true;
    if (a->error_count > 1)
        return registry__forbid(m, "error validating audience %.*s: [%.*s]", STR_ARG(quoted),
                                STR_ARG(buf_view(&a->errors)));
    if (a->error_count)
        return registry__forbid(m, "error validating audience %.*s: %.*s", STR_ARG(quoted),
                                STR_ARG(buf_view(&a->errors)));
    return allows(m, "request-serviceaccounts-token-audience", a->wanted, account) ||
           registry__forbid(m, "%.*s is not authorized to request tokens for audience %.*s",
                            STR_ARG(user), STR_ARG(quoted));
}

static bool check_audience(struct registry__admission *m, const struct api_strs *audiences,
                           const struct api_pod *pod) {
    struct audience a = {.m = m, .pod = pod, .errors = BUF_INIT(SIZE_MAX)};
    if (!feature_enabled(m->registry->gates, FEATURE_ServiceAccountNodeAudienceRestriction))
        return true;
    if (audiences->n > 1)
        return registry__forbid(m, "node may only request 0 or 1 audiences");
    a.wanted = audiences->n ? audiences->v[0] : STR("");
    bool good = judge_audience(&a, registry__name_of(m));
    buf_release(&a.errors);
    return good;
}

static bool check_binding(struct registry__admission *m, const struct registry__node *node,
                          const struct api_bound_object_reference *ref,
                          const struct api_object **pod) {
    if (!ref || !str_is(ref->api_version, "v1") || !str_is(ref->kind, "Pod") || !ref->name.n)
        return registry__forbid(m, "node requested token not bound to a pod");
    if (!ref->uid.n)
        return registry__forbid(m, "node requested token with a pod binding without a uid");
    if (!registry__node_has_pod(m, ref->name, pod))
        return false;
    if (!str_eq(ref->uid, (*pod)->meta->uid))
        return registry__forbid(m,
                                "the UID in the bound object reference (%.*s) does not match the "
                                "UID in record. The object might have been deleted and then "
                                "recreated",
                                STR_ARG(ref->uid));
    return str_eq(((const struct api_pod *)(*pod)->body)->spec.node_name, node->name) ||
           registry__forbid(m, "node requested token bound to a pod scheduled on a different node");
}

bool registry__admit_tokens(struct registry__admission *m, const struct registry__node *node) {
    const struct api_object *pod = NULL;
    if (m->operation != REGISTRY_CREATE || !str_is(m->request->subresource, "token") ||
        !api_object_is(m->o, API_T_authentication_token_request))
        return true;
    const struct api_token_request_spec *spec =
        &((const struct api_authentication_token_request *)m->o->body)->spec;
    return check_binding(m, node, spec->bound_object_ref, &pod) &&
           check_audience(m, &spec->audiences, pod->body);
}

/* ---- certificates of pods ---- */

/* The namespaced name of the pod, quoted. */
static struct str pod_name(const struct registry__admission *m,
                           const struct api_pod_certificate_request_spec *spec) {
    return registry__quote(m->a, arena_printf(m->a, "%.*s/%.*s", STR_ARG(registry__namespace_of(m)),
                                              STR_ARG(spec->pod_name)));
}

static struct str quote(const struct registry__admission *m, struct str text) {
    return registry__quote(m->a, text);
}

static bool check_node(struct registry__admission *m, const struct registry__node *node,
                       const struct api_pod_certificate_request_spec *spec) {
    if (!str_eq(spec->node_name, node->name))
        return registry__forbid(m,
                                "PodCertificateRequest.Spec.NodeName=%.*s, which is not the "
                                "requesting node %.*s",
                                STR_ARG(quote(m, spec->node_name)), STR_ARG(node->quoted));
    const struct api_object *o = registry_view_get(m->registry->view, registry__kind("v1", "Node"),
                                                   STR(""), spec->node_name);
    if (!o)
        return registry__break_off(
            m, "while retrieving node %.*s named in the PodCertificateRequest: node %.*s not found",
            STR_ARG(node->quoted), STR_ARG(node->quoted));
    return str_eq(o->meta->uid, spec->node_uid) ||
           registry__break_off(m,
                               "PodCertificateRequest for pod %.*s names node UID %.*s, "
                               "inconsistent with the running node (%.*s)",
                               STR_ARG(pod_name(m, spec)), STR_ARG(quote(m, spec->node_uid)),
                               STR_ARG(quote(m, o->meta->uid)));
}

static bool check_pod(struct registry__admission *m,
                      const struct api_pod_certificate_request_spec *spec,
                      const struct api_pod **out) {
    const struct api_object *o = registry_view_get(m->registry->view, registry__kind("v1", "Pod"),
                                                   registry__namespace_of(m), spec->pod_name);
    struct str name = pod_name(m, spec);
    if (!o)
        return registry__break_off(
            m, "while retrieving pod %.*s named in the PodCertificateRequest: pod %.*s not found",
            STR_ARG(name), STR_ARG(quote(m, spec->pod_name)));
    *out = o->body;
    if (!str_eq(spec->pod_uid, o->meta->uid))
        return registry__break_off(m,
                                   "PodCertificateRequest for pod %.*s contains pod UID (%.*s) "
                                   "which differs from running pod %.*s",
                                   STR_ARG(name), STR_ARG(quote(m, spec->pod_uid)),
                                   STR_ARG(quote(m, o->meta->uid)));
    if (!str_eq((*out)->spec.node_name, spec->node_name))
        return registry__forbid(m,
                                "pod %.*s is not running on node %.*s named in the "
                                "PodCertificateRequest",
                                STR_ARG(name), STR_ARG(quote(m, spec->node_name)));
    return !registry__is_mirror(o) ||
           registry__forbid(m, "pod %.*s is a mirror pod", STR_ARG(name));
}

static bool check_account(struct registry__admission *m,
                          const struct api_pod_certificate_request_spec *spec,
                          const struct api_pod *pod) {
    struct str name = pod_name(m, spec), namespace = registry__namespace_of(m);
    if (!str_eq(spec->service_account_name, pod->spec.service_account_name))
        return registry__forbid(m,
                                "PodCertificateRequest for pod %.*s contains serviceAccountName "
                                "(%.*s) that differs from running pod (%.*s)",
                                STR_ARG(name), STR_ARG(quote(m, spec->service_account_name)),
                                STR_ARG(quote(m, pod->spec.service_account_name)));
    const struct api_object *o =
        registry_view_get(m->registry->view, registry__kind("v1", "ServiceAccount"), namespace,
                          spec->service_account_name);
    if (!o)
        return registry__break_off(
            m,
            "while retrieving service account %.*s named in the PodCertificateRequest: "
            "serviceaccount %.*s not found",
            STR_ARG(quote(m, arena_printf(m->a, "%.*s/%.*s", STR_ARG(namespace),
                                          STR_ARG(spec->service_account_name)))),
            STR_ARG(quote(m, spec->service_account_name)));
    return str_eq(o->meta->uid, spec->service_account_uid) ||
           registry__break_off(m,
                               "PodCertificateRequest for pod %.*s names service account UID %.*s, "
                               "which differs from the running service account (%.*s)",
                               STR_ARG(name), STR_ARG(quote(m, spec->service_account_uid)),
                               STR_ARG(quote(m, o->meta->uid)));
}

static bool mounts_signer(const struct api_pod *pod, struct str signer) {
    for (size_t i = 0; i < pod->spec.volumes.n; i++) {
        const struct api_projected_volume_source *p =
            pod->spec.volumes.v[i].volume_source.projected;
        for (size_t k = 0; p && k < p->sources.n; k++)
            if (p->sources.v[k].pod_certificate &&
                str_eq(p->sources.v[k].pod_certificate->signer_name, signer))
                return true;
    }
    return false;
}

static bool check_signer(struct registry__admission *m,
                         const struct api_pod_certificate_request_spec *spec,
                         const struct api_pod *pod) {
    char *munged = arena_copy(m->a, spec->signer_name.p, spec->signer_name.n);
    for (size_t i = 0; i < spec->signer_name.n; i++)
        munged[i] = munged[i] == '/' ? ':' : munged[i];
    return mounts_signer(pod, spec->signer_name) ||
           allows(m, "request-serviceaccounts-podcertificate-signer",
                  (struct str){munged, spec->signer_name.n}, spec->service_account_name) ||
           registry__forbid(m,
                            "pod %.*s does not mount a podCertificate projected volume for signer "
                            "%.*s",
                            STR_ARG(pod_name(m, spec)), STR_ARG(quote(m, spec->signer_name)));
}

bool registry__admit_pod_certificates(struct registry__admission *m,
                                      const struct registry__node *node) {
    static const char *const operations[] = {"CREATE", "UPDATE", "DELETE"};
    const struct api_pod_certificate_request_spec *spec =
        &((const struct api_pod_certificate_request *)m->o->body)->spec;
    const struct api_pod *pod = NULL;
    if (!feature_enabled(m->registry->gates, FEATURE_PodCertificateRequest))
        return registry__forbid(m, "PodCertificateRequest feature gate is disabled");
    if (m->operation != REGISTRY_CREATE)
        return registry__forbid(m, "unexpected operation %s", operations[m->operation]);
    if (!registry__is_whole(m))
        return registry__forbid(m, "unexpected subresource %.*s", STR_ARG(m->request->subresource));
    return check_node(m, node, spec) && check_pod(m, spec, &pod) && check_account(m, spec, pod) &&
           check_signer(m, spec, pod);
}
