/* Every object once, settled as a server would have stored it. */
#include "sim/cluster.h"

#include "api/names.h"
#include "api/object.h"
#include "controller/controller.h"
#include "sim/apply.h"

void sim_cluster_init(struct sim_cluster *c, const struct sim_cluster_opts *opts) {
    *c = (struct sim_cluster){.opts = *opts,
                              .refused_keys = MAP_INIT(map_random_seed()),
                              .places = MAP_INIT(map_random_seed())};
    if (!c->opts.namespace.n)
        c->opts.namespace = STR("default");
    c->known = registry_known_new(c->opts.namespace);
    registry_known_close(c->known, API_T_priority_class);
    registry_known_close(c->known, API_T_storage_class);
    c->registry = (struct registry){.gates = opts->gates,
                                    .cel = opts->cel,
                                    .view = registry_known_view(c->known),
                                    .plugins = registry_plugins_offline()};
}

void sim_cluster_release(struct sim_cluster *c) {
    for (size_t i = 0; i < c->items.n; i++) {
        api_object_free(c->items.v[i].draft);
        api_object_unref(c->items.v[i].object);
        api_object_unref(c->items.v[i].before);
    }
    for (size_t i = 0; i < c->rollouts.n; i++)
        controller_rollout_release(&c->rollouts.v[i].plan);
    vec_release(&c->rollouts);
    vec_release(&c->items);
    vec_release(&c->customs);
    map_release(&c->refused_keys);
    map_release(&c->places);
    registry_known_free(c->known);
    arena_release(&c->arena);
}

/* ---- remarks ---- */

void sim__note(struct sim_cluster *c, const struct sim_source *at, struct str text) {
    c->opts.remark(c->opts.ctx, &(struct sim_remark){.at = *at, .text = text});
}

void sim__refuse(struct sim_cluster *c, const struct sim_source *at, struct str text) {
    c->refused++;
    sim__note(c, at, text);
}

/* What a server says; o is NULL if the body could not be decoded. */
static void refuse_as_server(struct sim_cluster *c, const struct sim_item *it,
                             const struct registry_failure *f, struct str maker) {
    const struct api_object *o = it->draft;
    c->refused++;
    c->opts.remark(c->opts.ctx, &(struct sim_remark){.at = it->source,
                                                     .maker = maker,
                                                     .failure = f,
                                                     .names = o ? o->names : NULL});
}

/* The same for an object with errors in its fields. Gates that are in the way are looked for with
 * what became of it: what was dropped from it is not what it is refused for. */
static void refuse_fields(struct sim_cluster *c, const struct sim_item *it,
                          const struct registry_request *request, const struct registry_failure *f,
                          struct str maker) {
    AUTO(arena_release) struct arena a = {0};
    struct json tree = api_object_encode(it->draft, &a);
    struct registry_trial trial = {&c->registry, request,
                                   &tree,        &(struct api_decode_opts){.strict = false},
                                   it->before,   f->causes};
    struct registry_remedy *remedies;
    size_t n = registry_find_remedies(&trial, &a, &c->hinted, &remedies);
    c->refused++;
    c->opts.remark(c->opts.ctx, &(struct sim_remark){.at = it->source,
                                                     .maker = maker,
                                                     .failure = f,
                                                     .names = it->draft->names,
                                                     .remedies = remedies,
                                                     .remedy_count = n});
}

/* ---- names ---- */

static const struct api_kind *kind_of(enum api_type_id type) {
    const struct api_kind *kind = api_kinds;
    while (kind->type != &api_types[type])
        kind++;
    return kind;
}

const struct api_object *sim_cluster_find(const struct sim_cluster *c, enum api_type_id type,
                                          struct str namespace, struct str name) {
    return registry_view_get(registry_known_view(c->known), kind_of(type), namespace, name);
}

static struct str object_key(struct arena *a, struct str kind, struct str namespace,
                             struct str name) {
    return arena_printf(a, "%.*s\n%.*s\n%.*s", STR_ARG(kind), STR_ARG(namespace), STR_ARG(name));
}

bool sim_cluster_has_refused(const struct sim_cluster *c, const char *kind, struct str namespace,
                             struct str name) {
    AUTO(arena_release) struct arena a = {0};
    return map_get(&c->refused_keys, object_key(&a, str_of(kind), namespace, name));
}

static struct str key_of(const struct sim_cluster *c, struct arena *a, const struct api_object *o) {
    struct str namespace = o->meta->namespace.n ? o->meta->namespace : c->opts.namespace;
    return object_key(a, str_of(o->kind->kind), o->kind->namespaced ? namespace : STR(""),
                      o->meta->name);
}

static void remember_refused(struct sim_cluster *c, const struct api_object *o) {
    map_put(&c->refused_keys, key_of(c, &c->arena, o), c);
}

/* Kinds without validation need one, too. It depends only on what the object is called. */
static void set_uid(struct api_object *o) {
    if (!o->meta->uid.n)
        api_own_meta(o)->uid = valid_new_uid(&o->arena, o->kind, o->meta->namespace, o->meta->name);
}

static void set_namespace(const struct sim_cluster *c, struct api_object *o) {
    if (!o->kind->namespaced)
        api_own_meta(o)->namespace = STR("");
    else if (!o->meta->namespace.n)
        api_own_meta(o)->namespace = arena_str(&o->arena, c->opts.namespace);
}

/* What a name is completed with: random there, counted here. */
static struct str next_suffix(struct sim_cluster *c) {
    static const char alphabet[] = NAMES_LETTERS;
    char suffix[] = "bbbbb";
    size_t rest = c->generated++;
    for (size_t i = sizeof suffix - 1; i-- > 0; rest /= sizeof alphabet - 1)
        suffix[i] = alphabet[rest % (sizeof alphabet - 1)];
    return arena_str(&c->arena, str_of(suffix));
}

/* ---- settling: from what was read to what a server would have ---- */

/* What others need to know before they can be settled. */
static bool comes_first(const struct api_object *o) {
    return api_object_is(o, API_T_namespace) || api_object_is(o, API_T_priority_class) ||
           api_object_is(o, API_T_storage_class);
}

/* What controllers do to a new object. */
static void settle_by_controllers(struct api_object *o) {
    if (api_object_is(o, API_T_persistent_volume_claim))
        controller_claim_settle(o);
    if (api_object_is(o, API_T_persistent_volume))
        controller_volume_settle(o);
}

/* The object has its defaults. */
static bool create(struct sim_cluster *c, struct sim_item *it, struct str maker) {
    AUTO(arena_release) struct arena a = {0};
    struct api_object *o = it->draft;
    struct registry_request request = {.namespace = c->opts.namespace};
    if (!o->meta->name.n && o->meta->generate_name.n)
        request.name_suffix = next_suffix(c);
    struct registry_failure f = registry_create(&c->registry, &request, &a, o);
    if (f.causes)
        refuse_fields(c, it, &request, &f, maker);
    else if (f.code)
        refuse_as_server(c, it, &f, maker);
    else
        settle_by_controllers(o);
    return !f.code;
}

/* The draft becomes the object that is stored under its name. */
static void publish(struct sim_cluster *c, struct sim_item *it) {
    set_namespace(c, it->draft);
    set_uid(it->draft);
    it->object = api_publish(it->draft);
    it->draft = NULL;
    registry_known_set(c->known, it->object);
}

/* The same, unless the name is taken. */
static bool store(struct sim_cluster *c, struct sim_item *it) {
    AUTO(arena_release) struct arena a = {0};
    set_namespace(c, it->draft);
    if (registry_known_find(c->known, it->draft)) {
        struct registry_failure f =
            registry_already_exists(&a, it->draft->kind, it->draft->meta->name);
        refuse_as_server(c, it, &f, STR(""));
        return false;
    }
    publish(c, it);
    return true;
}

static void discard(struct sim_cluster *c, struct sim_item *it) {
    remember_refused(c, sim__object_of(it));
    api_object_free(it->draft);
    api_object_unref(it->object);
    it->draft = NULL;
    it->object = NULL;
}

/* ---- objects that take the place of others ---- */

static void remember_place(struct sim_cluster *c, const struct sim_item *it) {
    uintptr_t place = (uintptr_t)(it - c->items.v) + 1;
    map_put(&c->places, key_of(c, &c->arena, it->object), (void *)place);
}

/* The item of the object that has this one's name and was settled before; or NULL. */
static struct sim_item *find_item(const struct sim_cluster *c, const struct api_object *o) {
    AUTO(arena_release) struct arena a = {0};
    uintptr_t place = (uintptr_t)map_get(&c->places, key_of(c, &a, o));
    return place ? &c->items.v[place - 1] : NULL;
}

/* The item becomes what a server would make of the stored object and the manifest: decoded and
 * defaulted anew. What the stored object cannot be, the manifest cannot make it. */
static bool merge(struct sim_cluster *c, struct sim_item *it, const struct api_object *stored) {
    AUTO(arena_release) struct arena a = {0};
    struct json tree = api_object_encode(stored, &a);
    struct json merged = sim_apply(&a, &tree, sim_last_applied(&a, &tree), it->tree);
    struct api_faults faults;
    struct api_object *o;
    api_faults_init(&faults, &a);
    struct registry_failure f = registry_decode(&c->registry, &merged, NULL, &o, &faults);
    if (f.code) {
        refuse_as_server(c, it, &f, STR(""));
        return false;
    }
    api_object_free(it->draft);
    it->draft = o;
    return true;
}

static bool update(struct sim_cluster *c, struct sim_item *it) {
    AUTO(arena_release) struct arena a = {0};
    struct registry_request request = {.namespace = c->opts.namespace};
    if (!merge(c, it, it->before))
        return false;
    struct registry_failure f = registry_update(&c->registry, &request, &a, it->draft, it->before);
    if (f.causes)
        refuse_fields(c, it, &request, &f, STR(""));
    else if (f.code)
        refuse_as_server(c, it, &f, STR(""));
    return !f.code;
}

/* Two manifests of one name may be meant, and may be a mistake. */
static void note_twice(struct sim_cluster *c, const struct sim_item *it,
                       const struct sim_item *there) {
    AUTO(arena_release) struct arena a = {0};
    sim__note(c, &it->source,
              arena_printf(&a, "%s \"%.*s\" was given before, in %.*s:%u; this one takes its place",
                           it->draft->kind->plural, STR_ARG(it->draft->meta->name),
                           STR_ARG(there->source.file), there->source.line));
}

/* A stored object with what a file may not say of it and a server always has. */
static const struct api_object *adopted(const struct sim_cluster *c,
                                        const struct api_object *stored) {
    struct api_object *o = api_object_derive(stored);
    registry_adopt(&(struct registry_request){.namespace = c->opts.namespace}, o);
    return api_publish(o);
}

/* Takes the place of another object. A pod is made anew, since hardly anything of one that is there
 * can be changed; all else is updated. */
static bool apply(struct sim_cluster *c, struct sim_item *it, struct sim_item *there) {
    bool is_pod = api_object_is(it->draft, API_T_pod);
    it->before = is_pod ? api_object_ref(there->object) : adopted(c, there->object);
    if (is_pod ? !create(c, it, STR("")) : !update(c, it)) {
        api_object_unref(it->before);
        it->before = NULL;
        return false;
    }
    if (!there->stored)
        note_twice(c, it, there);
    it->stored = there->stored && !is_pod;
    api_object_unref(there->object);
    there->object = NULL;
    publish(c, it);
    remember_place(c, it);
    return true;
}

static bool settle(struct sim_cluster *c, struct sim_item *it) {
    sim__assume_allocatable(c, it->draft);
    struct sim_item *there = it->stored && !c->opts.apply_all ? NULL : find_item(c, it->draft);
    if (there)
        return apply(c, it, there) && sim__check_limits(c, it, STR(""));
    if ((!it->stored && !create(c, it, STR(""))) || !sim__check_limits(c, it, STR("")) ||
        !store(c, it))
        return false;
    remember_place(c, it);
    return true;
}

static void settle_all(struct sim_cluster *c, bool first, bool stored) {
    for (size_t i = 0; i < c->items.n; i++) {
        struct sim_item *it = &c->items.v[i];
        const struct api_object *o = it->draft;
        if (o && comes_first(o) == first && it->stored == stored && !settle(c, it))
            discard(c, it);
    }
}

/* A namespace that stored objects are in exists, also when it was not given itself. */
static void imply_namespace(struct sim_cluster *c, struct str name) {
    const struct api_kind *kind = kind_of(API_T_namespace);
    if (!name.n || registry_view_get(registry_known_view(c->known), kind, STR(""), name))
        return;
    struct api_object *draft = api_object_new(kind);
    api_own_meta(draft)->name = arena_str(&draft->arena, name);
    set_uid(draft);
    api_object_default(draft, c->opts.gates);
    const struct api_object *o = api_publish(draft);
    registry_known_set(c->known, o);
    api_object_unref(o);
}

/* If Namespace objects were given, there are no others but those of stored objects. */
static void settle_namespaces(struct sim_cluster *c) {
    bool are_given = false;
    for (size_t i = 0; i < c->items.n; i++)
        are_given |= c->items.v[i].object && api_object_is(c->items.v[i].object, API_T_namespace);
    if (!are_given)
        return;
    registry_known_close(c->known, API_T_namespace);
    for (size_t i = 0; i < c->items.n; i++) {
        const struct api_object *o = sim__object_of(&c->items.v[i]);
        if (o && c->items.v[i].stored && o->kind->namespaced)
            imply_namespace(c, o->meta->namespace);
    }
}

void sim_cluster_settle(struct sim_cluster *c) {
    settle_all(c, true, true);
    settle_all(c, true, false);
    settle_namespaces(c);
    settle_all(c, false, true);
    settle_all(c, false, false);
    sim__check_allocatable(c);
    sim__check_references(c);
    sim__check_customs(c);
}

/* ---- adding ---- */

static size_t count_tolerations(const struct api_object *o) {
    return api_object_is(o, API_T_pod) ? ((const struct api_pod *)o->body)->spec.tolerations.n : 0;
}

/* Takes the object. */
static void keep(struct sim_cluster *c, struct api_object *o, const struct json *tree,
                 const struct sim_source *source) {
    struct sim_item it = {.draft = o,
                          .source = *source,
                          .stored = o->meta->uid.n > 0,
                          .tolerations = count_tolerations(o)};
    if (!it.stored || c->opts.apply_all) {
        it.tree = arena_new(&c->arena, struct json);
        *it.tree = json_clone(&c->arena, tree);
    }
    if (!str_eq(c->file, source->file))
        c->file = arena_str(&c->arena, source->file);
    it.source.file = c->file;
    vec_push(&c->items, it);
}

static struct str text_at(const struct json *object, struct str key, struct str fallback) {
    const struct json *v = object ? json_get(object, key) : NULL;
    return v && v->kind == JSON_STRING && v->n ? json_str(v) : fallback;
}

/* What it is called is known if it got that far. */
static void refuse_undecoded(struct sim_cluster *c, const struct json *tree,
                             const struct api_decode_opts *decode, const struct sim_source *source,
                             const struct registry_failure *f) {
    const struct json *meta = json_get(tree, STR("metadata"));
    struct str kind = text_at(tree, STR("kind"), decode->kind);
    struct str name = text_at(meta, STR("name"), STR(""));
    struct str namespace = text_at(meta, STR("namespace"), c->opts.namespace);
    refuse_as_server(c, &(struct sim_item){.source = *source}, f, STR(""));
    if (name.n)
        map_put(&c->refused_keys, object_key(&c->arena, kind, namespace, name), c);
}

/* No server stores an object without a name, and nobody could say what became of it. Of a manifest
 * the rules of its kind say so. */
static bool lacks_name(const struct api_object *o) {
    return !o->meta->name.n && o->meta->uid.n;
}

/* What a server stored may have fields that nobody knows here. */
static bool is_trusted(const struct api_object *o) {
    return o->meta && o->meta->uid.n;
}

int sim_cluster_add(struct sim_cluster *c, const struct json *tree,
                    const struct api_decode_opts *decode, const struct sim_source *source,
                    struct err *err) {
    if (tree->kind == JSON_OBJECT && sim__take_by_kind(c, tree, decode, source))
        return 0;
    AUTO(arena_release) struct arena a = {0};
    struct api_faults faults;
    struct api_object *o;
    api_faults_init(&faults, &a);
    struct registry_failure f = registry_decode(&c->registry, tree, decode, &o, &faults);
    if (!f.code && faults.n && !is_trusted(o))
        f = registry_refuse_faults(&faults);
    int rc = 0;
    if (f.code)
        refuse_undecoded(c, tree, decode, source, &f);
    else if (o->kind && o->meta && lacks_name(o))
        rc =
            err_set(err, ERR_INVALID, "a %s without a name: metadata.name is empty", o->kind->kind);
    if (f.code || rc < 0 || !o->kind || !o->meta)
        api_object_free(o);
    else
        keep(c, o, tree, source);
    return rc;
}

/* ---- what controllers make ---- */

/* The cluster while workloads are expanded. */
struct expansion {
    struct sim_cluster *c;
    VEC(struct sim_item) out; /* its items with what was made */
    struct sim_source source; /* of the workload at hand */
    bool is_rolling;          /* what is created waits for a rollout */
    size_t first;             /* place in out of what was created first for it */
};

static const struct api_object *find_object(void *ctx, enum api_type_id type, struct str namespace,
                                            struct str name) {
    const struct expansion *x = ctx;
    return sim_cluster_find(x->c, type, namespace, name);
}

/* Items up to the workload stay before what it makes. */
static void begin_workload(void *ctx, size_t place) {
    struct expansion *x = ctx;
    vec_push(&x->out, x->c->items.v[place]);
    x->source = x->c->items.v[place].source;
}

/* What a rollout will replace keeps its name until then. */
static bool store_made(struct expansion *x, struct sim_item *it) {
    if (!x->is_rolling)
        return store(x->c, it);
    publish(x->c, it);
    return true;
}

static const struct api_object *keep_made(struct expansion *x, struct sim_item *it) {
    it->tolerations = count_tolerations(it->object);
    it->held = x->is_rolling && api_object_is(it->object, API_T_pod);
    vec_push(&x->out, *it);
    return it->object;
}

static const struct api_object *create_object(void *ctx, struct api_object *o, struct str maker) {
    struct expansion *x = ctx;
    struct sim_item it = {.draft = o, .source = x->source, .tolerations = count_tolerations(o)};
    api_object_default(o, x->c->opts.gates);
    if (create(x->c, &it, maker) && sim__check_limits(x->c, &it, maker) && store_made(x, &it))
        return keep_made(x, &it);
    discard(x->c, &it);
    return NULL;
}

static bool adopt_object(void *ctx, struct api_object *o) {
    struct expansion *x = ctx;
    struct sim_item it = {.draft = o, .source = x->source};
    if (store_made(x, &it))
        return keep_made(x, &it);
    discard(x->c, &it);
    return false;
}

static void begin_rollout(void *ctx) {
    struct expansion *x = ctx;
    x->is_rolling = true;
    x->first = x->out.n;
}

static void end_rollout(void *ctx, struct controller_rollout *r) {
    struct expansion *x = ctx;
    struct sim_rollout rollout = {.plan = *r,
                                  .items = arena_array(&x->c->arena, size_t, r->pods.n)};
    size_t at = x->first;
    rollout.plan.maker = arena_str(&x->c->arena, r->maker);
    for (size_t i = 0; i < r->pods.n; i++) {
        if (r->pods.v[i].state != CONTROLLER_POD_ABSENT)
            continue;
        while (x->out.v[at].object != r->pods.v[i].object)
            at++; /* both are in the order in which they were made */
        rollout.items[i] = at;
    }
    *r = (struct controller_rollout){0};
    x->is_rolling = false;
    vec_push(&x->c->rollouts, rollout);
}

static void refuse_workload(void *ctx, struct str text) {
    struct expansion *x = ctx;
    sim__refuse(x->c, &x->source, text);
}

static void note_workload(void *ctx, struct str text) {
    struct expansion *x = ctx;
    sim__note(x->c, &x->source, text);
}

void sim_cluster_expand(struct sim_cluster *c) {
    struct expansion x = {.c = c};
    struct controller_cluster cluster = {.ctx = &x,
                                         .arena = &c->arena,
                                         .gates = c->opts.gates,
                                         .engine = c->opts.engine,
                                         .find = find_object,
                                         .begin = begin_workload,
                                         .create = create_object,
                                         .adopt = adopt_object,
                                         .roll_begin = begin_rollout,
                                         .roll_end = end_rollout,
                                         .refuse = refuse_workload,
                                         .note = note_workload};
    VEC(struct controller_object) objects = {0};
    for (size_t i = 0; i < c->items.n; i++) {
        const struct sim_item *it = &c->items.v[i];
        vec_push(&objects, (struct controller_object){it->object, it->stored, it->before});
    }
    controller_expand(&cluster, objects.v, objects.n, &c->made);
    vec_release(&objects);
    vec_release(&c->items);
    c->items.v = x.out.v;
    c->items.n = x.out.n;
    c->items.cap = x.out.cap;
}
