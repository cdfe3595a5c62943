/*
 * Requests and answers as they are on the wire: paths, queries and JSON. Nothing here sends
 * anything.
 */
#ifndef CLIENT_WIRE_INT_H
#define CLIENT_WIRE_INT_H

#include "base/vec.h"
#include "client/client.h"

/* ---- what is sent ---- */

/* A request of HTTP. */
struct client__message {
    const char *method;
    struct str target;        /* path and query */
    const char *content_type; /* NULL: no body */
    struct str body;
};

/* A request as it is sent, in the arena. */
struct client__message client__message_of(struct arena *a, const struct client_request *r);

/* How a watch is asked for. */
struct client__watching {
    const struct api_kind *kind;
    struct client_selection selection;
    bool begins; /* all that is there comes first (WatchList) */
    int seconds; /* until the server ends it */
};
struct client__message client__watch_message(struct arena *a, const struct client__watching *w);

/* ---- what comes back ---- */

/* An answer of HTTP; texts are borrowed. */
struct client__reply {
    int status;
    struct str body;
    int32_t retry_after; /* of the header; 0: it had none */
};

/* An answer with what it holds; texts live in the arena of the call and in the reply. */
struct client__result {
    struct client_answer answer;
    VEC(const struct api_object *) items;
};

/* Reads the answer to a request of this verb and kind (NULL: it was of a path). What cannot be
 * understood is a failure, too. Released with client__result_release. */
void client__result_read(struct arena *a, enum registry_verb verb, const struct api_kind *kind,
                         const struct client__reply *reply, struct client__result *out);
void client__result_release(struct client__result *r);

/* Reads a line of a watch; texts live in the arena, and out->object is the caller's reference. An
 * ERROR of the server becomes ENDED. -1 when the line is not understood. */
int client__event_read(struct arena *a, const struct api_kind *kind, struct str line,
                       struct client_event *out, struct err *err);

#endif
