/*
 * Requests that are sent again when the server was in trouble.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/util, func Retriable, func RetriableWithConflict.
 */
#include "base/clock.h"
#include "scheduler/scheduler_int.h"

/* Upstream's retry.DefaultBackoff: four tries, 10 ms, 50 ms and 250 ms apart. */
enum { MOST_TRIES = 4, FACTOR = 5 };
#define FIRST_DELAY (CLOCK_SECOND / 100)
#define MOST_DELAY  CLOCK_SECOND /* of those that are tried on */

static void link_call(struct scheduler *s, struct scheduler__call *c) {
    c->next = s->calls;
    c->link = &s->calls;
    if (c->next)
        c->next->link = &c->next;
    s->calls = c;
    s->under_way++;
}

static void unlink_call(struct scheduler__call *c) {
    *c->link = c->next;
    if (c->next)
        c->next->link = c->link;
    c->link = NULL;
    c->s->under_way--;
}

static void end(struct scheduler__call *c, const struct client_answer *answer) {
    struct scheduler *s = c->s;
    unlink_call(c);
    scheduler__wake(s); /* there may have been no room for more */
    c->type->done(c, answer);
}

static bool is_worth_another_try(const struct scheduler__call *c,
                                 const struct client_answer *answer) {
    if (answer->code == ERR_NONE || (c->tries >= MOST_TRIES && !c->type->is_patient))
        return false;
    return answer->status == 0 || answer->code == ERR_INTERNAL || answer->code == ERR_IO ||
           answer->code == ERR_UNAVAILABLE ||
           (answer->code == ERR_TIMEOUT && c->type->is_patient) ||
           (answer->code == ERR_CONFLICT && c->type->repeats_conflicts);
}

static void on_answer(void *arg, const struct client_answer *answer) {
    struct scheduler__call *c = arg;
    int64_t delay = FIRST_DELAY;
    c->sent = NULL;
    if (!is_worth_another_try(c, answer)) {
        end(c, answer);
        return;
    }
    for (uint32_t i = 1; i < c->tries && delay < MOST_DELAY; i++)
        delay *= FACTOR;
    delay = delay < MOST_DELAY ? delay : MOST_DELAY;
    net_timer_start(c->s->loop, &c->again, net_loop_now(c->s->loop) + delay);
}

static void try(void *arg) {
    struct scheduler__call *c = arg;
    struct client_request request = {0};
    AUTO(arena_release) struct arena a = {0};
    c->tries++;
    if (c->type->make(c, &a, &request))
        c->sent = client_send(c->s->client, &request, on_answer, c);
    else
        end(c, NULL);
}

void scheduler__call_start(struct scheduler *s, struct scheduler__call *c,
                           const struct scheduler__call_type *type) {
    *c = (struct scheduler__call){.s = s, .type = type, .again = {.fn = try, .arg = c}};
    link_call(s, c);
    try(c);
}

void scheduler__call_stop(struct scheduler__call *c) {
    if (!c->link)
        return;
    if (c->sent)
        client_cancel(c->sent);
    net_timer_stop(c->s->loop, &c->again);
    unlink_call(c);
}
