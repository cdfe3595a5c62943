/* Policies of the audit log, and the log itself: what is matched, what is refused, what is dropped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "server/audit_log.h"
#include "server/audit_policy.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define HEAD     "apiVersion: audit.k8s.io/v1\nkind: Policy\n"

/* ---- policies ---- */

static const char rules[] = HEAD "omitStages: [RequestReceived]\n"
                                 "rules:\n"
                                 "- {level: None, users: [bot]}\n"
                                 "- {level: Request, userGroups: [devs], verbs: [delete]}\n"
                                 "- {level: None, nonResourceURLs: [/healthz*, /version]}\n"
                                 "- {level: Metadata, namespaces: [kube-system]}\n"
                                 "- {level: RequestResponse, resources: [{resources: [pods/log, "
                                 "\"*/scale\", nodes/*]}], omitStages: [Panic]}\n"
                                 "- {level: Request, resources: [{group: apps, resources: [\"*\"], "
                                 "resourceNames: [x]}]}\n";

static const struct {
    const char *user, *group, *verb, *path, *namespace, *api_group, *resource, *sub, *name;
    enum server_audit_level level;
} rows[] = {
    {"bot", "", "get", NULL, "a", "", "pods", "", "x", SERVER_AUDIT_NONE},
    {"joe", "devs", "delete", NULL, "a", "", "pods", "", "x", SERVER_AUDIT_REQUEST},
    {"joe", "devs", "get", NULL, "a", "", "pods", "", "x", SERVER_AUDIT_NONE},
    {"joe", "", "get", "/healthz/x", "", "", "", "", "", SERVER_AUDIT_NONE},
    {"joe", "", "get", NULL, "kube-system", "", "secrets", "", "", SERVER_AUDIT_METADATA},
    {"joe", "", "get", NULL, "a", "", "pods", "log", "x", SERVER_AUDIT_RESPONSE},
    {"joe", "", "update", NULL, "a", "", "replicationcontrollers", "scale", "x",
     SERVER_AUDIT_RESPONSE},
    {"joe", "", "get", NULL, "", "", "nodes", "", "x", SERVER_AUDIT_RESPONSE},
    {"joe", "", "get", NULL, "", "", "nodes", "status", "x", SERVER_AUDIT_RESPONSE},
    {"joe", "", "get", NULL, "a", "apps", "deployments", "", "x", SERVER_AUDIT_REQUEST},
    {"joe", "", "get", NULL, "a", "apps", "deployments", "", "y", SERVER_AUDIT_NONE},
};

static void the_first_rule_that_matches_counts(void **state) {
    struct server_audit_policy *policy;
    struct err err = {0};
    (void)state;
    if (server_audit_policy_read(str_of(rules), &policy, &err) < 0)
        fail_msg("%s", err.msg);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct str group = str_of(rows[i].group);
        struct auth_user user = {.name = str_of(rows[i].user), .groups = {&group, 1}};
        struct auth_attributes q = {.user = &user,
                                    .verb = str_of(rows[i].verb),
                                    .is_resource = !rows[i].path,
                                    .namespace = str_of(rows[i].namespace),
                                    .group = str_of(rows[i].api_group),
                                    .resource = str_of(rows[i].resource),
                                    .subresource = str_of(rows[i].sub),
                                    .name = str_of(rows[i].name),
                                    .path = str_of(rows[i].path)};
        struct server_audit_rule rule = server_audit_policy_find(policy, &q);
        if (rule.level != rows[i].level)
            fail_msg("row %zu: level %d", i, (int)rule.level);
    }
    server_audit_policy_free(policy);
}

static const char *const bad[] = {
    "",
    "a: ]",
    "kind: Policy",
    HEAD,
    HEAD "rules: []",
    HEAD "rules: [{level: All}]",
    HEAD "rules: [{}]",
    HEAD "rules: [3]",
    HEAD "rules: [{level: None, nonsense: 1}]",
    HEAD "rules: [{level: None, users: a}]",
    HEAD "rules: [{level: None, users: [1]}]",
    HEAD "rules: [{level: None, omitStages: [All]}]",
    HEAD "rules: [{level: None, resources: [{resourceNames: [a]}]}]",
    HEAD "rules: [{level: None, resources: [a]}]",
    HEAD "rules: [{level: None, resources: [{group: 1}]}]",
    HEAD "rules: [{level: None, nonResourceURLs: [/x], resources: [{group: a}]}]",
    HEAD "rules: [{level: None, omitManagedFields: 1}]",
    HEAD "omitStages: 1\nrules: [{level: None}]",
};

static void policies_that_cannot_be_are_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct server_audit_policy *policy;
        struct err err = {0};
        if (server_audit_policy_read(str_of(bad[i]), &policy, &err) == 0)
            fail_msg("%s", bad[i]);
        assert_true(err.msg[0] != 0);
    }
    char *large = malloc(LIMIT_AUDIT_POLICY_BYTES + 1);
    struct server_audit_policy *policy;
    struct err err = {0};
    assert_non_null(large);
    memset(large, ' ', LIMIT_AUDIT_POLICY_BYTES + 1);
    assert_int_equal(
        server_audit_policy_read((struct str){large, LIMIT_AUDIT_POLICY_BYTES + 1}, &policy, &err),
        -1);
    assert_int_equal(err.code, ERR_TOO_LARGE);
    free(large);
}

/* ---- the log ---- */

static struct server_audit_log *open_log(const char *path, size_t most) {
    static const struct log log = {.fd = -1, .clock = &clock_system};
    struct server_audit_log *l;
    struct err err = {0};
    struct server_audit_opts opts = {
        .path = path, .clock = &clock_system, .log = &log, .queue_bytes = most};
    if (server_audit_log_open(&opts, &l, &err) < 0)
        fail_msg("%s", err.msg);
    return l;
}

static struct buf line_of(size_t n) {
    struct buf b = BUF_INIT(SIZE_MAX);
    for (size_t i = 0; i + 1 < n; i++)
        buf_add_char(&b, 'x');
    buf_add_char(&b, '\n');
    return b;
}

static void lines_are_written_before_the_end(void **state) {
    char path[] = "/tmp/berth-audit-XXXXXX";
    struct stat st;
    (void)state;
    close(mkstemp(path));
    struct server_audit_log *l = open_log(path, 0);
    for (int i = 0; i < 1000; i++)
        server_audit_log_write(l, line_of(100));
    server_audit_log_close(l);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, 100000);
    unlink(path);
}

/* A disk that does not take anything: a pipe that nobody reads. */
static void a_slow_disk_costs_lines_and_no_memory(void **state) {
    char path[] = "/tmp/berth-audit-XXXXXX";
    struct server_audit_stats stats;
    (void)state;
    close(mkstemp(path));
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    int reader = open(path, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    struct server_audit_log *l = open_log(path, 1 << 20);
    for (int i = 0; i < 300; i++)
        server_audit_log_write(l, line_of(10000));
    server_audit_log_stats(l, &stats);
    assert_true(stats.dropped >= 300 - (1 << 20) / 10000 - 65536 / 10000 - 2);
    assert_true(stats.queued_bytes <= 1 << 20);
    close(reader); /* what waits fails now */
    server_audit_log_close(l);
    unlink(path);
}

static void a_line_longer_than_the_queue_is_dropped(void **state) {
    struct server_audit_stats stats;
    struct server_audit_log *l = open_log("/dev/null", 0);
    (void)state;
    server_audit_log_write(l, line_of((size_t)LIMIT_AUDIT_QUEUE_BYTES + 1));
    server_audit_log_stats(l, &stats);
    assert_int_equal(stats.dropped, 1);
    assert_int_equal(stats.queued_bytes, 0);
    server_audit_log_close(l);
    server_audit_log_close(NULL);
}

static void a_file_that_cannot_be_is_told(void **state) {
    struct server_audit_log *l;
    struct err err = {0};
    (void)state;
    assert_int_equal(
        server_audit_log_open(
            &(struct server_audit_opts){.path = "/nonsense/x", .clock = &clock_system}, &l, &err),
        -1);
    assert_string_equal(err.msg, "audit log '/nonsense/x': No such file or directory");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_rule_that_matches_counts),
        cmocka_unit_test(policies_that_cannot_be_are_refused),
        cmocka_unit_test(lines_are_written_before_the_end),
        cmocka_unit_test(a_slow_disk_costs_lines_and_no_memory),
        cmocka_unit_test(a_line_longer_than_the_queue_is_dropped),
        cmocka_unit_test(a_file_that_cannot_be_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
