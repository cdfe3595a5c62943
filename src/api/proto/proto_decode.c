/*
 * Protobuf message to struct, driven by the schema's rows.
 *
 * Behaves as the code that is generated for upstream's types: a field that stands twice is merged
 * or replaced, numbers that nobody knows are gone over, a wrong wire type ends the decoding. Lists
 * are counted when their first element is met, so that each is made once, at its length.
 *
 * Follows k8s.io/apimachinery pkg/apis/meta/v1, func (*LabelSelector) Unmarshal,
 * func (*Time) Unmarshal, func (*MicroTime) Unmarshal.
 * Follows k8s.io/apimachinery pkg/api/resource, func (*Quantity) Unmarshal.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/object_int.h"
#include "api/proto/proto_int.h"
#include "base/limits.h"

struct decoder {
    struct arena *a;
    struct api_faults *faults;
    size_t elements; /* bytes of all lists so far */
    unsigned depth;  /* of messages; those of a list count twice, as they do in JSON */
};

/* A message that is being read. The masks have a bit for each row. */
struct level {
    const struct api_type *type;
    char *body;
    uint64_t counted;  /* lists and maps that have room for all their elements */
    uint64_t unsorted; /* maps whose keys are not in order */
    struct proto__in in;
};

/* How a kind of field is read: its wire type, how many there are, and the size of one. */
enum form { ONE, LIST, MAP };
typedef int read_fn(struct decoder *d, const struct api_field *f, const struct proto__value *v,
                    void *slot);
struct reader {
    enum proto__wire wire;
    enum form form;
    read_fn *read;
    size_t size; /* of an element of a list, or of a map without its key; 0: that of its type */
};

static const struct reader readers[API_FIELD_KINDS];

static int read_message(struct decoder *d, const struct api_type *type, struct str message,
                        void *body);

static int refuse(struct decoder *d, struct str text) {
    api__fault_add(d->faults, API_FAULT_VALUE, STR(""), text);
    return -1;
}

static int refuse_in(struct decoder *d, const struct proto__in *in) {
    return refuse(d, str_of(in->fault));
}

/* ---- scalars ---- */

static int read_bool(struct decoder *d, const struct api_field *f, const struct proto__value *v,
                     void *slot) {
    (void)d, (void)f;
    *(bool *)slot = v->number != 0;
    return 0;
}

static int read_opt_bool(struct decoder *d, const struct api_field *f, const struct proto__value *v,
                         void *slot) {
    (void)d, (void)f;
    *(struct api_opt_bool *)slot = (struct api_opt_bool){true, v->number != 0};
    return 0;
}

/* What does not fit is cut off. */
static int32_t to_i32(uint64_t number) {
    return (int32_t)(uint32_t)number;
}

static int read_i32(struct decoder *d, const struct api_field *f, const struct proto__value *v,
                    void *slot) {
    (void)d, (void)f;
    *(int32_t *)slot = to_i32(v->number);
    return 0;
}

static int read_opt_i32(struct decoder *d, const struct api_field *f, const struct proto__value *v,
                        void *slot) {
    (void)d, (void)f;
    *(struct api_opt_i32 *)slot = (struct api_opt_i32){true, to_i32(v->number)};
    return 0;
}

static int read_i64(struct decoder *d, const struct api_field *f, const struct proto__value *v,
                    void *slot) {
    (void)d, (void)f;
    *(int64_t *)slot = (int64_t)v->number;
    return 0;
}

static int read_opt_i64(struct decoder *d, const struct api_field *f, const struct proto__value *v,
                        void *slot) {
    (void)d, (void)f;
    *(struct api_opt_i64 *)slot = (struct api_opt_i64){true, (int64_t)v->number};
    return 0;
}

static int read_opt_f64(struct decoder *d, const struct api_field *f, const struct proto__value *v,
                        void *slot) {
    (void)f;
    struct api_opt_f64 *out = slot;
    out->set = true;
    memcpy(&out->v, &v->number, sizeof out->v);
    return isfinite(out->v) ? 0 : refuse(d, STR("json: unsupported value"));
}

/* Most texts of most objects are written although they are empty. */
static int read_str(struct decoder *d, const struct api_field *f, const struct proto__value *v,
                    void *slot) {
    (void)f;
    *(struct str *)slot = v->bytes.n ? arena_str(d->a, v->bytes) : STR("");
    return 0;
}

/* ---- small messages that are one value in JSON ---- */

/* The next field of such a message: 1, 0 at its end, -1. Fields with other numbers than those that
 * have a wire type here are gone over. */
static int next_part(struct decoder *d, struct proto__in *in, const int *wires, size_t n,
                     struct proto__tag *tag, struct proto__value *v) {
    while (in->p < in->end) {
        const unsigned char *start = in->p;
        if (proto__tag(in, tag) < 0)
            return refuse_in(d, in);
        if (tag->wire == PROTO_GROUP_END)
            return refuse(d, STR("proto: wiretype end group for non-group"));
        if (tag->number <= 0)
            return refuse(d, STR("proto: illegal tag"));
        if ((size_t)tag->number > n) {
            in->p = start;
            if (proto__skip(in) < 0)
                return refuse_in(d, in);
            continue;
        }
        if ((int)tag->wire != wires[tag->number - 1])
            return refuse(d, STR("proto: wrong wireType"));
        return proto__value(in, tag->wire, v) < 0 ? refuse_in(d, in) : 1;
    }
    return 0;
}

/* Moments outside of the years that JSON can say, and that a Timestamp promises to keep to. */
enum { NANOS = 1000000000, NANOS_OF_MICRO = 1000 };
static const int64_t first_second = INT64_C(-62135596800), last_second = INT64_C(253402300799);

static int set_time(struct decoder *d, int64_t seconds, int32_t nanos, struct api_time *out) {
    nanos -= nanos % NANOS_OF_MICRO;
    if (seconds < first_second || seconds > last_second)
        return refuse(d, STR("a time is not between the years 1 and 9999"));
    int64_t whole = seconds + nanos / NANOS;
    int32_t rest = nanos % NANOS;
    if (rest < 0) {
        whole--;
        rest += NANOS;
    }
    if (whole < first_second || whole > last_second)
        return refuse(d, STR("a time is not between the years 1 and 9999"));
    *out = (struct api_time){whole, rest, .set = whole != first_second || rest};
    return 0;
}

static int read_time(struct decoder *d, const struct api_field *f, const struct proto__value *v,
                     void *slot) {
    static const int wires[] = {PROTO_VARINT, PROTO_VARINT};
    bool micro = f->kind == API_MICROTIME || f->kind == API_PMICROTIME;
    struct proto__in in = proto__read(v->bytes);
    struct proto__tag tag;
    struct proto__value part;
    uint64_t parts[2] = {0};
    int rc;
    while ((rc = next_part(d, &in, wires, 2, &tag, &part)) > 0)
        parts[tag.number - 1] = part.number;
    *(struct api_time *)slot = (struct api_time){.set = false};
    if (rc < 0 || !v->bytes.n)
        return rc;
    return set_time(d, (int64_t)parts[0], micro ? to_i32(parts[1]) : 0, slot);
}

static int read_quantity(struct decoder *d, const struct api_field *f, const struct proto__value *v,
                         void *slot) {
    static const int wires[] = {PROTO_LENGTH};
    (void)f;
    struct proto__in in = proto__read(v->bytes);
    struct proto__tag tag;
    struct proto__value part;
    struct err err;
    int rc;
    while ((rc = next_part(d, &in, wires, 1, &tag, &part)) > 0)
        if (quantity_parse(d->a, arena_str(d->a, part.bytes), slot, &err) < 0)
            return refuse(d, str_of(err.msg));
    return rc;
}

static int read_quantity_ptr(struct decoder *d, const struct api_field *f,
                             const struct proto__value *v, void *slot) {
    struct quantity **q = slot;
    if (!*q)
        *q = arena_new(d->a, struct quantity);
    return read_quantity(d, f, v, *q);
}

static int read_int_or_str(struct decoder *d, const struct api_field *f,
                           const struct proto__value *v, void *slot) {
    static const int wires[] = {PROTO_VARINT, PROTO_VARINT, PROTO_LENGTH};
    struct api_int_or_str *out = slot;
    struct proto__in in = proto__read(v->bytes);
    struct proto__tag tag;
    struct proto__value part;
    int rc;
    while ((rc = next_part(d, &in, wires, 3, &tag, &part)) > 0) {
        if (tag.number == 1 && part.number > 1)
            return refuse(d, STR("impossible IntOrString.Type"));
        if (tag.number == 1)
            out->is_str = part.number == 1;
        else if (tag.number == 2)
            out->i = to_i32(part.number);
        else
            read_str(d, f, &part, &out->s);
    }
    return rc;
}

static int read_int_or_str_ptr(struct decoder *d, const struct api_field *f,
                               const struct proto__value *v, void *slot) {
    struct api_int_or_str **out = slot;
    if (!*out)
        *out = arena_new(d->a, struct api_int_or_str);
    return read_int_or_str(d, f, v, *out);
}

/* Raw values are JSON in bytes; none at all is null. */
static int read_raw(struct decoder *d, const struct api_field *f, const struct proto__value *v,
                    void *slot) {
    static const int wires[] = {PROTO_LENGTH};
    (void)f;
    const struct json_opts opts = {.allow_duplicates = true,
                                   .max_depth = LIMIT_JSON_DEPTH - d->depth};
    struct proto__in in = proto__read(v->bytes);
    struct proto__tag tag;
    struct proto__value part;
    struct err err;
    int rc;
    while ((rc = next_part(d, &in, wires, 1, &tag, &part)) > 0) {
        struct str text = arena_str(d->a, part.bytes);
        *(struct json *)slot = (struct json){.kind = JSON_NULL};
        if (text.n && json_parse(d->a, text, &opts, slot, &err) < 0)
            return refuse(d, str_of(err.msg));
    }
    return rc;
}

/* ---- lists and maps ---- */

struct any_list {
    char *v;
    size_t n;
};

/* Zeroed memory for n elements behind those that are there. All of it counts, so that a list that
 * is made longer again and again costs no more than one that is long. */
static int make_room(struct decoder *d, struct any_list *list, size_t n, size_t size) {
    if (list->n + n > (LIMIT_DECODED_BYTES - d->elements) / size)
        return refuse(d, arena_printf(d->faults->a, "the lists up to here need more than %u MiB",
                                      LIMIT_DECODED_BYTES >> 20));
    size_t bytes = (list->n + n) * size;
    d->elements += bytes;
    char *room = arena_calloc(d->a, 1, bytes + 1);
    if (list->n)
        memcpy(room, list->v, list->n * size);
    list->v = room;
    return 0;
}

/* The numbers in packed bytes. */
static size_t count_packed(struct str bytes) {
    size_t n = 0;
    for (size_t i = 0; i < bytes.n; i++)
        n += (unsigned char)bytes.p[i] < 0x80;
    return n;
}

static size_t count_elements(struct proto__in in, const struct api_field *f) {
    bool is_packable = readers[f->kind].wire == PROTO_VARINT;
    size_t n = 0;
    while (in.p < in.end) {
        struct proto__in field = in;
        struct proto__tag tag;
        struct str bytes;
        if (proto__tag(&field, &tag) < 0 || proto__skip(&in) < 0)
            break;
        if (tag.number != f->number)
            continue;
        if (is_packable && tag.wire == PROTO_LENGTH)
            n += proto__bytes(&field, &bytes) < 0 ? 0 : count_packed(bytes);
        else
            n++;
    }
    return n;
}

static size_t element_size(const struct api_field *f) {
    const struct reader *r = &readers[f->kind];
    return (r->size ? r->size : f->type->size) + (r->form == MAP ? sizeof(struct str) : 0);
}

/* Room for all elements of the field, when the first of them is met at `from`. */
static int provide(struct decoder *d, struct level *at, const struct api_field *f,
                   const unsigned char *from) {
    uint64_t bit = UINT64_C(1) << (f - at->type->fields);
    struct any_list *list = (void *)(at->body + f->offset);
    struct proto__in rest = {.p = from, .end = at->in.end};
    if (at->counted & bit)
        return 0;
    at->counted |= bit;
    return make_room(d, list, count_elements(rest, f), element_size(f));
}

static int add_element(struct decoder *d, struct level *at, const struct api_field *f,
                       const struct proto__value *v) {
    struct any_list *list = (void *)(at->body + f->offset);
    return readers[f->kind].read(d, f, v, list->v + list->n++ * element_size(f));
}

static int add_packed(struct decoder *d, struct level *at, const struct api_field *f,
                      struct str bytes) {
    struct proto__in in = proto__read(bytes);
    struct proto__value v;
    while (in.p < in.end) {
        if (proto__varint(&in, &v.number) < 0)
            return refuse_in(d, &in);
        add_element(d, at, f, &v);
    }
    return 0;
}

/* What an entry is before its parts are read: texts, bytes and lists are empty, but there. */
static void clear_value(struct decoder *d, const struct api_field *f, char *value) {
    memset(value, 0, element_size(f) - sizeof(struct str));
    if (f->kind == API_MBYTES || f->kind == API_MSTR)
        *(struct str *)(void *)value = STR("");
    else if (f->kind == API_MLSTR)
        ((struct api_strs *)(void *)value)->v = arena_new(d->a, struct str);
}

/* An entry is a message of a key and a value, whose wire types nobody looks at. As upstream's, a
 * length is held against the end of the message around it. */
static int read_entry(struct decoder *d, struct level *at, const struct api_field *f,
                      struct str bytes, char *entry) {
    struct proto__in in = {.p = (const unsigned char *)bytes.p, .end = at->in.end};
    const unsigned char *stop = in.p + bytes.n;
    struct str *key = (void *)entry;
    char *value = entry + sizeof *key;
    clear_value(d, f, value);
    *key = STR("");
    while (in.p < stop) {
        const unsigned char *start = in.p;
        struct proto__tag tag;
        struct proto__value v;
        if (proto__tag(&in, &tag) < 0)
            return refuse_in(d, &in);
        if (tag.number != 1 && tag.number != 2) {
            in.p = start;
            if (proto__skip(&in) < 0)
                return refuse_in(d, &in);
            if (in.p > stop)
                return refuse(d, STR("unexpected EOF"));
            continue;
        }
        if (proto__bytes(&in, &v.bytes) < 0)
            return refuse_in(d, &in);
        if (tag.number == 1) {
            read_str(d, f, &v, key);
            continue;
        }
        clear_value(d, f, value);
        if (readers[f->kind].read(d, f, &v, value) < 0)
            return -1;
    }
    return 0;
}

static int add_entry(struct decoder *d, struct level *at, const struct api_field *f,
                     struct str bytes) {
    struct any_list *map = (void *)(at->body + f->offset);
    size_t size = element_size(f);
    char *entry = map->v + map->n * size;
    if (read_entry(d, at, f, bytes, entry) < 0)
        return -1;
    if (map->n && str_cmp(*(struct str *)(void *)(entry - size), *(struct str *)(void *)entry) >= 0)
        at->unsorted |= UINT64_C(1) << (f - at->type->fields);
    map->n++;
    return 0;
}

static int by_key_then_place(const void *a, const void *b) {
    const struct str *x = *(const struct str *const *)a, *y = *(const struct str *const *)b;
    int order = str_cmp(*x, *y);
    return order ? order : (x > y) - (x < y);
}

/* Brings entries into the order of their keys, and keeps the last of each key. */
static int sort_map(struct decoder *d, struct any_list *map, size_t size) {
    struct any_list sorted = {0};
    struct str **order = xcalloc(map->n, sizeof *order);
    for (size_t i = 0; i < map->n; i++)
        order[i] = (void *)(map->v + i * size);
    qsort(order, map->n, sizeof *order, by_key_then_place);
    int rc = make_room(d, &sorted, map->n, size);
    for (size_t i = 0; i < map->n && rc == 0; i++)
        if (i + 1 == map->n || !str_eq(*order[i], *order[i + 1]))
            memcpy(sorted.v + sorted.n++ * size, order[i], size);
    *map = sorted;
    free(order);
    return rc;
}

static int sort_maps(struct decoder *d, struct level *at) {
    for (size_t i = 0; i < at->type->field_count; i++) {
        const struct api_field *f = &at->type->fields[i];
        if (at->unsorted >> i & 1 &&
            sort_map(d, (void *)(at->body + f->offset), element_size(f)) < 0)
            return -1;
    }
    return 0;
}

/* The list inside the values of such a map is a message of its own: its only field is the list. */
static int read_strs(struct decoder *d, const struct api_field *f, const struct proto__value *v,
                     void *slot) {
    static const int wires[] = {PROTO_LENGTH};
    static const struct api_field items = {.kind = API_LSTR, .number = 1};
    struct api_strs *list = slot;
    struct proto__in in = proto__read(v->bytes);
    struct proto__tag tag;
    struct proto__value part;
    size_t n = count_elements(in, &items);
    if (n && make_room(d, slot, n, sizeof *list->v) < 0)
        return -1;
    int rc;
    while ((rc = next_part(d, &in, wires, 1, &tag, &part)) > 0)
        read_str(d, f, &part, &list->v[list->n++]);
    return rc;
}

/* ---- messages ---- */

static int read_obj(struct decoder *d, const struct api_field *f, const struct proto__value *v,
                    void *slot) {
    return read_message(d, f->type, v->bytes, slot);
}

static int read_ptr(struct decoder *d, const struct api_field *f, const struct proto__value *v,
                    void *slot) {
    void **body = slot;
    if (!*body)
        *body = arena_calloc(d->a, 1, f->type->size);
    return read_message(d, f->type, v->bytes, *body);
}

/* clang-format off */
static const struct reader readers[API_FIELD_KINDS] = {
    [API_STR]        = {PROTO_LENGTH, ONE, read_str, 0},
    [API_PSTR]       = {PROTO_LENGTH, ONE, read_str, 0},
    [API_BOOL]       = {PROTO_VARINT, ONE, read_bool, 0},
    [API_PBOOL]      = {PROTO_VARINT, ONE, read_opt_bool, 0},
    [API_I32]        = {PROTO_VARINT, ONE, read_i32, 0},
    [API_PI32]       = {PROTO_VARINT, ONE, read_opt_i32, 0},
    [API_I64]        = {PROTO_VARINT, ONE, read_i64, 0},
    [API_PI64]       = {PROTO_VARINT, ONE, read_opt_i64, 0},
    [API_TIME]       = {PROTO_LENGTH, ONE, read_time, 0},
    [API_PTIME]      = {PROTO_LENGTH, ONE, read_time, 0},
    [API_MICROTIME]  = {PROTO_LENGTH, ONE, read_time, 0},
    [API_PMICROTIME] = {PROTO_LENGTH, ONE, read_time, 0},
    [API_PF64]       = {PROTO_FIXED64, ONE, read_opt_f64, 0},
    [API_BYTES]      = {PROTO_LENGTH, ONE, read_str, 0},
    [API_QUANTITY]   = {PROTO_LENGTH, ONE, read_quantity, 0},
    [API_PQUANTITY]  = {PROTO_LENGTH, ONE, read_quantity_ptr, 0},
    [API_INTSTR]     = {PROTO_LENGTH, ONE, read_int_or_str, 0},
    [API_PINTSTR]    = {PROTO_LENGTH, ONE, read_int_or_str_ptr, 0},
    [API_RAW]        = {PROTO_LENGTH, ONE, read_raw, 0},
    [API_PRAW]       = {PROTO_LENGTH, ONE, read_raw, 0},
    [API_LSTR]       = {PROTO_LENGTH, LIST, read_str, sizeof(struct str)},
    [API_LI32]       = {PROTO_VARINT, LIST, read_i32, sizeof(int32_t)},
    [API_LI64]       = {PROTO_VARINT, LIST, read_i64, sizeof(int64_t)},
    [API_LBOOL]      = {PROTO_VARINT, LIST, read_bool, sizeof(bool)},
    [API_LQUANTITY]  = {PROTO_LENGTH, LIST, read_quantity, sizeof(struct quantity)},
    [API_LRAW]       = {PROTO_LENGTH, LIST, read_raw, sizeof(struct json)},
    [API_MSTR]       = {PROTO_LENGTH, MAP, read_str, sizeof(struct str)},
    [API_MBYTES]     = {PROTO_LENGTH, MAP, read_str, sizeof(struct str)},
    [API_MLSTR]      = {PROTO_LENGTH, MAP, read_strs, sizeof(struct api_strs)},
    [API_MQUANTITY]  = {PROTO_LENGTH, MAP, read_quantity, sizeof(struct quantity)},
    [API_MTIME]      = {PROTO_LENGTH, MAP, read_time, sizeof(struct api_time)},
    [API_OBJ]        = {PROTO_LENGTH, ONE, read_obj, 0},
    [API_INLINE]     = {PROTO_LENGTH, ONE, read_obj, 0},
    [API_PTR]        = {PROTO_LENGTH, ONE, read_ptr, 0},
    [API_LIST]       = {PROTO_LENGTH, LIST, read_obj, 0},
    [API_MOBJ]       = {PROTO_LENGTH, MAP, read_obj, 0},
};
/* clang-format on */

static const char *message_name(const struct api_type *type) {
    return strchr(type->go, '.') + 1;
}

/* Upstream names the field as Go does; the rows know its JSON name. */
static int refuse_wire(struct decoder *d, const struct api_field *f, unsigned wire) {
    struct str name = f->json.n ? f->json : str_of(f->go);
    return refuse(d, arena_printf(d->faults->a, "proto: wrong wireType = %u for field %.*s", wire,
                                  STR_ARG(name)));
}

/* A field that the type has, of which the tag was read, at `start`. */
static int read_known(struct decoder *d, struct level *at, const struct api_field *f,
                      const struct proto__tag *tag, const unsigned char *start) {
    const struct reader *r = &readers[f->kind];
    bool is_packed =
        r->form == LIST && r->wire == PROTO_VARINT && tag->wire == (unsigned)PROTO_LENGTH;
    struct proto__value v;
    if (tag->wire != (unsigned)r->wire && !is_packed)
        return refuse_wire(d, f, tag->wire);
    if (proto__value(&at->in, tag->wire, &v) < 0)
        return refuse_in(d, &at->in);
    if (r->form == ONE)
        return r->read(d, f, &v, at->body + f->offset);
    if (provide(d, at, f, start) < 0)
        return -1;
    return is_packed         ? add_packed(d, at, f, v.bytes)
           : r->form == LIST ? add_element(d, at, f, &v)
                             : add_entry(d, at, f, v.bytes);
}

static int read_field(struct decoder *d, struct level *at) {
    const unsigned char *start = at->in.p;
    struct proto__tag tag;
    if (proto__tag(&at->in, &tag) < 0)
        return refuse_in(d, &at->in);
    if (tag.wire == PROTO_GROUP_END)
        return refuse(d, arena_printf(d->faults->a, "proto: %s: wiretype end group for non-group",
                                      message_name(at->type)));
    if (tag.number <= 0)
        return refuse(d, arena_printf(d->faults->a, "proto: %s: illegal tag %d (wire type %u)",
                                      message_name(at->type), tag.number, tag.wire));
    const struct api_field *f = api_field_numbered(at->type, (uint64_t)tag.number);
    if (f)
        return read_known(d, at, f, &tag, start);
    at->in.p = start;
    return proto__skip(&at->in) < 0 ? refuse_in(d, &at->in) : 0;
}

/* Two levels for each message: that of a list stands in an array, too. */
static int read_message(struct decoder *d, const struct api_type *type, struct str message,
                        void *body) {
    struct level at = {.type = type, .body = body, .in = proto__read(message)};
    if (d->depth + 2 >= LIMIT_JSON_DEPTH)
        return refuse(d, arena_printf(d->faults->a, "messages are nested more than %d levels deep",
                                      LIMIT_JSON_DEPTH / 2));
    d->depth += 2;
    while (at.in.p < at.in.end)
        if (read_field(d, &at) < 0)
            return -1;
    d->depth -= 2;
    return at.unsorted ? sort_maps(d, &at) : 0;
}

int api__proto_decode(struct arena *a, const struct api_type *type, struct str message, void *body,
                      struct api_faults *faults) {
    struct decoder d = {.a = a, .faults = faults};
    if (message.n > LIMIT_OBJECT_BYTES)
        return refuse(&d, arena_printf(faults->a, "the message is longer than %u MiB",
                                       LIMIT_OBJECT_BYTES >> 20));
    return read_message(&d, type, message, body);
}

int api_proto_struct_decode(struct arena *a, const struct api_type *type, struct str message,
                            void *body, struct api_faults *faults) {
    AUTO(arena_release) struct arena scratch = {0};
    struct api_faults unread;
    if (!faults)
        faults = &unread;
    api_faults_init(faults, faults == &unread ? &scratch : faults->a);
    return api__proto_decode(a, type, message, body, faults);
}
