/*
 * Metadata alone, in protobuf: PartialObjectMetadata and its list, which no row of the schema
 * describes.
 *
 * Follows k8s.io/apimachinery pkg/apis/meta/v1, func (*PartialObjectMetadata) MarshalTo,
 * func (*PartialObjectMetadataList) MarshalTo.
 */
#include "api/proto.h"
#include "server/server_int.h"
#include "server/shape_int.h"

/* The numbers of the fields: of an envelope, of the names in it, of an object and of a list. */
enum { NAMES = 1, RAW = 2, ENCODING = 3, TYPE = 4 };
enum { API_VERSION = 1, KIND = 2 };
enum { METADATA = 1, ITEMS = 2 };

/* Annotations that upstream's internal objects have as fields of the spec. */
static const struct {
    enum api_type_id type;
    struct str key;
} fields[] = {
    {API_T_daemon_set, STR_INIT("deprecated.daemonset.template.generation")},
    {API_T_deployment, STR_INIT("deprecated.deployment.rollback.to")},
};

static struct labels without(struct arena *a, const struct labels *map, struct str key) {
    struct labels out = {arena_array(a, struct label, map->n), 0};
    for (size_t i = 0; i < map->n; i++)
        if (!str_eq(map->v[i].key, key))
            out.v[out.n++] = map->v[i];
    return out;
}

const struct api_object_meta *server__meta_of(struct arena *a, const struct api_object *o) {
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (!api_object_is(o, fields[i].type) || !labels_find(&o->meta->annotations, fields[i].key))
            continue;
        struct api_object_meta *m = arena_new(a, struct api_object_meta);
        *m = *o->meta;
        m->annotations = without(a, &o->meta->annotations, fields[i].key);
        return m;
    }
    return o->meta;
}

void server__proto_envelope(struct buf *out, struct str api_version, struct str kind,
                            struct str message) {
    AUTO(buf_release) struct buf names = BUF_INIT(SIZE_MAX);
    api_proto_add_bytes(&names, API_VERSION, api_version);
    api_proto_add_bytes(&names, KIND, kind);
    buf_add(out, (struct str){"k8s", 4});
    api_proto_add_bytes(out, NAMES, buf_view(&names));
    api_proto_add_bytes(out, RAW, message);
    api_proto_add_bytes(out, ENCODING, STR(""));
    api_proto_add_bytes(out, TYPE, STR(""));
}

static void write_message(struct buf *out, const struct api_object *o) {
    AUTO(arena_release) struct arena a = {0};
    AUTO(buf_release) struct buf meta = BUF_INIT(SIZE_MAX);
    api_proto_struct_write(&meta, &api_types[API_T_object_meta], server__meta_of(&a, o));
    api_proto_add_bytes(out, METADATA, buf_view(&meta));
}

void server__partial_proto(struct buf *out, const char *api_version, const struct api_object *o) {
    AUTO(buf_release) struct buf message = BUF_INIT(SIZE_MAX);
    write_message(&message, o);
    server__proto_envelope(out, str_of(api_version), STR("PartialObjectMetadata"),
                           buf_view(&message));
}

void server__partial_list_proto(struct buf *out, const char *api_version,
                                const struct api_list_meta *meta,
                                const struct apiserver_list *list) {
    AUTO(buf_release) struct buf message = BUF_INIT(SIZE_MAX), part = BUF_INIT(SIZE_MAX);
    api_proto_struct_write(&part, &api_types[API_T_list_meta], meta);
    api_proto_add_bytes(&message, METADATA, buf_view(&part));
    for (size_t i = 0; i < list->n; i++) {
        buf_clear(&part);
        write_message(&part, list->objects[i]);
        api_proto_add_bytes(&message, ITEMS, buf_view(&part));
    }
    server__proto_envelope(out, str_of(api_version), STR("PartialObjectMetadataList"),
                           buf_view(&message));
}
