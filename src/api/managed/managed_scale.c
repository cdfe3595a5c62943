/*
 * Managers of a workload's replicas, who are those of its Scale.
 *
 * A Scale stores nothing: its managers are made of the workload's whenever it is written, and what
 * becomes of them goes back. Upstream tells managers apart by the version of their entry, too, and
 * a Scale is of another one; so who has written both has two entries, and those that come from a
 * Scale have no time.
 *
 * Follows k8s.io/apimachinery pkg/util/managedfields, func (*ScaleHandler) ToSubresource,
 * func (*ScaleHandler) ToParent.
 */
#include "api/managed/managed_int.h"

#define SCALE_VERSION STR("autoscaling/v1")

/* The managers of a list of a stored object; of bad entries there are none. */
static struct api__managers read_all(struct arena *a,
                                     const struct api_managed_fields_entry_list *list) {
    struct api__managers m = api__managers_init(a);
    struct str wrong;
    if (api__managers_read(&m, list, &wrong) < 0) {
        api__managers_release(&m);
        m = api__managers_init(a);
    }
    return m;
}

static bool has_replicas(struct arena *a, const struct api__manager *m,
                         const struct api__path_set *replicas) {
    return api__set_combine(a, API__INTERSECTION, m->fields, replicas);
}

void api_managed_to_scale(const struct api_kind *kind, const struct api_object *o,
                          struct api_object *scale) {
    AUTO(arena_release) struct arena a = {0};
    const struct api__path_set *replicas = api__set_of_paths(&a, "spec.replicas");
    struct api__managers m = read_all(&a, &o->meta->managed_fields);
    for (size_t i = 0; i < m.list.n; i++) {
        struct api__manager *manager = m.list.v[i];
        bool is_known = str_is(manager->api_version, kind->api_version);
        manager->fields = is_known && has_replicas(&a, manager, replicas) ? replicas : NULL;
        manager->api_version = SCALE_VERSION;
    }
    api__managers_write(&m, &scale->arena, &api_own_meta(scale)->managed_fields);
    api__managers_release(&m);
}

/* Leaves a manager of the workload its replicas only if the Scale still says that it has them. */
static void settle(struct api__managers *m, const struct api_kind *kind,
                   struct api__manager *manager, struct api__managers *of_scale) {
    const struct api__path_set *replicas = api__set_of_paths(m->a, "spec.replicas");
    struct api__manager *same = api__managers_find(of_scale, manager->id);
    if (!str_is(manager->api_version, kind->api_version))
        manager->fields = NULL;
    else if (!has_replicas(m->a, manager, replicas))
        return;
    else if (same && same->fields)
        same->fields = NULL;
    else
        manager->fields = api__set_combine(m->a, API__DIFFERENCE, manager->fields, replicas);
}

/* Adds a manager of the Scale to those of the workload. */
static void adopt(struct api__managers *m, const struct api_kind *kind,
                  const struct api__manager *from) {
    const struct api__path_set *replicas = api__set_of_paths(m->a, "spec.replicas");
    if (!from->fields || !has_replicas(m->a, from, replicas))
        return;
    struct api__manager *to = api__managers_put(m, from);
    to->fields = replicas;
    to->api_version = str_of(kind->api_version);
    to->time = (struct api_time){0};
}

void api_managed_from_scale(const struct api_kind *kind, const struct api_object *scale,
                            const struct api_object *old, struct api_object *draft) {
    AUTO(arena_release) struct arena a = {0};
    struct api__managers m = read_all(&a, &old->meta->managed_fields);
    struct api__managers of_scale = read_all(&a, &scale->meta->managed_fields);
    size_t own = m.list.n;
    for (size_t i = 0; i < own; i++)
        settle(&m, kind, m.list.v[i], &of_scale);
    for (size_t i = 0; i < of_scale.list.n; i++)
        adopt(&m, kind, of_scale.list.v[i]);
    api__managers_write(&m, &draft->arena, &api_own_meta(draft)->managed_fields);
    api__managers_release(&of_scale);
    api__managers_release(&m);
}
