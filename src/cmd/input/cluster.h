/*
 * A cluster as far as -f tells of it: nodes, pods, volumes and all else that matters for placing
 * pods. Objects that carry a uid are what a server stored, and are only defaulted. Manifests go the
 * way of a new object: defaults, admission, preparation, validation. Workloads can be expanded to
 * the pods that their controllers would make.
 *
 * What is wrong with one object is told and does not keep the others from being used.
 */
#ifndef CMD_INPUT_CLUSTER_H
#define CMD_INPUT_CLUSTER_H

#include "base/map.h"
#include "base/vec.h"
#include "cli/spool.h"
#include "cmd/input/input.h"
#include "cmd/report/verdict.h"

struct match_engine;

struct cluster_opts {
    struct cmd_ctx *ctx;                /* stored */
    const struct feature_config *gates; /* stored */
    struct str namespace;               /* of objects that name none; empty = default */
    const struct valid_cel *cel;        /* stored; compiles new expressions */
    const struct match_engine *engine;  /* stored; evaluates expressions of DaemonSets */
};

struct cluster_item {
    struct api_object *object; /* NULL: it was refused */
    struct input_source source;
    bool stored;        /* it came with a uid */
    size_t tolerations; /* of a pod, before admission added some */
};

struct cluster {
    struct cluster_opts opts;
    struct arena arena;             /* keys and file names */
    VEC(struct cluster_item) items; /* in the order of the input */
    struct map by_key;              /* objects, by what they are called */
    struct judge *judge;
    struct str file;     /* of the last object, in the arena */
    bool has_namespaces; /* Namespace objects were given: there are no others */
    bool knows_default_class;
    struct str default_class; /* of storage, once it is known; absent: none */
    size_t expanded;          /* pods made of templates */
    size_t expanded_bytes;    /* what they were taken to need, see LIMIT_EXPANDED_BYTES */
    size_t generated;         /* names made of generateName */
    size_t refused;           /* objects with which something is wrong */
    struct map refused_keys;  /* what those that were refused are called, as in by_key */
    struct str obstacle;      /* why nothing can be decided about this cluster; absent: nothing */
    struct buf text;          /* of one remark */
    struct spool remarks;     /* for standard error */
};

/* An empty cluster. Release with cluster_release, whatever follows. */
void cluster_init(struct cluster *c, const struct cluster_opts *opts);
void cluster_release(struct cluster *c);

/* Reads everything and settles it: from here on every object is as a server would have stored it.
 * Fails only when input cannot be read; a text that is no object is such a failure. */
int cluster_read(struct cluster *c, const struct input_opts *files, struct err *err);

/* Puts the pods that controllers would make behind their workloads. */
void cluster_expand(struct cluster *c);

/* Writes the remarks to standard error. */
void cluster_write_remarks(struct cluster *c);

/* The object of that name, or NULL. namespace is empty for kinds that have none. */
struct api_object *cluster_find(const struct cluster *c, const char *kind, struct str namespace,
                                struct str name);

/* Was an object of that name given, but refused? */
bool cluster_has_refused(const struct cluster *c, const char *kind, struct str namespace,
                         struct str name);

/* Fails if the pod is over a limit of pods that are to be placed, wherever it is now. */
int cluster_check_pending(const struct cluster_item *item, struct err *err);

/* --- for the files that make up a cluster --- */

/* What Kubernetes makes names of: no vowels, so that no word comes of it. */
#define CLUSTER__LETTERS "bcdfghjklmnpqrstvwxz2456789"

/* Remarks on an object: what is wrong with it, which counts, and what is merely good to know. */
void cluster__refuse(struct cluster *c, const struct input_source *at, struct str text);
void cluster__note(struct cluster *c, const struct input_source *at, struct str text);

/* A new object of a controller: judged and known by its name afterwards. False, and a remark under
 * the name of its maker, when a server would refuse it. */
bool cluster__create(struct cluster *c, struct api_object *o, const struct input_source *at,
                     struct str maker);

/* A new object of a controller that differs from one that was created only in what no rule refuses:
 * it gets its uid and is known by its name afterwards. False, and a remark, when there is one of
 * that name already. */
bool cluster__adopt(struct cluster *c, struct api_object *o, const struct input_source *at);

/* Is the pod done: Succeeded or Failed? */
bool cluster__has_ended(const struct api_pod *pod);

/* Amounts below zero or beyond LIMIT_RESOURCE_AMOUNT, and lists longer than their limits: the first
 * one is told, under the name of the maker if there is one. False: the object is not to be used;
 * without a pod that is on a node nothing can be decided, and c->obstacle says so. */
bool cluster__check_limits(struct cluster *c, const struct cluster_item *item, struct str maker);

/* Tells of objects that name others that are not there. */
void cluster__check_references(struct cluster *c);

#endif
