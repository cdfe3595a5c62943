/*
 * How texts are written, where upstream declares it.
 *
 * Follows k8s.io/apimachinery pkg/api/validate, func ShortName, func LongName, func LabelKey,
 * func PrefixedLabelKey, func LongNameCaseless, func PathSegmentName, func UUID,
 * func ResourcePoolName, func ExtendedResourceName, func ResourceFullyQualifiedName.
 */
#include "base/ascii.h"
#include "valid/declared/declared_rows_int.h"

enum { MOST_POOL_BYTES = 253, MOST_DOMAIN_BYTES = 63, MOST_ID_BYTES = 32 };

static void label_key(struct valid *v, const struct path *p, struct str key) {
    struct names_errs errs = names_check_label_key(key);
    valid__say_names(v, p, key, &errs, ORIGIN_LABEL_KEY);
}

/* That the domain is not Kubernetes' own is declared as code, which is always in force. */
static void foreign_key(struct valid *v, const struct path *p, struct str key) {
    bool was_standard = v->is_standard;
    v->is_standard = true;
    if (valid__begin_declared(v, ""))
        valid__foreign_domain(v, p, key);
    v->is_standard = was_standard;
    struct names_errs errs = names_check_label_key(key);
    if (!errs.n && str_find_char(key, '/') == STR_NONE)
        errs = (struct names_errs){.n = 1,
                                   .v = {STR("must include a prefix (e.g. 'example.com/key')")}};
    valid__say_names(v, p, key, &errs, "format=k8s-prefixed-label-key");
}

static void path_segment(struct valid *v, const struct path *p, struct str name) {
    struct names_errs errs = valid__name_path_segment(name, false);
    valid__say_names(v, p, name, &errs, "format=k8s-path-segment-name");
}

/* ---- UUIDs ---- */

static bool is_uuid(struct str s) {
    if (s.n != 36)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (is_dash ? c != '-' : !ascii_is_digit(c) && !(c >= 'a' && c <= 'f'))
            return false;
    }
    return true;
}

static void uuid(struct valid *v, const struct path *p, struct str text) {
    if (!is_uuid(text) && valid__begin_declared(v, "format=k8s-uuid"))
        valid__invalid(v, p, VALUE_Q(text), "must be a lowercase UUID in 8-4-4-4-12 format");
}

/* ---- pools ---- */

static void pool_segment(struct valid *v, const struct path *p, struct str part, size_t index) {
    struct names_errs errs = names_check_dns1123_subdomain(part);
    if (part.n > MOST_POOL_BYTES)
        errs.v[0] = STR("must be no more than 253 bytes");
    for (size_t i = 0; i < errs.n; i++)
        valid__invalid(v, p, VALUE_Q(part), "segment %zu: %.*s", index, STR_ARG(errs.v[i]));
}

static void pool_name(struct valid *v, const struct path *p, struct str name) {
    if (!valid__begin_declared(v, "format=k8s-resource-pool-name"))
        return;
    if (name.n > MOST_POOL_BYTES)
        valid__too_long(v, p, MOST_POOL_BYTES);
    struct str rest = name, part;
    bool more = true;
    for (size_t i = 0; more; i++) {
        more = str_cut(rest, '/', &part, &rest);
        if (part.n)
            pool_segment(v, p, part, i);
        else
            valid__invalid(v, p, VALUE_Q(name), "segment %zu: must not be empty", i);
    }
}

/* ---- resources ---- */

static void extended_resource(struct valid *v, const struct path *p, struct str name) {
    struct value value = VALUE_Q(name);
    if (!valid__begin_declared(v, "format=k8s-extended-resource-name"))
        return;
    if (str_find_char(name, '/') == STR_NONE)
        valid__invalid(v, p, value,
                       "a name must be a domain-prefixed path, such as 'example.com/my-prop'");
    else if (str_find(name, STR("kubernetes.io/")) != STR_NONE)
        valid__invalid(v, p, value, "must not have \"kubernetes.io/\" domain");
    if (str_starts(name, STR("requests.")))
        valid__invalid(v, p, value, "must not have \"requests.\" prefix");
    struct str of_quota = arena_printf(v->errs->a, "requests.%.*s", STR_ARG(name));
    struct names_errs errs = names_check_label_key(of_quota);
    valid__names(v, p, name, &errs);
}

/* ---- attributes of devices ---- */

bool valid__is_c_identifier(struct str id) {
    bool good = id.n && !ascii_is_digit(id.p[0]);
    for (size_t i = 0; good && i < id.n; i++)
        good = ascii_is_alnum(id.p[i]) || id.p[i] == '_';
    return good;
}

static void identifier(struct valid *v, const struct path *p, struct str id) {
    if (id.n > MOST_ID_BYTES)
        valid__too_long(v, p, MOST_ID_BYTES);
    if (!valid__is_c_identifier(id))
        valid__invalid(v, p, VALUE_Q(id), C_IDENTIFIER_ERROR);
}

static void domain(struct valid *v, const struct path *p, struct str name) {
    struct names_errs errs = names_check_dns1123_subdomain(name);
    if (name.n > MOST_DOMAIN_BYTES)
        valid__too_long(v, p, MOST_DOMAIN_BYTES);
    if (name.n > MOST_POOL_BYTES)
        errs.v[0] = STR("must be no more than 253 bytes");
    for (size_t i = 0; i < errs.n; i++)
        valid__invalid(v, p, VALUE_Q(name), "prefix: %.*s", STR_ARG(errs.v[i]));
}

/* A name with more than one slash is taken as it is, by upstream too. */
static void fully_qualified(struct valid *v, const struct path *p, struct str name) {
    struct str head, id;
    if (!valid__begin_declared(v, "format=k8s-resource-fully-qualified-name"))
        return;
    if (!str_cut(name, '/', &head, &id)) {
        identifier(v, p, name);
        valid__invalid(v, p, VALUE_Q(name),
                       "a fully qualified name must be a domain and a name separated by a slash");
        return;
    }
    if (str_find_char(id, '/') != STR_NONE)
        return;
    if (head.n)
        domain(v, p, head);
    else
        valid__invalid(v, p, VALUE_Q(head), "prefix must not be empty");
    if (id.n)
        identifier(v, p, id);
    else
        valid__invalid(v, p, VALUE_Q(id), "name must not be empty");
}

/* ---- all of them ---- */

typedef void format_rule(struct valid *v, const struct path *p, struct str text);

static format_rule *const formats[] = {
    [F_SHORT_NAME] = valid__short_name,
    [F_LONG_NAME] = valid__long_name,
    [F_LONG_NAME_CASELESS] = valid__caseless_name,
    [F_LABEL_KEY] = label_key,
    [F_FOREIGN_LABEL_KEY] = foreign_key,
    [F_PATH_SEGMENT] = path_segment,
    [F_UUID] = uuid,
    [F_POOL_NAME] = pool_name,
    [F_EXTENDED_RESOURCE] = extended_resource,
    [F_FULLY_QUALIFIED] = fully_qualified,
};

void valid__say_format(struct valid *v, const struct path *p, enum declared_format format,
                       struct str text) {
    if (formats[format])
        formats[format](v, p, text);
}
