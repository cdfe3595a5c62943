/* What a server says of itself, and what kubectl says of its failures. */
#include "../data.h"

#include "client/client.h"
#include "cmd/commands/scene.h"

static const struct {
    const char *body;
    unsigned major, minor; /* 0: it is not understood */
} versions[] = {
    {"{\"major\":\"1\",\"minor\":\"33\"}", 1, 33},
    {"{\"major\":\"1\",\"minor\":\"33+\",\"gitVersion\":\"v1.33.4-eks\"}", 1, 33},
    {"{\"major\":\"1\",\"minor\":\"37\",\"emulationMajor\":\"1\",\"emulationMinor\":\"36\"}", 1,
     36},
    {"{\"major\":\"1\",\"minor\":\"37\",\"emulationMajor\":\"\",\"emulationMinor\":\"\"}", 1, 37},
    {"{\"major\":1,\"minor\":37}", 0, 0},
    {"{\"major\":\"1\",\"minor\":\"-1\"}", 0, 0},
    {"{}", 0, 0},
    {"[]", 0, 0},
    {"<html>", 0, 0},
    {"", 0, 0},
};

static void versions_are_read(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        struct feature_version v = {0, 0};
        struct err err;
        int rc = remote_version_read(str_of(versions[i].body), &v, &err);
        assert_int_equal(rc, versions[i].major ? 0 : -1);
        if (rc == 0) {
            assert_int_equal(v.major, versions[i].major);
            assert_int_equal(v.minor, versions[i].minor);
        }
    }
}

#define LINE(name, stage, on) \
    "kubernetes_feature_enabled{name=\"" name "\",stage=\"" stage "\"} " on "\n"

/* Only what is not as by default is taken, of gates that are known and may be set. */
static void gates_that_differ_are_read(void **state) {
    static const char metrics[] =
        "# HELP kubernetes_feature_enabled [BETA] This metric records the data\n"
        "# TYPE kubernetes_feature_enabled gauge\n" LINE("AllAlpha", "ALPHA", "0")
            LINE("TaintTolerationComparisonOperators", "ALPHA", "1") LINE("NoSuchGate", "", "1")
                LINE("MatchLabelKeysInPodTopologySpread", "BETA", "1")
                    LINE("PodSchedulingReadiness", "", "0") "kubernetes_feature_enabled{name=\"x";
    (void)state;
    struct arena a = {0};
    struct opt_list gates = {0};
    remote_gates_read(&a, str_of(metrics), (struct feature_version){1, 35}, &gates);
    assert_int_equal(gates.n, 1);
    assert_true(str_is(gates.v[0], "TaintTolerationComparisonOperators=true"));
    arena_release(&a);
}

static const struct {
    int status;
    enum err_code code;
    const char *message, *said;
    bool has_title;
} failures[] = {
    {0, ERR_UNAVAILABLE, "connection refused",
     "The connection to the server h:1 was refused - did you specify the right host or port?",
     true},
    {0, ERR_TIMEOUT, "it took too long", "Unable to connect to the server: it took too long", true},
    {0, ERR_UNAUTHORIZED, "exec 'x': no",
     "Unable to connect to the server: getting credentials: exec 'x': no", true},
    {401, ERR_UNAUTHORIZED, "Unauthorized", "You must be logged in to the server (Unauthorized)",
     false},
    {403, ERR_FORBIDDEN, "nodes is forbidden", "Error from server (Forbidden): nodes is forbidden",
     true},
};

static void failures_are_told_as_by_kubectl(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        struct kubeconfig_access access = {.server = STR("https://h:1/path")};
        struct client_answer answer = {.status = failures[i].status,
                                       .code = failures[i].code,
                                       .message = str_of(failures[i].message)};
        struct err err;
        assert_int_equal(cluster_fail(&access, &answer, &err), -1);
        assert_string_equal(err.msg, failures[i].said);
        assert_int_equal(err.has_title, failures[i].has_title);
        assert_int_equal(err.code, failures[i].code);
    }
}

static const struct {
    const char *text;
    int64_t milliseconds; /* -1: it is none */
} times[] = {{"0", 0}, {"5", 5000}, {"1s", 1000}, {"1m30s", 90000}, {"250ms", 250},
             {"", -1}, {"-1", -1},  {"soon", -1}, {"5 s", -1},      {"9223372036854775807", -1}};

static void times_are_read(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        int64_t got = -1;
        struct err err;
        int rc = cluster_read_timeout(str_of(times[i].text), &got, &err);
        assert_int_equal(rc, times[i].milliseconds < 0 ? -1 : 0);
        if (rc == 0)
            assert_int_equal(got, times[i].milliseconds * (CLOCK_SECOND / 1000));
    }
}

/* Nothing that has a say is left out, but CronJobs, which have made their Jobs. */
static void all_that_matters_is_asked_for(void **state) {
    (void)state;
    size_t n;
    const struct remote_kind *kinds = scene_kinds(&n);
    for (const struct api_kind *kind = api_kinds; kind->kind; kind++) {
        bool is_asked = kind->type == &api_types[API_T_cron_job];
        for (size_t i = 0; i < n; i++)
            is_asked |= kind->type == &api_types[kinds[i].type];
        if (is_asked != sim_cluster_needs(kind))
            fail_msg("%s", kind->kind);
    }
    for (size_t i = 0; i < n; i++)
        assert_true(!kinds[i].hides != !kinds[i].blinds);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_are_read),
        cmocka_unit_test(gates_that_differ_are_read),
        cmocka_unit_test(failures_are_told_as_by_kubectl),
        cmocka_unit_test(times_are_read),
        cmocka_unit_test(all_that_matters_is_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
