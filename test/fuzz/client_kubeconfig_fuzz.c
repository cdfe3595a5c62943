/* Any text, taken for a kubeconfig: what comes of it names a server, or there is a reason. */
#include "check.h"
#include "client/kubeconfig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena a = {0};
    struct kubeconfig *k = kubeconfig_new(&a);
    struct kubeconfig_access access;
    struct err err = {0};
    if (kubeconfig_add(k, STR("/a/b"), (struct str){(const char *)data, size}, &err) == 0 &&
        kubeconfig_resolve(k, STR(""), &access, &err) == 0) {
        CHECK(str_starts(access.server, STR("http")));
        CHECK(!access.exec || access.exec->command.n);
        CHECK(!access.key_file.n || access.key_file.p[0] == '/');
    } else
        CHECK(err.msg[0]);
    arena_release(&a);
    return 0;
}
