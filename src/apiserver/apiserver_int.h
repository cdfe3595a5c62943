/* What the files of this module share. */
#ifndef APISERVER_APISERVER_INT_H
#define APISERVER_APISERVER_INT_H

#include "apiserver/apiserver.h"
#include "auth/rbac.h"

struct apiserver {
    struct apiserver_opts opts;
    struct registry_view view;             /* of the core's state of the store; see store_view.c */
    struct registry_authorizer authorizer; /* asks the rules; see store_view.c */
    struct registry registry;
    const struct auth_rules *rules; /* held; NULL: nothing is asked */
    struct registry_ranges *ranges; /* what services have taken; the core's */
};

/* The server whose view it is. */
static inline const struct apiserver *apiserver__of(const struct registry_view *v) {
    return (const struct apiserver *)((const char *)v - offsetof(struct apiserver, view));
}

/* Lends the store and the rules to admission. */
void apiserver__view_init(struct apiserver *s);

/* Makes the ranges of services and looks up what those that are stored have taken. */
void apiserver__ranges_init(struct apiserver *s);

/* ---- what the server writes itself ---- */

/* An object of its own, which must be good, from JSON; the caller owns it. */
struct api_object *apiserver__own(struct apiserver *s, struct str text);

/* Creates or updates an object, which is taken. What is there is not created again. */
void apiserver__write_own(struct apiserver *s, enum registry_verb verb, struct api_object *o);

/* ---- responses ---- */

/* Answers with a failure; its texts live in the request's arena. */
void apiserver__fail(struct apiserver_response *out, struct registry_failure failure);

/* Answers with an object; one more reference is held. */
void apiserver__answer(struct apiserver_response *out, int code, const struct api_object *o);

/* A failure of this code with a text, printed into the arena. */
__attribute__((format(printf, 3, 4))) struct registry_failure
apiserver__failure(struct arena *a, enum err_code code, const char *fmt, ...);

/* ---- selectors and revisions ---- */

/* Which objects a list or a watch wants. */
struct apiserver__filter {
    struct selector *labels;        /* NULL: any */
    struct registry_fields *fields; /* NULL: any */
};

/* Compiles the selectors of a request into the arena. */
struct registry_failure apiserver__filter_read(const struct apiserver_request *r, struct arena *a,
                                               struct apiserver__filter *out);
bool apiserver__filter_has(const struct apiserver__filter *f, const struct api_object *o);

/* A resourceVersion; empty and 0 give 0. False: it is none. */
bool apiserver__revision_read(struct str text, uint64_t *out);

/* Why a text is no resourceVersion: as Go says it, and as the error of an option. */
struct str apiserver__revision_fault(struct arena *a, struct str text);
struct str apiserver__revision_invalid(struct arena *a, struct str text);

/* Somebody asks for a revision that lies ahead. */
struct registry_failure apiserver__too_large(struct arena *a, uint64_t asked, uint64_t current);

/* ---- continue tokens ---- */

/* Where a list goes on: behind this key, at that revision; -1: at the newest. */
struct apiserver__continue {
    int64_t revision;
    struct str start;
};
struct str apiserver__continue_write(struct arena *a, const struct apiserver__continue *c);
struct registry_failure apiserver__continue_read(struct arena *a, struct str token,
                                                 struct apiserver__continue *out);

/* ---- writes ---- */

/* One write on its way. */
struct apiserver__call {
    struct apiserver *s;
    struct apiserver_request *r;
    struct apiserver_response *out;
    struct registry_request request;
    struct registry_effects effects; /* what is stored together with the object */
    struct valid_warnings warnings;  /* about the object */
};

/* The stored object of the request, or NULL; borrowed until the next write. */
const struct api_object *apiserver__stored(const struct apiserver__call *c);

/* Stores a draft, which is taken, with what admission changed beside it, and answers with it; a dry
 * run only answers. */
void apiserver__put(struct apiserver__call *c, struct api_object *draft, int code);

/* Stores what the server itself has changed in the status of another object; it is taken. */
void apiserver__put_status(struct apiserver__call *c, struct api_object *o);

/* Would writing the draft change nothing of what is stored, not a byte? */
bool apiserver__is_unchanged(const struct api_object *draft, const struct api_object *stored);

/* Deletes an object, whose last state is taken, and answers with it. */
void apiserver__remove(struct apiserver__call *c, struct api_object *last);

/* Refuses what is not there. */
void apiserver__not_found(struct apiserver__call *c);

/* Refuses an object that is not the one of the request's path. */
struct registry_failure apiserver__check_name(const struct apiserver__call *c,
                                              const struct api_object *o);

/* A write that says which object it is meant for, by its uid or version; empty: any. `stored` may
 * be NULL for a uid. Refuses one that is meant for another. */
struct registry_failure apiserver__check_uid(const struct apiserver__call *c, struct str wanted,
                                             const struct api_object *stored);
struct registry_failure apiserver__check_version(const struct apiserver__call *c, struct str wanted,
                                                 const struct api_object *stored);

/* What verbs and subresources do, each in a file. */
typedef void apiserver__write_fn(struct apiserver__call *c);
apiserver__write_fn apiserver__create, apiserver__update, apiserver__patch, apiserver__apply,
    apiserver__delete, apiserver__delete_collection, apiserver__bind, apiserver__bind_any,
    apiserver__evict, apiserver__scale, apiserver__token;

/* The Scale of a workload; the caller owns it. */
struct api_object *apiserver__scale_of(const struct api_object *o);

/* A draft of the request's version as it is stored; it is taken. */
struct api_object *apiserver__to_stored(const struct apiserver__call *c, struct api_object *o);

/* Writes into a draft who manages which of its fields after this request; old is NULL if it is
 * new. Both are of the kind and version of the request. */
void apiserver__note_manager(const struct apiserver__call *c, const struct api_object *old,
                             struct api_object *draft);

/* What a patch, not one that is applied, makes of an object as the client sees it; it has its name
 * and managers, and is the caller's. NULL: it is refused, and *failure tells why. */
struct api_object *apiserver__patched(struct apiserver__call *c, const struct api_object *shown,
                                      struct registry_failure *failure);

/* The same for one that is applied; `stored` is of the kind, or NULL for a new object. *out is the
 * caller's even after a failure, and may be NULL then. */
struct registry_failure apiserver__applied(struct apiserver__call *c, const struct api_kind *kind,
                                           const struct api_object *stored,
                                           struct api_object **out);

/* Brings a new object through admission, preparation and rules, and stores it. The draft, as it is
 * stored, is taken. */
void apiserver__create_draft(struct apiserver__call *c, struct api_object *o);

/* Brings an object that is to replace what is stored through preparation and rules, and stores it:
 * what update, patch and apply share. The draft is taken. */
void apiserver__replace(struct apiserver__call *c, struct api_object *draft,
                        const struct api_object *stored);

/* Warns who writes an object that nothing comes of here, such as a webhook's. Of what is deleted,
 * and of what somebody tells of an object, it was warned when that was written. */
void apiserver__warn_of_unserved(struct apiserver__call *c, const struct api_object *o);

/* n random letters for a name, in the arena. */
struct str apiserver__letters(struct apiserver *s, struct arena *a, size_t n);

/* A random UUID (version 4), in the arena. */
struct str apiserver__uuid(struct apiserver *s, struct arena *a);

/* Now, as objects tell it. */
struct api_time apiserver__now(const struct apiserver *s);

#endif
