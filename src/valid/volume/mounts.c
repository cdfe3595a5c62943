/*
 * Where containers see their volumes: mounts, and devices for claims in block mode.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func ValidateVolumeMounts,
 * func ValidateVolumeDevices.
 */
#include "valid/pod/container_int.h"

/* ---- paths ---- */

bool valid__has_backsteps(struct str path) {
    struct str element;
    for (bool more = true; more;) {
        more = str_cut(path, '/', &element, &path);
        if (str_is(element, ".."))
            return true;
    }
    return false;
}

void valid__no_backsteps(struct valid *v, const struct path *p, struct str path) {
    if (valid__has_backsteps(path))
        valid__invalid(v, p, VALUE_Q(path), "must not contain '..'");
}

static bool is_absolute(struct str path) {
    return str_starts(path, STR("/"));
}

void valid__descending_path(struct valid *v, const struct path *p, struct str path) {
    if (is_absolute(path))
        valid__invalid(v, p, VALUE_Q(path), "must be a relative path");
    valid__no_backsteps(v, p, path);
}

/* Starts with .. but not with it as a whole element, which is reported already. */
static bool is_reserved(struct str path) {
    return str_starts(path, STR("..")) && !str_starts(path, STR("../"));
}

void valid__local_path(struct valid *v, const struct path *p, struct str path) {
    valid__descending_path(v, p, path);
    if (is_reserved(path))
        valid__invalid(v, p, VALUE_Q(path), "must not start with '..'");
}

bool valid__is_local_path(struct str path) {
    return !is_absolute(path) && !valid__has_backsteps(path) && !is_reserved(path);
}

/* ---- what stands in the other list of the container ---- */

struct places {
    struct seen names, paths;
};

/* Of entries with the same name the last path counts. */
static void add_place(struct places *places, struct str name, struct str path) {
    if (seen_add(&places->names, name))
        seen_add(&places->paths, path);
}

static void places_init(struct places *places) {
    seen_init(&places->names);
    seen_init(&places->paths);
}

static void add_devices(struct places *places, const struct api_container *c) {
    for (size_t i = c->volume_devices.n; i-- > 0;)
        add_place(places, c->volume_devices.v[i].name, c->volume_devices.v[i].device_path);
}

static void add_mounts(struct places *places, const struct api_container *c) {
    for (size_t i = c->volume_mounts.n; i-- > 0;)
        add_place(places, c->volume_mounts.v[i].name, c->volume_mounts.v[i].mount_path);
}

static void places_release(struct places *places) {
    seen_release(&places->names);
    seen_release(&places->paths);
}

/* ---- mounts ---- */

static void check_propagation(struct valid *v, const struct path *p, struct str mode,
                              const struct api_container *c) {
    static const char *const modes[] = {"Bidirectional", "HostToContainer", "None", NULL};
    const struct api_security_context *sc = c->security_context;
    if (!valid__one_of(mode, modes))
        valid__not_supported(v, p, VALUE_NAMED(mode), modes);
    if (str_is(mode, "Bidirectional") && !(sc && sc->privileged.set && sc->privileged.v))
        valid__forbidden(
            v, p, "Bidirectional mount propagation is available only to privileged containers");
}

static void check_recursive(struct valid *v, const struct path *p,
                            const struct api_volume_mount *m) {
    static const char *const modes[] = {"Disabled", "Enabled", "IfPossible", NULL};
    struct str mode = m->recursive_read_only;
    if (!valid__one_of(mode, modes)) {
        valid__not_supported(v, p, VALUE_NAMED(mode), modes);
        return;
    }
    if (str_is(mode, "Disabled"))
        return;
    if (!m->read_only)
        valid__forbidden(v, p, "may only be specified when readOnly is true");
    if (m->mount_propagation.p && !str_is(m->mount_propagation, "None"))
        valid__forbidden(v, p,
                         "may only be specified when mountPropagation is None or not specified");
}

static void check_bind_options(struct valid *v, const struct path *p,
                               const struct api_strs *options, const struct api_volume *volume) {
    static const char *const known[] = {"nodev", "noexec", "nosuid", NULL};
    struct seen seen;
    seen_init(&seen);
    for (size_t i = 0; i < options->n; i++) {
        if (!valid__one_of(options->v[i], known))
            valid__not_supported(v, AT_INDEX(p, i), VALUE_Q(options->v[i]), known);
        if (!seen_add(&seen, options->v[i]))
            valid__duplicate(v, AT_INDEX(p, i), VALUE_Q(options->v[i]), NO_DETAIL);
    }
    seen_release(&seen);
    if (options->n && volume && volume->volume_source.image)
        valid__invalid(v, p, valid__strs_value(v->errs->a, options),
                       "bindMountOptions may not be used with image volumes");
}

/* Paths without the mount's index are upstream's. */
static void check_mount_options(const struct pod_view *pod, const struct path *list_path, size_t i,
                                const struct api_container *c) {
    const struct api_volume_mount *m = &c->volume_mounts.v[i];
    const struct path *p = AT_INDEX(list_path, i);
    struct valid *v = pod->v;
    if (m->sub_path.n)
        valid__descending_path(v, AT(list_path, "subPath"), m->sub_path);
    if (m->sub_path_expr.n) {
        if (m->sub_path.n)
            valid__invalid(v, AT(p, "subPathExpr"), VALUE_Q(m->sub_path_expr),
                           "subPathExpr and subPath are mutually exclusive");
        valid__descending_path(v, AT(list_path, "subPathExpr"), m->sub_path_expr);
    }
    if (m->mount_propagation.p)
        check_propagation(v, AT(list_path, "mountPropagation"), m->mount_propagation, c);
    if (m->recursive_read_only.p)
        check_recursive(v, AT(list_path, "recursiveReadOnly"), m);
    if (m->bind_mount_options.n)
        check_bind_options(v, AT(p, "bindMountOptions"), &m->bind_mount_options,
                           seen_get(&pod->volumes, m->name));
}

static void check_mount(const struct pod_view *pod, const struct path *p,
                        const struct api_volume_mount *m, struct seen *paths,
                        const struct places *devices) {
    struct valid *v = pod->v;
    if (!m->name.n)
        valid__required(v, AT(p, "name"), NO_DETAIL);
    if (!seen_get(&pod->volumes, m->name))
        valid__not_found(v, AT(p, "name"), VALUE_Q(m->name), NO_DETAIL);
    if (!m->mount_path.n)
        valid__required(v, AT(p, "mountPath"), NO_DETAIL);
    if (!seen_add(paths, m->mount_path))
        valid__invalid(v, AT(p, "mountPath"), VALUE_Q(m->mount_path), "must be unique");
    if (seen_get(&devices->names, m->name))
        valid__invalid(v, AT(p, "name"), VALUE_Q(m->name),
                       "must not already exist in volumeDevices");
    if (seen_get(&devices->paths, m->mount_path))
        valid__invalid(v, AT(p, "mountPath"), VALUE_Q(m->mount_path),
                       "must not already exist as a path in volumeDevices");
}

void valid__volume_mounts(const struct pod_view *pod, const struct path *p,
                          const struct api_container *c) {
    if (!c->volume_mounts.n)
        return;
    struct places devices;
    places_init(&devices);
    add_devices(&devices, c);
    struct seen paths;
    seen_init(&paths);
    for (size_t i = 0; i < c->volume_mounts.n; i++) {
        check_mount(pod, AT_INDEX(p, i), &c->volume_mounts.v[i], &paths, &devices);
        check_mount_options(pod, p, i, c);
    }
    seen_release(&paths);
    places_release(&devices);
}

/* ---- devices ---- */

static bool is_claim(const struct api_volume *volume) {
    return volume->volume_source.persistent_volume_claim || volume->volume_source.ephemeral;
}

static void check_device_name(const struct pod_view *pod, const struct path *p, struct str name,
                              struct seen *names) {
    struct valid *v = pod->v;
    const struct api_volume *volume = seen_get(&pod->volumes, name);
    if (!name.n)
        valid__required(v, p, NO_DETAIL);
    else if (!seen_add(names, name))
        valid__invalid(v, p, VALUE_Q(name), "must be unique");
    if (!volume)
        valid__not_found(v, p, VALUE_Q(name), NO_DETAIL);
    else if (!is_claim(volume))
        valid__invalid(v, p, VALUE_Q(name),
                       "can only use volume source type of PersistentVolumeClaim or Ephemeral for "
                       "block mode");
}

static void check_device_path(struct valid *v, const struct path *p, struct str path,
                              struct seen *paths) {
    if (!path.n)
        valid__required(v, p, NO_DETAIL);
    if (seen_get(paths, path))
        valid__invalid(v, p, VALUE_Q(path), "must be unique");
    if (valid__has_backsteps(path))
        valid__invalid(v, p, VALUE_Q(path), "can not contain backsteps ('..')");
    else
        seen_add(paths, path);
}

void valid__volume_devices(const struct pod_view *pod, const struct path *p,
                           const struct api_container *c) {
    if (!c->volume_devices.n)
        return;
    struct places mounts;
    places_init(&mounts);
    add_mounts(&mounts, c);
    struct seen names, paths;
    seen_init(&names);
    seen_init(&paths);
    for (size_t i = 0; i < c->volume_devices.n; i++) {
        const struct api_volume_device *d = &c->volume_devices.v[i];
        const struct path *here = AT_INDEX(p, i);
        check_device_name(pod, AT(here, "name"), d->name, &names);
        check_device_path(pod->v, AT(here, "devicePath"), d->device_path, &paths);
        if (seen_get(&mounts.names, d->name))
            valid__invalid(pod->v, AT(here, "name"), VALUE_Q(d->name),
                           "must not already exist in volumeMounts");
        if (seen_get(&mounts.paths, d->device_path))
            valid__invalid(pod->v, AT(here, "devicePath"), VALUE_Q(d->device_path),
                           "must not already exist as a path in volumeMounts");
    }
    seen_release(&names);
    seen_release(&paths);
    places_release(&mounts);
}
