// LIBS: jansson json-c cjson simdjson
// SOURCES: simdjson_shim.cc
/*
 * Our JSON against the libraries one could have taken instead: 4,000 API objects one by one, and
 * one list of 20 MB. Rounds alternate between the libraries and the median counts, so that a busy
 * machine hurts all alike. The second table compares the stream of documents with the bare parser.
 */
#include <assert.h>
#include <cjson/cJSON.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/vec.h"
#include "codec/docs.h"
#include "jansson_names.h"
#include "json_corpus.h"

/* json-c's header and jansson's exclude each other; this is what we use of it. */
struct json_tokener;
struct json_object;
struct json_tokener *json_tokener_new(void);
void json_tokener_free(struct json_tokener *t);
struct json_object *json_tokener_parse_ex(struct json_tokener *t, const char *s, int n);
const char *json_object_to_json_string_length(struct json_object *o, int flags, size_t *n);
int json_object_put(struct json_object *o);
enum { JSON_C_TO_STRING_PLAIN = 0 };

void *simdjson_shim_parse(const char *p, size_t n);
size_t simdjson_shim_write(void *doc);
void simdjson_shim_free(void *doc);

enum { OBJECTS = 4000, ROUNDS = 7, BATCH = 16, LIST_BYTES = 20 << 20, STREAM_BYTES = 200 << 20 };

/* --- counting calls of the allocator, also those from inside the libraries --- */

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *p, size_t n);

static uint64_t allocations;

void *malloc(size_t n) {
    allocations++;
    return __libc_malloc(n);
}

void *calloc(size_t count, size_t size) {
    allocations++;
    return __libc_calloc(count, size);
}

void *realloc(void *p, size_t n) {
    allocations++;
    return __libc_realloc(p, n);
}

/* --- the contestants --- */

struct parsed {
    void *tree;
    struct arena arena;
    struct json value;
};

struct library {
    const char *name;
    bool (*parse)(struct str text, struct parsed *out);
    size_t (*write)(struct parsed *p); /* bytes written */
    void (*release)(struct parsed *p);
};

static bool ours_parse(struct str text, struct parsed *out) {
    struct json_opts opts = {.max_bytes = SIZE_MAX};
    out->arena = (struct arena){0};
    return json_parse(&out->arena, text, &opts, &out->value, NULL) == 0;
}

static size_t ours_write(struct parsed *p) {
    struct buf out = BUF_INIT(SIZE_MAX / 2);
    json_write(&out, &p->value, NULL);
    size_t n = out.n;
    buf_release(&out);
    return n;
}

static void ours_release(struct parsed *p) {
    arena_release(&p->arena);
}

static bool jansson_parse(struct str text, struct parsed *out) {
    return (out->tree = json_loadb(text.p, text.n, JSON_ALLOW_NUL, NULL)) != NULL;
}

static size_t jansson_write(struct parsed *p) {
    char *s = json_dumps(p->tree, JSON_COMPACT);
    size_t n = strlen(s);
    free(s);
    return n;
}

static void jansson_release(struct parsed *p) {
    json_decref(p->tree);
}

static bool json_c_parse(struct str text, struct parsed *out) {
    struct json_tokener *t = json_tokener_new();
    out->tree = json_tokener_parse_ex(t, text.p, (int)text.n);
    json_tokener_free(t);
    return out->tree != NULL;
}

static size_t json_c_write(struct parsed *p) {
    size_t n;
    json_object_to_json_string_length(p->tree, JSON_C_TO_STRING_PLAIN, &n);
    return n;
}

static void json_c_release(struct parsed *p) {
    json_object_put(p->tree);
}

static bool cjson_parse(struct str text, struct parsed *out) {
    return (out->tree = cJSON_ParseWithLength(text.p, text.n)) != NULL;
}

static size_t cjson_write(struct parsed *p) {
    char *s = cJSON_PrintUnformatted(p->tree);
    size_t n = strlen(s);
    free(s);
    return n;
}

static void cjson_release(struct parsed *p) {
    cJSON_Delete(p->tree);
}

static bool simd_parse(struct str text, struct parsed *out) {
    return (out->tree = simdjson_shim_parse(text.p, text.n)) != NULL;
}

static size_t simd_write(struct parsed *p) {
    return simdjson_shim_write(p->tree);
}

static void simd_release(struct parsed *p) {
    simdjson_shim_free(p->tree);
}

static const struct library libraries[] = {
    {"berth", ours_parse, ours_write, ours_release},
    {"jansson", jansson_parse, jansson_write, jansson_release},
    {"json-c", json_c_parse, json_c_write, json_c_release},
    {"cJSON", cjson_parse, cjson_write, cjson_release},
    {"simdjson DOM (C++)", simd_parse, simd_write, simd_release},
};

enum { LIBRARIES = sizeof libraries / sizeof *libraries };

/* --- measuring --- */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

struct figures {
    double parse[ROUNDS], write[ROUNDS]; /* seconds */
    uint64_t parse_allocations, write_allocations;
};

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *v) {
    double sorted[ROUNDS];
    memcpy(sorted, v, sizeof sorted);
    qsort(sorted, ROUNDS, sizeof *sorted, by_value);
    return sorted[ROUNDS / 2];
}

/* A few documents at a time: the clock costs little then, and caches are as warm as in real use. */
static void run_batch(const struct library *lib, const struct str *texts, size_t n,
                      struct figures *f, int round) {
    struct parsed batch[BATCH];
    uint64_t a0 = allocations;
    double t0 = now();
    for (size_t i = 0; i < n; i++) {
        if (!lib->parse(texts[i], &batch[i]))
            abort();
    }
    double t1 = now();
    uint64_t a1 = allocations;
    for (size_t i = 0; i < n; i++) {
        if (lib->write(&batch[i]) == 0)
            abort();
    }
    f->write[round] += now() - t1;
    f->parse[round] += t1 - t0;
    f->parse_allocations += a1 - a0;
    f->write_allocations += allocations - a1;
    for (size_t i = 0; i < n; i++)
        lib->release(&batch[i]);
}

static void run_round(const struct library *lib, const struct str *texts, size_t n,
                      struct figures *f, int round) {
    f->parse[round] = f->write[round] = 0;
    f->parse_allocations = f->write_allocations = 0;
    for (size_t i = 0; i < n; i += BATCH)
        run_batch(lib, texts + i, n - i < BATCH ? n - i : BATCH, f, round);
}

static void compare(const char *title, const struct str *texts, size_t n) {
    static struct figures figures[LIBRARIES];
    double bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += (double)texts[i].n;
    for (int round = 0; round < ROUNDS; round++) {
        for (int k = 0; k < LIBRARIES; k++)
            run_round(&libraries[k], texts, n, &figures[k], round);
    }
    printf("\n### %s\n\n", title);
    printf("| library | parse MB/s | write MB/s | parse: berth is | write: berth is | allocations "
           "per document, parse + write |\n|---|---|---|---|---|---|\n");
    double our_parse = median(figures[0].parse), our_write = median(figures[0].write);
    for (int k = 0; k < LIBRARIES; k++) {
        double parse = median(figures[k].parse), write = median(figures[k].write);
        printf("| %s | %.0f | %.0f | %.1fx | %.1fx | %.1f + %.1f |\n", libraries[k].name,
               bytes / parse / 1e6, bytes / write / 1e6, parse / our_parse, write / our_write,
               (double)figures[k].parse_allocations / (double)n,
               (double)figures[k].write_allocations / (double)n);
    }
    fflush(stdout);
}

static struct str *make_objects(struct buf *b) {
    static struct str texts[OBJECTS];
    static size_t ends[OBJECTS];
    uint64_t rng = 1;
    size_t least = SIZE_MAX, most = 0;
    for (unsigned i = 0; i < OBJECTS; i++) {
        corpus_object(b, &rng, i);
        ends[i] = b->n;
    }
    for (size_t i = 0; i < OBJECTS; i++) {
        size_t from = i ? ends[i - 1] : 0;
        texts[i] = (struct str){b->p + from, ends[i] - from};
        least = texts[i].n < least ? texts[i].n : least;
        most = texts[i].n > most ? texts[i].n : most;
    }
    printf("corpus: %d objects, %zu to %zu bytes, mean %zu\n", OBJECTS, least, most,
           b->n / OBJECTS);
    return texts;
}

static void make_list(struct buf *b, size_t bytes) {
    uint64_t rng = 2;
    buf_add(b, STR("{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":["));
    for (unsigned i = 0; b->n < bytes; i++) {
        if (i)
            buf_add_char(b, ',');
        corpus_object(b, &rng, i);
    }
    buf_add(b, STR("],\"metadata\":{}}"));
}

/* --- the stream of documents --- */

static void consume_list(docs_read_fn *read, void *ctx) {
    struct docs *d = docs_open(read, ctx);
    struct arena a = {0};
    struct docs_item item;
    do {
        arena_reset(&a);
        if (docs_next(d, &a, &item, NULL) < 0)
            abort();
    } while (item.event != DOCS_END);
    docs_free(d);
    arena_release(&a);
}

static int64_t from_memory(void *ctx, char *to, size_t n, struct err *err) {
    struct str *rest = ctx;
    (void)err;
    n = n < rest->n ? n : rest->n;
    memcpy(to, rest->p, n);
    *rest = str_sub(*rest, n, rest->n);
    return (int64_t)n;
}

static int64_t from_pipe(void *ctx, char *to, size_t n, struct err *err) {
    (void)err;
    return read(*(int *)ctx, to, n);
}

/* Each item by itself, in an arena that is reset: what the stream has to do at the least. */
static double bare_parse(struct str list) {
    struct arena a = {0};
    struct json v;
    double t0 = now();
    const char *p = strchr(list.p, '[') + 1;
    for (; p[-1] != ']'; p++) {
        size_t used;
        struct str rest = {p, (size_t)(list.p + list.n - p)};
        arena_reset(&a);
        if (json_parse_prefix(&a, rest, true, NULL, &v, &used, NULL) != 1)
            abort();
        p += used;
    }
    arena_release(&a);
    return now() - t0;
}

static double stream_memory(struct str list) {
    double t0 = now();
    consume_list(from_memory, &list);
    return now() - t0;
}

/* Also the peak memory of a process that does nothing else than read the pipe. */
static double stream_pipe(struct str list, long *peak_kib) {
    int data[2], report[2];
    double result[2];
    if (pipe(data) || pipe(report))
        abort();
    pid_t reader = fork();
    if (reader == 0) {
        close(data[1]);
        struct rusage before, after;
        getrusage(RUSAGE_SELF, &before);
        double t0 = now();
        consume_list(from_pipe, &data[0]);
        result[0] = now() - t0;
        getrusage(RUSAGE_SELF, &after);
        result[1] = (double)(after.ru_minflt - before.ru_minflt) * 4; /* pages it touched */
        _exit(write(report[1], result, sizeof result) != sizeof result);
    }
    close(data[0]);
    for (size_t at = 0; at < list.n;) {
        ssize_t n = write(data[1], list.p + at, list.n - at);
        if (n < 0)
            abort();
        at += (size_t)n;
    }
    close(data[1]);
    if (read(report[0], result, sizeof result) != sizeof result || waitpid(reader, NULL, 0) < 0)
        abort();
    close(report[0]);
    close(report[1]);
    *peak_kib = (long)result[1];
    return result[0];
}

static void compare_stream(void) {
    struct buf list = BUF_INIT(SIZE_MAX / 2);
    double bare[ROUNDS], memory[ROUNDS], piped[ROUNDS];
    long peak_kib = 0;
    make_list(&list, STREAM_BYTES);
    buf_add_char(&list, '\0');
    struct str text = {list.p, list.n - 1};
    for (int i = 0; i < ROUNDS; i++) {
        bare[i] = bare_parse(text);
        memory[i] = stream_memory(text);
        piped[i] = stream_pipe(text, &peak_kib);
    }
    double mb = (double)text.n / 1e6, base = median(bare);
    printf(
        "\n### a list of %.0f MB, item by item\n\n| | MB/s | of the bare parser |\n|---|---|---|\n"
        "| json_parse_prefix on each item | %.0f | 100 %% |\n"
        "| docs_next from memory | %.0f | %.0f %% |\n"
        "| docs_next from a pipe (CPU of the reader) | %.0f | %.0f %% |\n\n"
        "memory that the reader of the pipe touched: %ld KiB\n",
        mb, mb / base, mb / median(memory), 100 * base / median(memory), mb / median(piped),
        100 * base / median(piped), peak_kib);
    buf_release(&list);
}

int main(void) {
    /* as in a process that runs for long: memory that was freed is there for the next document */
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_MMAP_THRESHOLD, INT_MAX);
    struct buf objects = BUF_INIT(SIZE_MAX / 2), list = BUF_INIT(SIZE_MAX / 2);
    struct str *texts = make_objects(&objects);
    compare("objects one by one", texts, OBJECTS);
    make_list(&list, LIST_BYTES);
    struct str whole = buf_view(&list);
    compare("one list of 20 MB", &whole, 1);
    buf_release(&list);
    buf_release(&objects);
    compare_stream();
    return 0;
}
