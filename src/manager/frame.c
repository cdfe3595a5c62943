/* The ends of all controllers: how they begin, are told of changes, look after keys, and stop. */
#include <stdlib.h>
#include <string.h>

#include "api/selector.h"
#include "base/alloc.h"
#include "manager/adoption_int.h"
#include "manager/selecting_int.h"

/* ---- queues ---- */

static void look_after(void *arg, struct work *w) {
    const struct manager__lane *lane = arg;
    const struct manager__queue *row = lane->row;
    const struct api_object *o =
        lane->informer ? informer_get(lane->informer, work_namespace(w), work_name(w)) : NULL;
    if (o || !lane->informer)
        row->sync(lane->self, w, o);
    else if (row->gone)
        row->gone(lane->self, w);
}

/* Keeps a pointer in the struct of a controller. */
static void keep(struct manager__base *self, size_t at, const void *pointer) {
    if (at)
        memcpy((char *)self + at, &pointer, sizeof pointer);
}

static void start_queue(struct manager__base *self, const struct manager__queue *row,
                        struct manager__lane *lane) {
    const struct manager *m = self->manager;
    lane->self = self;
    lane->row = row;
    lane->informer = row->names ? manager__informer(self->manager, row->names) : NULL;
    lane->queue = workqueue_new(&(struct workqueue_opts){.name = row->name,
                                                         .client = m->client,
                                                         .informers = m->informers,
                                                         .log = m->log,
                                                         .workers = row->workers,
                                                         .first_delay = row->first_delay,
                                                         .most_delay = row->most_delay,
                                                         .sync = look_after,
                                                         .arg = lane});
    keep(self, row->at, lane->queue);
}

/* ---- beginning and end ---- */

static void start_queues(struct manager__base *self) {
    const struct manager__queue *rows = self->row->queues;
    for (size_t i = 0; i < MANAGER__QUEUES && rows[i].name; i++)
        start_queue(self, &rows[i], &self->lanes[i]);
    self->queue = self->lanes[0].queue;
    self->informer = self->lanes[0].informer;
}

static void keep_informers(struct manager__base *self) {
    const struct manager__kind *rows = self->row->kinds;
    for (size_t i = 0; i < MANAGER__KINDS && rows[i].type; i++)
        keep(self, rows[i].at, manager__informer(self->manager, rows[i].type));
}

static void listen(struct manager__base *self) {
    const struct manager__kind *rows = self->row->kinds;
    for (size_t i = 0; i < MANAGER__KINDS && rows[i].type; i++)
        if (rows[i].set || rows[i].deleted || rows[i].synced)
            informer_listen(manager__informer(self->manager, rows[i].type),
                            &(struct informer_handler){.set = rows[i].set,
                                                       .deleted = rows[i].deleted,
                                                       .synced = rows[i].synced,
                                                       .arg = self});
}

static void owner_set(void *arg, const struct api_object *old, const struct api_object *o) {
    struct manager__base *self = arg;
    AUTO(arena_release) struct arena a = {0};
    (void)old;
    if (!selecting__renew(self->owners, o))
        selecting__set(self->owners, o, self->row->selector(&a, o));
}

static void owner_deleted(void *arg, const struct api_object *last) {
    selecting__drop(((struct manager__base *)arg)->owners, last);
}

/* Before anybody else is told of owners. */
static void file_owners(struct manager__base *self) {
    self->owners = selecting__new(self->manager->seed);
    informer_listen(self->informer, &(struct informer_handler){
                                        .set = owner_set, .deleted = owner_deleted, .arg = self});
}

struct manager__base *manager__start(struct manager *m, const struct manager__controller *row) {
    if (row->is_wanted && !row->is_wanted(m))
        return NULL;
    struct manager__base *self = xcalloc(1, row->size);
    self->row = row;
    self->manager = m;
    if (row->component)
        self->events = events_new(
            &(struct events_opts){.client = m->client, .log = m->log, .component = row->component});
    keep_informers(self);
    start_queues(self);
    if (row->selector)
        file_owners(self);
    if (row->begin)
        row->begin(self);
    listen(self);
    return self;
}

void manager__stop(struct manager__base *self) {
    if (!self)
        return;
    for (size_t i = 0; i < MANAGER__QUEUES; i++)
        workqueue_free(self->lanes[i].queue);
    if (self->row->end)
        self->row->end(self);
    selecting__free(self->owners);
    events_free(self->events);
    free(self);
}

/* ---- whose work a change is ---- */

void manager__add_set(void *self, const struct api_object *old, const struct api_object *o) {
    (void)old;
    workqueue_add_object(((struct manager__base *)self)->queue, o);
}

void manager__add_deleted(void *self, const struct api_object *last) {
    workqueue_add_object(((struct manager__base *)self)->queue, last);
}

bool manager__same_controller(const struct api_object *a, const struct api_object *b) {
    const struct api_owner_reference *x = api_object_controller(a), *y = api_object_controller(b);
    return x && y ? str_eq(x->uid, y->uid) : !x && !y;
}

const struct selector *manager__selector(const void *self, const struct api_object *owner) {
    return selecting__of(((const struct manager__base *)self)->owners, owner);
}

void manager__each_adopter(void *self, const struct api_object *o,
                           void (*add)(void *self, const struct api_object *owner)) {
    selecting__each(((const struct manager__base *)self)->owners, o->meta->namespace,
                    &o->meta->labels, add, self);
}

static void add_controller(const struct manager__base *self, const struct api_object *o) {
    workqueue_add_controller(self->queue, o, client_kind(self->row->queues[0].names));
}

void manager__member_set(void *self, const struct api_object *old, const struct api_object *o) {
    const struct manager__base *base = self;
    bool moved = old && !manager__same_controller(old, o);
    if (moved)
        add_controller(base, old);
    if (api_object_controller(o))
        add_controller(base, o);
    else if (base->row->selector &&
             (!old || moved || !labels_equal(&old->meta->labels, &o->meta->labels)))
        manager__each_adopter(self, o, manager__add_deleted);
}

void manager__member_deleted(void *self, const struct api_object *last) {
    add_controller(self, last);
}

/* ---- the object that is worked on ---- */

struct events_subject manager__subject(struct work *w, const struct api_object *o) {
    struct arena *a = work_arena(w);
    return (struct events_subject){o->kind, arena_str(a, o->meta->namespace),
                                   arena_str(a, o->meta->name), arena_str(a, o->meta->uid)};
}

const struct api_object *manager__current(const void *self, const struct events_subject *s) {
    const struct api_object *o =
        informer_get(((const struct manager__base *)self)->informer, s->namespace, s->name);
    return o && str_eq(o->meta->uid, s->uid) ? o : NULL;
}
