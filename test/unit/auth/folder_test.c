/* The folder of the server's certificates: made, read again, renewed, and refused when it is odd.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "auth/pki_int.h"
#include "base/limits.h"
#include "codec/yml.h"

#define NOW  INT64_C(1800000000)
#define DAY  INT64_C(86400)
#define YEAR (365 * DAY)

static const char *const files[] = {"ca.crt",    "ca.key",    "apiserver.crt", "apiserver.key",
                                    "admin.crt", "admin.key", "sa.key",        "config"};
enum { FILES = sizeof files / sizeof *files };

struct place {
    char root[64], dir[80];
    struct arena a;
};

static int setup(void **state) {
    struct place *p = calloc(1, sizeof *p);
    snprintf(p->root, sizeof p->root, "/tmp/berth-auth-XXXXXX");
    assert_non_null(mkdtemp(p->root));
    snprintf(p->dir, sizeof p->dir, "%s/pki", p->root);
    *state = p;
    return 0;
}

static const char *path_of(struct place *p, const char *name) {
    return arena_printf(&p->a, "%s/%s", p->dir, name).p;
}

static int teardown(void **state) {
    struct place *p = *state;
    for (size_t i = 0; i < FILES; i++)
        unlink(path_of(p, files[i]));
    rmdir(p->dir);
    rmdir(p->root);
    arena_release(&p->a);
    free(p);
    return 0;
}

static int try_at(struct place *p, int64_t now, const char *name, struct auth_pki *out,
                  struct err *err) {
    struct str more[] = {str_of(name), STR("10.96.0.1"), STR("0.0.0.0")};
    struct auth_pki_options o = {.dir = str_of(p->dir), .names = {.v = more, .n = 3}, .now = now};
    return auth_pki_open(&p->a, &o, out, err);
}

static struct auth_pki open_at(struct place *p, int64_t now, const char *name) {
    struct auth_pki pki;
    struct err err = {0};
    if (try_at(p, now, name, &pki, &err) < 0)
        fail_msg("%s", err.msg);
    return pki;
}

static void expect_refusal(struct place *p, int64_t now, const char *part) {
    struct auth_pki pki;
    struct err err = {0};
    assert_int_equal(try_at(p, now, "host", &pki, &err), -1);
    if (str_find(str_of(err.msg), str_of(part)) == STR_NONE)
        fail_msg("%s", err.msg);
}

static void write_text(struct place *p, const char *name, struct str text) {
    struct err err;
    assert_int_equal(auth__file_write(str_of(path_of(p, name)), text, &err), 0);
}

/* What a client shows, in DER. */
static struct str der_of(struct arena *a, struct str pem) {
    struct err err;
    X509 *cert = auth__certificate_read(pem, &err);
    unsigned char *der = NULL;
    int n = i2d_X509(cert, &der);
    struct str out = arena_str(a, (struct str){(const char *)der, (size_t)n});
    OPENSSL_free(der);
    X509_free(cert);
    return out;
}

static int show(struct place *p, const struct auth_pki *pki, struct str pem, int64_t now,
                struct auth_client *out, struct err *err) {
    struct auth_client_ca *ca = auth_client_ca_new(pki->ca_certificate, err);
    assert_non_null(ca);
    struct str der = der_of(&p->a, pem);
    struct api_strs chain = {.v = &der, .n = 1};
    int rc = auth_client_verify(ca, &p->a, &chain, now, out, err);
    auth_client_ca_free(ca);
    return rc;
}

static void the_first_start_makes_all_files(void **state) {
    struct place *p = *state;
    struct auth_pki pki = open_at(p, NOW, "host.example");
    struct stat st;
    assert_int_equal(stat(p->dir, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    for (size_t i = 0; i < FILES - 1; i++) {
        assert_int_equal(stat(path_of(p, files[i]), &st), 0);
        assert_int_equal(st.st_mode & 07777, 0600);
    }
    struct auth_pki again = open_at(p, NOW + DAY, "host.example");
    assert_true(str_eq(pki.ca_certificate, again.ca_certificate));
    assert_true(str_eq(pki.server_certificate, again.server_certificate));
    assert_true(str_eq(pki.admin_key, again.admin_key));
    assert_true(str_eq(pki.service_account_key, again.service_account_key));
}

static void the_server_has_its_names(void **state) {
    struct place *p = *state;
    static const char *const names[] = {"localhost",
                                        "127.0.0.1",
                                        "::1",
                                        "kubernetes",
                                        "kubernetes.default",
                                        "kubernetes.default.svc",
                                        "kubernetes.default.svc.cluster.local",
                                        "10.96.0.1",
                                        "host.example"};
    struct err err;
    struct auth_pki pki = open_at(p, NOW, "host.example");
    X509 *cert = auth__certificate_read(pki.server_certificate, &err);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_true(auth__certificate_has_name(cert, str_of(names[i])));
    assert_false(auth__certificate_has_name(cert, STR("0.0.0.0")));
    assert_false(auth__certificate_has_name(cert, STR("other")));
    assert_int_equal(auth__certificate_until(cert), NOW + YEAR);
    X509_free(cert);
}

static void certificates_are_renewed_in_time(void **state) {
    struct place *p = *state;
    struct auth_pki first = open_at(p, NOW, "host");
    struct auth_pki named = open_at(p, NOW, "other");
    assert_false(str_eq(first.server_certificate, named.server_certificate));
    assert_true(str_eq(first.server_key, named.server_key));
    assert_true(str_eq(first.admin_certificate, named.admin_certificate));
    struct auth_pki later = open_at(p, NOW + YEAR - 29 * DAY, "other");
    assert_false(str_eq(named.admin_certificate, later.admin_certificate));
    assert_true(str_eq(named.ca_certificate, later.ca_certificate));
    struct auth_pki ended = open_at(p, NOW + 3 * YEAR, "other");
    assert_false(str_eq(later.server_certificate, ended.server_certificate));
    struct auth_pki last = open_at(p, NOW + 9 * YEAR + DAY, "other");
    assert_false(str_eq(ended.ca_certificate, last.ca_certificate));
    struct auth_client client;
    struct err err = {0};
    /* whoever trusts the old authority trusts the new one's certificates, and the other way */
    assert_int_equal(show(p, &ended, last.admin_certificate, NOW + 9 * YEAR + DAY, &client, &err),
                     0);
    assert_int_equal(show(p, &last, ended.admin_certificate, NOW + 4 * YEAR - DAY, &client, &err),
                     -1);
}

static void odd_folders_are_refused(void **state) {
    struct place *p = *state;
    struct auth_pki pki = open_at(p, NOW, "host");
    expect_refusal(p, NOW + 10 * YEAR, "ended on 2037-01-12T08:00:00Z");
    chmod(path_of(p, "sa.key"), 0644);
    expect_refusal(p, NOW, "sa.key' is a key that others can read: its mode is 0644, not 0600");
    chmod(path_of(p, "sa.key"), 0600);
    write_text(p, "sa.key", STR("hello"));
    expect_refusal(p, NOW, "sa.key': not a private key in PEM");
    write_text(p, "sa.key", pki.service_account_key);
    write_text(p, "admin.key", pki.server_key);
    expect_refusal(p, NOW, "admin.key' is not the key of '");
    write_text(p, "admin.key", pki.admin_key);
    write_text(p, "apiserver.crt", STR("-----BEGIN CERTIFICATE-----\n"));
    expect_refusal(p, NOW, "apiserver.crt': not a certificate in PEM");
    write_text(p, "apiserver.crt", pki.server_certificate);
    unlink(path_of(p, "ca.key"));
    expect_refusal(p, NOW, "ca.key is missing");
    write_text(p, "ca.crt", pki.admin_certificate);
    write_text(p, "ca.key", pki.admin_key);
    expect_refusal(p, NOW, "is not the certificate of an authority");
    unlink(path_of(p, "ca.crt"));
    unlink(path_of(p, "ca.key"));
    expect_refusal(p, NOW, "apiserver.crt' was not issued by the authority in ca.crt");
    unlink(path_of(p, "sa.key"));
    assert_int_equal(mkdir(path_of(p, "sa.key"), 0700), 0);
    unlink(path_of(p, "apiserver.crt"));
    unlink(path_of(p, "admin.crt"));
    expect_refusal(p, NOW, "sa.key': it is not a file");
    rmdir(path_of(p, "sa.key"));
}

static void long_files_are_refused(void **state) {
    struct place *p = *state;
    open_at(p, NOW, "host");
    struct str text;
    struct err err = {0};
    struct str path = str_of(path_of(p, "config"));
    char *long_text = calloc(1, LIMIT_AUTH_FILE_BYTES + 1);
    write_text(p, "config", (struct str){long_text, LIMIT_AUTH_FILE_BYTES});
    assert_int_equal(auth__file_read(&p->a, path, true, &text, &err), 0);
    assert_int_equal(text.n, LIMIT_AUTH_FILE_BYTES);
    write_text(p, "config", (struct str){long_text, LIMIT_AUTH_FILE_BYTES + 1});
    assert_int_equal(auth__file_read(&p->a, path, true, &text, &err), -1);
    assert_int_equal(err.code, ERR_TOO_LARGE);
    free(long_text);
}

static void a_folder_that_cannot_be_made_is_told(void **state) {
    struct place *p = *state;
    snprintf(p->dir, sizeof p->dir, "%s/a/b", p->root);
    expect_refusal(p, NOW, "cannot make the folder '");
}

static void the_administrator_is_known(void **state) {
    struct place *p = *state;
    struct auth_pki pki = open_at(p, NOW, "host");
    struct auth_client client;
    struct err err = {0};
    assert_int_equal(show(p, &pki, pki.admin_certificate, NOW, &client, &err), 0);
    assert_true(client.has_user);
    assert_true(str_is(client.user.name, "kubernetes-admin"));
    assert_true(auth_user_is_in(&client.user, STR("system:masters")));
    assert_int_equal(client.until, NOW + YEAR);
    struct api_strs id = auth_user_extra(&client.user, STR(AUTH_EXTRA_CREDENTIAL_ID));
    assert_int_equal(id.n, 1);
    assert_true(str_starts(id.v[0], STR("X509SHA256=")) && id.v[0].n == 11 + 64);
}

static void other_certificates_are_refused(void **state) {
    struct place *p = *state;
    struct auth_pki pki = open_at(p, NOW, "host"), foreign;
    struct auth_client client;
    struct err err = {0};
    assert_int_equal(show(p, &pki, pki.server_certificate, NOW, &client, &err), -1);
    assert_int_equal(show(p, &pki, pki.ca_certificate, NOW, &client, &err), -1);
    assert_int_equal(show(p, &pki, pki.admin_certificate, NOW + YEAR + 1, &client, &err), -1);
    assert_non_null(strstr(err.msg, "certificate has expired"));
    for (size_t i = 0; i < FILES; i++)
        unlink(path_of(p, files[i]));
    foreign = open_at(p, NOW, "host");
    assert_int_equal(show(p, &pki, foreign.admin_certificate, NOW, &client, &err), -1);
    assert_null(auth_client_ca_new(STR("nothing"), &err));
}

static void chains_are_short(void **state) {
    struct place *p = *state;
    struct auth_pki pki = open_at(p, NOW, "host");
    struct err err = {0};
    struct auth_client client;
    struct auth_client_ca *ca = auth_client_ca_new(pki.ca_certificate, &err);
    struct str ders[LIMIT_AUTH_CLIENT_CHAIN + 1];
    for (size_t i = 0; i <= LIMIT_AUTH_CLIENT_CHAIN; i++)
        ders[i] = der_of(&p->a, pki.admin_certificate);
    struct api_strs chain = {.v = ders, .n = LIMIT_AUTH_CLIENT_CHAIN};
    assert_int_equal(auth_client_verify(ca, &p->a, &chain, NOW, &client, &err), 0);
    chain.n++;
    assert_int_equal(auth_client_verify(ca, &p->a, &chain, NOW, &client, &err), -1);
    chain.n = 0;
    assert_int_equal(auth_client_verify(ca, &p->a, &chain, NOW, &client, &err), -1);
    auth_client_ca_free(ca);
}

static void the_kubeconfig_holds_it_all(void **state) {
    struct place *p = *state;
    struct auth_pki pki = open_at(p, NOW, "host");
    struct auth_kubeconfig k = {.server = STR("https://127.0.0.1:6443"),
                                .ca_certificate = pki.ca_certificate,
                                .client_certificate = pki.admin_certificate,
                                .client_key = pki.admin_key,
                                .namespace = STR("dev")};
    struct str path = str_of(path_of(p, "config")), text;
    struct err err = {0};
    struct json tree;
    struct stat st;
    for (int i = 0; i < 2; i++)
        assert_int_equal(auth_kubeconfig_write(path, &k, &err), 0);
    assert_int_equal(stat(path.p, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(auth__file_read(&p->a, path, true, &text, &err), 0);
    assert_int_equal(yml_parse(&p->a, text, &tree, &err), 0);
    assert_true(
        str_is(json_str(json_get(&tree, STR("current-context"))), "kubernetes-admin@kubernetes"));
    const struct json *user = json_get(&json_get(&tree, STR("users"))->items[0], STR("user"));
    assert_true(json_get(user, STR("client-key-data"))->n > 100);
    assert_null(json_get(user, STR("token")));
    assert_int_equal(auth_kubeconfig_write(STR("/nowhere/at/all"), &k, &err), -1);
    assert_non_null(strstr(err.msg, "cannot write '/nowhere/at/all'"));
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_first_start_makes_all_files),
        TEST(the_server_has_its_names),
        TEST(certificates_are_renewed_in_time),
        TEST(odd_folders_are_refused),
        TEST(long_files_are_refused),
        TEST(a_folder_that_cannot_be_made_is_told),
        TEST(the_administrator_is_known),
        TEST(other_certificates_are_refused),
        TEST(chains_are_short),
        TEST(the_kubeconfig_holds_it_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
