/* CSIStorageCapacity objects: the space that a node reaches, compared with asking each of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "api/selector.h"
#include "base/limits.h"
#include "sched/volumes/state_int.h"
#include "world.h"

static void start_world(struct world *w) {
    world_start(w, data_newest_gates(), (struct sched_opts){.seed = 3});
}

/* The rest of the object, in JSON. */
static struct api_object *a_capacity(unsigned number, const char *class_name, const char *rest) {
    return object_of_text("{'apiVersion':'storage.k8s.io/v1','kind':'CSIStorageCapacity',"
                          "'metadata':{'name':'k%u','namespace':'d'},'storageClassName':'%s'%s}",
                          number, class_name, rest);
}

/* ---- single cases ---- */

/* One capacity of class s, and whether a node with zone=z has space of so many bytes. */
static const struct {
    const char *rest;
    int64_t size;
    bool found;
} rows[] = {
    {",'nodeTopology':{},'capacity':'5'", 5, true},
    {",'nodeTopology':{},'capacity':'5'", 6, false},
    {",'nodeTopology':{},'capacity':'5','maximumVolumeSize':'3'", 3, true},
    {",'nodeTopology':{},'capacity':'5','maximumVolumeSize':'3'", 4, false},
    {",'nodeTopology':{},'maximumVolumeSize':'3'", 3, true},
    {",'nodeTopology':{},'capacity':'1500m'", 2, true}, /* rounded up */
    {",'nodeTopology':{}", 0, false},
    {",'capacity':'5'", 5, false},
    {",'capacity':'5','nodeTopology':{'matchLabels':{'zone':'z'}}", 5, true},
    {",'capacity':'5','nodeTopology':{'matchLabels':{'zone':'y'}}", 5, false},
    {",'capacity':'5','nodeTopology':{'matchLabels':{'zone':'z','host':'h'}}", 5, false},
    {",'capacity':'5','nodeTopology':{'matchExpressions':[{'key':'host','operator':"
     "'DoesNotExist'}]}",
     5, true},
    {",'capacity':'5','nodeTopology':{'matchExpressions':[{'key':'zone','operator':'Wrong'}]}", 5,
     false},
};

static void one_capacity(void **state) {
    (void)state;
    struct label zone = {STR("zone"), STR("z")};
    struct labels labels = {&zone, 1};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world w;
        start_world(&w);
        assert_null(sched__capacities_find(w.s, STR("s"), 0, &labels));
        world_set(&w, a_capacity(0, "s", rows[i].rest));
        bool found = sched__capacities_find(w.s, STR("s"), rows[i].size, &labels);
        if (found != rows[i].found)
            fail_msg("row %zu: %d", i, found);
        assert_null(sched__capacities_find(w.s, STR("t"), rows[i].size, &labels));
        sched_free(w.s);
    }
}

/* ---- many of them ---- */

static unsigned next_random(uint32_t *state) {
    *state = *state * 1664525 + 1013904223;
    return *state >> 16;
}

static const struct api_csi_storage_capacity *
find_plain(struct sched *s, struct str class_name, int64_t size, const struct labels *labels) {
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&s->store.capacities, &at));) {
        struct arena a = {0};
        struct selector *nodes = NULL;
        const struct api_csi_storage_capacity *c =
            ((const struct api_object *)e->const_value)->body;
        const struct quantity *limit = sched__capacity_limit(c);
        bool found = str_eq(c->storage_class_name, class_name) && limit &&
                     quantity_value(limit) >= size &&
                     selector_compile(&a, c->node_topology, &nodes, NULL) == 0 &&
                     selector_matches(nodes, labels);
        arena_release(&a);
        if (found)
            return c;
    }
    return NULL;
}

static const char *const topologies[] = {
    "",
    ",'nodeTopology':{}",
    ",'nodeTopology':{'matchLabels':{'zone':'a'}}",
    ",'nodeTopology':{'matchLabels':{'zone':'b','host':'a'}}",
    ",'nodeTopology':{'matchExpressions':[{'key':'host','operator':'NotIn','values':['a']}]}",
    ",'nodeTopology':{'matchExpressions':[{'key':'rack','operator':'Exists'}]}",
    ",'nodeTopology':{'matchExpressions':[{'key':'zone','operator':'In','values':['a','b']}]}",
};

/* Changes one of eight capacities of two classes. */
static void change_one(struct world *w, uint32_t *random) {
    char rest[200];
    unsigned number = next_random(random) % 8, what = next_random(random) % 7;
    snprintf(rest, sizeof rest, "%s,'capacity':'%u'", topologies[what], next_random(random) % 6);
    struct api_object *o = a_capacity(number, next_random(random) % 3 ? "s" : "t", rest);
    if (next_random(random) % 4)
        world_set(w, o);
    else
        world_delete(w, o);
}

static void check_all(struct world *w) {
    static const struct str keys[] = {STR_INIT("host"), STR_INIT("rack"), STR_INIT("zone")};
    static const struct str values[] = {{0}, STR_INIT("a"), STR_INIT("b")};
    for (unsigned code = 0; code < 27 * 6; code++) {
        struct label v[3];
        struct labels labels = {v, 0};
        unsigned rest = code / 6;
        int64_t size = code % 6;
        for (size_t i = 0; i < 3; i++, rest /= 3)
            if (rest % 3)
                v[labels.n++] = (struct label){keys[i], values[rest % 3]};
        assert_ptr_equal(sched__capacities_find(w->s, STR("s"), size, &labels),
                         find_plain(w->s, STR("s"), size, &labels));
        assert_ptr_equal(sched__capacities_find(w->s, STR("t"), size, &labels),
                         find_plain(w->s, STR("t"), size, &labels));
    }
}

static void changes_are_seen(void **state) {
    (void)state;
    struct world w;
    uint32_t random = 1;
    start_world(&w);
    for (int i = 0; i < 200; i++) {
        change_one(&w, &random);
        check_all(&w);
    }
    sched_free(w.s);
}

/* Each of many nodes reaches many capacities. */
static void no_more_is_remembered_than_LIMIT_SCHED_REACH_BYTES(void **state) {
    (void)state;
    enum { CAPACITIES = 4000, BYTES = CAPACITIES * sizeof(void *) };
    struct world w;
    start_world(&w);
    for (unsigned i = 0; i < CAPACITIES; i++) {
        char rest[200];
        snprintf(rest, sizeof rest,
                 ",'capacity':'%u','nodeTopology':{'matchExpressions':[{'key':'host','operator':"
                 "'Exists'}]}",
                 i);
        world_set(&w, a_capacity(i, "s", rest));
    }
    size_t most = 0;
    for (unsigned i = 0; i < 2 * (LIMIT_SCHED_REACH_BYTES / BYTES); i++) {
        char name[16];
        struct label host = {STR("host"), {name, (size_t)snprintf(name, sizeof name, "h%u", i)}};
        struct labels labels = {&host, 1};
        assert_non_null(sched__capacities_find(w.s, STR("s"), CAPACITIES - 1, &labels));
        size_t bytes = w.s->volumes->capacities->found_bytes;
        most = most < bytes ? bytes : most;
        assert_true(bytes <= LIMIT_SCHED_REACH_BYTES);
    }
    assert_true(most > LIMIT_SCHED_REACH_BYTES / 2);
    sched_free(w.s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_capacity),
        cmocka_unit_test(changes_are_seen),
        cmocka_unit_test(no_more_is_remembered_than_LIMIT_SCHED_REACH_BYTES),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
