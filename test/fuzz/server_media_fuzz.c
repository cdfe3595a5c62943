/*
 * Any header of media types is read without harm; what is chosen is something that the router would
 * let through, but for a star that it does not know.
 */
#include "check.h"
#include "server/media.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct str text = {(const char *)data, size};
    struct server_media m;
    enum server_format format;
    enum apiserver_patch_type patch;
    if (server_media_accept(text, (enum server_shapes)(size % 4), &m)) {
        CHECK(m.format <= SERVER_PROTOBUF && m.shape <= SERVER_PARTIAL_LIST);
        CHECK(server_media_type(&m, false).n > 0);
    }
    (void)server_media_is_served(text);
    (void)server_media_is_for_people(text, text);
    if (server_media_of_body(text, &format))
        CHECK(format <= SERVER_PROTOBUF);
    if (server_media_of_patch(text, &patch))
        CHECK(patch <= APISERVER_APPLY_PATCH);
    return 0;
}
