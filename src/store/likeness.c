/*
 * Published objects in little memory. Most objects have siblings: the pods of one Deployment differ
 * in their names, uids, nodes and addresses, the nodes of a cluster in little more. So of each
 * family one object is remembered as the likeness of the others, which hold it and have only what
 * differs for themselves.
 *
 * An object holds one other at most, and that one none: a likeness is never made by likeness. It
 * may outlive its place in the store, so it must have paid for itself: at least half of it is
 * shared by each object that holds it, which therefore is the dearer of the two.
 *
 * A family changes: its pods are created without a status and then run. A member that has much for
 * itself is kept whole and is the likeness of those who come after it, which is a bet that they
 * will be like it; bets become rarer, so that a family whose members just differ much loses little.
 */
#include "base/map.h"
#include "store/store_int.h"

enum {
    LEAST_BYTES = 2048, /* smaller ones are copied in less time than it takes to compare them */
    FIRST_BET = 4,      /* copies behind a bet before there may be another one: twice as many */
    LAST_BET = 1024,    /* each time, up to this */
};

/* Objects of one owner, or made by one name, or of the same namespace. */
static struct store__likeness *family_of(struct store *s, uint32_t resource,
                                         const struct api_object *o) {
    const struct api_owner_reference *owner = api_object_controller(o);
    struct str maker = owner ? owner->uid : o->meta->generate_name;
    uint64_t hash = str_hash(maker, str_hash(o->meta->namespace, resource));
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

/* The copy that shares most: by the likeness that the object has had, or by that of its family. */
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

/* The object whole, without what was left behind when it was made; the draft is taken. */
static const struct api_object *publish_whole(struct store *s, struct api_object *draft) {
    size_t shared;
    struct api_object *copy = api_object_copy_like(draft, NULL, &s->scratch, &shared);
    api_object_free(draft);
    return api_publish(copy);
}

const struct api_object *store__object_publish(struct store *s, uint32_t resource,
                                               struct api_object *draft,
                                               const struct api_object *previous) {
    if (arena_used(&draft->arena) < LEAST_BYTES)
        return publish_whole(s, draft);
    struct store__likeness *family = family_of(s, resource, draft);
    struct copy c = best_copy(s, draft, previous ? previous->base : NULL, family->object);
    if (c.object && !bets(family, &c)) {
        api_object_free(draft);
        return api_publish(c.object);
    }
    api_object_free(c.object);
    const struct api_object *o = publish_whole(s, draft);
    api_object_unref(family->object);
    family->object = api_object_ref(o);
    return o;
}

void store__likenesses_release(struct store *s) {
    for (size_t i = 0; i < STORE__LIKENESSES; i++)
        api_object_unref(s->likenesses[i].object);
    arena_release(&s->scratch);
}
