/*
 * Field errors: paths and values to text, and the list that keeps each text once.
 */
#include <string.h>

#include "base/goquote.h"
#include "base/limits.h"
#include "base/map.h"
#include "valid/valid_int.h"

static const struct {
    const char *reason, *text;
} types[] = {
#define X(name, reason, text) [VALID_##name] = {reason, text},
    VALID_TYPES(X)
#undef X
};

const char *valid_reason(enum valid_type type) {
    return types[type].reason;
}

static void write_path(struct buf *b, const struct path *p) {
    if (!p)
        return;
    write_path(b, p->up);
    if (p->name) {
        if (b->n)
            buf_add_char(b, '.');
        buf_add(b, str_of(p->name));
    } else if (p->dotted && p->key.n) {
        buf_add_char(b, '.');
        buf_add(b, p->key);
    } else if (p->key.p) {
        buf_add_char(b, '[');
        buf_add(b, p->key);
        buf_add_char(b, ']');
    } else {
        buf_addf(b, "[%zu]", p->index);
    }
}

static void write_value(struct buf *b, const struct value *v) {
    switch (v->kind) {
    case VALUE_QUOTED:
        goquote_write(b, v->s);
        break;
    case VALUE_NUMBER:
        buf_add_i64(b, v->i);
        break;
    case VALUE_TRUTH:
        buf_add(b, v->b ? STR("true") : STR("false"));
        break;
    case VALUE_TREE:
        json_write(b, &v->json, NULL);
        break;
    case VALUE_OMITTED:
        break;
    }
}

static struct str take(struct arena *a, struct buf *b) {
    struct str text = arena_str(a, buf_view(b));
    buf_release(b);
    return text;
}

static void append(struct valid_errs *errs, struct valid_error e) {
    if (errs->n == errs->cap) {
        size_t cap = errs->cap ? errs->cap * 2 : 8;
        struct valid_error *grown = arena_array(errs->a, struct valid_error, cap);
        if (errs->n)
            memcpy(grown, errs->v, errs->n * sizeof *grown);
        errs->v = grown;
        errs->cap = cap;
    }
    errs->v[errs->n++] = e;
}

void valid__drop_repeats(struct valid_errs *errs) {
    if (errs->n < 2)
        return;
    struct map seen = MAP_INIT(map_random_seed());
    size_t kept = 0;
    for (size_t i = 0; i < errs->n; i++) {
        const struct valid_error *e = &errs->v[i];
        struct str text = valid__text(errs->a, "%.*s: %.*s", STR_ARG(e->field), STR_ARG(e->body));
        if (!map_put(&seen, text, errs))
            errs->v[kept++] = *e;
    }
    errs->n = kept;
    map_release(&seen);
}

void valid__add(struct valid *v, enum valid_type type, const struct path *p,
                const struct value *value, struct str detail) {
    struct arena *a = v->errs->a;
    struct buf field = BUF_INIT(LIMIT_OBJECT_BYTES), body = BUF_INIT(2 * LIMIT_OBJECT_BYTES);
    write_path(&field, p);
    if (!p)
        buf_add(&field, STR("<nil>"));
    buf_add(&body, str_of(types[type].text));
    if (value && value->kind != VALUE_OMITTED) {
        buf_add(&body, STR(": "));
        write_value(&body, value);
    }
    if (detail.n) {
        buf_add(&body, STR(": "));
        buf_add(&body, detail);
    }
    struct str field_text = take(a, &field), body_text = take(a, &body);
    append(v->errs, (struct valid_error){type, field_text, body_text, detail});
}

void valid__invalid(struct valid *v, const struct path *p, struct value value, const char *fmt,
                    ...) {
    va_list ap;
    va_start(ap, fmt);
    valid__add(v, VALID_INVALID, p, &value, valid__vtext(v->errs->a, fmt, ap));
    va_end(ap);
}

void valid__required(struct valid *v, const struct path *p, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    valid__add(v, VALID_REQUIRED, p, NULL, valid__vtext(v->errs->a, fmt, ap));
    va_end(ap);
}

void valid__forbidden(struct valid *v, const struct path *p, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    valid__add(v, VALID_FORBIDDEN, p, NULL, valid__vtext(v->errs->a, fmt, ap));
    va_end(ap);
}

void valid__duplicate(struct valid *v, const struct path *p, struct value value, const char *fmt,
                      ...) {
    va_list ap;
    va_start(ap, fmt);
    valid__add(v, VALID_DUPLICATE, p, &value, valid__vtext(v->errs->a, fmt, ap));
    va_end(ap);
}

void valid__internal(struct valid *v, const struct path *p, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    valid__add(v, VALID_INTERNAL, p, NULL, valid__vtext(v->errs->a, fmt, ap));
    va_end(ap);
}

void valid__not_found(struct valid *v, const struct path *p, struct value value, const char *fmt,
                      ...) {
    va_list ap;
    va_start(ap, fmt);
    valid__add(v, VALID_NOT_FOUND, p, &value, valid__vtext(v->errs->a, fmt, ap));
    va_end(ap);
}

void valid__not_supported(struct valid *v, const struct path *p, struct value value,
                          const char *const *supported) {
    struct buf b = BUF_INIT(LIMIT_OBJECT_BYTES);
    for (size_t i = 0; supported[i]; i++) {
        buf_add(&b, i ? STR(", ") : STR("supported values: "));
        goquote_write(&b, str_of(supported[i]));
    }
    valid__add(v, VALID_NOT_SUPPORTED, p, &value, take(v->errs->a, &b));
}

void valid__too_long(struct valid *v, const struct path *p, size_t most) {
    struct str detail =
        arena_printf(v->errs->a, "may not be more than %zu byte%s", most, most == 1 ? "" : "s");
    valid__add(v, VALID_TOO_LONG, p, NULL, detail);
}

void valid__too_many(struct valid *v, const struct path *p, size_t actual, size_t most) {
    struct value value = VALUE_I64((int64_t)actual);
    struct str detail =
        arena_printf(v->errs->a, "must have at most %zu item%s", most, most == 1 ? "" : "s");
    valid__add(v, VALID_TOO_MANY, p, &value, detail);
}

bool valid__one_of(struct str text, const char *const *list) {
    for (size_t i = 0; list[i]; i++)
        if (str_is(text, list[i]))
            return true;
    return false;
}
