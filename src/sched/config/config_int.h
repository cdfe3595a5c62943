/*
 * Reading a KubeSchedulerConfiguration: errors are collected with upstream's field paths, and the
 * parts of a profile are read by their own files.
 */
#ifndef SCHED_CONFIG_CONFIG_INT_H
#define SCHED_CONFIG_CONFIG_INT_H

#include "base/buf.h"
#include "base/map.h"
#include "codec/json.h"
#include "sched/config.h"

/* What is wrong with a configuration. */
struct sched__reading {
    struct arena *a;
    struct buf strict; /* fields that do not exist */
    struct buf errors; /* what validation says */
    size_t error_count;
};

/* A value and where it stands; v is NULL when it is not there, null, or of the wrong kind. */
struct sched__at {
    const struct json *v;
    struct str path;
};

/* How many bytes of a text are shown where there is room for so many; characters are not split. */
size_t sched__config_cut(struct str text, size_t most);

/* printf of a name from the file, which an error quotes shortened if no honest name is as long:
 * printf("no plug-in \"" SCHED__CUT "\"", SCHED__CUT_ARG(name)). */
enum { SCHED__LONGEST_NAME = 100 };
#define SCHED__CUT "%.*s%s"
#define SCHED__CUT_ARG(name)                                       \
    (int)sched__config_cut((name), SCHED__LONGEST_NAME), (name).p, \
        (name).n > SCHED__LONGEST_NAME ? "..." : ""

/* The path of a member or an item; an absent or empty path gives the name alone. */
struct str sched__config_path(struct sched__reading *r, struct str path, const char *name);
struct str sched__config_item(struct sched__reading *r, struct str path, size_t i);

/* Notes what is wrong with the value at a path: "Invalid value: 101: not in valid range [0, 100]",
 * or with a text, which is quoted. */
__attribute__((format(printf, 3, 4))) void
sched__config_error(struct sched__reading *r, struct str path, const char *fmt, ...);
void sched__config_invalid(struct sched__reading *r, struct str path, struct str value,
                           const char *detail);
void sched__config_invalid_int(struct sched__reading *r, struct str path, int64_t value,
                               const char *detail);

/* Is the name among those that were seen? From now on it is; the map borrows it. */
bool sched__config_repeats(struct map *seen, struct str name);

/* Notes all members but these, a list that NULL ends, as unknown. The prefix goes before the
 * first of them. */
void sched__config_known(struct sched__reading *r, struct sched__at at, const char *prefix,
                         const char *const *names);

/* A member that must be an object, or an array of at most LIMIT_CONFIG_ITEMS, if it is there. */
struct sched__at sched__config_member(struct sched__reading *r, struct sched__at at,
                                      const char *name, enum json_kind kind);

/* Is this an object? Notes an error if not. */
bool sched__config_is_object(struct sched__reading *r, struct sched__at at);

/* Scalars; false, and *out untouched, when they are not there. */
bool sched__config_i32(struct sched__reading *r, struct sched__at at, const char *name,
                       int32_t *out);
bool sched__config_i64(struct sched__reading *r, struct sched__at at, const char *name,
                       int64_t *out);
bool sched__config_bool(struct sched__reading *r, struct sched__at at, const char *name, bool *out);
bool sched__config_str(struct sched__reading *r, struct sched__at at, const char *name,
                       struct str *out);

/* ---- config_args.c ---- */

/* Sets what upstream's default arguments say. */
void sched__args_default(struct arena *a, struct sched_profile *p);

/* Reads profiles[i].pluginConfig. What only making the plug-in NodeResourcesFit finds wrong is put
 * into *fit_errors, upstream being so. */
void sched__args_read(struct sched__reading *r, struct sched__at list, struct sched_profile *p,
                      struct str *fit_errors);

/* ---- config_process.c ---- */

/* Reads leaderElection and clientConnection. */
void sched__process_read(struct sched__reading *r, struct sched__at at, struct sched_process *p);

/* ---- config_plugins.c ---- */

/* What a profile says of plug-ins; lives in the reading's arena. */
struct sched__plugin_sets;

/* Reads profiles[i].plugins, which may not be there. */
struct sched__plugin_sets *sched__plugin_sets_read(struct sched__reading *r, struct sched__at at);

/* Notes what is wrong with the queueSort of a profile, compared with that of the first. */
void sched__plugin_sets_check_sort(struct sched__reading *r, const struct sched__plugin_sets *first,
                                   const struct sched__plugin_sets *sets, struct str path);

/* Is a plug-in enabled anywhere? */
bool sched__plugin_sets_need(const struct sched__plugin_sets *sets, enum sched_plugin plugin);

/* The order and weights of plug-ins at all points. Fails with the text with which upstream's
 * framework does. */
int sched__plugin_sets_apply(const struct sched__plugin_sets *sets, struct sched_profile *p,
                             struct err *err);

#endif
