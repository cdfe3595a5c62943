/*
 * What the rules share: paths, values in error texts, and the ways to add an error. One call is one
 * error: valid__invalid(v, AT(p, "value"), VALUE_Q(value), "must be %s", …).
 */
#ifndef VALID_VALID_INT_H
#define VALID_VALID_INT_H

#include <stdarg.h>

#include "api/names.h"
#include "valid/equal_int.h"
#include "valid/seen_int.h"
#include "valid/valid.h"

/* ---- paths: on the stack of the rule, printed only when an error is added ---- */

struct path {
    const struct path *up;
    const char *name; /* a field; NULL for an index or a key */
    struct str key;   /* of a map, when p is not NULL */
    bool dotted;      /* print the key as if it were a field */
    size_t index;
};

/* p.name, p[index], p[key] and p.key; p may be NULL for the first one. Valid until the block
 * ends. */
#define AT(p, field)    (&(struct path){.up = (p), .name = (field)})
#define AT_INDEX(p, i)  (&(struct path){.up = (p), .index = (i)})
#define AT_KEY(p, k)    (&(struct path){.up = (p), .key = (k)})
#define AT_DOTTED(p, k) (&(struct path){.up = (p), .key = (k), .dotted = true})

/* Appends a path as errors show it. */
void valid__path_write(struct buf *out, const struct path *p);

/* ---- values as error texts show them ---- */

struct value {
    enum { VALUE_QUOTED, VALUE_NUMBER, VALUE_TRUTH, VALUE_TREE, VALUE_OMITTED } kind;
    union {
        struct str s;
        int64_t i;
        bool b;
        struct json json;
    };
};

/* A Go string is quoted; a named string type, pointer or struct is printed as JSON. */
#define VALUE_Q(text)     ((struct value){.kind = VALUE_QUOTED, .s = (text)})
#define VALUE_I64(n)      ((struct value){.kind = VALUE_NUMBER, .i = (n)})
#define VALUE_BOOL(t)     ((struct value){.kind = VALUE_TRUTH, .b = (t)})
#define VALUE_JSON(tree)  ((struct value){.kind = VALUE_TREE, .json = (tree)})
#define VALUE_NAMED(text) VALUE_JSON(json_of_str(text))
#define VALUE_NONE        ((struct value){.kind = VALUE_OMITTED})

/* A struct of a type (null for NULL), a list of them, a map and so on, as texts show them; in the
 * arena. */
struct value valid__struct_value(struct arena *a, enum api_type_id type, const void *body);
struct value valid__list_value(struct arena *a, enum api_type_id type, const void *list);
struct value valid__labels_value(struct arena *a, const struct labels *labels);
struct value valid__strs_value(struct arena *a, const struct api_strs *strs);
struct value valid__numbers_value(struct arena *a, const struct api_i32s *numbers);
struct value valid__int_or_str_value(const struct api_int_or_str *v);

/* A line break and the diff of two structs of a type, printed as values are; nothing when they
 * are too long, or comparing them takes too long. In the arena. */
struct str valid__diff(struct arena *a, enum api_type_id type, const void *old, const void *now);
/* The same of two lists of such structs. */
struct str valid__list_diff(struct arena *a, enum api_type_id type, const void *old,
                            const void *now);

/* In the arena: quoted as Go's %q does it; in lower case, as far as names of ASCII can tell. */
struct str valid__go_quoted(struct arena *a, struct str s);
struct str valid__lower(struct arena *a, struct str s);

/* ---- errors ---- */

/* What a rule works with. */
struct valid {
    struct valid_errs *errs;
    const struct feature_set *gates;
    const struct valid_cel *cel;  /* may be NULL */
    const struct api_kind *asked; /* in which the client speaks; NULL: the object's own */
    size_t cel_spent;             /* by the expressions of the object so far */
    bool covered;                 /* a rule of create found what a declared one will tell of */
    const char *origin;           /* what errors are marked with, see valid__cover; or NULL */
    bool is_standard;             /* declared rules are always in force, and cover no others */
};

#define VALID_PRINTF(n) __attribute__((format(printf, n, n + 1)))

/* In the place of a format: an error without a detail. (Compilers warn of an empty format.) */
#define NO_DETAIL "%s", ""

/* Any error. value may be NULL: the type does not show one. */
void valid__add(struct valid *v, enum valid_type type, const struct path *p,
                const struct value *value, struct str detail);

VALID_PRINTF(4) /* Invalid value: <value>: <detail> */
void valid__invalid(struct valid *v, const struct path *p, struct value value, const char *fmt,
                    ...);
VALID_PRINTF(3) /* Required value: <detail>; an empty detail is left out */
void valid__required(struct valid *v, const struct path *p, const char *fmt, ...);
VALID_PRINTF(3) /* Forbidden: <detail> */
void valid__forbidden(struct valid *v, const struct path *p, const char *fmt, ...);
VALID_PRINTF(4) /* Duplicate value: <value>: <detail>; an empty detail is left out */
void valid__duplicate(struct valid *v, const struct path *p, struct value value, const char *fmt,
                      ...);
VALID_PRINTF(3) /* Internal error: <detail> */
void valid__internal(struct valid *v, const struct path *p, const char *fmt, ...);
VALID_PRINTF(4) /* Not found: <value>: <detail>; an empty detail is left out */
void valid__not_found(struct valid *v, const struct path *p, struct value value, const char *fmt,
                      ...);
/* Unsupported value: <value>: supported values: "a", "b"; the list ends with NULL */
void valid__not_supported(struct valid *v, const struct path *p, struct value value,
                          const char *const *supported);
/* Too long: may not be more than <most> bytes */
void valid__too_long(struct valid *v, const struct path *p, size_t most);
/* Too many: <actual>: must have at most <most> items */
void valid__too_many(struct valid *v, const struct path *p, size_t actual, size_t most);

/* Errors found so far, listed or not: rules that ask whether others were content compare it. */
static inline size_t valid__found(const struct valid *v) {
    return v->errs->found;
}

/*
 * Errors that are found from here to valid__uncover may be found again by a rule that is declared:
 * then its error takes their place, behind all others, if type, field and origin are the same.
 */
void valid__cover(struct valid *v, const char *origin);
void valid__uncover(struct valid *v);
/* Appends what declared rules found, and takes away what they cover. */
void valid__merge_declared(struct valid_errs *errs, const struct valid_errs *declared);

void valid__note_left_out(struct valid_errs *errs); /* how many are missing, as a last entry */

/* Is the text one of a list that ends with NULL? */
bool valid__one_of(struct str text, const char *const *list);

/* ---- small rules ---- */

/* One error for each message about a name. */
void valid__names(struct valid *v, const struct path *p, struct str name,
                  const struct names_errs *errs);
/* The same for the two rules that most names follow. */
void valid__dns_label(struct valid *v, const struct path *p, struct str name);
void valid__dns_subdomain(struct valid *v, const struct path *p, struct str name);
/* A label key, which upstream also calls a qualified name. */
void valid__label_key(struct valid *v, const struct path *p, struct str key);
/* An IP address, and a range of addresses, not too oddly written; how oddly depends on a gate but
 * for the last. */
void valid__ip(struct valid *v, const struct path *p, struct str text);
void valid__cidr(struct valid *v, const struct path *p, struct str text);
void valid__cidr_strict(struct valid *v, const struct path *p, struct str text);
/* The reason of a condition: a word. */
void valid__condition_reason(struct valid *v, const struct path *p, struct str reason);
/* Conditions that follow the rules of metav1. */
void valid__conditions(struct valid *v, const struct path *p,
                       const struct api_condition_list *list);
/* A key of a ConfigMap, which must not be empty. */
void valid__config_key(struct valid *v, const struct path *p, struct str key);

/* must be greater than or equal to 0 */
void valid__not_negative(struct valid *v, const struct path *p, int64_t value);
/* field is immutable */
void valid__immutable(struct valid *v, const struct path *p, struct value value);
/* Required when empty, else not supported unless it is in the list, which ends with NULL. */
void valid__choice(struct valid *v, const struct path *p, struct str text,
                   const char *const *supported);
/* must be between <least> and <most>, inclusive */
void valid__range(struct valid *v, const struct path *p, int64_t value,
                  const int64_t least_and_most[2]);

/* ---- expressions ---- */

/* Asks the compiler about an expression, if there is one, and tells what is wrong with it; `shown`
 * is the value of errors, and the gates are v's. The cost of what is good, otherwise 0. */
uint64_t valid__expression(struct valid *v, const struct path *p, struct str shown,
                           const struct valid_cel_ask *ask);

/* ---- the rules of a kind: one row each in kinds.c ---- */

/* Changes an object that is to replace old, and says what is wrong with it. */
typedef void valid_prepare_fn(struct api_object *o, const struct api_object *old,
                              const struct valid_opts *opts);
typedef void valid_update_fn(struct valid *v, const struct api_object *o,
                             const struct api_object *old);

/* Says what a client should know of an object, or of its status, though it is accepted. */
typedef void valid_warn_fn(struct valid_warnings *w, const struct api_object *o,
                           const struct api_object *old);

struct valid_kind {
    enum api_type_id type;
    /* Each may be NULL: nothing to do. Bodies are structs of the type. What most kinds have in
     * common is prepared before: prepare/strategies.c tells what. */
    void (*prepare_create)(struct api_object *o, const struct valid_opts *opts);
    void (*create)(struct valid *v, const struct api_object *o);
    valid_prepare_fn *prepare_update;
    valid_update_fn *update;
    /* Of a write of the status alone: the spec is old's already. */
    valid_prepare_fn *prepare_status;
    valid_update_fn *status;
    /* The rules that upstream declares beside the fields of its types: behind all others, on create
     * (old is NULL) and on update, where what did not change is not looked at again. */
    valid_update_fn *declared;
    /* What is said about an object that is accepted; old is NULL on create. */
    valid_warn_fn *warn, *warn_status;
};

/* ---- rules that several kinds share ---- */

/* What is wrong with a name, or with the prefix that a name will be made from. */
typedef struct names_errs name_rule(struct str name, bool prefix);
name_rule valid__name_subdomain;     /* RFC 1123 subdomain: most objects */
name_rule valid__name_label;         /* RFC 1123 label: namespaces */
name_rule valid__name_dns1035_label; /* RFC 1035 label: services, unless a gate allows more */
name_rule valid__name_path_segment;  /* anything that can stand in a URL: all objects */

/*
 * metadata of any object: name (by a rule), labels, annotations, owners, … The rules of a kind ask
 * for it (create), or kinds.c before them (update), and then also for what an update may not
 * change. Behind the rules of a new object kinds.c asks for its names alone, as segments of a path.
 */
void valid__any_meta(struct valid *v, const struct path *p, const struct api_object_meta *m,
                     bool namespaced, name_rule *name);
void valid__meta_names(struct valid *v, const struct path *p, const struct api_object_meta *m,
                       name_rule *rule);
void valid__any_meta_update(struct valid *v, const struct path *p, const struct api_object_meta *m,
                            const struct api_object_meta *old);
/* The same for a kind of Kubernetes itself, by the kind's rule for names: most of them begin with
 * it. Their finalizers must have a prefix, or be one of three; updates ask for that alone. */
void valid__object_meta(struct valid *v, const struct path *p, const struct api_object_meta *m,
                        bool namespaced, name_rule *name);
void valid__finalizer_name(struct valid *v, const struct path *p, struct str name);
void valid__finalizer_names(struct valid *v, const struct path *p, const struct api_strs *list);

/* A map of labels, of annotations, or a label selector at p. */
void valid__labels(struct valid *v, const struct path *p, const struct labels *labels);
void valid__annotations(struct valid *v, const struct path *p, const struct labels *annotations);
/* Refuses a key whose prefix, or a key without one that, is a domain of Kubernetes' own. */
void valid__foreign_domain(struct valid *v, const struct path *p, struct str key);
struct selector_rules {
    bool allow_invalid_values; /* the old object has some already */
};
void valid__label_selector(struct valid *v, const struct path *p,
                           const struct api_label_selector *s, const struct selector_rules *rules);
bool valid__selector_has_invalid_value(const struct api_label_selector *s); /* s may be NULL */

/* What the old object uses already is allowed to stay, whatever the gates say. */
struct pod_rules {
    bool comparison_operators;      /* tolerations may say Lt and Gt */
    bool semver_operators;          /* tolerations and node affinity may say SemverLt, … */
    bool expressions;               /* tolerations may have an expression */
    bool invalid_label_values;      /* in required node affinity */
    bool invalid_selectors;         /* of pod affinity: label values are not checked */
    bool invalid_spread_selectors;  /* of spread constraints are not checked */
    bool spread_keys_legacy;        /* matchLabelKeys are judged as before they were merged */
    bool host_sysctls;              /* net.* with hostNetwork, kernel.shm* with hostIPC, … */
    bool host_network_users;        /* hostUsers: false with hostNetwork */
    bool volume_devices_users;      /* hostUsers: false with volumeDevices */
    bool any_selinux_change_policy; /* not only Recursive */
    bool invalid_deletion_cost;     /* the annotation need not be a number */
    bool is_template;               /* a pod template: some fields may still be unset */
    const struct api_pod_spec *old; /* NULL on create */
};
/* The rules for a spec that replaces old; both are NULL on create. */
struct pod_rules valid__pod_rules(const struct feature_set *gates, const struct api_pod_spec *old,
                                  const struct api_object_meta *old_meta);

/* A pod spec at p, and a pod template at p (metadata and spec). meta is NULL in a template. */
void valid__pod_spec(struct valid *v, const struct path *p, const struct api_pod_spec *spec,
                     const struct api_object_meta *meta, const struct pod_rules *rules);
void valid__pod_template(struct valid *v, const struct path *p,
                         const struct api_pod_template_spec *t, const struct pod_rules *rules);

/* What is declared of a pod spec at p; old is NULL on create. */
void valid__declared_pod_spec(struct valid *v, const struct path *p,
                              const struct api_pod_spec *spec, const struct api_pod_spec *old);

/* The parts of a pod spec. */
void valid__tolerations(struct valid *v, const struct path *p,
                        const struct api_toleration_list *list, const struct pod_rules *rules);
void valid__node_selector(struct valid *v, const struct path *p, const struct api_node_selector *s,
                          const struct pod_rules *rules);
/* Does it use SemverLt, … and does it have values that are no label values? */
bool valid__uses_semver(const struct api_node_selector *s);
bool valid__has_invalid_values(const struct api_node_selector *s);
void valid__affinity(struct valid *v, const struct path *p, const struct api_affinity *a,
                     const struct pod_rules *rules);
void valid__topology_spread(struct valid *v, const struct path *p,
                            const struct api_topology_spread_constraint_list *list,
                            const struct pod_rules *rules);
/* Drops features of a new pod spec whose gates are off, unless old uses them, as far as rows cannot
 * say it (api_object_drop_gated has done the rest), and annotations of long ago. old may be NULL.
 */
void valid__drop_disabled(struct api_pod_spec *spec, struct labels *annotations,
                          const struct api_pod_spec *old, const struct feature_set *gates);

#endif
