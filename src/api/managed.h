/*
 * Managed fields: who owns which fields of an object (metadata.managedFields), and server-side
 * apply.
 *
 * Every write to an object goes through one of two calls, between its patch or body and admission:
 * api_managed_update for all but apply, api_managed_apply for that. The rows of the schema say
 * which lists are sets, maps by key or atomic (.list, .keys, .map).
 *
 * Kinds that are served in several versions with the same rows need no conversion. Entries of
 * versions with other rows stay as they are, and those of versions that nobody knows go.
 */
#ifndef API_MANAGED_H
#define API_MANAGED_H

#include "api/object.h"
#include "api/patch.h"

/* A write, as far as managers are concerned. */
struct api_managed_write {
    const struct api_kind *kind; /* of the request, its version included */
    struct str manager;          /* see api_manager_name */
    struct str subresource;      /* empty: the object itself */
    struct api_time now;
};

/* The name of the manager of a request: the option fieldManager if it is given, else what stands
 * before the slash in User-Agent, without what cannot be printed, at most 128 bytes. */
struct str api_manager_name(struct arena *a, struct str field_manager, struct str user_agent);

/*
 * Sets metadata.managedFields of a draft that is to be created (old is NULL) or to replace old, as
 * kube-apiserver does: fields that were changed belong to the writer. Clients may replace the list,
 * clear it with [] or [{}], and those that do not know it keep it. A draft without metadata stays
 * as it is.
 */
void api_managed_update(const struct api_managed_write *w, const struct api_object *old,
                        struct api_object *draft);

/* A field that another manager has. */
struct api_managed_conflict {
    struct str message; /* conflict with "m" using v1 */
    struct str field;   /* .spec.replicas */
};

struct api_managed_applied {
    struct json tree; /* the object with its managedFields, to be decoded and defaulted */
    bool is_same;     /* but for its managedFields it is the old one */
    struct api_managed_conflict *conflicts; /* of ERR_CONFLICT, causes FieldManagerConflict */
    size_t conflict_count;
};

/*
 * Applies a tree to old (NULL: it is created). Both may be of any version of the kind that has its
 * rows. With force, fields of other managers are taken. Everything lives in the arena and borrows
 * from old and applied.
 */
struct api_patch_failure api_managed_apply(struct arena *a, const struct api_managed_write *w,
                                           const struct api_object *old, const struct json *applied,
                                           bool force, struct api_managed_applied *out);

/* Gives the Scale of a stored workload of the kind the managers of the workload's replicas. */
void api_managed_to_scale(const struct api_kind *kind, const struct api_object *o,
                          struct api_object *scale);

/* Gives a draft that is to replace a workload the managers that it has after its Scale was written:
 * those of old, and of the Scale. */
void api_managed_from_scale(const struct api_kind *kind, const struct api_object *scale,
                            const struct api_object *old, struct api_object *draft);

/* What is wrong with a list of managed fields; absent: nothing. Lives in the arena. */
struct str api_managed_check(struct arena *a, const struct api_managed_fields_entry_list *list);

#endif
