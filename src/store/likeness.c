/*
 * Published objects in little memory. Most objects have siblings: the pods of one Deployment differ
 * in their names, uids, nodes and addresses, the nodes of a cluster in little more. So of each
 * family one object is remembered as the likeness of the others, which hold it and have only what
 * differs for themselves.
 *
 * An object holds one other at most, and that one none: a likeness is never made by likeness. It
 * may outlive its place in the store, so it must have paid for itself: at least half of it is
 * shared by each object that holds it, which therefore is the dearer of the two.
 */
#include "base/map.h"
#include "store/store_int.h"

/* Smaller objects are copied in less time than it takes to find out what they share. */
enum { LEAST_BYTES = 2048 };

/* Objects of one owner, or made by one name, or of the same namespace. */
static struct store__likeness *family_of(struct store *s, uint32_t resource,
                                         const struct api_object *o) {
    const struct api_owner_reference *owner = api_object_controller(o);
    struct str maker = owner ? owner->uid : o->meta->generate_name;
    uint64_t hash = str_hash(maker, str_hash(o->meta->namespace, resource));
    return &s->likenesses[hash % STORE__LIKENESSES];
}

/* The object in as little memory as it needs by itself. */
static struct api_object *tighten(struct api_object *draft) {
    size_t used = arena_used(&draft->arena);
    if (!draft->base && draft->arena.bytes - used <= used / 16)
        return draft;
    struct api_object *copy = api_object_copy(draft);
    api_object_free(draft);
    return copy;
}

/* A copy by likeness; or NULL: they do not have enough in common. */
static struct api_object *copy_like(const struct api_object *draft, const struct api_object *like,
                                    struct store__likeness *family) {
    size_t shared;
    if (!like || like->type != draft->type)
        return NULL;
    struct api_object *copy = api_object_copy_like(draft, like, family->rest, &shared);
    if (shared < arena_used(&like->arena) / 2) {
        api_object_free(copy);
        return NULL;
    }
    family->rest = arena_used(&copy->arena) - draft->type->size;
    return copy;
}

static void remember(struct store__likeness *family, const struct api_object *o) {
    api_object_unref(family->object);
    *family = (struct store__likeness){.object = api_object_ref(o)};
}

const struct api_object *store__object_publish(struct store *s, uint32_t resource,
                                               struct api_object *draft,
                                               const struct api_object *previous) {
    if (arena_used(&draft->arena) < LEAST_BYTES)
        return api_publish(tighten(draft));
    struct store__likeness *family = family_of(s, resource, draft);
    bool has_own = previous && previous->base;
    struct api_object *copy = copy_like(draft, has_own ? previous->base : family->object, family);
    if (copy) {
        api_object_free(draft);
        return api_publish(copy);
    }
    const struct api_object *o = api_publish(tighten(draft));
    remember(family, o);
    return o;
}

void store__likenesses_release(struct store *s) {
    for (size_t i = 0; i < STORE__LIKENESSES; i++)
        api_object_unref(s->likenesses[i].object);
}
