/*
 * What a server warns of in pods, and in the templates that pods are made from.
 *
 * Follows k8s.io/kubernetes pkg/api/pod, func warningsForPodSpecAndMeta, func
 * warningsForPodAffinityTerms, func warningsForWeightedPodAffinityTerms.
 * Follows k8s.io/kubernetes pkg/api/node, func GetNodeLabelDeprecatedMessage, func
 * GetWarningsForNodeSelectorTerm.
 * Follows k8s.io/kubernetes pkg/registry/core/pod, func (podStrategy) WarningsOnCreate, func
 * (podStatusStrategy) WarningsOnUpdate.
 */
#include "base/limits.h"
#include "valid/pod/pod_int.h"
#include "valid/seen_int.h"
#include "valid/warnings_int.h"

typedef const struct api_pod_spec spec;

/* ---- labels of nodes ---- */

const char *valid__label_deprecation(struct str label) {
    static const char *const messages[][2] = {
        {"app.kubernetes.io/created-by", "deprecated since v1.9"},
        {"beta.kubernetes.io/arch", "deprecated since v1.14; use \"kubernetes.io/arch\" instead"},
        {"beta.kubernetes.io/instance-type",
         "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead"},
        {"beta.kubernetes.io/os", "deprecated since v1.14; use \"kubernetes.io/os\" instead"},
        {"failure-domain.beta.kubernetes.io/region",
         "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead"},
        {"failure-domain.beta.kubernetes.io/zone",
         "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead"},
        {"node-role.kubernetes.io/master", "use \"node-role.kubernetes.io/control-plane\" instead"},
        {"scheduler.alpha.kubernetes.io/preferAvoidPods",
         "deprecated since v1.22; use Taints and Tolerations instead"},
    };
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
        if (str_is(label, messages[i][0]))
            return messages[i][1];
    return NULL;
}

static void warn_label(struct valid_warnings *w, const struct path *p, struct str label) {
    const char *message = valid__label_deprecation(label);
    if (message)
        valid__warn_at(w, p, "%.*s is %s", STR_ARG(label), message);
}

static void warn_label_values(struct valid_warnings *w, const struct path *p,
                              const struct api_strs *values) {
    for (size_t i = 0; i < values->n; i++) {
        struct names_errs errs = names_check_label_value(values->v[i]);
        for (size_t k = 0; k < errs.n; k++)
            valid__warn_at(w, AT_INDEX(p, i), "%.*s is invalid, %.*s", STR_ARG(values->v[i]),
                           STR_ARG(errs.v[k]));
    }
}

void valid__warn_node_term(struct valid_warnings *w, const struct path *p,
                           const struct api_node_selector_term *term, bool is_preferred) {
    const struct path *list = AT(p, "matchExpressions");
    for (size_t i = 0; i < term->match_expressions.n; i++) {
        const struct api_node_selector_requirement *e = &term->match_expressions.v[i];
        warn_label(w, AT(AT_INDEX(list, i), "key"), e->key);
        if (is_preferred)
            warn_label_values(w, AT(AT_INDEX(list, i), "values"), &e->values);
    }
}

static void warn_node_affinity(struct valid_warnings *w, const struct path *p,
                               const struct api_node_affinity *a) {
    const struct api_node_selector *required = a->required;
    const struct path *terms =
        AT(AT(p, "requiredDuringSchedulingIgnoredDuringExecution"), "nodeSelectorTerms");
    for (size_t i = 0; required && i < required->node_selector_terms.n; i++)
        valid__warn_node_term(w, AT_INDEX(terms, i), &required->node_selector_terms.v[i], false);
    const struct path *preferred = AT(p, "preferredDuringSchedulingIgnoredDuringExecution");
    for (size_t i = 0; i < a->preferred.n; i++)
        valid__warn_node_term(w, AT(AT_INDEX(preferred, i), "preference"),
                              &a->preferred.v[i].preference, true);
}

static void warn_nodes(struct valid_warnings *w, const struct path *p, spec *s) {
    for (size_t i = 0; i < s->node_selector.n; i++) {
        const char *message = valid__label_deprecation(s->node_selector.v[i].key);
        if (message)
            valid__warn_at(w, AT_KEY(AT(p, "nodeSelector"), s->node_selector.v[i].key), "%s",
                           message);
    }
    if (s->affinity && s->affinity->node_affinity)
        warn_node_affinity(w, AT(AT(p, "affinity"), "nodeAffinity"), s->affinity->node_affinity);
}

/* ---- selectors of pods ---- */

static void warn_selector(struct valid_warnings *w, const struct path *p,
                          const struct api_label_selector *selector) {
    if (!selector)
        valid__warn_at(w, AT(p, "labelSelector"),
                       "a null labelSelector results in matching no pod");
}

static void warn_spread(struct valid_warnings *w, const struct path *p, spec *s) {
    const struct path *list = AT(p, "topologySpreadConstraints");
    for (size_t i = 0; i < s->topology_spread_constraints.n; i++) {
        const struct api_topology_spread_constraint *c = &s->topology_spread_constraints.v[i];
        warn_label(w, AT(AT_INDEX(list, i), "topologyKey"), c->topology_key);
        warn_selector(w, AT_INDEX(list, i), c->label_selector);
    }
}

static void warn_terms(struct valid_warnings *w, const struct path *p,
                       const struct api_pod_affinity_term_list *required,
                       const struct api_weighted_pod_affinity_term_list *preferred) {
    const struct path *list = AT(p, "requiredDuringSchedulingIgnoredDuringExecution");
    for (size_t i = 0; i < required->n; i++)
        warn_selector(w, AT_INDEX(list, i), required->v[i].label_selector);
    list = AT(p, "preferredDuringSchedulingIgnoredDuringExecution");
    for (size_t i = 0; i < preferred->n; i++)
        warn_selector(w, AT(AT_INDEX(list, i), "podAffinityTerm"),
                      preferred->v[i].pod_affinity_term.label_selector);
}

static void warn_pod_affinity(struct valid_warnings *w, const struct path *p,
                              const struct api_affinity *a) {
    if (a && a->pod_affinity)
        warn_terms(w, AT(p, "podAffinity"), &a->pod_affinity->required,
                   &a->pod_affinity->preferred);
    if (a && a->pod_anti_affinity)
        warn_terms(w, AT(p, "podAntiAffinity"), &a->pod_anti_affinity->required,
                   &a->pod_anti_affinity->preferred);
}

/* ---- annotations ---- */

#define NO_SECCOMP "non-functional in v1.27+; use the \"seccompProfile\" field instead"

static void warn_annotations(struct valid_warnings *w, const struct path *p,
                             const struct labels *annotations) {
    static const char *const messages[][2] = {
        {"scheduler.alpha.kubernetes.io/critical-pod",
         "non-functional in v1.16+; use the \"priorityClassName\" field instead"},
        {"security.alpha.kubernetes.io/sysctls",
         "non-functional in v1.11+; use the \"sysctls\" field instead"},
        {"security.alpha.kubernetes.io/unsafe-sysctls",
         "non-functional in v1.11+; use the \"sysctls\" field instead"},
    };
    for (size_t i = 0; annotations->n && i < sizeof messages / sizeof *messages; i++)
        if (labels_find(annotations, str_of(messages[i][0])))
            valid__warn_at(w, AT_KEY(p, str_of(messages[i][0])), "%s", messages[i][1]);
}

static void warn_seccomp(struct valid_warnings *w, const struct path *p,
                         const struct labels *annotations, spec *s) {
    struct str key = STR("seccomp.security.alpha.kubernetes.io/pod");
    bool has_field = s->security_context && s->security_context->seccomp_profile;
    if (!has_field && labels_find(annotations, key))
        valid__warn_at(w, AT_KEY(p, key), NO_SECCOMP);
}

/* Of one container; those about AppArmor are for templates, whose annotations stay. */
static void warn_container_annotations(struct valid_warnings *w, const struct path *top,
                                       const struct labels *annotations,
                                       const struct container_walk *walk) {
    const struct path *p = AT(AT(top, "metadata"), "annotations");
    const struct api_security_context *own = walk->c->security_context;
    const struct label *seccomp = valid__seccomp_annotation(annotations, walk->c->name);
    if (seccomp && !(own && own->seccomp_profile))
        valid__warn_at(w, AT_KEY(p, seccomp->key), NO_SECCOMP);
    const struct label *armor = valid__app_armor_annotation(annotations, walk->c->name);
    if (top && armor && !(own && own->app_armor_profile) &&
        !valid__app_armor_is_said(walk->spec, armor->value))
        valid__warn_at(w, AT_KEY(p, armor->key), OLD_APP_ARMOR);
}

/* ---- names that occur twice ---- */

static void warn_aliases(struct valid_warnings *w, const struct path *p,
                         const struct api_host_alias_list *list) {
    struct seen ips;
    seen_init(&ips);
    for (size_t i = 0; i < list->n; i++)
        if (!seen_add(&ips, list->v[i].ip))
            valid__warn_at(w, AT(AT_INDEX(p, i), "ip"), "duplicate ip %.*s",
                           STR_ARG(valid__go_quoted(w->a, list->v[i].ip)));
    seen_release(&ips);
}

static void warn_pull_secrets(struct valid_warnings *w, const struct path *p,
                              const struct api_local_object_reference_list *list) {
    struct seen names;
    seen_init(&names);
    for (size_t i = 0; i < list->n; i++)
        if (!seen_add(&names, list->v[i].name))
            valid__warn_at(w, AT(AT_INDEX(p, i), "name"), "duplicate name %.*s",
                           STR_ARG(valid__go_quoted(w->a, list->v[i].name)));
    seen_release(&names);
    for (size_t i = 0; i < list->n; i++)
        if (!list->v[i].name.n)
            valid__warn_at(w, AT(AT_INDEX(p, i), "name"), "invalid empty name \"\"");
}

/* A later value may build upon the one before it: X="$(X)123". */
static bool hides_another(struct valid_warnings *w, const struct api_env_var *e) {
    struct str ref = arena_printf(w->a, "$(%.*s)", STR_ARG(e->name));
    return e->value_from || str_eq(e->value, ref) || str_find(e->value, ref) == STR_NONE;
}

static void warn_env(struct valid_warnings *w, const struct path *p,
                     const struct api_env_var_list *env) {
    struct seen names;
    seen_init(&names);
    for (size_t i = 0; i < env->n && env->n > 1; i++)
        if (!seen_add(&names, env->v[i].name) && !valid__warnings_are_full(w) &&
            hides_another(w, &env->v[i]))
            valid__warn_at(
                w, AT_INDEX(p, i),
                "hides previous definition of %.*s, which may be dropped when using apply",
                STR_ARG(valid__go_quoted(w->a, env->v[i].name)));
    seen_release(&names);
}

/* ---- amounts ---- */

void valid__warn_fraction(struct valid_warnings *w, const struct path *p,
                          const struct api_quantities *list, const char *resource) {
    const struct quantity *q = valid__find_quantity(list, str_of(resource));
    if (!q || quantity_milli_value(q) % 1000 == 0)
        return;
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    quantity_write(&text, q);
    valid__warn_at(w, AT_KEY(p, str_of(resource)),
                   "fractional byte value %.*s is invalid, must be an integer",
                   STR_ARG(valid__go_quoted(w->a, buf_view(&text))));
}

static void warn_resources(struct valid_warnings *w, const struct path *p,
                           const struct api_resource_requirements *r) {
    static const char *const resources[] = {"memory", "ephemeral-storage"};
    for (size_t i = 0; i < 2; i++) {
        valid__warn_fraction(w, AT(p, "limits"), &r->limits, resources[i]);
        valid__warn_fraction(w, AT(p, "requests"), &r->requests, resources[i]);
    }
}

/* ---- ports ---- */

struct port_at {
    const struct api_container_port *port;
    uint32_t container, index;
};

struct ports {
    spec *s;
    const struct path *p;
    struct port_at *v;
    size_t n;
};

/* The path of a port, as text. */
static struct str port_text(struct valid_warnings *w, const struct ports *all,
                            const struct port_at *at) {
    struct container_walk walk = CONTAINER_WALK(all->s, all->p);
    for (uint32_t i = 0; i <= at->container; i++)
        valid__walk(&walk);
    return valid__path_text(w->a, AT_INDEX(AT(&walk.at, "ports"), at->index));
}

static size_t count_ports(spec *s) {
    size_t n = 0;
    for (struct container_walk walk = CONTAINER_WALK(s, NULL); valid__walk(&walk);)
        n += walk.c->ports.n;
    return n;
}

static struct ports gather_ports(struct valid_warnings *w, const struct path *p, spec *s) {
    struct ports all = {s, p, arena_array(w->a, struct port_at, count_ports(s)), 0};
    uint32_t container = 0;
    for (struct container_walk walk = CONTAINER_WALK(s, NULL); valid__walk(&walk); container++)
        for (size_t i = 0; i < walk.c->ports.n; i++)
            all.v[all.n++] = (struct port_at){&walk.c->ports.v[i], container, (uint32_t)i};
    return all;
}

/* What two ports of one number and protocol are to each other; or NULL. */
static const char *conflict_of(const struct api_container_port *a,
                               const struct api_container_port *b) {
    if (a->container_port != b->container_port || !str_eq(a->protocol, b->protocol))
        return NULL;
    if (a->host_port == b->host_port && str_eq(a->host_ip, b->host_ip))
        return "duplicate";
    if (!a->host_port || !b->host_port)
        return "overlapping";
    bool is_one_open = !a->host_ip.n != !b->host_ip.n;
    return a->host_port == b->host_port && is_one_open ? "dangerously ambiguous" : NULL;
}

static void warn_port(struct valid_warnings *w, const struct ports *all, size_t i) {
    const struct api_container_port *port = all->v[i].port;
    if (port->host_ip.n && !port->host_port)
        valid__warn(w,
                    "%.*s: hostIP set without hostPort: {Name:%.*s HostPort:0 ContainerPort:%d "
                    "Protocol:%.*s HostIP:%.*s}",
                    STR_ARG(port_text(w, all, &all->v[i])), STR_ARG(port->name),
                    port->container_port, STR_ARG(port->protocol), STR_ARG(port->host_ip));
    for (size_t k = 0; k < i && valid__may_compare(w); k++) {
        const char *conflict = conflict_of(port, all->v[k].port);
        if (conflict)
            valid__warn(w, "%.*s: %s port definition with %.*s",
                        STR_ARG(port_text(w, all, &all->v[i])), conflict,
                        STR_ARG(port_text(w, all, &all->v[k])));
    }
}

static void warn_port_names(struct valid_warnings *w, const struct ports *all) {
    struct seen names;
    seen_init(&names);
    for (size_t i = 0; i < all->n && !valid__warnings_are_full(w); i++) {
        struct str name = all->v[i].port->name;
        if (!name.n || seen_put(&names, name, &all->v[i]))
            continue;
        struct str first = port_text(w, all, seen_get(&names, name));
        valid__warn(w,
                    "%.*s: duplicate port name %.*s with %.*s, services and probes that select "
                    "ports by name will use %.*s",
                    STR_ARG(port_text(w, all, &all->v[i])), STR_ARG(valid__go_quoted(w->a, name)),
                    STR_ARG(first), STR_ARG(first));
    }
    seen_release(&names);
}

static void warn_ports(struct valid_warnings *w, const struct path *p, spec *s) {
    struct ports all = gather_ports(w, p, s);
    for (size_t i = 0; i < all.n; i++)
        warn_port(w, &all, i);
    warn_port_names(w, &all);
}

/* ---- the whole ---- */

static void warn_containers(struct valid_warnings *w, const struct path *top,
                            const struct labels *annotations, spec *s) {
    for (struct container_walk walk = CONTAINER_WALK(s, AT(top, "spec")); valid__walk(&walk);) {
        if (annotations->n)
            warn_container_annotations(w, top, annotations, &walk);
        warn_resources(w, AT(&walk.at, "resources"), &walk.c->resources);
        warn_env(w, AT(&walk.at, "env"), &walk.c->env);
    }
}

static void warn_addresses(struct valid_warnings *w, const struct path *p, spec *s) {
    const struct path *servers = AT(AT(p, "dnsConfig"), "nameservers");
    for (size_t i = 0; s->dns_config && i < s->dns_config->nameservers.n; i++)
        valid__warn_ip(w, AT_INDEX(servers, i), s->dns_config->nameservers.v[i]);
    for (size_t i = 0; i < s->host_aliases.n; i++)
        valid__warn_ip(w, AT(AT_INDEX(AT(p, "hostAliases"), i), "ip"), s->host_aliases.v[i].ip);
}

void valid__warn_pod_parts(struct valid_warnings *w, const struct path *top, spec *s,
                           const struct api_object_meta *meta) {
    const struct path *p = AT(top, "spec"), *annotations = AT(AT(top, "metadata"), "annotations");
    warn_nodes(w, p, s);
    warn_spread(w, p, s);
    warn_annotations(w, annotations, &meta->annotations);
    valid__warn_volumes(w, AT(p, "volumes"), &s->volumes);
    warn_aliases(w, AT(p, "hostAliases"), &s->host_aliases);
    warn_pull_secrets(w, AT(p, "imagePullSecrets"), &s->image_pull_secrets);
    valid__warn_fraction(w, AT(p, "overhead"), &s->overhead, "memory");
    valid__warn_fraction(w, AT(p, "overhead"), &s->overhead, "ephemeral-storage");
    warn_seccomp(w, annotations, &meta->annotations, s);
    warn_containers(w, top, &meta->annotations, s);
    warn_ports(w, p, s);
    if (s->termination_grace_period_seconds.set && s->termination_grace_period_seconds.v < 0)
        valid__warn_at(w, AT(p, "terminationGracePeriodSeconds"),
                       "must be >= 0; negative values are invalid and will be treated as 1");
    warn_pod_affinity(w, AT(p, "affinity"), s->affinity);
    warn_addresses(w, p, s);
}

void valid__warn_name(struct valid_warnings *w, struct str name, const char *where) {
    struct names_errs errs = names_check_dns1123_label(name);
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    if (!errs.n)
        return;
    names_errs_join(&text, &errs, STR(" "));
    valid__warn(w,
                "metadata.name: this is used in %s, which can result in surprising behavior; a "
                "DNS label is recommended: [%.*s]",
                where, STR_ARG(buf_view(&text)));
}

/* Pods change often, and rarely by hand: nothing is said then. */
void valid__warn_pod(struct valid_warnings *w, const struct api_object *o,
                     const struct api_object *old) {
    const struct api_pod *pod = o->body;
    if (old)
        return;
    valid__warn_name(w, pod->metadata.name, "the Pod's hostname");
    valid__warn_pod_parts(w, NULL, &pod->spec, &pod->metadata);
}

void valid__warn_pod_status(struct valid_warnings *w, const struct api_object *o,
                            const struct api_object *old) {
    const struct api_pod_status *s = &((const struct api_pod *)o->body)->status;
    const struct path *p = AT(NULL, "status");
    (void)old;
    for (size_t i = 0; i < s->pod_ips.n; i++)
        valid__warn_ip(w, AT(AT_INDEX(AT(p, "podIPs"), i), "ip"), s->pod_ips.v[i].ip);
    for (size_t i = 0; i < s->host_ips.n; i++)
        valid__warn_ip(w, AT(AT_INDEX(AT(p, "hostIPs"), i), "ip"), s->host_ips.v[i].ip);
}
