/* Records of leaders, in and out of Leases. */
#include "client/election/record_int.h"

#include "api/types.h"
#include "base/clock.h"

struct client__record client__record_of(const struct api_object *lease) {
    if (!lease)
        return (struct client__record){0};
    const struct api_lease *body = lease->body;
    const struct api_lease_spec *spec = &body->spec;
    return (struct client__record){.holder = spec->holder_identity,
                                   .seconds = spec->lease_duration_seconds.v,
                                   .acquired = spec->acquire_time,
                                   .renewed = spec->renew_time,
                                   .transitions = spec->lease_transitions.v};
}

static bool time_eq(struct api_time a, struct api_time b) {
    return a.set == b.set && a.sec == b.sec && a.nsec == b.nsec;
}

bool client__record_eq(const struct client__record *a, const struct client__record *b) {
    return str_eq(a->holder, b->holder) && a->seconds == b->seconds &&
           time_eq(a->acquired, b->acquired) && time_eq(a->renewed, b->renewed) &&
           a->transitions == b->transitions;
}

struct api_time client__record_time(int64_t wall) {
    return (struct api_time){.sec = wall / CLOCK_SECOND,
                             .nsec = (int32_t)(wall % CLOCK_SECOND / 1000 * 1000),
                             .set = true};
}

static struct api_object *new_lease(struct str namespace, struct str name) {
    struct api_object *o = api_object_new(client_kind(API_T_lease));
    struct api_object_meta *meta = api_own_meta(o);
    meta->namespace = arena_str(&o->arena, namespace);
    meta->name = arena_str(&o->arena, name);
    return o;
}

struct api_object *client__record_object(const struct api_object *lease, struct str namespace,
                                         struct str name, const struct client__record *record) {
    struct api_object *o = lease ? api_object_derive(lease) : new_lease(namespace, name);
    struct api_lease *body = api_own_body(o);
    struct api_lease_spec *spec = &body->spec;
    spec->holder_identity =
        record->holder.n ? arena_str(&o->arena, record->holder) : (struct str){0};
    spec->lease_duration_seconds = (struct api_opt_i32){true, record->seconds};
    spec->acquire_time = record->acquired;
    spec->renew_time = record->renewed;
    spec->lease_transitions = (struct api_opt_i32){true, record->transitions};
    return o;
}
