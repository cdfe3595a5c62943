/*
 * Containers: regular, init and ephemeral ones. What they share is checked first for each of them,
 * then what only one of the three kinds may or may not have.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func validateContainers,
 * func validateInitContainers, func validateEphemeralContainers, func validateContainerCommon.
 */
#include "base/ascii.h"
#include "base/utf8.h"
#include "valid/pod/container_int.h"

const struct api_container *valid__next_container(const struct api_pod_spec *spec, size_t *at) {
    size_t i = (*at)++;
    if (i < spec->containers.n)
        return &spec->containers.v[i];
    i -= spec->containers.n;
    if (i < spec->init_containers.n)
        return &spec->init_containers.v[i];
    i -= spec->init_containers.n;
    return i < spec->ephemeral_containers.n ? &spec->ephemeral_containers.v[i].container : NULL;
}

/* ---- what all containers have ---- */

void valid__pull_policy(struct valid *v, const struct path *p, struct str policy) {
    static const char *const policies[] = {"Always", "IfNotPresent", "Never", NULL};
    valid__choice(v, p, policy, policies);
}

void valid__port_number(struct valid *v, const struct path *p, int64_t port) {
    valid__range(v, p, port, (const int64_t[]){1, 65535});
}

static bool has_lower(struct str s) {
    for (size_t i = 0; i < s.n; i++)
        if (ascii_is_lower(s.p[i]))
            return true;
    return false;
}

static bool is_port_text(struct str s) {
    for (size_t i = 0; i < s.n; i++)
        if (!ascii_is_lower(s.p[i]) && !ascii_is_digit(s.p[i]) && s.p[i] != '-')
            return false;
    return s.n > 0;
}

void valid__port_name(struct valid *v, const struct path *p, struct str name) {
    const struct {
        bool wrong;
        const char *text;
    } rules[] = {
        {name.n > 15, "must be no more than 15 characters"},
        {!is_port_text(name),
         "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"},
        {!has_lower(name), "must contain at least one letter (a-z)"},
        {str_find(name, STR("--")) != STR_NONE, "must not contain consecutive hyphens"},
        {str_starts(name, STR("-")) || str_ends(name, STR("-")),
         "must not begin or end with a hyphen"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].wrong)
            valid__invalid(v, p, VALUE_Q(name), "%s", rules[i].text);
}

/* False when the name is no good, so that a later one cannot repeat it. */
static bool check_port_name(struct valid *v, const struct path *p, struct str name) {
    size_t before = valid__found(v);
    valid__port_name(v, p, name);
    return valid__found(v) == before;
}

static void check_port(struct valid *v, const struct path *p, const struct api_container_port *port,
                       struct seen *names) {
    static const char *const protocols[] = {"SCTP", "TCP", "UDP", NULL};
    if (port->name.n && check_port_name(v, AT(p, "name"), port->name) &&
        !seen_add(names, port->name))
        valid__duplicate(v, AT(p, "name"), VALUE_Q(port->name), NO_DETAIL);
    if (!port->container_port)
        valid__required(v, AT(p, "containerPort"), NO_DETAIL);
    else
        valid__port_number(v, AT(p, "containerPort"), port->container_port);
    if (port->host_port)
        valid__port_number(v, AT(p, "hostPort"), port->host_port);
    valid__choice(v, AT(p, "protocol"), port->protocol, protocols);
}

static void check_ports(struct valid *v, const struct path *p,
                        const struct api_container_port_list *ports) {
    struct seen names;
    seen_init(&names);
    for (size_t i = 0; i < ports->n; i++)
        check_port(v, AT_INDEX(p, i), &ports->v[i], &names);
    seen_release(&names);
}

static void check_common(const struct pod_view *pod, const struct path *p,
                         const struct api_container *c) {
    static const char *const message_policies[] = {"File", "FallbackToLogsOnError", NULL};
    struct valid *v = pod->v;
    if (c->name.n)
        valid__dns_label(v, AT(p, "name"), c->name);
    else
        valid__required(v, AT(p, "name"), NO_DETAIL);
    if (!c->image.n)
        valid__required(v, AT(p, "image"), NO_DETAIL);
    valid__choice(v, AT(p, "terminationMessagePolicy"), c->termination_message_policy,
                  message_policies);
    check_ports(v, AT(p, "ports"), &c->ports);
    valid__env(pod, AT(p, "env"), &c->env);
    valid__env_from(pod, AT(p, "envFrom"), &c->env_from);
    valid__volume_mounts(pod, AT(p, "volumeMounts"), c);
    valid__volume_devices(pod, AT(p, "volumeDevices"), c);
    valid__pull_policy(v, AT(p, "imagePullPolicy"), c->image_pull_policy);
    valid__resources(pod, AT(p, "resources"), &c->resources);
    valid__resize_policy(pod, AT(p, "resizePolicy"), c);
    valid__security_context(pod, AT(p, "securityContext"), c->security_context);
}

/* ---- ports of the host ---- */

/* Two containers cannot have the same port of the host; `ports` says how each was called. */
static void check_host_ports(struct valid *v, const struct path *p, const struct api_container *c,
                             struct seen *ports) {
    for (size_t i = 0; i < c->ports.n; i++) {
        const struct api_container_port *port = &c->ports.v[i];
        if (!port->host_port)
            continue;
        struct str key = arena_printf(v->errs->a, "%.*s/%.*s/%d", STR_ARG(port->protocol),
                                      STR_ARG(port->host_ip), (int)port->host_port);
        if (!seen_add(ports, key))
            valid__duplicate(v, AT(AT_INDEX(AT(p, "ports"), i), "hostPort"), VALUE_Q(key),
                             NO_DETAIL);
    }
}

/* ---- regular containers ---- */

static void check_regular(const struct pod_view *pod, const struct path *p, struct seen *names) {
    const struct api_container_list *list = &pod->spec->containers;
    struct valid *v = pod->v;
    if (!list->n)
        valid__required(v, p, NO_DETAIL);
    for (size_t i = 0; i < list->n; i++) {
        const struct api_container *c = &list->v[i];
        const struct path *here = AT_INDEX(p, i);
        check_common(pod, here, c);
        if (!seen_add(names, c->name))
            valid__duplicate(v, AT(here, "name"), VALUE_Q(c->name), NO_DETAIL);
        valid__lifecycle_and_probes(pod, here, c);
        valid__restart_policy(pod, here, c);
    }
    struct seen ports;
    seen_init(&ports);
    for (size_t i = 0; i < list->n; i++)
        check_host_ports(v, AT_INDEX(p, i), &list->v[i], &ports);
    seen_release(&ports);
}

/* ---- init containers ---- */

static bool is_sidecar(const struct api_container *c) {
    return str_is(c->restart_policy, "Always");
}

static void forbid_probes(struct valid *v, const struct path *p, const struct api_container *c) {
    const struct {
        const char *name;
        bool set;
    } fields[] = {
        {"lifecycle", c->lifecycle},
        {"livenessProbe", c->liveness_probe},
        {"readinessProbe", c->readiness_probe},
        {"startupProbe", c->startup_probe},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].set)
            valid__forbidden(v, AT(p, fields[i].name),
                             "may not be set for init containers without restartPolicy=Always");
}

static bool restarts_on_resize(const struct api_container *c) {
    for (size_t i = 0; i < c->resize_policy.n; i++)
        if (str_is(c->resize_policy.v[i].restart_policy, "RestartContainer"))
            return true;
    return false;
}

/* What older servers let through is allowed to stay. */
static bool had_restart_on_resize(const struct api_pod_spec *old) {
    for (size_t i = 0; i < old->init_containers.n; i++)
        if (!is_sidecar(&old->init_containers.v[i]) &&
            restarts_on_resize(&old->init_containers.v[i]))
            return true;
    return false;
}

static bool had_sidecar_resize(const struct api_pod_spec *old) {
    for (size_t i = 0; i < old->init_containers.n; i++)
        if (is_sidecar(&old->init_containers.v[i]) && old->init_containers.v[i].resize_policy.n)
            return true;
    return false;
}

static void check_init_resize(const struct pod_view *pod, const struct path *p,
                              const struct api_container *c) {
    struct valid *v = pod->v;
    if (c->resize_policy.n && !feature_enabled(v->gates, FEATURE_InPlacePodVerticalScaling) &&
        !pod->had.sidecar_resize)
        valid__invalid(
            v, p, valid__list_value(v->errs->a, API_T_container_resize_policy, &c->resize_policy),
            "must not be set for init containers");
    if (is_sidecar(c) || !restarts_on_resize(c) || pod->had.restart_on_resize)
        return;
    for (size_t i = 0; i < c->resize_policy.n; i++)
        if (str_is(c->resize_policy.v[i].restart_policy, "RestartContainer"))
            valid__invalid(v, AT(AT_INDEX(p, i), "restartPolicy"),
                           VALUE_NAMED(c->resize_policy.v[i].restart_policy),
                           "must not be set to 'RestartContainer' for non-sidecar initContainers");
}

static void check_init(const struct pod_view *pod, const struct path *p, struct seen *names) {
    const struct api_container_list *list = &pod->spec->init_containers;
    struct valid *v = pod->v;
    for (size_t i = 0; i < list->n; i++) {
        const struct api_container *c = &list->v[i];
        const struct path *here = AT_INDEX(p, i);
        check_common(pod, here, c);
        valid__init_restart_policy(pod, here, c);
        if (seen_get(names, c->name))
            valid__duplicate(v, AT(here, "name"), VALUE_Q(c->name), NO_DETAIL);
        else if (c->name.n)
            seen_add(names, c->name);
        /* One after the other, so each has the host's ports for itself. Upstream counts them from
         * zero for each, too. */
        struct seen ports;
        seen_init(&ports);
        check_host_ports(v, AT_INDEX(p, 0), c, &ports);
        seen_release(&ports);
        if (is_sidecar(c))
            valid__lifecycle_and_probes(pod, here, c);
        else
            forbid_probes(v, here, c);
        check_init_resize(pod, AT(here, "resizePolicy"), c);
    }
}

/* ---- ephemeral containers ---- */

static void check_image(struct valid *v, const struct path *p, const struct api_container *c) {
    if (c->image.n != utf8_trim_space(c->image).n)
        valid__invalid(v, AT(p, "image"), VALUE_Q(c->image),
                       "must not have leading or trailing whitespace");
}

#define NOT_FOR_EPHEMERAL "cannot be set for an Ephemeral Container"

static void forbid_fields(struct valid *v, const struct path *p, const struct api_container *c) {
    const struct api_resource_requirements *r = &c->resources;
    const struct {
        const char *name;
        bool set;
    } fields[] = {
        {"ports", c->ports.v},
        {"resources", r->limits.v || r->requests.v || r->claims.v},
        {"resizePolicy", c->resize_policy.v},
        {"restartPolicy", c->restart_policy.p},
        {"restartPolicyRules", c->restart_policy_rules.v},
        {"livenessProbe", c->liveness_probe},
        {"readinessProbe", c->readiness_probe},
        {"startupProbe", c->startup_probe},
        {"lifecycle", c->lifecycle},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].set)
            valid__forbidden(v, AT(p, fields[i].name), NOT_FOR_EPHEMERAL);
}

static void forbid_sub_paths(struct valid *v, const struct path *p, const struct api_container *c) {
    for (size_t i = 0; i < c->volume_mounts.n; i++) {
        if (c->volume_mounts.v[i].sub_path.n)
            valid__forbidden(v, AT(AT_INDEX(p, i), "subPath"), NOT_FOR_EPHEMERAL);
        if (c->volume_mounts.v[i].sub_path_expr.n)
            valid__forbidden(v, AT(AT_INDEX(p, i), "subPathExpr"), NOT_FOR_EPHEMERAL);
    }
}

/* All names with the container each belongs to: a target must not be ephemeral itself. */
static void collect_names(const struct api_pod_spec *spec, struct seen *names) {
    for (size_t i = 0; i < spec->containers.n; i++)
        seen_put(names, spec->containers.v[i].name, spec);
    for (size_t i = 0; i < spec->init_containers.n; i++)
        seen_put(names, spec->init_containers.v[i].name, spec);
}

static void check_ephemeral(const struct pod_view *pod, const struct path *p) {
    const struct api_ephemeral_container_list *list = &pod->spec->ephemeral_containers;
    struct valid *v = pod->v;
    struct seen names;
    seen_init(&names);
    if (list->n)
        collect_names(pod->spec, &names);
    for (size_t i = 0; i < list->n; i++) {
        const struct api_container *c = &list->v[i].container;
        struct str target = list->v[i].target_container_name;
        const struct path *here = AT_INDEX(p, i);
        check_common(pod, here, c);
        check_image(v, here, c);
        if (!seen_add(&names, c->name))
            valid__duplicate(v, AT(here, "name"), VALUE_Q(c->name), NO_DETAIL);
        if (target.n && seen_get(&names, target) != pod->spec)
            valid__not_found(v, AT(here, "targetContainerName"), VALUE_Q(target), NO_DETAIL);
        forbid_fields(v, here, c);
        forbid_sub_paths(v, AT(here, "volumeMounts"), c);
    }
    seen_release(&names);
}

/* ---- all of them ---- */

struct ratchets valid__ratchets(struct arena *a, const struct api_pod_spec *old) {
    if (!old)
        return (struct ratchets){0};
    return (struct ratchets){
        .restart_on_resize = had_restart_on_resize(old),
        .sidecar_resize = had_sidecar_resize(old),
        .restart_all = valid__had_restart_all(old),
        .broken_huge_pages = valid__had_broken_huge_pages(a, old),
        .files_for_env = valid__had_files_for_env(old),
        .confined_sys_admin = valid__had_confined_sys_admin(old),
        .empty_image = valid__had_empty_image(old),
        .odd_token_path = valid__had_odd_token_path(old),
    };
}

/* Fills in the rest of a view that has a v and a spec. */
static void view_init(struct pod_view *pod, const bool *bad_volumes,
                      const struct api_pod_spec *old) {
    const struct api_pod_spec *spec = pod->spec;
    seen_init(&pod->volumes);
    seen_init(&pod->claims);
    for (size_t i = 0; i < spec->volumes.n; i++)
        if (!bad_volumes || !bad_volumes[i])
            seen_put(&pod->volumes, spec->volumes.v[i].name, &spec->volumes.v[i]);
    for (size_t i = 0; i < spec->resource_claims.n; i++)
        seen_add(&pod->claims, spec->resource_claims.v[i].name);
    pod->relaxed_env =
        feature_enabled(pod->v->gates, FEATURE_RelaxedEnvironmentVariableValidation) ||
        valid__env_was_relaxed(spec, old);
    pod->had = valid__ratchets(pod->v->errs->a, old);
}

void valid__containers(struct valid *v, const struct path *spec_path,
                       const struct api_pod_spec *spec, const bool *bad_volumes,
                       const struct pod_rules *rules) {
    struct pod_view pod;
    struct str claim_list = {0};
    pod.v = v;
    pod.spec = spec;
    pod.claim_list = &claim_list;
    struct seen names;
    seen_init(&names);
    view_init(&pod, bad_volumes, rules->old);
    check_regular(&pod, AT(spec_path, "containers"), &names);
    check_init(&pod, AT(spec_path, "initContainers"), &names);
    check_ephemeral(&pod, AT(spec_path, "ephemeralContainers"));
    seen_release(&names);
    seen_release(&pod.volumes);
    seen_release(&pod.claims);
}

void valid__container_images(struct valid *v, const struct path *p,
                             const struct api_container_list *list) {
    for (size_t i = 0; i < list->n; i++)
        check_image(v, AT_INDEX(p, i), &list->v[i]);
}
