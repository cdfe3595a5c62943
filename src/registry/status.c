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

/* Events have one type inside a server, which is that of the group without a name. */
static struct str group_inside(const struct api_object *o) {
    return api_object_is(o, API_T_events_event) ? STR("") : group_of(o);
}

struct registry_failure registry_invalid(struct arena *a, const struct api_object *o,
                                         const struct valid_errs *errs) {
    return invalid(a, (struct registry_failure){.group = arena_str(a, group_inside(o)),
                                                .kind = arena_str(a, o->names->kind),
                                                .name = arena_str(a, o->meta->name),
                                                .causes = errs});
}

struct registry_failure registry_invalid_options(struct arena *a, struct str kind,
                                                 const struct valid_errs *errs) {
    return invalid(
        a, (struct registry_failure){.group = STR("meta.k8s.io"), .kind = kind, .causes = errs});
}

static struct registry_failure conflict(struct arena *a, struct registry_failure f,
                                        struct str why) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    f.code = ERR_CONFLICT;
    buf_add(&text, STR("Operation cannot be fulfilled on "));
    write_subject(&text, &f);
    buf_add(&text, STR(": "));
    buf_add(&text, why);
    f.message = arena_str(a, buf_view(&text));
    return f;
}

struct registry_failure registry__conflict(struct arena *a, const struct api_object *o,
                                           struct str kind, struct str why) {
    return conflict(a,
                    (struct registry_failure){.group = arena_str(a, group_of(o)),
                                              .kind = arena_str(a, kind),
                                              .name = arena_str(a, o->meta->name)},
                    why);
}

/* What is about the resource of a kind. */
static struct registry_failure about(struct arena *a, const struct api_kind *kind,
                                     struct str name) {
    return (struct registry_failure){.group = registry_group_of(str_of(kind->api_version)),
                                     .kind = str_of(kind->plural),
                                     .name = arena_str(a, name)};
}

struct registry_failure registry_conflict(struct arena *a, const struct api_kind *kind,
                                          struct str name, struct str why) {
    return conflict(a, about(a, kind, name), why);
}

static struct valid_errs *errs_new(struct arena *a) {
    struct valid_errs *errs = arena_new(a, struct valid_errs);
    *errs = VALID_ERRS_INIT(a);
    return errs;
}

struct registry_failure registry_version_required(struct arena *a, const struct api_kind *kind,
                                                  struct str name) {
    struct registry_failure f = about(a, kind, name);
    struct valid_errs *errs = errs_new(a);
    valid_version_required(errs);
    f.causes = errs;
    return invalid(a, f);
}

struct registry_failure registry_invalid_scale(struct arena *a, struct str name, int32_t replicas) {
    struct valid_errs *errs = errs_new(a);
    valid_scale_negative(replicas, errs);
    return invalid(
        a, (struct registry_failure){
               .group = STR("autoscaling"), .kind = STR("Scale"), .name = name, .causes = errs});
}

struct registry_failure registry_invalid_patch(struct arena *a, struct str patch, struct str why) {
    struct valid_errs *errs = errs_new(a);
    valid_patch_invalid(patch, why, errs);
    return invalid(a, (struct registry_failure){.causes = errs});
}

struct registry_failure registry_not_found(struct arena *a, const struct api_kind *kind,
                                           struct str name) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    struct registry_failure f = about(a, kind, name);
    f.code = ERR_NOT_FOUND;
    write_subject(&text, &f);
    buf_add(&text, STR(" not found"));
    f.message = arena_str(a, buf_view(&text));
    return f;
}

struct registry_failure registry_bad_request(struct str message) {
    return (struct registry_failure){.code = ERR_INVALID, .message = message};
}

struct registry_failure registry_already_exists(struct arena *a, const struct api_kind *kind,
                                                struct str name) {
    return registry__refuse(a, kind, name, ERR_EXISTS, STR("already exists"));
}

struct registry_failure registry__refuse(struct arena *a, const struct api_kind *kind,
                                         struct str name, enum err_code code, struct str why) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    struct registry_failure f = about(a, kind, name);
    f.code = code;
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

static void add_cause(struct arena *a, struct json *list, const struct registry_cause *c) {
    struct json *cause = json_append(a, list, (struct json){.kind = JSON_OBJECT});
    add_unless_empty(a, cause, STR("reason"), c->reason);
    add_unless_empty(a, cause, STR("message"), c->message);
    add_unless_empty(a, cause, STR("field"), c->field);
}

static struct json causes(struct arena *a, const struct registry_failure *f) {
    struct json list = {.kind = JSON_ARRAY};
    for (size_t i = 0; f->causes && i < f->causes->n; i++) {
        const struct valid_error *e = &f->causes->v[i];
        add_cause(a, &list,
                  &(struct registry_cause){str_of(valid_reason(e->type)), e->body, e->field});
    }
    for (size_t i = 0; i < f->further_count; i++)
        add_cause(a, &list, &f->further[i]);
    return list;
}

static struct json details(struct arena *a, const struct registry_failure *f) {
    struct json d = {.kind = JSON_OBJECT}, list = causes(a, f);
    add_unless_empty(a, &d, STR("name"), f->name);
    add_unless_empty(a, &d, STR("group"), f->group);
    add_unless_empty(a, &d, STR("kind"), f->kind);
    add_unless_empty(a, &d, STR("uid"), f->uid);
    if (list.n)
        json_add(a, &d, STR("causes"), list);
    if (f->retry_after)
        json_add(a, &d, STR("retryAfterSeconds"), json_of_i64(f->retry_after));
    return d;
}

struct json registry_status(struct arena *a, const struct registry_failure *f) {
    struct json s = {.kind = JSON_OBJECT}, meta = {.kind = JSON_OBJECT};
    add_unless_empty(a, &meta, STR("continue"), f->continue_token);
    json_add(a, &s, STR("kind"), json_of_str(STR("Status")));
    json_add(a, &s, STR("apiVersion"), json_of_str(STR("v1")));
    json_add(a, &s, STR("metadata"), meta);
    json_add(a, &s, STR("status"), json_of_str(STR("Failure")));
    json_add(a, &s, STR("message"), json_of_str(f->message));
    add_unless_empty(a, &s, STR("reason"), str_of(err_reason(f->code)));
    if (f->kind.n || f->has_details || f->causes || f->further_count || f->retry_after)
        json_add(a, &s, STR("details"), details(a, f));
    json_add(a, &s, STR("code"), json_of_i64(err_http_status(f->code)));
    return s;
}
