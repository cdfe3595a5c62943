/*
 * Strategic merge patches: objects and their directives.
 *
 * Go walks the members of a patch in any order, so that one patch may fail in several ways; here
 * it is the order of the patch.
 *
 * Follows k8s.io/apimachinery pkg/util/strategicpatch, func StrategicMergeMapPatch, func mergeMap,
 * func applyRetainKeysDirective, func mergePatchIntoOriginal, func removeDirectives,
 * func discardNullValuesFromPatch.
 * Follows k8s.io/apiserver pkg/endpoints/handlers, func strategicPatchObject,
 * func interpretStrategicMergePatchError.
 */
#include "api/object_int.h"
#include "api/patch/strategic_int.h"

#define DELETE_LIST "$deleteFromPrimitiveList"
#define SET_ORDER   "$setElementOrder"
#define RETAIN_KEYS "$retainKeys"
#define DIRECTIVE   "$patch"

/* ---- taking things out of a patch ---- */

static bool is_null(const struct json_member *m) {
    return m->value.kind == JSON_NULL;
}

static void discard_nulls(struct json *v) {
    if (v->kind == JSON_OBJECT)
        api__object_filter(v, is_null);
    for (uint32_t i = 0; v->kind == JSON_OBJECT && i < v->n; i++)
        discard_nulls(&v->members[i].value);
    for (uint32_t i = 0; v->kind == JSON_ARRAY && i < v->n; i++)
        discard_nulls(&v->items[i]);
}

static void strip_members(struct json *v) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < v->n; i++)
        if (api__strip_directives(&v->members[i].value))
            v->members[kept++] = v->members[i];
    v->n = kept;
}

static void strip_items(struct json *v) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < v->n; i++)
        if (api__strip_directives(&v->items[i]))
            v->items[kept++] = v->items[i];
    v->n = kept;
}

/* The parser limits how deep this and its like go. */
bool api__strip_directives(struct json *v) {
    if (v->kind == JSON_OBJECT && json_get(v, STR(DIRECTIVE)))
        return false;
    if (v->kind == JSON_OBJECT)
        strip_members(v);
    else if (v->kind == JSON_ARRAY)
        strip_items(v);
    return true;
}

/* ---- an object at work ---- */

struct merging {
    struct api__patching *p;
    struct api__shape shape;
    struct map members; /* of the original, as they become */
    struct json *patch;
};

static bool is_directive_marker(const struct json_member *m) {
    return str_is(m->key, DIRECTIVE);
}

static bool is_retain_keys(const struct json_member *m) {
    return str_is(m->key, RETAIN_KEYS);
}

/* Members that were dealt with are emptied: no key of a patch is absent. */
static bool is_done(const struct json_member *m) {
    return !m->key.p;
}

/* $patch of an object: its value takes the place of the merge. */
static int obey_directive(struct api__patching *p, const struct json *directive, struct json *patch,
                          struct json *out) {
    if (directive->kind == JSON_STRING && str_is(json_str(directive), "delete")) {
        *out = (struct json){.kind = JSON_OBJECT};
        return 0;
    }
    if (directive->kind != JSON_STRING || !str_is(json_str(directive), "replace"))
        return api__patch_fail(p, ERR_UNTOLD, "unknown patch type: %.*s in map: %.*s",
                               STR_ARG(api__go_text(p->a, directive, 's')),
                               STR_ARG(api__go_text(p->a, patch, 'v')));
    api__object_filter(patch, is_directive_marker);
    *out = *patch;
    return 0;
}

/* What is behind the slash of "$directive/field". */
static int cut_directive(struct api__patching *p, struct str key, const char *directive,
                         const char *format_error, struct str *field) {
    struct str head;
    if (!str_cut(key, '/', &head, field) || !str_is(head, directive))
        return api__patch_fail(p, ERR_INVALID, "%s", format_error);
    return 0;
}

/* ---- $retainKeys ---- */

static int bad_retain_keys(struct merging *m) {
    return api__patch_fail(m->p, ERR_INVALID, "invalid patch format of retainKeys");
}

/* The texts of the list; other values match no key. */
static int read_retained(struct merging *m, const struct json *list, struct map *out) {
    for (uint32_t i = 0; i < list->n; i++) {
        if (list->items[i].kind >= JSON_ARRAY)
            return api__patch_panic(m->p);
        if (list->items[i].kind == JSON_STRING)
            map_put_const(out, json_str(&list->items[i]), list);
    }
    return 0;
}

static int check_retained(struct merging *m, const struct map *retained) {
    for (uint32_t i = 0; i < m->patch->n; i++) {
        const struct json_member *member = &m->patch->members[i];
        bool is_free = member->value.kind == JSON_NULL ||
                       str_starts(member->key, STR(DELETE_LIST)) ||
                       str_starts(member->key, STR(SET_ORDER));
        if (!is_free && !map_get_const(retained, member->key))
            return bad_retain_keys(m);
    }
    return 0;
}

static int retain_keys(struct merging *m) {
    const struct json *found = json_get(m->patch, STR(RETAIN_KEYS));
    if (!found)
        return 0;
    struct json list = *found;
    AUTO(map_release) struct map retained = MAP_INIT(m->p->seed);
    api__object_filter(m->patch, is_retain_keys);
    if (list.kind != JSON_ARRAY)
        return bad_retain_keys(m);
    if (read_retained(m, &list, &retained) < 0 || check_retained(m, &retained) < 0)
        return -1;
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&m->members, &at));)
        if (!map_get_const(&retained, e->key))
            map_del(&m->members, e->key);
    return 0;
}

/* ---- $setElementOrder ---- */

static int expect_list(struct merging *m, const struct json *v) {
    if (!v || v->kind == JSON_ARRAY)
        return 0;
    return api__patch_fail(m->p, ERR_UNTOLD, "expected a []interface {}, but received a %s",
                           api__received(v));
}

/* Merges one list whose order is set; the patch's list, if there is one, is dealt with. */
static int merge_ordered(struct merging *m, const struct json_member *directive,
                         const struct map *by_key) {
    struct api__merge_field field;
    struct str name;
    struct json merged;
    if (expect_list(m, &directive->value) < 0 ||
        cut_directive(m->p, directive->key, SET_ORDER,
                      "invalid patch format of setElementOrder list", &name) < 0)
        return -1;
    struct json_member *list = map_get(by_key, name);
    struct api__ordering lists = {.field = &field,
                                  .original = map_get(&m->members, name),
                                  .patch = list && list->key.p ? &list->value : NULL,
                                  .wanted = &directive->value};
    if (expect_list(m, lists.original) < 0 || expect_list(m, lists.patch) < 0 ||
        api__merge_list_find(m->p, m->shape, name, &field) < 0 ||
        api__merge_lists_in_order(m->p, &lists, &merged) < 0)
        return -1;
    if (lists.original || lists.patch)
        api__members_put(m->p, &m->members, name, merged);
    if (lists.patch)
        list->key.p = NULL;
    return 0;
}

static int merge_all_ordered(struct merging *m) {
    bool any = false;
    for (uint32_t i = 0; i < m->patch->n; i++)
        any |= str_starts(m->patch->members[i].key, STR(SET_ORDER));
    if (!any)
        return 0;
    AUTO(map_release) struct map by_key = MAP_INIT(m->p->seed);
    for (uint32_t i = 0; i < m->patch->n; i++)
        map_put(&by_key, m->patch->members[i].key, &m->patch->members[i]);
    for (uint32_t i = 0; i < m->patch->n; i++) {
        struct json_member *member = &m->patch->members[i], directive = *member;
        if (!member->key.p || !str_starts(member->key, STR(SET_ORDER)))
            continue;
        member->key.p = NULL;
        if (merge_ordered(m, &directive, &by_key) < 0)
            return -1;
    }
    api__object_filter(m->patch, is_done);
    return 0;
}

/* ---- members ---- */

/* A list without the items that have a directive; upstream leaves the patch its own. */
static struct json strip_list(struct merging *m, struct json *list) {
    struct json out = {.kind = JSON_ARRAY};
    for (uint32_t i = 0; i < list->n; i++)
        if (api__strip_directives(&list->items[i]))
            json_append(m->p->a, &out, list->items[i]);
    return out;
}

/* What is not in the original, or of another type there, is as the patch has it. */
static void take(struct merging *m, struct str key, struct json *value) {
    discard_nulls(value);
    if (value->kind == JSON_ARRAY)
        api__members_put(m->p, &m->members, key, strip_list(m, value));
    else if (api__strip_directives(value))
        api__members_put(m->p, &m->members, key, *value);
    else
        map_del(&m->members, key);
}

static int merge_objects(struct merging *m, struct str key, struct json *original,
                         struct json *patch) {
    struct api__merge_field field;
    if (api__merge_field_find(m->p, m->shape, key, &field) < 0)
        return -1;
    if (field.replaces)
        *original = *patch;
    else if (api__strategic_merge(m->p, field.shape, original, patch, original) < 0)
        return -1;
    return 0;
}

static int merge_arrays(struct merging *m, struct str key, struct json *original,
                        struct json *patch, bool deletes) {
    struct api__merge_field field;
    struct json order;
    if (api__merge_list_find(m->p, m->shape, key, &field) < 0)
        return -1;
    if (!field.merges && !deletes)
        *original = *patch;
    else if (api__merge_lists(m->p, &field, original, patch, deletes, original, &order) < 0)
        return -1;
    return 0;
}

static int merge_member(struct merging *m, struct json_member *member) {
    struct str key = member->key;
    struct json *value = &member->value;
    bool deletes = str_starts(key, STR(DELETE_LIST));
    if (deletes) {
        struct str name;
        if (cut_directive(m->p, key, DELETE_LIST, "invalid patch format of primitive list", &name) <
            0)
            return -1;
        key = name.n ? name : key;
    }
    struct json *original = map_get(&m->members, key);
    if (value->kind == JSON_NULL)
        map_del(&m->members, key);
    else if (!original || !api__same_go_type(original, value)) {
        if (!deletes)
            take(m, key, value);
    } else if (value->kind == JSON_OBJECT)
        return merge_objects(m, key, original, value);
    else if (value->kind == JSON_ARRAY)
        return merge_arrays(m, key, original, value, deletes);
    else
        *original = *value;
    return 0;
}

static int merge_members(struct merging *m) {
    if (retain_keys(m) < 0 || merge_all_ordered(m) < 0)
        return -1;
    for (uint32_t i = 0; i < m->patch->n; i++)
        if (merge_member(m, &m->patch->members[i]) < 0)
            return -1;
    return 0;
}

int api__strategic_merge(struct api__patching *p, struct api__shape shape,
                         const struct json *original, struct json *patch, struct json *out) {
    const struct json *directive = json_get(patch, STR(DIRECTIVE));
    if (directive)
        return obey_directive(p, directive, patch, out);
    struct merging m = {p, shape, api__members_open(p, original), patch};
    int rc = merge_members(&m);
    if (rc == 0)
        *out = api__members_close(p, &m.members);
    map_release(&m.members);
    return rc;
}

/* ---- the whole patch ---- */

static int check_patch(struct api__patching *p, const struct api_type *type,
                       const struct json *patch) {
    if (patch->kind != JSON_OBJECT && patch->kind != JSON_NULL)
        return api__patch_fail(p, ERR_INVALID,
                               "json: cannot unmarshal %s into Go value of type "
                               "map[string]interface {}",
                               api__json_name(patch));
    if (!type)
        return api__patch_fail(p, ERR_INVALID, "strategic merge patch format is not supported");
    return 0;
}

static bool is_sorted(const struct json *object) {
    for (uint32_t i = 1; i < object->n; i++)
        if (str_cmp(object->members[i - 1].key, object->members[i].key) > 0)
            return false;
    return true;
}

/* What comes of the patch goes through Go's maps, whose keys are sorted when they are written: that
 * shows in values that have no schema. Parts that change are copied, as others may have them. */
static bool sort_members(struct arena *a, struct json *v) {
    uint32_t n = v->kind == JSON_OBJECT || v->kind == JSON_ARRAY ? v->n : 0;
    bool is_object = v->kind == JSON_OBJECT, changes = is_object && !is_sorted(v);
    struct json copy = *v;
    if (is_object)
        copy.members = arena_copy(a, v->members, n * sizeof *v->members);
    else if (n)
        copy.items = arena_copy(a, v->items, n * sizeof *v->items);
    for (uint32_t i = 0; i < n; i++)
        changes |= sort_members(a, is_object ? &copy.members[i].value : &copy.items[i]);
    if (is_object)
        api__object_sort(&copy);
    if (changes)
        *v = copy;
    return changes;
}

struct api_patch_failure api_patch_strategic(struct arena *a, const struct api_type *type,
                                             const struct json *stored,
                                             const struct api_patch_body *patch,
                                             struct api_patched *out) {
    struct api__patching p = api__patch_start(a);
    *out = (struct api_patched){.tree = *stored};
    if (check_patch(&p, type, patch->tree) < 0)
        return p.failure;
    out->spent = api__patch_own(&p, patch, false);
    if (out->spent.kind == JSON_NULL)
        out->spent.kind = JSON_OBJECT;
    struct api__shape shape = {.type = type, .kind = "struct", .base = "struct"};
    if (api__strategic_merge(&p, shape, stored, &out->spent, &out->tree) == 0)
        api__settle_numbers(a, &out->tree);
    sort_members(a, &out->tree);
    return p.failure;
}
