/*
 * The log of one resource: a ring of events with what it needs to give back old states.
 *
 * A state of the past is a tree of the future with the events between them undone. Some events
 * hold the tree behind them, so that there are never many to undo. Guarded by the store's lock.
 */
#ifndef STORE_HISTORY_INT_H
#define STORE_HISTORY_INT_H

#include "store/ptree_int.h"

struct store__entry {
    struct store_event event; /* both objects are held */
    int64_t time;             /* of the write, by the wall clock */
    struct store__node *tree; /* the state behind it, held; NULL: not kept */
};

struct store__history {
    struct store__entry *ring; /* of `room` entries, a power of two; NULL at first */
    size_t room, first, n;     /* places are counted modulo room */
    size_t bytes;              /* of objects that nobody but the log needs */
    size_t since_tree;         /* events behind the last one that holds a tree */
    uint64_t floor;            /* the revision of the last event that was let go, or older */
};

/* One more reference to each object of an event. */
void store__event_ref(const struct store_event *event);

/* Frees the ring and gives back what it holds. */
void store__history_release(struct store__history *h);

/* Appends an event, whose references are taken. */
void store__history_add(struct store__history *h, const struct store_event *event, int64_t time);

/* Offers the tree behind the newest event, which takes a reference to it if it is time to. */
void store__history_offer(struct store__history *h, struct store__node *tree);

/* Takes the oldest event out: its references are the caller's. There must be one. */
struct store__entry store__history_pop(struct store__history *h);

/* The oldest event, or NULL. */
const struct store__entry *store__history_oldest(const struct store__history *h);

/* The memory of an object, or of none. */
size_t store__object_bytes(const struct api_object *o);

/* How much memory the log alone keeps for an event. */
size_t store__event_bytes(const struct store_event *event);

/* Copies up to `most` events behind a revision, with references. Returns how many; *all tells
 * whether there are no more. */
int store__history_read(const struct store__history *h, uint64_t revision,
                        struct store_event *events, int most, bool *all);

/* How to come to a state of the past: a tree, and the events to undo in it, the last one first. All
 * of it is held, so that it can be done without the lock. */
struct store__past {
    struct store__node *tree;
    struct store_event *events;
    int n;
};

/* Fills *out for the state at a revision that is not below the floor, where `newest` is the state
 * behind all events. */
void store__history_past(const struct store__history *h, uint64_t revision,
                         struct store__node *newest, struct store__past *out);

/* Undoes the events, and gives back what was held for it; the caller has a reference to the state.
 */
struct store__node *store__past_restore(struct store__past *p);

#endif
