/*
 * Environment variables: their names, and where their values come from.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func ValidateEnv,
 * func validateEnvVarValueFrom, func ValidateEnvFrom.
 */
#include "base/ascii.h"
#include "valid/pod/container_int.h"

/* ---- names ---- */

enum { ALPHA = 1, DIGIT = 2, PUNCT = 4 };

/* The characters of names and keys: letters, digits, and - _ . */
static unsigned class_of(char c) {
    if (ascii_is_letter(c))
        return ALPHA;
    if (ascii_is_digit(c))
        return DIGIT;
    return c == '-' || c == '_' || c == '.' ? PUNCT : 0;
}

static bool all_of(struct str s, unsigned classes) {
    for (size_t i = 0; i < s.n; i++)
        if (!(class_of(s.p[i]) & classes))
            return false;
    return s.n > 0;
}

/* Names that a file system would take for a way up. */
static const char *dots_of(struct str name) {
    if (str_is(name, "."))
        return "must not be '.'";
    if (str_is(name, ".."))
        return "must not be '..'";
    return str_starts(name, STR("..")) ? "must not start with '..'" : NULL;
}

static bool is_strict_name(struct str name) {
    return all_of(name, ALPHA | DIGIT | PUNCT) && class_of(name.p[0]) != DIGIT && !dots_of(name);
}

static bool is_relaxed_name(struct str name) {
    for (size_t i = 0; i < name.n; i++)
        if (name.p[i] < ' ' || name.p[i] > '~' || name.p[i] == '=')
            return false;
    return name.n > 0;
}

static void check_dots(struct valid *v, const struct path *p, struct str name) {
    const char *wrong = dots_of(name);
    if (wrong)
        valid__invalid(v, p, VALUE_Q(name), "%s", wrong);
}

static void check_strict_name(struct valid *v, const struct path *p, struct str name) {
    if (!all_of(name, ALPHA | DIGIT | PUNCT) || class_of(name.p[0]) == DIGIT)
        valid__invalid(v, p, VALUE_Q(name),
                       "a valid environment variable name must consist of alphabetic characters, "
                       "digits, '_', '-', or '.', and must not start with a digit (e.g. "
                       "'my.env-name',  or 'MY_ENV.NAME',  or 'MyEnvName1', regex used for "
                       "validation is '[-._a-zA-Z][-._a-zA-Z0-9]*')");
    check_dots(v, p, name);
}

static void check_relaxed_name(struct valid *v, const struct path *p, struct str name) {
    if (!is_relaxed_name(name))
        valid__invalid(v, p, VALUE_Q(name),
                       "a valid environment variable name must consist only of printable ASCII "
                       "characters other than '='");
}

static void check_name(const struct pod_view *pod, const struct path *p, struct str name) {
    if (pod->relaxed_env)
        check_relaxed_name(pod->v, p, name);
    else
        check_strict_name(pod->v, p, name);
}

void valid__config_key(struct valid *v, const struct path *p, struct str key) {
    if (!key.n) {
        valid__required(v, p, NO_DETAIL);
        return;
    }
    if (key.n > 253)
        valid__invalid(v, p, VALUE_Q(key), "must be no more than 253 characters");
    if (!all_of(key, ALPHA | DIGIT | PUNCT))
        valid__invalid(v, p, VALUE_Q(key),
                       "a valid config key must consist of alphanumeric characters, '-', '_' or "
                       "'.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for "
                       "validation is '[-._a-zA-Z0-9]+')");
    check_dots(v, p, key);
}

/* ---- names that are allowed to stay ---- */

static void collect_names(const struct api_pod_spec *spec, struct seen *names) {
    const struct api_container *c;
    for (size_t at = 0; (c = valid__next_container(spec, &at));) {
        for (size_t i = 0; i < c->env.n; i++)
            seen_add(names, c->env.v[i].name);
        for (size_t i = 0; i < c->env_from.n; i++)
            seen_add(names, c->env_from.v[i].prefix);
    }
}

static bool was_relaxed(struct str name, const struct seen *old_names) {
    return !is_strict_name(name) && is_relaxed_name(name) && seen_get(old_names, name);
}

static bool uses_relaxed(const struct api_container *c, const struct seen *old_names) {
    for (size_t i = 0; i < c->env.n; i++)
        if (was_relaxed(c->env.v[i].name, old_names))
            return true;
    for (size_t i = 0; i < c->env_from.n; i++)
        if (was_relaxed(c->env_from.v[i].prefix, old_names))
            return true;
    return false;
}

bool valid__env_was_relaxed(const struct api_pod_spec *spec, const struct api_pod_spec *old) {
    if (!old)
        return false;
    struct seen names;
    seen_init(&names);
    collect_names(old, &names);
    const struct api_container *c;
    bool found = false;
    for (size_t at = 0; !found && (c = valid__next_container(spec, &at));)
        found = uses_relaxed(c, &names);
    seen_release(&names);
    return found;
}

/* ---- fields and resources of the pod ---- */

const char *const valid__env_fields[] = {"metadata.name",
                                         "metadata.namespace",
                                         "metadata.uid",
                                         "spec.nodeName",
                                         "spec.serviceAccountName",
                                         "status.hostIP",
                                         "status.hostIPs",
                                         "status.podIP",
                                         "status.podIPs",
                                         NULL};
const char *const valid__volume_fields[] = {"metadata.annotations", "metadata.labels",
                                            "metadata.name",        "metadata.namespace",
                                            "metadata.uid",         NULL};

/* metadata.labels['key'] is a path with a subscript. */
static bool split_subscript(struct str text, struct str *path, struct str *subscript) {
    if (!str_ends(text, STR("']")))
        return false;
    struct str inner = str_sub(text, 0, text.n - 2);
    size_t open = str_find(inner, STR("['"));
    if (open == STR_NONE || open == 0)
        return false;
    *path = str_sub(inner, 0, open);
    *subscript = str_sub(inner, open + 2, inner.n);
    return true;
}

static void check_subscript(struct valid *v, const struct path *p, struct str path,
                            struct str subscript) {
    struct str key =
        str_is(path, "metadata.annotations") ? valid__lower(v->errs->a, subscript) : subscript;
    struct names_errs errs = names_check_label_key(key);
    valid__names(v, p, key, &errs);
}

static void check_known_field(struct valid *v, const struct path *p, struct str field,
                              const char *const *fields) {
    if (!valid__one_of(field, fields))
        valid__not_supported(v, p, VALUE_Q(field), fields);
}

#define CONVERTING "error converting fieldPath: "

void valid__field_ref(struct valid *v, const struct path *p,
                      const struct api_object_field_selector *s, const char *const *fields) {
    static const char *const known[] = {"metadata.annotations",
                                        "metadata.labels",
                                        "metadata.name",
                                        "metadata.namespace",
                                        "metadata.uid",
                                        "spec.nodeName",
                                        "spec.restartPolicy",
                                        "spec.host",
                                        "spec.serviceAccountName",
                                        "spec.schedulerName",
                                        "status.phase",
                                        "status.hostIP",
                                        "status.hostIPs",
                                        "status.podIP",
                                        "status.podIPs",
                                        NULL};
    struct str field = s->field_path, path, subscript;
    const struct path *here = AT(p, "fieldPath");
    if (!s->api_version.n)
        valid__required(v, AT(p, "apiVersion"), NO_DETAIL);
    else if (!field.n)
        valid__required(v, here, NO_DETAIL);
    else if (!str_is(s->api_version, "v1"))
        valid__invalid(v, here, VALUE_Q(field), CONVERTING "unsupported pod version: %.*s",
                       STR_ARG(s->api_version));
    else if (split_subscript(field, &path, &subscript)) {
        if (str_is(path, "metadata.annotations") || str_is(path, "metadata.labels"))
            check_subscript(v, p, path, subscript);
        else
            valid__invalid(v, here, VALUE_Q(field),
                           CONVERTING "field label does not support subscript: %.*s",
                           STR_ARG(field));
    } else if (!valid__one_of(field, known))
        valid__invalid(v, here, VALUE_Q(field), CONVERTING "field label not supported: %.*s",
                       STR_ARG(field));
    else
        check_known_field(v, here, str_is(field, "spec.host") ? STR("spec.nodeName") : field,
                          fields);
}

static void check_divisor(struct valid *v, const struct path *p,
                          const struct api_resource_field_selector *s) {
    static const char *const cpu[] = {"1m", "1", NULL};
    static const char *const bytes[] = {"1",   "1k",  "1M",  "1G",  "1T",  "1P",  "1E",
                                        "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei", NULL};
    static const struct {
        const char *resource; /* behind limits. or requests. */
        bool prefix;
        const char *const *divisors;
        const char *text;
    } rows[] = {
        {"cpu", false, cpu, "only divisor's values 1m and 1 are supported with the cpu resource"},
#define BYTES "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are"
        {"memory", false, bytes, BYTES " supported with the memory resource"},
        {"ephemeral-storage", false, bytes,
         BYTES " supported with the local ephemeral storage resource"},
        {"hugepages-", true, bytes, BYTES " supported with the hugepages resource"},
#undef BYTES
    };
    struct str name = s->resource;
    if (quantity_sign(&s->divisor) == 0)
        return;
    if (str_starts(name, STR("limits.")))
        name = str_sub(name, 7, name.n);
    else if (str_starts(name, STR("requests.")))
        name = str_sub(name, 9, name.n);
    else
        return;
    struct buf text = BUF_INIT(1024);
    quantity_write(&text, &s->divisor);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if ((rows[i].prefix ? str_starts(name, str_of(rows[i].resource))
                            : str_is(name, rows[i].resource)) &&
            !valid__one_of(buf_view(&text), rows[i].divisors))
            valid__invalid(v, AT(p, "divisor"), VALUE_Q(s->resource), "%s", rows[i].text);
    buf_release(&text);
}

void valid__resource_field_ref(struct valid *v, const struct path *p,
                               const struct api_resource_field_selector *s, bool in_volume) {
    static const char *const resources[] = {"limits.cpu",
                                            "limits.ephemeral-storage",
                                            "limits.memory",
                                            "requests.cpu",
                                            "requests.ephemeral-storage",
                                            "requests.memory",
                                            NULL};
    if (in_volume && !s->container_name.n)
        valid__required(v, AT(p, "containerName"), NO_DETAIL);
    else if (!s->resource.n)
        valid__required(v, AT(p, "resource"), NO_DETAIL);
    else if (!valid__one_of(s->resource, resources) &&
             !str_starts(s->resource, STR("limits.hugepages-")) &&
             !str_starts(s->resource, STR("requests.hugepages-")))
        valid__not_supported(v, AT(p, "resource"), VALUE_Q(s->resource), resources);
    check_divisor(v, p, s);
}

/* ---- variables ---- */

static void check_file_key(struct valid *v, const struct path *p,
                           const struct api_file_key_selector *s) {
    if (!s->key.n)
        valid__required(v, AT(p, "key"), NO_DETAIL);
    else
        check_relaxed_name(v, AT(p, "key"), s->key);
    if (!s->volume_name.n)
        valid__required(v, AT(p, "volumeName"), NO_DETAIL);
    else
        valid__dns_label(v, AT(p, "volumeName"), s->volume_name);
    if (!s->path.n)
        valid__required(v, AT(p, "path"), NO_DETAIL);
    else
        valid__no_backsteps(v, AT(p, "path"), s->path);
}

bool valid__had_files_for_env(const struct api_pod_spec *old) {
    const struct api_container *c;
    for (size_t at = 0; (c = valid__next_container(old, &at));)
        for (size_t i = 0; i < c->env.n; i++)
            if (c->env.v[i].value_from && c->env.v[i].value_from->file_key_ref)
                return true;
    return false;
}

static void check_value_from(const struct pod_view *pod, const struct path *p,
                             const struct api_env_var *e) {
    struct valid *v = pod->v;
    const struct api_env_var_source *from = e->value_from;
    if (from->field_ref)
        valid__field_ref(v, AT(p, "fieldRef"), from->field_ref, valid__env_fields);
    if (from->resource_field_ref)
        valid__resource_field_ref(v, AT(p, "resourceFieldRef"), from->resource_field_ref, false);
    if (from->config_map_key_ref) {
        const struct path *here = AT(p, "configMapKeyRef");
        valid__dns_subdomain(v, AT(here, "name"),
                             from->config_map_key_ref->local_object_reference.name);
        valid__config_key(v, AT(here, "key"), from->config_map_key_ref->key);
    }
    if (from->secret_key_ref) {
        const struct path *here = AT(p, "secretKeyRef");
        valid__dns_subdomain(v, AT(here, "name"),
                             from->secret_key_ref->local_object_reference.name);
        valid__config_key(v, AT(here, "key"), from->secret_key_ref->key);
    }
    if (from->file_key_ref)
        check_file_key(v, AT(p, "fileKeyRef"), from->file_key_ref);
    int sources = !!from->field_ref + !!from->resource_field_ref + !!from->config_map_key_ref +
                  !!from->secret_key_ref + !!from->file_key_ref;
    if (!sources)
        valid__invalid(v, p, VALUE_Q(STR("")),
                       feature_enabled(v->gates, FEATURE_EnvFiles) || pod->had.files_for_env
                           ? "must specify one of: `fieldRef`, `resourceFieldRef`, "
                             "`configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
                           : "must specify one of: `fieldRef`, `resourceFieldRef`, "
                             "`configMapKeyRef` or `secretKeyRef`");
    else if (e->value.n)
        valid__invalid(v, p, VALUE_Q(STR("")), "may not be specified when `value` is not empty");
    else if (sources > 1)
        valid__invalid(v, p, VALUE_Q(STR("")),
                       "may not have more than one field specified at a time");
}

void valid__env(const struct pod_view *pod, const struct path *p,
                const struct api_env_var_list *l) {
    for (size_t i = 0; i < l->n; i++) {
        const struct api_env_var *e = &l->v[i];
        const struct path *here = AT_INDEX(p, i);
        if (e->name.n)
            check_name(pod, AT(here, "name"), e->name);
        else
            valid__required(pod->v, AT(here, "name"), NO_DETAIL);
        if (e->value_from)
            check_value_from(pod, AT(here, "valueFrom"), e);
    }
}

/* ---- all keys of a config map or secret ---- */

/* Upstream takes the name for one that may yet get a suffix: a dash at the end, and whatever stands
 * before it, is fine. */
static struct str without_dash(struct arena *a, struct str name) {
    if (name.n < 2 || name.p[name.n - 1] != '-')
        return name;
    return arena_printf(a, "%.*sa", (int)(name.n - 2), name.p);
}

static void check_name_prefix(struct valid *v, const struct path *p, struct str name) {
    if (!name.n) {
        valid__required(v, p, NO_DETAIL);
        return;
    }
    struct names_errs errs = names_check_dns1123_subdomain(without_dash(v->errs->a, name));
    valid__names(v, p, name, &errs);
}

void valid__env_from(const struct pod_view *pod, const struct path *p,
                     const struct api_env_from_source_list *l) {
    for (size_t i = 0; i < l->n; i++) {
        const struct api_env_from_source *e = &l->v[i];
        const struct path *here = AT_INDEX(p, i);
        if (e->prefix.n)
            check_name(pod, AT(here, "prefix"), e->prefix);
        if (e->config_map_ref)
            check_name_prefix(pod->v, AT(AT(here, "configMapRef"), "name"),
                              e->config_map_ref->local_object_reference.name);
        if (e->secret_ref)
            check_name_prefix(pod->v, AT(AT(here, "secretRef"), "name"),
                              e->secret_ref->local_object_reference.name);
        if (!e->config_map_ref && !e->secret_ref)
            valid__invalid(pod->v, p, VALUE_Q(STR("")),
                           "must specify one of: `configMapRef` or `secretRef`");
        else if (e->config_map_ref && e->secret_ref)
            valid__invalid(pod->v, p, VALUE_Q(STR("")),
                           "may not have more than one field specified at a time");
    }
}

/* ---- variables from files ---- */

static void check_file_volume(struct valid *v, const struct path *p, struct str name,
                              const struct seen *volumes) {
    const struct api_volume *volume = seen_get(volumes, name);
    if (!volume)
        valid__not_found(v, p, VALUE_Q(name), NO_DETAIL);
    else if (!volume->volume_source.empty_dir)
        valid__invalid(v, p, VALUE_Q(name), "referenced volume must be of type emptyDir");
}

static void check_file_volumes(struct valid *v, const struct path *p, const struct api_container *c,
                               const struct seen *volumes) {
    for (size_t i = 0; i < c->env.n; i++) {
        const struct api_env_var_source *from = c->env.v[i].value_from;
        if (from && from->file_key_ref)
            check_file_volume(
                v, AT(AT(AT(AT_INDEX(AT(p, "env"), i), "valueFrom"), "fileKeyRef"), "volumeName"),
                from->file_key_ref->volume_name, volumes);
    }
}

void valid__file_key_volumes(struct valid *v, const struct path *spec_path,
                             const struct api_pod_spec *spec) {
    if (!valid__had_files_for_env(spec))
        return;
    struct seen volumes; /* of volumes with the same name the last one counts */
    seen_init(&volumes);
    for (size_t i = spec->volumes.n; i-- > 0;)
        seen_put(&volumes, spec->volumes.v[i].name, &spec->volumes.v[i]);
    for (size_t i = 0; i < spec->init_containers.n; i++)
        check_file_volumes(v, AT_INDEX(AT(spec_path, "initContainers"), i),
                           &spec->init_containers.v[i], &volumes);
    for (size_t i = 0; i < spec->containers.n; i++)
        check_file_volumes(v, AT_INDEX(AT(spec_path, "containers"), i), &spec->containers.v[i],
                           &volumes);
    for (size_t i = 0; i < spec->ephemeral_containers.n; i++)
        check_file_volumes(v, AT_INDEX(AT(spec_path, "ephemeralContainers"), i),
                           &spec->ephemeral_containers.v[i].container, &volumes);
    seen_release(&volumes);
}
