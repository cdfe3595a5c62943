/*
 * ControllerRevisions.
 *
 * Follows k8s.io/kubernetes pkg/controller/daemon, func (*DaemonSetsController) constructHistory.
 */
#include "manager/revision_int.h"

#include <stdlib.h>

#include "controller/controller.h"

struct json revision__data(struct arena *a, const struct api_pod_template_spec *template) {
    struct json data = {.kind = JSON_OBJECT}, spec = data, replacement = data;
    struct json tree = api_struct_encode(a, &api_types[API_T_pod_template_spec], template);
    json_add(a, &replacement, STR("$patch"), json_of_str(STR("replace")));
    for (uint32_t i = 0; i < tree.n; i++)
        json_add(a, &replacement, tree.members[i].key, tree.members[i].value);
    json_add(a, &spec, STR("template"), replacement);
    json_add(a, &data, STR("spec"), spec);
    return data;
}

/* So much of the owner's name is part of a revision's. */
enum { LONGEST_OWNER = 223 };

bool revision__template(struct arena *a, const struct api_object *revision,
                        struct api_pod_template_spec *out) {
    const struct api_controller_revision *r = revision->body;
    const struct json *spec = json_get(&r->data, STR("spec"));
    const struct json *template = spec ? json_get(spec, STR("template")) : NULL;
    struct json tree = {.kind = JSON_OBJECT};
    if (!template || template->kind != JSON_OBJECT)
        return false;
    for (uint32_t i = 0; i < template->n; i++)
        if (!str_is(template->members[i].key, "$patch"))
            json_add(a, &tree, template->members[i].key, template->members[i].value);
    *out = (struct api_pod_template_spec){0};
    return api_struct_decode(a, &api_types[API_T_pod_template_spec], &tree, out, NULL) == 0;
}

/* Follows k8s.io/kubernetes pkg/controller/statefulset, func setMatchesLatestExistingRevision. */
bool revision__restores(struct arena *a, const struct api_object *set,
                        const struct api_object *revision, const struct json *data,
                        const struct feature_set *gates) {
    struct api_pod_template_spec template;
    if (!revision__template(a, revision, &template))
        return false;
    struct api_object *restored = api_object_copy(set);
    struct api_stateful_set *body = api_own_body(restored);
    api_struct_copy(&restored->arena, &api_types[API_T_pod_template_spec], &template,
                    &body->spec.template);
    api_object_default(restored, gates);
    struct json now = revision__data(a, &body->spec.template);
    bool is_same = json_equal(&now, data);
    api_object_free(restored);
    return is_same;
}

static int64_t number_of(const struct api_object *o) {
    return ((const struct api_controller_revision *)o->body)->revision;
}

static int by_number(const void *x, const void *y) {
    const struct api_object *a = *(const struct api_object *const *)x;
    const struct api_object *b = *(const struct api_object *const *)y;
    if (number_of(a) != number_of(b))
        return number_of(a) < number_of(b) ? -1 : 1;
    return str_cmp(a->meta->name, b->meta->name);
}

void revision__sort(struct arena *a, const struct manager__objects *all, const struct json *data,
                    struct revisions *out) {
    *out = (struct revisions){.next = 1};
    out->same.v = arena_array(a, const struct api_object *, all->n);
    out->old.v = arena_array(a, const struct api_object *, all->n);
    if (all->n)
        qsort(all->v, all->n, sizeof *all->v, by_number);
    for (size_t i = 0; i < all->n; i++) {
        const struct api_controller_revision *r = all->v[i]->body;
        if (!json_equal(&r->data, data)) {
            out->old.v[out->old.n++] = all->v[i];
            out->next = r->revision + 1;
            continue;
        }
        if (out->current)
            out->same.v[out->same.n++] = out->current;
        out->current = all->v[i];
    }
}

/* A copy with all members in the order of their keys, as upstream writes it: clients compare bytes.
 */
static struct json sorted_copy(struct arena *a, const struct json *v) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    struct json out;
    json_write(&text, v, &(struct json_style){.sort_keys = true, .raw_html = true});
    const struct json_opts any = {.max_bytes = SIZE_MAX};
    if (json_parse(a, arena_str(a, buf_view(&text)), &any, &out, NULL) < 0)
        BUG("what was written cannot be read");
    return out;
}

struct api_object *revision__new(const struct api_object *owner,
                                 const struct api_pod_template_spec *template, struct label hash,
                                 int64_t number) {
    struct api_object *o = api_object_new(client_kind(API_T_controller_revision));
    struct api_controller_revision *r = api_own_body(o);
    struct api_object_meta owners, labels;
    api_struct_copy(&o->arena, &api_types[API_T_object_meta], owner->meta, &owners);
    api_struct_copy(&o->arena, &api_types[API_T_object_meta], &template->metadata, &labels);
    r->metadata.name =
        arena_printf(&o->arena, "%.*s-%.*s", STR_ARG(str_sub(owner->meta->name, 0, LONGEST_OWNER)),
                     STR_ARG(hash.value));
    r->metadata.namespace = owners.namespace;
    r->metadata.annotations = owners.annotations;
    r->metadata.labels = labels.labels;
    labels_put(&o->arena, &r->metadata.labels,
               (struct label){hash.key, arena_str(&o->arena, hash.value)});
    struct json data = revision__data(&o->arena, template);
    r->data = sorted_copy(&o->arena, &data);
    r->revision = number;
    controller_owner_set(o, owner);
    return o;
}

struct str revision__hash(const struct api_object *o) {
    const struct label *l = labels_find(&o->meta->labels, STR(REVISION_HASH));
    return l ? l->value : (struct str){0};
}

struct revisions_used revision__used(struct arena *a, const struct manager__objects *pods) {
    struct revisions_used used = {arena_array(a, struct str, pods->n), 0};
    for (size_t i = 0; i < pods->n; i++) {
        struct str hash = revision__hash(pods->v[i]);
        if (hash.n)
            used.v[used.n++] = hash;
    }
    if (used.n)
        qsort(used.v, used.n, sizeof *used.v, str_cmp_qsort);
    return used;
}

bool revision__is_used(const struct revisions_used *used, struct str hash) {
    return used->n && bsearch(&hash, used->v, used->n, sizeof hash, str_cmp_qsort);
}
