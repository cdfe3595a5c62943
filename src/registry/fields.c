/*
 * A term is a place in the body: an offset and the kind of the row there, found when the selector
 * is compiled.
 *
 * Follows k8s.io/apimachinery pkg/fields, func parseSelector, func splitTerms, func splitTerm,
 * func UnescapeValue.
 * Follows k8s.io/kubernetes pkg/apis/core/v1, func addConversionFuncs,
 * func AddFieldLabelConversionsForEvent.
 */
#include "registry/fields.h"

#include <assert.h>
#include <stdlib.h>

#include "base/goquote.h"
#include "base/vec.h"

enum term_op { TERM_EQUALS, TERM_DIFFERS };

struct term {
    const struct api_field *row; /* NULL: a field that no object has a value in */
    size_t offset;
    enum term_op op;
    struct str value;
    bool is_name;
    bool is_source; /* of an event: the component, or else the reporting one */
};

struct registry_fields {
    struct term *terms;
    size_t n;
};

/* ---- which fields a kind has ---- */

/* A field that can be selected by: what it is called, and where it stands in what is stored. An
 * empty place says that objects have nothing there. */
struct field {
    const char *api_version, *kind;
    const char *name, *place;
};

#define SAME(version, kind, name) \
    { version, kind, name, name }
#define POD(name)   SAME("v1", "Pod", name)
#define EVENT(name) SAME("v1", "Event", name)
#define REGARDING(part) \
    { "events.k8s.io/v1", "Event", "regarding." part, "involvedObject." part }

static const struct field fields[] = {
    POD("metadata.name"),
    POD("metadata.namespace"),
    POD("spec.nodeName"),
    {"v1", "Pod", "spec.host", "spec.nodeName"},
    POD("spec.restartPolicy"),
    POD("spec.schedulerName"),
    POD("spec.serviceAccountName"),
    POD("spec.hostNetwork"),
    POD("status.phase"),
    POD("status.podIP"),
    {"v1", "Pod", "status.podIPs", ""},
    POD("status.nominatedNodeName"),
    SAME("v1", "Node", "metadata.name"),
    SAME("v1", "Node", "spec.unschedulable"),
    SAME("v1", "ReplicationController", "metadata.name"),
    SAME("v1", "ReplicationController", "metadata.namespace"),
    SAME("v1", "ReplicationController", "status.replicas"),
    EVENT("involvedObject.kind"),
    EVENT("involvedObject.namespace"),
    EVENT("involvedObject.name"),
    EVENT("involvedObject.uid"),
    EVENT("involvedObject.apiVersion"),
    EVENT("involvedObject.resourceVersion"),
    EVENT("involvedObject.fieldPath"),
    EVENT("reason"),
    EVENT("reportingComponent"),
    {"v1", "Event", "source", "source.component"},
    EVENT("type"),
    EVENT("metadata.namespace"),
    EVENT("metadata.name"),
    REGARDING("kind"),
    REGARDING("namespace"),
    REGARDING("name"),
    REGARDING("uid"),
    REGARDING("apiVersion"),
    REGARDING("resourceVersion"),
    REGARDING("fieldPath"),
    SAME("events.k8s.io/v1", "Event", "reason"),
    {"events.k8s.io/v1", "Event", "reportingController", "reportingComponent"},
    SAME("events.k8s.io/v1", "Event", "type"),
    SAME("events.k8s.io/v1", "Event", "metadata.namespace"),
    SAME("events.k8s.io/v1", "Event", "metadata.name"),
    SAME("v1", "Namespace", "status.phase"),
    SAME("v1", "Namespace", "metadata.name"),
    SAME("v1", "Secret", "type"),
    SAME("v1", "Secret", "metadata.namespace"),
    SAME("v1", "Secret", "metadata.name"),
    SAME("v1", "Service", "metadata.namespace"),
    SAME("v1", "Service", "metadata.name"),
    SAME("v1", "Service", "spec.clusterIP"),
    SAME("v1", "Service", "spec.type"),
    SAME("certificates.k8s.io/v1", "CertificateSigningRequest", "metadata.name"),
    SAME("certificates.k8s.io/v1", "CertificateSigningRequest", "spec.signerName"),
    SAME("certificates.k8s.io/v1", "ClusterTrustBundle", "metadata.name"),
    SAME("certificates.k8s.io/v1", "ClusterTrustBundle", "spec.signerName"),
    SAME("certificates.k8s.io/v1", "PodCertificateRequest", "metadata.name"),
    SAME("certificates.k8s.io/v1", "PodCertificateRequest", "spec.signerName"),
    SAME("certificates.k8s.io/v1", "PodCertificateRequest", "spec.podName"),
    SAME("certificates.k8s.io/v1", "PodCertificateRequest", "spec.nodeName"),
    SAME("resource.k8s.io/v1", "ResourceSlice", "metadata.name"),
    SAME("resource.k8s.io/v1", "ResourceSlice", "spec.nodeName"),
    SAME("resource.k8s.io/v1", "ResourceSlice", "spec.driver"),
    SAME("resource.k8s.io/v1", "ResourceSlice", "spec.pool.name"),
    SAME("batch/v1", "Job", "metadata.name"),
    SAME("batch/v1", "Job", "metadata.namespace"),
    {"batch/v1", "Job", "status.successful", "status.succeeded"},
};

/* What kinds without rows of their own have. */
static const struct field common[] = {
    SAME("", "", "metadata.name"),
    SAME("", "", "metadata.namespace"),
};

static bool is_of(const struct field *f, const struct api_kind *kind) {
    return str_is(str_of(f->kind), kind->kind) && str_is(str_of(f->api_version), kind->api_version);
}

/* The row of the field, or NULL; *listed tells whether the kind has rows at all. */
static const struct field *find_field(const struct api_kind *kind, struct str name, bool *listed) {
    *listed = false;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (is_of(&fields[i], kind)) {
            *listed = true;
            if (str_is(name, fields[i].name))
                return &fields[i];
        }
    for (size_t i = 0; !*listed && i < sizeof common / sizeof *common; i++)
        if (str_is(name, common[i].name))
            return &common[i];
    return NULL;
}

static struct str unknown_field(struct arena *a, const struct api_kind *kind, struct str name,
                                bool listed) {
    AUTO(buf_release) struct buf quoted = BUF_INIT(SIZE_MAX);
    goquote_write(&quoted, name);
    if (!listed)
        return arena_printf(a,
                            "%.*s is not a known field selector: only \"metadata.name\", "
                            "\"metadata.namespace\"",
                            STR_ARG(buf_view(&quoted)));
    if (str_is(str_of(kind->kind), "Job"))
        return arena_printf(a, "field label %.*s not supported for Job",
                            STR_ARG(buf_view(&quoted)));
    if (str_is(str_of(kind->kind), "ResourceSlice"))
        return arena_printf(a,
                            "field label not supported for resource.k8s.io/v1, "
                            "Kind=ResourceSlice: %.*s",
                            STR_ARG(name));
    return arena_printf(a, "field label not supported: %.*s", STR_ARG(name));
}

/* Finds the member that a path of names leads to, through structs that are always there. */
static void locate(const struct api_type *type, struct str path, struct term *out) {
    size_t offset = 0;
    for (struct str head; path.n;) {
        str_cut(path, '.', &head, &path);
        const struct api_field *next = type->fields;
        struct api_found found = api_field_find(type, head, &next);
        assert(found.field);
        offset += found.offset;
        out->row = found.field;
        type = found.field->type;
    }
    out->offset = offset;
}

/* ---- texts ---- */

/* \\, \, and \= stand for themselves. */
static int unescape(struct arena *a, struct str text, struct str *out, struct str *why) {
    char *to = arena_alloc(a, text.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == ',' || c == '=') {
            *why = arena_printf(a, "invalid field selector: unescaped character in value: %d", c);
            return -1;
        }
        if (c == '\\') {
            bool known = ++i < text.n && memchr("\\,=", text.p[i], 3);
            if (!known) {
                struct str rest = str_sub(text, i, i + 1);
                *why = arena_printf(a, "invalid field selector: invalid escape sequence: \\%.*s",
                                    STR_ARG(rest));
                return -1;
            }
            c = text.p[i];
        }
        to[n++] = c;
    }
    *out = (struct str){to, n};
    return 0;
}

/* Where the first operator of a term stands, and how long it is; 0 without one. */
static size_t find_operator(struct str term, size_t *at, enum term_op *op) {
    for (size_t i = 0; i < term.n; i++) {
        struct str rest = str_sub(term, i, term.n);
        *at = i;
        *op = term.p[i] == '!' ? TERM_DIFFERS : TERM_EQUALS;
        if (str_starts(rest, STR("!=")) || str_starts(rest, STR("==")))
            return 2;
        if (term.p[i] == '=')
            return 1;
    }
    return 0;
}

struct parse {
    struct arena *a;
    const struct api_kind *kind, *stored;
    struct str text;
    struct str *why;
};

/* Reads a term, of which *name is the field. */
static int read_term(const struct parse *p, struct str text, struct str *name, struct term *out) {
    size_t at, length = find_operator(text, &at, &out->op);
    if (!length) {
        *p->why = arena_printf(p->a, "invalid selector: '%.*s'; can't understand '%.*s'",
                               STR_ARG(p->text), STR_ARG(text));
        return -1;
    }
    *name = str_sub(text, 0, at);
    return unescape(p->a, str_sub(text, at + length, text.n), &out->value, p->why);
}

/* Finds the field that a term is about. */
static int find_place(const struct parse *p, struct str name, struct term *out) {
    bool listed;
    const struct field *f = find_field(p->kind, name, &listed);
    if (!f) {
        *p->why = unknown_field(p->a, p->kind, name, listed);
        return -1;
    }
    out->is_name = str_is(name, "metadata.name");
    out->is_source = str_is(str_of(f->place), "source.component");
    if (*f->place)
        locate(p->stored->type, str_of(f->place), out);
    return 0;
}

/* The terms, in byte order as upstream sorts them: of several faults, that of the first is told. */
static struct str *split(struct arena *a, struct str text, size_t *n) {
    size_t most = 1, start = 0;
    for (size_t i = 0; i < text.n; i++)
        most += text.p[i] == ',';
    struct str *terms = arena_array(a, struct str, most);
    *n = 0;
    for (size_t i = 0; i <= text.n; i++) {
        if (i < text.n && text.p[i] == '\\')
            i++;
        else if (i == text.n || text.p[i] == ',') {
            terms[(*n)++] = str_sub(text, start, i);
            start = i + 1;
        }
    }
    if (start <= text.n && text.n && text.p[text.n - 1] == '\\')
        terms[(*n)++] = str_sub(text, start, text.n);
    qsort(terms, *n, sizeof *terms, str_cmp_qsort);
    return terms;
}

/* Reads all terms, before any field is looked for; gives the names of their fields, or NULL. */
static struct str *read_terms(const struct parse *p, struct registry_fields *f) {
    size_t n;
    struct str *parts = split(p->a, p->text, &n);
    struct str *names = arena_array(p->a, struct str, n);
    f->terms = arena_array(p->a, struct term, n);
    for (size_t i = 0; i < n; i++) {
        if (!parts[i].n)
            continue;
        if (read_term(p, parts[i], &names[f->n], &f->terms[f->n]) < 0)
            return NULL;
        f->n++;
    }
    return names;
}

int registry_fields_parse(struct arena *a, const struct api_kind *kind,
                          const struct api_kind *stored, struct str text,
                          struct registry_fields **out, struct str *why) {
    const struct parse p = {a, kind, stored, text, why};
    struct registry_fields *f = arena_new(a, struct registry_fields);
    struct str *names = read_terms(&p, f);
    if (!names)
        return -1;
    for (size_t i = 0; i < f->n; i++)
        if (find_place(&p, names[i], &f->terms[i]) < 0)
            return -1;
    *out = f;
    return 0;
}

int registry_fields_check(struct arena *a, struct str text, struct str *why) {
    const struct parse p = {.a = a, .text = text, .why = why};
    struct registry_fields f = {0};
    return read_terms(&p, &f) ? 0 : -1;
}

/* ---- matching ---- */

static struct str number(int64_t v, char text[static 24]) {
    struct buf b = {.p = text, .cap = 24, .max = 24};
    buf_add_i64(&b, v);
    return buf_view(&b);
}

/* What stands in the field; text is room for a number. */
static struct str value_at(const struct term *t, const char *body, char text[static 24]) {
    const void *at = body + t->offset;
    if (!t->row)
        return STR("");
    switch (t->row->kind) {
    case API_BOOL:
        return *(const bool *)at ? STR("true") : STR("false");
    case API_I32:
        return number(*(const int32_t *)at, text);
    case API_I64:
        return number(*(const int64_t *)at, text);
    default:
        return *(const struct str *)at;
    }
}

static struct str value_of(const struct term *t, const struct api_object *o, char text[static 24]) {
    struct str value = value_at(t, o->body, text);
    if (t->is_source && !value.n)
        value = ((const struct api_event *)o->body)->reporting_component;
    return value;
}

bool registry_fields_match(const struct registry_fields *f, const struct api_object *o) {
    char text[24];
    for (size_t i = 0; f && i < f->n; i++) {
        const struct term *t = &f->terms[i];
        if (str_eq(value_of(t, o, text), t->value) != (t->op == TERM_EQUALS))
            return false;
    }
    return true;
}

struct str registry_fields_name(const struct registry_fields *f) {
    for (size_t i = 0; f && i < f->n; i++)
        if (f->terms[i].is_name && f->terms[i].op == TERM_EQUALS)
            return f->terms[i].value;
    return (struct str){0};
}

bool registry_fields_are_any(const struct registry_fields *f) {
    return f && f->n;
}
