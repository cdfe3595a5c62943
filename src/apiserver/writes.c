/*
 * Writes: which function a request goes to, and the steps that they share.
 *
 * Follows k8s.io/apiserver pkg/registry/generic/registry, func (*Store) Create,
 * func (*Store) Update.
 * Follows k8s.io/apiserver pkg/registry/rest, func WipeObjectMetaSystemFields,
 * func EnsureObjectNamespaceMatchesRequestNamespace.
 */
#include "api/managed.h"
#include "apiserver/apiserver_int.h"

const struct api_object *apiserver__stored(const struct apiserver__call *c) {
    const struct apiserver_resource *r = c->r->resource;
    return store_get(c->s->opts.store, r->storage, r->kind->namespaced ? c->r->namespace : STR(""),
                     c->r->name);
}

void apiserver__not_found(struct apiserver__call *c) {
    apiserver__fail(c->out, registry_not_found(c->r->arena, c->r->resource->kind, c->r->name));
}

void apiserver__put_status(struct apiserver__call *c, struct api_object *o) {
    struct apiserver *s = c->s;
    struct api_managed_write w = {.kind = o->kind,
                                  .manager = STR("berth"),
                                  .subresource = STR("status"),
                                  .now = c->request.now};
    api_managed_update(&w, registry_view_get(&s->view, o->kind, o->meta->namespace, o->meta->name),
                       o);
    store_put(s->opts.store, apiserver_catalog_of(s->opts.catalog, o->kind)->storage, o);
}

/* Stores what admission changed beside the object of the request: the status of quotas. */
static void put_effects(struct apiserver__call *c) {
    for (size_t i = 0; i < c->effects.n; i++)
        apiserver__put_status(c, c->effects.v[i]);
    c->effects = (struct registry_effects){0};
}

/* Notes what becomes of the addresses and ports of a service; `last`: it goes. */
static void count_service(struct apiserver__call *c, const struct api_object *o, bool last) {
    if (!api_object_is(o, API_T_service))
        return;
    const struct api_object *old =
        store_get(c->s->opts.store, c->r->resource->storage, o->meta->namespace, o->meta->name);
    if (old)
        registry_ranges_remove(c->s->ranges, old);
    if (!last)
        registry_ranges_add(c->s->ranges, o);
}

void apiserver__put(struct apiserver__call *c, struct api_object *draft, int code) {
    api_object_settle(draft);
    apiserver__warn_of_unserved(c, draft);
    if (c->r->options.dry_run) {
        const struct api_object *o = api_publish(draft);
        apiserver__answer(c->out, code, o);
        api_object_unref(o);
        return;
    }
    put_effects(c);
    count_service(c, draft, false);
    apiserver__answer(c->out, code, store_put(c->s->opts.store, c->r->resource->storage, draft));
    c->out->is_written = true;
}

void apiserver__remove(struct apiserver__call *c, struct api_object *last) {
    if (c->r->options.dry_run) {
        const struct api_object *o = api_publish(last);
        apiserver__answer(c->out, 200, o);
        api_object_unref(o);
        return;
    }
    count_service(c, last, true);
    apiserver__answer(c->out, 200, store_delete(c->s->opts.store, c->r->resource->storage, last));
    c->out->is_written = true;
}

/* ---- replacing ---- */

#define MODIFIED                                                                                 \
    STR("the object has been modified; please apply your changes to the latest version and try " \
        "again")

/* Is the write meant for another version of the object than the stored one? */
static struct registry_failure check_version(const struct apiserver__call *c,
                                             const struct api_object *draft,
                                             const struct api_object *stored) {
    struct arena *a = c->r->arena;
    struct str version = draft->meta->resource_version;
    const struct api_kind *kind = c->r->resource->kind;
    uint64_t revision;
    if (!apiserver__revision_read(version, &revision))
        return (struct registry_failure){.code = ERR_UNTOLD,
                                         .message = apiserver__revision_fault(a, version)};
    if (!revision && c->r->resource->row->updates & REGISTRY_UPDATE_NEEDS_VERSION)
        return registry_version_required(a, kind, stored->meta->name);
    if (revision && !str_eq(version, stored->meta->resource_version))
        return registry_conflict(a, kind, stored->meta->name, MODIFIED);
    return (struct registry_failure){.code = ERR_NONE};
}

/* ---- managers ---- */

static struct api_managed_write managed_write(const struct apiserver__call *c,
                                              const struct api_kind *kind) {
    const struct apiserver_request *r = c->r;
    return (struct api_managed_write){
        .kind = kind,
        .manager = api_manager_name(r->arena, r->options.field_manager, r->user_agent),
        .subresource = str_of(r->subresource ? r->subresource->name : ""),
        .now = c->request.now,
    };
}

/* What conversion adds to an object of another version than the stored one is its writer's, too. */
static void note_converted(const struct api_managed_write *w, const struct api_object *old,
                           struct api_object *draft) {
    struct api_object *there = registry_convert(draft, registry_stored_as(draft->kind));
    struct api_object *back = registry_convert(there, draft->kind);
    struct api_managed_fields_entry_list *to = &api_own_meta(draft)->managed_fields;
    const struct api_managed_fields_entry_list *from = &back->meta->managed_fields;
    api_own_meta(back)->managed_fields = *to;
    api_managed_update(w, old, back);
    *to = (struct api_managed_fields_entry_list){
        arena_array(&draft->arena, struct api_managed_fields_entry, from->n), from->n};
    for (size_t i = 0; i < from->n; i++)
        api_struct_copy(&draft->arena, &api_types[API_T_managed_fields_entry], &from->v[i],
                        &to->v[i]);
    api_object_free(back);
    api_object_free(there);
}

void apiserver__note_manager(const struct apiserver__call *c, const struct api_object *old,
                             struct api_object *draft) {
    struct api_managed_write w = managed_write(c, draft->kind);
    registry_decoded(&c->s->registry, &c->request, draft);
    if (registry_stored_as(draft->kind)->type == draft->type)
        api_managed_update(&w, old, draft);
    else
        note_converted(&w, old, draft);
}

/* Does a manager's entry say the same, but for its time? */
static bool is_same_entry(const struct api_managed_fields_entry *a,
                          const struct api_managed_fields_entry *b) {
    return str_eq(a->manager, b->manager) && str_eq(a->operation, b->operation) &&
           str_eq(a->api_version, b->api_version) && str_eq(a->subresource, b->subresource) &&
           json_equal(&a->fields_v1, &b->fields_v1);
}

/* A write that changes nothing but times of managers changes nothing.
 *
 * Follows k8s.io/apiserver pkg/endpoints/handlers/fieldmanager,
 * func IgnoreManagedFieldsTimestampsTransformer. */
static void keep_times(struct api_object *draft, const struct api_object *old) {
    struct api_managed_fields_entry_list *now = &api_own_meta(draft)->managed_fields;
    const struct api_managed_fields_entry_list *was = &old->meta->managed_fields;
    if (now->n != was->n)
        return;
    for (size_t i = 0; i < now->n; i++)
        if (!is_same_entry(&now->v[i], &was->v[i]))
            return;
    for (size_t i = 0; i < now->n; i++)
        now->v[i].time = was->v[i].time;
}

/* A namespace's own finalizers, which no other write changes; without the last of them it is gone.
 *
 * Follows k8s.io/kubernetes pkg/registry/core/namespace, func (namespaceFinalizeStrategy)
 * PrepareForUpdate. */
static struct registry_failure judge_finalizers(struct apiserver__call *c, struct api_object *draft,
                                                const struct api_object *stored) {
    struct api_namespace *ns = api_own_body(draft);
    struct api_strs wanted = ns->spec.finalizers;
    struct registry_failure f =
        registry_update(&c->s->registry, &c->request, c->r->arena, draft, stored);
    ns->spec.finalizers = wanted;
    return f;
}

/* What the rules of the resource, or of its subresource, make of it. */
static struct registry_failure judge(struct apiserver__call *c, struct api_object *draft,
                                     const struct api_object *stored) {
    struct str sub = c->request.subresource;
    if (str_is(sub, "finalize"))
        return judge_finalizers(c, draft, stored);
    if (sub.n && valid_has_subresource(draft->kind, sub))
        return registry_update_subresource(&c->s->registry, &c->request, c->r->arena, draft,
                                           stored);
    if (str_is(sub, "status"))
        return registry_update_status(&c->s->registry, &c->request, c->r->arena, draft, stored);
    return registry_update(&c->s->registry, &c->request, c->r->arena, draft, stored);
}

bool apiserver__is_unchanged(const struct api_object *draft, const struct api_object *stored) {
    AUTO(arena_release) struct arena a = {0};
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    struct json tree = api_object_encode(draft, &a);
    json_write(&text, &tree, NULL);
    struct api_bytes *before = api_object_json_ref(stored);
    bool is_same = str_eq(buf_view(&text), api_bytes_view(before));
    api_bytes_unref(before);
    return is_same;
}

/* Nobody gives others what they do not have themselves. */
static struct registry_failure confirm(const struct apiserver__call *c, const struct api_object *o,
                                       const struct api_object *old) {
    if (!c->s->rules || !c->r->user)
        return (struct registry_failure){.code = ERR_NONE};
    struct auth_write w = {.user = c->r->user,
                           .object = o,
                           .old = old,
                           .namespace = c->r->namespace,
                           .name = c->r->name};
    return auth_confirm_write(c->s->rules, c->r->arena, &w);
}

/* An update that takes away the last finalizer deletes the object, and is answered with what it
 * made of it. */
static void end(struct apiserver__call *c, struct api_object *draft,
                const struct api_object *stored) {
    apiserver__remove(c, api_object_copy(stored));
    api_object_unref(c->out->object);
    c->out->object = api_publish(draft);
}

void apiserver__replace(struct apiserver__call *c, struct api_object *draft,
                        const struct api_object *stored) {
    struct registry_failure f = check_version(c, draft, stored);
    if (!f.code)
        f = judge(c, draft, stored);
    if (!f.code)
        f = confirm(c, draft, stored);
    if (!f.code) {
        keep_times(draft, stored);
        api_object_settle(draft);
        if (!c->r->options.dry_run)
            api_own_meta(draft)->self_link = STR("");
    }
    if (f.code) {
        apiserver__fail(c->out, f);
        api_object_free(draft);
    } else if (registry_update_ends(draft, stored)) {
        end(c, draft, stored);
    } else if (apiserver__is_unchanged(draft, stored)) {
        apiserver__answer(c->out, 200, stored);
        api_object_free(draft);
    } else
        apiserver__put(c, draft, 200);
}

/* ---- creating ---- */

struct registry_failure apiserver_place(const struct apiserver_request *r, struct api_object *o) {
    struct api_object_meta *m = api_own_meta(o);
    struct str namespace = r->resource->kind->namespaced ? r->namespace : STR("");
    if (m->namespace.n && namespace.n && !str_eq(m->namespace, namespace))
        return registry_bad_request(STR("the namespace of the provided object does not match the "
                                        "namespace sent on the request"));
    m->namespace = arena_str(&o->arena, namespace);
    return (struct registry_failure){.code = ERR_NONE};
}

static struct registry_failure exists(const struct apiserver__call *c, const struct api_object *o,
                                      const struct api_object *stored) {
    bool is_generated = o->meta->generate_name.n; /* told by what is stored, as upstream does */
    struct registry_failure f = registry_already_exists(
        c->r->arena, is_generated ? o->kind : c->r->resource->kind, o->meta->name);
    if (is_generated) {
        f.message = arena_printf(c->r->arena,
                                 "%.*s, the server was not able to generate a unique name for the "
                                 "object",
                                 STR_ARG(f.message));
        f.retry_after = 1;
    } else if (stored->meta->deletion_timestamp.set)
        f.message = arena_printf(c->r->arena, "object is being deleted: %.*s", STR_ARG(f.message));
    return f;
}

/* Gives an object without a name of its own another try, as upstream does eight times. */
static bool is_taken(const struct apiserver__call *c, struct str name) {
    const struct apiserver_resource *r = c->r->resource;
    return store_get(c->s->opts.store, r->storage, r->kind->namespaced ? c->r->namespace : STR(""),
                     name);
}

static struct str free_suffix(struct apiserver__call *c, const struct api_object *o) {
    enum { TRIES = 8, LETTERS = 5, BASE_MOST = 63 - LETTERS };
    struct str base = str_sub(o->meta->generate_name, 0, BASE_MOST), suffix = {0};
    for (int i = 0; i < TRIES; i++) {
        suffix = apiserver__letters(c->s, c->r->arena, LETTERS);
        struct str name = arena_printf(c->r->arena, "%.*s%.*s", STR_ARG(base), STR_ARG(suffix));
        if (!is_taken(c, name))
            break;
    }
    return suffix;
}

static struct registry_failure judge_new(struct apiserver__call *c, struct api_object *o) {
    struct registry_failure f = apiserver_place(c->r, o);
    if (f.code)
        return f;
    if (!o->meta->name.n && o->meta->generate_name.n)
        c->request.name_suffix = free_suffix(c, o);
    else if (!o->meta->name.n && api_object_is(o, API_T_limit_range))
        api_own_meta(o)->name = arena_str(&o->arena, apiserver__uuid(c->s, c->r->arena));
    c->request.uid = apiserver__uuid(c->s, c->r->arena);
    struct str version = o->meta->resource_version;
    f = registry_create(&c->s->registry, &c->request, c->r->arena, o);
    if (!f.code)
        f = confirm(c, o, NULL);
    if (f.code)
        return f;
    if (version.n && c->r->verb == REGISTRY_VERB_CREATE && !c->r->options.dry_run)
        return apiserver__failure(c->r->arena, ERR_UNTOLD,
                                  "resourceVersion should not be set on objects to be created");
    const struct api_object *stored =
        store_get(c->s->opts.store, c->r->resource->storage, o->meta->namespace, o->meta->name);
    return stored ? exists(c, o, stored) : (struct registry_failure){.code = ERR_NONE};
}

void apiserver_wipe(struct api_object *o) {
    struct api_object_meta *m = api_own_meta(o);
    m->creation_timestamp = m->deletion_timestamp = (struct api_time){0};
    m->deletion_grace_period_seconds = (struct api_opt_i64){0};
    m->uid = m->self_link = STR("");
}

/* Managers are noted in the version of the request. */
void apiserver__create(struct apiserver__call *c) {
    struct api_object *o = c->r->object;
    c->r->object = NULL;
    apiserver_wipe(o);
    apiserver__note_manager(c, NULL, o);
    apiserver__create_draft(c, apiserver__to_stored(c, o));
}

void apiserver__create_draft(struct apiserver__call *c, struct api_object *o) {
    struct registry_failure f = judge_new(c, o);
    if (!f.code) {
        apiserver__put(c, o, 201);
        return;
    }
    apiserver__fail(c->out, f);
    api_object_free(o);
}

/* ---- updating ---- */

static struct registry_failure check_name(const struct apiserver__call *c, struct api_object *o) {
    struct registry_failure f = apiserver_place(c->r, o);
    return f.code ? f : apiserver__check_name(c, o);
}

static void replace_stored(struct apiserver__call *c, const struct api_object *stored) {
    const struct apiserver_resource *r = c->r->resource;
    const struct api_object *shown = apiserver_convert(stored, r->kind);
    struct api_object *o = c->r->object;
    c->r->object = NULL;
    apiserver__note_manager(c, shown, o);
    api_object_unref(shown);
    apiserver__replace(c, apiserver__to_stored(c, o), stored);
}

/* What a client says of a deletion is wiped as from all that is new, but it has managed it. */
static void make(struct apiserver__call *c) {
    struct api_object *o = c->r->object;
    c->r->object = NULL;
    apiserver__note_manager(c, NULL, o);
    apiserver_wipe(o);
    apiserver__create_draft(c, apiserver__to_stored(c, o));
}

void apiserver__update(struct apiserver__call *c) {
    const struct api_object *stored = apiserver__stored(c);
    bool creates = c->r->resource->row->updates & REGISTRY_UPDATE_CREATES;
    bool is_made = !stored && creates && !c->r->subresource;
    struct registry_failure f = check_name(c, c->r->object);
    if (!f.code && (stored || is_made))
        f = apiserver__check_uid(c, c->r->object->meta->uid, stored);
    if (f.code)
        apiserver__fail(c->out, f);
    else if (stored)
        replace_stored(c, stored);
    else if (is_made)
        make(c);
    else
        apiserver__not_found(c);
}

/* ---- the way of a request ---- */

/* What a subresource has instead of the verb's own function. */
static const struct {
    const char *name;
    enum registry_verb verb;
    apiserver__write_fn *write;
} subresources[] = {
    {"binding", REGISTRY_VERB_CREATE, apiserver__bind},
    {"eviction", REGISTRY_VERB_CREATE, apiserver__evict},
    {"scale", REGISTRY_VERB_UPDATE, apiserver__scale},
    {"scale", REGISTRY_VERB_PATCH, apiserver__scale},
    {"finalize", REGISTRY_VERB_UPDATE, apiserver__update},
    {"token", REGISTRY_VERB_CREATE, apiserver__token},
    {"status", REGISTRY_VERB_UPDATE, apiserver__update},
    {"status", REGISTRY_VERB_PATCH, apiserver__patch},
    {"approval", REGISTRY_VERB_UPDATE, apiserver__update},
    {"approval", REGISTRY_VERB_PATCH, apiserver__patch},
    {"ephemeralcontainers", REGISTRY_VERB_UPDATE, apiserver__update},
    {"ephemeralcontainers", REGISTRY_VERB_PATCH, apiserver__patch},
    {"resize", REGISTRY_VERB_UPDATE, apiserver__update},
    {"resize", REGISTRY_VERB_PATCH, apiserver__patch},
};

static apiserver__write_fn *find(const struct apiserver_request *r) {
    static apiserver__write_fn *const verbs[REGISTRY_VERB_COUNT] = {
        [REGISTRY_VERB_CREATE] = apiserver__create,
        [REGISTRY_VERB_UPDATE] = apiserver__update,
        [REGISTRY_VERB_PATCH] = apiserver__patch,
        [REGISTRY_VERB_DELETE] = apiserver__delete,
        [REGISTRY_VERB_DELETE_COLLECTION] = apiserver__delete_collection,
    };
    for (size_t i = 0; r->subresource && i < sizeof subresources / sizeof *subresources; i++)
        if (subresources[i].verb == r->verb &&
            str_is(str_of(r->subresource->name), subresources[i].name))
            return subresources[i].write;
    if (r->verb == REGISTRY_VERB_CREATE && r->resource->kind->type == &api_types[API_T_binding])
        return apiserver__bind_any;
    bool is_stored = r->resource->stored;
    return r->subresource || !is_stored ? NULL : verbs[r->verb];
}

static struct valid_user user_of(const struct apiserver_request *r) {
    const struct auth_user *u = r->user;
    return u ? (struct valid_user){u->name, u->uid, u->groups, u->extra} : (struct valid_user){0};
}

/* Adds what the rules warn of to what the answer warns of already. */
static void tell_warnings(struct apiserver__call *c) {
    struct api_strs *told = &c->out->warnings;
    size_t n = told->n + c->warnings.n;
    if (!c->warnings.n)
        return;
    struct str *all = arena_array(c->r->arena, struct str, n);
    for (size_t i = 0; i < n; i++)
        all[i] = i < told->n ? told->v[i] : c->warnings.v[i - told->n];
    *told = (struct api_strs){all, n};
}

void apiserver_write(struct apiserver *s, struct apiserver_request *r,
                     struct apiserver_response *out) {
    struct valid_user user = user_of(r);
    struct apiserver__call c = {
        .s = s,
        .r = r,
        .out = out,
        .request = {.namespace = r->namespace,
                    .now = apiserver__now(s),
                    .name = r->name,
                    .kind = r->resource->kind,
                    .subresource = str_of(r->subresource ? r->subresource->name : ""),
                    .effects = &c.effects,
                    .warnings = &c.warnings,
                    .is_dry_run = r->options.dry_run},
        .warnings = {.a = r->arena, .gates = s->registry.gates},
    };
    c.request.user = r->user ? &user : NULL;
    apiserver__write_fn *write = find(r);
    if (write)
        write(&c);
    else
        apiserver__fail(out, apiserver__failure(r->arena, ERR_METHOD, "%s",
                                                "the server does not allow this method on the "
                                                "requested resource"));
    tell_warnings(&c);
    registry_effects_release(&c.effects);
    api_object_free(r->object);
    r->object = NULL;
}
