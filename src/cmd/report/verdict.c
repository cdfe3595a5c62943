/* From a value to a verdict: the registry is asked, advice is looked for, and kubectl's words are
 * found for what comes of it. */
#include "cmd/report/verdict.h"
#include "api/object.h"
#include "base/map.h"
#include "cli/spelling.h"
#include "cmd/gate_flags.h"
#include "cmd/report/kind_hint.h"
#include "cmd/report/kubectl.h"
#include "registry/known.h"
#include "registry/registry.h"

/* The API server makes names from random letters; here the same input gives the same output. */
#define NAME_SUFFIX STR("xxxxx")

enum { LONGEST_TEXT = 64 << 20 };

struct verdict_run {
    struct verdict_opts opts;
    const struct registry_known *stored; /* what objects are updates of; or NULL */
    struct registry_known *seen;         /* PriorityClasses that went by */
    struct registry registry;
    struct registry_request request;
    struct advice *advice;
    struct arena arena;              /* of the verdict */
    struct api_object *draft;        /* what is decided about, or was refused; or NULL */
    const struct api_object *object; /* what was accepted; or NULL */
    struct feature_set hinted;       /* gates that were named in a hint */
    struct map versions;             /* versions, and kinds with theirs, that were named */
    struct arena names;              /* keys of the map */
};

static int suggest_codes(struct str typed, struct err *err) {
    struct suggest suggest = {.typed = typed};
    for (const struct advice_row *row = advice_rows; row->code; row++)
        suggest_offer(&suggest, row->code);
    return suggest_fail(&suggest, "", err);
}

int verdict_run_new(const struct verdict_opts *opts, const struct registry_known *stored,
                    struct verdict_run **out, struct err *err) {
    struct verdict_run *run = xcalloc(1, sizeof *run);
    run->opts = *opts;
    run->stored = stored;
    run->seen = registry_known_new(opts->namespace);
    run->registry = (struct registry){.gates = &opts->gates->enabled,
                                      .only_judges = true,
                                      .cel = opts->cel,
                                      .view = registry_known_view(run->seen),
                                      .plugins = registry_plugins_offline()};
    run->request =
        (struct registry_request){.namespace = opts->namespace, .name_suffix = NAME_SUFFIX};
    run->advice = advice_new();
    run->versions = MAP_INIT(map_random_seed());
    for (size_t i = 0; i < opts->silence.n; i++)
        if (advice_silence(run->advice, opts->silence.v[i], err) < 0) {
            verdict_run_free(run);
            return suggest_codes(opts->silence.v[i], err);
        }
    *out = run;
    return 0;
}

/* The object of the last verdict is not needed any more. */
static void forget_object(struct verdict_run *run) {
    api_object_free(run->draft);
    api_object_unref(run->object);
    run->draft = NULL;
    run->object = NULL;
}

void verdict_run_free(struct verdict_run *run) {
    if (!run)
        return;
    registry_known_free(run->seen);
    forget_object(run);
    advice_free(run->advice);
    map_release(&run->versions);
    arena_release(&run->names);
    arena_release(&run->arena);
    free(run);
}

/* ---- texts ---- */

static struct str resource_of(struct arena *a, const struct verdict *v) {
    AUTO(buf_release) struct buf text = BUF_INIT(LONGEST_TEXT);
    kubectl_write_name(&text, v->api_version, v->kind, v->name);
    return arena_str(a, buf_view(&text));
}

static void reject(struct verdict_run *run, struct verdict *v, const struct registry_failure *f) {
    AUTO(buf_release) struct buf text = BUF_INIT(LONGEST_TEXT);
    kubectl_write_failure(&text, f, v->source.file);
    v->text = arena_str(&run->arena, buf_view(&text));
    v->status = registry_status(&run->arena, f);
    v->accepted = false;
}

bool verdict_write_hint(struct buf *out, const struct feature_config *gates, struct str resource,
                        const struct registry_remedy *remedy) {
    struct str name = feature_name(remedy->gate);
    buf_addf(out, "%.*s: %.*s is refused because the feature gate %.*s is off; try ",
             STR_ARG(resource), STR_ARG(remedy->solves->field), STR_ARG(name));
    return gates_write_remedy(out, gates, remedy->gate);
}

static void add_hint(struct verdict_run *run, struct verdict *v,
                     const struct registry_remedy *remedy) {
    AUTO(buf_release) struct buf text = BUF_INIT(LONGEST_TEXT);
    if (verdict_write_hint(&text, run->opts.gates, v->resource, remedy))
        opt_list_add(&run->arena, &v->hints, arena_str(&run->arena, buf_view(&text)));
}

/* Each gate is named once in a run: whoever reads the first hint does not need the others. */
static void add_hints(struct verdict_run *run, struct verdict *v,
                      const struct registry_trial *trial) {
    struct registry_remedy *remedies;
    size_t n = registry_find_remedies(trial, &run->arena, &run->hinted, &remedies);
    for (size_t i = 0; i < n; i++)
        add_hint(run, v, &remedies[i]);
}

/* Once in a run for each kind that is none. */
static void add_kind_hint(struct verdict_run *run, struct verdict *v) {
    AUTO(buf_release) struct buf text = BUF_INIT(LONGEST_TEXT);
    struct str key =
        arena_printf(&run->names, "%.*s %.*s", STR_ARG(v->api_version), STR_ARG(v->kind));
    if (map_put(&run->versions, key, run))
        return;
    buf_addf(&text, "%.*s: ", STR_ARG(v->resource));
    if (kind_hint_write(&text, v->api_version, v->kind))
        opt_list_add(&run->arena, &v->hints, arena_str(&run->arena, buf_view(&text)));
}

/* A version that a server does not have unless it is told to is named once in a run. */
static void add_version_hint(struct verdict_run *run, struct verdict *v) {
    const struct api_kind *kind = api_kind_find(v->api_version, v->kind);
    if (!kind || registry_is_on_by_default(kind) ||
        map_put(&run->versions, str_of(kind->api_version), run))
        return;
    opt_list_add(&run->arena, &v->hints,
                 arena_printf(&run->arena,
                              "%.*s: a server has %s only with --runtime-config=%s=true",
                              STR_ARG(v->resource), kind->api_version, kind->api_version));
}

/* ---- one object ---- */

static struct str member(const struct json *object, const char *key) {
    const struct json *v = object ? json_get(object, str_of(key)) : NULL;
    return v && v->kind == JSON_STRING ? json_str(v) : (struct str){0};
}

/* Objects that name no namespace are in that of the request. */
static struct str request_namespace(const struct verdict_run *run) {
    return run->opts.namespace.n ? run->opts.namespace : STR("default");
}

/* What it is called, as far as a tree that may be full of errors tells. */
static void name_from_tree(const struct verdict_run *run, struct verdict *v,
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
        v->namespace = request_namespace(run);
}

static void name_from_object(struct verdict_run *run, struct verdict *v) {
    const struct api_object *o = run->draft;
    bool namespaced = o->kind && o->kind->namespaced;
    v->kind = o->names->kind;
    v->api_version = o->names->api_version;
    if (!o->meta)
        return;
    v->name = o->meta->name;
    v->namespace =
        namespaced && !o->meta->namespace.n ? request_namespace(run) : o->meta->namespace;
    if (o->kind && !namespaced)
        v->namespace = STR("");
}

static void warn_of_fields(struct verdict_run *run, struct verdict *v,
                           const struct api_faults *faults) {
    for (size_t i = 0; i < faults->n && run->opts.warnings; i++) {
        const struct api_fault *f = &faults->v[i];
        const char *code = f->kind == API_FAULT_UNKNOWN ? "unknown-field" : "duplicate-field";
        advice_add(run->advice, run->draft, (struct advice_note){code, f->path, f->text},
                   &v->warnings);
    }
}

static struct api_decode_opts decode_opts(const struct input_value *value) {
    return (struct api_decode_opts){
        .kind = value->kind, .api_version = value->api_version, .duplicates = value->repeats};
}

static int decode(struct verdict_run *run, const struct input_value *value, struct verdict *v) {
    struct api_decode_opts opts = decode_opts(value);
    struct api_faults faults;
    opts.strict = run->opts.strict;
    api_faults_init(&faults, &run->arena);
    struct registry_failure failure =
        registry_decode(&run->registry, value->tree, &opts, &run->draft, &faults);
    if (failure.code) {
        reject(run, v, &failure);
        return -1;
    }
    warn_of_fields(run, v, &faults);
    return 0;
}

/* Later objects may name a class that was accepted. */
static void accept(struct verdict_run *run) {
    run->object = api_publish(run->draft);
    run->draft = NULL;
    if (run->object->type == &api_types[API_T_priority_class] &&
        !registry_known_find(run->seen, run->object))
        registry_known_set(run->seen, run->object);
}

static void write_object(struct verdict_run *run, const struct input_value *value,
                         struct verdict *v) {
    struct api_object *o = run->draft;
    const struct api_object *old =
        run->stored && o->meta ? registry_known_find(run->stored, o) : NULL;
    if (run->opts.warnings)
        advice_check(run->advice, o, &v->warnings);
    v->has_rules = valid_has_rules(o->kind);
    struct registry_failure failure =
        old ? registry_update(&run->registry, &run->request, &run->arena, o, old)
            : registry_create(&run->registry, &run->request, &run->arena, o);
    name_from_object(run, v);
    v->resource = resource_of(&run->arena, v);
    if (failure.code)
        reject(run, v, &failure);
    else
        accept(run);
    add_version_hint(run, v);
    if (failure.causes) {
        struct api_decode_opts opts = decode_opts(value);
        add_hints(run, v,
                  &(struct registry_trial){&run->registry, &run->request, value->tree, &opts, old,
                                           failure.causes});
    }
}

/* Who has neither kind nor apiVersion is refused by decoding. */
static enum registry_standing standing_of(const struct verdict *v) {
    return v->kind.n && v->api_version.n ? registry_standing_of(v->api_version, v->kind)
                                         : REGISTRY_SERVED;
}

static void refuse_kind(struct verdict_run *run, const struct input_value *value,
                        struct verdict *v) {
    const struct json *meta = json_get(value->tree, STR("metadata"));
    struct registry_failure failure =
        registry_no_match(&run->arena, v->api_version, v->kind, member(meta, "namespace"), v->name);
    reject(run, v, &failure);
    add_kind_hint(run, v);
}

void verdict_of(struct verdict_run *run, const struct input_value *value,
                const struct input_source *source, struct verdict *out) {
    forget_object(run);
    arena_reset(&run->arena);
    *out = (struct verdict){
        .source = *source, .accepted = true, .has_rules = true, .warnings.a = &run->arena};
    name_from_tree(run, out, value);
    out->resource = resource_of(&run->arena, out);
    enum registry_standing standing = standing_of(out);
    out->checked = standing != REGISTRY_CUSTOM;
    if (standing == REGISTRY_UNMAPPED)
        refuse_kind(run, value, out);
    else if (decode(run, value, out) == 0)
        write_object(run, value, out);
}
