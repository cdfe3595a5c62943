/* The server of a component's health and figures. */
#include "health/endpoint.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/buf.h"

enum { MOST_EXCLUDED = 64, MOST_BYTES = 16 << 20 };

struct endpoint {
    struct endpoint_opts opts;
    struct net_tls *tls;
    struct net_server *server;
};

/* What a query says: names stand there as they are called, without anything to decode. */
static void read_query(struct str query, struct str excluded[MOST_EXCLUDED],
                       struct health_question *q) {
    q->excluded = excluded;
    for (struct str pair, name, value; query.n;) {
        str_cut(query, '&', &pair, &query);
        str_cut(pair, '=', &name, &value);
        if (str_is(name, "verbose"))
            q->is_verbose = true;
        if (str_is(name, "exclude") && q->excluded_count < MOST_EXCLUDED)
            excluded[q->excluded_count++] = value;
    }
}

int endpoint_answer(const struct endpoint_opts *opts, struct str method, struct str path,
                    struct str query, const char **type, struct buf *out) {
    struct str excluded[MOST_EXCLUDED];
    struct health_question q = {.path = path};
    *type = "text/plain; charset=utf-8";
    if (!str_is(method, "GET") && !str_is(method, "HEAD")) {
        buf_add(out, STR("Method Not Allowed\n"));
        return 405;
    }
    if (str_is(path, "/metrics")) {
        *type = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores";
        opts->write_metrics(opts->arg, out);
        return 200;
    }
    read_query(query, excluded, &q);
    int status = health_answer(&opts->checks, &q, out);
    if (!status)
        buf_add(out, STR("404 page not found\n"));
    return status ? status : 404;
}

static void on_request(void *self, struct net_exchange *x) {
    const struct endpoint *e = self;
    const struct net_request *r = net_exchange_request(x);
    AUTO(buf_release) struct buf text = BUF_INIT(MOST_BYTES);
    const char *type;
    int status = endpoint_answer(&e->opts, r->method, r->path, r->query, &type, &text);
    const struct net_header headers[] = {
        {STR("Content-Type"), str_of(type)},
        {STR("Cache-Control"), STR("no-cache, private")},
        {STR("X-Content-Type-Options"), STR("nosniff")},
    };
    const struct net_part part = {.bytes = buf_view(&text)};
    net_respond(x, status, (struct net_headers){headers, 3}, &part, 1);
    net_exchange_release(x);
}

struct endpoint *endpoint_new(const struct endpoint_opts *opts, struct err *err) {
    struct endpoint *e = xcalloc(1, sizeof *e);
    e->opts = *opts;
    if (opts->certificate.chain_pem.n) {
        e->tls = net_tls_new(&(struct net_tls_config){&opts->certificate, 1, STR("")}, err);
        if (!e->tls) {
            free(e);
            return NULL;
        }
    }
    e->server = net_server_new(&opts->loop, 1,
                               &(struct net_server_config){.address = opts->address,
                                                           .port = opts->port,
                                                           .tls = e->tls,
                                                           .request = on_request,
                                                           .self = e},
                               err);
    if (e->server)
        return e;
    endpoint_free(e);
    return NULL;
}

void endpoint_free(struct endpoint *e) {
    if (!e)
        return;
    net_server_free(e->server);
    net_tls_free(e->tls);
    free(e);
}

uint16_t endpoint_port(const struct endpoint *e) {
    return net_server_port(e->server);
}
