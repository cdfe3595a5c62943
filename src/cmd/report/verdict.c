/* From a value to a verdict: the registry is asked, advice is looked for, and kubectl's words are
 * found for what comes of it. */
#include "cmd/report/verdict.h"
#include "api/object.h"
#include "cli/suggest.h"
#include "cmd/gates.h"
#include "cmd/report/kubectl.h"
#include "registry/registry.h"

/* The API server makes names from random letters; here the same input gives the same output. */
#define NAME_SUFFIX STR("xxxxx")

enum { LONGEST_TEXT = 64 << 20 };

struct judge {
    struct judge_opts opts;
    const struct registry_view *stored; /* what objects are updates of; or NULL */
    struct registry_view *seen;         /* PriorityClasses that went by */
    struct registry registry;
    struct registry_request request;
    struct advice *advice;
    struct arena arena;        /* of the verdict */
    struct api_object *object; /* of the verdict, or NULL */
    struct feature_set hinted; /* gates that were named in a hint */
};

static int suggest_codes(struct str typed, struct err *err) {
    struct suggest suggest = {.typed = typed};
    for (const struct advice_row *row = advice_rows; row->code; row++)
        suggest_offer(&suggest, row->code);
    return suggest_fail(&suggest, "", err);
}

int judge_new(const struct judge_opts *opts, const struct registry_view *stored, struct judge **out,
              struct err *err) {
    struct judge *j = xcalloc(1, sizeof *j);
    j->opts = *opts;
    j->stored = stored;
    j->seen = registry_view_new(opts->namespace);
    if (opts->closed)
        registry_view_close(j->seen, API_T_priority_class);
    j->registry = (struct registry){&opts->gates->enabled, opts->cel, j->seen};
    j->request =
        (struct registry_request){.namespace = opts->namespace, .name_suffix = NAME_SUFFIX};
    j->advice = advice_new();
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
    registry_view_free(j->seen);
    api_object_unref(j->object);
    advice_free(j->advice);
    arena_release(&j->arena);
    free(j);
}

/* ---- texts ---- */

static struct str resource_of(struct arena *a, const struct verdict *v) {
    AUTO(buf_release) struct buf text = BUF_INIT(LONGEST_TEXT);
    kubectl_write_name(&text, v->api_version, v->kind, v->name);
    return arena_str(a, buf_view(&text));
}

static void reject(struct judge *j, struct verdict *v, const struct registry_failure *f) {
    AUTO(buf_release) struct buf text = BUF_INIT(LONGEST_TEXT);
    kubectl_write_failure(&text, f, v->source.file);
    v->text = arena_str(&j->arena, buf_view(&text));
    v->status = registry_status(&j->arena, f);
    v->accepted = false;
}

static void add_hint(struct judge *j, struct verdict *v, const struct registry_remedy *r) {
    AUTO(buf_release) struct buf text = BUF_INIT(LONGEST_TEXT);
    struct str name = feature_name(r->gate);
    buf_addf(&text, "%.*s: %.*s is refused because the feature gate %.*s is off; try ",
             STR_ARG(v->resource), STR_ARG(r->solves->field), STR_ARG(name));
    if (gates_write_remedy(&text, j->opts.gates, r->gate))
        opt_list_add(&j->arena, &v->hints, arena_str(&j->arena, buf_view(&text)));
}

/* Each gate is named once in a run: whoever reads the first hint does not need the others. */
static void add_hints(struct judge *j, struct verdict *v, const struct registry_trial *trial) {
    struct registry_remedy *remedies;
    size_t n = registry_find_remedies(trial, &j->arena, &j->hinted, &remedies);
    for (size_t i = 0; i < n; i++)
        add_hint(j, v, &remedies[i]);
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

static void warn_of_fields(struct judge *j, struct verdict *v, const struct api_faults *faults) {
    for (size_t i = 0; i < faults->n && j->opts.warnings; i++) {
        const struct api_fault *f = &faults->v[i];
        const char *code = f->kind == API_FAULT_UNKNOWN ? "unknown-field" : "duplicate-field";
        advice_add(j->advice, j->object, (struct advice_note){code, f->path, f->text},
                   &v->warnings);
    }
}

static bool was_stored(const struct api_object *o) {
    return o->meta && o->meta->uid.n;
}

static struct api_decode_opts decode_opts(const struct input_value *value) {
    return (struct api_decode_opts){
        .kind = value->kind, .api_version = value->api_version, .duplicates = value->repeats};
}

/* trusting: what a server stored may have fields that we do not know. */
static int decode(struct judge *j, const struct input_value *value, bool trusting,
                  struct verdict *v) {
    struct api_decode_opts opts = decode_opts(value);
    struct api_faults faults;
    api_faults_init(&faults, &j->arena);
    struct registry_failure failure =
        registry_decode(&j->registry, value->tree, &opts, &j->object, &faults);
    bool trusted = !failure.code && trusting && was_stored(j->object);
    if (!failure.code && !trusted && faults.n && j->opts.strict)
        failure = registry_refuse_faults(&faults);
    if (failure.code) {
        reject(j, v, &failure);
        return -1;
    }
    if (!trusted)
        warn_of_fields(j, v, &faults);
    return 0;
}

void judge_add_class(struct judge *j, struct api_object *class) {
    if (!registry_view_find(j->seen, class))
        registry_view_set(j->seen, class);
}

static const struct api_object *find_old(const struct judge *j, const struct api_object *o) {
    return j->stored && o->meta ? registry_view_find(j->stored, o) : NULL;
}

/* value is what hints are looked for with; NULL: what became of the object serves as well, since
 * what was dropped from it is not what it is refused for. */
static void judge_decoded(struct judge *j, const struct input_value *value, struct verdict *v) {
    struct api_object *o = j->object;
    const struct api_object *old = find_old(j, o);
    if (j->opts.warnings)
        advice_check(j->advice, o, &v->warnings);
    v->checked = valid_knows(o->kind);
    struct registry_failure failure =
        old ? registry_update(&j->registry, &j->request, &j->arena, o, old)
            : registry_create(&j->registry, &j->request, &j->arena, o);
    name_from_object(j, v);
    v->resource = resource_of(&j->arena, v);
    if (failure.code)
        reject(j, v, &failure);
    if (failure.causes) {
        struct json tree = value ? *value->tree : api_object_encode(o, &j->arena);
        struct api_decode_opts opts = value ? decode_opts(value) : (struct api_decode_opts){0};
        add_hints(
            j, v,
            &(struct registry_trial){&j->registry, &j->request, &tree, &opts, old, failure.causes});
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
