/*
 * Annotations that hold a list of Go structs as JSON. Go reads them into its internal structs: the
 * names of members in any case, and faults are told with the names of the structs.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/helper, func GetTolerationsFromPodAnnotations,
 * func GetTaintsFromNodeAnnotations.
 */
#include <string.h>
#include <strings.h>

#include "base/limits.h"
#include "codec/time.h"
#include "valid/go_json_int.h"

static const char *kind_name(const struct json *v) {
    switch (v->kind) {
    case JSON_BOOL:
        return "bool";
    case JSON_STRING:
        return "string";
    case JSON_ARRAY:
        return "array";
    case JSON_OBJECT:
        return "object";
    default:
        return "number";
    }
}

static bool is_named(struct str key, const char *name) {
    struct str want = str_of(name);
    return key.n == want.n && strncasecmp(key.p, want.p, want.n) == 0;
}

/* What is wrong with the type of a value; Go remembers the first such fault and reads on. field is
 * NULL for the list and its items. */
static void mistype(struct err *err, const struct json *v, const char *field, const char *type) {
    AUTO(buf_release) struct buf what = BUF_INIT(ERR_TEXT);
    if (err->code != ERR_NONE)
        return;
    buf_add(&what, str_of(kind_name(v)));
    if (strcmp(type, "int64") == 0 && v->kind == JSON_FLOAT)
        buf_addf(&what, " %.*s", STR_ARG(json_str(v)));
    if (strcmp(type, "int64") == 0 && v->kind == JSON_UINT)
        buf_addf(&what, " %llu", (unsigned long long)v->u);
    if (field)
        err_set(err, ERR_INVALID, "json: cannot unmarshal %.*s into Go struct field %s of type %s",
                STR_ARG(buf_view(&what)), field, type);
    else
        err_set(err, ERR_INVALID, "json: cannot unmarshal %.*s into Go value of type %s",
                STR_ARG(buf_view(&what)), type);
}

/* A time reads itself, and ends the reading when it cannot. */
static int read_time(const struct go_field *f, const struct json *v, struct api_time *out,
                     struct err *err) {
    struct time_instant t;
    if (v->kind != JSON_STRING)
        return err_set(err, ERR_INVALID,
                       "json: cannot unmarshal %s into Go struct field %s of type string",
                       kind_name(v), f->name);
    AUTO(buf_release) struct buf why = BUF_INIT(8 * LIMIT_OBJECT_BYTES);
    if (time_parse(json_str(v), &t, &why) < 0)
        return err_set(err, ERR_INVALID, "%.*s", STR_ARG(buf_view(&why)));
    *out = (struct api_time){.sec = t.seconds, .nsec = t.nanos, .set = true};
    return 0;
}

static int read_field(const struct go_field *f, const struct json *v, void *slot, struct err *err) {
    if (f->kind == GO_TIME)
        return read_time(f, v, slot, err);
    if (f->kind == GO_STR && v->kind == JSON_STRING)
        *(struct str *)slot = json_str(v);
    else if (f->kind == GO_I64 && v->kind == JSON_INT)
        *(struct api_opt_i64 *)slot = (struct api_opt_i64){true, v->i};
    else
        mistype(err, v, f->name, f->type);
    return 0;
}

/* The part of a field's name behind the struct's. */
static const char *member_of(const struct go_field *f) {
    return strchr(f->name, '.') + 1;
}

static int read_item(const struct go_struct *s, const struct json *item, char *body,
                     struct err *err) {
    if (item->kind != JSON_OBJECT && item->kind != JSON_NULL)
        mistype(err, item, NULL, s->type);
    for (uint32_t i = 0; item->kind == JSON_OBJECT && i < item->n; i++) {
        const struct json_member *m = &item->members[i];
        for (const struct go_field *f = s->fields; f->name; f++)
            if (m->value.kind != JSON_NULL && is_named(m->key, member_of(f)) &&
                read_field(f, &m->value, body + f->offset, err) < 0)
                return -1;
    }
    return 0;
}

int valid__read_go_list(struct arena *a, const struct go_struct *s, struct str text, void *list,
                        struct err *err) {
    static const struct json_opts opts = {.allow_duplicates = true};
    struct any_list {
        char *v;
        size_t n;
    } *out = list;
    struct json tree;
    if (json_parse(a, text, &opts, &tree, err) < 0)
        return -1;
    err->code = ERR_NONE;
    if (tree.kind != JSON_ARRAY && tree.kind != JSON_NULL)
        mistype(err, &tree, NULL, s->list_type);
    out->n = tree.kind == JSON_ARRAY ? tree.n : 0;
    out->v = arena_calloc(a, out->n, s->size);
    for (size_t i = 0; i < out->n; i++)
        if (read_item(s, &tree.items[i], out->v + i * s->size, err) < 0)
            return -1;
    return err->code == ERR_NONE ? 0 : -1;
}

struct str valid__go_object_fault(struct arena *a, struct str text) {
    static const struct json_opts opts = {.allow_duplicates = true};
    struct json tree;
    struct err err = {0};
    if (json_parse(a, text, &opts, &tree, &err) == 0) {
        err.code = ERR_NONE;
        if (tree.kind != JSON_OBJECT && tree.kind != JSON_NULL)
            mistype(&err, &tree, NULL, "map[string]interface {}");
        else
            return STR("");
    }
    return arena_str(a, str_of(err.msg));
}
