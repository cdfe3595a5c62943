/*
 * The walk over an object and the one that it replaces, along the rows of what is declared. What an
 * update does not change is not looked at again; items of lists with keys are compared with the old
 * ones of the same keys, items of other lists with none.
 *
 * Follows k8s.io/apimachinery pkg/api/validate, func EachValSliceVal, func EachMapVal,
 * func EachMapKey, func ValSliceUnique, func ValSliceUpdate, func UpdatePointer, func Monotonic,
 * func OptionalValue, func ForbiddenPointer, func IfOption.
 */
#include <assert.h>

#include "base/limits.h"
#include "valid/declared/declared_rows_int.h"

struct walk {
    struct valid *v;
    bool is_update;
    bool is_beta; /* the version is one before v1 */
};

/* A struct of the new object, and of the old one at its place: NULL when there is none. */
struct pair {
    const struct api_type *type;
    const char *now, *old;
};

/* A field of both, with its row. */
struct place {
    const struct declared_row *row;
    const struct api_field *f;
    const char *now, *old;
};

struct any_list {
    const char *v;
    size_t n;
};

static void walk_struct(const struct walk *w, const struct path *p, const struct pair *s);

static const struct declared_type *find_type(enum api_type_id type) {
    static declared_types *const tables[] = {valid__declared_devices, valid__declared_groups,
                                             valid__declared_others};
    const struct declared_type *found = NULL;
    for (size_t i = 0; !found && i < sizeof tables / sizeof *tables; i++)
        found = tables[i](type);
    return found;
}

/* ---- values ---- */

static const void *pointer_at(const char *at) {
    return *(void *const *)(const void *)at;
}

static struct str text_at(const char *at) {
    return *(const struct str *)(const void *)at;
}

static const struct any_list *list_at(const char *at) {
    return (const struct any_list *)(const void *)at;
}

static int64_t number_at(const struct api_field *f, const char *at) {
    const void *p = at;
    switch ((enum api_field_kind)f->kind) {
    case API_I32:
        return *(const int32_t *)p;
    case API_I64:
        return *(const int64_t *)p;
    case API_PI32:
        return ((const struct api_opt_i32 *)p)->v;
    case API_PI64:
        return ((const struct api_opt_i64 *)p)->v;
    default:
        BUG("no number");
    }
}

/* long: one case for each kind of field that has rules */
static bool is_set(const struct api_field *f, const char *at) {
    const void *p = at;
    switch ((enum api_field_kind)f->kind) {
    case API_STR:
        return text_at(at).n;
    case API_PSTR:
        return text_at(at).p;
    case API_I32:
    case API_I64:
        return number_at(f, at);
    case API_PI32:
        return ((const struct api_opt_i32 *)p)->set;
    case API_PI64:
        return ((const struct api_opt_i64 *)p)->set;
    case API_PBOOL:
        return ((const struct api_opt_bool *)p)->set;
    case API_PTIME:
        return ((const struct api_time *)p)->set;
    case API_PQUANTITY:
    case API_PTR:
        return pointer_at(at);
    case API_LSTR:
    case API_LI64:
    case API_LBOOL:
    case API_LIST:
    case API_MOBJ:
        return list_at(at)->n;
    case API_OBJ:
    case API_INLINE:
        return true;
    default:
        BUG("no rules are declared of such fields");
    }
}

static bool is_pointer(const struct api_field *f) {
    return f->kind == API_PTR || f->kind == API_PSTR || f->kind == API_PI32 ||
           f->kind == API_PI64 || f->kind == API_PTIME;
}

/* ---- items by their keys ---- */

/* The item's keys as one text, in the arena. */
static struct str key_of(struct arena *a, const struct api_type *type, const char *keys,
                         const char *item) {
    AUTO(buf_release) struct buf key = BUF_INIT(SIZE_MAX);
    struct str rest = str_of(keys), name;
    for (bool more = true; more;) {
        const struct api_field *next = type->fields;
        more = str_cut(rest, ',', &name, &rest);
        struct api_found found = api_field_find(type, name, &next);
        struct str text = text_at(item + found.offset);
        if (!more && !key.n)
            return text;
        buf_addf(&key, "%c%zu/%.*s", text.p ? 's' : 'n', text.n, STR_ARG(text));
    }
    return arena_str(a, buf_view(&key));
}

static struct str list_key(const struct walk *w, const struct place *at, const char *item) {
    return key_of(w->v->errs->a, at->f->type, at->row->keys, item);
}

/* Remembers items by their keys, the first of each. */
static void index_items(const struct walk *w, const struct place *at, const struct any_list *list,
                        struct seen *index) {
    for (size_t i = 0; i < list->n; i++) {
        const char *item = list->v + i * at->f->type->size;
        seen_put(index, list_key(w, at, item), item);
    }
}

static void say_repeated_structs(const struct walk *w, const struct path *p,
                                 const struct place *at) {
    AUTO(seen_release) struct seen keys;
    const struct any_list *list = list_at(at->now);
    struct arena *a = w->v->errs->a;
    seen_init(&keys);
    for (size_t i = 0; i < list->n; i++) {
        const char *item = list->v + i * at->f->type->size;
        if (!seen_add(&keys, list_key(w, at, item)))
            valid__say_duplicate(w->v, AT_INDEX(p, i),
                                 VALUE_JSON(api_struct_encode(a, at->f->type, item)));
    }
}

static void say_repeated_texts(const struct walk *w, const struct path *p,
                               const struct api_strs *list) {
    AUTO(seen_release) struct seen seen;
    seen_init(&seen);
    for (size_t i = 0; i < list->n; i++)
        if (!seen_add(&seen, list->v[i]))
            valid__say_duplicate(w->v, AT_INDEX(p, i), VALUE_NAMED(list->v[i]));
}

/* ---- rules that end a field's: true when they do ---- */

static bool is_forbidden(const struct walk *w, const struct path *p, const struct place *at) {
    if (!at->row->gate || feature_enabled(w->v->gates, (enum feature)(at->row->gate - 1)))
        return false;
    if (is_set(at->f, at->now))
        valid__say_forbidden(w->v, p);
    return true;
}

static bool is_too_long(const struct walk *w, const struct path *p, const struct place *at) {
    size_t n = at->row->rules & D_MOST_ITEMS ? list_at(at->now)->n : 0;
    valid__most_items(w->v, p, n, (size_t)at->row->most);
    return n > (size_t)at->row->most;
}

/* Says what may not be added, and how often something was taken away. */
static bool say_other_items(const struct walk *w, const struct path *p, const struct place *at) {
    AUTO(seen_release) struct seen now;
    AUTO(seen_release) struct seen old;
    static const struct any_list none;
    const struct any_list *list = list_at(at->now), *before = at->old ? list_at(at->old) : &none;
    bool is_other = false;
    seen_init(&now);
    seen_init(&old);
    index_items(w, at, list, &now);
    index_items(w, at, before, &old);
    for (size_t i = 0; i < list->n; i++)
        if (!seen_get(&old, list_key(w, at, list->v + i * at->f->type->size))) {
            is_other = true;
            valid__forbidden(w->v, AT_INDEX(p, i), "item may not be added");
        }
    for (size_t i = 0; i < before->n; i++)
        if (!seen_get(&now, list_key(w, at, before->v + i * at->f->type->size))) {
            is_other = true;
            valid__forbidden(w->v, p, "item may not be removed");
        }
    return is_other;
}

static bool is_bad_update(const struct walk *w, const struct path *p, const struct place *at) {
    unsigned rules = at->row->rules;
    bool now = is_set(at->f, at->now), was = at->old && is_set(at->f, at->old);
    if (!w->is_update || (!at->old && !is_pointer(at->f)))
        return false;
    bool is_bad = false;
    if (rules & D_NO_MODIFY && now && was) {
        is_bad = true;
        valid__say_not_modified(w->v, p);
    }
    if (rules & D_NO_SET && now && !was) {
        is_bad = true;
        valid__say_not_set(w->v, p);
    }
    if (rules & D_NO_UNSET && !now && was) {
        is_bad = true;
        valid__say_not_cleared(w->v, p);
    }
    return is_bad;
}

static bool ends(const struct walk *w, const struct path *p, const struct place *at) {
    unsigned rules = at->row->rules;
    bool now = is_set(at->f, at->now), ends = is_forbidden(w, p, at);
    if (ends && rules & D_GATED)
        return true;
    if (rules & D_IMMUTABLE && w->is_update) {
        ends = true;
        valid__say_immutable(w->v, p);
    }
    ends |= is_too_long(w, p, at);
    if (rules & D_REQUIRED && !now)
        valid__say_required(w->v, p);
    ends |= is_bad_update(w, p, at);
    if (rules & D_FIXED_ITEMS && w->is_update)
        ends |= say_other_items(w, p, at);
    return ends || !now;
}

/* ---- what is inside ---- */

static void walk_items(const struct walk *w, const struct path *p, const struct place *at) {
    AUTO(seen_release) struct seen old;
    const struct any_list *list = list_at(at->now);
    seen_init(&old);
    if (at->row->keys && at->old)
        index_items(w, at, list_at(at->old), &old);
    for (size_t i = 0; i < list->n; i++) {
        struct pair item = {.type = at->f->type, .now = list->v + i * at->f->type->size};
        item.old = at->row->keys ? seen_get(&old, list_key(w, at, item.now)) : NULL;
        if (!w->is_update || !item.old ||
            !valid__equal((enum api_type_id)item.type->id, item.now, item.old))
            walk_struct(w, AT_INDEX(p, i), &item);
    }
}

/* Maps are in the order of their keys. */
static void walk_entries(const struct walk *w, const struct path *p, const struct place *at) {
    size_t size = sizeof(struct str) + at->f->type->size;
    static const struct any_list none;
    const struct any_list *list = list_at(at->now), *old = at->old ? list_at(at->old) : &none;
    for (size_t i = 0, k = 0; i < list->n; i++) {
        struct str key = text_at(list->v + i * size);
        while (k < old->n && str_cmp(text_at(old->v + k * size), key) < 0)
            k++;
        bool is_old = k < old->n && str_eq(text_at(old->v + k * size), key);
        struct pair item = {.type = at->f->type, .now = list->v + i * size + sizeof(struct str)};
        item.old = is_old ? old->v + k * size + sizeof(struct str) : NULL;
        if (at->row->rules & D_FORMAT_INSIDE && !(is_old && w->is_update))
            valid__say_format(w->v, p, at->row->format, key);
        if (!w->is_update || !is_old ||
            !valid__equal((enum api_type_id)item.type->id, item.now, item.old))
            walk_struct(w, AT_KEY(p, key), &item);
    }
}

static void walk_texts(const struct walk *w, const struct path *p, const struct place *at) {
    AUTO(seen_release) struct seen old;
    const struct api_strs *list = (const void *)at->now, *before = (const void *)at->old;
    seen_init(&old);
    for (size_t i = 0; before && i < before->n; i++)
        seen_add(&old, before->v[i]);
    for (size_t i = 0; i < list->n; i++) {
        if (w->is_update && seen_get(&old, list->v[i]))
            continue;
        if (at->row->rules & D_FORMAT_INSIDE)
            valid__say_format(w->v, AT_INDEX(p, i), at->row->format, list->v[i]);
        if (at->row->choices)
            valid__say_choice(w->v, AT_INDEX(p, i), list->v[i], at->row->choices);
    }
}

static void check_text(const struct walk *w, const struct path *p, const struct place *at) {
    struct str text = text_at(at->now);
    bool is_length_first = at->row->rules & D_LENGTH_FIRST && w->is_beta;
    if (!is_length_first)
        valid__say_format(w->v, p, at->row->format, text);
    if (at->row->rules & D_MOST_BYTES)
        valid__most_bytes(w->v, p, text, (size_t)at->row->most);
    if (at->row->rules & D_MOST_RUNES)
        valid__most_characters(w->v, p, text, (size_t)at->row->most);
    if (is_length_first)
        valid__say_format(w->v, p, at->row->format, text);
    if (at->row->choices)
        valid__say_choice(w->v, p, text, at->row->choices);
}

static void check_number(const struct walk *w, const struct path *p, const struct place *at) {
    int64_t n = number_at(at->f, at->now);
    if (at->row->rules & D_MOST)
        valid__most(w->v, p, n, at->row->most);
    if (at->row->rules & D_LEAST)
        valid__least(w->v, p, n, at->row->least);
    bool was_set = at->old && is_set(at->f, at->old);
    int64_t was = was_set ? number_at(at->f, at->old) : n;
    if (at->row->rules & D_MONOTONIC && w->is_update && n < was)
        valid__invalid(w->v, p, VALUE_I64(n), "may not be decreased from %lld", (long long)was);
}

static void check_list(const struct walk *w, const struct path *p, const struct place *at) {
    if (at->row->rules & D_UNIQUE && at->f->kind == API_LSTR)
        say_repeated_texts(w, p, (const void *)at->now);
    else if (at->row->rules & D_UNIQUE)
        say_repeated_structs(w, p, at);
    if (at->f->kind == API_LSTR)
        walk_texts(w, p, at);
    else
        walk_items(w, p, at);
}

static void check_inside(const struct walk *w, const struct path *p, const struct place *at) {
    switch ((enum api_field_kind)at->f->kind) {
    case API_STR:
    case API_PSTR:
        check_text(w, p, at);
        break;
    case API_I32:
    case API_I64:
    case API_PI32:
    case API_PI64:
        check_number(w, p, at);
        break;
    case API_LIST:
    case API_LSTR:
        check_list(w, p, at);
        break;
    case API_MOBJ:
        walk_entries(w, p, at);
        break;
    case API_PTR:
        walk_struct(
            w, p,
            &(struct pair){at->f->type, pointer_at(at->now), at->old ? pointer_at(at->old) : NULL});
        break;
    case API_OBJ:
    case API_INLINE:
        walk_struct(w, p, &(struct pair){at->f->type, at->now, at->old});
        break;
    default:
        break;
    }
}

/* ---- structs ---- */

static void walk_field(const struct walk *w, const struct path *p, const struct place *at) {
    bool is_standard = w->v->is_standard;
    if (w->is_update && at->old && valid__equal_field(at->f, at->now, at->old))
        return;
    w->v->is_standard = !(at->row->rules & D_BETA);
    valid__begin_declared(w->v, "");
    if (!ends(w, p, at))
        check_inside(w, p, at);
    w->v->is_standard = is_standard;
}

enum { MOST_UNITED = 8 };

static void check_union(const struct walk *w, const struct path *p, const struct pair *s,
                        const struct declared_type *t) {
    struct union_member members[MOST_UNITED];
    size_t n = 0;
    const struct api_field *next = s->type->fields;
    for (; t->united && t->united[n]; n++) {
        struct api_found found = api_field_find(s->type, str_of(t->united[n]), &next);
        assert(found.field && n < MOST_UNITED);
        members[n] =
            (struct union_member){.name = t->united[n],
                                  .is_set = is_set(found.field, s->now + found.offset),
                                  .was_set = s->old && is_set(found.field, s->old + found.offset)};
    }
    w->v->is_standard = !t->is_united_in_beta;
    if (n)
        valid__say_union(w->v, p, members, n, w->is_update && s->old);
    w->v->is_standard = false;
}

static const struct api_field *field_of(const struct api_type *type, const char *name) {
    for (size_t i = 0; i < type->field_count; i++) {
        const struct api_field *f = &type->fields[i];
        if (f->kind == API_INLINE ? str_is(str_of(f->go), name) : str_is(f->json, name))
            return f;
    }
    BUG("a rule of a field that is not there");
}

/* The depth is that of the tree that was decoded, which is limited. */
static void walk_struct(const struct walk *w, const struct path *p, const struct pair *s) {
    const struct declared_type *t = find_type((enum api_type_id)s->type->id);
    if (!t)
        return;
    check_union(w, p, s, t);
    for (const struct declared_row *row = t->rows; row && row->field; row++) {
        const struct api_field *f = field_of(s->type, row->field);
        struct place at = {row, f, s->now + f->offset, s->old ? s->old + f->offset : NULL};
        walk_field(w, f->kind == API_INLINE ? p : AT(p, row->field), &at);
    }
}

void valid__declared_rows(struct valid *v, const struct api_object *o,
                          const struct api_object *old) {
    struct walk w = {v, old != NULL, !str_ends(str_of(o->kind->api_version), STR("/v1"))};
    struct pair s = {o->type, o->body, old ? old->body : NULL};
    valid__metadata_declared(v, o, old);
    walk_struct(&w, NULL, &s);
}
