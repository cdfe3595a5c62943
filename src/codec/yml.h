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

/* Appends v as YAML with a line break at the end; keys sorted, strings quoted only where a plain
 * one would read back as something else. */
void yml_write(struct buf *out, const struct json *v);

#endif
