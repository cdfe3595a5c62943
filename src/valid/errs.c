/*
 * Field errors: paths and values to text, and the list that keeps each text once.
 */
#include <string.h>

#include "base/goquote.h"
#include "base/limits.h"
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
        buf_add_char(b, '[');
        buf_add_u64(b, p->index);
        buf_add_char(b, ']');
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
    struct seen texts;
    seen_init(&texts);
    size_t kept = 0;
    for (size_t i = 0; i < errs->n; i++)
        if (seen_add(&texts, errs->v[i].text))
            errs->v[kept++] = errs->v[i];
    errs->n = kept;
    seen_release(&texts);
}

/* An error in the making: its text so far, and where parts of it end or begin. */
struct draft {
    enum valid_type type;
    struct buf text;
    size_t field_end, value_end, detail;
};

/* Writes all but the detail. */
static struct draft start(enum valid_type type, const struct path *p, const struct value *value) {
    struct draft d = {.type = type, .text = BUF_INIT(3 * LIMIT_OBJECT_BYTES)};
    write_path(&d.text, p);
    if (!p)
        buf_add(&d.text, STR("<nil>"));
    d.field_end = d.text.n;
    buf_add(&d.text, STR(": "));
    buf_add(&d.text, str_of(types[type].text));
    if (value && value->kind != VALUE_OMITTED) {
        buf_add(&d.text, STR(": "));
        write_value(&d.text, value);
    }
    d.value_end = d.text.n;
    buf_add(&d.text, STR(": "));
    d.detail = d.text.n;
    return d;
}

/* Adds the error to the list, without the last colon when there is no detail. */
static void finish(struct valid *v, struct draft *d) {
    size_t n = d->text.n > d->detail ? d->text.n : d->value_end;
    struct str text = arena_str(v->errs->a, str_sub(buf_view(&d->text), 0, n));
    append(v->errs, (struct valid_error){.type = d->type,
                                         .text = text,
                                         .field = str_sub(text, 0, d->field_end),
                                         .body = str_sub(text, d->field_end + 2, n),
                                         .detail = str_sub(text, d->detail, n)});
    buf_release(&d->text);
}

void valid__add(struct valid *v, enum valid_type type, const struct path *p,
                const struct value *value, struct str detail) {
    struct draft d = start(type, p, value);
    buf_add(&d.text, detail);
    finish(v, &d);
}

void valid__invalid(struct valid *v, const struct path *p, struct value value, const char *fmt,
                    ...) {
    struct draft d = start(VALID_INVALID, p, &value);
    va_list ap;
    va_start(ap, fmt);
    valid__write_text(&d.text, fmt, ap);
    va_end(ap);
    finish(v, &d);
}

void valid__required(struct valid *v, const struct path *p, const char *fmt, ...) {
    struct draft d = start(VALID_REQUIRED, p, NULL);
    va_list ap;
    va_start(ap, fmt);
    valid__write_text(&d.text, fmt, ap);
    va_end(ap);
    finish(v, &d);
}

void valid__forbidden(struct valid *v, const struct path *p, const char *fmt, ...) {
    struct draft d = start(VALID_FORBIDDEN, p, NULL);
    va_list ap;
    va_start(ap, fmt);
    valid__write_text(&d.text, fmt, ap);
    va_end(ap);
    finish(v, &d);
}

void valid__duplicate(struct valid *v, const struct path *p, struct value value, const char *fmt,
                      ...) {
    struct draft d = start(VALID_DUPLICATE, p, &value);
    va_list ap;
    va_start(ap, fmt);
    valid__write_text(&d.text, fmt, ap);
    va_end(ap);
    finish(v, &d);
}

void valid__internal(struct valid *v, const struct path *p, const char *fmt, ...) {
    struct draft d = start(VALID_INTERNAL, p, NULL);
    va_list ap;
    va_start(ap, fmt);
    valid__write_text(&d.text, fmt, ap);
    va_end(ap);
    finish(v, &d);
}

void valid__not_found(struct valid *v, const struct path *p, struct value value, const char *fmt,
                      ...) {
    struct draft d = start(VALID_NOT_FOUND, p, &value);
    va_list ap;
    va_start(ap, fmt);
    valid__write_text(&d.text, fmt, ap);
    va_end(ap);
    finish(v, &d);
}

void valid__not_supported(struct valid *v, const struct path *p, struct value value,
                          const char *const *supported) {
    struct draft d = start(VALID_NOT_SUPPORTED, p, &value);
    for (size_t i = 0; supported[i]; i++) {
        buf_add(&d.text, i ? STR(", ") : STR("supported values: "));
        goquote_write(&d.text, str_of(supported[i]));
    }
    finish(v, &d);
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
    char first = text.n ? text.p[0] : '\0';
    for (size_t i = 0; list[i]; i++)
        if (list[i][0] == first && str_is(text, list[i]))
            return true;
    return false;
}
