/* Functions of libcurl by name. */
#include "client/http/curl_int.h"

#include <dlfcn.h>
#include <signal.h>
#include <string.h>

/* ISO C has no conversion of what dlsym gives to a function. */
static bool find(void *library, const char *name, void *to) {
    void *function = dlsym(library, name);
    memcpy(to, &function, sizeof function);
    return function;
}

/* A peer that is gone is told by write, and not by a signal, which libcurl would have to look after
 * at each call. */
static void ignore_broken_pipes(void) {
    struct sigaction action;
    if (sigaction(SIGPIPE, NULL, &action) == 0 && action.sa_handler == SIG_DFL)
        signal(SIGPIPE, SIG_IGN);
}

int client__curl_load(struct client__curl *out, struct err *err) {
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library)
        return err_set(err, ERR_NOT_FOUND, "libcurl, which requests to servers need: %s",
                       dlerror());
#define X(name)                                    \
    if (!find(library, "curl_" #name, &out->name)) \
        return err_set(err, ERR_NOT_FOUND, "libcurl has no function curl_" #name);
    CLIENT__CURL_FUNCTIONS(X)
#undef X
    ignore_broken_pipes();
    if (out->global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return err_set(err, ERR_INTERNAL, "libcurl cannot be used");
    return 0;
}
