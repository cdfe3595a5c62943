/*
 * Any text, or structured selector as JSON, is compiled or refused; what is compiled is written in
 * a form that reads back as a selector with the same verdicts and the same text.
 */

#include "api/names.h"
#include "api/object.h"
#include "api/selector.h"
#include "base/limits.h"
#include "check.h"

/* Labels that have every key of the selector, or every second one, with values that decide. */
static struct labels labels_for(struct arena *a, const struct selector *sel, size_t step,
                                struct str other_value) {
    struct labels labels = {arena_array(a, struct label, sel->n), 0};
    for (size_t i = 0; i < sel->n; i += step) {
        const struct selector_req *req = &sel->reqs[i];
        if (labels.n > 0 && str_eq(labels.v[labels.n - 1].key, req->key))
            continue;
        struct str value = req->value_count ? req->values[i % req->value_count] : other_value;
        labels.v[labels.n++] = (struct label){req->key, other_value.n ? other_value : value};
    }
    return labels;
}

static void compare(struct arena *a, const struct selector *x, const struct selector *y) {
    const struct labels sets[] = {
        {NULL, 0},
        labels_for(a, x, 1, STR("")),
        labels_for(a, x, 2, STR("")),
        labels_for(a, x, 1, STR("5")),
        labels_for(a, x, 3, STR("-9223372036854775808")),
    };
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        CHECK(selector_matches(x, &sets[i]) == selector_matches(y, &sets[i]));
}

static void check_round_trip(struct arena *a, const struct selector *sel) {
    struct buf text = BUF_INIT(LIMIT_OBJECT_BYTES), again_text = BUF_INIT(LIMIT_OBJECT_BYTES);
    selector_write(&text, sel);
    struct selector *again;
    CHECK(selector_parse(a, buf_view(&text), &again, NULL) == 0);
    compare(a, sel, again);
    selector_write(&again_text, again);
    /* A structured selector may repeat a value; the text form holds each once. */
    CHECK(again_text.n <= text.n);
    CHECK(again_text.n < text.n || str_eq(buf_view(&text), buf_view(&again_text)));
    buf_release(&text);
    buf_release(&again_text);
}

static void check_text(struct arena *a, struct str text) {
    struct selector *sel;
    struct err err;
    if (selector_parse(a, text, &sel, &err) == 0)
        check_round_trip(a, sel);
    else
        CHECK(sel->error.n > 0 && err.msg[0] && !selector_matches(sel, &(struct labels){0}));
    /* A word that is a good key on its own asks whether such a label exists. */
    bool is_key = names_check_label_key(text).n == 0;
    CHECK(!is_key || (sel->n == 1 && sel->reqs[0].op == SELECTOR_EXISTS));
}

static void check_structure(struct arena *a, struct str text) {
    struct json tree;
    struct api_label_selector spec = {0};
    struct selector *sel;
    if (json_parse(a, text, NULL, &tree, NULL) < 0 ||
        api_struct_decode(a, &api_types[API_T_label_selector], &tree, &spec, NULL) < 0)
        return;
    if (selector_compile(a, &spec, &sel, NULL) < 0)
        CHECK(sel->error.n > 0);
    else
        check_round_trip(a, sel);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    struct arena a = {0};
    struct str text = {(const char *)data, n};
    check_text(&a, text);
    check_structure(&a, text);
    arena_release(&a);
    return 0;
}
