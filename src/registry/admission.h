/*
 * Admission, as far as those who call it see it: who asks, who decides what they may, which
 * plug-ins are asked, and what a write changes beside its own object.
 */
#ifndef REGISTRY_ADMISSION_H
#define REGISTRY_ADMISSION_H

#include "api/object.h"
#include "base/arena.h"
#include "base/err.h"
#include "valid/valid.h"

/* A question to the authorizer: may the user do this? Empty texts are not asked about. */
struct registry_access {
    const struct valid_user *user;
    struct str verb, group, resource, subresource, namespace, name;
};

/* Who may do what stands above this module: whoever knows lends it to admission. */
struct registry_authorizer {
    /* May the user do this? *reason, in the arena, says why, if there is anything to say. */
    bool (*allows)(const struct registry_authorizer *self, struct arena *a,
                   const struct registry_access *q, struct str *reason);
};

/* ---- what is asked about ---- */

enum registry_operation {
    REGISTRY_CREATE,
    REGISTRY_UPDATE,
    REGISTRY_DELETE,
    REGISTRY_OPERATIONS,
};

/* A write. What is sent to a subresource may be of another kind than the resource is. */
struct registry_subject {
    enum registry_operation operation;
    const struct api_kind *resource; /* whose path was asked for; NULL: of the object's kind */
    struct api_object *object;       /* of a deletion: what is deleted */
    const struct api_object *old;    /* that an update replaces; else NULL */
};

/* ---- plug-ins ---- */

/* Which plug-ins are asked: a bit for each row of the table. */
struct registry_plugins {
    uint64_t on;
};

/* What a server asks that is not told otherwise: kube-apiserver's, but for ServiceAccount. */
struct registry_plugins registry_plugins_default(void);

/* What commands without a cluster ask: plug-ins that need none, or only what is in the view. */
struct registry_plugins registry_plugins_offline(void);

/* Switches plug-ins on or off by name. The flag that names them stands in front of the text when
 * one is unknown. Of those that only kube-apiserver has, switching off changes nothing. */
int registry_plugins_switch(struct registry_plugins *plugins, struct api_strs names, bool on,
                            struct err *err);

/* The names of all plug-ins in the order in which they are asked, and whether a server asks them
 * that is not told otherwise. NULL: there is no plug-in at that place. */
const char *registry_plugin_name(size_t place, bool *on);

/* ---- what a write changes beside its own object ---- */

/* Drafts of objects that are there already, to be stored with the write or not at all. The list
 * lives in the arena of the request, the drafts are the caller's. */
struct registry_effects {
    struct api_object **v;
    size_t n;
};

/* Frees the drafts. */
void registry_effects_release(struct registry_effects *effects);

#endif
