/*
 * Informers tell the scheduler's core, as in the scheduler itself; and some moments after something
 * has changed, it is asked to explain the pod again. Nothing but the pods that are on nodes, or
 * have one kept free for them, is told of pods, as in the first explanation.
 */
#include "cmd/commands/follow.h"

#include <stdlib.h>

#include "api/object.h"
#include "base/clock.h"
#include "base/printable.h"
#include "cli/io.h"
#include "client/informer.h"
#include "codec/time.h"
#include "net/loop.h"
#include "sim/probe.h"

/* What comes together is told together; and after an explanation that took long, there is a pause
 * of some times as long. */
#define MOMENT (CLOCK_SECOND / 4)
enum { PAUSES = 4, REASONS_SHOWN = 3, LONGEST_TELLING = 16 << 20 };

struct following {
    const struct follow_opts *opts;
    struct explain_state *state;
    struct remote remote;
    struct informers *informers;
    struct informer *pods;
    struct clock_manual clock;
    struct sched *sched;
    struct net_timer again, late;
    int64_t rested; /* when the next explanation may begin */
    struct buf why; /* what has changed since the last one */
    size_t changes;
    bool has_synced, has_ended;
    int rc;
    struct err *err;
};

/* ---- telling ---- */

static void write_time(const struct following *f, struct buf *out) {
    int64_t now = clock_wall(f->opts->call->ctx->clock);
    time_write(out, (struct time_instant){.seconds = now / CLOCK_SECOND});
}

static void say(struct following *f, struct str text) {
    if (io_write(f->opts->call->ctx->out, text, f->err) >= 0)
        return;
    f->rc = -1;
    f->has_ended = true;
}

/* The last thing that is said. */
static void end(struct following *f, const char *what, struct str node, int rc) {
    AUTO(buf_release) struct buf text = BUF_INIT(LONGEST_TELLING);
    const struct api_object_meta *meta = f->opts->pod->meta;
    if (f->has_ended)
        return;
    write_time(f, &text);
    buf_add(&text, STR(" Pod "));
    printable_add(&text, meta->namespace);
    buf_add_char(&text, '/');
    printable_add(&text, meta->name);
    buf_add(&text, str_of(what));
    printable_add(&text, node);
    buf_add_char(&text, '\n');
    f->has_ended = true;
    f->rc = rc;
    say(f, buf_view(&text));
}

/* ---- explaining again ---- */

static void compare(struct following *f, const struct explain_report *report) {
    AUTO(buf_release) struct buf text = BUF_INIT(LONGEST_TELLING);
    struct explain_state now;
    explain_state_keep(&now, report);
    write_time(f, &text);
    buf_add_char(&text, ' ');
    buf_add(&text, buf_view(&f->why));
    if (f->changes > REASONS_SHOWN)
        buf_addf(&text, ", and %zu more", f->changes - REASONS_SHOWN);
    buf_add_char(&text, '\n');
    if (explain_changes_write(&text, f->state, &now))
        say(f, buf_view(&text));
    explain_state_release(f->state);
    *f->state = now;
    buf_clear(&f->why);
    f->changes = 0;
}

static void explain_again(void *arg) {
    struct following *f = arg;
    const struct api_object_meta *meta = f->opts->pod->meta;
    const struct api_object *given = informer_get(f->pods, meta->namespace, meta->name);
    struct arena a = {0};
    struct sched_explanation e;
    int64_t began = clock_mono(&clock_system);
    if (f->has_ended || !given)
        return;
    const struct api_object *pod = api_publish(sim_probe_pod(given));
    sched_explain(f->sched, pod, f->opts->redact, &a, &e);
    compare(f, &(struct explain_report){.e = &e, .pod = given, .node = SIZE_MAX});
    api_object_unref(pod);
    arena_release(&a);
    int64_t now = clock_mono(&clock_system);
    f->rested = now + PAUSES * (now - began);
}

/* ---- what informers tell ---- */

/* The pod that all is about: bound, ended, or another one of that name. */
static void look_at_pod(struct following *f, const struct api_object *o) {
    const struct api_pod *pod = o->body;
    if (!str_eq(o->meta->uid, f->opts->pod->meta->uid))
        end(f, " is gone: there is another one of this name", STR(""), CMD_BAD_VERDICT);
    else if (pod->spec.node_name.n)
        end(f, " is on node ", pod->spec.node_name, CMD_GOOD);
    else if (api_pod_has_ended(pod))
        end(f, " has ended", STR(""), CMD_BAD_VERDICT);
}

static bool is_the_pod(const struct following *f, const struct api_object *o) {
    return api_object_is(o, API_T_pod) && str_eq(o->meta->name, f->opts->pod->meta->name) &&
           str_eq(o->meta->namespace, f->opts->pod->meta->namespace);
}

static void add_reason(struct following *f, const struct api_object *o, const char *what) {
    AUTO(arena_release) struct arena a = {0};
    struct str reason = arena_printf(&a, "%.*s %s", STR_ARG(remote_place(&a, o)), what);
    if (str_find(buf_view(&f->why), reason) != STR_NONE || f->changes++ >= REASONS_SHOWN)
        return;
    buf_add(&f->why, f->why.n ? STR(", ") : STR(""));
    printable_add(&f->why, reason);
}

static void note(struct following *f, const struct api_object *o, const char *what) {
    if (!f->has_synced)
        return;
    add_reason(f, o, what);
    int64_t now = net_loop_now(f->remote.loop);
    int64_t next = now + MOMENT > f->rested ? now + MOMENT : f->rested;
    if (!net_timer_is_running(&f->again))
        net_timer_start(f->remote.loop, &f->again, next);
}

/* The scheduler notes in the pod's conditions what it makes of it, over and over. */
static bool is_same_question(const struct api_object *old, const struct api_object *o) {
    const struct api_pod *a = old ? old->body : NULL, *b = o->body;
    return a && o->meta->generation && old->meta->generation == o->meta->generation &&
           str_eq(a->status.nominated_node_name, b->status.nominated_node_name);
}

/* Other pods that are pending are nowhere. */
static bool is_told(const struct api_object *o) {
    return !api_object_is(o, API_T_pod) || sim_probe_matters(o->body);
}

static void on_set(void *arg, const struct api_object *old, const struct api_object *o) {
    struct following *f = arg;
    if (is_the_pod(f, o)) {
        look_at_pod(f, o);
        if (!is_same_question(old, o))
            note(f, o, "changed");
    } else if (is_told(o)) {
        sched_set(f->sched, o);
        note(f, o, old ? "changed" : "is new");
    } else if (old && is_told(old)) {
        sched_delete(f->sched, old);
        note(f, o, "changed");
    }
}

static void on_deleted(void *arg, const struct api_object *last) {
    struct following *f = arg;
    if (is_the_pod(f, last))
        end(f, " was deleted", STR(""), CMD_BAD_VERDICT);
    else if (is_told(last)) {
        sched_delete(f->sched, last);
        note(f, last, "is gone");
    }
}

/* What changed while informers began is told without a reason. */
static void on_synced(void *arg) {
    struct following *f = arg;
    const struct api_object_meta *meta = f->opts->pod->meta;
    if (!informers_have_synced(f->informers) || f->has_synced)
        return;
    f->has_synced = true;
    if (!informer_get(f->pods, meta->namespace, meta->name))
        end(f, " was deleted", STR(""), CMD_BAD_VERDICT);
    buf_add(&f->why, STR("meanwhile"));
    net_timer_start(f->remote.loop, &f->again, net_loop_now(f->remote.loop));
}

static void on_late(void *arg) {
    end(arg, ": the time is over", STR(""), CMD_BAD_VERDICT);
}

/* ---- its life ---- */

static bool may_be_watched(const struct following *f, const struct api_kind *kind) {
    struct str version = str_of(kind->api_version), name = str_of(kind->kind);
    return !input_kind_is_of(version, name, &f->opts->from->skip) &&
           !input_kind_is_of(version, name, &f->opts->scene->remote.hidden);
}

static void listen(struct following *f) {
    static const enum api_type_id types[] = {
        API_T_namespace,         API_T_node,
        API_T_persistent_volume, API_T_persistent_volume_claim,
        API_T_storage_class,     API_T_csi_node,
        API_T_csi_driver,        API_T_csi_storage_capacity,
        API_T_volume_attachment, API_T_service,
        API_T_replica_set,       API_T_replication_controller,
        API_T_stateful_set,      API_T_pod,
    };
    enum { TYPES = sizeof types / sizeof *types };
    struct informer *all[TYPES] = {NULL};
    for (size_t i = 0; i < TYPES; i++)
        if (may_be_watched(f, client_kind(types[i])))
            all[i] = informers_of(f->informers, client_kind(types[i]));
    f->pods = all[TYPES - 1];
    for (size_t i = 0; i < TYPES; i++)
        if (all[i])
            informer_listen(
                all[i], &(struct informer_handler){
                            .set = on_set, .deleted = on_deleted, .synced = on_synced, .arg = f});
}

static void run(struct following *f) {
    const struct log *log = &f->opts->call->ctx->log;
    f->informers = informers_new(f->remote.client, log);
    clock_manual_init(&f->clock, 0);
    f->sched = scene_sched_new(f->opts->scene, &f->clock.clock, 0);
    f->again = (struct net_timer){.fn = explain_again, .arg = f};
    f->late = (struct net_timer){.fn = on_late, .arg = f};
    if (f->opts->timeout)
        net_timer_start(f->remote.loop, &f->late,
                        clock_after(net_loop_now(f->remote.loop), f->opts->timeout));
    listen(f);
    while (!f->has_ended)
        net_loop_turn(f->remote.loop, -1);
    net_timer_stop(f->remote.loop, &f->again);
    net_timer_stop(f->remote.loop, &f->late);
    sched_free(f->sched);
    informers_free(f->informers);
}

int follow(const struct follow_opts *opts, struct explain_state *state, struct err *err) {
    struct following f = {
        .opts = opts, .state = state, .err = err, .why = BUF_INIT(LONGEST_TELLING)};
    int rc = remote_open(&f.remote, opts->call, &opts->from->server, err);
    if (rc == 0) {
        run(&f);
        rc = f.rc;
    }
    remote_close(&f.remote);
    buf_release(&f.why);
    return rc;
}
