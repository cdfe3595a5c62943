/*
 * A scheduler that is ended and made anew at any moment, against a server that refuses requests at
 * times and goes away at others, while pods come and go: no node ever has more than it can, nothing
 * is stuck, and in the end every pod has a node that can have one.
 */
#include "outage.h"
#include "refusal.h"

enum { NODES = 6, CPUS = 3, STEPS = 150, SEEDS = 100 };

struct churn {
    struct scene x;
    struct outage outage;
    struct informers *standby; /* of the scheduler that waits for the end of the other */
    struct refusal refusal;
    uint64_t seed, chance;
    int pods; /* that were made */
};

static unsigned below(struct churn *c, unsigned most) {
    c->chance ^= c->chance << 13;
    c->chance ^= c->chance >> 7;
    c->chance ^= c->chance << 17;
    return (unsigned)(c->chance % most);
}

static void make_pod(struct churn *c) {
    static const char *const more[] = {"", ", priorityClassName: high"};
    char name[16];
    snprintf(name, sizeof name, "p%d", c->pods++);
    scene_pod(&c->x, name, more[below(c, 4) == 0]);
}

static void end_pod(struct churn *c) {
    char name[16];
    if (!c->pods)
        return;
    snprintf(name, sizeof name, "p%u", below(c, (unsigned)c->pods));
    world_delete(&c->x.w, API_T_pod, name);
}

static struct informers *make_informers(struct churn *c) {
    return informers_new(&c->outage.base, &c->x.w.log);
}

static void begin(struct churn *c, struct informers *informers) {
    outage_begin_scheduler(&c->x, &c->outage, informers);
    refusal_start(&c->x, &c->refusal);
}

static void restart(struct churn *c) {
    scene_end_scheduler(&c->x);
    begin(c, make_informers(c));
}

/* Another one goes on, which has watched the cluster all the time. */
static void hand_over(struct churn *c) {
    struct informers *warm = c->standby;
    scene_end_scheduler(&c->x);
    informers_renew(warm);
    begin(c, warm);
    c->standby = make_informers(c);
    scheduler_warm(c->standby);
}

/* The server goes away, and comes back with all that it has executed. */
static void lose_server(struct churn *c) {
    outage_start(&c->outage, below(c, 5));
    world_run(&c->x.w, below(c, 30) / 10.0);
    outage_end(&c->outage);
    if (below(c, 2))
        hand_over(c);
    world_run(&c->x.w, below(c, 10) / 10.0);
}

static void refuse_some(struct churn *c) {
    static const struct refusal kinds[] = {
        {.verb = REGISTRY_VERB_CREATE, .subresource = "binding", .code = ERR_UNAVAILABLE},
        {.verb = REGISTRY_VERB_CREATE, .subresource = "binding", .code = ERR_TOO_MANY},
        {.verb = REGISTRY_VERB_PATCH, .subresource = "status", .code = ERR_INTERNAL},
        {.verb = REGISTRY_VERB_DELETE, .code = ERR_FORBIDDEN},
    };
    const struct refusal *kind = &kinds[below(c, 4)];
    c->refusal.verb = kind->verb;
    c->refusal.subresource = kind->subresource;
    c->refusal.code = kind->code;
    c->refusal.times = c->refusal.seen + (int)below(c, 6);
}

static void step(struct churn *c) {
    switch (below(c, 13)) {
    case 0:
        restart(c);
        break;
    case 1:
        refuse_some(c);
        break;
    case 2:
    case 3:
        end_pod(c);
        break;
    case 4:
        world_run(&c->x.w, below(c, 30) / 10.0);
        break;
    case 5:
    case 6:
        for (unsigned i = below(c, 6); i > 0; i--)
            net_loop_turn(c->x.w.loop, 0);
        break;
    case 7:
        lose_server(c);
        break;
    default:
        make_pod(c);
    }
}

struct load {
    int on_node[NODES], bound, pending;
};

static void count_pod(void *arg, const struct api_object *o) {
    struct load *load = arg;
    struct str node = ((const struct api_pod *)o->body)->spec.node_name;
    if (!node.n) {
        load->pending++;
        return;
    }
    load->bound++;
    load->on_node[node.p[4] - '0']++;
}

static struct load look(struct churn *c) {
    struct load load = {0};
    world_each(&c->x.w, API_T_pod, count_pod, &load);
    for (int i = 0; i < NODES; i++)
        if (load.on_node[i] > CPUS)
            fail_msg("seed %llu: %d pods on node%d", (unsigned long long)c->seed, load.on_node[i],
                     i);
    return load;
}

static void run(uint64_t seed) {
    static struct churn c;
    char name[16];
    c = (struct churn){.chance = seed * 7919 + 1, .seed = seed};
    scene_start(&c.x, "", "");
    c.x.w.log.fd = -1;
    scene_create(&c.x, "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: "
                       "{name: high}, value: 9}");
    for (int i = 0; i < NODES; i++) {
        snprintf(name, sizeof name, "node%d", i);
        scene_node(&c.x, name, CPUS, "[]");
    }
    outage_init(&c.outage, &c.x);
    c.standby = make_informers(&c);
    scheduler_warm(c.standby);
    restart(&c);
    for (int i = 0; i < STEPS; i++) {
        step(&c);
        look(&c);
    }
    c.refusal.times = 0;
    world_run(&c.x.w, 700); /* whoever failed is tried again within some minutes */
    struct load load = look(&c);
    if (load.pending && load.bound < NODES * CPUS)
        fail_msg("seed %llu: %d pods wait, %d are bound", (unsigned long long)c.seed, load.pending,
                 load.bound);
    assert_int_equal(c.x.s->under_way, 0);
    assert_int_equal(c.x.s->flights.live, 0);
    assert_int_equal(c.x.s->victims.live, 0);
    informers_free(c.standby);
    scene_stop(&c.x);
}

static void whatever_happens(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        run(seed);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(whatever_happens)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
