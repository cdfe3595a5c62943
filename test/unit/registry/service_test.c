/* Services and what they get of a cluster: addresses, families and ports. The draw always gives
 * the first place that is not kept for those who ask. What is refused in which words is compared
 * with upstream's in test/server/cases. */
#include "../data.h"
#include "base/limits.h"
#include "registry/registry.h"

static void draw_nothing(void *ctx, void *to, size_t n) {
    (void)ctx;
    memset(to, 0, n);
}

static struct registry_ranges *ranges_of(const char *text) {
    struct registry_ranges_opts opts = {.draw = draw_nothing};
    struct err err;
    if (registry_cidrs_read(str_of(text), &opts.cidrs, &err) < 0)
        fail_msg("%s: %s", text, err.msg);
    return registry_ranges_new(&opts);
}

static struct api_object *service_of(struct arena *a, const char *name, const char *spec) {
    struct feature_set gates = data_newest_gates();
    struct json tree;
    struct api_object *o = NULL;
    struct str text = arena_printf(a,
                                   "{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{"
                                   "\"name\":\"%s\",\"namespace\":\"default\",\"uid\":\"u\","
                                   "\"resourceVersion\":\"1\"},\"spec\":%s}",
                                   name, spec);
    assert_int_equal(json_parse(a, text, NULL, &tree, NULL), 0);
    assert_int_equal(api_object_decode(&tree, NULL, &o, NULL), 0);
    api_object_default(o, &gates);
    return o;
}

/* Creates a service, or has it replace old; its spec or the failure as a text. */
static struct str write_service(struct arena *a, const struct registry_ranges *ranges,
                                struct api_object *o, const struct api_object *old, bool dry) {
    struct feature_set gates = data_newest_gates();
    struct registry registry = {.gates = &gates, .ranges = ranges};
    struct registry_request request = {.namespace = STR("default"), .is_dry_run = dry};
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    struct registry_failure f = old ? registry_update(&registry, &request, a, o, old)
                                    : registry_create(&registry, &request, a, o);
    const struct api_service_spec *s = &((const struct api_service *)o->body)->spec;
    if (f.code)
        return f.message;
    for (size_t i = 0; i < s->cluster_ips.n; i++)
        buf_addf(&text, "%s%.*s", i ? "," : "", STR_ARG(s->cluster_ips.v[i]));
    for (size_t i = 0; i < s->ip_families.n; i++)
        buf_addf(&text, "%s%.*s", i ? "," : " ", STR_ARG(s->ip_families.v[i]));
    buf_addf(&text, " %.*s", STR_ARG(s->ip_family_policy));
    for (size_t i = 0; i < s->ports.n; i++)
        buf_addf(&text, " %d", (int)s->ports.v[i].node_port);
    if (s->health_check_node_port)
        buf_addf(&text, " health %d", (int)s->health_check_node_port);
    return arena_str(a, buf_view(&text));
}

#define ONE   "10.0.0.0/24"
#define BOTH  "10.0.0.0/24,fd00::/112"
#define PORTS "\"ports\":[{\"port\":80}]"
#define TWO(policy)                                                         \
    "\"clusterIP\":\"10.0.0.9\",\"clusterIPs\":[\"10.0.0.9\",\"fd00::9\"]," \
    "\"ipFamilies\":[\"IPv4\",\"IPv6\"],\"ipFamilyPolicy\":\"" policy "\","
#define SINGLE                                                  \
    "\"clusterIP\":\"10.0.0.9\",\"clusterIPs\":[\"10.0.0.9\"]," \
    "\"ipFamilies\":[\"IPv4\"],\"ipFamilyPolicy\":\"SingleStack\","

static const struct {
    const char *ranges, *old, *spec; /* ranges NULL: not known; old NULL: it is new */
    const char *want;                /* what it gets, or the end of the failure */
} rows[] = {
    {ONE, NULL, "{" PORTS "}", "10.0.0.17 IPv4 SingleStack 0"},
    {BOTH, NULL, "{" PORTS "}", "10.0.0.17 IPv4 SingleStack 0"},
    {"fd00::/112,10.0.0.0/24", NULL, "{" PORTS "}", "fd00::101 IPv6 SingleStack 0"},
    {BOTH, NULL, "{\"ipFamilyPolicy\":\"PreferDualStack\"," PORTS "}",
     "10.0.0.17,fd00::101 IPv4,IPv6 PreferDualStack 0"},
    {BOTH, NULL, "{\"ipFamilyPolicy\":\"RequireDualStack\",\"ipFamilies\":[\"IPv6\"]," PORTS "}",
     "fd00::101,10.0.0.17 IPv6,IPv4 RequireDualStack 0"},
    {ONE, NULL, "{\"ipFamilyPolicy\":\"PreferDualStack\"," PORTS "}",
     "10.0.0.17 IPv4 PreferDualStack 0"},
    {NULL, NULL, "{" PORTS "}", " IPv4 SingleStack 0"},
    {NULL, NULL, "{\"type\":\"LoadBalancer\",\"externalTrafficPolicy\":\"Local\"," PORTS "}",
     " IPv4 SingleStack 32769 health 32770"},
    {ONE, NULL, "{\"type\":\"ExternalName\",\"externalName\":\"a.b\"}", " "},
    {ONE, NULL, "{\"type\":\"NodePort\"," PORTS "}", "10.0.0.17 IPv4 SingleStack 30086"},
    {ONE, NULL,
     "{\"type\":\"NodePort\",\"ports\":[{\"port\":80,\"name\":\"a\"},{\"port\":80,\"name\":\"b\","
     "\"protocol\":\"UDP\",\"nodePort\":30001},{\"port\":81,\"name\":\"c\"}]}",
     "10.0.0.17 IPv4 SingleStack 30001 30001 30086"},
    {ONE, "{\"type\":\"NodePort\"," SINGLE "\"ports\":[{\"port\":80,\"nodePort\":30001}]}",
     "{\"type\":\"NodePort\"," PORTS "}", "10.0.0.9 IPv4 SingleStack 30001"},
    {ONE, "{\"type\":\"NodePort\"," SINGLE "\"ports\":[{\"port\":80,\"nodePort\":30001}]}",
     "{" PORTS "}", "10.0.0.9 IPv4 SingleStack 0"},
    {BOTH, "{" SINGLE PORTS "}", "{\"ipFamilyPolicy\":\"RequireDualStack\"," PORTS "}",
     "10.0.0.9,fd00::101 IPv4,IPv6 RequireDualStack 0"},
    {BOTH, "{" TWO("RequireDualStack") PORTS "}", "{" TWO("SingleStack") PORTS "}",
     "10.0.0.9 IPv4 SingleStack 0"},
    {BOTH, "{" TWO("RequireDualStack") PORTS "}",
     "{\"clusterIP\":\"10.0.0.9\",\"clusterIPs\":[\"10.0.0.9\"]," PORTS "}",
     "must be 'SingleStack' to release the secondary cluster IP"},
    {ONE, "{\"clusterIP\":\"None\",\"clusterIPs\":[\"None\"]}", "{\"clusterIP\":\"None\"}",
     "None IPv4,IPv6 RequireDualStack"},
};

static bool ends(struct str text, const char *end) {
    return str_eq(text, str_of(end)) || (str_of(end).n > 20 && str_ends(text, str_of(end)));
}

static void services_get_what_they_lack(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a = {0};
        struct registry_ranges *ranges = rows[i].ranges ? ranges_of(rows[i].ranges) : NULL;
        struct api_object *o = service_of(&a, "s", rows[i].spec);
        struct api_object *old = rows[i].old ? service_of(&a, "s", rows[i].old) : NULL;
        struct str got = write_service(&a, ranges, o, old, false);
        if (!ends(got, rows[i].want))
            fail_msg("row %zu: want %s, got %.*s", i, rows[i].want, STR_ARG(got));
        api_object_free(o);
        api_object_free(old);
        registry_ranges_free(ranges);
        arena_release(&a);
    }
}

/* A service that asks for this is refused or not. */
static bool is_refused(struct registry_ranges *ranges, const char *name, const char *spec) {
    struct arena a = {0};
    struct api_object *o = service_of(&a, name, spec);
    struct str got = write_service(&a, ranges, o, NULL, false);
    bool refused = str_ends(got, STR("is already allocated"));
    api_object_free(o);
    arena_release(&a);
    return refused;
}

#define ASKING "{\"type\":\"NodePort\",\"clusterIP\":\"10.0.0.9\",\"ports\":[{\"port\":80}]}"
#define PORT   "{\"type\":\"NodePort\",\"ports\":[{\"port\":80,\"nodePort\":30009}]}"
#define HEALTH                                                                                \
    "{\"type\":\"LoadBalancer\",\"externalTrafficPolicy\":\"Local\",\"healthCheckNodePort\":" \
    "30009," PORTS "}"

static void what_is_stored_is_taken(void **state) {
    (void)state;
    struct arena a = {0};
    struct registry_ranges *ranges = ranges_of(ONE);
    struct api_object *stored = service_of(
        &a, "s", "{\"type\":\"NodePort\"," SINGLE "\"ports\":[{\"port\":80,\"nodePort\":30009}]}");
    assert_false(is_refused(ranges, "t", ASKING));
    registry_ranges_add(ranges, stored);
    assert_true(is_refused(ranges, "t", ASKING));
    assert_true(is_refused(ranges, "t", PORT));
    assert_true(is_refused(ranges, "t", HEALTH));
    registry_ranges_remove(ranges, stored);
    assert_false(is_refused(ranges, "t", ASKING));
    assert_false(is_refused(ranges, "t", PORT));
    assert_false(is_refused(ranges, "t", HEALTH));
    api_object_free(stored);
    registry_ranges_free(ranges);
    arena_release(&a);
}

static void the_first_address_is_that_of_kubernetes(void **state) {
    (void)state;
    struct registry_ranges *ranges = ranges_of(ONE);
    assert_true(is_refused(ranges, "s", "{\"clusterIP\":\"10.0.0.1\"," PORTS "}"));
    assert_false(is_refused(ranges, "kubernetes", "{\"clusterIP\":\"10.0.0.1\"," PORTS "}"));
    registry_ranges_free(ranges);
}

static void a_full_range_is_an_internal_error(void **state) {
    (void)state;
    struct arena a = {0};
    struct registry_ranges *ranges = ranges_of("10.0.0.0/30");
    struct api_object *first = service_of(&a, "a", "{" PORTS "}");
    struct api_object *second = service_of(&a, "b", "{" PORTS "}");
    assert_true(str_starts(write_service(&a, ranges, first, NULL, false), STR("10.0.0.2 ")));
    registry_ranges_add(ranges, first);
    assert_true(str_is(write_service(&a, ranges, second, NULL, false),
                       "Internal error occurred: failed to allocate a serviceIP for Service "
                       "\"b\": range is full"));
    api_object_free(first);
    api_object_free(second);
    registry_ranges_free(ranges);
    arena_release(&a);
}

static void ranges_are_read_and_bounded(void **state) {
    (void)state;
    static const char *const good[] = {"10.0.0.0/24", "10.0.0.0/12", "fd00::/108",
                                       "10.0.0.0/24, fd00::/112", "fd00::/112,10.0.0.0/24"};
    static const char *const bad[] = {"",
                                      "x",
                                      "10.0.0.0",
                                      "10.0.0.0/11",
                                      "10.0.0.0/31",
                                      "fd00::/107",
                                      "10.0.0.0/24,10.1.0.0/24",
                                      "10.0.0.0/24,",
                                      "::ffff:10.0.0.0/120",
                                      "10.0.0.0/24,fd00::/112,10.1.0.0/24"};
    struct registry_cidrs cidrs;
    struct err err;
    assert_int_equal(LIMIT_SERVICE_RANGE_BITS, 20);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal(registry_cidrs_read(str_of(good[i]), &cidrs, &err), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(registry_cidrs_read(str_of(bad[i]), &cidrs, &err), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(services_get_what_they_lack),
        cmocka_unit_test(what_is_stored_is_taken),
        cmocka_unit_test(the_first_address_is_that_of_kubernetes),
        cmocka_unit_test(a_full_range_is_an_internal_error),
        cmocka_unit_test(ranges_are_read_and_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
