/*
 * What the rules share: paths, values in error texts, and the ways to add an error. One call is one
 * error: valid__invalid(v, AT(p, "value"), VALUE_Q(value), "must be %s", …).
 */
#ifndef VALID_VALID_INT_H
#define VALID_VALID_INT_H

#include "api/names.h"
#include "valid/valid.h"

/* ---- paths: on the stack of the rule, printed only when an error is added ---- */

struct path {
    const struct path *up;
    const char *name; /* a field; NULL for an index or a key */
    struct str key;   /* of a map, when p is not NULL */
    size_t index;
};

/* p.name, p[index] and p[key]; p may be NULL for the first one. Valid until the block ends. */
#define AT(p, field)   (&(struct path){.up = (p), .name = (field)})
#define AT_INDEX(p, i) (&(struct path){.up = (p), .index = (i)})
#define AT_KEY(p, k)   (&(struct path){.up = (p), .key = (k)})

/* ---- values as error texts show them ---- */

struct value {
    enum { VALUE_QUOTED, VALUE_NUMBER, VALUE_TRUTH, VALUE_TREE } kind;
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

/* ---- errors ---- */

/* What a rule works with. */
struct valid {
    struct valid_errs *errs;
    const struct feature_set *gates;
};

#define VALID_PRINTF(n) __attribute__((format(printf, n, n + 1)))

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
/* Not found: <value> */
void valid__not_found(struct valid *v, const struct path *p, struct value value);
/* Unsupported value: <value>: supported values: "a", "b"; the list ends with NULL */
void valid__not_supported(struct valid *v, const struct path *p, struct value value,
                          const char *const *supported);
/* Too long: may not be more than <most> bytes */
void valid__too_long(struct valid *v, const struct path *p, size_t most);
/* Too many: <actual>: must have at most <most> items */
void valid__too_many(struct valid *v, const struct path *p, size_t actual, size_t most);

/* Keeps the first of errors with the same path and text, as upstream does before it answers. */
void valid__drop_repeats(struct valid_errs *errs);

/* Is the text one of a list that ends with NULL? */
bool valid__one_of(struct str text, const char *const *list);

/* ---- the rules of a kind: one row each in kinds.c ---- */

struct valid_kind {
    enum api_type_id type;
    /* Each may be NULL: nothing to do. Bodies are structs of the type. */
    void (*prepare_create)(struct api_object *o, const struct valid_opts *opts);
    void (*create)(struct valid *v, const struct api_object *o);
    void (*prepare_update)(struct api_object *o, const struct api_object *old,
                           const struct valid_opts *opts);
    void (*update)(struct valid *v, const struct api_object *o, const struct api_object *old);
};

/* The kinds with rules. Each stands at the end of the file that has the kind's rules. */
extern const struct valid_kind valid__pod, valid__node, valid__namespace, valid__persistent_volume,
    valid__replica_set, valid__deployment, valid__daemon_set, valid__stateful_set, valid__job,
    valid__cron_job, valid__priority_class, valid__pod_disruption_budget;

/* ---- rules that several kinds share ---- */

/* metadata of any object: name (by the kind's rule), labels, annotations, owner references, … */
typedef struct names_errs name_rule(struct str name, bool prefix);
void valid__object_meta(struct valid *v, const struct path *p, const struct api_object_meta *m,
                        bool namespaced, name_rule *name);
void valid__object_meta_update(struct valid *v, const struct path *p,
                               const struct api_object_meta *m, const struct api_object_meta *old);

/* A map of labels, or a label selector, at p. */
void valid__labels(struct valid *v, const struct path *p, const struct labels *labels);
struct selector_rules {
    bool allow_invalid_values; /* the old object has some already */
};
void valid__label_selector(struct valid *v, const struct path *p,
                           const struct api_label_selector *s, const struct selector_rules *rules);

/* What the old object uses already is allowed to stay, whatever the gates say. */
struct pod_rules {
    bool comparison_operators;      /* tolerations may say Lt and Gt */
    bool semver_operators;          /* tolerations and node affinity may say SemverLt, … */
    bool expressions;               /* tolerations may have an expression */
    bool invalid_label_values;      /* in required node affinity */
    bool is_template;               /* a pod template: some fields are not allowed, others are */
    const struct api_pod_spec *old; /* NULL on create */
};
struct pod_rules valid__pod_rules(const struct feature_set *gates, const struct api_pod_spec *old);

/* A pod spec at p, and a pod template at p (metadata and spec). */
void valid__pod_spec(struct valid *v, const struct path *p, const struct api_pod_spec *spec,
                     const struct api_object_meta *meta, const struct pod_rules *rules);
void valid__pod_template(struct valid *v, const struct path *p,
                         const struct api_pod_template_spec *t, const struct pod_rules *rules);

/* The parts of a pod spec. */
void valid__tolerations(struct valid *v, const struct path *p,
                        const struct api_toleration_list *list, const struct pod_rules *rules);
void valid__node_selector(struct valid *v, const struct path *p, const struct api_node_selector *s,
                          const struct pod_rules *rules);
void valid__affinity(struct valid *v, const struct path *p, const struct api_affinity *a,
                     const struct pod_rules *rules);
void valid__topology_spread(struct valid *v, const struct path *p,
                            const struct api_topology_spread_constraint_list *list,
                            const struct pod_rules *rules);
/* All containers of a pod with what they mount, and its volumes. */
void valid__volumes(struct valid *v, const struct path *p, const struct api_volume_list *list,
                    const struct pod_rules *rules);
void valid__containers(struct valid *v, const struct path *spec_path,
                       const struct api_pod_spec *spec, const struct pod_rules *rules);

/* Drops fields of a new pod spec that are behind gates that are off, unless old has them. */
void valid__drop_disabled(struct api_pod_spec *spec, const struct api_pod_spec *old,
                          const struct feature_set *gates);

#endif
