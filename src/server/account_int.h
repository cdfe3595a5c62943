/* What is told of a request: counters, the audit log, lines about refusals. */
#ifndef SERVER_ACCOUNT_INT_H
#define SERVER_ACCOUNT_INT_H

#include "net/net.h"
#include "server/audit_log.h"
#include "server/audit_policy.h"
#include "server/counts.h"
#include "server/inflight.h"

struct server__call;

/* How a call is accounted for: counters and the audit log. */
struct server__account {
    int64_t received, received_wall; /* when the head had come: monotonic, and of the day */
    struct str id;                   /* Audit-Id */
    struct server_series *series;    /* that counts it; NULL: not known yet, or none does */
    enum server_seat seat;           /* among the requests under way */
    struct server_audit_rule audit;  /* what of it is written to the audit log */
    struct str object_name, object_uid, object_version; /* as the body says them */
    struct str request_object, response_object;         /* in JSON, if they are wanted */
    struct str status_text; /* the Status of a failure, in JSON; empty: it did not fail */
    int status;             /* of HTTP */
    bool is_long_running, is_streaming, is_answered;
};

/* ---- observe.c ---- */

/* The head of a request has come, and it is known what it asks for. */
void server__account_open(struct server__call *c);

/* It is known who asks, and whether they may: ERR_NONE, or why not. */
void server__account_start(struct server__call *c, enum err_code refused);

/* A stream has begun to answer with this status. */
void server__account_stream(struct server__call *c, int status);

/* An answer is about to be given: its status, and its length before compression. */
void server__account_answer(struct server__call *c, int status, size_t length);

/* It is all over: a stream has ended, or there is nobody left to be answered. */
void server__account_end(struct server__call *c);

/* The answer will be a failure: a line at -v 2, unless there are too many of them. */
void server__account_refusal(struct server__call *c, const struct registry_failure *failure);

/* The same for an answer that is given while the core has the call, whose arena is not touched. */
void server__account_late(struct server__call *c, const struct registry_failure *failure);

/* ---- audit.c ---- */

/* Asks the policy, and writes that the request was received. */
void server__audit_start(struct server__call *c);

/* Writes an event, if the policy wants it; the arena is for texts on the way. */
void server__audit(struct server__call *c, struct arena *a, enum server_audit_stage stage);

/* Remembers the request's body, if the policy wants it. */
void server__account_request(struct server__call *c);

/* Remembers the answer in JSON, if the policy wants it; asked first if it is to be made for that
 * alone. */
bool server__account_wants_object(const struct server__call *c);
void server__account_object(struct server__call *c, const struct net_part *parts, size_t n);

#endif
