/* Objects of a server on their way to a verdict. */
#include "cmd/commands/stored.h"

#include "api/object.h"
#include "client/client.h"
#include "cmd/input/input.h"
#include "cmd/report/report.h"
#include "valid/valid.h"

/* ---- kinds by their names ---- */

static bool is_one_of(struct str name, const char *names) {
    struct str rest = str_of(names), one;
    while (rest.n) {
        str_cut(rest, ',', &one, &rest);
        if (str_eq(name, one))
            return true;
    }
    return false;
}

static bool is_named(const struct registry_resource *r, struct str typed) {
    struct str name, group;
    bool has_group = str_cut(typed, '.', &name, &group);
    if (has_group && !str_eq(group, registry_group_of(str_of(r->kind->api_version))))
        return false;
    return is_one_of(name, r->kind->plural) || is_one_of(name, r->singular) ||
           is_one_of(name, r->short_names);
}

/* Of kinds of which there are several versions, the first is asked for. */
static bool can_be_listed(const struct registry_resource *r) {
    return r->verbs & 1U << REGISTRY_VERB_LIST &&
           r->kind == client_kind((enum api_type_id)(r->kind->type - api_types)) &&
           registry_is_on_by_default(r->kind);
}

static bool is_wanted_unnamed(const struct registry_resource *r, bool all_namespaces) {
    static const enum api_type_id left_out[] = {API_T_secret, API_T_event, API_T_events_event,
                                                API_T_lease};
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
        if (r->kind->type == &api_types[left_out[i]])
            return false;
    return valid_has_rules(r->kind) && (r->kind->namespaced || all_namespaces);
}

static struct remote_kind kind_of(const struct registry_resource *r,
                                  const struct stored_wanted *wanted) {
    struct remote_kind kind = {.type = (enum api_type_id)(r->kind->type - api_types),
                               .hides = "they are not judged"};
    if (r->kind->namespaced && !wanted->all_namespaces)
        kind.namespace = wanted->namespace.n ? wanted->namespace : STR("default");
    return kind;
}

static int add_named(struct str typed, const struct stored_wanted *wanted, struct remote_kind *out,
                     size_t *n, struct err *err) {
    size_t count, before = *n;
    const struct registry_resource *all = registry_resources(&count);
    for (size_t i = 0; i < count; i++)
        if (can_be_listed(&all[i]) && is_named(&all[i], typed))
            out[(*n)++] = kind_of(&all[i], wanted);
    return *n > before ? 0
                       : err_set(err, ERR_USAGE, "the server doesn't have a resource type \"%.*s\"",
                                 STR_ARG(typed));
}

static int choose(struct arena *a, const struct stored_wanted *wanted, struct remote_kind **out,
                  size_t *n, struct err *err) {
    size_t count;
    const struct registry_resource *all = registry_resources(&count);
    *n = 0;
    *out = arena_array(a, struct remote_kind, count * (wanted->kinds->n + 1));
    for (size_t i = 0; i < wanted->kinds->n; i++)
        for (struct str rest = wanted->kinds->v[i], one; rest.n;) {
            str_cut(rest, ',', &one, &rest);
            if (add_named(one, wanted, *out, n, err) < 0)
                return -1;
        }
    for (size_t i = 0; i < count && !wanted->kinds->n; i++)
        if (can_be_listed(&all[i]) && is_wanted_unnamed(&all[i], wanted->all_namespaces))
            (*out)[(*n)++] = kind_of(&all[i], wanted);
    return 0;
}

int stored_check_kinds(const struct opt_list *kinds, struct err *err) {
    AUTO(arena_release) struct arena a = {0};
    struct remote_kind *chosen;
    size_t n;
    if (choose(&a, &(struct stored_wanted){.kinds = kinds}, &chosen, &n, err) < 0)
        return cmd_hint(err, STR("files are named with -f"));
    return 0;
}

/* ---- what is stored ---- */

struct judging {
    const struct judge *judge;
    int rc;
    struct err *err;
};

static void judge_object(void *arg, const struct api_object *o) {
    struct judging *j = arg;
    AUTO(arena_release) struct arena a = {0};
    struct json tree = remote_tree(&a, o);
    struct input_value value = {.tree = &tree};
    struct input_source source = {.file = remote_place(&a, o), .item = INPUT_NO_ITEM};
    struct verdict verdict;
    if (j->rc < 0)
        return;
    if (input_value_is_of(&value, j->judge->skip)) {
        report_add_skipped_object(j->judge->report);
        return;
    }
    verdict_of(j->judge->run, &value, &source, &verdict);
    j->rc = report_add(j->judge->report, &verdict, j->err);
}

int stored_judge(struct remote *r, const struct judge *judge, const struct stored_wanted *wanted,
                 struct err *err) {
    struct judging judging = {.judge = judge, .err = err};
    struct remote_kind *kinds;
    size_t n;
    if (choose(r->call->arena, wanted, &kinds, &n, err) < 0 ||
        remote_read(r, kinds, n, judge_object, &judging, err) < 0)
        return -1;
    return judging.rc;
}

/* ---- what is replaced ---- */

static struct str text_at(const struct json *object, const char *key, struct str fallback) {
    const struct json *v = object ? json_get(object, str_of(key)) : NULL;
    return v && v->kind == JSON_STRING && v->n ? json_str(v) : fallback;
}

static void remember(struct stored_old *old, const struct api_object *found) {
    struct registry_request request = {.namespace = old->namespace};
    struct api_object *o = api_object_copy(found);
    api_object_default(o, old->gates);
    registry_adopt(&request, o);
    const struct api_object *stored = api_publish(o);
    registry_known_set(old->known, stored);
    api_object_unref(stored);
}

int stored_look(void *arg, const struct input_value *value, struct err *err) {
    struct stored_old *old = arg;
    const struct json *meta = json_get(value->tree, STR("metadata"));
    struct str name = text_at(meta, "name", STR(""));
    const struct api_kind *kind =
        api_kind_find(text_at(value->tree, "apiVersion", value->api_version),
                      text_at(value->tree, "kind", value->kind));
    const struct registry_resource *resource = registry_resource_of(kind);
    struct str fallback = old->namespace.n ? old->namespace : STR("default");
    const struct api_object *found = NULL;
    if (!resource || !(resource->verbs & 1U << REGISTRY_VERB_GET) || !name.n)
        return 0;
    struct str namespace = kind->namespaced ? text_at(meta, "namespace", fallback) : STR("");
    if (remote_get(old->remote, kind, namespace, name, &found, err) < 0)
        return -1;
    if (found)
        remember(old, found);
    api_object_unref(found);
    return 0;
}
