/* The table of resources. */
#include "registry/registry.h"

#define BIT(verb) (1u << REGISTRY_VERB_##verb)
#define ALL       ((1u << REGISTRY_VERB_COUNT) - 1)
#define CHANGE    (BIT(GET) | BIT(PATCH) | BIT(UPDATE))
#define CONNECT   (BIT(CREATE) | BIT(GET))
#define POST      BIT(CREATE)
#define PROXY     (BIT(CREATE) | BIT(DELETE) | CHANGE)
#define READ      BIT(GET)
#define FREE      0
#define CREATES   REGISTRY_UPDATE_CREATES
#define VERSIONED REGISTRY_UPDATE_NEEDS_VERSION

#define SUB(sub_name, version, sub_kind, sub_verbs) \
    { sub_name, version, sub_kind, sub_verbs }
#define NO_SUB \
    { 0 }

/* The subresources of each row: pod_subresources, … */
#define RESOURCE(type, one, shorts, groups, may, updates, ...) \
    static const struct registry_subresource type##_subresources[] = {__VA_ARGS__, {0}};
#include "registry/resources.def"
#undef RESOURCE

/* Places of kinds in api_kinds. */
enum kind_place {
#define KIND(type, name, version, plural, namespaced)     PLACE_##type,
#define ALSO(type, id, name, version, plural, namespaced) PLACE_##type##_##id,
#include "api/schema/kinds.def"
#undef KIND
#undef ALSO
};

static const struct registry_resource resources[] = {
#define RESOURCE(type, one, shorts, groups, may, updates, ...) \
    {&api_kinds[PLACE_##type], one, shorts, groups, may, updates, type##_subresources},
#include "registry/resources.def"
#undef RESOURCE
};

const struct registry_resource *registry_resources(size_t *count) {
    *count = sizeof resources / sizeof *resources;
    return resources;
}

const struct registry_resource *registry_resource_of(const struct api_kind *kind) {
    for (size_t i = 0; i < sizeof resources / sizeof *resources; i++)
        if (resources[i].kind == kind)
            return &resources[i];
    return NULL;
}
