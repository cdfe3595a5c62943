/*
 * Documents of discovery in protobuf, made of the same documents in JSON: no row of the schema
 * describes their types, as they are neither stored nor sent to the server.
 *
 * Follows k8s.io/apimachinery pkg/apis/meta/v1, func (*APIResourceList) MarshalTo,
 * func (*APIGroupList) MarshalTo.
 */
#include "api/proto.h"
#include "server/server_int.h"
#include "server/shape_int.h"

/* What stands for a member that is missing, as Go writes what is no pointer. */
enum absent { NOTHING, EMPTY, ZERO };

/* A member of a message, with the type of what it holds if that is a message, and its number. */
struct field {
    const char *name;
    const struct field *of;
    unsigned number;
    enum absent absent;
};

#define TEXT(name, number) \
    { name, NULL, number, EMPTY }
#define NUMBER(name, number) \
    { name, NULL, number, ZERO }
#define LIST(name, number) \
    { name, NULL, number, NOTHING }
#define MESSAGE(name, number, of) \
    { name, of, number, EMPTY }
#define SOME(name, number, of) \
    { name, of, number, NOTHING } /* a list of them, or a pointer */
#define END \
    { NULL, NULL, 0, NOTHING }

static const struct field version[] = {TEXT("groupVersion", 1), TEXT("version", 2), END};
static const struct field address[] = {TEXT("clientCIDR", 1), TEXT("serverAddress", 2), END};
static const struct field group[] = {TEXT("name", 1), SOME("versions", 2, version),
                                     MESSAGE("preferredVersion", 3, version),
                                     SOME("serverAddressByClientCIDRs", 4, address), END};
static const struct field groups[] = {SOME("groups", 1, group), END};
static const struct field versions[] = {LIST("versions", 1),
                                        SOME("serverAddressByClientCIDRs", 2, address), END};

/* The verbs of a resource are a message of their own. */
static const struct field items[] = {LIST("", 1), END};
static const struct field resource[] = {TEXT("name", 1),
                                        NUMBER("namespaced", 2),
                                        TEXT("kind", 3),
                                        SOME("verbs", 4, items),
                                        LIST("shortNames", 5),
                                        TEXT("singularName", 6),
                                        LIST("categories", 7),
                                        TEXT("group", 8),
                                        TEXT("version", 9),
                                        TEXT("storageVersionHash", 10),
                                        END};
static const struct field resources[] = {TEXT("groupVersion", 1), SOME("resources", 2, resource),
                                         END};

static const struct field type[] = {TEXT("group", 1), TEXT("version", 2), TEXT("kind", 3), END};
static const struct field found_sub[] = {TEXT("subresource", 1), SOME("responseKind", 2, type),
                                         LIST("verbs", 4), END};
static const struct field found_resource[] = {TEXT("resource", 1),
                                              SOME("responseKind", 2, type),
                                              TEXT("scope", 3),
                                              TEXT("singularResource", 4),
                                              LIST("verbs", 5),
                                              LIST("shortNames", 6),
                                              LIST("categories", 7),
                                              SOME("subresources", 8, found_sub),
                                              END};
static const struct field found_version[] = {
    TEXT("version", 1), SOME("resources", 2, found_resource), TEXT("freshness", 3), END};
static const struct field nothing[] = {END};
static const struct field meta[] = {TEXT("name", 1),
                                    TEXT("generateName", 2),
                                    TEXT("namespace", 3),
                                    TEXT("selfLink", 4),
                                    TEXT("uid", 5),
                                    TEXT("resourceVersion", 6),
                                    NUMBER("generation", 7),
                                    MESSAGE("creationTimestamp", 8, nothing),
                                    END};
static const struct field list_meta[] = {TEXT("selfLink", 1), TEXT("resourceVersion", 2),
                                         TEXT("continue", 3), END};
static const struct field found_group[] = {MESSAGE("metadata", 1, meta),
                                           SOME("versions", 2, found_version), END};
static const struct field found[] = {MESSAGE("metadata", 1, list_meta),
                                     SOME("items", 2, found_group), END};

static const struct {
    const char *kind;
    const struct field *fields;
} kinds[] = {
    {"APIGroup", group},       {"APIGroupDiscoveryList", found},
    {"APIGroupList", groups},  {"APIResourceList", resources},
    {"APIVersions", versions},
};

/* As deep as the tables above. The tree may be missing, or null: then all of it is. */
static void write_message(struct buf *out, const struct field *fields, const struct json *tree);

static void write_value(struct buf *out, const struct field *f, const struct json *value) {
    AUTO(buf_release) struct buf message = BUF_INIT(SIZE_MAX);
    if (f->of) {
        write_message(&message, f->of, value);
        api_proto_add_bytes(out, f->number, buf_view(&message));
    } else if (value && value->kind == JSON_BOOL)
        api_proto_add_number(out, f->number, value->b);
    else if (f->absent == ZERO)
        api_proto_add_number(out, f->number, 0);
    else
        api_proto_add_bytes(out, f->number, value ? json_str(value) : STR(""));
}

static void write_field(struct buf *out, const struct field *f, const struct json *value) {
    if (!value && f->absent == NOTHING)
        return;
    if (!value || value->kind != JSON_ARRAY || f->of == items) {
        write_value(out, f, value);
        return;
    }
    for (uint32_t i = 0; i < value->n; i++)
        write_value(out, f, &value->items[i]);
}

static void write_message(struct buf *out, const struct field *fields, const struct json *tree) {
    for (const struct field *f = fields; f->name; f++) {
        const struct json *value = tree;
        if (*f->name)
            value = tree && tree->kind == JSON_OBJECT ? json_get(tree, str_of(f->name)) : NULL;
        write_field(out, f, value && value->kind != JSON_NULL ? value : NULL);
    }
}

/* That of the resources of the core does not say of which version it is. */
void server__discovery_proto(struct buf *out, const struct json *tree) {
    AUTO(buf_release) struct buf message = BUF_INIT(SIZE_MAX);
    const struct json *api_version = json_get(tree, STR("apiVersion"));
    struct str kind = json_str(json_get(tree, STR("kind")));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (str_is(kind, kinds[i].kind))
            write_message(&message, kinds[i].fields, tree);
    server__proto_envelope(out, api_version ? json_str(api_version) : STR(""), kind,
                           buf_view(&message));
}
