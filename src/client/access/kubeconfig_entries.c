/* What kubeconfig files say: entries by name, and what a context makes of them. No file is opened
 * here. */
#include "client/kubeconfig.h"

#include "codec/base64.h"
#include "codec/yml.h"

/* A cluster, user or context, and the file that has it. */
struct entry {
    struct str file;
    const struct json *value;
};

enum entry_kind { CLUSTERS, USERS, CONTEXTS, ENTRY_KINDS };

/* The list of a file, and what each item has under which key. */
static const struct {
    const char *list, *item;
} lists[] = {
    [CLUSTERS] = {"clusters", "cluster"},
    [USERS] = {"users", "user"},
    [CONTEXTS] = {"contexts", "context"},
};

/* The items of a list of all files, in order: the first of a name counts. */
struct named {
    struct str name;
    struct entry entry;
    struct named *next;
};

struct kubeconfig {
    struct arena *a;
    struct named *entries[ENTRY_KINDS], **ends[ENTRY_KINDS];
    struct str current_context;
};

struct kubeconfig *kubeconfig_new(struct arena *a) {
    struct kubeconfig *k = arena_new(a, struct kubeconfig);
    k->a = a;
    for (int kind = 0; kind < ENTRY_KINDS; kind++)
        k->ends[kind] = &k->entries[kind];
    return k;
}

static const struct entry *find(const struct kubeconfig *k, enum entry_kind kind, struct str name) {
    for (const struct named *n = k->entries[kind]; n; n = n->next)
        if (str_eq(n->name, name))
            return &n->entry;
    return NULL;
}

/* ---- a file ---- */

/* The member, or NULL when it is absent or null. */
static const struct json *member(const struct json *v, const char *key) {
    const struct json *found = v ? json_get(v, str_of(key)) : NULL;
    return found && found->kind != JSON_NULL ? found : NULL;
}

static int add_item(struct kubeconfig *k, enum entry_kind kind, struct str file,
                    const struct json *item, struct err *err) {
    const struct json *name = member(item, "name"), *value = member(item, lists[kind].item);
    if (!name || name->kind != JSON_STRING)
        return err_set(err, ERR_INVALID, "an item of %s has no name", lists[kind].list);
    struct named *n = arena_new(k->a, struct named);
    *n = (struct named){json_str(name), {file, value}, NULL};
    *k->ends[kind] = n;
    k->ends[kind] = &n->next;
    return 0;
}

static int add_list(struct kubeconfig *k, enum entry_kind kind, struct str file,
                    const struct json *tree, struct err *err) {
    const struct json *list = member(tree, lists[kind].list);
    if (list && list->kind != JSON_ARRAY)
        return err_set(err, ERR_INVALID, "%s is not a list", lists[kind].list);
    for (uint32_t i = 0; list && i < list->n; i++)
        if (add_item(k, kind, file, &list->items[i], err) < 0)
            return -1;
    return 0;
}

static int add_tree(struct kubeconfig *k, struct str file, const struct json *tree,
                    struct err *err) {
    const struct json *kind = member(tree, "kind"), *current = member(tree, "current-context");
    if (tree->kind == JSON_NULL)
        return 0; /* an empty file says nothing */
    if (tree->kind != JSON_OBJECT ||
        (kind && (kind->kind != JSON_STRING || !str_is(json_str(kind), "Config"))))
        return err_set(err, ERR_INVALID, "it is not of kind Config");
    for (int list = 0; list < ENTRY_KINDS; list++)
        if (add_list(k, (enum entry_kind)list, file, tree, err) < 0)
            return -1;
    if (current && current->kind == JSON_STRING && !k->current_context.n)
        k->current_context = json_str(current);
    return 0;
}

int kubeconfig_add(struct kubeconfig *k, struct str path, struct str text, struct err *err) {
    struct json *tree = arena_new(k->a, struct json);
    struct str file = arena_str(k->a, path);
    if (yml_parse(k->a, arena_str(k->a, text), tree, err) < 0 || add_tree(k, file, tree, err) < 0)
        return err_wrap(err, "kubeconfig '%.*s'", STR_ARG(path));
    return 0;
}

/* ---- members of an entry ---- */

enum field_kind {
    FIELD_TEXT,
    FIELD_FLAG,
    FIELD_DATA, /* base64 */
    FIELD_FILE, /* relative to the folder of the kubeconfig */
};

struct field {
    const char *name;
    enum field_kind kind;
    size_t offset; /* in struct kubeconfig_access */
};

#define FIELD(name, kind, member) \
    { name, FIELD_##kind, offsetof(struct kubeconfig_access, member) }

static const struct field cluster_fields[] = {
    FIELD("server", TEXT, server),
    FIELD("tls-server-name", TEXT, server_name),
    FIELD("proxy-url", TEXT, proxy),
    FIELD("insecure-skip-tls-verify", FLAG, is_insecure),
    FIELD("certificate-authority", FILE, authorities_file),
    FIELD("certificate-authority-data", DATA, authorities),
    {0},
};

static const struct field user_fields[] = {
    FIELD("client-certificate", FILE, certificate_file),
    FIELD("client-certificate-data", DATA, certificate),
    FIELD("client-key", FILE, key_file),
    FIELD("client-key-data", DATA, key),
    FIELD("token", TEXT, token),
    FIELD("tokenFile", FILE, token_file),
    {0},
};

static const struct field context_fields[] = {FIELD("namespace", TEXT, namespace), {0}};

static struct str beside(struct arena *a, struct str file, struct str name) {
    size_t slash = file.n;
    while (slash && file.p[slash - 1] != '/')
        slash--;
    if (!name.n || name.p[0] == '/' || !slash)
        return name;
    return arena_printf(a, "%.*s%.*s", (int)slash, file.p, STR_ARG(name));
}

static int read_text(const struct json *v, const char *name, struct str *out, struct err *err) {
    if (v && v->kind != JSON_STRING)
        return err_set(err, ERR_INVALID, "%s is not a string", name);
    *out = v ? json_str(v) : (struct str){0};
    return 0;
}

static int read_flag(const struct json *v, const char *name, bool *out, struct err *err) {
    if (v && v->kind != JSON_BOOL)
        return err_set(err, ERR_INVALID, "%s is neither true nor false", name);
    *out = v && v->b;
    return 0;
}

static int read_field(struct arena *a, const struct entry *e, const struct field *f,
                      struct kubeconfig_access *out, struct err *err) {
    const struct json *v = member(e->value, f->name);
    void *to = (char *)out + f->offset;
    struct str text;
    if (f->kind == FIELD_FLAG)
        return read_flag(v, f->name, to, err);
    if (read_text(v, f->name, &text, err) < 0)
        return -1;
    if (f->kind == FIELD_DATA)
        return base64_decode(a, text, to, err) < 0 ? err_wrap(err, "%s", f->name) : 0;
    *(struct str *)to = f->kind == FIELD_FILE ? beside(a, e->file, text) : text;
    return 0;
}

static int read_fields(struct arena *a, const struct entry *e, const struct field *fields,
                       struct kubeconfig_access *out, struct err *err) {
    for (const struct field *f = fields; f->name; f++)
        if (read_field(a, e, f, out, err) < 0)
            return -1;
    return 0;
}

/* ---- programs that give credentials ---- */

static int read_args(struct arena *a, const struct json *list, struct kubeconfig_exec *out,
                     struct err *err) {
    if (list && list->kind != JSON_ARRAY)
        return err_set(err, ERR_INVALID, "exec.args is not a list");
    out->arg_count = list ? list->n : 0;
    out->args = arena_array(a, struct str, out->arg_count);
    for (size_t i = 0; i < out->arg_count; i++)
        if (read_text(&list->items[i], "an item of exec.args", &out->args[i], err) < 0)
            return -1;
    return 0;
}

static int read_variables(struct arena *a, const struct json *list, struct kubeconfig_exec *out,
                          struct err *err) {
    if (list && list->kind != JSON_ARRAY)
        return err_set(err, ERR_INVALID, "exec.env is not a list");
    out->variable_count = list ? list->n : 0;
    out->variables = arena_array(a, struct kubeconfig_variable, out->variable_count);
    for (size_t i = 0; i < out->variable_count; i++) {
        struct kubeconfig_variable *v = &out->variables[i];
        if (read_text(member(&list->items[i], "name"), "exec.env.name", &v->name, err) < 0 ||
            read_text(member(&list->items[i], "value"), "exec.env.value", &v->value, err) < 0)
            return -1;
        if (!v->name.n || str_find_char(v->name, '=') != STR_NONE)
            return err_set(err, ERR_INVALID, "exec.env has an item without a good name");
    }
    return 0;
}

static int check_exec(const struct kubeconfig_exec *e, struct str mode, struct err *err) {
    if (!e->command.n)
        return err_set(err, ERR_INVALID, "exec has no command");
    if (!str_is(e->api_version, "client.authentication.k8s.io/v1") &&
        !str_is(e->api_version, "client.authentication.k8s.io/v1beta1"))
        return err_set(err, ERR_INVALID, "exec.apiVersion is not client.authentication.k8s.io/v1");
    if (str_is(mode, "Always"))
        return err_set(err, ERR_INVALID,
                       "exec.interactiveMode is Always, and nobody is asked here");
    return 0;
}

static int read_exec(struct arena *a, const struct entry *user, struct kubeconfig_access *out,
                     struct err *err) {
    const struct json *v = member(user->value, "exec");
    struct kubeconfig_exec *e = v ? arena_new(a, struct kubeconfig_exec) : NULL;
    struct str mode = {0};
    if (!e)
        return 0;
    if (read_text(member(v, "apiVersion"), "exec.apiVersion", &e->api_version, err) < 0 ||
        read_text(member(v, "command"), "exec.command", &e->command, err) < 0 ||
        read_text(member(v, "installHint"), "exec.installHint", &e->install_hint, err) < 0 ||
        read_text(member(v, "interactiveMode"), "exec.interactiveMode", &mode, err) < 0 ||
        read_flag(member(v, "provideClusterInfo"), "exec.provideClusterInfo",
                  &e->provides_cluster_info, err) < 0 ||
        read_args(a, member(v, "args"), e, err) < 0 ||
        read_variables(a, member(v, "env"), e, err) < 0 || check_exec(e, mode, err) < 0)
        return -1;
    if (str_find_char(e->command, '/') != STR_NONE)
        e->command = beside(a, user->file, e->command);
    out->exec = e;
    return 0;
}

/* ---- contexts ---- */

/* Has a URL a user and a password? They would be shown wherever the server is named. */
static bool has_credentials(struct str url) {
    size_t at = str_find(url, STR("://")), end = at == STR_NONE ? 0 : at + 3;
    while (end < url.n && url.p[end] != '/' && url.p[end] != '?' && url.p[end] != '#')
        if (url.p[end++] == '@')
            return true;
    return false;
}

static int check_cluster(struct kubeconfig_access *out, struct err *err) {
    bool is_tls = str_starts(out->server, STR("https://"));
    if (!out->server.n)
        return err_set(err, ERR_INVALID, "it has no server");
    if (has_credentials(out->server))
        return err_set(err, ERR_INVALID,
                       "server has a user or a password in its URL, which is not supported");
    if (!is_tls && !str_starts(out->server, STR("http://")))
        return err_set(err, ERR_INVALID, "server '%.*s' begins neither with https:// nor http://",
                       STR_ARG(out->server));
    if (out->is_insecure && (out->authorities.n || out->authorities_file.n))
        return err_set(err, ERR_INVALID,
                       "insecure-skip-tls-verify is true, and there is a certificate-authority");
    while (out->server.n && out->server.p[out->server.n - 1] == '/')
        out->server.n--;
    return 0;
}

/* What would be left out without a word if it was not refused. */
static int check_user(const struct json *user, const struct kubeconfig_access *out,
                      struct err *err) {
    static const char *const unknown[] = {"auth-provider", "username",  "password",     "as",
                                          "as-uid",        "as-groups", "as-user-extra"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        if (member(user, unknown[i]))
            return err_set(err, ERR_INVALID, "%s is not supported", unknown[i]);
    if ((out->certificate.n || out->certificate_file.n) != (out->key.n || out->key_file.n))
        return err_set(err, ERR_INVALID, "of client-certificate and client-key, one is not there");
    return 0;
}

/* The entry that the context names; a context may name no user. */
static int entry_of(const struct kubeconfig *k, const struct entry *context, enum entry_kind kind,
                    struct str *name, const struct entry **out, struct err *err) {
    const char *key = lists[kind].item;
    if (read_text(member(context->value, key), key, name, err) < 0)
        return -1;
    *out = find(k, kind, *name);
    if (!*out && (name->n || kind != USERS))
        return err_set(err, ERR_NOT_FOUND, "%s \"%.*s\" does not exist", key, STR_ARG(*name));
    return 0;
}

static int resolve_cluster(const struct kubeconfig *k, const struct entry *context,
                           struct kubeconfig_access *out, struct err *err) {
    const struct entry *e;
    struct str name;
    if (entry_of(k, context, CLUSTERS, &name, &e, err) < 0)
        return -1;
    if (read_fields(k->a, e, cluster_fields, out, err) < 0 || check_cluster(out, err) < 0)
        return err_wrap(err, "kubeconfig '%.*s': cluster \"%.*s\"", STR_ARG(e->file),
                        STR_ARG(name));
    return 0;
}

static int resolve_user(const struct kubeconfig *k, const struct entry *context,
                        struct kubeconfig_access *out, struct err *err) {
    const struct entry *e;
    struct str name;
    if (entry_of(k, context, USERS, &name, &e, err) < 0)
        return -1;
    if (e && (read_fields(k->a, e, user_fields, out, err) < 0 || read_exec(k->a, e, out, err) < 0 ||
              check_user(e->value, out, err) < 0))
        return err_wrap(err, "kubeconfig '%.*s': user \"%.*s\"", STR_ARG(e->file), STR_ARG(name));
    return 0;
}

int kubeconfig_resolve(const struct kubeconfig *k, struct str context,
                       struct kubeconfig_access *out, struct err *err) {
    struct str name = context.n ? context : k->current_context;
    *out = (struct kubeconfig_access){0};
    if (!name.n)
        return err_set(err, ERR_NOT_FOUND, "no kubeconfig says which context is the current one");
    const struct entry *e = find(k, CONTEXTS, name);
    if (!e)
        return err_set(err, ERR_NOT_FOUND, "context \"%.*s\" does not exist", STR_ARG(name));
    if (read_fields(k->a, e, context_fields, out, err) < 0 || resolve_cluster(k, e, out, err) < 0 ||
        resolve_user(k, e, out, err) < 0)
        return err_wrap(err, "context \"%.*s\"", STR_ARG(name));
    return 0;
}
