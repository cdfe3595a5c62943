/*
 * Subsets of Endpoints.
 *
 * Follows k8s.io/kubernetes pkg/api/v1/endpoints, func RepackSubsets.
 * Follows k8s.io/kubernetes pkg/controller/endpoint, func truncateEndpoints.
 */
#include "manager/services/endpoint_subsets_int.h"

#include "base/limits.h"

#include <stdlib.h>

struct subset_address {
    const struct api_endpoint_address *v;
    size_t order;              /* by address and uid, when all are known */
    const struct offering *of; /* the last one that it was put into, */
    size_t at;                 /* and where */
};

struct offer {
    struct subset_address *address;
    bool is_ready;
};

struct subset_port {
    const struct api_endpoint_port *v; /* NULL: none */
    const struct port_list **lists;    /* all that it is in */
    size_t n;
    struct subset_port *next; /* of its offering */
};

/* Ports that were added together, and who offers them. */
struct port_list {
    struct subset_port **ports;
    size_t n;
    struct given {
        struct subset_address *address;
        bool is_ready;
        struct given *next;
    } * given;
    size_t n_given;
};

/* Ports that are in the same lists have the same addresses: work is per list, not per port. */
struct offering {
    const struct port_list **lists;
    size_t n_lists;
    struct subset_port *ports;
    size_t n_ports;
    struct offer *offers;
    size_t n;
};

void subset_pack__begin(struct subset_pack *p, struct arena *a, uint64_t seed) {
    *p = (struct subset_pack){a, MAP_INIT(seed), MAP_INIT(seed), MAP_INIT(seed)};
}

/* ---- collecting ---- */

static struct str uid_of(const struct api_endpoint_address *a) {
    return a->target_ref ? a->target_ref->uid : STR("");
}

static struct subset_address *address_of(struct subset_pack *p,
                                         const struct api_endpoint_address *address) {
    struct str key =
        arena_printf(p->arena, "%.*s %.*s", STR_ARG(address->ip), STR_ARG(uid_of(address)));
    struct subset_address *known = map_get(&p->addresses, key);
    if (!known) {
        known = arena_new(p->arena, struct subset_address);
        known->v = address;
        map_put(&p->addresses, key, known);
    }
    return known;
}

static struct subset_port *port_of(struct subset_pack *p, const struct api_endpoint_port *port) {
    struct str key = STR("");
    if (port)
        key = arena_printf(p->arena, "%.*s|%.*s|%d|%d|%.*s", STR_ARG(port->name),
                           STR_ARG(port->protocol), port->port, port->app_protocol.p != NULL,
                           STR_ARG(port->app_protocol));
    struct subset_port *known = map_get(&p->ports, key);
    if (!known) {
        known = arena_new(p->arena, struct subset_port);
        known->v = port;
        map_put(&p->ports, key, known);
    }
    return known;
}

static struct str bytes_of(const void *p, size_t size) {
    return (struct str){p, size};
}

struct port_list *subset_pack__ports(struct subset_pack *p,
                                     const struct api_endpoint_port_list *ports) {
    size_t n = ports->n ? ports->n : 1;
    struct subset_port **all = arena_array(p->arena, struct subset_port *, n);
    for (size_t i = 0; i < n; i++)
        all[i] = port_of(p, ports->n ? &ports->v[i] : NULL);
    struct str key = bytes_of(all, n * sizeof *all);
    struct port_list *known = map_get(&p->lists, key);
    if (!known) {
        known = arena_new(p->arena, struct port_list);
        known->ports = all;
        known->n = n;
        map_put(&p->lists, key, known);
    }
    return known;
}

void subset_pack__add(struct subset_pack *p, struct port_list *ports,
                      const struct api_endpoint_address *address, bool is_ready) {
    struct given *given = arena_new(p->arena, struct given);
    *given = (struct given){address_of(p, address), is_ready, ports->given};
    ports->given = given;
    ports->n_given++;
}

void subset_pack__add_all(struct subset_pack *p, const struct api_endpoint_subset_list *subsets) {
    for (size_t i = 0; i < subsets->n; i++) {
        const struct api_endpoint_subset *s = &subsets->v[i];
        struct port_list *ports = subset_pack__ports(p, &s->ports);
        for (size_t k = 0; k < s->addresses.n; k++)
            subset_pack__add(p, ports, &s->addresses.v[k], true);
        for (size_t k = 0; k < s->not_ready_addresses.n; k++)
            subset_pack__add(p, ports, &s->not_ready_addresses.v[k], false);
    }
}

/* ---- who offers what ---- */

static int compare_addresses(const void *x, const void *y) {
    const struct api_endpoint_address *a = (*(struct subset_address *const *)x)->v,
                                      *b = (*(struct subset_address *const *)y)->v;
    int order = str_cmp(a->ip, b->ip);
    return order ? order : str_cmp(uid_of(a), uid_of(b));
}

static void number_addresses(struct subset_pack *p) {
    struct subset_address **all = arena_array(p->arena, struct subset_address *, p->addresses.live);
    const struct map_entry *e;
    size_t n = 0;
    for (size_t at = 0; (e = map_next(&p->addresses, &at));)
        all[n++] = e->value;
    if (n)
        qsort(all, n, sizeof *all, compare_addresses);
    for (size_t i = 0; i < n; i++)
        all[i]->order = i;
}

/* Has each port say which lists it is in, each once. */
static void find_lists(struct subset_pack *p) {
    const struct map_entry *e;
    for (size_t at = 0; (e = map_next(&p->lists, &at));) {
        const struct port_list *list = e->value;
        for (size_t i = 0; i < list->n; i++)
            list->ports[i]->n++;
    }
    for (size_t at = 0; (e = map_next(&p->ports, &at));) {
        struct subset_port *port = e->value;
        port->lists = arena_array(p->arena, const struct port_list *, port->n);
        port->n = 0;
    }
    for (size_t at = 0; (e = map_next(&p->lists, &at));) {
        const struct port_list *list = e->value;
        for (size_t i = 0; i < list->n; i++) {
            struct subset_port *port = list->ports[i];
            if (!port->n || port->lists[port->n - 1] != list)
                port->lists[port->n++] = list;
        }
    }
}

static void add_port(struct subset_pack *p, struct map *offerings, struct subset_port *port) {
    struct str key = bytes_of(port->lists, port->n * sizeof(struct port_list *));
    struct offering *o = map_get(offerings, key);
    if (!o) {
        o = arena_new(p->arena, struct offering);
        o->lists = port->lists;
        o->n_lists = port->n;
        map_put(offerings, key, o);
    }
    port->next = o->ports;
    o->ports = port;
    o->n_ports++;
}

static int compare_offers(const void *x, const void *y) {
    size_t a = ((const struct offer *)x)->address->order,
           b = ((const struct offer *)y)->address->order;
    return (a > b) - (a < b);
}

/* Not ready always trumps ready. */
static void offer(struct offering *o, struct subset_address *address, bool is_ready) {
    if (address->of != o) {
        address->of = o;
        address->at = o->n;
        o->offers[o->n++] = (struct offer){address, is_ready};
    } else if (!is_ready)
        o->offers[address->at].is_ready = false;
}

/* Gathers the addresses of all lists; false: more than the room that is left. */
static bool gather_offers(struct subset_pack *p, struct offering *o, size_t *room) {
    size_t n = 0;
    for (size_t i = 0; i < o->n_lists; i++)
        n += o->lists[i]->n_given;
    if (n > *room)
        return false;
    *room -= n;
    o->offers = arena_array(p->arena, struct offer, n);
    for (size_t i = 0; i < o->n_lists; i++)
        for (const struct given *g = o->lists[i]->given; g; g = g->next)
            offer(o, g->address, g->is_ready);
    if (o->n)
        qsort(o->offers, o->n, sizeof *o->offers, compare_offers);
    return true;
}

struct offerings {
    struct offering **v;
    size_t n;
};

static bool find_offerings(struct subset_pack *p, struct offerings *out) {
    struct map all = MAP_INIT(p->ports.seed);
    const struct map_entry *e;
    size_t room = LIMIT_ENDPOINT_PAIRS;
    bool fits = true;
    number_addresses(p);
    find_lists(p);
    for (size_t at = 0; (e = map_next(&p->ports, &at));)
        add_port(p, &all, e->value);
    *out = (struct offerings){arena_array(p->arena, struct offering *, all.live), 0};
    for (size_t at = 0; fits && (e = map_next(&all, &at)); out->n++) {
        out->v[out->n] = e->value;
        fits = gather_offers(p, e->value, &room);
    }
    map_release(&all);
    return fits;
}

/* ---- the canonical form ---- */

static int compare_texts(struct str a, struct str b, int before) {
    return before ? before : str_cmp(a, b);
}

static int compare_port(const struct api_endpoint_port *a, const struct api_endpoint_port *b) {
    int order = (a->port > b->port) - (a->port < b->port);
    order = compare_texts(a->protocol, b->protocol, order);
    order = compare_texts(a->name, b->name, order);
    return compare_texts(a->app_protocol, b->app_protocol, order);
}

static int compare_ports(const void *x, const void *y) {
    return compare_port(x, y);
}

static int compare_offerings(const void *x, const void *y) {
    const struct offering *a = *(struct offering *const *)x, *b = *(struct offering *const *)y;
    for (size_t i = 0; i < a->n && i < b->n; i++) {
        int order = compare_offers(&a->offers[i], &b->offers[i]);
        if (order)
            return order;
        if (a->offers[i].is_ready != b->offers[i].is_ready)
            return a->offers[i].is_ready ? -1 : 1;
    }
    return (a->n > b->n) - (a->n < b->n);
}

static void collect_ports(struct arena *a, struct offering *const *same, size_t n,
                          struct api_endpoint_port_list *out) {
    size_t most = 0;
    for (size_t i = 0; i < n; i++)
        most += same[i]->n_ports;
    out->v = arena_array(a, struct api_endpoint_port, most);
    for (size_t i = 0; i < n; i++)
        for (const struct subset_port *p = same[i]->ports; p; p = p->next)
            if (p->v)
                out->v[out->n++] = *p->v;
    if (out->n)
        qsort(out->v, out->n, sizeof *out->v, compare_ports);
}

/* One subset of offerings with the same addresses. */
static struct api_endpoint_subset subset_of(struct arena *a, struct offering *const *same,
                                            size_t n) {
    const struct offering *first = same[0];
    struct api_endpoint_subset s = {
        .addresses = {arena_array(a, struct api_endpoint_address, first->n), 0},
        .not_ready_addresses = {arena_array(a, struct api_endpoint_address, first->n), 0}};
    for (size_t i = 0; i < first->n; i++) {
        struct api_endpoint_address_list *to =
            first->offers[i].is_ready ? &s.addresses : &s.not_ready_addresses;
        to->v[to->n++] = *first->offers[i].address->v;
    }
    collect_ports(a, same, n, &s.ports);
    return s;
}

static struct api_endpoint_subset_list subsets_of(struct arena *a, struct offerings *all) {
    struct api_endpoint_subset_list out = {arena_array(a, struct api_endpoint_subset, all->n), 0};
    if (all->n)
        qsort(all->v, all->n, sizeof *all->v, compare_offerings);
    for (size_t i = 0, k; i < all->n; i = k) {
        for (k = i + 1; k < all->n && !compare_offerings(&all->v[i], &all->v[k]);)
            k++;
        out.v[out.n++] = subset_of(a, &all->v[i], k - i);
    }
    return out;
}

bool subset_pack__end(struct subset_pack *p, struct api_endpoint_subset_list *out) {
    struct offerings all;
    bool fits = find_offerings(p, &all);
    *out = (struct api_endpoint_subset_list){0};
    if (fits)
        *out = subsets_of(p->arena, &all);
    map_release(&p->addresses);
    map_release(&p->ports);
    map_release(&p->lists);
    return fits;
}

/* ---- comparing ---- */

static bool same_ref(const struct api_object_reference *a, const struct api_object_reference *b) {
    if (!a || !b)
        return !a && !b;
    return str_eq(a->kind, b->kind) && str_eq(a->namespace, b->namespace) &&
           str_eq(a->name, b->name) && str_eq(a->uid, b->uid) &&
           str_eq(a->api_version, b->api_version) && str_eq(a->field_path, b->field_path);
}

static bool same_addresses(const struct api_endpoint_address_list *x,
                           const struct api_endpoint_address_list *y) {
    if (x->n != y->n)
        return false;
    for (size_t i = 0; i < x->n; i++) {
        const struct api_endpoint_address *a = &x->v[i], *b = &y->v[i];
        if (!str_eq(a->ip, b->ip) || !str_eq(a->hostname, b->hostname) ||
            !str_eq(a->node_name, b->node_name) || !same_ref(a->target_ref, b->target_ref))
            return false;
    }
    return true;
}

bool subsets__are_equal(const struct api_endpoint_subset_list *x,
                        const struct api_endpoint_subset_list *y) {
    if (x->n != y->n)
        return false;
    for (size_t i = 0; i < x->n; i++) {
        const struct api_endpoint_subset *a = &x->v[i], *b = &y->v[i];
        if (a->ports.n != b->ports.n || !same_addresses(&a->addresses, &b->addresses) ||
            !same_addresses(&a->not_ready_addresses, &b->not_ready_addresses))
            return false;
        for (size_t k = 0; k < a->ports.n; k++)
            if (compare_port(&a->ports.v[k], &b->ports.v[k]))
                return false;
    }
    return true;
}

/* ---- too many ---- */

static void count(const struct api_endpoint_subset_list *list, size_t *ready, size_t *not_ready) {
    *ready = *not_ready = 0;
    for (size_t i = 0; i < list->n; i++) {
        *ready += list->v[i].addresses.n;
        *not_ready += list->v[i].not_ready_addresses.n;
    }
}

size_t subsets__count(const struct api_endpoint_subset_list *list) {
    size_t ready, not_ready;
    count(list, &ready, &not_ready);
    return ready + not_ready;
}

/* A subset's part of what may stay, rounded up, as long as something is left. */
static size_t share(size_t own, size_t total, size_t most, size_t *left) {
    size_t n = (own * most + total - 1) / total;
    n = n < *left ? n : *left;
    n = n < own ? n : own;
    *left -= n;
    return n;
}

bool subsets__truncate(struct api_endpoint_subset_list *list) {
    size_t ready, not_ready;
    count(list, &ready, &not_ready);
    if (ready + not_ready <= ENDPOINT_MOST_ADDRESSES)
        return false;
    bool cuts_ready = ready > ENDPOINT_MOST_ADDRESSES;
    size_t most = cuts_ready ? ENDPOINT_MOST_ADDRESSES : ENDPOINT_MOST_ADDRESSES - ready;
    size_t left = most;
    for (size_t i = 0; i < list->n; i++) {
        struct api_endpoint_subset *s = &list->v[i];
        if (cuts_ready) {
            s->addresses.n = share(s->addresses.n, ready, most, &left);
            s->not_ready_addresses.n = 0;
        } else
            s->not_ready_addresses.n = share(s->not_ready_addresses.n, not_ready, most, &left);
    }
    return true;
}
