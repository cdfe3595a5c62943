/* Processes of the program under test. */
#ifndef CRASH_PROCESS_H
#define CRASH_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

/* What is asked of the shim in one life of a server: see journal.h. */
struct orders {
    unsigned kind;
    uint64_t at, times, seed;
    bool from_start; /* the plan counts from the start, else once it is armed */
    bool journal;
    bool compacts; /* it is `berth store compact` in the place of a server */
    long clock_ahead;
};

struct process {
    const char *program, *shim, *directory; /* directory: of data, logs, orders; stored */
    pid_t pid;                              /* 0: none */
    int out;                                /* its standard output */
    int status;                             /* of the last one, as of waitpid */
};

/* Starts a server on DIRECTORY/data, or a compaction of its store. */
void process_start(struct process *p, const struct orders *orders);

/* Waits for the line that says where the server listens; its port, 0 when the server has ended, -1
 * when the time is over. */
int process_ready(struct process *p, int timeout_ms);

/* Lets the plan begin. */
void process_arm(const struct process *p);

/* Has the plan's failure come? */
bool process_reported(const struct process *p);

/* Is it still there? Its status is kept if not. */
bool process_lives(struct process *p);

/* Sends a signal and waits for the end, or up to so many milliseconds: false if it lives on. */
bool process_end(struct process *p, int signal, int timeout_ms);

/* Runs the program's `store check` on the data; its exit status, with what it printed in out. */
int process_check(const struct process *p, struct buf *out);

/* Copies the store's files, as they are, to DIRECTORY/before. */
void process_keep_files(const struct process *p);

/* Appends what the server has written to standard error in its last life. */
void process_log(const struct process *p, struct buf *out);

/* Milliseconds, and microseconds, of a clock that never goes back. */
int64_t now_ms(void);
int64_t now_us(void);

#endif
