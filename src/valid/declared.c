/*
 * Follows k8s.io/apimachinery pkg/api/validate, func RequiredValue, func Immutable, func MaxLength,
 * func MaxBytes, func MaxItems, func Minimum, func Maximum, func Enum, func Union.
 */
#include "valid/declared_int.h"

#include "base/utf8.h"

bool valid__begin_declared(struct valid *v, const char *origin) {
    v->origin = v->is_standard ? NULL : origin;
    return v->is_standard || valid__has_declared(v);
}

static const struct value null = {.kind = VALUE_TREE, .json = {.kind = JSON_NULL}};

void valid__say_required(struct valid *v, const struct path *p) {
    if (valid__begin_declared(v, ""))
        valid__required(v, p, NO_DETAIL);
}

void valid__say_forbidden(struct valid *v, const struct path *p) {
    if (valid__begin_declared(v, ""))
        valid__forbidden(v, p, NO_DETAIL);
}

void valid__say_immutable(struct valid *v, const struct path *p) {
    if (valid__begin_declared(v, "immutable"))
        valid__immutable(v, p, null);
}

void valid__say_not_set(struct valid *v, const struct path *p) {
    if (valid__begin_declared(v, "update"))
        valid__invalid(v, p, null, "field cannot be set once created");
}

void valid__say_not_cleared(struct valid *v, const struct path *p) {
    if (valid__begin_declared(v, "update"))
        valid__invalid(v, p, null, "field cannot be cleared once set");
}

void valid__say_not_modified(struct valid *v, const struct path *p) {
    if (valid__begin_declared(v, "update"))
        valid__invalid(v, p, null, "field cannot be modified once set");
}

void valid__say_duplicate(struct valid *v, const struct path *p, struct value value) {
    if (valid__begin_declared(v, ""))
        valid__duplicate(v, p, value, NO_DETAIL);
}

void valid__say_choice(struct valid *v, const struct path *p, struct str text,
                       const char *const *supported) {
    if (!valid__one_of(text, supported) && valid__begin_declared(v, ""))
        valid__not_supported(v, p, VALUE_NAMED(text), supported);
}

/* ---- most and fewest ---- */

void valid__most_bytes(struct valid *v, const struct path *p, struct str text, size_t most) {
    if (text.n > most && valid__begin_declared(v, "maxBytes"))
        valid__too_long(v, p, most);
}

static size_t count_characters(struct str text) {
    size_t n = 0;
    for (size_t i = 0, len; i < text.n; i += len, n++)
        utf8_decode(str_sub(text, i, text.n), &len);
    return n;
}

void valid__most_characters(struct valid *v, const struct path *p, struct str text, size_t most) {
    if (text.n <= most || count_characters(text) <= most || !valid__begin_declared(v, "maxLength"))
        return;
    struct str detail = arena_printf(v->errs->a, "may not be more than %zu character%s", most,
                                     most == 1 ? "" : "s");
    valid__add(v, VALID_TOO_LONG, p, NULL, detail);
}

void valid__most_items(struct valid *v, const struct path *p, size_t n, size_t most) {
    if (n > most && valid__begin_declared(v, "maxItems"))
        valid__too_many(v, p, n, most);
}

void valid__least(struct valid *v, const struct path *p, int64_t value, int64_t least) {
    if (value < least && valid__begin_declared(v, "minimum"))
        valid__invalid(v, p, VALUE_I64(value), "must be greater than or equal to %lld",
                       (long long)least);
}

void valid__most(struct valid *v, const struct path *p, int64_t value, int64_t most) {
    if (value > most && valid__begin_declared(v, "maximum"))
        valid__invalid(v, p, VALUE_I64(value), "must be less than or equal to %lld",
                       (long long)most);
}

/* ---- names ---- */

void valid__say_names(struct valid *v, const struct path *p, struct str name,
                      const struct names_errs *errs, const char *origin) {
    if (errs->n && valid__begin_declared(v, origin))
        valid__names(v, p, name, errs);
}

/* The words for what is too long are other ones than those of rules that are not declared. */
void valid__short_name(struct valid *v, const struct path *p, struct str name) {
    struct names_errs errs = names_check_dns1123_label(name);
    if (name.n > 63)
        errs.v[0] = STR("must be no more than 63 bytes");
    valid__say_names(v, p, name, &errs, ORIGIN_SHORT_NAME);
}

void valid__long_name(struct valid *v, const struct path *p, struct str name) {
    struct names_errs errs = names_check_dns1123_subdomain(name);
    if (name.n > 253)
        errs.v[0] = STR("must be no more than 253 bytes");
    valid__say_names(v, p, name, &errs, ORIGIN_LONG_NAME);
}

void valid__caseless_name(struct valid *v, const struct path *p, struct str name) {
    struct names_errs errs = names_check_dns1123_caseless(name);
    valid__say_names(v, p, name, &errs, ORIGIN_CASELESS);
}

/* ---- unions ---- */

static struct str join(struct arena *a, const struct union_member *members, size_t n, bool all) {
    AUTO(buf_release) struct buf text = BUF_INIT(4096);
    for (size_t i = 0; i < n; i++)
        if (all || members[i].is_set)
            buf_addf(&text, all ? "%s`%s`" : "%s%s", text.n ? ", " : "", members[i].name);
    return arena_str(a, buf_view(&text));
}

static size_t count_set(const struct union_member *members, size_t n, bool has_old,
                        bool *is_changed) {
    size_t set = 0;
    *is_changed = !has_old;
    for (size_t i = 0; i < n; i++) {
        set += members[i].is_set;
        *is_changed |= members[i].is_set != members[i].was_set;
    }
    return set;
}

/* Which of them are set, as an error shows it. */
static struct value set_value(struct arena *a, const struct union_member *members, size_t n) {
    struct str some = join(a, members, n, false);
    return VALUE_Q(arena_printf(a, "{%.*s}", STR_ARG(some)));
}

void valid__say_union(struct valid *v, const struct path *p, const struct union_member *members,
                      size_t n, bool has_old) {
    struct arena *a = v->errs->a;
    bool is_changed;
    size_t set = count_set(members, n, has_old, &is_changed);
    if (!is_changed || set == 1 || !valid__begin_declared(v, "union"))
        return;
    struct str all = join(a, members, n, true);
    if (!set)
        valid__invalid(v, p, VALUE_Q(STR("")), "must specify one of: %.*s", STR_ARG(all));
    else
        valid__invalid(v, p, set_value(a, members, n), "must specify exactly one of: %.*s",
                       STR_ARG(all));
}

void valid__say_at_most_one(struct valid *v, const struct path *p,
                            const struct union_member *members, size_t n, bool has_old) {
    bool is_changed;
    size_t set = count_set(members, n, has_old, &is_changed);
    if (!is_changed || set <= 1 || !valid__begin_declared(v, "zeroOrOneOf"))
        return;
    struct str all = join(v->errs->a, members, n, true);
    valid__invalid(v, p, set_value(v->errs->a, members, n), "must specify at most one of: %.*s",
                   STR_ARG(all));
}
