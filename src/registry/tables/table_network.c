/*
 * Tables of what leads traffic to pods.
 *
 * Follows k8s.io/kubernetes pkg/printers/internalversion, func printEndpoints,
 * func printEndpointSlice, func printIngress, func printIngressClass, func printNetworkPolicy,
 * func formatEndpoints, func formatHosts, func ingressLoadBalancerStatusStringer.
 */
#include <stdlib.h>

#include "registry/tables/table_int.h"

/* Some names, and how many more there are. */
struct names {
    struct buf text;
    size_t shown, all;
};

enum { NAMES_MOST = 3, ADDRESS_WIDTH = 16 };

static void add_name(struct names *n, struct str name) {
    n->all++;
    if (n->shown == NAMES_MOST)
        return;
    buf_add(&n->text, n->shown++ ? STR(",") : STR(""));
    buf_add(&n->text, name);
}

static void cell_names(struct registry__row *r, struct names *n, const char *none) {
    if (n->all > n->shown)
        buf_addf(&n->text, " + %zu more...", n->all - NAMES_MOST);
    registry__cell(r, n->all ? arena_str(r->a, buf_view(&n->text)) : str_of(none));
    buf_release(&n->text);
}

/* ---- endpoints ---- */

static void add_addresses(struct registry__row *r, struct names *n,
                          const struct api_endpoint_subset *s, const struct api_endpoint_port *p) {
    for (size_t i = 0; i < s->addresses.n; i++) {
        if (n->shown == NAMES_MOST) { /* the rest is only counted */
            n->all += s->addresses.n - i;
            return;
        }
        struct str ip = s->addresses.v[i].ip;
        bool is_long = str_find_char(ip, ':') != STR_NONE;
        if (p)
            ip = arena_printf(r->a, is_long ? "[%.*s]:%d" : "%.*s:%d", STR_ARG(ip), p->port);
        add_name(n, ip);
    }
}

static void fill_endpoints(struct registry__row *r) {
    const struct api_endpoints *e = r->o->body;
    struct names n = {.text = BUF_INIT(SIZE_MAX)};
    for (size_t i = 0; i < e->subsets.n; i++) {
        const struct api_endpoint_subset *s = &e->subsets.v[i];
        if (!s->ports.n)
            add_addresses(r, &n, s, NULL);
        for (size_t k = 0; k < s->ports.n; k++)
            add_addresses(r, &n, s, &s->ports.v[k]);
    }
    registry__cell_name(r);
    cell_names(r, &n, e->subsets.n ? "" : "<none>");
    registry__cell_age(r);
}

static const struct registry__column endpoints_columns[] = {
    {"Name", "string", false}, {"Endpoints", "string", false}, {"Age", "string", false}, {0}};

static void fill_endpoint_slice(struct registry__row *r) {
    const struct api_endpoint_slice *s = r->o->body;
    struct names ports = {.text = BUF_INIT(SIZE_MAX)}, addresses = {.text = BUF_INIT(SIZE_MAX)};
    for (size_t i = 0; i < s->ports.n; i++) {
        const struct api_discovery_endpoint_port *p = &s->ports.v[i];
        add_name(&ports, p->port.set ? arena_printf(r->a, "%d", p->port.v)
                         : p->name.p ? p->name
                                     : STR("*"));
    }
    for (size_t i = 0; i < s->endpoints.n; i++)
        for (size_t k = 0; k < s->endpoints.v[i].addresses.n; k++)
            add_name(&addresses, s->endpoints.v[i].addresses.v[k]);
    registry__cell_name(r);
    registry__cell(r, s->address_type);
    cell_names(r, &ports, "<unset>");
    cell_names(r, &addresses, "<unset>");
    registry__cell_age(r);
}

static const struct registry__column endpoint_slice_columns[] = {
    {"Name", "string", false},      {"AddressType", "string", false}, {"Ports", "string", false},
    {"Endpoints", "string", false}, {"Age", "string", false},         {0}};

/* ---- ingresses ---- */

static void cell_hosts(struct registry__row *r, const struct api_ingress_rule_list *rules) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    size_t shown = 0, i = 0;
    for (; i < rules->n && shown < NAMES_MOST; i++)
        if (rules->v[i].host.n) {
            buf_add(&text, shown++ ? STR(",") : STR(""));
            buf_add(&text, rules->v[i].host);
        }
    if (shown == NAMES_MOST && i < rules->n)
        buf_addf(&text, " + %zu more...", rules->n - NAMES_MOST);
    registry__cell(r, shown ? arena_str(r->a, buf_view(&text)) : STR("*"));
}

static void cell_address(struct registry__row *r,
                         const struct api_ingress_load_balancer_ingress_list *list) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    struct str *names = arena_array(r->a, struct str, list->n);
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++) {
        struct str name = list->v[i].ip.n ? list->v[i].ip : list->v[i].hostname;
        if (name.n)
            names[n++] = name;
    }
    qsort(names, n, sizeof *names, str_cmp_qsort);
    for (size_t i = 0; i < n; i++) {
        if (i && str_eq(names[i], names[i - 1]))
            continue;
        buf_add(&text, i ? STR(",") : STR(""));
        buf_add(&text, names[i]);
    }
    struct str all = arena_str(r->a, buf_view(&text));
    if (all.n > ADDRESS_WIDTH)
        all = arena_printf(r->a, "%.*s...", ADDRESS_WIDTH - 3, all.p);
    registry__cell(r, all);
}

static void fill_ingress(struct registry__row *r) {
    const struct api_ingress *i = r->o->body;
    registry__cell_name(r);
    registry__cell_or(r, i->spec.ingress_class_name, "<none>");
    cell_hosts(r, &i->spec.rules);
    cell_address(r, &i->status.load_balancer.ingress);
    registry__cell(r, i->spec.tls.n ? STR("80, 443") : STR("80"));
    registry__cell_age(r);
}

static const struct registry__column ingress_columns[] = {{"Name", "string", false},
                                                          {"Class", "string", false},
                                                          {"Hosts", "string", false},
                                                          {"Address", "string", false},
                                                          {"Ports", "string", false},
                                                          {"Age", "string", false},
                                                          {0}};

static void fill_ingress_class(struct registry__row *r) {
    const struct api_ingress_class *c = r->o->body;
    const struct api_ingress_class_parameters_reference *p = c->spec.parameters;
    const struct label *mark =
        labels_find(&r->o->meta->annotations, STR("ingressclass.kubernetes.io/is-default-class"));
    registry__cellf(r, "%.*s%s", STR_ARG(r->o->meta->name),
                    mark && str_is(mark->value, "true") ? " (default)" : "");
    registry__cell(r, c->spec.controller);
    if (p)
        registry__cellf(r, "%.*s%s%.*s/%.*s", STR_ARG(p->kind), p->api_group.p ? "." : "",
                        STR_ARG(p->api_group), STR_ARG(p->name));
    else
        registry__cell(r, STR("<none>"));
    registry__cell_age(r);
}

static const struct registry__column ingress_class_columns[] = {{"Name", "string", false},
                                                                {"Controller", "string", false},
                                                                {"Parameters", "string", false},
                                                                {"Age", "string", false},
                                                                {0}};

static void fill_network_policy(struct registry__row *r) {
    const struct api_network_policy *p = r->o->body;
    registry__cell_name(r);
    registry__cell_selector(r, &p->spec.pod_selector, "<error>", "<none>");
    registry__cell_age(r);
}

static const struct registry__column network_policy_columns[] = {
    {"Name", "string", false}, {"Pod-Selector", "string", false}, {"Age", "string", false}, {0}};

const struct registry__table registry__network_tables[] = {
    {API_T_endpoints, endpoints_columns, fill_endpoints},
    {API_T_endpoint_slice, endpoint_slice_columns, fill_endpoint_slice},
    {API_T_ingress, ingress_columns, fill_ingress},
    {API_T_ingress_class, ingress_class_columns, fill_ingress_class},
    {API_T_network_policy, network_policy_columns, fill_network_policy},
    {0},
};
