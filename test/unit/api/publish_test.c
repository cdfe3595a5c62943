/* Published objects: counted and encoded on several threads, and checked for writes. */
#include <pthread.h>

#include "../data.h"
#include "../death.h"
#include "api/object.h"

#define POD                                                                                   \
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"p\",\"labels\":{\"a\":" \
    "\"<b>\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{}}],\"tolerations\":" \
    "[{\"key\":\"k\"}]},\"status\":{}}"

/* As Go's encoding/json writes it. */
#define WRITTEN                                                                             \
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"p\",\"labels\":{"     \
    "\"a\":\"\\u003cb\\u003e\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{" \
    "}}],\"tolerations\":[{\"key\":\"k\"}]},\"status\":{}}"

static struct api_object *draft_of(const char *text) {
    struct arena a = {0};
    struct json tree;
    struct api_object *o = NULL;
    assert_int_equal(json_parse(&a, str_of(text), NULL, &tree, NULL), 0);
    assert_int_equal(api_object_decode(&tree, NULL, &o, NULL), 0);
    arena_release(&a);
    return o;
}

static void an_object_is_encoded_once(void **state) {
    (void)state;
    const struct api_object *o = api_publish(draft_of(POD));
    struct str first = api_object_json(o), second = api_object_json(o);
    assert_true(str_is(first, WRITTEN));
    assert_ptr_equal(first.p, second.p);
    api_object_unref(o);
}

/* A derived object has its own bytes and keeps its base alive. */
static void a_derived_object_is_encoded_as_it_is(void **state) {
    (void)state;
    const struct api_object *base = api_publish(draft_of(POD));
    struct str before = api_object_json(base);
    struct api_object *draft = api_object_derive(base);
    assert_int_equal(api_object_holders(base), 2);
    api_own_meta(draft)->name = STR("q");
    const struct api_object *derived = api_publish(draft);
    api_object_unref(base);
    assert_true(str_is(base->meta->name, "p") && str_is(before, WRITTEN));
    assert_true(str_find(api_object_json(derived), STR("\"name\":\"q\"")) != STR_NONE);
    api_object_unref(derived);
}

/* A draft that is given up gives back what it was derived from. */
static void a_draft_lets_go_of_its_base(void **state) {
    (void)state;
    const struct api_object *base = api_publish(draft_of(POD));
    api_object_free(api_object_derive(base));
    assert_int_equal(api_object_holders(base), 1);
    api_object_unref(base);
}

/* ---- counted bytes ---- */

static void bytes_are_shared_until_forgotten(void **state) {
    (void)state;
    const struct api_object *o = api_publish(draft_of(POD));
    struct api_bytes *first = api_object_json_ref(o), *second = api_object_json_ref(o);
    assert_ptr_equal(first, second);
    assert_true(str_is(api_bytes_view(first), WRITTEN));
    api_object_forget_bytes(o);
    struct api_bytes *third = api_object_json_ref(o), *fourth = api_object_json_ref(o);
    assert_true(third != first && third != fourth);
    assert_true(str_is(api_bytes_view(third), WRITTEN));
    assert_int_equal(third->refs, 1); /* the object does not keep it */
    assert_int_equal(first->refs, 2);
    api_object_unref(o);
    assert_true(str_is(api_bytes_view(second), WRITTEN)); /* outlives the object */
    api_bytes_unref(first);
    api_bytes_unref(second);
    api_bytes_unref(third);
    api_bytes_unref(fourth);
    api_bytes_unref(NULL);
}

/* An object that gave its bytes up keeps them again for a reader who says so, and who is told. */
static void bytes_are_kept_again(void **state) {
    (void)state;
    const struct api_object *o = api_publish(draft_of(POD));
    bool is_new;
    api_object_forget_bytes(o);
    assert_int_equal(api_object_kept_bytes(o), 0);
    struct api_bytes *first = api_object_json_keep(o, &is_new);
    assert_true(is_new);
    assert_int_equal(api_object_kept_bytes(o), sizeof WRITTEN - 1);
    struct api_bytes *second = api_object_json_keep(o, &is_new);
    assert_false(is_new);
    assert_ptr_equal(first, second);
    api_object_forget_bytes(o);
    assert_int_equal(api_object_kept_bytes(o), 0);
    assert_int_equal(first->refs, 2); /* those who have them */
    api_bytes_unref(first);
    api_bytes_unref(second);
    struct api_bytes *proto = api_object_proto_keep(o, &is_new);
    assert_true(is_new);
    assert_int_equal(api_object_kept_bytes(o), proto->n);
    api_bytes_unref(proto);
    api_object_unref(o);
}

/* What api_object_json has returned stays, whatever was or is forgotten. */
static void bytes_for_good_are_never_forgotten(void **state) {
    (void)state;
    for (int forget_first = 0; forget_first < 2; forget_first++) {
        const struct api_object *o = api_publish(draft_of(POD));
        if (forget_first)
            api_object_forget_bytes(o);
        struct str json = api_object_json(o);
        api_object_forget_bytes(o);
        struct api_bytes *same = api_object_json_ref(o);
        assert_ptr_equal(same->v, json.p);
        assert_ptr_equal(api_object_json(o).p, json.p);
        api_bytes_unref(same);
        struct api_bytes *proto = api_object_proto_ref(o);
        assert_true(str_eq(api_bytes_view(proto), api_object_proto(o)));
        api_bytes_unref(proto);
        api_object_unref(o);
    }
}

/* ---- threads ---- */

enum { THREADS = 4, ROUNDS = 200, TURNS = 20 };

struct team {
    pthread_barrier_t start;
    const struct api_object *object;
};

/* Each thread has a reference, and gives it back. */
static void *read_and_let_go(void *ctx) {
    struct team *t = ctx;
    const struct api_object *o = t->object;
    bool good = true;
    pthread_barrier_wait(&t->start);
    struct str first = api_object_json(o);
    for (int i = 0; i < TURNS; i++) {
        const struct api_object *held = api_object_ref(o);
        good &= str_is(held->meta->name, "p") && api_object_json(held).p == first.p;
        struct api_bytes *bytes = api_object_proto_ref(held);
        good &= bytes->n != 0;
        if (i == TURNS / 2)
            api_object_forget_bytes(held);
        api_bytes_unref(bytes);
        api_object_unref(held);
    }
    good &= str_is(first, WRITTEN);
    api_object_unref(o);
    return good ? t : NULL;
}

static void threads_share_an_object(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct team team = {.object = api_publish(draft_of(POD))};
        pthread_t threads[THREADS];
        pthread_barrier_init(&team.start, NULL, THREADS);
        for (int i = 1; i < THREADS; i++)
            api_object_ref(team.object);
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, read_and_let_go, &team), 0);
        for (int i = 0; i < THREADS; i++) {
            void *good;
            pthread_join(threads[i], &good);
            assert_non_null(good);
        }
        pthread_barrier_destroy(&team.start);
    }
}

/* ---- writes ---- */

#ifdef BERTH_CHECKS
enum { CHECKED = true };
#else
enum { CHECKED = false };
#endif

static void write_to_published(void *arg) {
    struct api_object *draft = arg;
    struct api_pod *pod = api_own_body(draft);
    const struct api_object *o = api_publish(draft);
    pod->spec.tolerations.v[0].key = STR("other");
    api_object_unref(o);
}

static void a_write_to_a_published_object_is_found(void **state) {
    (void)state;
    if (!CHECKED)
        skip();
    struct api_object *draft = draft_of(POD);
    struct api_pod *pod = api_own_body(draft);
    char said[200];
    assert_true(death_aborts(write_to_published, draft, said, sizeof said));
    assert_non_null(strstr(said, "a published object was written to"));
    const struct api_object *o = api_publish(draft);
    assert_true(api_object_is_intact(o));
    pod->spec.host_network = true;
    assert_false(api_object_is_intact(o));
    pod->spec.host_network = false;
    assert_true(api_object_is_intact(o));
    api_object_unref(o);
}

/* What is not published has one owner, who cannot hold it twice; and who published it has it no
 * more. */
static void free_published(void *arg) {
    api_publish(arg);
    api_object_free(arg);
}

static void ref_draft(void *arg) {
    api_object_ref(arg);
}

static void own_published(void *arg) {
    api_publish(arg);
    api_own_body(arg);
}

static void the_two_parts_of_life_are_told_apart(void **state) {
    static void (*const wrong[])(void *) = {free_published, ref_draft, own_published};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct api_object *draft = draft_of(POD);
        char said[200];
        assert_true(death_aborts(wrong[i], draft, said, sizeof said));
        api_object_free(draft);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_object_is_encoded_once),
        cmocka_unit_test(a_derived_object_is_encoded_as_it_is),
        cmocka_unit_test(a_draft_lets_go_of_its_base),
        cmocka_unit_test(bytes_are_shared_until_forgotten),
        cmocka_unit_test(bytes_are_kept_again),
        cmocka_unit_test(bytes_for_good_are_never_forgotten),
        cmocka_unit_test(threads_share_an_object),
        cmocka_unit_test(a_write_to_a_published_object_is_found),
        cmocka_unit_test(the_two_parts_of_life_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
