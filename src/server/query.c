/* Pairs first, then options by name. */
#include "server/query.h"

#include <strings.h>

#include "base/goquote.h"
#include "server/route.h"
#include "valid/valid.h"

/* ---- pairs ---- */

static size_t count_pairs(struct str text) {
    size_t n = text.n > 0;
    for (size_t i = 0; i < text.n; i++)
        n += text.p[i] == '&';
    return n;
}

void server_query_read(struct arena *a, struct str text, struct server_query *out) {
    size_t most = count_pairs(text);
    *out = (struct server_query){arena_array(a, struct str, most), arena_array(a, struct str, most),
                                 0};
    for (struct str pair, name, value; text.n;) {
        str_cut(text, '&', &pair, &text);
        str_cut(pair, '=', &name, &value);
        if (!pair.n || str_find_char(pair, ';') != STR_NONE ||
            server_unescape(a, name, true, &out->names[out->n]) < 0 ||
            server_unescape(a, value, true, &out->values[out->n]) < 0)
            continue;
        out->n++;
    }
}

struct str server_query_get(const struct server_query *q, const char *name) {
    for (size_t i = 0; i < q->n; i++)
        if (str_is(q->names[i], name))
            return q->values[i];
    return (struct str){0};
}

static bool is_false(struct str value) {
    return str_is(value, "0") || (value.n == 5 && strncasecmp(value.p, "false", 5) == 0);
}

bool server_query_is_true(const struct server_query *q, const char *name) {
    struct str value = server_query_get(q, name);
    return value.p && !is_false(value);
}

/* ---- values ---- */

/* Options while they are read. */
struct reader {
    struct arena *a;
    const struct server_query *q;
    struct registry_failure failure; /* of the first value that cannot be read */
};

static struct api_opt_bool read_bool(const struct reader *r, const char *name) {
    struct str value = server_query_get(r->q, name);
    return (struct api_opt_bool){value.p != NULL, value.p && !is_false(value)};
}

static struct api_opt_i64 read_i64(struct reader *r, const char *name) {
    struct str value = server_query_get(r->q, name);
    struct api_opt_i64 out = {.set = value.p != NULL};
    if (!value.p || labels_value_to_i64(value, &out.v) || r->failure.code)
        return out;
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    buf_add(&text, STR("strconv.ParseInt: parsing "));
    goquote_write(&text, value);
    buf_addf(&text, ": %s", labels_value_fault(value));
    r->failure = registry_bad_request(arena_str(r->a, buf_view(&text)));
    return out;
}

static struct api_strs read_list(const struct reader *r, const char *name) {
    struct api_strs list = {arena_array(r->a, struct str, r->q->n), 0};
    for (size_t i = 0; i < r->q->n; i++)
        if (str_is(r->q->names[i], name))
            list.v[list.n++] = r->q->values[i];
    return list;
}

/* ---- options ---- */

static struct registry_failure refuse(struct arena *a, const char *kind,
                                      const struct valid_errs *errs) {
    return errs->n ? registry_invalid_options(a, str_of(kind), errs)
                   : (struct registry_failure){.code = ERR_NONE};
}

static struct valid_errs *errs_new(struct arena *a) {
    struct valid_errs *errs = arena_new(a, struct valid_errs);
    *errs = VALID_ERRS_INIT(a);
    return errs;
}

/* Selectors that nobody can read are refused before any rule is asked. */
static void check_selectors(struct reader *r, const struct apiserver_options *o) {
    struct selector *labels;
    struct str why;
    if (r->failure.code)
        return;
    if (o->label_selector.n && selector_parse(r->a, o->label_selector, &labels, NULL) < 0)
        r->failure = registry_bad_request(labels->error);
    else if (o->field_selector.n && registry_fields_check(r->a, o->field_selector, &why) < 0)
        r->failure = registry_bad_request(why);
}

/* Watches from no revision, or from any, begin with what is there, as if they had said so.
 *
 * Follows k8s.io/apimachinery pkg/apis/meta/internalversion, func SetListOptionsDefaults. */
static void set_list_defaults(struct apiserver_options *o, bool is_watch) {
    bool is_from_any = !o->resource_version.n || str_is(o->resource_version, "0");
    if (!is_watch || !is_from_any || o->send_initial_events.set || o->resource_version_match.n)
        return;
    o->send_initial_events = (struct api_opt_bool){true, true};
    o->resource_version_match = STR("NotOlderThan");
}

/* The old paths of watches are judged as lists, unless the query says that they are watches. */
static struct registry_failure read_list_options(struct reader *r, enum registry_verb verb,
                                                 struct apiserver_options *out) {
    struct valid_errs *errs = errs_new(r->a);
    bool is_watch = server_query_is_true(r->q, "watch");
    out->label_selector = server_query_get(r->q, "labelSelector");
    out->field_selector = server_query_get(r->q, "fieldSelector");
    out->resource_version = server_query_get(r->q, "resourceVersion");
    out->resource_version_match = server_query_get(r->q, "resourceVersionMatch");
    out->continue_token = server_query_get(r->q, "continue");
    out->timeout_seconds = read_i64(r, "timeoutSeconds");
    out->limit = read_i64(r, "limit").v;
    out->watch = verb == REGISTRY_VERB_WATCH;
    out->allow_bookmarks = server_query_is_true(r->q, "allowWatchBookmarks");
    out->send_initial_events = read_bool(r, "sendInitialEvents");
    check_selectors(r, out);
    set_list_defaults(out, is_watch);
    valid_list_options(
        &(struct valid_list_options){out->resource_version, out->resource_version_match,
                                     out->continue_token, is_watch, out->send_initial_events.set},
        errs);
    return r->failure.code ? r->failure : refuse(r->a, "ListOptions", errs);
}

static enum apiserver_strictness strictness_of(struct str level) {
    if (str_is(level, "Strict"))
        return APISERVER_STRICT;
    return str_is(level, "Ignore") ? APISERVER_IGNORE : APISERVER_WARN;
}

static struct registry_failure read_write_options(struct reader *r, enum registry_verb verb,
                                                  bool is_apply, struct apiserver_options *out) {
    struct valid_errs *errs = errs_new(r->a);
    struct valid_write_options w = {
        .field_manager = server_query_get(r->q, "fieldManager"),
        .field_validation = server_query_get(r->q, "fieldValidation"),
        .dry_run = read_list(r, "dryRun"),
        .is_apply = is_apply,
    };
    if (verb == REGISTRY_VERB_PATCH)
        out->force = read_bool(r, "force");
    w.has_force = out->force.set;
    out->field_manager = w.field_manager;
    out->field_validation = strictness_of(w.field_validation);
    out->dry_run = w.dry_run.n > 0;
    valid_write_options(&w, errs);
    return refuse(r->a,
                  verb == REGISTRY_VERB_CREATE  ? "CreateOptions"
                  : verb == REGISTRY_VERB_PATCH ? "PatchOptions"
                                                : "UpdateOptions",
                  errs);
}

struct registry_failure server_query_options(struct arena *a, const struct server_query *q,
                                             enum registry_verb verb, bool is_apply,
                                             struct apiserver_options *out) {
    struct reader r = {.a = a, .q = q};
    *out = (struct apiserver_options){0};
    switch (verb) {
    case REGISTRY_VERB_GET:
        out->resource_version = server_query_get(q, "resourceVersion");
        return r.failure;
    case REGISTRY_VERB_LIST:
    case REGISTRY_VERB_WATCH:
    case REGISTRY_VERB_DELETE_COLLECTION:
        return read_list_options(&r, verb, out);
    case REGISTRY_VERB_DELETE:
        return r.failure;
    default:
        return read_write_options(&r, verb, is_apply, out);
    }
}

/* The object that is meant; an empty text says nothing.
 *
 * Follows k8s.io/apimachinery pkg/apis/meta/v1, func Convert_url_Values_To_v1_DeleteOptions. */
static struct api_preconditions *read_preconditions(const struct reader *r) {
    struct str uid = server_query_get(r->q, "uid");
    struct str version = server_query_get(r->q, "resourceVersion");
    if (!uid.n && !version.n)
        return NULL;
    struct api_preconditions *p = arena_new(r->a, struct api_preconditions);
    if (uid.n)
        p->uid = uid;
    if (version.n)
        p->resource_version = version;
    return p;
}

struct registry_failure server_query_delete(struct arena *a, const struct server_query *q,
                                            struct api_delete_options *out) {
    struct reader r = {.a = a, .q = q};
    out->grace_period_seconds = read_i64(&r, "gracePeriodSeconds");
    out->orphan_dependents = read_bool(&r, "orphanDependents");
    out->propagation_policy = server_query_get(q, "propagationPolicy");
    out->dry_run = read_list(&r, "dryRun");
    out->preconditions = read_preconditions(&r);
    return r.failure;
}
