/*
 * metadata of any object: names, labels, annotations, owners, finalizers, managed fields.
 *
 * Follows k8s.io/apimachinery pkg/api/validation, func ValidateObjectMeta,
 * func ValidateOwnerReferences, func ValidateAnnotations.
 * Follows k8s.io/kubernetes pkg/apis/core/v1, func ValidateForbiddenReservedDomainSuffixes.
 * Follows k8s.io/apiserver pkg/registry/rest, func WipeObjectMetaSystemFields,
 * func FillObjectMetaSystemFields.
 */
#include "base/goquote.h"
#include "base/utf8.h"
#include "valid/metadata_int.h"

enum {
    MAX_ANNOTATION_BYTES = 256 << 10, /* keys and values together */
    MAX_MANAGER_BYTES = 128,
    MAX_SUBRESOURCE_BYTES = 256,
    GENERATED_NAME_BYTES = 63,
};

void valid_generate_name(struct api_object *o, struct str suffix) {
    struct api_object_meta *m = api_own_meta(o);
    if (m->name.n || !m->generate_name.n)
        return;
    struct str base = str_sub(m->generate_name, 0, GENERATED_NAME_BYTES - suffix.n);
    AUTO(buf_release) struct buf name = BUF_INIT(GENERATED_NAME_BYTES);
    buf_add(&name, base);
    buf_add(&name, suffix);
    m->name = arena_str(&o->arena, buf_view(&name));
}

/* The last n digits of v. */
static void put_hex(char *to, size_t n, uint64_t v) {
    for (; n; v >>= 4)
        to[--n] = "0123456789abcdef"[v & 15];
}

struct str valid_new_uid(struct arena *a, const struct api_kind *kind, struct str namespace,
                         struct str name) {
    AUTO(buf_release) struct buf key = BUF_INIT(SIZE_MAX);
    buf_add(&key, str_of(kind->kind));
    buf_add_char(&key, '\n');
    buf_add(&key, namespace);
    buf_add_char(&key, '\n');
    buf_add(&key, name);
    uint64_t high = str_hash(buf_view(&key), 1), low = str_hash(buf_view(&key), 2);
    char text[] = "00000000-0000-8000-8000-000000000000"; /* version 8: of our own making */
    put_hex(text, 8, high >> 32);
    put_hex(text + 9, 4, high >> 16);
    put_hex(text + 15, 3, high);
    put_hex(text + 20, 3, low >> 52);
    put_hex(text + 24, 12, low);
    return arena_str(a, (struct str){text, sizeof text - 1});
}

void valid__set_system_fields(struct api_object *o, const struct valid_opts *opts) {
    struct api_object_meta *m = api_own_meta(o);
    m->uid = opts->uid.n ? arena_str(&o->arena, opts->uid)
                         : valid_new_uid(&o->arena, o->kind, m->namespace, m->name);
    m->creation_timestamp = opts->now;
    m->deletion_timestamp = (struct api_time){0};
    m->deletion_grace_period_seconds = (struct api_opt_i64){0};
    m->self_link = STR("");
}

/* ---- rules for names ---- */

typedef struct names_errs check_fn(struct str name);

/* A prefix may end in a dash, since something follows it: upstream judges it with an "a" in the
 * place of its last two characters. */
static struct names_errs check_dns(check_fn *check, struct str name, bool prefix) {
    if (!prefix || name.n < 2 || name.p[name.n - 1] != '-')
        return check(name);
    AUTO(buf_release) struct buf masked = BUF_INIT(name.n);
    buf_add(&masked, str_sub(name, 0, name.n - 2));
    buf_add_char(&masked, 'a');
    return check(buf_view(&masked));
}

struct names_errs valid__name_subdomain(struct str name, bool prefix) {
    return check_dns(names_check_dns1123_subdomain, name, prefix);
}

struct names_errs valid__name_label(struct str name, bool prefix) {
    return check_dns(names_check_dns1123_label, name, prefix);
}

struct names_errs valid__name_dns1035_label(struct str name, bool prefix) {
    return check_dns(names_check_dns1035_label, name, prefix);
}

static void say(struct names_errs *errs, struct str message) {
    errs->v[errs->n++] = message;
}

/* What can stand in the path of a URL. */
struct names_errs valid__name_path_segment(struct str name, bool prefix) {
    struct names_errs errs = {0};
    if (!prefix && str_is(name, "."))
        say(&errs, STR("may not be '.'"));
    if (!prefix && str_is(name, ".."))
        say(&errs, STR("may not be '..'"));
    if (str_find_char(name, '/') != STR_NONE)
        say(&errs, STR("may not contain '/'"));
    if (str_find_char(name, '%') != STR_NONE)
        say(&errs, STR("may not contain '%'"));
    return errs;
}

void valid__meta_names_by(struct valid *v, const struct path *p, const struct api_object_meta *m,
                          name_judge *judge, const void *of) {
    if (m->generate_name.n)
        judge(v, AT(p, "generateName"), (struct name_part){m->generate_name, true}, of);
    if (m->name.n)
        judge(v, AT(p, "name"), (struct name_part){m->name, false}, of);
    else
        valid__required(v, AT(p, "name"), "name or generateName is required");
}

struct by_rule {
    name_rule *rule;
};

static void judge_by_rule(struct valid *v, const struct path *p, struct name_part name,
                          const void *of) {
    const struct by_rule *by = of;
    struct names_errs errs = by->rule(name.text, name.prefix);
    valid__names(v, p, name.text, &errs);
}

void valid__meta_names(struct valid *v, const struct path *p, const struct api_object_meta *m,
                       name_rule *rule) {
    valid__meta_names_by(v, p, m, judge_by_rule, &(struct by_rule){rule});
}

static void check_namespace(struct valid *v, const struct path *p, struct str namespace,
                            bool namespaced) {
    if (!namespaced) {
        if (namespace.n)
            valid__forbidden(v, p, "not allowed on this type");
    } else if (!namespace.n) {
        valid__required(v, p, NO_DETAIL);
    } else {
        struct names_errs errs = valid__name_label(namespace, false);
        valid__names(v, p, namespace, &errs);
    }
}

/* ---- domains ---- */

static bool is_own_domain(struct arena *a, struct str key) {
    struct str domain, rest;
    str_cut(key, '/', &domain, &rest);
    domain = utf8_trim_space(valid__lower(a, domain));
    while (str_ends(domain, STR(".")))
        domain.n--;
    return str_ends(domain, STR(".k8s.io")) || str_is(domain, "k8s.io") ||
           str_ends(domain, STR(".kubernetes.io")) || str_is(domain, "kubernetes.io");
}

void valid__foreign_domain(struct valid *v, const struct path *p, struct str key) {
    if (is_own_domain(v->errs->a, key))
        valid__invalid(v, p, VALUE_Q(key), "domain names *.k8s.io, *.kubernetes.io are reserved");
}

/* ---- annotations ---- */

/* Keys of annotations are label keys in which case does not matter. */
static struct names_errs check_annotation_key(struct arena *a, struct str key) {
    struct names_errs errs = names_check_label_key(key);
    return errs.n ? names_check_label_key(valid__lower(a, key)) : errs;
}

void valid__annotations(struct valid *v, const struct path *p, const struct labels *annotations) {
    size_t bytes = 0;
    for (size_t i = 0; i < annotations->n; i++) {
        const struct label *a = &annotations->v[i];
        struct names_errs errs = check_annotation_key(v->errs->a, a->key);
        valid__names(v, p, a->key, &errs);
        bytes += a->key.n + a->value.n;
    }
    if (bytes > MAX_ANNOTATION_BYTES)
        valid__too_long(v, p, MAX_ANNOTATION_BYTES);
}

/* ---- owner references ---- */

/* Reads group/version or version; false when it is neither. */
static bool parse_group_version(struct str text, struct str *group, struct str *version) {
    if (!str_cut(text, '/', group, version)) {
        *version = text;
        *group = STR("");
    }
    return version->n && str_find_char(*version, '/') == STR_NONE;
}

static void require(struct valid *v, const struct path *p, struct str text) {
    if (!text.n)
        valid__required(v, p, "must not be empty");
}

static void check_owner(struct valid *v, const struct path *p,
                        const struct api_owner_reference *r) {
    struct str group, version;
    bool parsed = parse_group_version(r->api_version, &group, &version);
    require(v, AT(p, "apiVersion"), r->api_version);
    if (!parsed && r->api_version.n)
        valid__invalid(v, AT(p, "apiVersion"), VALUE_Q(r->api_version),
                       "must be <group>/<version> or <version>");
    require(v, AT(p, "kind"), r->kind);
    require(v, AT(p, "name"), r->name);
    require(v, AT(p, "uid"), r->uid);
    if (!group.n && str_is(version, "v1") && str_is(r->kind, "Event"))
        valid__invalid(
            v, p, VALUE_JSON(api_struct_encode(v->errs->a, &api_types[API_T_owner_reference], r)),
            "/v1, Kind=Event is disallowed from being an owner");
}

/* Each of the errors that show the list refers to the same tree. */
static struct json owners_tree(struct arena *a, const struct api_owner_reference_list *list) {
    struct json tree = {.kind = JSON_ARRAY};
    for (size_t i = 0; i < list->n; i++)
        json_append(a, &tree, api_struct_encode(a, &api_types[API_T_owner_reference], &list->v[i]));
    return tree;
}

static void check_owners(struct valid *v, const struct path *p,
                         const struct api_owner_reference_list *list) {
    const struct api_owner_reference *first = NULL;
    struct json all = {.kind = JSON_NULL};
    for (size_t i = 0; i < list->n; i++) {
        const struct api_owner_reference *r = &list->v[i];
        check_owner(v, AT_INDEX(p, i), r);
        if (!r->controller.set || !r->controller.v)
            continue;
        if (!first) {
            first = r;
            continue;
        }
        if (all.kind == JSON_NULL)
            all = owners_tree(v->errs->a, list);
        valid__invalid(v, p, VALUE_JSON(all),
                       "Only one reference can have Controller set to true. Found \"true\" in "
                       "references for %.*s/%.*s and %.*s/%.*s",
                       STR_ARG(first->kind), STR_ARG(first->name), STR_ARG(r->kind),
                       STR_ARG(r->name));
    }
}

/* ---- finalizers ---- */

static bool has(const struct api_strs *list, struct str text) {
    for (size_t i = 0; i < list->n; i++)
        if (str_eq(list->v[i], text))
            return true;
    return false;
}

static struct json strings_tree(struct arena *a, const struct api_strs *list) {
    struct json tree = {.kind = JSON_ARRAY};
    for (size_t i = 0; i < list->n; i++)
        json_append(a, &tree, json_of_str(list->v[i]));
    return tree;
}

static void check_finalizers(struct valid *v, const struct path *p, const struct api_strs *list) {
    for (size_t i = 0; i < list->n; i++)
        valid__label_key(v, p, list->v[i]);
    if (has(list, STR("orphan")) && has(list, STR("foregroundDeletion")))
        valid__invalid(v, p, VALUE_JSON(strings_tree(v->errs->a, list)),
                       "finalizer orphan and foregroundDeletion cannot be both set");
}

/* ---- managed fields ---- */

static void check_manager(struct valid *v, const struct path *p, struct str manager) {
    if (manager.n > MAX_MANAGER_BYTES)
        valid__too_long(v, p, MAX_MANAGER_BYTES);
    for (size_t i = 0, len; i < manager.n; i += len) {
        uint32_t cp = utf8_decode(str_sub(manager, i, manager.n), &len);
        if (!goquote_is_print(cp))
            valid__invalid(v, p, VALUE_Q(manager), "invalid character U+%04X (at position %zu)",
                           (unsigned)cp, i);
    }
}

static void check_managed(struct valid *v, const struct path *p,
                          const struct api_managed_fields_entry *e) {
    static const char *const operations[] = {"Apply", "Update", NULL};
    require(v, AT(p, "operation"), e->operation);
    if (e->operation.n && !valid__one_of(e->operation, operations))
        valid__not_supported(v, AT(p, "operation"), VALUE_NAMED(e->operation), operations);
    if (e->fields_type.n && !str_is(e->fields_type, "FieldsV1"))
        valid__invalid(v, AT(p, "fieldsType"), VALUE_Q(e->fields_type), "must be `FieldsV1`");
    check_manager(v, AT(p, "manager"), e->manager);
    if (e->subresource.n > MAX_SUBRESOURCE_BYTES)
        valid__too_long(v, AT(p, "subresource"), MAX_SUBRESOURCE_BYTES);
}

static void check_all_managed(struct valid *v, const struct path *p,
                              const struct api_managed_fields_entry_list *list) {
    for (size_t i = 0; i < list->n; i++)
        check_managed(v, AT_INDEX(p, i), &list->v[i]);
}

void valid__meta_but_names(struct valid *v, const struct path *p, const struct api_object_meta *m,
                           bool namespaced) {
    check_namespace(v, AT(p, "namespace"), m->namespace, namespaced);
    valid__not_negative(v, AT(p, "generation"), m->generation);
    valid__labels(v, AT(p, "labels"), &m->labels);
    valid__annotations(v, AT(p, "annotations"), &m->annotations);
    check_owners(v, AT(p, "ownerReferences"), &m->owner_references);
    check_finalizers(v, AT(p, "finalizers"), &m->finalizers);
    check_all_managed(v, AT(p, "managedFields"), &m->managed_fields);
}

void valid__any_meta(struct valid *v, const struct path *p, const struct api_object_meta *m,
                     bool namespaced, name_rule *name) {
    valid__meta_names(v, p, m, name);
    valid__meta_but_names(v, p, m, namespaced);
}

void valid__finalizer_name(struct valid *v, const struct path *p, struct str name) {
    static const char *const standard[] = {"kubernetes", "orphan", "foregroundDeletion", NULL};
    if (str_find_char(name, '/') == STR_NONE && !valid__one_of(name, standard))
        valid__invalid(v, p, VALUE_Q(name),
                       "name is neither a standard finalizer name nor is it fully qualified");
}

void valid__finalizer_names(struct valid *v, const struct path *p, const struct api_strs *list) {
    for (size_t i = 0; i < list->n; i++)
        valid__finalizer_name(v, AT_INDEX(p, i), list->v[i]);
}

void valid__object_meta(struct valid *v, const struct path *p, const struct api_object_meta *m,
                        bool namespaced, name_rule *name) {
    valid__any_meta(v, p, m, namespaced, name);
    valid__finalizer_names(v, AT(p, "finalizers"), &m->finalizers);
}
