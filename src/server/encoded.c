/* The encoded bytes of objects, which all who are sent them share for as long as they are warm. */
#include "server/server_int.h"

struct api_bytes *server__encoded(struct server__call *c, const struct api_object *o,
                                  bool is_proto) {
    bool is_new;
    struct api_bytes *bytes =
        is_proto ? api_object_proto_keep(o, &is_new) : api_object_json_keep(o, &is_new);
    /* What nobody else holds was made for this answer, and dies with it. */
    if (is_new && api_object_holders(o) > 1)
        store_keep_bytes(c->s->opts.store, o, bytes);
    return bytes;
}

static void unref_bytes(void *bytes) {
    api_bytes_unref(bytes);
}

struct net_part server__bytes_part(struct api_bytes *bytes, struct str part) {
    return (struct net_part){part, unref_bytes, bytes};
}
