/*
 * Any text, taken for a file of tokens. If it is one, the token of its last plain line, without
 * quotes, is found with that line's user, unless another line has the same token; and nobody has
 * the empty token.
 */
#include "auth/token.h"
#include "check.h"

static void check_last_line(const struct auth_token_file *f, struct str text) {
    size_t at = text.n;
    while (at > 0 && text.p[at - 1] != '\n')
        at--;
    struct str line = str_sub(text, at, text.n), token, user, rest;
    if (str_find_char(text, '"') != STR_NONE || str_find_char(text, '\r') != STR_NONE)
        return;
    if (!str_cut(line, ',', &token, &rest) || !token.n)
        return;
    str_cut(rest, ',', &user, &rest);
    const struct auth_user *found = auth_token_file_find(f, token);
    CHECK(found && str_eq(found->name, user));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct str text = {(const char *)data, size};
    struct err err = {0};
    struct auth_token_file *f = auth_token_file_parse(text, STR("f"), &err);
    if (!f) {
        CHECK(err.msg[0]);
        return 0;
    }
    CHECK(!auth_token_file_find(f, STR("")));
    check_last_line(f, text);
    auth_token_file_free(f);
    return 0;
}
