/* Certificates that vouch for themselves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <openssl/x509.h>

#include "auth/pki_int.h"
#include "base/alloc.h"

static void test_names(void **state) {
    struct str names[] = {STR_INIT("localhost"), STR_INIT("127.0.0.1"), STR_INIT("::1")};
    AUTO(arena_release) struct arena a = {0};
    struct str certificate, key;
    struct err err = {0};
    (void)state;
    int rc = auth_pki_self_signed(&a, &(struct api_strs){names, 3}, 1700000000, &certificate, &key,
                                  &err);
    assert_int_equal(rc, 0);
    AUTO(auth__x509_release) X509 *cert = auth__certificate_read(certificate, &err);
    AUTO(auth__key_release) EVP_PKEY *pair = auth__key_read(key, &err);
    assert_non_null(cert);
    assert_non_null(pair);
    for (size_t i = 0; i < 3; i++)
        assert_true(auth__certificate_has_name(cert, names[i]));
    assert_false(auth__certificate_has_name(cert, STR("kubernetes")));
    assert_int_equal(X509_check_private_key(cert, pair), 1);
    assert_int_equal(X509_verify(cert, pair), 1);
    assert_int_equal(auth__certificate_until(cert), 1700000000 + 365 * 24 * 3600);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
