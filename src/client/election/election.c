/*
 * A candidate's life: attempts to get a Lease, renewals, the end.
 *
 * An attempt is a chain of requests, one at a time. Who leads writes at once, upon the Lease as it
 * was seen last; everybody else, and who found that it has changed, reads it first.
 */
#include "client/election.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "client/election/record_int.h"
#include "client/events.h"
#include "net/loop.h"

/* Upstream's figures: by how much of itself a wait becomes longer at most, and how much of the
 * deadline a request may take, which is a second at least. */
static const double jitter_factor = 1.2;
enum { REQUESTS_IN_DEADLINE = 2 };

enum step {
    RESTING, /* until the next attempt */
    RENEWING,
    READING,
    WRITING,
    READING_TO_RELEASE,
    RELEASING,
    ENDED
};

struct election {
    struct election_opts opts;
    struct net_loop *loop;
    enum step step;
    bool leads, stops;
    struct client_call *call;
    const struct api_object *lease; /* as it was seen or written last; NULL: not yet */
    int64_t observed;               /* when it was first seen to say this, in monotonic time */
    int64_t attempted;              /* when this attempt began */
    int64_t sent;                   /* when the last request was: a write is seen no earlier */
    struct net_timer again, late, deadline;
    uint64_t chance, slow_paths;
};

static void attempt(void *arg);
static void on_answer(void *arg, const struct client_answer *answer);

/* ---- what is known ---- */

/* What a Lease says of a duration: whole seconds, and never less of them. */
static int64_t seconds_of(int64_t duration) {
    return duration / CLOCK_SECOND + (duration % CLOCK_SECOND > 0);
}

int election_times_check(const struct election_times *t, struct err *err) {
    if (t->lease_duration <= t->renew_deadline)
        return err_set(err, ERR_INVALID, "leaseDuration must be greater than renewDeadline");
    if ((double)t->renew_deadline <= jitter_factor * (double)t->retry_period)
        return err_set(err, ERR_INVALID,
                       "renewDeadline must be greater than retryPeriod*JitterFactor");
    if (t->lease_duration < CLOCK_SECOND || seconds_of(t->lease_duration) > INT32_MAX)
        return err_set(err, ERR_INVALID, "leaseDuration must be greater than zero");
    if (t->renew_deadline < 1)
        return err_set(err, ERR_INVALID, "renewDeadline must be greater than zero");
    if (t->retry_period < 1)
        return err_set(err, ERR_INVALID, "retryPeriod must be greater than zero");
    return 0;
}

struct str election_leader(const struct election *e) {
    return client__record_of(e->lease).holder;
}

bool election_is_leader(const struct election *e) {
    return e->leads;
}

static bool is_ours(const struct election *e) {
    return str_eq(election_leader(e), e->opts.identity);
}

static bool is_valid(const struct election *e) {
    int64_t seconds = client__record_of(e->lease).seconds;
    return e->observed + seconds * CLOCK_SECOND > net_loop_now(e->loop);
}

int election_check(const struct election *e, int64_t tolerance, struct err *err) {
    int64_t age = net_loop_now(e->loop) - e->observed;
    if (e->leads && age > e->opts.times.lease_duration + tolerance)
        return err_set(err, ERR_INTERNAL, "failed election to renew leadership on lease %.*s",
                       STR_ARG(e->opts.name));
    return 0;
}

static void note_leader(struct election *e, struct str before) {
    struct str now = election_leader(e);
    if (!str_eq(before, now) && now.n && !is_ours(e))
        log_info(e->opts.log, 0, "new leader elected", LOG_STR("lease", e->opts.name),
                 LOG_STR("identity", now));
}

/* The Lease is so now. What says the same as before is not a renewal; what was written is. */
static void observe(struct election *e, const struct api_object *lease, bool is_written) {
    const struct api_object *old = e->lease;
    struct client__record before = client__record_of(old), now = client__record_of(lease);
    if (!old || is_written || !client__record_eq(&before, &now))
        e->observed = net_loop_now(e->loop);
    e->lease = api_object_ref(lease);
    note_leader(e, before.holder);
    api_object_unref(old);
}

/* ---- the end ---- */

__attribute__((format(printf, 2, 3))) static void say(struct election *e, const char *fmt, ...) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    va_list args;
    va_start(args, fmt);
    buf_vaddf(&text, fmt, args);
    va_end(args);
    if (e->opts.events && e->lease)
        events_say(e->opts.events, e->lease, EVENTS_NORMAL, "LeaderElection", "%.*s",
                   STR_ARG(buf_view(&text)));
}

static void rest(struct election *e) {
    if (e->call)
        client_cancel(e->call);
    e->call = NULL;
    e->step = RESTING;
    net_timer_stop(e->loop, &e->late);
    net_timer_stop(e->loop, &e->again);
}

static void end(struct election *e, enum election_end how) {
    rest(e);
    net_timer_stop(e->loop, &e->deadline);
    e->step = ENDED;
    if (e->leads)
        say(e, "%.*s stopped leading", STR_ARG(e->opts.identity));
    log_info(e->opts.log, 0,
             how == ELECTION_LOST ? "lost the lease"
             : e->leads           ? "stopped leading"
                                  : "stopped waiting for the lease",
             LOG_STR("lease", e->opts.name));
    e->leads = false;
    e->opts.ended(e->opts.arg, how);
}

static void on_deadline(void *arg) {
    struct election *e = arg;
    end(e, e->stops ? ELECTION_STOPPED : ELECTION_LOST);
}

/* ---- requests ---- */

static void on_late(void *arg) {
    struct election *e = arg;
    client_cancel(e->call);
    on_answer(e, &(struct client_answer){.code = ERR_TIMEOUT,
                                         .message = STR("the server has not answered in time")});
}

static void send(struct election *e, enum step step, struct client_request *request) {
    int64_t most = e->opts.times.renew_deadline / REQUESTS_IN_DEADLINE;
    e->sent = net_loop_now(e->loop);
    request->kind = client_kind(API_T_lease);
    request->namespace = e->opts.namespace;
    request->name = e->opts.name;
    e->step = step;
    net_timer_start(e->loop, &e->late, e->sent + (most > CLOCK_SECOND ? most : CLOCK_SECOND));
    e->call = client_send(e->opts.client, request, on_answer, e);
}

static void read_lease(struct election *e, enum step step) {
    send(e, step, &(struct client_request){.verb = REGISTRY_VERB_GET});
}

static void write_lease(struct election *e, enum step step, const struct client__record *record) {
    const struct election_opts *o = &e->opts;
    send(e, step,
         &(struct client_request){
             .verb = e->lease ? REGISTRY_VERB_UPDATE : REGISTRY_VERB_CREATE,
             .object = client__record_object(e->lease, o->namespace, o->name, record)});
}

/* ---- attempts ---- */

/* xorshift: how much later a candidate looks again matters to nobody. */
static double draw(struct election *e) {
    e->chance ^= e->chance << 13;
    e->chance ^= e->chance >> 7;
    e->chance ^= e->chance << 17;
    return (double)(e->chance >> 11) / (double)(UINT64_C(1) << 53);
}

/* Who leads tries at even intervals until the deadline; who does not waits behind each try. */
static void fail(struct election *e) {
    int64_t now = net_loop_now(e->loop), period = e->opts.times.retry_period;
    int64_t at = now + period + (int64_t)(draw(e) * jitter_factor * (double)period);
    rest(e);
    if (e->leads)
        at = e->attempted + period > now ? e->attempted + period : now;
    net_timer_start(e->loop, &e->again, at);
}

/* Until when it leads by the write that was sent last, whenever its answer came: until the next
 * attempt has failed for as long as it may, and never up to the end of the Lease, of which others
 * may have seen the write as soon as it was sent. */
static int64_t deadline_of(const struct election *e) {
    const struct election_times *t = &e->opts.times;
    int64_t most = t->renew_deadline + (t->lease_duration - t->renew_deadline) / 2;
    int64_t wanted = t->retry_period + t->renew_deadline;
    return e->sent + (wanted < most ? wanted : most);
}

static void succeed(struct election *e) {
    bool is_new = !e->leads;
    if (deadline_of(e) <= net_loop_now(e->loop)) { /* the answer came too late to lead by it */
        fail(e);
        return;
    }
    rest(e);
    net_timer_start(e->loop, &e->deadline, deadline_of(e));
    net_timer_start(e->loop, &e->again, net_loop_now(e->loop) + e->opts.times.retry_period);
    if (!is_new)
        return;
    e->leads = true;
    say(e, "%.*s became leader", STR_ARG(e->opts.identity));
    log_info(e->opts.log, 0, "successfully acquired lease", LOG_STR("lease", e->opts.name),
             LOG_STR("identity", e->opts.identity));
    e->opts.elected(e->opts.arg);
}

/* What this process wants the Lease to say. Who has it keeps the time since when. */
static struct client__record wanted(const struct election *e) {
    struct client__record old = client__record_of(e->lease);
    struct api_time now = client__record_time(clock_wall(net_loop_clock(e->loop)));
    struct client__record r = {.holder = e->opts.identity,
                               .seconds = (int32_t)seconds_of(e->opts.times.lease_duration),
                               .acquired = now,
                               .renewed = now,
                               .transitions = old.transitions};
    if (is_ours(e))
        r.acquired = old.acquired;
    else if (e->lease && r.transitions < INT32_MAX)
        r.transitions++;
    return r;
}

static void write_wanted(struct election *e, enum step step) {
    struct client__record record = wanted(e);
    write_lease(e, step, &record);
}

static void attempt(void *arg) {
    struct election *e = arg;
    e->attempted = net_loop_now(e->loop);
    if (is_ours(e) && is_valid(e))
        write_wanted(e, RENEWING);
    else
        read_lease(e, READING);
}

/* The Lease was read: whose is it? */
static void judge(struct election *e) {
    bool is_held = election_leader(e).n && is_valid(e) && !is_ours(e);
    if (is_held && e->leads)
        end(e, ELECTION_LOST);
    else if (is_held)
        fail(e);
    else {
        e->slow_paths += is_ours(e);
        write_wanted(e, WRITING);
    }
}

static void forget_lease(struct election *e) {
    api_object_unref(e->lease);
    e->lease = NULL;
}

static void report(struct election *e, const char *what, const struct client_answer *answer) {
    log_warn(e->opts.log, what, LOG_STR("lease", e->opts.name), LOG_STR("server", e->opts.server),
             LOG_STR("err", answer->message));
}

static void on_read(struct election *e, const struct client_answer *answer) {
    if (!answer->code && answer->object) {
        observe(e, answer->object, false);
        judge(e);
    } else if (answer->code == ERR_NOT_FOUND) {
        forget_lease(e);
        write_wanted(e, WRITING);
    } else {
        report(e, "error retrieving lease lock", answer);
        fail(e);
    }
}

static void on_renewed(struct election *e, const struct client_answer *answer) {
    if (!answer->code && answer->object) {
        observe(e, answer->object, true);
        succeed(e);
        return;
    }
    log_info(e->opts.log, 2, "failed to update lease optimistically, reading it",
             LOG_STR("lease", e->opts.name), LOG_STR("server", e->opts.server),
             LOG_STR("err", answer->message));
    read_lease(e, READING);
}

static void on_written(struct election *e, const struct client_answer *answer) {
    if (!answer->code && answer->object) {
        observe(e, answer->object, true);
        succeed(e);
        return;
    }
    report(e, "failed to update lease", answer);
    fail(e);
}

/* ---- release ---- */

/* Follows k8s.io/client-go tools/leaderelection, func (*LeaderElector) tryRelease. */
static void on_read_to_release(struct election *e, const struct client_answer *answer) {
    struct api_time now = client__record_time(clock_wall(net_loop_clock(e->loop)));
    if (answer->code || !answer->object) {
        end(e, ELECTION_STOPPED);
        return;
    }
    observe(e, answer->object, false);
    if (!is_ours(e)) {
        end(e, ELECTION_STOPPED);
        return;
    }
    write_lease(e, RELEASING,
                &(struct client__record){.seconds = 1,
                                         .acquired = now,
                                         .renewed = now,
                                         .transitions = client__record_of(e->lease).transitions});
}

static void on_released(struct election *e, const struct client_answer *answer) {
    if (answer->code == ERR_CONFLICT)
        read_lease(e, READING_TO_RELEASE);
    else
        end(e, ELECTION_STOPPED);
}

static void on_answer(void *arg, const struct client_answer *answer) {
    static void (*const next[])(struct election * e, const struct client_answer *answer) = {
        [RENEWING] = on_renewed,   [READING] = on_read,
        [WRITING] = on_written,    [READING_TO_RELEASE] = on_read_to_release,
        [RELEASING] = on_released,
    };
    struct election *e = arg;
    e->call = NULL;
    net_timer_stop(e->loop, &e->late);
    next[e->step](e, answer);
}

void election_stop(struct election *e) {
    bool may_hold = e->leads || e->step == WRITING || e->step == RENEWING;
    if (e->step == ENDED)
        return;
    rest(e);
    e->stops = true;
    net_timer_start(e->loop, &e->deadline,
                    net_loop_now(e->loop) + (may_hold ? e->opts.times.renew_deadline : 0));
    if (may_hold)
        read_lease(e, READING_TO_RELEASE);
}

/* ---- its life ---- */

struct election *election_new(const struct election_opts *opts) {
    struct election *e = xcalloc(1, sizeof *e);
    e->opts = *opts;
    e->loop = client_loop(opts->client);
    e->chance = opts->seed;
    e->again = (struct net_timer){.fn = attempt, .arg = e};
    e->late = (struct net_timer){.fn = on_late, .arg = e};
    e->deadline = (struct net_timer){.fn = on_deadline, .arg = e};
    log_info(opts->log, 0, "attempting to acquire leader lease...", LOG_STR("lease", opts->name),
             LOG_STR("server", opts->server));
    net_timer_start(e->loop, &e->again, net_loop_now(e->loop));
    return e;
}

void election_free(struct election *e) {
    if (!e)
        return;
    rest(e);
    net_timer_stop(e->loop, &e->deadline);
    forget_lease(e);
    free(e);
}

void election_metrics_write(const struct election *e, struct buf *out) {
    buf_addf(out,
             "# HELP leader_election_master_status [ALPHA] 1 while this process leads, else 0.\n"
             "# TYPE leader_election_master_status gauge\n"
             "leader_election_master_status{name=\"%.*s\"} %d\n",
             STR_ARG(e->opts.name), e->leads);
    buf_addf(out,
             "# HELP leader_election_slowpath_total [ALPHA] Renewals that had to read the lease.\n"
             "# TYPE leader_election_slowpath_total counter\n"
             "leader_election_slowpath_total{name=\"%.*s\"} %llu\n",
             STR_ARG(e->opts.name), (unsigned long long)e->slow_paths);
}
