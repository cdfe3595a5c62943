/* One run of advice: what it has seen, what is silenced, and the table of all checks. */
#include <stdarg.h>
#include <stdio.h>

#include "advice/advice_int.h"
#include "base/limits.h"

/* ---- the run ---- */

/* The bit of a code; 0 when there is no such code. */
static uint32_t bit_of(struct str code) {
    for (size_t i = 0; advice_rows[i].code; i++)
        if (str_is(code, advice_rows[i].code))
            return UINT32_C(1) << i;
    return 0;
}

struct advice *advice_new(void) {
    struct advice *run = xcalloc(1, sizeof *run);
    run->taint_texts = run->label_texts = run->classes = run->warned_classes =
        MAP_INIT(map_random_seed());
    return run;
}

void advice_free(struct advice *run) {
    if (!run)
        return;
    map_release(&run->taint_texts);
    map_release(&run->label_texts);
    map_release(&run->classes);
    map_release(&run->warned_classes);
    vec_release(&run->taints);
    vec_release(&run->labels);
    arena_release(&run->arena);
    free(run);
}

int advice_silence(struct advice *run, struct str code, struct err *err) {
    uint32_t bit = bit_of(code);
    if (!bit)
        return err_set(err, ERR_USAGE, "there is no warning \"%.*s\"", STR_ARG(code));
    run->silenced |= bit;
    return 0;
}

/* ---- what goes by ---- */

static void learn_taint(struct advice *run, const struct api_taint *t, struct str node) {
    if (run->taints.n == ADVICE_MOST_TAINTS)
        return;
    struct str text = arena_printf(&run->arena, "%.*s=%.*s", STR_ARG(t->key), STR_ARG(t->value));
    if (map_put(&run->taint_texts, text, run))
        return;
    struct arena *a = &run->arena;
    vec_push(&run->taints, (struct advice_taint){arena_str(a, t->key), arena_str(a, t->value),
                                                 arena_str(a, t->effect), arena_str(a, node)});
}

/* Of labels only those matter that version operators cannot read. */
static void learn_label(struct advice *run, const struct label *l, struct str node) {
    struct err why;
    AUTO(arena_release) struct arena scratch = {0};
    if (run->labels.n == ADVICE_MOST_LABELS || !advice__is_bad_version(&scratch, l->value, &why))
        return;
    struct arena *a = &run->arena;
    struct str text = arena_printf(a, "%.*s=%.*s", STR_ARG(l->key), STR_ARG(l->value));
    if (map_put(&run->label_texts, text, run))
        return;
    vec_push(&run->labels, (struct advice_label){arena_str(a, l->key), arena_str(a, l->value),
                                                 arena_str(a, node)});
}

static void learn(struct advice *run, const struct api_object *o) {
    if (o->type == &api_types[API_T_node]) {
        const struct api_taint_list *taints = &((const struct api_node *)o->body)->spec.taints;
        for (size_t i = 0; i < taints->n; i++)
            learn_taint(run, &taints->v[i], o->meta->name);
        for (size_t i = 0; i < o->meta->labels.n; i++)
            learn_label(run, &o->meta->labels.v[i], o->meta->name);
    }
    if (o->type == &api_types[API_T_priority_class]) {
        map_put(&run->classes, arena_str(&run->arena, o->meta->name), run);
        run->has_default_class |= ((const struct api_priority_class *)o->body)->global_default;
    }
}

/* Every cluster has those of the system. */
static bool has_class(const struct advice *run, struct str name) {
    return str_is(name, "system-node-critical") || str_is(name, "system-cluster-critical") ||
           map_get(&run->classes, name);
}

/* A priority without a class is that of the cluster's default class, or refused. */
static void check_own_priority(struct advisor *w) {
    bool usual = !w->spec->priority.set || w->spec->priority.v == 0;
    if (!usual && !w->run->has_default_class)
        advice__say(w, advice__path(w, ".priority"),
                    "priority %d stands without a class: a cluster whose default PriorityClass has "
                    "another value, or that has none, refuses the pod; name a class instead",
                    w->spec->priority.v);
}

/* Once for each class: a manifest may name it a thousand times. */
void advice__priority_class_unknown(struct advisor *w) {
    struct str name = w->spec->priority_class_name;
    if (!name.n)
        check_own_priority(w);
    if (!name.n || has_class(w->run, name) || map_get(&w->run->warned_classes, name))
        return;
    map_put(&w->run->warned_classes, arena_str(&w->run->arena, name), w->run);
    advice__say(w, advice__path(w, ".priorityClassName"),
                "no PriorityClass \"%.*s\" was read before this: a cluster that does not have it "
                "refuses the pod; name its manifest before this one to have it checked",
                STR_ARG(name));
}

/* ---- notes ---- */

static uint32_t bits_of_list(struct str list) {
    uint32_t bits = 0;
    bool more = true;
    while (more) {
        struct str head;
        more = str_cut(list, ',', &head, &list);
        bits |= bit_of(str_trim(head));
    }
    return bits;
}

/* Is the code silenced, for the run or by the object? The object's list is read once. */
static bool is_silenced(const struct advice *run, const struct api_object *o, const char *code,
                        struct advice_notes *out) {
    const struct label *by = NULL;
    if (!out->has_silenced && o && o->meta)
        by = labels_find(&o->meta->annotations, STR(ADVICE_ANNOTATION));
    if (by)
        out->silenced = bits_of_list(by->value);
    out->has_silenced = true;
    return (run->silenced | out->silenced) & bit_of(str_of(code));
}

void advice_add(const struct advice *run, const struct api_object *o, struct advice_note note,
                struct advice_notes *out) {
    if (is_silenced(run, o, note.code, out))
        return;
    out->left_out += out->n >= LIMIT_WARNINGS;
    if (out->left_out > 1)
        return;
    if (out->n == out->cap) {
        size_t cap = out->cap ? out->cap * 2 : 8;
        struct advice_note *grown = arena_array(out->a, struct advice_note, cap);
        for (size_t i = 0; i < out->n; i++)
            grown[i] = out->v[i];
        out->v = grown;
        out->cap = cap;
    }
    out->v[out->n++] = note;
}

/* The first note without room stands for all of them. */
static void note_left_out(struct advice_notes *out) {
    if (out->left_out)
        out->v[out->n - 1].text = arena_printf(out->a, "%zu further warning%s not listed",
                                               out->left_out, out->left_out == 1 ? " is" : "s are");
}

void advice__say(struct advisor *w, struct str path, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    struct str text =
        w->out->n < LIMIT_WARNINGS ? arena_vprintf(w->out->a, fmt, args) : (struct str){0};
    va_end(args);
    advice_add(w->run, w->o, (struct advice_note){w->row->code, path, text}, w->out);
}

struct str advice__path(struct advisor *w, const char *fmt, ...) {
    if (w->out->left_out)
        return (struct str){0};
    va_list args;
    va_start(args, fmt);
    struct str path = arena_vprintf(w->out->a, fmt, args);
    va_end(args);
    return arena_printf(w->out->a, "%s%.*s", w->spec_path, STR_ARG(path));
}

/* ---- objects ---- */

/* Where the pod spec and the pod's labels are in objects that make pods. */
static const struct {
    enum api_type_id type;
    const char *path;
    size_t spec, labels;
} pods[] = {
#define ROW(t, path, at)                                    \
    {                                                       \
        API_T_##t, path, offsetof(struct api_##t, at spec), \
            offsetof(struct api_##t, at metadata.labels)    \
    }
    ROW(pod, "spec", ),
    ROW(replica_set, "spec.template.spec", spec.template.),
    ROW(deployment, "spec.template.spec", spec.template.),
    ROW(daemon_set, "spec.template.spec", spec.template.),
    ROW(stateful_set, "spec.template.spec", spec.template.),
    ROW(job, "spec.template.spec", spec.template.),
    ROW(cron_job, "spec.jobTemplate.spec.template.spec", spec.job_template.spec.template.),
#undef ROW
};

/* A DaemonSet, a pod of one, or the mirror of a static pod. */
static bool stands_for_node(const struct api_object *o) {
    const struct api_owner_reference_list *owners = &o->meta->owner_references;
    for (size_t i = 0; i < owners->n; i++)
        if (str_is(owners->v[i].kind, "DaemonSet") || str_is(owners->v[i].kind, "Node"))
            return true;
    return o->type == &api_types[API_T_daemon_set];
}

static void find_pod(struct advisor *w) {
    for (size_t i = 0; i < sizeof pods / sizeof *pods; i++) {
        if (w->o->type != &api_types[pods[i].type])
            continue;
        const char *body = w->o->body;
        w->spec = (const void *)(body + pods[i].spec);
        w->labels = (const void *)(body + pods[i].labels);
        w->spec_path = pods[i].path;
        w->of_daemon_set = stands_for_node(w->o);
    }
}

static bool is_for(const struct advice_row *row, const struct advisor *w) {
    switch (row->of) {
    case ADVICE_PODS:
        return w->spec;
    case ADVICE_NODES:
        return w->o->type == &api_types[API_T_node];
    case ADVICE_DEPLOYMENTS:
        return w->o->type == &api_types[API_T_deployment];
    case ADVICE_ANY:
        break;
    }
    return true;
}

static void check_all(struct advice *run, const struct api_object *o, struct advice_notes *out) {
    struct advisor w = {.run = run, .o = o, .out = out};
    find_pod(&w);
    for (w.row = advice_rows; w.row->code; w.row++)
        if (w.row->check && is_for(w.row, &w) && !is_silenced(run, o, w.row->code, out))
            w.row->check(&w);
    learn(run, o);
}

void advice_check(struct advice *run, const struct api_object *o, struct advice_notes *out) {
    if (o->kind && o->meta)
        check_all(run, o, out);
    note_left_out(out);
}

/* ---- the table ---- */

const struct advice_row advice_rows[] = {
    {"affinity-never-matches", "A node affinity requirement that no node can satisfy", ADVICE_PODS,
     advice__affinity_never_matches},
    {"anti-affinity-rollout", "Required anti-affinity that can block a rolling update",
     ADVICE_DEPLOYMENTS, advice__anti_affinity_rollout},
    {"build-metadata", "Build metadata in a version, which no comparison looks at", ADVICE_PODS,
     advice__build_metadata},
    {"cel-strict-semver", "semver() in an expression is strict, and its failure is silent",
     ADVICE_PODS, advice__cel_strict_semver},
    {"comparison-seconds", "tolerationSeconds limits a comparison that holds", ADVICE_PODS,
     advice__comparison_seconds},
    {"default-eviction", "A toleration that suppresses the default eviction of 300 seconds",
     ADVICE_PODS, advice__default_eviction},
    {"duplicate-field", "A field that stands twice in an object", ADVICE_ANY, NULL},
    {"expression-boundary", "isGreaterThan in an expression does not match the version itself",
     ADVICE_PODS, advice__expression_boundary},
    {"kernel-version", "Kernel versions do not compare as release versions", ADVICE_PODS,
     advice__kernel_version},
    {"label-key-missing", "matchLabelKeys names a label that the pod does not have", ADVICE_PODS,
     advice__label_key_missing},
    {"label-not-a-version", "A label of a node that a version operator of the pod cannot read",
     ADVICE_PODS, advice__label_not_a_version},
    {"needless-expression", "An expression that plain tolerations can say", ADVICE_PODS,
     advice__needless_expression},
    {"number-not-canonical", "A number on a taint that Lt and Gt cannot read", ADVICE_NODES,
     advice__number_not_canonical},
    {"prerelease-admitted", "SemverGt X.Y.99 lets pre-releases of the next version in", ADVICE_PODS,
     advice__prerelease_admitted},
    {"priority-class-unknown", "A priority class that was not read", ADVICE_PODS,
     advice__priority_class_unknown},
    {"threshold-boundary", "Lt and Gt do not match the threshold itself", ADVICE_PODS,
     advice__threshold_boundary},
    {"threshold-direction",
     "A threshold that matches no taint seen, and would in the other "
     "direction",
     ADVICE_PODS, advice__threshold_direction},
    {"threshold-never", "A threshold that no taint can pass", ADVICE_PODS, advice__threshold_never},
    {"threshold-union", "Two thresholds that together match everything", ADVICE_PODS,
     advice__threshold_union},
    {"toleration-does-not-attract", "A toleration lets a pod onto nodes, and draws it to none",
     ADVICE_PODS, advice__does_not_attract},
    {"unknown-field", "A field that the API does not know", ADVICE_ANY, NULL},
    {"vendor-suffix", "A vendor suffix makes a version a pre-release", ADVICE_ANY,
     advice__vendor_suffix},
    {"version-not-parsed", "A version on a taint that the Semver operators cannot read",
     ADVICE_NODES, advice__version_not_parsed},
    {0},
};
