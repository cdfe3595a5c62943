#include "store/history_int.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"

enum {
    FIRST_ROOM = 16,
    TREE_EVERY = 64, /* events between two that hold a tree, which is some kilobytes */
};

static struct store__entry *entry_at(const struct store__history *h, size_t i) {
    return &h->ring[(h->first + i) & (h->room - 1)];
}

static void release_entry(struct store__entry *e) {
    store_events_release(&e->event, 1);
    store__tree_unref(e->tree);
}

void store_events_release(struct store_event *events, int n) {
    for (int i = 0; i < n; i++) {
        api_object_unref(events[i].object);
        api_object_unref(events[i].previous);
    }
}

void store__history_release(struct store__history *h) {
    for (size_t i = 0; i < h->n; i++)
        release_entry(entry_at(h, i));
    free(h->ring);
    *h = (struct store__history){0};
}

size_t store__object_bytes(const struct api_object *o) {
    return o ? sizeof *o + o->arena.bytes : 0;
}

size_t store__event_bytes(const struct store_event *event) {
    size_t last = event->type == STORE_DELETED ? store__object_bytes(event->object) : 0;
    return sizeof(struct store__entry) + last + store__object_bytes(event->previous);
}

/* A ring of another size with the same events. */
static void resize(struct store__history *h, size_t room) {
    struct store__entry *ring = xcalloc(room, sizeof *ring);
    for (size_t i = 0; i < h->n; i++)
        ring[i] = *entry_at(h, i);
    free(h->ring);
    h->ring = ring;
    h->room = room;
    h->first = 0;
}

void store__history_add(struct store__history *h, const struct store_event *event, int64_t time) {
    if (h->n == h->room)
        resize(h, h->room ? h->room * 2 : FIRST_ROOM);
    h->n++;
    *entry_at(h, h->n - 1) = (struct store__entry){.event = *event, .time = time};
    h->bytes += store__event_bytes(event);
    h->since_tree++;
}

void store__history_offer(struct store__history *h, struct store__node *tree) {
    if (h->since_tree < TREE_EVERY || !tree)
        return;
    entry_at(h, h->n - 1)->tree = store__tree_ref(tree);
    h->since_tree = 0;
}

struct store__entry store__history_pop(struct store__history *h) {
    assert(h->n);
    struct store__entry e = *entry_at(h, 0);
    h->first = (h->first + 1) & (h->room - 1);
    h->n--;
    h->floor = e.event.revision;
    h->bytes -= store__event_bytes(&e.event);
    if (h->room > FIRST_ROOM && h->n < h->room / 8)
        resize(h, h->room / 2);
    return e;
}

const struct store__entry *store__history_oldest(const struct store__history *h) {
    return h->n ? entry_at(h, 0) : NULL;
}

/* The first event behind a revision. Most who ask have read all but the newest events. */
static size_t find_behind(const struct store__history *h, uint64_t revision) {
    size_t low = 0, high = h->n;
    for (size_t step = 1; low < high; step *= 2) {
        size_t probe = step < high ? high - step : 0;
        if (entry_at(h, probe)->event.revision <= revision) {
            low = probe + 1;
            break;
        }
        high = probe;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (entry_at(h, middle)->event.revision <= revision)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void store__event_ref(const struct store_event *event) {
    api_object_ref(event->object);
    if (event->previous)
        api_object_ref(event->previous);
}

static void hold_event(struct store_event *to, const struct store_event *from) {
    *to = *from;
    store__event_ref(to);
}

int store__history_read(const struct store__history *h, uint64_t revision,
                        struct store_event *events, int most, bool *all) {
    size_t at = find_behind(h, revision);
    int n = 0;
    for (; n < most && at < h->n; n++, at++)
        hold_event(&events[n], &entry_at(h, at)->event);
    *all = at == h->n;
    return n;
}

/* ---- states of the past ---- */

void store__history_past(const struct store__history *h, uint64_t revision,
                         struct store__node *newest, struct store__past *out) {
    size_t first = find_behind(h, revision), end = first;
    *out = (struct store__past){0};
    if (first && entry_at(h, first - 1)->tree) { /* this is the state itself */
        out->tree = store__tree_ref(entry_at(h, first - 1)->tree);
        return;
    }
    while (end < h->n && !entry_at(h, end)->tree)
        end++;
    out->tree = store__tree_ref(end < h->n ? entry_at(h, end++)->tree : newest);
    out->events = xcalloc(end - first + 1, sizeof *out->events);
    for (size_t i = first; i < end; i++)
        hold_event(&out->events[out->n++], &entry_at(h, i)->event);
}

static struct store__node *undo(struct store__node *t, const struct store_event *e) {
    const struct api_object *old = NULL;
    if (e->previous)
        t = store__tree_put(t, e->previous, &old);
    else
        t = store__tree_del(t, store__key_of(e->object), &old);
    api_object_unref(old);
    return t;
}

struct store__node *store__past_restore(struct store__past *p) {
    struct store__node *t = p->tree;
    for (int i = p->n; i > 0; i--)
        t = undo(t, &p->events[i - 1]);
    store_events_release(p->events, p->n);
    free(p->events);
    return t;
}
