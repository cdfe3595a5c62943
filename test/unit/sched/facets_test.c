/* Who may match whom: a selector is compared with the pods that have the rarest label it asks for,
 * and with no others. */
#include "sched/topology/count_int.h"
#include "sched/topology/facets_int.h"
#include "world.h"

enum { PODS = 50 };

/* Selectors as they stand in an affinity term, and the candidates they have among pods that each
 * have app=web, tier=0 or 1, a value of "own" and a label "l<i>" of their own. */
static const struct {
    const char *selector;
    size_t candidates;
} rows[] = {
    {"{'matchLabels':{'app':'web','own':'b7'}}", 1},
    {"{'matchLabels':{'app':'web','tier':'1','own':'b7'}}", 1},
    {"{'matchLabels':{'app':'web','tier':'1'}}", PODS / 2},
    {"{'matchLabels':{'app':'web','own':'none'}}", 0},
    {"{'matchExpressions':[{'key':'app','operator':'In','values':['web']},{'key':'own',"
     "'operator':'In','values':['b1','b2','b2','c']}]}",
     2},
    {"{'matchExpressions':[{'key':'app','operator':'In','values':['web']},{'key':'l7',"
     "'operator':'Exists'}]}",
     1},
    {"{'matchExpressions':[{'key':'app','operator':'Exists'},{'key':'own','operator':'In',"
     "'values':['b7']}]}",
     1},
    {"{'matchExpressions':[{'key':'app','operator':'NotIn','values':['db']},{'key':'l7',"
     "'operator':'Exists'}]}",
     1},
    {"{'matchExpressions':[{'key':'own','operator':'NotIn','values':['b7']}]}", PODS},
    {"{}", PODS},
};

static void set_pod(struct world *w, unsigned i, const char *spec) {
    world_set(w, object_of_text("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p%u',"
                                "'namespace':'d','labels':{'app':'web','tier':'%u','own':'b%u',"
                                "'l%u':''}},'spec':{%s'containers':[{'name':'c','image':'i'}]}}",
                                i, i % 2, i, i, spec));
}

static struct api_object *affine_pod(const char *selector) {
    return object_of_text("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'q','namespace':"
                          "'d'},'spec':{'affinity':{'podAffinity':{"
                          "'requiredDuringSchedulingIgnoredDuringExecution':[{'topologyKey':'z',"
                          "'labelSelector':%s}]}},'containers':[{'name':'c','image':'i'}]}}",
                          selector);
}

static size_t count_candidates(struct world *w, const char *selector) {
    struct api_object *o = affine_pod(selector);
    const struct api_pod *pod = o->body;
    struct sched__candidates found = {0};
    struct arena a = {0};
    struct sched__podterm t;
    struct err err;
    assert_int_equal(sched__podterm_compile(
                         &a, STR("d"), &pod->spec.affinity->pod_affinity->required.v[0], &t, &err),
                     0);
    sched__facets_find_classes(w->s, &t, 1, &found);
    size_t n = found.n;
    vec_release(&found);
    arena_release(&a);
    api_object_free(o);
    return n;
}

static void selectors_find_few_classes(void **state) {
    (void)state;
    struct world w;
    world_start(&w, data_newest_gates(), (struct sched_opts){0});
    for (unsigned i = 0; i < PODS; i++)
        set_pod(&w, i, "");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(count_candidates(&w, rows[i].selector), rows[i].candidates);
    sched_free(w.s);
}

/* Terms for app=web and an own value come before any pod that has such labels: they are told apart
 * by what other terms ask for. */
static void classes_find_few_terms(void **state) {
    (void)state;
    struct world w;
    world_start(&w, data_newest_gates(), (struct sched_opts){0});
    for (unsigned i = 0; i < PODS; i++)
        world_set(&w, object_of_text(
                          "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'q%u','namespace':"
                          "'d'},'spec':{'nodeName':'n','affinity':{'podAntiAffinity':{"
                          "'requiredDuringSchedulingIgnoredDuringExecution':[{'topologyKey':'z',"
                          "'labelSelector':{'matchLabels':{'app':'web','own':'b%u'}}}]}},"
                          "'containers':[{'name':'c','image':'i'}]}}",
                          i, i));
    set_pod(&w, 7, "");
    struct sched_pod *p = map_get(&w.s->pods, STR("d/p7"));
    struct sched__candidates found = {0};
    sched__facets_find(w.s, &w.s->facets.existing_terms, p->cls, &found);
    assert_in_range(found.n, 1, 2); /* the very first term had no other to be told from */
    vec_release(&found);
    assert_int_equal(p->cls->matching_terms.n, 1);
    sched_free(w.s);
}

/* Every pod keeps away from all others. What they have in common is one term, and each takes back
 * what that says of itself; the first one had nobody to exclude itself from. */
static void terms_that_exclude_little_are_remembered_as_that(void **state) {
    (void)state;
    struct world w;
    world_start(&w, data_newest_gates(), (struct sched_opts){0});
    for (unsigned i = 0; i < PODS; i++) {
        AUTO(buf_release) struct buf spec = BUF_INIT(1 << 10);
        buf_addf(&spec,
                 "'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':"
                 "[{'topologyKey':'z','labelSelector':{'matchExpressions':[{'key':'own',"
                 "'operator':'NotIn','values':['b%u']}]}}]}},",
                 i);
        buf_add_char(&spec, 0);
        set_pod(&w, i, spec.p);
    }
    for (unsigned i = 1; i < PODS; i++) {
        AUTO(buf_release) struct buf key = BUF_INIT(64);
        buf_addf(&key, "d/p%u", i);
        const struct sched_pod *p = map_get(&w.s->pods, buf_view(&key));
        assert_int_equal(p->cls->matching_terms.n, 3);
        assert_in_range(p->cls->memberships.n, 3, 6);
    }
    sched_free(w.s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(selectors_find_few_classes),
        cmocka_unit_test(classes_find_few_terms),
        cmocka_unit_test(terms_that_exclude_little_are_remembered_as_that),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
