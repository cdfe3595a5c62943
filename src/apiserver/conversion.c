/*
 * Versions of one kind. They are the same but for the names of some members, so that converting is
 * renaming, tree to tree.
 *
 * Follows k8s.io/kubernetes pkg/apis/events/v1, func Convert_v1_Event_To_core_Event,
 * func Convert_core_Event_To_v1_Event.
 */
#include "apiserver/apiserver_int.h"

/* A member under its names in the two versions. */
struct rename {
    struct str stored, other;
};

static const struct rename event_members[] = {
    {STR_INIT("involvedObject"), STR_INIT("regarding")},
    {STR_INIT("message"), STR_INIT("note")},
    {STR_INIT("source"), STR_INIT("deprecatedSource")},
    {STR_INIT("firstTimestamp"), STR_INIT("deprecatedFirstTimestamp")},
    {STR_INIT("lastTimestamp"), STR_INIT("deprecatedLastTimestamp")},
    {STR_INIT("count"), STR_INIT("deprecatedCount")},
    {STR_INIT("reportingComponent"), STR_INIT("reportingController")},
};

static struct str other_name(struct str name, bool to_stored) {
    for (size_t i = 0; i < sizeof event_members / sizeof *event_members; i++) {
        const struct rename *m = &event_members[i];
        if (str_eq(name, to_stored ? m->other : m->stored))
            return to_stored ? m->stored : m->other;
    }
    return name;
}

static struct api_object *convert(const struct api_object *o, const struct api_kind *to) {
    AUTO(arena_release) struct arena a = {0};
    struct json tree = api_object_encode(o, &a);
    bool to_stored = to->type == &api_types[API_T_event];
    struct api_object *out;
    for (uint32_t i = 0; i < tree.n; i++) {
        struct json_member *m = &tree.members[i];
        m->key = other_name(m->key, to_stored);
        if (str_is(m->key, "apiVersion"))
            m->value = json_of_str(str_of(to->api_version));
    }
    if (api_object_decode(&tree, NULL, &out, NULL) < 0)
        BUG("an object cannot be converted");
    return out;
}

const struct api_object *apiserver_convert(const struct api_object *o, const struct api_kind *to) {
    return o->kind == to ? api_object_ref(o) : api_publish(convert(o, to));
}

struct api_object *apiserver_convert_draft(struct api_object *o, const struct api_kind *to) {
    if (o->kind == to)
        return o;
    struct api_object *out = convert(o, to);
    api_object_free(o);
    return out;
}
