/*
 * Templates of JSONPath from anywhere, over a document that follows behind a NUL byte, or over one
 * that is always there: what is refused has a reason, and the same template finds and writes the
 * same each time.
 */
#include <string.h>

#include "check.h"
#include "codec/jsonpath.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LONGEST = 4096, MOST_OUTPUT = 16 << 20 };

static const char always[] =
    "{\"kind\":\"List\",\"items\":[{\"metadata\":{\"name\":\"a\",\"labels\":{\"x.y/z\":\"1\"}},"
    "\"n\":1,\"f\":1.5,\"b\":true,\"none\":null},{\"metadata\":{\"name\":\"b\"},\"n\":-2,"
    "\"list\":[1,\"2\",[3],{}]}]}";

static void split(struct str input, struct str *template, struct str *document) {
    if (!str_cut(input, '\0', template, document)) {
        *template = input;
        *document = STR("");
    }
}

static int write_once(const struct jsonpath *path, const struct json *value, struct buf *out) {
    AUTO(arena_release) struct arena a = {0};
    struct err err = {0};
    int rc = jsonpath_write(path, value, &a, out, &err);
    CHECK(rc == 0 || err.msg[0]);
    return rc;
}

static void check_path(const struct jsonpath *path, const struct json *value) {
    AUTO(arena_release) struct arena a = {0};
    AUTO(buf_release) struct buf first = BUF_INIT(MOST_OUTPUT);
    AUTO(buf_release) struct buf second = BUF_INIT(MOST_OUTPUT);
    struct jsonpath_found found = {0};
    struct err err = {0};
    int rc = write_once(path, value, &first);
    CHECK(write_once(path, value, &second) == rc);
    CHECK(str_eq(buf_view(&first), buf_view(&second)));
    if (jsonpath_find(path, value, &a, &found, &err) < 0)
        CHECK(err.msg[0]);
    for (size_t i = 0; i < found.n; i++)
        CHECK(found.v[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    AUTO(arena_release) struct arena a = {0};
    struct str template, document;
    struct json value;
    struct jsonpath *path = NULL;
    struct err err = {0};
    if (size > LONGEST)
        return 0;
    split((struct str){(const char *)data, size}, &template, &document);
    if (json_parse(&a, document, NULL, &value, NULL) < 0 &&
        json_parse(&a, str_of(always), NULL, &value, NULL) < 0)
        CHECK(false);
    if (jsonpath_parse(&a, template, &path, &err) < 0)
        CHECK(err.msg[0]);
    else
        check_path(path, &value);
    return 0;
}
