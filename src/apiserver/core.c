/* Batches of writes, and what time does to the store. */
#include "apiserver/core.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "net/loop.h"

struct apiserver_core {
    struct apiserver_core_opts opts;
    struct apiserver_job *written, **written_end; /* jobs of the open batch */
    struct net_deferred commit;                   /* at the end of the turn */
    struct net_timer expiry, repeated;
    int64_t period;
    bool (*repeat)(void *ctx);
    void *repeat_ctx;
    void (*durable)(void *ctx);
    void *durable_ctx;
};

/* ---- writes ---- */

/* The jobs of one commit, while it is written. */
struct batch {
    struct apiserver_core *core;
    struct apiserver_job *jobs;
};

static void fail(struct apiserver_job *job, const struct err *err) {
    apiserver_response_release(job->response);
    job->response->answer = APISERVER_FAILURE;
    job->response->failure = (struct registry_failure){
        .code = err->code == ERR_CONFLICT ? ERR_CONFLICT : ERR_INTERNAL,
        .message = arena_printf(job->request->arena, "Internal error occurred: %s", err->msg)};
}

static void on_durable(void *ctx, const struct err *err) {
    struct batch *batch = ctx;
    struct apiserver_core *core = batch->core;
    if (!err && core->durable)
        core->durable(core->durable_ctx);
    for (struct apiserver_job *job = batch->jobs, *next; job; job = next) {
        next = job->next;
        if (err && job->response->is_written)
            fail(job, err);
        job->done(job);
    }
    free(batch);
}

static void commit(void *arg) {
    struct apiserver_core *core = arg;
    struct batch *batch = xcalloc(1, sizeof *batch);
    *batch = (struct batch){core, core->written};
    core->written = NULL;
    core->written_end = &core->written;
    store_commit(core->opts.store, on_durable, batch);
}

/* Has the batch committed at the end of this turn, when all that came in it was executed. */
static void commit_later(struct apiserver_core *core) {
    net_loop_defer(core->opts.loop, &core->commit);
}

static void execute(void *arg) {
    struct apiserver_job *job = arg;
    struct apiserver_core *core = job->core;
    apiserver_write(core->opts.api, job->request, job->response);
    if (!job->response->is_written) {
        job->done(job);
        return;
    }
    job->next = NULL;
    *core->written_end = job;
    core->written_end = &job->next;
    commit_later(core);
}

void apiserver_core_submit(struct apiserver_core *core, struct apiserver_job *job) {
    job->core = core;
    net_loop_post(core->opts.loop, execute, job);
}

/* ---- time ---- */

static void expire(void *arg) {
    struct apiserver_core *core = arg;
    struct net_loop *loop = core->opts.loop;
    int64_t now = clock_wall(core->opts.clock);
    bool moves = store_age(core->opts.store, now);
    if (store_expire(core->opts.store, now) || moves)
        commit_later(core);
    net_timer_start(loop, &core->expiry, net_loop_now(loop) + CLOCK_SECOND);
}

static void repeat(void *arg) {
    struct apiserver_core *core = arg;
    struct net_loop *loop = core->opts.loop;
    if (core->repeat(core->repeat_ctx))
        commit_later(core);
    net_timer_start(loop, &core->repeated, net_loop_now(loop) + core->period);
}

void apiserver_core_repeat(struct apiserver_core *core, int64_t period, bool (*fn)(void *ctx),
                           void *ctx) {
    core->period = period;
    core->repeat = fn;
    core->repeat_ctx = ctx;
    net_timer_start(core->opts.loop, &core->repeated, net_loop_now(core->opts.loop) + period);
}

/* ---- its life ---- */

struct apiserver_core *apiserver_core_new(const struct apiserver_core_opts *opts) {
    struct apiserver_core *core = xcalloc(1, sizeof *core);
    core->opts = *opts;
    core->written_end = &core->written;
    core->commit = (struct net_deferred){.fn = commit, .arg = core};
    core->expiry = (struct net_timer){.fn = expire, .arg = core};
    core->repeated = (struct net_timer){.fn = repeat, .arg = core};
    net_timer_start(opts->loop, &core->expiry, net_loop_now(opts->loop) + CLOCK_SECOND);
    return core;
}

void apiserver_core_listen(struct apiserver_core *core, void (*fn)(void *ctx), void *ctx) {
    core->durable = fn;
    core->durable_ctx = ctx;
}

void apiserver_core_free(struct apiserver_core *core) {
    if (!core)
        return;
    net_timer_stop(core->opts.loop, &core->expiry);
    net_timer_stop(core->opts.loop, &core->repeated);
    net_loop_undefer(core->opts.loop, &core->commit);
    free(core);
}
