/* Who asks: certificates, headers and protocols, in this order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "codec/base64.h"
#include "tokens.h"

static struct auth_token_file *file;

static int make_file(void **state) {
    (void)state;
    struct err err;
    file = auth_token_file_parse(STR("secret,joe,1,dev\n"), STR("f"), &err);
    return file ? 0 : -1;
}

static int free_file(void **state) {
    (void)state;
    auth_token_file_free(file);
    return 0;
}

static struct auth_answer ask(struct arena *a, struct auth_credentials shown) {
    const struct auth_authenticator who = {.file = file, .allows_anonymous = true};
    shown.now = shown.now ? shown.now : NOW;
    shown.certificate_now = NOW;
    return auth_authenticate(&who, a, &shown);
}

static void headers_name_users(void **state) {
    (void)state;
    struct arena a = {0};
    static const struct {
        const char *header, *user; /* NULL: refused */
    } rows[] = {
        {"Bearer secret", "joe"},
        {"bEaReR secret", "joe"},
        {" Bearer secret ", "joe"},
        {"Bearer secret x", "joe"},
        {"Bearer wrong", NULL},
        {"Bearer", AUTH_ANONYMOUS},
        {"Bearer ", AUTH_ANONYMOUS},
        {"Basic abc", AUTH_ANONYMOUS},
        {"", AUTH_ANONYMOUS},
        {"Bearer  secret", AUTH_ANONYMOUS},
        {"Bearers secret", AUTH_ANONYMOUS},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct auth_answer answer =
            ask(&a, (struct auth_credentials){.authorization = str_of(rows[i].header)});
        assert_int_equal(answer.outcome, rows[i].user ? AUTH_KNOWN : AUTH_REFUSED);
        if (rows[i].user && !str_is(answer.user.name, rows[i].user))
            fail_msg("%s: %.*s", rows[i].header, STR_ARG(answer.user.name));
    }
    struct auth_answer joe =
        ask(&a, (struct auth_credentials){.authorization = STR("Bearer secret")});
    assert_true(auth_user_is_in(&joe.user, STR("dev")));
    assert_true(auth_user_is_in(&joe.user, STR(AUTH_AUTHENTICATED)));
    struct auth_answer space =
        ask(&a, (struct auth_credentials){.authorization = STR("Bearer  secret")});
    assert_true(str_starts(space.warning, STR("the provided Authorization header")));
    arena_release(&a);
}

static void nobody_is_anonymous_where_that_is_off(void **state) {
    (void)state;
    struct arena a = {0};
    const struct auth_authenticator who = {.file = file};
    const struct auth_credentials shown = {.now = NOW};
    assert_int_equal(auth_authenticate(&who, &a, &shown).outcome, AUTH_REFUSED);
    arena_release(&a);
}

static void certificates_come_first(void **state) {
    (void)state;
    struct arena a = {0};
    struct auth_client client = {.user = {.name = STR("ann")}, .has_user = true, .until = NOW};
    struct auth_credentials shown = {.client = &client, .authorization = STR("Bearer secret")};
    assert_true(str_is(ask(&a, shown).user.name, "ann"));
    /* Where time passes faster, certificates are good as long as elsewhere. */
    shown.now = NOW + 1000;
    assert_true(str_is(ask(&a, shown).user.name, "ann"));
    shown.now = NOW;
    client.until = NOW - 1;
    assert_true(str_is(ask(&a, shown).user.name, "joe"));
    shown.authorization = STR("");
    assert_int_equal(ask(&a, shown).outcome, AUTH_REFUSED);
    client.until = NOW, client.has_user = false;
    assert_true(str_is(ask(&a, shown).user.name, AUTH_ANONYMOUS));
    shown.client = NULL, shown.client_fault = STR("bad");
    assert_true(str_is(ask(&a, shown).why, "bad"));
    arena_release(&a);
}

#define PREFIX "base64url.bearer.authorization.k8s.io."

static void protocols_of_web_sockets_bring_tokens(void **state) {
    (void)state;
    struct arena a = {0};
    static const struct {
        const char *protocols, *rest, *why;
    } rows[] = {
        {PREFIX "c2VjcmV0, v5.channel.k8s.io", "v5.channel.k8s.io", NULL},
        {"a, b ," PREFIX "c2VjcmV0,c", "a,b,c", NULL},
        {PREFIX "c2VjcmV0", NULL, "missing additional subprotocol"},
        {PREFIX "c2VjcmV0,x," PREFIX "c2VjcmV0", NULL,
         "multiple base64.bearer.authorization tokens specified"},
        {PREFIX "c2Vj=,x", NULL, "invalid base64.bearer.authorization token encoding"},
        {PREFIX "_w,x", NULL, "invalid base64.bearer.authorization token"},
        {PREFIX "d3Jvbmc,x", NULL, "invalid bearer token"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct str header = str_of(rows[i].protocols);
        struct auth_answer answer =
            ask(&a, (struct auth_credentials){.is_websocket = true, .protocols = {&header, 1}});
        assert_int_equal(answer.outcome, rows[i].why ? AUTH_REFUSED : AUTH_KNOWN);
        assert_true(str_is(rows[i].why ? answer.why : answer.protocols,
                           rows[i].why ? rows[i].why : rows[i].rest));
    }
    struct str none = STR("v4.channel.k8s.io");
    struct auth_credentials shown = {.is_websocket = true, .protocols = {&none, 1}};
    assert_true(str_is(ask(&a, shown).user.name, AUTH_ANONYMOUS));
    struct str other = STR(PREFIX "c2VjcmV0,x");
    shown = (struct auth_credentials){.protocols = {&other, 1}};
    assert_true(str_is(ask(&a, shown).user.name, AUTH_ANONYMOUS));
    arena_release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_name_users),
        cmocka_unit_test(nobody_is_anonymous_where_that_is_off),
        cmocka_unit_test(certificates_come_first),
        cmocka_unit_test(protocols_of_web_sockets_bring_tokens),
    };
    return cmocka_run_group_tests(tests, make_file, free_file);
}
