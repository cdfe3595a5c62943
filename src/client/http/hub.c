/* Where a server is, as libcurl is told: its URL, and the connections to it. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "client/http/transfer_int.h"

/* A URL: scheme://host:port/path. */
struct url {
    struct str scheme, host, port, path; /* port with its colon, path with its slash, or empty */
};

static struct url url_of(struct str text) {
    struct url u = {0};
    size_t at = str_find(text, STR("://"));
    u.scheme = str_sub(text, 0, at);
    struct str rest = str_sub(text, at + 3, text.n);
    size_t slash = str_find_char(rest, '/');
    u.path = slash == STR_NONE ? STR("") : str_sub(rest, slash, rest.n);
    u.host = str_sub(rest, 0, slash);
    for (size_t i = u.host.n; i > 0 && u.host.p[i - 1] != ']'; i--) /* of [::1]:6443, too */
        if (u.host.p[i - 1] == ':') {
            u.port = str_sub(u.host, i - 1, u.host.n);
            u.host = str_sub(u.host, 0, i - 1);
            break;
        }
    return u;
}

/* As Go, which asks no proxy for servers on the same machine. */
static bool is_near(struct str host) {
    return str_is(host, "localhost") || str_starts(host, STR("127.")) || str_is(host, "[::1]");
}

static char *text_of(struct buf *b) {
    buf_add_char(b, '\0');
    return b->p; /* taken */
}

static void set_place(struct client__hub *h, const struct kubeconfig_access *access) {
    struct url u = url_of(access->server);
    struct str name = access->server_name.n ? access->server_name : u.host;
    struct buf origin = BUF_INIT(SIZE_MAX), host = BUF_INIT(SIZE_MAX), to = BUF_INIT(SIZE_MAX);
    buf_addf(&origin, "%.*s://%.*s%.*s%.*s", STR_ARG(u.scheme), STR_ARG(name), STR_ARG(u.port),
             STR_ARG(u.path));
    h->origin = text_of(&origin);
    h->is_near = is_near(u.host);
    if (!access->server_name.n)
        return;
    buf_addf(&host, "%.*s%.*s", STR_ARG(u.host), STR_ARG(u.port));
    h->host = text_of(&host);
    buf_addf(&to, "::%.*s:", STR_ARG(u.host));
    h->connect_to = h->curl.slist_append(NULL, text_of(&to));
    buf_release(&to);
}

int client__hub_init(struct client__hub *h, struct net_loop *loop,
                     const struct kubeconfig_access *access, struct str user_agent,
                     struct net_deferred *queue, struct err *err) {
    struct buf agent = BUF_INIT(SIZE_MAX);
    *h = (struct client__hub){.loop = loop, .access = access, .queue = queue};
    if (client__curl_load(&h->curl, err) < 0)
        return -1;
    h->multi = h->curl.multi_init();
    if (!h->multi)
        return err_set(err, ERR_INTERNAL, "libcurl cannot be used");
    client__hub_listen(h);
    buf_add(&agent, user_agent);
    h->user_agent = text_of(&agent);
    set_place(h, access);
    return 0;
}

bool client__hub_takes(const struct client__hub *h) {
    return h->is_open || !h->probe;
}

void client__hub_count(struct client__hub *h, const char *method, int status) {
    for (size_t i = 0; i < h->tallies.n; i++)
        if (h->tallies.v[i].status == status && !strcmp(h->tallies.v[i].method, method)) {
            h->tallies.v[i].n++;
            return;
        }
    vec_push(&h->tallies, (struct client__tally){method, status, 1});
}

void client__hub_write_metrics(const struct client__hub *h, struct buf *out) {
    struct str host = str_of(h->host ? h->host : strstr(h->origin, "://") + 3);
    if (!h->tallies.n)
        return;
    host = str_sub(host, 0, str_find_char(host, '/'));
    buf_add(out, STR("# HELP rest_client_requests_total [ALPHA] Requests that were answered, or "
                     "failed, by code, method and host.\n"
                     "# TYPE rest_client_requests_total counter\n"));
    for (size_t i = 0; i < h->tallies.n; i++) {
        const struct client__tally *t = &h->tallies.v[i];
        char code[16] = "<error>";
        if (t->status)
            snprintf(code, sizeof code, "%d", t->status);
        buf_addf(out, "rest_client_requests_total{code=\"%s\",host=\"%.*s\",method=\"%s\"} %llu\n",
                 code, STR_ARG(host), t->method, (unsigned long long)t->n);
    }
}

void client__hub_release(struct client__hub *h) {
    vec_release(&h->tallies);
    if (!h->multi)
        return;
    h->curl.multi_cleanup(h->multi);
    net_timer_stop(h->loop, &h->timer);
    h->curl.slist_free_all(h->connect_to);
    free(h->user_agent);
    free(h->origin);
    free(h->host);
    h->multi = NULL;
}
