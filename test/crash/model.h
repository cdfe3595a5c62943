/*
 * What the server was asked, what it said, and what must therefore be there: every write, the state
 * of every key, and for each kind of object the one sequence of events that all watchers must see.
 *
 * A key belongs to one writer, or is shared; shared ones are never deleted, so that revisions alone
 * tell the order of writes to them. Every write has a number of its own, which stands in the object
 * with a text that follows from it: an object is whole if its text is the one of its number.
 */
#ifndef CRASH_MODEL_H
#define CRASH_MODEL_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/vec.h"
#include "codec/json.h"

/* ---- kinds ---- */

struct kind {
    const char *path, *api_version, *name;
};

enum { KINDS = 4 };
extern const struct kind kinds[KINDS];

/* ---- writes ---- */

enum op { OP_CREATE, OP_PUT, OP_PATCH, OP_DELETE };

enum fate {
    FATE_SENT,   /* no answer: it may be there or not */
    FATE_ACKED,  /* it must be there */
    FATE_FAILED, /* answered with an error of the server: not seen while that server lives */
    FATE_NEVER,  /* it must not be there */
};

struct write {
    enum op op;
    enum fate fate;
    uint32_t key;
    uint64_t base;     /* the revision that it expects; 0: any */
    uint64_t revision; /* that the server told; 0: none */
    uint64_t seen;     /* the revision of its event; 0: not seen yet */
};

/* The number and revision of a state; number 0: there is none. */
struct state {
    uint64_t id, revision;
};

struct key {
    uint32_t kind;
    bool shared, ours;     /* ours: the driver's own, not a writer's */
    bool busy, doubtful;   /* a write is under way; one failed in this life of the server */
    struct state told;     /* by answers, and after a start by events */
    struct state logged;   /* by events; of a deletion 0 and its revision */
    struct state listed;   /* by the last list */
    VEC(uint64_t) deletes; /* that were sent and have no event yet, in order */
};

/* ---- events ---- */

struct event {
    char type; /* A, M, D */
    uint32_t key;
    struct state state; /* of a deletion: the last number, and the deletion's revision */
};

struct feed {
    VEC(struct event) log;
    size_t floor, next_floor; /* where a watcher may still begin, and where later */
    uint64_t listed;          /* revision of the last list */
    uint64_t marker;          /* the write that all watchers must have seen */
};

struct model {
    uint64_t seed;
    VEC(struct write) writes; /* number 1 is the first */
    VEC(struct key) keys;
    struct feed feeds[KINDS];
    uint64_t newest; /* the largest revision that anybody was told */
    size_t settled;  /* writes whose fate is known for good */
    size_t acknowledged, events, unanswered, survived;
    struct arena arena; /* for one answer */
    struct buf text;
    void (*wrong)(void *ctx, const char *text); /* does not return */
    void *ctx;
};

/* Says what is wrong, and ends. */
__attribute__((format(printf, 2, 3))) _Noreturn void model_wrong(struct model *m, const char *fmt,
                                                                 ...);

/* Frees all; the model may be filled again. */
void model_release(struct model *m);

/* One more key, named k and its number, which comes back. */
uint32_t model_add_key(struct model *m, struct key key);

/* The write with this number. */
struct write *model_write(struct model *m, uint64_t id);

/* Notes a write that is about to be sent, and returns its number. base: see struct write. */
uint64_t model_begin(struct model *m, uint32_t key, enum op op, uint64_t base);

/* Appends the body of a write: an object, or a merge patch. */
void model_body(struct model *m, uint64_t id, struct buf *out);

/* The server has acknowledged the write with this body. */
void model_acknowledge(struct model *m, uint64_t id, struct str body);

/* Takes a list of a kind: the `listed` of its keys. */
void model_list(struct model *m, uint32_t kind, struct str body);

/* Takes a line of a watch that has seen the events before *at, which moves on. */
void model_watch(struct model *m, uint32_t kind, struct str line, size_t *at);

/* The server is dead. What failed may be there after all, unless failures were harmless. */
void model_died(struct model *m, bool harmless);

/* All watchers have seen all there is, behind a start: every write has its fate, and the last list
 * shows what the events lead to. */
void model_settle(struct model *m);

/* While a server lives on behind a failure, a list shows what was acknowledged and nothing else. */
void model_expect_told(struct model *m);

/* The last list is the state of some moment of the past; returns how many acknowledged writes came
 * later. */
size_t model_expect_past(struct model *m);

/* Appends all that is known, a line for each write and event. */
void model_print(const struct model *m, struct buf *out);

#endif
