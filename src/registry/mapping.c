/*
 * From kinds to resources: what becomes of an object before anybody has looked into it.
 *
 * Follows k8s.io/client-go restmapper, func NewDiscoveryRESTMapper.
 * Follows k8s.io/apimachinery pkg/api/meta, func (*NoKindMatchError) Error.
 */
#include <string.h>

#include "base/goquote.h"
#include "registry/registry_int.h"

/* Groups that were Kubernetes' own, or are so without having anything that can be stored. */
static const char *const further_groups[] = {"admission.k8s.io", "auditregistration.k8s.io",
                                             "extensions", "imagepolicy.k8s.io", "settings.k8s.io"};

struct str registry_group_of(struct str api_version) {
    struct str group, version;
    return str_cut(api_version, '/', &group, &version) ? group : STR("");
}

static bool is_built_in(struct str group) {
    for (const struct api_kind *k = api_kinds; k->kind; k++)
        if (str_eq(registry_group_of(str_of(k->api_version)), group))
            return true;
    for (size_t i = 0; i < sizeof further_groups / sizeof *further_groups; i++)
        if (str_is(group, further_groups[i]))
            return true;
    return false;
}

enum registry_standing registry_standing_of(struct str api_version, struct str kind) {
    const struct api_kind *known = api_kind_find(api_version, kind);
    if (known && !registry_is_for_old_clients(known) &&
        (registry_resource_of(known) || known->type == &api_types[API_T_list]))
        return REGISTRY_SERVED;
    return known || is_built_in(registry_group_of(api_version)) ? REGISTRY_UNMAPPED
                                                                : REGISTRY_CUSTOM;
}

bool registry_is_for_old_clients(const struct api_kind *kind) {
    return strcmp(kind->api_version, "policy/v1beta1") == 0;
}

bool registry_is_on_by_default(const struct api_kind *kind) {
    return registry_is_for_old_clients(kind) ||
           (!strstr(kind->api_version, "alpha") && !strstr(kind->api_version, "beta"));
}

struct registry_failure registry_no_match(struct arena *a, struct str api_version, struct str kind,
                                          struct str namespace, struct str name) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    buf_add(&text, STR("no matches for kind "));
    goquote_write(&text, kind);
    buf_add(&text, STR(" in version "));
    goquote_write(&text, api_version);
    return (struct registry_failure){.code = ERR_NOT_FOUND,
                                     .message = arena_str(a, buf_view(&text)),
                                     .name = name,
                                     .namespace = namespace,
                                     .is_unmapped = true};
}
