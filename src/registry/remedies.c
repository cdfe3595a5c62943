/* Which feature gates stand between an object and its being accepted. */
#include "base/limits.h"
#include "base/vec.h"
#include "registry/registry_int.h"

struct search {
    const struct registry_trial *trial;
    struct feature_set *named;
    struct arena scratch; /* of one try */
    size_t bytes;         /* of what all tries have made so far */
    VEC(struct registry_remedy) found;
};

/* How many of the errors go away with some gates, and the first of them. */
struct solved {
    size_t n;
    const struct valid_error *first;
};

/* A list that had no room for all errors does not tell which of the others are gone. */
static struct solved compare(const struct valid_errs *errs, const struct valid_errs *left) {
    struct solved solved = {0};
    size_t listed = errs->n - (errs->left_out > 0);
    for (size_t i = 0; i < listed && !(left && left->left_out); i++) {
        if (left && valid_errs_has(left, &errs->v[i]))
            continue;
        if (!solved.n++)
            solved.first = &errs->v[i];
    }
    return solved;
}

static struct registry_failure write(const struct registry *r, const struct registry_trial *t,
                                     struct arena *a, struct api_object *o) {
    return t->old ? registry_update(r, t->request, a, o, t->old)
                  : registry_create(r, t->request, a, o);
}

/* What the object would be refused for with other gates; admission tells nothing of fields. */
static struct solved try_gates(struct search *s, const struct feature_set *gates) {
    const struct registry_trial *t = s->trial;
    struct registry registry = *t->registry;
    struct solved solved = {0};
    struct api_object *o;
    struct api_faults faults;
    api_faults_init(&faults, &s->scratch);
    registry.gates = gates;
    if (s->bytes > LIMIT_HINT_BYTES ||
        registry_decode(&registry, t->tree, t->decode, &o, &faults).code)
        return solved;
    struct registry_failure failure = write(&registry, t, &s->scratch, o);
    if (!failure.code || failure.causes)
        solved = compare(t->errs, failure.causes);
    s->bytes += o->arena.bytes + s->scratch.bytes;
    api_object_free(o);
    arena_reset(&s->scratch);
    return solved;
}

/* Do the gates that are named already explain all that any gate can? */
static bool is_needed(struct search *s) {
    struct feature_set all, named = *s->trial->registry->gates;
    memset(&all, 0xff, sizeof all);
    size_t most = try_gates(s, &all).n;
    for (size_t i = 0; i < sizeof named.words / sizeof *named.words; i++)
        named.words[i] |= s->named->words[i];
    return most && try_gates(s, &named).n < most;
}

/*
 * Gates from one to before another that are off, and that would take an error away. If all of them
 * together take none away, none does alone; else each half is looked at.
 */
static void find_among(struct search *s, enum feature from, enum feature to) {
    struct feature_set gates = *s->trial->registry->gates;
    enum feature gate = from;
    size_t count = 0;
    for (enum feature f = from; f < to; f++) {
        if (feature_enabled(&gates, f) || feature_enabled(s->named, f))
            continue;
        feature_set_put(&gates, f, true);
        gate = f;
        count++;
    }
    struct solved solved = count ? try_gates(s, &gates) : (struct solved){0};
    if (!solved.n)
        return;
    if (count > 1) {
        enum feature middle = from + (to - from) / 2;
        find_among(s, from, middle);
        find_among(s, middle, to);
        return;
    }
    feature_set_put(s->named, gate, true);
    vec_push(&s->found, (struct registry_remedy){gate, solved.first});
}

size_t registry_find_remedies(const struct registry_trial *t, struct arena *a,
                              struct feature_set *named, struct registry_remedy **out) {
    struct search s = {.trial = t, .named = named};
    if (is_needed(&s))
        find_among(&s, 0, FEATURE_COUNT);
    size_t n = s.found.n;
    *out = n ? arena_copy(a, s.found.v, n * sizeof *s.found.v) : NULL;
    vec_release(&s.found);
    arena_release(&s.scratch);
    return n;
}
