/*
 * One document from memory to a tree.
 *
 * Follows sigs.k8s.io/yaml, func yamlToJSONTarget.
 */
#include <string.h>

#include "base/limits.h"
#include "codec/yml/yml_int.h"

/* A docs_read_fn over a struct str, which shrinks. */
static int64_t read_text(void *ctx, char *to, size_t n, struct err *err) {
    struct str *text = ctx;
    (void)err;
    if (n > text->n)
        n = text->n;
    if (n)
        memcpy(to, text->p, n);
    *text = str_sub(*text, n, text->n);
    return (int64_t)n;
}

/* Reads nodes up to the end of the first document. */
static int read_document(struct yml_reader *r, struct err *err) {
    int kind;
    yml__begin_document(r);
    while ((kind = yml__peek(r, err)) != YML_DOCUMENT_END) {
        if (kind < 0)
            return -1;
        if (!r->frames.n)
            yml__begin_value(r);
        if (yml__take(r, err) < 0)
            return -1;
    }
    return 0;
}

static int read_single(struct yml_reader *r, struct err *err) {
    bool found = false;
    int kind;
    while ((kind = yml__peek(r, err)) != YML_STREAM_END) {
        if (kind < 0)
            return -1;
        if (kind == YML_DOCUMENT_START && found && r->told)
            return 0;
        if (kind == YML_DOCUMENT_START && found) {
            uint32_t line, column;
            yml__place(r, &line, &column);
            return err_set_at(err, ERR_INVALID, line, column,
                              "expected a single document, but found another one");
        }
        yml__skip(r);
        if (kind == YML_DOCUMENT_START) {
            found = true;
            if (read_document(r, err) < 0)
                return -1;
        }
    }
    return 0;
}

static int parse(struct arena *a, struct str text, struct json *out, struct yml_repeats *told,
                 struct err *err) {
    if (text.n > LIMIT_OBJECT_BYTES)
        return err_set_at(err, ERR_TOO_LARGE, 1, 1, "value is larger than %u bytes",
                          LIMIT_OBJECT_BYTES);
    struct yml_reader r;
    yml__open(&r, read_text, &text);
    r.arena = a;
    r.told = told;
    r.parser.scan.go_words = told != NULL;
    int rc = read_single(&r, err);
    if (rc == 0)
        *out = r.root;
    yml__close(&r);
    return rc;
}

int yml_parse(struct arena *a, struct str text, struct json *out, struct err *err) {
    return parse(a, text, out, NULL, err);
}

int yml_parse_body(struct arena *a, struct str text, struct json *out, struct yml_repeats *repeats,
                   struct err *err) {
    *repeats = (struct yml_repeats){0};
    if (parse(a, text, out, repeats, err) == 0)
        return 0;
    if (err && err->code == ERR_INVALID && !str_starts(str_of(err->msg), STR("yaml: ")))
        err_wrap(err, "yaml");
    return -1;
}
