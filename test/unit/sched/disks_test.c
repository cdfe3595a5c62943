/* Disks that two pods of a node cannot both have: the names of disks, and who has them where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "objects.h"
#include "sched/volumes/disks_int.h"
#include "sched/volumes/state_int.h"

/* A pod with these volumes, without defaults. */
static struct api_object *a_pod(const char *volumes) {
    return object_of_text("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p'},'spec':"
                          "{'containers':[{'name':'c','image':'i'}],'volumes':[%s]}}",
                          volumes);
}

#define GCE(name, more) "{'name':'v','gcePersistentDisk':{'pdName':'" name "'" more "}}"
#define AWS(id, more)   "{'name':'v','awsElasticBlockStore':{'volumeID':'" id "'" more "}}"
#define ISCSI(name, more) \
    "{'name':'v','iscsi':{'targetPortal':'t','lun':1,'iqn':'" name "'" more "}}"
#define RBD(monitors, pool, image, more) \
    "{'name':'v','rbd':{'monitors':[" monitors "],'pool':'" pool "','image':'" image "'" more "}}"
#define READ_ONLY ",'readOnly':true"

/* Does a pod with the second disk find one that excludes it where a pod with the first is? It is
 * the same the other way round. */
static const struct {
    const char *first, *second;
    bool excluded;
} rows[] = {
    {GCE("a", ""), GCE("a", ""), true},
    {GCE("a", ""), GCE("b", ""), false},
    {GCE("a", READ_ONLY), GCE("a", ""), true},
    {GCE("a", READ_ONLY), GCE("a", READ_ONLY), false},
    {AWS("a", ""), AWS("a", ""), true},
    {AWS("a", READ_ONLY), AWS("a", READ_ONLY), true},
    {AWS("a", ""), AWS("b", ""), false},
    {AWS("a", ""), GCE("a", ""), false},
    {ISCSI("a", ""), ISCSI("a", READ_ONLY), true},
    {ISCSI("a", READ_ONLY), ISCSI("a", READ_ONLY), false},
    {ISCSI("a", ""), ISCSI("b", ""), false},
    {RBD("'m'", "p", "i", ""), RBD("'m'", "p", "i", ""), true},
    {RBD("'m','n'", "p", "i", ""), RBD("'o','n'", "p", "i", ""), true},
    {RBD("'m'", "p", "i", ""), RBD("'n'", "p", "i", ""), false},
    {RBD("'m'", "p", "i", ""), RBD("'m'", "q", "i", ""), false},
    {RBD("'m'", "p", "i", ""), RBD("'m'", "p", "j", ""), false},
    {RBD("'m'", "p", "i", READ_ONLY), RBD("'m'", "p", "i", READ_ONLY), false},
    {RBD("'m'", "pi", "", ""), RBD("'m'", "p", "i", ""), false},
    {"{'name':'v','emptyDir':{}}", GCE("a", ""), false},
    {GCE("b", "") "," GCE("a", ""), AWS("c", "") "," GCE("a", ""), true},
};

/* Is one of the disks of a pod excluded by those of another one, which is on the same node? */
static bool is_excluded(const char *there, const char *asking) {
    struct arena a = {0};
    struct map disks = MAP_INIT(5);
    struct api_object *first = a_pod(there), *second = a_pod(asking);
    struct sched__disk_names theirs = sched__disk_names(&a, first);
    struct sched__disk_names own = sched__disk_names(&a, second);
    sched__disks_count(&disks, &theirs, 7, 1);
    bool excluded = sched__disks_find(&disks, &own, 7);
    assert_null(sched__disks_find(&disks, &own, 8));
    sched__disks_count(&disks, &theirs, 7, -1);
    assert_int_equal(disks.live, 0);
    sched__disks_release(&disks);
    api_object_free(first);
    api_object_free(second);
    arena_release(&a);
    return excluded;
}

static void disks_exclude_each_other(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (is_excluded(rows[i].first, rows[i].second) != rows[i].excluded ||
            is_excluded(rows[i].second, rows[i].first) != rows[i].excluded)
            fail_msg("row %zu", i);
}

static void the_first_volume_that_is_excluded_is_found(void **state) {
    (void)state;
    struct arena a = {0};
    struct map disks = MAP_INIT(5);
    struct api_object *there = a_pod(GCE("c", "") "," GCE("b", ""));
    struct api_object *asking =
        a_pod("{'name':'e','emptyDir':{}}," GCE("a", "") "," GCE("b", "") "," GCE("c", ""));
    struct sched__disk_names theirs = sched__disk_names(&a, there);
    struct sched__disk_names own = sched__disk_names(&a, asking);
    sched__disks_count(&disks, &theirs, 0, 1);
    assert_int_equal(sched__disks_find(&disks, &own, 0)->volume, 2);
    sched__disks_release(&disks);
    api_object_free(there);
    api_object_free(asking);
    arena_release(&a);
}

/* A disk is free when nobody has it any more, and can be read when nobody writes it any more. */
static void readers_and_writers_are_counted(void **state) {
    (void)state;
    struct arena a = {0};
    struct map disks = MAP_INIT(5);
    struct api_object *reader = a_pod(GCE("a", READ_ONLY)), *writer = a_pod(GCE("a", ""));
    struct sched__disk_names reads = sched__disk_names(&a, reader);
    struct sched__disk_names writes = sched__disk_names(&a, writer);
    sched__disks_count(&disks, &reads, 0, 1);
    sched__disks_count(&disks, &reads, 0, 1);
    sched__disks_count(&disks, &writes, 0, 1);
    assert_non_null(sched__disks_find(&disks, &reads, 0));
    sched__disks_count(&disks, &writes, 0, -1);
    assert_null(sched__disks_find(&disks, &reads, 0));
    sched__disks_count(&disks, &reads, 0, -1);
    assert_non_null(sched__disks_find(&disks, &writes, 0));
    sched__disks_count(&disks, &reads, 0, -1);
    assert_null(sched__disks_find(&disks, &writes, 0));
    assert_int_equal(disks.live, 0);
    sched__disks_release(&disks);
    api_object_free(reader);
    api_object_free(writer);
    arena_release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(disks_exclude_each_other),
        cmocka_unit_test(the_first_volume_that_is_excluded_is_found),
        cmocka_unit_test(readers_and_writers_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
