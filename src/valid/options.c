/*
 * What a client may say about a deletion, a list, or a write.
 *
 * Follows k8s.io/apimachinery pkg/apis/meta/v1/validation, func ValidateDeleteOptions,
 * func ValidateCreateOptions, func ValidatePatchOptions, func ValidateFieldManager.
 * Follows k8s.io/apimachinery pkg/apis/meta/internalversion/validation, func ValidateListOptions.
 */
#include "base/goquote.h"
#include "base/utf8.h"
#include "valid/valid_int.h"

static void check_propagation(struct valid *v, const struct api_delete_options *options) {
    static const char *const policies[] = {"Foreground", "Background", "Orphan", NULL};
    static const char *const shown[] = {"Foreground", "Background", "Orphan", "nil", NULL};
    const struct path *p = AT(NULL, "propagationPolicy");
    struct str policy = options->propagation_policy;
    if (!policy.p)
        return;
    if (options->orphan_dependents.set)
        valid__invalid(v, p, VALUE_NAMED(policy),
                       "orphanDependents and deletionPropagation cannot be both set");
    if (!valid__one_of(policy, policies))
        valid__not_supported(v, p, VALUE_NAMED(policy), shown);
}

static void check_dry_run(struct valid *v, const struct api_strs *dry_run) {
    static const char *const all[] = {"All", NULL};
    for (size_t i = 0; i < dry_run->n; i++)
        if (!valid__one_of(dry_run->v[i], all)) {
            valid__not_supported(v, AT(NULL, "dryRun"), valid__strs_value(v->errs->a, dry_run),
                                 all);
            return;
        }
}

/* What is deleted although it cannot be read is deleted at once and without conditions. */
static void check_unreadable(struct valid *v, const struct api_delete_options *options) {
    const struct path *p = AT(NULL, "ignoreStoreReadErrorWithClusterBreakingPotential");
    const struct {
        bool set;
        const char *name;
    } others[] = {
        {options->propagation_policy.p, "propagationPolicy"},
        {options->orphan_dependents.set, "orphanDependents"},
        {options->grace_period_seconds.set, "gracePeriodSeconds"},
        {options->preconditions, "preconditions"},
    };
    if (!options->ignore_store_read_error_with_cluster_breaking_potential.v)
        return;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].set)
            valid__invalid(v, p, VALUE_BOOL(true), "cannot be set together with .%s",
                           others[i].name);
}

void valid_delete_options(const struct api_delete_options *options, struct valid_errs *out) {
    struct valid v = {.errs = out};
    check_propagation(&v, options);
    check_dry_run(&v, &options->dry_run);
    check_unreadable(&v, options);
    valid__note_left_out(out);
}

/* ---- writes ---- */

static void check_manager(struct valid *v, struct str manager) {
    enum { MANAGER_MOST = 128 };
    const struct path *p = AT(NULL, "fieldManager");
    if (manager.n > MANAGER_MOST)
        valid__too_long(v, p, MANAGER_MOST);
    for (size_t i = 0, length; i < manager.n; i += length) {
        uint32_t c = utf8_decode(str_sub(manager, i, manager.n), &length);
        if (c == UTF8_INVALID || !goquote_is_print(c))
            valid__invalid(v, p, VALUE_Q(manager), "invalid character U+%04X (at position %zu)",
                           c == UTF8_INVALID ? 0xFFFD : c, i);
    }
}

static void check_field_validation(struct valid *v, struct str level) {
    static const char *const levels[] = {"", "Ignore", "Strict", "Warn", NULL};
    if (!valid__one_of(level, levels))
        valid__not_supported(v, AT(NULL, "fieldValidation"), VALUE_Q(level), levels);
}

void valid_write_options(const struct valid_write_options *options, struct valid_errs *out) {
    struct valid v = {.errs = out};
    if (options->is_apply && !options->field_manager.n)
        valid__required(&v, AT(NULL, "fieldManager"), "is required for apply patch");
    if (!options->is_apply && options->has_force)
        valid__forbidden(&v, AT(NULL, "force"), "may not be specified for non-apply patch");
    check_manager(&v, options->field_manager);
    check_dry_run(&v, &options->dry_run);
    check_field_validation(&v, options->field_validation);
    valid__note_left_out(out);
}

/* ---- lists and watches ---- */

#define MATCH AT(NULL, "resourceVersionMatch")

static void check_list(struct valid *v, const struct valid_list_options *o) {
    static const char *const matches[] = {"Exact", "NotOlderThan", "", NULL};
    bool exact = str_is(o->resource_version_match, "Exact");
    if (o->resource_version_match.n) {
        if (!o->resource_version.n)
            valid__forbidden(
                v, MATCH, "resourceVersionMatch is forbidden unless resourceVersion is provided");
        if (o->continue_token.n)
            valid__forbidden(v, MATCH,
                             "resourceVersionMatch is forbidden when continue is provided");
        if (!valid__one_of(o->resource_version_match, matches))
            valid__not_supported(v, MATCH, VALUE_NAMED(o->resource_version_match), matches);
        if (exact && str_is(o->resource_version, "0"))
            valid__forbidden(
                v, MATCH, "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
    }
    if (o->has_send_initial_events)
        valid__forbidden(v, AT(NULL, "sendInitialEvents"),
                         "sendInitialEvents is forbidden for list");
}

static void check_watch(struct valid *v, const struct valid_list_options *o) {
    static const char *const matches[] = {"NotOlderThan", NULL};
    bool not_older = str_is(o->resource_version_match, "NotOlderThan");
    if (o->has_send_initial_events && !not_older)
        valid__forbidden(v, MATCH,
                         "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    if (!o->resource_version_match.n)
        return;
    if (!o->has_send_initial_events)
        valid__forbidden(
            v, MATCH,
            "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
    if (!not_older)
        valid__not_supported(v, MATCH, VALUE_NAMED(o->resource_version_match), matches);
    if (o->continue_token.n)
        valid__forbidden(v, MATCH, "resourceVersionMatch is forbidden when continue is provided");
}

void valid_list_options(const struct valid_list_options *options, struct valid_errs *out) {
    struct valid v = {.errs = out};
    if (options->is_watch)
        check_watch(&v, options);
    else
        check_list(&v, options);
    valid__note_left_out(out);
}

/* ---- logs ---- */

static void check_stream(struct valid *v, const struct valid_log_options *o) {
    static const char *const streams[] = {"All", "Stderr", "Stdout", NULL};
    struct str stream = o->stream.n ? o->stream : STR("All");
    if (!o->allows_stream) {
        if (o->stream.n)
            valid__forbidden(v, AT(NULL, "stream"), "may not be specified");
        return;
    }
    if (!valid__one_of(stream, streams))
        valid__not_supported(v, AT(NULL, "stream"), VALUE_Q(stream), streams);
    if (!str_is(stream, "All") && o->tail_lines.set)
        valid__forbidden(v, AT_KEY(NULL, STR("")),
                         "`tailLines` and specific `stream` are mutually exclusive for now");
}

void valid_log_options(const struct valid_log_options *options, struct valid_errs *out) {
    struct valid v = {.errs = out};
    if (options->tail_lines.set && options->tail_lines.v < 0)
        valid__invalid(&v, AT(NULL, "tailLines"), VALUE_I64(options->tail_lines.v),
                       "must be greater than or equal to 0");
    if (options->limit_bytes.set && options->limit_bytes.v < 1)
        valid__invalid(&v, AT(NULL, "limitBytes"), VALUE_I64(options->limit_bytes.v),
                       "must be greater than 0");
    if (options->since_seconds.set && options->has_since_time)
        valid__forbidden(&v, AT_KEY(NULL, STR("")),
                         "at most one of `sinceTime` or `sinceSeconds` may be specified");
    else if (options->since_seconds.set && options->since_seconds.v < 1)
        valid__invalid(&v, AT(NULL, "sinceSeconds"), VALUE_I64(options->since_seconds.v),
                       "must be greater than 0");
    check_stream(&v, options);
}

/* ---- requests as a whole ---- */

void valid_version_required(struct valid_errs *out) {
    struct valid v = {.errs = out};
    valid__invalid(&v, AT(AT(NULL, "metadata"), "resourceVersion"), VALUE_I64(0),
                   "must be specified for an update");
}

void valid_patch_invalid(struct str patch, struct str why, struct valid_errs *out) {
    struct valid v = {.errs = out};
    valid__invalid(&v, AT(NULL, "patch"), VALUE_Q(patch), "%.*s", STR_ARG(why));
}

void valid_scale_negative(int32_t replicas, struct valid_errs *out) {
    struct valid v = {.errs = out};
    valid__invalid(&v, AT(AT(NULL, "spec"), "replicas"), VALUE_I64(replicas),
                   "must be greater than or equal to 0");
}
