/*
 * Failures, and the metav1.Status that stands for one.
 *
 * Follows k8s.io/apimachinery pkg/api/errors, func NewInvalid, func NewBadRequest,
 * func NewAlreadyExists, func NewConflict.
 */
#include <assert.h>

#include "base/goquote.h"
#include "registry/registry_int.h"

/* apps of apps/v1, nothing of v1 */
static struct str group_of(const struct api_object *o) {
    struct str group, version;
    return str_cut(o->names->api_version, '/', &group, &version) ? group : STR("");
}

/* One error stands as it is, several stand between brackets. */
static void write_causes(struct buf *b, const struct valid_errs *errs) {
    if (errs->n > 1)
        buf_add_char(b, '[');
    for (size_t i = 0; i < errs->n; i++) {
        if (i)
            buf_add(b, STR(", "));
        buf_add(b, errs->v[i].text);
    }
    if (errs->n > 1)
        buf_add_char(b, ']');
}

/* deployments.apps "web", or pods "web" of the group without a name */
static void write_subject(struct buf *b, const struct registry_failure *f) {
    buf_add(b, f->kind);
    buf_add(b, f->group.n ? STR(".") : STR(""));
    buf_add(b, f->group);
    buf_add_char(b, ' ');
    goquote_write(b, f->name);
}

static struct registry_failure invalid(struct arena *a, struct registry_failure f) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    assert(f.causes->n > 0);
    f.code = ERR_UNPROCESSABLE;
    write_subject(&text, &f);
    buf_add(&text, STR(" is invalid: "));
    write_causes(&text, f.causes);
    f.message = arena_str(a, buf_view(&text));
    return f;
}

struct registry_failure registry_invalid(struct arena *a, const struct api_object *o,
                                         const struct valid_errs *errs) {
    return invalid(a, (struct registry_failure){.group = group_of(o),
                                                .kind = o->names->kind,
                                                .name = o->meta->name,
                                                .causes = errs});
}

struct registry_failure registry__invalid_options(struct arena *a, struct str kind,
                                                  const struct valid_errs *errs) {
    return invalid(
        a, (struct registry_failure){.group = STR("meta.k8s.io"), .kind = kind, .causes = errs});
}

struct registry_failure registry__conflict(struct arena *a, const struct api_object *o,
                                           struct str kind, struct str why) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    struct registry_failure f = {
        .code = ERR_CONFLICT, .group = group_of(o), .kind = kind, .name = o->meta->name};
    buf_add(&text, STR("Operation cannot be fulfilled on "));
    write_subject(&text, &f);
    buf_add(&text, STR(": "));
    buf_add(&text, why);
    f.message = arena_str(a, buf_view(&text));
    return f;
}

struct registry_failure registry_bad_request(struct str message) {
    return (struct registry_failure){.code = ERR_INVALID, .message = message};
}

struct registry_failure registry_already_exists(struct arena *a, const struct api_object *o) {
    return registry__refuse(a, o, o->meta->name, ERR_EXISTS, STR("already exists"));
}

struct registry_failure registry__refuse(struct arena *a, const struct api_object *o,
                                         struct str name, enum err_code code, struct str why) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    struct registry_failure f = {
        .code = code, .group = group_of(o), .kind = str_of(o->kind->plural), .name = name};
    write_subject(&text, &f);
    buf_add_char(&text, ' ');
    buf_add(&text, why);
    f.message = arena_str(a, buf_view(&text));
    return f;
}

/* ---- as JSON ---- */

static void add_unless_empty(struct arena *a, struct json *object, struct str key,
                             struct str text) {
    if (text.n)
        json_add(a, object, key, json_of_str(text));
}

static struct json causes(struct arena *a, const struct valid_errs *errs) {
    struct json list = {.kind = JSON_ARRAY};
    for (size_t i = 0; i < errs->n; i++) {
        const struct valid_error *e = &errs->v[i];
        struct json *cause = json_append(a, &list, (struct json){.kind = JSON_OBJECT});
        json_add(a, cause, STR("reason"), json_of_str(str_of(valid_reason(e->type))));
        json_add(a, cause, STR("message"), json_of_str(e->body));
        add_unless_empty(a, cause, STR("field"), e->field);
    }
    return list;
}

static struct json details(struct arena *a, const struct registry_failure *f) {
    struct json d = {.kind = JSON_OBJECT};
    add_unless_empty(a, &d, STR("name"), f->name);
    add_unless_empty(a, &d, STR("group"), f->group);
    json_add(a, &d, STR("kind"), json_of_str(f->kind));
    if (f->causes)
        json_add(a, &d, STR("causes"), causes(a, f->causes));
    return d;
}

struct json registry_status(struct arena *a, const struct registry_failure *f) {
    struct json s = {.kind = JSON_OBJECT};
    json_add(a, &s, STR("kind"), json_of_str(STR("Status")));
    json_add(a, &s, STR("apiVersion"), json_of_str(STR("v1")));
    json_add(a, &s, STR("metadata"), (struct json){.kind = JSON_OBJECT});
    json_add(a, &s, STR("status"), json_of_str(STR("Failure")));
    json_add(a, &s, STR("message"), json_of_str(f->message));
    json_add(a, &s, STR("reason"), json_of_str(str_of(err_reason(f->code))));
    if (f->kind.n)
        json_add(a, &s, STR("details"), details(a, f));
    json_add(a, &s, STR("code"), json_of_i64(err_http_status(f->code)));
    return s;
}
