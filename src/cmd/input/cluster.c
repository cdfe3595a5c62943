/* Reads a cluster: every object once, settled as a server would have stored it. */
#include "cmd/input/cluster.h"

#include <assert.h>

#include "api/object.h"
#include "base/printable.h"
#include "valid/valid.h"

/* Remarks wait in this much memory; one is at most so long. */
enum { SPOOL_BYTES = 1 << 20, LONGEST_REMARK = 64 << 20 };

void cluster_init(struct cluster *c, const struct cluster_opts *opts) {
    *c = (struct cluster){.opts = *opts,
                          .by_key = MAP_INIT(map_random_seed()),
                          .refused_keys = MAP_INIT(map_random_seed()),
                          .text = BUF_INIT(LONGEST_REMARK)};
    if (!c->opts.namespace.n)
        c->opts.namespace = STR("default");
    struct judge_opts judge = {.gates = opts->gates,
                               .namespace = c->opts.namespace,
                               .cel = opts->cel,
                               .strict = true,
                               .closed = true};
    struct err err;
    int rc = judge_new(&judge, NULL, &c->judge, &err);
    assert(rc == 0); /* only a wrong code to silence fails */
    (void)rc;
    spool_init(&c->remarks, SPOOL_BYTES, cmd_getenv(opts->ctx, "TMPDIR"));
}

void cluster_release(struct cluster *c) {
    for (size_t i = 0; i < c->items.n; i++)
        api_object_unref(c->items.v[i].object);
    vec_release(&c->items);
    map_release(&c->by_key);
    map_release(&c->refused_keys);
    judge_free(c->judge);
    buf_release(&c->text);
    spool_release(&c->remarks);
    arena_release(&c->arena);
}

/* ---- remarks ---- */

/* A remark that cannot be kept is lost; the exit code tells of it all the same. */
static void flush_remark(struct cluster *c) {
    struct err err;
    (void)spool_add(&c->remarks, buf_view(&c->text), &err);
    buf_clear(&c->text);
}

static void begin_remark(struct cluster *c, const struct input_source *at) {
    printable_add(&c->text, at->file);
    buf_addf(&c->text, ":%u: ", at->line);
}

static void end_remark(struct cluster *c) {
    buf_add_char(&c->text, '\n');
    flush_remark(c);
}

void cluster__note(struct cluster *c, const struct input_source *at, struct str text) {
    begin_remark(c, at);
    printable_add(&c->text, text);
    end_remark(c);
}

void cluster__refuse(struct cluster *c, const struct input_source *at, struct str text) {
    c->refused++;
    cluster__note(c, at, text);
}

/* What the judge says, under the name of the maker if there is one. */
static void refuse_verdict(struct cluster *c, const struct verdict *v, struct str maker) {
    c->refused++;
    begin_remark(c, &v->source);
    printable_add(&c->text, maker);
    buf_add(&c->text, maker.n ? STR(": ") : STR(""));
    printable_add_lines(&c->text, v->text);
    end_remark(c);
    for (size_t i = 0; i < v->hints.n; i++) {
        cmd_add_title(c->opts.ctx, CMD_HINT, &c->text);
        printable_add(&c->text, v->hints.v[i]);
        end_remark(c);
    }
}

void cluster_write_remarks(struct cluster *c) {
    /* Nobody is left to tell when standard error cannot be written. */
    (void)spool_copy(&c->remarks, c->opts.ctx->err, NULL);
}

/* ---- names ---- */

static struct str key_of(struct arena *a, const char *kind, struct str namespace, struct str name) {
    return arena_printf(a, "%s\n%.*s\n%.*s", kind, STR_ARG(namespace), STR_ARG(name));
}

struct api_object *cluster_find(const struct cluster *c, const char *kind, struct str namespace,
                                struct str name) {
    AUTO(arena_release) struct arena a = {0};
    return map_get(&c->by_key, key_of(&a, kind, namespace, name));
}

/* False when there is one of that name already. */
static bool add_name(struct cluster *c, struct api_object *o) {
    struct str key = key_of(&c->arena, o->kind->kind, o->meta->namespace, o->meta->name);
    if (map_get(&c->by_key, key))
        return false;
    map_put(&c->by_key, key, o);
    return true;
}

bool cluster_has_refused(const struct cluster *c, const char *kind, struct str namespace,
                         struct str name) {
    AUTO(arena_release) struct arena a = {0};
    return map_get(&c->refused_keys, key_of(&a, kind, namespace, name));
}

static void remember_refused(struct cluster *c, const struct api_object *o) {
    struct str namespace = o->meta->namespace.n ? o->meta->namespace : c->opts.namespace;
    if (!o->kind->namespaced)
    namespace = STR("");
    map_put(&c->refused_keys, key_of(&c->arena, o->kind->kind, namespace, o->meta->name), c);
}

/* Kinds without validation need one, too. It depends only on what the object is called. */
static void set_uid(struct api_object *o, struct str namespace) {
    if (!o->meta->uid.n)
        o->meta->uid = valid_new_uid(&o->arena, o->kind, namespace, o->meta->name);
}

/* Random there, counted here. */
static void generate_name(struct cluster *c, struct api_object *o) {
    static const char alphabet[] = CLUSTER__LETTERS;
    char suffix[] = "bbbbb";
    if (o->meta->name.n || !o->meta->generate_name.n)
        return;
    size_t rest = c->generated++;
    for (size_t i = sizeof suffix - 1; i-- > 0; rest /= sizeof alphabet - 1)
        suffix[i] = alphabet[rest % (sizeof alphabet - 1)];
    o->meta->name = arena_printf(&o->arena, "%.*s%s", STR_ARG(o->meta->generate_name), suffix);
}

/* ---- settling: from what was read to what a server would have ---- */

static bool is_type(const struct api_object *o, enum api_type_id id) {
    return o->type == &api_types[id];
}

/* What others need to know before they can be settled. */
static bool comes_first(const struct api_object *o) {
    return is_type(o, API_T_namespace) || is_type(o, API_T_priority_class) ||
           is_type(o, API_T_storage_class);
}

static const char *const always_there[] = {"default", "kube-node-lease", "kube-public",
                                           "kube-system"};

static bool has_namespace(const struct cluster *c, struct str name) {
    for (size_t i = 0; i < sizeof always_there / sizeof *always_there; i++)
        if (str_is(name, always_there[i]))
            return true;
    return !c->has_namespaces || cluster_find(c, "Namespace", STR(""), name);
}

static void refuse_as_server(struct cluster *c, const struct cluster_item *it, const char *reason,
                             struct str text) {
    AUTO(arena_release) struct arena a = {0};
    cluster__refuse(c, &it->source,
                    arena_printf(&a, "Error from server (%s): error when creating \"%.*s\": %.*s",
                                 reason, STR_ARG(it->source.file), STR_ARG(text)));
}

static bool check_namespace(struct cluster *c, const struct cluster_item *it,
                            struct str namespace) {
    AUTO(arena_release) struct arena a = {0};
    if (!it->object->kind->namespaced || has_namespace(c, namespace))
        return true;
    refuse_as_server(c, it, "NotFound",
                     arena_printf(&a, "namespaces \"%.*s\" not found", STR_ARG(namespace)));
    return false;
}

static bool is_default_class(const struct api_object *o) {
    const struct label *l =
        labels_find(&o->meta->annotations, STR("storageclass.kubernetes.io/is-default-class"));
    return is_type(o, API_T_storage_class) && l && str_is(l->value, "true");
}

/* Of several default classes the one made last counts, and of those of one time the first name. */
static bool is_better_default(const struct api_object_meta *a, const struct api_object_meta *b) {
    if (a->creation_timestamp.sec != b->creation_timestamp.sec)
        return a->creation_timestamp.sec > b->creation_timestamp.sec;
    return str_cmp(a->name, b->name) < 0;
}

/* Classes are settled before claims: the default one stays what it is. */
static struct str default_storage_class(struct cluster *c) {
    const struct api_object_meta *found = NULL;
    for (size_t i = 0; !c->knows_default_class && i < c->items.n; i++) {
        const struct api_object *o = c->items.v[i].object;
        if (o && is_default_class(o) && (!found || is_better_default(o->meta, found)))
            found = o->meta;
    }
    if (found)
        c->default_class = arena_str(&c->arena, found->name);
    c->knows_default_class = true;
    return c->default_class;
}

/* What the controller of volumes does to a claim that names its volume, and admission to one that
 * names no class. */
static void settle_claim(struct cluster *c, struct api_object *o) {
    struct api_persistent_volume_claim *claim = o->body;
    if (!claim->spec.storage_class_name.p)
        claim->spec.storage_class_name = arena_str(&o->arena, default_storage_class(c));
    claim->status.phase = claim->spec.volume_name.n ? STR("Bound") : STR("Pending");
    if (claim->spec.volume_name.n)
        labels_put(&o->arena, &o->meta->annotations,
                   (struct label){STR("pv.kubernetes.io/bind-completed"), STR("yes")});
}

static void settle_volume(struct api_object *o) {
    struct api_persistent_volume *volume = o->body;
    volume->status.phase = volume->spec.claim_ref ? STR("Bound") : STR("Available");
}

static bool settle_manifest(struct cluster *c, struct cluster_item *it) {
    struct api_object *o = it->object;
    struct str namespace = o->meta->namespace.n ? o->meta->namespace : c->opts.namespace;
    struct verdict verdict;
    if (!check_namespace(c, it, namespace))
        return false;
    generate_name(c, o);
    set_uid(o, o->kind->namespaced ? namespace : STR(""));
    judge_object(c->judge, o, &it->source, &verdict);
    if (!verdict.accepted) {
        refuse_verdict(c, &verdict, STR(""));
        return false;
    }
    if (is_type(o, API_T_persistent_volume_claim))
        settle_claim(c, o);
    if (is_type(o, API_T_persistent_volume))
        settle_volume(o);
    return true;
}

static bool register_name(struct cluster *c, struct cluster_item *it) {
    AUTO(arena_release) struct arena a = {0};
    struct api_object *o = it->object;
    if (!o->kind->namespaced)
        o->meta->namespace = STR("");
    else if (!o->meta->namespace.n)
        o->meta->namespace = arena_str(&o->arena, c->opts.namespace);
    if (add_name(c, o))
        return true;
    refuse_as_server(
        c, it, "AlreadyExists",
        arena_printf(&a, "%s \"%.*s\" already exists", o->kind->plural, STR_ARG(o->meta->name)));
    return false;
}

static bool settle(struct cluster *c, struct cluster_item *it) {
    if (!it->stored && !settle_manifest(c, it))
        return false;
    if (it->stored && is_type(it->object, API_T_priority_class))
        judge_add_class(c->judge, it->object);
    return cluster__check_limits(c, it, STR("")) && register_name(c, it);
}

static void settle_all(struct cluster *c, bool first) {
    for (size_t i = 0; i < c->items.n; i++) {
        struct cluster_item *it = &c->items.v[i];
        if (!it->object || comes_first(it->object) != first || settle(c, it))
            continue;
        remember_refused(c, it->object);
        api_object_unref(it->object);
        it->object = NULL;
    }
}

static size_t count_tolerations(const struct api_object *o) {
    return is_type(o, API_T_pod) ? ((const struct api_pod *)o->body)->spec.tolerations.n : 0;
}

static bool create(struct cluster *c, struct cluster_item *it, struct str maker) {
    struct verdict verdict;
    api_object_default(it->object, &c->opts.gates->enabled);
    set_uid(it->object, it->object->meta->namespace);
    judge_object(c->judge, it->object, &it->source, &verdict);
    if (!verdict.accepted) {
        refuse_verdict(c, &verdict, maker);
        return false;
    }
    if (is_type(it->object, API_T_persistent_volume_claim))
        settle_claim(c, it->object);
    return cluster__check_limits(c, it, maker) && register_name(c, it);
}

bool cluster__create(struct cluster *c, struct api_object *o, const struct input_source *at,
                     struct str maker) {
    struct cluster_item it = {o, *at, false, count_tolerations(o)};
    if (create(c, &it, maker))
        return true;
    remember_refused(c, o);
    return false;
}

bool cluster__adopt(struct cluster *c, struct api_object *o, const struct input_source *at) {
    struct cluster_item it = {.object = o, .source = *at};
    set_uid(o, o->meta->namespace);
    if (register_name(c, &it))
        return true;
    remember_refused(c, o);
    return false;
}

/* ---- reading ---- */

static void keep(struct cluster *c, struct api_object *o, const struct input_source *source) {
    struct cluster_item it = {o, *source, o->meta->uid.n > 0, count_tolerations(o)};
    if (!str_eq(c->file, source->file))
        c->file = arena_str(&c->arena, source->file);
    it.source.file = c->file;
    c->has_namespaces |= is_type(o, API_T_namespace);
    vec_push(&c->items, it);
}

/* What it is called is known if it got that far. */
static void refuse_undecoded(struct cluster *c, const struct verdict *v) {
    struct str namespace = v->namespace.n ? v->namespace : c->opts.namespace;
    refuse_verdict(c, v, STR(""));
    if (v->name.n)
        map_put(&c->refused_keys,
                key_of(&c->arena, arena_str(&c->arena, v->kind).p, namespace, v->name), c);
}

/* No server stores an object without a name, and nobody could say what became of it. Of a manifest
 * the rules of its kind say so, where there are any. */
static bool lacks_name(const struct api_object *o) {
    if (o->meta->name.n)
        return false;
    return o->meta->uid.n || (!valid_knows(o->kind) && !o->meta->generate_name.n);
}

static int fail_nameless(struct api_object *o, const struct input_source *source, struct err *err) {
    err_set(err, ERR_INVALID, "a %s without a name: metadata.name is empty", o->kind->kind);
    api_object_unref(o);
    return input_fail_at(source, err);
}

/* Kinds that nobody here knows have nothing to say about where pods go. */
static int take_value(struct cluster *c, const struct input_value *value,
                      const struct input_source *source, struct err *err) {
    struct verdict verdict;
    struct api_object *o = judge_decode(c->judge, value, source, &verdict);
    if (!o)
        refuse_undecoded(c, &verdict);
    else if (!o->kind || !o->meta)
        api_object_unref(o);
    else if (lacks_name(o))
        return fail_nameless(o, source, err);
    else
        keep(c, o, source);
    return 0;
}

static int read_all(struct cluster *c, struct input *in, struct err *err) {
    struct input_value value;
    struct input_source source;
    int rc;
    while ((rc = input_next_value(in, &value, &source, err)) > 0)
        if (take_value(c, &value, &source, err) < 0)
            return -1;
    return rc;
}

int cluster_read(struct cluster *c, const struct input_opts *files, struct err *err) {
    struct input *in;
    if (input_open(c->opts.ctx, files, false, &in, err) < 0)
        return -1;
    input_keep_repeats(in);
    int rc = read_all(c, in, err);
    input_free(in);
    if (rc < 0)
        return -1;
    settle_all(c, true);
    settle_all(c, false);
    cluster__check_references(c);
    return 0;
}
