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

static void warn(struct apiserver__call *c, struct str text) {
    struct valid_warnings *w = &c->warnings;
    if (w->n < sizeof w->v / sizeof *w->v)
        w->v[w->n++] = text;
}

/* Labels that ask for pods of a certain security, when they are new or have another value. */
static void warn_of_pod_security(struct apiserver__call *c, const struct api_object *o) {
    static const struct str prefix = STR_INIT("pod-security.kubernetes.io/");
    const struct api_object *old = apiserver__stored(c);
    const struct labels *labels = &o->meta->labels;
    for (size_t i = 0; i < labels->n; i++) {
        const struct label *l = &labels->v[i];
        const struct label *was = old ? labels_find(&old->meta->labels, l->key) : NULL;
        if (!str_starts(l->key, prefix) || (was && str_eq(was->value, l->value)))
            continue;
        warn(c,
             arena_printf(c->r->arena,
                          "this server does not check pod security: the label %.*s has no effect",
                          STR_ARG(l->key)));
        return;
    }
}

static bool is_written(const struct apiserver_request *r) {
    return !r->subresource && (r->verb == REGISTRY_VERB_CREATE || r->verb == REGISTRY_VERB_UPDATE ||
                               r->verb == REGISTRY_VERB_PATCH);
}

void apiserver__warn_of_unserved(struct apiserver__call *c, const struct api_object *o) {
    if (!is_written(c->r))
        return;
    for (size_t i = 0; i < sizeof unserved / sizeof *unserved; i++)
        if (api_object_is(o, unserved[i].type))
            warn(c, arena_printf(c->r->arena, "this server does not %s", unserved[i].what));
    if (api_object_is(o, API_T_namespace))
        warn_of_pod_security(c, o);
    if (api_object_is(o, API_T_api_service) &&
        ((const struct api_api_service *)o->body)->spec.service)
        warn(c, STR("this server does not pass requests on to other servers"));
}
