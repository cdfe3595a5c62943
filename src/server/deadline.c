/*
 * How long a request may take: as long as the server says, or less if the client says so. Writes
 * that the core has when their time is over are answered, and what becomes of them is not known.
 *
 * Follows k8s.io/apiserver pkg/endpoints/filters, func WithRequestDeadline.
 * Follows k8s.io/apiserver pkg/server/filters, func WithTimeoutForNonLongRunningRequests.
 */
#include "base/clock.h"
#include "codec/time.h"
#include "server/server_int.h"

/* Upstream gives writes this long, whatever the client and the server say. */
#define WRITE_LONGEST (34 * CLOCK_SECOND)

static struct registry_failure too_late(bool is_write) {
    return (struct registry_failure){
        .code = ERR_TIMEOUT,
        .message = is_write ? STR("Timeout: request did not complete within requested timeout - "
                                  "context deadline exceeded")
                            : STR("Timeout: request did not complete within the allotted timeout"),
        .has_details = true};
}

struct registry_failure server__deadline_read(struct server__call *c) {
    struct str text = server_query_get(&c->query, "timeout");
    int64_t longest = c->s->opts.request_timeout, asked = 0;
    struct err err;
    if (c->account.is_long_running)
        return (struct registry_failure){.code = ERR_NONE};
    if (text.n && time_parse_duration(text, &asked, &err) < 0)
        return registry_bad_request(
            arena_printf(&c->arena, "invalid timeout specified in the request URL - %s", err.msg));
    c->due =
        clock_after(net_loop_now(c->worker->loop), asked > 0 && asked < longest ? asked : longest);
    return (struct registry_failure){.code = ERR_NONE};
}

/* The core has the call, and all that is in it but its exchange: the answer is made beside it. */
static void answer_late(struct server__call *c) {
    AUTO(arena_release) struct arena a = {0};
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    struct registry_failure failure = too_late(true);
    struct json status = registry_status(&a, &failure);
    const struct net_header headers[] = {
        {STR("Audit-Id"), c->account.id},
        {STR("Cache-Control"), STR("no-cache, private")},
        {STR("Content-Type"), STR("application/json")},
    };
    json_write(&text, &status, NULL);
    buf_add_char(&text, '\n');
    c->is_late = true;
    server__account_late(c, &failure);
    struct net_part part = {.bytes = buf_view(&text)};
    net_respond(c->x, 504, (struct net_headers){headers, 3}, &part, 1);
}

static void expire(void *arg) {
    struct server__call *c = arg;
    server_counts_tally(c->worker->counts, SERVER_TALLY_DEADLINES);
    if (c->is_with_core) {
        answer_late(c);
        return;
    }
    server__call_detach(c);
    server__answer_failure(c, too_late(false));
}

static void start(struct server__call *c, int64_t at) {
    c->deadline = (struct net_timer){.fn = expire, .arg = c};
    net_timer_start(c->worker->loop, &c->deadline, at);
}

void server__deadline_start(struct server__call *c) {
    start(c, c->due);
}

void server__deadline_write(struct server__call *c) {
    int64_t latest = net_loop_now(c->worker->loop) + WRITE_LONGEST;
    server__deadline_stop(c);
    start(c, c->due < latest ? c->due : latest);
}

void server__deadline_stop(struct server__call *c) {
    net_timer_stop(c->worker->loop, &c->deadline);
}
