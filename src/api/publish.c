/*
 * The second part of an object's life: it is published, counted, encoded at most once, and freed by
 * whoever lets go last.
 */
#include <assert.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "api/bytes.h"
#include "api/object_int.h"
#include "api/proto.h"
#include "base/alloc.h"
#include "base/buf.h"

#ifdef BERTH_CHECKS
enum { CHECKED = true };
#else
enum { CHECKED = false };
#endif

/* ---- bytes ---- */

/*
 * An encoding of an object has a place there: the address of the bytes, which the place holds, and
 * in its lowest bits what is to become of them.
 */
enum {
    LOCKED = 1, /* somebody is about to change the place, or the count of what is there */
    PINNED = 2, /* the bytes stay as long as the object does */
    COLD = 4,   /* no bytes are put there, unless for good */
    BITS = LOCKED | PINNED | COLD,
};

static struct api_bytes *bytes_in(uintptr_t place) {
    return (struct api_bytes *)(place & ~(uintptr_t)BITS);
}

/* What is there, while nobody else can change it: for some nanoseconds. */
static uintptr_t lock_place(uintptr_t *place) {
    for (;;) {
        uintptr_t there = __atomic_load_n(place, __ATOMIC_RELAXED) & ~(uintptr_t)LOCKED;
        if (__atomic_compare_exchange_n(place, &there, there | LOCKED, true, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED))
            return there;
        sched_yield();
    }
}

static void unlock_place(uintptr_t *place, uintptr_t there) {
    __atomic_store_n(place, there, __ATOMIC_RELEASE);
}

struct api_bytes *api_bytes_ref(struct api_bytes *b) {
    if (b)
        __atomic_fetch_add(&b->refs, 1, __ATOMIC_RELAXED);
    return b;
}

void api_bytes_unref(struct api_bytes *b) {
    if (b && __atomic_fetch_sub(&b->refs, 1, __ATOMIC_ACQ_REL) == 1)
        free(b);
}

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
    api_bytes_unref(bytes_in(life->json));
    api_bytes_unref(bytes_in(life->proto));
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

static struct api_bytes *keep(const struct buf *b) {
    struct api_bytes *bytes = xmalloc(sizeof *bytes + b->n);
    bytes->refs = 1;
    bytes->n = b->n;
    if (b->n)
        memcpy(bytes->v, b->p, b->n);
    return bytes;
}

static struct api_bytes *encode_json(const struct api_object *o) {
    AUTO(arena_release) struct arena a = {0};
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    struct json tree = api_object_encode(o, &a);
    json_write(&text, &tree, NULL);
    return keep(&text);
}

static struct api_bytes *encode_proto(const struct api_object *o) {
    AUTO(buf_release) struct buf body = BUF_INIT(SIZE_MAX);
    api_proto_write(&body, o);
    return keep(&body);
}

/* Bytes that the object has now, or the caller's own, with a reference. With `is_new` they are put
 * there even if the object is cold, and *is_new tells whether it was this call that did. */
static struct api_bytes *bytes_ref(const struct api_object *o, uintptr_t *place,
                                   struct api_bytes *(*encode)(const struct api_object *o),
                                   bool *is_new) {
    assert(api_object_holders(o));
    uintptr_t there = lock_place(place);
    struct api_bytes *bytes = api_bytes_ref(bytes_in(there));
    unlock_place(place, there);
    if (is_new)
        *is_new = false;
    if (bytes)
        return bytes;
    struct api_bytes *made = encode(o);
    there = lock_place(place);
    if (!there || (is_new && !bytes_in(there))) { /* one of several threads that made them */
        there = (uintptr_t)api_bytes_ref(made);
        if (is_new)
            *is_new = true;
    }
    bytes = api_bytes_ref(bytes_in(there));
    unlock_place(place, there);
    if (!bytes)
        return made;
    api_bytes_unref(made);
    return bytes;
}

/* Bytes that the object has for as long as it lives. */
static struct str bytes_for_good(const struct api_object *o, uintptr_t *place,
                                 struct api_bytes *(*encode)(const struct api_object *o)) {
    uintptr_t there = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    if (!(there & PINNED)) {
        struct api_bytes *mine = bytes_ref(o, place, encode, NULL);
        there = lock_place(place);
        if (!bytes_in(there))
            there = (uintptr_t)api_bytes_ref(mine);
        there |= PINNED;
        unlock_place(place, there);
        api_bytes_unref(mine);
    }
    return api_bytes_view(bytes_in(there));
}

struct api_bytes *api_object_json_ref(const struct api_object *o) {
    return bytes_ref(o, &o->life->json, encode_json, NULL);
}

struct api_bytes *api_object_proto_ref(const struct api_object *o) {
    return bytes_ref(o, &o->life->proto, encode_proto, NULL);
}

struct api_bytes *api_object_json_keep(const struct api_object *o, bool *is_new) {
    return bytes_ref(o, &o->life->json, encode_json, is_new);
}

struct api_bytes *api_object_proto_keep(const struct api_object *o, bool *is_new) {
    return bytes_ref(o, &o->life->proto, encode_proto, is_new);
}

static size_t bytes_at(uintptr_t *place) {
    uintptr_t there = lock_place(place);
    size_t n = bytes_in(there) ? bytes_in(there)->n : 0;
    unlock_place(place, there);
    return n;
}

size_t api_object_kept_bytes(const struct api_object *o) {
    return bytes_at(&o->life->json) + bytes_at(&o->life->proto);
}

static void forget_place(uintptr_t *place) {
    uintptr_t there = lock_place(place);
    bool stays = there & PINNED;
    unlock_place(place, stays ? there : COLD);
    if (!stays)
        api_bytes_unref(bytes_in(there));
}

void api_object_forget_bytes(const struct api_object *o) {
    forget_place(&o->life->json);
    forget_place(&o->life->proto);
}

static void forget_there(uintptr_t *place, const struct api_bytes *bytes) {
    uintptr_t there = lock_place(place);
    bool goes = bytes_in(there) == bytes && !(there & PINNED);
    unlock_place(place, goes ? COLD : there);
    if (goes)
        api_bytes_unref(bytes_in(there));
}

void api_object_forget_these(const struct api_object *o, const struct api_bytes *bytes) {
    forget_there(&o->life->json, bytes);
    forget_there(&o->life->proto, bytes);
}

struct str api_object_json(const struct api_object *o) {
    return bytes_for_good(o, &o->life->json, encode_json);
}

struct str api_object_proto(const struct api_object *o) {
    return bytes_for_good(o, &o->life->proto, encode_proto);
}

struct str api_object_message(const struct api_object *o) {
    struct api_proto_envelope e = {0};
    struct str body = api_object_proto(o);
    return body.n && api_proto_open(body, &e, NULL) == 0 ? e.message : (struct str){0};
}
