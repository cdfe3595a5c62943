/*
 * The envelope of protobuf bodies, and what is read or written around objects: lists and the events
 * of watches.
 *
 * Follows k8s.io/apimachinery pkg/runtime/serializer/protobuf, func (*Serializer) Decode,
 * func streamingEncodeList.
 * Follows k8s.io/apimachinery pkg/util/framer, func (*lengthDelimitedFrameWriter) Write.
 */
#include "api/object_int.h"
#include "api/proto/proto_int.h"
#include "base/limits.h"

#define PREFIX ((struct str){"k8s", 4})

/* The parts of a small message, by their numbers: bytes, or such a message again. */
struct part {
    struct str *bytes;
    const struct part *inside;
    int n; /* parts inside */
};

/* Of repeated parts the last wins; messages are merged. */
static int read_parts(struct str message, const struct part *parts, int n, struct err *err) {
    struct proto__in in = proto__read(message);
    while (in.p < in.end) {
        const unsigned char *start = in.p;
        struct proto__tag tag;
        struct str bytes = STR("");
        if (proto__tag(&in, &tag) < 0)
            return err_set(err, ERR_INVALID, "%s", in.fault);
        if (tag.wire == PROTO_GROUP_END || tag.number <= 0)
            return err_set(err, ERR_INVALID, "proto: illegal tag %d (wire type %u)", tag.number,
                           tag.wire);
        if (tag.number <= n && tag.wire != PROTO_LENGTH)
            return err_set(err, ERR_INVALID, "proto: wrong wireType = %u", tag.wire);
        if (tag.number > n)
            in.p = start;
        if ((tag.number > n ? proto__skip(&in) : proto__bytes(&in, &bytes)) < 0)
            return err_set(err, ERR_INVALID, "%s", in.fault);
        const struct part *part = tag.number > n ? NULL : &parts[tag.number - 1];
        if (part && part->bytes)
            *part->bytes = bytes;
        else if (part && read_parts(bytes, part->inside, part->n, err) < 0)
            return -1;
    }
    return 0;
}

int api_proto_open(struct str body, struct api_proto_envelope *out, struct err *err) {
    const struct part names[] = {{.bytes = &out->api_version}, {.bytes = &out->kind}};
    const struct part parts[] = {{.inside = names, .n = 2},
                                 {.bytes = &out->message},
                                 {.bytes = &out->content_encoding},
                                 {.bytes = &out->content_type}};
    *out = (struct api_proto_envelope){0};
    if (!body.n)
        return err_set(err, ERR_INVALID, "empty data");
    if (!str_starts(body, PREFIX))
        return err_set(err, ERR_INVALID,
                       "provided data does not appear to be a protobuf message, expected prefix "
                       "[107 56 115 0]");
    if (body.n == PREFIX.n)
        return err_set(err, ERR_INVALID, "empty body");
    return read_parts(str_sub(body, PREFIX.n, body.n), parts, 4, err);
}

static int refuse(struct api_faults *faults, struct str text) {
    api__fault_add(faults, API_FAULT_VALUE, STR(""), text);
    return -1;
}

static int refuse_kind(struct api_faults *faults, struct str api_version, struct str kind) {
    return refuse(faults,
                  arena_printf(faults->a, "no kind \"%.*s\" is registered for version \"%.*s\"",
                               STR_ARG(kind), STR_ARG(api_version)));
}

static int decode_message(struct str api_version, struct str kind, struct str message,
                          struct api_object **out, struct api_faults *faults) {
    const struct api_kind *known = api_kind_find(api_version, kind);
    if (!known)
        return refuse_kind(faults, api_version, kind);
    struct api_object *o = api_object_new(known);
    if (api__proto_decode(&o->arena, o->type, message, api_own_body(o), faults) < 0 ||
        api__check_conversion(o, faults) < 0) {
        faults->subject = api__fault_subject(faults->a, kind, api_version, kind);
        api_object_free(o);
        return -1;
    }
    *out = o;
    return 0;
}

static int decode_body(struct str body, const struct api_decode_opts *opts, struct api_object **out,
                       struct api_faults *faults) {
    struct api_proto_envelope e;
    struct err err;
    if (api_proto_open(body, &e, &err) < 0)
        return refuse(faults, str_of(err.msg));
    struct str kind = e.kind.n ? e.kind : opts->kind;
    struct str api_version = e.api_version.n ? e.api_version : opts->api_version;
    if (!kind.n)
        return refuse(faults, STR("Object 'Kind' is missing"));
    if (!api_version.n)
        return refuse(faults, STR("Object 'apiVersion' is missing"));
    return decode_message(api_version, kind, e.message, out, faults);
}

int api_proto_decode(struct str body, const struct api_decode_opts *opts, struct api_object **out,
                     struct api_faults *faults) {
    static const struct api_decode_opts nothing;
    AUTO(arena_release) struct arena scratch = {0};
    struct api_faults unread;
    if (!faults)
        faults = &unread;
    api_faults_init(faults, faults == &unread ? &scratch : faults->a);
    return decode_body(body, opts ? opts : &nothing, out, faults);
}

/* ---- lists ---- */

/* All that a list has beside its items; what stands twice is merged. */
static int read_list_meta(struct arena *a, struct api_proto_list *list, struct api_faults *faults) {
    struct proto__in in = proto__read(list->rest);
    while (in.p < in.end) {
        struct proto__in field = in;
        struct proto__tag tag;
        struct str message;
        if (proto__tag(&field, &tag) < 0 || proto__skip(&in) < 0)
            return refuse(faults, str_of(in.fault ? in.fault : field.fault));
        if (tag.number <= 0)
            return refuse(faults, STR("proto: illegal tag"));
        if (tag.number <= 2 && tag.wire != PROTO_LENGTH)
            return refuse(faults, STR("proto: wrong wireType"));
        if (tag.number != 1)
            continue;
        proto__bytes(&field, &message);
        if (api__proto_decode(a, &api_types[API_T_list_meta], message, &list->meta, faults) < 0)
            return -1;
    }
    return 0;
}

int api_proto_list_open(struct arena *a, struct str body, struct api_proto_list *out,
                        struct api_faults *faults) {
    struct api_proto_envelope e;
    struct err err;
    api_faults_init(faults, faults->a);
    *out = (struct api_proto_list){0};
    if (api_proto_open(body, &e, &err) < 0)
        return refuse(faults, str_of(err.msg));
    out->api_version = arena_str(a, e.api_version);
    out->kind = arena_str(a, str_sub(e.kind, 0, e.kind.n - (e.kind.n < 4 ? 0 : 4)));
    if (!str_ends(e.kind, STR("List")) || !api_kind_find(out->api_version, out->kind))
        return refuse_kind(faults, e.api_version, e.kind);
    out->rest = e.message;
    return read_list_meta(a, out, faults);
}

/* The fields were looked at when the list was opened; what is in the items was not. */
int api_proto_list_next(struct api_proto_list *list, struct api_object **out,
                        struct api_faults *faults) {
    struct proto__in in = proto__read(list->rest);
    api_faults_init(faults, faults->a);
    while (in.p < in.end) {
        struct proto__in field = in;
        struct proto__tag tag;
        struct str message;
        proto__skip(&in);
        proto__tag(&field, &tag);
        if (tag.number != 2)
            continue;
        proto__bytes(&field, &message);
        list->rest = (struct str){(const char *)in.p, (size_t)(in.end - in.p)};
        return decode_message(list->api_version, list->kind, message, out, faults) < 0 ? -1 : 1;
    }
    list->rest = STR("");
    return 0;
}

size_t api_proto_item_size(size_t message_size) {
    return 1 + proto__varint_size(message_size) + message_size;
}

void api_proto_item_head(struct buf *out, size_t message_size) {
    proto__add_head(out, 2, message_size);
}

/* ---- watches ---- */

int api_proto_event_open(struct str message, struct api_proto_event *out, struct err *err) {
    const struct part object[] = {{.bytes = &out->body}};
    const struct part parts[] = {{.bytes = &out->type}, {.inside = object, .n = 1}};
    *out = (struct api_proto_event){0};
    return read_parts(message, parts, 2, err);
}

void api_proto_event_head(struct buf *out, struct str type, size_t body_size) {
    size_t object = api_proto_item_size(body_size);
    size_t whole = api_proto_item_size(type.n) + api_proto_item_size(object);
    for (int shift = 24; shift >= 0; shift -= 8)
        buf_add_char(out, (char)(whole >> shift));
    proto__add_head(out, 1, type.n);
    buf_add(out, type);
    proto__add_head(out, 2, object);
    proto__add_head(out, 1, body_size);
}
