/*
 * Informers: what is stored of a kind, as a watch tells it, kept up to date.
 *
 * The components of one loop share a set of informers: each kind is watched once, and whoever is
 * interested is told of changes. An informer survives whatever happens to its watch: it goes on
 * from the revision that it has seen, or, if that is too old, compares what it has with what there
 * is, and tells what differs. An object is never told twice in the same state, and never in a state
 * that is older than one that was told.
 *
 * Follows k8s.io/client-go tools/cache, func (*Reflector) ListAndWatchWithContext.
 */
#ifndef CLIENT_INFORMER_H
#define CLIENT_INFORMER_H

#include "client/client.h"

struct informer;
struct informers;
struct log;

/* A set without informers. The client is borrowed and must outlive it; so must the log. Free it
 * with informers_free, which accepts NULL and ends all watches. */
struct informers *informers_new(struct client *client, const struct log *log);
void informers_free(struct informers *set);

/* The informer of a kind, made and started when it is first asked for. It lives as long as the
 * set. */
struct informer *informers_of(struct informers *set, const struct api_kind *kind);

/* Keeps, of each object, only what `slim` makes of it: a published object of the same name, uid and
 * resource version, whose reference is the informer's. To be called right after informers_of made
 * it. */
void informer_slim(struct informer *i, const struct api_object *(*slim)(const struct api_object *));

/* Has every informer seen all that was there when it began? */
bool informers_have_synced(const struct informers *set);

/* For whoever is about to decide by what informers have seen so far: those whose watch has ended,
 * and that were told nothing since, may have missed what happened before this call. They have not
 * synced any more until they have seen all that is there now. Nobody may listen to them yet. */
void informers_renew(struct informers *set);

/* ---- who is told ---- */

/* Objects are borrowed for the call; published ones may be held by a reference. Either slot may be
 * NULL. */
struct informer_handler {
    /* The object is new (old is NULL) or has changed. */
    void (*set)(void *arg, const struct api_object *old, const struct api_object *object);
    /* The object is gone; as it was last seen. */
    void (*deleted)(void *arg, const struct api_object *last);
    /* All that was there at first has been told. Called once. */
    void (*synced)(void *arg);
    void *arg;
};

/* Tells the handler, which is copied, of all changes from now on; and at once of what is there. */
void informer_listen(struct informer *i, const struct informer_handler *handler);

/* ---- what is there ---- */

/* Has it seen all that was there when it began? */
bool informer_has_synced(const struct informer *i);

/* The newest revision whose changes were told: a write of that revision or an older one has been
 * seen, if it was one of this kind. */
uint64_t informer_revision(const struct informer *i);

/* The object of this name, or NULL; borrowed until the next turn. */
const struct api_object *informer_get(const struct informer *i, struct str namespace,
                                      struct str name);

/* How many there are. */
size_t informer_count(const struct informer *i);

/* By what objects can be found, beside their names. */
enum informer_index {
    INFORMER_ALL,           /* key: empty */
    INFORMER_BY_NAMESPACE,  /* key: the namespace */
    INFORMER_BY_CONTROLLER, /* key: the uid of the owner that is its controller; "" has none */
    INFORMER_BY_NODE,       /* key: spec.nodeName of a pod; "" is not bound */
    INFORMER_INDEXES
};

/* The objects under a key, in the order in which they came; *n tells how many. Borrowed until the
 * next turn. An index is made when it is first asked for. */
const struct api_object *const *informer_find(struct informer *i, enum informer_index index,
                                              struct str key, size_t *n);

#endif
