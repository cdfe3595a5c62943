/*
 * Users, and the names that service accounts and nodes have as users.
 *
 * Follows k8s.io/apiserver pkg/authentication/serviceaccount, func SplitUsername,
 * func MakeUsername.
 * Follows k8s.io/apiserver pkg/authentication/group,
 * func (*AuthenticatedGroupAdder) AuthenticateRequest.
 */
#include "api/names.h"
#include "auth/auth.h"

#define NODE_PREFIX "system:node:"

static struct str unauthenticated[] = {STR_INIT(AUTH_UNAUTHENTICATED)};

const struct auth_user auth_anonymous = {
    .name = STR_INIT(AUTH_ANONYMOUS),
    .groups = {.v = unauthenticated, .n = 1},
};

bool auth_user_is_in(const struct auth_user *user, struct str group) {
    for (size_t i = 0; i < user->groups.n; i++)
        if (str_eq(user->groups.v[i], group))
            return true;
    return false;
}

struct api_strs auth_user_extra(const struct auth_user *user, struct str key) {
    for (size_t i = 0; i < user->extra.n; i++)
        if (str_eq(user->extra.v[i].key, key))
            return user->extra.v[i].value;
    return (struct api_strs){0};
}

/* The list with one more text behind it, in the arena. */
static struct api_strs append(struct arena *a, struct api_strs list, struct str text) {
    struct api_strs longer = {.v = arena_array(a, struct str, list.n + 1), .n = list.n + 1};
    if (list.n)
        memcpy(longer.v, list.v, list.n * sizeof *list.v);
    longer.v[list.n] = text;
    return longer;
}

void auth_user_join(struct arena *a, struct auth_user *user, struct str group) {
    user->groups = append(a, user->groups, group);
}

void auth_user_note(struct arena *a, struct auth_user *user, struct str key, struct str value) {
    size_t at = 0, n = user->extra.n;
    while (at < n && str_cmp(user->extra.v[at].key, key) < 0)
        at++;
    bool is_new = at == n || !str_eq(user->extra.v[at].key, key);
    struct api_str_list *v = arena_array(a, struct api_str_list, n + is_new);
    for (size_t i = 0; i < n; i++)
        v[i + (is_new && i >= at)] = user->extra.v[i];
    if (is_new)
        v[at] = (struct api_str_list){.key = key};
    v[at].value = append(a, v[at].value, value);
    user->extra = (struct api_str_lists){.v = v, .n = n + is_new};
}

void auth_user_mark_authenticated(struct arena *a, struct auth_user *user) {
    if (str_is(user->name, AUTH_ANONYMOUS) || auth_user_is_in(user, STR(AUTH_AUTHENTICATED)) ||
        auth_user_is_in(user, STR(AUTH_UNAUTHENTICATED)))
        return;
    auth_user_join(a, user, STR(AUTH_AUTHENTICATED));
}

static struct api_strs copy_strs(struct arena *a, const struct api_strs *list) {
    struct api_strs copy = {.v = arena_array(a, struct str, list->n), .n = list->n};
    for (size_t i = 0; i < list->n; i++)
        copy.v[i] = arena_str(a, list->v[i]);
    return copy;
}

struct auth_user auth_user_copy(struct arena *a, const struct auth_user *user) {
    struct auth_user copy = {.name = arena_str(a, user->name),
                             .uid = arena_str(a, user->uid),
                             .groups = copy_strs(a, &user->groups)};
    copy.extra.n = user->extra.n;
    copy.extra.v = arena_array(a, struct api_str_list, user->extra.n);
    for (size_t i = 0; i < user->extra.n; i++)
        copy.extra.v[i] = (struct api_str_list){
            .key = arena_str(a, user->extra.v[i].key),
            .value = copy_strs(a, &user->extra.v[i].value),
        };
    return copy;
}

struct api_user_info auth_user_info(struct arena *a, const struct auth_user *user) {
    struct auth_user copy = auth_user_copy(a, user);
    return (struct api_user_info){
        .username = copy.name, .uid = copy.uid, .groups = copy.groups, .extra_ = copy.extra};
}

struct auth_user auth_service_account(struct arena *a, struct str namespace, struct str name,
                                      struct str uid) {
    struct auth_user user = {.uid = uid};
    user.name =
        arena_printf(a, AUTH_SERVICE_ACCOUNT "%.*s:%.*s", STR_ARG(namespace), STR_ARG(name));
    user.groups.n = 2;
    user.groups.v = arena_array(a, struct str, 2);
    user.groups.v[0] = STR(AUTH_ALL_SERVICE_ACCOUNTS);
    user.groups.v[1] = arena_printf(a, AUTH_ALL_SERVICE_ACCOUNTS ":%.*s", STR_ARG(namespace));
    return user;
}

bool auth_service_account_split(struct str username, struct str *namespace, struct str *name) {
    if (!str_starts(username, STR(AUTH_SERVICE_ACCOUNT)))
        return false;
    struct str rest = str_sub(username, sizeof AUTH_SERVICE_ACCOUNT - 1, username.n), space;
    if (!str_cut(rest, ':', &space, &rest) || names_check_dns1123_label(space).n ||
        names_check_dns1123_subdomain(rest).n)
        return false;
    *namespace = space;
    *name = rest;
    return true;
}

bool auth_node_split(struct str username, struct str *name) {
    if (!str_starts(username, STR(NODE_PREFIX)))
        return false;
    struct str rest = str_sub(username, sizeof NODE_PREFIX - 1, username.n);
    if (names_check_dns1123_subdomain(rest).n)
        return false;
    *name = rest;
    return true;
}
