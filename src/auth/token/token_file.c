/*
 * Tokens of a file, each with its user.
 *
 * Only hashes of tokens are kept and compared, so that the time of a comparison tells nothing of a
 * token.
 *
 * Follows k8s.io/apiserver pkg/authentication/token/tokenfile, func NewCSV.
 * Follows std encoding/csv, func (*Reader) readRecord.
 */
#include <openssl/evp.h>
#include <stdlib.h>

#include "auth/token_int.h"
#include "base/alloc.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "base/vec.h"

enum { HASH_BYTES = 32 };

struct entry {
    unsigned char hash[HASH_BYTES];
    size_t place; /* in the file: of equal tokens the last counts */
    struct auth_user user;
};

struct auth_token_file {
    struct arena arena;
    struct entry *v; /* by hash */
    size_t n, cap;
};

static void hash_token(struct str token, unsigned char to[HASH_BYTES]) {
    unsigned n = 0;
    if (!EVP_Digest(token.n ? token.p : "", token.n, to, &n, EVP_sha256(), NULL))
        BUG("SHA-256 is missing");
}

/* ---- CSV ---- */

struct reader {
    struct str rest;
    uint32_t line; /* that was read last, from 1 */
    struct arena *a;
    VEC(struct str) fields;
    struct buf field; /* the one that is read */
    struct err *err;
};

static int fail_csv(struct reader *r, uint32_t start, size_t column, const char *what) {
    if (start != r->line)
        return err_set(r->err, ERR_INVALID,
                       "record on line %u; parse error on line %u, column %zu: %s", start, r->line,
                       column, what);
    return err_set(r->err, ERR_INVALID, "parse error on line %u, column %zu: %s", r->line, column,
                   what);
}

/* The next line with its line break, which is never \r\n; false at the end. */
static bool next_line(struct reader *r, struct str *line, bool *has_break) {
    if (!r->rest.n)
        return false;
    *has_break = str_cut(r->rest, '\n', line, &r->rest);
    r->line++;
    if (line->n && line->p[line->n - 1] == '\r')
        line->n--;
    return true;
}

static void end_field(struct reader *r) {
    vec_push(&r->fields, arena_str(r->a, r->field.n ? buf_view(&r->field) : STR("")));
    buf_clear(&r->field);
}

/* Where a parser stands in a record: in the rest of a line. */
struct cursor {
    struct str whole, left;
    bool has_break;
    uint32_t start; /* line of the record */
};

static size_t column_of(const struct cursor *c) {
    return c->whole.n - c->left.n + 1;
}

/* A field in quotes, whose first one is read already. 1: another field follows, 0: the record
 * ends. */
static int read_quoted(struct reader *r, struct cursor *c) {
    for (;;) {
        struct str text;
        if (!str_cut(c->left, '"', &text, &c->left)) {
            buf_add(&r->field, text);
            if (c->has_break)
                buf_add_char(&r->field, '\n');
            if (!next_line(r, &c->whole, &c->has_break)) {
                c->left = (struct str){0};
                return fail_csv(r, c->start, c->whole.n + 1,
                                "extraneous or missing \" in quoted-field");
            }
            c->left = c->whole;
            continue;
        }
        buf_add(&r->field, text);
        if (!c->left.n)
            return 0;
        if (c->left.p[0] == ',') {
            c->left = str_sub(c->left, 1, c->left.n);
            return 1;
        }
        if (c->left.p[0] != '"')
            return fail_csv(r, c->start, column_of(c) - 1,
                            "extraneous or missing \" in quoted-field");
        buf_add_char(&r->field, '"');
        c->left = str_sub(c->left, 1, c->left.n);
    }
}

static int read_field(struct reader *r, struct cursor *c) {
    if (c->left.n && c->left.p[0] == '"') {
        c->left = str_sub(c->left, 1, c->left.n);
        return read_quoted(r, c);
    }
    struct str text;
    size_t column = column_of(c);
    bool more = str_cut(c->left, ',', &text, &c->left);
    size_t quote = str_find_char(text, '"');
    if (quote != STR_NONE)
        return fail_csv(r, c->start, column + quote, "bare \" in non-quoted-field");
    buf_add(&r->field, text);
    return more;
}

/* 1: a record was read, 0: the end, -1: not CSV. Empty lines are passed over. */
static int read_record(struct reader *r) {
    struct cursor c = {0};
    vec_clear(&r->fields);
    do {
        if (!next_line(r, &c.whole, &c.has_break))
            return 0;
    } while (!c.whole.n);
    c.left = c.whole;
    c.start = r->line;
    int more;
    do {
        more = read_field(r, &c);
        if (more < 0)
            return -1;
        end_field(r);
    } while (more);
    return 1;
}

/* ---- users ---- */

static struct api_strs split_groups(struct arena *a, struct str text) {
    struct api_strs groups = {0};
    size_t n = 1;
    for (size_t i = 0; i < text.n; i++)
        n += text.p[i] == ',';
    groups.v = arena_array(a, struct str, n);
    for (bool more = true; more;)
        more = str_cut(text, ',', &groups.v[groups.n++], &text);
    return groups;
}

static int add_record(struct auth_token_file *f, struct reader *r, struct str path) {
    const struct str *field = r->fields.v;
    if (r->fields.n < 3)
        return err_set(r->err, ERR_INVALID,
                       "token file '%.*s' must have at least 3 columns (token, user name, user "
                       "uid), found %zu",
                       STR_ARG(path), r->fields.n);
    if (f->n >= LIMIT_AUTH_FILE_TOKENS)
        return err_set(r->err, ERR_TOO_LARGE, "token file '%.*s' has more than %u tokens",
                       STR_ARG(path), LIMIT_AUTH_FILE_TOKENS);
    if (!field[0].n)
        return 0;
    struct entry e = {.place = f->n, .user = {.name = field[1], .uid = field[2]}};
    hash_token(field[0], e.hash);
    if (r->fields.n >= 4)
        e.user.groups = split_groups(&f->arena, field[3]);
    vec_push(f, e);
    return 0;
}

static int compare_entries(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    int order = memcmp(x->hash, y->hash, HASH_BYTES);
    return order ? order : (x->place < y->place) - (x->place > y->place);
}

static int read_file(struct auth_token_file *f, struct str text, struct str path, struct err *err) {
    struct reader r = {.rest = text, .a = &f->arena, .field = BUF_INIT(SIZE_MAX), .err = err};
    int rc;
    while ((rc = read_record(&r)) > 0 && (rc = add_record(f, &r, path)) == 0) {
    }
    vec_release(&r.fields);
    buf_release(&r.field);
    return rc;
}

struct auth_token_file *auth_token_file_parse(struct str text, struct str path, struct err *err) {
    struct auth_token_file *f = xcalloc(1, sizeof *f);
    int rc = text.n > LIMIT_AUTH_FILE_BYTES
                 ? err_set(err, ERR_TOO_LARGE, "token file '%.*s' has more than %u bytes",
                           STR_ARG(path), LIMIT_AUTH_FILE_BYTES)
                 : read_file(f, text, path, err);
    if (rc < 0) {
        auth_token_file_free(f);
        return NULL;
    }
    if (f->n)
        qsort(f->v, f->n, sizeof *f->v, compare_entries);
    return f;
}

void auth_token_file_free(struct auth_token_file *f) {
    if (!f)
        return;
    vec_release(f);
    arena_release(&f->arena);
    free(f);
}

/* The first entry whose hash is not below that of the token. */
const struct auth_user *auth_token_file_find(const struct auth_token_file *f, struct str token) {
    unsigned char hash[HASH_BYTES];
    size_t low = 0, high = f->n;
    hash_token(token, hash);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (memcmp(f->v[middle].hash, hash, HASH_BYTES) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool is_there = low < f->n && memcmp(f->v[low].hash, hash, HASH_BYTES) == 0;
    return is_there ? &f->v[low].user : NULL;
}
