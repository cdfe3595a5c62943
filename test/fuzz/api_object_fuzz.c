/*
 * Any JSON as an API object: decoding does not crash, and what was decoded and encoded decodes to
 * the same again. Defaulting a defaulted object changes nothing.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/object.h"
#include "feature/feature.h"

static struct str encode(struct arena *a, const struct api_object *o) {
    struct json tree = api_object_encode(o, a);
    struct buf b = BUF_INIT(1U << 30);
    json_write(&b, &tree, NULL);
    struct str text = arena_str(a, buf_view(&b));
    buf_release(&b);
    return text;
}

static struct api_object *decode(struct arena *a, struct str text) {
    const struct json_opts parse = {.allow_duplicates = true};
    const struct api_decode_opts opts = {.duplicates = true};
    struct json tree;
    struct api_object *o = NULL;
    if (json_parse(a, text, &parse, &tree, NULL) < 0 ||
        api_object_decode(&tree, &opts, &o, NULL) < 0)
        return NULL;
    return o;
}

static void check(struct arena *a, struct api_object *o) {
    struct str once = encode(a, o);
    struct api_object *again = decode(a, once);
    if (!again || !str_eq(once, encode(a, again)))
        abort();
    api_object_free(again);
    struct feature_config config;
    feature_config_init(&config, FEATURE_NEWEST);
    api_object_default(o, &config.enabled);
    struct str defaulted = encode(a, o);
    api_object_default(o, &config.enabled);
    if (!str_eq(defaulted, encode(a, o)))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    struct arena a = {0};
    struct str text = arena_str(&a, (struct str){(const char *)data, n});
    struct api_object *o = decode(&a, text);
    if (o)
        check(&a, o);
    api_object_free(o);
    arena_release(&a);
    return 0;
}
