/* labelselector.jsonl: a selector as text or object, and labels; does it match, how is it written,
 * or what is wrong with it? */
#include "api/object.h"
#include "api/selector.h"
#include "base/limits.h"
#include "members.h"
#include "vectors.h"

/* null is no selector. */
static int decode(struct arena *a, const struct json *v, struct api_label_selector **out,
                  struct err *err) {
    *out = NULL;
    if (!v || v->kind == JSON_NULL)
        return 0;
    *out = arena_new(a, struct api_label_selector);
    if (api_struct_decode(a, &api_types[API_T_label_selector], v, *out, NULL) < 0)
        return err_set(err, ERR_INVALID, "the selector cannot be decoded");
    return 0;
}

static int compile(struct arena *a, const struct json *line, struct selector **out,
                   struct err *err) {
    if (str_is(vectors_text(line, STR("kind")), "string"))
        return selector_parse(a, vectors_text(line, STR("selector")), out, err);
    struct api_label_selector *spec;
    if (decode(a, json_get(line, STR("selector")), &spec, err) < 0)
        return -1;
    return selector_compile(a, spec, out, err);
}

static struct str canonical_text(struct arena *a, const struct selector *sel) {
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_OBJECT_BYTES);
    selector_write(&text, sel);
    return text.n ? arena_str(a, buf_view(&text)) : STR("");
}

int vectors_check_labelselector(struct arena *a, const struct json *line, struct buf *why) {
    struct json got = {.kind = JSON_OBJECT};
    struct selector *sel = NULL;
    struct labels labels;
    struct err err;
    if (labels_from_json(a, json_get(line, STR("labels")), &labels, &err) < 0 ||
        compile(a, line, &sel, &err) < 0) {
        struct str error = sel ? sel->error : str_of(err.msg);
        json_add(a, &got, STR("error"), json_of_str(error));
    } else {
        json_add(a, &got, STR("match"), json_of_bool(selector_matches(sel, &labels)));
        json_add(a, &got, STR("string"), json_of_str(canonical_text(a, sel)));
    }
    return vectors_compare_members(line, &got, why);
}
