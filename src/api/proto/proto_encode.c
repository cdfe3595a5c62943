/*
 * Struct to protobuf message, driven by the schema's rows, as the code that is generated for
 * upstream's types writes it: fields by their numbers, maps by their keys; what is no pointer is
 * written also when it is empty.
 *
 * As there, bytes are written from the end to the start: the length of a message stands before it,
 * and is known when it has been written.
 *
 * Follows k8s.io/api core/v1, func (*Secret) MarshalToSizedBuffer.
 * Follows k8s.io/apimachinery pkg/apis/meta/v1, func (*Time) MarshalToSizedBuffer,
 * func (*MicroTime) ProtoMicroTime.
 */
#include <stdlib.h>
#include <string.h>

#include "api/object_int.h"
#include "api/proto/proto_int.h"
#include "base/limits.h"

/* Bytes that grow to the front: those in use are the last n of cap. */
struct back {
    char *p;
    size_t n, cap;
};

enum { FIRST_ROOM = 1024, LONGEST_VARINT = 10 };

/* Room for n bytes in front of those that are there, which count as written. */
static char *put_room(struct back *b, size_t n) {
    if (n > b->cap - b->n) {
        size_t cap = b->cap ? b->cap : FIRST_ROOM;
        while (cap - b->n < n)
            cap = size_mul(cap, 2);
        char *p = xmalloc(cap);
        if (b->n)
            memcpy(p + cap - b->n, b->p + b->cap - b->n, b->n);
        free(b->p);
        *b = (struct back){p, b->n, cap};
    }
    b->n += n;
    return b->p + b->cap - b->n;
}

static void put_byte(struct back *b, unsigned char byte) {
    *put_room(b, 1) = (char)byte;
}

static void put_bytes(struct back *b, struct str bytes) {
    if (bytes.n)
        memcpy(put_room(b, bytes.n), bytes.p, bytes.n);
}

static void put_varint(struct back *b, uint64_t v) {
    char bytes[LONGEST_VARINT];
    size_t n = 0;
    for (; v >= 0x80; v >>= 7)
        bytes[n++] = (char)(v | 0x80);
    bytes[n++] = (char)v;
    put_bytes(b, (struct str){bytes, n});
}

static void put_tag(struct back *b, unsigned number, enum proto__wire wire) {
    put_varint(b, number << 3 | wire);
}

/* The length of what was written since there were `before` bytes. */
static void put_length(struct back *b, size_t before) {
    put_varint(b, b->n - before);
}

/* A whole field of a small message. */
static void put_number_field(struct back *b, unsigned number, int64_t v) {
    put_varint(b, (uint64_t)v);
    put_tag(b, number, PROTO_VARINT);
}

static void put_bytes_field(struct back *b, unsigned number, struct str bytes) {
    put_bytes(b, bytes);
    put_varint(b, bytes.n);
    put_tag(b, number, PROTO_LENGTH);
}

/* Writes a value, with its length if it has one, and tells whether there is a value. */
typedef bool put_fn(struct back *b, const struct api_field *f, const void *slot);

static void put_message(struct back *b, const struct api_type *type, const char *body);

/* ---- scalars ---- */

static bool put_str(struct back *b, const struct api_field *f, const void *slot) {
    const struct str *s = slot;
    if (f->flags & API_PROPOSED && s->n == 0)
        return false;
    put_bytes(b, *s);
    put_varint(b, s->n);
    return true;
}

static bool put_opt_str(struct back *b, const struct api_field *f, const void *slot) {
    const struct str *s = slot;
    return s->p && put_str(b, f, s);
}

static bool put_bool(struct back *b, const struct api_field *f, const void *slot) {
    (void)f;
    put_byte(b, *(const bool *)slot);
    return true;
}

static bool put_opt_bool(struct back *b, const struct api_field *f, const void *slot) {
    const struct api_opt_bool *o = slot;
    return o->set && put_bool(b, f, &o->v);
}

static bool put_i64(struct back *b, const struct api_field *f, const void *slot) {
    (void)f;
    put_varint(b, (uint64_t) * (const int64_t *)slot);
    return true;
}

static bool put_opt_i64(struct back *b, const struct api_field *f, const void *slot) {
    const struct api_opt_i64 *o = slot;
    return o->set && put_i64(b, f, &o->v);
}

static bool put_i32(struct back *b, const struct api_field *f, const void *slot) {
    (void)f;
    put_varint(b, (uint64_t)(int64_t) * (const int32_t *)slot);
    return true;
}

static bool put_opt_i32(struct back *b, const struct api_field *f, const void *slot) {
    const struct api_opt_i32 *o = slot;
    return o->set && put_i32(b, f, &o->v);
}

static bool put_opt_f64(struct back *b, const struct api_field *f, const void *slot) {
    (void)f;
    const struct api_opt_f64 *o = slot;
    uint64_t bits;
    memcpy(&bits, &o->v, sizeof bits);
    if (!o->set)
        return false;
    char *bytes = put_room(b, sizeof bits);
    for (unsigned i = 0; i < sizeof bits; i++)
        bytes[i] = (char)(bits >> (8 * i));
    return true;
}

/* ---- small messages that are one value in JSON ---- */

enum { NANOS_OF_MICRO = 1000 };
static const int64_t zero_time = INT64_C(-62135596800); /* 0001-01-01T00:00:00Z */

/* A zero time is an empty message. Times have whole seconds. */
static bool put_time(struct back *b, const struct api_field *f, const void *slot) {
    const struct api_time *t = slot;
    bool micro = f->kind == API_MICROTIME || f->kind == API_PMICROTIME;
    size_t before = b->n;
    if (t->set && (t->sec != zero_time || t->nsec)) {
        put_number_field(b, 2, micro ? t->nsec - t->nsec % NANOS_OF_MICRO : 0);
        put_number_field(b, 1, t->sec);
    }
    put_length(b, before);
    return true;
}

static bool put_opt_time(struct back *b, const struct api_field *f, const void *slot) {
    const struct api_time *t = slot;
    return t->set && put_time(b, f, slot);
}

static bool put_quantity(struct back *b, const struct api_field *f, const void *slot) {
    (void)f;
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_OBJECT_BYTES);
    size_t before = b->n;
    quantity_write(&text, slot);
    put_bytes_field(b, 1, buf_view(&text));
    put_length(b, before);
    return true;
}

static bool put_quantity_ptr(struct back *b, const struct api_field *f, const void *slot) {
    const struct quantity *q = *(struct quantity *const *)slot;
    return q && put_quantity(b, f, q);
}

static bool put_int_or_str(struct back *b, const struct api_field *f, const void *slot) {
    (void)f;
    const struct api_int_or_str *v = slot;
    size_t before = b->n;
    put_bytes_field(b, 3, v->s);
    put_number_field(b, 2, v->i);
    put_number_field(b, 1, v->is_str);
    put_length(b, before);
    return true;
}

static bool put_int_or_str_ptr(struct back *b, const struct api_field *f, const void *slot) {
    const struct api_int_or_str *v = *(struct api_int_or_str *const *)slot;
    return v && put_int_or_str(b, f, v);
}

/* JSON in bytes; null is none. */
static bool put_raw(struct back *b, const struct api_field *f, const void *slot) {
    static const struct json_style plain = {.raw_html = true, .literals = true};
    (void)f;
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    const struct json *v = slot;
    size_t before = b->n;
    if (v->kind != JSON_NULL) {
        json_write(&text, v, &plain);
        put_bytes_field(b, 1, buf_view(&text));
    }
    put_length(b, before);
    return true;
}

static bool put_opt_raw(struct back *b, const struct api_field *f, const void *slot) {
    const struct json *v = slot;
    return v->kind != JSON_NULL && put_raw(b, f, v);
}

/* ---- lists, maps and messages ---- */

struct any_list {
    const char *v;
    size_t n;
};

/* The list inside the values of such a map is a message of its own: its only field is the list. */
static bool put_strs(struct back *b, const struct api_field *f, const void *slot) {
    (void)f;
    const struct api_strs *list = slot;
    size_t before = b->n;
    for (size_t i = list->n; i-- > 0;)
        put_bytes_field(b, 1, list->v[i]);
    put_length(b, before);
    return true;
}

static bool put_obj(struct back *b, const struct api_field *f, const void *slot) {
    size_t before = b->n;
    put_message(b, f->type, slot);
    put_length(b, before);
    return true;
}

static bool put_ptr(struct back *b, const struct api_field *f, const void *slot) {
    const void *body = *(void *const *)slot;
    return body && put_obj(b, f, body);
}

/* How a kind of field is written: its wire type, how many there are, and the size of one. */
enum form { ONE, LIST, MAP };
struct writer {
    enum proto__wire wire;
    enum form form;
    put_fn *put;
    size_t size; /* of an element of a list, or of a map without its key; 0: that of its type */
};

/* clang-format off */
static const struct writer writers[API_FIELD_KINDS] = {
    [API_STR]        = {PROTO_LENGTH, ONE, put_str, 0},
    [API_PSTR]       = {PROTO_LENGTH, ONE, put_opt_str, 0},
    [API_BOOL]       = {PROTO_VARINT, ONE, put_bool, 0},
    [API_PBOOL]      = {PROTO_VARINT, ONE, put_opt_bool, 0},
    [API_I32]        = {PROTO_VARINT, ONE, put_i32, 0},
    [API_PI32]       = {PROTO_VARINT, ONE, put_opt_i32, 0},
    [API_I64]        = {PROTO_VARINT, ONE, put_i64, 0},
    [API_PI64]       = {PROTO_VARINT, ONE, put_opt_i64, 0},
    [API_TIME]       = {PROTO_LENGTH, ONE, put_time, 0},
    [API_PTIME]      = {PROTO_LENGTH, ONE, put_opt_time, 0},
    [API_MICROTIME]  = {PROTO_LENGTH, ONE, put_time, 0},
    [API_PMICROTIME] = {PROTO_LENGTH, ONE, put_opt_time, 0},
    [API_PF64]       = {PROTO_FIXED64, ONE, put_opt_f64, 0},
    [API_BYTES]      = {PROTO_LENGTH, ONE, put_opt_str, 0},
    [API_QUANTITY]   = {PROTO_LENGTH, ONE, put_quantity, 0},
    [API_PQUANTITY]  = {PROTO_LENGTH, ONE, put_quantity_ptr, 0},
    [API_INTSTR]     = {PROTO_LENGTH, ONE, put_int_or_str, 0},
    [API_PINTSTR]    = {PROTO_LENGTH, ONE, put_int_or_str_ptr, 0},
    [API_RAW]        = {PROTO_LENGTH, ONE, put_raw, 0},
    [API_PRAW]       = {PROTO_LENGTH, ONE, put_opt_raw, 0},
    [API_LSTR]       = {PROTO_LENGTH, LIST, put_str, sizeof(struct str)},
    [API_LI32]       = {PROTO_VARINT, LIST, put_i32, sizeof(int32_t)},
    [API_LI64]       = {PROTO_VARINT, LIST, put_i64, sizeof(int64_t)},
    [API_LBOOL]      = {PROTO_VARINT, LIST, put_bool, sizeof(bool)},
    [API_LQUANTITY]  = {PROTO_LENGTH, LIST, put_quantity, sizeof(struct quantity)},
    [API_LRAW]       = {PROTO_LENGTH, LIST, put_raw, sizeof(struct json)},
    [API_MSTR]       = {PROTO_LENGTH, MAP, put_str, sizeof(struct str)},
    [API_MBYTES]     = {PROTO_LENGTH, MAP, put_opt_str, sizeof(struct str)},
    [API_MLSTR]      = {PROTO_LENGTH, MAP, put_strs, sizeof(struct api_strs)},
    [API_MQUANTITY]  = {PROTO_LENGTH, MAP, put_quantity, sizeof(struct quantity)},
    [API_MTIME]      = {PROTO_LENGTH, MAP, put_time, sizeof(struct api_time)},
    [API_OBJ]        = {PROTO_LENGTH, ONE, put_obj, 0},
    [API_INLINE]     = {PROTO_LENGTH, ONE, put_obj, 0},
    [API_PTR]        = {PROTO_LENGTH, ONE, put_ptr, 0},
    [API_LIST]       = {PROTO_LENGTH, LIST, put_obj, 0},
    [API_MOBJ]       = {PROTO_LENGTH, MAP, put_obj, 0},
};
/* clang-format on */

static void put_list(struct back *b, const struct api_field *f, const struct any_list *list) {
    const struct writer *w = &writers[f->kind];
    size_t size = w->size ? w->size : f->type->size;
    for (size_t i = list->n; i-- > 0;) {
        w->put(b, f, list->v + i * size);
        put_tag(b, f->number, w->wire);
    }
}

/* An entry is a message of a key and a value; the key stands first in both. */
static void put_map(struct back *b, const struct api_field *f, const struct any_list *map) {
    const struct writer *w = &writers[f->kind];
    size_t size = sizeof(struct str) + (w->size ? w->size : f->type->size);
    for (size_t i = map->n; i-- > 0;) {
        const char *entry = map->v + i * size;
        size_t before = b->n;
        if (w->put(b, f, entry + sizeof(struct str)))
            put_tag(b, 2, PROTO_LENGTH);
        put_bytes_field(b, 1, *(const struct str *)(const void *)entry);
        put_length(b, before);
        put_tag(b, f->number, PROTO_LENGTH);
    }
}

static void put_field(struct back *b, const struct api_field *f, const char *body) {
    const struct writer *w = &writers[f->kind];
    const void *slot = body + f->offset;
    if (w->form == LIST)
        put_list(b, f, slot);
    else if (w->form == MAP)
        put_map(b, f, slot);
    else if (w->put(b, f, slot))
        put_tag(b, f->number, w->wire);
}

static void put_message(struct back *b, const struct api_type *type, const char *body) {
    for (unsigned number = type->most_number; number > 0; number--) {
        const struct api_field *f = api_field_numbered(type, number);
        if (f)
            put_field(b, f, body);
    }
}

void api_proto_struct_write(struct buf *out, const struct api_type *type, const void *body) {
    struct back b = {0};
    put_message(&b, type, body);
    buf_add(out, (struct str){b.p + b.cap - b.n, b.n});
    free(b.p);
}

/* What the envelope says behind the message: neither an encoding nor a type of content. */
#define TAIL "\x1a\0\x22"

struct str api_proto_list_tail(void) {
    return (struct str){TAIL, sizeof TAIL};
}

/* In front of the message: four bytes that tell the format, what the message is, and its length. */
static void put_head(struct back *b, const struct api_type_meta *names, size_t message_size) {
    put_varint(b, message_size);
    put_tag(b, 2, PROTO_LENGTH);
    size_t before = b->n;
    put_bytes_field(b, 2, names->kind);
    put_bytes_field(b, 1, names->api_version);
    put_length(b, before);
    put_tag(b, 1, PROTO_LENGTH);
    put_bytes(b, (struct str){"k8s", 4});
}

bool api_proto_write(struct buf *out, const struct api_object *o) {
    if (!o->kind)
        return false;
    struct back b = {0};
    put_bytes(&b, api_proto_list_tail());
    size_t before = b.n;
    put_message(&b, o->type, o->body);
    put_head(&b, o->names, b.n - before);
    buf_add(out, (struct str){b.p + b.cap - b.n, b.n});
    free(b.p);
    return true;
}

void api_proto_list_head(struct buf *out, const struct api_type_meta *names,
                         const struct api_list_meta *meta, size_t items) {
    struct back b = {0};
    put_message(&b, &api_types[API_T_list_meta], (const char *)meta);
    put_length(&b, 0);
    put_tag(&b, 1, PROTO_LENGTH);
    put_head(&b, names, b.n + items);
    buf_add(out, (struct str){b.p + b.cap - b.n, b.n});
    free(b.p);
}
