/*
 * Published objects in little memory. Most objects have siblings: the pods of one Deployment differ
 * in their names, uids, nodes and addresses, the nodes of a cluster in little more. So of each
 * family one object is remembered as the likeness of the others, which hold it and have only what
 * differs for themselves. Families of a namespace have much in common, too: of the likenesses of
 * such families one is whole, and the others are made by it.
 *
 * So an object holds one other, which may hold a third one that is whole. A likeness may outlive
 * its place in the store, so it must have paid for itself: at least half of it is shared by each
 * object that holds it, which therefore is the dearer of the two.
 *
 * An object that has nothing in common with others has much in common with what it was, which the
 * log holds for a while: a node whose status is told again differs in some times.
 *
 * A family changes: its pods are created without a status and then run. A member that has much for
 * itself becomes the likeness of those who come after it, which is a bet that they will be like it;
 * bets become rarer, so that a family whose members just differ much loses little.
 */
#include "base/map.h"
#include "store/store_int.h"

enum {
    LEAST_BYTES = 2048, /* smaller ones are copied in less time than it takes to compare them */
    FIRST_BET = 4,      /* copies behind a bet before there may be another one: twice as many */
    LAST_BET = 1024,    /* each time, up to this */
};

/* Objects of one owner, or made by one name; their namespace is that of `general`. */
static struct store__likeness *family_of(struct store *s, const struct api_object *o,
                                         uint64_t general) {
    const struct api_owner_reference *owner = api_object_controller(o);
    uint64_t hash = str_hash(owner ? owner->uid : o->meta->generate_name, general);
    return &s->likenesses[hash % STORE__LIKENESSES];
}

/* A copy of an object by a likeness. */
struct copy {
    struct api_object *object; /* NULL: there is none */
    size_t shared;             /* bytes */
    size_t rest;               /* bytes that it has for itself beside its body */
};

/* No copy when they do not have enough in common. */
static struct copy copy_like(struct store *s, const struct api_object *draft,
                             const struct api_object *like) {
    struct copy c = {0};
    if (!like || like->type != draft->type)
        return c;
    c.object = api_object_copy_like(draft, like, &s->scratch, &c.shared);
    c.rest = arena_used(&c.object->arena) - draft->type->size;
    if (c.shared >= arena_used(&like->arena) / 2)
        return c;
    api_object_free(c.object);
    return (struct copy){0};
}

/* Has the object so much for itself that another likeness could be worth while? */
static bool is_loose(const struct copy *c) {
    return c->rest > LEAST_BYTES / 2 && c->rest > c->shared / 4;
}

/* The copy that shares most: by the likeness that the object has had, or itself was, or by that of
 * its family. */
static struct copy best_copy(struct store *s, const struct api_object *draft,
                             const struct api_object *had, const struct api_object *offered) {
    struct copy c = copy_like(s, draft, had ? had : offered);
    if (!had || had == offered || (c.object && !is_loose(&c)))
        return c;
    struct copy other = copy_like(s, draft, offered);
    bool is_better = other.object && (!c.object || other.rest < c.rest);
    api_object_free(is_better ? c.object : other.object);
    return is_better ? other : c;
}

/* Shall the object be kept whole although there is a copy? */
static bool bets(struct store__likeness *family, const struct copy *c) {
    if (family->patience) {
        family->patience--;
        return false;
    }
    if (!is_loose(c))
        return false;
    family->bet = family->bet ? family->bet * 2 : FIRST_BET;
    if (family->bet > LAST_BET)
        family->bet = LAST_BET;
    family->patience = family->bet;
    return true;
}

/* The object whole, without what was left behind when it was made. */
static struct api_object *copy_whole(struct store *s, const struct api_object *draft) {
    size_t shared;
    return api_object_copy_like(draft, NULL, &s->scratch, &shared);
}

static void remember(struct store__likeness *family, const struct api_object *o) {
    api_object_unref(family->object);
    family->object = api_object_ref(o);
}

/* The likeness of a family that has no good one. */
static const struct api_object *publish_likeness(struct store *s, const struct api_object *draft,
                                                 struct store__likeness *general) {
    struct copy c = copy_like(s, draft, general->object);
    if (c.object && !bets(general, &c))
        return api_publish(c.object);
    api_object_free(c.object);
    const struct api_object *o = api_publish(copy_whole(s, draft));
    remember(general, o);
    return o;
}

static const struct api_object *publish(struct store *s, uint32_t resource,
                                        const struct api_object *draft,
                                        const struct api_object *had) {
    if (arena_used(&draft->arena) < LEAST_BYTES)
        return api_publish(copy_whole(s, draft));
    uint64_t general = str_hash(draft->meta->namespace, resource);
    struct store__likeness *family = family_of(s, draft, general);
    struct copy c = best_copy(s, draft, had, family->object);
    if (c.object && !bets(family, &c))
        return api_publish(c.object);
    api_object_free(c.object);
    const struct api_object *o = publish_likeness(s, draft, &s->general[general % STORE__GENERAL]);
    remember(family, o);
    return o;
}

const struct api_object *store__object_publish(struct store *s, uint32_t resource,
                                               struct api_object *draft,
                                               const struct api_object *previous) {
    const struct api_object *had = previous && previous->base ? previous->base : previous;
    const struct api_object *o = publish(s, resource, draft, had);
    api_object_free(draft);
    return o;
}

void store__likenesses_release(struct store *s) {
    for (size_t i = 0; i < STORE__LIKENESSES; i++)
        api_object_unref(s->likenesses[i].object);
    for (size_t i = 0; i < STORE__GENERAL; i++)
        api_object_unref(s->general[i].object);
    arena_release(&s->scratch);
}
