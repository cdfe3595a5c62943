/* admission.jsonl: what does a plug-in of admission make of a request? */
#include "match_vectors.h"
#include "registry/known.h"
#include "registry/registry.h"
#include "vectors.h"
#include "verdict.h"

/* A request under way. */
struct trial {
    const struct json *line;
    struct arena *a;
    struct feature_set gates;
    struct registry_known *known;
    struct registry_authorizer authorizer;
    struct valid_user user;
    struct registry_effects effects;
};

/* ---- what it is asked about ---- */

static struct api_object *decode(struct trial *t, const struct json *tree, struct buf *why) {
    struct api_object *o = NULL;
    struct api_faults faults;
    api_faults_init(&faults, t->a);
    if (api_object_decode(tree, NULL, &o, &faults) < 0) {
        buf_add(why, STR("not decoded: "));
        api_faults_write(why, &faults);
        return NULL;
    }
    api_object_default(o, &t->gates);
    return o;
}

static int read_objects(struct trial *t, struct buf *why) {
    const struct json *list = json_get(t->line, STR("objects"));
    for (enum api_type_id type = 0; type < API_TYPES; type++)
        registry_known_close(t->known, type);
    for (uint32_t i = 0; list && i < list->n; i++) {
        struct api_object *o = decode(t, &list->items[i], why);
        if (!o)
            return -1;
        const struct api_object *shown = api_publish(o);
        registry_known_set(t->known, shown);
        api_object_unref(shown);
    }
    return 0;
}

/* verb group resource subresource namespace name */
static bool allows(const struct registry_authorizer *self, struct arena *a,
                   const struct registry_access *q, struct str *reason) {
    const struct trial *t =
        (const struct trial *)(const void *)((const char *)self -
                                             offsetof(struct trial, authorizer));
    const struct json *list = json_get(t->line, STR("allowed"));
    struct str grant = arena_printf(
        a, "%.*s %.*s %.*s %.*s %.*s %.*s", STR_ARG(q->verb), STR_ARG(q->group),
        STR_ARG(q->resource), STR_ARG(q->subresource), STR_ARG(q->namespace), STR_ARG(q->name));
    *reason = STR("");
    for (uint32_t i = 0; list && i < list->n; i++)
        if (str_eq(json_str(&list->items[i]), grant))
            return true;
    return false;
}

static void read_user(struct trial *t, const struct json *user) {
    const struct json *groups = user ? json_get(user, STR("groups")) : NULL;
    t->user.name = user ? vectors_text(user, STR("name")) : STR("");
    t->user.groups.v = arena_array(t->a, struct str, groups ? groups->n : 0);
    for (uint32_t i = 0; groups && i < groups->n; i++)
        t->user.groups.v[t->user.groups.n++] = json_str(&groups->items[i]);
}

/* ---- what comes of it ---- */

/* Names of volumes are drawn by lot. */
static struct str with_suffix(struct arena *a, struct str text) {
    struct str mark = STR("kube-api-access-");
    enum { LETTERS = 5 };
    char *out = arena_copy(a, text.p, text.n);
    for (size_t at = 0, i; (i = str_find(str_sub(text, at, text.n), mark)) != STR_NONE;) {
        at += i + mark.n;
        for (size_t k = 0; text.p[at + LETTERS] == '"' && k < LETTERS; k++)
            out[at + k] = 'z';
    }
    return (struct str){out, text.n};
}

static struct json read_back(struct arena *a, const struct json *tree) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    struct json out = {.kind = JSON_NULL};
    json_write(&text, tree, NULL);
    (void)json_parse(a, with_suffix(a, buf_view(&text)), NULL, &out, NULL);
    return out;
}

static struct json encode_after(struct arena *a, const struct api_object *o) {
    static const char *const names[] = {"labels", "annotations", "finalizers"};
    struct json tree = api_object_encode(o, a), after = {.kind = JSON_OBJECT};
    struct json shown = {.kind = JSON_OBJECT};
    const struct json *meta = json_get(&tree, STR("metadata")), *spec;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct json *value = json_get(meta, str_of(names[i]));
        if (value)
            json_add(a, &shown, str_of(names[i]), *value);
    }
    json_add(a, &after, STR("metadata"), shown);
    spec = json_get(&tree, STR("spec"));
    if (spec)
        json_add(a, &after, STR("spec"), *spec);
    return read_back(a, &after);
}

struct used {
    struct trial *t;
    struct json out;
};

/* What the quota says is used, or will when the write is stored. */
static bool add_used(void *ctx, const struct api_object *o) {
    struct used *u = ctx;
    const struct api_object *quota = o;
    for (size_t i = 0; i < u->t->effects.n; i++)
        if (str_eq(u->t->effects.v[i]->meta->name, o->meta->name))
            quota = u->t->effects.v[i];
    struct json tree = api_object_encode(quota, u->t->a);
    const struct json *used = json_get(json_get(&tree, STR("status")), STR("used"));
    json_add(u->t->a, &u->out, arena_str(u->t->a, o->meta->name),
             used ? *used : (struct json){.kind = JSON_OBJECT});
    return true;
}

static int compare(struct trial *t, const struct registry_subject *subject,
                   const struct registry_failure *failure, struct buf *why) {
    const struct json *request = json_get(t->line, STR("request"));
    struct str plugin = vectors_text(request, STR("plugin"));
    struct json got = {.kind = JSON_OBJECT};
    struct used used = {t, {.kind = JSON_OBJECT}};
    const struct api_kind *kind = api_kind_find(STR("v1"), STR("ResourceQuota"));
    if (failure->code)
        json_add(t->a, &got, STR("status"), registry_status(t->a, failure));
    else if (subject->operation != REGISTRY_DELETE)
        json_add(t->a, &got, STR("after"), encode_after(t->a, subject->object));
    if (!failure->code && str_is(plugin, "ResourceQuota")) {
        registry_view_each(registry_known_view(t->known), kind,
                           vectors_text(request, STR("namespace")), add_used, &used);
        json_add(t->a, &got, STR("used"), used.out);
    }
    if (!failure->code && json_get(t->line, STR("status")))
        return vectors_differ(why, STR("status"), json_get(t->line, STR("status")), NULL);
    return got.n ? vectors_compare_members(t->line, &got, why) : 0;
}

/* ---- asking ---- */

static enum registry_operation operation_of(struct str name) {
    if (str_is(name, "UPDATE"))
        return REGISTRY_UPDATE;
    return str_is(name, "DELETE") ? REGISTRY_DELETE : REGISTRY_CREATE;
}

/* The kind of the resource, where what is sent is of another. */
static const struct api_kind *resource_of(const struct json *request) {
    struct str resource = vectors_text(request, STR("resource"));
    for (const struct api_kind *k = api_kinds; k->kind; k++)
        if (str_is(resource, k->plural))
            return k;
    return NULL;
}

static int ask(struct trial *t, struct api_object *o, const struct api_object *old,
               struct buf *why) {
    const struct json *asked = json_get(t->line, STR("request"));
    struct str plugin = vectors_text(asked, STR("plugin"));
    struct registry registry = {
        .gates = &t->gates, .view = registry_known_view(t->known), .authorizer = &t->authorizer};
    struct registry_request request = {.namespace = vectors_text(asked, STR("namespace")),
                                       .name = vectors_text(asked, STR("name")),
                                       .subresource = vectors_text(asked, STR("subresource")),
                                       .user = &t->user,
                                       .effects = &t->effects,
                                       .now = {.sec = 1700000000, .set = true}};
    struct registry_subject subject = {
        .operation = operation_of(vectors_text(asked, STR("operation"))), .object = o, .old = old};
    const struct api_kind *resource = resource_of(asked);
    if (registry_plugins_switch(&registry.plugins, (struct api_strs){&plugin, 1}, true, NULL) < 0)
        return -1;
    if (resource && !str_is(str_of(resource->kind), o->kind->kind))
        subject.resource = resource;
    struct registry_failure failure = registry_admit(&registry, &request, t->a, &subject);
    return compare(t, &subject, &failure, why);
}

int vectors_check_admission(struct arena *a, const struct json *line, struct buf *why) {
    struct trial t = {.line = line, .a = a, .known = registry_known_new(STR("default"))};
    const struct json *old = json_get(line, STR("old")), *object = json_get(line, STR("object"));
    const struct json *request = json_get(line, STR("request"));
    struct api_object *o = NULL, *was = NULL;
    int rc = -1;
    t.authorizer = (struct registry_authorizer){allows};
    if (!object || !request || verdict_gates(line, &t.gates, why) < 0 || read_objects(&t, why) < 0)
        goto out;
    read_user(&t, json_get(request, STR("user")));
    o = decode(&t, object, why);
    was = old ? decode(&t, old, why) : NULL;
    if (o && (was || !old))
        rc = ask(&t, o, was, why);
out:
    registry_effects_release(&t.effects);
    api_object_free(o);
    api_object_free(was);
    registry_known_free(t.known);
    return rc;
}
