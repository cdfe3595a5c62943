/*
 * Conditions of a namespace that goes.
 *
 * Follows k8s.io/kubernetes pkg/controller/namespace/deletion, func updateConditions.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "base/limits.h"
#include "manager/namespace_deletion_int.h"
#include "manager/pods_int.h"

void namespace__add(struct arena *a, struct namespace__texts *texts, struct str text, size_t n) {
    struct namespace__text *t = arena_new(a, struct namespace__text);
    *t = (struct namespace__text){arena_str(a, text), n, texts->first};
    texts->first = t;
    texts->n++;
}

void namespace__add_finalizers(struct arena *a, struct namespace__content *content,
                               const struct api_object *o) {
    for (size_t i = 0; i < o->meta->finalizers.n; i++)
        namespace__add(a, &content->finalizers, o->meta->finalizers.v[i], 1);
}

/* ---- texts ---- */

static int by_text(const void *x, const void *y) {
    return str_cmp((*(const struct namespace__text *const *)x)->text,
                   (*(const struct namespace__text *const *)y)->text);
}

/* The same, each text once. */
static struct namespace__texts merge(struct arena *a, const struct namespace__texts *all) {
    const struct namespace__text **list = arena_array(a, const struct namespace__text *, all->n);
    struct namespace__texts out = {0};
    size_t n = 0;
    for (const struct namespace__text *t = all->first; t; t = t->next)
        list[n++] = t;
    if (n)
        qsort(list, n, sizeof *list, by_text);
    for (size_t i = 0; i < n; i++) {
        if (out.first && str_eq(out.first->text, list[i]->text))
            out.first->n += list[i]->n;
        else
            namespace__add(a, &out, list[i]->text, list[i]->n);
    }
    return out;
}

/* All of them in order behind a head, each as `word` has it. */
static struct str join(struct arena *a, struct str head, const struct namespace__texts *texts,
                       struct str (*word)(struct arena *a, const struct namespace__text *t)) {
    AUTO(buf_release) struct buf out = BUF_INIT(LIMIT_MESSAGE_BYTES);
    struct str *words = arena_array(a, struct str, texts->n);
    size_t n = 0;
    for (const struct namespace__text *t = texts->first; t; t = t->next)
        words[n++] = word(a, t);
    qsort(words, n, sizeof *words, str_cmp_qsort);
    buf_add(&out, head);
    for (size_t i = 0; i < n; i++)
        buf_addf(&out, "%s%.*s", i ? ", " : "", STR_ARG(words[i]));
    return arena_str(a, buf_view(&out));
}

static struct str instances(struct arena *a, const struct namespace__text *t) {
    return arena_printf(a, "%.*s has %zu resource instances", STR_ARG(t->text), t->n);
}

static struct str occurrences(struct arena *a, const struct namespace__text *t) {
    return arena_printf(a, "%.*s in %zu resource instances", STR_ARG(t->text), t->n);
}

static struct str itself(struct arena *a, const struct namespace__text *t) {
    (void)a;
    return t->text;
}

static struct str remaining_text(struct arena *a, const struct namespace__content *c) {
    return join(a, STR("Some resources are remaining: "), &c->resources, instances);
}

static struct str finalizers_text(struct arena *a, const struct namespace__content *c) {
    struct namespace__texts each = merge(a, &c->finalizers);
    return join(a, STR("Some content in the namespace has finalizers remaining: "), &each,
                occurrences);
}

static struct str errors_text(struct arena *a, const struct namespace__content *c) {
    return join(
        a, arena_printf(a, "Failed to delete all resource types, %zu remaining: ", c->errors.n),
        &c->errors, itself);
}

/* ---- conditions ---- */

/* All of them, in upstream's order, with what is said when nothing is wrong. The first two tell of
 * discovery, which cannot fail here: the kinds are known. */
static const struct kind {
    const char *type, *good_reason, *good_message, *bad_reason;
    struct str (*message)(struct arena *a, const struct namespace__content *c);
} kinds[] = {
    {"NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered",
     "All resources successfully discovered", NULL, NULL},
    {"NamespaceDeletionGroupVersionParsingFailure", "ParsedGroupVersions",
     "All legacy kube types successfully parsed", NULL, NULL},
    {"NamespaceDeletionContentFailure", "ContentDeleted",
     "All content successfully deleted, may be waiting on finalization", "ContentDeletionFailed",
     errors_text},
    {"NamespaceContentRemaining", "ContentRemoved", "All content successfully removed",
     "SomeResourcesRemain", remaining_text},
    {"NamespaceFinalizersRemaining", "ContentHasNoFinalizers",
     "All content-preserving finalizers finished", "SomeFinalizersRemain", finalizers_text},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

static void count_bad(const struct namespace__content *c, bool totals, size_t out[KINDS]) {
    out[2] = c->errors.n;
    out[3] = totals ? c->resources.n : 0;
    out[4] = totals ? c->finalizers.n : 0;
}

static struct api_namespace_condition condition_of(struct arena *a, const struct kind *k,
                                                   const struct namespace__content *c, bool bad,
                                                   int64_t now) {
    return (struct api_namespace_condition){
        .type = str_of(k->type),
        .status = bad ? STR("True") : STR("False"),
        .last_transition_time = manager__time(now),
        .reason = str_of(bad ? k->bad_reason : k->good_reason),
        .message = bad ? k->message(a, c) : str_of(k->good_message),
    };
}

static struct api_namespace_condition *find(struct api_namespace_condition_list *list,
                                            const char *type) {
    for (size_t i = 0; i < list->n; i++)
        if (str_is(list->v[i].type, type))
            return &list->v[i];
    return NULL;
}

static bool put(struct api_namespace_condition_list *list, struct api_namespace_condition c,
                const char *type) {
    struct api_namespace_condition *old = find(list, type);
    if (!old) {
        list->v[list->n++] = c;
        return true;
    }
    if (str_eq(old->status, c.status) && str_eq(old->message, c.message) &&
        str_eq(old->reason, c.reason))
        return false;
    if (str_eq(old->status, c.status))
        c.last_transition_time = old->last_transition_time;
    *old = c;
    return true;
}

bool namespace__conditions(struct arena *a, const struct namespace__content *content, bool totals,
                           int64_t now, struct api_namespace_status *status) {
    struct api_namespace_condition_list list = {
        arena_array(a, struct api_namespace_condition, status->conditions.n + KINDS), 0};
    size_t bad[KINDS] = {0};
    bool changed = false;
    for (size_t i = 0; i < status->conditions.n; i++)
        list.v[list.n++] = status->conditions.v[i];
    count_bad(content, totals, bad);
    for (size_t i = 0; i < KINDS; i++)
        changed =
            put(&list, condition_of(a, &kinds[i], content, bad[i], now), kinds[i].type) || changed;
    status->conditions = list;
    return changed;
}
