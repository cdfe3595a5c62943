/*
 * The way through validation: finds the rules of an object's kind and runs them in upstream's
 * order.
 */
#include "valid/valid_int.h"

static const struct valid_kind *const kinds[] = {
    &valid__pod,         &valid__node,       &valid__namespace,      &valid__persistent_volume,
    &valid__replica_set, &valid__deployment, &valid__daemon_set,     &valid__stateful_set,
    &valid__job,         &valid__cron_job,   &valid__priority_class, &valid__pod_disruption_budget,
};

static const struct valid_kind *find(const struct api_kind *kind) {
    for (size_t i = 0; kind && i < sizeof kinds / sizeof *kinds; i++)
        if (&api_types[kinds[i]->type] == kind->type)
            return kinds[i];
    return NULL;
}

bool valid_knows(const struct api_kind *kind) {
    return find(kind);
}

void valid_prepare_create(struct api_object *o, const struct valid_opts *opts) {
    const struct valid_kind *k = find(o->kind);
    if (!k)
        return;
    if (o->kind->namespaced && !o->meta->namespace.n)
        o->meta->namespace = opts->namespace.n ? opts->namespace : STR("default");
    if (k->prepare_create)
        k->prepare_create(o, opts);
}

void valid_create(const struct api_object *o, const struct valid_opts *opts,
                  struct valid_errs *out) {
    const struct valid_kind *k = find(o->kind);
    if (!k)
        return;
    struct valid v = {out, opts->gates, opts->cel};
    k->create(&v, o);
    valid__drop_repeats(out);
}

void valid_prepare_update(struct api_object *o, const struct api_object *old,
                          const struct valid_opts *opts) {
    const struct valid_kind *k = find(o->kind);
    if (k && k->prepare_update)
        k->prepare_update(o, old, opts);
}

void valid_update(const struct api_object *o, const struct api_object *old,
                  const struct valid_opts *opts, struct valid_errs *out) {
    const struct valid_kind *k = find(o->kind);
    if (!k)
        return;
    struct valid v = {out, opts->gates, opts->cel};
    k->update(&v, o, old);
    valid__drop_repeats(out);
}
