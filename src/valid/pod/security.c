/*
 * Security contexts of containers, and the parts of them that pods have, too.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func ValidateSecurityContext,
 * func ValidateSeccompProfile, func ValidateAppArmorProfileField.
 */
#include "base/ascii.h"
#include "base/utf8.h"
#include "valid/pod/container_int.h"

void valid__id(struct valid *v, const struct path *p, const struct api_opt_i64 *id) {
    if (id->set)
        valid__range(v, p, id->v, (const int64_t[]){0, INT32_MAX});
}

/* ---- profiles ---- */

static const char *const profile_types[] = {"Localhost", "RuntimeDefault", "Unconfined", NULL};

void valid__seccomp_profile(struct valid *v, const struct path *p,
                            const struct api_seccomp_profile *profile) {
    if (!profile)
        return;
    const struct path *here = AT(p, "localhostProfile");
    if (!profile->type.n)
        valid__required(v, AT(p, "type"), "type is required when seccompProfile is set");
    else if (!valid__one_of(profile->type, profile_types))
        valid__not_supported(v, AT(p, "type"), VALUE_NAMED(profile->type), profile_types);
    if (str_is(profile->type, "Localhost")) {
        if (profile->localhost_profile.p)
            valid__descending_path(v, here, profile->localhost_profile);
        else
            valid__required(v, here, "must be set when seccomp type is Localhost");
    } else if (profile->localhost_profile.p) {
        valid__invalid(v, here, valid__struct_value(v->errs->a, API_T_seccomp_profile, profile),
                       "can only be set when seccomp type is Localhost");
    }
}

static void check_local_profile(struct valid *v, const struct path *p, struct str name) {
    enum { MOST = 4095 }; /* PATH_MAX without the NUL */
    if (name.p && utf8_trim_space(name).n != name.n)
        valid__invalid(v, p, VALUE_Q(name), "must not be padded with whitespace");
    else if (!name.n)
        valid__required(v, p, "must be set when AppArmor type is Localhost");
    if (name.n > MOST)
        valid__too_long(v, p, MOST);
}

void valid__app_armor_profile(struct valid *v, const struct path *p,
                              const struct api_app_armor_profile *profile) {
    if (!profile)
        return;
    const struct path *here = AT(p, "localhostProfile");
    if (!profile->type.n)
        valid__required(v, AT(p, "type"), "type is required when appArmorProfile is set");
    else if (!valid__one_of(profile->type, profile_types))
        valid__not_supported(v, AT(p, "type"), VALUE_NAMED(profile->type), profile_types);
    else if (str_is(profile->type, "Localhost"))
        check_local_profile(v, here, profile->localhost_profile);
    else if (profile->localhost_profile.p)
        valid__invalid(v, here, VALUE_NAMED(profile->localhost_profile),
                       "can only be set when AppArmor type is Localhost");
}

/* ---- Windows ---- */

static bool has_any(struct str s, const char *chars) {
    for (size_t i = 0; i < s.n; i++)
        for (const char *c = chars; *c; c++)
            if (s.p[i] == *c)
                return true;
    return false;
}

static bool has_control(struct str s) {
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < ' ' || s.p[i] == 0x7f)
            return true;
    return false;
}

static bool is_net_bios_name(struct str s) {
    return s.n > 0 && utf8_count(s) <= 15 && s.p[0] != '.' && !has_any(s, "\\/:*?\"<>|");
}

static bool is_dns_label(struct str s) {
    if (s.n == 0 || s.n > 63 || !ascii_is_alnum(s.p[0]) || !ascii_is_alnum(s.p[s.n - 1]))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!ascii_is_alnum(s.p[i]) && s.p[i] != '-')
            return false;
    return true;
}

static bool is_dns_name(struct str s) {
    struct str label;
    for (bool more = true; more;) {
        more = str_cut(s, '.', &label, &s);
        if (!is_dns_label(label))
            return false;
    }
    return true;
}

static bool is_dots_and_spaces(struct str s) {
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] != '.' && s.p[i] != ' ')
            return false;
    return s.n > 0;
}

/* USER or DOMAIN\USER, without control characters. */
static void check_domain_and_user(struct valid *v, const struct path *p, struct str name) {
    enum { DOMAIN_MOST = 255, USER_MOST = 104 };
    struct str domain = {0}, user = name;
    bool has_domain = str_cut(name, '\\', &domain, &user);
    if (!has_domain) {
        user = name;
        domain.n = 0;
    }
    const struct {
        bool wrong;
        const char *text;
    } rules[] = {
        {domain.n > DOMAIN_MOST, "runAsUserName's Domain length must be under 256 characters"},
        {has_domain && !is_net_bios_name(domain) && !is_dns_name(domain),
         "runAsUserName's Domain doesn't match the NetBios nor the DNS format"},
        {user.n == 0, "runAsUserName's User cannot be empty"},
        {user.n > USER_MOST, "runAsUserName's User length must not be longer than 104 characters"},
        {is_dots_and_spaces(user), "runAsUserName's User cannot contain only periods or spaces"},
        {has_any(user, "\"/\\:;|=,+*?<>@[]"),
         "runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].wrong)
            valid__invalid(v, p, VALUE_NAMED(name), "%s", rules[i].text);
}

static size_t count_char(struct str s, char c) {
    size_t count = 0;
    for (size_t i = 0; i < s.n; i++)
        count += s.p[i] == c;
    return count;
}

static void check_user_name(struct valid *v, const struct path *p, struct str name) {
    if (!name.n)
        valid__invalid(v, p, VALUE_NAMED(name), "runAsUserName cannot be an empty string");
    else if (has_control(name))
        valid__invalid(v, p, VALUE_NAMED(name), "runAsUserName cannot contain control characters");
    else if (count_char(name, '\\') > 1)
        valid__invalid(v, p, VALUE_NAMED(name),
                       "runAsUserName cannot contain more than one backslash");
    else
        check_domain_and_user(v, p, name);
}

static void check_gmsa(struct valid *v, const struct path *p,
                       const struct api_windows_security_context_options *o) {
    enum { SPEC_MOST = 64 * 1024 };
    struct str name = o->gmsa_credential_spec_name, spec = o->gmsa_credential_spec;
    if (name.p) {
        struct names_errs errs = names_check_dns1123_subdomain(name);
        for (size_t i = 0; i < errs.n; i++)
            valid__invalid(v, AT(p, "gmsaCredentialSpecName"), VALUE_NAMED(name), "%.*s",
                           STR_ARG(errs.v[i]));
    }
    if (spec.p && !spec.n)
        valid__invalid(v, AT(p, "gmsaCredentialSpec"), VALUE_NAMED(spec),
                       "gmsaCredentialSpec cannot be an empty string");
    else if (spec.n > SPEC_MOST)
        valid__invalid(v, AT(p, "gmsaCredentialSpec"), VALUE_NAMED(spec),
                       "gmsaCredentialSpec size must be under 64 KiB");
}

void valid__windows_options(struct valid *v, const struct path *p,
                            const struct api_windows_security_context_options *options) {
    if (!options)
        return;
    check_gmsa(v, p, options);
    if (options->run_as_user_name.p)
        check_user_name(v, AT(p, "runAsUserName"), options->run_as_user_name);
}

/* ---- containers ---- */

static bool has_sys_admin(const struct api_security_context *sc) {
    for (size_t i = 0; sc->capabilities && i < sc->capabilities->add.n; i++)
        if (str_is(sc->capabilities->add.v[i], "CAP_SYS_ADMIN"))
            return true;
    return false;
}

bool valid__had_confined_sys_admin(const struct api_pod_spec *old) {
    const struct api_container *c;
    for (size_t at = 0; (c = valid__next_container(old, &at));) {
        const struct api_security_context *sc = c->security_context;
        if (sc && !(sc->allow_privilege_escalation.set && sc->allow_privilege_escalation.v) &&
            has_sys_admin(sc))
            return true;
    }
    return false;
}

static void check_escalation(const struct pod_view *pod, const struct path *p,
                             const struct api_security_context *sc) {
    struct valid *v = pod->v;
    if (!sc->allow_privilege_escalation.set || sc->allow_privilege_escalation.v)
        return;
    if (sc->privileged.set && sc->privileged.v)
        valid__invalid(v, p, valid__struct_value(v->errs->a, API_T_security_context, sc),
                       "cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
    if (has_sys_admin(sc) && !pod->had.confined_sys_admin)
        valid__invalid(v, p, valid__struct_value(v->errs->a, API_T_security_context, sc),
                       "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` "
                       "CAP_SYS_ADMIN");
}

static void check_proc_mount(const struct pod_view *pod, const struct path *p, struct str type) {
    static const char *const types[] = {"Default", "Unmasked", NULL};
    const struct api_opt_bool *host_users = &pod->spec->host_users;
    if (!valid__one_of(type, types))
        valid__not_supported(pod->v, p, VALUE_NAMED(type), types);
    if (str_is(type, "Unmasked") && (!host_users->set || host_users->v))
        valid__invalid(pod->v, p, VALUE_NAMED(type), "`hostUsers` must be false to use `Unmasked`");
}

void valid__security_context(const struct pod_view *pod, const struct path *p,
                             const struct api_security_context *sc) {
    if (!sc)
        return;
    struct valid *v = pod->v;
    valid__id(v, AT(p, "runAsUser"), &sc->run_as_user);
    valid__id(v, AT(p, "runAsGroup"), &sc->run_as_group);
    if (sc->proc_mount.p)
        check_proc_mount(pod, AT(p, "procMount"), sc->proc_mount);
    valid__seccomp_profile(v, AT(p, "seccompProfile"), sc->seccomp_profile);
    check_escalation(pod, p, sc);
    valid__windows_options(v, AT(p, "windowsOptions"), sc->windows_options);
    valid__app_armor_profile(v, AT(p, "appArmorProfile"), sc->app_armor_profile);
}
