/*
 * Tokens that are kept in Secrets and do not expire.
 *
 * Follows k8s.io/kubernetes pkg/serviceaccount, func LegacyClaims.
 */
#include "auth/token_int.h"

#define LEGACY_ISSUER "kubernetes/serviceaccount"
#define LEGACY_CLAIM  "kubernetes.io/serviceaccount/"

struct str auth_legacy_token_sign(const struct auth_issuer *issuer, struct arena *a,
                                  const struct api_object *account, const struct api_object *secret,
                                  struct err *err) {
    AUTO(buf_release) struct buf payload = BUF_INIT(SIZE_MAX);
    const struct api_object_meta *meta = account->meta;
    struct auth_user user = auth_service_account(a, meta->namespace, meta->name, meta->uid);
    struct json t = {.kind = JSON_OBJECT};
    json_add(a, &t, STR("iss"), json_of_str(STR(LEGACY_ISSUER)));
    json_add(a, &t, STR(LEGACY_CLAIM "namespace"), json_of_str(meta->namespace));
    json_add(a, &t, STR(LEGACY_CLAIM "secret.name"), json_of_str(secret->meta->name));
    json_add(a, &t, STR(LEGACY_CLAIM "service-account.name"), json_of_str(meta->name));
    json_add(a, &t, STR(LEGACY_CLAIM "service-account.uid"), json_of_str(meta->uid));
    json_add(a, &t, STR("sub"), json_of_str(user.name));
    json_write(&payload, &t, NULL);
    return auth__jwt_sign(issuer->keys, a, buf_view(&payload), err);
}
