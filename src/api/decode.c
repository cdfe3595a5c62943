/*
 * JSON tree to struct, driven by the schema's rows.
 *
 * Behaves as Go's decoder does for the API server: a value of the wrong type is remembered (the
 * first one is reported) and decoding goes on; a value that parses itself (quantity, time, port)
 * and fails ends it at once. The error texts are Go's, down to the names of Go types.
 *
 * Follows sigs.k8s.io/json, func UnmarshalCaseSensitivePreserveInts, func UnmarshalStrict.
 * Follows sigs.k8s.io/json internal/golang/encoding/json, func (*decodeState) object,
 * func (*decodeState) literalStore, func (*UnmarshalTypeError) Error.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/go_text_int.h"
#include "api/object.h"
#include "api/object_int.h"
#include "base/goquote.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "codec/base64.h"
#include "codec/time.h"

/* Where decoding is, innermost first, for error texts. */
struct place {
    const struct place *up;
    const struct api_type *in; /* the struct that has the field */
    struct str field;
    const char *via;    /* the INLINE type that the field came with, or NULL */
    const char *within; /* the one that it has from another, inside it */
    int64_t index;      /* element of a list, or -1 */
    struct str key;     /* of an entry of a map of structs; else empty */
};

enum { LONGEST_GO_NAME = 256 };

struct decoder {
    struct arena *a;
    struct api_faults *faults;
    struct api_fault mismatch; /* the first value of a wrong type; without a text: none yet */
    struct str version;        /* of the object: the package of Go types that have none */
    const struct place *bare;  /* of the bare type that is being decoded, or NULL */
    bool duplicates;           /* the tree may have repeated keys */
    bool known_only;           /* fields that the schema does not know are left out */
    size_t elements;           /* bytes of all lists so far */
};

typedef int decode_fn(struct decoder *d, const struct place *at, const struct api_field *f,
                      const struct json *v, void *slot);

static decode_fn *const decoders[API_FIELD_KINDS];

/* ---- error texts ---- */

/* Go's errors name fields with the types they are inlined from, and leave list indexes out. */
static void add_go_path(struct buf *b, const struct place *at) {
    if (!at)
        return;
    add_go_path(b, at->up);
    if (b->n)
        buf_add_char(b, '.');
    if (at->via)
        buf_addf(b, "%s.", at->via);
    if (at->within)
        buf_addf(b, "%s.", at->within);
    buf_add(b, at->field);
}

/* The path as a user would write it: spec.containers[0].image. */
static void add_path(struct buf *b, const struct place *at) {
    if (!at)
        return;
    add_path(b, at->up);
    if (b->n)
        buf_add_char(b, '.');
    buf_add(b, at->field);
    if (at->index >= 0)
        buf_addf(b, "[%lld]", (long long)at->index);
    if (at->key.n)
        buf_addf(b, ".%.*s", STR_ARG(at->key));
}

static const char *go_kind(const struct json *v) {
    static const char *const names[] = {
        [JSON_NULL] = "null",   [JSON_BOOL] = "bool",    [JSON_INT] = "number",
        [JSON_UINT] = "number", [JSON_FLOAT] = "number", [JSON_STRING] = "string",
        [JSON_ARRAY] = "array", [JSON_OBJECT] = "object"};
    return names[v->kind];
}

static struct str path_of(struct arena *a, const struct place *at) {
    AUTO(buf_release) struct buf path = BUF_INIT(LIMIT_OBJECT_BYTES);
    add_path(&path, at);
    return arena_str(a, buf_view(&path));
}

/* What ends the decoding. */
static int refuse(struct decoder *d, const struct place *at, struct str text) {
    d->mismatch = (struct api_fault){API_FAULT_VALUE, path_of(d->faults->a, at), text};
    return -1;
}

/* "cannot unmarshal <what> into <place> of type <go type>" */
static struct str mismatch_text(struct decoder *d, const struct place *at, struct str what,
                                struct str go_type) {
    AUTO(buf_release) struct buf text = BUF_INIT(2 * LIMIT_OBJECT_BYTES);
    AUTO(buf_release) struct buf path = BUF_INIT(LIMIT_OBJECT_BYTES);
    add_go_path(&path, at);
    buf_addf(&text, "json: cannot unmarshal %.*s into Go ", STR_ARG(what));
    if (at)
        buf_addf(&text, "struct field %s.%.*s", strchr((d->bare ? d->bare : at)->in->go, '.') + 1,
                 STR_ARG(buf_view(&path)));
    else
        buf_add(&text, STR("value"));
    buf_addf(&text, " of type %.*s", STR_ARG(go_type));
    return arena_str(d->faults->a, buf_view(&text));
}

/* Remembers a value of a wrong type if it is the first. */
static void mismatch(struct decoder *d, const struct place *at, struct str what,
                     struct str go_type) {
    if (!d->mismatch.text.p)
        refuse(d, at, mismatch_text(d, at, what, go_type));
}

/* The name of a field's Go type; `prefix` is "[]" for the list itself. */
static struct str go_type(struct decoder *d, const char *prefix, const struct api_field *f,
                          const char *plain) {
    AUTO(buf_release) struct buf name = BUF_INIT(LONGEST_GO_NAME);
    buf_add(&name, str_of(prefix));
    api__write_go_name(&name, d->version, f->go ? f->go : f->type ? f->type->go : plain);
    return arena_str(d->faults->a, buf_view(&name));
}

static int wrong_type(struct decoder *d, const struct place *at, const struct api_field *f,
                      const struct json *v, const char *plain) {
    mismatch(d, at, str_of(go_kind(v)), go_type(d, "", f, plain));
    return 0;
}

static void note_field(struct decoder *d, const struct place *at, enum api_fault_kind kind,
                       struct str field) {
    const char *what = kind == API_FAULT_UNKNOWN ? "unknown" : "duplicate";
    AUTO(buf_release) struct buf path = BUF_INIT(LIMIT_OBJECT_BYTES);
    AUTO(buf_release) struct buf text = BUF_INIT(8 * LIMIT_OBJECT_BYTES);
    if (d->faults->n >= API_MOST_FAULTS || d->bare)
        return;
    add_path(&path, at);
    buf_add(&path, path.n ? STR(".") : STR(""));
    buf_add(&path, field);
    buf_addf(&text, "%s field ", what);
    goquote_write(&text, buf_view(&path));
    api__fault_add(d->faults, kind, buf_view(&path), buf_view(&text));
}

/* ---- scalars ---- */

static int decode_str(struct decoder *d, const struct place *at, const struct api_field *f,
                      const struct json *v, void *slot) {
    if (v->kind != JSON_STRING)
        return wrong_type(d, at, f, v, "string");
    *(struct str *)slot = arena_str(d->a, json_str(v));
    return 0;
}

static int decode_bool(struct decoder *d, const struct place *at, const struct api_field *f,
                       const struct json *v, void *slot) {
    if (v->kind != JSON_BOOL)
        return wrong_type(d, at, f, v, "bool");
    *(bool *)slot = v->b;
    return 0;
}

static int decode_opt_bool(struct decoder *d, const struct place *at, const struct api_field *f,
                           const struct json *v, void *slot) {
    struct api_opt_bool *out = slot;
    out->set = true;
    return decode_bool(d, at, f, v, &out->v);
}

/* What Go calls a value that should be an integer: numbers with their literal. */
static struct str number_text(struct arena *a, const struct json *v) {
    if (v->kind == JSON_INT)
        return arena_printf(a, "number %lld", (long long)v->i);
    if (v->kind == JSON_UINT)
        return arena_printf(a, "number %llu", (unsigned long long)v->u);
    if (v->kind == JSON_FLOAT)
        return arena_printf(a, "number %.*s", STR_ARG(json_str(v)));
    return str_of(go_kind(v));
}

/* An integer in [least, most], or the mismatch that Go reports: with the literal for numbers. */
static bool read_int(struct decoder *d, const struct place *at, const struct api_field *f,
                     const struct json *v, bool wide, int64_t *out) {
    const char *plain = wide ? "int64" : "int32";
    if (v->kind == JSON_INT && (wide || (v->i >= INT32_MIN && v->i <= INT32_MAX))) {
        *out = v->i;
        return true;
    }
    mismatch(d, at, number_text(d->faults->a, v), go_type(d, "", f, plain));
    return false;
}

static int decode_i32(struct decoder *d, const struct place *at, const struct api_field *f,
                      const struct json *v, void *slot) {
    int64_t wide;
    if (read_int(d, at, f, v, false, &wide))
        *(int32_t *)slot = (int32_t)wide;
    return 0;
}

static int decode_opt_i32(struct decoder *d, const struct place *at, const struct api_field *f,
                          const struct json *v, void *slot) {
    struct api_opt_i32 *out = slot;
    out->set = true;
    return decode_i32(d, at, f, v, &out->v);
}

static int decode_i64(struct decoder *d, const struct place *at, const struct api_field *f,
                      const struct json *v, void *slot) {
    (void)read_int(d, at, f, v, true, slot);
    return 0;
}

static int decode_opt_i64(struct decoder *d, const struct place *at, const struct api_field *f,
                          const struct json *v, void *slot) {
    struct api_opt_i64 *out = slot;
    out->set = true;
    return decode_i64(d, at, f, v, &out->v);
}

static int decode_opt_f64(struct decoder *d, const struct place *at, const struct api_field *f,
                          const struct json *v, void *slot) {
    struct api_opt_f64 *out = slot;
    double number = json_double(v);
    out->set = true;
    if (v->kind != JSON_INT && v->kind != JSON_UINT && v->kind != JSON_FLOAT)
        return wrong_type(d, at, f, v, "float64");
    if (!isfinite(number))
        mismatch(d, at, number_text(d->faults->a, v), STR("float64"));
    else
        out->v = number;
    return 0;
}

/* Go takes a list of numbers for bytes as well. */
static void decode_byte_list(struct decoder *d, const struct place *at, const struct json *v,
                             struct str *out) {
    char *bytes = arena_calloc(d->a, 1, v->n + 1);
    *out = (struct str){bytes, v->n};
    for (uint32_t i = 0; i < v->n; i++) {
        const struct json *item = &v->items[i];
        if (item->kind == JSON_INT && item->i >= 0 && item->i <= UINT8_MAX)
            bytes[i] = (char)item->i;
        else if (item->kind != JSON_NULL)
            mismatch(d, at, number_text(d->faults->a, item), STR("uint8"));
    }
}

/* Bytes are base64 in a string. What is none of it is remembered as a wrong type would be. */
static int decode_bytes(struct decoder *d, const struct place *at, const struct api_field *f,
                        const struct json *v, void *slot) {
    struct err err;
    (void)f;
    if (v->kind == JSON_ARRAY) {
        decode_byte_list(d, at, v, slot);
        return 0;
    }
    if (v->kind != JSON_STRING) {
        mismatch(d, at, str_of(go_kind(v)), STR("[]uint8"));
        return 0;
    }
    if (base64_decode(d->a, json_str(v), slot, &err) < 0 && !d->mismatch.text.p)
        refuse(d, at, arena_str(d->faults->a, str_of(err.msg)));
    return 0;
}

/* ---- values that parse themselves: their failure ends the decoding ---- */

static int fatal_mismatch(struct decoder *d, const struct place *at, const struct json *v,
                          const char *plain) {
    return refuse(d, at, mismatch_text(d, at, str_of(go_kind(v)), str_of(plain)));
}

static int decode_time(struct decoder *d, const struct place *at, const struct api_field *f,
                       const struct json *v, void *slot) {
    if (v->kind != JSON_STRING)
        return fatal_mismatch(d, at, v, "string");
    struct time_instant t;
    AUTO(buf_release) struct buf why = BUF_INIT(8 * LIMIT_OBJECT_BYTES);
    bool micro = f->kind == API_MICROTIME || f->kind == API_PMICROTIME;
    int rc = micro ? time_parse_micro(json_str(v), &t, &why) : time_parse(json_str(v), &t, &why);
    if (rc < 0)
        return refuse(d, at, arena_str(d->faults->a, buf_view(&why)));
    *(struct api_time *)slot = (struct api_time){.sec = t.seconds, .nsec = t.nanos, .set = true};
    return 0;
}

static bool has_control(struct str s) {
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < 0x20)
            return true;
    return false;
}

/* Upstream trims the text as it stands in the JSON, where control characters are no space but
 * escapes. */
struct str api__quantity_text(struct arena *a, const struct json *v) {
    if (v->kind == JSON_STRING && has_control(json_str(v)))
        return arena_str(a, json_str(v));
    if (v->kind == JSON_STRING)
        return arena_str(a, utf8_trim_space(json_str(v)));
    if (v->kind == JSON_FLOAT)
        return arena_str(a, json_str(v));
    struct buf b = BUF_INIT(64);
    if (v->kind == JSON_INT)
        buf_add_i64(&b, v->i);
    else if (v->kind == JSON_UINT)
        buf_add_u64(&b, v->u);
    else
        buf_add(&b, STR("{}"));
    struct str text = arena_str(a, buf_view(&b));
    buf_release(&b);
    return text;
}

static int decode_quantity(struct decoder *d, const struct place *at, const struct api_field *f,
                           const struct json *v, void *slot) {
    (void)f;
    struct err err;
    if (quantity_parse(d->a, api__quantity_text(d->a, v), slot, &err) < 0)
        return refuse(d, at, arena_str(d->faults->a, str_of(err.msg)));
    return 0;
}

static int decode_quantity_ptr(struct decoder *d, const struct place *at, const struct api_field *f,
                               const struct json *v, void *slot) {
    struct quantity *q = arena_new(d->a, struct quantity);
    *(struct quantity **)slot = q;
    return decode_quantity(d, at, f, v, q);
}

static int decode_int_or_str(struct decoder *d, const struct place *at, const struct api_field *f,
                             const struct json *v, void *slot) {
    struct api_int_or_str *out = slot;
    int64_t number = 0;
    out->is_str = v->kind == JSON_STRING;
    if (out->is_str) {
        out->s = arena_str(d->a, json_str(v));
        return 0;
    }
    struct api_fault earlier = d->mismatch;
    d->mismatch.text = (struct str){0};
    if (!read_int(d, at, f, v, false, &number))
        return -1;
    d->mismatch = earlier;
    out->i = (int32_t)number;
    return 0;
}

static int decode_int_or_str_ptr(struct decoder *d, const struct place *at,
                                 const struct api_field *f, const struct json *v, void *slot) {
    struct api_int_or_str *out = arena_new(d->a, struct api_int_or_str);
    *(struct api_int_or_str **)slot = out;
    return decode_int_or_str(d, at, f, v, out);
}

static int decode_raw(struct decoder *d, const struct place *at, const struct api_field *f,
                      const struct json *v, void *slot) {
    (void)at, (void)f;
    *(struct json *)slot = json_clone(d->a, v);
    return 0;
}

/* ---- lists ---- */

struct any_list {
    void *v;
    size_t n;
};

/* Zeroed memory for the elements of a list; NULL when the lists of the object have become too long.
 * One byte more, so that an empty list has an address and differs from no list. */
static void *new_elements(struct decoder *d, const struct place *at, size_t n, size_t size) {
    if (n > (LIMIT_DECODED_BYTES - d->elements) / size) {
        struct str path = path_of(d->faults->a, at);
        refuse(d, at,
               arena_printf(d->faults->a, "%.*s: the lists up to here need more than %u MiB",
                            STR_ARG(path), LIMIT_DECODED_BYTES >> 20));
        return NULL;
    }
    d->elements += n * size;
    return arena_calloc(d->a, 1, n * size + 1);
}

/* Decodes an array into elements of `size` bytes, each by `one`. Element places carry the index. */
static int decode_array(struct decoder *d, const struct place *at, const struct api_field *f,
                        const struct json *v, void *slot, size_t size, decode_fn *one,
                        const char *plain) {
    if (v->kind != JSON_ARRAY) {
        mismatch(d, at, str_of(go_kind(v)), go_type(d, "[]", f, plain));
        return 0;
    }
    struct any_list *list = slot;
    char *elements = new_elements(d, at, v->n, size);
    if (!elements)
        return -1;
    *list = (struct any_list){elements, v->n};
    for (uint32_t i = 0; i < v->n; i++) {
        struct place element = *at;
        element.index = i;
        if (v->items[i].kind != JSON_NULL &&
            one(d, &element, f, &v->items[i], elements + i * size) < 0)
            return -1;
    }
    return 0;
}

static int decode_strs(struct decoder *d, const struct place *at, const struct api_field *f,
                       const struct json *v, void *slot) {
    return decode_array(d, at, f, v, slot, sizeof(struct str), decode_str, "string");
}

static int decode_i32s(struct decoder *d, const struct place *at, const struct api_field *f,
                       const struct json *v, void *slot) {
    return decode_array(d, at, f, v, slot, sizeof(int32_t), decode_i32, "int32");
}

static int decode_i64s(struct decoder *d, const struct place *at, const struct api_field *f,
                       const struct json *v, void *slot) {
    return decode_array(d, at, f, v, slot, sizeof(int64_t), decode_i64, "int64");
}

static int decode_bools(struct decoder *d, const struct place *at, const struct api_field *f,
                        const struct json *v, void *slot) {
    return decode_array(d, at, f, v, slot, sizeof(bool), decode_bool, "bool");
}

static int decode_amounts(struct decoder *d, const struct place *at, const struct api_field *f,
                          const struct json *v, void *slot) {
    return decode_array(d, at, f, v, slot, sizeof(struct quantity), decode_quantity,
                        "resource.Quantity");
}

static int decode_raws(struct decoder *d, const struct place *at, const struct api_field *f,
                       const struct json *v, void *slot) {
    return decode_array(d, at, f, v, slot, sizeof(struct json), decode_raw, "v1.JSON");
}

/* ---- maps: entries sorted by key; every entry type starts with its key ---- */

static bool in_order(const struct json *object) {
    for (uint32_t i = 1; i < object->n; i++)
        if (str_cmp(object->members[i - 1].key, object->members[i].key) >= 0)
            return false;
    return true;
}

static int by_key_then_place(const void *a, const void *b) {
    const struct json_member *x = *(const struct json_member *const *)a;
    const struct json_member *y = *(const struct json_member *const *)b;
    int order = str_cmp(x->key, y->key);
    return order ? order : (x > y) - (x < y);
}

/* The members in order of their keys, the last of each key only; none when they are so already.
 * Free with vec_release. Tells whether keys stand more than once. */
typedef VEC(const struct json_member *) member_vec;
static bool sort_members(const struct json *object, member_vec *out) {
    if (object->n < 2 || in_order(object))
        return false;
    for (uint32_t i = 0; i < object->n; i++)
        vec_push(out, &object->members[i]);
    qsort(out->v, out->n, sizeof *out->v, by_key_then_place);
    size_t kept = 0;
    for (size_t i = 0; i < out->n; i++) {
        if (i + 1 == out->n || !str_eq(out->v[i]->key, out->v[i + 1]->key))
            out->v[kept++] = out->v[i];
    }
    bool has_duplicates = kept < out->n;
    out->n = kept;
    return has_duplicates;
}

/* Notes the keys of a map that stand again, where they do. */
static void note_duplicates(struct decoder *d, const struct place *at, const struct json *object) {
    AUTO(map_release) struct map seen = MAP_INIT(map_random_seed());
    for (uint32_t i = 0; i < object->n; i++)
        if (map_put_const(&seen, object->members[i].key, object))
            note_field(d, at, API_FAULT_DUPLICATE, object->members[i].key);
}

static int decode_map(struct decoder *d, const struct place *at, const struct api_field *f,
                      const struct json *v, void *slot, size_t size, decode_fn *one,
                      const char *plain) {
    if (v->kind != JSON_OBJECT)
        return wrong_type(d, at, f, v, plain);
    member_vec sorted = {0};
    if (sort_members(v, &sorted))
        note_duplicates(d, at, v);
    size_t n = sorted.n ? sorted.n : v->n;
    char *entries = arena_calloc(d->a, 1, size_mul(n, size) + 1);
    *(struct any_list *)slot = (struct any_list){entries, n};
    /* An entry's value has the type of the map's elements: what stands behind the bracket. */
    const char *element_type = f->go ? strchr(f->go, ']') : NULL;
    struct api_field element = {
        .kind = f->kind, .type = f->type, .go = element_type ? element_type + 1 : NULL};
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        const struct json_member *m = sorted.n ? sorted.v[i] : &v->members[i];
        char *entry = entries + i * size;
        *(struct str *)(void *)entry = arena_str(d->a, m->key);
        if (m->value.kind != JSON_NULL)
            rc = one(d, at, &element, &m->value, entry + sizeof(struct str));
    }
    vec_release(&sorted);
    return rc;
}

static int decode_str_map(struct decoder *d, const struct place *at, const struct api_field *f,
                          const struct json *v, void *slot) {
    return decode_map(d, at, f, v, slot, sizeof(struct label), decode_str, "map[string]string");
}

static int decode_bytes_map(struct decoder *d, const struct place *at, const struct api_field *f,
                            const struct json *v, void *slot) {
    return decode_map(d, at, f, v, slot, sizeof(struct label), decode_bytes, "map[string][]uint8");
}

/* The lists of such maps have named types: one of the list is not the type of its elements. */
static int decode_named_strs(struct decoder *d, const struct place *at, const struct api_field *f,
                             const struct json *v, void *slot) {
    static const struct api_field plain = {.kind = API_LSTR};
    if (v->kind != JSON_ARRAY)
        return wrong_type(d, at, f, v, "[]string");
    return decode_strs(d, at, &plain, v, slot);
}

static int decode_str_lists(struct decoder *d, const struct place *at, const struct api_field *f,
                            const struct json *v, void *slot) {
    return decode_map(d, at, f, v, slot, sizeof(struct api_str_list), decode_named_strs,
                      "map[string][]string");
}

static int decode_quantities(struct decoder *d, const struct place *at, const struct api_field *f,
                             const struct json *v, void *slot) {
    return decode_map(d, at, f, v, slot, sizeof(struct api_quantity), decode_quantity,
                      "v1.ResourceList");
}

static int decode_times(struct decoder *d, const struct place *at, const struct api_field *f,
                        const struct json *v, void *slot) {
    return decode_map(d, at, f, v, slot, sizeof(struct api_time_entry), decode_time,
                      "map[string]v1.Time");
}

/* ---- structs ---- */

static void keep_extra(struct decoder *d, void *body, const struct json_member *m) {
    struct json **extra = body; /* the first member of every struct */
    if (!*extra) {
        *extra = arena_new(d->a, struct json);
        (*extra)->kind = JSON_OBJECT;
    }
    json_add(d->a, *extra, arena_str(d->a, m->key), json_clone(d->a, &m->value));
}

/* Does a key stand more than once? A tree that was parsed strictly has none that does. */
static bool has_duplicates(const struct decoder *d, const struct json *object) {
    member_vec members = {0};
    bool has = d->duplicates && sort_members(object, &members);
    vec_release(&members);
    return has;
}

static int decode_members(struct decoder *d, const struct place *up, const struct api_type *type,
                          const struct json *object, char *body) {
    AUTO(map_release) struct map seen = MAP_INIT(0);
    bool may_repeat = has_duplicates(d, object);
    if (may_repeat)
        seen = MAP_INIT(map_random_seed());
    struct place at = {.up = up, .in = type, .index = -1};
    const struct api_field *next = type->fields;
    for (uint32_t i = 0; i < object->n; i++) {
        const struct json_member *m = &object->members[i];
        struct api_found found = api_field_find(type, m->key, &next);
        const struct api_field *f = found.field;
        bool is_again = may_repeat && map_put_const(&seen, m->key, object);
        if (f ? is_again : !is_again)
            note_field(d, up, f ? API_FAULT_DUPLICATE : API_FAULT_UNKNOWN, m->key);
        if (!f) {
            if (!d->known_only)
                keep_extra(d, body, m);
            continue;
        }
        at.field = f->json;
        at.via = found.via;
        at.within = found.within;
        if (m->value.kind != JSON_NULL &&
            decoders[f->kind](d, &at, f, &m->value, body + found.offset) < 0)
            return -1;
    }
    return 0;
}

/* ---- bare types: the value is that of the row that can take it ---- */

static bool takes(const struct api_field *f, const struct json *v) {
    return v->kind == JSON_OBJECT  ? f->kind == API_PTR
           : v->kind == JSON_ARRAY ? f->kind == API_LIST || f->kind == API_LSTR
                                   : v->kind == JSON_BOOL && f->kind == API_BOOL;
}

/* A type that can be a truth is true when it is more than that, and nothing else. */
static int decode_rows(struct decoder *d, const struct place *at, const struct api_type *type,
                       const struct json *v, char *body) {
    bool is_taken = false, has_truth = false;
    for (size_t i = 0; i < type->field_count; i++) {
        const struct api_field *f = &type->fields[i];
        has_truth |= f->kind == API_BOOL;
        if (f->kind == API_BOOL && v->kind == JSON_OBJECT)
            *(bool *)(body + f->offset) = true;
        if (!takes(f, v))
            continue;
        is_taken = true;
        if (decoders[f->kind](d, at, f, v, body + f->offset) < 0)
            return -1;
    }
    return is_taken || !has_truth ? 0 : refuse(d, at, STR("boolean or JSON schema expected"));
}

/*
 * Upstream's bare types read themselves: nobody looks for unknown fields in them, and the first
 * value of a wrong type ends the decoding.
 */
static int decode_bare(struct decoder *d, const struct place *at, const struct api_type *type,
                       const struct json *v, void *body) {
    struct api_fault earlier = d->mismatch;
    const struct place *outer = d->bare;
    d->mismatch.text = (struct str){0};
    d->bare = outer ? outer : at;
    if (decode_rows(d, at, type, v, body) < 0 || d->mismatch.text.p)
        return -1;
    d->bare = outer;
    d->mismatch = earlier;
    return 0;
}

static int decode_struct(struct decoder *d, const struct place *at, const struct api_type *type,
                         const struct json *v, void *body) {
    if (type->bare)
        return decode_bare(d, at, type, v, body);
    if (v->kind == JSON_OBJECT)
        return decode_members(d, at, type, v, body);
    mismatch(d, at, str_of(go_kind(v)), go_type(d, "", &(struct api_field){.type = type}, ""));
    return 0;
}

static int decode_obj(struct decoder *d, const struct place *at, const struct api_field *f,
                      const struct json *v, void *slot) {
    return decode_struct(d, at, f->type, v, slot);
}

static int decode_ptr(struct decoder *d, const struct place *at, const struct api_field *f,
                      const struct json *v, void *slot) {
    void *body = arena_calloc(d->a, 1, f->type->size);
    *(void **)slot = body;
    return decode_struct(d, at, f->type, v, body);
}

static int decode_list(struct decoder *d, const struct place *at, const struct api_field *f,
                       const struct json *v, void *slot) {
    return decode_array(d, at, f, v, slot, f->type->size, decode_obj, "");
}

static int decode_entry(struct decoder *d, const struct place *at, const struct api_field *f,
                        const struct json *v, void *slot) {
    const struct str *key = (const struct str *)slot - 1;
    struct place entry = *at;
    entry.key = *key;
    return decode_struct(d, &entry, f->type, v, slot);
}

static int decode_obj_map(struct decoder *d, const struct place *at, const struct api_field *f,
                          const struct json *v, void *slot) {
    size_t size = sizeof(struct str) + f->type->size;
    if (v->kind == JSON_OBJECT && v->n > (LIMIT_DECODED_BYTES - d->elements) / size)
        return new_elements(d, at, v->n, size) ? 0 : -1;
    d->elements += v->kind == JSON_OBJECT ? v->n * size : 0;
    return decode_map(d, at, f, v, slot, size, decode_entry, "");
}

static decode_fn *const decoders[API_FIELD_KINDS] = {
    [API_STR] = decode_str,           [API_PSTR] = decode_str,
    [API_BOOL] = decode_bool,         [API_PBOOL] = decode_opt_bool,
    [API_I32] = decode_i32,           [API_PI32] = decode_opt_i32,
    [API_I64] = decode_i64,           [API_PI64] = decode_opt_i64,
    [API_TIME] = decode_time,         [API_PTIME] = decode_time,
    [API_MICROTIME] = decode_time,    [API_PMICROTIME] = decode_time,
    [API_PF64] = decode_opt_f64,      [API_BYTES] = decode_bytes,
    [API_QUANTITY] = decode_quantity, [API_PQUANTITY] = decode_quantity_ptr,
    [API_INTSTR] = decode_int_or_str, [API_PINTSTR] = decode_int_or_str_ptr,
    [API_RAW] = decode_raw,           [API_PRAW] = decode_raw,
    [API_LSTR] = decode_strs,         [API_LI32] = decode_i32s,
    [API_LI64] = decode_i64s,         [API_LBOOL] = decode_bools,
    [API_LQUANTITY] = decode_amounts, [API_LRAW] = decode_raws,
    [API_MSTR] = decode_str_map,      [API_MBYTES] = decode_bytes_map,
    [API_MLSTR] = decode_str_lists,   [API_MQUANTITY] = decode_quantities,
    [API_MTIME] = decode_times,       [API_OBJ] = decode_obj,
    [API_PTR] = decode_ptr,           [API_LIST] = decode_list,
    [API_MOBJ] = decode_obj_map,
};

int api__struct_decode(struct arena *a, const struct api_type *type, const struct json *tree,
                       void *body, const struct api__decode_opts *opts, struct api_faults *faults) {
    struct decoder d = {.a = a,
                        .faults = faults,
                        .version = opts->version,
                        .duplicates = opts->duplicates,
                        .known_only = opts->known_only};
    decode_struct(&d, NULL, type, tree, body);
    if (!d.mismatch.text.p)
        return 0;
    api__fault_add(faults, API_FAULT_VALUE, d.mismatch.path, d.mismatch.text);
    return -1;
}

int api_struct_decode(struct arena *a, const struct api_type *type, const struct json *tree,
                      void *body, struct api_faults *faults) {
    AUTO(arena_release) struct arena scratch = {0};
    struct api_faults unread;
    if (!faults)
        faults = &unread;
    api_faults_init(faults, faults == &unread ? &scratch : faults->a);
    return api__struct_decode(a, type, tree, body, &(struct api__decode_opts){.version = STR("v1")},
                              faults);
}
