/*
 * Images that are not there: every other one is on every node.
 *
 * Follows k8s.io/kubernetes pkg/kubelet/images, func (*imageManager) EnsureImageExists,
 * func (*imageManager) pullImage.
 */
#include "api/image.h"
#include "nodes/life_int.h"

struct str nodes__image_reason(struct arena *a, const struct api_container *c,
                               const struct nodes__wishes *w, struct str *message) {
    struct str fault = api_image_fault(a, c->image);
    if (fault.n) {
        *message = arena_printf(a,
                                "Failed to apply default image tag \"%.*s\": couldn't parse image "
                                "name \"%.*s\": %.*s",
                                STR_ARG(c->image), STR_ARG(c->image), STR_ARG(fault));
        return STR("InvalidImageName");
    }
    if (!w->lacks_image)
        return STR("");
    if (str_is(c->image_pull_policy, "Never")) {
        *message =
            arena_printf(a, "Container image \"%.*s\" is not present with pull policy of Never",
                         STR_ARG(c->image));
        return STR("ErrImageNeverPull");
    }
    *message = arena_printf(a, "Back-off pulling image \"%.*s\": ErrImagePull: " NODES__NO_IMAGE,
                            STR_ARG(c->image));
    return STR("ImagePullBackOff");
}
