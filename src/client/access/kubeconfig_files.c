/* Where kubeconfig files are, and the files that they name. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "client/kubeconfig.h"

/* Of longer names the end is not told. */
enum { LONGEST_PATH_SHOWN = 250 };

#define SERVICE_ACCOUNT "/var/run/secrets/kubernetes.io/serviceaccount"

/* ---- reading ---- */

static void close_file(const int *fd) {
    if (*fd >= 0)
        close(*fd);
}

static int read_all(int fd, struct buf *text, size_t most) {
    for (;;) {
        char *room = buf_room(text, 4096);
        ssize_t got = room ? read(fd, room, 4096) : 0;
        if (got < 0 && errno != EINTR)
            return -1;
        text->n += got > 0 ? (size_t)got : 0;
        errno = EFBIG;
        if (!room || text->n > most)
            return -1;
        if (got == 0)
            return 0;
    }
}

/* *is_there tells whether it could be opened at all, or is missing, unless that is NULL. */
static int read_file(struct arena *a, struct str path, size_t most, struct str *out, bool *is_there,
                     struct err *err) {
    AUTO(buf_release) struct buf text = BUF_INIT(most + 8192);
    const char *name = arena_str(a, path).p;
    AUTO(close_file) int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (is_there)
        *is_there = fd >= 0 || errno != ENOENT;
    if (is_there && !*is_there)
        return 0;
    if (fd < 0 || read_all(fd, &text, most) < 0)
        return err_set(err, ERR_IO, "cannot read '%.*s': %s", STR_ARG(path), strerror(errno));
    *out = arena_str(a, text.n ? buf_view(&text) : STR(""));
    return 0;
}

int kubeconfig_read_file(struct arena *a, struct str path, struct str *out, struct err *err) {
    return read_file(a, path, LIMIT_AUTH_FILE_BYTES, out, NULL, err);
}

/* ---- kubeconfig files ---- */

/* What was found on the way to a configuration. */
struct search {
    struct arena *a;
    struct kubeconfig *config;
    size_t found, tried;
};

static int add_file(struct search *s, struct str path, bool is_needed, struct err *err) {
    struct str text = {0};
    bool is_there = true;
    if (!path.n)
        return 0;
    if (s->tried++ >= LIMIT_KUBECONFIG_FILES)
        return err_set(err, ERR_TOO_LARGE, "$KUBECONFIG names more than %d files",
                       LIMIT_KUBECONFIG_FILES);
    if (read_file(s->a, path, LIMIT_OBJECT_BYTES, &text, is_needed ? NULL : &is_there, err) < 0)
        return err_wrap(err, "kubeconfig");
    if (!is_there)
        return 0;
    s->found++;
    return kubeconfig_add(s->config, path, text, err);
}

static int add_files(struct search *s, const struct kubeconfig_sources *from, struct err *err) {
    if (from->file.n)
        return add_file(s, from->file, true, err);
    if (!from->files.n)
        return from->home.n
                   ? add_file(s, arena_printf(s->a, "%.*s/.kube/config", STR_ARG(from->home)),
                              false, err)
                   : 0;
    for (struct str rest = from->files, path; rest.n;) {
        str_cut(rest, ':', &path, &rest);
        if (add_file(s, path, false, err) < 0)
            return -1;
    }
    return 0;
}

/* ---- what they name ---- */

/* Reads a file into `out`, unless that has a text already, which comes first. */
static int fill(struct arena *a, struct str path, struct str *out, struct err *err) {
    return path.n && !out->n ? kubeconfig_read_file(a, path, out, err) : 0;
}

static int read_named(struct arena *a, struct kubeconfig_access *out, struct err *err) {
    if (fill(a, out->authorities_file, &out->authorities, err) < 0)
        return err_wrap(err, "certificate-authority");
    if (fill(a, out->certificate_file, &out->certificate, err) < 0)
        return err_wrap(err, "client-certificate");
    if (fill(a, out->key_file, &out->key, err) < 0)
        return err_wrap(err, "client-key");
    return 0;
}

/* ---- in a pod ---- */

static int load_in_cluster(struct arena *a, const struct kubeconfig_sources *from,
                           struct kubeconfig_access *out, struct err *err) {
    struct str folder = from->service_account.n ? from->service_account : STR(SERVICE_ACCOUNT);
    bool is_v6 = str_find_char(from->service_host, ':') != STR_NONE, has_namespace;
    struct str namespace = {0};
    *out = (struct kubeconfig_access){
        .server = arena_printf(a, is_v6 ? "https://[%.*s]:%.*s" : "https://%.*s:%.*s",
                               STR_ARG(from->service_host), STR_ARG(from->service_port)),
        .token_file = arena_printf(a, "%.*s/token", STR_ARG(folder)),
        .authorities_file = arena_printf(a, "%.*s/ca.crt", STR_ARG(folder)),
    };
    if (fill(a, out->token_file, &out->token, err) < 0 || read_named(a, out, err) < 0 ||
        read_file(a, arena_printf(a, "%.*s/namespace", STR_ARG(folder)), LIMIT_AUTH_FILE_BYTES,
                  &namespace, &has_namespace, err) < 0)
        return err_wrap(err, "service account");
    out->token = str_trim(out->token);
    out->namespace = str_trim(namespace);
    return 0;
}

static int fail_missing(const struct kubeconfig_sources *from, size_t tried, struct err *err) {
    if (!from->files.n)
        return err_set(err, ERR_NOT_FOUND,
                       "there is no kubeconfig: give one with --kubeconfig or $KUBECONFIG");
    return err_set(
        err, ERR_NOT_FOUND,
        "there is no kubeconfig: $KUBECONFIG names %.*s, which do%s not exist; set it to "
        "one that does, or give one with --kubeconfig",
        (int)(from->files.n < LONGEST_PATH_SHOWN ? from->files.n : LONGEST_PATH_SHOWN),
        from->files.p, tried > 1 ? "" : "es");
}

int kubeconfig_load(struct arena *a, const struct kubeconfig_sources *from,
                    struct kubeconfig_access *out, struct err *err) {
    struct search s = {.a = a, .config = kubeconfig_new(a)};
    if (add_files(&s, from, err) < 0)
        return -1;
    if (!s.found && !from->context.n && from->service_host.n && from->service_port.n)
        return load_in_cluster(a, from, out, err);
    if (!s.found)
        return fail_missing(from, s.tried, err);
    if (kubeconfig_resolve(s.config, from->context, out, err) < 0)
        return -1;
    return read_named(a, out, err);
}
