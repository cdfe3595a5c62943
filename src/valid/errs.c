/*
 * Field errors: paths and values to text, and the list that keeps each text once.
 *
 * A list is bounded in number and in bytes. An error that finds it full is counted and not written,
 * so an object of which everything is wrong costs what it takes to look at it. Rules therefore ask
 * whether something was wrong by valid__found, never by the length of the list.
 *
 * Follows k8s.io/apimachinery pkg/util/validation/field, func (*Error) Error,
 * func (*Error) ErrorBody, func (*Path) String.
 */
#include <assert.h>
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
        if (b->n)
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

void valid__path_write(struct buf *out, const struct path *p) {
    write_path(out, p);
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

/* ---- the list ---- */

enum { FEW = 8 }; /* so many errors are compared one by one; more of them have an index */

/* The place of a text in the index: its own, or the free one where it would stand. */
static uint32_t *place_of(const struct valid_errs *errs, struct str text) {
    size_t mask = errs->slot_count - 1, at = str_hash(text, errs->seed) & mask;
    while (errs->slots[at] && !str_eq(errs->v[errs->slots[at] - 1].text, text))
        at = (at + 1) & mask;
    return &errs->slots[at];
}

/* Makes an index of all errors, with room for some more. */
static void index_all(struct valid_errs *errs) {
    if (!errs->slot_count) {
        errs->seed = map_random_seed();
        errs->slot_count = 2 * FEW;
    }
    while (errs->slot_count < 4 * errs->n)
        errs->slot_count *= 4;
    errs->slots = arena_array(errs->a, uint32_t, errs->slot_count);
    for (size_t i = 0; i < errs->n; i++)
        *place_of(errs, errs->v[i].text) = (uint32_t)i + 1;
}

/* The error with this text, or NULL. */
static struct valid_error *find(const struct valid_errs *errs, struct str text) {
    if (errs->slot_count) {
        uint32_t place = *place_of(errs, text);
        return place ? &errs->v[place - 1] : NULL;
    }
    for (size_t i = 0; i < errs->n; i++)
        if (str_eq(errs->v[i].text, text))
            return &errs->v[i];
    return NULL;
}

bool valid_errs_has(const struct valid_errs *errs, const struct valid_error *e) {
    return find(errs, e->text);
}

/* Adds an error whose text the list does not have. */
static void append(struct valid_errs *errs, struct valid_error e) {
    if (errs->n == errs->cap) {
        size_t cap = errs->cap ? errs->cap * 2 : FEW;
        struct valid_error *grown = arena_array(errs->a, struct valid_error, cap);
        if (errs->v)
            memcpy(grown, errs->v, errs->n * sizeof *grown);
        errs->v = grown;
        errs->cap = cap;
    }
    assert(errs->v);
    errs->v[errs->n++] = e;
    if (errs->n > FEW && 2 * errs->n > errs->slot_count)
        index_all(errs);
    else if (errs->slot_count)
        *place_of(errs, e.text) = (uint32_t)errs->n;
}

static bool is_full(const struct valid_errs *errs) {
    return errs->n >= LIMIT_FIELD_ERRORS || errs->bytes >= LIMIT_FIELD_ERROR_BYTES ||
           errs->written >= LIMIT_FIELD_ERROR_WORK;
}

void valid__note_left_out(struct valid_errs *errs) {
    if (!errs->left_out)
        return;
    struct str text = arena_printf(errs->a, "%zu further error%s not listed", errs->left_out,
                                   errs->left_out == 1 ? " is" : "s are");
    append(errs, (struct valid_error){VALID_TOO_MANY, text, STR(""), text, text, NULL});
}

/* ---- rules that are declared ---- */

void valid__cover(struct valid *v, const char *origin) {
    v->origin = origin;
}

void valid__uncover(struct valid *v) {
    v->origin = NULL;
}

/* Are the paths the same but for a part, between dots, that only the longer one has? */
static bool is_same_but(struct str shorter, struct str longer, struct str part) {
    size_t at = str_find(longer, part);
    return at != STR_NONE && longer.n == shorter.n + part.n - 1 &&
           str_eq(str_sub(longer, 0, at), str_sub(shorter, 0, at)) &&
           str_eq(str_sub(longer, at + part.n - 1, longer.n), str_sub(shorter, at, shorter.n));
}

/* Requests and devices of v1beta1 are other ones than those of v1, which the rules see. */
static bool is_same_place(struct str field, struct str declared) {
    return str_eq(field, declared) || is_same_but(declared, field, STR(".exactly.")) ||
           is_same_but(field, declared, STR(".basic."));
}

/* An error that shows a value can stand for another only when both say what kind of rule it is. */
static bool covers(const struct valid_error *declared, const struct valid_error *e) {
    return declared->origin && e->type == declared->type &&
           is_same_place(e->field, declared->field) && strcmp(e->origin, declared->origin) == 0 &&
           (e->type != VALID_INVALID || e->origin[0] != '\0');
}

static bool is_covered(const struct valid_errs *declared, const struct valid_error *e) {
    for (size_t i = 0; e->origin && i < declared->n; i++)
        if (covers(&declared->v[i], e))
            return true;
    return false;
}

/* The index is made anew with the next errors. */
static void remove_covered(struct valid_errs *errs, const struct valid_errs *declared) {
    size_t kept = 0;
    for (size_t i = 0; i < errs->n; i++)
        if (!is_covered(declared, &errs->v[i]))
            errs->v[kept++] = errs->v[i];
    if (kept < errs->n) {
        errs->n = kept;
        errs->slot_count = 0;
        if (kept > FEW)
            index_all(errs);
    }
}

void valid__merge_declared(struct valid_errs *errs, const struct valid_errs *declared) {
    remove_covered(errs, declared);
    errs->found += declared->found;
    errs->left_out += declared->left_out;
    errs->written += declared->written;
    for (size_t i = 0; i < declared->n; i++) {
        if (find(errs, declared->v[i].text))
            continue;
        errs->left_out += is_full(errs);
        if (is_full(errs))
            continue;
        errs->bytes += declared->v[i].text.n;
        append(errs, declared->v[i]);
    }
}

/* ---- one error ---- */

/* An error in the making: its text so far, and where parts of it end or begin. */
struct draft {
    enum valid_type type;
    struct buf text;
    size_t field_end, value_end, detail;
};

/* Writes all but the detail. False when the list is full: the error is only counted. */
static bool start(struct valid *v, struct draft *d, enum valid_type type, const struct path *p,
                  const struct value *value) {
    v->errs->found++;
    if (is_full(v->errs)) {
        v->errs->left_out++;
        return false;
    }
    *d = (struct draft){.type = type, .text = BUF_INIT(3 * LIMIT_OBJECT_BYTES)};
    write_path(&d->text, p);
    if (!p)
        buf_add(&d->text, STR("<nil>"));
    d->field_end = d->text.n;
    buf_add(&d->text, STR(": "));
    buf_add(&d->text, str_of(types[type].text));
    if (value && value->kind != VALUE_OMITTED) {
        buf_add(&d->text, STR(": "));
        write_value(&d->text, value);
    }
    d->value_end = d->text.n;
    buf_add(&d->text, STR(": "));
    d->detail = d->text.n;
    return true;
}

/* Adds the error to the list, without the last colon when there is no detail; unless its text is
 * there already, of which upstream keeps the first one, too. */
static void finish(struct valid *v, struct draft *d) {
    struct valid_errs *errs = v->errs;
    size_t n = d->text.n > d->detail ? d->text.n : d->value_end;
    struct str text = str_sub(buf_view(&d->text), 0, n);
    errs->written += d->text.full ? d->text.max : n;
    struct valid_error *same = find(errs, text);
    if (same && !v->origin)
        same->origin = NULL;
    if (!same) {
        text = arena_str(errs->a, text);
        errs->bytes += n;
        append(errs, (struct valid_error){.type = d->type,
                                          .text = text,
                                          .field = str_sub(text, 0, d->field_end),
                                          .body = str_sub(text, d->field_end + 2, n),
                                          .detail = str_sub(text, d->detail, n),
                                          .origin = v->origin});
    }
    buf_release(&d->text);
}

void valid__add(struct valid *v, enum valid_type type, const struct path *p,
                const struct value *value, struct str detail) {
    struct draft d;
    if (!start(v, &d, type, p, value))
        return;
    buf_add(&d.text, detail);
    finish(v, &d);
}

void valid__invalid(struct valid *v, const struct path *p, struct value value, const char *fmt,
                    ...) {
    struct draft d;
    if (!start(v, &d, VALID_INVALID, p, &value))
        return;
    va_list ap;
    va_start(ap, fmt);
    buf_vaddf(&d.text, fmt, ap);
    va_end(ap);
    finish(v, &d);
}

void valid__required(struct valid *v, const struct path *p, const char *fmt, ...) {
    struct draft d;
    if (!start(v, &d, VALID_REQUIRED, p, NULL))
        return;
    va_list ap;
    va_start(ap, fmt);
    buf_vaddf(&d.text, fmt, ap);
    va_end(ap);
    finish(v, &d);
}

void valid__forbidden(struct valid *v, const struct path *p, const char *fmt, ...) {
    struct draft d;
    if (!start(v, &d, VALID_FORBIDDEN, p, NULL))
        return;
    va_list ap;
    va_start(ap, fmt);
    buf_vaddf(&d.text, fmt, ap);
    va_end(ap);
    finish(v, &d);
}

void valid__duplicate(struct valid *v, const struct path *p, struct value value, const char *fmt,
                      ...) {
    struct draft d;
    if (!start(v, &d, VALID_DUPLICATE, p, &value))
        return;
    va_list ap;
    va_start(ap, fmt);
    buf_vaddf(&d.text, fmt, ap);
    va_end(ap);
    finish(v, &d);
}

void valid__internal(struct valid *v, const struct path *p, const char *fmt, ...) {
    struct draft d;
    if (!start(v, &d, VALID_INTERNAL, p, NULL))
        return;
    va_list ap;
    va_start(ap, fmt);
    buf_vaddf(&d.text, fmt, ap);
    va_end(ap);
    finish(v, &d);
}

void valid__not_found(struct valid *v, const struct path *p, struct value value, const char *fmt,
                      ...) {
    struct draft d;
    if (!start(v, &d, VALID_NOT_FOUND, p, &value))
        return;
    va_list ap;
    va_start(ap, fmt);
    buf_vaddf(&d.text, fmt, ap);
    va_end(ap);
    finish(v, &d);
}

void valid__not_supported(struct valid *v, const struct path *p, struct value value,
                          const char *const *supported) {
    struct draft d;
    if (!start(v, &d, VALID_NOT_SUPPORTED, p, &value))
        return;
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
