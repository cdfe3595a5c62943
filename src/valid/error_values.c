/*
 * Values of error texts that are neither texts nor numbers.
 *
 * Follows k8s.io/apimachinery pkg/util/diff, func Diff.
 * Follows k8s.io/apimachinery pkg/util/validation/field, func (*Error) ErrorBody.
 */
#include "base/goquote.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "codec/diff.h"
#include "valid/valid_int.h"

static const struct json null = {.kind = JSON_NULL};

struct value valid__struct_value(struct arena *a, enum api_type_id type, const void *body) {
    return VALUE_JSON(body ? api_struct_encode_go(a, &api_types[type], body) : null);
}

/* Every list of structs looks like this one. */
struct any_list {
    const char *v;
    size_t n;
};

/* False when it would be longer than LIMIT_DIFF_BYTES, as a tree or as a text. */
static bool write_go(struct buf *out, enum api_type_id type, const void *body) {
    AUTO(arena_release) struct arena a = {0};
    struct json tree;
    if (!api_struct_encode_go_within(&a, &api_types[type], body, LIMIT_DIFF_BYTES, &tree))
        return false;
    json_write(out, &tree, &(struct json_style){.indent = 1});
    return !out->full;
}

struct str valid__diff(struct arena *a, enum api_type_id type, const void *old, const void *now) {
    AUTO(buf_release) struct buf before = BUF_INIT(LIMIT_DIFF_BYTES);
    AUTO(buf_release) struct buf after = BUF_INIT(LIMIT_DIFF_BYTES);
    AUTO(buf_release) struct buf text = BUF_INIT(3 * (size_t)LIMIT_DIFF_BYTES);
    buf_add_char(&text, '\n');
    if (!write_go(&before, type, old) || !write_go(&after, type, now) ||
        !diff_write(&text, buf_view(&before), buf_view(&after)))
        return STR("");
    return arena_str(a, buf_view(&text));
}

/* Lists are printed as texts show them. */
static bool write_list(struct buf *out, enum api_type_id type, const void *list) {
    AUTO(arena_release) struct arena a = {0};
    struct value value = valid__list_value(&a, type, list);
    json_write(out, &value.json, &(struct json_style){.indent = 1});
    return !out->full;
}

struct str valid__list_diff(struct arena *a, enum api_type_id type, const void *old,
                            const void *now) {
    AUTO(buf_release) struct buf before = BUF_INIT(LIMIT_DIFF_BYTES);
    AUTO(buf_release) struct buf after = BUF_INIT(LIMIT_DIFF_BYTES);
    AUTO(buf_release) struct buf text = BUF_INIT(3 * (size_t)LIMIT_DIFF_BYTES);
    buf_add_char(&text, '\n');
    if (!write_list(&before, type, old) || !write_list(&after, type, now) ||
        !diff_write(&text, buf_view(&before), buf_view(&after)))
        return STR("");
    return arena_str(a, buf_view(&text));
}

struct value valid__list_value(struct arena *a, enum api_type_id type, const void *list) {
    const struct any_list *l = list;
    struct json array = {.kind = JSON_ARRAY};
    for (size_t i = 0; i < l->n; i++)
        json_append(a, &array,
                    api_struct_encode_go(a, &api_types[type], l->v + i * api_types[type].size));
    return VALUE_JSON(l->v ? array : null);
}

struct value valid__labels_value(struct arena *a, const struct labels *labels) {
    struct json object = {.kind = JSON_OBJECT};
    for (size_t i = 0; i < labels->n; i++)
        json_add(a, &object, labels->v[i].key, json_of_str(labels->v[i].value));
    return VALUE_JSON(labels->v ? object : null);
}

struct value valid__strs_value(struct arena *a, const struct api_strs *strs) {
    struct json array = {.kind = JSON_ARRAY};
    for (size_t i = 0; i < strs->n; i++)
        json_append(a, &array, json_of_str(strs->v[i]));
    return VALUE_JSON(strs->v ? array : null);
}

struct value valid__numbers_value(struct arena *a, const struct api_i32s *numbers) {
    struct json array = {.kind = JSON_ARRAY};
    for (size_t i = 0; i < numbers->n; i++)
        json_append(a, &array, json_of_i64(numbers->v[i]));
    return VALUE_JSON(numbers->v ? array : null);
}

struct value valid__int_or_str_value(const struct api_int_or_str *v) {
    return v->is_str ? VALUE_NAMED(v->s) : VALUE_I64(v->i);
}

struct str valid__go_quoted(struct arena *a, struct str s) {
    struct buf b = BUF_INIT(4 * s.n + 2);
    goquote_write(&b, s);
    struct str text = arena_str(a, buf_view(&b));
    buf_release(&b);
    return text;
}

/* The characters outside ASCII whose lower case is inside. */
enum { CAPITAL_I_WITH_DOT = 0x130, KELVIN_SIGN = 0x212A };

static void add_lower(struct buf *b, struct str c, uint32_t cp) {
    if (cp >= 'A' && cp <= 'Z')
        buf_add_char(b, (char)(cp + 'a' - 'A'));
    else if (cp == CAPITAL_I_WITH_DOT || cp == KELVIN_SIGN)
        buf_add_char(b, cp == KELVIN_SIGN ? 'k' : 'i');
    else
        buf_add(b, c);
}

struct str valid__lower(struct arena *a, struct str text) {
    AUTO(buf_release) struct buf lower = BUF_INIT(text.n);
    for (size_t i = 0, len; i < text.n; i += len) {
        struct str rest = str_sub(text, i, text.n);
        uint32_t cp = utf8_decode(rest, &len);
        add_lower(&lower, str_sub(rest, 0, len), cp);
    }
    return arena_str(a, buf_view(&lower));
}

void valid_refuse(struct valid_errs *out, struct str field, const struct json *value,
                  struct str why) {
    struct valid v = {.errs = out};
    valid__add(&v, VALID_INVALID, AT(NULL, arena_printf(out->a, "%.*s", STR_ARG(field)).p),
               &VALUE_JSON(*value), why);
}
