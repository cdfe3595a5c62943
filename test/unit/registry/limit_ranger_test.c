/* LimitRanges with many amounts, and pods with many containers: what is done for each pair of them
 * is counted in bytes. */
#include "../data.h"
#include "base/limits.h"
#include "registry/admission/admission_int.h"
#include "registry/known.h"

struct cluster {
    struct arena a;
    struct feature_config config;
    struct registry_known *known;
    struct registry registry;
    struct registry_request request;
};

static struct api_object *decode(struct cluster *c, struct buf *text) {
    struct json tree;
    struct err err;
    struct api_object *o = NULL;
    assert_int_equal(json_parse(&c->a, arena_str(&c->a, buf_view(text)), NULL, &tree, &err), 0);
    assert_int_equal(api_object_decode(&tree, NULL, &o, NULL), 0);
    buf_release(text);
    return o;
}

/* A cluster with one LimitRange: n amounts of one field. */
static void begin(struct cluster *c, const char *field, size_t n) {
    struct buf text = BUF_INIT(SIZE_MAX);
    *c = (struct cluster){.request = {.namespace = STR("default")}};
    feature_config_init(&c->config, FEATURE_NEWEST);
    c->known = registry_known_new(STR(""));
    c->registry =
        (struct registry){.view = registry_known_view(c->known), .gates = &c->config.enabled};
    buf_addf(&text,
             "{\"apiVersion\":\"v1\",\"kind\":\"LimitRange\",\"metadata\":{\"name\":\"l\","
             "\"namespace\":\"default\"},\"spec\":{\"limits\":[{\"type\":\"Container\",\"%s\":{",
             field);
    for (size_t i = 0; i < n; i++)
        buf_addf(&text, "%s\"a.b/r%zu\":\"1\"", i ? "," : "", i);
    buf_add(&text, STR("}}]}}"));
    const struct api_object *range = api_publish(decode(c, &text));
    registry_known_set(c->known, range);
    api_object_unref(range);
}

static void end(struct cluster *c) {
    registry_known_free(c->known);
    arena_release(&c->a);
}

static struct registry__admission admission(struct cluster *c, size_t containers) {
    struct buf text = BUF_INIT(SIZE_MAX);
    buf_add(&text, STR("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\","
                       "\"namespace\":\"default\"},\"spec\":{\"containers\":["));
    for (size_t i = 0; i < containers; i++)
        buf_addf(&text, "%s{\"name\":\"c%zu\"}", i ? "," : "", i);
    buf_add(&text, STR("]}}"));
    return (struct registry__admission){.registry = &c->registry,
                                        .request = &c->request,
                                        .a = &c->a,
                                        .operation = REGISTRY_CREATE,
                                        .o = decode(c, &text)};
}

/* What defaults for so many containers take of the pod's arena. */
static size_t cost_of_defaults(size_t n, size_t containers) {
    struct cluster c;
    begin(&c, "defaultRequest", n);
    struct registry__admission m = admission(&c, containers);
    size_t before = arena_used(&m.o->arena);
    assert_true(registry__limit_ranger.mutate[REGISTRY_CREATE](&m));
    size_t cost = arena_used(&m.o->arena) - before;
    const struct api_container_list *list = &((const struct api_pod *)m.o->body)->spec.containers;
    for (size_t i = 0; i < containers; i++)
        assert_int_equal(list->v[i].resources.requests.n, n);
    const struct label *told =
        labels_find(&m.o->meta->annotations, STR("kubernetes.io/limit-ranger"));
    assert_true(told && told->value.n <= LIMIT_RANGE_TOLD_BYTES);
    api_object_free(m.o);
    end(&c);
    return cost;
}

static void defaults_are_shared_by_containers(void **state) {
    (void)state;
    size_t one = cost_of_defaults(2000, 1), many = cost_of_defaults(2000, 200);
    assert_in_range(many, one, one + LIMIT_RANGE_TOLD_BYTES + 64);
}

static void a_pod_gets_so_many_amounts(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, "default", 2000);
    struct registry__admission m = admission(&c, LIMIT_RANGE_AMOUNTS / 2000 + 1);
    assert_false(registry__limit_ranger.mutate[REGISTRY_CREATE](&m));
    assert_int_equal(m.failure.code, ERR_FORBIDDEN);
    assert_true(arena_used(&m.o->arena) < 4 << 20);
    api_object_free(m.o);
    end(&c);
}

static void add_range(struct cluster *c, size_t number) {
    struct buf text = BUF_INIT(4096);
    buf_addf(&text,
             "{\"apiVersion\":\"v1\",\"kind\":\"LimitRange\",\"metadata\":{\"name\":\"l%zu\","
             "\"namespace\":\"default\"},\"spec\":{\"limits\":[{\"type\":\"Container\"}]}}",
             number);
    const struct api_object *range = api_publish(decode(c, &text));
    registry_known_set(c->known, range);
    api_object_unref(range);
}

/* Containers count, too: each of many LimitRanges looks at all of them. */
static void so_many_containers_are_looked_at(void **state) {
    enum { CONTAINERS = 50000 };
    (void)state;
    struct cluster c;
    begin(&c, "max", 0);
    for (size_t i = 1; i < LIMIT_RANGE_AMOUNTS / CONTAINERS; i++)
        add_range(&c, i);
    struct registry__admission m = admission(&c, CONTAINERS);
    assert_true(registry__limit_ranger.mutate[REGISTRY_CREATE](&m));
    assert_true(registry__limit_ranger.validate[REGISTRY_CREATE](&m));
    add_range(&c, LIMIT_RANGE_AMOUNTS);
    assert_false(registry__limit_ranger.mutate[REGISTRY_CREATE](&m));
    assert_false(registry__limit_ranger.validate[REGISTRY_CREATE](&m));
    api_object_free(m.o);
    end(&c);
}

/* What judging so many containers takes of the arena of the failure. */
static size_t cost_of_faults(size_t n, size_t containers, size_t *told) {
    struct cluster c;
    begin(&c, "max", n);
    struct registry__admission m = admission(&c, containers);
    size_t before = arena_used(&c.a);
    assert_false(registry__limit_ranger.validate[REGISTRY_CREATE](&m));
    size_t cost = arena_used(&c.a) - before;
    *told = m.failure.message.n;
    assert_true(*told < LIMIT_RANGE_FAULT_BYTES + 1000);
    api_object_free(m.o);
    end(&c);
    return cost;
}

static void a_fault_is_found_once(void **state) {
    (void)state;
    size_t told_of_one, told_of_many;
    size_t one = cost_of_faults(2000, 1, &told_of_one);
    size_t many = cost_of_faults(2000, 200, &told_of_many);
    assert_int_equal(one, many);
    assert_int_equal(told_of_one, told_of_many);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_shared_by_containers),
        cmocka_unit_test(a_pod_gets_so_many_amounts),
        cmocka_unit_test(so_many_containers_are_looked_at),
        cmocka_unit_test(a_fault_is_found_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
