/*
 * How long a Job waits after failures before it makes pods again: 10 s, doubled with each, up to 10
 * minutes; a success ends it.
 *
 * Follows k8s.io/kubernetes pkg/controller/job, func (*backoffStore) newBackoffRecord,
 * func getRemainingTimeForFailuresCount.
 */
#include "base/clock.h"
#include "manager/batch/job_int.h"

static bool is_new_success(const struct job__pod *p) {
    return p->counts && p->has_finalizer && p->has_succeeded && !p->is_uncounted_success;
}

static bool is_new_failure(const struct job__pod *p) {
    return p->counts && p->has_finalizer && p->has_failed && !p->is_uncounted_failure;
}

/* When the last of the new successes was; false: there are none. */
static bool find_last_success(const struct job__pods *pods, int64_t *at) {
    bool any = false;
    for (size_t i = 0; i < pods->n; i++) {
        const struct job__pod *p = &pods->v[i];
        if (!is_new_success(p))
            continue;
        *at = !any || p->finished_at > *at ? p->finished_at : *at;
        any = true;
    }
    return any;
}

struct job__backoff job__backoff_after(const struct job__backoff *old,
                                       const struct job__pods *pods) {
    struct job__backoff out = *old;
    int64_t success = 0;
    bool has_success = find_last_success(pods, &success);
    if (has_success)
        out = (struct job__backoff){0};
    int32_t before = out.failures;
    for (size_t i = 0; i < pods->n; i++) {
        const struct job__pod *p = &pods->v[i];
        if (!is_new_failure(p) || (has_success && p->finished_at <= success))
            continue;
        if (out.failures == before || p->finished_at > out.last)
            out.last = p->finished_at;
        out.failures++;
    }
    return out;
}

int64_t job__backoff_left(const struct job__backoff *b, int64_t now) {
    int64_t wait = JOB__FIRST_BACKOFF;
    if (!b->failures)
        return 0;
    for (int32_t i = 1; i < b->failures && wait < JOB__MOST_BACKOFF; i++)
        wait = 2 * wait < JOB__MOST_BACKOFF ? 2 * wait : JOB__MOST_BACKOFF;
    int64_t left = clock_until(wait, clock_until(now, b->last));
    return left > 0 ? left : 0;
}
