/*
 * The garbage collector: objects whose owners are all gone go as well; owners that wait for their
 * dependents to be deleted, or to be left alone, go when that is done.
 *
 * Follows k8s.io/kubernetes pkg/controller/garbagecollector, func (*GarbageCollector)
 * attemptToDeleteItem.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/vec.h"
#include "manager/controller_int.h"
#include "manager/gc_graph_int.h"
#include "registry/registry.h"

/* Owners of which it is known that they are gone, the last ones of them; and of one object so many
 * are asked for at a time. */
enum { ABSENT = 500, QUESTIONS = 64 };

struct collector {
    struct manager__base base; /* keys: uids */
    struct gc_graph graph;
    struct map absent; /* uids */
    char *ring[ABSENT];
    size_t next;
};

static void enqueue(struct collector *c, struct str uid) {
    workqueue_add(c->base.queue, STR(""), uid);
}

/* An uid is never used again. */
static void remember_absent(struct collector *c, struct str uid) {
    if (!uid.n || map_get(&c->absent, uid))
        return;
    if (c->ring[c->next]) {
        map_del(&c->absent, str_of(c->ring[c->next]));
        free(c->ring[c->next]);
    }
    char *copy = xcalloc(1, uid.n + 1);
    memcpy(copy, uid.p, uid.n);
    map_put(&c->absent, (struct str){copy, uid.n}, copy);
    c->ring[c->next] = copy;
    c->next = (c->next + 1) % ABSENT;
}

/* ---- one object ---- */

enum verdict { UNKNOWN, SOLID, DANGLING, WAITING };

/* One piece of work about an object with owners, in its arena. */
struct sync {
    struct collector *c;
    struct work *work;
    struct str version;     /* resourceVersion of the object that was looked at */
    enum verdict *verdicts; /* by its references to owners */
    size_t count, next;     /* of these, and which one is to be found next */
    size_t unanswered;
    bool is_unseen; /* an owner is there that no informer has told of yet */
};

/* A question about an owner. */
struct question {
    struct sync *sync;
    size_t place;
    struct str uid;
};

static enum verdict verdict_of(const struct api_object *owner) {
    return gc_is_deleting_dependents(owner) ? WAITING : SOLID;
}

static void send_patch(struct work *w, const struct api_object *o, enum client_patch type,
                       struct str text, work_answer_fn *answered, void *arg) {
    work_patch(w, o, &(struct work_patch){type, NULL, text}, answered, arg);
}

/* What is gone needs no deletion. */
static void send_deletion(struct work *w, const struct api_object *o, struct str version,
                          const char *propagation) {
    struct client_deletion how = {
        .uid = o->meta->uid, .resource_version = version, .propagation = str_of(propagation)};
    work_delete(w, o, &how, work_answered_or_gone, NULL);
}

/* The references to some owners are taken out, or made not to block any more. */
static struct str references_patch(struct arena *a, const struct api_object *o,
                                   const enum verdict *verdicts) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    const char *comma = "";
    buf_addf(&text, "{\"metadata\":{\"uid\":\"%.*s\",\"ownerReferences\":[", STR_ARG(o->meta->uid));
    for (size_t i = 0; i < o->meta->owner_references.n; i++) {
        const struct api_owner_reference *ref = &o->meta->owner_references.v[i];
        if (verdicts ? verdicts[i] == SOLID : !gc_is_blocking(ref))
            continue;
        buf_addf(&text,
                 verdicts ? "%s{\"$patch\":\"delete\",\"uid\":\"%.*s\"}"
                          : "%s{\"blockOwnerDeletion\":false,\"uid\":\"%.*s\"}",
                 comma, STR_ARG(ref->uid));
        comma = ",";
    }
    buf_add(&text, STR("]}}"));
    return arena_str(a, buf_view(&text));
}

/* ---- owners that wait for their dependents ---- */

static void remove_finalizer(struct work *w, const struct api_object *o, const char *finalizer) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    const char *comma = "";
    buf_addf(&text, "{\"metadata\":{\"resourceVersion\":\"%.*s\",\"finalizers\":[",
             STR_ARG(o->meta->resource_version));
    for (size_t i = 0; i < o->meta->finalizers.n; i++) {
        if (str_is(o->meta->finalizers.v[i], finalizer))
            continue;
        buf_addf(&text, "%s\"%.*s\"", comma, STR_ARG(o->meta->finalizers.v[i]));
        comma = ",";
    }
    buf_add(&text, STR("]}}"));
    send_patch(w, o, CLIENT_PATCH_MERGE, buf_view(&text), work_answered_or_gone, NULL);
}

static void process_deleting_dependents(struct collector *c, struct work *w,
                                        const struct gc_node *node) {
    if (!gc_is_blocked(node)) {
        remove_finalizer(w, node->object, "foregroundDeletion");
        return;
    }
    for (const struct gc_edge *e = node->dependents; e; e = e->next)
        if (gc_is_blocking(gc_reference(e)) && !gc_is_deleting_dependents(e->dependent->object))
            enqueue(c, e->dependent->uid);
}

/* Dependents that are to be left alone. */
struct orphaning {
    struct collector *c;
    struct str uid; /* of the owner */
    size_t unanswered;
    bool has_failed;
};

static void orphaned(void *arg, struct work *w, const struct client_answer *answer) {
    struct orphaning *s = arg;
    if (answer->code && answer->code != ERR_NOT_FOUND) {
        s->has_failed = true;
        work_fail_by(w, answer);
    }
    if (--s->unanswered > 0 || s->has_failed)
        return;
    const struct gc_node *node = gc_graph_find(&s->c->graph, s->uid);
    if (node && node->object)
        remove_finalizer(w, node->object, "orphan");
}

static void orphan_dependents(struct collector *c, struct work *w, const struct gc_node *node) {
    struct orphaning *s = arena_new(work_arena(w), struct orphaning);
    *s = (struct orphaning){.c = c, .uid = work_name(w)};
    for (const struct gc_edge *e = node->dependents; e; e = e->next) {
        const struct api_object *o = e->dependent->object;
        s->unanswered++;
        send_patch(w, o, CLIENT_PATCH_STRATEGIC,
                   arena_printf(work_arena(w),
                                "{\"metadata\":{\"uid\":\"%.*s\",\"ownerReferences\":[{\"$patch\":"
                                "\"delete\",\"uid\":\"%.*s\"}]}}",
                                STR_ARG(o->meta->uid), STR_ARG(node->uid)),
                   orphaned, s);
    }
    if (!s->unanswered)
        remove_finalizer(w, node->object, "orphan");
}

/* ---- dependents ---- */

/* Behind a patch, the object has another version. */
static void unblocked(void *arg, struct work *w, const struct client_answer *answer) {
    (void)arg;
    if (answer->code == ERR_NONE)
        send_deletion(w, answer->object, answer->object->meta->resource_version, "Foreground");
    else
        work_answered_or_gone(NULL, w, answer);
}

static bool has_waiting_dependent(const struct gc_node *node) {
    for (const struct gc_edge *e = node->dependents; e; e = e->next)
        if (gc_is_deleting_dependents(e->dependent->object))
            return true;
    return false;
}

/* If it is in a circle with one that waits as well, it must not block that one. */
static void delete_in_foreground(struct sync *s, const struct gc_node *node) {
    const struct api_object *o = node->object;
    if (has_waiting_dependent(node))
        send_patch(s->work, o, CLIENT_PATCH_STRATEGIC,
                   references_patch(work_arena(s->work), o, NULL), unblocked, NULL);
    else
        send_deletion(s->work, o, o->meta->resource_version, "Foreground");
}

static const char *propagation_of(const struct api_object *o) {
    if (gc_has_finalizer(o, "orphan"))
        return "Orphan";
    return gc_has_finalizer(o, "foregroundDeletion") ? "Foreground" : "Background";
}

static void decide(struct sync *s, const struct gc_node *node) {
    size_t counts[WAITING + 1] = {0};
    for (size_t i = 0; i < node->owner_count; i++)
        counts[s->verdicts[i]]++;
    if (counts[UNKNOWN])
        return;
    if (counts[SOLID] && (counts[DANGLING] || counts[WAITING]))
        send_patch(s->work, node->object, CLIENT_PATCH_STRATEGIC,
                   references_patch(work_arena(s->work), node->object, s->verdicts),
                   work_answered_or_gone, NULL);
    else if (counts[SOLID] && s->is_unseen)
        work_fail(s->work, "an owner has not been seen yet");
    else if (counts[WAITING] && !counts[SOLID] && node->dependents)
        delete_in_foreground(s, node);
    else if (!counts[SOLID])
        send_deletion(s->work, node->object, node->object->meta->resource_version,
                      propagation_of(node->object));
}

/* ---- owners ---- */

static void look_at_owners(struct sync *s);

static void owner_answered(void *arg, struct work *w, const struct client_answer *answer) {
    struct question *q = arg;
    struct sync *s = q->sync;
    if (answer->code == ERR_NOT_FOUND ||
        (!answer->code && !str_eq(answer->object->meta->uid, q->uid))) {
        s->verdicts[q->place] = DANGLING;
    } else if (answer->code) {
        work_fail_by(w, answer);
    } else {
        const struct gc_node *owner = gc_graph_find(&s->c->graph, q->uid);
        s->verdicts[q->place] = verdict_of(answer->object);
        s->is_unseen = s->is_unseen || !owner || !owner->object;
    }
    s->unanswered--;
    look_at_owners(s);
}

static void ask(struct sync *s, size_t place, const struct api_object *o) {
    const struct api_owner_reference *ref = &o->meta->owner_references.v[place];
    const struct api_kind *kind = api_kind_find(ref->api_version, ref->kind);
    if (!kind || !registry_resource_of(kind)) {
        work_fail(s->work, "no resource has the kind \"%.*s\" of \"%.*s\"", STR_ARG(ref->kind),
                  STR_ARG(ref->api_version));
        return;
    }
    if (kind->namespaced && !o->meta->namespace.n)
        return; /* what is in no namespace cannot have such an owner, now or later */
    struct question *q = arena_new(work_arena(s->work), struct question);
    *q = (struct question){s, place, arena_str(work_arena(s->work), ref->uid)};
    s->unanswered++;
    work_get(s->work, kind, kind->namespaced ? o->meta->namespace : STR(""), ref->name,
             owner_answered, q);
}

/* What informers have told is taken from there. */
static void classify(struct sync *s, size_t place, const struct api_object *o) {
    const struct api_owner_reference *ref = &o->meta->owner_references.v[place];
    const struct gc_node *owner = gc_graph_find(&s->c->graph, ref->uid);
    if (map_get(&s->c->absent, ref->uid))
        s->verdicts[place] = DANGLING;
    else if (owner && owner->object && gc_is_consistent(ref, o->meta->namespace, owner->object))
        s->verdicts[place] = verdict_of(owner->object);
    else
        ask(s, place, o);
}

/* The next owners, as long as not too many questions are open; behind the last of them it is
 * decided. An object that is another by now is looked at again. */
static void look_at_owners(struct sync *s) {
    const struct gc_node *node = gc_graph_find(&s->c->graph, work_name(s->work));
    bool is_same = node && node->object && str_eq(node->object->meta->resource_version, s->version);
    while (is_same && s->next < s->count && s->unanswered < QUESTIONS)
        classify(s, s->next++, node->object);
    if (s->unanswered)
        return;
    if (is_same)
        decide(s, node);
    else if (node && node->object)
        work_again_after(s->work, 0);
}

static void process_owned(struct collector *c, struct work *w, const struct gc_node *node) {
    struct sync *s = arena_new(work_arena(w), struct sync);
    s->c = c;
    s->work = w;
    s->version = arena_str(work_arena(w), node->object->meta->resource_version);
    s->verdicts = arena_array(work_arena(w), enum verdict, node->owner_count);
    s->count = node->owner_count;
    look_at_owners(s);
}

static void sync(void *self, struct work *w, const struct api_object *none) {
    struct collector *c = self;
    (void)none;
    const struct gc_node *node = gc_graph_find(&c->graph, work_name(w));
    if (!node || !node->object)
        return;
    bool goes = node->object->meta->deletion_timestamp.set;
    if (goes && gc_has_finalizer(node->object, "orphan"))
        orphan_dependents(c, w, node);
    else if (gc_is_deleting_dependents(node->object))
        process_deleting_dependents(c, w, node);
    else if (!goes && node->owner_count)
        process_owned(c, w, node);
}

/* ---- what informers tell ---- */

static void report_namespace(struct collector *c, const struct api_object *o,
                             const struct api_owner_reference *ref) {
    events_say(c->base.events, o, EVENTS_WARNING, "OwnerRefInvalidNamespace",
               "ownerRef [%.*s/%.*s, namespace: %.*s, name: %.*s, uid: %.*s] does not exist in "
               "namespace \"%.*s\"",
               STR_ARG(ref->api_version), STR_ARG(ref->kind), STR_ARG(o->meta->namespace),
               STR_ARG(ref->name), STR_ARG(ref->uid), STR_ARG(o->meta->namespace));
}

/* Looks at a dependent whose owner is not where it says. */
static void check_reference(struct collector *c, const struct gc_edge *e) {
    const struct api_object *o = e->dependent->object, *owner = e->owner->object;
    const struct api_owner_reference *ref = gc_reference(e);
    if (gc_is_consistent(ref, o->meta->namespace, owner))
        return;
    if (owner->meta->namespace.n && !str_eq(owner->meta->namespace, o->meta->namespace))
        report_namespace(c, o, ref);
    enqueue(c, o->meta->uid);
}

/* The references of an object, which there may be tens of thousands of. */
struct references {
    const struct api_owner_reference_list *list;
    struct map by_uid; /* the first of each uid, when one was asked for that is elsewhere */
};

/* The reference to an owner, which mostly stands at this place; or NULL. */
static const struct api_owner_reference *find_reference(struct references *r, size_t place,
                                                        struct str uid) {
    if (place < r->list->n && str_eq(r->list->v[place].uid, uid))
        return &r->list->v[place];
    for (size_t i = r->by_uid.live ? 0 : r->list->n; i-- > 0;)
        map_put_const(&r->by_uid, r->list->v[i].uid, &r->list->v[i]);
    return map_get_const(&r->by_uid, uid);
}

/* References that are new: their owners have been seen, or are asked for. */
static void note_owners(struct collector *c, const struct api_object *old,
                        const struct gc_node *node) {
    static const struct api_owner_reference_list none;
    struct references before = {old ? &old->meta->owner_references : &none,
                                MAP_INIT(c->base.manager->seed)};
    for (size_t i = 0; i < node->owner_count; i++) {
        const struct gc_node *owner = node->owners[i].owner;
        if (find_reference(&before, i, owner->uid))
            continue;
        if (owner->object)
            check_reference(c, &node->owners[i]);
        else
            enqueue(c, node->uid);
    }
    map_release(&before.by_uid);
}

/* References that were taken out, or do not block any more: their owners may go. */
static void note_unblocked(struct collector *c, const struct api_object *old,
                           const struct api_object *o) {
    const struct api_owner_reference_list *refs = &old->meta->owner_references;
    struct references now = {&o->meta->owner_references, MAP_INIT(c->base.manager->seed)};
    for (size_t i = 0; i < refs->n; i++)
        if (gc_is_blocking(&refs->v[i]) && !gc_is_blocking(find_reference(&now, i, refs->v[i].uid)))
            enqueue(c, refs->v[i].uid);
    map_release(&now.by_uid);
}

/* Does a deletion begin, of the sort that has this finalizer? */
static bool begins(const struct api_object *old, const struct api_object *o,
                   const char *finalizer) {
    return o->meta->deletion_timestamp.set && gc_has_finalizer(o, finalizer) &&
           !(old && old->meta->deletion_timestamp.set && gc_has_finalizer(old, finalizer));
}

static void note_deletion(struct collector *c, const struct api_object *old,
                          const struct gc_node *node) {
    bool waits = begins(old, node->object, "foregroundDeletion");
    if (begins(old, node->object, "orphan"))
        enqueue(c, node->uid);
    else if (waits) {
        for (const struct gc_edge *e = node->dependents; e; e = e->next)
            enqueue(c, e->dependent->uid);
        enqueue(c, node->uid);
    }
}

static void object_deleted(void *arg, const struct api_object *o) {
    struct collector *c = arg;
    struct gc_node *node = gc_graph_find(&c->graph, o->meta->uid);
    if (!node || !node->object)
        return;
    if (node->dependents)
        remember_absent(c, node->uid);
    for (const struct gc_edge *e = node->dependents; e; e = e->next)
        enqueue(c, e->dependent->uid);
    for (size_t i = 0; i < node->owner_count; i++) {
        const struct api_object *owner = node->owners[i].owner->object;
        if (owner && gc_is_deleting_dependents(owner))
            enqueue(c, owner->meta->uid);
    }
    gc_graph_remove(&c->graph, o);
}

static void object_set(void *arg, const struct api_object *old, const struct api_object *o) {
    struct collector *c = arg;
    if (old && !str_eq(old->meta->uid, o->meta->uid)) {
        object_deleted(c, old);
        old = NULL;
    }
    bool is_seen_first = !old;
    struct gc_node *node = gc_graph_set(&c->graph, o);
    for (const struct gc_edge *e = node->dependents; is_seen_first && e; e = e->next)
        check_reference(c, e);
    note_owners(c, old, node);
    if (old)
        note_unblocked(c, old, o);
    note_deletion(c, old, node);
}

/* ---- beginning and end ---- */

static void begin(void *self) {
    struct collector *c = self;
    const struct informer_handler handler = {
        .set = object_set, .deleted = object_deleted, .arg = c};
    c->graph.nodes = c->absent = MAP_INIT(c->base.manager->seed);
    size_t n;
    const struct registry_resource *rows = registry_resources(&n);
    for (size_t i = 0; i < n; i++)
        if (manager__is_deletable(&rows[i]) && strcmp(rows[i].kind->kind, "Event") != 0)
            informer_listen(informers_of(c->base.manager->informers, rows[i].kind), &handler);
}

static void end(void *self) {
    struct collector *c = self;
    gc_graph_release(&c->graph);
    map_release(&c->absent);
    for (size_t i = 0; i < ABSENT; i++)
        free(c->ring[i]);
}

const struct manager__controller manager__garbage_collector = {
    .size = sizeof(struct collector),
    .component = "garbage-collector-controller",
    .queues = {{"garbage_collector_attempt_to_delete", sync, .workers = 20}},
    .begin = begin,
    .end = end,
};
