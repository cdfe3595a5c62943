/* PodDisruptionBudgets as preemption asks about them: which pods break one, and for how long what
 * was compiled is kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "api/selector.h"
#include "sched/preempt_int.h"
#include "world.h"

static void start_world(struct world *w) {
    world_start(w, data_newest_gates(), (struct sched_opts){.seed = 3});
}

/* The selector is JSON; so is what else the status has. */
static struct api_object *a_budget(const char *name, const char *selector, int allowed,
                                   const char *more) {
    return object_of_text("{'apiVersion':'policy/v1','kind':'PodDisruptionBudget','metadata':"
                          "{'name':'%s','namespace':'d'},'spec':{'selector':%s},'status':"
                          "{'disruptionsAllowed':%d%s}}",
                          name, selector, allowed, more);
}

static void add_pod(struct world *w, const char *name, const char *ns, const char *labels) {
    world_set(w, object_of_text("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s',"
                                "'namespace':'%s','labels':{%s}},'spec':{'nodeName':'n',"
                                "'containers':[{'name':'c','image':'i'}]}}",
                                name, ns, labels));
}

static bool breaks(struct world *w, const char *key) {
    const struct sched_pod *p = map_get(&w->s->pods, str_of(key));
    assert_non_null(p);
    return sched__budgets_break(sched__budgets_get(w->s), p);
}

/* ---- single cases ---- */

/* One budget, and the pods d/p0 to d/p3 with app=web, asked one after the other. */
static const struct {
    const char *selector, *status;
    int allowed;
    bool broken[4];
} rows[] = {
    {"{'matchLabels':{'app':'web'}}", "", 0, {true, true, true, true}},
    {"{'matchLabels':{'app':'web'}}", "", 1, {false, true, true, true}},
    {"{'matchLabels':{'app':'web'}}", "", 3, {false, false, false, true}},
    {"{'matchLabels':{'app':'web'}}", "", 4, {false}},
    {"{'matchLabels':{'app':'db'}}", "", 0, {false}},
    {"{}", "", 0, {false}},
    {"null", "", 0, {false}},
    {"{'matchExpressions':[{'key':'app','operator':'Wrong'}]}", "", 0, {false}},
    {"{'matchExpressions':[{'key':'app','operator':'NotIn','values':['db']}]}",
     "",
     2,
     {false, false, true, true}},
    {"{'matchExpressions':[{'key':'app','operator':'Exists'}]}", "", 0, {true, true, true, true}},
    {"{'matchLabels':{'app':'web'}}",
     ",'disruptedPods':{'p3':'2026-01-01T00:00:00Z','p1':'2026-01-01T00:00:00Z',"
     "'x':'2026-01-01T00:00:00Z'}",
     1,
     {false, false, true, false}},
};

static void one_budget(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world w;
        start_world(&w);
        world_set(&w, a_budget("b", rows[i].selector, rows[i].allowed, rows[i].status));
        for (int twice = 0; twice < 2; twice++) { /* each node begins anew */
            sched__budgets_start(sched__budgets_get(w.s), 4);
            for (int p = 0; p < 4; p++) {
                char name[16], key[16];
                snprintf(name, sizeof name, "p%d", p);
                snprintf(key, sizeof key, "d/p%d", p);
                add_pod(&w, name, "d", "'app':'web'");
                if (breaks(&w, key) != rows[i].broken[p])
                    fail_msg("row %zu, pod %d", i, p);
            }
        }
        sched_free(w.s);
    }
}

static void other_namespaces_and_pods_without_labels_are_not_covered(void **state) {
    (void)state;
    struct world w;
    start_world(&w);
    world_set(&w,
              a_budget("b", "{'matchExpressions':[{'key':'x','operator':'DoesNotExist'}]}", 0, ""));
    add_pod(&w, "bare", "d", "");
    add_pod(&w, "far", "e", "'app':'web'");
    add_pod(&w, "near", "d", "'app':'web'");
    sched__budgets_start(sched__budgets_get(w.s), 3);
    assert_false(breaks(&w, "d/bare"));
    assert_false(breaks(&w, "e/far"));
    assert_true(breaks(&w, "d/near"));
    sched_free(w.s);
}

static void budgets_are_kept_until_one_changes(void **state) {
    (void)state;
    struct world w;
    start_world(&w);
    world_set(&w, a_budget("b", "{'matchLabels':{'app':'web'}}", 1, ""));
    add_pod(&w, "p", "d", "'app':'web'");
    const struct sched__budgets *first = sched__budgets_get(w.s);
    add_pod(&w, "q", "d", "'app':'web'");
    assert_ptr_equal(sched__budgets_get(w.s), first);
    sched__budgets_start(sched__budgets_get(w.s), 2);
    assert_false(breaks(&w, "d/p"));
    world_set(&w, a_budget("b", "{'matchLabels':{'app':'web'}}", 0, ""));
    sched__budgets_start(sched__budgets_get(w.s), 2);
    assert_true(breaks(&w, "d/p"));
    world_delete(&w, a_budget("b", "{}", 0, ""));
    sched__budgets_start(sched__budgets_get(w.s), 2);
    assert_false(breaks(&w, "d/p"));
    sched_free(w.s);
}

/* ---- several budgets ---- */

/* Upstream's way, with budgets by what they allow: each is asked about each pod. */
struct plain {
    struct selector *selector; /* borrows from an object that the scheduler holds */
    int allowed, left;
    bool excepts_first; /* disruptedPods has p0 */
};

enum { BUDGETS = 6, PODS = 6, MOST_ALLOWED = 3 };

static bool breaks_plain(struct plain *budgets, const struct labels *labels, bool is_first) {
    for (int allowed = 0; allowed <= MOST_ALLOWED; allowed++)
        for (struct plain *b = budgets; b < budgets + BUDGETS; b++)
            if (b->allowed == allowed && selector_matches(b->selector, labels) &&
                !(is_first && b->excepts_first) && --b->left < 0)
                return true;
    return false;
}

static unsigned next_random(uint32_t *state) {
    *state = *state * 1664525 + 1013904223;
    return *state >> 16;
}

static const char *const selectors[] = {
    "{'matchLabels':{'a':'x'}}",
    "{'matchLabels':{'a':'x','b':'y'}}",
    "{'matchExpressions':[{'key':'a','operator':'NotIn','values':['x']}]}",
    "{'matchExpressions':[{'key':'b','operator':'Exists'}]}",
    "{'matchExpressions':[{'key':'b','operator':'In','values':['x','y']}]}",
};

static void tell_budgets(struct world *w, uint32_t *random, struct arena *a, struct plain *plain) {
    for (int i = 0; i < BUDGETS; i++) {
        char name[16];
        unsigned choice = next_random(random) % 5;
        int allowed = (int)(next_random(random) % (MOST_ALLOWED + 1));
        bool excepts = next_random(random) % 3 == 0;
        snprintf(name, sizeof name, "b%d", i);
        struct api_object *o = a_budget(name, selectors[choice], allowed,
                                        excepts ? ",'disruptedPods':{'p0':null}" : "");
        const struct api_pod_disruption_budget *body = o->body;
        plain[i] = (struct plain){.allowed = allowed, .left = allowed, .excepts_first = excepts};
        selector_compile(a, body->spec.selector, &plain[i].selector, NULL);
        world_set(w, o);
    }
}

static void many_budgets(void **state) {
    (void)state;
    static const char *const labels[] = {"'a':'x'", "'a':'x','b':'y'", "'b':'z'", "'a':'z'",
                                         "'c':'x'"};
    uint32_t random = 1;
    for (int round = 0; round < 300; round++) {
        struct world w;
        struct arena a = {0};
        struct plain plain[BUDGETS];
        start_world(&w);
        tell_budgets(&w, &random, &a, plain);
        sched__budgets_start(sched__budgets_get(w.s), PODS);
        for (int p = 0; p < PODS; p++) {
            char name[16], key[16];
            snprintf(name, sizeof name, "p%d", p);
            snprintf(key, sizeof key, "d/p%d", p);
            add_pod(&w, name, "d", labels[next_random(&random) % 5]);
            const struct sched_pod *pod = map_get(&w.s->pods, str_of(key));
            if (breaks(&w, key) != breaks_plain(plain, &pod->cls->pod->metadata.labels, !p))
                fail_msg("round %d, pod %d", round, p);
        }
        arena_release(&a);
        sched_free(w.s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_budget),
        cmocka_unit_test(other_namespaces_and_pods_without_labels_are_not_covered),
        cmocka_unit_test(budgets_are_kept_until_one_changes),
        cmocka_unit_test(many_budgets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
