/* What happens to objects before they are validated: each row is an object, or an old and a new
 * one, and what has become of the new one; members that are not named are not looked at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "valid/valid.h"

static const struct row {
    const char *kind;  /* apiVersion and kind */
    const char *old;   /* members of the stored object, or NULL: a new one is created */
    const char *new;   /* members of the object */
    const char *path;  /* of the member to look at: names with dots between them */
    const char *want;  /* the member as JSON, or NULL: it is not there */
    const char *gates; /* to switch: +On -Off; or NULL */
} rows[] = {
    /* names and namespaces */
    {"v1 Node", NULL, "'metadata':{'name':'n','namespace':'x'}", "metadata.namespace", NULL, NULL},
    {"policy/v1 PodDisruptionBudget", NULL, "'metadata':{'name':'n'}", "metadata.namespace",
     "'shop'", NULL},
    {"policy/v1 PodDisruptionBudget", NULL, "'metadata':{'name':'n','namespace':'x'}",
     "metadata.namespace", "'x'", NULL},
    {"v1 Node", NULL, "'metadata':{'generateName':'n-'}", "metadata.name", "'n-abcde'", NULL},
    {"v1 Node", NULL, "'metadata':{'generateName':'n-','name':'m'}", "metadata.name", "'m'", NULL},
    {"v1 Node", NULL, "'metadata':{}", "metadata.name", NULL, NULL},
    {"v1 Node", NULL,
     "'metadata':{'generateName':'0123456789012345678901234567890123456789012345678901234567-x'}",
     "metadata.name", "'0123456789012345678901234567890123456789012345678901234567abcde'", NULL},
    /* what only the server sets */
    {"v1 Node", NULL, "'metadata':{'name':'n'}", "metadata.uid",
     "'170efdb5-de9f-8e99-847f-0a339378ce29'", NULL},
    {"v1 Node", NULL, "'metadata':{'name':'n','uid':'mine'}", "metadata.uid",
     "'170efdb5-de9f-8e99-847f-0a339378ce29'", NULL},
    {"v1 Node", NULL, "'metadata':{'creationTimestamp':'2020-01-01T00:00:00Z'}",
     "metadata.creationTimestamp", "'2026-03-01T00:00:00Z'", NULL},
    {"v1 Node", NULL, "'metadata':{'deletionTimestamp':'2020-01-01T00:00:00Z'}",
     "metadata.deletionTimestamp", NULL, NULL},
    {"v1 Node", NULL, "'metadata':{'deletionGracePeriodSeconds':5}",
     "metadata.deletionGracePeriodSeconds", NULL, NULL},
    {"v1 Node", NULL, "'metadata':{'selfLink':'/x'}", "metadata.selfLink", NULL, NULL},
    {"batch/v1 Job", NULL, "'metadata':{'name':'j','uid':'mine'}", "spec.selector.matchLabels",
     "{'batch.kubernetes.io/controller-uid':'29174bec-7210-8287-8f3e-9aaa60a15c5d'}", NULL},
    /* what an update gets back */
    {"v1 Node", "'metadata':{'name':'n','uid':'u','generation':4}", "'metadata':{'generation':9}",
     "metadata.uid", "'u'", NULL},
    {"v1 Node", "'metadata':{'name':'n','generation':4}", "'metadata':{'generation':9}",
     "metadata.generation", "4", NULL},
    {"v1 Node", "'metadata':{'uid':'u'}", "'metadata':{'uid':'w'}", "metadata.uid", "'w'", NULL},
    {"v1 Node", "'metadata':{'creationTimestamp':'2026-01-01T00:00:00Z'}",
     "'metadata':{'creationTimestamp':'2026-01-02T00:00:00Z'}", "metadata.creationTimestamp",
     "'2026-01-01T00:00:00Z'", NULL},
    {"v1 Node",
     "'metadata':{'deletionTimestamp':'2026-01-01T00:00:00Z','deletionGracePeriodSeconds':5}",
     "'metadata':{}", "metadata.deletionGracePeriodSeconds", "5", NULL},
    {"v1 Node",
     "'metadata':{'deletionTimestamp':'2026-01-01T00:00:00Z','deletionGracePeriodSeconds':5}",
     "'metadata':{}", "metadata.deletionTimestamp", "'2026-01-01T00:00:00Z'", NULL},
    /* nodes: a new one may have a status, an update may not change it */
    {"v1 Node", NULL, "'status':{'phase':'Running'}", "status.phase", "'Running'", NULL},
    {"v1 Node", NULL, "'status':{'config':{'error':'x'}}", "status.config", NULL, NULL},
    {"v1 Node", NULL, "'spec':{'configSource':{}}", "spec.configSource", NULL, NULL},
    {"v1 Node", "'spec':{'configSource':{}}", "'spec':{'configSource':{}}", "spec.configSource",
     "{}", NULL},
    {"v1 Node", "'status':{'phase':'Running'}", "'status':{'phase':'x'}", "status.phase",
     "'Running'", NULL},
    {"v1 Node", NULL, "'status':{'runtimeHandlers':[{'name':'r'}]}", "status.runtimeHandlers",
     "[{'name':'r'}]", NULL},
    {"v1 Node", NULL, "'status':{'runtimeHandlers':[{'name':'r'}]}", "status.runtimeHandlers", NULL,
     "-RecursiveReadOnlyMounts -UserNamespacesSupport"},
    {"v1 Node", NULL, "'status':{'features':{}}", "status.features", "{}", NULL},
    {"v1 Node", NULL, "'status':{'features':{}}", "status.features", NULL,
     "-SupplementalGroupsPolicy"},
    {"v1 Node", "'status':{'features':{}}", "'spec':{}", "status.features", "{}",
     "-SupplementalGroupsPolicy"},
    {"v1 Node", NULL, "'status':{'declaredFeatures':['A']}", "status.declaredFeatures", NULL,
     "-NodeDeclaredFeatures"},
    {"v1 Node", "'status':{'declaredFeatures':['A']}", "'spec':{}", "status.declaredFeatures",
     "['A']", "-NodeDeclaredFeatures"},
    {"v1 Node", NULL, "'spec':{'podPreemptionPolicy':{}}", "spec.podPreemptionPolicy", NULL, NULL},
    {"v1 Node", NULL, "'spec':{'podPreemptionPolicy':{}}", "spec.podPreemptionPolicy", "{}",
     "+InPlacePodVerticalScalingSchedulerPreemption"},
    /* namespaces */
    {"v1 Namespace", NULL, "'status':{'phase':'Terminating'}", "status.phase", "'Active'", NULL},
    {"v1 Namespace", NULL, "'metadata':{}", "spec.finalizers", "['kubernetes']", NULL},
    {"v1 Namespace", NULL, "'spec':{'finalizers':['a/b']}", "spec.finalizers",
     "['a/b','kubernetes']", NULL},
    {"v1 Namespace", NULL, "'spec':{'finalizers':['kubernetes','a/b']}", "spec.finalizers",
     "['kubernetes','a/b']", NULL},
    {"v1 Namespace", "'spec':{'finalizers':['x']},'status':{'phase':'Terminating'}",
     "'metadata':{}", "spec.finalizers", "['x']", NULL},
    {"v1 Namespace", "'spec':{'finalizers':['x']},'status':{'phase':'Terminating'}",
     "'metadata':{}", "status.phase", "'Terminating'", NULL},
    /* volumes */
    {"v1 PersistentVolume", NULL, "'status':{'phase':'Bound','reason':'r'}", "status",
     "{'phase':'Pending','lastPhaseTransitionTime':'2026-03-01T00:00:00Z'}", NULL},
    {"v1 PersistentVolume", "'status':{'phase':'Bound','reason':'r'}",
     "'status':{'phase':'Failed'}", "status", "{'phase':'Bound','reason':'r'}", NULL},
    {"v1 PersistentVolume", NULL, "'spec':{'volumeAttributesClassName':'x'}",
     "spec.volumeAttributesClassName", "'x'", NULL},
    {"v1 PersistentVolume", NULL, "'spec':{'volumeAttributesClassName':'x'}",
     "spec.volumeAttributesClassName", NULL, "-VolumeAttributesClass"},
    {"v1 PersistentVolume", "'spec':{'volumeAttributesClassName':'y'}",
     "'spec':{'volumeAttributesClassName':'x'}", "spec.volumeAttributesClassName", "'x'",
     "-VolumeAttributesClass"},
    /* priority classes and budgets count the changes of their specs */
    {"scheduling.k8s.io/v1 PriorityClass", NULL, "'metadata':{'generation':7}",
     "metadata.generation", "1", NULL},
    {"policy/v1 PodDisruptionBudget", NULL, "'metadata':{'generation':7}", "metadata.generation",
     "1", NULL},
    {"policy/v1 PodDisruptionBudget", "'metadata':{'generation':7}", "'spec':{'minAvailable':1}",
     "metadata.generation", "8", NULL},
    {"policy/v1 PodDisruptionBudget", "'metadata':{'generation':7},'spec':{'minAvailable':1}",
     "'spec':{'minAvailable':1}", "metadata.generation", "7", NULL},
    {"policy/v1 PodDisruptionBudget", NULL, "'status':{'currentHealthy':5}",
     "status.currentHealthy", "0", NULL},
    {"policy/v1 PodDisruptionBudget", "'status':{'currentHealthy':5}",
     "'status':{'currentHealthy':6}", "status.currentHealthy", "5", NULL},
};

static struct str with_quotes(struct arena *a, const char *text) {
    char *copy = (char *)(uintptr_t)arena_str(a, str_of(text)).p;
    for (size_t i = 0; copy[i]; i++)
        if (copy[i] == '\'')
            copy[i] = '"';
    return str_of(copy);
}

static struct api_object *object_of(struct arena *a, const char *kind, const char *members,
                                    const struct feature_set *gates) {
    struct str version, name;
    assert_true(str_cut(str_of(kind), ' ', &version, &name));
    struct str quoted = with_quotes(a, members);
    struct str text = arena_printf(a, "{\"apiVersion\":\"%.*s\",\"kind\":\"%.*s\",%.*s}",
                                   STR_ARG(version), STR_ARG(name), STR_ARG(quoted));
    struct json tree;
    struct api_object *o = NULL;
    if (json_parse(a, text, NULL, &tree, NULL) < 0 || api_object_decode(&tree, NULL, &o, NULL) < 0)
        fail_msg("%.*s cannot be decoded", STR_ARG(text));
    api_object_default(o, gates);
    return o;
}

static void switch_gates(struct feature_set *set, const char *gates) {
    struct str rest = str_of(gates), gate;
    for (bool more = gates != NULL; more;) {
        more = str_cut(rest, ' ', &gate, &rest);
        enum feature f;
        assert_true(feature_find(str_sub(gate, 1, gate.n), &f));
        feature_set_put(set, f, gate.p[0] == '+');
    }
}

static const struct json *member_at(const struct json *tree, const char *path) {
    struct str rest = str_of(path), name;
    for (bool more = true; more && tree;) {
        more = str_cut(rest, '.', &name, &rest);
        tree = json_get(tree, name);
    }
    return tree;
}

static void expect_member(struct arena *a, const struct row *r, const struct json *tree) {
    const struct json *got = member_at(tree, r->path);
    struct buf text = BUF_INIT(1 << 16);
    if (got)
        json_write(&text, got, NULL);
    if (!r->want != !got || (got && !str_eq(buf_view(&text), with_quotes(a, r->want))))
        fail_msg("%s %s: %s: want %s, got %.*s", r->kind, r->new, r->path,
                 r->want ? r->want : "none", STR_ARG(buf_view(&text)));
    buf_release(&text);
}

/* The old object is gone before the new one is looked at. */
static void check_row(struct arena *a, const struct row *r) {
    struct feature_config config;
    feature_config_init(&config, FEATURE_NEWEST);
    switch_gates(&config.enabled, r->gates);
    struct valid_opts opts = {.gates = &config.enabled,
                              .namespace = STR("shop"),
                              .now = {.sec = 1772323200, .set = true}};
    struct api_object *o = object_of(a, r->kind, r->new, &config.enabled);
    if (r->old) {
        struct api_object *old = object_of(a, r->kind, r->old, &config.enabled);
        valid_prepare_update(o, old, &opts);
        api_object_free(old);
    } else {
        valid_generate_name(o, STR("abcde"));
        valid_prepare_create(o, &opts);
    }
    struct json tree = api_object_encode(o, a);
    expect_member(a, r, &tree);
    api_object_free(o);
}

static void objects_are_changed_as_upstream_changes_them(void **state) {
    (void)state;
    struct arena a = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(&a, &rows[i]);
        arena_reset(&a);
    }
    arena_release(&a);
}

static void kinds_without_rules_are_left_alone(void **state) {
    (void)state;
    struct arena a = {0};
    struct feature_config config;
    feature_config_init(&config, FEATURE_NEWEST);
    struct valid_opts opts = {.gates = &config.enabled};
    struct valid_errs errs = VALID_ERRS_INIT(&a);
    struct api_object *o = object_of(&a, "x/v1 Thing", "'metadata':{'name':'?'}", opts.gates);
    assert_false(valid_knows(o->kind));
    valid_prepare_create(o, &opts);
    valid_create(o, &opts, &errs);
    valid_prepare_update(o, o, &opts);
    valid_update(o, o, &opts, &errs);
    assert_int_equal(errs.n, 0);
    assert_int_equal(o->meta->namespace.n, 0);
    api_object_free(o);
    arena_release(&a);
}

/* Text that would make lines of data unreadable: annotations of 256 KiB are good, a byte more is
 * not. */
static size_t errors_with_annotation_of(size_t bytes) {
    struct arena a = {0};
    struct feature_config config;
    feature_config_init(&config, FEATURE_NEWEST);
    struct valid_opts opts = {.gates = &config.enabled};
    struct valid_errs errs = VALID_ERRS_INIT(&a);
    struct api_object *o = object_of(&a, "v1 Node", "'metadata':{'name':'n'}", opts.gates);
    char *value = arena_alloc(&a, bytes);
    memset(value, 'v', bytes);
    struct label annotation = {STR("k"), {value, bytes}};
    api_own_meta(o)->annotations = (struct labels){&annotation, 1};
    valid_create(o, &opts, &errs);
    size_t n = errs.n;
    if (n)
        assert_true(str_is(errs.v[0].body, "Too long: may not be more than 262144 bytes"));
    api_object_free(o);
    arena_release(&a);
    return n;
}

static void annotations_have_a_size(void **state) {
    (void)state;
    assert_int_equal(errors_with_annotation_of((256 << 10) - 1), 0);
    assert_int_equal(errors_with_annotation_of(256 << 10), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_are_changed_as_upstream_changes_them),
        cmocka_unit_test(kinds_without_rules_are_left_alone),
        cmocka_unit_test(annotations_have_a_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
