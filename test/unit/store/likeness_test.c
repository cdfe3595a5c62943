/* What objects share, by families that change: how much they take, and what they say. */
#include "kit.h"

enum { FAMILY = 25 };

/* A node of an owner; one that runs says more, which is its siblings' but for its name. */
static struct api_object *member(const char *owner, int i, bool runs) {
    struct arena a = {0};
    struct str about = STR(""), text;
    for (int k = 0; runs && k < 40; k++)
        about = arena_printf(&a, "%.*s%s{\"names\":[\"registry/of-%s/image-%d\"],\"sizeBytes\":%d}",
                             STR_ARG(about), k ? "," : "", owner, k, k);
    text = arena_printf(&a,
                        "{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"%s-%d\","
                        "\"labels\":{\"value\":\"%d\"},\"ownerReferences\":[{\"uid\":\"%s\","
                        "\"controller\":true}],\"finalizers\":[",
                        owner, i, i, owner);
    for (int k = 0; k < 50; k++)
        text = arena_printf(&a, "%.*s%s\"example.com/%0120d\"", STR_ARG(text), k ? "," : "", k);
    text =
        arena_printf(&a, "%.*s]},\"status\":{\"images\":[%.*s]}}", STR_ARG(text), STR_ARG(about));
    struct api_object *o = kit_decode(text.p);
    arena_release(&a);
    return o;
}

static const struct api_object *put(struct kit *k, const char *owner, int i, bool runs) {
    const struct api_object *o = store_put(k->store, NODES, member(owner, i, runs));
    kit_commit(k);
    return o;
}

/* Does the object say what one says that shares nothing? */
static void check(const struct api_object *o, const char *owner, int i, bool runs) {
    struct api_object *draft = member(owner, i, runs);
    api_own_meta(draft)->resource_version = arena_str(&draft->arena, o->meta->resource_version);
    const struct api_object *whole = api_publish(draft);
    struct api_bytes *want = api_object_json_ref(whole), *got = api_object_json_ref(o);
    assert_true(str_eq(api_bytes_view(want), api_bytes_view(got)));
    api_bytes_unref(want);
    api_bytes_unref(got);
    api_object_unref(whole);
}

/* An object holds one that holds one that holds none. */
static void check_depth(const struct api_object *o) {
    assert_true(!o->base || !o->base->base || !o->base->base->base);
}

/* Siblings share with the first one; when all have changed, with the first that did. */
static void a_family_that_changes_shares(void **state) {
    (void)state;
    struct kit k = {0};
    kit_open(&k, NULL);
    size_t whole = put(&k, "a", 0, false)->arena.bytes;
    for (int i = 1; i < FAMILY; i++)
        assert_true(put(&k, "a", i, false)->arena.bytes < whole / 2);
    size_t changed = put(&k, "a", 0, true)->arena.bytes;
    for (int i = 1; i < FAMILY; i++)
        assert_true(put(&k, "a", i, true)->arena.bytes < changed / 2);
    for (int i = 0; i < FAMILY; i++) {
        char name[16];
        snprintf(name, sizeof name, "a-%d", i);
        const struct api_object *o = store_get(k.store, NODES, STR(""), str_of(name));
        check(o, "a", i, true);
        check_depth(o);
    }
    kit_close(&k);
}

/* The first one of another family has what all families have from the likeness of them all. */
static void families_share_with_each_other(void **state) {
    (void)state;
    struct kit k = {0};
    kit_open(&k, NULL);
    const struct api_object *first = put(&k, "a", 0, false);
    const struct api_object *second = put(&k, "b", 0, false), *third = put(&k, "b", 1, false);
    assert_ptr_equal(second->base, first);
    assert_ptr_equal(third->base, second);
    check(second, "b", 0, false);
    check(third, "b", 1, false);
    kit_close(&k);
}

/* Members that differ much from each other are not taken for likenesses again and again. */
static void bets_become_rare(void **state) {
    (void)state;
    struct kit k = {0};
    kit_open(&k, NULL);
    int likenesses = 0;
    const struct api_object *base = NULL;
    for (int i = 0; i < 200; i++) {
        struct api_object *draft = member("a", i, false);
        for (int n = 0; n < 8; n++)
            labels_put(&draft->arena, &api_own_meta(draft)->annotations,
                       (struct label){arena_printf(&draft->arena, "example.com/%d-%d", i, n),
                                      arena_printf(&draft->arena, "%0300d", 8 * i + n)});
        const struct api_object *o = store_put(k.store, NODES, draft);
        kit_commit(&k);
        check_depth(o);
        likenesses += o->base != base;
        base = o->base;
    }
    assert_in_range(likenesses, 2, 20);
    kit_close(&k);
}

/* A node that has little in common with others, in one of its states. */
static struct api_object *loner(int i, int state) {
    char text[128];
    snprintf(text, sizeof text,
             "{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"n-%d\"}}", i);
    struct api_object *draft = kit_decode(text);
    struct arena *a = &draft->arena;
    for (int n = 0; n < 40; n++)
        labels_put(a, &api_own_meta(draft)->annotations,
                   (struct label){arena_printf(a, "example.com/%d-%d", i, n),
                                  arena_printf(a, "%0300d", 40 * i + n + (n < state ? 7777 : 0))});
    return draft;
}

/* It shares with what it was first, also when that is all that is left of it, until too much has
 * changed. */
static void loners_share_with_themselves(void **state) {
    (void)state;
    struct kit k = {0};
    const struct api_object *first = NULL, *o = NULL;
    kit_open(&k, NULL);
    for (int i = 0; i < 3; i++) {
        o = store_put(k.store, NODES, loner(i, 0));
        first = first ? first : o;
        assert_null(o->base);
    }
    size_t whole = first->arena.bytes;
    for (int change = 1; change < 30; change++) {
        o = store_put(k.store, NODES, loner(0, change));
        kit_commit(&k);
        assert_ptr_equal(o->base, change < 5 ? first : o->base);
        assert_true(!o->base || o->arena.bytes < whole / 2);
        check_depth(o);
    }
    assert_ptr_not_equal(o->base, first);
    kit_close(&k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_family_that_changes_shares),
        cmocka_unit_test(families_share_with_each_other),
        cmocka_unit_test(bets_become_rare),
        cmocka_unit_test(loners_share_with_themselves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
