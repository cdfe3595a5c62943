/*
 * StatefulSets: looks at one with its pods, claims and revisions, and carries out what is planned.
 *
 * Follows k8s.io/kubernetes pkg/controller/statefulset, func (*defaultStatefulSetControl)
 * UpdateStatefulSet.
 */
#include "base/clock.h"
#include "base/limits.h"
#include "controller/controller.h"
#include "feature/feature.h"
#include "manager/pod_control_int.h"
#include "manager/pods_int.h"
#include "manager/revision_int.h"
#include "manager/statefulset_int.h"

/* So much later a set is looked at again that waits for a claim to go. */
#define RESYNC (30 * CLOCK_SECOND)

#define HASH_LABEL "controller.kubernetes.io/hash"

struct statefulsets {
    struct manager__base base; /* keys: StatefulSets */
    struct informer *pods, *claims, *revisions;
};

/* One piece of work, in its arena. */
struct sync {
    struct statefulsets *c;
    struct work *work;
    struct events_subject subject;
    struct str current, update; /* names of revisions */
    struct statefulset__plan plan;
    int64_t next_check;
    size_t unanswered; /* writes, and members that are being made */
    size_t begun, batch, in_batch;
    size_t claims; /* that were asked for */
    bool has_failed;
};

/* The object that is worked on as it is now, or NULL when it is gone. */
static const struct api_object *current(const struct sync *s) {
    return manager__current(s->c, &s->subject);
}

static void fail(struct sync *s, struct str why) {
    s->has_failed = true;
    work_fail(s->work, "%.*s", STR_ARG(why));
}

/* ---- the end ---- */

static void send_status(struct sync *s, const struct api_object *o) {
    struct api_object *draft = api_object_derive(o);
    struct api_stateful_set *set = api_own_body(draft);
    struct api_stateful_set_status status = s->plan.status;
    status.conditions = set->status.conditions;
    status.current_revision = arena_str(&draft->arena, status.current_revision);
    status.update_revision = arena_str(&draft->arena, status.update_revision);
    set->status = status;
    work_update(s->work, draft, "status", NULL, NULL);
}

static void end_one(struct sync *s) {
    if (--s->unanswered > 0)
        return;
    const struct api_object *o = current(s);
    if (o && s->plan.writes_status)
        send_status(s, o);
    if (o && s->next_check)
        work_again_after(s->work, s->next_check);
}

/* ---- what is said ---- */

static void tell_pod(struct sync *s, const char *verb, struct str name, struct str why) {
    const char *good = *verb == 'C'   ? "SuccessfulCreate"
                       : *verb == 'U' ? "SuccessfulUpdate"
                                      : "SuccessfulDelete";
    const char *bad = *verb == 'C'   ? "FailedCreate"
                      : *verb == 'U' ? "FailedUpdate"
                                     : "FailedDelete";
    if (!why.p)
        events_say_of(s->c->base.events, &s->subject, EVENTS_NORMAL, good,
                      "%s Pod %.*s in StatefulSet %.*s successful", verb, STR_ARG(name),
                      STR_ARG(s->subject.name));
    else
        events_say_of(s->c->base.events, &s->subject, EVENTS_WARNING, bad,
                      "%s Pod %.*s in StatefulSet %.*s failed error: %.*s", verb, STR_ARG(name),
                      STR_ARG(s->subject.name), STR_ARG(why));
}

static void tell_claim(struct sync *s, struct str claim, struct str pod, struct str why) {
    if (!why.p)
        events_say_of(s->c->base.events, &s->subject, EVENTS_NORMAL, "SuccessfulCreate",
                      "Create Claim %.*s Pod %.*s in StatefulSet %.*s success", STR_ARG(claim),
                      STR_ARG(pod), STR_ARG(s->subject.name));
    else
        events_say_of(s->c->base.events, &s->subject, EVENTS_WARNING, "FailedCreate",
                      "Create Claim %.*s for Pod %.*s in StatefulSet %.*s failed error: %.*s",
                      STR_ARG(claim), STR_ARG(pod), STR_ARG(s->subject.name), STR_ARG(why));
}

/* ---- members with their claims ---- */

/* A member whose claims are made, and then itself if it is not there. */
struct member {
    struct sync *sync;
    struct str name;
    int32_t ordinal;
    bool is_new, is_update;
    size_t claims; /* that are not answered yet */
    struct str failure;
};

struct claim {
    struct member *member;
    struct str name;
};

static void make_batch(struct sync *s);

static void member_done(struct member *m) {
    struct sync *s = m->sync;
    if (m->is_new && --s->in_batch == 0 && !s->has_failed)
        make_batch(s);
    end_one(s);
}

static void pod_created(void *arg, struct work *w, const struct client_answer *answer) {
    struct member *m = arg;
    (void)w;
    if (answer->code) {
        if (answer->code != ERR_EXISTS)
            tell_pod(m->sync, "Create", m->name, answer->message);
        fail(m->sync, answer->message);
    } else {
        tell_pod(m->sync, "Create", m->name, (struct str){0});
    }
    member_done(m);
}

/* Follows k8s.io/kubernetes pkg/controller/statefulset, func newVersionedStatefulSetPod. */
static struct api_object *pod_new(struct member *m, const struct api_object *o,
                                  const struct api_pod_template_spec *template) {
    const struct api_stateful_set *set = o->body;
    struct api_object *made = controller_pod_new(o, template, STR(""));
    struct api_pod *pod = api_own_body(made);
    struct arena *a = &made->arena;
    struct str revision = m->is_update ? m->sync->update : m->sync->current;
    pod->metadata.name = arena_str(a, m->name);
    pod->spec.hostname = pod->metadata.name;
    pod->spec.subdomain = arena_str(a, set->spec.service_name);
    labels_put(a, &pod->metadata.labels,
               (struct label){STR("statefulset.kubernetes.io/pod-name"), pod->metadata.name});
    labels_put(
        a, &pod->metadata.labels,
        (struct label){STR("apps.kubernetes.io/pod-index"), arena_printf(a, "%d", m->ordinal)});
    labels_put(a, &pod->metadata.labels,
               (struct label){STR(REVISION_HASH), arena_str(a, revision)});
    statefulset__set_volumes(made, o, m->ordinal);
    return made;
}

/* The template of the member's revision; NULL: it is not there any more. */
static const struct api_pod_template_spec *template_of(struct member *m,
                                                       const struct api_object *o) {
    const struct api_stateful_set *set = o->body;
    struct arena *a = work_arena(m->sync->work);
    if (m->is_update || str_eq(m->sync->current, m->sync->update))
        return &set->spec.template;
    const struct api_object *revision =
        informer_get(m->sync->c->revisions, m->sync->subject.namespace, m->sync->current);
    struct api_pod_template_spec *template = arena_new(a, struct api_pod_template_spec);
    return revision && revision__template(a, revision, template) ? template : NULL;
}

static void claims_done(struct member *m) {
    struct sync *s = m->sync;
    const struct api_object *o = current(s);
    if (m->failure.p && m->is_new)
        tell_pod(s, "Create", m->name, m->failure);
    if (m->failure.p)
        fail(s, m->failure);
    const struct api_pod_template_spec *template =
        o && m->is_new && !m->failure.p ? template_of(m, o) : NULL;
    if (!template) {
        member_done(m);
        return;
    }
    work_create(s->work, pod_new(m, o, template), pod_created, m);
}

static void claim_created(void *arg, struct work *w, const struct client_answer *answer) {
    struct claim *claim = arg;
    struct member *m = claim->member;
    if (answer->code)
        m->failure = arena_printf(work_arena(w), "failed to create PVC %.*s: %.*s",
                                  STR_ARG(claim->name), STR_ARG(answer->message));
    if (answer->code != ERR_EXISTS)
        tell_claim(m->sync, claim->name, m->name, answer->code ? answer->message : (struct str){0});
    if (--m->claims == 0)
        claims_done(m);
}

static void make_claim(struct member *m, const struct api_object *o,
                       const struct api_persistent_volume_claim *template) {
    struct sync *s = m->sync;
    struct arena *a = work_arena(s->work);
    struct claim *claim = arena_new(a, struct claim);
    *claim = (struct claim){m, statefulset__claim_name(a, o, template, m->ordinal)};
    const struct api_object *there = informer_get(s->c->claims, s->subject.namespace, claim->name);
    if (there && there->meta->deletion_timestamp.set)
        m->failure = arena_printf(a, "pvc %.*s is being deleted", STR_ARG(claim->name));
    if (there)
        return;
    m->claims++;
    s->claims++;
    work_create(s->work, statefulset__claim_new(o, template, m->ordinal), claim_created, claim);
}

static void begin_member(struct sync *s, const struct api_object *o, const struct member *as) {
    const struct api_stateful_set *set = o->body;
    struct member *m = arena_new(work_arena(s->work), struct member);
    *m = *as;
    m->sync = s;
    m->name = arena_printf(work_arena(s->work), "%.*s-%d", STR_ARG(s->subject.name), m->ordinal);
    s->unanswered++;
    for (size_t i = 0; i < set->spec.volume_claim_templates.n; i++)
        make_claim(m, o, &set->spec.volume_claim_templates.v[i]);
    if (!m->claims)
        claims_done(m);
}

/* Makes no more members than there is room for, with their claims. If it is for none, that is
 * told. */
static void limit_plan(struct sync *s, const struct api_object *o) {
    struct manager *m = s->c->base.manager;
    struct arena *a = work_arena(s->work);
    size_t claims = ((const struct api_stateful_set *)o->body)->spec.volume_claim_templates.n;
    size_t for_pods = manager__room(m, API_T_pod), for_claims = SIZE_MAX;
    if (claims)
        for_claims = manager__room(m, API_T_persistent_volume_claim) / claims;
    size_t room = for_pods < for_claims ? for_pods : for_claims;
    if (s->plan.make_count && !room) {
        struct str why =
            manager__why_full(m, a, for_pods ? API_T_persistent_volume_claim : API_T_pod);
        tell_pod(s, "Create",
                 arena_printf(a, "%.*s-%d", STR_ARG(s->subject.name), s->plan.make[0].ordinal),
                 why);
        fail(s, why);
    }
    if (s->plan.make_count > room)
        s->plan.make_count = room;
}

/* With so many claims each, this many members are made at a time, so that not too many requests are
 * under way. */
static size_t most_in_batch(const struct api_object *o) {
    size_t claims = ((const struct api_stateful_set *)o->body)->spec.volume_claim_templates.n;
    return claims < MANAGER__BURST ? MANAGER__BURST / (claims + 1) : 1;
}

/* One member, then two, four, … as long as all goes well. */
static void make_batch(struct sync *s) {
    const struct api_object *o = current(s);
    size_t left = s->plan.make_count - s->begun;
    s->batch = s->batch ? 2 * s->batch : 1;
    if (!o || !left)
        return;
    if (s->batch > most_in_batch(o))
        s->batch = most_in_batch(o);
    s->in_batch = s->batch < left ? s->batch : left;
    for (size_t i = s->in_batch; i > 0; i--) {
        const struct statefulset__new *make = &s->plan.make[s->begun++];
        begin_member(s, o,
                     &(struct member){
                         .ordinal = make->ordinal, .is_update = make->is_update, .is_new = true});
    }
}

/* ---- other writes ---- */

static void written(void *arg, struct work *w, const struct client_answer *answer) {
    struct sync *s = arg;
    (void)w;
    if (answer->code && answer->code != ERR_NOT_FOUND)
        fail(s, answer->message);
    end_one(s);
}

static void pod_deleted(void *arg, struct work *w, const struct client_answer *answer) {
    struct member *m = arg;
    bool is_bad = answer->code && answer->code != ERR_NOT_FOUND;
    tell_pod(m->sync, "Delete", m->name, is_bad ? answer->message : (struct str){0});
    written(m->sync, w, answer);
}

static void delete_pod(struct sync *s, const struct api_object *pod) {
    struct member *m = arena_new(work_arena(s->work), struct member);
    *m = (struct member){.sync = s, .name = arena_str(work_arena(s->work), pod->meta->name)};
    s->unanswered++;
    work_delete(s->work, pod, NULL, pod_deleted, m);
}

static void pod_relabeled(void *arg, struct work *w, const struct client_answer *answer) {
    struct member *m = arg;
    tell_pod(m->sync, "Update", m->name, answer->code ? answer->message : (struct str){0});
    written(m->sync, w, answer);
}

static void relabel(struct sync *s, const struct api_object *pod) {
    struct arena *a = work_arena(s->work);
    struct str parent;
    struct member *m = arena_new(a, struct member);
    *m = (struct member){.sync = s, .name = arena_str(a, pod->meta->name)};
    s->unanswered++;
    struct str text =
        arena_printf(a,
                     "{\"metadata\":{\"labels\":{\"statefulset.kubernetes.io/pod-name\":\"%.*s\","
                     "\"apps.kubernetes.io/pod-index\":\"%d\"}}}",
                     STR_ARG(m->name), statefulset__ordinal(pod, &parent));
    work_patch(s->work, pod, &(struct work_patch){CLIENT_PATCH_MERGE, NULL, text}, pod_relabeled,
               m);
}

static void set_claim_owners(struct sync *s, const struct api_object *o,
                             const struct api_object *pod, const struct api_object *claim) {
    struct api_owner_reference_list refs;
    struct arena *a = work_arena(s->work);
    if (statefulset__claim_is_others(claim, o, pod))
        events_say_of(s->c->base.events, &s->subject, EVENTS_WARNING, "ConflictingController",
                      "PersistentVolumeClaim %.*s has a conflicting OwnerReference that acts as a "
                      "manging controller, the retention policy is ignored for this claim",
                      STR_ARG(claim->meta->name));
    if (!statefulset__claim_owners(a, claim, o, pod, &refs))
        return;
    struct api_object *draft = api_object_derive(claim);
    struct api_object_meta *meta = api_own_meta(draft), copy;
    meta->owner_references = refs;
    api_struct_copy(&draft->arena, &api_types[API_T_object_meta], meta, &copy);
    meta->owner_references = copy.owner_references;
    s->unanswered++;
    work_update(s->work, draft, NULL, written, s);
}

static void retain(struct sync *s, const struct api_object *o, const struct api_object *pod) {
    const struct api_stateful_set *set = o->body;
    struct str parent;
    int32_t ordinal = statefulset__ordinal(pod, &parent);
    for (size_t i = 0; i < set->spec.volume_claim_templates.n; i++) {
        struct str name = statefulset__claim_name(work_arena(s->work), o,
                                                  &set->spec.volume_claim_templates.v[i], ordinal);
        const struct api_object *claim = informer_get(s->c->claims, s->subject.namespace, name);
        if (claim)
            set_claim_owners(s, o, pod, claim);
    }
}

static void carry_out(struct sync *s, const struct api_object *o) {
    struct str parent;
    s->unanswered = 1; /* this function */
    for (size_t i = 0; i < s->plan.pending.n; i++) {
        if (s->claims < MANAGER__BURST)
            begin_member(
                s, o,
                &(struct member){.ordinal = statefulset__ordinal(s->plan.pending.v[i], &parent)});
        else
            work_go_on(s->work);
        retain(s, o, s->plan.pending.v[i]);
    }
    for (size_t i = 0; i < s->plan.retained.n; i++)
        if (!str_is(((const struct api_pod *)s->plan.retained.v[i]->body)->status.phase, "Pending"))
            retain(s, o, s->plan.retained.v[i]);
    for (size_t i = 0; i < s->plan.relabeled.n; i++)
        relabel(s, s->plan.relabeled.v[i]);
    for (size_t i = 0; i < s->plan.remove.n; i++)
        delete_pod(s, s->plan.remove.v[i]);
    limit_plan(s, o);
    make_batch(s);
    end_one(s);
}

/* ---- revisions ---- */

/* The name is taken by the revision of another template. */
static void revision_created(void *arg, struct work *w, const struct client_answer *answer) {
    struct sync *s = arg;
    const struct api_object *o = current(s);
    if (!answer->code)
        return;
    if (answer->code == ERR_EXISTS && o) {
        s->plan.status = ((const struct api_stateful_set *)o->body)->status;
        s->plan.status.collision_count.set = true;
        s->plan.status.collision_count.v++;
        send_status(s, o);
    }
    work_fail_by(w, answer);
}

static void create_revision(struct sync *s, const struct api_object *o, int64_t number) {
    const struct api_stateful_set *set = o->body;
    int32_t collisions = set->status.collision_count.v;
    struct str hash =
        controller_template_hash(work_arena(s->work), &set->spec.template, &collisions);
    struct api_object *draft =
        revision__new(o, &set->spec.template, (struct label){STR(HASH_LABEL), hash}, number);
    work_create(s->work, draft, revision_created, s);
}

static void renumber_revision(struct sync *s, const struct revisions *r) {
    struct api_object *draft = api_object_derive(r->current);
    ((struct api_controller_revision *)api_own_body(draft))->revision = r->next;
    work_update(s->work, draft, NULL, NULL, NULL);
}

/* The newest revision may be that of the template, in other words. */
static void look_closer(const struct sync *s, const struct api_object *o, const struct json *data,
                        struct revisions *r) {
    const struct feature_set *gates = s->c->base.manager->gates;
    const struct api_object *newest = r->old.n ? r->old.v[r->old.n - 1] : NULL;
    if (r->current || !newest ||
        !feature_enabled(gates, FEATURE_StatefulSetSemanticRevisionComparison) ||
        !revision__restores(work_arena(s->work), o, newest, data, gates))
        return;
    r->current = newest;
    r->old.n--;
    r->next = ((const struct api_controller_revision *)newest->body)->revision;
}

/* The revision of the template is there and the newest; false: that was sent. */
static bool revisions_are_right(struct sync *s, const struct api_object *o,
                                const struct revisions *r) {
    if (!r->current)
        create_revision(s, o, r->next);
    else if (((const struct api_controller_revision *)r->current->body)->revision < r->next)
        renumber_revision(s, r);
    else
        return true;
    return false;
}

static bool is_live(const struct sync *s, const struct revisions_used *used, struct str name) {
    return revision__is_used(used, name) || str_eq(name, s->current) || str_eq(name, s->update);
}

/* Old revisions that no pod has go, but for as many as are to be kept. */
static void clean_up(struct sync *s, const struct api_stateful_set *set, const struct revisions *r,
                     const struct manager__objects *pods) {
    struct api_opt_i32 limit = set->spec.revision_history_limit;
    int64_t surplus = -(int64_t)(limit.set ? limit.v : 10);
    struct revisions_used used = revision__used(work_arena(s->work), pods);
    for (size_t i = 0; i < r->old.n; i++)
        surplus += !is_live(s, &used, r->old.v[i]->meta->name);
    for (size_t i = 0; i < r->old.n && surplus > 0; i++) {
        const struct api_object *old = r->old.v[i];
        if (is_live(s, &used, old->meta->name))
            continue;
        work_delete(s->work, old, NULL, NULL, NULL);
        surplus--;
    }
}

/* ---- looking ---- */

/* A claim that goes with a pod that is gone must go before the next one of the name comes. */
static bool may_make(void *arg, int32_t ordinal) {
    struct sync *s = arg;
    const struct api_object *o = current(s);
    const struct api_stateful_set *set = o->body;
    struct arena *a = work_arena(s->work);
    struct str pod = arena_printf(a, "%.*s-%d", STR_ARG(s->subject.name), ordinal);
    if (!set->spec.persistent_volume_claim_retention_policy ||
        !str_is(set->spec.persistent_volume_claim_retention_policy->when_scaled, "Delete"))
        return true;
    for (size_t i = 0; i < set->spec.volume_claim_templates.n; i++) {
        const struct api_object *claim = informer_get(
            s->c->claims, s->subject.namespace,
            statefulset__claim_name(a, o, &set->spec.volume_claim_templates.v[i], ordinal));
        if (!claim || !statefulset__claim_is_stale(claim, pod))
            continue;
        work_again_after(s->work, RESYNC);
        return false;
    }
    return true;
}

static void plan_next_check(struct sync *s, const struct api_stateful_set *set,
                            const struct manager__objects *pods, int64_t now) {
    int32_t seconds = set->spec.min_ready_seconds;
    if (seconds <= 0 || s->plan.status.ready_replicas == s->plan.status.available_replicas)
        return;
    s->next_check = seconds * CLOCK_SECOND;
    for (size_t i = 0; i < pods->n; i++) {
        int64_t in = manager__pod_available_in(pods->v[i], seconds, now);
        s->next_check = in && in < s->next_check ? in : s->next_check;
    }
}

static void look(struct sync *s, const struct api_object *o, const struct manager__objects *pods) {
    struct statefulset__view v = {
        .arena = work_arena(s->work),
        .object = o,
        .body = o->body,
        .gates = s->c->base.manager->gates,
        .now = manager__now(s->c->base.manager),
        .current = s->current,
        .update = s->update,
        .pods = *pods,
        .may_make = may_make,
        .arg = s,
    };
    statefulset__plan(&v, &s->plan);
    plan_next_check(s, v.body, pods, v.now);
}

static bool is_member(const struct api_object *set, const struct api_object *pod) {
    struct str parent;
    statefulset__ordinal(pod, &parent);
    return str_eq(parent, set->meta->name);
}

/* The revision that the status names, if it is there; else the new one. */
static struct str current_revision(struct arena *a, const struct api_stateful_set *set,
                                   const struct revisions *r) {
    for (size_t i = 0; i < r->old.n; i++)
        if (str_eq(r->old.v[i]->meta->name, set->status.current_revision))
            return arena_str(a, set->status.current_revision);
    return arena_str(a, r->current->meta->name);
}

static bool claim_all(struct statefulsets *c, struct work *work, const struct api_object *o,
                      struct manager__objects *pods, struct manager__objects *revisions) {
    struct manager__claim claim = {.manager = c->base.manager,
                                   .work = work,
                                   .owner = o,
                                   .members = c->revisions,
                                   .kind = client_kind(API_T_controller_revision),
                                   .selector = manager__selector(c, o)};
    if (!manager__claim(&claim, revisions))
        return false;
    claim.members = c->pods;
    claim.kind = client_kind(API_T_pod);
    claim.matches = is_member;
    return manager__claim(&claim, pods);
}

/* Has it claims for more volumes than a pod that is to be placed may have? */
static bool is_too_large(const struct statefulsets *c, const struct api_object *o) {
    size_t n = ((const struct api_stateful_set *)o->body)->spec.volume_claim_templates.n;
    if (n <= LIMIT_POD_VOLUMES)
        return false;
    events_say(c->base.events, o, EVENTS_WARNING, "FailedCreate",
               "StatefulSet %.*s has %zu volumeClaimTemplates: its members would have more than %d "
               "volumes, and are not made",
               STR_ARG(o->meta->name), n, LIMIT_POD_VOLUMES);
    return true;
}

static void sync(void *self, struct work *work, const struct api_object *o) {
    struct statefulsets *c = self;
    struct arena *a = work_arena(work);
    struct manager__objects pods, all;
    struct revisions r;
    if (is_too_large(c, o) || !claim_all(c, work, o, &pods, &all))
        return;
    const struct api_stateful_set *set = o->body;
    struct sync *s = arena_new(a, struct sync);
    s->c = c;
    s->work = work;
    s->subject = manager__subject(work, o);
    struct json data = revision__data(a, &set->spec.template);
    revision__sort(a, &all, &data, &r);
    look_closer(s, o, &data, &r);
    if (!revisions_are_right(s, o, &r))
        return;
    s->update = arena_str(a, r.current->meta->name);
    s->current = current_revision(a, set, &r);
    look(s, o, &pods);
    clean_up(s, set, &r, &pods);
    carry_out(s, o);
}

/* ---- the controller ---- */

static const struct api_label_selector *selector_of(struct arena *a, const struct api_object *o) {
    (void)a;
    return ((const struct api_stateful_set *)o->body)->spec.selector;
}

const struct manager__controller manager__statefulset = {
    .size = sizeof(struct statefulsets),
    .component = "statefulset-controller",
    .queues = {{"statefulset", sync, .names = API_T_stateful_set}},
    .kinds = {{API_T_stateful_set, .set = manager__add_set, .deleted = manager__add_deleted},
              {API_T_pod, .at = offsetof(struct statefulsets, pods), .set = manager__member_set,
               .deleted = manager__member_deleted},
              {API_T_persistent_volume_claim, .at = offsetof(struct statefulsets, claims)},
              {API_T_controller_revision, .at = offsetof(struct statefulsets, revisions),
               .set = manager__member_set, .deleted = manager__member_deleted}},
    .selector = selector_of,
};
