/* Any text is a policy or is refused with a reason; a policy can be asked about anything. */
#include "check.h"
#include "server/audit_policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct server_audit_policy *policy;
    struct err err = {0};
    struct str group = STR("g");
    const struct auth_user user = {.name = STR("a"), .groups = {&group, 1}};
    const struct auth_attributes questions[] = {
        {.user = &user, .verb = STR("get"), .path = STR("/x")},
        {.user = &user,
         .verb = STR("list"),
         .is_resource = true,
         .namespace = STR("n"),
         .resource = STR("pods"),
         .subresource = STR("log"),
         .name = STR("p")},
    };
    if (server_audit_policy_read((struct str){(const char *)data, size}, &policy, &err) < 0) {
        CHECK(err.msg[0]);
        return 0;
    }
    for (size_t i = 0; i < 2; i++)
        CHECK(server_audit_policy_find(policy, &questions[i]).level <= SERVER_AUDIT_RESPONSE);
    server_audit_policy_free(policy);
    return 0;
}
