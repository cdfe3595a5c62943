/*
 * Terms that say which pods are meant: namespaces, and a selector of labels.
 *
 * Follows k8s.io/kube-scheduler framework, func (*AffinityTerm) Matches.
 */
#include <stdlib.h>
#include <string.h>

#include "api/types.h"
#include "sched/topology/count_int.h"

/* ---- compiling ---- */

/* Neither namespaces nor a selector for them: the pod's own. */
static void compile_namespaces(struct arena *a, struct str ns,
                               const struct api_pod_affinity_term *spec,
                               struct sched__podterm *out) {
    bool own = spec->namespaces.n == 0 && !spec->namespace_selector;
    size_t n = own ? 1 : spec->namespaces.n;
    struct str *names = arena_array(a, struct str, n);
    if (own)
        names[0] = ns;
    else if (n)
        memcpy(names, spec->namespaces.v, n * sizeof *names);
    qsort(names, n, sizeof *names, str_cmp_qsort);
    out->namespaces = names;
    out->namespace_count = n;
}

int sched__podterm_compile(struct arena *a, struct str ns, const struct api_pod_affinity_term *spec,
                           struct sched__podterm *out, struct err *err) {
    *out = (struct sched__podterm){0};
    struct selector *selector, *namespaces;
    int failed = selector_compile(a, spec->label_selector, &selector, err);
    out->selector = selector;
    if (failed)
        return failed;
    failed = selector_compile(a, spec->namespace_selector, &namespaces, err);
    out->everywhere = !failed && namespaces && !namespaces->n;
    out->namespace_selector = namespaces;
    compile_namespaces(a, ns, spec, out);
    return failed;
}

/* ---- matching ---- */

static bool lists_namespace(const struct sched__podterm *t, struct str ns) {
    for (size_t i = 0; i < t->namespace_count; i++)
        if (str_eq(t->namespaces[i], ns))
            return true;
    return false;
}

bool sched__podterm_matches(const struct sched__podterm *t, const struct api_object_meta *pod,
                            const struct labels *namespace_labels) {
    if (!t->everywhere && !lists_namespace(t, pod->namespace) &&
        !(namespace_labels && selector_matches(t->namespace_selector, namespace_labels)))
        return false;
    return selector_matches(t->selector, &pod->labels);
}

const struct labels *sched__namespace_labels(struct sched *s, struct str ns) {
    const struct api_object *o = sched__store_find(s, &s->store.namespaces, (struct str){0}, ns);
    return o ? &o->meta->labels : NULL;
}

/* ---- copies and keys ---- */

static const struct str *copy_strs(struct arena *a, const struct str *v, size_t n) {
    struct str *copy = arena_array(a, struct str, n);
    for (size_t i = 0; i < n; i++)
        copy[i] = arena_str(a, v[i]);
    return copy;
}

static const struct selector *copy_selector(struct arena *a, const struct selector *sel) {
    if (!sel)
        return NULL;
    struct selector *copy = arena_copy(a, sel, sizeof *sel);
    copy->arena = a;
    copy->path = (struct str){0};
    copy->error = arena_str(a, sel->error);
    copy->reqs = arena_copy(a, sel->reqs, sel->n * sizeof *sel->reqs);
    for (size_t i = 0; i < sel->n; i++) {
        copy->reqs[i].key = arena_str(a, sel->reqs[i].key);
        copy->reqs[i].values = copy_strs(a, sel->reqs[i].values, sel->reqs[i].value_count);
    }
    return copy;
}

struct sched__podterm sched__podterm_copy(struct arena *a, const struct sched__podterm *t) {
    struct sched__podterm copy = *t;
    copy.namespaces = copy_strs(a, t->namespaces, t->namespace_count);
    copy.selector = copy_selector(a, t->selector);
    copy.namespace_selector = copy_selector(a, t->namespace_selector);
    return copy;
}

bool sched__req_excludes(const struct selector_req *r) {
    return r->op == SELECTOR_NOT_IN || r->op == SELECTOR_NOT_EQUALS ||
           r->op == SELECTOR_DOES_NOT_EXIST;
}

struct sched__podterm sched__podterm_base(struct arena *a, const struct sched__podterm *t) {
    struct sched__podterm base = *t;
    struct selector *sel = arena_copy(a, t->selector, sizeof *sel);
    sel->reqs = arena_array(a, struct selector_req, sel->n);
    sel->n = 0;
    for (size_t i = 0; i < t->selector->n; i++)
        if (!sched__req_excludes(&t->selector->reqs[i]))
            sel->reqs[sel->n++] = t->selector->reqs[i];
    base.selector = sel;
    return base;
}

void sched__key_add(struct buf *out, struct str part) {
    buf_add_u64(out, part.n);
    buf_add_char(out, ':');
    buf_add(out, part);
}

static void add_count(struct buf *out, char mark, size_t n) {
    buf_add_char(out, mark);
    buf_add_u64(out, n);
    buf_add_char(out, ';');
}

/* No selector is not the same as an empty one. */
static void write_selector(struct buf *out, const struct selector *sel) {
    if (!sel) {
        buf_add_char(out, '-');
        return;
    }
    add_count(out, '{', sel->n);
    for (size_t i = 0; i < sel->n; i++) {
        const struct selector_req *r = &sel->reqs[i];
        sched__key_add(out, r->key);
        add_count(out, '#', r->op);
        add_count(out, '(', r->value_count);
        for (size_t k = 0; k < r->value_count; k++)
            sched__key_add(out, r->values[k]);
    }
    sched__key_add(out, sel->error);
}

void sched__podterm_write(struct buf *out, const struct sched__podterm *t) {
    add_count(out, '@', t->namespace_count);
    for (size_t i = 0; i < t->namespace_count; i++)
        sched__key_add(out, t->namespaces[i]);
    write_selector(out, t->namespace_selector);
    write_selector(out, t->selector);
}
