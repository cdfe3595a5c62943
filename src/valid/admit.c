/*
 * Each plug-in is a few lines here; what it decides is written into the pod and nowhere else.
 */
#include "valid/admit.h"

/* ---- Priority ---- */

/* What matters of a PriorityClass. */
struct class {
    struct str name;
    int32_t value;
    struct str preemption_policy; /* absent: the pod's own stays */
};

#define SYSTEM_CRITICAL 2000000000
#define PREEMPT_LOWER   STR_INIT("PreemptLowerPriority")

static const struct class system_classes[] = {
    {STR_INIT("system-node-critical"), SYSTEM_CRITICAL + 1000, PREEMPT_LOWER},
    {STR_INIT("system-cluster-critical"), SYSTEM_CRITICAL, PREEMPT_LOWER},
};
static const struct class no_class = {STR_INIT(""), 0, PREEMPT_LOWER};

static const struct api_priority_class *class_at(const struct valid_admit_opts *opts, size_t i) {
    return opts->priority_classes[i]->body;
}

static struct class view(const struct api_priority_class *c) {
    return (struct class){c->metadata.name, c->value, c->preemption_policy};
}

static bool find_class(const struct valid_admit_opts *opts, struct str name, struct class *out) {
    for (size_t i = 0; i < opts->priority_class_count; i++)
        if (str_eq(class_at(opts, i)->metadata.name, name)) {
            *out = view(class_at(opts, i));
            return true;
        }
    for (size_t i = 0; i < sizeof system_classes / sizeof *system_classes; i++)
        if (str_eq(system_classes[i].name, name)) {
            *out = system_classes[i];
            return true;
        }
    return false;
}

/* There should be one at most; of several the lowest counts. */
static struct class default_class(const struct valid_admit_opts *opts) {
    const struct api_priority_class *found = NULL;
    for (size_t i = 0; i < opts->priority_class_count; i++) {
        const struct api_priority_class *c = class_at(opts, i);
        if (c->global_default && (!found || c->value < found->value))
            found = c;
    }
    return found ? view(found) : no_class;
}

/* Names are not generated yet when admission runs. */
static struct str name_of(const struct api_object_meta *meta) {
    if (meta->name.n)
        return meta->name;
    return meta->generate_name.n ? meta->generate_name : STR("Unknown");
}

static int forbid(const struct api_object *o, struct err *err) {
    return err_wrap(err, "pods \"%.*s\" is forbidden", STR_ARG(name_of(o->meta)));
}

static int apply_class(struct api_object *o, const struct class *c, struct err *err) {
    struct api_pod_spec *spec = &((struct api_pod *)o->body)->spec;
    if (spec->priority.set && spec->priority.v != c->value)
        return err_set(err, ERR_FORBIDDEN,
                       "the integer value of priority (%d) must not be provided in pod spec; "
                       "priority admission controller computed %d from the given PriorityClass "
                       "name",
                       spec->priority.v, c->value);
    spec->priority_class_name = arena_str(&o->arena, c->name);
    spec->priority = (struct api_opt_i32){true, c->value};
    if (!c->preemption_policy.p)
        return 0;
    if (spec->preemption_policy.p && !str_eq(spec->preemption_policy, c->preemption_policy))
        return err_set(err, ERR_FORBIDDEN,
                       "the string value of PreemptionPolicy (%.*s) must not be provided in pod "
                       "spec; priority admission controller computed %.*s from the given "
                       "PriorityClass name",
                       STR_ARG(spec->preemption_policy), STR_ARG(c->preemption_policy));
    spec->preemption_policy = arena_str(&o->arena, c->preemption_policy);
    return 0;
}

static int admit_priority(struct api_object *o, const struct valid_admit_opts *opts,
                          struct err *err) {
    struct str name = ((struct api_pod *)o->body)->spec.priority_class_name;
    struct class c;
    if (!name.n)
        c = default_class(opts);
    else if (!find_class(opts, name, &c)) {
        err_set(err, ERR_FORBIDDEN, "no PriorityClass with name %.*s was found", STR_ARG(name));
        return forbid(o, err);
    }
    return apply_class(o, &c, err) < 0 ? forbid(o, err) : 0;
}

/* ---- DefaultTolerationSeconds ---- */

#define NOT_READY   "node.kubernetes.io/not-ready"
#define UNREACHABLE "node.kubernetes.io/unreachable"

/* Operator and value do not matter to upstream. An expression has no key and no effect either, but
 * it does not tolerate everything for that. */
static bool tolerates(const struct api_toleration_list *list, const char *key) {
    for (size_t i = 0; i < list->n; i++) {
        const struct api_toleration *t = &list->v[i];
        if (!t->expression.n && (!t->key.n || str_is(t->key, key)) &&
            (!t->effect.n || str_is(t->effect, "NoExecute")))
            return true;
    }
    return false;
}

static void append(struct arena *a, struct api_toleration_list *list, struct api_toleration t) {
    struct api_toleration *grown = arena_array(a, struct api_toleration, list->n + 1);
    for (size_t i = 0; i < list->n; i++)
        grown[i] = list->v[i];
    grown[list->n] = t;
    *list = (struct api_toleration_list){grown, list->n + 1};
}

static void tolerate_for(struct api_object *o, const char *key, int64_t seconds) {
    struct api_toleration_list *list = &((struct api_pod *)o->body)->spec.tolerations;
    append(&o->arena, list,
           (struct api_toleration){.key = str_of(key),
                                   .operator= STR("Exists"),
                                   .effect = STR("NoExecute"),
                                   .toleration_seconds = {true, seconds}});
}

/* Both questions are about the pod as it came. */
static void admit_tolerations(struct api_object *o, const struct valid_admit_opts *opts) {
    const struct api_toleration_list *list = &((struct api_pod *)o->body)->spec.tolerations;
    bool not_ready = tolerates(list, NOT_READY), unreachable = tolerates(list, UNREACHABLE);
    if (!not_ready)
        tolerate_for(o, NOT_READY, opts->not_ready_seconds);
    if (!unreachable)
        tolerate_for(o, UNREACHABLE, opts->unreachable_seconds);
}

/* ---- both ---- */

int valid_admit_pod_create(struct api_object *o, const struct valid_admit_opts *opts,
                           struct err *err) {
    if (admit_priority(o, opts, err) < 0)
        return -1;
    admit_tolerations(o, opts);
    return 0;
}

void valid_admit_pod_update(struct api_object *o, const struct api_object *old,
                            const struct valid_admit_opts *opts) {
    struct api_pod_spec *spec = &((struct api_pod *)o->body)->spec;
    const struct api_pod_spec *was = &((struct api_pod *)old->body)->spec;
    if (!spec->priority.set)
        spec->priority = was->priority;
    if (!spec->preemption_policy.p)
        spec->preemption_policy = arena_str(&o->arena, was->preemption_policy);
    admit_tolerations(o, opts);
}
