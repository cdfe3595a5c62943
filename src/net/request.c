/* Heads of requests: memory, targets, and headers by name. */
#include "net/request_int.h"

#include "base/alloc.h"
#include "base/ascii.h"

struct net__peer *net__peer_new(struct str address, bool is_tls, struct net_identity *identity) {
    struct net__peer *peer = xmalloc(sizeof *peer + address.n);
    char *text = (char *)(peer + 1);
    memcpy(text, address.p, address.n);
    *peer = (struct net__peer){
        .refs = 1, .is_tls = is_tls, .address = {text, address.n}, .identity = identity};
    return peer;
}

void net__peer_unref(struct net__peer *peer) {
    if (!peer || --peer->refs > 0)
        return;
    free(peer->identity);
    free(peer);
}

struct net__head *net__head_new(struct net__peer *peer, size_t headers, size_t bytes, char **p) {
    struct net__head *head = xmalloc(sizeof *head + headers * sizeof *head->headers + bytes);
    *head = (struct net__head){.peer = peer};
    peer->refs++;
    head->request.headers.v = head->headers;
    head->request.peer = peer->address;
    head->request.is_tls = peer->is_tls;
    head->request.identity = peer->identity;
    *p = (char *)(head->headers + headers);
    return head;
}

void net__head_free(struct net__head *head) {
    if (!head)
        return;
    net__peer_unref(head->peer);
    free(head);
}

bool net__split_target(struct str target, struct str *path, struct str *query) {
    size_t scheme = str_starts(target, STR("/")) ? STR_NONE : str_find(target, STR("://"));
    if (scheme != STR_NONE) {
        struct str rest = str_sub(target, scheme + 3, target.n);
        size_t slash = str_find_char(rest, '/');
        target = slash == STR_NONE ? STR("/") : str_sub(rest, slash, rest.n);
    }
    if (!str_cut(target, '?', path, query))
        *query = (struct str){0};
    return path->n > 0 && (path->p[0] == '/' || str_eq(target, STR("*")));
}

bool net__name_eq(struct str a, struct str b) {
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++) {
        if (ascii_to_lower(a.p[i]) != ascii_to_lower(b.p[i]))
            return false;
    }
    return true;
}

struct str net_headers_find(struct net_headers headers, struct str name) {
    for (size_t i = 0; i < headers.n; i++) {
        if (net__name_eq(headers.v[i].name, name))
            return headers.v[i].value;
    }
    return (struct str){0};
}

static bool list_has(struct str list, struct str token) {
    struct str item;
    for (bool more = true; more;) {
        more = str_cut(list, ',', &item, &list);
        if (net__name_eq(str_trim(item), token))
            return true;
    }
    return false;
}

bool net__headers_have(struct net_headers headers, struct str name, struct str token) {
    for (size_t i = 0; i < headers.n; i++) {
        if (net__name_eq(headers.v[i].name, name) && list_has(headers.v[i].value, token))
            return true;
    }
    return false;
}
