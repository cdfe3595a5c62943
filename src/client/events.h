/*
 * Events for people: what components say about objects, as `kubectl describe` shows it. What is
 * said again is counted, not repeated; who says too much is heard at times only.
 *
 * Follows k8s.io/client-go tools/record, func (*EventCorrelator) EventCorrelate.
 */
#ifndef CLIENT_EVENTS_H
#define CLIENT_EVENTS_H

#include "client/client.h"

struct events;
struct log;

/* Who says: the source of events, and their reportingComponent. The client and the texts are
 * stored. Free it with events_free, which accepts NULL. */
struct events_opts {
    struct client *client;
    const struct log *log;
    const char *component; /* "replicaset-controller" */
    struct str host;       /* of the source; may be empty */
};
struct events *events_new(const struct events_opts *opts);
void events_free(struct events *e);

enum events_type { EVENTS_NORMAL, EVENTS_WARNING };

/* Says something about an object. Nothing waits for it, and a failure is only logged. */
__attribute__((format(printf, 5, 6))) void events_say(struct events *e, const struct api_object *o,
                                                      enum events_type type, const char *reason,
                                                      const char *fmt, ...);

/* The same about what is known by its names only. */
struct events_subject {
    const struct api_kind *kind;
    struct str namespace, name, uid;
};
__attribute__((format(printf, 5, 6))) void events_say_of(struct events *e,
                                                         const struct events_subject *subject,
                                                         enum events_type type, const char *reason,
                                                         const char *fmt, ...);

/* The same about a part of it, by another host than that of all; both may be empty. */
struct events_place {
    struct str field_path; /* "spec.containers{c}" */
    struct str host;
};
__attribute__((format(printf, 6, 7))) void events_say_at(struct events *e,
                                                         const struct events_subject *subject,
                                                         const struct events_place *place,
                                                         enum events_type type, const char *reason,
                                                         const char *fmt, ...);

#endif
