/*
 * Verdicts for the outside: the Status object that the API server answers with, and the sentence
 * that kubectl makes of it.
 */
#include <assert.h>

#include "base/goquote.h"
#include "base/limits.h"
#include "base/printable.h"
#include "valid/valid_int.h"

/* apps of apps/v1, nothing of v1 */
static struct str group_of(const struct api_object *o) {
    struct str group, version;
    return str_cut(o->names->api_version, '/', &group, &version) ? group : STR("");
}

static struct json text_of(struct arena *a, struct buf *b) {
    struct str text = arena_str(a, buf_view(b));
    buf_release(b);
    return json_of_str(text);
}

/* One error stands as it is, several stand between brackets. */
static void write_aggregate(struct buf *b, const struct valid_errs *errs) {
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

static struct json message(struct arena *a, const struct api_object *o,
                           const struct valid_errs *errs) {
    struct buf b = BUF_INIT(SIZE_MAX);
    struct str group = group_of(o);
    buf_add(&b, o->names->kind);
    if (group.n)
        buf_addf(&b, ".%.*s", STR_ARG(group));
    buf_add_char(&b, ' ');
    goquote_write(&b, o->meta->name);
    buf_add(&b, STR(" is invalid: "));
    write_aggregate(&b, errs);
    return text_of(a, &b);
}

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

static struct json details(struct arena *a, const struct api_object *o,
                           const struct valid_errs *errs) {
    struct json d = {.kind = JSON_OBJECT};
    add_unless_empty(a, &d, STR("name"), o->meta->name);
    add_unless_empty(a, &d, STR("group"), group_of(o));
    json_add(a, &d, STR("kind"), json_of_str(o->names->kind));
    json_add(a, &d, STR("causes"), causes(a, errs));
    return d;
}

/* A failure with everything but details and code. */
static struct json failure(struct arena *a, struct json text, const char *reason) {
    struct json s = {.kind = JSON_OBJECT};
    json_add(a, &s, STR("kind"), json_of_str(STR("Status")));
    json_add(a, &s, STR("apiVersion"), json_of_str(STR("v1")));
    json_add(a, &s, STR("metadata"), (struct json){.kind = JSON_OBJECT});
    json_add(a, &s, STR("status"), json_of_str(STR("Failure")));
    json_add(a, &s, STR("message"), text);
    json_add(a, &s, STR("reason"), json_of_str(str_of(reason)));
    return s;
}

static void add_code(struct arena *a, struct json *status, enum err_code code) {
    json_add(a, status, STR("code"), json_of_i64(err_http_status(code)));
}

struct json valid_status(struct arena *a, const struct api_object *o,
                         const struct valid_errs *errs) {
    assert(errs->n > 0);
    struct json s = failure(a, message(a, o, errs), err_reason(ERR_UNPROCESSABLE));
    json_add(a, &s, STR("details"), details(a, o, errs));
    add_code(a, &s, ERR_UNPROCESSABLE);
    return s;
}

struct json valid_bad_request(struct arena *a, struct str text) {
    struct json s = failure(a, json_of_str(text), err_reason(ERR_INVALID));
    add_code(a, &s, ERR_INVALID);
    return s;
}

/* kubectl leaves the group out and lists several errors one to a line. */
/* A path has keys that the object brought. What stands behind it is quoted, or has lines of its own
 * such as those of an expression that does not compile. */
static void add_error(struct buf *out, const struct valid_error *e) {
    struct str text = e->text;
    if (str_starts(text, e->field)) {
        printable_add(out, e->field);
        text = str_sub(text, e->field.n, text.n);
    }
    buf_add(out, text);
}

void valid_write_kubectl(struct buf *out, const struct api_object *o,
                         const struct valid_errs *errs) {
    buf_addf(out, "The %.*s ", STR_ARG(o->names->kind));
    goquote_write(out, o->meta->name);
    buf_add(out, STR(" is invalid: "));
    for (size_t i = 0; i < errs->n; i++) {
        if (errs->n > 1)
            buf_add(out, STR("\n* "));
        add_error(out, &errs->v[i]);
    }
}
