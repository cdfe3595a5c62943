/*
 * Impersonation in its five modes: four that are constrained to what may be done meanwhile, and the
 * old one. The first mode that allows it counts; if none does, the first one's failure.
 *
 * Follows k8s.io/apiserver pkg/endpoints/filters/impersonation, func processImpersonationHeaders,
 * func (*impersonationModesTracker) getImpersonatedUser, func (*impersonationModeState) check.
 */
#include "auth/impersonate.h"

#include "api/names.h"
#include "base/ascii.h"
#include "base/goquote.h"

#define AUTHENTICATION "authentication.k8s.io"
#define EXTRA_PREFIX   "impersonate-extra-"

enum { MANY = 4 }; /* so many checks are tried as one for all first */

static const struct registry_failure none = {.code = ERR_NONE};

/* ---- headers ---- */

static bool is_same_name(struct str name, const char *lower) {
    size_t n = strlen(lower);
    for (size_t i = 0; i < n && i < name.n; i++)
        if (ascii_to_lower(name.p[i]) != lower[i])
            return false;
    return name.n >= n;
}

/* The rest of the name in small letters, and without its %-escapes unless one is wrong. */
static struct str read_key(struct arena *a, struct str text) {
    char *lower = arena_alloc(a, text.n + 1), *plain = arena_alloc(a, text.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++)
        lower[i] = ascii_to_lower(text.p[i]);
    for (size_t i = 0; i < text.n; i++) {
        plain[n++] = lower[i];
        if (lower[i] != '%')
            continue;
        int high = i + 2 < text.n ? ascii_hex_value(lower[i + 1]) : -1;
        int low = i + 2 < text.n ? ascii_hex_value(lower[i + 2]) : -1;
        if (high < 0 || low < 0)
            return (struct str){lower, text.n};
        plain[n - 1] = (char)(high * 16 + low);
        i += 2;
    }
    return (struct str){plain, n};
}

static void write_strs(struct buf *b, const struct api_strs *list) {
    buf_add(b, STR("[]string{"));
    for (size_t i = 0; i < list->n; i++) {
        buf_add(b, i ? STR(", ") : STR(""));
        goquote_write(b, list->v[i]);
    }
    buf_add_char(b, '}');
}

/* The user as Go's %#v shows it. */
static void write_go(struct buf *b, const struct auth_user *user) {
    buf_add(b, STR("&user.DefaultInfo{Name:\"\", UID:"));
    goquote_write(b, user->uid);
    buf_add(b, STR(", Groups:"));
    if (user->groups.n)
        write_strs(b, &user->groups);
    else
        buf_add(b, STR("[]string(nil)"));
    buf_add(b, user->extra.n ? STR(", Extra:map[string][]string{")
                             : STR(", Extra:map[string][]string(nil"));
    for (size_t i = 0; i < user->extra.n; i++) {
        buf_add(b, i ? STR(", ") : STR(""));
        goquote_write(b, user->extra.v[i].key);
        buf_add_char(b, ':');
        write_strs(b, &user->extra.v[i].value);
    }
    buf_add(b, user->extra.n ? STR("}}") : STR(")}"));
}

static struct registry_failure refuse_nameless(struct arena *a, const struct auth_user *user) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    buf_add(&text, STR("requested "));
    write_go(&text, user);
    buf_add(&text, STR(" without impersonating a user name"));
    return registry_bad_request(arena_str(a, buf_view(&text)));
}

static void read_header(struct arena *a, const struct auth_header *h, struct auth_user *user) {
    if (is_same_name(h->name, EXTRA_PREFIX)) {
        struct str key = str_sub(h->name, sizeof EXTRA_PREFIX - 1, h->name.n);
        auth_user_note(a, user, read_key(a, key), h->value);
    } else if (h->name.n == sizeof "impersonate-group" - 1 &&
               is_same_name(h->name, "impersonate-group")) {
        auth_user_join(a, user, h->value);
    } else if (h->name.n == sizeof "impersonate-user" - 1 && !user->name.p &&
               is_same_name(h->name, "impersonate-user")) {
        user->name = h->value;
    } else if (h->name.n == sizeof "impersonate-uid" - 1 && !user->uid.p &&
               is_same_name(h->name, "impersonate-uid")) {
        user->uid = h->value;
    }
}

struct registry_failure auth_impersonation_read(struct arena *a, const struct auth_header *headers,
                                                size_t count, struct auth_wanted *out) {
    *out = (struct auth_wanted){0};
    for (size_t i = 0; i < count; i++)
        read_header(a, &headers[i], &out->user);
    out->is_set = out->user.name.n > 0;
    if (!out->is_set && (out->user.uid.n || out->user.groups.n || out->user.extra.n))
        return refuse_nameless(a, &out->user);
    return none;
}

/* ---- modes ---- */

struct attempt {
    const struct auth_rules *rules;
    struct arena *a;
    const struct auth_attributes *q; /* what is asked for meanwhile */
    const struct auth_user *wanted;
    const struct mode *mode;
};

struct mode {
    const char *name; /* NULL: the old one */
    bool (*applies)(const struct attempt *t);
    bool any_node; /* the name of the node does not matter */
};

static bool has_name_alone(const struct attempt *t) {
    return !t->wanted->uid.n && !t->wanted->groups.n && !t->wanted->extra.n;
}

static bool is_node(const struct attempt *t) {
    struct str node;
    return has_name_alone(t) && auth_node_split(t->wanted->name, &node);
}

/* Is it the node on which the service account that asks runs? */
static bool is_own_node(const struct attempt *t) {
    struct str node, namespace, name;
    struct api_strs runs_on = auth_user_extra(t->q->user, STR(AUTH_EXTRA_NODE_NAME));
    return has_name_alone(t) && auth_node_split(t->wanted->name, &node) && runs_on.n == 1 &&
           str_eq(runs_on.v[0], node) &&
           auth_service_account_split(t->q->user->name, &namespace, &name);
}

static bool is_service_account(const struct attempt *t) {
    struct str namespace, name;
    return has_name_alone(t) && auth_service_account_split(t->wanted->name, &namespace, &name);
}

static bool is_other(const struct attempt *t) {
    struct str namespace, name;
    return !auth_node_split(t->wanted->name, &name) &&
           !auth_service_account_split(t->wanted->name, &namespace, &name);
}

static bool is_anybody(const struct attempt *t) {
    (void)t;
    return true;
}

static const struct mode modes[] = {
    {"associated-node", is_own_node, true},
    {"arbitrary-node", is_node, false},
    {"serviceaccount", is_service_account, false},
    {"user-info", is_other, false},
    {NULL, is_anybody, false},
};

/* ---- questions about whom somebody wants to be ---- */

static struct str verb_of(const struct attempt *t) {
    return t->mode->name ? arena_printf(t->a, "impersonate:%s", t->mode->name) : STR("impersonate");
}

/* Users and groups are in a group of their own in the modes that are constrained. */
static struct str group_of(const struct attempt *t) {
    return t->mode->name ? STR(AUTHENTICATION) : STR("");
}

static struct registry_failure ask(const struct attempt *t, struct auth_attributes q) {
    q.user = t->q->user;
    q.verb = verb_of(t);
    q.version = STR("v1");
    q.is_resource = true;
    if (t->mode->any_node)
        q.name = STR("*");
    return auth_authorize(t->rules, t->a, &q, NULL);
}

static struct registry_failure forbid(const struct attempt *t, struct auth_attributes q,
                                      struct str why) {
    q.user = t->q->user;
    q.verb = verb_of(t);
    q.is_resource = true;
    return auth_forbidden(t->a, &q, why);
}

static struct registry_failure ask_name(const struct attempt *t, struct auth_user *out) {
    struct auth_attributes q = {
        .group = group_of(t), .resource = STR("users"), .name = t->wanted->name};
    struct str namespace, name;
    if (t->mode->name && auth_node_split(t->wanted->name, &name)) {
        q.resource = STR("nodes");
        q.name = name;
        auth_user_join(t->a, out, STR(AUTH_NODES));
    } else if (auth_service_account_split(t->wanted->name, &namespace, &name)) {
        q.resource = STR("serviceaccounts");
        q.namespace = namespace;
        q.name = name;
        if (!t->wanted->groups.n)
            out->groups = auth_service_account(t->a, namespace, name, STR("")).groups;
    }
    return ask(t, q);
}

static struct registry_failure ask_uid(const struct attempt *t) {
    if (!t->wanted->uid.n)
        return none;
    return ask(t, (struct auth_attributes){.group = STR(AUTHENTICATION),
                                           .resource = STR("uids"),
                                           .name = t->wanted->uid});
}

static struct registry_failure ask_groups(const struct attempt *t) {
    const struct api_strs *groups = &t->wanted->groups;
    struct auth_attributes q = {.group = group_of(t), .resource = STR("groups")};
    for (size_t i = 0; t->mode->name && i < groups->n; i++)
        if (!groups->v[i].n)
            return forbid(t, q, STR("impersonating the empty string group is not allowed"));
    if (t->mode->name && auth_user_is_in(t->wanted, STR(AUTH_MASTERS))) {
        q.name = STR(AUTH_MASTERS);
        return forbid(t, q, STR("impersonating the system:masters group is not allowed"));
    }
    q.name = STR("*");
    if (t->mode->name && groups->n >= MANY && !ask(t, q).code)
        return none;
    struct registry_failure f = none;
    for (size_t i = 0; !f.code && i < groups->n; i++) {
        q.name = groups->v[i];
        f = ask(t, q);
    }
    return f;
}

/* ---- extra values ---- */

static bool is_path(struct str path) {
    for (size_t i = 0; i < path.n; i++)
        if (!ascii_is_alnum(path.p[i]) && !strchr("/-._~%!$&'()*+,;=:", path.p[i]))
            return false;
    return true;
}

/* What is wrong with a key, as field errors have it; empty: nothing. */
static struct str key_fault(struct arena *a, struct str key) {
    AUTO(buf_release) struct buf b = BUF_INIT(SIZE_MAX);
    struct str host, path, wrong = key;
    const char *why = NULL;
    struct names_errs errs = {0};
    if (!str_cut(key, '/', &host, &path) || !host.n || !path.n)
        why = "must be a domain-prefixed path (such as \"acme.io/foo\")";
    else if (errs = names_check_dns1123_subdomain(host), errs.n)
        wrong = host;
    else if (!is_path(path))
        wrong = path, why = "Invalid path (regex used for validation is "
                            "'[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')";
    if (!why && !errs.n)
        return STR("");
    buf_add(&b, STR("impersonating an invalid key in extra is not allowed: extra.key: Invalid "
                    "value: "));
    goquote_write(&b, wrong);
    buf_add(&b, STR(": "));
    buf_add(&b, why ? str_of(why) : errs.v[0]);
    return arena_str(a, buf_view(&b));
}

static struct str extra_fault(struct arena *a, const struct api_str_list *extra) {
    if (!extra->key.n)
        return STR("impersonating the empty string key in extra is not allowed");
    struct str fault = key_fault(a, extra->key);
    for (size_t i = 0; !fault.n && i < extra->value.n; i++)
        if (!extra->value.v[i].n)
            fault = STR("impersonating the empty string value in extra is not allowed");
    return fault;
}

static bool has_many_values(const struct api_str_lists *extra) {
    size_t count = 0;
    for (size_t i = 0; i < extra->n; i++)
        count += extra->v[i].value.n;
    return extra->n >= MANY || count >= MANY;
}

static struct registry_failure ask_values(const struct attempt *t, struct auth_attributes q) {
    const struct api_str_lists *extra = &t->wanted->extra;
    struct registry_failure f = none;
    for (size_t i = 0; i < extra->n; i++) {
        q.subresource = extra->v[i].key;
        for (size_t k = 0; !f.code && k < extra->v[i].value.n; k++) {
            q.name = extra->v[i].value.v[k];
            f = ask(t, q);
        }
    }
    return f;
}

static struct registry_failure ask_extra(const struct attempt *t) {
    const struct api_str_lists *extra = &t->wanted->extra;
    struct auth_attributes q = {.group = STR(AUTHENTICATION), .resource = STR("userextras")};
    for (size_t i = 0; t->mode->name && i < extra->n; i++) {
        struct str fault = extra_fault(t->a, &extra->v[i]);
        if (fault.n)
            return forbid(t, q, fault);
    }
    if (t->mode->name && has_many_values(extra)) {
        struct auth_attributes all = q;
        all.subresource = all.name = STR("*");
        if (!ask(t, all).code)
            return none;
    }
    return ask_values(t, q);
}

/* ---- all of it ---- */

/* May it be done at all while being somebody else in this mode? */
static struct registry_failure ask_action(const struct attempt *t) {
    if (!t->mode->name)
        return none;
    struct auth_attributes q = *t->q;
    q.verb = arena_printf(t->a, "impersonate-on:%s:%.*s", t->mode->name, STR_ARG(t->q->verb));
    return auth_authorize(t->rules, t->a, &q, NULL);
}

static struct registry_failure try_mode(const struct attempt *t, struct auth_user *out) {
    struct registry_failure f = ask_action(t);
    *out = *t->wanted;
    if (!f.code)
        f = ask_name(t, out);
    if (!f.code)
        f = ask_uid(t);
    if (!f.code)
        f = ask_groups(t);
    return f.code ? f : ask_extra(t);
}

/* The group that everybody is in, or that of those who have not said who they are. */
static void add_common_group(struct arena *a, struct auth_user *user) {
    if (!str_is(user->name, AUTH_ANONYMOUS))
        auth_user_mark_authenticated(a, user);
    else if (!auth_user_is_in(user, STR(AUTH_UNAUTHENTICATED)))
        auth_user_join(a, user, STR(AUTH_UNAUTHENTICATED));
}

struct registry_failure auth_impersonate(const struct auth_rules *rules, struct arena *a,
                                         const struct auth_attributes *q,
                                         const struct auth_user *wanted, struct auth_user *out,
                                         struct str *how) {
    struct registry_failure first = none;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        const struct attempt t = {
            .rules = rules, .a = a, .q = q, .wanted = wanted, .mode = &modes[i]};
        if (!t.mode->applies(&t))
            continue;
        struct registry_failure f = try_mode(&t, out);
        if (!f.code) {
            add_common_group(a, out);
            *how = t.mode->name ? verb_of(&t) : STR("");
            return none;
        }
        if (!first.code)
            first = f;
    }
    return first;
}
