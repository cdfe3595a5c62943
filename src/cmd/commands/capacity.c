/* Finds what is asked about, lets the simulation count, and puts the answer into words. */
#include "cmd/commands/capacity.h"

#include "api/object.h"
#include "base/printable.h"
#include "cmd/report/kubectl.h"
#include "cmd/report/remarks.h"
#include "sim/headroom.h"

/* ---- the target ---- */

struct target {
    const struct api_kind *kind;
    struct str namespace, name;
};

static bool has_word(const char *words, struct str word) {
    struct str rest = str_of(words), head;
    for (bool more = rest.n > 0; more;) {
        more = str_cut(rest, ' ', &head, &rest);
        if (str_eq(head, word))
            return true;
    }
    return false;
}

static enum api_type_id type_of(const struct api_kind *kind) {
    return (enum api_type_id)(kind->type - api_types);
}

/* deployment, deployments, deploy, deployment.apps */
static const struct api_kind *find_kind(struct str text) {
    size_t count;
    const struct registry_resource *rows = registry_resources(&count);
    struct str name, group;
    str_cut(text, '.', &name, &group);
    for (size_t i = 0; i < count; i++)
        if (str_is(name, rows[i].kind->plural) || str_is(name, rows[i].singular) ||
            has_word(rows[i].short_names, name))
            return rows[i].kind;
    return NULL;
}

static int read_target(struct str text, struct str namespace, struct target *out, struct err *err) {
    struct str kind;
    if (!str_cut(text, '/', &kind, &out->name) || !out->name.n)
        return err_set(err, ERR_USAGE, "name it as KIND/NAME, such as deployment/web");
    out->kind = find_kind(kind);
    out->namespace = namespace.n ? namespace : STR("default");
    if (!out->kind)
        return err_set(err, ERR_USAGE, "there is no kind \"%.*s\"", STR_ARG(kind));
    return 0;
}

/* ---- its pods ---- */

static bool is_named(const struct api_owner_reference *ref, const struct target *t) {
    return ref && str_is(ref->kind, t->kind->kind) && str_eq(ref->name, t->name);
}

/* Is the pod the target, or made by it, or by a ReplicaSet of it? */
static bool is_of(const struct sim_cluster *c, const struct api_object *pod,
                  const struct target *t) {
    const struct api_owner_reference *ref = api_object_controller(pod);
    if (!str_eq(pod->meta->namespace, t->namespace))
        return false;
    if (t->kind->type == pod->kind->type)
        return str_eq(pod->meta->name, t->name);
    if (!ref || is_named(ref, t))
        return ref != NULL;
    const struct api_object *set =
        str_is(ref->kind, "ReplicaSet")
            ? sim_cluster_find(c, API_T_replica_set, pod->meta->namespace, ref->name)
            : NULL;
    return set && is_named(api_object_controller(set), t);
}

/* One of its pods: the last that a manifest made, as it has the newest template, or the last. */
static const struct sim_item *find_model(const struct sim_cluster *c, const struct target *t) {
    const struct sim_item *found = NULL;
    for (size_t i = 0; i < c->items.n; i++) {
        const struct sim_item *it = &c->items.v[i];
        if (it->object && api_object_is(it->object, API_T_pod) && is_of(c, it->object, t) &&
            (!found || found->stored || !it->stored))
            found = it;
    }
    return found;
}

/* Replicas that have claims of their own, or a node of their own, are not all alike. */
static int check_target(const struct sim_cluster *c, const struct target *t, struct err *err) {
    struct str namespace = t->kind->namespaced ? t->namespace : STR("");
    const struct api_object *o = sim_cluster_find(c, type_of(t->kind), namespace, t->name);
    if (!o)
        return err_set(err, ERR_INVALID, "%s \"%.*s\" not found in namespace \"%.*s\"",
                       t->kind->plural, STR_ARG(t->name), STR_ARG(t->namespace));
    if (api_object_is(o, API_T_daemon_set))
        return err_set(err, ERR_INVALID, "a DaemonSet has no replicas: its pods follow the nodes");
    if (api_object_is(o, API_T_stateful_set) &&
        ((const struct api_stateful_set *)o->body)->spec.volume_claim_templates.n)
        return err_set(err, ERR_INVALID,
                       "its replicas have claims of their own (volumeClaimTemplates), which are "
                       "not made here");
    return 0;
}

static size_t count_placed(const struct sim_placement *p, const struct target *t) {
    size_t n = 0;
    for (size_t i = 0; i < p->cluster->items.n; i++) {
        const struct sim_item *it = &p->cluster->items.v[i];
        if (it->object && !it->held && api_object_is(it->object, API_T_pod) &&
            ((const struct api_pod *)it->object->body)->spec.node_name.n &&
            !api_pod_has_ended(it->object->body) && is_of(p->cluster, it->object, t))
            n++;
    }
    for (size_t i = 0; i < p->pods.n; i++) {
        bool is_placed = p->pods.v[i].state == SIM_SCHEDULED;
        bool has_left = !p->pods.v[i].item; /* it was counted above */
        if ((is_placed || has_left) && is_of(p->cluster, p->pods.v[i].pod, t))
            n = is_placed ? n + 1 : n - 1;
    }
    return n;
}

/* ---- answers ---- */

/* ; then 0/2 nodes are available: 2 Insufficient cpu. */
static void add_reason(struct buf *out, const char *before, struct str message) {
    buf_add(out, str_of(before));
    printable_add(out, message);
    buf_add_char(out, '\n');
}

int capacity_count_replicas(struct sim_placement *p, struct str text, struct str namespace,
                            struct buf *answer, struct err *err) {
    AUTO(arena_release) struct arena a = {0};
    struct target t;
    struct sim_headroom fit;
    if (read_target(text, namespace, &t, err) < 0 || check_target(p->cluster, &t, err) < 0)
        return err_wrap(err, "--replicas-that-fit");
    const struct sim_item *model = find_model(p->cluster, &t);
    if (!model)
        return err_set(err, ERR_INVALID,
                       "--replicas-that-fit: %.*s has no pods that could be taken as a template; "
                       "let it have a replica",
                       STR_ARG(text));
    size_t placed = count_placed(p, &t);
    sim_headroom_pods(p, model->object, &a, &fit);
    kubectl_write_name(answer, str_of(t.kind->api_version), str_of(t.kind->kind), t.name);
    const char *what = type_of(t.kind) == API_T_pod ? "pods like it" : "replicas";
    buf_addf(answer, ": %zu %s fit: %zu placed, %zu more", placed + fit.count, what, placed,
             fit.count);
    if (fit.is_limited)
        buf_add(answer, STR("; Berth counts no further\n"));
    else
        add_reason(answer, "; then ", fit.message);
    return 0;
}

/* ---- nodes of a template ---- */

/* The one node of the file, borrowed from the cluster; NULL: err says what is wrong. */
static const struct api_object *find_template(const struct sim_cluster *c, struct err *err) {
    const struct api_object *found = NULL;
    for (size_t i = 0; i < c->items.n; i++) {
        const struct api_object *o = c->items.v[i].object;
        if (!o || !api_object_is(o, API_T_node) || found) {
            err_set(err, ERR_INVALID, "one Node is wanted, and nothing else");
            return NULL;
        }
        found = o;
    }
    if (!found)
        err_set(err, ERR_INVALID, "no Node in it");
    return found;
}

/* Remarks on it are written, as those on the cluster were. */
static int read_template(struct cmd_call *call, const struct scene *scene,
                         const struct opt_list *file, struct sim_cluster *out, struct err *err) {
    struct sim_cluster_opts opts = scene->cluster.opts;
    if (file->n > 1)
        return err_set(err, ERR_USAGE, "it can be given once");
    struct remarks *remarks = remarks_new(call->ctx, &scene->gates);
    opts.ctx = remarks;
    sim_cluster_init(out, &opts);
    int rc = scene_read_cluster(call->ctx, &(struct input_opts){.filenames = *file},
                                &(struct opt_list){0}, out, err);
    remarks_write(remarks);
    remarks_free(remarks);
    return rc;
}

static void write_nodes(struct buf *out, const struct sim_headroom *fit) {
    const char *plural = fit->count == 1 ? "" : "s";
    if (!fit->waiting) {
        buf_addf(out, ": all pods fit with %zu more node%s like it\n", fit->count, plural);
        return;
    }
    buf_addf(out, ": %zu pod%s still wait%s with %zu more node%s like it; ", fit->waiting,
             fit->waiting == 1 ? "" : "s", fit->waiting == 1 ? "s" : "", fit->count, plural);
    if (fit->is_limited)
        buf_add(out, STR("Berth adds no more\n"));
    else
        add_reason(out, "another one helps nobody: ", fit->message);
}

static void release_cluster(struct sim_cluster *c) {
    if (c->known)
        sim_cluster_release(c);
}

int capacity_add_nodes(struct cmd_call *call, const struct scene *scene,
                       const struct opt_list *file, struct sim_placement *p, struct buf *answer,
                       struct err *err) {
    AUTO(arena_release) struct arena a = {0};
    AUTO(release_cluster) struct sim_cluster cluster = {0};
    struct sim_headroom fit;
    if (read_template(call, scene, file, &cluster, err) < 0)
        return err_wrap(err, "--node-template");
    const struct api_object *template = find_template(&cluster, err);
    if (!template)
        return err_wrap(err, "--node-template");
    sim_headroom_nodes(p, template, &a, &fit);
    buf_add(answer, STR("node/"));
    printable_add(answer, template->meta->name);
    write_nodes(answer, &fit);
    return 0;
}
