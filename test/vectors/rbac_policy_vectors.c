/* rbac_policy.jsonl: which roles and bindings has every cluster, and what becomes of stored ones?
 */
#include <stdlib.h>

#include "auth/bootstrap.h"
#include "base/vec.h"
#include "members.h"
#include "vectors.h"

/* All objects of a kind, by namespace and name. */
struct objects {
    struct str kind;
    VEC(struct api_object *) v;
};

static void keep(void *ctx, struct api_object *o) {
    struct objects *all = ctx;
    if (str_eq(o->names->kind, all->kind))
        vec_push(&all->v, o);
    else
        api_object_free(o);
}

static int compare_objects(const void *a, const void *b) {
    const struct api_object *const *x = a, *const *y = b;
    int order = str_cmp((*x)->meta->namespace, (*y)->meta->namespace);
    return order ? order : str_cmp((*x)->meta->name, (*y)->meta->name);
}

static int check_all(struct arena *a, const struct json *line, const struct objects *all,
                     struct buf *why) {
    struct json got = {.kind = JSON_OBJECT};
    struct json *list = json_add(a, &got, STR("objects"), (struct json){.kind = JSON_ARRAY});
    for (size_t i = 0; i < all->v.n; i++)
        json_append(a, list, api_object_encode(all->v.v[i], a));
    return vectors_compare_members(line, &got, why);
}

static const struct api_object *find(struct arena *a, const struct objects *all, struct str name) {
    for (size_t i = 0; i < all->v.n; i++) {
        const struct api_object_meta *m = all->v.v[i]->meta;
        if (str_eq(name, arena_printf(a, "%.*s/%.*s", STR_ARG(m->namespace), STR_ARG(m->name))))
            return all->v.v[i];
    }
    return NULL;
}

static int check_stored(struct arena *a, const struct json *line, const struct objects *all,
                        struct buf *why) {
    static const char *const operations[] = {[AUTH_RECONCILE_NONE] = "none",
                                             [AUTH_RECONCILE_CREATE] = "create",
                                             [AUTH_RECONCILE_UPDATE] = "update",
                                             [AUTH_RECONCILE_RECREATE] = "recreate"};
    const struct api_object *expected = find(a, all, vectors_text(line, STR("name")));
    struct api_object *stored = NULL, *after;
    if (!expected || api_object_decode(json_get(line, STR("stored")), NULL, &stored, NULL) < 0) {
        buf_add(why, STR("no such object"));
        return -1;
    }
    struct json got = {.kind = JSON_OBJECT};
    enum auth_reconciliation what = auth_reconcile(expected, stored, &after);
    json_add(a, &got, STR("operation"), json_of_str(str_of(operations[what])));
    if (after)
        json_add(a, &got, STR("after"), api_object_encode(after, a));
    int rc = vectors_compare_members(line, &got, why);
    api_object_free(stored);
    api_object_free(after);
    return rc;
}

int vectors_check_rbac_policy(struct arena *a, const struct json *line, struct buf *why) {
    struct objects all = {.kind = vectors_text(line, STR("kind"))};
    auth_bootstrap_each(keep, &all);
    if (all.v.n)
        qsort(all.v.v, all.v.n, sizeof *all.v.v, compare_objects);
    int rc = json_get(line, STR("stored")) ? check_stored(a, line, &all, why)
                                           : check_all(a, line, &all, why);
    for (size_t i = 0; i < all.v.n; i++)
        api_object_free(all.v.v[i]);
    vec_release(&all.v);
    return rc;
}
