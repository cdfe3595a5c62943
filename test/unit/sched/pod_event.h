/* For tests of hints: what the core would tell of a pod's change, from the objects alone. */
#ifndef TEST_SCHED_POD_EVENT_H
#define TEST_SCHED_POD_EVENT_H

#include "sched/queue/queue_int.h"

/* A pod with a class of its own. */
struct card {
    struct sched_pod pod;
    struct sched__pod_class cls;
};

static inline bool is_on_node(const struct api_object *o) {
    const struct api_pod *pod = o && o->type == &api_types[API_T_pod] ? o->body : NULL;
    return pod && pod->spec.node_name.n && !str_is(pod->status.phase, "Succeeded") &&
           !str_is(pod->status.phase, "Failed");
}

/* NULL: there is no such pod. Give it back with card_end. */
static inline struct sched_pod *card_start(struct card *c, struct sched *s,
                                           const struct api_object *o) {
    *c = (struct card){0};
    if (!o)
        return NULL;
    c->cls.sample = o;
    c->cls.pod = o->body;
    c->pod.cls = &c->cls;
    c->pod.node = is_on_node(o) ? 0 : SCHED__NONE;
    sched__pod_read(s, &c->pod, o);
    return &c->pod;
}

static inline void card_end(struct card *c) {
    intern_unref(c->pod.nominated_node_name);
}

static inline uint32_t placed_bits(struct sched *s, const struct sched_pod *before,
                                   const struct sched_pod *after) {
    bool was = before && before->node != SCHED__NONE, is = after && after->node != SCHED__NONE;
    if (is)
        return sched__pod_bits(s, was ? before : NULL, after);
    return was ? SCHED__ASSIGNED_POD_DELETE : 0;
}

/* A change of a pod; own: of the one that waits. */
static inline struct sched__event pod_event(struct sched *s, const struct api_object *before,
                                            const struct api_object *after, bool own) {
    struct card cards[2];
    struct sched_pod *was = card_start(&cards[0], s, before);
    struct sched_pod *is = card_start(&cards[1], s, after);
    struct sched__event event = {.bits =
                                     own ? sched__own_bits(s, was, is) : placed_bits(s, was, is),
                                 .before = before,
                                 .after = after,
                                 .own = own,
                                 .had_node = was && sched__pod_has_node(was),
                                 .has_node = is && sched__pod_has_node(is)};
    card_end(&cards[0]);
    card_end(&cards[1]);
    return event;
}

#endif
