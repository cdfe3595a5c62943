/*
 * Server-side apply.
 *
 * Follows k8s.io/apimachinery pkg/util/managedfields/internal, func (*FieldManager) Apply,
 * func (*versionCheckManager) Apply, func (*lastAppliedUpdater) Apply,
 * func (*lastAppliedManager) Apply, func (*skipNonAppliedManager) Apply,
 * func (*structuredMergeManager) Apply, func NewConflictError.
 * Follows sigs.k8s.io/structured-merge-diff/v6 merge, func (*Updater) Apply, func (*Updater) prune.
 */
#include <stdlib.h>

#include "api/managed/managed_int.h"
#include "api/object_int.h"
#include "base/goquote.h"
#include "base/limits.h"

#define LAST_APPLIED "kubectl.kubernetes.io/last-applied-configuration"

/* What all annotations of an object may take together, as validation has it. */
enum { MOST_ANNOTATION_BYTES = 256 << 10 };

struct apply {
    struct arena *a;
    const struct api_managed_write *w;
    const struct api_type *type;
    const struct json *applied;
    struct json live, merged;
    struct api__managers managers;
    struct str self; /* id of the applying manager */
    bool force;
    struct api_managed_applied *out;
    struct api_patch_failure failure;
};

__attribute__((format(printf, 3, 4))) static int fail(struct apply *p, enum err_code code,
                                                      const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    p->failure.code = code;
    p->failure.message = p->failure.cause = arena_vprintf(p->a, fmt, args);
    va_end(args);
    return -1;
}

/* ---- checks ---- */

static struct str text_at(const struct json *tree, const char *key) {
    const struct json *v = json_get(tree, str_of(key));
    return v && v->kind == JSON_STRING ? json_str(v) : (struct str){0};
}

/* apps/v1, Kind=Deployment; the core group has no name. */
static struct str kind_text(struct arena *a, const struct json *tree) {
    struct str version = text_at(tree, "apiVersion"), kind = text_at(tree, "kind");
    bool has_group = str_find_char(version, '/') != STR_NONE;
    return arena_printf(a, "%s%.*s, Kind=%.*s", has_group ? "" : "/", STR_ARG(version),
                        STR_ARG(kind));
}

static int check_applied(struct apply *p) {
    const struct json *tree = p->applied, *meta = json_get(tree, STR("metadata"));
    struct str version = text_at(tree, "apiVersion"), kind = text_at(tree, "kind");
    if (!str_is(version, p->w->kind->api_version) || !str_is(kind, p->w->kind->kind))
        return fail(p, ERR_INVALID, "invalid object type: %.*s", STR_ARG(kind_text(p->a, tree)));
    const struct json *managed = json_get(meta, STR("managedFields"));
    if (managed && managed->kind == JSON_ARRAY)
        return fail(p, ERR_INVALID, "metadata.managedFields must be nil");
    struct str wrong = api__validate(p->a, p->type, tree);
    if (wrong.p)
        return fail(p, ERR_UNTOLD, "failed to create typed patch object (%.*s/%.*s; %.*s): %.*s",
                    STR_ARG(text_at(meta, "namespace")), STR_ARG(text_at(meta, "name")),
                    STR_ARG(kind_text(p->a, tree)), STR_ARG(wrong));
    return 0;
}

/* ---- fields that are not applied any more ---- */

/* The fields that any manager has, in the version of the request. */
static const struct api__path_set *all_managed(struct apply *p) {
    struct api__unions all = {0};
    for (size_t i = 0; i < p->managers.list.n; i++)
        if (api__manager_is_of(p->managers.list.v[i], p->w->kind))
            api__unions_add(p->a, &all, p->managers.list.v[i]->fields);
    return api__unions_end(p->a, &all);
}

static const struct api__path_set *named(struct apply *p, const struct api__path_set *s) {
    return api__set_with_names(p->a, p->type, s);
}

/*
 * Takes out of the merged object what was applied last, but for what anybody has, and but for what
 * is only inside something that was applied last without having been applied itself.
 */
static void prune(struct apply *p, const struct api__path_set *last) {
    struct arena *a = p->a;
    if (!last)
        return;
    const struct api__path_set *last_named = named(p, last),
                               *have = named(p, api__fields_of(a, p->type, &p->merged));
    struct json pruned = api__remove_fields(a, p->type, &p->merged, last_named);
    const struct api__path_set *left = named(p, api__fields_of(a, p->type, &pruned));
    const struct api__path_set *kept =
        api__set_combine(a, API__UNION, left, named(p, all_managed(p)));
    pruned = api__remove_fields(a, p->type, &p->merged,
                                api__set_combine(a, API__DIFFERENCE, have, kept));
    left = named(p, api__fields_of(a, p->type, &pruned));
    const struct api__path_set *gone = api__set_combine(
        a, API__INTERSECTION, api__set_combine(a, API__DIFFERENCE, have, left), last_named);
    p->merged = api__remove_fields(a, p->type, &p->merged, gone);
}

/* ---- conflicts ---- */

struct conflict {
    const struct api__manager *with;
    struct str path;
};

struct conflicts {
    struct apply *p;
    const struct api__path_set *allowed; /* paths that are none */
    struct buf path;
    VEC(struct conflict) list;
};

/* Members first, then what is inside them, as upstream lists them. */
static void list_paths(struct conflicts *c, const struct api__manager *with,
                       const struct api__path_set *s, const struct api__path_set *allowed) {
    size_t start = c->path.n;
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; s && i < s->n; i++) {
            const struct api__path_node *node = &s->v[i],
                                        *free = api__set_find(allowed, &node->step);
            c->path.n = start;
            api__step_write(&c->path, &node->step);
            if (round == 1)
                list_paths(c, with, node->children, free ? free->children : NULL);
            else if (node->flags && !(free && free->flags))
                vec_push(&c->list, (struct conflict){with, arena_str(c->p->a, buf_view(&c->path))});
        }
    c->path.n = start;
}

static int by_manager(const void *a, const void *b) {
    const struct api__manager *x = *(const struct api__manager *const *)a,
                              *y = *(const struct api__manager *const *)b;
    return str_cmp(x->id, y->id);
}

static void list_conflicts(struct conflicts *c, const struct api__changes *changes) {
    struct apply *p = c->p;
    const struct api__manager **order =
        arena_array(p->a, const struct api__manager *, p->managers.list.n);
    size_t n = 0;
    for (size_t i = 0; i < p->managers.list.n; i++)
        order[n++] = p->managers.list.v[i];
    qsort(order, n, sizeof *order, by_manager);
    for (size_t i = 0; i < n; i++)
        if (!str_eq(order[i]->id, p->self) && api__manager_is_of(order[i], p->w->kind))
            list_paths(
                c, order[i],
                api__set_combine(p->a, API__INTERSECTION, order[i]->fields, changes->changed),
                c->allowed);
}

static struct str describe_manager(struct arena *a, const struct api__manager *m) {
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_PATCH_ERROR_BYTES);
    goquote_write(&text, m->name);
    if (m->subresource.n) {
        buf_add(&text, STR(" with subresource "));
        goquote_write(&text, m->subresource);
    }
    if (!m->applies)
        buf_addf(&text, " using %.*s", STR_ARG(m->api_version));
    return arena_str(a, buf_view(&text));
}

/* The text of several conflicts names each manager once. */
static void write_conflicts(const struct conflicts *c, struct buf *out) {
    buf_addf(out, "Apply failed with %zu conflicts: ", c->list.n);
    for (size_t i = 0; i < c->list.n; i++) {
        const struct conflict *one = &c->list.v[i];
        if (i == 0 || one[-1].with != one->with)
            buf_addf(out, "%sconflicts with %.*s:", i ? "\n" : "",
                     STR_ARG(describe_manager(c->p->a, one->with)));
        buf_addf(out, "\n- %.*s", STR_ARG(one->path));
    }
}

static int refuse_conflicts(struct conflicts *c) {
    struct apply *p = c->p;
    struct api_managed_applied *out = p->out;
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_PATCH_ERROR_BYTES);
    out->conflicts = arena_array(p->a, struct api_managed_conflict, c->list.n);
    for (; out->conflict_count < c->list.n; out->conflict_count++) {
        const struct conflict *one = &c->list.v[out->conflict_count];
        out->conflicts[out->conflict_count] = (struct api_managed_conflict){
            arena_printf(p->a, "conflict with %.*s", STR_ARG(describe_manager(p->a, one->with))),
            one->path};
    }
    if (c->list.n == 1)
        buf_addf(&text, "Apply failed with 1 conflict: %.*s: %.*s",
                 STR_ARG(out->conflicts[0].message), STR_ARG(out->conflicts[0].field));
    else
        write_conflicts(c, &text);
    return fail(p, ERR_CONFLICT, "%.*s", STR_ARG(buf_view(&text)));
}

/*
 * What kubectl's client-side apply wrote last and what still is so may be taken by kubectl's
 * server-side apply.
 */
static const struct api__path_set *allow_last_applied(struct apply *p) {
    struct str text =
        text_at(json_get(json_get(&p->live, STR("metadata")), STR("annotations")), LAST_APPLIED);
    struct json *last = arena_new(p->a, struct json);
    const struct api__path_set *diff;
    struct str live_wrong = api__validate(p->a, p->type, &p->live);
    if (!str_is(p->w->manager, "kubectl") || !text.n || live_wrong.p ||
        json_parse(p->a, text, NULL, last, NULL) < 0 ||
        !str_is(text_at(last, "apiVersion"), p->w->kind->api_version) ||
        api__validate(p->a, p->type, last).p ||
        api__compare(p->a, p->type, last, &p->live, &diff) < 0)
        return NULL;
    const struct api__path_set *changed = api__set_extract(p->a, diff, API__CHANGED),
                               *removed = api__set_extract(p->a, diff, API__REMOVED),
                               *fields = api__fields_of(p->a, p->type, last);
    fields = api__set_combine(p->a, API__DIFFERENCE, fields, changed);
    return api__set_combine(p->a, API__DIFFERENCE, fields, removed);
}

static int check_conflicts(struct apply *p, const struct api__changes *changes) {
    struct conflicts c = {.p = p, .path = BUF_INIT(LIMIT_PATCH_ERROR_BYTES)};
    if (p->force)
        return 0;
    list_conflicts(&c, changes);
    if (c.list.n && (c.allowed = allow_last_applied(p))) {
        vec_clear(&c.list);
        list_conflicts(&c, changes);
    }
    int rc = c.list.n ? refuse_conflicts(&c) : 0;
    buf_release(&c.path);
    vec_release(&c.list);
    return rc;
}

/* ---- kubectl's annotation ---- */

static bool is_last_applied(const struct json_member *m) {
    return str_is(m->key, LAST_APPLIED);
}

/* A copy of an object whose member of this name may be changed; NULL if it has none. */
static struct json *own_member(struct arena *a, struct json *object, const char *name) {
    if (object->kind != JSON_OBJECT)
        return NULL;
    object->members = arena_copy(a, object->members, object->n * sizeof *object->members);
    for (uint32_t i = 0; i < object->n; i++)
        if (str_is(object->members[i].key, name))
            return &object->members[i].value;
    return NULL;
}

/* The applied object as kubectl would have noted it. */
static struct str last_applied_text(struct apply *p) {
    AUTO(buf_release) struct buf text = BUF_INIT(8 * LIMIT_OBJECT_BYTES);
    struct json tree = *p->applied;
    struct json *meta = own_member(p->a, &tree, "metadata");
    struct json *annotations = meta ? own_member(p->a, meta, "annotations") : NULL;
    if (annotations && own_member(p->a, annotations, LAST_APPLIED)) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < annotations->n; i++)
            if (!is_last_applied(&annotations->members[i]))
                annotations->members[kept++] = annotations->members[i];
        annotations->n = kept;
    }
    json_write(&text, &tree, &(struct json_style){.sort_keys = true});
    buf_add_char(&text, '\n');
    return arena_str(p->a, buf_view(&text));
}

static size_t annotation_bytes(const struct json *annotations) {
    size_t n = 0;
    for (uint32_t i = 0; i < annotations->n; i++)
        n += annotations->members[i].key.n + annotations->members[i].value.n;
    return n;
}

/* Brings the annotation up to date if there is one; if it is too long, it goes. */
static void update_last_applied(struct apply *p) {
    struct json *meta = own_member(p->a, &p->merged, "metadata");
    struct json *annotations = meta ? own_member(p->a, meta, "annotations") : NULL;
    struct json *last = annotations ? own_member(p->a, annotations, LAST_APPLIED) : NULL;
    if (!str_is(p->w->manager, "kubectl") || !last || last->kind != JSON_STRING || !last->n)
        return;
    *last = json_of_str(last_applied_text(p));
    if (annotation_bytes(annotations) <= MOST_ANNOTATION_BYTES)
        return;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < annotations->n; i++)
        if (!is_last_applied(&annotations->members[i]))
            annotations->members[kept++] = annotations->members[i];
    annotations->n = kept;
}

/* ---- applying ---- */

/* An object that nobody manages yet: whatever it has is of whoever was there before. */
static void note_earlier(struct apply *p) {
    struct api_managed_write earlier = *p->w;
    struct json empty = api__managed_tree(p->a, p->w->kind, NULL);
    struct api__changes changes;
    earlier.manager = STR("before-first-apply");
    if (p->managers.list.n || api__changes_find(p->a, p->w, &empty, &p->live, &changes) < 0)
        return;
    api__managers_gain(&p->managers, &earlier, &changes);
}

static int own_applied(struct apply *p) {
    struct str name = p->w->manager.n ? p->w->manager : STR("unknown");
    struct api__manager made =
        api__manager_make(p->a, name, true, str_of(p->w->kind->api_version), p->w->subresource);
    struct api__manager *self = api__managers_put(&p->managers, &made);
    const struct api__path_set *last = api__manager_is_of(self, p->w->kind) ? self->fields : NULL;
    p->self = self->id;
    self->api_version = made.api_version;
    self->fields = api__drop_reset(p->a, p->w, api__fields_of(p->a, p->type, p->applied));
    p->merged = api__merge_objects(p->a, p->type, &p->live, p->applied);
    prune(p, last);
    return 0;
}

static int take_fields(struct apply *p) {
    struct api__changes changes;
    own_applied(p);
    if (api__changes_find(p->a, p->w, &p->live, &p->merged, &changes) < 0)
        return fail(p, ERR_UNTOLD, "failed to compare objects");
    if (check_conflicts(p, &changes) < 0)
        return -1;
    api__managers_lose(&p->managers, p->w->kind, &changes, p->self);
    struct api__manager *self = api__managers_find(&p->managers, p->self);
    self->fields = api__strip_meta(p->a, self->fields);
    p->out->is_same = api__value_equal(&p->live, &p->merged);
    if (!p->out->is_same)
        self->time = p->w->now;
    return 0;
}

/* A copy of an object with one more member. */
static struct json with_member(struct arena *a, const struct json *object, struct str key,
                               struct json value) {
    struct json out = {.kind = JSON_OBJECT};
    for (uint32_t i = 0; object && i < object->n; i++)
        json_add(a, &out, object->members[i].key, object->members[i].value);
    json_add(a, &out, key, value);
    return out;
}

/* Puts the list of managers into the object, whose metadata may all have been taken away. */
static void write_managers(struct apply *p) {
    struct api_managed_fields_entry_list list;
    struct json entries = {.kind = JSON_ARRAY};
    api__managers_write(&p->managers, p->a, &list);
    for (size_t i = 0; i < list.n; i++)
        json_append(p->a, &entries,
                    api_struct_encode(p->a, &api_types[API_T_managed_fields_entry], &list.v[i]));
    if (!list.n)
        return;
    struct json *meta = own_member(p->a, &p->merged, "metadata");
    bool is_there = meta && meta->kind == JSON_OBJECT;
    struct json made = with_member(p->a, is_there ? meta : NULL, STR("managedFields"), entries);
    if (is_there)
        *meta = made;
    else
        p->merged = with_member(p->a, &p->merged, STR("metadata"), made);
}

static int apply(struct apply *p, const struct api_object *old) {
    struct str wrong;
    if (old && api__managers_read(&p->managers, &old->meta->managed_fields, &wrong) < 0)
        return fail(p, ERR_UNTOLD, "failed to decode managed fields: %.*s", STR_ARG(wrong));
    if (check_applied(p) < 0)
        return -1;
    p->live = api__managed_tree(p->a, p->w->kind, old);
    note_earlier(p);
    api__managers_reconcile(&p->managers, p->w->kind);
    if (take_fields(p) < 0)
        return -1;
    update_last_applied(p);
    write_managers(p);
    api__settle_numbers(p->a, &p->merged);
    p->out->tree = p->merged;
    return 0;
}

struct api_patch_failure api_managed_apply(struct arena *a, const struct api_managed_write *w,
                                           const struct api_object *old, const struct json *applied,
                                           bool force, struct api_managed_applied *out) {
    struct apply p = {.a = a,
                      .w = w,
                      .type = w->kind->type,
                      .applied = applied,
                      .managers = api__managers_init(a),
                      .force = force,
                      .out = out};
    *out = (struct api_managed_applied){0};
    apply(&p, old);
    api__managers_release(&p.managers);
    return p.failure;
}
