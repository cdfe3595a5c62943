/* Tokens: signed and verified with all sorts of keys, and refused when anything is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "auth/token_int.h"
#include "base/limits.h"
#include "codec/base64.h"
#include "tokens.h"

static struct auth_keys *keys_of(const struct str *pems, size_t n) {
    struct err err = {0};
    struct str copy[4];
    memcpy(copy, pems, n * sizeof *copy);
    struct auth_keys *keys = auth_keys_new(&(struct api_strs){.v = copy, .n = n}, &err);
    if (!keys)
        fail_msg("%s", err.msg);
    return keys;
}

static bool verifies(struct arena *a, const struct auth_keys *keys, struct str token) {
    struct auth__jwt t;
    struct str why = STR("");
    return auth__jwt_split(a, token, &t) && auth__jwt_verify(keys, &t, &why);
}

static struct str sign(struct arena *a, const struct auth_keys *keys, const char *payload) {
    struct err err = {0};
    struct str token = auth__jwt_sign(keys, a, str_of(payload), &err);
    assert_non_null(token.p);
    return token;
}

static void what_one_signs_all_verify(void **state) {
    (void)state;
    struct arena a = {0};
    struct str pems[] = {new_key(&a, false), new_key(&a, true)}, swapped[] = {pems[1], pems[0]};
    struct auth_keys *first = keys_of(pems, 2), *second = keys_of(swapped, 2);
    struct auth_keys *alone = keys_of(pems, 1);
    struct str curve = sign(&a, first, "{\"iss\":\"x\"}"),
               rsa = sign(&a, second, "{\"iss\":\"x\"}");
    assert_true(verifies(&a, first, curve) && verifies(&a, first, rsa));
    assert_true(verifies(&a, second, curve) && verifies(&a, second, rsa));
    assert_true(verifies(&a, alone, curve));
    assert_false(verifies(&a, alone, rsa));
    auth_keys_free(first);
    auth_keys_free(second);
    auth_keys_free(alone);
    arena_release(&a);
}

/* Each character of a token matters, but for what Go's base64 reads in several ways. */
static void changed_tokens_are_refused(void **state) {
    (void)state;
    struct arena a = {0};
    struct str pem = new_key(&a, false);
    struct auth_keys *keys = keys_of(&pem, 1);
    struct str token = sign(&a, keys, "{\"iss\":\"x\",\"sub\":\"system:serviceaccount:a:b\"}");
    assert_true(verifies(&a, keys, token)); /* and is remembered */
    for (size_t i = 0; i < token.n; i += 3) {
        char *changed = arena_copy(&a, token.p, token.n);
        changed[i] = changed[i] == 'A' ? 'q' : 'A';
        bool is_end = i + 1 == token.n || token.p[i + 1] == '.';
        if (changed[i] != token.p[i] && !is_end)
            assert_false(verifies(&a, keys, (struct str){changed, token.n}));
    }
    assert_false(verifies(&a, keys, str_sub(token, 0, token.n - 1)));
    auth_keys_free(keys);
    arena_release(&a);
}

/* More tokens than are remembered are verified, again and again; other keys know none of them. */
static void what_was_verified_is_remembered(void **state) {
    (void)state;
    enum { TOKENS = 1100 };
    _Static_assert(TOKENS > LIMIT_AUTH_VERIFIED_TOKENS, "some have to give way");
    struct arena a = {0};
    struct str pems[] = {new_key(&a, false), new_key(&a, false)};
    struct auth_keys *keys = keys_of(pems, 1), *others = keys_of(pems + 1, 1);
    struct str *tokens = arena_array(&a, struct str, TOKENS);
    for (int i = 0; i < TOKENS; i++)
        tokens[i] = sign(&a, keys, arena_printf(&a, "{\"iss\":\"%d\"}", i).p);
    for (int i = 0; i < 2 * TOKENS; i++)
        assert_true(verifies(&a, keys, tokens[i % TOKENS]));
    for (int i = 0; i < 10; i++)
        assert_false(verifies(&a, others, tokens[i]));
    auth_keys_free(keys);
    auth_keys_free(others);
    arena_release(&a);
}

static struct str with_header(struct arena *a, const char *header, struct str token) {
    struct buf b = BUF_INIT(SIZE_MAX);
    struct str rest;
    str_cut(token, '.', &rest, &token);
    base64_write_url(&b, str_of(header));
    buf_addf(&b, ".%.*s", STR_ARG(token));
    struct str out = arena_str(a, buf_view(&b));
    buf_release(&b);
    return out;
}

static void odd_headers_are_refused(void **state) {
    (void)state;
    static const char *const headers[] = {"{\"alg\":\"none\"}",
                                          "{\"alg\":\"HS256\"}",
                                          "{\"alg\":\"RS256\"}",
                                          "{}",
                                          "[]",
                                          "nonsense",
                                          "{\"alg\":5}",
                                          "{\"alg\":\"ES256\",\"kid\":7}",
                                          "{\"alg\":\"ES256\",\"crit\":[\"x\"]}",
                                          "{\"alg\":\"ES256\",\"jwk\":{}}",
                                          "{\"alg\":\"ES256\",\"kid\":\"other\"}",
                                          "{\"alg\":\"ES384\"}"};
    struct arena a = {0};
    struct str pem = new_key(&a, false);
    struct auth_keys *keys = keys_of(&pem, 1);
    struct str token = sign(&a, keys, "{\"iss\":\"x\"}");
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        assert_false(verifies(&a, keys, with_header(&a, headers[i], token)));
    assert_false(verifies(&a, keys, STR("a.b")));
    assert_false(verifies(&a, keys, STR("")));
    assert_false(verifies(&a, keys, arena_printf(&a, "%.*s.x", STR_ARG(token))));
    auth_keys_free(keys);
    arena_release(&a);
}

static void long_tokens_are_not_looked_at(void **state) {
    (void)state;
    struct arena a = {0};
    struct str pem = new_key(&a, false);
    struct auth_keys *keys = keys_of(&pem, 1);
    struct buf b = BUF_INIT(SIZE_MAX);
    size_t most = LIMIT_AUTH_TOKEN_BYTES / 4 * 3 - 400;
    for (int i = 0; i < 2; i++) {
        buf_clear(&b);
        buf_add(&b, STR("{\"iss\":\""));
        buf_add_fill(&b, 'x', i ? LIMIT_AUTH_TOKEN_BYTES : most);
        buf_add(&b, STR("\"}"));
        buf_add_char(&b, '\0');
        assert_int_equal(verifies(&a, keys, sign(&a, keys, b.p)), !i);
    }
    buf_release(&b);
    auth_keys_free(keys);
    arena_release(&a);
}

static void keys_are_published(void **state) {
    (void)state;
    struct arena a = {0};
    struct str pems[] = {new_key(&a, true), new_key(&a, false)};
    struct auth_keys *keys = keys_of(pems, 2);
    struct buf b = BUF_INIT(SIZE_MAX);
    struct json doc;
    auth_jwks_write(&b, keys);
    assert_int_equal(json_parse(&a, buf_view(&b), NULL, &doc, NULL), 0);
    const struct json *list = json_get(&doc, STR("keys"));
    assert_int_equal(list->n, 2);
    assert_true(str_is(json_str(json_get(&list->items[0], STR("kty"))), "RSA"));
    assert_true(str_is(json_str(json_get(&list->items[0], STR("e"))), "AQAB"));
    assert_true(str_is(json_str(json_get(&list->items[1], STR("crv"))), "P-256"));
    assert_int_equal(json_get(&list->items[1], STR("x"))->n, 43);
    buf_clear(&b);
    auth_openid_write(&b, keys, STR("https://i"), STR("https://i/openid/v1/jwks"));
    assert_true(str_is(buf_view(&b),
                       "{\"issuer\":\"https://i\",\"jwks_uri\":\"https://i/openid/v1/jwks\","
                       "\"response_types_supported\":[\"id_token\"],\"subject_types_supported\":["
                       "\"public\"],\"id_token_signing_alg_values_supported\":[\"ES256\","
                       "\"RS256\"]}"));
    buf_release(&b);
    auth_keys_free(keys);
    arena_release(&a);
}

static void odd_keys_are_refused(void **state) {
    (void)state;
    struct arena a = {0};
    struct err err = {0};
    EVP_PKEY *other = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    struct str good = new_key(&a, false), odd[2] = {auth__key_write(&a, other, &err), good};
    EVP_PKEY_free(other);
    assert_null(auth_keys_new(&(struct api_strs){0}, &err));
    assert_null(auth_keys_new(&(struct api_strs){.v = odd, .n = 1}, &err));
    assert_non_null(strstr(err.msg, "neither RSA nor on a curve"));
    odd[0] = STR("hello");
    assert_null(auth_keys_new(&(struct api_strs){.v = odd, .n = 1}, &err));
    odd[0] = good;
    odd[1] = STR("hello");
    assert_null(auth_keys_new(&(struct api_strs){.v = odd, .n = 2}, &err));
    assert_string_equal(err.msg, "no key in PEM");
    arena_release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_one_signs_all_verify),
        cmocka_unit_test(changed_tokens_are_refused),
        cmocka_unit_test(what_was_verified_is_remembered),
        cmocka_unit_test(odd_headers_are_refused),
        cmocka_unit_test(long_tokens_are_not_looked_at),
        cmocka_unit_test(keys_are_published),
        cmocka_unit_test(odd_keys_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
