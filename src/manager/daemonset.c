/*
 * DaemonSets: looks at one with its pods, its revisions and the nodes, and carries out what is
 * planned.
 *
 * Follows k8s.io/kubernetes pkg/controller/daemon, func (*DaemonSetsController) syncDaemonSet.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/map.h"
#include "controller/controller.h"
#include "manager/daemonset_int.h"
#include "manager/pod_control_int.h"
#include "manager/pods_int.h"
#include "manager/revision_int.h"
#include "match/match.h"
#include "valid/valid.h"

/* Pods that failed are replaced after this, doubled each time. */
#define FIRST_BACKOFF CLOCK_SECOND
#define MOST_BACKOFF  (15 * 60 * CLOCK_SECOND)

/* A node, compiled for matching. */
struct place {
    struct controller_node node;
    struct match_node *labels;
    struct match_taints *taints;
    char name[];
};

/* How long the replacement of pods on a node waits. */
struct backoff {
    int64_t delay, since;
    char key[];
};

struct daemonsets {
    struct manager__base base; /* keys: DaemonSets */
    struct informer *pods, *revisions;
    struct map places;   /* by name */
    struct map backoffs; /* by uid, generation and node */
};

/* One piece of work, in its arena. */
struct sync {
    struct daemonsets *c;
    struct work *work;
    struct manager__pods pods;
    struct str hash, generation_label;
    int64_t generation, observed;
    struct daemonset__plan plan;
    struct str *removed; /* names of pods; their objects may be gone when it is their turn */
    bool are_made;       /* pods are being deleted now */
    bool writes_status;
    struct api_daemon_set_status status; /* its figures */
};

/* The object that is worked on as it is now, or NULL when it is gone. */
static const struct api_object *current(const struct sync *s) {
    return manager__current(s->c, &s->pods.subject);
}

/* ---- nodes ---- */

static void place_free(struct place *p) {
    match_unref(&p->taints->list);
    match_node_free(p->labels);
    free(p);
}

static void forget_place(struct daemonsets *c, struct str name) {
    struct place *p = map_del(&c->places, name);
    if (p)
        place_free(p);
}

static void add_place(struct daemonsets *c, const struct api_object *o) {
    const struct api_node *node = o->body;
    struct str name = o->meta->name;
    struct place *p = xcalloc(1, sizeof *p + name.n + 1);
    memcpy(p->name, name.p, name.n);
    p->labels = match_node_new(c->base.manager->match, name, &o->meta->labels);
    p->taints = match_taints_get(c->base.manager->match, &node->spec.taints);
    match_ref(&p->taints->list);
    p->node = (struct controller_node){{p->name, name.n}, p->labels, p->taints};
    map_put(&c->places, p->node.name, p);
}

static void enqueue_all(struct daemonsets *c) {
    size_t n;
    const struct api_object *const *all =
        informer_find(c->base.informer, INFORMER_ALL, STR(""), &n);
    for (size_t i = 0; i < n; i++)
        workqueue_add_object(c->base.queue, all[i]);
}

static void node_set(void *arg, const struct api_object *old, const struct api_object *o) {
    struct daemonsets *c = arg;
    const struct api_node *a = old ? old->body : NULL, *b = o->body;
    if (a && labels_equal(&old->meta->labels, &o->meta->labels) &&
        valid_equal_lists(API_T_taint, &a->spec.taints, &b->spec.taints))
        return;
    forget_place(c, o->meta->name);
    add_place(c, o);
    enqueue_all(c);
}

static void node_deleted(void *arg, const struct api_object *last) {
    struct daemonsets *c = arg;
    forget_place(c, last->meta->name);
    enqueue_all(c);
}

/* ---- pods that failed ---- */

static void forget_backoffs(struct daemonsets *c, int64_t now) {
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&c->backoffs, &at));) {
        struct backoff *b = e->value;
        if (now - b->since <= 2 * MOST_BACKOFF)
            continue;
        map_del(&c->backoffs, e->key);
        free(b);
    }
}

static struct backoff *backoff_of(struct daemonsets *c, struct str key, int64_t now) {
    struct backoff *b = map_get(&c->backoffs, key);
    if (b)
        return b;
    forget_backoffs(c, now);
    b = xcalloc(1, sizeof *b + key.n + 1);
    memcpy(b->key, key.p, key.n);
    map_put(&c->backoffs, (struct str){b->key, key.n}, b);
    return b;
}

static bool may_replace(void *arg, struct str node) {
    struct sync *s = arg;
    int64_t now = manager__now(s->c->base.manager);
    struct str key =
        arena_printf(work_arena(s->work), "%.*s/%lld/%.*s", STR_ARG(s->pods.subject.uid),
                     (long long)s->observed, STR_ARG(node));
    struct backoff *b = backoff_of(s->c, key, now);
    if (b->delay && now - b->since < b->delay) {
        work_again_after(s->work, b->delay);
        return false;
    }
    bool is_fresh = !b->delay || now - b->since > 2 * MOST_BACKOFF;
    b->delay = is_fresh ? FIRST_BACKOFF : 2 * b->delay;
    if (b->delay > MOST_BACKOFF)
        b->delay = MOST_BACKOFF;
    b->since = now;
    return true;
}

static void tell_ended(struct sync *s) {
    for (size_t i = 0; i < s->plan.ended.n; i++) {
        const struct api_object *pod = s->plan.ended.v[i];
        bool failed = str_is(((const struct api_pod *)pod->body)->status.phase, "Failed");
        struct str node = daemonset__target(pod);
        events_say_of(s->c->base.events, &s->pods.subject, failed ? EVENTS_WARNING : EVENTS_NORMAL,
                      failed ? "FailedDaemonPod" : "SucceededDaemonPod",
                      "Found %s daemon pod %.*s/%.*s on node %.*s, will try to %s it",
                      failed ? "failed" : "succeeded", STR_ARG(pod->meta->namespace),
                      STR_ARG(pod->meta->name), STR_ARG(node), failed ? "kill" : "delete");
    }
}

/* ---- carrying out ---- */

static void send_status(struct sync *s, const struct api_object *o) {
    struct api_object *draft = api_object_derive(o);
    struct api_daemon_set_status *status = &((struct api_daemon_set *)api_own_body(draft))->status;
    struct api_daemon_set_status figures = s->status;
    figures.collision_count = status->collision_count;
    figures.conditions = status->conditions;
    *status = figures;
    work_update(s->work, draft, "status", NULL, NULL);
}

static void finish(struct sync *s) {
    const struct api_object *o = current(s);
    if (!o)
        return;
    int32_t seconds = ((const struct api_daemon_set *)o->body)->spec.min_ready_seconds;
    if (s->writes_status)
        send_status(s, o);
    if (s->pods.failure.reason)
        work_fail(s->work, "%.*s", STR_ARG(s->pods.failure.message));
    else if (seconds > 0 && s->status.number_ready != s->status.number_available)
        work_again_after(s->work, seconds * CLOCK_SECOND);
}

/* An affinity for the node of this name, whatever else the template asks for. */
static void aim_at(struct arena *a, struct api_pod_spec *spec, struct str node) {
    struct api_node_selector_requirement *field =
        arena_new(a, struct api_node_selector_requirement);
    struct api_node_selector_term *term = arena_new(a, struct api_node_selector_term);
    struct str *name = arena_new(a, struct str);
    *name = arena_str(a, node);
    *field = (struct api_node_selector_requirement){
        .key = STR("metadata.name"), .operator= STR("In"), .values = {name, 1}};
    term->match_fields = (struct api_node_selector_requirement_list){field, 1};
    if (!spec->affinity)
        spec->affinity = arena_new(a, struct api_affinity);
    if (!spec->affinity->node_affinity)
        spec->affinity->node_affinity = arena_new(a, struct api_node_affinity);
    spec->affinity->node_affinity->required = arena_new(a, struct api_node_selector);
    spec->affinity->node_affinity->required->node_selector_terms =
        (struct api_node_selector_term_list){term, 1};
}

static struct api_object *make(void *arg, size_t place) {
    struct sync *s = arg;
    const struct api_object *o = current(s);
    struct api_toleration_list tolerations;
    if (!o)
        return NULL;
    const struct api_daemon_set *set = o->body;
    struct api_object *made = controller_pod_new(o, &set->spec.template, STR(""));
    struct api_pod *pod = api_own_body(made);
    struct arena *a = &made->arena;
    pod->metadata.generate_name = manager__pod_prefix(a, o->meta->name);
    if (s->generation_label.n)
        labels_put(
            a, &pod->metadata.labels,
            (struct label){STR("pod-template-generation"), arena_str(a, s->generation_label)});
    labels_put(a, &pod->metadata.labels, (struct label){STR(REVISION_HASH), arena_str(a, s->hash)});
    controller_daemon_tolerations(a, &pod->spec, &tolerations);
    pod->spec.tolerations = tolerations;
    aim_at(a, &pod->spec, s->plan.make[place]);
    return made;
}

/* First pods are made, then others deleted, then it is told. */
static void pods_done(void *arg) {
    struct sync *s = arg;
    if (s->are_made) {
        finish(s);
        return;
    }
    s->are_made = true;
    manager__pods_delete(&s->pods, s->removed, s->plan.remove.n);
}

static void carry_out(struct sync *s) {
    tell_ended(s);
    s->removed = manager__pod_names(work_arena(s->work), s->plan.remove.v, s->plan.remove.n);
    manager__pods_create(&s->pods, s->plan.make_count);
}

/* ---- revisions ---- */

static void send_revision_update(struct sync *s, const struct revisions *r) {
    struct api_object *draft = api_object_derive(r->current);
    ((struct api_controller_revision *)api_own_body(draft))->revision = r->next;
    work_update(s->work, draft, NULL, NULL, NULL);
}

/* The name is taken by the revision of another template, or of another owner. */
static void name_is_taken(struct sync *s, const struct api_object *o) {
    struct api_object *draft = api_object_derive(o);
    struct api_opt_i32 *count =
        &((struct api_daemon_set *)api_own_body(draft))->status.collision_count;
    *count = (struct api_opt_i32){true, count->v + 1};
    work_update(s->work, draft, "status", NULL, NULL);
}

static void revision_created(void *arg, struct work *w, const struct client_answer *answer) {
    struct sync *s = arg;
    const struct api_object *o = current(s);
    if (!answer->code) { /* with it the rest follows */
        work_again_after(w, 0);
        return;
    }
    if (answer->code == ERR_EXISTS && o)
        name_is_taken(s, o);
    work_fail_by(w, answer);
}

static void create_revision(struct sync *s, const struct api_object *o, int64_t number) {
    const struct api_daemon_set *set = o->body;
    struct api_opt_i32 collisions = set->status.collision_count;
    struct str hash = controller_template_hash(work_arena(s->work), &set->spec.template,
                                               collisions.set ? &collisions.v : NULL);
    struct api_object *draft =
        revision__new(o, &set->spec.template, (struct label){STR(REVISION_HASH), hash}, number);
    work_create(s->work, draft, revision_created, s);
}

static void delete_revision(struct sync *s, const struct api_object *revision) {
    work_delete(s->work, revision, NULL, NULL, NULL);
}

/* Of several revisions of one template one is kept; pods of the others become its pods first. */
static void join_revisions(struct sync *s, const struct revisions *r,
                           const struct manager__objects *pods) {
    struct str hash = revision__hash(r->current);
    struct str patch =
        arena_printf(work_arena(s->work),
                     "{\"metadata\":{\"labels\":{\"" REVISION_HASH "\":\"%.*s\"}}}", STR_ARG(hash));
    bool any = false;
    for (size_t i = 0; i < pods->n; i++) {
        if (str_eq(revision__hash(pods->v[i]), hash))
            continue;
        any = true;
        work_patch(s->work, pods->v[i], &(struct work_patch){CLIENT_PATCH_MERGE, NULL, patch}, NULL,
                   NULL);
    }
    for (size_t i = 0; !any && i < r->same.n; i++)
        delete_revision(s, r->same.v[i]);
    work_go_on(s->work);
}

/* Old revisions that no pod has go, but for as many as are to be kept. */
static void clean_up(struct sync *s, const struct api_daemon_set *set, const struct revisions *r,
                     const struct manager__objects *pods) {
    struct api_opt_i32 limit = set->spec.revision_history_limit;
    int64_t surplus = (int64_t)r->old.n - (limit.set ? limit.v : 10);
    struct revisions_used used = revision__used(work_arena(s->work), pods);
    for (size_t i = 0; i < r->old.n && surplus > 0; i++) {
        if (revision__is_used(&used, revision__hash(r->old.v[i])))
            continue;
        delete_revision(s, r->old.v[i]);
        surplus--;
    }
}

/* Makes the revisions right; false: that was sent, and the rest waits for it. */
static bool revisions_are_right(struct sync *s, const struct api_object *o,
                                const struct revisions *r, const struct manager__objects *pods) {
    if (!r->current)
        create_revision(s, o, r->next);
    else if (r->same.n)
        join_revisions(s, r, pods);
    else if (((const struct api_controller_revision *)r->current->body)->revision < r->next)
        send_revision_update(s, r);
    else
        return true;
    return false;
}

/* ---- looking ---- */

/* The node of this name in the view; one that is not there is added. */
static struct daemonset__node *node_of(struct daemonset__view *v, struct map *index,
                                       struct str name) {
    struct daemonset__node *node = map_get(index, name);
    if (node)
        return node;
    node = &v->nodes[v->n++];
    node->name = arena_str(v->arena, name);
    map_put(index, node->name, node);
    return node;
}

static void add_nodes(struct sync *s, struct daemonset__view *v, struct map *index) {
    struct controller_daemon *daemon =
        controller_daemon_new(s->c->base.manager->match, &v->body->spec.template.spec);
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&s->c->places, &at));) {
        const struct place *p = e->value;
        struct controller_daemon_verdict verdict = controller_daemon_check(daemon, &p->node);
        struct daemonset__node *node = node_of(v, index, p->node.name);
        node->is_there = true;
        node->should_run = verdict.should_run;
        node->should_continue = verdict.should_continue;
    }
    controller_daemon_free(daemon);
}

/* First all are counted, then filed. */
static void add_pods(struct daemonset__view *v, struct map *index,
                     const struct manager__objects *pods) {
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < pods->n; i++) {
            const struct api_object *pod = pods->v[i];
            struct str name = daemonset__target(pod);
            if (!name.n || (api_pod_has_ended(pod->body) && pod->meta->deletion_timestamp.set))
                continue;
            struct daemonset__node *node = node_of(v, index, name);
            if (pass && !node->pods.v)
                node->pods = (struct manager__objects){
                    arena_array(v->arena, const struct api_object *, node->pods.n), 0};
            if (pass)
                node->pods.v[node->pods.n] = pod;
            node->pods.n++;
        }
}

static void look(struct sync *s, const struct api_object *o, const struct manager__objects *pods) {
    struct arena *a = work_arena(s->work);
    const struct label *generation =
        labels_find(&o->meta->annotations, STR("deprecated.daemonset.template.generation"));
    s->generation_label = generation ? arena_str(a, generation->value) : (struct str){0};
    struct daemonset__view v = {
        .arena = a,
        .body = o->body,
        .hash = s->hash,
        .generation = s->generation_label,
        .now = manager__now(s->c->base.manager),
        .nodes = arena_array(a, struct daemonset__node, s->c->places.live + pods->n),
        .may_replace = may_replace,
        .arg = s,
    };
    AUTO(map_release) struct map index = MAP_INIT(s->c->base.manager->seed);
    add_nodes(s, &v, &index);
    add_pods(&v, &index, pods);
    s->writes_status = daemonset__status(&v, s->generation, &s->status);
    daemonset__manage(&v, &s->plan);
    if (!s->plan.make_count && !s->plan.remove.n)
        daemonset__roll(&v, &s->plan);
}

static struct sync *sync_new(struct daemonsets *c, struct work *work, const struct api_object *o) {
    struct sync *s = arena_new(work_arena(work), struct sync);
    s->c = c;
    s->work = work;
    s->generation = o->meta->generation;
    s->observed = ((const struct api_daemon_set *)o->body)->status.observed_generation;
    s->pods = (struct manager__pods){
        .manager = c->base.manager,
        .work = work,
        .events = c->base.events,
        .subject = manager__subject(work, o),
        .make = make,
        .done = pods_done,
        .arg = s,
    };
    return s;
}

static void sync(void *self, struct work *work, const struct api_object *o) {
    struct daemonsets *c = self;
    struct arena *a = work_arena(work);
    struct manager__objects pods, all;
    struct revisions r;
    if (o->meta->deletion_timestamp.set)
        return;
    const struct api_daemon_set *set = o->body;
    struct manager__claim claim = {.manager = c->base.manager,
                                   .work = work,
                                   .owner = o,
                                   .members = c->pods,
                                   .kind = client_kind(API_T_pod),
                                   .selector = manager__selector(c, o)};
    if (!manager__claim(&claim, &pods))
        return;
    claim.members = c->revisions;
    claim.kind = client_kind(API_T_controller_revision);
    if (!manager__claim(&claim, &all))
        return;
    struct sync *s = sync_new(c, work, o);
    struct json data = revision__data(a, &set->spec.template);
    revision__sort(a, &all, &data, &r);
    if (!revisions_are_right(s, o, &r, &pods))
        return;
    s->hash = arena_str(a, revision__hash(r.current));
    look(s, o, &pods);
    clean_up(s, set, &r, &pods);
    carry_out(s);
}

/* ---- beginning and end ---- */

static const struct api_label_selector *selector_of(struct arena *a, const struct api_object *o) {
    (void)a;
    return ((const struct api_daemon_set *)o->body)->spec.selector;
}

/* That somebody has made a revision of a DaemonSet is no reason to look at that.
 *
 * Follows k8s.io/kubernetes pkg/controller/daemon, func (*DaemonSetsController) addHistory. */
static void revision_set(void *self, const struct api_object *old, const struct api_object *o) {
    if (old || !api_object_controller(o))
        manager__member_set(self, old, o);
}

static void begin(void *self) {
    struct daemonsets *c = self;
    c->places = c->backoffs = MAP_INIT(c->base.manager->seed);
}

static void end(void *self) {
    struct daemonsets *c = self;
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&c->places, &at));)
        place_free(e->value);
    at = 0;
    for (struct map_entry *e; (e = map_next(&c->backoffs, &at));)
        free(e->value);
    map_release(&c->places);
    map_release(&c->backoffs);
}

const struct manager__controller manager__daemonset = {
    .size = sizeof(struct daemonsets),
    .component = "daemonset-controller",
    .queues = {{"daemonset", sync, .names = API_T_daemon_set, .workers = 2}},
    .kinds = {{API_T_daemon_set, .set = manager__add_set, .deleted = manager__add_deleted},
              {API_T_pod, .at = offsetof(struct daemonsets, pods), .set = manager__member_set,
               .deleted = manager__member_deleted},
              {API_T_controller_revision, .at = offsetof(struct daemonsets, revisions),
               .set = revision_set, .deleted = manager__member_deleted},
              {API_T_node, .set = node_set, .deleted = node_deleted}},
    .selector = selector_of,
    .begin = begin,
    .end = end,
};
