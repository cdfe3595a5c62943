/*
 * Any JSON, line by line, as objects that go by: advice on them does not crash, speaks of codes
 * that exist, and says the same when the same objects go by again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "advice/advice.h"
#include "feature/feature.h"

static void check_notes(const struct advice_notes *notes, struct buf *out) {
    for (size_t i = 0; i < notes->n; i++) {
        const struct advice_row *row = advice_rows;
        while (row->code && row->code != notes->v[i].code)
            row++;
        if (!row->code || !notes->v[i].path.n || !notes->v[i].text.n)
            abort();
        buf_addf(out, "%s", row->code);
        buf_add(out, notes->v[i].path);
        buf_add(out, notes->v[i].text);
    }
}

static void look_at(struct advice *run, struct str text, struct buf *out) {
    struct feature_config gates;
    struct arena a = {0};
    struct advice_notes notes = {.a = &a};
    struct json tree;
    struct api_object *o;
    feature_config_init(&gates, FEATURE_NEWEST);
    if (json_parse(&a, text, NULL, &tree, NULL) == 0 &&
        api_object_decode(&tree, NULL, &o, NULL) == 0) {
        api_object_default(o, &gates.enabled);
        advice_check(run, o, &notes);
        check_notes(&notes, out);
        api_object_free(o);
    }
    arena_release(&a);
}

static struct buf look_at_all(struct str text) {
    struct advice *run = advice_new();
    struct buf out = BUF_INIT(64U << 20);
    while (text.n) {
        struct str line;
        str_cut(text, '\n', &line, &text);
        look_at(run, line, &out);
    }
    advice_free(run);
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    struct str text = {(const char *)data, n};
    AUTO(buf_release) struct buf once = look_at_all(text);
    AUTO(buf_release) struct buf again = look_at_all(text);
    if (!str_eq(buf_view(&once), buf_view(&again)))
        abort();
    return 0;
}
