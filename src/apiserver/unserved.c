/*
 * Objects that are stored like any other, and that nothing comes of here: who writes one is told,
 * or would take silence for a policy that nobody breaks.
 */
#include "apiserver/apiserver_int.h"

static const struct {
    enum api_type_id type;
    const char *what; /* the server does not do */
} unserved[] = {
    {API_T_custom_resource_definition, "serve custom resources"},
    {API_T_mutating_webhook_configuration, "call webhooks"},
    {API_T_validating_webhook_configuration, "call webhooks"},
    {API_T_mutating_admission_policy_binding, "apply admission policies"},
    {API_T_validating_admission_policy_binding, "apply admission policies"},
};

/* Labels that ask for pods of a certain security, when they are new or have another value. */
static struct str pod_security_of(struct arena *a, const struct api_object *o,
                                  const struct api_object *old) {
    static const struct str prefix = STR_INIT("pod-security.kubernetes.io/");
    const struct labels *labels = &o->meta->labels;
    for (size_t i = 0; i < labels->n; i++) {
        const struct label *l = &labels->v[i];
        const struct label *was = old ? labels_find(&old->meta->labels, l->key) : NULL;
        if (str_starts(l->key, prefix) && !(was && str_eq(was->value, l->value)))
            return arena_printf(a,
                                "this server does not check pod security: the label %.*s has no "
                                "effect",
                                STR_ARG(l->key));
    }
    return STR("");
}

struct str apiserver_unserved(struct arena *a, const struct api_object *o,
                              const struct api_object *old) {
    for (size_t i = 0; i < sizeof unserved / sizeof *unserved; i++)
        if (api_object_is(o, unserved[i].type))
            return arena_printf(a, "this server does not %s", unserved[i].what);
    if (api_object_is(o, API_T_api_service) &&
        ((const struct api_api_service *)o->body)->spec.service)
        return STR("this server does not pass requests on to other servers");
    return api_object_is(o, API_T_namespace) ? pod_security_of(a, o, old) : STR("");
}

static bool is_written(const struct apiserver_request *r) {
    return !r->subresource && (r->verb == REGISTRY_VERB_CREATE || r->verb == REGISTRY_VERB_UPDATE ||
                               r->verb == REGISTRY_VERB_PATCH);
}

void apiserver__warn_of_unserved(struct apiserver__call *c, const struct api_object *o) {
    struct valid_warnings *w = &c->warnings;
    if (!is_written(c->r))
        return;
    const struct api_object *old = api_object_is(o, API_T_namespace) ? apiserver__stored(c) : NULL;
    struct str text = apiserver_unserved(c->r->arena, o, old);
    if (text.n && w->n < sizeof w->v / sizeof *w->v)
        w->v[w->n++] = text;
}
