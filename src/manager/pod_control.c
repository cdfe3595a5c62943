/* Making and deleting the pods of an object. */
#include "manager/pod_control_int.h"

static void note_failure(struct manager__pods *p, const char *reason, struct str message) {
    if (!p->failure.reason)
        p->failure = (struct manager__failure){reason, message};
}

/* ---- making ---- */

static void send_batch(struct manager__pods *p);

/* Nothing can be made in a namespace that goes; that is nobody's fault. */
static void tell_creation(struct manager__pods *p, const struct client_answer *answer) {
    if (answer->code == ERR_NONE) {
        p->succeeded++;
        events_say_of(p->events, &p->subject, EVENTS_NORMAL, "SuccessfulCreate",
                      "Created pod: %.*s", STR_ARG(answer->object->meta->name));
    } else if (!manager__namespace_goes(answer)) {
        events_say_of(p->events, &p->subject, EVENTS_WARNING, "FailedCreate",
                      "Error creating: %.*s", STR_ARG(answer->message));
        note_failure(p, "FailedCreate", arena_str(work_arena(p->work), answer->message));
    }
}

static void created(void *arg, struct work *w, const struct client_answer *answer) {
    struct manager__pods *p = arg;
    (void)w;
    tell_creation(p, answer);
    if (--p->unanswered > 0)
        return;
    if (p->failure.reason || !p->missing)
        p->done(p->arg);
    else
        send_batch(p);
}

static void send_batch(struct manager__pods *p) {
    size_t batch = p->batch ? 2 * p->batch : 1;
    p->batch = batch < p->missing ? batch : p->missing;
    for (size_t i = 0; i < p->batch; i++) {
        struct api_object *pod = p->make(p->arg, p->made);
        if (!pod)
            break;
        p->made++;
        p->unanswered++;
        work_create(p->work, pod, created, p);
    }
    p->missing -= p->batch;
    if (!p->unanswered)
        p->done(p->arg);
}

static void refuse(struct manager__pods *p) {
    struct str why = manager__why_full(p->manager, work_arena(p->work), API_T_pod);
    events_say_of(p->events, &p->subject, EVENTS_WARNING, "FailedCreate", "Error creating: %.*s",
                  STR_ARG(why));
    note_failure(p, "FailedCreate", why);
    p->done(p->arg);
}

void manager__pods_create(struct manager__pods *p, size_t count) {
    size_t room = manager__room(p->manager, API_T_pod);
    p->missing = count < MANAGER__BURST ? count : MANAGER__BURST;
    p->missing = p->missing < room ? p->missing : room;
    p->made = p->batch = 0;
    if (p->missing)
        send_batch(p);
    else if (count)
        refuse(p);
    else
        p->done(p->arg);
}

/* ---- deleting ---- */

struct deletion {
    struct manager__pods *pods;
    struct str name;
};

static void deleted(void *arg, struct work *w, const struct client_answer *answer) {
    struct deletion *d = arg;
    struct manager__pods *p = d->pods;
    struct str why = answer->message;
    p->succeeded += answer->code == ERR_NONE || answer->code == ERR_NOT_FOUND;
    if (answer->code == ERR_NONE) {
        events_say_of(p->events, &p->subject, EVENTS_NORMAL, "SuccessfulDelete",
                      "Deleted pod: %.*s", STR_ARG(d->name));
    } else if (answer->code != ERR_NOT_FOUND) {
        events_say_of(p->events, &p->subject, EVENTS_WARNING, "FailedDelete",
                      "Error deleting: %.*s", STR_ARG(why));
        note_failure(p, "FailedDelete",
                     arena_printf(work_arena(w), "unable to delete pods: %.*s", STR_ARG(why)));
    }
    if (--p->unanswered == 0)
        p->done(p->arg);
}

static void delete_pod(struct deletion *d) {
    struct manager__pods *p = d->pods;
    work_send(p->work,
              &(struct client_request){.verb = REGISTRY_VERB_DELETE,
                                       .kind = client_kind(API_T_pod),
                                       .namespace = p->subject.namespace,
                                       .name = d->name},
              deleted, d);
}

static void patched(void *arg, struct work *w, const struct client_answer *answer) {
    struct deletion *d = arg;
    struct manager__pods *p = d->pods;
    if (answer->code == ERR_NONE) {
        delete_pod(d);
        return;
    }
    p->succeeded += answer->code == ERR_NOT_FOUND;
    if (answer->code != ERR_NOT_FOUND)
        note_failure(p, "FailedDelete", arena_str(work_arena(w), answer->message));
    if (--p->unanswered == 0)
        p->done(p->arg);
}

static void patch_pod(struct deletion *d) {
    struct manager__pods *p = d->pods;
    work_send(p->work,
              &(struct client_request){.verb = REGISTRY_VERB_PATCH,
                                       .kind = client_kind(API_T_pod),
                                       .namespace = p->subject.namespace,
                                       .name = d->name,
                                       .patch_type = CLIENT_PATCH_STRATEGIC,
                                       .patch = p->first_patch},
              patched, d);
}

static void send_deletion(struct manager__pods *p, struct str name) {
    struct deletion *d = arena_new(work_arena(p->work), struct deletion);
    *d = (struct deletion){p, name};
    if (p->first_patch.n)
        patch_pod(d);
    else
        delete_pod(d);
}

void manager__pods_delete_all(struct manager__pods *p, const struct str *names, size_t n) {
    p->unanswered = n;
    for (size_t i = 0; i < n; i++)
        send_deletion(p, names[i]);
    if (!n)
        p->done(p->arg);
}

void manager__pods_delete(struct manager__pods *p, const struct str *names, size_t n) {
    manager__pods_delete_all(p, names, n < MANAGER__BURST ? n : MANAGER__BURST);
}

struct str *manager__pod_names(struct arena *a, const struct api_object *const *pods, size_t n) {
    struct str *names = arena_array(a, struct str, n);
    for (size_t i = 0; i < n; i++)
        names[i] = arena_str(a, pods[i]->meta->name);
    return names;
}
