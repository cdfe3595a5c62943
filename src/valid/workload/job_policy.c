/*
 * When a job has failed, and when it has succeeded early: podFailurePolicy and successPolicy.
 *
 * Follows k8s.io/kubernetes pkg/apis/batch/validation, func validatePodFailurePolicy,
 * func validateSuccessPolicy.
 */
#include "base/goatoi.h"
#include "valid/workload/workload_int.h"

/* ---- podFailurePolicy ---- */

/* valid values: ["a" "b"], as Go prints a list of quoted strings; `all` is that list. */
static void check_choice(struct valid *v, const struct path *p, struct str text,
                         const char *const *supported, const char *all) {
    if (!text.n)
        valid__required(v, p, "valid values: %s", all);
    else if (!valid__one_of(text, supported))
        valid__not_supported(v, p, VALUE_NAMED(text), supported);
}

struct exit_code {
    int32_t value;
    size_t index;
};

static int compare_exit_codes(const void *a, const void *b) {
    const struct exit_code *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

/* Which of the values stands before already. */
static bool *find_repeats(struct arena *a, const struct api_i32s *values) {
    struct exit_code *sorted = arena_array(a, struct exit_code, values->n + 1);
    bool *repeats = arena_array(a, bool, values->n + 1);
    for (size_t i = 0; i < values->n; i++)
        sorted[i] = (struct exit_code){values->v[i], i};
    qsort(sorted, values->n, sizeof *sorted, compare_exit_codes);
    for (size_t i = 1; i < values->n; i++)
        repeats[sorted[i].index] = sorted[i].value == sorted[i - 1].value;
    return repeats;
}

static void check_values(struct valid *v, const struct path *p, const struct api_i32s *values,
                         bool in) {
    enum { MOST = 255 };
    const bool *repeats = find_repeats(v->errs->a, values);
    bool ordered = true;
    if (!values->n)
        valid__invalid(v, p, valid__numbers_value(v->errs->a, values),
                       "at least one value is required");
    else if (values->n > MOST)
        valid__too_many(v, p, values->n, MOST);
    for (size_t i = 0; i < values->n; i++) {
        const struct path *here = AT_INDEX(p, i);
        if (in && values->v[i] == 0)
            valid__invalid(v, here, VALUE_I64(0), "must not be 0 for the In operator");
        if (repeats[i])
            valid__duplicate(v, here, VALUE_I64(values->v[i]), NO_DETAIL);
        ordered &= i == 0 || values->v[i - 1] <= values->v[i];
    }
    if (!ordered)
        valid__invalid(v, p, valid__numbers_value(v->errs->a, values), "must be ordered");
}

static void check_exit_codes(struct valid *v, const struct path *p,
                             const struct api_pod_failure_policy_on_exit_codes_requirement *r,
                             const struct seen *containers) {
    static const char *const operators[] = {"In", "NotIn", NULL};
    check_choice(v, AT(p, "operator"), r->operator, operators, "[\"In\" \"NotIn\"]");
    if (r->container_name.p && !seen_get(containers, r->container_name))
        valid__invalid(v, AT(p, "containerName"), VALUE_Q(r->container_name),
                       "must be one of the container or initContainer names in the pod template");
    check_values(v, AT(p, "values"), &r->values, str_is(r->operator, "In"));
}

static void
check_conditions(struct valid *v, const struct path *p,
                 const struct api_pod_failure_policy_on_pod_conditions_pattern_list *l) {
    static const char *const statuses[] = {"False", "True", "Unknown", NULL};
    enum { MOST = 20 };
    if (l->n > MOST)
        valid__too_many(v, p, l->n, MOST);
    for (size_t i = 0; i < l->n; i++) {
        const struct path *here = AT_INDEX(p, i);
        valid__label_key(v, AT(here, "type"), l->v[i].type);
        check_choice(v, AT(here, "status"), l->v[i].status, statuses,
                     "[\"False\" \"True\" \"Unknown\"]");
    }
}

static void check_action(struct valid *v, const struct path *p, struct str action,
                         const struct api_job_spec *spec) {
    static const char *const actions[] = {"Count", "FailIndex", "FailJob", "Ignore", NULL};
    check_choice(v, p, action, actions, "[\"Count\" \"FailIndex\" \"FailJob\" \"Ignore\"]");
    if (str_is(action, "FailIndex") && !spec->backoff_limit_per_index.set)
        valid__invalid(v, p, VALUE_NAMED(action), "requires the backoffLimitPerIndex to be set");
}

static void check_failure_rule(struct valid *v, const struct path *p,
                               const struct api_pod_failure_policy_rule *rule,
                               const struct api_job_spec *spec, const struct seen *containers) {
    check_action(v, AT(p, "action"), rule->action, spec);
    if (rule->on_exit_codes)
        check_exit_codes(v, AT(p, "onExitCodes"), rule->on_exit_codes, containers);
    check_conditions(v, AT(p, "onPodConditions"), &rule->on_pod_conditions);
    if (rule->on_exit_codes && rule->on_pod_conditions.n)
        valid__invalid(v, p, VALUE_NONE,
                       "specifying both OnExitCodes and OnPodConditions is not supported");
    if (!rule->on_exit_codes && !rule->on_pod_conditions.n)
        valid__invalid(v, p, VALUE_NONE,
                       "specifying one of OnExitCodes and OnPodConditions is required");
}

void valid__pod_failure_policy(struct valid *v, const struct path *p,
                               const struct api_job_spec *spec) {
    enum { MOST = 20 };
    const struct api_pod_failure_policy_rule_list *rules = &spec->pod_failure_policy->rules;
    const struct path *here = AT(p, "rules");
    const struct api_pod_spec *pod = &spec->template.spec;
    struct seen containers;
    seen_init(&containers);
    for (size_t i = 0; i < pod->containers.n; i++)
        seen_add(&containers, pod->containers.v[i].name);
    for (size_t i = 0; i < pod->init_containers.n; i++)
        seen_add(&containers, pod->init_containers.v[i].name);
    if (rules->n > MOST)
        valid__too_many(v, here, rules->n, MOST);
    for (size_t i = 0; i < rules->n; i++)
        check_failure_rule(v, AT_INDEX(here, i), &rules->v[i], spec, &containers);
    seen_release(&containers);
}

/* ---- successPolicy ---- */

struct interval {
    int64_t from, to;
};

/* Reads an index that is less than completions; NULL on success, else what is wrong with it. */
static bool read_index(struct arena *a, struct str text, int64_t completions, int64_t *out,
                       struct str *error) {
    struct str shown = valid__go_quoted(a, text);
    if (goatoi_read(text, out))
        *error =
            arena_printf(a, "cannot convert string to integer for index: %.*s", STR_ARG(shown));
    else if (*out >= completions)
        *error = arena_printf(a, "too large index: %.*s", STR_ARG(shown));
    else
        return true;
    return false;
}

static bool not_rising(struct arena *a, int64_t before, int64_t now, struct str *error) {
    if (before < now)
        return false;
    *error = arena_printf(a, "non-increasing order, previous: %lld, current: %lld",
                          (long long)before, (long long)now);
    return true;
}

/* 7 or 3-5 */
static bool read_interval(struct arena *a, struct str text, int64_t completions,
                          struct interval *out, struct str *error) {
    struct str from, to;
    bool two = str_cut(text, '-', &from, &to);
    if (two && str_find_char(to, '-') != STR_NONE) {
        struct str shown = valid__go_quoted(a, text);
        *error = arena_printf(a,
                              "the fragment %.*s violates the requirement that an index interval "
                              "can have at most two parts separated by '-'",
                              STR_ARG(shown));
        return false;
    }
    if (!read_index(a, from, completions, &out->from, error))
        return false;
    out->to = out->from;
    if (!two)
        return true;
    return read_index(a, to, completions, &out->to, error) &&
           !not_rising(a, out->from, out->to, error);
}

/* Reads 1,3-5,7 and returns how many indexes that are; on failure *error is set. */
static int64_t count_indexes(struct arena *a, struct str list, int64_t completions,
                             struct str *error) {
    int64_t total = 0, last = INT64_MIN;
    struct str part;
    for (bool more = list.n > 0; more;) {
        struct interval interval;
        more = str_cut(list, ',', &part, &list);
        if (!read_interval(a, part, completions, &interval, error) ||
            (total && not_rising(a, last, interval.from, error)))
            return 0;
        total += interval.to - interval.from + 1;
        last = interval.to;
    }
    return total;
}

static void check_count(struct valid *v, const struct path *p,
                        const struct api_success_policy_rule *rule, int64_t completions,
                        int64_t indexes) {
    int32_t count = rule->succeeded_count.v;
    valid__not_negative(v, p, count);
    if (count > completions)
        valid__invalid(v, p, VALUE_I64(count),
                       "must be less than or equal to %lld (the number of specified completions)",
                       (long long)completions);
    if (rule->succeeded_indexes.p && count > indexes)
        valid__invalid(v, p, VALUE_I64(count),
                       "must be less than or equal to %lld (the number of indexes in the "
                       "specified succeededIndexes field)",
                       (long long)indexes);
}

static int64_t check_indexes(struct valid *v, const struct path *p, struct str indexes,
                             int64_t completions) {
    enum { MOST = 64 * 1024 };
    struct str error = {0};
    if (indexes.n > MOST)
        valid__too_long(v, p, MOST);
    int64_t count = count_indexes(v->errs->a, indexes, completions, &error);
    if (error.p)
        valid__invalid(v, p, VALUE_Q(indexes), "error parsing succeededIndexes: %.*s",
                       STR_ARG(error));
    return count;
}

/* Without completions, which an indexed job must have, upstream crashes when it would compare with
 * them; here the rest is not looked at. */
static void check_success_rule(struct valid *v, const struct path *p,
                               const struct api_success_policy_rule *rule,
                               const struct api_opt_i32 *completions) {
    int64_t indexes = 0;
    if (!rule->succeeded_count.set && !rule->succeeded_indexes.p)
        valid__required(v, p,
                        "at least one of succeededCount or succeededIndexes must be specified");
    if (!completions->set)
        return;
    if (rule->succeeded_indexes.p)
        indexes =
            check_indexes(v, AT(p, "succeededIndexes"), rule->succeeded_indexes, completions->v);
    if (rule->succeeded_count.set)
        check_count(v, AT(p, "succeededCount"), rule, completions->v, indexes);
}

void valid__success_policy(struct valid *v, const struct path *p, const struct api_job_spec *spec) {
    enum { MOST = 20 };
    const struct api_success_policy_rule_list *rules = &spec->success_policy->rules;
    const struct path *here = AT(p, "rules");
    if (!rules->n)
        valid__required(v, here,
                        "at least one rules must be specified when the successPolicy is specified");
    if (rules->n > MOST)
        valid__too_many(v, here, rules->n, MOST);
    for (size_t i = 0; i < rules->n; i++)
        check_success_rule(v, AT_INDEX(here, i), &rules->v[i], &spec->completions);
}
