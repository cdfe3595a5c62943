/*
 * The controllers of kube-controller-manager: loops that make what is there what is asked for, each
 * over informers and a work queue of its own.
 *
 * All of them run on the loop of the client and on its clock. They know nothing of each other and
 * meet only through the API.
 */
#ifndef MANAGER_MANAGER_H
#define MANAGER_MANAGER_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct auth_authority;
struct auth_issuer;
struct client;
struct feature_set;
struct informers;
struct log;
struct manager;
struct match_engine;

struct manager_opts {
    struct client *client;             /* stored */
    struct informers *informers;       /* stored: of the same client */
    const struct log *log;             /* stored */
    const struct feature_set *gates;   /* stored */
    const struct match_engine *engine; /* stored: evaluates expressions of tolerations; or NULL */
    struct str root_ca;                /* stored: PEM, what pods trust; empty: not published */
    const struct auth_issuer *issuer;  /* stored: signs tokens of Secrets; or NULL: nobody does */
    const struct auth_authority *authority; /* stored: certifies; or NULL: nobody does */
    uint64_t seed;                          /* of maps; nothing observable depends on it */
    /* Which controllers run, by upstream's names, as --controllers has them: "*" is all that run
     * by default, "-name" is not this one. Borrowed. None: "*". */
    const struct str *controllers;
    size_t controller_count;
    size_t most_objects; /* for tests; 0: LIMIT_MANAGED_OBJECTS */
};

/* Starts the controllers; NULL and err filled when one of the names is not known. Free it with
 * manager_free, before the informers and the client. */
struct manager *manager_new(const struct manager_opts *opts, struct err *err);

/* Stops all controllers. Answers that are still to come are not waited for. The informers may not
 * tell anything any more: they are freed before the next turn of the loop. NULL is fine. */
void manager_free(struct manager *m);

/* Are these names that opts.controllers may have? -1 with upstream's text when one is not. */
int manager_check_controllers(const struct str *names, size_t n, struct err *err);

/* The names of all controllers that there are, in the order in which they are started; *n tells how
 * many. */
const char *const *manager_controllers(size_t *n);

#endif
