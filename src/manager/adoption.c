/* Who belongs to whom, and whose work a change is. */
#include "manager/adoption_int.h"

#include "manager/members_int.h"

/* ---- claims ---- */

/* A patch that is to be sent, whole in the arena of the work. */
struct claim_patch {
    struct str name, text;
    bool releases;
    struct claim_patch *next;
};

struct claim_sync {
    struct work *work;
    const struct api_kind *owner_kind, *member_kind;
    struct str uid; /* of the owner */
    struct claim_patch *patches;
    bool adopts;
};

/* What is gone is nobody's; what was released by somebody else is refused as invalid. */
static void patch_answered(void *arg, struct work *w, const struct client_answer *answer) {
    const struct claim_patch *patch = arg;
    if (answer->code == ERR_NONE || answer->code == ERR_NOT_FOUND)
        return;
    if (!patch->releases || answer->code != ERR_UNPROCESSABLE)
        work_fail_by(w, answer);
}

static void send_patches(struct claim_sync *s) {
    for (struct claim_patch *p = s->patches; p; p = p->next)
        work_send(s->work,
                  &(struct client_request){.verb = REGISTRY_VERB_PATCH,
                                           .kind = s->member_kind,
                                           .namespace = work_namespace(s->work),
                                           .name = p->name,
                                           .patch_type = CLIENT_PATCH_STRATEGIC,
                                           .patch = p->text},
                  patch_answered, p);
    work_go_on(s->work);
}

/* The owner as it is now, which may be younger than what the informer has told. */
static void owner_answered(void *arg, struct work *w, const struct client_answer *answer) {
    struct claim_sync *s = arg;
    if (answer->code != ERR_NONE)
        work_fail_by(w, answer);
    else if (!str_eq(answer->object->meta->uid, s->uid))
        work_fail(w, "the original of %.*s is gone", STR_ARG(work_name(w)));
    else if (answer->object->meta->deletion_timestamp.set)
        work_fail(w, "%.*s has just been deleted", STR_ARG(work_name(w)));
    else
        send_patches(s);
}

/* A list of the finalizer, as a member of a patch; or nothing. */
static struct str finalizers(struct arena *a, const char *member, const char *finalizer) {
    return finalizer ? arena_printf(a, ",\"%s\":[\"%s\"]", member, finalizer) : STR("");
}

static struct str adoption(struct arena *a, const struct manager__claim *c,
                           const struct api_object *o) {
    const struct api_object *owner = c->owner;
    struct str list = finalizers(a, "finalizers", c->finalizer);
    return arena_printf(a,
                        "{\"metadata\":{\"ownerReferences\":[{\"apiVersion\":\"%s\",\"kind\":\"%s\""
                        ",\"name\":\"%.*s\",\"uid\":\"%.*s\",\"controller\":true,"
                        "\"blockOwnerDeletion\":true}],\"uid\":\"%.*s\"%.*s}}",
                        owner->kind->api_version, owner->kind->kind, STR_ARG(owner->meta->name),
                        STR_ARG(owner->meta->uid), STR_ARG(o->meta->uid), STR_ARG(list));
}

static struct str release(struct arena *a, const struct manager__claim *c,
                          const struct api_object *o) {
    struct str list = finalizers(a, "$deleteFromPrimitiveList/finalizers", c->finalizer);
    return arena_printf(a,
                        "{\"metadata\":{\"uid\":\"%.*s\",\"ownerReferences\":[{\"$patch\":"
                        "\"delete\",\"uid\":\"%.*s\"}]%.*s}}",
                        STR_ARG(o->meta->uid), STR_ARG(c->owner->meta->uid), STR_ARG(list));
}

static void add_patch(struct claim_sync *s, const struct manager__claim *c,
                      const struct api_object *o, bool releases) {
    struct arena *a = work_arena(s->work);
    struct claim_patch *p = arena_new(a, struct claim_patch);
    p->name = arena_str(a, o->meta->name);
    p->text = releases ? release(a, c, o) : adoption(a, c, o);
    p->releases = releases;
    p->next = s->patches;
    s->patches = p;
    s->adopts = s->adopts || !releases;
}

static bool is_match(const struct manager__claim *c, const struct api_object *o) {
    return selector_matches(c->selector, &o->meta->labels) &&
           (!c->matches || c->matches(c->owner, o));
}

/* Is an object that matches the selector and has no controller to be the owner's? */
static bool is_adoptable(const struct manager__claim *c, const struct api_object *o) {
    return !o->meta->deletion_timestamp.set && (!c->matches || c->matches(c->owner, o));
}

static bool is_considered(const struct manager__claim *c, const struct api_object *o) {
    return !c->considers || c->considers(c->owner, o);
}

static void claim_owned(const struct manager__claim *c, struct claim_sync *s,
                        struct manager__objects *out) {
    size_t n;
    const struct api_object *const *owned =
        informer_find(c->members, INFORMER_BY_CONTROLLER, c->owner->meta->uid, &n);
    out->v = arena_array(work_arena(c->work), const struct api_object *, n);
    for (size_t i = 0; i < n; i++) {
        if (!is_considered(c, owned[i]))
            continue;
        if (is_match(c, owned[i]))
            out->v[out->n++] = owned[i];
        else if (!c->owner->meta->deletion_timestamp.set)
            add_patch(s, c, owned[i], true);
    }
}

static void claim_orphans(const struct manager__claim *c, struct claim_sync *s) {
    if (c->owner->meta->deletion_timestamp.set)
        return;
    struct manager__objects orphans =
        members__find(manager__members(c->manager, c->members, true), work_arena(c->work),
                      c->owner->meta->namespace, c->selector);
    for (size_t i = 0; i < orphans.n; i++)
        if (is_considered(c, orphans.v[i]) && is_adoptable(c, orphans.v[i]))
            add_patch(s, c, orphans.v[i], false);
}

bool manager__claim(const struct manager__claim *c, struct manager__objects *out) {
    struct claim_sync *s = arena_new(work_arena(c->work), struct claim_sync);
    s->work = c->work;
    s->owner_kind = c->owner->kind;
    s->uid = arena_str(work_arena(c->work), c->owner->meta->uid);
    *out = (struct manager__objects){0};
    if (!c->selector)
        return false;
    claim_owned(c, s, out);
    claim_orphans(c, s);
    if (!s->patches)
        return true;
    s->member_kind = c->kind;
    if (s->adopts)
        work_get(c->work, s->owner_kind, work_namespace(c->work), work_name(c->work),
                 owner_answered, s);
    else
        send_patches(s);
    return false;
}
