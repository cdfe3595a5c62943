/* The folder with the server's own certificates and keys: read, made, and made anew in time. */
#include <errno.h>
#include <fcntl.h>
#include <openssl/x509v3.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "auth/pki_int.h"
#include "codec/time.h"

enum { HOUR = 3600, DAY = 24 * HOUR, YEAR = 365 * DAY };

/* Clocks of clients may be behind. */
enum { SKEW = HOUR };

/* Names that every server has. */
static const struct str common_names[] = {
    STR_INIT("localhost"),
    STR_INIT("127.0.0.1"),
    STR_INIT("::1"),
    STR_INIT("kubernetes"),
    STR_INIT("kubernetes.default"),
    STR_INIT("kubernetes.default.svc"),
    STR_INIT("kubernetes.default.svc.cluster.local"),
};
enum { COMMON_NAMES = sizeof common_names / sizeof *common_names };

/* A certificate and its key, in memory and as PEM. */
struct pair {
    X509 *cert;
    EVP_PKEY *key;
    struct str cert_pem, key_pem;
};

static void release_pair(struct pair *p) {
    X509_free(p->cert);
    EVP_PKEY_free(p->key);
}

struct folder {
    struct arena *a;
    const struct auth_pki_options *o;
    int fd; /* locked */
    struct pair ca;
};

static void release_folder(struct folder *f) {
    release_pair(&f->ca);
    if (f->fd >= 0)
        close(f->fd);
}

static struct str path_of(const struct folder *f, const char *stem, const char *suffix) {
    return arena_printf(f->a, "%.*s/%s%s", STR_ARG(f->o->dir), stem, suffix);
}

/* ---- files ---- */

/* Reads what is there of a pair; members that are not stay NULL. */
static int read_pair(const struct folder *f, const char *stem, struct pair *p, struct err *err) {
    struct str cert = path_of(f, stem, ".crt"), key = path_of(f, stem, ".key");
    if (auth__file_read(f->a, cert, false, &p->cert_pem, err) < 0 ||
        auth__file_read(f->a, key, true, &p->key_pem, err) < 0)
        return -1;
    if (p->cert_pem.p && !(p->cert = auth__certificate_read(p->cert_pem, err)))
        return err_wrap(err, "'%.*s'", STR_ARG(cert));
    if (p->key_pem.p && !(p->key = auth__key_read(p->key_pem, err)))
        return err_wrap(err, "'%.*s'", STR_ARG(key));
    if (p->cert && p->key && X509_check_private_key(p->cert, p->key) != 1) {
        auth__ssl_fail(err, "");
        return err_set(err, ERR_INVALID, "'%.*s' is not the key of '%.*s'", STR_ARG(key),
                       STR_ARG(cert));
    }
    return 0;
}

/* The key comes first: a certificate without its key would be of no use. */
static int write_pair(const struct folder *f, const char *stem, const struct pair *p,
                      struct err *err) {
    if (auth__file_write(path_of(f, stem, ".key"), p->key_pem, err) < 0)
        return -1;
    return auth__file_write(path_of(f, stem, ".crt"), p->cert_pem, err);
}

static int make_key(const struct folder *f, struct pair *p, struct err *err) {
    if (p->key)
        return 0;
    p->key = auth__key_make(err);
    if (!p->key)
        return -1;
    p->key_pem = auth__key_write(f->a, p->key, err);
    return p->key_pem.p ? 0 : -1;
}

/* Certifies the key, which is made if there is none, and writes both. */
static int certify(const struct folder *f, const char *stem, const struct auth__subject *s,
                   struct pair *p, struct err *err) {
    struct auth__issuer by = {.cert = f->ca.cert, .key = f->ca.key};
    if (s->use == AUTH__CA)
        by = (struct auth__issuer){0};
    if (make_key(f, p, err) < 0)
        return -1;
    X509 *cert = auth__certificate_make(p->key, s, &by, err);
    if (!cert)
        return -1;
    X509_free(p->cert);
    p->cert = cert;
    p->cert_pem = auth__certificate_write(f->a, cert, err);
    if (!p->cert_pem.p)
        return -1;
    return write_pair(f, stem, p, err);
}

/* ---- the authority ---- */

static int refuse_ended(const struct folder *f, int64_t until, struct err *err) {
    AUTO(buf_release) struct buf when = BUF_INIT(64);
    time_write(&when, (struct time_instant){.seconds = until});
    return err_set(err, ERR_INVALID,
                   "the certificate authority '%.*s/ca.crt' ended on %.*s: move the folder away to "
                   "have a new one made, which clients must be given",
                   STR_ARG(f->o->dir), STR_ARG(buf_view(&when)));
}

static int check_ca(const struct folder *f, struct err *err) {
    struct str path = path_of(f, "ca", ".crt");
    if (!f->ca.key)
        return err_set(err, ERR_INVALID, "'%.*s' has no key beside it: ca.key is missing",
                       STR_ARG(path));
    if (X509_check_ca(f->ca.cert) != 1)
        return err_set(err, ERR_INVALID, "'%.*s' is not the certificate of an authority",
                       STR_ARG(path));
    int64_t until = auth__certificate_until(f->ca.cert);
    return until <= f->o->now ? refuse_ended(f, until, err) : 0;
}

static int open_ca(struct folder *f, struct err *err) {
    const struct auth__subject s = {.name = "kubernetes",
                                    .use = AUTH__CA,
                                    .from = f->o->now - SKEW,
                                    .until = f->o->now + INT64_C(10) * YEAR};
    if (read_pair(f, "ca", &f->ca, err) < 0)
        return -1;
    if (!f->ca.cert)
        return certify(f, "ca", &s, &f->ca, err);
    if (check_ca(f, err) < 0)
        return -1;
    /* With the same name and key, whatever was certified before stays good. */
    bool is_ours = X509_NAME_entry_count(X509_get_subject_name(f->ca.cert)) == 1;
    if (is_ours && auth__certificate_until(f->ca.cert) <= f->o->now + YEAR)
        return certify(f, "ca", &s, &f->ca, err);
    return 0;
}

/* ---- what the authority certifies ---- */

static bool has_names(X509 *cert, const struct api_strs *names) {
    for (size_t i = 0; i < names->n; i++)
        if (!auth__certificate_has_name(cert, names->v[i]))
            return false;
    return true;
}

static bool is_of_ca(const struct folder *f, X509 *cert) {
    EVP_PKEY *key = X509_get0_pubkey(f->ca.cert);
    return X509_check_issued(f->ca.cert, cert) == X509_V_OK && X509_verify(cert, key) == 1;
}

static bool is_good_for_long(const struct folder *f, const struct pair *p,
                             const struct auth__subject *s) {
    return p->cert && p->key && auth__certificate_until(p->cert) > f->o->now + 30 * DAY &&
           has_names(p->cert, &s->names);
}

static int open_leaf(const struct folder *f, const char *stem, const struct auth__subject *s,
                     struct str *cert, struct str *key, struct err *err) {
    AUTO(release_pair) struct pair p = {0};
    if (read_pair(f, stem, &p, err) < 0)
        return -1;
    if (p.cert && !is_of_ca(f, p.cert)) {
        auth__ssl_fail(err, "");
        return err_set(err, ERR_INVALID,
                       "'%.*s/%s.crt' was not issued by the authority in ca.crt beside it: remove "
                       "it to have a new one made",
                       STR_ARG(f->o->dir), stem);
    }
    if (!is_good_for_long(f, &p, s) && certify(f, stem, s, &p, err) < 0)
        return -1;
    *cert = p.cert_pem;
    *key = p.key_pem;
    return 0;
}

/* An address that stands for all of them is nothing that clients ask for. */
static bool is_name(struct str name) {
    return name.n && !str_is(name, "0.0.0.0") && !str_is(name, "::");
}

static struct api_strs server_names(const struct folder *f) {
    const struct api_strs *more = &f->o->names;
    struct api_strs names = {.v = arena_array(f->a, struct str, COMMON_NAMES + more->n)};
    for (size_t i = 0; i < COMMON_NAMES; i++)
        names.v[names.n++] = common_names[i];
    for (size_t i = 0; i < more->n; i++)
        if (is_name(more->v[i]))
            names.v[names.n++] = more->v[i];
    return names;
}

/* No certificate lasts longer than that of its issuer. */
static int64_t leaf_until(const struct folder *f) {
    int64_t until = f->o->now + YEAR, ca = auth__certificate_until(f->ca.cert);
    return until < ca ? until : ca;
}

static int open_leaves(const struct folder *f, struct auth_pki *out, struct err *err) {
    const struct auth__subject server = {.name = "kube-apiserver",
                                         .use = AUTH__SERVER,
                                         .names = server_names(f),
                                         .from = f->o->now - SKEW,
                                         .until = leaf_until(f)};
    const struct auth__subject admin = {.name = "kubernetes-admin",
                                        .organization = AUTH_MASTERS,
                                        .use = AUTH__CLIENT,
                                        .from = f->o->now - SKEW,
                                        .until = leaf_until(f)};
    if (open_leaf(f, "apiserver", &server, &out->server_certificate, &out->server_key, err) < 0)
        return -1;
    return open_leaf(f, "admin", &admin, &out->admin_certificate, &out->admin_key, err);
}

static int open_service_account_key(const struct folder *f, struct str *out, struct err *err) {
    AUTO(release_pair) struct pair p = {0};
    struct str path = path_of(f, "sa", ".key");
    if (auth__file_read(f->a, path, true, &p.key_pem, err) < 0)
        return -1;
    if (p.key_pem.p && !(p.key = auth__key_read(p.key_pem, err)))
        return err_wrap(err, "'%.*s'", STR_ARG(path));
    bool is_new = !p.key;
    if (make_key(f, &p, err) < 0)
        return -1;
    *out = p.key_pem;
    return is_new ? auth__file_write(path, p.key_pem, err) : 0;
}

/* ---- the folder ---- */

/* Makes the folder if it is missing, and waits until nobody else works on it. */
static int open_folder(struct folder *f, struct err *err) {
    const char *dir = arena_str(f->a, f->o->dir).p;
    if (mkdir(dir, 0700) < 0 && errno != EEXIST)
        return err_set(err, ERR_IO, "cannot make the folder '%s': %s", dir, strerror(errno));
    f->fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (f->fd < 0)
        return err_set(err, ERR_IO, "cannot open the folder '%s': %s", dir, strerror(errno));
    while (flock(f->fd, LOCK_EX) < 0)
        if (errno != EINTR)
            return err_set(err, ERR_IO, "cannot lock the folder '%s': %s", dir, strerror(errno));
    return 0;
}

int auth_pki_open(struct arena *a, const struct auth_pki_options *o, struct auth_pki *out,
                  struct err *err) {
    AUTO(release_folder) struct folder f = {.a = a, .o = o, .fd = -1};
    if (open_folder(&f, err) < 0 || open_ca(&f, err) < 0)
        return -1;
    out->ca_certificate = f.ca.cert_pem;
    out->ca_key = f.ca.key_pem;
    if (open_leaves(&f, out, err) < 0)
        return -1;
    return open_service_account_key(&f, &out->service_account_key, err);
}
