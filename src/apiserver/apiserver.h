/*
 * The API server without a network: a request as data in, a response as data out.
 *
 * HTTP is one way to make a request, a component in the same process another, a simulation a third:
 * same admission, same conflicts, same texts, and no encoding where nobody reads bytes.
 *
 * Reads (get, list, watch) run on any thread: they look at a snapshot of the store. Writes run on
 * one thread, the core, one after the other; what they did is durable, and may be told, when the
 * batch of the store that they are part of is done.
 */
#ifndef APISERVER_APISERVER_H
#define APISERVER_APISERVER_H

#include "api/selector.h"
#include "apiserver/catalog.h"
#include "auth/token.h"
#include "registry/fields.h"
#include "registry/registry.h"
#include "store/store.h"

struct apiserver;

/* ---- a request ---- */

enum apiserver_strictness { APISERVER_WARN, APISERVER_IGNORE, APISERVER_STRICT };

/* What a request says beside its object. Texts are borrowed. */
struct apiserver_options {
    struct str field_manager;
    enum apiserver_strictness field_validation;
    bool dry_run;
    struct api_opt_bool force;
    struct str resource_version, resource_version_match, continue_token;
    struct str label_selector, field_selector;
    int64_t limit; /* 0: none */
    struct api_opt_i64 timeout_seconds;
    bool watch, allow_bookmarks;
    struct api_opt_bool send_initial_events;
};

enum apiserver_patch_type {
    APISERVER_JSON_PATCH,
    APISERVER_MERGE_PATCH,
    APISERVER_STRATEGIC_PATCH,
    APISERVER_APPLY_PATCH,
};

/* Everything is borrowed for as long as the request is under way, but for `object`. */
struct apiserver_request {
    enum registry_verb verb;
    const struct apiserver_resource *resource;
    const struct registry_subresource *subresource; /* NULL: the resource itself */
    struct str namespace, name;
    const struct auth_user *user; /* NULL: a component of the server itself */
    struct str user_agent;
    struct apiserver_options options;
    struct api_object *object;               /* owned: decoded and with defaults; or NULL */
    const struct api_delete_options *delete; /* NULL: none */
    enum apiserver_patch_type patch_type;
    const struct json *patch;
    bool patch_has_duplicates;     /* it was parsed with repeated keys allowed */
    struct api_strs patch_repeats; /* of one that is applied: keys that stood again, see yml.h */
    struct arena *arena;           /* of texts of the response */
};

/* ---- a response ---- */

/* The objects of a list: borrowed from the snapshot, which is held. */
struct apiserver_list {
    struct store_snapshot *snapshot;
    const struct api_object **objects; /* in the request's arena */
    size_t n;
    uint64_t revision;
    struct str continue_token;    /* absent: that is all */
    struct api_opt_i64 remaining; /* objects behind this page, if that is known */
};

enum apiserver_answer {
    APISERVER_FAILURE,
    APISERVER_OBJECT,
    APISERVER_LIST,
    APISERVER_SUCCESS, /* a Status: done, about the object that was deleted */
};

struct apiserver_response {
    enum apiserver_answer answer;
    int code;                        /* of HTTP */
    struct registry_failure failure; /* why nothing came of it */
    const struct api_object *object; /* held; as stored: whoever shows it converts it */
    struct apiserver_list list;
    struct api_strs warnings;
    bool is_written; /* something was written: it may be told when the batch is done */
};

/* Gives back what a response holds. */
void apiserver_response_release(struct apiserver_response *response);

/* ---- what containers print ---- */

struct apiserver_log_line {
    int64_t at; /* wall time, in nanoseconds */
    struct str text;
};

/* What a container has printed in one of its runs, up to now. */
struct apiserver_log {
    struct str run; /* the id of the container in that run */
    const struct apiserver_log_line *lines;
    size_t n;
    int64_t next; /* wall time of the next line; INT64_MAX: it depends on what happens */
    bool is_over; /* there will be none */
};

/* Tells what the container of a pod has printed by `now`, in the run that its status shows or, if
 * is_previous, in the one before. Lines that were told of a run stay the same. In the arena. Any
 * thread. */
typedef void apiserver_log_fn(struct arena *a, const struct api_object *pod, struct str container,
                              bool is_previous, int64_t now, struct apiserver_log *out);

/* ---- the server ---- */

struct apiserver_opts {
    const struct apiserver_catalog *catalog; /* stored */
    struct store *store;                     /* stored; opened with the catalog's table */
    const struct feature_set *gates;         /* stored */
    const struct valid_cel *cel;             /* stored; NULL: expressions are not compiled */
    const struct clock *clock;               /* stored */
    struct registry_plugins plugins;         /* of admission that are asked */
    /* Fills n bytes that nobody can guess; a simulation may give others. */
    void (*draw)(void *ctx, void *to, size_t n);
    void *draw_ctx;
    const struct auth_issuer *issuer;    /* stored: who signs tokens; NULL: nobody does */
    int64_t token_most_seconds;          /* the longest that tokens last; 0: any */
    bool extends_tokens;                 /* those of pods that kubelets ask for last a year */
    struct registry_cidrs service_cidrs; /* addresses of services; none: 10.0.0.0/24 */
    struct registry_ports node_ports;    /* their ports on nodes */
    apiserver_log_fn *read_log; /* what simulated containers print; NULL: there are no such */
};

/* A server over a store. Free it before the store is closed; NULL is fine. */
struct apiserver *apiserver_new(const struct apiserver_opts *opts);
void apiserver_free(struct apiserver *s);

/* On the core's thread: tells what everybody may do from now on, so that nobody grants others what
 * they do not have. One more reference is held. Without rules nothing is asked. */
struct auth_rules;
void apiserver_rules_set(struct apiserver *s, const struct auth_rules *rules);

/* The objects that tokens are bound to, as they are now; for any thread. */
struct auth_objects apiserver_objects(struct apiserver *s);

/* On the core's thread: makes what every cluster has, if it is not there: the system's namespaces
 * and priority classes, and the roles that it begins with. The writes belong to the open batch. */
void apiserver_bootstrap(struct apiserver *s);

/* On the core's thread, behind apiserver_bootstrap: writes where the server is reached: the service
 * `kubernetes`, its endpoints, which are none without an address, and the range that it is of. The
 * writes belong to the open batch. */
void apiserver_advertise(struct apiserver *s, struct str address, uint16_t port);

/* The same when one of these is not there any more; true if that was so. */
bool apiserver_advertise_again(struct apiserver *s, struct str address, uint16_t port);

/* On the core's thread: stores an object of a file, which is taken, in the open batch. One with a
 * uid was a server's: it stays as it is but for its version, with its status and its node. Any
 * other is created as if it were posted. ERR_EXISTS: there is one of its name. Texts of the failure
 * live in the arena. */
struct registry_failure apiserver_load(struct apiserver *s, struct arena *a, struct api_object *o);

/* What the server does not do that somebody who writes such an object may expect, in a sentence, in
 * the arena; empty: nothing. `old` is what it replaces, or NULL. */
struct str apiserver_unserved(struct arena *a, const struct api_object *o,
                              const struct api_object *old);

/* A get or a list, on any thread. */
void apiserver_read(struct apiserver *s, const struct apiserver_request *r,
                    struct apiserver_response *out);

/* The error of keys that stood again, as go-yaml tells it, in the arena. */
struct str apiserver_repeats_text(struct arena *a, struct api_strs repeats);

/* A create, update, patch, delete or deletecollection, on the core's thread, in the open batch. The
 * request's object is taken. */
void apiserver_write(struct apiserver *s, struct apiserver_request *r,
                     struct apiserver_response *out);

/* What a request to be led to a container says. */
struct apiserver_stream {
    struct str container; /* empty: the only one */
    bool is_upgrade;      /* the connection is to be used for another protocol */
    bool is_previous;     /* of logs: those of the run before */
};

/* Does the subresource lead to something that runs: pods/exec, pods/log, nodes/proxy, …? */
bool apiserver_connects(const struct apiserver_resource *r, const struct registry_subresource *sub);

/* Why a client cannot be led there, on any thread: this server connects to nobody. No failure:
 * there is nothing to be led to, as to the logs of a pod without a node; or, if *log has a run, it
 * is what the container has printed, in the request's arena. */
struct registry_failure apiserver_connect(struct apiserver *s, const struct apiserver_request *r,
                                          const struct apiserver_stream *stream,
                                          struct apiserver_log *log);

/* Takes out of a new object what only a server says: times, uid and the like. */
void apiserver_wipe(struct api_object *o);

/* Puts a new object into the request's namespace, or out of any; fails when it names another. */
struct registry_failure apiserver_place(const struct apiserver_request *r, struct api_object *o);

/* An object as another version of its kind: a new reference, or an object made for it. */
const struct api_object *apiserver_convert(const struct api_object *o, const struct api_kind *to);

/* The same for a draft, which is taken. */
struct api_object *apiserver_convert_draft(struct api_object *o, const struct api_kind *to);

/* ---- watches ---- */

enum apiserver_event_type {
    APISERVER_ADDED,
    APISERVER_MODIFIED,
    APISERVER_DELETED,
    APISERVER_BOOKMARK,
    APISERVER_ERROR,
};

/* What a watcher is told. */
struct apiserver_event {
    enum apiserver_event_type type;
    const struct api_object *object; /* held; of all but BOOKMARK and ERROR */
    uint64_t revision;               /* of a BOOKMARK */
    bool ends_initial_events;        /* this BOOKMARK stands behind all that was there */
    struct registry_failure failure; /* of an ERROR, after which there is nothing more */
};

struct apiserver_watch;

/*
 * Begins a watch, on any thread; it belongs to that thread from then on. NULL, and *failure tells
 * why not. The request is borrowed for the call only. Free it with apiserver_watch_free, which
 * accepts NULL.
 */
struct apiserver_watch *apiserver_watch_new(struct apiserver *s, const struct apiserver_request *r,
                                            struct registry_failure *failure);
void apiserver_watch_free(struct apiserver_watch *w);

/* Fills up to `most` events and returns how many; fewer: there is nothing more to tell now. An
 * error is the last one. */
size_t apiserver_watch_read(struct apiserver_watch *w, struct apiserver_event *events, size_t most);

/* Gives back what events hold. */
void apiserver_events_release(struct apiserver_event *events, size_t n);

/* The resource in the store whose news the watch waits for. */
uint32_t apiserver_watch_storage(const struct apiserver_watch *w);

/* A BOOKMARK of how far the watch has read, if it wants one now: false if not. */
bool apiserver_watch_bookmark(struct apiserver_watch *w, struct apiserver_event *out);

#endif
