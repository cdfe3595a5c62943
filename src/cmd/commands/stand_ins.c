/* ConfigMaps and Secrets that pods of a dump run with, found by their references. */
#include "cmd/commands/stand_ins.h"

#include <stdlib.h>

#include "api/object.h"
#include "apiserver/apiserver.h"
#include "base/alloc.h"
#include "base/vec.h"
#include "cli/io.h"
#include "client/client.h"

struct stand_in {
    enum api_type_id type;
    struct str namespace, name;
    VEC(struct label) keys; /* without values, each once */
};

/* Somebody who refers to them. */
struct pod {
    struct stand_ins *all;
    struct str namespace;
};

static struct stand_in *find(const struct pod *p, enum api_type_id type, struct str name,
                             struct buf *id) {
    struct arena *a = &p->all->arena;
    buf_addf(id, "%d/%.*s/%.*s/", (int)type, STR_ARG(p->namespace), STR_ARG(name));
    struct stand_in *it = map_get(&p->all->wanted, buf_view(id));
    if (it)
        return it;
    it = xcalloc(1, sizeof *it);
    *it = (struct stand_in){
        .type = type, .namespace = arena_str(a, p->namespace), .name = arena_str(a, name)};
    map_put(&p->all->wanted, arena_str(a, buf_view(id)), it);
    return it;
}

/* The key may be empty: all that there is. */
static void note(const struct pod *p, enum api_type_id type, struct str name, struct str key) {
    AUTO(buf_release) struct buf id = BUF_INIT(SIZE_MAX);
    struct arena *a = &p->all->arena;
    struct stand_in *it = find(p, type, name, &id);
    buf_add(&id, key);
    if (!key.n || map_get(&p->all->keys, buf_view(&id)))
        return;
    struct str known = arena_str(a, buf_view(&id));
    map_put(&p->all->keys, known, it);
    vec_push(&it->keys, ((struct label){str_sub(known, known.n - key.n, known.n), STR("")}));
}

static void note_env(const struct pod *p, const struct api_container *c) {
    for (size_t i = 0; i < c->env_from.n; i++) {
        const struct api_env_from_source *from = &c->env_from.v[i];
        if (from->config_map_ref)
            note(p, API_T_config_map, from->config_map_ref->local_object_reference.name, STR(""));
        if (from->secret_ref)
            note(p, API_T_secret, from->secret_ref->local_object_reference.name, STR(""));
    }
    for (size_t i = 0; i < c->env.n; i++) {
        const struct api_env_var_source *from = c->env.v[i].value_from;
        if (from && from->config_map_key_ref)
            note(p, API_T_config_map, from->config_map_key_ref->local_object_reference.name,
                 from->config_map_key_ref->key);
        if (from && from->secret_key_ref)
            note(p, API_T_secret, from->secret_key_ref->local_object_reference.name,
                 from->secret_key_ref->key);
    }
}

static void note_items(const struct pod *p, enum api_type_id type, struct str name,
                       const struct api_key_to_path_list *items) {
    note(p, type, name, STR(""));
    for (size_t i = 0; i < items->n; i++)
        note(p, type, name, items->v[i].key);
}

static void note_volume(const struct pod *p, const struct api_volume_source *v) {
    if (v->config_map)
        note_items(p, API_T_config_map, v->config_map->local_object_reference.name,
                   &v->config_map->items);
    if (v->secret)
        note_items(p, API_T_secret, v->secret->secret_name, &v->secret->items);
    for (size_t i = 0; v->projected && i < v->projected->sources.n; i++) {
        const struct api_volume_projection *s = &v->projected->sources.v[i];
        if (s->config_map)
            note_items(p, API_T_config_map, s->config_map->local_object_reference.name,
                       &s->config_map->items);
        if (s->secret)
            note_items(p, API_T_secret, s->secret->local_object_reference.name, &s->secret->items);
    }
}

void stand_ins_note(struct stand_ins *all, const struct api_object *o) {
    const struct api_pod *body = o->body;
    const struct api_pod_spec *spec = &body->spec;
    const struct pod p = {all, o->meta->namespace};
    if (!str_is(body->status.phase, "Running"))
        return;
    for (size_t i = 0; i < spec->init_containers.n; i++)
        note_env(&p, &spec->init_containers.v[i]);
    for (size_t i = 0; i < spec->containers.n; i++)
        note_env(&p, &spec->containers.v[i]);
    for (size_t i = 0; i < spec->volumes.n; i++)
        note_volume(&p, &spec->volumes.v[i].volume_source);
}

void stand_ins_init(struct stand_ins *all) {
    *all = (struct stand_ins){.wanted = MAP_INIT(map_random_seed()),
                              .keys = MAP_INIT(map_random_seed())};
}

/* ---- making them ---- */

/* The authority that pods trust is another one here, and published by a controller. */
static bool is_published(const struct stand_in *it) {
    return it->type == API_T_config_map && str_is(it->name, "kube-root-ca.crt");
}

static bool make(struct serve *s, const struct stand_in *it) {
    AUTO(arena_release) struct arena a = {0};
    struct api_object *o = api_object_new(client_kind(it->type));
    struct api_object_meta *meta = api_own_meta(o);
    struct labels all = {it->keys.v, it->keys.n};
    struct labels keys = labels_copy(&o->arena, &all);
    labels_sort(&keys);
    meta->name = arena_str(&o->arena, it->name);
    meta->namespace = arena_str(&o->arena, it->namespace);
    labels_put(&o->arena, &meta->annotations,
               (struct label){STR("berth.dev/stand-in"), STR("true")});
    if (it->type == API_T_secret)
        ((struct api_secret *)api_own_body(o))->data = keys;
    else
        ((struct api_config_map *)api_own_body(o))->data = keys;
    return !apiserver_load(s->api, &a, o).code; /* else it is there, or nobody would look for it */
}

static void tell(struct serve *s, size_t maps, size_t secrets) {
    struct cmd_ctx *ctx = s->call->ctx;
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    if (!maps && !secrets)
        return;
    cmd_add_title(ctx, CMD_WARNING, &text);
    buf_addf(&text,
             "pods run with %zu ConfigMap%s and %zu Secret%s that are not in the dump; stand-ins "
             "without values are made\n",
             maps, maps == 1 ? "" : "s", secrets, secrets == 1 ? "" : "s");
    (void)io_write(ctx->err, buf_view(&text), NULL);
}

void stand_ins_make(struct stand_ins *all, struct serve *s) {
    size_t at = 0, maps = 0, secrets = 0;
    for (struct map_entry *e; (e = map_next(&all->wanted, &at));) {
        const struct stand_in *it = e->value;
        if (is_published(it) || !make(s, it))
            continue;
        maps += it->type == API_T_config_map;
        secrets += it->type == API_T_secret;
    }
    tell(s, maps, secrets);
}

void stand_ins_release(struct stand_ins *all) {
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&all->wanted, &at));) {
        struct stand_in *it = e->value;
        vec_release(&it->keys);
        free(it);
    }
    map_release(&all->wanted);
    map_release(&all->keys);
    arena_release(&all->arena);
}
