/*
 * Services and the pods that they select.
 *
 * Pods are filed under all their labels, and a service under the one of its selector's that fewest
 * others are filed under.
 *
 * Follows k8s.io/endpointslice util, func GetServicesToUpdate, func GetPodUpdateProjectionKey.
 */
#include "manager/services/service_pods_int.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "manager/labelled_int.h"
#include "manager/pods_int.h"

/* Changes of pods are collected for so long for each pod of the service, so that a service with
 * many pods is not gone through for each of them. Below the least, nothing is waited for. */
enum { NS_PER_POD = 20000, LEAST_NS = 1000000 };

struct service_pods {
    struct informer *services, *pods;
    struct labelled *pods_by_label, *services_by_label;
    VEC(struct workqueue *) queues;
};

static const struct labels *selector_of(const struct api_object *service) {
    return &((const struct api_service *)service->body)->spec.selector;
}

static bool selects(const struct labels *selector, const struct labels *labels) {
    size_t at = 0;
    for (size_t i = 0; i < selector->n; i++) {
        const struct label *l = labels_next(labels, &at, selector->v[i].key);
        if (!l || !str_eq(l->value, selector->v[i].value))
            return false;
    }
    return true;
}

/* The label under which fewest objects of the namespace are filed. */
static const struct label *rarest(struct labelled *in, struct str namespace,
                                  const struct labels *labels) {
    const struct label *best = NULL;
    size_t fewest = SIZE_MAX;
    for (size_t i = 0; i < labels->n; i++) {
        size_t n = labelled__count(in, namespace, &labels->v[i]);
        if (n < fewest) {
            fewest = n;
            best = &labels->v[i];
        }
    }
    return best;
}

bool service_pods__selects(const struct api_object *service) {
    const struct api_service *body = service->body;
    return body->spec.selector.n && !str_is(body->spec.type, "ExternalName");
}

struct manager__objects service_pods__find(struct service_pods *x, struct arena *a,
                                           const struct api_object *service) {
    const struct labels *selector = selector_of(service);
    struct str namespace = service->meta->namespace;
    const struct label *label = rarest(x->pods_by_label, namespace, selector);
    struct manager__objects out = {0};
    if (!label)
        return out;
    size_t at = 0;
    out.v = arena_array(a, const struct api_object *,
                        labelled__count(x->pods_by_label, namespace, label));
    for (const struct api_object *pod;
         (pod = labelled__next(x->pods_by_label, namespace, label, &at));)
        if (selects(selector, &pod->meta->labels))
            out.v[out.n++] = pod;
    return out;
}

/* ---- whose work a change is ---- */

static void enqueue(struct service_pods *x, const struct api_object *service) {
    for (size_t i = 0; i < x->queues.n; i++)
        workqueue_add_object(x->queues.v[i], service);
}

/* The same for a change of one of its pods. */
static void enqueue_later(struct service_pods *x, const struct api_object *service) {
    struct str namespace = service->meta->namespace;
    const struct label *label = rarest(x->pods_by_label, namespace, selector_of(service));
    int64_t ns = (int64_t)labelled__count(x->pods_by_label, namespace, label) * NS_PER_POD;
    for (size_t i = 0; i < x->queues.n; i++)
        workqueue_add_after(x->queues.v[i], namespace, service->meta->name, ns < LEAST_NS ? 0 : ns);
}

static void enqueue_services(struct service_pods *x, const struct api_object *pod) {
    const struct labels *labels = &pod->meta->labels;
    struct str namespace = pod->meta->namespace;
    for (size_t i = 0; i < labels->n; i++) {
        size_t at = 0;
        for (const struct api_object *o;
             (o = labelled__next(x->services_by_label, namespace, &labels->v[i], &at));)
            if (selects(selector_of(o), labels))
                enqueue_later(x, o);
    }
}

static bool same_addresses(const struct api_pod_status *a, const struct api_pod_status *b) {
    if (a->pod_ips.n != b->pod_ips.n)
        return false;
    for (size_t i = 0; i < a->pod_ips.n; i++)
        if (!str_eq(a->pod_ips.v[i].ip, b->pod_ips.v[i].ip))
            return false;
    return true;
}

/* May the change matter to a service? */
static bool matters(const struct api_object *old, const struct api_object *pod) {
    const struct api_pod *a = old->body, *b = pod->body;
    return old->meta->deletion_timestamp.set != pod->meta->deletion_timestamp.set ||
           manager__pod_is_ready(old) != manager__pod_is_ready(pod) ||
           api_pod_has_ended(a) != api_pod_has_ended(b) ||
           !same_addresses(&a->status, &b->status) ||
           !labels_equal(&old->meta->labels, &pod->meta->labels) ||
           !str_eq(a->spec.hostname, b->spec.hostname) ||
           !str_eq(a->spec.subdomain, b->spec.subdomain) || !str_eq(old->meta->uid, pod->meta->uid);
}

static void pod_set(void *arg, const struct api_object *old, const struct api_object *pod) {
    struct service_pods *x = arg;
    bool is_relabelled = !old || !labels_equal(&old->meta->labels, &pod->meta->labels);
    labelled__set(x->pods_by_label, pod, is_relabelled ? &pod->meta->labels : NULL);
    if (old && is_relabelled)
        enqueue_services(x, old);
    if (!old || matters(old, pod))
        enqueue_services(x, pod);
}

static void pod_deleted(void *arg, const struct api_object *last) {
    struct service_pods *x = arg;
    labelled__drop(x->pods_by_label, last);
    enqueue_services(x, last);
}

static void file_service(struct service_pods *x, const struct api_object *o) {
    const struct label *label = rarest(x->services_by_label, o->meta->namespace, selector_of(o));
    struct label one = label ? *label : (struct label){0};
    struct labels under = {&one, label != NULL};
    labelled__set(x->services_by_label, o, &under);
}

static void service_set(void *arg, const struct api_object *old, const struct api_object *o) {
    struct service_pods *x = arg;
    if (old && labels_equal(selector_of(old), selector_of(o)))
        labelled__set(x->services_by_label, o, NULL);
    else
        file_service(x, o);
    enqueue(x, o);
}

static void service_deleted(void *arg, const struct api_object *last) {
    struct service_pods *x = arg;
    labelled__drop(x->services_by_label, last);
    enqueue(x, last);
}

/* ---- beginning and end ---- */

static struct service_pods *begin(struct manager *m) {
    struct service_pods *x = xcalloc(1, sizeof *x);
    x->pods_by_label = labelled__new(m->seed);
    x->services_by_label = labelled__new(m->seed);
    x->services = manager__informer(m, API_T_service);
    x->pods = manager__informer(m, API_T_pod);
    informer_listen(x->services, &(struct informer_handler){
                                     .set = service_set, .deleted = service_deleted, .arg = x});
    informer_listen(x->pods,
                    &(struct informer_handler){.set = pod_set, .deleted = pod_deleted, .arg = x});
    return x;
}

struct service_pods *service_pods__join(struct manager *m, struct workqueue *queue) {
    if (!m->service_pods)
        m->service_pods = begin(m);
    struct service_pods *x = m->service_pods;
    size_t n;
    const struct api_object *const *all = informer_find(x->services, INFORMER_ALL, STR(""), &n);
    vec_push(&x->queues, queue);
    for (size_t i = 0; i < n; i++)
        workqueue_add_object(queue, all[i]);
    return x;
}

void service_pods__free(struct service_pods *x) {
    if (!x)
        return;
    labelled__free(x->pods_by_label);
    labelled__free(x->services_by_label);
    vec_release(&x->queues);
    free(x);
}
