/* From a value to a verdict, in the API server's order. */
#include "api/object.h"
#include "base/ascii.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/printable.h"
#include "cli/suggest.h"
#include "cmd/gates.h"
#include "cmd/report/verdict.h"
#include "valid/admit.h"
#include "valid/valid.h"

/* The API server makes names from random letters; here the same input gives the same output. */
#define NAME_SUFFIX STR("xxxxx")

enum { LONGEST_TEXT = 64 << 20 };

struct judge {
    struct judge_opts opts;
    const struct stored *stored;
    struct advice *advice;
    struct arena arena;               /* of the verdict */
    struct arena trial;               /* of one look for hints */
    struct api_object *object;        /* of the verdict, or NULL */
    struct map classes;               /* PriorityClasses that went by: the first of each name */
    struct api_object *default_class; /* the least of those that are the default, or NULL */
    struct feature_set hinted;        /* gates that were named in a hint */
};

static int suggest_codes(struct str typed, struct err *err) {
    struct suggest suggest = {.typed = typed};
    for (const struct advice_row *row = advice_rows; row->code; row++)
        suggest_offer(&suggest, row->code);
    return suggest_fail(&suggest, "", err);
}

int judge_new(const struct judge_opts *opts, const struct stored *stored, struct judge **out,
              struct err *err) {
    struct judge *j = xcalloc(1, sizeof *j);
    j->opts = *opts;
    j->stored = stored;
    j->advice = advice_new();
    j->classes = MAP_INIT(map_random_seed());
    for (size_t i = 0; i < opts->silence.n; i++)
        if (advice_silence(j->advice, opts->silence.v[i], err) < 0) {
            judge_free(j);
            return suggest_codes(opts->silence.v[i], err);
        }
    *out = j;
    return 0;
}

void judge_free(struct judge *j) {
    if (!j)
        return;
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&j->classes, &at));)
        api_object_unref(e->value);
    map_release(&j->classes);
    api_object_unref(j->default_class);
    api_object_unref(j->object);
    advice_free(j->advice);
    arena_release(&j->arena);
    arena_release(&j->trial);
    free(j);
}

/* ---- texts ---- */

static struct str group_of(struct str api_version) {
    struct str group, version;
    return str_cut(api_version, '/', &group, &version) ? group : STR("");
}

/* pod/web, deployment.apps/web */
static struct str resource_of(struct arena *a, const struct verdict *v) {
    struct str group = group_of(v->api_version);
    char *kind = (char *)arena_str(a, v->kind).p;
    for (size_t i = 0; i < v->kind.n; i++)
        kind[i] = ascii_to_lower(kind[i]);
    struct str name = v->name.n ? v->name : STR("<unknown>");
    return arena_printf(a, "%.*s%s%.*s/%.*s", (int)v->kind.n, kind ? kind : "", group.n ? "." : "",
                        STR_ARG(group), STR_ARG(name));
}

/* As kubectl prints errors that are not about fields. */
static void reject_as_server(struct judge *j, struct verdict *v, enum err_code code) {
    AUTO(buf_release) struct buf text = BUF_INIT(LONGEST_TEXT);
    buf_addf(&text, "Error from server (%s): error when creating \"", err_reason(code));
    printable_add(&text, v->source.file);
    buf_add(&text, STR("\": "));
    printable_add(&text, json_str(json_get(&v->status, STR("message"))));
    v->text = arena_str(&j->arena, buf_view(&text));
    v->accepted = false;
}

static void reject_bad_request(struct judge *j, struct verdict *v, struct str message) {
    v->status = valid_bad_request(&j->arena, message);
    reject_as_server(j, v, ERR_INVALID);
}

/* The Status for what admission refuses, which are pods: details name the resource. */
static void reject_resource(struct judge *j, struct verdict *v, const struct err *why) {
    struct arena *a = &j->arena;
    struct json details = {.kind = JSON_OBJECT}, s = {.kind = JSON_OBJECT};
    json_add(a, &details, STR("name"), json_of_str(v->name));
    json_add(a, &details, STR("kind"), json_of_str(str_of(j->object->kind->plural)));
    json_add(a, &s, STR("kind"), json_of_str(STR("Status")));
    json_add(a, &s, STR("apiVersion"), json_of_str(STR("v1")));
    json_add(a, &s, STR("metadata"), (struct json){.kind = JSON_OBJECT});
    json_add(a, &s, STR("status"), json_of_str(STR("Failure")));
    json_add(a, &s, STR("message"), json_of_str(arena_str(a, str_of(why->msg))));
    json_add(a, &s, STR("reason"), json_of_str(str_of(err_reason(why->code))));
    json_add(a, &s, STR("details"), details);
    json_add(a, &s, STR("code"), json_of_i64(err_http_status(why->code)));
    v->status = s;
    reject_as_server(j, v, why->code);
}

static void reject_invalid(struct judge *j, struct verdict *v, const struct valid_errs *errs) {
    AUTO(buf_release) struct buf text = BUF_INIT(LONGEST_TEXT);
    valid_write_kubectl(&text, j->object, errs);
    v->text = arena_str(&j->arena, buf_view(&text));
    v->status = valid_status(&j->arena, j->object, errs);
    v->accepted = false;
}

/* ---- admission and validation ---- */

static bool is_pod(const struct api_object *o) {
    return o->type == &api_types[API_T_pod];
}

static const struct api_priority_class *class_of(const struct api_object *o) {
    return o->body;
}

static bool knows_class(const struct judge *j, struct str name) {
    return map_get(&j->classes, name) || str_is(name, "system-node-critical") ||
           str_is(name, "system-cluster-critical");
}

/* Does the pod depend on a class that was not read: one it names, or the default of a cluster? */
static bool needs_unknown_class(const struct judge *j, const struct api_pod_spec *spec) {
    if (j->opts.closed)
        return false;
    if (spec->priority_class_name.n)
        return !knows_class(j, spec->priority_class_name);
    return !j->default_class && (spec->priority.set || spec->preemption_policy.p);
}

/*
 * Classes that nobody showed us are taken to be in the cluster: a warning says so, and what the
 * class would set stays as it is.
 */
static int admit_create(struct judge *j, struct api_object *o, struct err *err) {
    struct valid_admit_opts opts = VALID_ADMIT_DEFAULTS;
    struct api_pod_spec *spec = &((struct api_pod *)o->body)->spec;
    const struct api_object *classes[2], *named = map_get(&j->classes, spec->priority_class_name);
    opts.priority_classes = classes;
    if (named)
        classes[opts.priority_class_count++] = named;
    if (j->default_class)
        classes[opts.priority_class_count++] = j->default_class;
    if (!needs_unknown_class(j, spec))
        return valid_admit_pod_create(o, &opts, err);
    struct str name = spec->priority_class_name, policy = spec->preemption_policy;
    struct api_opt_i32 priority = spec->priority;
    spec->priority_class_name = spec->preemption_policy = (struct str){0};
    spec->priority = (struct api_opt_i32){0};
    int rc = valid_admit_pod_create(o, &opts, err);
    spec->priority_class_name = name;
    spec->preemption_policy = policy;
    spec->priority = priority;
    return rc;
}

/* Whether another writer was faster is a matter of time, not of validity: the update is judged as
 * one of the version that is stored. */
static void update(struct api_object *o, const struct api_object *old,
                   const struct valid_opts *opts, struct valid_errs *errs) {
    o->meta->resource_version = arena_str(&o->arena, old->meta->resource_version);
    if (is_pod(o))
        valid_admit_pod_update(o, old, &VALID_ADMIT_DEFAULTS);
    valid_prepare_update(o, old, opts);
    valid_update(o, old, opts, errs);
}

/* Everything behind defaulting. -1 with err filled: refused as a whole. */
static int validate(struct judge *j, struct api_object *o, const struct feature_set *gates,
                    struct valid_errs *errs, struct err *err) {
    struct valid_opts opts = {.gates = gates, .namespace = j->opts.namespace, .cel = j->opts.cel};
    const struct api_object *old = stored_find(j->stored, o);
    if (old) {
        update(o, old, &opts, errs);
        return 0;
    }
    if (is_pod(o) && admit_create(j, o, err) < 0)
        return -1;
    valid_generate_name(o, NAME_SUFFIX);
    valid_prepare_create(o, &opts);
    valid_create(o, &opts, errs);
    return 0;
}

/* ---- hints ---- */

/* A rejected object, and what looking for hints has cost. */
struct search {
    const struct input_value *value;
    const struct valid_errs *errs; /* why it is rejected */
    size_t bytes;                  /* of the objects that were made anew so far */
};

/* How many of the errors go away with these gates, and the first of them. */
struct solved {
    size_t n;
    const struct valid_error *first;
};

/* A list that had no room for all errors does not tell which of the others are gone. */
static struct solved compare(const struct valid_errs *errs, const struct valid_errs *left) {
    struct solved solved = {0};
    size_t listed = errs->n - (errs->left_out > 0);
    for (size_t i = 0; i < listed && !left->left_out; i++) {
        if (valid_errs_has(left, &errs->v[i]))
            continue;
        if (!solved.n++)
            solved.first = &errs->v[i];
    }
    return solved;
}

static struct solved solved_by(struct judge *j, struct search *search,
                               const struct feature_set *gates) {
    const struct input_value *value = search->value;
    struct api_decode_opts opts = {.kind = value->kind, .api_version = value->api_version};
    struct valid_errs left = VALID_ERRS_INIT(&j->trial);
    struct solved solved = {0};
    struct api_object *o;
    struct err err;
    if (search->bytes > LIMIT_HINT_BYTES || api_object_decode(value->tree, &opts, &o, &err) < 0)
        return solved;
    api_object_default(o, gates);
    if (validate(j, o, gates, &left, &err) == 0)
        solved = compare(search->errs, &left);
    search->bytes += o->arena.bytes + j->trial.bytes;
    api_object_unref(o);
    arena_reset(&j->trial);
    return solved;
}

static void add_hint(struct judge *j, struct verdict *v, enum feature gate,
                     const struct valid_error *e) {
    AUTO(buf_release) struct buf text = BUF_INIT(LONGEST_TEXT);
    struct str name = feature_name(gate);
    buf_addf(&text, "%.*s: %.*s is refused because the feature gate %.*s is off; try ",
             STR_ARG(v->resource), STR_ARG(e->field), STR_ARG(name));
    if (gates_write_remedy(&text, j->opts.gates, gate))
        opt_list_add(&j->arena, &v->hints, arena_str(&j->arena, buf_view(&text)));
}

/* Do the gates that are named already explain all that any gate can? */
static bool needs_hint(struct judge *j, struct search *search) {
    struct feature_set all, hinted = j->opts.gates->enabled;
    memset(&all, 0xff, sizeof all);
    size_t most = solved_by(j, search, &all).n;
    for (size_t i = 0; i < sizeof hinted.words / sizeof *hinted.words; i++)
        hinted.words[i] |= j->hinted.words[i];
    return most && solved_by(j, search, &hinted).n < most;
}

/*
 * Gates from one to before another that are off, and that would take an error away. If all of them
 * together take none away, none does alone; else each half is looked at.
 */
static void find_among(struct judge *j, struct verdict *v, struct search *search, enum feature from,
                       enum feature to) {
    struct feature_set gates = j->opts.gates->enabled;
    enum feature gate = from;
    size_t count = 0;
    for (enum feature f = from; f < to; f++) {
        if (feature_enabled(&gates, f) || feature_enabled(&j->hinted, f))
            continue;
        feature_set_put(&gates, f, true);
        gate = f;
        count++;
    }
    struct solved solved = count ? solved_by(j, search, &gates) : (struct solved){0};
    if (!solved.n)
        return;
    if (count > 1) {
        enum feature middle = from + (to - from) / 2;
        find_among(j, v, search, from, middle);
        find_among(j, v, search, middle, to);
        return;
    }
    feature_set_put(&j->hinted, gate, true);
    add_hint(j, v, gate, solved.first);
}

/* Each gate is named once in a run: whoever reads the first hint does not need the others. */
static void find_hints(struct judge *j, struct verdict *v, const struct input_value *value,
                       const struct valid_errs *errs) {
    struct search search = {.value = value, .errs = errs};
    if (needs_hint(j, &search))
        find_among(j, v, &search, 0, FEATURE_COUNT);
}

/* ---- one object ---- */

static struct str member(const struct json *object, const char *key) {
    const struct json *v = object ? json_get(object, str_of(key)) : NULL;
    return v && v->kind == JSON_STRING ? json_str(v) : (struct str){0};
}

/* Objects that name no namespace are in that of the request. */
static struct str request_namespace(const struct judge *j) {
    return j->opts.namespace.n ? j->opts.namespace : STR("default");
}

/* What it is called, as far as a tree that may be full of errors tells. */
static void name_from_tree(const struct judge *j, struct verdict *v,
                           const struct input_value *value) {
    const struct json *meta = json_get(value->tree, STR("metadata"));
    v->kind = member(value->tree, "kind");
    v->api_version = member(value->tree, "apiVersion");
    if (!v->kind.n)
        v->kind = value->kind;
    if (!v->api_version.n)
        v->api_version = value->api_version;
    v->namespace = member(meta, "namespace");
    v->name = member(meta, "name");
    const struct api_kind *kind = api_kind_find(v->api_version, v->kind);
    if (kind && kind->namespaced && !v->namespace.n)
        v->namespace = request_namespace(j);
}

static void name_from_object(struct judge *j, struct verdict *v) {
    const struct api_object *o = j->object;
    bool namespaced = o->kind && o->kind->namespaced;
    v->kind = o->names->kind;
    v->api_version = o->names->api_version;
    if (!o->meta)
        return;
    v->name = o->meta->name;
    v->namespace = namespaced && !o->meta->namespace.n ? request_namespace(j) : o->meta->namespace;
    if (o->kind && !namespaced)
        v->namespace = STR("");
}

/* unknown field "spec.foo": the path stands between the quotes. */
static struct str path_in(struct str problem) {
    size_t open = str_find_char(problem, '"');
    return open == STR_NONE ? STR("") : str_sub(problem, open + 1, problem.n - 1);
}

static void refuse_problems(struct judge *j, struct verdict *v,
                            const struct api_problems *problems) {
    AUTO(buf_release) struct buf text = BUF_INIT(LONGEST_TEXT);
    struct str group, version;
    if (!str_cut(v->api_version, '/', &group, &version))
        version = v->api_version;
    buf_addf(&text, "%.*s in version \"%.*s\" cannot be handled as a %.*s: strict decoding error: ",
             STR_ARG(v->kind), STR_ARG(version), STR_ARG(v->kind));
    for (size_t i = 0; i < problems->n; i++) {
        if (i)
            buf_add(&text, STR(", "));
        buf_add(&text, problems->v[i]);
    }
    reject_bad_request(j, v, arena_str(&j->arena, buf_view(&text)));
}

static void warn_of_problems(struct judge *j, struct verdict *v,
                             const struct api_problems *problems) {
    for (size_t i = 0; i < problems->n && j->opts.warnings; i++) {
        struct str text = problems->v[i];
        bool repeated = str_starts(text, STR("duplicate"));
        struct advice_note note = {repeated ? "duplicate-field" : "unknown-field", path_in(text),
                                   text};
        advice_add(j->advice, j->object, note, &v->warnings);
    }
}

static bool was_stored(const struct api_object *o) {
    return o->meta && o->meta->uid.n;
}

/* trusting: what a server stored may have fields that we do not know. */
static int decode(struct judge *j, const struct input_value *value, bool trusting,
                  struct verdict *v) {
    struct api_problems problems = {.n = 0};
    struct api_decode_opts opts = {.kind = value->kind,
                                   .api_version = value->api_version,
                                   .duplicates = value->repeats,
                                   .problems = &problems};
    struct err err;
    if (api_object_decode(value->tree, &opts, &j->object, &err) < 0) {
        reject_bad_request(j, v, arena_str(&j->arena, str_of(err.msg)));
        return -1;
    }
    if (trusting && was_stored(j->object))
        return 0;
    if (problems.n && j->opts.strict) {
        refuse_problems(j, v, &problems);
        return -1;
    }
    warn_of_problems(j, v, &problems);
    return 0;
}

void judge_add_class(struct judge *j, struct api_object *class) {
    const struct api_priority_class *c = class_of(class);
    if (!map_get(&j->classes, c->metadata.name))
        map_put(&j->classes, c->metadata.name, api_object_ref(class));
    if (!c->global_default || (j->default_class && c->value >= class_of(j->default_class)->value))
        return;
    api_object_unref(j->default_class);
    j->default_class = api_object_ref(class);
}

/* value is what hints are looked for with; NULL: what became of the object serves as well, since
 * what was dropped from it is not what it is refused for. */
static void judge_decoded(struct judge *j, const struct input_value *value, struct verdict *v) {
    struct api_object *o = j->object;
    const struct feature_set *gates = &j->opts.gates->enabled;
    struct valid_errs errs = VALID_ERRS_INIT(&j->arena);
    struct err err;
    api_object_default(o, gates);
    if (j->opts.warnings)
        advice_check(j->advice, o, &v->warnings);
    v->checked = valid_knows(o->kind);
    int rc = v->checked ? validate(j, o, gates, &errs, &err) : 0;
    name_from_object(j, v);
    v->resource = resource_of(&j->arena, v);
    if (rc < 0)
        reject_resource(j, v, &err);
    else if (errs.n) {
        struct json tree = value ? *value->tree : api_object_encode(o, &j->arena);
        reject_invalid(j, v, &errs);
        find_hints(j, v, value ? value : &(struct input_value){.tree = &tree}, &errs);
    }
    if (v->accepted && o->type == &api_types[API_T_priority_class])
        judge_add_class(j, o);
}

/* Forgets the last verdict. */
static void begin(struct judge *j, const struct input_source *source, struct verdict *out) {
    api_object_unref(j->object);
    j->object = NULL;
    arena_reset(&j->arena);
    *out = (struct verdict){
        .source = *source, .accepted = true, .checked = true, .warnings.a = &j->arena};
}

static int begin_with_value(struct judge *j, const struct input_value *value, bool trusting,
                            struct verdict *out) {
    name_from_tree(j, out, value);
    out->resource = resource_of(&j->arena, out);
    return decode(j, value, trusting, out);
}

void judge_value(struct judge *j, const struct input_value *value,
                 const struct input_source *source, struct verdict *out) {
    begin(j, source, out);
    if (begin_with_value(j, value, false, out) == 0)
        judge_decoded(j, value, out);
}

struct api_object *judge_decode(struct judge *j, const struct input_value *value,
                                const struct input_source *source, struct verdict *out) {
    begin(j, source, out);
    if (begin_with_value(j, value, true, out) < 0)
        return NULL;
    struct api_object *o = j->object;
    j->object = NULL;
    return o;
}

void judge_object(struct judge *j, struct api_object *o, const struct input_source *source,
                  struct verdict *out) {
    begin(j, source, out);
    j->object = api_object_ref(o);
    judge_decoded(j, NULL, out);
}
