/*
 * Claims as pods name them: by a volume's claimName, or made for a generic ephemeral volume and
 * then named after pod and volume. Also who uses which claim, and how plug-ins say no.
 *
 * Follows k8s.io/component-helpers storage/ephemeral, func VolumeClaimName, func VolumeIsForPod.
 */
#include <stdlib.h>

#include "sched/volumes/disks_int.h"
#include "sched/volumes/state_int.h"

struct str sched__claim_name(struct arena *a, const struct api_object *pod,
                             const struct api_volume *volume) {
    const struct api_volume_source *source = &volume->volume_source;
    if (source->persistent_volume_claim)
        return source->persistent_volume_claim->claim_name;
    if (source->ephemeral)
        return arena_printf(a, "%.*s-%.*s", STR_ARG(pod->meta->name), STR_ARG(volume->name));
    return (struct str){0};
}

/* Is name "<pod>-<volume>"? */
static bool is_joined(struct str name, struct str pod, struct str volume) {
    return name.n == pod.n + 1 + volume.n && str_starts(name, pod) && name.p[pod.n] == '-' &&
           str_ends(name, volume);
}

bool sched__claim_is_of_pod(const struct api_object *claim, const struct api_object *pod,
                            bool ephemeral) {
    if (!str_eq(claim->meta->namespace, pod->meta->namespace))
        return false;
    struct str name = claim->meta->name;
    const struct api_volume_list *volumes = &sched__pod_spec(pod)->volumes;
    for (size_t i = 0; i < volumes->n; i++) {
        const struct api_volume_source *source = &volumes->v[i].volume_source;
        if (source->persistent_volume_claim) {
            if (str_eq(source->persistent_volume_claim->claim_name, name))
                return true;
        } else if (ephemeral && source->ephemeral &&
                   is_joined(name, pod->meta->name, volumes->v[i].name)) {
            return true;
        }
    }
    return false;
}

static bool is_controlled_by(const struct api_object_meta *claim, const struct api_object *pod) {
    for (size_t i = 0; i < claim->owner_references.n; i++) {
        const struct api_owner_reference *owner = &claim->owner_references.v[i];
        if (owner->controller.set && owner->controller.v)
            return str_eq(owner->uid, pod->meta->uid);
    }
    return false;
}

struct str sched__claim_owner_error(struct arena *a, const struct api_object *claim,
                                    const struct api_object *pod) {
    const struct api_object_meta *c = claim->meta, *p = pod->meta;
    if (str_eq(c->namespace, p->namespace) && is_controlled_by(c, pod))
        return (struct str){0};
    return arena_printf(a, "PVC %.*s/%.*s was not created for pod %.*s/%.*s (pod is not owner)",
                        STR_ARG(c->namespace), STR_ARG(c->name), STR_ARG(p->namespace),
                        STR_ARG(p->name));
}

bool sched__claim_is_exclusive(const struct api_object *claim) {
    const struct api_strs *modes = &sched__claim_body(claim)->spec.access_modes;
    for (size_t i = 0; i < modes->n; i++)
        if (str_is(modes->v[i], "ReadWriteOncePod"))
            return true;
    return false;
}

/* ---- who uses a claim ---- */

struct user_count {
    size_t n;
    char key[]; /* namespace/name, not terminated */
};

/* Room for the key of a claim. */
struct claim_key {
    char text[512];
};

/* "namespace/name"; absent if that is longer than any there can be. */
static struct str make_key(struct claim_key *key, struct str ns, struct str name) {
    int n = snprintf(key->text, sizeof key->text, "%.*s/%.*s", STR_ARG(ns), STR_ARG(name));
    bool fits = n > 0 && (size_t)n < sizeof key->text;
    return fits ? (struct str){key->text, (size_t)n} : (struct str){0};
}

size_t sched__claim_users(const struct sched *s, struct str ns, struct str name) {
    if (!s->volumes)
        return 0;
    struct claim_key key;
    const struct user_count *count = map_get(&s->volumes->users, make_key(&key, ns, name));
    return count ? count->n : 0;
}

static void count_user(struct sched *s, struct str key, int delta) {
    struct map *users = &sched__volumes_get(s)->users;
    struct user_count *count = map_get(users, key);
    if (!count) {
        assert(delta > 0);
        count = xcalloc(1, sizeof *count + key.n);
        memcpy(count->key, key.p, key.n);
        map_put(users, (struct str){count->key, key.n}, count);
    }
    count->n += (size_t)delta;
    if (!count->n) {
        map_del(users, key);
        free(count);
    }
}

/* The pod is one user more (delta 1) or less (-1) of the claim. */
static void use_claim(struct sched *s, const struct sched_pod *p, struct str name, int delta) {
    struct claim_key key;
    struct str ns = p->cls->sample->meta->namespace, text = make_key(&key, ns, name);
    if (!text.p)
        return;
    count_user(s, text, delta);
    const struct api_object *claim = sched__store_find(s, &s->store.claims, ns, name);
    if (claim && sched__claim_is_exclusive(claim))
        s->storage_generation++;
}

static void use_disks(struct sched *s, const struct sched_pod *p, uint32_t slot, int delta) {
    struct arena a = {0};
    struct sched__disk_names names = sched__disk_names(&a, p->cls->sample);
    sched__disks_count(&sched__volumes_get(s)->disks, &names, slot, delta);
    arena_release(&a);
}

void sched__volumes_pod(struct sched *s, const struct sched_pod *p, uint32_t slot, int delta) {
    const struct api_volume_list *volumes = &sched__pod_spec(p->cls->sample)->volumes;
    bool has_disks = false;
    for (size_t i = 0; i < volumes->n; i++) {
        const struct api_volume_source *source = &volumes->v[i].volume_source;
        has_disks |= sched__is_disk(source);
        if (source->persistent_volume_claim)
            use_claim(s, p, source->persistent_volume_claim->claim_name, delta);
    }
    if (has_disks)
        use_disks(s, p, slot, delta);
    sched__attached_pod(s, p, slot, delta);
}

/* ---- lists of texts ---- */

enum { WORTH_SORTING = 16 };

static size_t count_found(const struct api_strs *list, const struct api_strs *in) {
    size_t found = 0;
    for (size_t i = 0; i < list->n; i++) {
        size_t k = 0;
        while (k < in->n && !str_eq(list->v[i], in->v[k]))
            k++;
        found += k < in->n;
    }
    return found;
}

static size_t count_in_sorted(const struct api_strs *list, const struct api_strs *in) {
    struct arena a = {0};
    struct str *sorted = arena_copy(&a, in->v, in->n * sizeof *in->v);
    size_t found = 0;
    qsort(sorted, in->n, sizeof *sorted, str_cmp_qsort);
    for (size_t i = 0; i < list->n; i++)
        found += bsearch(&list->v[i], sorted, in->n, sizeof *sorted, str_cmp_qsort) != NULL;
    arena_release(&a);
    return found;
}

/* How many of the list are in the other. */
static size_t count_common(const struct api_strs *list, const struct api_strs *in) {
    bool is_long = list->n > WORTH_SORTING && in->n > WORTH_SORTING;
    return (is_long ? count_in_sorted : count_found)(list, in);
}

bool sched__strs_cover(const struct api_strs *has, const struct api_strs *wanted) {
    return count_common(wanted, has) == wanted->n;
}

/* ---- how plug-ins say no ---- */

struct str sched__not_found(struct arena *a, const char *resource, struct str name) {
    return arena_printf(a, "%s \"%.*s\" not found", resource, STR_ARG(name));
}

void sched__filter_fail(struct sched__cycle *cy, enum sched_plugin plugin, struct str text) {
    struct str name = sched_plugin_name(plugin);
    if (!cy->error.p)
        cy->error = arena_printf(cy->arena, "running \"%.*s\" filter plugin: %.*s", STR_ARG(name),
                                 STR_ARG(text));
}
