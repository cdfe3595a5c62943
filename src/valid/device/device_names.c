/*
 * Names of drivers, pools and attributes, and lists of them.
 *
 * Follows k8s.io/kubernetes pkg/apis/resource/validation, func validatePoolName,
 * func validateQualifiedName, func validateFullyQualifiedName, func validateCIdentifier,
 * func truncateIfTooLong.
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func ValidateCSIDriverName.
 */
#include "valid/declared/declared_rows_int.h"
#include "valid/device/device_int.h"

enum { MOST_POOL_BYTES = 253, FEWEST_SHOWN = 16 };

static void cover_if(struct valid *v, bool is_covered, const char *origin) {
    if (is_covered)
        valid__cover(v, origin);
}

void valid__driver_name(struct valid *v, const struct path *p, struct str name, bool is_covered) {
    cover_if(v, is_covered, "");
    if (!name.n)
        valid__required(v, p, NO_DETAIL);
    cover_if(v, is_covered, "maxLength");
    if (name.n > MOST_DRIVER_BYTES)
        valid__too_long(v, p, MOST_DRIVER_BYTES);
    cover_if(v, is_covered, ORIGIN_CASELESS);
    struct names_errs errs = {0};
    if (name.n)
        errs = names_check_dns1123_subdomain(valid__lower(v->errs->a, name));
    valid__names(v, p, name, &errs);
    valid__uncover(v);
}

void valid__pool_name(struct valid *v, const struct path *p, struct str name, bool is_covered) {
    cover_if(v, is_covered, "");
    if (!name.n)
        valid__required(v, p, NO_DETAIL);
    cover_if(v, is_covered, "format=k8s-resource-pool-name");
    if (name.n > MOST_POOL_BYTES)
        valid__too_long(v, p, MOST_POOL_BYTES);
    struct str rest = name, part;
    for (bool more = name.n > 0; more;) {
        more = str_cut(rest, '/', &part, &rest);
        valid__dns_subdomain(v, p, part);
    }
    valid__uncover(v);
}

/* ---- attributes ---- */

static void check_identifier(struct valid *v, const struct path *p, struct str id) {
    if (id.n > MOST_DEVICE_ID_BYTES)
        valid__too_long(v, p, MOST_DEVICE_ID_BYTES);
    if (!valid__is_c_identifier(id))
        valid__invalid(v, p, VALUE_Q(id), C_IDENTIFIER_ERROR);
}

static void check_domain(struct valid *v, const struct path *p, struct str domain) {
    const char *origin = v->origin;
    if (!domain.n)
        valid__invalid(v, p, VALUE_Q(domain), "the domain must not be empty");
    else
        valid__driver_name(v, p, domain, false);
    v->origin = origin;
}

/* A name with more than one slash is taken as it is, by upstream too. */
void valid__qualified_name(struct valid *v, const struct path *p, struct str name) {
    struct str domain, id;
    if (!str_cut(name, '/', &domain, &id)) {
        check_identifier(v, p, name);
        return;
    }
    if (str_find_char(id, '/') != STR_NONE)
        return;
    check_domain(v, p, domain);
    if (id.n)
        check_identifier(v, p, id);
    else
        valid__invalid(v, p, VALUE_Q(id), "the name must not be empty");
}

void valid__fully_qualified_name(struct valid *v, const struct path *p, struct str name) {
    valid__qualified_name(v, p, name);
    if (str_find_char(name, '/') == STR_NONE)
        valid__invalid(v, p, VALUE_NAMED(name),
                       "a fully qualified name must be a domain and a name separated by a slash");
}

bool valid__is_fully_qualified(struct valid *v, struct str name) {
    struct valid_errs errs = VALID_ERRS_INIT(v->errs->a);
    struct valid aside = {.errs = &errs, .gates = v->gates};
    valid__fully_qualified_name(&aside, NULL, name);
    return !errs.found;
}

void valid__label_value(struct valid *v, const struct path *p, struct str value) {
    struct names_errs errs = names_check_label_value(value);
    valid__names(v, p, value, &errs);
}

struct str valid__shown_key(struct arena *a, struct str key, size_t most) {
    most = most < FEWEST_SHOWN ? FEWEST_SHOWN : most;
    if (key.n <= most)
        return key;
    size_t left = most - 3;
    return arena_printf(a, "%.*s...%.*s", STR_ARG(str_sub(key, 0, (left + 1) / 2)),
                        STR_ARG(str_sub(key, key.n - left / 2, key.n)));
}

/* ---- lists ---- */

bool valid__has_too_many(struct valid *v, const struct path *p, size_t n, size_t most) {
    valid__cover(v, "maxItems");
    if (n > most)
        valid__too_many(v, p, n, most);
    valid__uncover(v);
    return n > most;
}

struct str valid__join_keys(struct arena *a, const struct str *parts, size_t n) {
    AUTO(buf_release) struct buf key = BUF_INIT(SIZE_MAX);
    for (size_t i = 0; i < n; i++)
        buf_addf(&key, "%zu/%.*s", parts[i].n, STR_ARG(parts[i]));
    return arena_str(a, buf_view(&key));
}

void valid__repeated(struct valid *v, const struct path *p, const struct api_strs *list) {
    AUTO(seen_release) struct seen seen;
    seen_init(&seen);
    valid__cover(v, "");
    for (size_t i = 0; i < list->n; i++)
        if (!seen_add(&seen, list->v[i]))
            valid__duplicate(v, AT_INDEX(p, i), VALUE_Q(list->v[i]), NO_DETAIL);
    valid__uncover(v);
}
