/*
 * A part of a cluster: a loop with a client and informers, and the components at work on them.
 *
 * `berth up` is a server with several parts, each on a thread of its own (live.h); `berth
 * scheduler` and the like are one part each, with a server elsewhere (solo.h). All of a part
 * belongs to the thread of its loop.
 */
#ifndef CMD_PART_H
#define CMD_PART_H

#include "client/client.h"
#include "client/informer.h"
#include "cmd/cmd.h"
#include "feature/feature.h"

struct auth_authority;
struct auth_issuer;
struct nodes_pool;
struct part;
struct sched_config;
struct tolexpr;

/* What components are to do. Each looks only at what is its own. All is borrowed for as long as
 * parts live. */
struct part_setup {
    const struct feature_set *scheduler_gates, *manager_gates, *kubelet_gates;
    const struct sched_config *scheduler_config; /* NULL: upstream's default */
    bool is_measured;                            /* figures about times are wanted */
    struct str root_ca;                          /* PEM, what pods trust; empty: not published */
    const struct auth_issuer *issuer;            /* signs tokens of Secrets; NULL: nobody does */
    const struct auth_authority *authority; /* certifies what is asked for; NULL: nobody does */
    const struct opt_list *controllers;     /* as --controllers has them; NULL: all */
    const struct nodes_pool *pools;         /* of simulated nodes to be made */
    size_t pool_count;
    bool is_choosy;               /* others are left alone, but for these */
    const struct opt_list *nodes; /* names; NULL: none */
};

/* A kind of component. */
struct component {
    const char *name; /* as upstream's: for gates, user agents and Leases */
    /* Has informers filled that it will ask; NULL: it can wait until it starts. */
    void (*warm)(struct part *p);
    /* Begins to work. NULL and err filled when the setup is no good. */
    void *(*start)(struct part *p, struct err *err);
    /* Ends it; informers tell nothing any more. */
    void (*stop)(void *self);
    /* Has it seen the cluster, and done what belongs to its beginning? */
    bool (*is_ready)(const struct part *p, const void *self);
    /* Appends its figures. */
    void (*write_metrics)(const void *self, struct buf *out);
};

extern const struct component component_scheduler, component_manager, component_nodes;

enum { PART_COMPONENTS = 2 };

struct part_opts {
    struct cmd_ctx *ctx;
    const struct part_setup *setup;
    struct net_loop *loop;
    struct client *client;             /* taken */
    struct feature_version min_compat; /* what expressions may use */
    const struct component *components[PART_COMPONENTS];
};

struct part {
    struct part_opts opts;
    struct informers *informers;
    struct tolexpr *expressions;
    void *running[PART_COMPONENTS];
};

/* Makes a part whose components do not work yet. */
void part_init(struct part *p, const struct part_opts *opts);

/* Has the part see the cluster already, so that it can start to work at once. */
void part_warm(struct part *p);

/* Starts all components. Whatever comes of it, part_stop is owed. */
int part_start(struct part *p, struct err *err);

/* Ends them. The part cannot start again. */
void part_stop(struct part *p);

/* Frees all of a part but its loop, on which nothing of it is left. */
void part_release(struct part *p);

/* Are all components ready? */
bool part_is_ready(const struct part *p);

/* Appends the figures of the components that work, and of the client. */
void part_metrics_write(const struct part *p, struct buf *out);

#endif
