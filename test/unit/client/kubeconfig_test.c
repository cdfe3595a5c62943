/* Kubeconfig files: what contexts say, which file wins, what is refused, and where files are. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../data.h"

#include "base/limits.h"
#include "client/kubeconfig.h"

static const char good[] =
    "apiVersion: v1\n"
    "kind: Config\n"
    "current-context: a\n"
    "clusters:\n"
    "- name: one\n"
    "  cluster: {server: 'https://one:6443/', certificate-authority: ca.crt,\n"
    "    tls-server-name: inside, proxy-url: 'http://proxy:3128'}\n"
    "- name: two\n"
    "  cluster: {server: 'http://two', certificate-authority-data: UEVN}\n"
    "- name: three\n"
    "  cluster: {server: 'https://three/k8s/clusters/c@d', insecure-skip-tls-verify: true}\n"
    "users:\n"
    "- name: cert\n"
    "  user: {client-certificate: /etc/c.crt, client-key: keys/c.key}\n"
    "- name: data\n"
    "  user: {client-certificate-data: Qw==, client-key-data: Sw==, token: null}\n"
    "- name: token\n"
    "  user: {token: secret, tokenFile: ../t}\n"
    "- name: exec\n"
    "  user:\n"
    "    exec: {apiVersion: client.authentication.k8s.io/v1, command: bin/login, args: [a, b],\n"
    "      env: [{name: A, value: '1'}], installHint: buy it, provideClusterInfo: true,\n"
    "      interactiveMode: IfAvailable}\n"
    "contexts:\n"
    "- {name: a, context: {cluster: one, user: cert, namespace: team}}\n"
    "- {name: b, context: {cluster: two, user: data}}\n"
    "- {name: c, context: {cluster: three, user: token}}\n"
    "- {name: d, context: {cluster: two, user: exec}}\n"
    "- {name: e, context: {cluster: two}}\n";

static struct kubeconfig_access resolved(struct arena *a, const char *context) {
    struct kubeconfig *k = kubeconfig_new(a);
    struct kubeconfig_access out = {0};
    struct err err = {0};
    if (kubeconfig_add(k, STR("/dir/.kube/config"), str_of(good), &err) < 0 ||
        kubeconfig_resolve(k, str_of(context), &out, &err) < 0)
        fail_msg("%s", err.msg);
    return out;
}

#define EXPECT(text, want)                                                            \
    do {                                                                              \
        if (!str_is((text), (want)))                                                  \
            fail_msg("%d: want '%s', got '%.*s'", __LINE__, (want), STR_ARG((text))); \
    } while (0)

static void contexts_say_what_they_name(void **state) {
    (void)state;
    AUTO(arena_release) struct arena a = {0};
    struct kubeconfig_access x = resolved(&a, "");
    EXPECT(x.server, "https://one:6443");
    EXPECT(x.namespace, "team");
    EXPECT(x.server_name, "inside");
    EXPECT(x.proxy, "http://proxy:3128");
    EXPECT(x.authorities_file, "/dir/.kube/ca.crt");
    EXPECT(x.certificate_file, "/etc/c.crt");
    EXPECT(x.key_file, "/dir/.kube/keys/c.key");
    x = resolved(&a, "b");
    EXPECT(x.authorities, "PEM");
    EXPECT(x.certificate, "C");
    EXPECT(x.key, "K");
    EXPECT(x.namespace, "");
    x = resolved(&a, "c");
    assert_true(x.is_insecure);
    EXPECT(x.server, "https://three/k8s/clusters/c@d");
    EXPECT(x.token, "secret");
    EXPECT(x.token_file, "/dir/.kube/../t");
    x = resolved(&a, "e");
    EXPECT(x.token, "");
}

static void programs_for_credentials_are_read(void **state) {
    (void)state;
    AUTO(arena_release) struct arena a = {0};
    const struct kubeconfig_exec *e = resolved(&a, "d").exec;
    assert_non_null(e);
    EXPECT(e->command, "/dir/.kube/bin/login");
    EXPECT(e->api_version, "client.authentication.k8s.io/v1");
    assert_int_equal(e->arg_count, 2);
    EXPECT(e->args[1], "b");
    assert_int_equal(e->variable_count, 1);
    EXPECT(e->variables[0].name, "A");
    EXPECT(e->variables[0].value, "1");
    EXPECT(e->install_hint, "buy it");
    assert_true(e->provides_cluster_info);
}

static void the_first_file_wins(void **state) {
    (void)state;
    AUTO(arena_release) struct arena a = {0};
    struct kubeconfig *k = kubeconfig_new(&a);
    struct kubeconfig_access x;
    struct err err = {0};
    const char *first = "clusters: [{name: c, cluster: {server: 'https://first'}}]\n"
                        "contexts: [{name: x, context: {cluster: c, user: u}}]\n";
    const char *second = "current-context: x\n"
                         "clusters: [{name: c, cluster: {server: 'https://second'}}]\n"
                         "users: [{name: u, user: {token: t}}]\n";
    assert_int_equal(kubeconfig_add(k, STR("1"), str_of(first), &err), 0);
    assert_int_equal(kubeconfig_add(k, STR("2"), str_of(second), &err), 0);
    assert_int_equal(kubeconfig_add(k, STR("3"), STR("current-context: y\n"), &err), 0);
    assert_int_equal(kubeconfig_add(k, STR("4"), STR(""), &err), 0);
    assert_int_equal(kubeconfig_resolve(k, STR(""), &x, &err), 0);
    EXPECT(x.server, "https://first");
    EXPECT(x.token, "t");
}

static const struct {
    const char *text, *why;
} refused[] = {
    {"a: [", "kubeconfig 'f': "},
    {"[]", "kubeconfig 'f': it is not of kind Config"},
    {"kind: Pod", "kubeconfig 'f': it is not of kind Config"},
    {"clusters: {}", "kubeconfig 'f': clusters is not a list"},
    {"users: [{user: {}}]", "kubeconfig 'f': an item of users has no name"},
    {"clusters: []", "no kubeconfig says which context is the current one"},
    {"current-context: x", "context \"x\" does not exist"},
    {"current-context: x\ncontexts: [{name: x}]", "context \"x\": cluster \"\" does not exist"},
    {"current-context: x\ncontexts: [{name: x, context: {cluster: 1}}]",
     "context \"x\": cluster is not a string"},
    {"current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\nclusters: [{name: c}]",
     "context \"x\": kubeconfig 'f': cluster \"c\": it has no server"},
    {"current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\n"
     "clusters: [{name: c, cluster: {server: 'one:6443'}}]",
     "context \"x\": kubeconfig 'f': cluster \"c\": server 'one:6443' begins neither with https:// "
     "nor http://"},
    {"current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\n"
     "clusters: [{name: c, cluster: {server: 'https://user:secret@host:6443'}}]",
     "context \"x\": kubeconfig 'f': cluster \"c\": server has a user or a password in its URL, "
     "which "
     "is not supported"},
    {"current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\n"
     "clusters: [{name: c, cluster: {server: 'http://user@host/path'}}]",
     "context \"x\": kubeconfig 'f': cluster \"c\": server has a user or a password in its URL, "
     "which "
     "is not supported"},
    {"current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\n"
     "clusters: [{name: c, cluster: {server: 'ftp://user:secret@host'}}]",
     "context \"x\": kubeconfig 'f': cluster \"c\": server has a user or a password in its URL, "
     "which "
     "is not supported"},
    {"current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\n"
     "clusters: [{name: c, cluster: {server: 'http://a', certificate-authority-data: '%'}}]",
     "context \"x\": kubeconfig 'f': cluster \"c\": certificate-authority-data: illegal base64"},
    {"current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\n"
     "clusters: [{name: c, cluster: {server: 'http://a', insecure-skip-tls-verify: 'yes'}}]",
     "context \"x\": kubeconfig 'f': cluster \"c\": insecure-skip-tls-verify is neither true nor "
     "false"},
    {"current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\n"
     "clusters: [{name: c, cluster: {server: 'http://a', insecure-skip-tls-verify: true, "
     "certificate-authority: a}}]",
     "context \"x\": kubeconfig 'f': cluster \"c\": insecure-skip-tls-verify is true, and there is "
     "a certificate-authority"},
};

static const struct {
    const char *user, *why;
} refused_users[] = {
    {"{token: 1}", "token is not a string"},
    {"{client-key: k}", "of client-certificate and client-key, one is not there"},
    {"{auth-provider: {name: gcp}}", "auth-provider is not supported"},
    {"{username: u, password: p}", "username is not supported"},
    {"{exec: {apiVersion: client.authentication.k8s.io/v1}}", "exec has no command"},
    {"{exec: {apiVersion: v1, command: a}}",
     "exec.apiVersion is not client.authentication.k8s.io/v1"},
    {"{exec: {apiVersion: client.authentication.k8s.io/v1, command: a, args: [1]}}",
     "an item of exec.args is not a string"},
    {"{exec: {apiVersion: client.authentication.k8s.io/v1, command: a, args: a}}",
     "exec.args is not a list"},
    {"{exec: {apiVersion: client.authentication.k8s.io/v1, command: a, env: {}}}",
     "exec.env is not a list"},
    {"{exec: {apiVersion: client.authentication.k8s.io/v1, command: a, env: [{name: a=b}]}}",
     "exec.env has an item without a good name"},
    {"{exec: {apiVersion: client.authentication.k8s.io/v1, command: a, interactiveMode: Always}}",
     "exec.interactiveMode is Always"},
};

static void expect_refusal(const char *text, const char *why) {
    AUTO(arena_release) struct arena a = {0};
    struct kubeconfig *k = kubeconfig_new(&a);
    struct kubeconfig_access x;
    struct err err = {0};
    if (kubeconfig_add(k, STR("f"), str_of(text), &err) == 0)
        assert_int_equal(kubeconfig_resolve(k, STR(""), &x, &err), -1);
    if (!str_starts(str_of(err.msg), str_of(why)))
        fail_msg("%s\n want %s\n got  %s", text, why, err.msg);
}

static void what_is_wrong_is_named(void **state) {
    (void)state;
    AUTO(arena_release) struct arena a = {0};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        expect_refusal(refused[i].text, refused[i].why);
    for (size_t i = 0; i < sizeof refused_users / sizeof *refused_users; i++)
        expect_refusal(
            arena_printf(
                &a,
                "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
                "clusters: [{name: c, cluster: {server: 'http://a'}}]\n"
                "users: [{name: u, user: %s}]",
                refused_users[i].user)
                .p,
            arena_printf(&a, "context \"x\": kubeconfig 'f': user \"u\": %s", refused_users[i].why)
                .p);
}

/* ---- files ---- */

static char folder[] = "/tmp/berth-kubeconfig-XXXXXX";

static struct str write_file(struct arena *a, const char *name, const char *text) {
    struct str path = arena_printf(a, "%s/%s", folder, name);
    FILE *f = fopen(path.p, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return path;
}

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    static const char *const names[] = {"one",    "two",   ".kube/config", ".kube",
                                        "ca.crt", "token", "namespace",    "big"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        remove(path);
    }
    return rmdir(folder);
}

static void expect_load(struct arena *a, const struct kubeconfig_sources *from,
                        struct kubeconfig_access *out) {
    struct err err = {0};
    if (kubeconfig_load(a, from, out, &err) < 0)
        fail_msg("%s", err.msg);
}

static void files_are_found(void **state) {
    (void)state;
    AUTO(arena_release) struct arena a = {0};
    struct kubeconfig_access x;
    struct err err = {0};
    struct str one = write_file(&a, "one",
                                "current-context: x\ncontexts: [{name: x, context: {cluster: c}}, "
                                "{name: other, context: {cluster: d}}]\n"
                                "clusters: [{name: c, cluster: {server: 'https://one', "
                                "certificate-authority: ca.crt}}]\n");
    struct str two =
        write_file(&a, "two", "clusters: [{name: d, cluster: {server: 'http://d'}}]\n");
    write_file(&a, "ca.crt", "PEM\n");
    mkdir(arena_printf(&a, "%s/.kube", folder).p, 0700);
    write_file(&a, ".kube/config",
               "current-context: h\ncontexts: [{name: h, context: {cluster: h}}]\n"
               "clusters: [{name: h, cluster: {server: 'http://home'}}]\n");
    struct kubeconfig_sources from = {.home = str_of(folder)};
    expect_load(&a, &from, &x);
    EXPECT(x.server, "http://home");
    from.files = arena_printf(&a, "%s/missing::%s:%s", folder, one.p, two.p);
    expect_load(&a, &from, &x);
    EXPECT(x.server, "https://one");
    EXPECT(x.authorities, "PEM\n");
    from.context = STR("other");
    expect_load(&a, &from, &x);
    EXPECT(x.server, "http://d");
    from.file = one;
    assert_int_equal(kubeconfig_load(&a, &from, &x, &err), -1);
    EXPECT(str_of(err.msg), "context \"other\": cluster \"d\" does not exist");
    from = (struct kubeconfig_sources){.file = arena_printf(&a, "%s/missing", folder)};
    assert_int_equal(kubeconfig_load(&a, &from, &x, &err), -1);
    assert_true(str_starts(str_of(err.msg), STR("kubeconfig: cannot read '/tmp/")));
    from = (struct kubeconfig_sources){.files = from.file};
    assert_int_equal(kubeconfig_load(&a, &from, &x, &err), -1);
    EXPECT(str_of(err.msg),
           arena_printf(&a,
                        "there is no kubeconfig: $KUBECONFIG names %.*s, which does not exist; set "
                        "it to one that does, or give one with --kubeconfig",
                        STR_ARG(from.files))
               .p);
    from = (struct kubeconfig_sources){.home = from.files};
    assert_int_equal(kubeconfig_load(&a, &from, &x, &err), -1);
    EXPECT(str_of(err.msg), "there is no kubeconfig: give one with --kubeconfig or $KUBECONFIG");
}

static void pods_have_their_service_account(void **state) {
    (void)state;
    AUTO(arena_release) struct arena a = {0};
    struct kubeconfig_access x;
    struct err err = {0};
    struct kubeconfig_sources from = {.service_host = STR("fd00::1"),
                                      .service_port = STR("443"),
                                      .service_account = str_of(folder)};
    assert_int_equal(kubeconfig_load(&a, &from, &x, &err), -1);
    assert_true(str_starts(str_of(err.msg), STR("service account: cannot read")));
    write_file(&a, "ca.crt", "PEM\n");
    write_file(&a, "token", "secret\n");
    write_file(&a, "namespace", "team\n");
    expect_load(&a, &from, &x);
    EXPECT(x.server, "https://[fd00::1]:443");
    EXPECT(x.token, "secret");
    EXPECT(x.namespace, "team");
    EXPECT(x.authorities, "PEM\n");
    from.service_host = STR("10.0.0.1");
    expect_load(&a, &from, &x);
    EXPECT(x.server, "https://10.0.0.1:443");
}

static void sizes_are_bounded(void **state) {
    (void)state;
    AUTO(arena_release) struct arena a = {0};
    AUTO(buf_release) struct buf names = BUF_INIT(1 << 20);
    struct kubeconfig_access x;
    struct err err = {0};
    struct str big = write_file(&a, "big", "");
    assert_int_equal(truncate(big.p, (off_t)LIMIT_AUTH_FILE_BYTES + 1), 0);
    struct str text;
    assert_int_equal(kubeconfig_read_file(&a, big, &text, &err), -1);
    assert_int_equal(truncate(big.p, LIMIT_AUTH_FILE_BYTES), 0);
    assert_int_equal(kubeconfig_read_file(&a, big, &text, &err), 0);
    for (int i = 0; i < LIMIT_KUBECONFIG_FILES; i++)
        buf_add(&names, STR("/missing:"));
    struct kubeconfig_sources from = {.files = buf_view(&names)};
    assert_int_equal(kubeconfig_load(&a, &from, &x, &err), -1);
    assert_int_equal(err.code, ERR_NOT_FOUND);
    buf_add(&names, STR("/missing"));
    from.files = buf_view(&names);
    assert_int_equal(kubeconfig_load(&a, &from, &x, &err), -1);
    assert_int_equal(err.code, ERR_TOO_LARGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contexts_say_what_they_name),
        cmocka_unit_test(programs_for_credentials_are_read),
        cmocka_unit_test(the_first_file_wins),
        cmocka_unit_test(what_is_wrong_is_named),
        cmocka_unit_test(files_are_found),
        cmocka_unit_test(pods_have_their_service_account),
        cmocka_unit_test(sizes_are_bounded),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
