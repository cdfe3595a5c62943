/* Requests to methods, paths, queries and bodies. */
#include "base/ascii.h"
#include "client/http/wire_int.h"

/* ---- texts of URLs ---- */

static bool is_plain(char c) {
    return ascii_is_alnum(c) || c == '-' || c == '_' || c == '.' || c == '~';
}

static void add_escaped(struct buf *out, struct str text) {
    for (size_t i = 0; i < text.n; i++)
        if (is_plain(text.p[i]))
            buf_add_char(out, text.p[i]);
        else {
            static const char digits[] = "0123456789ABCDEF";
            unsigned char c = (unsigned char)text.p[i];
            buf_add_char(out, '%');
            buf_add_char(out, digits[c >> 4]);
            buf_add_char(out, digits[c & 15]);
        }
}

/* A target that is being written. */
struct target {
    struct buf text;
    bool has_query;
};

static void add_segment(struct target *t, struct str segment) {
    if (!segment.n)
        return;
    buf_add_char(&t->text, '/');
    add_escaped(&t->text, segment);
}

static void add_query(struct target *t, const char *key, struct str value) {
    if (!value.n)
        return;
    buf_add_char(&t->text, t->has_query ? '&' : '?');
    t->has_query = true;
    buf_add(&t->text, str_of(key));
    buf_add_char(&t->text, '=');
    add_escaped(&t->text, value);
}

static struct str end_target(struct arena *a, struct target *t) {
    struct str text = arena_str(a, buf_view(&t->text));
    buf_release(&t->text);
    return text;
}

/* ---- paths ---- */

static struct target path_of(const struct api_kind *kind, struct str namespace) {
    struct target t = {.text = BUF_INIT(SIZE_MAX)};
    struct str version = str_of(kind->api_version);
    buf_add(&t.text, str_find_char(version, '/') == STR_NONE ? STR("/api/") : STR("/apis/"));
    buf_add(&t.text, version);
    if (kind->namespaced && namespace.n) {
        add_segment(&t, STR("namespaces"));
        add_segment(&t, namespace);
    }
    add_segment(&t, str_of(kind->plural));
    return t;
}

static void add_selection(struct arena *a, struct target *t, const struct client_selection *s) {
    bool begins = s->resource_version.n && !s->continue_token.n;
    add_query(t, "labelSelector", s->label_selector);
    add_query(t, "fieldSelector", s->field_selector);
    if (begins) {
        add_query(t, "resourceVersion", s->resource_version);
        add_query(t, "resourceVersionMatch", STR("NotOlderThan"));
    }
    add_query(t, "continue", s->continue_token);
    if (s->limit > 0)
        add_query(t, "limit", arena_printf(a, "%lld", (long long)s->limit));
}

static bool is_of_many(enum registry_verb verb) {
    return verb == REGISTRY_VERB_LIST || verb == REGISTRY_VERB_DELETE_COLLECTION;
}

static bool is_write(enum registry_verb verb) {
    return verb == REGISTRY_VERB_CREATE || verb == REGISTRY_VERB_UPDATE ||
           verb == REGISTRY_VERB_PATCH;
}

static struct str target_of(struct arena *a, const struct client_request *r) {
    bool is_many = is_of_many(r->verb);
    struct target t = path_of(r->kind, is_many ? r->selection.namespace : r->namespace);
    bool has_name = !is_many && (r->verb != REGISTRY_VERB_CREATE || r->subresource);
    if (has_name) {
        add_segment(&t, r->name);
        add_segment(&t, str_of(r->subresource));
    }
    if (is_many)
        add_selection(a, &t, &r->selection);
    if (is_write(r->verb))
        add_query(&t, "fieldManager", r->field_manager);
    if (r->verb == REGISTRY_VERB_PATCH && r->patch_type == CLIENT_APPLY && r->force)
        add_query(&t, "force", STR("true"));
    return end_target(a, &t);
}

/* ---- bodies ---- */

static struct str write_tree(struct arena *a, const struct json *tree) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    json_write(&text, tree, NULL);
    return arena_str(a, buf_view(&text));
}

static void add_text(struct arena *a, struct json *to, const char *key, struct str text) {
    if (text.n)
        json_add(a, to, str_of(key), json_of_str(text));
}

static struct str deletion_of(struct arena *a, const struct client_deletion *d) {
    struct json options = {.kind = JSON_OBJECT}, conditions = {.kind = JSON_OBJECT};
    add_text(a, &options, "kind", STR("DeleteOptions"));
    add_text(a, &options, "apiVersion", STR("v1"));
    if (d->grace_seconds.set)
        json_add(a, &options, STR("gracePeriodSeconds"), json_of_i64(d->grace_seconds.v));
    add_text(a, &conditions, "uid", d->uid);
    add_text(a, &conditions, "resourceVersion", d->resource_version);
    if (conditions.n)
        json_add(a, &options, STR("preconditions"), conditions);
    add_text(a, &options, "propagationPolicy", d->propagation);
    return write_tree(a, &options);
}

static void add_body(struct arena *a, const struct client_request *r, struct client__message *m) {
    static const char *const patches[] = {
        [CLIENT_PATCH_JSON] = "application/json-patch+json",
        [CLIENT_PATCH_MERGE] = "application/merge-patch+json",
        [CLIENT_PATCH_STRATEGIC] = "application/strategic-merge-patch+json",
        [CLIENT_APPLY] = "application/apply-patch+yaml",
    };
    if (r->verb == REGISTRY_VERB_DELETE || r->verb == REGISTRY_VERB_DELETE_COLLECTION) {
        m->content_type = "application/json";
        m->body = deletion_of(a, &r->deletion);
    } else if (r->verb == REGISTRY_VERB_PATCH) {
        m->content_type = patches[r->patch_type];
        m->body = arena_str(a, r->patch);
    } else if (r->object) {
        struct json tree = api_object_encode(r->object, a);
        m->content_type = "application/json";
        m->body = write_tree(a, &tree);
    }
}

struct client__message client__message_of(struct arena *a, const struct client_request *r) {
    static const char *const methods[REGISTRY_VERB_COUNT] = {
        [REGISTRY_VERB_CREATE] = "POST",
        [REGISTRY_VERB_DELETE] = "DELETE",
        [REGISTRY_VERB_DELETE_COLLECTION] = "DELETE",
        [REGISTRY_VERB_GET] = "GET",
        [REGISTRY_VERB_LIST] = "GET",
        [REGISTRY_VERB_PATCH] = "PATCH",
        [REGISTRY_VERB_UPDATE] = "PUT",
        [REGISTRY_VERB_WATCH] = "GET",
    };
    struct client__message m = {.method = methods[r->verb]};
    m.target = r->kind ? target_of(a, r) : arena_str(a, r->path);
    add_body(a, r, &m);
    return m;
}

struct client__message client__watch_message(struct arena *a, const struct client__watching *w) {
    const struct client_selection *s = &w->selection;
    struct target t = path_of(w->kind, s->namespace);
    add_query(&t, "watch", STR("true"));
    add_query(&t, "allowWatchBookmarks", STR("true"));
    add_query(&t, "labelSelector", s->label_selector);
    add_query(&t, "fieldSelector", s->field_selector);
    add_query(&t, "resourceVersion", s->resource_version);
    if (w->begins) {
        add_query(&t, "sendInitialEvents", STR("true"));
        add_query(&t, "resourceVersionMatch", STR("NotOlderThan"));
    }
    add_query(&t, "timeoutSeconds", arena_printf(a, "%d", w->seconds));
    return (struct client__message){.method = "GET", .target = end_target(a, &t)};
}
