/* The model: writes and objects, and what lists and events must be like. */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>

#include "journal.h"

const struct kind kinds[KINDS] = {
    {"/api/v1/namespaces/crash/configmaps", "v1", "ConfigMap"},
    {"/api/v1/namespaces/crash/secrets", "v1", "Secret"},
    {"/apis/coordination.k8s.io/v1/namespaces/crash/leases", "coordination.k8s.io/v1", "Lease"},
    {"/api/v1/nodes", "v1", "Node"},
};

static const char *const op_names[] = {"create", "put", "patch", "delete"};
static const char *const fate_names[] = {"sent", "acknowledged", "failed", "never"};

_Noreturn void model_wrong(struct model *m, const char *fmt, ...) {
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    m->wrong(m->ctx, text);
    abort();
}

void model_release(struct model *m) {
    for (size_t i = 0; i < m->keys.n; i++)
        vec_release(&m->keys.v[i].deletes);
    for (int i = 0; i < KINDS; i++)
        vec_release(&m->feeds[i].log);
    vec_release(&m->writes);
    vec_release(&m->keys);
    arena_release(&m->arena);
    buf_release(&m->text);
}

uint32_t model_add_key(struct model *m, struct key key) {
    vec_push(&m->keys, key);
    return (uint32_t)m->keys.n - 1;
}

struct write *model_write(struct model *m, uint64_t id) {
    return &m->writes.v[id - 1];
}

uint64_t model_begin(struct model *m, uint32_t key, enum op op, uint64_t base) {
    vec_push(&m->writes, (struct write){.op = op, .key = key, .base = base});
    uint64_t id = m->writes.n;
    if (op == OP_DELETE)
        vec_push(&m->keys.v[key].deletes, id);
    m->keys.v[key].busy = true;
    return id;
}

/* ---- objects ---- */

/* The text of a write: most are short, a few need many pages. */
static void add_text(const struct model *m, uint64_t id, struct buf *out) {
    uint64_t seed = m->seed ^ id * 0x10001, dice = crash_chance(&seed, 128);
    uint64_t n = dice == 0 ? 60000 : dice < 8 ? 8000 : 300;
    n = 16 + crash_chance(&seed, n);
    for (uint64_t i = 0; i < n; i += 8) {
        uint64_t bits = crash_next(&seed);
        for (int j = 0; j < 8; j++)
            buf_add_char(out, (char)('a' + (bits >> 8 * j & 15)));
    }
}

void model_body(struct model *m, uint64_t id, struct buf *out) {
    const struct write *w = model_write(m, id);
    const struct kind *k = &kinds[m->keys.v[w->key].kind];
    buf_addf(out, "{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"metadata\":{\"name\":\"k%u\",",
             k->api_version, k->name, w->key);
    if (w->base)
        buf_addf(out, "\"resourceVersion\":\"%llu\",", (unsigned long long)w->base);
    buf_addf(out, "\"annotations\":{\"id\":\"%llu\",\"text\":\"", (unsigned long long)id);
    add_text(m, id, out);
    buf_add(out, STR("\"}}}"));
}

static struct str text_at(const struct json *o, const char *outer, const char *inner) {
    const struct json *v = o ? json_get(o, str_of(outer)) : NULL;
    v = v ? json_get(v, str_of(inner)) : NULL;
    return v && v->kind == JSON_STRING ? json_str(v) : (struct str){0};
}

static uint64_t number_of(struct str text) {
    int64_t number = 0;
    return str_to_i64(text, &number) && number > 0 ? (uint64_t)number : 0;
}

/* Reads an object of a kind; false: it is none of ours. */
static bool read_object(struct model *m, uint32_t kind, const struct json *o, uint32_t *key,
                        struct state *out) {
    struct str name = text_at(o, "metadata", "name");
    const struct json *metadata = o ? json_get(o, STR("metadata")) : NULL;
    if (name.n < 2 || name.p[0] != 'k')
        return false;
    int64_t number = -1;
    if (!str_to_i64(str_sub(name, 1, name.n), &number) || number < 0 ||
        (size_t)number >= m->keys.n || m->keys.v[number].kind != kind)
        model_wrong(m, "an object that nobody made: %s %.*s", kinds[kind].name, STR_ARG(name));
    *key = (uint32_t)number;
    out->id = number_of(text_at(metadata, "annotations", "id"));
    out->revision = number_of(text_at(o, "metadata", "resourceVersion"));
    if (!out->id || out->id > m->writes.n || !out->revision || model_write(m, out->id)->key != *key)
        model_wrong(m, "k%u has number %llu and revision %llu", *key, (unsigned long long)out->id,
                    (unsigned long long)out->revision);
    buf_clear(&m->text);
    add_text(m, out->id, &m->text);
    if (!str_eq(buf_view(&m->text), text_at(metadata, "annotations", "text")))
        model_wrong(m, "k%u at revision %llu is not what write %llu sent", *key,
                    (unsigned long long)out->revision, (unsigned long long)out->id);
    return true;
}

static struct json parse(struct model *m, struct str body) {
    struct json tree;
    struct err err;
    const struct json_opts opts = {.max_bytes = body.n + 1};
    arena_reset(&m->arena);
    if (json_parse(&m->arena, body, &opts, &tree, &err) < 0)
        model_wrong(m, "an answer is not JSON: %s: %.*s", err.msg,
                    (int)(body.n < 200 ? body.n : 200), body.p);
    return tree;
}

static void note_revision(struct model *m, uint64_t revision) {
    if (revision > m->newest)
        m->newest = revision;
}

/* ---- answers ---- */

static void acknowledge_state(struct model *m, uint64_t id, struct str body) {
    struct write *w = model_write(m, id);
    struct key *k = &m->keys.v[w->key];
    struct json tree = parse(m, body);
    struct state s;
    uint32_t key;
    if (!read_object(m, k->kind, &tree, &key, &s) || key != w->key || s.id != id)
        model_wrong(m, "the answer to write %llu is another object", (unsigned long long)id);
    if (w->seen && w->seen != s.revision)
        model_wrong(m, "write %llu has revision %llu, its event %llu", (unsigned long long)id,
                    (unsigned long long)s.revision, (unsigned long long)w->seen);
    if (s.revision <= k->told.revision && !k->shared)
        model_wrong(m, "write %llu to k%u has revision %llu, which is not behind %llu",
                    (unsigned long long)id, w->key, (unsigned long long)s.revision,
                    (unsigned long long)k->told.revision);
    w->revision = s.revision;
    if (s.revision > k->told.revision)
        k->told = s;
    note_revision(m, s.revision);
}

void model_acknowledge(struct model *m, uint64_t id, struct str body) {
    struct write *w = model_write(m, id);
    w->fate = FATE_ACKED;
    m->acknowledged++;
    if (w->op == OP_DELETE)
        m->keys.v[w->key].told.id = 0;
    else
        acknowledge_state(m, id, body);
}

void model_list(struct model *m, uint32_t kind, struct str body) {
    struct json tree = parse(m, body);
    const struct json *items = json_get(&tree, STR("items"));
    for (size_t i = 0; i < m->keys.n; i++)
        if (m->keys.v[i].kind == kind)
            m->keys.v[i].listed = (struct state){0};
    m->feeds[kind].listed = number_of(text_at(&tree, "metadata", "resourceVersion"));
    if (!items || !m->feeds[kind].listed)
        model_wrong(m, "an answer is no list: %.*s", (int)(body.n < 200 ? body.n : 200), body.p);
    note_revision(m, m->feeds[kind].listed);
    for (uint32_t i = 0; i < items->n; i++) {
        struct state s;
        uint32_t key;
        if (!read_object(m, kind, &items->items[i], &key, &s))
            continue;
        if (m->keys.v[key].listed.id)
            model_wrong(m, "k%u is in a list twice", key);
        m->keys.v[key].listed = s;
    }
}

/* ---- events ---- */

/* The deletion that an event tells of. */
static uint64_t take_delete(struct model *m, struct key *k, const struct event *e) {
    if (!k->deletes.n)
        model_wrong(m, "k%u was deleted at revision %llu by nobody", e->key,
                    (unsigned long long)e->state.revision);
    uint64_t id = k->deletes.v[0];
    memmove(k->deletes.v, k->deletes.v + 1, (k->deletes.n - 1) * sizeof k->deletes.v[0]);
    k->deletes.n--;
    return id;
}

/* Does the event follow what is there? */
static bool follows(const struct key *k, const struct write *w, const struct event *e) {
    if (e->type == 'A')
        return !k->logged.id && w->op == OP_CREATE;
    if (e->type == 'D')
        return k->logged.id == e->state.id && w->op == OP_DELETE;
    return k->logged.id && (w->op == OP_PUT || w->op == OP_PATCH) &&
           (!w->base || w->base == k->logged.revision);
}

/* An event that no watcher has seen before. */
static void add_event(struct model *m, struct feed *f, const struct event *e) {
    struct key *k = &m->keys.v[e->key];
    uint64_t id = e->type == 'D' ? take_delete(m, k, e) : e->state.id, before = 0;
    struct write *w = model_write(m, id);
    if (f->log.n)
        before = f->log.v[f->log.n - 1].state.revision;
    if (e->state.revision <= before)
        model_wrong(m, "an event of revision %llu came behind that of %llu",
                    (unsigned long long)e->state.revision, (unsigned long long)before);
    if (w->seen || w->fate == FATE_FAILED || w->fate == FATE_NEVER ||
        (w->revision && w->revision != e->state.revision) || !follows(k, w, e))
        model_wrong(m,
                    "event %c of k%u at revision %llu: write %llu (%s, %s, revision %llu, seen "
                    "at %llu), behind revision %llu of that key",
                    e->type, e->key, (unsigned long long)e->state.revision, (unsigned long long)id,
                    op_names[w->op], fate_names[w->fate], (unsigned long long)w->revision,
                    (unsigned long long)w->seen, (unsigned long long)k->logged.revision);
    w->seen = e->state.revision;
    k->logged = (struct state){e->type == 'D' ? 0 : e->state.id, e->state.revision};
    vec_push(&f->log, *e);
    note_revision(m, e->state.revision);
    m->events++;
}

void model_watch(struct model *m, uint32_t kind, struct str line, size_t *at) {
    struct json tree = parse(m, line);
    const struct json *type = json_get(&tree, STR("type")),
                      *object = json_get(&tree, STR("object"));
    struct feed *f = &m->feeds[kind];
    struct event e = {0};
    if (!type || !object || str_is(json_str(type), "ERROR"))
        model_wrong(m, "a watch ended: %.*s", (int)(line.n < 300 ? line.n : 300), line.p);
    if (!read_object(m, kind, object, &e.key, &e.state))
        return;
    e.type = json_str(type).p[0];
    if (*at == f->log.n)
        add_event(m, f, &e);
    const struct event *known = &f->log.v[*at];
    if (known->type != e.type || known->key != e.key || known->state.id != e.state.id ||
        known->state.revision != e.state.revision)
        model_wrong(m,
                    "a watch shows %c of k%u at revision %llu where another showed %c of k%u at "
                    "%llu",
                    e.type, e.key, (unsigned long long)e.state.revision, known->type, known->key,
                    (unsigned long long)known->state.revision);
    ++*at;
}

void model_print(const struct model *m, struct buf *out) {
    buf_add(out, STR("write key op fate base revision event\n"));
    for (size_t i = 0; i < m->writes.n; i++) {
        const struct write *w = &m->writes.v[i];
        buf_addf(out, "%zu k%u %s %s %llu %llu %llu\n", i + 1, w->key, op_names[w->op],
                 fate_names[w->fate], (unsigned long long)w->base, (unsigned long long)w->revision,
                 (unsigned long long)w->seen);
    }
    buf_add(out, STR("\nkey told listed logged\n"));
    for (size_t i = 0; i < m->keys.n; i++) {
        const struct key *k = &m->keys.v[i];
        buf_addf(out, "k%zu %llu@%llu %llu@%llu %llu@%llu\n", i, (unsigned long long)k->told.id,
                 (unsigned long long)k->told.revision, (unsigned long long)k->listed.id,
                 (unsigned long long)k->listed.revision, (unsigned long long)k->logged.id,
                 (unsigned long long)k->logged.revision);
    }
}
