/*
 * The security context of a pod, user namespaces, and settings of one operating system that make no
 * sense on another.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func validatePodSpecSecurityContext,
 * func validateHostUsers, func validateLinux, func validateWindows.
 */
#include "base/ascii.h"
#include "valid/pod/pod_int.h"

static const int64_t id_range[2] = {0, INT32_MAX};

static void check_id(struct valid *v, const struct path *p, struct api_opt_i64 id) {
    if (id.set)
        valid__range(v, p, id.v, id_range);
}

static void check_policy(struct valid *v, const struct path *p, struct str policy,
                         const char *const *supported) {
    if (policy.p && !valid__one_of(policy, supported))
        valid__not_supported(v, p, VALUE_NAMED(policy), supported);
}

/* ---- sysctls ---- */

enum { SYSCTL_BYTES = 253 };
#define SYSCTL_SEGMENT "[a-z0-9]([-_a-z0-9]*[a-z0-9])?"

static bool is_lower_alnum(char c) {
    return ascii_is_lower(c) || ascii_is_digit(c);
}

/* Segments of letters and digits, with - and _ inside, between them dots or slashes. */
static bool is_sysctl_name(struct str name) {
    bool may_end = false;
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool inner = c == '-' || c == '_', separator = c == '.' || c == '/';
        bool after_separator = i == 0 || name.p[i - 1] == '.' || name.p[i - 1] == '/';
        if (separator && !may_end)
            return false;
        if (!separator && !is_lower_alnum(c) && (!inner || after_separator))
            return false;
        may_end = is_lower_alnum(c);
    }
    return may_end && name.n <= SYSCTL_BYTES;
}

/* Sysctls that belong to a namespace; with a dot at the end: all that begin so. */
static const struct {
    const char *name;
    bool net;
} namespaced[] = {
    {"net.", true},
    {"fs.mqueue.", false},
    {"kernel.sem", false},
    {"kernel.shmall", false},
    {"kernel.shmmax", false},
    {"kernel.shmmni", false},
    {"kernel.shm_rmid_forced", false},
    {"kernel.shm", false},
    {"kernel.msgmax", false},
    {"kernel.msgmnb", false},
    {"kernel.msgmni", false},
    {"kernel.msg", false},
};

/* Names may be written with slashes; then a dot in them means a slash. Only when the first
 * separator is a slash. */
static char normal_char(struct str sysctl, size_t i, bool slashes) {
    char c = sysctl.p[i];
    if (!slashes)
        return c;
    return c == '/' ? '.' : c == '.' ? '/' : c;
}

static bool uses_slashes(struct str sysctl) {
    for (size_t i = 0; i < sysctl.n; i++)
        if (sysctl.p[i] == '.' || sysctl.p[i] == '/')
            return sysctl.p[i] == '/';
    return false;
}

/* Up to the first '*', which stands for anything. */
static bool sysctl_is(struct str sysctl, const char *name) {
    bool slashes = uses_slashes(sysctl);
    size_t n = str_find_char(sysctl, '*'), i = 0;
    if (n == STR_NONE)
        n = sysctl.n;
    while (i < n && name[i] && normal_char(sysctl, i, slashes) == name[i])
        i++;
    return !name[i] && (i == n || name[i - 1] == '.');
}

const char *valid__host_sysctl(struct str sysctl, const struct api_pod_spec *spec) {
    for (size_t i = 0; i < sizeof namespaced / sizeof *namespaced; i++) {
        bool shared = namespaced[i].net ? spec->host_network : spec->host_ipc;
        if (shared && sysctl_is(sysctl, namespaced[i].name))
            return namespaced[i].net ? "hostNetwork" : "hostIPC";
    }
    return NULL;
}

static void check_sysctls(struct valid *v, const struct path *p, const struct api_pod_spec *spec,
                          const struct pod_rules *rules) {
    const struct api_sysctl_list *list = &spec->security_context->sysctls;
    struct seen names;
    seen_init(&names);
    for (size_t i = 0; i < list->n; i++) {
        struct str name = list->v[i].name;
        const struct path *at = AT(AT_INDEX(p, i), "name");
        bool is_new = seen_add(&names, name);
        if (!name.n)
            valid__required(v, at, NO_DETAIL);
        else if (!is_sysctl_name(name))
            valid__invalid(v, at, VALUE_Q(name),
                           "must have at most %d characters and match regex %s", SYSCTL_BYTES,
                           "^(" SYSCTL_SEGMENT "[\\./])*" SYSCTL_SEGMENT "$");
        else if (!is_new)
            valid__duplicate(v, at, VALUE_Q(name), NO_DETAIL);
        const char *shared = rules->host_sysctls ? NULL : valid__host_sysctl(name, spec);
        if (shared)
            valid__invalid(v, at, VALUE_Q(name), "may not be specified when '%s' is true", shared);
    }
    seen_release(&names);
}

/* ---- the security context ---- */

static const char *const fs_group_policies[] = {"Always", "OnRootMismatch", NULL};
static const char *const group_policies[] = {"Merge", "Strict", NULL};
static const char *const selinux_policies[] = {"MountOption", "Recursive", NULL};
static const char *const recursive_only[] = {"Recursive", NULL};

void valid__pod_security(struct valid *v, const struct path *spec_path,
                         const struct api_pod_spec *spec, const struct pod_rules *rules) {
    const struct path *p = AT(spec_path, "securityContext");
    const struct api_pod_security_context *c = spec->security_context;
    if (!c)
        return;
    check_id(v, AT(p, "fsGroup"), c->fs_group);
    check_id(v, AT(p, "runAsUser"), c->run_as_user);
    check_id(v, AT(p, "runAsGroup"), c->run_as_group);
    for (size_t i = 0; i < c->supplemental_groups.n; i++)
        valid__range(v, AT_INDEX(AT(p, "supplementalGroups"), i), c->supplemental_groups.v[i],
                     id_range);
    check_sysctls(v, AT(p, "sysctls"), spec, rules);
    check_policy(v, AT(p, "fsGroupChangePolicy"), c->fs_group_change_policy, fs_group_policies);
    valid__seccomp_profile(v, AT(p, "seccompProfile"), c->seccomp_profile);
    valid__windows_options(v, AT(p, "windowsOptions"), c->windows_options);
    valid__app_armor_profile(v, AT(p, "appArmorProfile"), c->app_armor_profile);
    check_policy(v, AT(p, "supplementalGroupsPolicy"), c->supplemental_groups_policy,
                 group_policies);
    check_policy(v, AT(p, "seLinuxChangePolicy"), c->se_linux_change_policy,
                 rules->any_selinux_change_policy ? selinux_policies : recursive_only);
}

/* ---- host processes of Windows ---- */

static struct api_opt_bool
host_process_of(const struct api_windows_security_context_options *options) {
    return options ? options->host_process : (struct api_opt_bool){.set = false};
}

void valid__host_process(struct valid *v, const struct path *spec_path,
                         const struct api_pod_spec *spec) {
    size_t all = 0, host_processes = 0;
    struct api_opt_bool pod =
        host_process_of(spec->security_context ? spec->security_context->windows_options : NULL);
    for (struct container_walk w = CONTAINER_WALK(spec, spec_path); valid__walk(&w); all++) {
        struct api_opt_bool own =
            host_process_of(w.c->security_context ? w.c->security_context->windows_options : NULL);
        if (pod.set && own.set && pod.v != own.v)
            valid__invalid(v, AT(AT(AT(&w.at, "securityContext"), "windowsOptions"), "hostProcess"),
                           VALUE_BOOL(own.v),
                           "pod hostProcess value must be identical if both are specified, was %s",
                           pod.v ? "true" : "false");
        host_processes += own.set ? own.v : pod.set && pod.v;
    }
    if (!host_processes)
        return;
    if (host_processes != all)
        valid__invalid(v, spec_path, VALUE_Q(STR("")),
                       "If pod contains any hostProcess containers then all containers must be "
                       "HostProcess containers");
    if (!spec->host_network)
        valid__invalid(v, AT(spec_path, "hostNetwork"), VALUE_BOOL(false),
                       "hostNetwork must be true if pod contains any hostProcess containers");
}

/* ---- user namespaces ---- */

void valid__host_users(struct valid *v, const struct path *spec_path,
                       const struct api_pod_spec *spec, const struct pod_rules *rules) {
    if (!spec->host_users.set || spec->host_users.v)
        return;
    if (spec->host_network && !rules->host_network_users)
        valid__forbidden(v, AT(spec_path, "hostNetwork"), "when `hostUsers` is false");
    if (spec->host_pid)
        valid__forbidden(v, AT(spec_path, "HostPID"), "when `hostUsers` is false");
    if (spec->host_ipc)
        valid__forbidden(v, AT(spec_path, "HostIPC"), "when `hostUsers` is false");
    if (rules->volume_devices_users)
        return;
    for (struct container_walk w = CONTAINER_WALK(spec, spec_path); valid__walk(&w);)
        if (w.c->volume_devices.n)
            valid__forbidden(v, AT(&w.at, "volumeDevices"), "when `hostUsers` is false");
}

/* ---- operating systems ---- */

static void check_linux(struct valid *v, const struct path *spec_path,
                        const struct api_pod_spec *spec) {
    static const char text[] = "windows options cannot be set for a linux pod";
    if (spec->security_context && spec->security_context->windows_options)
        valid__forbidden(v, AT(AT(spec_path, "securityContext"), "windowsOptions"), text);
    for (struct container_walk w = CONTAINER_WALK(spec, spec_path); valid__walk(&w);)
        if (w.c->security_context && w.c->security_context->windows_options)
            valid__forbidden(v, AT(AT(&w.at, "securityContext"), "windowsOptions"), text);
}

/* A field that is no good on Windows, and whether it is set. */
struct linux_field {
    const char *name;
    bool is_set;
};

static void forbid_on_windows(struct valid *v, const struct path *p,
                              const struct linux_field *fields, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (fields[i].is_set)
            valid__forbidden(v, AT(p, fields[i].name), "cannot be set for a windows pod");
}

#define FORBID_ON_WINDOWS(v, p, fields) \
    forbid_on_windows(v, p, fields, sizeof(fields) / sizeof *(fields))

static void check_windows_pod(struct valid *v, const struct path *p,
                              const struct api_pod_security_context *c) {
    const struct linux_field fields[] = {
        {"appArmorProfile", c->app_armor_profile},
        {"seLinuxOptions", c->se_linux_options},
        {"seccompProfile", c->seccomp_profile},
        {"fsGroup", c->fs_group.set},
        {"fsGroupChangePolicy", c->fs_group_change_policy.p},
        {"sysctls", c->sysctls.n > 0},
        {"runAsUser", c->run_as_user.set},
        {"runAsGroup", c->run_as_group.set},
        {"supplementalGroups", c->supplemental_groups.v},
        {"supplementalGroupsPolicy", c->supplemental_groups_policy.p},
        {"seLinuxChangePolicy", c->se_linux_change_policy.p},
    };
    FORBID_ON_WINDOWS(v, p, fields);
}

static void check_windows_container(struct valid *v, const struct path *p,
                                    const struct api_security_context *c) {
    const struct linux_field fields[] = {
        {"appArmorProfile", c->app_armor_profile},
        {"seLinuxOptions", c->se_linux_options},
        {"seccompProfile", c->seccomp_profile},
        {"capabilities", c->capabilities},
        {"readOnlyRootFilesystem", c->read_only_root_filesystem.set},
        {"privileged", c->privileged.set},
        {"allowPrivilegeEscalation", c->allow_privilege_escalation.set},
        {"procMount", c->proc_mount.p},
        {"runAsUser", c->run_as_user.set},
        {"runAsGroup", c->run_as_group.set},
    };
    FORBID_ON_WINDOWS(v, p, fields);
}

static void check_windows(struct valid *v, const struct path *spec_path,
                          const struct api_pod_spec *spec) {
    const struct linux_field fields[] = {
        {"hostUsers", spec->host_users.set},
        {"hostPID", spec->host_pid},
        {"hostIPC", spec->host_ipc},
        {"shareProcessNamespace", spec->share_process_namespace.set},
    };
    if (spec->security_context)
        check_windows_pod(v, AT(spec_path, "securityContext"), spec->security_context);
    FORBID_ON_WINDOWS(v, spec_path, fields);
    for (struct container_walk w = CONTAINER_WALK(spec, spec_path); valid__walk(&w);)
        if (w.c->security_context)
            check_windows_container(v, AT(&w.at, "securityContext"), w.c->security_context);
}

void valid__os(struct valid *v, const struct path *spec_path, const struct api_pod_spec *spec) {
    static const char *const names[] = {"linux", "windows", NULL};
    if (!spec->os)
        return;
    struct str name = spec->os->name;
    if (!name.n)
        valid__required(v, AT(AT(spec_path, "os"), "name"), NO_DETAIL);
    else if (str_is(name, "linux"))
        check_linux(v, spec_path, spec);
    else if (str_is(name, "windows"))
        check_windows(v, spec_path, spec);
    else
        valid__not_supported(v, AT(spec_path, "os"), VALUE_NAMED(name), names);
}
