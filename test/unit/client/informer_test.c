/* Informers: what is there, what changes, and watches that end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../world.h"

/* What a handler was told. */
struct told {
    int added, changed, deleted, synced;
    char last[64];
};

static void on_set(void *arg, const struct api_object *old, const struct api_object *o) {
    struct told *t = arg;
    if (old)
        t->changed++;
    else
        t->added++;
    memcpy(t->last, o->meta->name.p, o->meta->name.n);
    t->last[o->meta->name.n] = 0;
}

static void on_deleted(void *arg, const struct api_object *last) {
    struct told *t = arg;
    (void)last;
    t->deleted++;
}

static void on_synced(void *arg) {
    ((struct told *)arg)->synced++;
}

static struct informer *listen(struct world *w, struct told *t) {
    struct informer *i = informers_of(w->informers, client_kind(API_T_config_map));
    *t = (struct told){0};
    informer_listen(i, &(struct informer_handler){on_set, on_deleted, on_synced, t});
    return i;
}

static const char map_a[] = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}";
static const char map_b[] = "{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}";

static void what_is_there_and_what_changes_is_told(void **state) {
    struct world w;
    struct told t, late;
    (void)state;
    world_start(&w, "");
    world_create(&w, map_a);
    struct informer *i = listen(&w, &t);
    assert_false(informer_has_synced(i));
    world_run(&w, 0.1);
    assert_true(informer_has_synced(i));
    assert_int_equal(t.added, 1);
    assert_int_equal(t.synced, 1);
    world_create(&w, map_b);
    world_patch(&w, API_T_config_map, "a", NULL, "{\"data\":{\"x\":\"1\"}}");
    world_run(&w, 0.1);
    assert_int_equal(t.added, 2);
    assert_int_equal(t.changed, 1);
    assert_string_equal(t.last, "a");
    listen(&w, &late);
    assert_int_equal(late.added, 2);
    assert_int_equal(late.synced, 1);
    world_delete(&w, API_T_config_map, "b");
    world_run(&w, 0.1);
    assert_int_equal(t.deleted, 1);
    assert_int_equal(informer_count(i), 1);
    assert_null(informer_get(i, STR("default"), STR("b")));
    assert_non_null(informer_get(i, STR("default"), STR("a")));
    world_stop(&w);
}

static void indexes_follow(void **state) {
    static const char pod[] = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: "
                              "[{name: c, image: i}]}}";
    struct world w;
    size_t n;
    (void)state;
    world_start(&w, "");
    struct informer *i = informers_of(w.informers, client_kind(API_T_pod));
    world_run(&w, 0.1);
    informer_find(i, INFORMER_BY_NODE, STR(""), &n);
    assert_int_equal(n, 0);
    world_create(&w, pod);
    world_run(&w, 0.1);
    informer_find(i, INFORMER_BY_NODE, STR(""), &n);
    assert_int_equal(n, 1);
    struct api_object *binding = world_object(
        &w, "{apiVersion: v1, kind: Binding, metadata: {name: p}, target: {kind: Node, name: n1}}");
    world_send(&w, &(struct client_request){.verb = REGISTRY_VERB_CREATE,
                                            .kind = client_kind(API_T_pod),
                                            .subresource = "binding",
                                            .namespace = STR("default"),
                                            .name = STR("p"),
                                            .object = binding});
    world_run(&w, 0.1);
    informer_find(i, INFORMER_BY_NODE, STR(""), &n);
    assert_int_equal(n, 0);
    const struct api_object *const *found = informer_find(i, INFORMER_BY_NODE, STR("n1"), &n);
    assert_int_equal(n, 1);
    assert_true(str_is(found[0]->meta->name, "p"));
    informer_find(i, INFORMER_BY_NAMESPACE, STR("default"), &n);
    assert_int_equal(n, 1);
    informer_find(i, INFORMER_ALL, STR(""), &n);
    assert_int_equal(n, 1);
    world_stop(&w);
}

/* A carrier whose watches end when they are told to, in front of another. */
struct flaky {
    struct client base;
    struct client *inner;
    struct flaky_watch *watch;
    int starts, with_revision;
};

struct flaky_watch {
    struct client_watch base;
    struct flaky *f;
    struct client_watch *inner;
    client_event_fn *tell;
    void *arg;
    bool is_mute;
};

static void pass_on(void *arg, const struct client_event *e) {
    struct flaky_watch *w = arg;
    if (!w->is_mute)
        w->tell(w->arg, e);
}

static struct client_watch *flaky_start(struct client *c, const struct api_kind *kind,
                                        const struct client_selection *selection,
                                        client_event_fn *tell, void *arg) {
    struct flaky *f = heap_entry(c, struct flaky, base);
    struct flaky_watch *w = xcalloc(1, sizeof *w);
    *w = (struct flaky_watch){.base = {c}, .f = f, .tell = tell, .arg = arg};
    w->inner = client_watch_start(f->inner, kind, selection, pass_on, w);
    f->watch = w;
    f->starts++;
    f->with_revision += selection->resource_version.n > 0;
    return &w->base;
}

static void flaky_stop(struct client_watch *base) {
    struct flaky_watch *w = heap_entry(base, struct flaky_watch, base);
    client_watch_stop(w->inner);
    free(w);
}

static void end_watch(struct flaky *f, enum err_code code) {
    f->watch->is_mute = true;
    f->watch->tell(f->watch->arg, &(struct client_event){.type = CLIENT_ENDED, .code = code});
}

static const struct client_carrier flaky_carrier = {.watch_start = flaky_start,
                                                    .watch_stop = flaky_stop};

static void a_watch_that_ends_goes_on(void **state) {
    static const enum err_code codes[] = {ERR_NONE, ERR_INTERNAL, ERR_EXPIRED};
    (void)state;
    for (size_t k = 0; k < sizeof codes / sizeof *codes; k++) {
        struct world w;
        struct told t = {0};
        world_start(&w, "");
        struct flaky f = {.base = {.carrier = &flaky_carrier, .loop = w.loop}, .inner = w.client};
        struct informers *set = informers_new(&f.base, &w.log);
        struct informer *i = informers_of(set, client_kind(API_T_config_map));
        informer_listen(i, &(struct informer_handler){on_set, on_deleted, on_synced, &t});
        world_create(&w, map_a);
        world_create(&w, map_b);
        world_run(&w, 1);
        end_watch(&f, codes[k]);
        world_delete(&w, API_T_config_map, "a");
        world_patch(&w, API_T_config_map, "b", NULL, "{\"data\":{\"x\":\"1\"}}");
        world_run(&w, 5);
        assert_int_equal(f.starts, 2);
        assert_int_equal(f.with_revision, codes[k] == ERR_EXPIRED ? 0 : 1);
        assert_int_equal(t.added, 2);
        assert_int_equal(t.changed, 1);
        assert_int_equal(t.deleted, 1);
        assert_int_equal(t.synced, 1);
        assert_int_equal(informer_count(i), 1);
        informers_free(set);
        world_stop(&w);
    }
}

/* Whoever begins to decide knows all that was there then, though the watch was broken. */
static void what_may_have_been_missed_is_listed(void **state) {
    struct world w;
    struct told t = {0};
    (void)state;
    world_start(&w, "");
    struct flaky f = {.base = {.carrier = &flaky_carrier, .loop = w.loop}, .inner = w.client};
    struct informers *set = informers_new(&f.base, &w.log);
    struct informer *i = informers_of(set, client_kind(API_T_config_map));
    world_create(&w, map_a);
    world_run(&w, 1);
    informers_renew(set);
    assert_true(informer_has_synced(i));
    assert_int_equal(f.starts, 1);
    end_watch(&f, ERR_UNAVAILABLE);
    world_delete(&w, API_T_config_map, "a");
    world_create(&w, map_b);
    informers_renew(set);
    assert_false(informer_has_synced(i));
    informer_listen(i, &(struct informer_handler){on_set, on_deleted, on_synced, &t});
    while (!t.synced)
        net_loop_turn(w.loop, 0);
    assert_null(informer_get(i, STR("default"), STR("a")));
    assert_non_null(informer_get(i, STR("default"), STR("b")));
    assert_int_equal(f.starts, 2);
    informers_free(set);
    world_stop(&w);
}

static void one_that_was_made_again_is_told_as_another(void **state) {
    struct world w;
    struct told t = {0};
    (void)state;
    world_start(&w, "");
    struct flaky f = {.base = {.carrier = &flaky_carrier, .loop = w.loop}, .inner = w.client};
    struct informers *set = informers_new(&f.base, &w.log);
    world_create(&w, map_a);
    informer_listen(informers_of(set, client_kind(API_T_config_map)),
                    &(struct informer_handler){on_set, on_deleted, on_synced, &t});
    world_run(&w, 1);
    end_watch(&f, ERR_EXPIRED);
    world_delete(&w, API_T_config_map, "a");
    world_create(&w, map_a);
    world_run(&w, 5);
    assert_int_equal(t.added, 2);
    assert_int_equal(t.deleted, 1);
    assert_int_equal(t.changed, 0);
    informers_free(set);
    world_stop(&w);
}

/* What two kinds tell of one cluster. */
struct order {
    struct world *w;
    struct informer *pods, *nodes; /* ConfigMaps and Secrets stand for them */
    struct net_deferred decide;
    bool saw_pod, saw_node;
};

static void write_now(struct world *w, const char *text) {
    struct api_object *o = world_object(w, text);
    api_object_default(o, &w->gates.enabled);
    struct apiserver_request r = {.verb = REGISTRY_VERB_CREATE,
                                  .resource = apiserver_catalog_of(w->catalog, o->kind),
                                  .namespace = STR("default"),
                                  .object = o,
                                  .arena = &w->arena};
    struct apiserver_response out = {0};
    apiserver_write(w->api, &r, &out);
    assert_int_equal(out.answer, APISERVER_OBJECT);
    apiserver_response_release(&out);
    api_object_free(r.object);
    store_commit(w->store, NULL, NULL);
}

/* While one watch is told, others write: first what the next object relies on, then that. */
static void on_first(void *arg, const struct api_object *old, const struct api_object *o) {
    struct order *order = arg;
    (void)old;
    if (str_is(o->meta->name, "a")) {
        write_now(order->w, "{apiVersion: v1, kind: Secret, metadata: {name: b}}");
        write_now(order->w, map_b);
    } else if (str_is(o->meta->name, "b"))
        net_loop_defer(order->w->loop, &order->decide);
}

static void decide(void *arg) {
    struct order *order = arg;
    order->saw_pod = informer_get(order->pods, STR("default"), STR("b"));
    order->saw_node = informer_get(order->nodes, STR("default"), STR("b"));
}

/* Who acts at the end of a turn knows all that was written before the newest that it knows. */
static void what_was_written_before_is_told_before(void **state) {
    (void)state;
    for (int first = 0; first < 2; first++) {
        struct world w;
        struct order order = {.w = &w, .decide = {.fn = decide, .arg = &order}};
        world_start(&w, "");
        if (first)
            order.nodes = informers_of(w.informers, client_kind(API_T_secret));
        order.pods = informers_of(w.informers, client_kind(API_T_config_map));
        order.nodes = informers_of(w.informers, client_kind(API_T_secret));
        informer_listen(order.pods, &(struct informer_handler){.set = on_first, .arg = &order});
        world_run(&w, 1);
        world_create(&w, map_a);
        world_run(&w, 1);
        assert_true(order.saw_pod);
        assert_true(order.saw_node);
        world_stop(&w);
    }
}

static const struct api_object *only_names(const struct api_object *o) {
    struct api_object *out = api_object_copy(o);
    ((struct api_config_map *)api_own_body(out))->data = (struct labels){0};
    return api_publish(out);
}

static void one_may_keep_a_part_of_its_objects(void **state) {
    struct world w;
    struct told t;
    (void)state;
    world_start(&w, "");
    world_create(&w, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: v}}");
    struct informer *i = informers_of(w.informers, client_kind(API_T_config_map));
    informer_slim(i, only_names);
    listen(&w, &t);
    world_run(&w, 0.1);
    const struct api_object *a = informer_get(i, STR("default"), STR("a"));
    assert_int_equal(((const struct api_config_map *)a->body)->data.n, 0);
    world_patch(&w, API_T_config_map, "a", NULL, "{\"data\":{\"x\":\"1\"}}");
    world_run(&w, 0.1);
    assert_int_equal(t.changed, 1);
    a = informer_get(i, STR("default"), STR("a"));
    assert_int_equal(((const struct api_config_map *)a->body)->data.n, 0);
    world_delete(&w, API_T_config_map, "a");
    world_run(&w, 0.1);
    assert_int_equal(informer_count(i), 0);
    world_stop(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_there_and_what_changes_is_told),
        cmocka_unit_test(indexes_follow),
        cmocka_unit_test(a_watch_that_ends_goes_on),
        cmocka_unit_test(what_may_have_been_missed_is_listed),
        cmocka_unit_test(one_that_was_made_again_is_told_as_another),
        cmocka_unit_test(what_was_written_before_is_told_before),
        cmocka_unit_test(one_may_keep_a_part_of_its_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
