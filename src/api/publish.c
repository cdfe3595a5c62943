/*
 * The second part of an object's life: it is published, counted, encoded at most once, and freed by
 * whoever lets go last.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/object_int.h"
#include "base/alloc.h"
#include "base/buf.h"

#ifdef BERTH_CHECKS
enum { CHECKED = true };
#else
enum { CHECKED = false };
#endif

/* An object in some encoding. */
struct api__bytes {
    size_t n;
    char v[];
};

/* ---- holders ---- */

const struct api_object *api_publish(struct api_object *o) {
    struct api_life *life = o->life;
    assert(!life->refs);
    if (CHECKED)
        life->checksum = arena_checksum(&o->arena);
    life->refs = 1;
    return o;
}

bool api_object_is_intact(const struct api_object *o) {
    return !CHECKED || o->life->checksum == arena_checksum(&o->arena);
}

const struct api_object *api_object_ref(const struct api_object *o) {
    uint32_t before = __atomic_fetch_add(&o->life->refs, 1, __ATOMIC_RELAXED);
    assert(before);
    (void)before;
    return o;
}

uint32_t api_object_holders(const struct api_object *o) {
    return __atomic_load_n(&o->life->refs, __ATOMIC_RELAXED);
}

/* Frees all but the base, which is returned. */
static const struct api_object *destroy(struct api_life *life) {
    const struct api_object *base = life->object.base;
    arena_release(&life->object.arena);
    free(life->json);
    free(life);
    return base;
}

/* True when nobody else holds the object any more. */
static bool drop(const struct api_object *o) {
    uint32_t before = __atomic_fetch_sub(&o->life->refs, 1, __ATOMIC_ACQ_REL);
    assert(before);
    if (before > 1)
        return false;
    if (!api_object_is_intact(o))
        BUG("a published object was written to");
    return true;
}

void api_object_unref(const struct api_object *o) {
    while (o && drop(o))
        o = destroy(o->life);
}

void api_object_free(struct api_object *o) {
    if (!o)
        return;
    assert(!o->life->refs);
    api_object_unref(destroy(o->life));
}

/* ---- encoded bytes ---- */

static struct api__bytes *encode_json(const struct api_object *o) {
    AUTO(arena_release) struct arena a = {0};
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    struct json tree = api_object_encode(o, &a);
    json_write(&text, &tree, NULL);
    struct api__bytes *bytes = xmalloc(sizeof *bytes + text.n);
    bytes->n = text.n;
    memcpy(bytes->v, text.p, text.n);
    return bytes;
}

/* Of several threads that made the bytes, one puts them there; the others take those instead. */
static struct api__bytes *put_once(struct api__bytes **place, struct api__bytes *made) {
    struct api__bytes *there = NULL;
    if (__atomic_compare_exchange_n(place, &there, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made;
    free(made);
    return there;
}

struct str api_object_json(const struct api_object *o) {
    struct api_life *life = o->life;
    assert(api_object_holders(o));
    struct api__bytes *json = __atomic_load_n(&life->json, __ATOMIC_ACQUIRE);
    if (!json)
        json = put_once(&life->json, encode_json(o));
    return (struct str){json->v, json->n};
}
