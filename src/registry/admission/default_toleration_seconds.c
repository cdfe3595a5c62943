/*
 * DefaultTolerationSeconds: a pod stays on a node that is in trouble for a while.
 *
 * Follows k8s.io/kubernetes plugin/pkg/admission/defaulttolerationseconds, func (*Plugin) Admit.
 */
#include "registry/admission/admission_int.h"

#define NOT_READY   "node.kubernetes.io/not-ready"
#define UNREACHABLE "node.kubernetes.io/unreachable"

/* What a server does that is not told otherwise. */
enum { DEFAULT_SECONDS = 300 };

/* Operator and value do not matter to upstream. An expression has no key and no effect either, but
 * it does not tolerate everything for that. */
static bool tolerates(const struct api_toleration_list *list, const char *key) {
    for (size_t i = 0; i < list->n; i++) {
        const struct api_toleration *t = &list->v[i];
        if (!t->expression.n && (!t->key.n || str_is(t->key, key)) &&
            (!t->effect.n || str_is(t->effect, "NoExecute")))
            return true;
    }
    return false;
}

static void append(struct arena *a, struct api_toleration_list *list, struct api_toleration t) {
    struct api_toleration *grown = arena_array(a, struct api_toleration, list->n + 1);
    for (size_t i = 0; i < list->n; i++)
        grown[i] = list->v[i];
    grown[list->n] = t;
    *list = (struct api_toleration_list){grown, list->n + 1};
}

static void tolerate(struct api_object *o, const char *key) {
    struct api_toleration_list *list = &((struct api_pod *)api_own_body(o))->spec.tolerations;
    append(&o->arena, list,
           (struct api_toleration){.key = str_of(key),
                                   .operator= STR("Exists"),
                                   .effect = STR("NoExecute"),
                                   .toleration_seconds = {true, DEFAULT_SECONDS}});
}

/* Both questions are about the pod as it came. */
static bool admit(struct registry__admission *m) {
    const struct api_toleration_list *list =
        &((const struct api_pod *)m->o->body)->spec.tolerations;
    bool not_ready = tolerates(list, NOT_READY), unreachable = tolerates(list, UNREACHABLE);
    if (!not_ready)
        tolerate(m->o, NOT_READY);
    if (!unreachable)
        tolerate(m->o, UNREACHABLE);
    return true;
}

const struct registry__admission_plugin registry__default_toleration_seconds = {
    .name = "DefaultTolerationSeconds",
    .mutate = {[REGISTRY_CREATE] = admit, [REGISTRY_UPDATE] = admit},
    .type = API_T_pod,
    .is_offline = true};
