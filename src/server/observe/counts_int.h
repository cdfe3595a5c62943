/* The counters themselves: written by one thread each, read by any. */
#ifndef SERVER_OBSERVE_COUNTS_INT_H
#define SERVER_OBSERVE_COUNTS_INT_H

#include "server/counts.h"

enum {
    SERVER__DURATIONS = 23,
    SERVER__SIZES = 7,
    SERVER__EVENTS = 8,
    SERVER__CODES = 24,
    SERVER__SLOTS = 512,
};

/* Upper bounds of buckets; one more bucket has what lies above them. */
extern const double server__duration_bounds[SERVER__DURATIONS];
extern const double server__size_bounds[SERVER__SIZES];
extern const double server__event_bounds[SERVER__EVENTS];

struct server_series {
    struct server_labels labels;
    struct server_series *next;  /* of all; set before the series can be seen */
    struct server_series *chain; /* in its slot; of the writer */
    struct {
        atomic_int code; /* 0: free */
        _Atomic uint64_t count;
    } codes[SERVER__CODES];
    _Atomic uint64_t durations[SERVER__DURATIONS + 1], duration_ns;
    _Atomic uint64_t sizes[SERVER__SIZES + 1], size_bytes;
    _Atomic uint64_t long_now;
};

struct server_watch_series {
    struct server_labels labels;
    struct server_watch_series *next;
    _Atomic uint64_t sizes[SERVER__EVENTS + 1], size_bytes;
};

struct server_counts {
    struct server_series *_Atomic series;
    struct server_watch_series *_Atomic watches;
    struct server_series *slots[SERVER__SLOTS]; /* of the writer */
    _Atomic uint64_t tallies[SERVER_TALLY_COUNT];
};

#endif
