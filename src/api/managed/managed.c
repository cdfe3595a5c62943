/*
 * Managed fields of writes that are no apply, and what apply shares with them.
 *
 * Follows k8s.io/apimachinery pkg/util/managedfields/internal, func (*FieldManager) Update,
 * func (*FieldManager) UpdateNoErrors, func decodeLiveOrNew, func isResetManagedFields,
 * func (*skipNonAppliedManager) Update, func (*managedFieldsUpdater) Update,
 * func (*stripMetaManager) stripFields.
 * Follows sigs.k8s.io/structured-merge-diff/v6 merge, func (*Updater) Update.
 * Follows k8s.io/apiserver pkg/endpoints/handlers, func managerOrUserAgent,
 * func prefixFromUserAgent.
 */
#include "api/managed/managed_int.h"
#include "base/goquote.h"
#include "base/utf8.h"

/* ---- names ---- */

enum { LONGEST_MANAGER = 128 };

struct str api_manager_name(struct arena *a, struct str field_manager, struct str user_agent) {
    struct str head, rest;
    char *out = arena_alloc(a, LONGEST_MANAGER);
    size_t n = 0;
    if (field_manager.n)
        return field_manager;
    str_cut(user_agent, '/', &head, &rest);
    while (head.n) {
        size_t used;
        char bytes[4];
        uint32_t cp = utf8_decode(head, &used);
        size_t size = utf8_encode(cp == UTF8_INVALID ? 0xfffd : cp, bytes);
        head = str_sub(head, used, head.n);
        if (cp != UTF8_INVALID && !goquote_is_print(cp))
            continue;
        if (n + size > LONGEST_MANAGER)
            break;
        memcpy(out + n, bytes, size);
        n += size;
    }
    return (struct str){out, n};
}

/* ---- changes ---- */

static bool is_managed_fields(const struct json_member *m) {
    return str_is(m->key, "managedFields");
}

static void drop_managed_fields(struct json *meta) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < meta->n; i++)
        if (!is_managed_fields(&meta->members[i]))
            meta->members[kept++] = meta->members[i];
    meta->n = kept;
}

struct json api__managed_tree(struct arena *a, const struct api_kind *kind,
                              const struct api_object *o) {
    struct api_object *empty = o ? NULL : api_object_new(kind);
    struct json tree = api_object_encode(o ? o : empty, a);
    if (empty)
        tree = json_clone(a, &tree);
    api_object_free(empty);
    for (uint32_t i = 0; i < tree.n; i++)
        if (str_is(tree.members[i].key, "metadata") && tree.members[i].value.kind == JSON_OBJECT)
            drop_managed_fields(&tree.members[i].value);
    return tree;
}

int api__changes_find(struct arena *a, const struct api_managed_write *w, const struct json *before,
                      const struct json *after, struct api__changes *out) {
    const struct api__path_set *diff;
    if (api__compare(a, w->kind->type, before, after, &diff) < 0)
        return -1;
    diff = api__drop_reset(a, w, diff);
    out->changed = api__set_extract(a, diff, API__CHANGED);
    out->removed = api__set_extract(a, diff, API__REMOVED);
    return 0;
}

/* ---- managers ---- */

static const struct api_kind *kind_of(const struct api__manager *m, const struct api_kind *kind) {
    return str_is(m->api_version, kind->api_version)
               ? kind
               : api_kind_find(m->api_version, str_of(kind->kind));
}

bool api__manager_is_of(const struct api__manager *m, const struct api_kind *kind) {
    const struct api_kind *own = kind_of(m, kind);
    return own && own->type == kind->type;
}

void api__managers_reconcile(struct api__managers *m, const struct api_kind *kind) {
    for (size_t i = 0; i < m->list.n; i++) {
        struct api__manager *manager = m->list.v[i];
        const struct api_kind *own = kind_of(manager, kind);
        if (!own)
            manager->unread = NULL;
        manager->fields = own ? api__set_reconcile(m->a, own->type, manager->fields) : NULL;
    }
}

/* Reads fields that changes may concern. */
static bool is_concerned(struct api__managers *m, const struct api_kind *kind,
                         struct api__manager *manager, const struct api__changes *changes) {
    if (!manager->unread)
        return true;
    if (!api__set_may_meet(manager->unread, changes->changed) &&
        !api__set_may_meet(manager->unread, changes->removed))
        return false;
    api__manager_read(m, manager);
    manager->fields = api__set_reconcile(m->a, kind->type, manager->fields);
    return true;
}

void api__managers_lose(struct api__managers *m, const struct api_kind *kind,
                        const struct api__changes *changes, struct str but) {
    for (size_t i = 0; i < m->list.n; i++) {
        struct api__manager *manager = m->list.v[i];
        if (str_eq(manager->id, but) || !api__manager_is_of(manager, kind) ||
            !is_concerned(m, kind, manager, changes))
            continue;
        manager->fields =
            api__set_combine(m->a, API__DIFFERENCE, manager->fields, changes->changed);
        manager->fields =
            api__set_combine(m->a, API__DIFFERENCE, manager->fields, changes->removed);
    }
}

/* ---- metadata that everybody writes ---- */

static bool is_among(const struct api__step *step, const char *const *names) {
    for (; step->kind == API__STEP_FIELD && *names; names++)
        if (str_is(json_str(&step->value), *names))
            return true;
    return false;
}

/* The set without these members; what is inside them stays. */
static const struct api__path_set *drop_members(struct arena *a, const struct api__path_set *s,
                                                const char *const *names) {
    api__path_nodes stack = {0};
    for (uint32_t i = 0; s && i < s->n; i++) {
        struct api__path_node node = s->v[i];
        if (is_among(&node.step, names))
            node.flags = 0;
        vec_push(&stack, node);
    }
    const struct api__path_set *out = api__set_make(a, &stack, 0);
    vec_release(&stack);
    return out;
}

const struct api__path_set *api__strip_meta(struct arena *a, const struct api__path_set *s) {
    static const char *const
        top[] = {"apiVersion", "kind", "metadata", NULL},
        *const meta[] = {"clusterName", "creationTimestamp", "generation", "managedFields", "name",
                         "namespace",   "resourceVersion",   "selfLink",   "uid",           NULL};
    api__path_nodes stack = {0};
    for (uint32_t i = 0; s && i < s->n; i++) {
        struct api__path_node node = s->v[i];
        bool is_field = node.step.kind == API__STEP_FIELD;
        if (is_among(&node.step, top))
            node.flags = 0;
        if (is_field && str_is(json_str(&node.step.value), "metadata"))
            node.children = drop_members(a, node.children, meta);
        vec_push(&stack, node);
    }
    const struct api__path_set *out = api__set_make(a, &stack, 0);
    vec_release(&stack);
    return out;
}

void api__managers_gain(struct api__managers *m, const struct api_managed_write *w,
                        const struct api__changes *changes) {
    const struct api__path_set *gained = api__strip_meta(m->a, changes->changed);
    if (!gained)
        return;
    struct str name = w->manager.n ? w->manager : STR("unknown");
    struct api__manager made =
        api__manager_make(m->a, name, false, str_of(w->kind->api_version), w->subresource);
    struct api__manager *self = api__managers_put(m, &made);
    api__manager_read(m, self);
    self->fields = api__set_combine(m->a, API__UNION, gained, self->fields);
    self->api_version = str_of(w->kind->api_version);
    self->time = w->now;
}

/* ---- updates ---- */

/* Does the list say that managed fields are to be cleared? */
static bool is_reset(const struct api_managed_fields_entry_list *list) {
    const struct api_managed_fields_entry *e = list->v;
    if (list->n != 1)
        return list->v && !list->n;
    return !e->manager.n && !e->operation.n && !e->api_version.n && !e->time.set &&
           !e->fields_type.n && e->fields_v1.kind == JSON_NULL && !e->subresource.n;
}

/* Those of a list; none if it is a bad one. */
static void read_or_none(struct api__managers *m,
                         const struct api_managed_fields_entry_list *list) {
    struct str wrong;
    if (api__managers_read(m, list, &wrong) < 0) {
        api__managers_release(m);
        *m = api__managers_init(m->a);
    }
}

/* Most clients send back what they have read. */
static bool same_entries(const struct api_managed_fields_entry_list *a,
                         const struct api_managed_fields_entry_list *b) {
    for (size_t i = 0; a->n == b->n && i < a->n; i++) {
        const struct api_managed_fields_entry *x = &a->v[i], *y = &b->v[i];
        if (!str_eq(x->manager, y->manager) || !str_eq(x->operation, y->operation) ||
            !str_eq(x->api_version, y->api_version) || !str_eq(x->subresource, y->subresource) ||
            !str_eq(x->fields_type, y->fields_type) || x->time.set != y->time.set ||
            x->time.sec != y->time.sec || !json_equal(&x->fields_v1, &y->fields_v1))
            return false;
    }
    return a->n == b->n;
}

static void read_managers(struct api__managers *m, const struct api_managed_write *w,
                          const struct api_object *old, const struct api_object *draft) {
    bool is_own = !w->subresource.n; /* nobody sets managed fields by way of a subresource */
    if (is_own && is_reset(&draft->meta->managed_fields))
        return;
    if (is_own && !(old && same_entries(&old->meta->managed_fields, &draft->meta->managed_fields)))
        read_or_none(m, &draft->meta->managed_fields);
    if (!m->list.n && old)
        api__managers_take(m, &old->meta->managed_fields);
}

/* -1: the objects cannot be compared, and old managed fields stay. */
static int update_managers(struct api__managers *m, const struct api_managed_write *w,
                           const struct api_object *old, const struct api_object *draft) {
    struct json before = api__managed_tree(m->a, w->kind, old),
                after = api__managed_tree(m->a, w->kind, draft);
    struct api__changes changes;
    if (api__changes_find(m->a, w, &before, &after, &changes) < 0)
        return -1;
    api__managers_reconcile(m, w->kind);
    api__managers_lose(m, w->kind, &changes, (struct str){0});
    api__managers_gain(m, w, &changes);
    api__managers_cap(m);
    return 0;
}

static void keep_entries(const struct api_object *old, struct api_object *draft) {
    const struct api_type *type = &api_types[API_T_managed_fields_entry];
    struct api_managed_fields_entry_list *to = &api_own_meta(draft)->managed_fields;
    *to = (struct api_managed_fields_entry_list){0};
    if (!old || !old->meta->managed_fields.n)
        return;
    to->v =
        arena_array(&draft->arena, struct api_managed_fields_entry, old->meta->managed_fields.n);
    for (; to->n < old->meta->managed_fields.n; to->n++)
        api_struct_copy(&draft->arena, type, &old->meta->managed_fields.v[to->n], &to->v[to->n]);
}

void api_managed_update(const struct api_managed_write *w, const struct api_object *old,
                        struct api_object *draft) {
    AUTO(arena_release) struct arena scratch = {0};
    if (!draft->meta || (old && !old->meta))
        return;
    struct api__managers m = api__managers_init(&scratch);
    read_managers(&m, w, old, draft);
    bool is_tracked = m.list.n || !old || !old->meta->uid.n;
    if (is_tracked && update_managers(&m, w, old, draft) < 0)
        keep_entries(old, draft);
    else
        api__managers_write(&m, &draft->arena, &api_own_meta(draft)->managed_fields);
    api__managers_release(&m);
}

struct str api_managed_check(struct arena *a, const struct api_managed_fields_entry_list *list) {
    struct api__managers m = api__managers_init(a);
    struct str wrong;
    int rc = api__managers_read(&m, list, &wrong);
    api__managers_release(&m);
    return rc < 0 ? wrong : (struct str){0};
}
