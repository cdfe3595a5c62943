/* What a server has stored, for berth validate: judged itself, or to be replaced by what is. */
#ifndef CMD_COMMANDS_STORED_H
#define CMD_COMMANDS_STORED_H

#include "cmd/commands/judge.h"
#include "cmd/remote.h"
#include "registry/known.h"

/* Which objects: of kinds as kubectl names them (pods, deploy, jobs.batch), or of those that have
 * rules, but for Secrets and what comes and goes by itself. */
struct stored_wanted {
    const struct opt_list *kinds;
    struct str namespace;
    bool all_namespaces; /* and what is in none */
};

/* Are these kinds, and such that a server lists? */
int stored_check_kinds(const struct opt_list *kinds, struct err *err);

/* Judges them as if they were made anew. */
int stored_judge(struct remote *r, const struct judge *judge, const struct stored_wanted *wanted,
                 struct err *err);

/* Whose objects are replaced by those of files. */
struct stored_old {
    struct remote *remote;
    struct str namespace;            /* of objects that name none */
    const struct feature_set *gates; /* borrowed */
    struct registry_known *known;    /* is told of what is there */
};

/* A judge's `prepare`, with a struct stored_old: asks the server for the object that has the name
 * of this one. */
int stored_look(void *old, const struct input_value *value, struct err *err);

#endif
