/* Subsets of Endpoints in their canonical form, and how many addresses at ports there may be. */
#include "../data.h"
#include "api/object.h"
#include "base/limits.h"
#include "codec/yml.h"
#include "manager/services/endpoint_subsets_int.h"

/* ---- the canonical form ---- */

/* Subsets as they are given, and packed: lines of "ready !not-ready : ports". */
static const struct {
    const char *what, *given, *packed;
} rows[] = {
    {"nothing", "[]", ""},
    {"no ports", "[{addresses: [{ip: 10.0.0.2}, {ip: 10.0.0.1}]}]", "10.0.0.1 10.0.0.2 :\n"},
    {"all ports of a list together, sorted",
     "[{addresses: [{ip: 10.0.0.2}, {ip: 10.0.0.1}], ports: [{port: 90}, {port: 80}]}]",
     "10.0.0.1 10.0.0.2 : 80 90\n"},
    {"the same addresses, port by port",
     "[{addresses: [{ip: 10.0.0.1}], ports: [{port: 90}]}, {addresses: [{ip: 10.0.0.1}], ports: "
     "[{port: 80}]}]",
     "10.0.0.1 : 80 90\n"},
    {"one port, subset by subset",
     "[{addresses: [{ip: 10.0.0.2}], ports: [{port: 80}]}, {addresses: [{ip: 10.0.0.1}], ports: "
     "[{port: 80}]}]",
     "10.0.0.1 10.0.0.2 : 80\n"},
    {"a port that one list has alone",
     "[{addresses: [{ip: 10.0.0.1}], ports: [{port: 80}, {port: 90}]}, {addresses: [{ip: "
     "10.0.0.2}], ports: [{port: 80}]}]",
     "10.0.0.1 : 90\n10.0.0.1 10.0.0.2 : 80\n"},
    {"not ready trumps ready, where it is said",
     "[{addresses: [{ip: 10.0.0.1}], ports: [{port: 80}, {port: 90}]}, {notReadyAddresses: [{ip: "
     "10.0.0.1}], ports: [{port: 80}]}]",
     "10.0.0.1 : 90\n!10.0.0.1 : 80\n"},
    {"the same port twice in a list",
     "[{addresses: [{ip: 10.0.0.1}], ports: [{port: 80}, {port: 80}]}]", "10.0.0.1 : 80\n"},
    {"names and protocols make ports differ",
     "[{addresses: [{ip: 10.0.0.1}], ports: [{port: 80, name: b}, {port: 80, name: a}]}]",
     "10.0.0.1 : 80 80\n"},
    {"one address of two pods",
     "[{addresses: [{ip: 10.0.0.1, targetRef: {uid: b}}, {ip: 10.0.0.1, targetRef: {uid: a}}]}]",
     "10.0.0.1 10.0.0.1 :\n"},
};

static const struct api_endpoint_subset_list *read_subsets(struct arena *a, struct api_object **o,
                                                           const char *text) {
    struct err err = {0};
    struct json tree;
    struct str all = arena_printf(a, "{apiVersion: v1, kind: Endpoints, subsets: %s}", text);
    if (yml_parse(a, all, &tree, &err) < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(api_object_decode(&tree, NULL, o, NULL), 0);
    return &((const struct api_endpoints *)(*o)->body)->subsets;
}

static struct str written(struct arena *a, const struct api_endpoint_subset_list *list) {
    struct str out = STR("");
    for (size_t i = 0; i < list->n; i++) {
        const struct api_endpoint_subset *s = &list->v[i];
        for (size_t k = 0; k < s->addresses.n; k++)
            out = arena_printf(a, "%.*s%.*s ", STR_ARG(out), STR_ARG(s->addresses.v[k].ip));
        for (size_t k = 0; k < s->not_ready_addresses.n; k++)
            out = arena_printf(a, "%.*s!%.*s ", STR_ARG(out),
                               STR_ARG(s->not_ready_addresses.v[k].ip));
        out = arena_printf(a, "%.*s:", STR_ARG(out));
        for (size_t k = 0; k < s->ports.n; k++)
            out = arena_printf(a, "%.*s %d", STR_ARG(out), s->ports.v[k].port);
        out = arena_printf(a, "%.*s\n", STR_ARG(out));
    }
    return out;
}

static void subsets_have_one_form(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a = {0};
        struct api_object *o = NULL;
        struct subset_pack pack;
        struct api_endpoint_subset_list packed, again;
        subset_pack__begin(&pack, &a, i);
        subset_pack__add_all(&pack, read_subsets(&a, &o, rows[i].given));
        assert_true(subset_pack__end(&pack, &packed));
        struct str text = written(&a, &packed);
        if (!str_is(text, rows[i].packed))
            fail_msg("%s:\n%.*s", rows[i].what, STR_ARG(text));
        subset_pack__begin(&pack, &a, i + 1);
        subset_pack__add_all(&pack, &packed);
        assert_true(subset_pack__end(&pack, &again));
        assert_true(subsets__are_equal(&packed, &again));
        api_object_free(o);
        arena_release(&a);
    }
}

/* ---- how many ---- */

enum { PORTS = 1024, ADDRESSES = LIMIT_ENDPOINT_PAIRS / PORTS };

static struct api_endpoint_port_list many_ports(struct arena *a) {
    struct api_endpoint_port_list out = {arena_array(a, struct api_endpoint_port, PORTS), PORTS};
    for (int32_t i = 0; i < PORTS; i++)
        out.v[i] = (struct api_endpoint_port){.port = i + 1, .protocol = STR("TCP")};
    return out;
}

/* All addresses have all ports; true: and each port a list of its own, too, without an address. */
static bool pack_many(struct arena *a, size_t addresses, bool in_lists_of_their_own,
                      struct api_endpoint_subset_list *out) {
    struct subset_pack pack;
    struct api_endpoint_port_list all = many_ports(a);
    subset_pack__begin(&pack, a, 1);
    struct port_list *ports = subset_pack__ports(&pack, &all);
    for (size_t i = 0; i < addresses; i++) {
        struct api_endpoint_address *address = arena_new(a, struct api_endpoint_address);
        address->ip = arena_printf(a, "10.0.%zu.%zu", i / 256, i % 256);
        subset_pack__add(&pack, ports, address, true);
    }
    for (size_t i = 0; in_lists_of_their_own && i < PORTS; i++)
        subset_pack__ports(&pack, &(struct api_endpoint_port_list){&all.v[i], 1});
    return subset_pack__end(&pack, out);
}

static void ports_with_the_same_addresses_count_once(void **state) {
    struct arena a = {0};
    struct api_endpoint_subset_list packed;
    (void)state;
    assert_true(pack_many(&a, 2 * ADDRESSES, false, &packed));
    assert_int_equal(packed.n, 1);
    assert_int_equal(packed.v[0].addresses.n, 2 * ADDRESSES);
    assert_int_equal(packed.v[0].ports.n, PORTS);
    arena_release(&a);
}

static void other_pairs_have_a_limit(void **state) {
    struct arena a = {0};
    struct api_endpoint_subset_list packed;
    (void)state;
    assert_true(pack_many(&a, ADDRESSES, true, &packed));
    assert_int_equal(packed.n, 1);
    assert_int_equal(packed.v[0].ports.n, PORTS);
    assert_false(pack_many(&a, ADDRESSES + 1, true, &packed));
    assert_int_equal(packed.n, 0);
    arena_release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(subsets_have_one_form),
        cmocka_unit_test(ports_with_the_same_addresses_count_once),
        cmocka_unit_test(other_pairs_have_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
