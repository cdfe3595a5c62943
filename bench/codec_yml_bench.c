// LIBS: yaml dl
/*
 * Our YAML against what one could have taken instead: libyaml's bare events, its document tree,
 * and, where the shared library is installed, libfyaml's tree. Pods as kubectl prints them, one
 * document each. Rounds alternate, and the median counts.
 */
#include <assert.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <yaml.h>

#include "base/vec.h"
#include "codec/docs.h"
#include "codec/yml.h"
#include "json_corpus.h"

enum { OBJECTS = 600, ROUNDS = 9 };

struct fixture {
    VEC(struct str) texts; /* one document each */
    VEC(struct json) trees;
    struct buf stream; /* all of them, with separators */
    size_t bytes;
    struct arena keep;
    void *fyaml;
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* --- the contenders --- */

static size_t run_events(struct fixture *f) {
    size_t events = 0;
    for (size_t i = 0; i < f->texts.n; i++) {
        yaml_parser_t parser;
        yaml_event_t event;
        bool more = true;
        yaml_parser_initialize(&parser);
        yaml_parser_set_input_string(&parser, (const unsigned char *)f->texts.v[i].p,
                                     f->texts.v[i].n);
        for (; more; events++) {
            if (!yaml_parser_parse(&parser, &event))
                abort();
            more = event.type != YAML_STREAM_END_EVENT;
            yaml_event_delete(&event);
        }
        yaml_parser_delete(&parser);
    }
    return events;
}

static size_t run_document(struct fixture *f) {
    size_t nodes = 0;
    for (size_t i = 0; i < f->texts.n; i++) {
        yaml_parser_t parser;
        yaml_document_t document;
        yaml_parser_initialize(&parser);
        yaml_parser_set_input_string(&parser, (const unsigned char *)f->texts.v[i].p,
                                     f->texts.v[i].n);
        if (!yaml_parser_load(&parser, &document))
            abort();
        nodes += yaml_document_get_root_node(&document) != NULL;
        yaml_document_delete(&document);
        yaml_parser_delete(&parser);
    }
    return nodes;
}

static size_t run_fyaml(struct fixture *f) {
    void *(*build)(const void *cfg, const char *text, size_t n);
    void (*destroy)(void *document);
    size_t documents = 0;
    /* ISO C has no cast from an object pointer to a function pointer. */
    void *symbol = dlsym(f->fyaml, "fy_document_build_from_string");
    memcpy(&build, &symbol, sizeof build);
    symbol = dlsym(f->fyaml, "fy_document_destroy");
    memcpy(&destroy, &symbol, sizeof destroy);
    for (size_t i = 0; i < f->texts.n; i++) {
        void *document = build(NULL, f->texts.v[i].p, f->texts.v[i].n);
        documents += document != NULL;
        destroy(document);
    }
    return documents;
}

static size_t run_parse(struct fixture *f) {
    struct arena a = {0};
    size_t members = 0;
    for (size_t i = 0; i < f->texts.n; i++, arena_reset(&a)) {
        struct json v;
        if (yml_parse(&a, f->texts.v[i], &v, NULL) < 0)
            abort();
        members += v.n;
    }
    arena_release(&a);
    return members;
}

static int64_t read_str(void *ctx, char *to, size_t n, struct err *err) {
    struct str *rest = ctx;
    (void)err;
    if (n > rest->n)
        n = rest->n;
    memcpy(to, rest->p, n);
    *rest = str_sub(*rest, n, rest->n);
    return (int64_t)n;
}

static size_t run_stream(struct fixture *f) {
    struct arena a = {0};
    struct str rest = buf_view(&f->stream);
    struct docs *d = docs_open(read_str, &rest);
    struct docs_item item;
    size_t documents = 0;
    for (; docs_next(d, &a, &item, NULL) == 0 && item.event != DOCS_END; arena_reset(&a))
        documents++;
    assert(documents == f->texts.n);
    docs_free(d);
    arena_release(&a);
    return documents;
}

static size_t run_write(struct fixture *f) {
    struct buf out = BUF_INIT(16 << 20);
    size_t bytes = 0;
    for (size_t i = 0; i < f->trees.n; i++, buf_clear(&out)) {
        yml_write(&out, &f->trees.v[i]);
        bytes += out.n;
    }
    buf_release(&out);
    return bytes;
}

static const struct contender {
    const char *name;
    size_t (*run)(struct fixture *f);
    bool needs_fyaml;
} contenders[] = {
    {"libyaml, events only", run_events, false},
    {"libyaml, document tree", run_document, false},
    {"libfyaml, document tree", run_fyaml, true},
    {"yml_parse, JSON tree", run_parse, false},
    {"docs_next over one stream", run_stream, false},
    {"yml_write", run_write, false},
};
enum { CONTENDERS = sizeof contenders / sizeof *contenders };

/* --- measuring --- */

static void prepare(struct fixture *f) {
    struct buf text = BUF_INIT(16 << 20);
    uint64_t rng = 1;
    f->stream = BUF_INIT(256 << 20);
    for (size_t i = 0; i < OBJECTS; i++, buf_clear(&text)) {
        struct json v;
        corpus_object(&text, &rng, (unsigned)i);
        if (json_parse(&f->keep, arena_str(&f->keep, buf_view(&text)), NULL, &v, NULL) < 0)
            abort();
        vec_push(&f->trees, v);
        buf_clear(&text);
        yml_write(&text, &v);
        vec_push(&f->texts, arena_str(&f->keep, buf_view(&text)));
        buf_add(&f->stream, STR("---\n"));
        buf_add(&f->stream, buf_view(&text));
        f->bytes += text.n;
    }
    buf_release(&text);
    f->fyaml = dlopen("libfyaml.so.0", RTLD_NOW);
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(void) {
    struct fixture f = {0};
    static double seconds[CONTENDERS][ROUNDS];
    prepare(&f);
    for (size_t round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < CONTENDERS; i++) {
            if (contenders[i].needs_fyaml && !f.fyaml)
                continue;
            double start = now();
            if (contenders[i].run(&f) == 0)
                abort();
            seconds[i][round] = now() - start;
        }
    printf("%zu documents, %.1f MB of YAML, median of %d rounds\n\n", f.texts.n,
           (double)f.bytes / 1e6, ROUNDS);
    printf("| reader | MB/s | against bare events |\n|---|---|---|\n");
    for (size_t i = 0; i < CONTENDERS; i++)
        qsort(seconds[i], ROUNDS, sizeof(double), compare_doubles);
    for (size_t i = 0; i < CONTENDERS; i++)
        if (seconds[i][ROUNDS / 2] > 0)
            printf("| %s | %.0f | %.2f |\n", contenders[i].name,
                   (double)f.bytes / 1e6 / seconds[i][ROUNDS / 2],
                   seconds[0][ROUNDS / 2] / seconds[i][ROUNDS / 2]);
    vec_release(&f.texts);
    vec_release(&f.trees);
    buf_release(&f.stream);
    arena_release(&f.keep);
    return 0;
}
