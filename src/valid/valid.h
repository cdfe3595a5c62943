/*
 * Is an object acceptable to the API server? Create and update, in upstream's order: mutations
 * before validation (prepare), the rules of the kind, then the rules of all objects. The verdict is
 * a list of field errors, with upstream's paths, order and words; an empty list means accepted.
 */
#ifndef VALID_VALID_H
#define VALID_VALID_H

#include "api/faults.h"
#include "api/object.h"
#include "base/arena.h"
#include "base/buf.h"
#include "codec/json.h"
#include "feature/feature.h"

/* type, reason of the cause in a Status, what the text starts with */
#define VALID_TYPES(X)                                              \
    X(NOT_FOUND, "FieldValueNotFound", "Not found")                 \
    X(REQUIRED, "FieldValueRequired", "Required value")             \
    X(DUPLICATE, "FieldValueDuplicate", "Duplicate value")          \
    X(INVALID, "FieldValueInvalid", "Invalid value")                \
    X(NOT_SUPPORTED, "FieldValueNotSupported", "Unsupported value") \
    X(FORBIDDEN, "FieldValueForbidden", "Forbidden")                \
    X(TOO_LONG, "FieldValueTooLong", "Too long")                    \
    X(TOO_SHORT, "FieldValueTooShort", "Too short")                 \
    X(TOO_MANY, "FieldValueTooMany", "Too many")                    \
    X(TOO_FEW, "FieldValueTooFew", "Too few")                       \
    X(INTERNAL, "InternalError", "Internal error")                  \
    X(TYPE_INVALID, "FieldValueTypeInvalid", "Invalid value")

enum valid_type {
#define X(name, reason, text) VALID_##name,
    VALID_TYPES(X)
#undef X
};

struct valid_error {
    enum valid_type type;
    struct str text;    /* <field>: <body>; the others are parts of it */
    struct str field;   /* path: spec.tolerations[0].value */
    struct str body;    /* text without the path: Invalid value: "x": must be … */
    struct str detail;  /* the part of body behind the value; may be empty */
    const char *origin; /* the kind of rule, if one that is declared may find the same; or NULL */
};

/*
 * A list of field errors in the order found, each full text once. All texts live in the arena. The
 * list ends at LIMIT_FIELD_ERRORS and LIMIT_FIELD_ERROR_BYTES; an entry without a field then stands
 * behind the errors and tells how many more were found, repeated ones among them.
 */
struct valid_errs {
    struct arena *a;
    struct valid_error *v;
    size_t n, cap;
    size_t found;          /* errors that rules found, also repeated ones and those left out */
    size_t left_out;       /* errors that the list had no room for */
    size_t bytes, written; /* of all texts in the list; of all texts that were compared with it */
    uint32_t *slots;       /* open addressing into v, offset by one; 0 = free */
    size_t slot_count;     /* a power of two, or 0 while there are few errors */
    uint64_t seed;
};

/* An empty list whose texts will live in the arena, which is stored. */
#define VALID_ERRS_INIT(arena) ((struct valid_errs){.a = (arena)})

/* Does the list have this error? */
bool valid_errs_has(const struct valid_errs *errs, const struct valid_error *e);

/* The reason that stands for a type in a Status: FieldValueInvalid, … */
const char *valid_reason(enum valid_type type);

/* Where an expression stands: that tells what it may name, and what it must give. */
enum valid_cel_place {
    VALID_CEL_TOLERATION,
    VALID_CEL_DEVICE_SELECTOR,
    VALID_CEL_DERIVED_ATTRIBUTE,
    VALID_CEL_MATCH_CONDITION, /* of a webhook or a policy */
    VALID_CEL_VARIABLE,        /* of a policy, and so the following */
    VALID_CEL_VALIDATION,
    VALID_CEL_MESSAGE,
    VALID_CEL_AUDIT_ANNOTATION,
    VALID_CEL_APPLY_CONFIGURATION,
    VALID_CEL_JSON_PATCH,
    VALID_CEL_PLACES,
};

/* What a compiler of expressions found. */
enum valid_cel_fault {
    VALID_CEL_GOOD,
    VALID_CEL_COMPILE,  /* text: the issues, as CEL prints them */
    VALID_CEL_TYPE,     /* text: which type the result must have, and has not */
    VALID_CEL_PROGRAM,  /* text: why no program can be made of it */
    VALID_CEL_COST,     /* the estimate is above what one evaluation may cost */
    VALID_CEL_TOO_MUCH, /* not compiled: the object's expressions have taken too much already */
};

/* A question about an expression. Everything is borrowed. */
struct valid_cel_ask {
    enum valid_cel_place place;
    struct str expression;
    const struct feature_set *gates; /* asked for devices alone */
    bool is_stored;                  /* an old object has it: it may use all that there is */
    bool has_params;                 /* a policy with parameters */
    void *variables;                 /* of a policy, from variables_new; NULL: there are none */
    struct str name;                 /* of a variable: what those behind it call it */
};

struct valid_cel_answer {
    enum valid_cel_fault fault;
    struct str text; /* in the arena */
    uint64_t cost;   /* of an expression about devices that is good: the most that it may cost */
};

/* The CEL engine stands above this module: whoever has one lends it to validation. */
struct valid_cel {
    void *ctx;
    /* Compiles an expression. *spent is what the expressions of the object have taken so far, 0 at
     * first. */
    struct valid_cel_answer (*check)(void *ctx, const struct valid_cel_ask *ask, struct arena *a,
                                     size_t *spent);
    /* The variables of one policy, none at first; each that is compiled joins them. */
    void *(*variables_new)(void *ctx);
    void (*variables_free)(void *ctx, void *variables); /* NULL is fine */
};

/* Who asks, as the server knows them. Everything is borrowed. */
struct valid_user {
    struct str name, uid;
    struct api_strs groups;
    struct api_str_lists extra;
};

/* What a server warns of when it accepts an object, as far as it says that in headers: the texts
 * live in the arena, and there are API_MOST_FAULTS at most. */
struct valid_warnings {
    struct arena *a;
    const struct feature_set *gates;
    struct str v[API_MOST_FAULTS];
    size_t n;
    size_t compared; /* pairs of parts: see LIMIT_WARNED_PAIRS */
};

struct valid_opts {
    const struct feature_set *gates; /* borrowed */
    struct str namespace;            /* of the request; empty = default */
    const struct valid_cel *cel;     /* borrowed; NULL = expressions are not compiled */
    struct api_time now;             /* for times that preparing sets; may be unset */
    struct str uid;                  /* of a new object; empty = valid_new_uid */
    const struct valid_user *user;   /* borrowed; NULL = nobody */
    const struct api_kind *asked;    /* in which the client speaks; NULL = the object's own */
    struct valid_warnings *warnings; /* of what preparing changes; NULL = nobody reads them */
};

/* Is there validation for objects of this kind, if only of their metadata? Others are accepted as
 * they are. */
bool valid_knows(const struct api_kind *kind);

/* Are all rules of the kind known, not only those of metadata? */
bool valid_has_rules(const struct api_kind *kind);

/* Names an object that has a generateName and no name, as the API server does before it prepares
 * it; the suffix is random there. The object must not yet be published. */
void valid_generate_name(struct api_object *o, struct str suffix);

/* The uid of a new object, in the arena. The API server draws uids by lot; here an object of the
 * same kind, namespace and name has the same one in every run. */
struct str valid_new_uid(struct arena *a, const struct api_kind *kind, struct str namespace,
                         struct str name);

/*
 * Changes an object as the API server does while it reads it: what is said in two fields is brought
 * into agreement, times that are left out are set. Preparing an object does so too; who notes what
 * its fields are before that calls it first.
 */
void valid_decoded(struct api_object *o, const struct valid_opts *opts);

/*
 * Changes a new object as the API server does before it validates it: uid and times are the
 * server's, whatever the object says; fields behind gates that are off are dropped, matchLabelKeys
 * are merged into selectors, status is reset, a namespaced object gets its namespace. The object
 * must be defaulted, have its name and not yet be published.
 */
void valid_prepare_create(struct api_object *o, const struct valid_opts *opts);

/* Everything that is wrong with a prepared new object, appended to *out. */
void valid_create(const struct api_object *o, const struct valid_opts *opts,
                  struct valid_errs *out);

/* The same two steps for replacing `old`, which is as stored, by `o`. */
void valid_prepare_update(struct api_object *o, const struct api_object *old,
                          const struct valid_opts *opts);
void valid_update(const struct api_object *o, const struct api_object *old,
                  const struct valid_opts *opts, struct valid_errs *out);

/* The same two steps for a write of the status alone: all else but most of metadata is as in
 * `old`. */
void valid_prepare_status(struct api_object *o, const struct api_object *old,
                          const struct valid_opts *opts);
void valid_status(const struct api_object *o, const struct api_object *old,
                  const struct valid_opts *opts, struct valid_errs *out);

/* Appends the warnings about a new object, or one that replaces old, or whose status does so. */
void valid_warn(const struct api_object *o, const struct api_object *old, bool of_status,
                struct valid_warnings *out);

/* The first of the two steps for a write of the approval of a CertificateSigningRequest, whose
 * conditions alone change; the second is valid_subresource. */
void valid_prepare_approval(struct api_object *o, const struct api_object *old,
                            const struct valid_opts *opts);
/* Does the subresource of the kind (pods/resize) have steps of its own? */
bool valid_has_subresource(const struct api_kind *kind, struct str subresource);

/* These two steps: all but what the subresource is about is as in `old`. */
void valid_prepare_subresource(struct api_object *o, const struct api_object *old,
                               struct str subresource, const struct valid_opts *opts);
void valid_subresource(const struct api_object *o, const struct api_object *old,
                       struct str subresource, const struct valid_opts *opts,
                       struct valid_errs *out);

/* Appends an error that others than the rules found: the value, printed as JSON, of this field. */
void valid_refuse(struct valid_errs *out, struct str field, const struct json *value,
                  struct str why);

/* Appends the error of an update that does not say which version it is meant for. */
void valid_version_required(struct valid_errs *out);

/* Appends the error of a Scale with fewer than no replicas. */
void valid_scale_negative(int32_t replicas, struct valid_errs *out);

/* Appends the error of a patch of which nothing can be made. */
void valid_patch_invalid(struct str patch, struct str why, struct valid_errs *out);

/* The same for kinds that are answered and never stored: a review of access, of one of three kinds,
 * what a TokenRequest asks for, with its defaults, and where a Binding wants a pod to be. */
void valid_access_review(const struct api_object *o, struct valid_errs *out);
void valid_token_request(const struct api_token_request_spec *spec, struct valid_errs *out);
void valid_pod_binding(const struct api_binding *binding, struct valid_errs *out);

/*
 * Are two structs of a type equal as the API server sees it? Nil and empty lists and maps are the
 * same, quantities compare by amount, members that the schema does not know do not count. And two
 * lists of such structs?
 */
bool valid_equal(enum api_type_id type, const void *a, const void *b);
bool valid_equal_lists(enum api_type_id type, const void *list_a, const void *list_b);

/* Guaranteed, Burstable or BestEffort: how a node treats a pod when it is short of something. */
struct str valid_qos_class(const struct api_pod_spec *spec, const struct feature_set *gates);

/* Everything that is wrong with what a client says about a deletion, appended to *out. */
void valid_delete_options(const struct api_delete_options *options, struct valid_errs *out);

/* What a client says beside the object of a create, an update or a patch. */
struct valid_write_options {
    struct str field_manager, field_validation;
    struct api_strs dry_run;
    bool is_apply, has_force;
};
void valid_write_options(const struct valid_write_options *options, struct valid_errs *out);

/* What a client says about logs. */
struct valid_log_options {
    struct api_opt_i64 tail_lines, limit_bytes, since_seconds;
    bool has_since_time, allows_stream;
    struct str stream;
};
void valid_log_options(const struct valid_log_options *options, struct valid_errs *out);

/* What a client says about a list or a watch, as far as there are rules about it. */
struct valid_list_options {
    struct str resource_version, resource_version_match, continue_token;
    bool is_watch, has_send_initial_events;
};
void valid_list_options(const struct valid_list_options *options, struct valid_errs *out);

#endif
