/*
 * Managed fields, inside: sets of paths, the shapes of values by the schema's rows, and what is
 * done with both.
 *
 * A set is a trie: nodes sorted by their path element, each a member or not, with children of its
 * own. Sets are never changed once they are made, so that the results of operations share parts.
 */
#ifndef API_MANAGED_MANAGED_INT_H
#define API_MANAGED_MANAGED_INT_H

#include <assert.h>

#include "api/managed.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"

/* ---- sets of paths: managed_set.c ---- */

/* In the order in which they sort, and as they are written: f:name, k:{"name":"x"}, v:"x", i:0. */
enum api__step_kind { API__STEP_FIELD, API__STEP_KEY, API__STEP_VALUE, API__STEP_INDEX };

/* One element of a path. */
struct api__step {
    enum api__step_kind kind;
    struct json value; /* a name; an object of key fields, sorted by name; a value; an index */
};

enum api__path_flags { API__MEMBER = 1, API__CHANGED = 2, API__REMOVED = 4 };

struct api__path_node {
    struct api__step step;
    uint32_t flags; /* enum api__path_flags; sets have members only, comparisons the others */
    const struct api__path_set *children; /* NULL: none; never empty */
};

struct api__path_set {
    uint32_t n; /* never 0: NULL is the empty set */
    struct api__path_node v[];
};

/* A stack of the nodes of sets that are being made. */
typedef VEC(struct api__path_node) api__path_nodes;

/* Orders two steps: negative, 0, positive. */
int api__step_compare(const struct api__step *a, const struct api__step *b);

/* Appends a step as texts show it: .name, [name="x"], [="x"], [0]. */
void api__step_write(struct buf *out, const struct api__step *step);

/* Takes the nodes from `from` on off the stack and makes a set of them; those without flags and
 * children are left out, and equal ones become one. NULL if none are left. */
const struct api__path_set *api__set_make(struct arena *a, api__path_nodes *stack, size_t from);

/* What is in x or in y, in both, in x alone; and in x, but for what is in y and everything below
 * it. All but the union take a time of O(the smaller set * log the larger one). */
enum api__set_op { API__UNION, API__INTERSECTION, API__DIFFERENCE, API__DEEP_DIFFERENCE };
const struct api__path_set *api__set_combine(struct arena *a, enum api__set_op op,
                                             const struct api__path_set *x,
                                             const struct api__path_set *y);

/* The union of many sets, which costs what sorting them does: it is made of unions of two. */
struct api__unions {
    const struct api__path_set *v[32]; /* at i: the union of 2^i sets; later ones come first */
    bool last_wins;                    /* of steps that are equal: how it is written */
};
void api__unions_add(struct arena *a, struct api__unions *u, const struct api__path_set *s);

/* The union of all that were added; then there are none. */
const struct api__path_set *api__unions_end(struct arena *a, struct api__unions *u);

/* The nodes of a comparison that have the flag, as a set. */
const struct api__path_set *api__set_extract(struct arena *a, const struct api__path_set *s,
                                             enum api__path_flags flag);

/* The node of a step, or NULL. */
const struct api__path_node *api__set_find(const struct api__path_set *s,
                                           const struct api__step *step);

/* A set of the fields at these dotted paths: "spec,metadata.name". */
const struct api__path_set *api__set_of_paths(struct arena *a, const char *paths);

/* May a set, which is still FieldsV1, have anything in common with another? */
bool api__set_may_meet(const struct json *fields, const struct api__path_set *s);

/* FieldsV1: false if the tree is none. And back. */
bool api__set_read(struct arena *a, const struct json *fields, const struct api__path_set **out);
struct json api__set_write(struct arena *a, const struct api__path_set *s);

/* ---- shapes: managed_shape.c ---- */

enum api__form { API__SCALAR, API__LIST, API__MAP, API__ANY };
enum api__scalar { API__STRING, API__NUMERIC, API__BOOLEAN, API__UNTYPED };

/* What server-side apply knows of a value. */
struct api__shape_of {
    enum api__form form; /* ANY: whatever the value is, maps with parts, lists without */
    enum api__scalar scalar;
    bool is_atomic;                /* it has no parts */
    const struct api_type *type;   /* of a MAP that is a struct */
    const struct api_field *field; /* the row of a LIST or MAP that is none */
};

/* The shape of a whole object or struct; of the field of a struct, false if it has none of that
 * name (all maps have any); of the items of a list or map. */
struct api__shape_of api__shape_of_type(const struct api_type *type);
bool api__shape_of_member(const struct api__shape_of *in, struct str name,
                          struct api__shape_of *out);
struct api__shape_of api__shape_of_item(const struct api__shape_of *in);

/* Is a map a struct that has the field? */
bool api__shape_names(const struct api__shape_of *in, struct str name);

/* The step to an item of a list with parts; -1 and why in *wrong, a text in the arena. */
int api__step_of_item(struct arena *a, const struct api__shape_of *list, const struct json *item,
                      struct api__step *out, struct str *wrong);

/* The steps in their order, equal ones by their places: pointers to them, in the arena. */
const struct api__step **api__steps_sort(struct arena *a, const struct api__step *v, uint32_t n);

/* The steps to all items of a list with parts, in the arena. */
struct api__steps {
    struct api__step *v;
    const struct api__step **sorted;
    bool *is_repeated; /* by place: there is another one that is the same */
    uint32_t n;
};

/* False, and no steps, if an item has none. */
bool api__steps_of_items(struct arena *a, const struct api__shape_of *list, const struct json *v,
                         struct api__steps *out);

/* Are two values equal, however numbers are written? */
bool api__value_equal(const struct json *a, const struct json *b);

/* Is the value absent, null, or a container without anything in it? */
static inline bool api__is_vacant(const struct json *v) {
    return !v || v->kind < JSON_ARRAY || v->n == 0;
}

/* The form that a value is taken for: its own, if its shape takes any. */
static inline enum api__form api__form_of(const struct api__shape_of *shape, const struct json *v) {
    if (shape->form != API__ANY)
        return shape->form;
    assert(v);
    return v->kind == JSON_ARRAY                            ? API__LIST
           : v->kind == JSON_OBJECT || v->kind == JSON_NULL ? API__MAP
                                                            : API__SCALAR;
}

/* Are values of this form without parts? */
static inline bool api__is_whole(const struct api__shape_of *shape, enum api__form form) {
    return form == API__SCALAR || shape->is_atomic ||
           (form == API__LIST && shape->form == API__ANY);
}

/* ---- values with a shape: managed_compare.c, managed_typed.c, managed_merge.c ---- */

/* What has been changed (modified or added) and removed between two objects, as a trie with these
 * flags; -1 if a list has items that cannot be told apart. */
int api__compare(struct arena *a, const struct api_type *type, const struct json *before,
                 const struct json *after, const struct api__path_set **out);

/* What is wrong with an object, as upstream says it, in the arena; absent: nothing. */
struct str api__validate(struct arena *a, const struct api_type *type, const struct json *object);

/* All fields and items of an object that have no parts, and items that have. */
const struct api__path_set *api__fields_of(struct arena *a, const struct api_type *type,
                                           const struct json *object);

/* The set, and all fields of structs that lead to its members. */
const struct api__path_set *api__set_with_names(struct arena *a, const struct api_type *type,
                                                const struct api__path_set *s);

/* The set with fields that have become atomic in place of what is inside them. */
const struct api__path_set *api__set_reconcile(struct arena *a, const struct api_type *type,
                                               const struct api__path_set *s);

/* The object without the fields and items of a set. */
struct json api__remove_fields(struct arena *a, const struct api_type *type,
                               const struct json *object, const struct api__path_set *s);

/* A live object with everything that an applied one says. */
struct json api__merge_objects(struct arena *a, const struct api_type *type,
                               const struct json *live, const struct json *applied);

/* ---- entries: managed_entries.c ---- */

struct api__manager {
    struct str id; /* what upstream tells managers apart by, and orders them by */
    struct str name, api_version, subresource;
    bool applies;
    struct api_time time;
    const struct api__path_set *fields; /* NULL: it goes */
    const struct json *unread;          /* the fields as they are stored; NULL: they were read */
};

/* The managers of an object; ends with api__managers_release. */
struct api__managers {
    struct arena *a;
    VEC(struct api__manager *) list; /* in the arena */
    struct map by_id;
};

/* None yet; the arena is stored. */
struct api__managers api__managers_init(struct arena *a);
void api__managers_release(struct api__managers *m);

/* The identity of a manager; the texts are borrowed, but for the id. */
struct api__manager api__manager_make(struct arena *a, struct str name, bool applies,
                                      struct str api_version, struct str subresource);

/* Adds the managers of a list; -1 and why if it is not a good one. */
int api__managers_read(struct api__managers *m, const struct api_managed_fields_entry_list *list,
                       struct str *wrong);

/* Adds those of a stored object, whose fields are good and are read when they are needed. */
void api__managers_take(struct api__managers *m, const struct api_managed_fields_entry_list *list);

/* Reads what was not read yet. */
void api__manager_read(struct api__managers *m, struct api__manager *manager);

/* The manager of that identity, or NULL; and the same, made if there is none. */
struct api__manager *api__managers_find(const struct api__managers *m, struct str id);
struct api__manager *api__managers_put(struct api__managers *m, const struct api__manager *manager);

/* Makes one manager of the oldest that only update, if they are too many. */
void api__managers_cap(struct api__managers *m);

/* Sorts the managers that have fields and writes them to the list, which lives in `a`. */
void api__managers_write(const struct api__managers *m, struct arena *a,
                         struct api_managed_fields_entry_list *out);

/* ---- what updates and apply share: managed.c ---- */

/* The set, or comparison, without the fields that such a write does not change. */
const struct api__path_set *api__drop_reset(struct arena *a, const struct api_managed_write *w,
                                            const struct api__path_set *s);

/* The object of that kind as a tree, without its managed fields; NULL: an empty one. */
struct json api__managed_tree(struct arena *a, const struct api_kind *kind,
                              const struct api_object *o);

/* A comparison, without the fields that writes do not change. */
struct api__changes {
    const struct api__path_set *changed, *removed;
};
int api__changes_find(struct arena *a, const struct api_managed_write *w, const struct json *before,
                      const struct json *after, struct api__changes *out);

/* Adapts managers to the schema: those of unknown versions go. */
void api__managers_reconcile(struct api__managers *m, const struct api_kind *kind);

/* Can the fields of a manager be compared with what changed in the version of the kind? */
bool api__manager_is_of(const struct api__manager *m, const struct api_kind *kind);

/* Takes what changed and was removed from all managers but the one (an id; absent: none). */
void api__managers_lose(struct api__managers *m, const struct api_kind *kind,
                        const struct api__changes *changes, struct str but);

/* The set without metadata that everybody writes. */
const struct api__path_set *api__strip_meta(struct arena *a, const struct api__path_set *s);

/* Makes the writer the owner of what changed, as an update does. */
void api__managers_gain(struct api__managers *m, const struct api_managed_write *w,
                        const struct api__changes *changes);

#endif
