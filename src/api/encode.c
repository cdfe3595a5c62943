/*
 * Struct to JSON tree, driven by the schema's rows, as Go encodes the same struct: fields in the
 * order of the rows, maps sorted by key, empty fields left out where the row says so.
 *
 * Follows std encoding/json, func (structEncoder) encode, func isEmptyValue.
 */
#include <string.h>

#include "api/object.h"
#include "base/ascii.h"
#include "base/limits.h"
#include "codec/base64.h"
#include "codec/time.h"

/* More rows than any type has (the test over all types checks it). */
enum { MOST_MEMBERS = 80 };

struct encoder {
    struct arena *a;
    bool go;         /* as Go prints the struct without JSON names: see api_struct_encode_go */
    bool known_only; /* without members that the schema does not know */
    size_t most;     /* bytes of the arena; 0: any number */
    bool *full;      /* it has become more, and the rest was left out */
};

typedef struct json encode_fn(struct encoder *e, const struct api_field *f, const void *slot);

static const struct json json_null = {.kind = JSON_NULL};

static struct json encode_str(struct encoder *e, const struct api_field *f, const void *slot) {
    (void)e;
    const struct str *s = slot;
    return f->kind == API_PSTR && !s->p ? json_null : json_of_str(*s);
}

/* What a writer appended to a buffer, as a string in the arena. */
static struct json take_text(struct encoder *e, struct buf *b) {
    struct json text = json_of_str(arena_str(e->a, buf_view(b)));
    buf_release(b);
    return text;
}

/* No bytes at all differ from an empty list of them. */
static struct json encode_bytes(struct encoder *e, const struct api_field *f, const void *slot) {
    (void)f;
    const struct str *bytes = slot;
    if (!bytes->p)
        return json_null;
    struct buf b = BUF_INIT(2 * LIMIT_OBJECT_BYTES);
    base64_write(&b, *bytes);
    return take_text(e, &b);
}

static struct json encode_opt_f64(struct encoder *e, const struct api_field *f, const void *slot) {
    (void)f;
    const struct api_opt_f64 *o = slot;
    return o->set ? json_of_double(e->a, o->v) : json_null;
}

static struct json encode_bool(struct encoder *e, const struct api_field *f, const void *slot) {
    (void)e, (void)f;
    return json_of_bool(*(const bool *)slot);
}

static struct json encode_opt_bool(struct encoder *e, const struct api_field *f, const void *slot) {
    (void)e, (void)f;
    const struct api_opt_bool *o = slot;
    return o->set ? json_of_bool(o->v) : json_null;
}

static struct json encode_i32(struct encoder *e, const struct api_field *f, const void *slot) {
    (void)e, (void)f;
    return json_of_i64(*(const int32_t *)slot);
}

static struct json encode_opt_i32(struct encoder *e, const struct api_field *f, const void *slot) {
    (void)e, (void)f;
    const struct api_opt_i32 *o = slot;
    return o->set ? json_of_i64(o->v) : json_null;
}

static struct json encode_i64(struct encoder *e, const struct api_field *f, const void *slot) {
    (void)e, (void)f;
    return json_of_i64(*(const int64_t *)slot);
}

static struct json encode_opt_i64(struct encoder *e, const struct api_field *f, const void *slot) {
    (void)e, (void)f;
    const struct api_opt_i64 *o = slot;
    return o->set ? json_of_i64(o->v) : json_null;
}

static struct json encode_time(struct encoder *e, const struct api_field *f, const void *slot) {
    const struct api_time *t = slot;
    if (!t->set)
        return json_null;
    struct buf b = BUF_INIT(64);
    struct time_instant point = {t->sec, t->nsec};
    if (f->kind == API_MICROTIME || f->kind == API_PMICROTIME)
        time_write_micro(&b, point);
    else
        time_write(&b, point);
    return take_text(e, &b);
}

static struct json encode_quantity(struct encoder *e, const struct api_field *f, const void *slot) {
    (void)f;
    struct buf b = BUF_INIT(LIMIT_OBJECT_BYTES);
    quantity_write(&b, slot);
    return take_text(e, &b);
}

static struct json encode_quantity_ptr(struct encoder *e, const struct api_field *f,
                                       const void *slot) {
    const struct quantity *q = *(struct quantity *const *)slot;
    return q ? encode_quantity(e, f, q) : json_null;
}

static struct json encode_int_or_str(struct encoder *e, const struct api_field *f,
                                     const void *slot) {
    (void)e, (void)f;
    const struct api_int_or_str *v = slot;
    return v->is_str ? json_of_str(v->s) : json_of_i64(v->i);
}

static struct json encode_int_or_str_ptr(struct encoder *e, const struct api_field *f,
                                         const void *slot) {
    const struct api_int_or_str *v = *(struct api_int_or_str *const *)slot;
    return v ? encode_int_or_str(e, f, v) : json_null;
}

static struct json encode_raw(struct encoder *e, const struct api_field *f, const void *slot) {
    (void)e, (void)f;
    return *(const struct json *)slot;
}

/* ---- lists and maps ---- */

struct any_list {
    const char *v;
    size_t n;
};

static struct json encode_array(struct encoder *e, const struct api_field *f, const void *slot,
                                size_t size, encode_fn *one) {
    const struct any_list *list = slot;
    if (!list->v)
        return json_null;
    struct json array = {.kind = JSON_ARRAY, .n = (uint32_t)list->n};
    array.items = arena_array(e->a, struct json, list->n);
    for (size_t i = 0; i < list->n; i++)
        array.items[i] = one(e, f, list->v + i * size);
    return array;
}

static struct json encode_strs(struct encoder *e, const struct api_field *f, const void *slot) {
    return encode_array(e, f, slot, sizeof(struct str), encode_str);
}

static struct json encode_i32s(struct encoder *e, const struct api_field *f, const void *slot) {
    return encode_array(e, f, slot, sizeof(int32_t), encode_i32);
}

static struct json encode_i64s(struct encoder *e, const struct api_field *f, const void *slot) {
    return encode_array(e, f, slot, sizeof(int64_t), encode_i64);
}

static struct json encode_bools(struct encoder *e, const struct api_field *f, const void *slot) {
    return encode_array(e, f, slot, sizeof(bool), encode_bool);
}

static struct json encode_amounts(struct encoder *e, const struct api_field *f, const void *slot) {
    return encode_array(e, f, slot, sizeof(struct quantity), encode_quantity);
}

static struct json encode_raws(struct encoder *e, const struct api_field *f, const void *slot) {
    return encode_array(e, f, slot, sizeof(struct json), encode_raw);
}

/* Every entry type starts with its key; the value stands behind it. */
static struct json encode_map(struct encoder *e, const struct api_field *f, const void *slot,
                              size_t size, encode_fn *one) {
    const struct any_list *map = slot;
    if (!map->v)
        return json_null;
    struct json object = {.kind = JSON_OBJECT, .n = (uint32_t)map->n};
    object.members = arena_array(e->a, struct json_member, map->n);
    for (size_t i = 0; i < map->n; i++) {
        const char *entry = map->v + i * size;
        object.members[i].key = *(const struct str *)(const void *)entry;
        object.members[i].value = one(e, f, entry + sizeof(struct str));
    }
    return object;
}

static struct json encode_str_map(struct encoder *e, const struct api_field *f, const void *slot) {
    return encode_map(e, f, slot, sizeof(struct label), encode_str);
}

static struct json encode_bytes_map(struct encoder *e, const struct api_field *f,
                                    const void *slot) {
    return encode_map(e, f, slot, sizeof(struct label), encode_bytes);
}

static struct json encode_str_lists(struct encoder *e, const struct api_field *f,
                                    const void *slot) {
    return encode_map(e, f, slot, sizeof(struct api_str_list), encode_strs);
}

static struct json encode_quantities(struct encoder *e, const struct api_field *f,
                                     const void *slot) {
    return encode_map(e, f, slot, sizeof(struct api_quantity), encode_quantity);
}

static struct json encode_times(struct encoder *e, const struct api_field *f, const void *slot) {
    return encode_map(e, f, slot, sizeof(struct api_time_entry), encode_time);
}

/* ---- structs ---- */

static struct json encode_struct(struct encoder *e, const struct api_type *type, const char *body);

static struct json encode_obj(struct encoder *e, const struct api_field *f, const void *slot) {
    return encode_struct(e, f->type, slot);
}

static struct json encode_ptr(struct encoder *e, const struct api_field *f, const void *slot) {
    const void *body = *(void *const *)slot;
    return body ? encode_struct(e, f->type, body) : json_null;
}

static struct json encode_list(struct encoder *e, const struct api_field *f, const void *slot) {
    return encode_array(e, f, slot, f->type->size, encode_obj);
}

static struct json encode_obj_map(struct encoder *e, const struct api_field *f, const void *slot) {
    return encode_map(e, f, slot, sizeof(struct str) + f->type->size, encode_obj);
}

static encode_fn *const encoders[API_FIELD_KINDS] = {
    [API_STR] = encode_str,           [API_PSTR] = encode_str,
    [API_BOOL] = encode_bool,         [API_PBOOL] = encode_opt_bool,
    [API_I32] = encode_i32,           [API_PI32] = encode_opt_i32,
    [API_I64] = encode_i64,           [API_PI64] = encode_opt_i64,
    [API_TIME] = encode_time,         [API_PTIME] = encode_time,
    [API_MICROTIME] = encode_time,    [API_PMICROTIME] = encode_time,
    [API_PF64] = encode_opt_f64,      [API_BYTES] = encode_bytes,
    [API_QUANTITY] = encode_quantity, [API_PQUANTITY] = encode_quantity_ptr,
    [API_INTSTR] = encode_int_or_str, [API_PINTSTR] = encode_int_or_str_ptr,
    [API_RAW] = encode_raw,           [API_PRAW] = encode_raw,
    [API_LSTR] = encode_strs,         [API_LI32] = encode_i32s,
    [API_LI64] = encode_i64s,         [API_LBOOL] = encode_bools,
    [API_LQUANTITY] = encode_amounts, [API_LRAW] = encode_raws,
    [API_MSTR] = encode_str_map,      [API_MBYTES] = encode_bytes_map,
    [API_MLSTR] = encode_str_lists,   [API_MQUANTITY] = encode_quantities,
    [API_MTIME] = encode_times,       [API_OBJ] = encode_obj,
    [API_PTR] = encode_ptr,           [API_LIST] = encode_list,
    [API_MOBJ] = encode_obj_map,
};

/* Does Go's omitempty drop this value? It never drops structs, which times and quantities are. */
static bool is_empty(const struct api_field *f, const struct json *v, const void *slot) {
    switch (f->kind) {
    case API_OBJ:
    case API_QUANTITY:
    case API_INTSTR:
        return false;
    case API_TIME:
    case API_MICROTIME:
        return v->kind == JSON_NULL && (f->flags & API_ZERO);
    case API_PTR: /* what is there may be null, when it is a bare type without a value */
        return !*(void *const *)slot;
    case API_I32:
    case API_I64:
        return v->i == 0;
    case API_BOOL:
        return !v->b;
    case API_STR:
    case API_LIST:
    case API_LSTR:
    case API_LI32:
    case API_LI64:
    case API_LBOOL:
    case API_LQUANTITY:
    case API_LRAW:
    case API_BYTES:
    case API_MSTR:
    case API_MBYTES:
    case API_MLSTR:
    case API_MQUANTITY:
    case API_MTIME:
    case API_MOBJ:
        return v->n == 0;
    default:
        return v->kind == JSON_NULL;
    }
}

/*
 * The API server's internal types have the fields of v1 in the same order but no tags: Go prints
 * them under the names of the fields, and does not leave out what is empty. Most names are the JSON
 * name with a capital letter; these are not.
 */
enum { ANY_TYPE = -1 };
static const struct {
    int type; /* enum api_type_id, or ANY_TYPE */
    const char *json, *go;
} go_names[] = {
    {ANY_TYPE, "apiGroup", "APIGroup"},
    {ANY_TYPE, "apiGroups", "APIGroups"},
    {ANY_TYPE, "apiVersion", "APIVersion"},
    {ANY_TYPE, "awsElasticBlockStore", "AWSElasticBlockStore"},
    {ANY_TYPE, "cephfs", "CephFS"},
    {ANY_TYPE, "chapAuthDiscovery", "DiscoveryCHAPAuth"},
    {ANY_TYPE, "chapAuthSession", "SessionCHAPAuth"},
    {ANY_TYPE, "cidrs", "CIDRs"},
    {ANY_TYPE, "csi", "CSI"},
    {ANY_TYPE, "diskURI", "DataDiskURI"},
    {ANY_TYPE, "dnsConfig", "DNSConfig"},
    {ANY_TYPE, "dnsPolicy", "DNSPolicy"},
    {ANY_TYPE, "fc", "FC"},
    {ANY_TYPE, "fsGroup", "FSGroup"},
    {ANY_TYPE, "fsGroupChangePolicy", "FSGroupChangePolicy"},
    {ANY_TYPE, "fsType", "FSType"},
    {ANY_TYPE, "gcePersistentDisk", "GCEPersistentDisk"},
    {ANY_TYPE, "gmsaCredentialSpec", "GMSACredentialSpec"},
    {ANY_TYPE, "gmsaCredentialSpecName", "GMSACredentialSpecName"},
    {ANY_TYPE, "grpc", "GRPC"},
    {ANY_TYPE, "httpGet", "HTTPGet"},
    {ANY_TYPE, "cel", "CEL"},
    {ANY_TYPE, "httpHeaders", "HTTPHeaders"},
    {ANY_TYPE, "ip", "IP"},
    {ANY_TYPE, "ips", "IPs"},
    {ANY_TYPE, "iqn", "IQN"},
    {ANY_TYPE, "iscsi", "ISCSI"},
    {ANY_TYPE, "iscsiInterface", "ISCSIInterface"},
    {ANY_TYPE, "nfs", "NFS"},
    {ANY_TYPE, "os", "OS"},
    {ANY_TYPE, "osImage", "OSImage"},
    {ANY_TYPE, "pdName", "PDName"},
    {ANY_TYPE, "rbd", "RBD"},
    {ANY_TYPE, "seLinuxChangePolicy", "SELinuxChangePolicy"},
    {ANY_TYPE, "seLinuxOptions", "SELinuxOptions"},
    {ANY_TYPE, "sslEnabled", "SSLEnabled"},
    {ANY_TYPE, "storageos", "StorageOS"},
    {ANY_TYPE, "tcpSocket", "TCPSocket"},
    {ANY_TYPE, "ttlSecondsAfterFinished", "TTLSecondsAfterFinished"},
    {ANY_TYPE, "tty", "TTY"},
    {ANY_TYPE, "uid", "UID"},
    {ANY_TYPE, "wwids", "WWIDs"},
    {API_T_device_attribute, "bool", "BoolValue"},
    {API_T_device_attribute, "bools", "BoolValues"},
    {API_T_device_attribute, "int", "IntValue"},
    {API_T_device_attribute, "ints", "IntValues"},
    {API_T_device_attribute, "string", "StringValue"},
    {API_T_device_attribute, "strings", "StringValues"},
    {API_T_device_attribute, "version", "VersionValue"},
    {API_T_device_attribute, "versions", "VersionValues"},
    {API_T_glusterfs_persistent_volume_source, "endpoints", "EndpointsName"},
    {API_T_glusterfs_volume_source, "endpoints", "EndpointsName"},
    {API_T_pod_spec, "serviceAccount", "DeprecatedServiceAccount"},
    {API_T_rbd_persistent_volume_source, "image", "RBDImage"},
    {API_T_rbd_persistent_volume_source, "monitors", "CephMonitors"},
    {API_T_rbd_persistent_volume_source, "pool", "RBDPool"},
    {API_T_rbd_persistent_volume_source, "user", "RadosUser"},
    {API_T_rbd_volume_source, "image", "RBDImage"},
    {API_T_rbd_volume_source, "monitors", "CephMonitors"},
    {API_T_rbd_volume_source, "pool", "RBDPool"},
    {API_T_rbd_volume_source, "user", "RadosUser"},
};

static struct str go_name(struct encoder *e, const struct api_type *type, struct str json) {
    for (size_t i = 0; i < sizeof go_names / sizeof *go_names; i++)
        if ((go_names[i].type == ANY_TYPE || go_names[i].type == type->id) &&
            str_is(json, go_names[i].json))
            return str_of(go_names[i].go);
    char *name = arena_copy(e->a, json.p, json.n);
    if (ascii_is_lower(name[0]))
        name[0] = (char)(name[0] - 'a' + 'A');
    return (struct str){name, json.n};
}

/* Some types are used inside as they are, with their tags. */
static bool is_tagged(const struct api_type *type) {
    return type->id == API_T_label_selector || type->id == API_T_object_meta ||
           type->id == API_T_type_meta || type->id == API_T_condition ||
           strncmp(type->go, "v1alpha3.Workload", 17) == 0 ||
           strncmp(type->go, "v1alpha3.TopologyConstraint", 27) == 0;
}

/* Are the members of this field printed among those of the outer struct? */
static bool is_embedded(const struct encoder *e, const struct api_field *f) {
    return f->kind == API_INLINE || (e->go && f->type && f->type->id == API_T_object_meta);
}

/* Where v1 has a pointer, the types of rolling updates have the value itself. */
static bool is_plain_number(const struct api_type *type, const struct api_field *f) {
    return type->id == API_T_rolling_update_deployment ||
           type->id == API_T_rolling_update_daemon_set || str_is(f->json, "partition");
}

static struct json_member encode_go(struct encoder *e, const struct api_type *type,
                                    const struct api_field *f, struct json value) {
    if (value.kind == JSON_NULL && is_plain_number(type, f))
        value = json_of_i64(0);
    return (struct json_member){go_name(e, type, f->json), value};
}

static size_t encode_fields(struct encoder *outer, const struct api_type *type, const char *body,
                            struct json_member *out) {
    struct encoder inner = *outer, *e = &inner;
    e->go = outer->go && !is_tagged(type);
    size_t n = 0;
    for (size_t i = 0; i < type->field_count; i++) {
        const struct api_field *f = &type->fields[i];
        if (is_embedded(e, f)) {
            n += encode_fields(e, f->type, body + f->offset, out + n);
            continue;
        }
        if (!e->go && f->flags & API_OMIT && api_field_is_absent(f, body + f->offset))
            continue;
        struct json value = encoders[f->kind](e, f, body + f->offset);
        if (e->go && !(f->flags & API_PROPOSED && value.n == 0))
            out[n++] = encode_go(e, type, f, value);
        else if (!e->go && (!(f->flags & API_OMIT) || !is_empty(f, &value, body + f->offset)))
            out[n++] = (struct json_member){f->json, value};
    }
    return n;
}

/* Of a bare type the list is written if it has elements, else the struct, else the truth. */
static struct json encode_bare(struct encoder *e, const struct api_type *type, const char *body) {
    struct json best = json_null;
    for (size_t i = 0; i < type->field_count; i++) {
        const struct api_field *f = &type->fields[i];
        struct json value = encoders[f->kind](e, f, body + f->offset);
        if ((value.kind == JSON_ARRAY && value.n) || (value.kind == JSON_OBJECT) ||
            (value.kind == JSON_BOOL && best.kind == JSON_NULL))
            best = value;
    }
    return best;
}

static struct json encode_struct(struct encoder *e, const struct api_type *type, const char *body) {
    struct json_member members[MOST_MEMBERS];
    if (type->bare)
        return encode_bare(e, type, body);
    if (e->most && e->a->bytes > e->most) {
        *e->full = true;
        return json_null;
    }
    size_t n = encode_fields(e, type, body, members);
    const struct json *extra = *(struct json *const *)(const void *)body;
    size_t extras = extra && !e->known_only ? extra->n : 0;
    struct json object = {.kind = JSON_OBJECT, .n = (uint32_t)(n + extras)};
    object.members = arena_alloc(e->a, (n + extras) * sizeof *members);
    memcpy(object.members, members, n * sizeof *members);
    if (extras)
        memcpy(object.members + n, extra->members, extras * sizeof *members);
    return object;
}

struct json api_struct_encode(struct arena *a, const struct api_type *type, const void *body) {
    struct encoder e = {.a = a};
    return encode_struct(&e, type, body);
}

struct json api_struct_encode_go(struct arena *a, const struct api_type *type, const void *body) {
    struct encoder e = {.a = a, .go = true, .known_only = true};
    return encode_struct(&e, type, body);
}

bool api_struct_encode_go_within(struct arena *a, const struct api_type *type, const void *body,
                                 size_t most, struct json *out) {
    bool full = false;
    struct encoder e = {.a = a, .go = true, .known_only = true, .most = most, .full = &full};
    *out = encode_struct(&e, type, body);
    return !full;
}

struct json api_object_encode(const struct api_object *o, struct arena *a) {
    return api_struct_encode(a, o->type, o->body);
}
