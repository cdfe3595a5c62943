/*
 * The list of decoding faults.
 *
 * Follows sigs.k8s.io/json internal/golang/encoding/json, func (*decodeState) saveStrictError.
 * Follows k8s.io/apimachinery pkg/runtime, func (*strictDecodingError) Error.
 */
#include "api/faults.h"

#include <assert.h>

#include "api/object_int.h"
#include "base/limits.h"
#include "codec/json.h"

void api_faults_init(struct api_faults *f, struct arena *a) {
    f->a = a;
    f->n = f->bytes = 0;
    f->subject = (struct str){0};
}

void api__fault_add(struct api_faults *f, enum api_fault_kind kind, struct str path,
                    struct str text) {
    bool is_full = f->n >= API_MOST_FAULTS || f->bytes >= LIMIT_FIELD_ERROR_BYTES;
    if (is_full && kind != API_FAULT_VALUE)
        return;
    f->v[f->n++] = (struct api_fault){kind, arena_str(f->a, path), arena_str(f->a, text)};
    f->bytes += text.n;
}

void api_faults_write(struct buf *out, const struct api_faults *f) {
    assert(f->n > 0);
    const struct api_fault *last = &f->v[f->n - 1];
    buf_add(out, f->subject);
    buf_add(out, f->subject.n ? STR(": ") : STR(""));
    if (last->kind == API_FAULT_VALUE) {
        buf_add(out, last->text);
        return;
    }
    buf_add(out, STR("strict decoding error: "));
    for (size_t i = 0; i < f->n; i++) {
        buf_add(out, i ? STR(", ") : STR(""));
        buf_add(out, f->v[i].text);
    }
}

struct str api_text_no_object(struct arena *a, const struct json *tree, const char *type) {
    static const char *const names[] = {
        [JSON_NULL] = "null",   [JSON_BOOL] = "bool",    [JSON_INT] = "number",
        [JSON_UINT] = "number", [JSON_FLOAT] = "number", [JSON_STRING] = "string",
        [JSON_ARRAY] = "array",
    };
    return arena_printf(a, "json: cannot unmarshal %s into Go value of type %s", names[tree->kind],
                        type);
}

struct str api_text_without_kind(struct arena *a, const struct json *tree) {
    struct str why = api_text_no_object(
        a, tree,
        "struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
        "\"json:\\\"kind,omitempty\\\"\" }");
    return arena_printf(a, "couldn't get version/kind; json parse error: %.*s", STR_ARG(why));
}
