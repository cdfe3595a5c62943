/* The lane's connections: writers, watchers and the reader, and what is checked behind a start. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "journal.h"
#include "lane.h"

/* ---- the reader ---- */

static void reader_answered(void *ctx, const struct answer *answer) {
    struct lane *l = ctx;
    buf_clear(&l->answer_body);
    buf_add(&l->answer_body, answer->body);
    l->answer = (struct answer){answer->code, buf_view(&l->answer_body)};
}

int lane_ask(struct lane *l, const char *method, struct str path, struct str body) {
    int64_t until = now_ms() + WAIT_MS;
    const char *type = !body.n                        ? NULL
                       : strcmp(method, "PATCH") == 0 ? "application/merge-patch+json"
                                                      : "application/json";
    if (!l->reader.ssl)
        return 0;
    conn_ask(&l->reader, method, path, type, body);
    while (l->reader.asks) {
        link_run(&l->link, 10);
        if (now_ms() > until)
            model_wrong(&l->model, "no answer to %s %.*s in %d s", method, STR_ARG(path),
                        WAIT_MS / 1000);
    }
    return l->answer.code;
}

bool lane_list(struct lane *l) {
    for (uint32_t i = 0; i < KINDS; i++) {
        int code = lane_ask(l, "GET", str_of(kinds[i].path), (struct str){0});
        if (code == 0)
            return false;
        if (code != 200)
            model_wrong(&l->model, "a list of %s is answered with %d: %.*s", kinds[i].name, code,
                        STR_ARG(l->answer.body));
        model_list(&l->model, i, l->answer.body);
        l->tally->listed++;
    }
    return true;
}

/* ---- writes ---- */

/* A refusal must say why, as the API does. */
static void expect_status(struct lane *l, int code, struct str body) {
    struct json tree;
    struct err err;
    arena_reset(&l->model.arena);
    const struct json *message = NULL;
    if (json_parse(&l->model.arena, body, NULL, &tree, &err) == 0)
        message = json_get(&tree, STR("message"));
    if (!message || !json_str(message).n || !(l->fault || l->closes))
        model_wrong(&l->model, "a write is answered with %d: %.*s", code, STR_ARG(body));
    struct str text = json_str(message);
    if (l->fault)
        snprintf(l->fault->sample, sizeof l->fault->sample, "%d %.*s", code, STR_ARG(text));
}

static void end_write(struct lane *l, uint64_t id, const struct answer *answer) {
    struct write *w = model_write(&l->model, id);
    struct key *k = &l->model.keys.v[w->key];
    k->busy = false;
    if (answer->code == 0) {
        k->doubtful = true;
    } else if (answer->code == 200 || answer->code == 201) {
        model_acknowledge(&l->model, id, answer->body);
    } else if (answer->code == 409 && w->base && k->shared) {
        w->fate = FATE_NEVER;
    } else if (answer->code >= 500) {
        expect_status(l, answer->code, answer->body);
        l->refused_answers++;
        w->fate = FATE_FAILED;
        k->doubtful = true;
    } else {
        model_wrong(&l->model, "write %llu to k%u is answered with %d: %.*s",
                    (unsigned long long)id, w->key, answer->code, STR_ARG(answer->body));
    }
}

static const char *const methods[] = {"POST", "PUT", "PATCH", "DELETE"};

/* Sends a write by a connection. */
static uint64_t send_write(struct lane *l, struct conn *c, uint32_t key, enum op op,
                           uint64_t base) {
    static const char *const types[] = {"application/json", "application/json",
                                        "application/merge-patch+json", NULL};
    uint64_t id = model_begin(&l->model, key, op, base);
    buf_clear(&l->body);
    buf_clear(&l->path);
    buf_addf(&l->path, "%s", kinds[l->model.keys.v[key].kind].path);
    if (op != OP_CREATE)
        buf_addf(&l->path, "/k%u", key);
    if (op != OP_DELETE)
        model_body(&l->model, id, &l->body);
    conn_ask(c, methods[op], buf_view(&l->path), types[op], buf_view(&l->body));
    return id;
}

int lane_mark(struct lane *l, uint32_t key) {
    const struct key *k = &l->model.keys.v[key];
    if (!l->reader.ssl)
        return 0;
    uint64_t id = send_write(l, &l->reader, key, k->told.id ? OP_PATCH : OP_CREATE, 0);
    int64_t until = now_ms() + WAIT_MS;
    while (l->reader.asks) {
        link_run(&l->link, 10);
        if (now_ms() > until)
            model_wrong(&l->model, "no answer to write %llu", (unsigned long long)id);
    }
    end_write(l, id, &l->answer);
    l->model.feeds[k->kind].marker = id;
    return l->answer.code;
}

static void writer_answered(void *ctx, const struct answer *answer) {
    struct writer *w = ctx;
    uint64_t id = w->id;
    w->id = 0;
    end_write(w->lane, id, answer);
    if (answer->code)
        lane_write_next(w);
}

/* Draws a write to a key of the writer's own. */
static enum op draw_own(struct lane *l, const struct key *k, uint64_t *base) {
    static const enum op ops[] = {OP_PUT, OP_PUT, OP_PATCH, OP_PATCH, OP_DELETE};
    enum op op = k->told.id ? ops[crash_chance(&l->seed, 5)] : OP_CREATE;
    *base = op == OP_PUT ? k->told.revision : 0;
    return op;
}

/* Draws a write to a key that all write to: with the revision that was last seen, or with none. */
static enum op draw_shared(struct lane *l, const struct key *k, uint64_t *base) {
    enum op op = crash_chance(&l->seed, 2) ? OP_PUT : OP_PATCH;
    *base = crash_chance(&l->seed, 2) ? k->told.revision : 0;
    return op;
}

void lane_write_next(struct writer *w) {
    struct lane *l = w->lane;
    bool shared = crash_chance(&l->seed, 6) == 0;
    uint32_t key = shared ? l->first_shared + (uint32_t)crash_chance(&l->seed, SHARED_KEYS)
                          : w->first_key + (uint32_t)crash_chance(&l->seed, KEYS_OF_WRITER);
    const struct key *k = &l->model.keys.v[key];
    uint64_t base = 0;
    if (l->stops || w->id || !w->conn.ssl || k->doubtful || (shared && !k->told.id))
        return;
    enum op op = shared ? draw_shared(l, k, &base) : draw_own(l, k, &base);
    w->id = send_write(l, &w->conn, key, op, base);
}

bool lane_is_busy(const struct lane *l) {
    for (uint32_t i = 0; i < l->connections; i++)
        if (l->writers[i].id)
            return true;
    return false;
}

/* ---- watches ---- */

static void watch_line(void *ctx, struct str line) {
    struct watcher *w = ctx;
    w->lane->tally->rewound += w->at < w->lane->model.feeds[w->kind].log.n;
    model_watch(&w->lane->model, w->kind, line, &w->at);
}

/* A watch ends with its server, and not before: whole, if the server closes. */
static void watch_answered(void *ctx, const struct answer *answer) {
    struct watcher *w = ctx;
    if (answer->code && !(answer->code == 200 && w->lane->closes))
        model_wrong(&w->lane->model, "a watch of %s is answered with %d: %.*s", kinds[w->kind].name,
                    answer->code, STR_ARG(answer->body));
}

static void watch_on(struct watcher *w) {
    struct lane *l = w->lane;
    if (w->rewinds)
        w->kind = (uint32_t)crash_chance(&l->seed, KINDS);
    const struct feed *f = &l->model.feeds[w->kind];
    if (w->rewinds)
        w->at = f->floor + crash_chance(&l->seed, f->log.n - f->floor + 1);
    uint64_t revision = w->at ? f->log.v[w->at - 1].state.revision : 1;
    buf_clear(&l->path);
    buf_addf(&l->path, "%s?watch=1&resourceVersion=%llu", kinds[w->kind].path,
             (unsigned long long)revision);
    w->conn.answered = watch_answered;
    w->conn.line = watch_line;
    w->conn.ctx = w;
    conn_open(&w->conn, &l->link);
    conn_ask(&w->conn, "GET", buf_view(&l->path), NULL, (struct str){0});
}

/* ---- all of them ---- */

void lane_connect(struct lane *l, int port) {
    l->link.port = port;
    l->connections = l->opts.connections >> crash_chance(&l->seed, 4);
    l->connections += l->connections == 0;
    l->reader.answered = reader_answered;
    l->reader.ctx = l;
    conn_open(&l->reader, &l->link);
    for (int i = 0; i < WATCHERS; i++)
        watch_on(&l->watchers[i]);
    for (uint32_t i = 0; i < l->connections; i++) {
        struct writer *w = &l->writers[i];
        w->conn.answered = writer_answered;
        w->conn.ctx = w;
        conn_open(&w->conn, &l->link);
    }
}

void lane_disconnect(struct lane *l) {
    l->stops = true;
    for (uint32_t i = 0; i < l->connections; i++)
        conn_drain(&l->writers[i].conn);
    for (int i = 0; i < WATCHERS; i++)
        conn_drain(&l->watchers[i].conn);
    conn_drain(&l->reader);
}

/* ---- behind a start ---- */

static void make_namespace(struct lane *l) {
    int code =
        lane_ask(l, "POST", STR("/api/v1/namespaces"), STR("{\"metadata\":{\"name\":\"crash\"}}"));
    if (code != 201 && code != 409)
        model_wrong(&l->model, "no namespace: %d %.*s", code, STR_ARG(l->answer.body));
    l->namespace_made = true;
}

/* Writes come behind all that was ever told of. */
static void mark_all(struct lane *l) {
    uint64_t newest = l->model.newest;
    for (uint32_t i = 0; i < KINDS + SHARED_KEYS; i++) {
        uint32_t key = i < SHARED_KEYS ? l->first_shared + i : l->markers[i - SHARED_KEYS];
        const struct key *k = &l->model.keys.v[key];
        if (i < SHARED_KEYS && (k->told.id || k->listed.id))
            continue;
        int code = lane_mark(l, key);
        if (code != 200 && code != 201)
            model_wrong(&l->model, "a write behind a start is answered with %d", code);
        if (k->told.revision <= newest)
            model_wrong(&l->model, "revision %llu is told behind %llu",
                        (unsigned long long)k->told.revision, (unsigned long long)newest);
        newest = k->told.revision;
    }
}

static bool watchers_are_done(struct lane *l) {
    for (int i = 0; i < WATCHERS; i++) {
        const struct watcher *w = &l->watchers[i];
        const struct feed *f = &l->model.feeds[w->kind];
        if (w->at < f->log.n || !model_write(&l->model, f->marker)->seen)
            return false;
    }
    return true;
}

/* The driver's own keys may have been written to by a start that was killed: lists tell. */
static void learn_own(struct lane *l) {
    for (size_t i = 0; i < l->model.keys.n; i++)
        if (l->model.keys.v[i].ours)
            l->model.keys.v[i].told = l->model.keys.v[i].listed;
}

void lane_verify(struct lane *l) {
    int64_t until = now_ms() + WAIT_MS;
    if (!l->namespace_made)
        make_namespace(l);
    if (!lane_list(l))
        model_wrong(&l->model, "the server has ended behind its start");
    learn_own(l);
    mark_all(l);
    while (!watchers_are_done(l)) {
        link_run(&l->link, 10);
        if (now_ms() > until)
            model_wrong(&l->model, "watches do not show the last write of their kind in %d s",
                        WAIT_MS / 1000);
    }
    model_settle(&l->model);
}
