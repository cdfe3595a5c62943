/* Credentials and their age. */
#include "client/credentials_int.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "client/access/exec_int.h"

/* Token files are read so often, as by upstream: kubelets write them anew long before tokens end.
 */
#define FILE_AGE (60 * CLOCK_SECOND)

struct client__credentials {
    struct net_loop *loop;
    const struct kubeconfig_access *access;
    net_fn *changed;
    void *arg;
    struct arena arena; /* of `now`, if it was read */
    struct client__credential now;
    bool is_known;   /* `now` was read */
    int64_t read_at; /* of a file, in monotonic time */
    int64_t until;   /* of a program's answer: wall time in seconds */
    struct client__exec exec;
    bool has_failed;
    int64_t failed_at; /* whoever asks in this turn is told why */
    struct err why;
};

struct client__credentials *client__credentials_new(struct net_loop *loop,
                                                    const struct kubeconfig_access *access,
                                                    net_fn *changed, void *arg) {
    struct client__credentials *c = xcalloc(1, sizeof *c);
    c->loop = loop;
    c->access = access;
    c->changed = changed;
    c->arg = arg;
    c->exec.loop = loop;
    c->now = (struct client__credential){access->token, access->certificate, access->key};
    return c;
}

void client__credentials_free(struct client__credentials *c) {
    if (!c)
        return;
    client__exec_stop(&c->exec);
    arena_release(&c->arena);
    free(c);
}

/* ---- files ---- */

/* A file that cannot be read leaves what there was. */
static int look_at_file(struct client__credentials *c, struct err *err) {
    struct arena a = {0};
    struct str text;
    int64_t now = net_loop_now(c->loop);
    if (c->is_known && now - c->read_at < FILE_AGE)
        return 0;
    if (kubeconfig_read_file(&a, c->access->token_file, &text, err) < 0) {
        arena_release(&a);
        return c->now.token.n ? 0 : err_wrap(err, "tokenFile");
    }
    arena_release(&c->arena);
    c->arena = a;
    c->now.token = str_trim(text);
    c->is_known = true;
    c->read_at = now;
    return 0;
}

/* ---- programs ---- */

static void fail(struct client__credentials *c, const struct err *err) {
    c->why = *err;
    c->why.code = ERR_UNAUTHORIZED;
    err_wrap(&c->why, "exec '%.*s'", STR_ARG(c->access->exec->command));
    c->has_failed = true;
    c->failed_at = net_loop_now(c->loop);
}

/* What the kubeconfig says stays where the program says nothing. */
static int keep(struct client__credentials *c, struct str output, struct err *err) {
    struct client__credential got;
    struct arena a = {0};
    if (client__exec_read(&a, arena_str(&a, output), c->access->exec->api_version, &got, &c->until,
                          err) < 0) {
        arena_release(&a);
        return -1;
    }
    arena_release(&c->arena);
    c->arena = a;
    c->now.token = got.token.n ? got.token : c->access->token;
    c->now.certificate = got.key.n ? got.certificate : c->access->certificate;
    c->now.key = got.key.n ? got.key : c->access->key;
    c->is_known = true;
    return 0;
}

static void on_done(void *arg, struct str output, const struct err *err) {
    struct client__credentials *c = arg;
    struct err why;
    if (err)
        fail(c, err);
    else if (keep(c, output, &why) < 0)
        fail(c, &why);
    c->changed(c->arg);
}

static void start(struct client__credentials *c) {
    AUTO(arena_release) struct arena a = {0};
    struct err err;
    c->has_failed = false;
    c->exec.done = on_done;
    c->exec.arg = c;
    if (client__exec_start(&c->exec, c->access->exec, client__exec_info(&a, c->access), &err) < 0)
        fail(c, &err);
}

static enum client__credentials_state look_at_program(struct client__credentials *c,
                                                      struct err *err) {
    int64_t wall = clock_wall(net_loop_clock(c->loop)) / CLOCK_SECOND;
    bool failed_now = c->has_failed && c->failed_at == net_loop_now(c->loop);
    if (c->is_known && wall < c->until)
        return CLIENT__CREDENTIALS_READY;
    if (!c->exec.pid && !failed_now)
        start(c);
    if (c->exec.pid)
        return CLIENT__CREDENTIALS_AWAITED;
    *err = c->why;
    return CLIENT__CREDENTIALS_FAILED;
}

/* May it stand in a header? Line breaks would begin another one. */
static bool is_printable(struct str token) {
    for (size_t i = 0; i < token.n; i++)
        if ((unsigned char)token.p[i] < ' ' || token.p[i] == 0x7f)
            return false;
    return true;
}

enum client__credentials_state client__credentials_get(struct client__credentials *c,
                                                       struct client__credential *out,
                                                       struct err *err) {
    enum client__credentials_state state = CLIENT__CREDENTIALS_READY;
    if (c->access->exec)
        state = look_at_program(c, err);
    else if (c->access->token_file.n && look_at_file(c, err) < 0)
        state = CLIENT__CREDENTIALS_FAILED;
    *out = c->now;
    if (state == CLIENT__CREDENTIALS_READY && !is_printable(c->now.token)) {
        err_set(err, ERR_UNAUTHORIZED, "the token has characters that no header can have");
        state = CLIENT__CREDENTIALS_FAILED;
    }
    return state;
}

void client__credentials_refused(struct client__credentials *c) {
    c->is_known = false;
}
