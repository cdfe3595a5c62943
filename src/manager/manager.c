/* Which controllers there are, and which of them run. */
#include "manager/manager.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/limits.h"
#include "intern/intern.h"
#include "manager/controller_int.h"
#include "manager/manager_metrics.h"
#include "manager/members_int.h"
#include "manager/services/service_pods_int.h"
#include "match/match.h"
#include "net/loop.h"

#define SWEEP_EVERY (10 * CLOCK_SECOND)

static const struct manager__controller *const controllers[] = {
#define CONTROLLER(id, name, alias) &manager__##id,
#include "manager/controllers.def"
#undef CONTROLLER
    NULL,
};

static const char *const names[] = {
#define CONTROLLER(id, name, alias) name,
#include "manager/controllers.def"
#undef CONTROLLER
    NULL,
};

/* Names of before, or "". */
static const char *const aliases[] = {
#define CONTROLLER(id, name, alias) alias,
#include "manager/controllers.def"
#undef CONTROLLER
};

enum { CONTROLLERS = sizeof names / sizeof names[0] - 1 };

const char *const *manager_controllers(size_t *n) {
    *n = CONTROLLERS;
    return names;
}

static struct str without_minus(struct str name) {
    return str_starts(name, STR("-")) ? str_sub(name, 1, name.n) : name;
}

static bool is_called(size_t controller, struct str name) {
    return name.n && (str_is(name, names[controller]) || str_is(name, aliases[controller]));
}

static bool is_known(struct str asked) {
    for (size_t i = 0; controllers[i]; i++)
        if (is_called(i, without_minus(asked)))
            return true;
    return str_is(asked, "*");
}

/* Follows k8s.io/controller-manager options,
 * func (*GenericControllerManagerConfigurationOptions) Validate. */
int manager_check_controllers(const struct str *list, size_t n, struct err *err) {
    for (size_t i = 0; i < n; i++)
        if (!is_known(list[i]))
            return err_set(err, ERR_USAGE, "\"%.*s\" is not in the list of known controllers",
                           STR_ARG(without_minus(list[i])));
    return 0;
}

/* Follows k8s.io/controller-manager app, func IsControllerEnabled. */
static bool is_enabled(const struct manager_opts *opts, size_t controller) {
    bool all = opts->controller_count == 0;
    for (size_t i = 0; i < opts->controller_count; i++) {
        struct str asked = opts->controllers[i];
        if (is_called(controller, without_minus(asked)))
            return asked.p[0] != '-';
        all = all || str_is(asked, "*");
    }
    return all;
}

/* Gives back lists of tolerations and taints that came and went. */
static void sweep(void *arg) {
    struct manager *m = arg;
    struct net_loop *loop = client_loop(m->client);
    if (match_wants_sweep(m->match))
        match_sweep(m->match);
    if (intern_wants_sweep(m->atoms))
        intern_sweep(m->atoms);
    net_timer_start(loop, &m->sweep, net_loop_now(loop) + SWEEP_EVERY);
}

struct manager *manager_new(const struct manager_opts *opts, struct err *err) {
    if (manager_check_controllers(opts->controllers, opts->controller_count, err) < 0)
        return NULL;
    struct manager *m = xcalloc(1, sizeof *m);
    m->client = opts->client;
    m->informers = opts->informers;
    m->log = opts->log;
    m->gates = opts->gates;
    m->root_ca = opts->root_ca;
    m->issuer = opts->issuer;
    m->authority = opts->authority;
    m->seed = opts->seed;
    m->most_objects = opts->most_objects ? opts->most_objects : LIMIT_MANAGED_OBJECTS;
    m->atoms = intern_new(opts->seed);
    m->match = match_new(m->atoms, opts->gates, opts->engine, opts->seed);
    m->sweep = (struct net_timer){.fn = sweep, .arg = m};
    sweep(m);
    m->running = xcalloc(CONTROLLERS + 1, sizeof *m->running);
    for (size_t i = 0; controllers[i]; i++)
        if (is_enabled(opts, i))
            m->running[i] = manager__start(m, controllers[i]);
    return m;
}

void manager_metrics_write(const struct manager *m, struct buf *out) {
    for (size_t i = 0; controllers[i]; i++)
        if (m->running[i] && controllers[i]->write_metrics)
            controllers[i]->write_metrics(m->running[i], out);
}

void manager_free(struct manager *m) {
    if (!m)
        return;
    for (size_t i = 0; controllers[i]; i++)
        manager__stop(m->running[i]);
    service_pods__free(m->service_pods);
    members__free(m->members);
    free(m->running);
    net_timer_stop(client_loop(m->client), &m->sweep);
    match_free(m->match);
    intern_free(m->atoms);
    free(m);
}

struct informer *manager__informer(struct manager *m, enum api_type_id type) {
    return informers_of(m->informers, client_kind(type));
}

size_t manager__room(struct manager *m, enum api_type_id type) {
    size_t n = informer_count(manager__informer(m, type));
    return n < m->most_objects ? m->most_objects - n : 0;
}

struct str manager__why_full(const struct manager *m, struct arena *a, enum api_type_id type) {
    return arena_printf(a, "there are %zu %s, and Berth's controllers make no more (its own limit)",
                        m->most_objects, client_kind(type)->plural);
}

bool manager__is_deletable(const struct registry_resource *resource) {
    const uint32_t verbs =
        1U << REGISTRY_VERB_DELETE | 1U << REGISTRY_VERB_LIST | 1U << REGISTRY_VERB_WATCH;
    return (resource->verbs & verbs) == verbs && registry_is_on_by_default(resource->kind) &&
           registry_stored_as(resource->kind) == resource->kind;
}

bool manager__namespace_goes(const struct client_answer *answer) {
    return answer->code == ERR_FORBIDDEN &&
           str_find(answer->message, STR("because it is being terminated")) != STR_NONE;
}

void manager__created(void *arg, struct work *w, const struct client_answer *answer) {
    (void)arg;
    if (answer->code && !manager__namespace_goes(answer))
        work_fail_by(w, answer);
}

int64_t manager__now(const struct manager *m) {
    return clock_wall(net_loop_clock(client_loop(m->client)));
}

int64_t manager__mono(const struct manager *m) {
    return net_loop_now(client_loop(m->client));
}
