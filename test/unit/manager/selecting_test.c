/* Who selects whom, by files and by asking everybody: for selectors and labels by chance. */
#include "managed.h"

#include "api/selector.h"
#include "manager/members_int.h"
#include "manager/selecting_int.h"

enum { ROUNDS = 300, KEYS = 6, MOST = 12 };

/* One way through all that is drawn. */
struct chance {
    uint64_t state;
    struct arena a;
};

static size_t below(struct chance *c, size_t n) {
    c->state = c->state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(c->state >> 33) % n;
}

static struct labels draw_labels(struct chance *c) {
    struct labels out = {arena_array(&c->a, struct label, KEYS), 0};
    for (size_t i = 0; i < KEYS; i++)
        if (below(c, 2))
            out.v[out.n++] = (struct label){arena_printf(&c->a, "k%zu", i),
                                            arena_printf(&c->a, "v%zu", below(c, 3))};
    return out;
}

/* Long ones mostly ask for labels that nobody has, so that they match now and then. */
static struct api_label_selector draw_selector(struct chance *c, bool is_long) {
    static const char *const operators[] = {"In", "NotIn", "Exists", "DoesNotExist"};
    size_t n = below(c, 4), more = is_long ? 200 : 0;
    struct api_label_selector out = {0};
    out.match_expressions.v = arena_array(&c->a, struct api_label_selector_requirement, n + more);
    for (size_t i = 0; i < n + more; i++) {
        size_t op = i < n ? below(c, 4) : 1 + 2 * below(c, 2), values = 1 + below(c, 20);
        struct api_label_selector_requirement r = {
            .key = arena_printf(&c->a, i < n ? "k%zu" : "k0-%zu", below(c, i < n ? KEYS : 100)),
            .operator= str_of(operators[op])};
        r.values.v = arena_array(&c->a, struct str, values);
        for (size_t k = 0; op < 2 && k < values; k++)
            r.values.v[r.values.n++] = arena_printf(&c->a, "v%zu", below(c, 30));
        out.match_expressions.v[out.match_expressions.n++] = r;
    }
    if (below(c, 3) == 0) {
        out.match_labels.v = arena_new(&c->a, struct label);
        *out.match_labels.v = (struct label){STR("k1"), STR("v1")};
        out.match_labels.n = 1;
    }
    return out;
}

/* As upstream does: requirement by requirement. */
static bool is_met(const struct api_label_selector_requirement *r, const struct labels *labels) {
    const struct label *l = labels_find(labels, r->key);
    bool has = false;
    for (size_t i = 0; l && i < r->values.n; i++)
        has = has || str_eq(r->values.v[i], l->value);
    if (str_is(r->operator, "Exists"))
        return l;
    if (str_is(r->operator, "DoesNotExist"))
        return !l;
    return str_is(r->operator, "In") ? has : !has;
}

static bool matches(const struct api_label_selector *s, const struct labels *labels) {
    for (size_t i = 0; i < s->match_labels.n; i++) {
        const struct label *l = labels_find(labels, s->match_labels.v[i].key);
        if (!l || !str_eq(l->value, s->match_labels.v[i].value))
            return false;
    }
    for (size_t i = 0; i < s->match_expressions.n; i++)
        if (!is_met(&s->match_expressions.v[i], labels))
            return false;
    return true;
}

static const struct api_object *object(struct chance *c, size_t number,
                                       const struct labels *labels) {
    struct api_object *o = api_object_new(client_kind(API_T_pod));
    api_own_meta(o)->name = arena_printf(&o->arena, "p%zu", number);
    api_own_meta(o)->namespace = STR("default");
    api_own_meta(o)->generation = 1 + (int64_t)below(c, 2);
    api_own_meta(o)->labels = labels_copy(&o->arena, labels);
    return api_publish(o);
}

struct found {
    const struct api_object *all[MOST];
    bool is_found[MOST];
};

static void note(void *arg, const struct api_object *o) {
    struct found *f = arg;
    for (size_t i = 0; i < MOST; i++)
        if (f->all[i] == o) {
            assert_false(f->is_found[i]);
            f->is_found[i] = true;
        }
}

static void labels_are_selected_by_whom_they_match(void **state) {
    struct chance c = {.state = 1};
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct selecting *x = selecting__new(1);
        struct found f = {0};
        struct api_label_selector specs[MOST];
        struct labels labels = draw_labels(&c);
        for (size_t i = 0; i < MOST; i++) {
            specs[i] = draw_selector(&c, below(&c, 2));
            f.all[i] = object(&c, i, &labels);
            selecting__set(x, f.all[i], below(&c, 9) ? NULL : &specs[i]);
            selecting__set(x, f.all[i], &specs[i]);
            assert_true(selecting__renew(x, f.all[i]));
        }
        selecting__drop(x, f.all[0]);
        selecting__each(x, STR("default"), &labels, note, &f);
        for (size_t i = 0; i < MOST; i++) {
            assert_int_equal(f.is_found[i], i && matches(&specs[i], &labels));
            assert_int_equal(i && selector_matches(selecting__of(x, f.all[i]), &labels),
                             f.is_found[i]);
            api_object_unref(f.all[i]);
        }
        selecting__free(x);
        arena_reset(&c.a);
    }
    arena_release(&c.a);
}

/* ---- members ---- */

static void selectors_find_whom_they_match(void **state) {
    struct chance c = {.state = 2};
    struct managed m;
    (void)state;
    managed_start(&m, "replicaset-controller", "");
    struct informer *pods = manager__informer(m.manager, API_T_pod);
    struct members *all = manager__members(m.manager, pods, false);
    struct members *orphans = manager__members(m.manager, pods, true);
    assert_ptr_equal(all, manager__members(m.manager, pods, false));
    for (int round = 0; round < ROUNDS / 10; round++) {
        struct labels labels = draw_labels(&c);
        struct buf text = BUF_INIT(4096);
        buf_addf(&text, "{apiVersion: v1, kind: Pod, metadata: {name: p%d, labels: {l: l", round);
        for (size_t i = 0; i < labels.n; i++)
            buf_addf(&text, ", %.*s: %.*s", STR_ARG(labels.v[i].key), STR_ARG(labels.v[i].value));
        buf_addf(&text, "}%s}, spec: {containers: [{name: c, image: i}]}}",
                 below(&c, 2) ? ""
                              : ", ownerReferences: [{apiVersion: v1, kind: A, name: a, uid: u, "
                                "controller: true}]");
        world_create(&m.w, arena_str(&c.a, buf_view(&text)).p);
        buf_release(&text);
    }
    world_run(&m.w, 1);
    for (int round = 0; round < ROUNDS; round++) {
        struct api_label_selector spec = draw_selector(&c, below(&c, 2));
        struct selector *selector;
        size_t n, expected = 0, expected_orphans = 0;
        assert_int_equal(selector_compile(&c.a, &spec, &selector, NULL), 0);
        const struct api_object *const *v = informer_find(pods, INFORMER_ALL, STR(""), &n);
        for (size_t i = 0; i < n; i++) {
            bool is_match = matches(&spec, &v[i]->meta->labels);
            expected += is_match;
            expected_orphans += is_match && !api_object_controller(v[i]);
        }
        assert_int_equal(members__find(all, &c.a, STR("default"), selector).n, expected);
        assert_int_equal(members__find(orphans, &c.a, STR("default"), selector).n,
                         expected_orphans);
        assert_int_equal(members__find(all, &c.a, STR("other"), selector).n, 0);
    }
    assert_int_equal(members__find(all, &c.a, STR("default"), NULL).n, 0);
    arena_release(&c.a);
    managed_stop(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_are_selected_by_whom_they_match),
        cmocka_unit_test(selectors_find_whom_they_match),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
