/* quantity.jsonl: a text and all that can be asked of it, or two of them compared and added. */
#include "base/limits.h"
#include "members.h"
#include "quantity/quantity.h"
#include "vectors.h"

typedef void write_fn(struct buf *out, const struct quantity *q);

static struct json written(struct arena *a, write_fn *write, const struct quantity *q) {
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_OBJECT_BYTES);
    write(&text, q);
    return json_of_str(arena_str(a, buf_view(&text)));
}

static struct json failure(struct arena *a, const struct err *err) {
    struct json got = {.kind = JSON_OBJECT};
    json_add(a, &got, STR("error"), json_of_str(arena_str(a, str_of(err->msg))));
    return got;
}

static struct json parsed(struct arena *a, const struct json *line) {
    struct quantity q;
    struct err err;
    if (quantity_parse(a, vectors_text(line, STR("input")), &q, &err) < 0)
        return failure(a, &err);
    struct json got = {.kind = JSON_OBJECT};
    json_add(a, &got, STR("string"), written(a, quantity_write, &q));
    json_add(a, &got, STR("canonical"), written(a, quantity_write_canonical, &q));
    json_add(a, &got, STR("format"), json_of_str(quantity_format_name(q.format)));
    json_add(a, &got, STR("value"), json_of_i64(quantity_value(&q)));
    json_add(a, &got, STR("milli"), json_of_i64(quantity_milli_value(&q)));
    json_add(a, &got, STR("sign"), json_of_i64(quantity_sign(&q)));
    return got;
}

static struct json compared(struct arena *a, const struct json *line) {
    struct quantity x, y, sum, difference;
    struct err err;
    if (quantity_parse(a, vectors_text(line, STR("a")), &x, &err) < 0 ||
        quantity_parse(a, vectors_text(line, STR("b")), &y, &err) < 0 ||
        quantity_add(a, &x, &y, &sum, &err) < 0 || quantity_sub(a, &x, &y, &difference, &err) < 0)
        return failure(a, &err);
    struct json got = {.kind = JSON_OBJECT};
    json_add(a, &got, STR("result"), json_of_i64(quantity_cmp(&x, &y)));
    json_add(a, &got, STR("sum"), written(a, quantity_write_canonical, &sum));
    json_add(a, &got, STR("difference"), written(a, quantity_write_canonical, &difference));
    return got;
}

int vectors_check_quantity(struct arena *a, const struct json *line, struct buf *why) {
    bool compare = str_is(vectors_text(line, STR("kind")), "compare");
    struct json got = compare ? compared(a, line) : parsed(a, line);
    return vectors_compare_members(line, &got, why);
}
