/* What is done for two long lists that meet grows in proportion to them: in admission, in quotas
 * and in tables. */
#include "../data.h"

#include "../cost.h"
#include "codec/base64.h"
#include "registry/admission/admission_int.h"
#include "registry/known.h"
#include "registry/printed.h"
#include "registry/quota.h"

/* A cluster as admission sees it. */
struct cluster {
    struct arena a;
    struct feature_config config;
    struct registry_known *known;
    struct registry registry;
    struct registry_request request;
    struct valid_user user;
};

static void begin(struct cluster *c) {
    *c = (struct cluster){.user.name = STR("u")};
    c->request = (struct registry_request){.namespace = STR("default"), .user = &c->user};
    feature_config_init(&c->config, FEATURE_NEWEST);
    c->known = registry_known_new(STR(""));
    c->registry =
        (struct registry){.view = registry_known_view(c->known), .gates = &c->config.enabled};
}

static void end(struct cluster *c) {
    registry_known_free(c->known);
    arena_release(&c->a);
}

/* The object of a text, which is freed. */
static struct api_object *decode(struct cluster *c, struct buf *text) {
    struct json tree;
    struct err err;
    struct api_object *o = NULL;
    const struct json_opts any = {.max_bytes = SIZE_MAX};
    if (json_parse(&c->a, arena_str(&c->a, buf_view(text)), &any, &tree, &err) < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(api_object_decode(&tree, NULL, &o, NULL), 0);
    buf_release(text);
    return o;
}

static void know(struct cluster *c, struct buf *text) {
    const struct api_object *o = api_publish(decode(c, text));
    registry_known_set(c->known, o);
    api_object_unref(o);
}

static struct registry__admission admission(struct cluster *c, struct api_object *o,
                                            const struct api_object *old) {
    return (struct registry__admission){.registry = &c->registry,
                                        .request = &c->request,
                                        .a = &c->a,
                                        .operation = old ? REGISTRY_UPDATE : REGISTRY_CREATE,
                                        .o = o,
                                        .old = old};
}

static void check(cost_fn *fn, size_t n) {
    double growth = cost_growth(fn, n);
    if (growth > COST_MOST_GROWTH)
        fail_msg("four times as many of %zu take %.1f times as long", n, growth);
}

/* What all objects of these tests begin with. */
#define NAMED(api, kind)                           \
    "{\"apiVersion\":\"" api "\",\"kind\":\"" kind \
    "\",\"metadata\":{\"name\":\"x\",\"namespace\":\"default\""

static const char *comma(size_t i) {
    return i ? "," : "";
}

/* ---- certificates ---- */

/* An element of DER with a length of four bytes. */
static void add_element(struct buf *out, char tag, struct str inside) {
    buf_add_char(out, tag);
    buf_add_char(out, (char)0x84);
    for (int shift = 24; shift >= 0; shift -= 8)
        buf_add_char(out, (char)(inside.n >> shift & 255));
    buf_add(out, inside);
}

static void organizations_of_a_request(void **state) {
    enum { MANY = 5000 };
    AUTO(arena_release) struct arena a = {0};
    AUTO(buf_release) struct buf set = BUF_INIT(SIZE_MAX), subject = BUF_INIT(SIZE_MAX);
    AUTO(buf_release) struct buf info = BUF_INIT(SIZE_MAX), whole = BUF_INIT(SIZE_MAX);
    AUTO(buf_release) struct buf der = BUF_INIT(SIZE_MAX), pem = BUF_INIT(SIZE_MAX);
    struct registry__csr_subject read;
    (void)state;
    for (size_t i = 0; i < MANY; i++)
        buf_add(&set, STR("\x30\x08\x06\x03\x55\x04\x0a\x0c\x01o"));
    add_element(&subject, 0x31, buf_view(&set));
    buf_add(&info, (struct str){"\x02\x01\x00", 3});
    add_element(&info, 0x30, buf_view(&subject));
    add_element(&whole, 0x30, buf_view(&info));
    add_element(&der, 0x30, buf_view(&whole));
    buf_add(&pem, STR("-----BEGIN CERTIFICATE REQUEST-----\n"));
    base64_write(&pem, buf_view(&der));
    buf_add(&pem, STR("\n-----END CERTIFICATE REQUEST-----\n"));
    assert_int_equal(registry__csr_read(&a, buf_view(&pem), &read, NULL), 0);
    assert_int_equal(read.organizations.n, MANY);
    assert_true(str_is(read.organizations.v[MANY - 1], "o"));
    assert_true(arena_used(&a) < 1 << 20);
}

/* ---- accounts and owners ---- */

/* A pod that takes n secrets, all of which its account names. */
static void take_secrets(struct cost *cost, size_t n) {
    struct cluster c;
    struct buf account = BUF_INIT(SIZE_MAX), pod = BUF_INIT(SIZE_MAX);
    begin(&c);
    buf_add(
        &account,
        STR(NAMED("v1", "ServiceAccount") ",\"annotations\":{\"kubernetes.io/"
                                          "enforce-mountable-secrets\":\"true\"}},\"secrets\":["));
    buf_add(&pod, STR(NAMED("v1", "Pod") "},\"spec\":{\"serviceAccountName\":\"x\",\"volumes\":["));
    for (size_t i = 0; i < n; i++) {
        buf_addf(&account, "%s{\"name\":\"s%zu\"}", comma(i), i);
        buf_addf(&pod, "%s{\"name\":\"v%zu\",\"secret\":{\"secretName\":\"s%zu\"}}", comma(i), i,
                 n - 1 - i);
    }
    buf_add(&account, STR("]}"));
    buf_add(&pod, STR("]}}"));
    know(&c, &account);
    struct api_object *o = decode(&c, &pod);
    struct registry__admission m = admission(&c, o, NULL);
    cost_begin(cost);
    assert_true(registry__service_account.validate[REGISTRY_CREATE](&m));
    cost_end(cost);
    api_object_free(o);
    end(&c);
}

static void secrets_of_a_pod_and_its_account(void **state) {
    (void)state;
    check(take_secrets, 4000);
}

static struct api_object *owned(struct cluster *c, size_t n, const char *last) {
    struct buf text = BUF_INIT(SIZE_MAX);
    buf_add(&text, STR(NAMED("v1", "ConfigMap") ",\"ownerReferences\":["));
    for (size_t i = 0; i < n; i++)
        buf_addf(&text,
                 "%s{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"%s\",\"uid\":\"u%zu\","
                 "\"blockOwnerDeletion\":true}",
                 comma(i), i + 1 < n ? "p" : last, i);
    buf_add(&text, STR("]}}"));
    return decode(c, &text);
}

static void keep_owners(struct cost *cost, size_t n) {
    struct cluster c;
    begin(&c);
    struct api_object *o = owned(&c, n, "q"), *old = owned(&c, n, "p");
    struct registry__admission m = admission(&c, o, old);
    cost_begin(cost);
    assert_true(registry__owner_references.validate[REGISTRY_UPDATE](&m));
    cost_end(cost);
    api_object_free(o);
    api_object_free(old);
    end(&c);
}

static void owners_before_and_after(void **state) {
    (void)state;
    check(keep_owners, 4000);
}

/* ---- quotas ---- */

static struct buf amounts_of(const char *first, size_t n, const char *amount) {
    struct buf list = BUF_INIT(SIZE_MAX);
    buf_addf(&list, "{\"%s\":\"%s\"", first, amount);
    for (size_t i = 0; i < n; i++)
        buf_addf(&list, ",\"requests.a.b/r%zu\":\"%s\"", i, amount);
    buf_add_char(&list, '}');
    return list;
}

/* A quota of one resource and n others, of which nothing is used. */
static struct buf quota_of(const char *name, const char *first, size_t n) {
    struct buf text = BUF_INIT(SIZE_MAX), hard = amounts_of(first, n, "9k"),
               used = amounts_of(first, n, "0");
    buf_addf(&text,
             "{\"apiVersion\":\"v1\",\"kind\":\"ResourceQuota\",\"metadata\":{\"name\":\"%s\","
             "\"namespace\":\"default\"},\"spec\":{\"hard\":%.*s},\"status\":{\"hard\":%.*s,"
             "\"used\":%.*s}}",
             name, STR_ARG(buf_view(&hard)), STR_ARG(buf_view(&hard)), STR_ARG(buf_view(&used)));
    buf_release(&hard);
    buf_release(&used);
    return text;
}

/* A pod of n containers, which all ask for cpu. */
static struct api_object *pod_of(struct cluster *c, size_t n) {
    struct buf text = BUF_INIT(SIZE_MAX);
    buf_add(&text, STR(NAMED("v1", "Pod") "},\"spec\":{\"containers\":["));
    for (size_t i = 0; i < n; i++)
        buf_addf(&text, "%s{\"name\":\"c%zu\",\"resources\":{\"requests\":{\"cpu\":\"1m\"}}}",
                 comma(i), i);
    buf_add(&text, STR("]}}"));
    return decode(c, &text);
}

/* Many objects are counted for a quota of many resources. */
static void objects_by_resources(void **state) {
    enum { RESOURCES = 2000, PODS = 500 };
    struct cluster c;
    (void)state;
    begin(&c);
    struct buf text = quota_of("q", "pods", RESOURCES);
    struct api_object *quota = decode(&c, &text), *pod = pod_of(&c, 1);
    const struct api_resource_quota_spec *spec =
        &((const struct api_resource_quota *)quota->body)->spec;
    struct registry_meter meter = {
        .arena = &c.a, .gates = &c.config.enabled, .now = {.sec = 1, .set = true}};
    struct api_quantities used = registry_quota_names(&meter, pod->kind, &spec->hard);
    size_t before = arena_used(&c.a);
    assert_int_equal(used.n, RESOURCES + 1);
    for (size_t i = 0; i < PODS; i++)
        registry_quota_add(&meter, spec, pod, &used);
    assert_true(arena_used(&c.a) - before < 1 << 16);
    assert_true(str_is(used.v[0].key, "pods"));
    assert_int_equal(quantity_value(&used.v[0].value), PODS);
    api_object_free(quota);
    api_object_free(pod);
    end(&c);
}

/* n quotas demand that n containers say what they ask for. */
static void demand_requests(struct cost *cost, size_t n) {
    struct cluster c;
    begin(&c);
    for (size_t i = 0; i < n; i++) {
        char name[24];
        snprintf(name, sizeof name, "q%zu", i);
        struct buf text = quota_of(name, "requests.cpu", 0);
        know(&c, &text);
    }
    struct api_object *pod = pod_of(&c, n);
    struct registry__admission m = admission(&c, pod, NULL);
    cost_begin(cost);
    if (!registry__resource_quota.validate[REGISTRY_CREATE](&m))
        fail_msg("%.*s", STR_ARG(m.failure.message));
    cost_end(cost);
    api_object_free(pod);
    end(&c);
}

static void quotas_by_containers(void **state) {
    (void)state;
    check(demand_requests, 500);
}

/* A quota names one scope n times, and a pod has n containers. */
static void repeat_scope(struct cost *cost, size_t n) {
    struct cluster c;
    struct buf text = BUF_INIT(SIZE_MAX);
    begin(&c);
    buf_add(&text, STR("{\"apiVersion\":\"v1\",\"kind\":\"ResourceQuota\",\"metadata\":{\"name\":"
                       "\"q\",\"namespace\":\"default\"},\"spec\":{\"hard\":{\"pods\":\"9\"},"
                       "\"scopeSelector\":{\"matchExpressions\":["));
    for (size_t i = 0; i < n; i++)
        buf_addf(&text, "%s{\"scopeName\":\"NotBestEffort\",\"operator\":\"Exists\"}", comma(i));
    buf_add(&text, STR("]}},\"status\":{\"hard\":{\"pods\":\"9\"},\"used\":{\"pods\":\"0\"}}}"));
    know(&c, &text);
    struct api_object *pod = pod_of(&c, n);
    struct registry__admission m = admission(&c, pod, NULL);
    cost_begin(cost);
    if (!registry__resource_quota.validate[REGISTRY_CREATE](&m))
        fail_msg("%.*s", STR_ARG(m.failure.message));
    cost_end(cost);
    api_object_free(pod);
    end(&c);
}

static void scopes_by_containers(void **state) {
    (void)state;
    check(repeat_scope, 1000);
}

/* ---- tables ---- */

static void print(struct cost *cost, struct cluster *c, struct buf *text) {
    struct api_object *o = decode(c, text);
    cost_begin(cost);
    registry_table_cells(&c->a, o, (struct api_time){.sec = 1, .set = true});
    cost_end(cost);
    api_object_free(o);
}

static void print_quota(struct cost *cost, size_t n) {
    struct cluster c;
    begin(&c);
    struct buf text = quota_of("q", "pods", n);
    print(cost, &c, &text);
    end(&c);
}

static void table_of_a_quota(void **state) {
    (void)state;
    check(print_quota, 4000);
}

static void print_pod(struct cost *cost, size_t n) {
    struct cluster c;
    struct buf text = BUF_INIT(SIZE_MAX);
    begin(&c);
    buf_add(&text, STR(NAMED("v1", "Pod") "},\"spec\":{\"readinessGates\":["));
    for (size_t i = 0; i < n; i++)
        buf_addf(&text, "%s{\"conditionType\":\"a.b/c%zu\"}", comma(i), i);
    buf_add(&text, STR("]},\"status\":{\"conditions\":["));
    for (size_t i = 0; i < n; i++)
        buf_addf(&text, "%s{\"type\":\"a.b/d%zu\",\"status\":\"True\"}", comma(i), i);
    buf_add(&text, STR("]}}"));
    print(cost, &c, &text);
    end(&c);
}

static void table_of_a_pod(void **state) {
    (void)state;
    check(print_pod, 4000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(organizations_of_a_request),
        cmocka_unit_test(secrets_of_a_pod_and_its_account),
        cmocka_unit_test(owners_before_and_after),
        cmocka_unit_test(objects_by_resources),
        cmocka_unit_test(quotas_by_containers),
        cmocka_unit_test(scopes_by_containers),
        cmocka_unit_test(table_of_a_quota),
        cmocka_unit_test(table_of_a_pod),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
