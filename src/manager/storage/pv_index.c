/*
 * Which volume a claim gets. Those that nobody has stand on a shelf with others of the same class
 * and modes, by size.
 *
 * Follows k8s.io/kubernetes pkg/controller/volume/persistentvolume,
 * func (*persistentVolumeOrderedIndex) findByClaim.
 * Follows k8s.io/component-helpers storage/volume, func FindMatchingVolume.
 */
#include "manager/storage/pv_index_int.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"
#include "manager/labelled_int.h"

static const char *const modes[] = {"ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany",
                                    "ReadWriteOncePod"};
enum { MODES = sizeof modes / sizeof *modes, SETS = 1 << MODES };

struct entry {
    struct quantity size;
    const struct api_object *volume;
};

struct shelf {
    VEC(struct entry) v; /* by size, then by name */
    size_t key_size;
    char key[];
};

struct pv_index {
    struct map shelves;       /* struct shelf */
    struct labelled *claimed; /* volumes, by the claim that they name */
    struct buf key;
};

struct pv_index *pv_index__new(uint64_t seed) {
    struct pv_index *x = xcalloc(1, sizeof *x);
    x->shelves = MAP_INIT(seed);
    x->claimed = labelled__new(seed);
    x->key = BUF_INIT(SIZE_MAX);
    return x;
}

static void free_shelf(struct shelf *s) {
    vec_release(&s->v);
    free(s);
}

void pv_index__free(struct pv_index *x) {
    const struct map_entry *e;
    if (!x)
        return;
    for (size_t at = 0; (e = map_next(&x->shelves, &at));)
        free_shelf(e->value);
    map_release(&x->shelves);
    labelled__free(x->claimed);
    buf_release(&x->key);
    free(x);
}

/* ---- shelves ---- */

static unsigned set_of(const struct api_strs *list) {
    unsigned set = 0;
    for (size_t i = 0; i < list->n; i++)
        for (unsigned k = 0; k < MODES; k++)
            if (str_is(list->v[i], modes[k]))
                set |= 1U << k;
    return set;
}

/* What volumes of a shelf have in common. */
static struct str key_of(struct pv_index *x, unsigned set, struct str class, struct str mode,
                         struct str attributes) {
    mode = api_volume_mode(mode);
    buf_clear(&x->key);
    buf_addf(&x->key, "%u/%.*s/%.*s/%.*s", set, STR_ARG(mode), STR_ARG(class), STR_ARG(attributes));
    return buf_view(&x->key);
}

static struct str key_of_volume(struct pv_index *x, const struct api_object *o) {
    const struct api_persistent_volume_spec *spec =
        &((const struct api_persistent_volume *)o->body)->spec;
    return key_of(x, set_of(&spec->access_modes), api_volume_class(o), spec->volume_mode,
                  spec->volume_attributes_class_name);
}

/* May any claim have it? */
static bool is_free(const struct api_object *o) {
    const struct api_persistent_volume *body = o->body;
    return !body->spec.claim_ref && str_is(body->status.phase, "Available") &&
           !o->meta->deletion_timestamp.set;
}

static struct quantity size_of(const struct api_object *o) {
    return api_storage_of(&((const struct api_persistent_volume *)o->body)->spec.capacity);
}

static int compare(const struct entry *e, const struct quantity *size, struct str name) {
    int order = quantity_cmp(&e->size, size);
    return order ? order : str_cmp(e->volume->meta->name, name);
}

/* The place of the first entry that is not before one of this size and name. */
static size_t place_of(const struct shelf *s, const struct quantity *size, struct str name) {
    size_t low = 0, high = s->v.n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (compare(&s->v.v[mid], size, name) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static void take(struct pv_index *x, const struct api_object *o) {
    struct shelf *s = map_get(&x->shelves, key_of_volume(x, o));
    struct quantity size = size_of(o);
    size_t at = s ? place_of(s, &size, o->meta->name) : 0;
    if (!s || at == s->v.n || compare(&s->v.v[at], &size, o->meta->name) != 0)
        return;
    memmove(&s->v.v[at], &s->v.v[at + 1], (s->v.n - at - 1) * sizeof *s->v.v);
    if (--s->v.n) {
        vec_shrink(&s->v);
        return;
    }
    map_del(&x->shelves, (struct str){s->key, s->key_size});
    free_shelf(s);
}

static void put(struct pv_index *x, const struct api_object *o) {
    struct str key = key_of_volume(x, o);
    struct shelf *s = map_get(&x->shelves, key);
    struct entry e = {size_of(o), o};
    if (!s) {
        s = xcalloc(1, sizeof *s + key.n);
        s->key_size = key.n;
        memcpy(s->key, key.p, key.n);
        map_put(&x->shelves, (struct str){s->key, key.n}, s);
    }
    size_t at = place_of(s, &e.size, o->meta->name);
    vec_push(&s->v, e);
    memmove(&s->v.v[at + 1], &s->v.v[at], (s->v.n - at - 1) * sizeof *s->v.v);
    s->v.v[at] = e;
}

void pv_index__put(struct pv_index *x, const struct api_object *old, const struct api_object *now) {
    const struct api_object_reference *ref =
        now ? ((const struct api_persistent_volume *)now->body)->spec.claim_ref : NULL;
    if (old && is_free(old))
        take(x, old);
    if (now && is_free(now))
        put(x, now);
    if (ref) {
        struct label claim = {ref->namespace, ref->name};
        labelled__set(x->claimed, now, &(struct labels){&claim, 1});
    } else if (old)
        labelled__drop(x->claimed, old);
}

/* ---- what a claim gets ---- */

/* Is it good for the claim, apart from class and selector, which do not count for one that names
 * the claim? */
static bool could_hold(const struct api_object *volume, const struct api_object *claim) {
    const struct api_persistent_volume_spec *spec =
        &((const struct api_persistent_volume *)volume->body)->spec;
    const struct api_persistent_volume_claim_spec *wish =
        &((const struct api_persistent_volume_claim *)claim->body)->spec;
    struct quantity size = size_of(volume), least = api_storage_of(&wish->resources.requests);
    return quantity_cmp(&size, &least) >= 0 && !volume->meta->deletion_timestamp.set &&
           str_eq(api_volume_mode(spec->volume_mode), api_volume_mode(wish->volume_mode)) &&
           str_eq(spec->volume_attributes_class_name, wish->volume_attributes_class_name);
}

const struct api_object *pv_index__next_of(struct pv_index *x, struct str namespace,
                                           struct str claim, size_t *at) {
    return labelled__next(x->claimed, STR(""), &(struct label){namespace, claim}, at);
}

/* One of these access modes that names the claim, by its uid if asked for. */
static const struct api_object *find_named(struct pv_index *x, const struct api_object *claim,
                                           unsigned set, bool by_uid) {
    size_t at = 0;
    for (const struct api_object *o;
         (o = pv_index__next_of(x, claim->meta->namespace, claim->meta->name, &at));) {
        const struct api_persistent_volume_spec *spec =
            &((const struct api_persistent_volume *)o->body)->spec;
        unsigned own = set_of(&spec->access_modes);
        if ((by_uid ? (own & set) == set && spec->claim_ref->uid.n : own == set) &&
            api_volume_is_of(o, claim) && could_hold(o, claim))
            return o;
    }
    return NULL;
}

static const struct api_object *find_free(struct pv_index *x, const struct api_object *claim,
                                          const struct selector *selector, unsigned set) {
    const struct api_persistent_volume_claim_spec *wish =
        &((const struct api_persistent_volume_claim *)claim->body)->spec;
    const struct shelf *s =
        map_get(&x->shelves, key_of(x, set, api_claim_class(claim), wish->volume_mode,
                                    wish->volume_attributes_class_name));
    struct quantity least = api_storage_of(&wish->resources.requests);
    for (size_t i = s ? place_of(s, &least, STR("")) : 0; s && i < s->v.n; i++)
        if (!selector || selector_matches(selector, &s->v.v[i].volume->meta->labels))
            return s->v.v[i].volume;
    return NULL;
}

static unsigned count(unsigned set) {
    unsigned n = 0;
    for (; set; set &= set - 1)
        n++;
    return n;
}

/* What was bound to the claim before is not given up for something better; then volumes with fewer
 * access modes come first. */
const struct api_object *pv_index__find(struct pv_index *x, const struct api_object *claim,
                                        const struct selector *selector, bool only_named) {
    const struct api_persistent_volume_claim *body = claim->body;
    unsigned wanted = set_of(&body->spec.access_modes);
    const struct api_object *found = find_named(x, claim, wanted, true);
    for (unsigned n = 0; n <= MODES && !found; n++)
        for (unsigned set = 0; set < SETS && !found; set++) {
            if (count(set) != n || (set & wanted) != wanted)
                continue;
            found = find_named(x, claim, set, false);
            if (!found && !only_named)
                found = find_free(x, claim, selector, set);
        }
    return found;
}
