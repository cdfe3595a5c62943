/*
 * Is a process healthy, alive, ready? The answers of /healthz, /livez and /readyz, and of the paths
 * of single checks below them.
 *
 * Follows k8s.io/apiserver pkg/server/healthz, func InstallPathHandler.
 */
#ifndef HEALTH_HEALTH_H
#define HEALTH_HEALTH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

struct buf;

/* The paths as bits. */
enum { HEALTH_HEALTHZ = 1, HEALTH_LIVEZ = 2, HEALTH_READYZ = 4, HEALTH_ALL = 7 };

/* What is asked. A check is a path of its own, too: /readyz/ping. */
struct health_check {
    struct str name;
    unsigned of; /* which paths ask it */
    int (*fn)(const void *arg, struct err *err);
};

struct health_checks {
    const struct health_check *v;
    size_t n;
    const void *arg; /* of all of them */
};

struct health_question {
    struct str path; /* "/readyz", "/readyz/ping" */
    bool is_verbose;
    const struct str *excluded; /* checks that do not count */
    size_t excluded_count;
};

/* Appends the answer, and returns its status of HTTP; 0 and nothing: there is no such path. */
int health_answer(const struct health_checks *checks, const struct health_question *q,
                  struct buf *out);

/* Calls fn for each path that there is. */
void health_paths(const struct health_checks *checks, void (*fn)(void *arg, struct str path),
                  void *arg);

#endif
