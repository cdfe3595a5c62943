/* rbac.jsonl: what do roles and bindings allow, and may somebody write an object to them? */
#include "auth/rbac.h"
#include "match_vectors.h"
#include "members.h"
#include "vectors.h"

/* Decodes an object; NULL, and why. The caller owns it. */
static struct api_object *read_object(const struct json *tree, struct arena *a, struct buf *why) {
    struct api_object *o = NULL;
    struct api_faults faults;
    api_faults_init(&faults, a);
    if (tree && api_object_decode(tree, NULL, &o, &faults) == 0)
        return o;
    buf_add(why, STR("not decoded: "));
    if (faults.n)
        api_faults_write(why, &faults);
    return NULL;
}

/* What holds by the objects of the line; NULL, and why. */
static const struct auth_rules *read_rules(struct arena *a, const struct json *line,
                                           struct buf *why) {
    const struct json *objects = json_get(line, STR("objects"));
    struct auth_rbac *r = auth_rbac_new();
    const struct auth_rules *rules = NULL;
    uint32_t i = 0;
    for (; objects && i < objects->n; i++) {
        struct api_object *o = read_object(&objects->items[i], a, why);
        if (!o)
            break;
        const struct api_object *published = api_publish(o);
        auth_rbac_set(r, published);
        api_object_unref(published);
    }
    if (!objects || i == objects->n)
        rules = auth_rbac_publish(r);
    auth_rbac_free(r);
    return rules;
}

static struct auth_user read_user(struct arena *a, const struct json *line) {
    const struct json *u = json_get(line, STR("user")), *groups = json_get(u, STR("groups"));
    struct auth_user user = {.name = vectors_text(u, STR("name"))};
    for (uint32_t i = 0; groups && i < groups->n; i++)
        auth_user_join(a, &user, json_str(&groups->items[i]));
    return user;
}

static int check_question(struct arena *a, const struct json *line, const struct auth_rules *rules,
                          const struct auth_user *user, struct buf *why) {
    const struct json *of = json_get(line, STR("question"));
    struct auth_attributes q = {.user = user,
                                .verb = vectors_text(of, STR("verb")),
                                .namespace = vectors_text(of, STR("namespace")),
                                .group = vectors_text(of, STR("group")),
                                .resource = vectors_text(of, STR("resource")),
                                .subresource = vectors_text(of, STR("subresource")),
                                .name = vectors_text(of, STR("name")),
                                .path = vectors_text(of, STR("path"))};
    q.is_resource = !q.path.n;
    struct str reason;
    struct registry_failure f = auth_authorize(rules, a, &q, &reason);
    struct json got = {.kind = JSON_OBJECT};
    json_add(a, &got, STR("allowed"), json_of_bool(!f.code));
    json_add(a, &got, STR("reason"), json_of_str(reason));
    if (f.code)
        json_add(a, &got, STR("status"), registry_status(a, &f));
    return vectors_compare_members(line, &got, why);
}

static int check_write(struct arena *a, const struct json *line, const struct auth_rules *rules,
                       const struct auth_user *user, struct buf *why) {
    const struct json *of = json_get(line, STR("write")), *old = json_get(of, STR("old"));
    struct api_object *o = read_object(json_get(of, STR("object")), a, why);
    struct api_object *before = o && old ? read_object(old, a, why) : NULL;
    int rc = -1;
    if (o && (!old || before)) {
        struct auth_write w = {.user = user,
                               .object = o,
                               .old = before,
                               .namespace = o->meta->namespace,
                               .name = before ? o->meta->name : STR("")};
        struct registry_failure f = auth_confirm_write(rules, a, &w);
        struct json got = {.kind = JSON_OBJECT};
        json_add(a, &got, STR("accepted"), json_of_bool(!f.code));
        if (f.code)
            json_add(a, &got, STR("refusal"), json_of_str(f.message));
        rc = vectors_compare_members(line, &got, why);
    }
    api_object_free(o);
    api_object_free(before);
    return rc;
}

int vectors_check_rbac(struct arena *a, const struct json *line, struct buf *why) {
    const struct auth_rules *rules = read_rules(a, line, why);
    if (!rules)
        return -1;
    struct auth_user user = read_user(a, line);
    int rc = json_get(line, STR("write")) ? check_write(a, line, rules, &user, why)
                                          : check_question(a, line, rules, &user, why);
    auth_rules_unref(rules);
    return rc;
}
