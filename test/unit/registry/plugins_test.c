/* Which plug-ins of admission are asked, and what they read from outside. */
#include "../data.h"
#include "registry/admission/admission_int.h"

static bool is_on(struct registry_plugins plugins, const char *name) {
    bool by_default;
    const char *found;
    size_t i = 0;
    while ((found = registry_plugin_name(i, &by_default)) && !str_is(str_of(name), found))
        i++;
    assert_non_null(found);
    return plugins.on >> i & 1;
}

static int turn(struct registry_plugins *plugins, const char *name, bool on, struct err *err) {
    struct str text = str_of(name);
    return registry_plugins_switch(plugins, (struct api_strs){&text, 1}, on, err);
}

static void defaults_are_upstreams(void **state) {
    static const char *const off[] = {"ServiceAccount", "NodeRestriction", "PodNodeSelector",
                                      "PodTolerationRestriction",
                                      "OwnerReferencesPermissionEnforcement"};
    (void)state;
    struct registry_plugins plugins = registry_plugins_default();
    for (size_t i = 0; i < sizeof off / sizeof *off; i++)
        assert_false(is_on(plugins, off[i]));
    assert_true(is_on(plugins, "NamespaceLifecycle") && is_on(plugins, "ResourceQuota") &&
                is_on(plugins, "LimitRanger") && is_on(plugins, "TaintNodesByCondition"));
    plugins = registry_plugins_offline();
    assert_true(is_on(plugins, "Priority"));
    assert_false(is_on(plugins, "LimitRanger") || is_on(plugins, "TaintNodesByCondition"));
}

static void plugins_are_switched(void **state) {
    struct registry_plugins plugins = registry_plugins_default();
    struct err err;
    (void)state;
    assert_int_equal(turn(&plugins, "NodeRestriction", true, &err), 0);
    assert_int_equal(turn(&plugins, "Priority", false, &err), 0);
    assert_true(is_on(plugins, "NodeRestriction") && !is_on(plugins, "Priority"));
    assert_int_equal(turn(&plugins, "PodSecurity", false, &err), 0);
    assert_int_equal(turn(&plugins, "PodSecurity", true, &err), -1);
    assert_string_equal(err.msg,
                        "enable-admission-plugins plugin \"PodSecurity\" is not there yet");
    assert_int_equal(turn(&plugins, "Priorities", false, &err), -1);
    assert_string_equal(err.msg, "disable-admission-plugins plugin \"Priorities\" is unknown");
}

/* A request for a certificate of CN=admin, O=dev and system:masters, without its key. */
static const unsigned char der[] =
    "\x30\x3c\x30\x3a\x02\x01\x00\x30\x35\x31\x23\x30\x0a\x06\x03\x55\x04\x0a\x13\x03"
    "dev"
    "\x30\x15\x06\x03\x55\x04\x0a\x13\x0e"
    "system:masters"
    "\x31\x0e\x30\x0c\x06\x03\x55\x04\x03\x13\x05"
    "admin";

static int read_der(struct arena *a, size_t n, struct registry__csr_subject *out) {
    static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    buf_add(&text, STR("-----BEGIN CERTIFICATE REQUEST-----\n"));
    for (size_t i = 0; i < n; i += 3) {
        unsigned v = 0;
        for (size_t k = 0; k < 3; k++)
            v = v << 8 | (i + k < n ? der[i + k] : 0);
        for (size_t k = 0; k < 4; k++)
            buf_add_char(&text, i + k > n ? '=' : base64[v >> (18 - 6 * k) & 63]);
    }
    buf_add(&text, STR("\n-----END CERTIFICATE REQUEST-----\n"));
    return registry__csr_read(a, buf_view(&text), out, NULL);
}

/* Half a request is never more than that. */
static void subjects_are_read(void **state) {
    AUTO(arena_release) struct arena a = {0};
    struct registry__csr_subject subject;
    struct err err;
    (void)state;
    assert_int_equal(read_der(&a, sizeof der - 1, &subject), 0);
    assert_true(str_is(subject.common_name, "admin"));
    assert_int_equal(subject.organizations.n, 2);
    assert_true(str_is(subject.organizations.v[1], "system:masters"));
    for (size_t n = 0; n < sizeof der - 1; n++)
        assert_int_equal(read_der(&a, n, &subject), -1);
    assert_int_equal(registry__csr_read(&a, STR("x"), &subject, &err), -1);
    assert_string_equal(err.msg, "PEM block type must be CERTIFICATE REQUEST");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_upstreams),
        cmocka_unit_test(plugins_are_switched),
        cmocka_unit_test(subjects_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
