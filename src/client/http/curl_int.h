/*
 * libcurl, loaded when a client first needs it: linked, it and the twenty libraries behind it would
 * be loaded at every start of the program, whatever it is started for.
 */
#ifndef CLIENT_CURL_INT_H
#define CLIENT_CURL_INT_H

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "base/err.h"

/* What is called of it: curl_NAME. */
#define CLIENT__CURL_FUNCTIONS(X) \
    X(global_init)                \
    X(easy_init)                  \
    X(easy_cleanup)               \
    X(easy_setopt)                \
    X(easy_getinfo)               \
    X(easy_strerror)              \
    X(slist_append)               \
    X(slist_free_all)             \
    X(multi_init)                 \
    X(multi_cleanup)              \
    X(multi_setopt)               \
    X(multi_assign)               \
    X(multi_add_handle)           \
    X(multi_remove_handle)        \
    X(multi_socket_action)        \
    X(multi_info_read)

struct client__curl {
#define X(name) __typeof__(&curl_##name) name;
    CLIENT__CURL_FUNCTIONS(X)
#undef X
};

/* Loads it, once for the process, for which it stays. -1 when it is not installed, or too old. */
int client__curl_load(struct client__curl *out, struct err *err);

#endif
