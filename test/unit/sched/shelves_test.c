/* Volumes as claims look for them: what the shelves yield, compared with asking every volume, while
 * volumes come, go, and are taken by decisions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "api/selector.h"
#include "sched/volumes/state_int.h"
#include "world.h"

enum { VOLUMES = 9, CLAIMS = 6, NODES = 4 };

static unsigned next_random(uint32_t *state) {
    *state = *state * 1664525 + 1013904223;
    return *state >> 16;
}

/* One of the texts. */
#define PICK(random, ...) pick(random, (const char *const[]){__VA_ARGS__, NULL})
static const char *pick(uint32_t *random, const char *const *texts) {
    size_t n = 0;
    while (texts[n])
        n++;
    return texts[next_random(random) % n];
}

/* What a volume wants of nodes: its terms, their requirements; a comma between two is a text. */
#define WANTS(terms)       ",'nodeAffinity':{'required':{'nodeSelectorTerms':[" terms "]}}"
#define TERM(requirements) "{'matchExpressions':[" requirements "]}"
#define IN(key, values)    "{'key':'" key "','operator':'In','values':[" values "]}"

static void set_volume(struct world *w, uint32_t *random, unsigned version) {
    const char *affinity = PICK(
        random, "", WANTS(TERM(IN("host", "'h0'"))), WANTS(TERM(IN("host", "'h1','h2','h1'"))),
        WANTS(TERM(IN("zone", "'z0'") "," IN("host", "'h1'"))), WANTS(TERM(IN("zone", "'z1'"))),
        WANTS(TERM(IN("host", "'h0'")) "," TERM(IN("zone", "'z1'") "," IN("host", "'h3'"))),
        WANTS(TERM("{'key':'host','operator':'NotIn','values':['h2']}")),
        WANTS(TERM(IN("host", "'h0'")) "," TERM("{'key':'rack','operator':'Exists'}")));
    world_set(
        w, object_of_text(
               "{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'v%u',"
               "'resourceVersion':'%u','labels':{'a':'%s'}},'spec':{'capacity':{'storage':'%sGi'},"
               "'accessModes':[%s],'local':{'path':'/a'},'storageClassName':'%s'%s%s%s},'status':"
               "{'phase':'%s'}}",
               next_random(random) % VOLUMES, version, PICK(random, "x", "y"),
               PICK(random, "1", "2", "3"),
               PICK(random, "'ReadWriteOnce'", "'ReadOnlyMany','ReadWriteOnce'", "'ReadOnlyMany'"),
               PICK(random, "s", "s", "t"), PICK(random, "", "", "", ",'volumeMode':'Block'"),
               PICK(random, "", "", "", ",'claimRef':{'namespace':'d','name':'c1'}"), affinity,
               PICK(random, "Available", "Available", "Available", "Bound")));
}

static struct api_object *a_claim(unsigned number, const char *more) {
    return object_of_text(
        "{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c%u','namespace':"
        "'d'},'spec':{'accessModes':['ReadWriteOnce'],'storageClassName':'%s'%s,'resources':"
        "{'requests':{'storage':'%uGi'}}}}",
        number, number == 5 ? "t" : "s", more, 1 + number % 2);
}

/* A pod with three claims from this one on. */
static struct api_object *a_pod(const char *name, unsigned first) {
    return object_of_text("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':'d'"
                          "},'spec':{'containers':[{'name':'c','image':'i'}],'volumes':["
                          "{'name':'a','persistentVolumeClaim':{'claimName':'c%u'}},"
                          "{'name':'b','persistentVolumeClaim':{'claimName':'c%u'}},"
                          "{'name':'c','persistentVolumeClaim':{'claimName':'c%u'}}]}}",
                          name, first, (first + 1) % CLAIMS, (first + 2) % CLAIMS);
}

static void start(struct world *w) {
    world_start(w, data_newest_gates(), (struct sched_opts){.seed = 3});
    for (unsigned i = 0; i < NODES; i++)
        world_set(w, object_of_text("{'apiVersion':'v1','kind':'Node','metadata':{'name':'n%u',"
                                    "'labels':{'host':'h%u','zone':'z%u'%s}},'status':"
                                    "{'allocatable':{'pods':'99'}}}",
                                    i, i, i % 2, i == 2 ? ",'rack':'r'" : ""));
    static const char *const classes[] = {"s", "t"};
    for (size_t i = 0; i < 2; i++)
        world_set(w, object_of_text("{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass',"
                                    "'metadata':{'name':'%s'},'provisioner':"
                                    "'kubernetes.io/no-provisioner','volumeBindingMode':"
                                    "'WaitForFirstConsumer'}",
                                    classes[i]));
    for (unsigned i = 0; i < CLAIMS; i++)
        world_set(w, a_claim(i, i == 3 ? ",'selector':{'matchLabels':{'a':'y'}}" : ""));
}

/* ---- upstream's way ---- */

static bool could_be(const struct sched__claim *c, const struct sched__pv *pv) {
    const struct api_persistent_volume_spec *spec = &pv->body->spec;
    return str_eq(pv->class_name, api_claim_class(c->object)) &&
           quantity_cmp(&pv->size, &c->size) >= 0 && str_is(spec->volume_mode, "Filesystem");
}

/* What upstream's FindMatchingVolume finds for a claim on a node, given the bindings so far. */
static struct sched__pv *find_plain(struct sched *s, const struct sched__claim *c,
                                    const struct sched__node *node,
                                    const struct sched__binding *bindings, size_t n) {
    struct sched__pv *smallest = NULL;
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&s->store.volumes, &at));) {
        struct sched__pv *pv = sched__pv_of(s, e->value);
        struct sched__holder holder;
        bool held = sched__volume_holder(s, pv->object, &holder), chosen = false;
        for (size_t i = 0; i < n; i++)
            chosen |= bindings[i].pv == pv;
        if (chosen || (held && !sched__holder_is(&holder, c->object)) || !could_be(c, pv))
            continue;
        bool reached = !pv->affinity || match_affinity_required(pv->affinity, node->labels, NULL);
        if (held)
            return reached ? pv : NULL;
        if (!reached || !str_is(pv->body->status.phase, "Available") ||
            !sched__strs_cover(&pv->body->spec.access_modes, &c->body->spec.access_modes) ||
            (c->body->spec.selector && !selector_matches(c->selector, &pv->body->metadata.labels)))
            continue;
        if (!smallest || quantity_cmp(&smallest->size, &pv->size) > 0)
            smallest = pv;
    }
    return smallest;
}

/* ---- both ---- */

static void check_node(struct world *w, struct sched__pod_claims *claims, uint32_t slot) {
    const struct sched__node *node = &w->s->nodes.v[slot];
    const struct sched__volume_plan *plan = sched__pod_claims_place(w->s, claims, slot);
    struct sched__binding found[3];
    size_t n = 0;
    for (size_t i = 0; i < claims->unbound.n; i++) {
        const struct sched__claim *c = &claims->unbound.v[i];
        struct sched__pv *pv = find_plain(w->s, c, node, found, n);
        if (pv)
            found[n++] = (struct sched__binding){c, pv};
    }
    assert_int_equal(plan->binding_count, n);
    for (size_t i = 0; i < n; i++) {
        assert_ptr_equal(plan->bindings[i].claim, found[i].claim);
        assert_ptr_equal(plan->bindings[i].pv, found[i].pv);
    }
}

static void check_all(struct world *w) {
    for (unsigned first = 0; first < CLAIMS; first++) {
        struct arena a = {0};
        struct sched__pod_claims claims;
        struct str error = {0};
        const struct api_object *pod = world_publish(w, a_pod("asking", first));
        assert_int_equal(sched__pod_claims_read(w->s, pod, &a, &claims, &error), 0);
        for (uint32_t slot = 0; slot < w->s->nodes.n; slot++)
            check_node(w, &claims, slot);
        api_object_unref(pod);
        arena_release(&a);
    }
}

static void shelves_yield_what_asking_all_volumes_yields(void **state) {
    (void)state;
    struct world w;
    uint32_t random = 1;
    size_t scheduled = 0;
    start(&w);
    for (unsigned step = 0; step < 600; step++) {
        struct sched_result r;
        set_volume(&w, &random, step);
        if (step % 7 == 0)
            world_set(&w, a_pod("p", next_random(&random) % CLAIMS));
        while (sched_next(w.s, &r))
            scheduled += r.outcome == SCHED_SCHEDULED;
        check_all(&w);
        if (step % 7 == 5) /* gives back what its decision took */
            world_delete(&w, a_pod("p", 0));
        check_all(&w);
    }
    assert_in_range(scheduled, 10, 600);
    sched_free(w.s);
}

/* ---- racks ---- */

static size_t count_racks(const struct sched__shelf *shelf) {
    size_t n = 0;
    for (size_t i = 0; i < shelf->rows.n; i++)
        n += shelf->rows.v[i]->racks.live;
    return n;
}

/* Volumes that all want the same zone and each its own host stand under the names of the hosts. */
static void volumes_stand_where_there_are_few(void **state) {
    (void)state;
#define HOST(name) WANTS(TERM(IN("zone", "'z'") "," IN("host", name)))
    static const char *const hosts[] = {HOST("'h0'"), HOST("'h1'"), HOST("'h2'"), HOST("'h3'"),
                                        HOST("'h4'")};
#undef HOST
    struct world w;
    start(&w);
    for (unsigned i = 0; i < 5; i++)
        world_set(&w, object_of_text("{'apiVersion':'v1','kind':'PersistentVolume','metadata':"
                                     "{'name':'v%u'},'spec':{'capacity':{'storage':'1'},"
                                     "'accessModes':['ReadWriteOnce'],'local':{'path':'/'},"
                                     "'storageClassName':'s'%s},'status':{'phase':'Available'}}",
                                     i, hosts[i]));
    const struct sched__shelves *x = sched__shelves_get(w.s);
    size_t at = 0;
    assert_int_equal(x->shelves.live, 1);
    const struct sched__shelf *shelf = map_next(&x->shelves, &at)->value;
    assert_int_equal(shelf->all.n, 5);
    assert_int_equal(shelf->common.n, 0);
    assert_int_equal(count_racks(shelf), 5);
    assert_ptr_equal(sched__shelves_get(w.s), x);
    sched_free(w.s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shelves_yield_what_asking_all_volumes_yields),
        cmocka_unit_test(volumes_stand_where_there_are_few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
