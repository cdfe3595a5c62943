/*
 * Subsets of Endpoints.
 *
 * Follows k8s.io/kubernetes pkg/api/v1/endpoints, func RepackSubsets.
 * Follows k8s.io/kubernetes pkg/controller/endpoint, func truncateEndpoints.
 */
#include "manager/services/endpoint_subsets_int.h"

#include <stdlib.h>

struct subset_address {
    const struct api_endpoint_address *v;
    size_t order; /* by address and uid, when all are known */
};

/* An address at a port. */
struct offer {
    const struct subset_address *address;
    bool is_ready;
    struct offer *next;
};

struct subset_port {
    const struct api_endpoint_port *v; /* NULL: none */
    struct map by_address;             /* struct offer */
    struct offer *offers;
    struct offer **sorted;
    size_t n;
};

void subset_pack__begin(struct subset_pack *p, struct arena *a, uint64_t seed) {
    *p = (struct subset_pack){a, MAP_INIT(seed), MAP_INIT(seed)};
}

static struct str uid_of(const struct api_endpoint_address *a) {
    return a->target_ref ? a->target_ref->uid : STR("");
}

static struct subset_port *port_of(struct subset_pack *p, const struct api_endpoint_port *port) {
    struct str key = STR("");
    if (port)
        key = arena_printf(p->arena, "%.*s|%.*s|%d|%d|%.*s", STR_ARG(port->name),
                           STR_ARG(port->protocol), port->port, port->app_protocol.p != NULL,
                           STR_ARG(port->app_protocol));
    struct subset_port *found = map_get(&p->ports, key);
    if (!found) {
        found = arena_new(p->arena, struct subset_port);
        found->v = port;
        found->by_address = MAP_INIT(p->ports.seed);
        map_put(&p->ports, key, found);
    }
    return found;
}

void subset_pack__add(struct subset_pack *p, const struct api_endpoint_address *address,
                      const struct api_endpoint_port *port, bool is_ready) {
    struct str key =
        arena_printf(p->arena, "%.*s %.*s", STR_ARG(address->ip), STR_ARG(uid_of(address)));
    struct subset_address *known = map_get(&p->addresses, key);
    struct subset_port *at = port_of(p, port);
    if (!known) {
        known = arena_new(p->arena, struct subset_address);
        known->v = address;
        map_put(&p->addresses, key, known);
    }
    struct offer *offer = map_get(&at->by_address, key);
    if (!offer) {
        offer = arena_new(p->arena, struct offer);
        *offer = (struct offer){known, is_ready, at->offers};
        at->offers = offer;
        at->n++;
        map_put(&at->by_address, key, offer);
    }
    offer->is_ready = offer->is_ready && is_ready;
}

static void add_list(struct subset_pack *p, const struct api_endpoint_subset *s,
                     const struct api_endpoint_port *port) {
    for (size_t i = 0; i < s->addresses.n; i++)
        subset_pack__add(p, &s->addresses.v[i], port, true);
    for (size_t i = 0; i < s->not_ready_addresses.n; i++)
        subset_pack__add(p, &s->not_ready_addresses.v[i], port, false);
}

void subset_pack__add_all(struct subset_pack *p, const struct api_endpoint_subset_list *subsets) {
    for (size_t i = 0; i < subsets->n; i++) {
        const struct api_endpoint_subset *s = &subsets->v[i];
        if (!s->ports.n)
            add_list(p, s, NULL);
        for (size_t k = 0; k < s->ports.n; k++)
            add_list(p, s, &s->ports.v[k]);
    }
}

/* ---- the canonical form ---- */

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

static int compare_offers(const void *x, const void *y) {
    size_t a = (*(struct offer *const *)x)->address->order,
           b = (*(struct offer *const *)y)->address->order;
    return (a > b) - (a < b);
}

static void sort_offers(struct subset_pack *p, struct subset_port *port) {
    port->sorted = arena_array(p->arena, struct offer *, port->n);
    size_t n = 0;
    for (struct offer *o = port->offers; o; o = o->next)
        port->sorted[n++] = o;
    if (n)
        qsort(port->sorted, n, sizeof *port->sorted, compare_offers);
}

static int compare_texts(struct str a, struct str b, int before) {
    return before ? before : str_cmp(a, b);
}

static int compare_port(const struct api_endpoint_port *a, const struct api_endpoint_port *b) {
    if (!a || !b)
        return (a != NULL) - (b != NULL);
    int order = (a->port > b->port) - (a->port < b->port);
    order = compare_texts(a->protocol, b->protocol, order);
    order = compare_texts(a->name, b->name, order);
    return compare_texts(a->app_protocol, b->app_protocol, order);
}

/* Ports of the same addresses stand beside each other, in their order. */
static int compare_ports(const void *x, const void *y) {
    const struct subset_port *a = *(struct subset_port *const *)x,
                             *b = *(struct subset_port *const *)y;
    for (size_t i = 0; i < a->n && i < b->n; i++) {
        size_t p = a->sorted[i]->address->order, q = b->sorted[i]->address->order;
        if (p != q)
            return p < q ? -1 : 1;
        if (a->sorted[i]->is_ready != b->sorted[i]->is_ready)
            return a->sorted[i]->is_ready ? -1 : 1;
    }
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    return compare_port(a->v, b->v);
}

static bool offers_are_equal(const struct subset_port *a, const struct subset_port *b) {
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (a->sorted[i]->address != b->sorted[i]->address ||
            a->sorted[i]->is_ready != b->sorted[i]->is_ready)
            return false;
    return true;
}

static struct api_endpoint_subset subset_of(struct arena *a, struct subset_port *const *ports,
                                            size_t n) {
    const struct subset_port *first = ports[0];
    struct api_endpoint_subset s = {
        .addresses = {arena_array(a, struct api_endpoint_address, first->n), 0},
        .not_ready_addresses = {arena_array(a, struct api_endpoint_address, first->n), 0},
        .ports = {arena_array(a, struct api_endpoint_port, n), 0}};
    for (size_t i = 0; i < first->n; i++) {
        struct api_endpoint_address_list *to =
            first->sorted[i]->is_ready ? &s.addresses : &s.not_ready_addresses;
        to->v[to->n++] = *first->sorted[i]->address->v;
    }
    for (size_t i = 0; i < n; i++)
        if (ports[i]->v)
            s.ports.v[s.ports.n++] = *ports[i]->v;
    return s;
}

struct api_endpoint_subset_list subset_pack__end(struct subset_pack *p) {
    struct subset_port **ports = arena_array(p->arena, struct subset_port *, p->ports.live);
    struct api_endpoint_subset_list out = {
        arena_array(p->arena, struct api_endpoint_subset, p->ports.live), 0};
    const struct map_entry *e;
    size_t n = 0;
    number_addresses(p);
    for (size_t at = 0; (e = map_next(&p->ports, &at)); n++) {
        ports[n] = e->value;
        sort_offers(p, ports[n]);
        map_release(&ports[n]->by_address);
    }
    if (n)
        qsort(ports, n, sizeof *ports, compare_ports);
    for (size_t i = 0, k; i < n; i = k) {
        for (k = i + 1; k < n && offers_are_equal(ports[i], ports[k]);)
            k++;
        out.v[out.n++] = subset_of(p->arena, &ports[i], k - i);
    }
    map_release(&p->addresses);
    map_release(&p->ports);
    return out;
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
