/* Reflectors with their objects: list and watch, indexes, and who is told. */
#include "client/informer.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/map.h"
#include "base/vec.h"
#include "net/loop.h"

/* After a watch that ended, the next one begins so much later: doubled for each that fails at once,
 * with up to as much again by chance, so that not all clients come back at the same time. */
#define FIRST_DELAY (CLOCK_SECOND / 20)
#define MOST_DELAY  (30 * CLOCK_SECOND)

/* Objects under one key of an index. */
struct bucket {
    struct str key; /* in the same allocation */
    VEC(const struct api_object *) objects;
};

struct informer {
    struct informers *set;
    const struct api_kind *kind;
    struct client_watch *watch;
    struct net_timer again;
    int64_t delay;
    uint64_t revision;
    bool has_synced;
    bool is_replacing; /* the watch began anew: what it does not tell again is gone */
    struct map objects;                   /* struct entry by namespace/name */
    struct map indexes[INFORMER_INDEXES]; /* struct bucket by key */
    bool is_indexed[INFORMER_INDEXES];
    VEC(struct informer_handler) handlers;
};

/* An object that is there. */
struct entry {
    const struct api_object *object; /* held */
    bool was_told_again;             /* since the watch began anew */
    char key[];                      /* namespace/name */
};

struct informers {
    struct client *client;
    const struct log *log;
    struct map by_kind; /* struct informer by apiVersion/kind */
    struct arena arena; /* of keys */
    uint64_t chance;
};
