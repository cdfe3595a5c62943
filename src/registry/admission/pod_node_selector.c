/*
 * PodNodeSelector: a namespace says on which nodes its pods run.
 *
 * Follows k8s.io/kubernetes plugin/pkg/admission/podnodeselector, func (*Plugin) Admit,
 * func (*Plugin) Validate, func (*Plugin) getNodeSelectorMap.
 * Follows k8s.io/apimachinery pkg/labels, func ConvertSelectorToLabelsMap.
 */
#include "api/names.h"
#include "registry/admission/admission_int.h"

#define SELECTOR STR("scheduler.alpha.kubernetes.io/node-selector")

/* Breaks off because of a key or a value that breaks rules; the place is what Go prints of one that
 * is not there. */
static bool refuse_name(struct registry__admission *m, struct str place, struct str name,
                        const struct names_errs *errs) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    for (size_t i = 0; i < errs->n; i++) {
        buf_add(&text, i ? STR("; ") : STR(""));
        buf_add(&text, errs->v[i]);
    }
    return registry__break_off(m, "%.*s: Invalid value: %.*s: %.*s", STR_ARG(place),
                               STR_ARG(registry__quote(m->a, name)), STR_ARG(buf_view(&text)));
}

static bool refuse_pair(struct registry__admission *m, struct str pair) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    for (size_t i = 0; i < pair.n; i++)
        buf_add_char(&text, pair.p[i] == '=' ? ' ' : pair.p[i]);
    return registry__break_off(m, "invalid selector: [%.*s]", STR_ARG(buf_view(&text)));
}

/* Adds a label behind the others, whatever their keys are. */
static bool add_pair(struct registry__admission *m, struct str pair, struct labels *out) {
    struct str key, value;
    if (!str_cut(pair, '=', &key, &value) || str_find_char(value, '=') != STR_NONE)
        return refuse_pair(m, pair);
    key = str_trim(key);
    value = str_trim(value);
    struct names_errs errs = names_check_label_key(key);
    if (errs.n)
        return refuse_name(m, STR("<nil>"), key, &errs);
    errs = names_check_label_value(value);
    if (errs.n)
        return refuse_name(m, arena_printf(m->a, "[%.*s]", STR_ARG(key)), value, &errs);
    out->v[out->n++] = (struct label){key, value};
    return true;
}

static size_t count_pairs(struct str text) {
    size_t n = 1;
    for (size_t i = 0; i < text.n; i++)
        n += text.p[i] == ',';
    return n;
}

/* a=b,c=d */
static bool read_selector(struct registry__admission *m, struct str text, struct labels *out) {
    struct str pair, rest = text;
    if (!text.n)
        return true;
    struct labels pairs = {arena_array(m->a, struct label, count_pairs(text)), 0};
    while (str_cut(rest, ',', &pair, &rest))
        if (!add_pair(m, pair, &pairs))
            return false;
    if (!add_pair(m, pair, &pairs))
        return false;
    labels_merge(m->a, out, pairs.v, pairs.n);
    return true;
}

static bool of_namespace(struct registry__admission *m, struct labels *out) {
    struct str name = registry__namespace_of(m);
    const struct api_object *ns =
        registry_view_get(m->registry->view, registry__kind("v1", "Namespace"), STR(""), name);
    *out = (struct labels){0};
    if (!ns) {
        registry__break_off(m, "Internal error occurred: namespace %.*s does not exist",
                            STR_ARG(name));
        m->failure.code = ERR_INTERNAL;
        return false;
    }
    const struct label *l = labels_find(&ns->meta->annotations, SELECTOR);
    return !l || read_selector(m, l->value, out);
}

#define CONFLICT \
    "is forbidden: pod node label selector conflicts with its namespace node label selector"

/* Upstream knows the pod by its name alone here, which may still be to be made. */
static bool refuse_conflict(struct registry__admission *m) {
    struct str name = m->o->meta->name;
    m->failure = registry__refuse(m->a, m->o->kind, name, ERR_FORBIDDEN, STR(CONFLICT));
    if (!name.n)
        m->failure.message = STR("pods " CONFLICT);
    return false;
}

static bool check(struct registry__admission *m, struct labels *wanted) {
    const struct labels *own = &((const struct api_pod *)m->o->body)->spec.node_selector;
    if (!of_namespace(m, wanted))
        return false;
    for (size_t i = 0; i < wanted->n; i++) {
        const struct label *l = labels_find(own, wanted->v[i].key);
        if (l && !str_eq(l->value, wanted->v[i].value))
            return refuse_conflict(m);
    }
    return true;
}

static bool mutate(struct registry__admission *m) {
    struct labels wanted, *own = &((struct api_pod *)api_own_body(m->o))->spec.node_selector;
    struct arena *a = &m->o->arena;
    if (!check(m, &wanted))
        return false;
    wanted = labels_copy(a, &wanted); /* equal to the pod's own ones where it has them */
    labels_merge(a, own, wanted.v, wanted.n);
    return true;
}

static bool validate(struct registry__admission *m) {
    struct labels wanted;
    return check(m, &wanted);
}

const struct registry__admission_plugin registry__pod_node_selector = {
    .name = "PodNodeSelector",
    .mutate = {[REGISTRY_CREATE] = mutate},
    .validate = {[REGISTRY_CREATE] = validate},
    .type = API_T_pod,
    .is_off = true};
