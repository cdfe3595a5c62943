/*
 * YAML, read the way kubectl reads it (sigs.k8s.io/yaml): YAML 1.1 booleans, octal numbers, merge
 * keys; the result is a JSON tree that owns all its strings in the arena. And back: a JSON tree
 * printed the way kubectl prints YAML.
 */
#ifndef CODEC_YML_H
#define CODEC_YML_H

#include "codec/json.h"

/*
 * Reads exactly one document. Repeated keys are an error, as are all that kubectl refuses. Errors
 * carry line and column. An empty text gives null. Aliases of containers share their members.
 *
 * Of a merged and an explicit key the later one counts, as in kubectl, wherever "<<" stands.
 * Refused though sigs.k8s.io/yaml takes it: text behind the first document, which it would drop;
 * two keys that differ in YAML and are the same in JSON; UTF-16.
 */
int yml_parse(struct arena *a, struct str text, struct json *out, struct err *err);

/* Keys that stood again, as go-yaml tells of them: line 1: key "a" already set in map. As many are
 * kept as DOCS_MOST_REPEATS. */
struct yml_repeats {
    struct str *v;
    size_t n;
};

/*
 * The same as an API server reads a body: of repeated keys the last one counts, and *repeats tells
 * of them, in the arena; members are sorted; what stands behind the first document is not looked
 * at. Errors are go-yaml's: yaml: line 3: could not find expected ':'.
 */
int yml_parse_body(struct arena *a, struct str text, struct json *out, struct yml_repeats *repeats,
                   struct err *err);

/* Appends v as YAML with a line break at the end; keys sorted, strings quoted only where a plain
 * one would read back as something else. */
void yml_write(struct buf *out, const struct json *v);

#endif
