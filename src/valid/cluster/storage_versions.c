/*
 * In which versions servers store what they store, and migrations from one to another.
 *
 * Follows k8s.io/kubernetes pkg/apis/storagemigration/validation,
 * func ValidateStorageVersionMigration, func ValidateStorageVersionMigrationUpdate,
 * func ValidateStorageVersionMigrationStatusUpdate.
 * Follows k8s.io/kubernetes pkg/apis/apiserverinternal/validation, func ValidateStorageVersion,
 * func ValidateStorageVersionStatusUpdate.
 * Follows k8s.io/apimachinery pkg/util/resourceversion, func CompareResourceVersion.
 */
#include "base/ascii.h"
#include "base/limits.h"
#include "valid/kinds_int.h"
#include "valid/metadata_int.h"

/* All messages about a name in one error. */
static void check_joined(struct valid *v, const struct path *p, struct str name,
                         const struct names_errs *errs) {
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_OBJECT_BYTES);
    names_errs_join(&text, errs, STR(","));
    if (errs->n)
        valid__add(v, VALID_INVALID, p, &VALUE_Q(name), buf_view(&text));
}

/* ---- migrations ---- */

typedef const struct api_storage_version_migration migration;

static void check_migration(struct valid *v, migration *m) {
    const struct path *p = AT(AT(NULL, "spec"), "resource");
    struct str resource = m->spec.resource.resource, group = m->spec.resource.group;
    struct names_errs errs = names_check_dns1035_label(resource);
    if (resource.n)
        check_joined(v, AT(p, "resource"), resource, &errs);
    else
        valid__required(v, AT(p, "resource"), "resource is required to be set");
    errs = names_check_dns1123_subdomain(group);
    if (group.n)
        check_joined(v, AT(p, "group"), group, &errs);
}

static void create_migration(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check_migration(v, o->body);
}

static void update_migration(struct valid *v, const struct api_object *o,
                             const struct api_object *old) {
    migration *now = o->body, *was = old->body;
    valid__metadata_update(v, o, old);
    check_migration(v, now);
    if (!valid__equal(API_T_storage_version_migration_spec, &now->spec, &was->spec))
        valid__immutable(
            v, AT(NULL, "spec"),
            valid__struct_value(v->errs->a, API_T_storage_version_migration_spec, &now->spec));
}

static bool is_number(struct str s) {
    for (size_t i = 0; i < s.n; i++)
        if (!ascii_is_digit(s.p[i]))
            return false;
    return s.n && s.p[0] != '0';
}

static bool is_true(migration *m, const char *type) {
    for (size_t i = 0; i < m->status.conditions.n; i++)
        if (str_is(m->status.conditions.v[i].type, type))
            return str_is(m->status.conditions.v[i].status, "True");
    return false;
}

static void status_of_migration(struct valid *v, const struct api_object *o,
                                const struct api_object *old) {
    migration *now = o->body, *was = old->body;
    const struct path *p = AT(NULL, "status"), *at = AT(p, "conditions");
    struct str version = now->status.resource_version;
    struct value conditions =
        valid__list_value(v->errs->a, API_T_condition, &now->status.conditions);
    valid__finalizer_names(v, AT(AT(NULL, "metadata"), "finalizers"), &o->meta->finalizers);
    if (version.n && !is_number(version))
        valid__invalid(v, AT(p, "resourceVersion"), VALUE_Q(version),
                       "resource version is not well formed: %.*s", STR_ARG(version));
    valid__conditions(v, at, &now->status.conditions);
    if (was->status.resource_version.n && !str_eq(was->status.resource_version, version))
        valid__immutable(v, AT(p, "resourceVersion"), VALUE_Q(version));
    if (is_true(now, "Succeeded") && is_true(now, "Failed"))
        valid__invalid(v, at, conditions,
                       "Both success and failed conditions cannot be true at the same time");
    if (is_true(was, "Succeeded") && !is_true(now, "Succeeded"))
        valid__invalid(v, at, conditions,
                       "Success condition cannot be set to false once it is "
                       "true");
    if (is_true(was, "Failed") && !is_true(now, "Failed"))
        valid__invalid(v, at, conditions,
                       "Failed condition cannot be set to false once it is "
                       "true");
}

/* ---- versions ---- */

typedef const struct api_storage_version_status status;

/* What is wrong with a part of an apiVersion, behind others, with commas between them. */
static void add_part(struct buf *text, const char *part, const struct names_errs *errs) {
    for (size_t i = 0; i < errs->n; i++)
        buf_addf(text, "%s%s part: %.*s", text->n ? "," : "", part, STR_ARG(errs->v[i]));
}

static struct names_errs or_empty(struct str s, struct names_errs errs) {
    return s.n ? errs : (struct names_errs){.n = 1, .v = {STR("must be non-empty")}};
}

static void check_version(struct valid *v, const struct path *p, struct str version) {
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_OBJECT_BYTES);
    struct str group, name;
    struct names_errs errs;
    bool has_group = str_cut(version, '/', &group, &name);
    if (has_group && str_find_char(name, '/') != STR_NONE) {
        valid__invalid(v, p, VALUE_Q(version),
                       "an apiVersion is a DNS-1035 label, which must consist of lower case "
                       "alphanumeric characters or '-', start with an alphabetic character, and "
                       "end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex "
                       "used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?') with an optional DNS "
                       "subdomain prefix and '/' (e.g. 'example.com/MyVersion')");
        return;
    }
    if (has_group) {
        errs = or_empty(group, names_check_dns1123_subdomain(group));
        add_part(&text, "group", &errs);
    }
    name = has_group ? name : version;
    errs = or_empty(name, names_check_dns1035_label(name));
    add_part(&text, "version", &errs);
    if (text.n)
        valid__add(v, VALID_INVALID, p, &VALUE_Q(version), buf_view(&text));
}

/* A list as Go's %s shows it. */
static struct str list_text(struct arena *a, const struct api_strs *list) {
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_OBJECT_BYTES);
    buf_add_char(&text, '[');
    for (size_t i = 0; i < list->n; i++)
        buf_addf(&text, "%s%.*s", i ? " " : "", STR_ARG(list->v[i]));
    buf_add_char(&text, ']');
    return arena_str(a, buf_view(&text));
}

static void check_served(struct valid *v, const struct path *p,
                         const struct api_server_storage_version *s, const struct seen *decodable) {
    struct str all = STR("");
    for (size_t i = 0; i < s->served_versions.n; i++) {
        struct str version = s->served_versions.v[i];
        check_version(v, AT_INDEX(p, i), version);
        if (seen_get(decodable, version))
            continue;
        if (!all.n)
            all = list_text(v->errs->a, &s->decodable_versions);
        valid__invalid(v, AT_INDEX(p, i), VALUE_Q(version),
                       "individual served version : %.*s must be included in decodableVersions : "
                       "%.*s",
                       STR_ARG(version), STR_ARG(all));
    }
}

static void check_server(struct valid *v, const struct path *p,
                         const struct api_server_storage_version *s) {
    AUTO(seen_release) struct seen decodable;
    const struct path *at = AT(p, "decodableVersions");
    seen_init(&decodable);
    valid__dns_subdomain(v, AT(p, "apiServerID"), s->api_server_id);
    check_version(v, AT(p, "encodingVersion"), s->encoding_version);
    for (size_t i = 0; i < s->decodable_versions.n; i++) {
        check_version(v, AT_INDEX(at, i), s->decodable_versions.v[i]);
        seen_add(&decodable, s->decodable_versions.v[i]);
    }
    if (!seen_get(&decodable, s->encoding_version))
        valid__invalid(v, at, valid__strs_value(v->errs->a, &s->decodable_versions),
                       "decodableVersions must include encodingVersion %.*s",
                       STR_ARG(s->encoding_version));
    check_served(v, AT(p, "servedVersions"), s, &decodable);
}

/* The version that all servers write; absent when they do not agree. */
static struct str common_version(status *s) {
    struct str first = {0};
    for (size_t i = 0; i < s->storage_versions.n; i++) {
        if (i && !str_eq(first, s->storage_versions.v[i].encoding_version))
            return (struct str){0};
        first = s->storage_versions.v[i].encoding_version;
    }
    return s->storage_versions.n && !first.p ? STR("") : first;
}

static void check_common(struct valid *v, const struct path *p, status *s) {
    struct str common = common_version(s), said = s->common_encoding_version;
    if (!common.p && said.p)
        valid__invalid(v, p, VALUE_Q(said),
                       "should be nil if servers do not agree on the same encoding version, or if "
                       "there is no server reporting the supported versions yet");
    if (common.p && !said.p)
        valid__invalid(v, p, VALUE_JSON((struct json){.kind = JSON_NULL}),
                       "the common encoding version is %.*s", STR_ARG(common));
    if (common.p && said.p && !str_eq(common, said))
        valid__invalid(v, p, VALUE_Q(said), "the actual common encoding version is %.*s",
                       STR_ARG(common));
}

/* The path is upstream's: it leaves the name of the list out. */
static void check_conditions(struct valid *v, const struct path *p,
                             const struct api_storage_version_condition_list *list) {
    AUTO(seen_release) struct seen types;
    seen_init(&types);
    for (size_t i = 0; i < list->n; i++) {
        const struct api_storage_version_condition *c = &list->v[i], *before;
        const struct path *at = AT_INDEX(p, i);
        before = seen_get(&types, c->type);
        if (before)
            valid__invalid(v, AT(at, "type"), VALUE_Q(c->type),
                           "the type of the condition is not unique, it also appears in "
                           "conditions[%zu]",
                           (size_t)(before - list->v));
        seen_put(&types, c->type, c);
        valid__label_key(v, AT(at, "type"), c->type);
        valid__label_key(v, AT(at, "status"), c->status);
        if (!c->reason.n)
            valid__required(v, AT(at, "reason"), NO_DETAIL);
        if (!c->message.n)
            valid__required(v, AT(at, "message"), NO_DETAIL);
    }
}

static void check_status(struct valid *v, status *s) {
    const struct path *p = AT(NULL, "status"), *at = AT(p, "storageVersions");
    AUTO(seen_release) struct seen ids;
    seen_init(&ids);
    for (size_t i = 0; i < s->storage_versions.n; i++) {
        const struct api_server_storage_version *one = &s->storage_versions.v[i];
        if (!seen_add(&ids, one->api_server_id))
            valid__duplicate(v, AT(AT_INDEX(at, i), "apiServerID"), VALUE_Q(one->api_server_id),
                             NO_DETAIL);
        check_server(v, AT_INDEX(at, i), one);
    }
    check_common(v, AT(p, "commonEncodingVersion"), s);
    check_conditions(v, p, &s->conditions);
}

static void create_version(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check_status(v, &((const struct api_storage_version *)o->body)->status);
}

static void status_of_version(struct valid *v, const struct api_object *o,
                              const struct api_object *old) {
    (void)old;
    check_status(v, &((const struct api_storage_version *)o->body)->status);
}

const struct valid_kind valid__storage_version_migration = {.type = API_T_storage_version_migration,
                                                            .create = create_migration,
                                                            .update = update_migration,
                                                            .status = status_of_migration};
const struct valid_kind valid__storage_version = {.type = API_T_storage_version,
                                                  .create = create_version,
                                                  .update = valid__metadata_update,
                                                  .status = status_of_version};
