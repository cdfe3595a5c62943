/* The life of a lane: the lives of its servers, and how these end. */
#include "lane.h"

#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cut.h"
#include "journal.h"

enum { MOST = 64 << 20, CLOCK_STEP = 25, LOAD_MS = 60, KILL_MS = 250, FAULT_MS = 1500 };

const char *const moment_names[MOMENTS] = {"while it writes", "while it starts", "while it closes",
                                           "at rest, or behind it", "berth store compact"};

const struct fault faults[FAULTS] = {
    {"a write fails (EIO)", SHIM_WRITE_EIO, .lives = true, .at = 120, .times = 3},
    {"a write finds no room (ENOSPC)", SHIM_WRITE_FULL, .lives = true, .harmless = true, .at = 120,
     .times = 30},
    {"a write is short", SHIM_WRITE_SHORT, .lives = true, .harmless = true, .unseen = true,
     .at = 120, .times = 30},
    {"a write is short, the rest finds no room", SHIM_SHORT_FULL, .lives = true, .harmless = true,
     .at = 120, .times = 30},
    {"a sync fails (EIO)", SHIM_SYNC_EIO, .lives = true, .cuts = true, .at = 25, .times = 2},
    {"a read fails (EIO)", SHIM_READ_EIO, .lives = true, .starts = true, .at = 150, .times = 3},
    {"a write is torn, the server dies", SHIM_TORN, .at = 120, .times = 1},
    {"power fails at a write or sync", SHIM_KILL, .cuts = true, .at = 150, .times = 1},
    {"power fails at any moment", SHIM_NONE, .cuts = true, .at = 1, .times = 1},
    {"syncs lie, then power fails", SHIM_LIE, .cuts = true, .at = 4, .times = 600},
};

/* ---- starts ---- */

static void start(struct lane *l, const struct orders *orders) {
    l->tally->starts++;
    l->starts_of_store++;
    l->refused_answers = 0;
    l->stops = true;
    l->closes = false;
    process_start(&l->process, orders);
}

/* The log reaches back for five minutes, and the clock moves on with each start: watchers may begin
 * again where it was four to eight starts ago. */
static void move_floors(struct lane *l) {
    for (int i = 0; i < KINDS && l->verified % 4 == 0; i++) {
        struct feed *f = &l->model.feeds[i];
        f->floor = f->next_floor;
        f->next_floor = f->log.n;
    }
}

/* Waits until the server serves, and checks everything. */
static void start_and_verify(struct lane *l, const struct orders *orders) {
    int64_t began = now_us();
    start(l, orders);
    int port = process_ready(&l->process, WAIT_MS);
    if (port <= 0)
        model_wrong(&l->model, "the server does not start");
    if (!l->link.tls)
        lane_learn_credentials(l);
    lane_connect(l, port);
    lane_verify(l);
    l->verified++;
    move_floors(l);
    uint64_t took = (uint64_t)(now_us() - began);
    if (took > l->tally->longest_us)
        l->tally->longest_us = took;
}

/* ---- writing ---- */

/* Until enough is acknowledged, the time is over, the server is dead, or its failure has come. */
static void write_for_a_while(struct lane *l, const struct fault *f) {
    struct model *m = &l->model;
    int64_t until = now_ms() + (f ? FAULT_MS : KILL_MS);
    uint64_t goal = m->acknowledged + crash_chance(&l->seed, 300);
    int64_t stop = now_us() + (int64_t)crash_chance(&l->seed, LOAD_MS * 1000);
    bool by_time = crash_chance(&l->seed, 2), waits = f && f->shim != SHIM_NONE;
    l->stops = false;
    while (process_lives(&l->process) && now_ms() < until) {
        for (uint32_t i = 0; i < l->connections; i++)
            lane_write_next(&l->writers[i]);
        link_run(&l->link, 1);
        if (waits && !process_reported(&l->process))
            continue;
        if (waits) { /* a little longer: what comes behind a failure */
            waits = false;
            by_time = true;
            stop = now_us() + (int64_t)crash_chance(&l->seed, 20000);
        }
        if (f && f->shim == SHIM_LIE)
            continue; /* the shim knows when it is over */
        if (by_time ? now_us() > stop : m->acknowledged > goal)
            break;
    }
    l->stops = true;
}

/* ---- behind a failure that the server has survived ---- */

static void wait_for_answers(struct lane *l) {
    int64_t until = now_ms() + WAIT_MS;
    while (lane_is_busy(l) && now_ms() < until)
        link_run(&l->link, 5);
    if (lane_is_busy(l))
        model_wrong(&l->model, "writes have no answer behind a failure");
}

/* There is room again: a write succeeds. */
static void expect_recovery(struct lane *l) {
    int code = 500;
    for (int i = 0; i < 200 && code >= 500; i++)
        code = lane_mark(l, l->markers[0]);
    if (code >= 500)
        model_wrong(&l->model, "there is room again, and writes are still refused");
}

/* A server that takes no writes any more says that it is not ready. */
static void expect_readiness(struct lane *l, const struct fault *f) {
    int code = lane_ask(l, "GET", STR("/readyz"), (struct str){0});
    bool may_refuse = !f->harmless, must_refuse = may_refuse && l->refused_answers;
    if (code && !(code == 200 && !must_refuse) && !(code == 500 && may_refuse))
        model_wrong(&l->model, "/readyz is answered with %d behind %llu refusals", code,
                    (unsigned long long)l->refused_answers);
}

static void look_at_survivor(struct lane *l, const struct fault *f) {
    wait_for_answers(l);
    if (!process_lives(&l->process))
        return;
    l->fault->refused_answers += l->refused_answers;
    if (f->unseen && l->refused_answers)
        model_wrong(&l->model, "%llu writes were refused", (unsigned long long)l->refused_answers);
    if (!lane_list(l)) {
        if (process_end(&l->process, 0, 1000))
            return;
        model_wrong(&l->model, "the server does not answer a list behind a failure");
    }
    model_expect_told(&l->model);
    if (f->harmless)
        expect_recovery(l);
    expect_readiness(l, f);
}

/* ---- ends ---- */

static void check_store(struct lane *l) {
    AUTO(buf_release) struct buf said = BUF_INIT(MOST);
    l->tally->checks++;
    if (process_check(&l->process, &said) != 0)
        model_wrong(&l->model, "berth store check: %.*s", STR_ARG(buf_view(&said)));
}

/* What a server says that does not start, or ends by itself. */
static bool tells_why(struct str log) {
    static const char *const reasons[] = {"the disk failed", "make room on the disk", "damaged"};
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (str_find(log, str_of(reasons[i])) != STR_NONE)
            return str_find(log, STR("store.")) != STR_NONE;
    return false;
}

static void note_end(struct lane *l, bool may_be_done) {
    AUTO(buf_release) struct buf log = BUF_INIT(MOST);
    if (process_lives(&l->process) || !WIFEXITED(l->process.status) ||
        (may_be_done && WEXITSTATUS(l->process.status) == 0))
        return;
    process_log(&l->process, &log);
    l->fault->ended++;
    if (WEXITSTATUS(l->process.status) == 0 || !tells_why(buf_view(&log)))
        model_wrong(&l->model, "the server ended with %d and does not say why",
                    WEXITSTATUS(l->process.status));
}

static void cut(struct lane *l) {
    char store[4096], journal[4096];
    snprintf(store, sizeof store, "%s/data/store", l->opts.directory);
    snprintf(journal, sizeof journal, "%s/journal", l->opts.directory);
    enum cut_how how = (enum cut_how)crash_chance(&l->seed, CUT_HOWS);
    int taken = cut_power(store, journal, how, crash_next(&l->seed));
    if (taken < 0)
        model_wrong(&l->model, "the driver cannot cut the power");
    l->fault->power_cuts++;
}

/* Asks the server to end, which it does or not in that time. */
static void ask_to_end(struct lane *l, int timeout_ms) {
    l->closes = true;
    process_end(&l->process, SIGTERM, timeout_ms);
}

/* The server is dead, or dies now. */
static void end_life(struct lane *l, const struct fault *f) {
    process_end(&l->process, SIGKILL, 0);
    lane_disconnect(l);
    model_died(&l->model, f && f->harmless);
    if (f && (f->cuts || crash_chance(&l->seed, 2)))
        cut(l);
    process_keep_files(&l->process);
}

/* Lets nobody write for as long as the store needs to see it and to empty its write-ahead log. */
static void rest(struct lane *l) {
    int64_t until = now_us() + 195000 + (int64_t)crash_chance(&l->seed, 40000);
    wait_for_answers(l);
    while (now_us() < until && process_lives(&l->process))
        link_run(&l->link, 5);
}

/* ---- cycles ---- */

static struct orders no_orders(struct lane *l) {
    return (struct orders){.clock_ahead = (long)l->verified * CLOCK_STEP};
}

static void kill_starting(struct lane *l, bool compacts) {
    struct orders orders = no_orders(l);
    orders.compacts = compacts;
    start(l, &orders);
    usleep((useconds_t)crash_chance(&l->seed, compacts ? 15000 : 40000));
    process_end(&l->process, SIGKILL, 0);
    process_keep_files(&l->process);
}

static void kill_cycle(struct lane *l, enum moment moment) {
    struct orders orders = no_orders(l);
    start_and_verify(l, &orders);
    write_for_a_while(l, NULL);
    if (crash_chance(&l->seed, 16) == 0) /* while the server has the file open */
        check_store(l);
    if (moment == WHILE_CLOSING)
        ask_to_end(l, (int)crash_chance(&l->seed, 8));
    if (moment == WHILE_IDLE)
        rest(l);
    if (moment == WHILE_IDLE && crash_chance(&l->seed, 2))
        write_for_a_while(l, NULL);
    end_life(l, NULL);
}

static void run_kill(struct lane *l) {
    static const enum moment moments[] = {WHILE_WRITING, WHILE_WRITING, WHILE_WRITING,
                                          WHILE_WRITING, WHILE_WRITING, WHILE_CLOSING,
                                          WHILE_CLOSING, WHILE_STARTING};
    enum moment moment = moments[crash_chance(&l->seed, 8)];
    if (moment == WHILE_WRITING && crash_chance(&l->seed, 12) == 0)
        moment = WHILE_IDLE;
    if (moment == WHILE_STARTING && l->verified && crash_chance(&l->seed, 3) == 0)
        moment = WHILE_COMPACTING;
    if (moment == WHILE_STARTING || moment == WHILE_COMPACTING)
        kill_starting(l, moment == WHILE_COMPACTING);
    else
        kill_cycle(l, moment);
    l->tally->kills[moment]++;
    if (crash_chance(&l->seed, 4) == 0 && l->link.tls)
        check_store(l);
}

/* A failure while the server starts: it says why it does not, or serves. Or while its store is
 * compacted. */
static void fail_starting(struct lane *l, const struct fault *f, const struct orders *orders) {
    start(l, orders);
    int port = process_ready(&l->process, WAIT_MS);
    if (port < 0)
        model_wrong(&l->model, "the server neither starts nor ends");
    if (port > 0)
        usleep((useconds_t)crash_chance(&l->seed, 5000));
    else
        process_end(&l->process, 0, WAIT_MS);
    if (process_reported(&l->process))
        note_end(l, orders->compacts);
    end_life(l, f);
}

/* The failure comes to the write-ahead log, or to what is done when it is emptied: while nobody
 * writes, or at the end. */
static void write_and_fail(struct lane *l, const struct fault *f) {
    uint64_t when = crash_chance(&l->seed, f->shim == SHIM_LIE ? 3 : 6);
    if (when < 2)
        write_for_a_while(l, NULL);
    process_arm(&l->process);
    if (when == 0)
        rest(l);
    if (when == 1)
        ask_to_end(l, 2000);
    else
        write_for_a_while(l, f);
}

static void fail_writing(struct lane *l, const struct fault *f, const struct orders *orders) {
    start_and_verify(l, orders);
    write_and_fail(l, f);
    if (process_lives(&l->process) && f->lives && !l->closes)
        look_at_survivor(l, f);
    if (!l->closes)
        note_end(l, false);
    if (f->lives && crash_chance(&l->seed, 4) == 0)
        ask_to_end(l, 2000);
    end_life(l, f);
}

/* What a disk that lied has left is a state of the past, or is said to be damaged. */
static void look_behind_lie(struct lane *l) {
    AUTO(buf_release) struct buf said = BUF_INIT(MOST);
    AUTO(buf_release) struct buf log = BUF_INIT(MOST);
    struct orders orders = no_orders(l);
    int good = process_check(&l->process, &said) == 0;
    start(l, &orders);
    int port = process_ready(&l->process, WAIT_MS);
    if (port > 0) {
        lane_connect(l, port);
        for (int i = 0; i < WATCHERS; i++)
            conn_close(&l->watchers[i].conn);
        if (!lane_list(l))
            model_wrong(&l->model, "the server has ended behind its start");
        l->fault->lost += model_expect_past(&l->model);
    } else {
        process_end(&l->process, 0, WAIT_MS);
        process_log(&l->process, &log);
        l->fault->damage_told++;
        if (!tells_why(buf_view(&log)))
            model_wrong(&l->model, "the server does not start and does not say why");
    }
    if (good != (port > 0))
        model_wrong(&l->model, "the server %s, and a check says: %.*s",
                    port > 0 ? "starts" : "does not start", STR_ARG(buf_view(&said)));
    process_end(&l->process, SIGKILL, 0);
    lane_disconnect(l);
    lane_new_store(l);
}

static size_t draw_fault(struct lane *l) {
    size_t number;
    do
        number = crash_chance(&l->seed, FAULTS);
    while (!strstr(faults[number].name, l->opts.only));
    return number;
}

static bool run_fault(struct lane *l) {
    size_t number = draw_fault(l);
    const struct fault *f = &faults[number];
    struct orders orders = no_orders(l);
    l->fault = &l->tally->faults[number];
    orders.kind = f->shim;
    orders.at = 1 + crash_chance(&l->seed, f->at);
    orders.times = 1 + crash_chance(&l->seed, f->times);
    orders.seed = crash_next(&l->seed);
    orders.journal = true;
    orders.from_start = f->starts || (f->shim != SHIM_LIE && crash_chance(&l->seed, 5) == 0);
    orders.compacts =
        orders.from_start && l->verified && crash_chance(&l->seed, f->starts ? 6 : 2) == 0;
    if (orders.from_start) {
        orders.at = 1 + crash_chance(&l->seed, f->starts ? f->at : orders.compacts ? 60 : 12);
        fail_starting(l, f, &orders);
    } else {
        fail_writing(l, f, &orders);
    }
    bool came = f->shim == SHIM_NONE || process_reported(&l->process);
    l->fault->came += came;
    l->tally->missed += !came;
    if (f->shim == SHIM_LIE && came)
        look_behind_lie(l);
    else if (l->link.tls)
        check_store(l);
    l->fault = NULL;
    return came;
}

static void add_up(struct lane *l) {
    struct model *m = &l->model;
    l->tally->acknowledged += m->acknowledged;
    l->tally->events += m->events;
    l->tally->unanswered += m->unanswered;
    l->tally->survived += m->survived;
    m->acknowledged = m->events = m->unanswered = m->survived = 0;
}

/* The last kill is checked as all are. */
static void end_store(struct lane *l) {
    struct orders orders = no_orders(l);
    start_and_verify(l, &orders);
    end_life(l, NULL);
    check_store(l);
    add_up(l);
}

void lane_run(const struct lane_opts *opts, struct tally *tally) {
    struct lane *l = xcalloc(1, sizeof *l);
    l->opts = *opts;
    l->tally = tally;
    l->seed = opts->seed;
    l->process = (struct process){
        .program = opts->program, .shim = opts->shim, .directory = opts->directory};
    l->answer_body = l->body = l->path = BUF_INIT(MOST);
    mkdir(opts->directory, 0700);
    lane_new_store(l);
    for (uint64_t kills = opts->kills, failures = opts->faults; kills + failures; l->cycle++) {
        if (l->starts_of_store > l->store_life) {
            end_store(l);
            lane_new_store(l);
        }
        if (crash_chance(&l->seed, kills + failures) < kills) {
            run_kill(l);
            kills--;
        } else {
            failures -= run_fault(l);
        }
        add_up(l);
    }
    end_store(l);
}
