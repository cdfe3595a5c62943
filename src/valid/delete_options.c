/*
 * What a client may say about a deletion.
 *
 * Follows k8s.io/apimachinery pkg/apis/meta/v1/validation, func ValidateDeleteOptions.
 */
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
