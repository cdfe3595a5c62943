/* A carrier for simulations and tests: what is committed is visible at once, and gone with the
 * process. */
#include <stdlib.h>

#include "base/alloc.h"
#include "store/store_int.h"

struct memory {
    struct store__carrier carrier;
    struct store *store;
};

static void commit_now(struct store__carrier *c, struct store__batch *batch) {
    struct store__queue one;
    store__queue_init(&one);
    store__queue_add(&one, batch);
    store__publish(((struct memory *)c)->store, &one);
}

static void drain_nothing(struct store__carrier *c) {
    (void)c;
}

static void close_memory(struct store__carrier *c) {
    free(c);
}

struct store__carrier *store__memory_carrier(struct store *s) {
    struct memory *m = xcalloc(1, sizeof *m);
    m->carrier = (struct store__carrier){
        .commit = commit_now, .drain = drain_nothing, .close = close_memory, .at_once = true};
    m->store = s;
    store__load_end(s, STORE__FIRST_REVISION);
    return &m->carrier;
}
