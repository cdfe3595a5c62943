/*
 * Selection of pods.
 *
 * Follows k8s.io/apimachinery pkg/fields, func ParseSelector.
 * Follows k8s.io/kubernetes pkg/registry/core/pod, func ToSelectableFields.
 */
#include "cmd/report/schedule_select.h"

#include "api/object.h"
#include "api/selector.h"

/* ---- fields ---- */

static struct str name_of(const struct sim_placement_pod *p, const struct api_pod *pod) {
    (void)p;
    return pod->metadata.name;
}

static struct str namespace_of(const struct sim_placement_pod *p, const struct api_pod *pod) {
    (void)p;
    return pod->metadata.namespace;
}

static struct str node_of(const struct sim_placement_pod *p, const struct api_pod *pod) {
    return p->node.n ? p->node : pod->spec.node_name;
}

static struct str restart_policy_of(const struct sim_placement_pod *p, const struct api_pod *pod) {
    (void)p;
    return pod->spec.restart_policy;
}

static struct str scheduler_of(const struct sim_placement_pod *p, const struct api_pod *pod) {
    (void)p;
    return pod->spec.scheduler_name;
}

static struct str service_account_of(const struct sim_placement_pod *p, const struct api_pod *pod) {
    (void)p;
    return pod->spec.service_account_name;
}

static struct str phase_of(const struct sim_placement_pod *p, const struct api_pod *pod) {
    (void)p;
    return pod->status.phase.n ? pod->status.phase : STR("Pending");
}

static struct str nominated_of(const struct sim_placement_pod *p, const struct api_pod *pod) {
    (void)pod;
    return p->nominated;
}

static const struct field_row {
    const char *name;
    struct str (*value)(const struct sim_placement_pod *p, const struct api_pod *pod);
} rows[] = {
    {"metadata.name", name_of},
    {"metadata.namespace", namespace_of},
    {"spec.nodeName", node_of},
    {"spec.restartPolicy", restart_policy_of},
    {"spec.schedulerName", scheduler_of},
    {"spec.serviceAccountName", service_account_of},
    {"status.nominatedNodeName", nominated_of},
    {"status.phase", phase_of},
};

struct schedule_field {
    const struct field_row *row;
    struct str value;
    bool differs; /* != */
};

static const struct field_row *find_row(struct str name) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_is(name, rows[i].name))
            return &rows[i];
    return NULL;
}

/* The first of ",", or of what ends a field's name, that no backslash stands before. */
static size_t find_end(struct str text, const char *ends) {
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '\\')
            i++;
        else if (strchr(ends, text.p[i]))
            return i;
    }
    return text.n;
}

/* Backslashes go: they made commas and equals signs part of the value. */
static struct str unescape(struct arena *a, struct str text) {
    char *out = arena_alloc(a, text.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++) {
        i += text.p[i] == '\\' && i + 1 < text.n;
        out[n++] = text.p[i];
    }
    return (struct str){out, n};
}

/* name=value, name==value, name!=value */
static int parse_field(struct arena *a, struct str text, struct schedule_field *out,
                       struct err *err) {
    static const char *const operators[] = {"!=", "==", "="};
    size_t at = find_end(text, "!=");
    struct str rest = str_sub(text, at, text.n), name = str_sub(text, 0, at);
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (str_starts(rest, str_of(operators[i]))) {
            *out = (struct schedule_field){
                find_row(name),
                unescape(a, str_sub(rest, strlen(operators[i]), rest.n)),
                i == 0,
            };
            if (out->row)
                return 0;
            return err_set(err, ERR_USAGE, "field label not supported: %.*s", STR_ARG(name));
        }
    return err_set(err, ERR_USAGE, "invalid selector: '%.*s'; can't understand '%.*s'",
                   STR_ARG(text), STR_ARG(text));
}

static int parse_fields(struct arena *a, struct str text, struct schedule_select *out,
                        struct err *err) {
    struct schedule_field *fields = arena_array(a, struct schedule_field, text.n);
    out->fields = fields;
    while (text.n) {
        size_t end = find_end(text, ",");
        if (end && parse_field(a, str_sub(text, 0, end), &fields[out->field_count++], err) < 0)
            return err_wrap(err, "--field-selector");
        text = str_sub(text, end + 1, text.n);
    }
    return 0;
}

/* ---- all of it ---- */

int schedule_select_compile(struct arena *a, struct str labels, struct str fields,
                            struct schedule_select *out, struct err *err) {
    if (labels.n) {
        struct selector *selector;
        if (selector_parse(a, labels, &selector, err) < 0) {
            err->code = ERR_USAGE;
            return err_wrap(err, "--selector");
        }
        out->labels = selector;
    }
    return parse_fields(a, fields, out, err);
}

static bool matches_fields(const struct schedule_select *s, const struct sim_placement_pod *pod) {
    for (size_t i = 0; i < s->field_count; i++) {
        const struct schedule_field *f = &s->fields[i];
        if (str_eq(f->row->value(pod, pod->pod->body), f->value) == f->differs)
            return false;
    }
    return true;
}

bool schedule_selects(const struct schedule_select *s, const struct sim_placement_pod *pod) {
    const struct api_object_meta *meta = pod->pod->meta;
    if (s->pending && !sim_placement_pod_is_pending(pod))
        return false;
    if (s->namespace.n && !str_eq(meta->namespace, s->namespace))
        return false;
    if (s->labels && !selector_matches(s->labels, &meta->labels))
        return false;
    return matches_fields(s, pod);
}
