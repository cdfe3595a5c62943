/*
 * Those who would like to hold a lease.
 *
 * Follows k8s.io/kubernetes pkg/apis/coordination/validation, func ValidateLeaseCandidateSpec,
 * func ValidateLeaseCandidateUpdate.
 */
#include "semver/semver.h"
#include "valid/kinds_int.h"
#include "valid/metadata_int.h"

static const struct api_lease_candidate_spec *spec_of(const struct api_object *o) {
    return &((const struct api_lease_candidate *)o->body)->spec;
}

/* A version that is missing, or none at all, is 0.0.0. */
static struct semver parse(struct valid *v, const struct path *p, struct str text) {
    struct semver version = {0};
    if (text.n && semver_parse(v->errs->a, text, &version, NULL) < 0)
        valid__invalid(v, p, VALUE_Q(text), "must be a valid semantic version");
    return version;
}

static void check_versions(struct valid *v, const struct path *p,
                           const struct api_lease_candidate_spec *s) {
    struct semver emulated = parse(v, AT(p, "emulationVersion"), s->emulation_version);
    if (!s->binary_version.n)
        valid__required(v, AT(p, "binaryVersion"), NO_DETAIL);
    struct semver binary = parse(v, AT(p, "binaryVersion"), s->binary_version);
    if (s->binary_version.n && s->emulation_version.n && semver_cmp(&binary, &emulated) < 0)
        valid__invalid(v, AT(p, "binaryVersion"), VALUE_Q(s->binary_version),
                       "must be greater than or equal to `emulationVersion`");
    if (!s->strategy.n) {
        valid__required(v, AT(p, "strategy"), NO_DETAIL);
        return;
    }
    if (str_is(s->strategy, "OldestEmulationVersion") &&
        semver_cmp(&emulated, &(struct semver){0}) == 0)
        valid__required(v, AT(p, "emulationVersion"),
                        "must be specified when `strategy` is 'OldestEmulationVersion'");
    valid__lease_strategy(v, AT(p, "strategy"), s->strategy);
}

static void check(struct valid *v, const struct api_lease_candidate_spec *s) {
    const struct path *p = AT(NULL, "spec");
    if (!s->lease_name.n)
        valid__required(v, AT(p, "leaseName"), NO_DETAIL);
    check_versions(v, p, s);
}

static void create(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check(v, spec_of(o));
}

static void update(struct valid *v, const struct api_object *o, const struct api_object *old) {
    struct str name = spec_of(o)->lease_name;
    valid__metadata_update(v, o, old);
    check(v, spec_of(o));
    if (!str_eq(name, spec_of(old)->lease_name))
        valid__immutable(v, AT(AT(NULL, "spec"), "leaseName"), VALUE_Q(name));
}

const struct valid_kind valid__lease_candidate = {
    .type = API_T_lease_candidate, .create = create, .update = update};
