/* The numbers of a service's ports: those that it tells, or those of the ports of that name. */
#include "manager/services/port_numbers_int.h"

#include "base/limits.h"

void port_numbers__begin(struct port_numbers *x, struct arena *a, const struct api_object *service,
                         uint64_t seed) {
    const struct api_service_port_list *ports =
        &((const struct api_service *)service->body)->spec.ports;
    *x = (struct port_numbers){.arena = a,
                               .ports = ports,
                               .answers = MAP_INIT(seed),
                               .room = LIMIT_ENDPOINT_PAIRS,
                               .key = BUF_INIT(SIZE_MAX)};
    for (size_t i = 0; i < ports->n; i++)
        x->by_name = x->by_name || ports->v[i].target_port.is_str;
}

void port_numbers__end(struct port_numbers *x) {
    map_release(&x->answers);
    buf_release(&x->key);
}

typedef void port_fn(void *arg, const struct api_container_port *port);

static void each_port_of(const struct api_container *c, port_fn *fn, void *arg) {
    for (size_t i = 0; i < c->ports.n; i++)
        if (c->ports.v[i].name.n)
            fn(arg, &c->ports.v[i]);
}

/* The named ports of containers, and then those of sidecars. */
static void each_port(const struct api_object *pod, port_fn *fn, void *arg) {
    const struct api_pod_spec *spec = &((const struct api_pod *)pod->body)->spec;
    for (size_t i = 0; i < spec->containers.n; i++)
        each_port_of(&spec->containers.v[i], fn, arg);
    for (size_t i = 0; i < spec->init_containers.n; i++)
        if (str_is(spec->init_containers.v[i].restart_policy, "Always"))
            each_port_of(&spec->init_containers.v[i], fn, arg);
}

static void add_to_key(void *arg, const struct api_container_port *port) {
    buf_addf(arg, "%.*s/%.*s=%d ", STR_ARG(port->name), STR_ARG(port->protocol),
             (int)port->container_port);
}

/* What tells pods apart, as far as it matters. */
static struct str key_of(struct port_numbers *x, const struct api_object *pod) {
    buf_clear(&x->key);
    if (x->by_name)
        each_port(pod, add_to_key, &x->key);
    return buf_view(&x->key);
}

/* The first ports of each name and protocol. */
struct index {
    struct arena *arena;
    struct map by_name;
};

static struct str name_of(struct arena *a, struct str name, struct str protocol) {
    return arena_printf(a, "%.*s/%.*s", STR_ARG(name), STR_ARG(protocol));
}

static void add_to_index(void *arg, const struct api_container_port *port) {
    struct index *x = arg;
    struct str name = name_of(x->arena, port->name, port->protocol);
    if (!map_get_const(&x->by_name, name))
        map_put_const(&x->by_name, name, port);
}

static void fill(const struct port_numbers *x, const struct api_object *pod,
                 struct port_answer *out) {
    AUTO(arena_release) struct arena scratch = {0};
    struct index index = {&scratch, MAP_INIT(x->answers.seed)};
    if (x->by_name)
        each_port(pod, add_to_index, &index);
    for (size_t i = 0; i < x->ports->n; i++) {
        const struct api_service_port *port = &x->ports->v[i];
        const struct api_container_port *found =
            port->target_port.is_str
                ? map_get_const(&index.by_name,
                                name_of(&scratch, port->target_port.s, port->protocol))
                : NULL;
        out->v[i] = !port->target_port.is_str ? port->target_port.i
                    : found                   ? found->container_port
                                              : -1;
        out->n += out->v[i] >= 0;
    }
    map_release(&index.by_name);
}

struct port_answer *port_numbers__of(struct port_numbers *x, const struct api_object *pod) {
    struct str key = key_of(x, pod);
    struct port_answer *answer = map_get(&x->answers, key);
    if (answer)
        return answer;
    if (x->ports->n > x->room)
        return NULL;
    x->room -= x->ports->n;
    answer = arena_new(x->arena, struct port_answer);
    answer->v = arena_array(x->arena, int32_t, x->ports->n);
    fill(x, pod, answer);
    map_put(&x->answers, arena_str(x->arena, key), answer);
    return answer;
}
