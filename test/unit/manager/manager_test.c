/* Which controllers run: lists as --controllers has them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../world.h"
#include "manager/controller_int.h"

static bool runs(const struct manager *m, const char *name) {
    size_t n;
    const char *const *names = manager_controllers(&n);
    for (size_t i = 0; i < n; i++)
        if (!strcmp(names[i], name))
            return m->running[i];
    fail_msg("no controller %s", name);
    return false;
}

static void lists_choose(void **state) {
    static const struct {
        const char *list[4];
        bool deployment, replicaset;
    } cases[] = {
        {{NULL}, true, true},
        {{"*"}, true, true},
        {{"*", "-deployment-controller"}, false, true},
        {{"*", "-deployment"}, false, true},
        {{"-deployment-controller", "*"}, false, true},
        {{"deployment-controller"}, true, false},
        {{"replicaset"}, false, true},
        {{"-replicaset-controller"}, false, false},
        {{"deployment-controller", "-deployment-controller"}, true, false}, /* the first counts */
        {{"-deployment-controller", "deployment-controller", "*"}, false, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        struct err err = {0};
        struct str list[4];
        size_t n = 0;
        for (; n < 4 && cases[i].list[n]; n++)
            list[n] = str_of(cases[i].list[n]);
        world_start(&w, "");
        struct manager *m = manager_new(&(struct manager_opts){.client = w.client,
                                                               .informers = w.informers,
                                                               .log = &w.log,
                                                               .gates = &w.gates.enabled,
                                                               .controllers = list,
                                                               .controller_count = n},
                                        &err);
        assert_non_null(m);
        assert_int_equal(runs(m, "deployment-controller"), cases[i].deployment);
        assert_int_equal(runs(m, "replicaset-controller"), cases[i].replicaset);
        manager_free(m);
        informers_free(w.informers);
        w.informers = NULL;
        world_stop(&w);
    }
}

static void names_are_checked(void **state) {
    static const struct {
        const char *name, *text; /* NULL: it is good */
    } cases[] = {
        {"*", NULL},
        {"taint-eviction-controller", NULL},
        {"-podgc", NULL},
        {"taint-eviction", "\"taint-eviction\" is not in the list of known controllers"},
        {"-nonsense", "\"nonsense\" is not in the list of known controllers"},
        {"-*", "\"*\" is not in the list of known controllers"},
        {"", "\"\" is not in the list of known controllers"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        struct str name = str_of(cases[i].name);
        assert_int_equal(manager_check_controllers(&name, 1, &err), cases[i].text ? -1 : 0);
        if (cases[i].text)
            assert_string_equal(err.msg, cases[i].text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_choose),
        cmocka_unit_test(names_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
