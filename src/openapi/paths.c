/*
 * Paths: what can be asked of each resource of a version, made from the table of resources.
 *
 * Parameters that all operations of a path take stand with the path.
 *
 * Follows k8s.io/apiserver pkg/endpoints, func (*APIInstaller) registerResourceHandlers.
 * Follows k8s.io/kube-openapi pkg/builder3, type openAPI.
 */
#include <string.h>

#include "openapi/openapi_int.h"

enum param {
#define PARAM(id, name, in, type, doc) PARAM_##id,
#include "openapi/params.def"
#undef PARAM
    PARAM_COUNT
};

static const struct {
    const char *name, *in, *type, *doc;
} params[] = {
#define PARAM(id, name, in, type, doc) {name, in, type, doc},
#include "openapi/params.def"
#undef PARAM
};

#define P(id) (UINT64_C(1) << PARAM_##id)
#define WRITE (P(DRY_RUN) | P(FIELD_MANAGER) | P(FIELD_VALIDATION))
#define READ_LIST                                                                           \
    (P(CONTINUE) | P(FIELD_SELECTOR) | P(LABEL_SELECTOR) | P(LIMIT) | P(RESOURCE_VERSION) | \
     P(RESOURCE_VERSION_MATCH) | P(SEND_INITIAL) | P(SHARD_SELECTOR) | P(TIMEOUT_SECONDS))
#define WATCHED (READ_LIST | P(ALLOW_BOOKMARKS) | P(WATCH))
#define END     (P(DRY_RUN) | P(GRACE_PERIOD) | P(IGNORE_STORE_ERROR) | P(ORPHAN) | P(PROPAGATION))
#define LOG                                                                      \
    (P(CONTAINER) | P(FOLLOW) | P(INSECURE_LOG) | P(LIMIT_BYTES) | P(PREVIOUS) | \
     P(SINCE_SECONDS) | P(STREAM) | P(TAIL_LINES) | P(TIMESTAMPS))
#define STREAMS (P(CONTAINER) | P(STDERR) | P(STDIN) | P(STDOUT) | P(TTY))

enum body { NO_BODY, OBJECT_BODY, OPTIONS_BODY, PATCH_BODY };
enum answer { ANSWER_OBJECT, ANSWER_LIST, ANSWER_STATUS, ANSWER_EVENT, ANSWER_TEXT, ANSWER_ANY };
enum { OK = 1, CREATED = 2, ACCEPTED = 4 };

/* An operation as it is for every resource. */
struct operation {
    const char *method, *action;
    const char *verb; /* first word of its id */
    const char *mark; /* what its id has in front of the kind, or NULL */
    const char *doc;  /* %s is the kind */
    uint64_t params;
    enum body body;
    enum answer answer;
    unsigned codes;
};

enum op {
    OP_CREATE,
    OP_READ,
    OP_REPLACE,
    OP_PATCH,
    OP_DELETE,
    OP_CLEAR,
    OP_LIST,
    OP_WATCH,
    OP_WATCH_LIST
};

static const struct operation operations[] = {
    [OP_CREATE] = {"post", "post", "create", NULL, "Creates an object of the kind %s.", WRITE,
                   OBJECT_BODY, ANSWER_OBJECT, OK | CREATED | ACCEPTED},
    [OP_READ] = {"get", "get", "read", NULL, "Gets an object of the kind %s.", 0, NO_BODY,
                 ANSWER_OBJECT, OK},
    [OP_REPLACE] = {"put", "put", "replace", NULL, "Puts another object in the place of the %s.",
                    WRITE, OBJECT_BODY, ANSWER_OBJECT, OK | CREATED},
    [OP_PATCH] = {"patch", "patch", "patch", NULL, "Changes parts of the %s, or applies it.",
                  WRITE | P(FORCE), PATCH_BODY, ANSWER_OBJECT, OK | CREATED},
    [OP_DELETE] = {"delete", "delete", "delete", NULL, "Deletes the %s.", END, OPTIONS_BODY,
                   ANSWER_STATUS, OK | ACCEPTED},
    [OP_CLEAR] = {"delete", "deletecollection", "delete", "Collection",
                  "Deletes all objects of the kind %s that are chosen.", END | READ_LIST,
                  OPTIONS_BODY, ANSWER_STATUS, OK},
    [OP_LIST] = {"get", "list", "list", NULL, "Lists or watches objects of the kind %s.", WATCHED,
                 NO_BODY, ANSWER_LIST, OK},
    [OP_WATCH] = {"get", "watch", "watch", NULL,
                  "Watches the %s. Replaced by a list with watch and a fieldSelector.", WATCHED,
                  NO_BODY, ANSWER_EVENT, OK},
    [OP_WATCH_LIST] = {"get", "watchlist", "watch", NULL,
                       "Watches objects of the kind %s. Replaced by a list with watch.", WATCHED,
                       NO_BODY, ANSWER_EVENT, OK},
};

/* What the operations of one path have in common. */
struct place {
    struct openapi__models *m;
    const struct registry_resource *r;
    const struct registry_subresource *sub; /* NULL: the resource itself */
    struct str path;
    const char *ending; /* of ids: List, ForAllNamespaces */
    bool is_namespaced; /* the path names the namespace */
    uint64_t params;    /* that the path itself has: names, and pretty */
    struct json item;   /* what is made */
};

/* ---- words ---- */

static char upper(char c) {
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

struct str openapi__group_word(struct arena *a, struct str group) {
    AUTO(buf_release) struct buf word = BUF_INIT(256);
    struct str rest = group.n ? group : STR("core"), part;
    if (str_ends(rest, STR(".k8s.io")))
        rest.n -= strlen(".k8s.io");
    while (rest.n) {
        str_cut(rest, '.', &part, &rest);
        buf_add_char(&word, upper(part.p[0]));
        buf_add(&word, str_sub(part, 1, part.n));
    }
    return arena_str(a, buf_view(&word));
}

struct str openapi__group_tag(struct arena *a, struct str group) {
    struct str word = openapi__group_word(a, group);
    char *tag = arena_copy(a, word.p, word.n);
    tag[0] = (char)(tag[0] - 'A' + 'a');
    return (struct str){tag, word.n};
}

static struct str capital(struct arena *a, const char *word) {
    char *copy = arena_copy(a, word, strlen(word));
    copy[0] = upper(copy[0]);
    return (struct str){copy, strlen(word)};
}

/* createAppsV1NamespacedDeploymentScale */
static struct str id_of(const struct place *p, const char *verb, const char *mark,
                        const char *ending) {
    struct arena *a = p->m->a;
    struct str group = openapi__group_word(a, p->m->of->group);
    struct str version = capital(a, arena_str(a, p->m->of->version).p);
    return arena_printf(a, "%s%.*s%.*s%s%s%s%.*s%s", verb, STR_ARG(group), STR_ARG(version),
                        mark ? mark : "", p->is_namespaced ? "Namespaced" : "", p->r->kind->kind,
                        STR_ARG(p->sub ? capital(a, p->sub->name) : STR("")), ending);
}

/* ---- parts of an operation ---- */

static struct json parameter(struct arena *a, enum param id) {
    struct json one = {.kind = JSON_OBJECT}, schema = {.kind = JSON_OBJECT};
    openapi__add_str(a, &one, "name", str_of(params[id].name));
    openapi__add_str(a, &one, "in", str_of(params[id].in));
    openapi__add_str(a, &one, "description", str_of(params[id].doc));
    if (strcmp(params[id].in, "path") == 0)
        json_add(a, &one, STR("required"), json_of_bool(true));
    openapi__add_str(a, &schema, "type", str_of(params[id].type));
    json_add(a, &schema, STR("uniqueItems"), json_of_bool(true));
    json_add(a, &one, STR("schema"), schema);
    return one;
}

static void add_parameters(struct arena *a, struct json *to, uint64_t set) {
    struct json list = {.kind = JSON_ARRAY};
    for (int id = 0; id < PARAM_COUNT; id++)
        if (set >> id & 1)
            json_append(a, &list, parameter(a, (enum param)id));
    if (list.n)
        json_add(a, to, STR("parameters"), list);
}

static void add_content(struct arena *a, struct json *content, const char *type,
                        struct json schema) {
    struct json media = {.kind = JSON_OBJECT};
    json_add(a, &media, STR("schema"), schema);
    json_add(a, content, str_of(type), media);
}

static struct json content_of(struct arena *a, enum answer answer, struct json schema) {
    static const char *const formats[] = {"application/json", "application/yaml",
                                          "application/vnd.kubernetes.protobuf",
                                          "application/cbor"};
    static const char *const streams[] = {"application/json;stream=watch",
                                          "application/vnd.kubernetes.protobuf;stream=watch",
                                          "application/cbor-seq"};
    struct json content = {.kind = JSON_OBJECT};
    if (answer == ANSWER_ANY) {
        add_content(a, &content, "*/*", schema);
        return content;
    }
    if (answer == ANSWER_TEXT)
        add_content(a, &content, "text/plain", schema);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        add_content(a, &content, formats[i], schema);
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++)
        if (answer == ANSWER_LIST || answer == ANSWER_EVENT)
            add_content(a, &content, streams[i], schema);
    return content;
}

static struct json response(struct arena *a, const char *doc) {
    struct json one = {.kind = JSON_OBJECT};
    openapi__add_str(a, &one, "description", str_of(doc));
    return one;
}

static struct json responses_of(struct arena *a, unsigned codes, enum answer answer,
                                struct json schema) {
    static const struct {
        unsigned bit;
        const char *code, *doc;
    } all[] = {{OK, "200", "OK"}, {CREATED, "201", "Created"}, {ACCEPTED, "202", "Accepted"}};
    struct json responses = {.kind = JSON_OBJECT};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (!(codes & all[i].bit))
            continue;
        struct json one = response(a, all[i].doc);
        json_add(a, &one, STR("content"), content_of(a, answer, schema));
        json_add(a, &responses, str_of(all[i].code), one);
    }
    json_add(a, &responses, STR("401"), response(a, "Unauthorized"));
    return responses;
}

static struct json text_schema(struct arena *a) {
    struct json schema = {.kind = JSON_OBJECT};
    openapi__add_str(a, &schema, "type", STR("string"));
    return schema;
}

/* The kind that is sent to a place and answered from it. */
static struct str api_version_of(const struct place *p) {
    return str_of(p->sub && p->sub->api_version ? p->sub->api_version : p->r->kind->api_version);
}

static struct json object_ref(const struct place *p) {
    struct str kind = str_of(p->sub ? p->sub->kind : p->r->kind->kind);
    const struct api_kind *known = api_kind_find(api_version_of(p), kind);
    return openapi__ref_of_type(p->m, known->type);
}

static struct json answer_ref(const struct place *p, enum answer answer) {
    switch (answer) {
    case ANSWER_LIST:
        return openapi__ref_of_list(p->m, p->r->kind);
    case ANSWER_STATUS:
        return openapi__ref_of_type(p->m, &api_types[API_T_status]);
    case ANSWER_EVENT:
        return openapi__ref(p->m, "io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent");
    case ANSWER_TEXT:
    case ANSWER_ANY:
        return text_schema(p->m->a);
    default:
        return object_ref(p);
    }
}

static void add_body(const struct place *p, struct json *op, enum body body) {
    static const char *const patches[] = {
        "application/json-patch+json", "application/merge-patch+json",
        "application/strategic-merge-patch+json", "application/apply-patch+yaml",
        "application/apply-patch+cbor"};
    struct arena *a = p->m->a;
    struct json request = {.kind = JSON_OBJECT}, content = {.kind = JSON_OBJECT};
    if (body == NO_BODY)
        return;
    if (body == OBJECT_BODY)
        add_content(a, &content, "*/*", object_ref(p));
    if (body == OPTIONS_BODY)
        add_content(a, &content, "*/*",
                    openapi__ref_of_type(p->m, &api_types[API_T_delete_options]));
    for (size_t i = 0; body == PATCH_BODY && i < sizeof patches / sizeof *patches; i++)
        add_content(a, &content, patches[i],
                    openapi__ref(p->m, "io.k8s.apimachinery.pkg.apis.meta.v1.Patch"));
    json_add(a, &request, STR("content"), content);
    if (body != OPTIONS_BODY)
        json_add(a, &request, STR("required"), json_of_bool(true));
    json_add(a, op, STR("requestBody"), request);
}

static void add_tags(struct arena *a, struct json *op, struct str tag) {
    struct json tags = {.kind = JSON_ARRAY};
    json_append(a, &tags, json_of_str(tag));
    json_add(a, op, STR("tags"), tags);
}

static struct str version_tag(const struct openapi__models *m) {
    struct str group = openapi__group_tag(m->a, m->of->group);
    return arena_printf(m->a, "%.*s_%.*s", STR_ARG(group), STR_ARG(m->of->version));
}

/* Puts an operation into the place, without the parameters that are the path's. */
static void put(struct place *p, const struct operation *o, struct str id, uint64_t shared) {
    struct arena *a = p->m->a;
    struct json op = {.kind = JSON_OBJECT};
    struct str kind = str_of(p->sub ? p->sub->kind : p->r->kind->kind);
    add_tags(a, &op, version_tag(p->m));
    openapi__add_str(a, &op, "description", arena_printf(a, o->doc, p->r->kind->kind));
    openapi__add_str(a, &op, "operationId", id);
    add_parameters(a, &op, o->params & ~shared);
    add_body(p, &op, o->body);
    json_add(a, &op, STR("responses"),
             responses_of(a, o->codes, o->answer, answer_ref(p, o->answer)));
    openapi__add_str(a, &op, "x-kubernetes-action", str_of(o->action));
    json_add(a, &op, STR("x-kubernetes-group-version-kind"),
             openapi__gvk(a, api_version_of(p), kind));
    json_add(a, &p->item, str_of(o->method), op);
}

/* ---- places ---- */

struct verb_op {
    enum registry_verb verb;
    enum op op;
};

/* Which of these can be done there. Returns the operations, of which there are *n. */
static void choose(uint32_t verbs, const struct verb_op *from, size_t count, struct operation *out,
                   size_t *n) {
    for (size_t i = 0; i < count; i++)
        if (verbs >> from[i].verb & 1)
            out[(*n)++] = operations[from[i].op];
}

static void finish_place(struct place *p, uint64_t shared, struct json *paths) {
    add_parameters(p->m->a, &p->item, shared | p->params);
    json_add(p->m->a, paths, p->path, p->item);
}

static void add_place(struct place *p, const struct operation *ops, size_t n, struct json *paths) {
    uint64_t shared = ~UINT64_C(0);
    for (size_t i = 0; i < n; i++)
        shared &= ops[i].params;
    for (size_t i = 0; i < n; i++)
        put(p, &ops[i], id_of(p, ops[i].verb, ops[i].mark, p->ending), shared);
    if (n)
        finish_place(p, shared, paths);
}

/* Resources whose objects come back when they are deleted, instead of a Status. */
static bool returns_object(const struct registry_resource *r) {
    static const char *const all[] = {"v1/persistentvolumeclaims",
                                      "v1/persistentvolumes",
                                      "v1/pods",
                                      "v1/podtemplates",
                                      "v1/resourcequotas",
                                      "v1/serviceaccounts",
                                      "v1/services",
                                      "storage.k8s.io/v1/csidrivers",
                                      "storage.k8s.io/v1/csinodes",
                                      "storage.k8s.io/v1/storageclasses",
                                      "storage.k8s.io/v1/volumeattachments",
                                      "storage.k8s.io/v1/volumeattributesclasses"};
    AUTO(buf_release) struct buf name = BUF_INIT(256);
    buf_addf(&name, "%s/%s", r->kind->api_version, r->kind->plural);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (str_is(buf_view(&name), all[i]))
            return true;
    return str_starts(buf_view(&name), STR("resource.k8s.io/")) &&
           !str_is(buf_view(&name), "resource.k8s.io/v1/devicetaintrules");
}

static struct str root_of(const struct openapi__models *m) {
    return arena_printf(m->a, "/%s/%.*s", m->of->group.n ? "apis" : "api",
                        STR_ARG(m->of->api_version));
}

static struct str below(const struct openapi__models *m, const char *watch, bool is_namespaced,
                        const struct registry_resource *r) {
    struct str root = root_of(m);
    return arena_printf(m->a, "%.*s/%s%s%s", STR_ARG(root), watch,
                        is_namespaced ? "namespaces/{namespace}/" : "", r->kind->plural);
}

static uint64_t names(bool is_namespaced, bool is_named) {
    return (is_namespaced ? P(NAMESPACE) : 0) | (is_named ? P(NAME) : 0) | P(PRETTY);
}

static void add_collection(struct openapi__models *m, const struct registry_resource *r,
                           struct json *paths) {
    static const struct verb_op ops[] = {{REGISTRY_VERB_DELETE_COLLECTION, OP_CLEAR},
                                         {REGISTRY_VERB_LIST, OP_LIST},
                                         {REGISTRY_VERB_CREATE, OP_CREATE}};
    bool in_namespace = r->kind->namespaced;
    struct operation chosen[3];
    size_t n = 0;
    choose(r->verbs, ops, 3, chosen, &n);
    struct place p = {.m = m,
                      .r = r,
                      .path = below(m, "", in_namespace, r),
                      .ending = "",
                      .is_namespaced = in_namespace,
                      .params = names(in_namespace, false),
                      .item = {.kind = JSON_OBJECT}};
    add_place(&p, chosen, n, paths);
}

static void add_object(struct openapi__models *m, const struct registry_resource *r,
                       struct json *paths) {
    static const struct verb_op ops[] = {{REGISTRY_VERB_DELETE, OP_DELETE},
                                         {REGISTRY_VERB_GET, OP_READ},
                                         {REGISTRY_VERB_PATCH, OP_PATCH},
                                         {REGISTRY_VERB_UPDATE, OP_REPLACE}};
    bool in_namespace = r->kind->namespaced;
    struct operation chosen[4];
    size_t n = 0;
    choose(r->verbs, ops, 4, chosen, &n);
    if (n && chosen[0].answer == ANSWER_STATUS && returns_object(r))
        chosen[0].answer = ANSWER_OBJECT;
    struct str collection = below(m, "", in_namespace, r);
    struct place p = {.m = m,
                      .r = r,
                      .path = arena_printf(m->a, "%.*s/{name}", STR_ARG(collection)),
                      .ending = "",
                      .is_namespaced = in_namespace,
                      .params = names(in_namespace, true),
                      .item = {.kind = JSON_OBJECT}};
    add_place(&p, chosen, n, paths);
}

/* One operation that reads many objects, or one of them, as they change. */
static void add_reader(struct openapi__models *m, const struct registry_resource *r, enum op op,
                       struct place where, struct json *paths) {
    where.m = m;
    where.r = r;
    where.item = (struct json){.kind = JSON_OBJECT};
    add_place(&where, &operations[op], 1, paths);
}

static void add_readers(struct openapi__models *m, const struct registry_resource *r,
                        struct json *paths) {
    bool in_namespace = r->kind->namespaced, can_watch = r->verbs >> REGISTRY_VERB_WATCH & 1;
    struct str watched = below(m, "watch/", in_namespace, r);
    if (in_namespace && r->verbs >> REGISTRY_VERB_LIST & 1)
        add_reader(m, r, OP_LIST,
                   (struct place){.path = below(m, "", false, r),
                                  .ending = "ForAllNamespaces",
                                  .params = names(false, false)},
                   paths);
    if (!can_watch)
        return;
    add_reader(m, r, OP_WATCH_LIST,
               (struct place){.path = watched,
                              .ending = "List",
                              .is_namespaced = in_namespace,
                              .params = names(in_namespace, false)},
               paths);
    add_reader(m, r, OP_WATCH,
               (struct place){.path = arena_printf(m->a, "%.*s/{name}", STR_ARG(watched)),
                              .ending = "",
                              .is_namespaced = in_namespace,
                              .params = names(in_namespace, true)},
               paths);
    if (in_namespace)
        add_reader(m, r, OP_WATCH_LIST,
                   (struct place){.path = below(m, "watch/", false, r),
                                  .ending = "ListForAllNamespaces",
                                  .params = names(false, false)},
                   paths);
}

/* ---- subresources ---- */

/* Those that connect to something else: which methods they take, and which parameters. */
static const struct connection {
    const char *kind;
    uint64_t params;
    bool takes_any; /* any method, and any path behind it */
} connections[] = {
    {"PodAttachOptions", STREAMS, false},         {"PodExecOptions", STREAMS | P(COMMAND), false},
    {"PodPortForwardOptions", P(PORTS), false},   {"PodProxyOptions", P(PATH_QUERY), true},
    {"ServiceProxyOptions", P(PATH_QUERY), true}, {"NodeProxyOptions", P(PATH_QUERY), true},
};

static const struct connection *connection_of(const struct registry_subresource *sub) {
    for (size_t i = 0; i < sizeof connections / sizeof *connections; i++)
        if (strcmp(connections[i].kind, sub->kind) == 0)
            return &connections[i];
    return NULL;
}

static void add_connection(struct place p, const struct connection *c, const char *ending,
                           struct json *paths) {
    static const char *const methods[] = {"get",     "post",  "delete", "head",
                                          "options", "patch", "put"};
    size_t n = c->takes_any ? sizeof methods / sizeof *methods : 2;
    for (size_t i = 0; i < n; i++) {
        struct operation o = {.method = methods[i],
                              .action = "connect",
                              .verb = "connect",
                              .mark = capital(p.m->a, methods[i]).p,
                              .doc = "Connects to the %s.",
                              .answer = ANSWER_ANY,
                              .codes = OK};
        o.mark = arena_str(p.m->a, capital(p.m->a, methods[i])).p;
        put(&p, &o, id_of(&p, o.verb, o.mark, ending), 0);
    }
    finish_place(&p, c->params, paths);
}

static void add_subresource(struct openapi__models *m, const struct registry_resource *r,
                            const struct registry_subresource *sub, struct json *paths) {
    static const struct verb_op ops[] = {{REGISTRY_VERB_GET, OP_READ},
                                         {REGISTRY_VERB_CREATE, OP_CREATE},
                                         {REGISTRY_VERB_PATCH, OP_PATCH},
                                         {REGISTRY_VERB_UPDATE, OP_REPLACE}};
    const struct connection *c = connection_of(sub);
    bool in_namespace = r->kind->namespaced;
    struct str collection = below(m, "", in_namespace, r);
    struct place p = {.m = m,
                      .r = r,
                      .sub = sub,
                      .ending = "",
                      .is_namespaced = in_namespace,
                      .params = names(in_namespace, true),
                      .item = {.kind = JSON_OBJECT}};
    p.path = arena_printf(m->a, "%.*s/{name}/%s", STR_ARG(collection), sub->name);
    if (c) {
        p.params &= ~P(PRETTY);
        add_connection(p, c, "", paths);
        p.path = arena_printf(m->a, "%.*s/{path}", STR_ARG(p.path));
        p.params |= P(PATH);
        if (c->takes_any)
            add_connection(p, c, "WithPath", paths);
        return;
    }
    struct operation chosen[4];
    size_t n = 0;
    choose(sub->verbs, ops, 4, chosen, &n);
    if (strcmp(sub->name, "log") == 0) {
        chosen[0].params |= LOG;
        chosen[0].answer = ANSWER_TEXT;
    }
    add_place(&p, chosen, n, paths);
}

/* ---- documents ---- */

struct json openapi__info_path(struct openapi__models *m, struct str path, struct str id,
                               struct str tag, const char *model) {
    struct arena *a = m->a;
    struct json item = {.kind = JSON_OBJECT}, op = {.kind = JSON_OBJECT};
    struct json paths = {.kind = JSON_OBJECT};
    bool is_version = str_ends(path, STR("/version/"));
    add_tags(a, &op, tag);
    openapi__add_str(a, &op, "description", STR("Tells what there is."));
    openapi__add_str(a, &op, "operationId", id);
    struct json responses = responses_of(a, OK, ANSWER_OBJECT, openapi__ref(m, model));
    for (uint32_t i = 0; is_version && i < responses.n; i++) {
        struct json *content = NULL;
        for (uint32_t j = 0; j < responses.members[i].value.n; j++)
            if (str_is(responses.members[i].value.members[j].key, "content"))
                content = &responses.members[i].value.members[j].value;
        if (content)
            content->n = 1; /* it is told in JSON alone */
    }
    json_add(a, &op, STR("responses"), responses);
    json_add(a, &item, STR("get"), op);
    json_add(a, &paths, path, item);
    return paths;
}

struct json openapi__paths(struct openapi__models *m) {
    struct str group = openapi__group_word(m->a, m->of->group), root = root_of(m);
    struct str version = capital(m->a, arena_str(m->a, m->of->version).p);
    struct json paths = openapi__info_path(
        m, arena_printf(m->a, "%.*s/", STR_ARG(root)),
        arena_printf(m->a, "get%.*s%.*sAPIResources", STR_ARG(group), STR_ARG(version)),
        version_tag(m), "io.k8s.apimachinery.pkg.apis.meta.v1.APIResourceList");
    size_t count;
    const struct registry_resource *r = registry_resources(&count);
    for (size_t i = 0; i < count; i++) {
        if (!openapi__has(m->of, &r[i]))
            continue;
        add_collection(m, &r[i], &paths);
        add_object(m, &r[i], &paths);
        add_readers(m, &r[i], &paths);
        for (const struct registry_subresource *s = r[i].subresources; s->name; s++)
            add_subresource(m, &r[i], s, &paths);
    }
    return paths;
}
