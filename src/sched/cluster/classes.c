/*
 * Classes: pods that differ in nothing that plug-ins look at are the same thing to them. The pods
 * of a Deployment are one class while they are pending. Of pods that are placed fewer things
 * matter, so the pods of a DaemonSet, which each ask for a node of their own, are one class then.
 */
#include <string.h>

#include "base/alloc.h"
#include "sched/cluster/requests_int.h"
#include "sched/eval_int.h"
#include "sched/plugin_int.h"
#include "sched/topology/count_int.h"

/* Beside the key: enough for what plug-ins make of a plain pod, pending or placed. */
enum { PENDING_BYTES = 544, PLACED_BYTES = 64 };

/* ---- what makes two pods one class ---- */

struct key_writer {
    struct buf out;
    struct arena arena;
};

static const struct json_style compact = {0};

static void add_text(struct key_writer *w, struct str text) {
    buf_add_u64(&w->out, text.n);
    buf_add_char(&w->out, ':');
    buf_add(&w->out, text);
}

static void add_struct(struct key_writer *w, enum api_type_id id, const void *body) {
    struct json tree = api_struct_encode(&w->arena, &api_types[id], body);
    json_write(&w->out, &tree, &compact);
}

static void add_labels(struct key_writer *w, const struct labels *labels) {
    for (size_t i = 0; i < labels->n; i++) {
        add_text(w, labels->v[i].key);
        add_text(w, labels->v[i].value);
    }
    buf_add_char(&w->out, ';');
}

/* The default constraints of spreading look for the owner's selector. */
static void add_owner(struct key_writer *w, const struct api_object_meta *meta) {
    for (size_t i = 0; i < meta->owner_references.n; i++) {
        const struct api_owner_reference *owner = &meta->owner_references.v[i];
        if (!owner->controller.set || !owner->controller.v)
            continue;
        add_text(w, owner->api_version);
        add_text(w, owner->kind);
        add_text(w, owner->name);
        add_text(w, owner->uid);
    }
    buf_add_char(&w->out, ';');
}

static void add_images(struct key_writer *w, const struct api_container_list *list) {
    for (size_t i = 0; i < list->n; i++)
        add_text(w, list->v[i].image);
    buf_add_char(&w->out, ';');
}

/* Ports of init containers matter only if they keep running. */
static void add_ports(struct key_writer *w, const struct api_container_list *list) {
    for (size_t i = 0; i < list->n; i++)
        for (size_t j = 0; j < list->v[i].ports.n; j++)
            if (list->v[i].ports.v[j].host_port) {
                add_text(w, list->v[i].restart_policy);
                add_struct(w, API_T_container_port, &list->v[i].ports.v[j]);
            }
    buf_add_char(&w->out, ';');
}

static bool volume_matters(const struct api_volume_source *v) {
    return v->persistent_volume_claim || v->ephemeral || v->gce_persistent_disk ||
           v->aws_elastic_block_store || v->iscsi || v->rbd || v->image || v->csi || v->cinder ||
           v->azure_disk || v->portworx_volume;
}

static bool has_ephemeral(const struct api_volume_list *list) {
    for (size_t i = 0; i < list->n; i++)
        if (list->v[i].volume_source.ephemeral)
            return true;
    return false;
}

/* The claim of an ephemeral volume is named after pod and volume. Volumes that do not matter often
 * have names that were made up for the pod. */
static void add_volumes(struct key_writer *w, const struct api_pod *pod) {
    for (size_t i = 0; i < pod->spec.volumes.n; i++) {
        const struct api_volume *v = &pod->spec.volumes.v[i];
        if (!volume_matters(&v->volume_source))
            continue;
        if (v->volume_source.ephemeral) {
            add_text(w, pod->metadata.name);
            add_text(w, pod->metadata.uid);
        }
        add_text(w, v->name);
        add_struct(w, API_T_volume_source, &v->volume_source);
    }
    buf_add_char(&w->out, ';');
}

static void add_number(struct key_writer *w, int64_t number) {
    buf_add_i64(&w->out, number);
    buf_add_char(&w->out, ',');
}

static void add_requests(struct key_writer *w, const struct sched__requests *r) {
    add_number(w, r->nonzero_cpu);
    add_number(w, r->nonzero_memory);
    add_number(w, r->scored_cpu);
    add_number(w, r->scored_memory);
    for (size_t i = 0; i < r->n; i++) {
        add_number(w, r->v[i].resource);
        add_number(w, r->v[i].amount);
    }
    buf_add_char(&w->out, ';');
}

static void add_pod_affinity(struct key_writer *w, const struct api_affinity *affinity) {
    if (affinity && affinity->pod_affinity)
        add_struct(w, API_T_pod_affinity, affinity->pod_affinity);
    buf_add_char(&w->out, ';');
    if (affinity && affinity->pod_anti_affinity)
        add_struct(w, API_T_pod_anti_affinity, affinity->pod_anti_affinity);
    buf_add_char(&w->out, ';');
}

/* To whom a pod that has its node is a neighbour. */
static void add_neighbour(struct key_writer *w, const struct api_pod *pod) {
    add_labels(w, &pod->metadata.labels);
    add_pod_affinity(w, pod->spec.affinity);
}

/* What it takes there. */
static void add_presence(struct key_writer *w, const struct api_pod *pod,
                         const struct sched__requests *requests) {
    add_text(w, pod->metadata.namespace);
    add_requests(w, requests);
    add_ports(w, &pod->spec.init_containers);
    add_ports(w, &pod->spec.containers);
    add_volumes(w, pod);
}

/* Whom it looks for on the way there. */
static void add_outlook(struct key_writer *w, const struct api_pod *pod) {
    const struct api_topology_spread_constraint_list *spread =
        &pod->spec.topology_spread_constraints;
    add_owner(w, &pod->metadata);
    for (size_t i = 0; i < spread->n; i++)
        add_struct(w, API_T_topology_spread_constraint, &spread->v[i]);
    buf_add_char(&w->out, ';');
}

static void add_gates(struct key_writer *w, const struct api_pod_scheduling_gate_list *list) {
    for (size_t i = 0; i < list->n; i++)
        add_text(w, list->v[i].name);
    buf_add_char(&w->out, ';');
}

/* Daemons have eight of them or more, and are each a class: a name for each field is half of it. */
static void add_tolerations(struct key_writer *w, const struct api_toleration_list *list) {
    for (size_t i = 0; i < list->n; i++) {
        const struct api_toleration *t = &list->v[i];
        add_text(w, t->key);
        add_text(w, t->operator);
        add_text(w, t->value);
        add_text(w, t->effect);
        add_text(w, t->expression);
        if (t->toleration_seconds.set)
            add_number(w, t->toleration_seconds.v);
        buf_add_char(&w->out, '/');
    }
    buf_add_char(&w->out, ';');
}

/* What else matters on the way there. */
static void add_needs(struct key_writer *w, const struct api_pod *pod) {
    const struct api_pod_spec *spec = &pod->spec;
    add_text(w, spec->node_name);
    buf_addf(&w->out, "%u;", sched__features_needed(spec));
    add_text(w, spec->scheduler_name);
    add_text(w, spec->preemption_policy);
    add_gates(w, &spec->scheduling_gates);
    add_labels(w, &spec->node_selector);
    add_images(w, &spec->init_containers);
    add_images(w, &spec->containers);
    if (spec->affinity && spec->affinity->node_affinity)
        add_struct(w, API_T_node_affinity, spec->affinity->node_affinity);
    buf_add_char(&w->out, ';');
    add_tolerations(w, &spec->tolerations);
}

/* ---- requests ---- */

/* What a pod asks for, as it is looked at on a node and by plug-ins on its way there. */
struct views {
    struct sched__requests on_node, asked, balanced;
    bool differ;
};

static void get_views(struct sched *s, const struct api_pod *pod, bool placed, struct arena *a,
                      struct views *out) {
    sched__pod_requests(s, pod, SCHED_REQUESTS_RESIZE | SCHED_REQUESTS_CLAIMS, a, &out->on_node);
    out->asked = out->balanced = out->on_node;
    out->differ = !placed && sched_requests_have_status(pod);
    if (!out->differ)
        return;
    sched__pod_requests(s, pod, SCHED_REQUESTS_SPEC, a, &out->asked);
    sched__pod_requests(s, pod, SCHED_REQUESTS_RESIZE, a, &out->balanced);
}

/* Without the gate nobody looks at groups. */
static bool is_grouped(const struct sched *s, const struct api_pod *pod) {
    return pod->spec.scheduling_group && feature_enabled(&s->gates, FEATURE_GenericWorkload);
}

/* Returns where the part begins that does not look at other pods. */
static size_t write_key(struct key_writer *w, const struct sched *s, const struct api_pod *pod,
                        bool placed, const struct views *requests) {
    buf_add_char(&w->out, placed ? '@' : '?');
    add_neighbour(w, pod);
    if (!placed)
        add_outlook(w, pod);
    size_t needs = w->out.n;
    add_presence(w, pod, &requests->on_node);
    if (!placed)
        add_needs(w, pod);
    if (is_grouped(s, pod))
        buf_add_char(&w->out, '+');
    if (requests->differ) {
        add_requests(w, &requests->asked);
        add_requests(w, &requests->balanced);
    }
    return needs;
}

/* ---- pods that share their spec ---- */

/* Structs of the same bytes are equal, and share what they point to. Equal ones may differ in bytes
 * between their members; then they are merely not known to be equal. */
static bool same_bytes(const void *a, const void *b, size_t n) {
    return memcmp(a, b, n) == 0;
}

/*
 * Is the pod one that shares all that its key would be written of with the class's sample, as pods
 * made of one template do (api_object_derive)? Shared lists are the same place in memory, and what
 * is published does not change, so nothing behind the pointers has to be read: the pods of a
 * workload cost the same whatever their template says.
 */
static bool is_like_sample(const struct sched__pod_class *c, const struct api_pod *pod) {
    const struct api_pod *sample = c->pod;
    if (pod->spec.containers.v != sample->spec.containers.v ||
        pod->metadata.labels.v != sample->metadata.labels.v ||
        pod->metadata.labels.n != sample->metadata.labels.n ||
        pod->metadata.owner_references.v != sample->metadata.owner_references.v ||
        !str_eq(pod->metadata.namespace, sample->metadata.namespace))
        return false;
    if (!c->placed && !str_eq(pod->spec.node_name, sample->spec.node_name))
        return false;
    struct api_pod_spec spec = pod->spec;
    spec.node_name = sample->spec.node_name;
    spec.hostname = sample->spec.hostname; /* nobody looks at it */
    return same_bytes(&spec, &sample->spec, sizeof spec) && !c->is_single &&
           !sched_requests_have_status(pod) && !sched_requests_have_status(sample);
}

/* The object that is held for a new class. A pod that was bound may be a copy of what it was before
 * that shares all but its node: that one stands for it as well, for nobody asks a class where its
 * pods are, and whoever has made the copy has it anyway. */
static const struct api_object *sample_of(const struct api_object *pod, bool placed) {
    if (!placed || !pod->base)
        return pod;
    struct api_pod now = *(const struct api_pod *)pod->body;
    const struct api_pod *before = pod->base->body;
    now.spec.node_name = before->spec.node_name;
    now.status.nominated_node_name = before->status.nominated_node_name;
    return same_bytes(&now, before, sizeof now) ? pod->base : pod;
}

/* ---- classes ---- */

static const struct sched_profile *find_profile(const struct sched *s, struct str name) {
    for (size_t i = 0; i < s->config->profile_count; i++)
        if (str_eq(s->config->profiles[i].scheduler_name, name))
            return &s->config->profiles[i];
    return NULL;
}

static void compile_plugins(struct sched *s, struct sched__pod_class *c) {
    for (enum sched_plugin p = 0; p < SCHED_PLUGIN_COUNT; p++) {
        const struct sched__plugin *plugin = sched__plugin_at(p);
        if (plugin->compile && (!c->placed || plugin->sees_placed))
            c->data[p] = plugin->compile(s, c);
    }
    c->has_volumes = c->data[SCHED_VOLUME_RESTRICTIONS] || c->data[SCHED_VOLUME_LIMITS] ||
                     c->data[SCHED_VOLUME_BINDING] || c->data[SCHED_VOLUME_ZONE];
}

/* The pod's tolerations: often those of the pod that came before, as of daemons of one set, which
 * share the list in memory. */
static struct match_tolerations *find_tolerations(struct sched *s, const struct api_pod *pod) {
    const struct api_toleration_list *list = &pod->spec.tolerations;
    const struct sched__pod_class *before = s->last_class[false];
    if (before && before->pod->spec.tolerations.v == list->v &&
        before->pod->spec.tolerations.n == list->n)
        return before->tolerations;
    return match_tolerations_get(s->match, list);
}

/* What only pods on their way need. */
static void prepare_needs(struct sched *s, struct sched__pod_class *c) {
    const struct api_affinity *affinity = c->pod->spec.affinity;
    c->profile = find_profile(s, c->pod->spec.scheduler_name);
    c->tolerations = find_tolerations(s, c->pod);
    match_ref(&c->tolerations->list);
    c->affinity = match_affinity_new(s->match, &c->pod->spec.node_selector,
                                     affinity ? affinity->node_affinity : NULL);
}

static size_t collect_ports(struct sched *s, const struct api_container *c,
                            struct sched__port *out) {
    size_t n = 0;
    for (size_t i = 0; i < c->ports.n; i++) {
        const struct api_container_port *port = &c->ports.v[i];
        if (port->host_port <= 0)
            continue;
        struct str ip = port->host_ip.n ? port->host_ip : STR("0.0.0.0");
        struct str protocol = port->protocol.n ? port->protocol : STR("TCP");
        if (out)
            out[n] = (struct sched__port){.protocol = intern_ref(intern_get(s->atoms, protocol)),
                                          .ip = intern_ref(intern_get(s->atoms, ip)),
                                          .port = port->host_port};
        n++;
    }
    return n;
}

/* Counts the class's host ports, and writes them unless out is NULL. */
static size_t list_ports(struct sched *s, const struct api_pod_spec *spec,
                         struct sched__port *out) {
    size_t n = 0;
    for (size_t i = 0; i < spec->init_containers.n; i++)
        if (str_is(spec->init_containers.v[i].restart_policy, "Always"))
            n += collect_ports(s, &spec->init_containers.v[i], out ? out + n : NULL);
    for (size_t i = 0; i < spec->containers.n; i++)
        n += collect_ports(s, &spec->containers.v[i], out ? out + n : NULL);
    return n;
}

static struct sched__amounts hold_amounts(struct sched *s, struct sched__pod_class *c,
                                          const struct sched__requests *r) {
    for (size_t i = 0; i < r->n; i++)
        sched__resource_ref(s, r->v[i].resource);
    return (struct sched__amounts){arena_copy(&c->arena, r->v, r->n * sizeof *r->v), r->n};
}

static void drop_amounts(struct sched *s, const struct sched__amounts *amounts) {
    for (size_t i = 0; i < amounts->n; i++)
        sched__resource_unref(s, amounts->v[i].resource);
}

static void keep_requests(struct sched *s, struct sched__pod_class *c, const struct views *views) {
    c->requests = hold_amounts(s, c, &views->on_node);
    c->asked = views->differ ? hold_amounts(s, c, &views->asked) : c->requests;
    c->balanced = views->differ ? hold_amounts(s, c, &views->balanced) : c->requests;
    c->nonzero_cpu = views->on_node.nonzero_cpu;
    c->nonzero_memory = views->on_node.nonzero_memory;
    c->scored_cpu = views->on_node.scored_cpu;
    c->scored_memory = views->on_node.scored_memory;
}

static struct sched__pod_class *class_new(struct sched *s, const struct api_object *pod,
                                          bool placed, struct str key,
                                          const struct views *requests) {
    struct sched__pod_class *c = xcalloc(1, sizeof *c);
    arena_start(&c->arena, key.n + (placed ? PLACED_BYTES : PENDING_BYTES));
    c->key = arena_str(&c->arena, key);
    c->serial = ++s->serial;
    c->sample = api_object_ref(sample_of(pod, placed));
    c->pod = c->sample->body;
    c->placed = placed;
    c->is_single = has_ephemeral(&c->pod->spec.volumes);
    c->grouped = is_grouped(s, c->pod);
    keep_requests(s, c, requests);
    c->port_count = list_ports(s, &c->pod->spec, NULL);
    c->ports = arena_array(&c->arena, struct sched__port, c->port_count);
    list_ports(s, &c->pod->spec, c->ports);
    if (!c->placed)
        prepare_needs(s, c);
    map_put(&s->pod_classes, c->key, c);
    sched__count_join(s, c);
    compile_plugins(s, c);
    return c;
}

static struct sched__pod_class *find_or_make(struct sched *s, const struct api_object *pod,
                                             bool placed) {
    struct key_writer w = {.out = s->key, .arena = s->scratch};
    s->key = BUF_INIT(SIZE_MAX); /* plug-ins look things up while they compile */
    struct views requests;
    buf_clear(&w.out);
    get_views(s, pod->body, placed, &w.arena, &requests);
    buf_clear(&w.out); /* it may hold the key of a pod */
    size_t needs = write_key(&w, s, pod->body, placed, &requests);
    struct sched__pod_class *c = map_get(&s->pod_classes, buf_view(&w.out));
    if (!c)
        c = class_new(s, pod, placed, buf_view(&w.out), &requests);
    c->needs = (struct str){c->key.p + needs, c->key.n - needs};
    arena_reset(&w.arena);
    buf_release(&s->key);
    s->key = w.out;
    s->scratch = w.arena;
    return c;
}

static struct sched__pod_class *get(struct sched *s, const struct api_object *pod, bool placed) {
    struct sched__pod_class *c = s->last_class[placed];
    if (!c || !is_like_sample(c, pod->body))
        c = find_or_make(s, pod, placed);
    s->last_class[placed] = c;
    c->refs++;
    return c;
}

struct sched__pod_class *sched__pod_class_get(struct sched *s, const struct api_object *pod) {
    return get(s, pod, ((const struct api_pod *)pod->body)->spec.node_name.n > 0);
}

struct sched__pod_class *sched__pod_class_get_pending(struct sched *s,
                                                      const struct api_object *pod) {
    return get(s, pod, false);
}

bool sched__pod_class_is_ignored(const struct sched__pod_class *c) {
    return !c->profile || c->grouped;
}

struct str sched__pod_class_objection(const struct sched__pod_class *c, struct arena *a) {
    if (!c->profile)
        return arena_printf(a, "no profile is named \"%.*s\"",
                            STR_ARG(c->pod->spec.scheduler_name));
    return c->grouped ? SCHED_NO_POD_GROUPS : (struct str){0};
}

struct sched__pod_class *sched__pod_class_ref(struct sched__pod_class *c) {
    c->refs++;
    return c;
}

static void class_free(struct sched *s, struct sched__pod_class *c) {
    for (enum sched_plugin p = 0; p < SCHED_PLUGIN_COUNT; p++)
        if (c->data[p] && sched__plugin_at(p)->discard)
            sched__plugin_at(p)->discard(s, c->data[p]);
    sched__count_leave(s, c);
    sched__eval_leave(s, c);
    if (c->tolerations)
        match_unref(&c->tolerations->list);
    match_affinity_free(c->affinity);
    for (size_t i = 0; i < c->port_count; i++) {
        intern_unref(c->ports[i].protocol);
        intern_unref(c->ports[i].ip);
    }
    drop_amounts(s, &c->requests);
    if (c->asked.v != c->requests.v)
        drop_amounts(s, &c->asked);
    if (c->balanced.v != c->requests.v)
        drop_amounts(s, &c->balanced);
    api_object_unref(c->sample);
    arena_release(&c->arena);
    free(c);
}

void sched__pod_class_unref(struct sched *s, struct sched__pod_class *c) {
    if (--c->refs)
        return;
    if (s->last_class[c->placed] == c)
        s->last_class[c->placed] = NULL;
    map_del(&s->pod_classes, c->key);
    class_free(s, c);
}
