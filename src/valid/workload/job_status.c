/*
 * The status of a job, as its controller writes it: what has happened is not undone, and a job that
 * is finished has nothing left to do. What did not change is not looked at again.
 *
 * Follows k8s.io/kubernetes pkg/apis/batch/validation, func ValidateJobUpdateStatus.
 * Follows k8s.io/kubernetes pkg/registry/batch/job, func getStatusValidationOptions.
 */
#include "base/goquote.h"
#include "codec/time.h"
#include "valid/workload/workload_int.h"

/* A job as it is to be, and as it was. */
struct change {
    struct valid *v;
    struct path status;
    const struct api_job_spec *spec;
    const struct api_job_status *now, *was;
};

#define FIELD_AT(c, name) AT(&(c)->status, name)

static bool has_condition(const struct api_job_status *s, const char *type, const char *status) {
    for (size_t i = 0; i < s->conditions.n; i++)
        if (str_is(s->conditions.v[i].type, type) && str_is(s->conditions.v[i].status, status))
            return true;
    return false;
}

static bool is_true(const struct api_job_status *s, const char *type) {
    return has_condition(s, type, "True");
}

static bool is_finished(const struct api_job_status *s) {
    return is_true(s, "Complete") || is_true(s, "Failed");
}

static bool turned(const struct change *c, const char *type) {
    return is_true(c->now, type) != is_true(c->was, type);
}

static void bad_conditions(const struct change *c, const char *detail) {
    valid__invalid(c->v, FIELD_AT(c, "conditions"), VALUE_NONE, "%s", detail);
}

/* ---- times ---- */

static bool same_time(struct api_time a, struct api_time b) {
    return a.set == b.set && (!a.set || (a.sec == b.sec && a.nsec == b.nsec));
}

static struct value time_value(struct arena *a, struct api_time t) {
    if (!t.set)
        return VALUE_JSON((struct json){.kind = JSON_NULL});
    AUTO(buf_release) struct buf text = BUF_INIT(64);
    time_write(&text, (struct time_instant){t.sec, t.nsec});
    return VALUE_NAMED(arena_str(a, buf_view(&text)));
}

static void bad_time(const struct change *c, const char *name, struct api_time t,
                     const char *detail) {
    valid__invalid(c->v, FIELD_AT(c, name), time_value(c->v->errs->a, t), "%s", detail);
}

static bool is_earlier(struct api_time a, struct api_time b) {
    return a.sec != b.sec ? a.sec < b.sec : a.nsec < b.nsec;
}

static void check_completion_time(const struct change *c) {
    struct api_time end = c->now->completion_time, start = c->now->start_time;
    bool complete = is_true(c->now, "Complete"),
         end_changed = !same_time(end, c->was->completion_time);
    bool looks = turned(c, "Complete") || end_changed;
    if (looks && end.set && !complete)
        bad_time(c, "completionTime", end,
                 "cannot set completionTime when there is no Complete=True condition");
    if (looks && !end.set && complete)
        valid__required(c->v, FIELD_AT(c, "completionTime"),
                        "completionTime is required for Complete jobs");
    if ((end_changed || !same_time(start, c->was->start_time)) && start.set && end.set &&
        is_earlier(end, start))
        bad_time(c, "completionTime", end, "must be equal to or after `startTime`");
}

static void check_times_kept(const struct change *c) {
    struct api_time start = c->now->start_time, end = c->now->completion_time;
    bool resumes = is_true(c->was, "Suspended") && has_condition(c->now, "Suspended", "False");
    if (end.set && c->was->completion_time.set && !same_time(end, c->was->completion_time))
        bad_time(c, "completionTime", end, "field is immutable");
    if (!resumes && c->was->start_time.set && !same_time(start, c->was->start_time) &&
        !c->spec->suspend.v)
        bad_time(c, "startTime", start, "field is immutable for unsuspended job once set");
}

/* ---- counts ---- */

static void check_counts(const struct change *c) {
    const struct api_job_status *s = c->now;
    valid__not_negative(c->v, FIELD_AT(c, "active"), s->active);
    valid__not_negative(c->v, FIELD_AT(c, "succeeded"), s->succeeded);
    valid__not_negative(c->v, FIELD_AT(c, "failed"), s->failed);
    valid__optional_not_negative(c->v, FIELD_AT(c, "ready"), &s->ready);
    valid__optional_not_negative(c->v, FIELD_AT(c, "terminating"), &s->terminating);
}

static void check_uids(struct valid *v, const struct path *p, const struct api_strs *uids,
                       struct seen *seen) {
    for (size_t i = 0; i < uids->n; i++)
        if (!uids->v[i].n)
            valid__invalid(v, AT_INDEX(p, i), VALUE_NAMED(uids->v[i]), "must not be empty");
        else if (!seen_add(seen, uids->v[i]))
            valid__duplicate(v, AT_INDEX(p, i), VALUE_NAMED(uids->v[i]), NO_DETAIL);
}

static void check_uncounted(const struct change *c) {
    const struct api_uncounted_terminated_pods *pods = c->now->uncounted_terminated_pods;
    const struct path *p = FIELD_AT(c, "uncountedTerminatedPods");
    struct seen seen;
    if (!pods)
        return;
    seen_init(&seen);
    check_uids(c->v, AT(p, "succeeded"), &pods->succeeded, &seen);
    check_uids(c->v, AT(p, "failed"), &pods->failed, &seen);
    seen_release(&seen);
}

static void check_counts_kept(const struct change *c) {
    bool indexed = str_is(c->spec->completion_mode, "Indexed");
    bool elastic = indexed && c->spec->completions.set == c->spec->parallelism.set &&
                   c->spec->completions.v == c->spec->parallelism.v;
    if (c->now->failed < c->was->failed)
        valid__invalid(c->v, FIELD_AT(c, "failed"), VALUE_I64(c->now->failed),
                       "cannot decrease the failed counter");
    if (!elastic && c->now->succeeded < c->was->succeeded)
        valid__invalid(c->v, FIELD_AT(c, "succeeded"), VALUE_I64(c->now->succeeded),
                       "cannot decrease the succeeded counter");
}

/* ---- what a finished job has no more ---- */

static bool same_number(struct api_opt_i32 a, struct api_opt_i32 b) {
    return a.set == b.set && a.v == b.v;
}

static bool same_uncounted(const struct change *c) {
    return valid__equal(API_T_uncounted_terminated_pods, c->now->uncounted_terminated_pods,
                        c->was->uncounted_terminated_pods);
}

static void check_finished(const struct change *c) {
    const struct api_job_status *s = c->now;
    const struct api_uncounted_terminated_pods *pods = s->uncounted_terminated_pods;
    bool looks = is_finished(s) != is_finished(c->was);
    bool never_ran = c->spec->suspend.v && c->spec->completions.set && !c->spec->completions.v;
    if (!is_finished(s))
        return;
    if ((looks || s->active != c->was->active) && s->active > 0)
        valid__invalid(c->v, FIELD_AT(c, "active"), VALUE_I64(s->active),
                       "active>0 is invalid for finished job");
    if ((looks || !same_time(s->start_time, c->was->start_time)) && !never_ran &&
        !s->start_time.set)
        valid__required(c->v, FIELD_AT(c, "startTime"), "startTime is required for finished job");
    if ((looks || !same_uncounted(c)) && pods && pods->failed.n + pods->succeeded.n > 0)
        valid__invalid(c->v, FIELD_AT(c, "uncountedTerminatedPods"),
                       valid__struct_value(c->v->errs->a, API_T_uncounted_terminated_pods, pods),
                       "must be empty for finished job");
}

static void check_pods_left(const struct change *c) {
    const struct api_job_status *s = c->now;
    bool looks = is_finished(s) != is_finished(c->was);
    if ((looks || !same_number(s->terminating, c->was->terminating)) && s->terminating.v > 0 &&
        is_finished(s))
        valid__invalid(c->v, FIELD_AT(c, "terminating"), VALUE_I64(s->terminating.v),
                       "terminating>0 is invalid for finished job");
    if ((!same_number(s->ready, c->was->ready) || s->active != c->was->active) && s->ready.set &&
        s->ready.v > s->active)
        valid__invalid(c->v, FIELD_AT(c, "ready"), VALUE_I64(s->ready.v),
                       "cannot set more ready pods than active");
}

/* ---- conditions ---- */

static void check_exclusive(const struct change *c) {
    bool complete = is_true(c->now, "Complete"), failed = is_true(c->now, "Failed");
    if ((turned(c, "Complete") || turned(c, "Failed")) && complete && failed)
        bad_conditions(c, "cannot set Complete=True and Failed=true conditions");
    if ((turned(c, "Complete") || turned(c, "FailureTarget")) && complete &&
        is_true(c->now, "FailureTarget"))
        bad_conditions(c, "cannot set Complete=True and FailureTarget=true conditions");
}

static bool same_text(struct str a, struct str b) {
    return !a.p == !b.p && str_eq(a, b);
}

static void check_announced(const struct change *c) {
    bool failed_indexes = !same_text(c->now->failed_indexes, c->was->failed_indexes);
    if ((turned(c, "Failed") || failed_indexes) && is_true(c->now, "Failed") &&
        !is_true(c->now, "FailureTarget"))
        bad_conditions(c, "cannot set Failed=True condition without the FailureTarget=true "
                          "condition");
    if ((turned(c, "Complete") || turned(c, "SuccessCriteriaMet")) && is_true(c->now, "Complete") &&
        !is_true(c->now, "SuccessCriteriaMet"))
        bad_conditions(c, "cannot set Complete=True condition without the SuccessCriteriaMet=true "
                          "condition");
}

static void check_success(const struct change *c) {
    bool met = is_true(c->now, "SuccessCriteriaMet");
    if (met && is_true(c->now, "Failed"))
        bad_conditions(c, "cannot set SuccessCriteriaMet=True and Failed=true conditions");
    if (met && is_true(c->now, "FailureTarget"))
        bad_conditions(c, "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions");
    if (c->spec->success_policy && !met && is_true(c->now, "Complete"))
        bad_conditions(c, "cannot set Complete=True for Job with SuccessPolicy unless "
                          "SuccessCriteriaMet=True");
}

static void check_conditions_kept(const struct change *c) {
    static const char *const terminal[] = {"Failed", "Complete", "FailureTarget"};
    for (size_t i = 0; i < sizeof terminal / sizeof *terminal; i++)
        if (is_true(c->was, terminal[i]) && !is_true(c->now, terminal[i]))
            valid__invalid(c->v, FIELD_AT(c, "conditions"), VALUE_NONE,
                           "cannot disable the terminal %s=True condition", terminal[i]);
}

static void check_success_kept(const struct change *c) {
    bool met = is_true(c->now, "SuccessCriteriaMet"),
         was_met = is_true(c->was, "SuccessCriteriaMet");
    if (was_met && !met)
        bad_conditions(c, "cannot disable the SuccessCriteriaMet=True condition");
    if (is_true(c->was, "Complete") && !was_met && met)
        bad_conditions(c, "cannot set SuccessCriteriaMet=True for Job already has Complete=true "
                          "conditions");
}

/* ---- indexes: "0,2-5,9" ---- */

struct interval {
    int64_t from, to;
};

static struct str quoted(struct arena *a, const char *before, struct str text, const char *after) {
    AUTO(buf_release) struct buf b = BUF_INIT(SIZE_MAX);
    buf_add(&b, str_of(before));
    goquote_write(&b, text);
    buf_add(&b, str_of(after));
    return arena_str(a, buf_view(&b));
}

/* An index below the number of completions. What is wrong with it, or absent. */
static struct str read_index(struct arena *a, struct str text, int32_t completions, int64_t *out) {
    if (!labels_value_to_i64(text, out))
        return quoted(a, "cannot convert string to integer for index: ", text, "");
    if (*out >= completions)
        return quoted(a, "too large index: ", text, "");
    return (struct str){0};
}

static struct str not_increasing(struct arena *a, int64_t previous, int64_t current) {
    return arena_printf(a, "non-increasing order, previous: %lld, current: %lld",
                        (long long)previous, (long long)current);
}

static struct str read_interval(struct arena *a, struct str text, int32_t completions,
                                struct interval *out) {
    struct str from = text, to, rest;
    bool two = str_cut(text, '-', &from, &to);
    if (two && str_cut(to, '-', &rest, &rest))
        return quoted(a, "the fragment ", text,
                      " violates the requirement that an index interval can have at most two parts "
                      "separated by '-'");
    struct str why = read_index(a, two ? from : text, completions, &out->from);
    out->to = out->from;
    if (why.p || !two)
        return why;
    why = read_index(a, to, completions, &out->to);
    if (!why.p && out->from >= out->to)
        return not_increasing(a, out->from, out->to);
    return why;
}

/* Takes the next part of a list off *text; false behind the last one, when *text is absent. */
static bool next_part(struct str *text, struct str *part) {
    if (!text->p)
        return false;
    struct str rest;
    if (str_cut(*text, ',', part, &rest)) {
        *text = rest;
    } else {
        *part = *text;
        *text = (struct str){0};
    }
    return true;
}

static struct str find_index_fault(struct arena *a, struct str list, int32_t completions) {
    struct interval at, last = {-1, INT64_MIN};
    struct str part, why = {0};
    if (!list.n)
        return why;
    while (!why.p && next_part(&list, &part)) {
        why = read_interval(a, part, completions, &at);
        if (!why.p && last.to >= at.from)
            why = not_increasing(a, last.to, at.from);
        last = at;
    }
    return why;
}

/* The next interval that can be read; the others are somebody else's to report. */
static bool next_interval(struct arena *a, struct str *list, int32_t completions,
                          struct interval *out) {
    struct str part;
    while (next_part(list, &part))
        if (!read_interval(a, part, completions, out).p)
            return true;
    return false;
}

static bool find_overlap(const struct change *c, int64_t *index) {
    struct arena *a = c->v->errs->a;
    int32_t completions = c->spec->completions.v;
    struct str completed = c->now->completed_indexes, failed = c->now->failed_indexes;
    struct interval x, y;
    if (!completed.n || !failed.n)
        return false;
    bool more =
        next_interval(a, &completed, completions, &x) && next_interval(a, &failed, completions, &y);
    while (more) {
        if (x.from <= y.to && y.from <= x.to) {
            *index = x.from > y.from ? x.from : y.from;
            return true;
        }
        more = x.from <= y.from ? next_interval(a, &completed, completions, &x)
                                : next_interval(a, &failed, completions, &y);
    }
    return false;
}

static void check_index_format(const struct change *c, const char *name, struct value value,
                               struct str list) {
    struct str why = find_index_fault(c->v->errs->a, list, c->spec->completions.v);
    if (why.p)
        valid__invalid(c->v, FIELD_AT(c, name), value, "error parsing %s: %.*s", name,
                       STR_ARG(why));
}

static void check_indexes(const struct change *c) {
    struct str completed = c->now->completed_indexes, failed = c->now->failed_indexes;
    bool completed_changed = !str_eq(completed, c->was->completed_indexes);
    bool failed_changed = !same_text(failed, c->was->failed_indexes);
    bool limited = c->spec->backoff_limit_per_index.set;
    int64_t index;
    if (completed_changed && c->spec->completions.set)
        check_index_format(c, "completedIndexes", VALUE_Q(completed), completed);
    if (failed_changed && c->spec->completions.set && limited && failed.p)
        check_index_format(c, "failedIndexes", VALUE_Q(failed), failed);
    if (completed_changed && completed.n && !str_is(c->spec->completion_mode, "Indexed"))
        valid__invalid(c->v, FIELD_AT(c, "completedIndexes"), VALUE_Q(completed),
                       "cannot set non-empty completedIndexes when non-indexed completion mode");
    if (failed_changed && !limited && failed.p)
        valid__invalid(c->v, FIELD_AT(c, "failedIndexes"), VALUE_Q(failed),
                       "cannot set non-null failedIndexes when backoffLimitPerIndex is null");
    if ((completed_changed || failed_changed) && c->spec->completions.set && failed.p &&
        find_overlap(c, &index))
        valid__invalid(c->v, FIELD_AT(c, "failedIndexes"), VALUE_Q(failed),
                       "failedIndexes and completedIndexes overlap at index: %lld",
                       (long long)index);
}

/* ---- all of it ---- */

void valid__job_status(struct valid *v, const struct api_object *o, const struct api_object *old) {
    const struct api_job *job = o->body, *was = old->body;
    const struct change c = {v, {.name = "status"}, &job->spec, &job->status, &was->status};
    valid__finalizer_names(v, AT(AT(NULL, "metadata"), "finalizers"), &o->meta->finalizers);
    check_counts(&c);
    check_uncounted(&c);
    check_exclusive(&c);
    check_completion_time(&c);
    check_announced(&c);
    check_finished(&c);
    check_indexes(&c);
    check_pods_left(&c);
    check_success(&c);
    check_conditions_kept(&c);
    check_counts_kept(&c);
    check_times_kept(&c);
    check_success_kept(&c);
}
