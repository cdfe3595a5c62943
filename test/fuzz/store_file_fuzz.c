/*
 * The file of a store, changed at random: opening and checking it never crashes, and whatever is
 * opened has exactly the objects that were written. An input is a list of edits of a file that is
 * made once, so that most of them leave something to read: 4 bytes of place, 1 of length, 1 of how,
 * then the bytes to be written there.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "store/offline.h"

enum { OBJECTS = 12, EDIT = 6, MOST_EDITS = 8 };

static const struct store_resource resources[] = {{.name = "configmaps", .kind = "ConfigMap"},
                                                  {.name = "secrets"}};

static char directory[256];
static char *original; /* the bytes of the good file */
static size_t original_bytes;

static const char *in_directory(const char *name) {
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static int open_store(struct store **out, struct err *err) {
    struct store_opts opts = {
        .resources = resources, .n = 2, .clock = &clock_system, .directory = directory};
    return store_open(&opts, out, err);
}

/* ---- the good file ---- */

static struct api_object *object(int i, int round) {
    struct arena a = {0};
    struct json tree;
    struct api_object *o;
    char text[256];
    snprintf(text, sizeof text,
             "{\"kind\":\"%s\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"x%d\",\"namespace\":"
             "\"a\",\"labels\":{\"value\":\"%d\"}}}",
             i % 2 ? "Secret" : "ConfigMap", i, i * 10 + round);
    CHECK(json_parse(&a, str_of(text), NULL, &tree, NULL) == 0);
    CHECK(api_object_decode(&tree, NULL, &o, NULL) == 0);
    arena_release(&a);
    return o;
}

static void keep_original(void) {
    struct stat st;
    int fd = open(in_directory("store.db"), O_RDONLY);
    CHECK(fd >= 0 && fstat(fd, &st) == 0);
    original_bytes = (size_t)st.st_size;
    original = malloc(original_bytes);
    CHECK(read(fd, original, original_bytes) == (ssize_t)original_bytes);
    close(fd);
}

static void remove_files(void) {
    static const char *const files[] = {"store.db", "store.db-wal", "store.db-shm", "lock",
                                        "store.db-journal"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        unlink(in_directory(files[i]));
}

static void remove_directory(void) {
    remove_files();
    rmdir(directory);
    free(original);
}

static void make_original(void) {
    struct store *s;
    struct err err;
    snprintf(directory, sizeof directory, "/dev/shm/berth-store-fuzz-XXXXXX");
    CHECK(mkdtemp(directory));
    atexit(remove_directory);
    CHECK(open_store(&s, &err) == 0);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < OBJECTS; i++)
            store_put(s, (uint32_t)i % 2, object(i, round));
    store_commit(s, NULL, NULL);
    store_close(s);
    keep_original();
}

/* ---- changed files ---- */

/* True if the file differs from the good one. */
static bool write_changed(const uint8_t *data, size_t size) {
    char *bytes = malloc(original_bytes);
    size_t n = original_bytes;
    memcpy(bytes, original, n);
    for (int edit = 0; size >= EDIT && edit < MOST_EDITS; edit++) {
        uint32_t at;
        memcpy(&at, data, sizeof at);
        size_t length = data[4], given = size - EDIT < length ? size - EDIT : length;
        if (data[5] == 255)
            n = at % (original_bytes + 1); /* cut */
        for (size_t i = 0; i < given && at % original_bytes + i < n; i++) {
            char *byte = &bytes[at % original_bytes + i];
            *byte = (char)(data[5] & 1 ? *byte ^ data[EDIT + i] : data[EDIT + i]);
        }
        data += EDIT + given;
        size -= EDIT + given;
    }
    bool differs = n != original_bytes || memcmp(bytes, original, n) != 0;
    int fd = open(in_directory("store.db"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
    close(fd);
    free(bytes);
    return differs;
}

/* What was opened is what was written. */
static void expect_all(struct store *s) {
    for (int i = 0; i < OBJECTS; i++) {
        char name[16], value[16];
        snprintf(name, sizeof name, "x%d", i);
        snprintf(value, sizeof value, "%d", i * 10 + 1);
        const struct api_object *o = store_get(s, (uint32_t)i % 2, STR("a"), str_of(name));
        CHECK(o && str_is(o->meta->labels.v[0].value, value));
    }
    struct store_stats stats;
    store_stats_read(s, &stats);
    CHECK(stats.objects == OBJECTS && stats.revision == 1 + 2 * OBJECTS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena a = {0};
    struct store_check check;
    struct store *s;
    struct err err = {0};
    if (!original)
        make_original();
    remove_files();
    bool differs = write_changed(data, size);
    int checked = store_check(directory, &a, &check, &err);
    CHECK(checked == 0 || err.msg[0]);
    CHECK(differs || (checked == 0 && check.n == 0));
    arena_release(&a);
    err = (struct err){0};
    if (open_store(&s, &err) < 0) {
        CHECK(differs && err.msg[0]);
        return 0;
    }
    expect_all(s);
    store_close(s);
    return 0;
}
