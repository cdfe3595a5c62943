/*
 * Annotations that were fields before there were fields: tolerations, seccomp and AppArmor
 * profiles, and those by which kubelets and controllers know pods.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func ValidatePodSpecificAnnotations,
 * func ValidateSeccompPodAnnotations, func ValidateAppArmorPodAnnotations.
 * Follows k8s.io/kubernetes pkg/registry/core/pod, func applyAppArmorVersionSkew.
 */

#include "base/goquote.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "valid/go_json_int.h"
#include "valid/pod/pod_int.h"
#include "valid/warnings_int.h"

#define MIRROR            "kubernetes.io/config.mirror"
#define TOLERATIONS       "scheduler.alpha.kubernetes.io/tolerations"
#define DELETION_COST     "controller.kubernetes.io/pod-deletion-cost"
#define SECCOMP_POD       "seccomp.security.alpha.kubernetes.io/pod"
#define SECCOMP_CONTAINER "container.seccomp.security.alpha.kubernetes.io/"
#define APP_ARMOR         "container.apparmor.security.beta.kubernetes.io/"
#define LOCALHOST         "localhost/"

static struct str behind(struct str s, struct str prefix) {
    return str_sub(s, prefix.n, s.n);
}

/* ---- tolerations as JSON ---- */

static const struct go_field toleration_fields[] = {
    {"Toleration.Key", "string", GO_STR, offsetof(struct api_toleration, key)},
    {"Toleration.Operator", "core.TolerationOperator", GO_STR,
     offsetof(struct api_toleration, operator)},
    {"Toleration.Value", "string", GO_STR, offsetof(struct api_toleration, value)},
    {"Toleration.Effect", "core.TaintEffect", GO_STR, offsetof(struct api_toleration, effect)},
    {"Toleration.TolerationSeconds", "int64", GO_I64,
     offsetof(struct api_toleration, toleration_seconds)},
    {"Toleration.Expression", "string", GO_STR, offsetof(struct api_toleration, expression)},
    {0}};

static const struct go_struct toleration = {"[]core.Toleration", "core.Toleration",
                                            sizeof(struct api_toleration), toleration_fields};

static void check_tolerations(struct valid *v, const struct path *p, struct str text,
                              const struct pod_rules *rules) {
    struct api_toleration_list list = {0};
    struct err err = {0};
    if (valid__read_go_list(v->errs->a, &toleration, text, &list, &err) < 0)
        valid__invalid(v, p, VALUE_Q(STR(TOLERATIONS)), "%s", err.msg);
    else
        valid__tolerations(v, AT(p, TOLERATIONS), &list, rules);
}

/* ---- the cost of deletion ---- */

static bool is_deletion_cost(struct str s) {
    int64_t cost;
    bool first_is_good =
        s.n > 0 && (s.p[0] == '-' || str_is(s, "0") || (s.p[0] >= '1' && s.p[0] <= '9'));
    return first_is_good && labels_value_to_i64(s, &cost) && cost >= INT32_MIN && cost <= INT32_MAX;
}

bool valid__deletion_cost_is_good(const struct labels *annotations) {
    const struct label *cost = labels_find(annotations, STR(DELETION_COST));
    return !cost || is_deletion_cost(cost->value);
}

/* ---- seccomp ---- */

static void check_seccomp(struct valid *v, const struct path *p, struct str profile) {
    static const char *const known[] = {"runtime/default", "docker/default", "unconfined", NULL};
    if (valid__one_of(profile, known))
        return;
    if (str_starts(profile, STR(LOCALHOST)))
        valid__descending_path(v, p, behind(profile, STR(LOCALHOST)));
    else
        valid__invalid(v, p, VALUE_Q(profile), "must be a valid seccomp profile");
}

static void check_seccomps(struct valid *v, const struct path *p,
                           const struct labels *annotations) {
    const struct label *pod = labels_find(annotations, STR(SECCOMP_POD));
    if (pod)
        check_seccomp(v, AT(p, SECCOMP_POD), pod->value);
    for (size_t i = 0; i < annotations->n; i++) {
        const struct label *a = &annotations->v[i];
        if (str_starts(a->key, STR(SECCOMP_CONTAINER)))
            check_seccomp(v, AT_DOTTED(p, a->key), a->value);
    }
}

static void check_seccomp_match(struct valid *v, const struct path *p, struct str annotation,
                                const struct api_seccomp_profile *field) {
    bool is_local = str_starts(annotation, STR(LOCALHOST));
    bool agree = true;
    if (str_is(field->type, "Unconfined"))
        agree = str_is(annotation, "unconfined");
    else if (str_is(field->type, "RuntimeDefault"))
        agree = str_is(annotation, "runtime/default") || str_is(annotation, "docker/default");
    else if (str_is(field->type, "Localhost"))
        agree = is_local;
    if (!agree)
        valid__forbidden(v, AT(p, "type"), "seccomp type in annotation and field must match");
    else if (str_is(field->type, "Localhost") &&
             (!field->localhost_profile.p ||
              !str_eq(behind(annotation, STR(LOCALHOST)), field->localhost_profile)))
        valid__forbidden(v, AT(p, "localhostProfile"),
                         "seccomp profile in annotation and field must match");
}

/* How a key compares with <prefix><container>. */
static int compare_key(struct str key, struct str prefix, struct str container) {
    int order = str_cmp(str_sub(key, 0, prefix.n), prefix);
    return order ? order : str_cmp(behind(key, prefix), container);
}

/* The annotation <prefix><container>, or NULL. */
static const struct label *find_of(const struct labels *annotations, struct str prefix,
                                   struct str container) {
    for (size_t low = 0, high = annotations->n; low < high;) {
        size_t middle = low + (high - low) / 2;
        int order = compare_key(annotations->v[middle].key, prefix, container);
        if (order == 0)
            return &annotations->v[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const struct label *valid__seccomp_annotation(const struct labels *annotations,
                                              struct str container) {
    return find_of(annotations, STR(SECCOMP_CONTAINER), container);
}

const struct label *valid__app_armor_annotation(const struct labels *annotations,
                                                struct str container) {
    return find_of(annotations, STR(APP_ARMOR), container);
}

static void check_seccomp_matches(struct valid *v, const struct path *spec_path,
                                  const struct labels *annotations,
                                  const struct api_pod_spec *spec) {
    const struct label *pod = labels_find(annotations, STR(SECCOMP_POD));
    if (pod && spec->security_context && spec->security_context->seccomp_profile)
        check_seccomp_match(v, AT(AT(spec_path, "securityContext"), "seccompProfile"), pod->value,
                            spec->security_context->seccomp_profile);
    for (struct container_walk w = CONTAINER_WALK(spec, spec_path); valid__walk(&w);) {
        if (!w.c->security_context || !w.c->security_context->seccomp_profile)
            continue;
        const struct label *own = find_of(annotations, STR(SECCOMP_CONTAINER), w.c->name);
        if (own)
            check_seccomp_match(v, AT(AT(&w.at, "securityContext"), "seccompProfile"), own->value,
                                w.c->security_context->seccomp_profile);
    }
}

/* ---- AppArmor ---- */

static void check_app_armor(struct valid *v, const struct path *p, const struct label *annotation,
                            const struct seen *containers) {
    static const char *const known[] = {"", "runtime/default", "unconfined", NULL};
    struct str container = behind(annotation->key, STR(APP_ARMOR)), profile = annotation->value;
    if (!seen_get(containers, container))
        valid__invalid(v, p, VALUE_Q(container), "container not found");
    if (valid__one_of(profile, known) || str_starts(profile, STR(LOCALHOST)))
        return;
    AUTO(buf_release) struct buf quoted = BUF_INIT(2 * LIMIT_OBJECT_BYTES);
    goquote_write(&quoted, profile);
    valid__invalid(v, p, VALUE_Q(profile), "invalid AppArmor profile name: %.*s",
                   STR_ARG(buf_view(&quoted)));
}

/* The names of containers are gathered when the first of the annotations asks for them. */
static void gather_containers(const struct api_pod_spec *spec, struct seen *containers) {
    if (containers->n)
        return;
    for (struct container_walk w = CONTAINER_WALK(spec, NULL); valid__walk(&w);)
        seen_add(containers, w.c->name);
}

static void check_app_armors(struct valid *v, const struct path *p,
                             const struct labels *annotations, const struct api_pod_spec *spec) {
    struct seen containers;
    seen_init(&containers);
    for (size_t i = 0; i < annotations->n; i++) {
        const struct label *a = &annotations->v[i];
        if (!str_starts(a->key, STR(APP_ARMOR)))
            continue;
        gather_containers(spec, &containers);
        check_app_armor(v, AT_KEY(p, a->key), a, &containers);
    }
    seen_release(&containers);
}

static void check_app_armor_match(struct valid *v, const struct path *p, struct str annotation,
                                  const struct api_app_armor_profile *field) {
    bool agree = true;
    if (str_is(field->type, "Unconfined"))
        agree = str_is(annotation, "unconfined");
    else if (str_is(field->type, "RuntimeDefault"))
        agree = str_is(annotation, "runtime/default");
    else if (str_is(field->type, "Localhost"))
        agree = str_starts(annotation, STR(LOCALHOST));
    if (!agree)
        valid__forbidden(v, AT(p, "type"), "apparmor type in annotation and field must match");
    else if (str_is(field->type, "Localhost") &&
             (!field->localhost_profile.p ||
              !str_eq(behind(annotation, STR(LOCALHOST)), field->localhost_profile)))
        valid__forbidden(v, AT(p, "localhostProfile"),
                         "apparmor profile in annotation and field must match");
}

static bool is_windows(const struct api_pod_spec *spec) {
    return spec->os && str_is(spec->os->name, "windows");
}

static const struct api_app_armor_profile *pod_app_armor(const struct api_pod_spec *spec) {
    return spec->security_context ? spec->security_context->app_armor_profile : NULL;
}

static void check_app_armor_matches(struct valid *v, const struct path *spec_path,
                                    const struct labels *annotations,
                                    const struct api_pod_spec *spec) {
    if (is_windows(spec))
        return;
    for (struct container_walk w = CONTAINER_WALK(spec, spec_path); valid__walk(&w);) {
        const struct api_app_armor_profile *profile = pod_app_armor(spec);
        if (w.c->security_context && w.c->security_context->app_armor_profile)
            profile = w.c->security_context->app_armor_profile;
        const struct label *own = profile ? find_of(annotations, STR(APP_ARMOR), w.c->name) : NULL;
        if (own)
            check_app_armor_match(v, AT(AT(&w.at, "securityContext"), "appArmorProfile"),
                                  own->value, profile);
    }
}

enum { MOST_PROFILE_BYTES = 4095 };

/* The field that says the same as an annotation; false when there is none. */
static bool app_armor_field(struct str annotation, struct api_app_armor_profile *out) {
    *out = (struct api_app_armor_profile){0};
    if (str_is(annotation, "unconfined"))
        out->type = STR("Unconfined");
    else if (str_is(annotation, "runtime/default"))
        out->type = STR("RuntimeDefault");
    if (out->type.n)
        return true;
    struct str local = behind(annotation, STR(LOCALHOST));
    out->type = STR("Localhost");
    out->localhost_profile = local;
    return str_starts(annotation, STR(LOCALHOST)) && local.n > 0 && local.n <= MOST_PROFILE_BYTES &&
           utf8_trim_space(local).n == local.n;
}

static bool same_app_armor(const struct api_app_armor_profile *a,
                           const struct api_app_armor_profile *b) {
    return b && valid__equal(API_T_app_armor_profile, a, b);
}

bool valid__app_armor_is_said(const struct api_pod_spec *spec, struct str annotation) {
    struct api_app_armor_profile field;
    return app_armor_field(annotation, &field) && same_app_armor(&field, pod_app_armor(spec));
}

void valid__app_armor_from_annotations(struct arena *a, const struct labels *annotations,
                                       struct api_pod_spec *spec, struct valid_warnings *warnings) {
    if (is_windows(spec) || !annotations->n)
        return;
    for (struct container_walk w = CONTAINER_WALK(spec, NULL); valid__walk(&w);) {
        const struct label *own = find_of(annotations, STR(APP_ARMOR), w.c->name);
        struct api_app_armor_profile field;
        bool has_field = w.c->security_context && w.c->security_context->app_armor_profile;
        if (!own || has_field || valid__app_armor_is_said(spec, own->value))
            continue;
        if (warnings)
            valid__warn_at(warnings, AT_KEY(AT(AT(NULL, "metadata"), "annotations"), own->key),
                           OLD_APP_ARMOR);
        if (!app_armor_field(own->value, &field))
            continue;
        if (!w.c->security_context)
            w.c->security_context = arena_new(a, struct api_security_context);
        w.c->security_context->app_armor_profile = arena_copy(a, &field, sizeof field);
    }
}

/* ---- all of it ---- */

void valid__pod_annotations(struct valid *v, const struct path *p, const struct labels *annotations,
                            const struct api_pod_spec *spec, const struct pod_rules *rules) {
    const struct label *mirror = labels_find(annotations, STR(MIRROR));
    if (mirror && !spec->node_name.n)
        valid__invalid(v, AT_KEY(p, STR(MIRROR)), VALUE_Q(mirror->value),
                       "must set spec.nodeName if mirror pod annotation is set");
    const struct label *tolerations = labels_find(annotations, STR(TOLERATIONS));
    if (tolerations && tolerations->value.n)
        check_tolerations(v, p, tolerations->value, rules);
    const struct label *cost = labels_find(annotations, STR(DELETION_COST));
    if (cost && !rules->invalid_deletion_cost && !is_deletion_cost(cost->value))
        valid__invalid(v, AT_KEY(p, STR(DELETION_COST)), VALUE_Q(cost->value),
                       "must be a 32bit integer");
    check_seccomps(v, p, annotations);
    check_app_armors(v, p, annotations, spec);
}

void valid__pod_annotations_match(struct valid *v, const struct path *spec_path,
                                  const struct labels *annotations,
                                  const struct api_pod_spec *spec) {
    if (!annotations->n)
        return;
    check_seccomp_matches(v, spec_path, annotations, spec);
    check_app_armor_matches(v, spec_path, annotations, spec);
}

static void forbid_change(struct valid *v, const struct path *p, struct str key, const char *verb) {
    if (str_starts(key, STR(APP_ARMOR)))
        valid__forbidden(v, AT_KEY(p, key), "may not %s AppArmor annotations", verb);
    if (str_is(key, MIRROR))
        valid__forbidden(v, AT_KEY(p, key), "may not %s mirror pod annotation", verb);
}

void valid__pod_annotations_update(struct valid *v, const struct path *p,
                                   const struct labels *annotations, const struct labels *old) {
    for (size_t i = 0; i < old->n; i++) {
        const struct label *now = labels_find(annotations, old->v[i].key);
        if (!now || !str_eq(now->value, old->v[i].value))
            forbid_change(v, p, old->v[i].key, "remove or update");
    }
    for (size_t i = 0; i < annotations->n; i++)
        if (!labels_find(old, annotations->v[i].key))
            forbid_change(v, p, annotations->v[i].key, "add");
}
