/*
 * A lane: a store that is killed and broken again and again, its writers, its watchers, and what is
 * checked each time. Lanes are processes that share nothing but their tallies.
 */
#ifndef CRASH_LANE_H
#define CRASH_LANE_H

#include "conn.h"
#include "model.h"
#include "process.h"

/* ---- ends ---- */

/* When a server is killed. */
enum moment { WHILE_WRITING, WHILE_STARTING, WHILE_CLOSING, WHILE_IDLE, WHILE_COMPACTING, MOMENTS };
extern const char *const moment_names[MOMENTS];

/* A way for a disk to fail: a row of the table in lane.c. */
struct fault {
    const char *name;
    unsigned shim;      /* of enum shim_kind */
    bool lives;         /* the server may go on */
    bool harmless;      /* what was refused is not there, and later writes succeed */
    bool unseen;        /* nothing may be refused at all */
    bool cuts;          /* power fails behind it */
    bool starts;        /* it comes while the server starts, always */
    uint32_t at, times; /* the largest that are drawn */
};

enum { FAULTS = 10 };
extern const struct fault faults[FAULTS];

/* ---- figures ---- */

struct fault_tally {
    uint64_t came, power_cuts, refused_answers, ended, lost, damage_told;
    char sample[200]; /* of an answer that refuses */
};

struct tally {
    uint64_t kills[MOMENTS];
    struct fault_tally faults[FAULTS];
    uint64_t missed; /* cycles whose failure did not come */
    uint64_t starts, stores, checks;
    uint64_t acknowledged, unanswered, survived, events, rewound, listed;
    uint64_t longest_us; /* of a start with all its checks */
};

/* ---- lanes ---- */

struct lane_opts {
    const char *program, *shim, *directory;
    uint64_t kills, faults, seed;
    uint32_t connections;
    const char *only; /* what the names of faults must have in them */
};

/* Runs a lane to its end; does not return when something is wrong: it then prints what, leaves
 * everything in the directory, and ends the process with 1. */
void lane_run(const struct lane_opts *opts, struct tally *tally);

/* ---- inside ---- */

enum { REWINDERS = 2, WATCHERS = KINDS + REWINDERS, WRITERS_MOST = 256 };

struct writer {
    struct lane *lane;
    struct conn conn;
    uint32_t first_key;
    uint64_t id; /* of the write under way; 0: none */
};

struct watcher {
    struct lane *lane;
    struct conn conn;
    uint32_t kind;
    bool rewinds; /* begins again at an earlier event, of any kind, after each start */
    size_t at;    /* events that it has seen */
};

struct lane {
    struct lane_opts opts;
    struct tally *tally;
    struct model model;
    struct link link;
    struct process process;
    struct writer writers[WRITERS_MOST];
    struct watcher watchers[WATCHERS];
    struct conn reader;
    struct answer answer; /* to the reader's last request */
    struct buf answer_body, body, path;
    uint32_t markers[KINDS]; /* keys */
    uint32_t first_shared;
    uint32_t connections; /* of this life: up to those of opts */
    uint64_t seed;
    uint64_t cycle;
    uint64_t starts_of_store, verified; /* all starts, and those behind which all was checked */
    uint64_t store_life;                /* starts until it is made anew */
    bool namespace_made;
    uint64_t refused_answers;  /* in this life of the server */
    struct fault_tally *fault; /* of this cycle, or NULL */
    bool stops;                /* writers begin nothing new */
    bool closes;               /* the server was told to end */
};

enum { SHARED_KEYS = 4, KEYS_OF_WRITER = 3, WAIT_MS = 30000 };

/* A new store, and a new model of it, in the place of the old ones. */
void lane_new_store(struct lane *l);

/* Reads how to ask the store's server from the kubeconfig that its first start has written. */
void lane_learn_credentials(struct lane *l);

/* Opens all connections to the server, which listens there; watchers go on where they were, or
 * earlier. */
void lane_connect(struct lane *l, int port);

/* Reads what the dead server had said, and closes all connections. */
void lane_disconnect(struct lane *l);

/* Asks by the reader's connection and waits; the code, 0 if the server has died. */
int lane_ask(struct lane *l, const char *method, struct str path, struct str body);

/* Lists all kinds for the model; false if the server has died. */
bool lane_list(struct lane *l);

/* Writes to one of the driver's own keys: the code. */
int lane_mark(struct lane *l, uint32_t key);

/* Has all that the model expects behind a start been kept? */
void lane_verify(struct lane *l);

/* Has a writer begin its next write, if it is idle and there is one to be begun. */
void lane_write_next(struct writer *w);

/* Does a writer wait for an answer? */
bool lane_is_busy(const struct lane *l);

#endif
