/* prepare.jsonl: what a server changes in an object before it judges it, on create, on update, and
 * on a write to its status or approval; and what updates of its kind may do. */
#include "members.h"
#include "objects.h"
#include "registry/registry.h"
#include "verdict.h"

/* Who asks, as the oracle has it. */
static struct valid_user asking(void) {
    static struct str groups[] = {STR_INIT("devs"), STR_INIT("system:authenticated")};
    static struct str scopes[] = {STR_INIT("a"), STR_INIT("b")};
    static struct api_str_list extra[] = {
        {STR_INIT("k"), {scopes, 0}},
        {STR_INIT("scopes"), {scopes, 2}},
    };
    return (struct valid_user){
        .name = STR("alice"), .uid = STR("u-3"), .groups = {groups, 2}, .extra = {extra, 2}};
}

static int prepare(const struct json *line, struct api_object *o, const struct api_object *old,
                   const struct valid_opts *opts) {
    static const struct {
        const char *verb;
        void (*fn)(struct api_object *o, const struct api_object *old,
                   const struct valid_opts *opts);
    } verbs[] = {
        {"update", valid_prepare_update},
        {"status", valid_prepare_status},
        {"approval", valid_prepare_approval},
    };
    struct str verb = vectors_text(line, STR("verb"));
    if (!old) {
        valid_generate_name(o, STR("xxxxx"));
        valid_prepare_create(o, opts);
        return 0;
    }
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (str_is(verb, verbs[i].verb)) {
            verbs[i].fn(o, old, opts);
            return 0;
        }
    return -1;
}

static int compare(struct arena *a, const struct json *line, const struct api_object *o,
                   struct buf *why) {
    const struct registry_resource *row = registry_resource_of(o->kind);
    struct json got = {.kind = JSON_OBJECT};
    json_add(a, &got, STR("after"), api_object_encode(o, a));
    json_add(a, &got, STR("creates"), json_of_bool(row && row->updates & REGISTRY_UPDATE_CREATES));
    json_add(a, &got, STR("needs_version"),
             json_of_bool(row && row->updates & REGISTRY_UPDATE_NEEDS_VERSION));
    return vectors_compare_members(line, &got, why);
}

static int judge(struct arena *a, const struct json *line, struct api_object *o,
                 struct api_object *old, struct buf *why) {
    struct feature_set gates;
    struct valid_user user = asking();
    if (verdict_gates(line, &gates, why) < 0)
        return -1;
    struct valid_opts opts = {.gates = &gates,
                              .namespace = STR("default"),
                              .uid = STR(VECTORS_NEW_UID),
                              .now = {.sec = 1767225600, .set = true},
                              .user = &user};
    if (old) {
        api_object_default(old, &gates);
        valid_decoded(old, &opts);
    }
    api_object_default(o, &gates);
    if (prepare(line, o, old, &opts) < 0) {
        buf_add(why, STR("unknown verb"));
        return -1;
    }
    api_object_default(o, &gates);
    return compare(a, line, o, why);
}

int vectors_check_prepare(struct arena *a, const struct json *line, struct buf *why) {
    return vectors_judge_objects(a, line, judge, why);
}
