/* Events that are written, counted, summed up or left out. */
#include "client/events.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/map.h"
#include "codec/json.h"
#include "codec/time.h"
#include "net/loop.h"

/* Upstream's figures: so many events of a type about an object at once, then one in five minutes;
 * of a reason so many texts in ten minutes, and one for the tenth and all others; and so many of
 * each are remembered. */
enum { BURST = 25, SIMILAR_MOST = 9, REMEMBERED_MOST = 4096, MESSAGE_MOST = 1024 };
#define REFILL_EVERY (300 * CLOCK_SECOND)
#define SIMILAR_TIME (600 * CLOCK_SECOND)

/* What no server has answered is sent again, so often, and so much later each time. */
enum { MOST_TRIES = 12 };
#define RETRY_EVERY (10 * CLOCK_SECOND)

/* What is remembered under a key: there may be thousands of each kind. */
struct memory {
    struct events *events;
    struct memory *next; /* the one that came behind it */

    /* of an event */
    struct str namespace, subject; /* of what it is about; both are in the key, or constant */
    uint64_t stamp;                /* when it was said first; the end of its name */
    int32_t count;
    bool is_stored;           /* the server had it when it last answered */
    bool is_owed;             /* it was said again since the write that is under way began */
    struct api_object *draft; /* as it was said last, until that is written; or NULL */
    struct client_call *call; /* the write that is under way; or NULL */
    struct net_timer again;   /* it waits for its next try */
    int tries;                /* of this write that nobody has answered */

    /* of an object and a type: how much may be said about it */
    int64_t tokens, filled;

    /* of a reason: texts that it had */
    uint64_t hashes[SIMILAR_MOST];
    size_t texts;
    int64_t since;

    size_t key_bytes;
    char key[];
};

/* The newest REMEMBERED_MOST of something. */
struct memories {
    struct map map;
    struct memory *first, **end;
};

struct events {
    struct events_opts opts;
    struct memories written, subjects, reasons;
    uint64_t seed;
    uint64_t last_name; /* the time in the newest name */
};

/* ---- memory ---- */

static struct str key_of(const struct memory *m) {
    return (struct str){m->key, m->key_bytes};
}

static void memory_free(struct memory *m) {
    if (m->call)
        client_cancel(m->call);
    net_timer_stop(client_loop(m->events->opts.client), &m->again);
    api_object_free(m->draft);
    free(m);
}

static void forget_first(struct memories *all) {
    struct memory *m = all->first;
    all->first = m->next;
    if (!all->first)
        all->end = &all->first;
    map_del(&all->map, key_of(m));
    memory_free(m);
}

/* What is remembered under the key; *is_new tells whether nothing was. */
static struct memory *remember(struct events *e, struct memories *all, struct str key,
                               bool *is_new) {
    struct memory *m = map_get(&all->map, key);
    *is_new = !m;
    if (m)
        return m;
    if (all->map.live >= REMEMBERED_MOST)
        forget_first(all);
    m = xcalloc(1, sizeof *m + key.n);
    m->events = e;
    m->key_bytes = key.n;
    memcpy(m->key, key.p, key.n);
    *all->end = m;
    all->end = &m->next;
    map_put(&all->map, key_of(m), m);
    return m;
}

static void memories_release(struct memories *all) {
    while (all->first)
        forget_first(all);
    map_release(&all->map);
}

/* ---- what is said ---- */

/* One thing that is said. */
struct saying {
    struct events *e;
    const struct events_subject *subject;
    struct events_place place;
    struct str resource_version;
    const char *type, *reason;
    struct str message;
    int64_t now;          /* monotonic */
    struct api_time time; /* by the wall clock */
};

static void write_subject(struct buf *key, const struct saying *s) {
    const struct events_subject *o = s->subject;
    buf_addf(key, "%s %s %.*s %.*s %.*s %s", o->kind->api_version, o->kind->kind,
             STR_ARG(o->namespace), STR_ARG(o->name), STR_ARG(o->uid), s->type);
}

static bool may_be_said(const struct saying *s) {
    AUTO(buf_release) struct buf key = BUF_INIT(SIZE_MAX);
    bool is_new;
    write_subject(&key, s);
    struct memory *m = remember(s->e, &s->e->subjects, buf_view(&key), &is_new);
    int64_t periods = is_new ? 0 : (s->now - m->filled) / REFILL_EVERY;
    m->filled = is_new ? s->now : m->filled + periods * REFILL_EVERY;
    m->tokens = is_new ? BURST : m->tokens + periods;
    if (m->tokens > BURST)
        m->tokens = BURST;
    if (!m->tokens)
        return false;
    m->tokens--;
    return true;
}

/* Are there too many texts of this reason for each to have an event of its own? */
static bool is_one_of_many(const struct saying *s) {
    AUTO(buf_release) struct buf key = BUF_INIT(SIZE_MAX);
    uint64_t hash = str_hash(s->message, s->e->seed);
    bool is_new;
    write_subject(&key, s);
    buf_addf(&key, " %s", s->reason);
    struct memory *m = remember(s->e, &s->e->reasons, buf_view(&key), &is_new);
    if (is_new || s->now - m->since > SIMILAR_TIME)
        m->texts = 0;
    m->since = s->now;
    for (size_t i = 0; i < m->texts; i++)
        if (m->hashes[i] == hash)
            return false;
    if (m->texts == SIMILAR_MOST)
        return true;
    m->hashes[m->texts++] = hash;
    return false;
}

/* ---- writing ---- */

static void on_written(void *arg, const struct client_answer *answer);

static void send(struct memory *m, const struct client_request *request) {
    m->is_owed = false;
    m->call = client_send(m->events->opts.client, request, on_written, m);
}

static struct str name_of(struct arena *a, const struct memory *m) {
    return arena_printf(a, "%.*s.%llx", STR_ARG(m->subject), (unsigned long long)m->stamp);
}

static struct api_time first_time(const struct memory *m) {
    return (struct api_time){.sec = (int64_t)(m->stamp / (uint64_t)CLOCK_SECOND), .set = true};
}

static struct api_object *event_of(const struct saying *s, const struct memory *m) {
    struct api_object *o = api_object_new(client_kind(API_T_event));
    struct api_event *event = api_own_body(o);
    struct arena *a = &o->arena;
    const struct events_subject *subject = s->subject;
    event->metadata.namespace = arena_str(a, m->namespace);
    event->metadata.name = name_of(a, m);
    event->involved_object = (struct api_object_reference){
        .kind = str_of(subject->kind->kind),
        .namespace = arena_str(a, subject->namespace),
        .name = arena_str(a, subject->name),
        .uid = arena_str(a, subject->uid),
        .api_version = str_of(subject->kind->api_version),
        .resource_version = arena_str(a, s->resource_version),
        .field_path = arena_str(a, s->place.field_path),
    };
    event->reason = arena_str(a, str_of(s->reason));
    event->message = arena_str(a, s->message);
    event->source.component = arena_str(a, str_of(s->e->opts.component));
    event->source.host = arena_str(a, s->place.host.n ? s->place.host : s->e->opts.host);
    event->reporting_component = event->source.component;
    event->reporting_instance = event->source.host;
    event->first_timestamp = first_time(m);
    event->last_timestamp = s->time;
    event->count = m->count;
    event->type = str_of(s->type);
    return o;
}

/* Upstream's names end in the time in hex; here no two of them are the same. */
static void stamp_event(struct memory *m, uint64_t ns) {
    struct events *e = m->events;
    m->stamp = e->last_name = ns > e->last_name ? ns : e->last_name + 1;
}

/* What the event is about stands in the key: see write_subject. */
static void name_event(const struct saying *s, struct memory *m) {
    const struct events_subject *o = s->subject;
    size_t at = strlen(o->kind->api_version) + 1 + strlen(o->kind->kind) + 1;
    stamp_event(m, (uint64_t)s->time.sec * (uint64_t)CLOCK_SECOND + (uint64_t)s->time.nsec);
    m->namespace = o->namespace.n ? str_sub(key_of(m), at, at + o->namespace.n) : STR("default");
    at += o->namespace.n + 1;
    m->subject = str_sub(key_of(m), at, at + o->name.n);
}

/* The draft stays until there is an answer: it may have to be sent again. */
static void create(struct memory *m) {
    struct api_object *object = api_object_copy(m->draft);
    ((struct api_event *)api_own_body(object))->count = m->count;
    send(m, &(struct client_request){.verb = REGISTRY_VERB_CREATE,
                                     .kind = client_kind(API_T_event),
                                     .namespace = m->namespace,
                                     .object = object});
}

static struct str patch_of(struct arena *a, const struct memory *m) {
    AUTO(buf_release) struct buf time = BUF_INIT(SIZE_MAX), text = BUF_INIT(SIZE_MAX);
    const struct api_event *event = m->draft->body;
    struct json patch = {.kind = JSON_OBJECT};
    time_write(&time, (struct time_instant){.seconds = event->last_timestamp.sec});
    json_add(a, &patch, STR("count"), json_of_i64(m->count));
    json_add(a, &patch, STR("lastTimestamp"), json_of_str(buf_view(&time)));
    json_add(a, &patch, STR("message"), json_of_str(event->message));
    json_write(&text, &patch, NULL);
    return arena_str(a, buf_view(&text));
}

/* The same, since the event may have expired. */
static void count_again(struct memory *m) {
    AUTO(arena_release) struct arena a = {0};
    send(m, &(struct client_request){.verb = REGISTRY_VERB_PATCH,
                                     .kind = client_kind(API_T_event),
                                     .namespace = m->namespace,
                                     .name = name_of(&a, m),
                                     .patch_type = CLIENT_PATCH_STRATEGIC,
                                     .patch = patch_of(&a, m)});
}

static void write_event(void *arg) {
    struct memory *m = arg;
    if (m->is_stored)
        count_again(m);
    else
        create(m);
}

/* The first time it is tried again soon, but not all events at the same moment. */
static void write_later(struct memory *m) {
    struct net_loop *loop = client_loop(m->events->opts.client);
    int64_t delay = m->tries++ ? RETRY_EVERY : (int64_t)(m->stamp % (uint64_t)RETRY_EVERY);
    m->again = (struct net_timer){.fn = write_event, .arg = m};
    net_timer_start(loop, &m->again, net_loop_now(loop) + delay);
}

static void log_failure(const struct memory *m, struct str why) {
    AUTO(arena_release) struct arena a = {0};
    log_info(m->events->opts.log, 2, "event was not written", LOG_STR("event", name_of(&a, m)),
             LOG_STR("err", why));
}

/* An event that has expired meanwhile is made anew at once; a name that somebody else has given is
 * not tried again. */
static void on_written(void *arg, const struct client_answer *answer) {
    struct memory *m = arg;
    bool has_expired = m->is_stored && answer->code == ERR_NOT_FOUND;
    m->call = NULL;
    if (answer->code && !answer->status && m->tries < MOST_TRIES) {
        write_later(m);
        return;
    }
    m->tries = 0;
    m->is_stored = !has_expired && (m->is_stored || !answer->code);
    if (answer->code && !has_expired)
        log_failure(m, answer->message);
    if (answer->code == ERR_EXISTS)
        stamp_event(m, m->stamp);
    if (m->is_owed || has_expired) {
        write_event(m);
        return;
    }
    api_object_free(m->draft);
    m->draft = NULL;
}

/* What is not heard is counted, too. */
static void say(const struct saying *s) {
    AUTO(buf_release) struct buf key = BUF_INIT(SIZE_MAX);
    bool is_new, is_sum = is_one_of_many(s);
    struct saying sum = *s;
    AUTO(buf_release) struct buf text = BUF_INIT(MESSAGE_MOST);
    write_subject(&key, s);
    buf_addf(&key, " %s %.*s %.*s", s->reason, STR_ARG(is_sum ? STR("") : s->place.field_path),
             STR_ARG(is_sum ? STR("") : s->message));
    buf_addf(&text, "(combined from similar events): %.*s", STR_ARG(s->message));
    if (is_sum)
        sum.message = buf_view(&text);
    struct memory *m = remember(s->e, &s->e->written, buf_view(&key), &is_new);
    if (is_new)
        name_event(s, m);
    m->count += m->count < INT32_MAX;
    if (!may_be_said(s))
        return;
    api_object_free(m->draft);
    m->draft = event_of(&sum, m);
    if (m->call)
        m->is_owed = true;
    else if (!m->tries) /* else it is tried again by itself */
        write_event(m);
}

static void say_text(struct events *e, const struct events_subject *subject,
                     const struct events_place *place, struct str resource_version,
                     enum events_type type, const char *reason, struct str message) {
    struct net_loop *loop = client_loop(e->opts.client);
    int64_t wall = clock_wall(net_loop_clock(loop));
    say(&(struct saying){
        .e = e,
        .subject = subject,
        .place = *place,
        .resource_version = resource_version,
        .type = type == EVENTS_NORMAL ? "Normal" : "Warning",
        .reason = reason,
        .message = message,
        .now = net_loop_now(loop),
        .time = {wall / CLOCK_SECOND, (int32_t)(wall % CLOCK_SECOND), true},
    });
}

void events_say(struct events *e, const struct api_object *o, enum events_type type,
                const char *reason, const char *fmt, ...) {
    AUTO(buf_release) struct buf text = BUF_INIT(MESSAGE_MOST);
    struct events_subject subject = {o->kind, o->meta->namespace, o->meta->name, o->meta->uid};
    va_list args;
    va_start(args, fmt);
    buf_vaddf(&text, fmt, args);
    va_end(args);
    say_text(e, &subject, &(struct events_place){0}, o->meta->resource_version, type, reason,
             buf_view(&text));
}

void events_say_of(struct events *e, const struct events_subject *subject, enum events_type type,
                   const char *reason, const char *fmt, ...) {
    AUTO(buf_release) struct buf text = BUF_INIT(MESSAGE_MOST);
    va_list args;
    va_start(args, fmt);
    buf_vaddf(&text, fmt, args);
    va_end(args);
    say_text(e, subject, &(struct events_place){0}, STR(""), type, reason, buf_view(&text));
}

void events_say_at(struct events *e, const struct events_subject *subject,
                   const struct events_place *place, enum events_type type, const char *reason,
                   const char *fmt, ...) {
    AUTO(buf_release) struct buf text = BUF_INIT(MESSAGE_MOST);
    va_list args;
    va_start(args, fmt);
    buf_vaddf(&text, fmt, args);
    va_end(args);
    say_text(e, subject, place, STR(""), type, reason, buf_view(&text));
}

/* ---- who says ---- */

static void memories_init(struct memories *all) {
    all->map = MAP_INIT(map_random_seed());
    all->end = &all->first;
}

struct events *events_new(const struct events_opts *opts) {
    struct events *e = xcalloc(1, sizeof *e);
    e->opts = *opts;
    e->seed = map_random_seed();
    memories_init(&e->written);
    memories_init(&e->subjects);
    memories_init(&e->reasons);
    return e;
}

void events_free(struct events *e) {
    if (!e)
        return;
    memories_release(&e->written);
    memories_release(&e->subjects);
    memories_release(&e->reasons);
    free(e);
}
