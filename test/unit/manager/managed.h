/*
 * A cluster with controllers at work, on virtual time, and what tests ask of it.
 */
#ifndef TEST_UNIT_MANAGER_MANAGED_H
#define TEST_UNIT_MANAGER_MANAGED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../world.h"
#include "base/vec.h"
#include "codec/time.h"
#include "manager/manager.h"

/* A client that counts what the controllers send, by verb. */
struct counting {
    struct client base;
    struct client *inner;
    size_t sent[REGISTRY_VERB_COUNT];
};

static inline struct client_call *counting_send(struct client *c,
                                                const struct client_request *request,
                                                client_answer_fn *done, void *arg) {
    struct counting *counting = heap_entry(c, struct counting, base);
    if (request->kind->type != &api_types[API_T_event])
        counting->sent[request->verb]++;
    return client_send(counting->inner, request, done, arg);
}

static inline void counting_cancel(struct client_call *call) {
    client_cancel(call);
}

struct managed {
    struct world w;
    struct counting counting;
    struct manager *manager;
};

/* Starts a cluster with controllers of these names, separated by commas; of `more` it is taken who
 * signs tokens and certificates, and how many objects may be made. */
static inline void managed_start_with(struct managed *m, const char *controllers, const char *gates,
                                      const struct manager_opts *more) {
    static const struct client_carrier carrier = {.send = counting_send, .cancel = counting_cancel};
    struct str names[16], rest = str_of(controllers);
    size_t n = 0;
    struct err err = {0};
    world_start(&m->w, gates);
    while (rest.n)
        str_cut(rest, ',', &names[n++], &rest);
    m->counting =
        (struct counting){.base = {.carrier = &carrier, .loop = m->w.loop}, .inner = m->w.client};
    m->manager = manager_new(&(struct manager_opts){.client = &m->counting.base,
                                                    .informers = m->w.informers,
                                                    .log = &m->w.log,
                                                    .gates = &m->w.gates.enabled,
                                                    .root_ca = STR("the authority"),
                                                    .issuer = more->issuer,
                                                    .authority = more->authority,
                                                    .most_objects = more->most_objects,
                                                    .seed = 1,
                                                    .controllers = names,
                                                    .controller_count = n},
                             &err);
    if (!m->manager)
        fail_msg("%s", err.msg);
    world_run(&m->w, 0.1);
}

/* The same with somebody who signs tokens. */
static inline void managed_start_signing(struct managed *m, const char *controllers,
                                         const char *gates, const struct auth_issuer *issuer) {
    managed_start_with(m, controllers, gates, &(struct manager_opts){.issuer = issuer});
}

/* The same without tokens. */
static inline void managed_start(struct managed *m, const char *controllers, const char *gates) {
    managed_start_with(m, controllers, gates, &(struct manager_opts){0});
}

static inline void managed_stop(struct managed *m) {
    manager_free(m->manager);
    world_stop(&m->w);
}

/* A moment that anybody may write, and behind which no nanosecond can be counted. */
#define MANAGED_FAR "9999-12-31T23:59:59Z"

/* The names of all objects of a type, in the order of the store. */
struct managed_names {
    struct world *w;
    VEC(const char *) v;
};

static inline void managed__name(void *arg, const struct api_object *o) {
    struct managed_names *names = arg;
    vec_push(&names->v, arena_str(&names->w->arena, o->meta->name).p);
}

/* Release names.v. */
static inline struct managed_names managed_names(struct managed *m, enum api_type_id type) {
    struct managed_names names = {.w = &m->w};
    world_each(&m->w, type, managed__name, &names);
    return names;
}

/* Makes a pod run, ready or not, from now on; one that is gone meanwhile stays so. */
static inline void managed_pod_runs(struct managed *m, const char *name, bool is_ready) {
    struct world *w = &m->w;
    struct buf patch = BUF_INIT(4096);
    buf_addf(&patch,
             "{\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\","
             "\"status\":\"%s\",\"lastTransitionTime\":\"",
             is_ready ? "True" : "False");
    time_write(&patch, (struct time_instant){.seconds = w->clock.wall_ns / CLOCK_SECOND});
    buf_addf(&patch, "\"}]}}");
    world_send(w, &(struct client_request){.verb = REGISTRY_VERB_PATCH,
                                           .kind = client_kind(API_T_pod),
                                           .subresource = "status",
                                           .namespace = STR("default"),
                                           .name = str_of(name),
                                           .patch_type = CLIENT_PATCH_STRATEGIC,
                                           .patch = buf_view(&patch)});
    buf_release(&patch);
}

static inline void managed__pending(void *arg, const struct api_object *o) {
    const struct api_pod *pod = o->body;
    if (!str_is(pod->status.phase, "Running"))
        managed__name(arg, o);
}

/* The same for all pods that do not run yet. */
static inline void managed_pods_run(struct managed *m, bool are_ready) {
    struct managed_names names = {.w = &m->w};
    world_each(&m->w, API_T_pod, managed__pending, &names);
    for (size_t i = 0; i < names.v.n; i++)
        managed_pod_runs(m, names.v.v[i], are_ready);
    vec_release(&names.v);
}

#endif
