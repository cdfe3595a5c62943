/*
 * What an API server does with an object, without the server: a table of resources, and for each
 * what becomes of an object that is created, replaced or deleted. An object goes in, and it comes
 * out as a server would store it, or with the failure that the server would answer with.
 *
 * The order is upstream's: decoding and defaults, admission, preparation, validation.
 */
#ifndef REGISTRY_REGISTRY_H
#define REGISTRY_REGISTRY_H

#include "api/object.h"
#include "base/arena.h"
#include "base/err.h"
#include "codec/json.h"
#include "feature/feature.h"
#include "registry/admission.h"
#include "registry/ranges.h"
#include "registry/view.h"
#include "valid/valid.h"

/* ---- resources ---- */

/* What can be done with a resource, in the order in which discovery lists it. */
#define REGISTRY_VERBS(X)                    \
    X(CREATE, "create")                      \
    X(DELETE, "delete")                      \
    X(DELETE_COLLECTION, "deletecollection") \
    X(GET, "get")                            \
    X(LIST, "list")                          \
    X(PATCH, "patch")                        \
    X(UPDATE, "update")                      \
    X(WATCH, "watch")

enum registry_verb {
#define X(id, name) REGISTRY_VERB_##id,
    REGISTRY_VERBS(X)
#undef X
        REGISTRY_VERB_COUNT
};

/* A part of an object with a path of its own: pods/binding. */
struct registry_subresource {
    const char *name;
    const char *api_version; /* of what is sent and answered; NULL: the resource's */
    const char *kind;
    uint32_t verbs; /* a bit for each enum registry_verb */
};

/* What updates of a resource are, beside the rest. */
enum registry_update_flags {
    REGISTRY_UPDATE_CREATES = 1,       /* one of an object that is not there makes it */
    REGISTRY_UPDATE_NEEDS_VERSION = 2, /* they must name the version that they are meant for */
};

/* One row per kind that can be stored or posted. Lists of names are separated by commas. */
struct registry_resource {
    const struct api_kind *kind; /* plural and scope among its members */
    const char *singular;
    const char *short_names;
    const char *categories;
    uint32_t verbs;                                  /* a bit for each enum registry_verb */
    uint32_t updates;                                /* enum registry_update_flags */
    const struct registry_subresource *subresources; /* ended by a row without a name */
};

/* The resource of a kind; NULL for kinds that are none (Status, List) and for no kind. */
const struct registry_resource *registry_resource_of(const struct api_kind *kind);

/* All resources, in the order of the table. */
const struct registry_resource *registry_resources(size_t *count);

/* What is known of a kind before an object of it is looked at. */
enum registry_standing {
    REGISTRY_SERVED,   /* it has a resource */
    REGISTRY_UNMAPPED, /* a group of Kubernetes' own, in which no resource has this kind */
    REGISTRY_CUSTOM,   /* another group: of a custom resource, or of another server */
};
enum registry_standing registry_standing_of(struct str api_version, struct str kind);

/* apps of apps/v1, nothing of v1. */
struct str registry_group_of(struct str api_version);

/* Does a server have the version without being asked for it by --runtime-config? */
bool registry_is_on_by_default(const struct api_kind *kind);

/* The kind as which objects of this one are stored: another version of it, or itself. */
const struct api_kind *registry_stored_as(const struct api_kind *kind);

/* An object as another version of its kind, of which one is the stored one. The caller owns it. */
struct api_object *registry_convert(const struct api_object *o, const struct api_kind *to);

/* Does only this server have the version, for the sake of old clients? */
bool registry_is_for_old_clients(const struct api_kind *kind);

/* ---- failures ---- */

/* A cause of a failure that is not about a field of the object. Absent texts are left out. */
struct registry_cause {
    struct str reason, message, field;
};

/* Why a server refuses. Texts live in the arena of the call that failed, or longer. */
struct registry_failure {
    enum err_code code; /* ERR_NONE: nothing failed */
    struct str message;
    struct str group, kind, name;    /* what it is about; an empty kind: the request as a whole */
    struct str uid;                  /* of what it is about, if that is told */
    const struct valid_errs *causes; /* of ERR_UNPROCESSABLE: what is wrong with the object */
    const struct registry_cause *further; /* causes of other sorts */
    size_t further_count;
    int32_t retry_after;       /* seconds after which the client should try again; 0: not said */
    struct str continue_token; /* of a list that expired: where it can go on all the same */
    bool has_details;          /* the Status has details, though they may be empty */
    struct str namespace;      /* as the object says it, if the kind is not mapped */
    bool is_unmapped;          /* no resource has the kind: no server is asked about it */
};

/* An object that breaks rules; the list must not be empty and is stored. */
struct registry_failure registry_invalid(struct arena *a, const struct api_object *o,
                                         const struct valid_errs *errs);

/* A body that cannot be decoded. */
struct registry_failure registry_bad_request(struct str message);

/* What a request asks for does not exist: pods "web" not found. */
struct registry_failure registry_not_found(struct arena *a, const struct api_kind *kind,
                                           struct str name);

/* A condition of the request that the object of that kind and name does not meet: Operation cannot
 * be fulfilled on pods "web": <why>. */
struct registry_failure registry_conflict(struct arena *a, const struct api_kind *kind,
                                          struct str name, struct str why);

/* Options of the request that break rules; the list must not be empty and is stored. `kind` is
 * CreateOptions, ListOptions, … */
struct registry_failure registry_invalid_options(struct arena *a, struct str kind,
                                                 const struct valid_errs *errs);

/* An update that must say which version of the object it is meant for. */
struct registry_failure registry_version_required(struct arena *a, const struct api_kind *kind,
                                                  struct str name);

/* A Scale with fewer than no replicas. */
struct registry_failure registry_invalid_scale(struct arena *a, struct str name, int32_t replicas);

/* A patch of which no object of the kind comes; both texts are stored. */
struct registry_failure registry_invalid_patch(struct arena *a, struct str patch, struct str why);

/* An object of that kind and name that is there already; the name is copied. */
struct registry_failure registry_already_exists(struct arena *a, const struct api_kind *kind,
                                                struct str name);

/* An object whose kind no resource has. The names are stored. */
struct registry_failure registry_no_match(struct arena *a, struct str api_version, struct str kind,
                                          struct str namespace, struct str name);

/* The metav1.Status that a server answers with. */
struct json registry_status(struct arena *a, const struct registry_failure *f);

/* ---- requests ---- */

/* A server, as far as it decides about objects. Everything is borrowed. */
struct registry {
    const struct feature_set *gates;
    const struct valid_cel *cel;                  /* NULL: expressions are not compiled */
    const struct registry_view *view;             /* what admission knows of the cluster */
    struct registry_plugins plugins;              /* of admission that are asked */
    const struct registry_authorizer *authorizer; /* NULL: everybody may do everything */
    const struct registry_ranges *ranges;         /* NULL: where services are is not known */
    bool only_judges; /* nobody reads what becomes of an object, so it may lack later defaults */
};

/* What a request says beside the object. */
struct registry_request {
    struct str namespace;   /* of the path; empty = default */
    struct str name_suffix; /* what a generateName is completed with, random letters on a server */
    struct str uid;         /* of a new object; empty: made of its name, the same in every run */
    struct api_time now;    /* for times that are set; may be unset */
    struct str name;        /* of the path; empty: it names none */
    struct str subresource; /* that is written to; empty: the object itself */
    const struct api_kind *kind;      /* in which the client speaks; NULL: the object's own */
    const struct valid_user *user;    /* NULL: a component of the server itself */
    struct registry_effects *effects; /* filled unless NULL; released by the caller */
    struct valid_warnings *warnings;  /* filled unless NULL */
    bool is_admitted;                 /* it is a part of a request that was admitted */
    bool is_dry_run;                  /* nothing comes of it */
};

/* Decodes and defaults a body; *faults tells what is wrong with it. *out is the caller's, or NULL
 * after a failure. */
struct registry_failure registry_decode(const struct registry *r, const struct json *tree,
                                        const struct api_decode_opts *opts, struct api_object **out,
                                        struct api_faults *faults);

/* How a server refuses what has these faults, of which there must be one: for those who decode
 * leniently and decide afterwards. Texts live in the arena of the faults. */
struct registry_failure registry_refuse_faults(const struct api_faults *faults);

/* Why no object of the kind comes of one that says it is of another, in upstream's words. */
struct str registry_no_conversion(struct arena *a, const struct api_object *o,
                                  const struct api_kind *want);

/* Takes an object that was decoded for one that a server has stored: it gets the namespace of the
 * request if it names none, and a version if it has none, since a manifest may stand for it. */
void registry_adopt(const struct registry_request *request, struct api_object *o);

/* Brings an object that was decoded into the form in which its managers are noted; creating or
 * replacing does so too. */
void registry_decoded(const struct registry *r, const struct registry_request *request,
                      struct api_object *o);

/* Creates the object, which has its defaults and is not yet published. Kinds without rules are
 * accepted. */
struct registry_failure registry_create(const struct registry *r,
                                        const struct registry_request *request, struct arena *a,
                                        struct api_object *o);

/* Replaces old, as stored, by the object. Whether another writer was faster is for the store to
 * say: the object is taken for a change of the version that is stored. */
struct registry_failure registry_update(const struct registry *r,
                                        const struct registry_request *request, struct arena *a,
                                        struct api_object *o, const struct api_object *old);

/* The same for a write to the status of old alone: all else but most of metadata stays as it is. */
struct registry_failure registry_update_status(const struct registry *r,
                                               const struct registry_request *request,
                                               struct arena *a, struct api_object *o,
                                               const struct api_object *old);

/* The same for the subresource of the request, which must have steps of its own
 * (valid_has_subresource): all but what it is about stays as it is. */
struct registry_failure registry_update_subresource(const struct registry *r,
                                                    const struct registry_request *request,
                                                    struct arena *a, struct api_object *o,
                                                    const struct api_object *old);

/* Asks admission alone, about what has no rules of its own: a Binding, an Eviction. Plug-ins may
 * change the object. */
struct registry_failure registry_admit(const struct registry *r,
                                       const struct registry_request *request, struct arena *a,
                                       const struct registry_subject *subject);

/* What becomes of an object that is to be deleted. */
enum registry_deletion {
    REGISTRY_DELETION_NOW,     /* it goes at once; it is as watchers see it last */
    REGISTRY_DELETION_MARKED,  /* it stays for others to end, and is to be stored as it is now */
    REGISTRY_DELETION_PENDING, /* it is being deleted already, and nothing changes */
};

/*
 * Deletes an object, which is a copy of what is stored and not yet published: it gets the marks of
 * its deletion (time, grace period, generation, finalizers of the garbage collector). The time of
 * the request must be set. *out is set unless there is a failure, after which the copy is of no
 * use. Whether this is a dry run is for the store to heed.
 */
struct registry_failure registry_delete(const struct registry *r,
                                        const struct registry_request *request, struct arena *a,
                                        const struct api_delete_options *options,
                                        struct api_object *o, enum registry_deletion *out);

/* Does an update take away the last that old, which is being deleted, was kept for? Then the object
 * goes as it was updated. */
bool registry_update_ends(const struct api_object *o, const struct api_object *old);

/* ---- feature gates that are in the way ---- */

/* An object that was refused for what is wrong with its fields, and how it came. */
struct registry_trial {
    const struct registry *registry;
    const struct registry_request *request;
    const struct json *tree; /* decoded anew for each set of gates that is tried */
    const struct api_decode_opts *decode;
    const struct api_object *old;  /* that it should replace; NULL: it is new */
    const struct valid_errs *errs; /* why it was refused */
};

/* A gate that is off, and the first of the errors that go away when it is on. */
struct registry_remedy {
    enum feature gate;
    const struct valid_error *solves;
};

/*
 * Finds the gates that would take errors away and are not in *named yet; they are added to it. None
 * are found when the gates in *named take away all that any gates can. *out lives in the arena; the
 * number is returned. The search ends at LIMIT_HINT_BYTES.
 */
size_t registry_find_remedies(const struct registry_trial *t, struct arena *a,
                              struct feature_set *named, struct registry_remedy **out);

#endif
