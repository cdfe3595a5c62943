/*
 * One more context in somebody's kubeconfig: its entries are put into the file that kubectl would
 * change, and everything else in it stays.
 *
 * Follows k8s.io/client-go tools/clientcmd, func (*PathOptions) GetDefaultFilename, func lockFile.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "auth/pki_int.h"
#include "codec/json.h"
#include "codec/yml.h"

static const char *const lists[] = {"clusters", "contexts", "users"};
enum { LISTS = sizeof lists / sizeof *lists };

static int read_config(struct arena *a, struct str path, struct json *out, struct err *err) {
    struct str text;
    *out = (struct json){.kind = JSON_NULL};
    if (auth__file_read(a, path, false, &text, err) < 0)
        return -1;
    if (text.n && yml_parse(a, text, out, err) < 0)
        return err_wrap(err, "%.*s", STR_ARG(path));
    if (out->kind != JSON_OBJECT && out->kind != JSON_NULL)
        return err_set(err, ERR_INVALID, "%.*s is no kubeconfig", STR_ARG(path));
    return 0;
}

/* ---- which file ---- */

static bool exists(struct arena *a, struct str path) {
    return access(arena_str(a, path).p, F_OK) == 0;
}

static bool is_named(const struct json *item, struct str name) {
    const struct json *v = json_get(item, STR("name"));
    return v && v->kind == JSON_STRING && str_eq(json_str(v), name);
}

static bool has_context(struct arena *a, struct str path, struct str name) {
    struct err err;
    struct json config;
    if (read_config(a, path, &config, &err) < 0)
        return false;
    const struct json *list = json_get(&config, STR("contexts"));
    for (uint32_t i = 0; list && list->kind == JSON_ARRAY && i < list->n; i++)
        if (is_named(&list->items[i], name))
            return true;
    return false;
}

/* Of several files it is the one that has the context; or the first that is there; or the last. */
static struct str choose(struct arena *a, const struct auth_kubeconfig_places *places,
                         struct str name) {
    struct str rest = places->files, file, first = {0}, last = {0};
    if (places->file.n)
        return places->file;
    for (bool more = rest.n > 0; more;) {
        more = str_cut(rest, ':', &file, &rest);
        if (!file.n)
            continue;
        if (has_context(a, file, name))
            return file;
        if (!first.p && exists(a, file))
            first = file;
        last = file;
    }
    if (last.p)
        return first.p ? first : last;
    return arena_printf(a, "%.*s/.kube/config", STR_ARG(places->home));
}

/* ---- the new one ---- */

/* The items of a list but the one of this name, and the one that takes its place. */
static struct json replace(struct arena *a, const struct json *list, struct str name,
                           const struct json *item) {
    struct json out = {.kind = JSON_ARRAY};
    for (uint32_t i = 0; list && list->kind == JSON_ARRAY && i < list->n; i++)
        if (!is_named(&list->items[i], name))
            json_append(a, &out, list->items[i]);
    json_append(a, &out, *item);
    return out;
}

static bool is_list(struct str key) {
    for (size_t i = 0; i < LISTS; i++)
        if (str_is(key, lists[i]))
            return true;
    return false;
}

/* What is there stays in its order. `own` has one item in each list. */
static struct json merge(struct arena *a, const struct json *config, struct str name,
                         const struct json *own) {
    struct json out = {.kind = JSON_OBJECT};
    bool has_current = false;
    for (uint32_t i = 0; config->kind == JSON_OBJECT && i < config->n; i++) {
        struct str key = config->members[i].key;
        const struct json *value = &config->members[i].value;
        bool is_current = str_is(key, "current-context");
        if (is_list(key) || (is_current && !(value->kind == JSON_STRING && value->n)))
            continue;
        has_current |= is_current;
        json_add(a, &out, key, *value);
    }
    if (config->kind == JSON_NULL) {
        json_add(a, &out, STR("apiVersion"), json_of_str(STR("v1")));
        json_add(a, &out, STR("kind"), json_of_str(STR("Config")));
    }
    for (size_t i = 0; i < LISTS; i++) {
        struct str key = str_of(lists[i]);
        json_add(a, &out, key,
                 replace(a, json_get(config, key), name, &json_get(own, key)->items[0]));
    }
    if (!has_current)
        json_add(a, &out, STR("current-context"), json_of_str(name));
    return out;
}

/* The entries, all of this name. */
static int own_entries(struct arena *a, struct str name, const struct auth_kubeconfig *k,
                       struct json *out, struct err *err) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    struct auth_kubeconfig named = *k;
    named.cluster = named.user = named.context = name;
    auth_kubeconfig_print(&text, &named);
    return yml_parse(a, arena_str(a, buf_view(&text)), out, err);
}

/* ---- writing ---- */

static int fail(struct err *err, const char *path) {
    return err_set(err, ERR_IO, "cannot write '%s': %s", path, strerror(errno));
}

/* Makes the folders above a file. */
static void make_folders(struct arena *a, struct str path) {
    char *name = arena_copy(a, arena_str(a, path).p, path.n + 1);
    for (char *slash = strchr(name + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(name, 0755); /* whatever comes of it, writing tells */
        *slash = '/';
    }
}

/* A link stays one: the file that it leads to is written, and must be there. */
static int resolve(struct arena *a, struct str path, struct str *out, struct err *err) {
    struct stat st;
    *out = arena_str(a, path);
    if (lstat(out->p, &st) < 0 || !S_ISLNK(st.st_mode))
        return 0;
    char *real = realpath(out->p, NULL);
    if (!real)
        return err_set(err, ERR_IO, "cannot follow the link '%s': %s", out->p, strerror(errno));
    *out = arena_str(a, str_of(real));
    free(real);
    return 0;
}

static int merge_locked(struct arena *a, struct str given, struct str name, const struct json *own,
                        struct err *err) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    struct json config;
    struct str path;
    if (resolve(a, given, &path, err) < 0 || read_config(a, path, &config, err) < 0)
        return -1;
    struct json merged = merge(a, &config, name, own);
    yml_write(&text, &merged);
    return auth__file_write(path, buf_view(&text), err);
}

int auth_kubeconfig_merge(struct arena *a, const struct auth_kubeconfig_places *places,
                          struct str name, const struct auth_kubeconfig *k, struct err *err) {
    struct json own;
    struct str path = choose(a, places, name);
    if (own_entries(a, name, k, &own, err) < 0)
        return -1;
    make_folders(a, path);
    const char *lock = arena_printf(a, "%.*s.lock", STR_ARG(path)).p;
    int fd = open(lock, O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail(err, lock);
    close(fd);
    int rc = merge_locked(a, path, name, &own, err);
    unlink(lock);
    return rc;
}
